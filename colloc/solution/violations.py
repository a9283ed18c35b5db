"""How far a motion leaves its constraints, on a grid finer than the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from colloc.display import short
from colloc.problem import Window
from colloc.transcription import NLP, Grid, constraint_block
from colloc.transcription.mesh import points_inside
from colloc.transcription.sites import Sites

FINE = 20  # points per interval


class Violation(NamedTuple):
    """The worst place of one constraint row.

    Parameters
    ----------
    constraint : str
    row : str
        With its joint, where it has one.
    amount : float
        Distance from its bounds, in the row's own unit; zero when satisfied.
    relative : float
        The same over the row's natural size: half its range, or the size of its one bound, or 1.
    t : float [s]
    unit : str
        Empty where the constraint states none.
    """

    constraint: str
    row: str
    amount: float
    relative: float
    t: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{short(self.amount)} {self.unit}".rstrip()


@dataclass(frozen=True, eq=False)
class _Anywhere:
    """Constraints taken at any times s of a grid instead of at its nodes."""

    grid: Grid
    s: np.ndarray

    @cached_property
    def _sites(self) -> Sites:
        return self.grid.anywhere(self.s)

    def during(self, window: Window, needs: frozenset[str]) -> list[Sites]:
        inside = self._sites.during(window)
        return [inside if inside.size else self.grid.anywhere(np.unique(np.linspace(*window, 3)))]

    def moment(self, s: float, needs: frozenset[str]) -> Sites:
        return self.grid.anywhere(np.array([s]))

    def ends(self) -> Sites:
        return self.grid.anywhere(np.array([0.0])).beside(self.grid.anywhere(np.array([1.0])))

    def bounds(self, quantity: str, window: Window) -> list[Sites]:
        return self.during(window, frozenset())


def measure_violations(nlp: NLP, x: np.ndarray, p: np.ndarray, s: np.ndarray | None = None) -> list[Violation]:
    """The worst place of every constraint row, worst first.

    Parameters
    ----------
    nlp : NLP
    x, p : ndarray
        Decision vector and parameters.
    s : ndarray, shape (N,), optional
        Normalised times; by default a grid FINE times as dense as the intervals and denser than the nodes.
    """
    places, found = _Anywhere(nlp.grid, fine_grid(nlp.grid) if s is None else s), []
    for name, stated in nlp.problem.rows.items():
        for sites in stated.constraint.places(places, stated.needs):
            block = constraint_block(name, stated, sites)
            values, rows = block.evaluate(x, p), block.rows
            outside = np.maximum(rows.lower[:, None] - values, values - rows.upper[:, None]).clip(min=0)
            outside = np.where(np.isnan(values), np.inf, outside)
            for row, site in enumerate(outside.argmax(axis=1)):
                amount, t = float(outside[row, site]), float(sites.s[site] * nlp.duration(x))
                relative = amount / float(rows.scale[row])
                found.append(Violation(name, rows.labels[row], amount, relative, t, rows.units[row]))
    return sorted(found, key=lambda v: -v.relative)


def fine_grid(grid: Grid) -> np.ndarray:
    """Normalised times on which violations are measured: equally spaced, and FINE on every narrow interval too."""
    intervals, widths = grid.breakpoints.size - 1, np.diff(grid.breakpoints)
    even = np.linspace(0, 1, max(FINE * intervals, 4 * grid.nodes().size) + 1)
    if np.ptp(widths) < 1e-9:
        return even
    return np.unique(np.concatenate([even, points_inside(grid.breakpoints, np.linspace(0, 1, FINE + 1))]))
