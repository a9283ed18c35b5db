"""Radau collocation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from colloc.curves.curve import Transcription
from colloc.curves.mesh import Points, check_mesh, collocation_points, mesh_ends, per_interval, split
from colloc.curves.quadrature import radau
from colloc.curves.spline_basis import SplineBasis
from colloc.support.checks import choice, count, spelt
from colloc.support.lazy import cached_property

_HIGHEST = 7  # degree of an interval, beyond which splitting is the better bargain


@spelt
@dataclass(frozen=True, repr=False)
class Radau(Transcription):
    """Radau collocation: accelerations of degree `degree` - 1 that may jump between intervals.

    Positions are polynomials of degree `degree` + 1 with continuous velocity, and torques follow by inverse dynamics at
    every time: where the optimum is smooth, its cost is approached with order 2 degree, twice that of the accelerations
    (the cost is stationary). Equations along the path, such as a passive joint's tau = 0, hold at the Radau points, and
    what follows from them is of their order, 2 degree - 1, at the ends of intervals (Hairer and Wanner 1996, section
    IV.5); inequalities at max(5, 2 degree + 1) + 1 nodes of every interval, those on positions, velocities and
    accelerations at all times.

    Parameters
    ----------
    intervals : int, optional
        Of equal width unless breakpoints are given.
    degree : int or sequence of int
        1 (implicit Euler) to 9, the same everywhere or one for each interval.
    breakpoints : sequence of float, optional
        Ends of the intervals as fractions of the duration, rising from 0 to 1.
    nodes : "dense" or "collocation"
        Where inequalities hold: at the nodes above, or at the Radau points alone, as in pseudospectral methods. A limit
        that is met at all Radau points of an interval determines its accelerations, and has one multiplier for each:
        for intervals on which a motion is known to be at its limits, or away from them, all along (`refine` at
        switches). Elsewhere limits may be exceeded between the points.
        An equation that leaves joints free, such as no power, is no good with Radau points: they do not integrate it
        exactly, so that a motion that rings gains energy. `BSpline` with continuity 1 has Gauss points, which
        do.
    signal_degree : int, optional
        Of unknown signals on every interval, `degree` - 1 by default and at most. A signal that steers states and has
        no cost of its own, so that its switching function is zero for a while (a singular arc), rings with as many
        freedoms as there are Radau points, at which the differential equations alone are met; with two or three fewer
        it does not.

    See Also
    --------
    BSpline, HermiteSimpson

    Examples
    --------
    >>> round(co.solve(problem, co.Radau(20, degree=3), tol=1e-3).duration, 3)
    0.392
    """

    intervals: int | None = None
    degree: int | Sequence[int] = 3
    breakpoints: Sequence[float] | np.ndarray | None = None
    nodes: str = "dense"
    signal_degree: int | None = None

    def __post_init__(self):
        intervals, breakpoints = check_mesh("Radau", self.intervals, self.breakpoints)
        degree = per_interval("Radau degree", self.degree, intervals, at_least=1, at_most=9)
        choice("Radau nodes", self.nodes, ("dense", "collocation"))
        if self.signal_degree is not None:
            most = int(np.min(np.asarray(degree))) - 1
            count("Radau signal_degree", self.signal_degree, at_least=0, at_most=most)
        for name, value in (("intervals", intervals), ("degree", degree), ("breakpoints", breakpoints)):
            object.__setattr__(self, name, value)

    @cached_property
    def basis(self) -> SplineBasis:
        return SplineBasis.of(mesh_ends(self.intervals, self.breakpoints), np.add(self.degree, 1), 1)

    @property
    def signals(self) -> SplineBasis:
        if self.signal_degree is None:
            return super().signals
        return SplineBasis.of(mesh_ends(self.intervals, self.breakpoints), self.signal_degree, -1)

    def node_points(self) -> Points:
        return self.collocation_points() if self.nodes == "collocation" else super().node_points()

    def collocation_points(self) -> Points:
        """Where equalities are imposed: the Radau points of every interval."""
        return collocation_points(self.basis, radau)

    def finer(self, pieces: np.ndarray, smooth: np.ndarray, switching: np.ndarray) -> Radau:
        """A curve with intervals split, or of a degree higher by two where the motion is smooth."""
        degrees = np.broadcast_to(np.asarray(self.degree), pieces.shape)
        # Where the motion is smooth, two degrees more do more than three intervals.
        raised = (pieces == 3) & ~switching & smooth & (degrees + 2 <= _HIGHEST)
        pieces = np.where(raised, 1, pieces)
        degrees = tuple(np.repeat(degrees + 2 * raised, pieces).tolist())
        degree = degrees[0] if len(set(degrees)) == 1 else degrees
        return replace(self, intervals=None, degree=degree, breakpoints=split(self.basis.breakpoints, pieces))

    def coarser(self, intervals: int) -> Radau:
        """A curve with that many intervals of equal width, of the lowest degree that there is."""
        return Radau(intervals, degree=int(np.min(np.asarray(self.degree))))
