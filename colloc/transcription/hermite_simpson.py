"""Hermite-Simpson collocation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from colloc.display import stated
from colloc.problem import Problem
from colloc.transcription.collocation import CollocationGrid
from colloc.transcription.mesh import check_mesh, mesh
from colloc.transcription.torques import Torques


@dataclass(frozen=True, repr=False)
class HermiteSimpson:
    """Hermite-Simpson collocation: cubic states, quadratic torques, order 4 (Hargraves and Paris 1987).

    Path constraints hold at the ends and the middle of every interval; torque is continuous.

    Parameters
    ----------
    intervals : int, optional
        Of equal width unless breakpoints are given.
    breakpoints : sequence of float, optional
        Ends of the intervals as fractions of the duration, rising from 0 to 1.
    """

    intervals: int | None = None
    breakpoints: Sequence[float] | np.ndarray | None = None

    def __post_init__(self):
        intervals, breakpoints = check_mesh("HermiteSimpson", self.intervals, self.breakpoints)
        object.__setattr__(self, "intervals", intervals)
        object.__setattr__(self, "breakpoints", breakpoints)

    def __repr__(self) -> str:
        return stated(self)

    def grid(self, problem: Problem, torques: Torques) -> CollocationGrid:
        """The problem's variables and sites on this mesh."""
        assert self.intervals is not None
        points = (np.array([0.0, 0.5, 1.0]),) * self.intervals
        return CollocationGrid(problem, torques, mesh(self.intervals, self.breakpoints), points)
