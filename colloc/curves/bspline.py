"""B-splines with any breakpoints, degree and smoothness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from colloc.curves.curve import Transcription
from colloc.curves.mesh import (
    NARROWEST,
    Points,
    check_mesh,
    collocation_points,
    equal_nodes,
    mesh_ends,
    per_interval,
    split,
)
from colloc.curves.quadrature import gauss
from colloc.curves.spline_basis import SplineBasis
from colloc.support.checks import InputError, choice, count, finite_array, finite_number, pair, quoted, spelt
from colloc.support.lazy import cached_property


@spelt
@dataclass(frozen=True, repr=False)
class BSpline(Transcription):
    """Clamped B-splines; torques follow by inverse dynamics.

    There are no dynamic equations to satisfy: any spline is a motion. Path constraints, including torque bounds, hold
    at nodes. Bounds on positions, velocities and accelerations hold at all times, because they hold for the control
    points of the spline and of its derivatives, and a spline stays in their convex hull. Equations along the path hold
    at collocation points: `degree - 1` Gauss points on every interval if accelerations may jump (Ascher, Christiansen
    and Russell 1981), else the Greville points of the acceleration.

    Parameters
    ----------
    intervals : int, optional
        Polynomial pieces, of equal width unless breakpoints are given. With the smoothest splines each joint has
        intervals + degree control points.
    degree : int
        At least 3 (cubic), so that the smoothest splines have continuous accelerations.
    nodes : int or "collocation", optional
        Equally spaced nodes over the whole motion. By default max(5, 2 degree - 1) on every interval, dense enough to
        keep the torque between nodes within about one per cent of its range; where accelerations may jump, both
        sides of the jump are nodes. With "collocation" limits hold at the collocation points only, see `Radau`.
    breakpoints : sequence of float, optional
        Ends of the intervals as fractions of the duration, rising from 0 to 1.
    continuity : int or sequence of int, optional
        Number of continuous derivatives at the inner breakpoints, the same at all or one for each: from 1
        (accelerations may jump) to degree - 1, the default. A knot is repeated degree - continuity times.
    knots : "fixed" or "free"
        Free breakpoints are unknowns of the problem, with the given ones as a guess, except those at which constraints
        begin, end or hold; nodes move with them. `solve` returns the optimum on the optimal breakpoints, a spline like
        any other (Xiang, Arora and Abdel-Malek 2009, equation 42; Barman 2020, equations 4.13 to 4.17).
    spacing : (float, float)
        Least and largest width of an interval between free knots, as fractions of the duration.

    See Also
    --------
    HermiteSimpson, Radau

    Examples
    --------
    >>> round(co.solve(problem, co.BSpline(20)).duration, 3)
    0.393
    >>> curve = co.BSpline(8, degree=7, continuity=1, knots="free")  # accelerations may jump
    """

    intervals: int | None = None
    degree: int = 3
    nodes: int | str | None = None
    breakpoints: Sequence[float] | np.ndarray | None = None
    continuity: int | Sequence[int] | None = None
    knots: str = "fixed"
    spacing: tuple[float, float] = (1e-3, 1.0)

    def __post_init__(self):
        intervals, breakpoints = check_mesh("BSpline", self.intervals, self.breakpoints)
        degree = count("BSpline degree", self.degree, at_least=3)
        continuity = self.continuity
        if continuity is not None:
            inside = {"at_least": 1, "at_most": degree - 1}
            continuity = per_interval("BSpline continuity", continuity, intervals - 1, **inside)
        if isinstance(self.nodes, str):
            choice("BSpline nodes", self.nodes, ("collocation",))
        elif self.nodes is not None:
            count("BSpline nodes", self.nodes, at_least=2)
        for name, value in (("intervals", intervals), ("breakpoints", breakpoints), ("continuity", continuity)):
            object.__setattr__(self, name, value)
        choice("BSpline knots", self.knots, ("fixed", "free"))
        lower, upper = pair("BSpline spacing", self.spacing)
        spacing = finite_number("BSpline spacing", lower), finite_number("BSpline spacing", upper)
        object.__setattr__(self, "spacing", spacing)
        if self.free:
            if self.nodes is not None:
                raise InputError(
                    f"nodes of free knots move with them, equally many on intervals: omit nodes={self.nodes}"
                )
            object.__setattr__(self, "spacing", _spacing(self.spacing, np.diff(self.basis.breakpoints)))

    @cached_property
    def basis(self) -> SplineBasis:
        continuity = self.degree - 1 if self.continuity is None else np.asarray(self.continuity)
        return SplineBasis.of(mesh_ends(self.intervals, self.breakpoints), self.degree, continuity)

    @property
    def free(self) -> bool:
        return self.knots == "free"

    def with_breakpoints(self, breakpoints: np.ndarray) -> BSpline:
        """A spline of the same degree and continuity with these fixed breakpoints."""
        ends = finite_array("breakpoints", breakpoints, (None,))
        return replace(self, intervals=None, breakpoints=tuple(ends.tolist()), knots="fixed")

    def finer(self, pieces: np.ndarray, smooth: np.ndarray, switching: np.ndarray) -> BSpline:
        """A spline with intervals split, whose accelerations may jump at new breakpoints where torques switch."""
        smoothest = self.continuity if isinstance(self.continuity, int) else self.degree - 1
        inside = np.repeat(np.where(switching, 1, smoothest), pieces)[:-1]
        inside[np.cumsum(pieces)[:-1] - 1] = self.basis.continuity
        continuity: int | tuple[int, ...] | None = tuple(inside.tolist())
        if (inside == smoothest).all():
            continuity = self.continuity if isinstance(self.continuity, int) else None
        ends = split(self.basis.breakpoints, pieces)
        return replace(self, intervals=None, nodes=None, breakpoints=ends, continuity=continuity)

    def coarser(self, intervals: int) -> BSpline:
        """A spline with `intervals` fixed intervals of equal width, and the largest continuity of this one."""
        continuity = self.continuity
        if continuity is not None and not isinstance(continuity, int):
            continuity = int(np.max(np.asarray(continuity)))
        return BSpline(intervals, degree=self.degree, continuity=continuity)

    def node_points(self) -> Points:
        if self.nodes is None:
            return equal_nodes(self.basis)
        if isinstance(self.nodes, str):
            return self.collocation_points()
        s = np.linspace(0, 1, self.nodes)
        return Points(s, self.basis.interval(s))

    def collocation_points(self) -> Points:
        return collocation_points(self.basis, lambda count: gauss(count)[0])


def _spacing(spacing: Any, widths: np.ndarray) -> tuple[float, float]:
    """Least and largest width of an interval; InputError if the intervals cannot meet them."""
    least, most = (finite_number("BSpline spacing", width, positive=True) for width in pair("BSpline spacing", spacing))
    if least < NARROWEST or widths.min() < least - NARROWEST or widths.max() > most + NARROWEST:
        raise InputError(
            f"BSpline spacing must hold on the intervals given, {widths.min():.4g} to {widths.max():.4g} wide, and be "
            f"at least {NARROWEST:g}, got {quoted(spacing)}"
        )
    return least, most
