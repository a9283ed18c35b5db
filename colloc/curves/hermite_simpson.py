"""Hermite-Simpson collocation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from colloc.curves.curve import Transcription
from colloc.curves.mesh import Points, check_mesh, collocation_points, mesh_ends
from colloc.curves.quadrature import radau
from colloc.curves.spline_basis import SplineBasis
from colloc.support.checks import spelt
from colloc.support.lazy import cached_property


@spelt
@dataclass(frozen=True, repr=False)
class HermiteSimpson(Transcription):
    """Hermite-Simpson collocation: continuous accelerations, quadratic on every interval.

    After Hargraves and Paris (1987), for equations of second order: velocities are cubic and positions their integrals,
    quartic, and torques follow by inverse dynamics at every time. If the optimum is smooth, its cost converges with
    order 6, twice that of the accelerations (the cost is stationary). Equations along the path, such as a passive
    joint's tau = 0, hold at the ends and the middle of every interval, with errors of order 4, as for Simpson's rule.
    Inequalities hold at eight nodes of every interval, those on positions, velocities and accelerations at all times.

    Parameters
    ----------
    intervals : int, optional
        Of equal width unless breakpoints are given.
    breakpoints : sequence of float, optional
        Ends of the intervals as fractions of the duration, rising from 0 to 1.

    See Also
    --------
    BSpline, Radau

    Examples
    --------
    >>> round(co.solve(problem, co.HermiteSimpson(40), tol=1e-3).duration, 3)
    0.392
    """

    intervals: int | None = None
    breakpoints: Sequence[float] | np.ndarray | None = None

    def __post_init__(self):
        intervals, breakpoints = check_mesh("HermiteSimpson", self.intervals, self.breakpoints)
        object.__setattr__(self, "intervals", intervals)
        object.__setattr__(self, "breakpoints", breakpoints)

    @cached_property
    def basis(self) -> SplineBasis:
        return SplineBasis.of(mesh_ends(self.intervals, self.breakpoints), 4, 2)

    def collocation_points(self) -> Points:
        return collocation_points(self.basis, radau)
