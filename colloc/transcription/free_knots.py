"""The grid of splines whose breakpoints are unknowns.

A spline is then not linear in the unknowns: a site on the motion depends on control points and on the knots around it.
De Boor's recursion is part of its expressions, so that derivatives by knots are exact, like all others (Xiang, Arora
and Abdel-Malek 2009, equation 42; Barman 2020, equations 4.13 to 4.17). Nodes, collocation points and quadrature points
keep their relative places within their intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.evaluation_points import EvaluationPoints, LocalView, Quadrature
from colloc.blocks.slices import Slices
from colloc.curves.curve import Transcription
from colloc.curves.mesh import Points, points_inside
from colloc.curves.quadrature import gauss
from colloc.curves.spline_basis import cox_de_boor
from colloc.problem import Problem, Window
from colloc.problem.rows import bounded
from colloc.support.checks import InputError
from colloc.support.lazy import cached_property
from colloc.transcription.grid import ORDERS, Grid
from colloc.transcription.layout import End, Layout, active_control_points, intervals_within, parameter_symbols
from colloc.transcription.torques import Torques
from colloc.transcription.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class FreeKnotsGrid(Grid):
    """The variables of a `Grid`, followed by the breakpoints; `basis` has the initial breakpoints.

    Times refer to the initial breakpoints, and mean the same relative place within an interval.
    """

    @cached_property
    def _fixed(self) -> Grid:
        return Grid(self.curve, self.problem, self.torques, self.extra, self.rates, self.plain)

    @cached_property
    def layout(self) -> Layout:
        """The variables, with breakpoints in order of time; those at which a constraint changes are fixed."""
        fixed, ends = self._fixed.layout, self.breakpoints
        stays = self._stays()
        knots = fixed.offset + fixed.size + np.arange(ends.size)
        lower, upper = np.where(stays, ends, 0.0), np.where(stays, ends, 1.0)
        return replace(
            fixed,
            tables=fixed.tables | {"knots": knots[:, None]},
            lower=np.append(fixed.lower, lower),
            upper=np.append(fixed.upper, upper),
        )

    def _stays(self) -> np.ndarray:
        """Fixed breakpoints: the ends of the motion, and times at which constraints begin, end or hold."""
        times = {0.0, 1.0}
        for name, rows in self.problem.rows.items():
            where = rows.constraint.where
            for s in where.moments:
                if np.abs(self.breakpoints - s).min() > 1e-9:
                    raise InputError(f"free knots need a breakpoint at s = {s:g}, where constraint {name!r} {where}")
            times |= set(where.moments)
        return np.abs(self.breakpoints[:, None] - np.array(sorted(times))).min(axis=1) <= 1e-9

    def curve_at(self, x: np.ndarray) -> Transcription:
        """The curve with the breakpoints of a decision vector as fixed ones."""
        return self.curve.with_breakpoints(x[self.layout["knots"][:, 0]])

    def without_knots(self, x: np.ndarray) -> np.ndarray:
        """The part of a decision vector that belongs to a `Grid` with the same, fixed breakpoints."""
        return np.delete(x, self.layout["knots"][:, 0])

    def spacing(self) -> Block:
        """Bounds on the widths of the intervals."""
        before, after = ca.SX.sym("before"), ca.SX.sym("after")
        local = LocalView(ca.vertcat(before, after), ca.SX(0, 1), parameter_symbols(self.problem))
        index, s = self.layout["knots"][:, 0], self.breakpoints
        sites = EvaluationPoints(
            local, Slices.of(np.vstack([index[:-1], index[1:]])), np.zeros((0, s.size - 1)), s[:-1]
        )
        least, most = self.curve.spacing
        size = 1 / (s.size - 1)
        return Block.of(
            "knots", sites, bounded("knots", after - before, least, most, scale=size, labels=("spacing of knots",))
        )

    @cached_property
    def _around(self) -> _KnotTable:
        """The knots that affect each interval."""
        degree, basis = self.basis.degree, self.basis
        return _KnotTable.of(basis.knots()[basis.first[:, None] + np.arange(1, 2 * degree + 1)])

    @cached_property
    def _width(self) -> ca.SX:
        knots = self._around.knots
        return knots[len(knots) // 2] - knots[len(knots) // 2 - 1]

    @cached_property
    def _local(self) -> LocalView:  # its variables contain knots, so that it is not shared
        """Local variables: control points, the knots around, shared unknowns; data: the place in the interval."""
        n, degree, place = self.problem.model.n_q, self.basis.degree, ca.SX.sym("place")
        points = ca.SX.sym("points", n, degree + 1)
        signals = ca.SX.sym("signals", self.layout["signals"].shape[1], degree - 1)
        states = ca.SX.sym("states", self.layout["states"].shape[1], degree)
        knots = self._around.knots
        s = knots[degree - 1] + place * self._width
        q = [points @ ca.vertcat(*cox_de_boor(s, knots, order)) for order in range(self._orders)]
        u = [signals @ ca.vertcat(*cox_de_boor(s, knots[2:-2], order)) for order in range(self._orders - 2)]
        x = [states @ ca.vertcat(*cox_de_boor(s, knots[1:-1], order)) for order in range(2)]
        w = ca.vertcat(ca.vec(points), ca.vec(signals), ca.vec(states), self._around.symbols, self._shared.symbols)
        return self._instant(w, place, s, (q, u, x))

    def on(self, points: Points) -> EvaluationPoints:
        """Sites given by times on the initial breakpoints, on the polynomials of given intervals."""
        s, interval = points
        entries = [self._points("q", self.basis.first[interval], self.basis.degree + 1)]
        if self.layout["signals"].shape[1]:
            entries.append(self._points("signals", self.curve.signals.first[interval], self.basis.degree - 1))
        if self.layout["states"].shape[1]:
            entries.append(self._points("states", self.states.first[interval], self.basis.degree))
        entries.append(self.layout["knots"][self._around.index[interval], 0].T)
        entries.append(np.tile(self._shared.index, (s.size, 1)).T)
        start = self.breakpoints[interval]
        place = (s - start) / (self.breakpoints[interval + 1] - start)
        return EvaluationPoints(self._local, Slices.of(np.vstack(entries)), place[None], s, interval)

    def _points(self, quantity: str, first: np.ndarray, count: int) -> np.ndarray:
        """Entries of `count` control points from the first ones on, shape (count times size, N)."""
        index = self.layout[quantity][first[:, None] + np.arange(count)]
        return index.reshape(first.size, -1).T

    def control_polygon(self, quantity: str, window: Window) -> EvaluationPoints | None:
        if not (order := ORDERS[quantity]):
            return None
        basis, degree, n = self.basis, self.basis.degree, self.problem.model.n
        derived = basis
        for _ in range(order):
            derived = derived.derivative()
        k = np.arange(derived.size)[active_control_points(intervals_within(window, derived), derived)]
        around = _KnotTable.of(basis.knots()[k[:, None] + np.arange(1, degree + order + 1)])
        points = ca.SX.sym("points", n, order + 1)
        columns = ca.horzsplit(points)
        for r in range(order):
            # Control points of a derivative are differences over their knots (de Boor 1978, X.12).
            columns = [
                (degree - r) * (after - before) / (around.knots[j + degree] - around.knots[j + r])
                for j, (before, after) in enumerate(pairwise(columns))
            ]
        shared, s, at = self._shared, ca.SX.sym("s"), derived.greville()[k]
        w = ca.vertcat(ca.vec(points), around.symbols, shared.symbols)
        entries = self._points("q", k, order + 1), self.layout["knots"][around.index, 0].T
        index = np.vstack([*entries, np.tile(shared.index, (k.size, 1)).T])
        return EvaluationPoints(self._control_point(w, s, quantity, columns[0]), Slices.of(index), at[None], at)

    def end(self, s: float) -> End:
        """The three control points next to the start (s = 0) or end (s = 1); their weights change with the knots."""
        return self._fixed.end(s)._replace(constant=False)

    def variable_scale(self, sizes: np.ndarray) -> np.ndarray:
        """Natural sizes of all variables; that of a breakpoint is the mean width of an interval."""
        knots = self.layout["knots"][:, 0] - self.layout.offset
        scale = np.append(self._fixed.variable_scale(sizes[: knots[0]]), np.ones(knots.size))
        scale[knots] = 1 / self.basis.intervals
        return scale

    def quadrature(self) -> Quadrature:
        points, weights = gauss(self.basis.degree + 1)
        sites = self.on(points_inside(self.breakpoints, points))
        return Quadrature.of(sites, np.tile(weights, self.basis.intervals), self._width)

    def interpolate(self, trajectory: Trajectory) -> np.ndarray:
        """Decision vector of a motion, with the initial breakpoints."""
        return np.append(self._fixed.interpolate(trajectory), self.breakpoints)


@dataclass(frozen=True)
class _KnotTable:
    """Consecutive knots at many places on a spline, as symbols; knots that are the same everywhere share a symbol."""

    symbols: ca.SX  # shape (distinct,)
    knots: tuple[ca.SX, ...]  # rising
    index: np.ndarray  # ints, shape (N, distinct); breakpoint of each symbol at every place

    @classmethod
    def of(cls, table: np.ndarray) -> _KnotTable:
        """A table from the numbers of breakpoints, ndarray of int, shape (N, knots)."""
        index, place = np.unique(table, axis=1, return_inverse=True)
        symbols = ca.SX.sym("knots", index.shape[1])
        return cls(symbols, tuple(symbols[k] for k in place.ravel().tolist()), index)


def grid_of(curve: Transcription, problem: Problem, torques: Torques, extra: Points | None = None) -> Grid:
    """The grid of a problem on a curve, with optional additional nodes.

    Raise InputError for jerk or torque rates on a curve whose accelerations may jump.
    """
    grid = (FreeKnotsGrid if curve.free else Grid)(curve, problem, torques, extra)
    if not problem.needs_rates:
        return grid
    if (grid.basis.continuity < 2).any():
        raise InputError(
            f"jerk and torque rates need continuous accelerations, which {curve} does not have; use a "
            "curve such as BSpline(20, degree=5) or HermiteSimpson(20)"
        )
    return grid.with_rates
