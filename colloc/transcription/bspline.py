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
    Local,
    Motion,
    Sites,
    Torques,
    pack_shared,
    parameter_symbols,
    sampled_signals,
    shared_unknowns,
    signal_bounds,
)  # fmt: skip


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
        T, constants, shared_lower, shared_upper = shared_unknowns(problem)
        signal_lower, signal_upper = signal_bounds(problem)
        n, extra = problem.model.n, signal_lower.size
        points = curve.intervals + curve.degree
        q_lower, q_upper = problem.limits("q")
        self.lower = np.append(np.tile(np.append(q_lower, signal_lower), points), shared_lower)
        self.upper = np.append(np.tile(np.append(q_upper, signal_upper), points), shared_upper)
        self._points = np.arange(points * (n + extra)).reshape(points, n + extra)
        self._shared = np.arange(self._points.size, self.lower.size)
        self.segments = {"q control points": self._points[:, :n], "duration": self._shared[:1]}
        self.breakpoints = np.linspace(0, 1, curve.intervals + 1)
        self._local = self._make_local(T, constants, n, extra, torques)

    def _make_local(self, T: ca.SX, constants: ca.SX, n: int, extra: int, torques: Torques) -> Local:
        width = self.curve.degree + 1
        control = ca.SX.sym("c", n + extra, width)
        b0, b1, b2, s = (
            ca.SX.sym(name, size) for name, size in (("b", width), ("bd", width), ("bdd", width), ("s", 1))
        )
        q, qd, qdd = control[:n, :] @ b0, control[:n, :] @ b1 / T, control[:n, :] @ b2 / T**2
        signals = control[n:, :] @ b0
        inputs = [s * T, T, q, qd, qdd, ca.SX(n, 1), signals, constants, parameter_symbols(self.problem)]
        z = ca.vertcat(ca.vec(control), T, constants)
        lifted = torques.put(inputs, z)
        return Local(z, ca.vertcat(b0, b1, b2, s), inputs, lifted)

    def anywhere(self, s: np.ndarray) -> Sites:
        """The splines at any normalised times."""
        intervals, degree = self.curve.intervals, self.curve.degree
        first = bspline.span(s, intervals)
        index = np.vstack(
            [self._points[first + k].T for k in range(degree + 1)] + [np.tile(self._shared, (s.size, 1)).T]
        )
        data = [bspline.basis(s, intervals, degree, derivative).T for derivative in (0, 1, 2)]
        return Sites(self._local, index, np.vstack([*data, s]), s)

    def nodes(self) -> Sites:
        """Equally spaced nodes, both ends included."""
        assert self.curve.nodes is not None
        return self.anywhere(np.linspace(0, 1, self.curve.nodes))

    def early_nodes(self) -> None:
        """None: the splines have accelerations everywhere."""
        return

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
