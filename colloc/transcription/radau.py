"""Radau collocation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from colloc.display import stated
from colloc.numerics.quadrature import radau
from colloc.problem import Problem
from colloc.transcription.collocation import CollocationGrid
from colloc.transcription.mesh import check_mesh, mesh, per_interval
from colloc.transcription.torques import Torques


@dataclass(frozen=True, repr=False)
class Radau:
    """Radau collocation: states of the given degree, torques one degree lower, order 2 degree - 1.

    Path constraints hold at the Radau points. Torque may jump between intervals, and has no value of its own at
    the very start, where that of the first interval's polynomial is reported.

    Parameters
    ----------
    intervals : int, optional
        Of equal width unless breakpoints are given.
    degree : int or sequence of int
        1 (implicit Euler) to 9, the same everywhere or one for each interval.
    breakpoints : sequence of float, optional
        Ends of the intervals as fractions of the duration, rising from 0 to 1.
    """

    intervals: int | None = None
    degree: int | Sequence[int] = 3
    breakpoints: Sequence[float] | np.ndarray | None = None

    def __post_init__(self):
        intervals, breakpoints = check_mesh("Radau", self.intervals, self.breakpoints)
        degree = per_interval("Radau degree", self.degree, intervals, at_least=1, at_most=9)
        for name, value in (("intervals", intervals), ("degree", degree), ("breakpoints", breakpoints)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return stated(self)

    def grid(self, problem: Problem, torques: Torques) -> CollocationGrid:
        """The problem's variables and sites on this mesh."""
        assert self.intervals is not None
        degrees = np.broadcast_to(np.asarray(self.degree, dtype=int), (self.intervals,))
        points = tuple(radau(degree) for degree in degrees.tolist())
        return CollocationGrid(problem, torques, mesh(self.intervals, self.breakpoints), points)
