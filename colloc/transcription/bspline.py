"""Inverse-dynamics transcription: every joint is a B-spline, its control points are the unknowns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from colloc.checks import count
from colloc.display import stated
from colloc.numerics.bspline import SplineBasis
from colloc.numerics.quadrature import gauss
from colloc.problem import Problem, Slots, Window
from colloc.transcription.block import Block
from colloc.transcription.grid import End, Shared, Trajectory, parameter_symbols, shared_unknowns
from colloc.transcription.layout import Layout, lay_out
from colloc.transcription.mesh import check_mesh, mesh, per_interval, points_inside
from colloc.transcription.sites import Local, Sites
from colloc.transcription.slices import Slices
from colloc.transcription.torques import Torques


@dataclass(frozen=True, repr=False)
class BSpline:
    """Clamped B-splines; torques follow by inverse dynamics.

    There are no dynamic equations to satisfy: any spline is a motion. Path constraints, torque bounds among them,
    hold at nodes. Bounds on positions and velocities hold at all times, because they hold for the control points of
    the spline and of its derivative, and a spline stays in their convex hull.

    Parameters
    ----------
    intervals : int, optional
        Polynomial pieces, of equal width unless breakpoints are given. With the smoothest splines each joint has
        intervals + degree control points.
    degree : int
        At least 3 (cubic), so that the smoothest splines have continuous accelerations.
    nodes : int, optional
        Equally spaced nodes over the whole motion. By default max(5, 2 degree - 1) on every interval, dense enough to
        keep the torque between nodes within about one per cent of its range; where accelerations may jump, both
        sides of the jump are nodes.
    breakpoints : sequence of float, optional
        Ends of the intervals as fractions of the duration, rising from 0 to 1.
    continuity : int or sequence of int, optional
        Continuous derivatives at the breakpoints inside, the same at all or one for each: from 1 (accelerations may
        jump) to degree - 1, the default. A knot is repeated degree - continuity times.
    """

    intervals: int | None = None
    degree: int = 3
    nodes: int | None = None
    breakpoints: Sequence[float] | np.ndarray | None = None
    continuity: int | Sequence[int] | None = None

    def __post_init__(self):
        intervals, breakpoints = check_mesh("BSpline", self.intervals, self.breakpoints)
        degree = count("BSpline degree", self.degree, at_least=3)
        continuity = self.continuity
        if continuity is not None:
            inside = {"at_least": 1, "at_most": degree - 1}
            continuity = per_interval("BSpline continuity", continuity, intervals - 1, **inside)
        if self.nodes is not None:
            count("BSpline nodes", self.nodes, at_least=2)
        for name, value in (("intervals", intervals), ("breakpoints", breakpoints), ("continuity", continuity)):
            object.__setattr__(self, name, value)

    @property
    def basis(self) -> SplineBasis:
        """The basis functions over the normalised time."""
        assert self.intervals is not None
        ends, continuity = mesh(self.intervals, self.breakpoints), self.continuity
        if continuity is None:
            return SplineBasis.smooth(ends, self.degree)
        return SplineBasis(ends, self.degree, np.broadcast_to(continuity, (self.intervals - 1,)))

    def __repr__(self) -> str:
        return stated(self)

    def grid(self, problem: Problem, torques: Torques) -> BSplineGrid:
        """The problem's variables and sites on these splines."""
        basis = self.basis
        layout = lay_out(problem, [(basis.size, ("q", "signals"))])
        for limits in problem.windows("q"):
            if held := _intervals_within(limits[0], basis):
                layout = layout.narrowed(problem, "q", _seen(held, basis), limits)
        return BSplineGrid(self, problem, torques, basis, layout)


