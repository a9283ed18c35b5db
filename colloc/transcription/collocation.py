"""Direct collocation: Hermite-Simpson and Radau, one family of collocation polynomials.

On every interval of width h the state (q, v) is the polynomial whose derivative takes the values (v, a) at the
collocation points c_1 .. c_m; in Runge-Kutta form, X(u) = X(0) + h sum_j b_j(u) X'(c_j) with b_j the integral of the
j-th Lagrange polynomial (Hairer, Norsett and Wanner 1993, theorem II.7.7).

    Hermite-Simpson   c = 0, 1/2, 1       |---o---|---o---|      interior node free, ends shared
    Radau, degree 3   c = .16, .64, 1     |-o--o--|-o--o--|      no collocation at the very start

Accelerations are unknowns and torques follow by inverse dynamics, so the defects are (bi)linear and no mass matrix
is ever inverted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from colloc.numerics.quadrature import lagrange_integrals, lagrange_values
from colloc.problem import Problem, Rows, Slots, Window
from colloc.transcription.block import Block
from colloc.transcription.grid import End, Shared, Trajectory, parameter_symbols, shared_unknowns
from colloc.transcription.layout import Layout, lay_out
from colloc.transcription.sites import Local, Sites
from colloc.transcription.slices import Slices
from colloc.transcription.torques import Torques, join


@dataclass(frozen=True, eq=False)
class CollocationGrid:
    """Variables: q at all nodes, then qd, then qdd with the signals; at the end the duration and the constants.

    Nodes are the mesh points and the collocation points between them. Only collocated nodes have qdd and signals: all
    but the very first of a Radau mesh.

    Parameters
    ----------
    problem : Problem
    torques : Torques
    breakpoints : ndarray, shape (intervals + 1,)
    points : tuple of ndarray
        Collocation points on [0, 1] of every interval, the last one at 1; all begin at 0 or none.
    """

    problem: Problem
    torques: Torques
    breakpoints: np.ndarray
    points: tuple[np.ndarray, ...]
    layout: Layout = field(init=False)

    def __post_init__(self):
        nodes, collocated = self._s.size, self._s.size - self._late
        tables = [(nodes, ("q",)), (nodes, ("qd",)), (collocated, ("qdd", "signals"))]
        layout = lay_out(self.problem, tables)
        for quantity in ("q", "qd", "qdd"):
            times = self._s[-len(layout[quantity]) :]
            for limits in self.problem.windows(quantity):
                layout = layout.narrowed(self.problem, quantity, _within(times, limits[0]), limits)
        object.__setattr__(self, "layout", layout)

    @cached_property
    def _late(self) -> int:
        """1 when the first node is not collocated."""
        return int(self.points[0][0] > 0)

    @cached_property
    def _widths(self) -> np.ndarray:
        return np.diff(self.breakpoints)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Numbers of collocation points of all intervals."""
        return np.array([c.size for c in self.points])

    @cached_property
    def _groups(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Collocation points, and the intervals that have them."""
        sizes = self._sizes
        return [
            (self.points[np.argmax(sizes == size)], np.flatnonzero(sizes == size))
            for size in sorted(set(sizes.tolist()))
        ]

    @cached_property
    def _s(self) -> np.ndarray:
        """Normalised times of all nodes."""
        inside = [c if self._late else c[1:] for c in self.points]
        own = [start + h * c for start, h, c in zip(self.breakpoints, self._widths, inside, strict=False)]
        return np.concatenate([[0.0], *own])

    @cached_property
    def _first(self) -> np.ndarray:
        """Node at the start of every interval."""
        return np.cumsum([0] + [c.size - 1 + self._late for c in self.points])[:-1]

    def _members(self, interval: np.ndarray, count: int) -> np.ndarray:
        """Nodes of intervals, both ends included, shape (len(interval), count + late).

        An interval of fewer collocation points than `count` repeats its last node.
        """
        return self._first[interval, None] + np.minimum(np.arange(count + self._late), self._last(interval))

    def _collocated(self, interval: np.ndarray, count: int) -> np.ndarray:
        """Collocated nodes of intervals as rows of qdd, shape (len(interval), count); repeated as members are."""
        return self._first[interval, None] + np.minimum(np.arange(count), self._last(interval) - self._late)

    def _last(self, interval: np.ndarray) -> np.ndarray:
        return self._sizes[interval, None] - 1 + self._late

    @cached_property
    def _shared(self) -> Shared:
        return shared_unknowns(self.problem, self.layout)

    def held(self, quantity: str, window: Window) -> Window | None:
        """All of it: positions, velocities and accelerations at the nodes are variables."""
        inside = _within(self._s[self._late :], window).any()
        return window if quantity in ("q", "qd", "qdd") and inside else None

    def hull(self, quantity: str, window: Window) -> None:
        """None: between nodes nothing is promised."""
        return

    @property
    def _columns(self) -> int:
        """Number of accelerations and signals at a node."""
        return self.layout["qdd"].shape[1] + self.layout["signals"].shape[1]

    def _slots(self, t: ca.SX, q: ca.SX, qd: ca.SX, a: ca.SX) -> Slots:
        """An instant from a state and a column of accelerations and signals, torques yet to be put in."""
        n, shared = self.problem.model.n, self._shared
        return Slots(
            t, shared.T, q, qd, a[:n, :], ca.SX(n, 1), a[n:, :], shared.constants, parameter_symbols(self.problem)
        )

    @cached_property
    def _node(self) -> Local:
        """The state, accelerations and signals of a collocated node."""
        n, shared = self.problem.model.n, self._shared
        s, q, v, a = (ca.SX.sym(name, size) for name, size in (("s", 1), ("q", n), ("v", n), ("a", self._columns)))
        w = ca.vertcat(q, v, a, shared.symbols)
        slots, torques = self.torques.put(self._slots(s * shared.T, q, v, a), w)
        return Local(w, s, slots.parameters, slots, torques)

    def nodes(self) -> Sites:
        """The collocated nodes."""
        layout, k = self.layout, np.arange(self._late, self._s.size)
        seen = np.tile(self._shared.index, (k.size, 1))
        slices = Slices.of(np.hstack([layout["q"][k], layout["qd"][k], layout["qdd"], layout["signals"], seen]).T)
        return Sites(self._node, slices, self._s[None, k], self._s[k])

    def early(self) -> Sites | None:
        """The start of a Radau mesh: a state alone, whose accelerations, torques and signals are not numbers."""
        if not self._late:
            return None
        n, shared = self.problem.model.n, self._shared
        s, q, v = ca.SX.sym("s"), ca.SX.sym("q", n), ca.SX.sym("v", n)
        slots = self._slots(s * shared.T, q, v, ca.SX.nan(self._columns, 1))._replace(tau=ca.SX.nan(n, 1))
        local = Local(ca.vertcat(q, v, shared.symbols), s, slots.parameters, slots)
        slices = Slices.of(np.concatenate([self.layout["q"][0], self.layout["qd"][0], shared.index])[:, None])
        return Sites(local, slices, np.zeros((1, 1)), np.zeros(1))

    @cached_property
    def _polynomials(self) -> Local:
        """All of an interval, evaluated anywhere on it by its polynomials: their weights and the nodes' times in d."""
        n, m, late, shared = self.problem.model.n, int(self._sizes.max()), self._late, self._shared
        q, v, a = ca.SX.sym("q", n, m + late), ca.SX.sym("v", n, m + late), ca.SX.sym("a", self._columns, m)
        ell, b, times, s = (ca.SX.sym(name, size) for name, size in (("ell", m), ("b", m), ("times", m), ("s", 1)))
        w = ca.vertcat(ca.vec(q), ca.vec(v), ca.vec(a), shared.symbols)
        found = [
            self.torques.put(self._slots(times[k] * shared.T, q[:, k + late], v[:, k + late], a[:, k]), w)
            for k in range(m)
        ]
        slots = self._slots(
            s * shared.T, q[:, 0] + shared.T * (v[:, late:] @ b), v[:, 0] + shared.T * (a[:n, :] @ b), a @ ell
        )
        slots = slots._replace(tau=ca.horzcat(*(own.tau for own, _ in found)) @ ell)
        return Local(w, ca.vertcat(ell, b, times, s), slots.parameters, slots, join([torques for _, torques in found]))

    def _slices(self, interval: np.ndarray, count: int) -> Slices:
        """All variables of intervals, each seen with `count` collocation points."""
        members, collocated, layout = self._members(interval, count), self._collocated(interval, count), self.layout
        a = np.hstack([layout["qdd"], layout["signals"]])
        own = [part.reshape(interval.size, -1) for part in (layout["q"][members], layout["qd"][members], a[collocated])]
        return Slices.of(np.hstack([*own, np.tile(self._shared.index, (interval.size, 1))]).T)

    def anywhere(self, s: np.ndarray) -> Sites:
        """The collocation polynomials at any normalised times; torques and signals go as the accelerations do."""
        # A Radau mesh point belongs to the interval it ends, where it is collocated; rounding must not move it.
        slack = 1e-9 * self._widths
        inner = self.breakpoints[1:-1]
        if self._late:
            interval = np.searchsorted(inner + slack[:-1], s, side="left")
        else:
            interval = np.searchsorted(inner - slack[1:], s, side="right")
        width, count = self._widths[interval], int(self._sizes.max())
        u = (s - self.breakpoints[interval]) / width
        values, integrals = np.zeros((count, s.size)), np.zeros((count, s.size))
        for c, alike in self._groups:
            own = slice(None) if len(self._groups) == 1 else np.isin(interval, alike)
            values[: c.size, own] = lagrange_values(c, u[own]).T
            integrals[: c.size, own] = lagrange_integrals(c, u[own]).T * width[own]
        times = self._s[self._late + self._collocated(interval, count)].T
        return Sites(self._polynomials, self._slices(interval, count), np.vstack([values, integrals, times, s]), s)

    def end(self, s: float) -> End:
        """State at the start or end, and the acceleration unless it is the start of a Radau mesh."""
        layout, node = self.layout, 0 if s == 0 else -1
        orders = [layout["q"][node], layout["qd"][node]]
        if s != 0 or not self._late:
            orders.append(layout["qdd"][node])
        return End(np.array(orders), np.eye(len(orders)), normalised=False)

    def quadrature(self) -> tuple[Sites, np.ndarray]:
        """The nodes with the weights of the collocation method (Simpson, Radau)."""
        weights = np.zeros(self._s.size)
        for c, interval in self._groups:
            own = self._widths[interval, None] * lagrange_integrals(c, np.ones(1))
            # Nodes shared by two intervals collect from both.
            np.add.at(weights, self._late + self._collocated(interval, c.size), own)
        return self.nodes(), weights[self._late :]

    def defects(self) -> list[Block]:
        """X(c_i) - X(0) - h sum_j A_ij X'(c_j) = 0 at every collocation point but the interval's start."""
        return [self._defects(interval, c) for c, interval in self._groups]

    def _defects(self, interval: np.ndarray, c: np.ndarray) -> Block:
        """Those of the intervals with the same collocation points."""
        model, late, shared = self.problem.model, self._late, self._shared
        n = model.n
        q, v = (ca.SX.sym(name, n, c.size + late) for name in "qv")
        a, width = ca.SX.sym("a", self._columns, c.size), ca.SX.sym("h")
        w = ca.vertcat(ca.vec(q), ca.vec(v), ca.vec(a), shared.symbols)
        # The Runge-Kutta matrix without the trivial row of a collocation point at the interval's start.
        matrix = lagrange_integrals(c, c)[1 - late :]
        rows = [x[:, 1:] - x[:, 0] - shared.T * width * (dx @ matrix.T) for x, dx in ((q, v[:, late:]), (v, a[:n, :]))]
        equations = [(x, rate) for x, rate in (("q' = qd", ""), ("qd' = qdd", "/s")) for _ in matrix]
        labels = tuple(f"{x}[{name}]" for x, _ in equations for name in model.joint_names)
        units = tuple(unit + rate for _, rate in equations for unit in model.position_units)
        expression = ca.vertcat(*map(ca.vec, rows))
        zero = np.zeros(expression.shape[0])
        local = Local(w, width, parameter_symbols(self.problem))
        sites = Sites(local, self._slices(interval, c.size), self._widths[None, interval], self.breakpoints[interval])
        return Block("defects", sites, Rows(expression, zero, zero, labels, units, np.ones(zero.size)))

    def pack(self, trajectory: Trajectory) -> np.ndarray:
        """A motion's state, accelerations and signals at the nodes."""
        s = self._s[self._late :]
        values = {"q": trajectory.q(self._s), "qd": trajectory.qd(self._s), "qdd": trajectory.qdd(s)}
        values["signals"] = trajectory.signals(self.problem, s)
        return self.layout.filled(values | trajectory.shared(self.problem))


def _within(s: np.ndarray, window: Window) -> np.ndarray:
    return (s >= window.start - 1e-9) & (s <= window.end + 1e-9)
