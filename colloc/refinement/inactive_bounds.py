"""Where a finer grid would lower the cost: bounds that are worth something, and not used on the whole of an interval.

A polynomial touches a bound at some nodes and keeps a distance between them; beside a switch it has to. The multipliers
of the nodes say what the bounds are worth, in cost per unit: times the mean distance on the interval they give what the
cost would gain, to first order, if the bound were met throughout. On two-link time optima this is 3 to 4 times the true
excess of the cost for smooth splines, and 50 times for splines whose accelerations may jump. Joints that limit nothing
have no multipliers, and may do what they like.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colloc.errors.violations import even_grid
from colloc.numerics.bspline import SplineBasis
from colloc.problem import ConstraintRows, Slots, State, Unknown, Window
from colloc.solution.solution import Solution
from colloc.transcription import constraint_block
from colloc.transcription.constraint_points import AtTimes


def possible_gain(solution: Solution) -> np.ndarray:
    """Relative gain in cost that is possible by bounds met on the whole of every interval, shape (intervals,)."""
    gain = np.zeros(solution.nlp.grid.basis.intervals)
    for name, constraint in solution.problem.rows.items():
        unequal = constraint.rows.lower < constraint.rows.upper
        if isinstance(constraint.constraint.where, Window) and unequal.any():
            above, below = _worth(solution, name, constraint)
            if (above + below).any():
                to_upper, to_lower = _distances(solution, name, constraint)
                gain += (_near(above) * to_upper + _near(below) * to_lower).sum(axis=0)
    signals, states = solution.problem.signals, solution.problem.states
    if signals:
        gain += _of_unknowns(solution, "signals", signals, solution.curve.signals)
    if states:
        gain += _of_unknowns(solution, "states", states, solution.nlp.grid.states)
    return gain / max(abs(solution.cost), solution.total_cost_scale, 1e-300)


def _worth(solution: Solution, name: str, constraint: ConstraintRows) -> np.ndarray:
    """Multipliers of upper and of lower bounds, summed on every interval, shape (2, rows, intervals)."""
    nlp = solution.nlp
    worth = np.zeros((2, len(constraint.rows.labels), nlp.grid.basis.intervals))
    for block, first in zip(nlp.constraints, nlp.offsets, strict=False):
        if block.name == name:
            sites, size = block.sites, block.n_rows * block.n_slices
            multipliers = solution.multipliers["g"][first : first + size].reshape(block.n_slices, block.n_rows)
            interval = nlp.grid.basis.interval(sites.s) if sites.interval is None else sites.interval
            for label, values in zip(block.rows.labels, multipliers.T, strict=True):
                row = constraint.rows.labels.index(label)
                np.add.at(worth[0, row], interval, np.maximum(values, 0))
                np.add.at(worth[1, row], interval, np.maximum(-values, 0))
    return worth


def _distances(solution: Solution, name: str, constraint: ConstraintRows) -> tuple[np.ndarray, np.ndarray]:
    """Mean distance to the upper and the lower bound on every interval, each shape (rows, intervals); 0 without one."""
    grid, rows = solution.nlp.grid, constraint.rows
    sums, counts = np.zeros((len(rows.labels), grid.basis.intervals)), np.zeros(grid.basis.intervals)
    for sites in constraint.constraint.points(AtTimes(grid, even_grid(grid))):
        values = constraint_block(name, constraint, sites).evaluate(solution.x, solution.parameters)
        interval = grid.basis.interval(sites.s) if sites.interval is None else sites.interval
        for row, row_values in enumerate(values):
            np.add.at(sums[row], interval, row_values)
        np.add.at(counts, interval, 1)
    mean = sums / np.maximum(counts, 1)
    gaps = (rows.upper[:, None] - mean, mean - rows.lower[:, None])
    to_upper, to_lower = (np.where(np.isfinite(gap) & (counts > 0), np.maximum(gap, 0), 0.0) for gap in gaps)
    return to_upper, to_lower


def _of_unknowns(solution: Solution, kind: str, unknowns: Sequence[Unknown | State], basis: SplineBasis) -> np.ndarray:
    """The gain, in units of the cost, by bounds of "signals" or "states", which hold for their control points."""
    grid, index = solution.nlp.grid, solution.nlp.grid.layout[kind]
    worth = np.zeros((2, index.shape[1], grid.basis.intervals))
    multipliers, interval = solution.multipliers["x"][index], basis.sites()[1]
    for column, values in enumerate(multipliers.T):
        np.add.at(worth[0, column], interval, np.maximum(values, 0))
        np.add.at(worth[1, column], interval, np.maximum(-values, 0))
    sites = grid.on(even_grid(grid))
    (values,) = sites.evaluate([getattr(Slots(*sites.local.arguments), kind)], solution.x, solution.parameters)
    mean = values.reshape(grid.basis.intervals, -1, index.shape[1]).mean(axis=1).T
    lower, upper = (np.concatenate([getattr(u, side) for u in unknowns])[:, None] for side in ("lower", "upper"))
    gain = np.zeros(grid.basis.intervals)
    for side, gap in zip(worth, (upper - mean, mean - lower), strict=True):
        gain += (_near(side) * np.where(np.isfinite(gap), np.maximum(gap, 0), 0)).sum(axis=0)
    return gain


def _near(worth: np.ndarray) -> np.ndarray:
    """Worth of bounds on every interval, at least half of their worth on its neighbours."""
    beside = np.pad(worth, ((0, 0), (1, 1)))
    return np.maximum(worth, 0.5 * np.maximum(beside[:, 2:], beside[:, :-2]))