@dataclass(frozen=True, eq=False)
class BSplineGrid:
    """Variables: control points of joints and signals, point after point; then the duration and the constants."""

    curve: BSpline
    problem: Problem
    torques: Torques
    basis: SplineBasis
    layout: Layout

    @property
    def breakpoints(self) -> np.ndarray:
        """Ends of the polynomial pieces in normalised time."""
        return self.basis.breakpoints

    def held(self, quantity: str, window: Window) -> Window | None:
        """The intervals that lie within: their curve stays in the hull of their control points."""
        inside = _intervals_within(window, self.basis)
        if quantity not in ("q", "qd") or inside is None:
            return None
        return Window(float(self.breakpoints[inside.start]), float(self.breakpoints[inside.stop]))

    @cached_property
    def _shared(self) -> Shared:
        return shared_unknowns(self.problem, self.layout)

    @cached_property
    def _local(self) -> Local:
        """Local variables: the joints and their derivatives in s, the signals, and what is shared."""
        n, extra, shared = self.problem.model.n, self.layout["signals"].shape[1], self._shared
        T, s, parameters = shared.T, ca.SX.sym("s"), parameter_symbols(self.problem)
        q, q1, q2, signals = (ca.SX.sym(name, size) for name, size in (("q", n), ("q1", n), ("q2", n), ("u", extra)))
        w = ca.vertcat(q, q1, q2, signals, shared.symbols)
        slots = Slots(s * T, T, q, q1 / T, q2 / T**2, ca.SX(n, 1), signals, shared.constants, parameters)
        slots, torques = self.torques.put(slots, w)
        return Local(w, s, parameters, slots, torques)

    def anywhere(self, s: np.ndarray) -> Sites:
        """The splines at any normalised times; where accelerations jump, after the jump."""
        return self._on(s, self.basis.interval(s))

    def _on(self, s: np.ndarray, interval: np.ndarray) -> Sites:
        """The splines at normalised times, by the polynomials of given intervals."""
        degree, first, seen = self.basis.degree, self.basis.first[interval], self._shared.index
        points = np.hstack([self.layout["q"], self.layout["signals"]])
        n, columns = self.problem.model.n, points.shape[1]
        index = [points[first + k].T for k in range(degree + 1)] + [np.tile(seen, (s.size, 1)).T]
        # Every local variable but the shared ones is a sum over the control points k of its joint or signal.
        joint = np.concatenate([np.tile(np.arange(n), 3), np.arange(n, columns)])
        order = np.concatenate([np.repeat([0, 1, 2], n), np.zeros(columns - n, dtype=int)])
        values = np.stack([self.basis.values(s, derivative, interval).T for derivative in (0, 1, 2)])
        # A function that ends at a breakpoint is zero there, up to rounding.
        values[np.abs(values) < 1e-13 * np.abs(values).max(axis=(1, 2), keepdims=True)] = 0.0
        own = joint.size + np.arange(seen.size)
        row = np.append(np.repeat(np.arange(joint.size), degree + 1), own)
        column = np.append(
            (joint[:, None] + columns * np.arange(degree + 1)).ravel(), (degree + 1) * columns + np.arange(seen.size)
        )
        weight = np.vstack([values[order].reshape(-1, s.size), np.ones((seen.size, s.size))])
        return Sites(self._local, Slices(np.vstack(index), row, column, weight), s[None], s)

    def nodes(self) -> Sites:
        """Nodes where path constraints are imposed, both ends included."""
        basis, per_piece = self.basis, max(5, 2 * self.basis.degree - 1)
        if self.curve.nodes is not None:
            return self.anywhere(np.linspace(0, 1, self.curve.nodes))
        if self.curve.breakpoints is None and self.curve.continuity is None:
            return self.anywhere(np.linspace(0, 1, basis.intervals * per_piece + 1))
        s = points_inside(basis.breakpoints, np.linspace(0, 1, per_piece + 1)).reshape(basis.intervals, -1)
        interval = np.repeat(np.arange(basis.intervals)[:, None], s.shape[1], axis=1)
        # A breakpoint is a node of the interval that it begins, and of the one that it ends where accelerations jump.
        kept = np.ones(s.shape, dtype=bool)
        kept[:-1, -1] = basis.continuity < 2
        return self._on(s[kept], interval[kept])

    def early(self) -> None:
        """None: the splines have accelerations everywhere."""
        return

    def hull(self, quantity: str, window: Window) -> Sites | None:
        """Control points of the splines' derivative, for velocities; positions have theirs among the variables."""
        if quantity == "q":
            return None
        n, shared, nan = self.problem.model.n, self._shared, ca.SX.nan
        s, q1, parameters = ca.SX.sym("s"), ca.SX.sym("q1", n), parameter_symbols(self.problem)
        unknown = nan(self.layout["signals"].shape[1], 1)
        slots = Slots(
            s * shared.T,
            shared.T,
            nan(n, 1),
            q1 / shared.T,
            nan(n, 1),
            nan(n, 1),
            unknown,
            shared.constants,
            parameters,
        )
        local = Local(ca.vertcat(q1, shared.symbols), s, parameters, slots)
        derivative = self.basis.derivative()
        k = np.arange(derivative.size)[_seen(_intervals_within(window, derivative), derivative)]
        seen = np.tile(shared.index, (k.size, 1)).T
        index = np.vstack([self.layout["q"][k].T, self.layout["q"][k + 1].T, seen])
        row = np.append(np.repeat(np.arange(n), 2), n + np.arange(len(seen)))
        column = np.append((np.arange(n)[:, None] + [0, n]).ravel(), 2 * n + np.arange(len(seen)))
        slope = np.tile(np.outer([-1.0, 1.0], self.basis.differences()[k]), (n, 1))
        at = derivative.greville()[k]
        return Sites(local, Slices(index, row, column, np.vstack([slope, np.ones(seen.shape)])), at[None], at)

    def end(self, s: float) -> End:
        """The three control points next to the start or end."""
        at = np.array([float(s)])
        weight = np.vstack([self.basis.values(at, derivative) for derivative in (0, 1, 2)])
        inward = slice(None) if s == 0 else slice(None, None, -1)
        return End(self.layout["q"][inward][:3], weight[:, inward][:, :3], normalised=True)

    def quadrature(self) -> tuple[Sites, np.ndarray]:
        """Gauss points on every interval, degree + 1 of them (four for cubics)."""
        points, weights = gauss(self.basis.degree + 1)
        widths = np.diff(self.breakpoints)
        return self.anywhere(points_inside(self.breakpoints, points)), (widths[:, None] * weights).ravel()

    def defects(self) -> list[Block]:
        """None: every spline is a motion."""
        return []

    def pack(self, trajectory: Trajectory) -> np.ndarray:
        """Control points that interpolate a motion at their Greville points."""
        s, n = self.basis.greville(), self.problem.model.n
        values = np.column_stack([trajectory.q(s), trajectory.signals(self.problem, s)])
        points = self.basis.interpolate(values)
        return self.layout.filled({"q": points[:, :n], "signals": points[:, n:]} | trajectory.shared(self.problem))


def _intervals_within(window: Window, basis: SplineBasis) -> slice | None:
    """Intervals that lie within a part of the motion; None if there is none."""
    ends = basis.breakpoints
    inside = np.flatnonzero((ends >= window.start - 1e-9) & (ends <= window.end + 1e-9))
    return slice(int(inside[0]), int(inside[-1])) if inside.size > 1 else None


def _seen(intervals: slice | None, basis: SplineBasis) -> slice:
    """Control points that some intervals see."""
    assert intervals is not None
    return slice(basis.first[intervals.start], basis.first[intervals.stop - 1] + basis.degree + 1)
