"""The grid of a problem: variables that are control points of splines, and evaluation of the splines.

Joints are piecewise polynomials of the normalised time, as smooth as the curve says, and torques follow by inverse
dynamics at every time: any spline is a motion, and nothing has to be integrated. Limits hold at nodes or for control
points. Equations are collocated (Ascher, Christiansen and Russell 1981): at as many sites as there are freedoms, at
Gauss points if accelerations may jump.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import casadi as ca
import numpy as np

from colloc.blocks.evaluation_points import EvaluationPoints, LocalView, Quadrature
from colloc.blocks.slices import Slices
from colloc.curves.curve import Transcription
from colloc.curves.mesh import Points, equation_points, points_inside
from colloc.curves.quadrature import gauss
from colloc.curves.spline_basis import SplineBasis
from colloc.problem import Problem, Slots, Window
from colloc.problem.time_sets import WHOLE
from colloc.support.lazy import cached_property
from colloc.transcription.layout import (
    End,
    Layout,
    StaticUnknowns,
    active_control_points,
    intervals_within,
    lay_out,
    parameter_symbols,
    spline_slices,
    static_unknowns,
)
from colloc.transcription.torques import Torques
from colloc.transcription.trajectory import Trajectory

ORDERS = {"q": 0, "qd": 1, "qdd": 2, "jerk": 3}

_SITES, _SMALL = 16, 100_000  # cached sets of times, and largest size of a set


@dataclass(frozen=True, eq=False)
class Grid:
    """Variables of a motion: control points of the joints, point after point, then of the signals; the duration;
    constants.
    """

    curve: Transcription
    problem: Problem
    torques: Torques
    extra: Points | None = None  # nodes in addition to those of the curve, where limits were exceeded
    rates: bool = False  # whether sites have jerk and torque rates, which need additional variables
    # whether sites see uncorrected splines without torques, instead of projecting dependent joints and normalising
    # quaternions
    plain: bool = False

    @cached_property
    def as_splines(self) -> Grid:
        """The same grid with uncorrected splines."""
        return replace(self, plain=True)

    @cached_property
    def with_rates(self) -> Grid:
        """The same grid with jerk and torque rates."""
        return self if self.rates else replace(self, rates=True)

    @cached_property
    def basis(self) -> SplineBasis:
        """The splines of the joints."""
        return self.curve.basis

    @cached_property
    def states(self) -> SplineBasis:
        """The basis of states: that of velocities, since both satisfy differential equations at the same points."""
        return self.basis.derivative()

    @cached_property
    def splines(self) -> dict[str, SplineBasis]:
        """The bases of joints, signals and states, by the names of their control points in `layout`."""
        return {"q": self.basis, "signals": self.curve.signals, "states": self.states}

    @cached_property
    def layout(self) -> Layout:
        """The variables; bounds on positions are bounds on control points."""
        basis, problem = self.basis, self.problem
        layout = lay_out(problem, basis.size, self.splines["signals"].size)
        for limits in problem.windows("q"):
            if (inside := intervals_within(limits[0], basis)) is not None:
                layout = layout.narrowed(problem, active_control_points(inside, basis), limits)
        return layout

    @property
    def breakpoints(self) -> np.ndarray:
        """Ends of the polynomial pieces in normalised time."""
        return self.basis.breakpoints

    @cached_property
    def _shared(self) -> StaticUnknowns:
        return static_unknowns(self.problem, self.layout)

    @property
    def _local(self) -> LocalView:
        """The local view of every site on the motion, shared by all grids with these torques."""
        views, key = self.torques.views, (self.rates, self.plain)
        return views[key] if key in views else views.setdefault(key, self._view())

    def _view(self) -> LocalView:
        """Local variables: joints and their derivatives in s, signals, and shared unknowns."""
        n, extra, s = self.problem.model.n_q, self.layout["signals"].shape[1], ca.SX.sym("s")
        q = [ca.SX.sym(name, n) for name in ("q", "q1", "q2", "q3")[: self._orders]]
        u = [ca.SX.sym(name, extra) for name in ("u", "u1")[: self._orders - 2]]
        x = [ca.SX.sym(name, self.layout["states"].shape[1]) for name in ("x", "x1")]
        return self._instant(ca.vertcat(*q, *u, *x, self._shared.symbols), s, s, (q, u, x))

    @property
    def _orders(self) -> int:
        """Number of derivatives of positions at a site, including the positions."""
        return 4 if self.rates else 3

    def _instant(self, w: ca.SX, d: ca.SX, s: ca.SX, splines: Sequence[Sequence[ca.SX]]) -> LocalView:
        """An instant from joints, signals and states with their derivatives in s."""
        T, nan, parameters = self._shared.T, ca.SX.nan(self.problem.model.n, 1), parameter_symbols(self.problem)
        rates, u, x = ([derivative / T**order for order, derivative in enumerate(values)] for values in splines)
        changes = u[1] if self.rates else ca.SX.nan(u[0].shape[0], 1)
        shared = self._shared.constants, parameters
        qd, qdd, *jerk = self.problem.model.velocities(*rates)
        slots = Slots(s * T, T, rates[0], qd, qdd, nan, nan, nan, u[0], changes, x[0], x[1], *shared)
        if self.plain:
            return LocalView(w, d, parameters, slots)
        slots = slots._replace(q=self.problem.model.normalised(slots.q))
        if self.problem.coordinates is not None:
            slots = slots._replace(**self.problem.coordinates.motion(slots.q, slots.qd, slots.qdd)._asdict())
        slots, torques = self.torques.put(slots, w)
        if self.rates:
            slots = slots._replace(jerk=self._jerk(slots, *jerk))
            slots = slots._replace(tau_rate=self.torques.rate(slots))
        slots, dependent = self.torques.put_dependent(slots, w)
        return LocalView(w, d, parameters, slots, torques, dependent)

    def _jerk(self, slots: Slots, jerk: ca.SX) -> ca.SX:
        """Third time derivatives of the joints, from those of the splines."""
        if self.problem.coordinates is None:
            return jerk
        model = self.problem.model
        sizes = (("q", model.n_q), ("qd", model.n), ("qdd", model.n))
        state = [ca.SX.sym(name, n) for name, n in sizes]
        changes = [ca.SX.sym(f"{name}'", n) for name, n in sizes]
        qdd = self.problem.coordinates.motion(*state).qdd
        rate = ca.jtimes(qdd, ca.vertcat(*state), ca.vertcat(*changes))
        moved = model.position_rates(slots.q, slots.qd)
        return ca.Function("jerk", [*state, *changes], [rate])(slots.q, slots.qd, slots.qdd, moved, slots.qdd, jerk)

    def anywhere(self, s: np.ndarray) -> EvaluationPoints:
        """Sites at any normalised times; where accelerations jump, after the jump."""
        return self.on(Points(s, self.basis.interval(s)))

    def unvarying(self) -> EvaluationPoints:
        """A site that depends only on the duration and the constants."""
        shared, s = self._shared, ca.SX.sym("s")
        index, symbols = shared.index, shared.symbols
        if not index.size:  # a site has at least one variable
            index, symbols = self.layout.duration, ca.SX.sym("T")
        local, at = self._control_point(symbols, s, "q", ca.SX.nan(self.problem.model.n_q, 1)), np.zeros(1)
        return EvaluationPoints(local, Slices.of(index[:, None]), at[None], at)

    def on(self, points: Points) -> EvaluationPoints:
        """Sites at normalised times, on the polynomials of given intervals; small sets are cached."""
        key, kept = (points.s.tobytes(), points.interval.tobytes()), self._sites
        if (sites := kept.pop(key, None)) is None:
            sites = self._on(points)
        if sites.slices.weight.size <= _SMALL:
            kept[key] = sites
            for oldest in list(kept)[:-_SITES]:
                kept.pop(oldest, None)
        return sites

    @cached_property
    def _sites(self) -> dict[tuple[bytes, bytes], EvaluationPoints]:
        """Recently used sites by times and intervals, the latest last; every error estimate needs them."""
        return {}

    def _on(self, points: Points) -> EvaluationPoints:
        seen, (s, interval) = self._shared.index, points
        orders = {"q": self._orders, "signals": self._orders - 2, "states": 2}
        slices = [
            spline_slices(basis, self.layout[name], s, interval, orders[name])
            for name, basis in self.splines.items()
            if self.layout[name].shape[1]
        ]
        if seen.size or not slices:
            slices.append(Slices.of(np.tile(seen, (s.size, 1)).T))
        return EvaluationPoints(self._local, reduce(Slices.beside, slices), s[None], s, interval)

    def nodes(self, window: Window = WHOLE) -> EvaluationPoints:
        """Nodes within a window, and its ends, at which inequalities are imposed."""
        points = self.curve.node_points()
        points = points if self.extra is None else points.merged(self.extra)
        inside = np.array([s for s in window if np.abs(self.breakpoints - s).min() > 1e-9])
        return self._chosen(points.merged(Points(inside, self.basis.interval(inside))), window)

    def collocated(self, window: Window, order: int = 2) -> EvaluationPoints:
        """Collocation points within a window, at which equalities are imposed.

        For equations in positions (order 0) or velocities (1), inside the whole intervals of the window.
        """
        if order == 2:
            return self._chosen(self.curve.collocation_points(), window)
        if (inside := intervals_within(window, self.basis)) is None:
            return self.on(Points(np.zeros(0), np.zeros(0, dtype=int)))
        s, interval = equation_points(self.basis.part(inside), order)
        return self.on(Points(s, interval + inside.start))

    def _chosen(self, points: Points, window: Window) -> EvaluationPoints:
        if window.start < window.end:
            return self.on(points.within(window, self.breakpoints))
        return self.on(points.take(np.abs(points.s - window.start) < 1e-9))

    def window_by_bounds(self, quantity: str, window: Window) -> Window | None:
        """The intervals within a window on which a joint quantity stays in the hull of its control points.

        Dependent joints have rates that are not splines, and positions that are only approximately splines.
        """
        inside = intervals_within(window, self.basis)
        splines = self.problem.coordinates is None and self.problem.model.has_plain_velocities
        if quantity not in ORDERS or inside is None or not (quantity == "q" or splines):
            return None
        return Window(float(self.breakpoints[inside.start]), float(self.breakpoints[inside.stop]))

    def control_polygon(self, quantity: str, window: Window) -> EvaluationPoints | None:
        """Control points of velocities, accelerations or jerk; those of positions are variables."""
        if not (order := ORDERS[quantity]):
            return None
        n, shared, s, x = self.problem.model.n, self._shared, ca.SX.sym("s"), ca.SX.sym("x", self.problem.model.n)
        local = self._control_point(ca.vertcat(x, shared.symbols), s, quantity, x)
        basis, weight = self.basis, np.ones((1, self.basis.size))
        for _ in range(order):
            # Every difference involves one more control point and its factor.
            none = np.zeros((1, basis.size - 1))
            weight = (np.vstack([none, weight[:, 1:]]) - np.vstack([weight[:, :-1], none])) * basis.differences()
            basis = basis.derivative()
        k = np.arange(basis.size)[active_control_points(intervals_within(window, basis), basis)]
        seen = np.tile(shared.index, (k.size, 1)).T
        index = np.vstack([*(self.layout["q"][k + i].T for i in range(order + 1)), seen])
        row = np.append(np.repeat(np.arange(n), order + 1), n + np.arange(len(seen)))
        column = (np.arange(n)[:, None] + n * np.arange(order + 1)).ravel()
        column = np.append(column, (order + 1) * n + np.arange(len(seen)))
        at = basis.greville()[k]
        slices = Slices(index, row, column, np.vstack([np.tile(weight[:, k], (n, 1)), np.ones(seen.shape)]))
        return EvaluationPoints(local, slices, at[None], at)

    def _control_point(self, w: ca.SX, s: ca.SX, quantity: str, x: ca.SX) -> LocalView:
        """An instant that contains only one derivative of the joints in s, for one quantity."""
        shared, parameters, nan = self._shared, parameter_symbols(self.problem), ca.SX.nan(self.problem.model.n, 1)
        u, y = (ca.SX.nan(self.layout[name].shape[1], 1) for name in ("signals", "states"))
        slots = Slots(s * shared.T, shared.T, nan, nan, nan, nan, nan, nan, u, u, y, y, shared.constants, parameters)
        return LocalView(w, s, parameters, slots._replace(**{quantity: x / shared.T ** ORDERS[quantity]}))

    def end(self, s: float) -> End:
        """The three control points next to the start (s = 0) or end (s = 1)."""
        at = np.array([float(s)])
        weight = np.vstack([self.basis.values(at, derivative) for derivative in (0, 1, 2)])
        degree = int(self.basis.degrees[0 if s == 0 else -1])
        inward = slice(None) if s == 0 else slice(degree, None, -1)
        points = slice(None) if s == 0 else slice(None, None, -1)
        return End(self.layout["q"][points][:3], weight[:, inward][:, :3])

    def variable_scale(self, sizes: np.ndarray) -> np.ndarray:
        """Natural sizes of all variables, shape (n_x,), from the sizes that their bounds give.

        The size of a control point shrinks with the width h of its interval, from h = 1/20 down. Accelerations are
        second differences over widths h, jerks third ones: gradients by a control point grow with 1/h^2 or 1/h^3, and
        so do their rounding errors, which must not be mistaken for a slope of the cost.
        """
        earliest, latest = self.basis.supports()
        widths = (self.breakpoints[latest + 1] - self.breakpoints[earliest]) / (latest + 1 - earliest)
        scale = sizes.copy()
        scale[self.layout["q"] - self.layout.offset] *= (np.minimum(1.0, 20 * widths) ** (self._orders - 1))[:, None]
        return scale

    def quadrature(self) -> Quadrature:
        """Gauss points, degree + 1 on every interval."""
        points, weights = gauss(self.basis.degree + 1)
        shares = (np.diff(self.breakpoints)[:, None] * weights).ravel()
        return Quadrature.of(self.on(points_inside(self.breakpoints, points)), shares)

    def interpolate(self, trajectory: Trajectory) -> np.ndarray:
        """Decision vector of a motion: splines that interpolate it at their Greville points."""
        values = trajectory.shared(self.problem)
        s, _ = self.basis.sites()
        values["q"] = self.basis.interpolate(trajectory.q(s))
        if self.layout["signals"].size:
            basis = self.splines["signals"]
            s, interval = basis.sites()
            # Where a signal may jump there are sites on both sides.
            start, end = basis.breakpoints[interval], basis.breakpoints[interval + 1]
            s = np.clip(s, start + 1e-6 * (end - start), end - 1e-6 * (end - start))
            values["signals"] = basis.interpolate(trajectory.signals(self.problem.signals, s))
        if self.layout["states"].size:
            values["states"] = self.states.interpolate(trajectory.signals(self.problem.states, self.states.sites()[0]))
        return self.layout.filled(values)
