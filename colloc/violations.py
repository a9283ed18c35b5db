"""How far a motion leaves its constraints, on a grid finer than the nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colloc.problem import Path, State
from colloc.transcription import NLP, block_at, window

FINE = 20  # points per interval


class Violation(NamedTuple):
    """The worst place of one constraint row on a fine grid.

    Parameters
    ----------
    constraint : str
    row : str
        With its joint, where it has one.
    amount : float
        How far outside its bounds, in the row's own unit; zero when satisfied.
    relative : float
        The same over the row's natural size: half its range, or the size of its one bound, or 1.
    t : float [s]
    """

    constraint: str
    row: str
    amount: float
    relative: float
    t: float


def measure_violations(nlp: NLP, x: np.ndarray, p: np.ndarray) -> list[Violation]:
    """The worst place of every constraint row on a grid FINE times as dense as the intervals, worst first."""
    grid = nlp.grid
    T = float(x[grid.segments["duration"][0]])
    points = max(FINE * (grid.breakpoints.size - 1), 4 * grid.nodes().s.size) + 1
    fine = grid.anywhere(np.linspace(0, 1, points))
    found = []
    for name, (constraint, rows, function) in nlp.problem.rows.items():
        if isinstance(constraint, Path):
            blocks = [block_at(name, window(grid, fine, constraint.during), rows, function)]
        elif isinstance(constraint, State):
            blocks = [block_at(name, grid.anywhere(np.array([constraint.s])), rows, function)]
        else:
            blocks = [block for block in nlp.constraints if block.name == name]
        for block in blocks:
            values = block.evaluate(x, p)
            outside = np.maximum(block.lower[:, None] - values, values - block.upper[:, None]).clip(min=0)
            outside = np.where(np.isnan(values), np.inf, outside)
            for row, site in enumerate(outside.argmax(axis=1)):
                amount = float(outside[row, site])
                relative = amount / float(block.scale[row])
                found.append(Violation(name, block.labels[row], amount, relative, float(block.s[site] * T)))
    return sorted(found, key=lambda v: -v.relative)
