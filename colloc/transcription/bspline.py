"""Inverse-dynamics transcription: every joint is a B-spline, its control points are the unknowns."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.checks import count
from colloc.numerics import bspline
from colloc.numerics.quadrature import gauss
from colloc.problem import Problem
from colloc.transcription.block import Block
from colloc.transcription.grid import (
    End,
    Local,
    Motion,
    Shared,
    Sites,
    pack_shared,
    parameter_symbols,
    sampled_signals,
    shared_unknowns,
    signal_bounds,
    tighten,
)  # fmt: skip
from colloc.transcription.slices import Slices
from colloc.transcription.torques import Torques


@dataclass(frozen=True)
class BSpline:
    """Clamped B-splines on uniform knots; torques follow by inverse dynamics.

    There are no dynamic equations to satisfy: any spline is a motion. Path constraints, torque bounds among them,
    hold at equally spaced nodes. Position bounds hold at all times, because they hold for the control points and a
    spline stays in their convex hull.

    Parameters
    ----------
    intervals : int
        Polynomial pieces; each joint has intervals + degree control points.
    degree : int
        At least 3 (cubic), so that accelerations are continuous.
    nodes : int, optional
        Equally spaced nodes over the whole motion. By default max(5, 2 degree - 1) per interval, dense enough to
        keep the torque between nodes within about one per cent of its range.
    """

    intervals: int
    degree: int = 3
    nodes: int | None = None

    def __post_init__(self):
        count("BSpline intervals", self.intervals, at_least=1)
        count("BSpline degree", self.degree, at_least=3)
        if self.nodes is None:
            object.__setattr__(self, "nodes", self.intervals * max(5, 2 * self.degree - 1) + 1)
        count("BSpline nodes", self.nodes, at_least=2)

    def grid(self, problem: Problem, torques: Torques) -> BSplineGrid:
        """The problem's variables and sites on these splines."""
        return BSplineGrid(self, problem, torques)


class BSplineGrid:
    """Variables: control points of joints and signals, point after point; then the duration and the constants."""

    bounded = frozenset({"q"})

    def __init__(self, curve: BSpline, problem: Problem, torques: Torques):
        self.curve, self.problem = curve, problem
        shared = shared_unknowns(problem)
        signal_lower, signal_upper = signal_bounds(problem)
        n, extra = problem.model.n, signal_lower.size
        points = curve.intervals + curve.degree
        q_lower, q_upper = problem.limits("q")
        self.lower = np.append(np.tile(np.append(q_lower, signal_lower), points), shared.lower)
        self.upper = np.append(np.tile(np.append(q_upper, signal_upper), points), shared.upper)
        self._points = np.arange(points * (n + extra)).reshape(points, n + extra)
        self.breakpoints = np.linspace(0, 1, curve.intervals + 1)
        for during, low, high in problem.windows("q"):
            if (held := self.held(during)) is not None:
                first, last = (round(s * curve.intervals) for s in held)
                tighten(self, problem, "q", during, self._points[first : last + curve.degree, :n], low, high)
        self._shared = np.arange(self._points.size, self.lower.size)
        self.segments = {"q control points": self._points[:, :n], "duration": self._shared[:1]}
        self._seen = shared.visible(self._shared)
        self._local = self._make_local(shared, n, extra, torques)

    def _make_local(self, shared: Shared, n: int, extra: int, torques: Torques) -> Local:
        """Local variables: the joints and their derivatives in s, the signals, and what is shared."""
        T, s = shared.T, ca.SX.sym("s")
        q, q1, q2, signals = (ca.SX.sym(name, size) for name, size in (("q", n), ("q1", n), ("q2", n), ("u", extra)))
        w = ca.vertcat(q, q1, q2, signals, shared.symbols)
        parameters = parameter_symbols(self.problem)
        inputs = [s * T, T, q, q1 / T, q2 / T**2, ca.SX(n, 1), signals, shared.constants, parameters]
        lifted = torques.put(inputs, w)
        return Local(w, s, inputs, lifted)

    def anywhere(self, s: np.ndarray) -> Sites:
        """The splines at any normalised times."""
        intervals, degree = self.curve.intervals, self.curve.degree
        n, columns, seen = self.problem.model.n, self._points.shape[1], self._seen
        first = bspline.span(s, intervals)
        index = [self._points[first + k].T for k in range(degree + 1)] + [np.tile(seen, (s.size, 1)).T]
        # Every local variable but the shared ones is a sum over the control points k of its joint or signal.
        joint = np.concatenate([np.tile(np.arange(n), 3), np.arange(n, columns)])
        order = np.concatenate([np.repeat([0, 1, 2], n), np.zeros(columns - n, dtype=int)])
        basis = np.stack([bspline.basis(s, intervals, degree, derivative).T for derivative in (0, 1, 2)])
        # A function that ends at a breakpoint is zero there, up to rounding.
        basis[np.abs(basis) < 1e-13 * np.abs(basis).max(axis=(1, 2), keepdims=True)] = 0.0
        own = joint.size + np.arange(seen.size)
        row = np.append(np.repeat(np.arange(joint.size), degree + 1), own)
        column = np.append(
            (joint[:, None] + columns * np.arange(degree + 1)).ravel(), (degree + 1) * columns + np.arange(seen.size)
        )
        weight = np.vstack([basis[order].reshape(-1, s.size), np.ones((seen.size, s.size))])
        return Sites(self._local, Slices(np.vstack(index), row, column, weight), s[None], s)

    def held(self, during: tuple[float, float]) -> tuple[float, float] | None:
        """The intervals that lie within: their curve stays in the hull of their control points."""
        inside = self.breakpoints[(self.breakpoints >= during[0] - 1e-9) & (self.breakpoints <= during[1] + 1e-9)]
        return (float(inside[0]), float(inside[-1])) if inside.size > 1 else None

    def nodes(self) -> Sites:
        """Equally spaced nodes, both ends included."""
        assert self.curve.nodes is not None
        return self.anywhere(np.linspace(0, 1, self.curve.nodes))

    def early_nodes(self) -> None:
        """None: the splines have accelerations everywhere."""
        return

    def end(self, s: float) -> End:
        """The three control points next to the start or end."""
        n, degree = self.problem.model.n, self.curve.degree
        at = np.array([float(s)])
        weight = np.vstack([bspline.basis(at, self.curve.intervals, degree, derivative) for derivative in (0, 1, 2)])
        inward = slice(None) if s == 0 else slice(None, None, -1)
        return End(self._points[inward, :n][:3], weight[:, inward][:, :3], normalised=True)

    def quadrature(self) -> tuple[Sites, np.ndarray]:
        """Gauss points on every interval, degree + 1 of them (four for cubics)."""
        intervals = self.curve.intervals
        points, weights = gauss(self.curve.degree + 1)
        s = (np.arange(intervals)[:, None] + points).ravel() / intervals
        return self.anywhere(s), np.tile(weights / intervals, intervals)

    def defects(self) -> list[Block]:
        """None: every spline is a motion."""
        return []

    def pack(self, motion: Motion) -> np.ndarray:
        """Control points that interpolate a motion at their Greville points."""
        s = bspline.greville(self.curve.intervals, self.curve.degree)
        values = np.column_stack([motion.q(s), sampled_signals(self.problem, motion, s)])
        control = bspline.interpolate(values, self.curve.intervals, self.curve.degree)
        return np.append(control.ravel(), pack_shared(self.problem, motion))
