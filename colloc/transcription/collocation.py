"""Direct collocation: Hermite-Simpson and Radau, as one family of collocation polynomials.

On every interval of width h the state (q, v) is the polynomial whose derivative takes the values (v, a) at the
collocation points c_1 .. c_m; in Runge-Kutta form, X(u) = X(0) + h sum_j b_j(u) X'(c_j) with b_j the integral of the
j-th Lagrange polynomial (Hairer, Norsett and Wanner 1993, theorem II.7.7).

    Hermite-Simpson   c = 0, 1/2, 1       |---o---|---o---|      interior node free, ends shared
    Radau, degree 3   c = .16, .64, 1     |-o--o--|-o--o--|      no collocation at the very start

Accelerations are unknowns and torques follow by inverse dynamics, so the defects are (bi)linear and no mass matrix
is ever inverted.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.checks import count
from colloc.numerics.quadrature import lagrange_integrals, lagrange_values, radau
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
from colloc.transcription.torques import Torques, join


@dataclass(frozen=True)
class HermiteSimpson:
    """Hermite-Simpson collocation: cubic states, quadratic torques, order 4 (Hargraves and Paris 1987).

    Path constraints hold at the ends and the middle of every interval; torque is continuous.

    Parameters
    ----------
    intervals : int
    """

    intervals: int

    def __post_init__(self):
        count("HermiteSimpson intervals", self.intervals, at_least=1)

    @property
    def points(self) -> np.ndarray:
        """Collocation points on [0, 1]."""
        return np.array([0.0, 0.5, 1.0])

    def grid(self, problem: Problem, torques: Torques) -> CollocationGrid:
        """The problem's variables and sites on this mesh."""
        return CollocationGrid(self, problem, torques)


@dataclass(frozen=True)
class Radau:
    """Radau collocation: states of the given degree, torques one degree lower, order 2 degree - 1.

    Path constraints hold at the Radau points. Torque may jump between intervals, and has no value of its own at
    the very start, where that of the first interval's polynomial is reported.

    Parameters
    ----------
    intervals : int
    degree : int
        1 (implicit Euler) to 9.
    """

    intervals: int
    degree: int = 3

    def __post_init__(self):
        count("Radau intervals", self.intervals, at_least=1)
        count("Radau degree", self.degree, at_least=1, at_most=9)

    @property
    def points(self) -> np.ndarray:
        """Collocation points on (0, 1]."""
        return radau(self.degree)

    def grid(self, problem: Problem, torques: Torques) -> CollocationGrid:
        """The problem's variables and sites on this mesh."""
        return CollocationGrid(self, problem, torques)


class CollocationGrid:
    """Variables: q at all nodes, then v, then a with the signals; at the end the duration and the constants.

    Nodes are the mesh points and the collocation points between them. Only collocated nodes have a and signals: all
    but the very first of a Radau mesh.
    """

    bounded = frozenset({"q", "qd", "qdd"})

    def __init__(self, curve: HermiteSimpson | Radau, problem: Problem, torques: Torques):
        self.problem, self._torques = problem, torques
        self.intervals, self._c = curve.intervals, curve.points
        self._late = int(self._c[0] > 0)  # 1 when the first node is not collocated
        per_interval = self._c.size - 1 + self._late
        shared = shared_unknowns(problem)
        signal_lower, signal_upper = signal_bounds(problem)
        n, node_count = problem.model.n, self.intervals * per_interval + 1
        pieces = [
            (node_count, n),
            (node_count, n),
            (node_count - self._late, n + signal_lower.size),
            (1, shared.lower.size),
        ]
        starts = np.cumsum([0] + [rows * columns for rows, columns in pieces])
        self._q, self._v, self._a, self._shared = (
            start + np.arange(rows * columns).reshape(rows, columns)
            for start, (rows, columns) in zip(starts, pieces, strict=False)
        )
        limits = zip(problem.limits("q"), problem.limits("qd"), problem.limits("qdd"), strict=True)
        ends = ((signal_lower, shared.lower), (signal_upper, shared.upper))
        self.lower, self.upper = (
            np.concatenate(
                [np.tile(q, node_count), np.tile(v, node_count), np.tile([*a, *sig], node_count - self._late), end]
            )
            for (q, v, a), (sig, end) in zip(limits, ends, strict=True)
        )
        # Row k: the nodes of interval k, both ends included; the same for collocated nodes, numbered by rows of _a.
        first = per_interval * np.arange(self.intervals)[:, None]
        self._members = first + np.arange(per_interval + 1)
        self._collocated = first + np.arange(self._c.size)
        inside = self._c if self._late else self._c[1:]
        self._s = np.append(0.0, ((np.arange(self.intervals)[:, None] + inside) / self.intervals).ravel())
        for quantity, index in (("q", self._q), ("qd", self._v), ("qdd", self._a[:, :n])):
            for during, low, high in problem.windows(quantity):
                inside = self._within(during)[-len(index) :]
                tighten(self, problem, quantity, during, index[inside], low, high)
        self.segments = {"q": self._q, "qd": self._v, "qdd": self._a[:, :n], "duration": self._shared[0, :1]}
        self.breakpoints = np.linspace(0, 1, self.intervals + 1)
        self._seen = shared.visible(self._shared[0])
        self._node, self._early, self._interval = (
            make(shared) for make in (self._node_local, self._early_local, self._interval_local)
        )

    def _within(self, during: tuple[float, float]) -> np.ndarray:
        return (self._s >= during[0] - 1e-9) & (self._s <= during[1] + 1e-9)

    def held(self, during: tuple[float, float]) -> tuple[float, float]:
        """All of it: positions, velocities and accelerations at the nodes are variables."""
        return during

    def _inputs(self, s: ca.SX, shared: Shared, q: ca.SX, v: ca.SX, a: ca.SX) -> list[ca.SX]:
        """The instant's inputs from a state and a column of accelerations and signals, torques yet to be put in."""
        n = self.problem.model.n
        T, parameters = shared.T, parameter_symbols(self.problem)
        return [s * T, T, q, v, a[:n, :], ca.SX(n, 1), a[n:, :], shared.constants, parameters]

    def _node_local(self, shared: Shared) -> Local:
        s, q, v = ca.SX.sym("s"), ca.SX.sym("q", self._q.shape[1]), ca.SX.sym("v", self._q.shape[1])
        a = ca.SX.sym("a", self._a.shape[1])
        w, inputs = ca.vertcat(q, v, a, shared.symbols), self._inputs(s, shared, q, v, a)
        lifted = self._torques.put(inputs, w)
        return Local(w, s, inputs, lifted)

    def _early_local(self, shared: Shared) -> Local:
        """The state alone; what depends on accelerations, torques or signals is not a number there."""
        n = self.problem.model.n
        s, q, v = ca.SX.sym("s"), ca.SX.sym("q", n), ca.SX.sym("v", n)
        undefined = ca.SX.nan(n, 1)
        signals = ca.SX.nan(self._a.shape[1] - n, 1)
        T, parameters = shared.T, parameter_symbols(self.problem)
        inputs = [s * T, T, q, v, undefined, undefined, signals, shared.constants, parameters]
        return Local(ca.vertcat(q, v, shared.symbols), s, inputs)

    def _interval_local(self, shared: Shared) -> Local:
        """All of an interval, evaluated anywhere on it by its polynomials (weights in d)."""
        n, m = self.problem.model.n, self._c.size
        q, v = (ca.SX.sym(name, n, self._members.shape[1]) for name in "qv")
        a = ca.SX.sym("a", self._a.shape[1], m)
        ell, b, s, start = (ca.SX.sym(name, size) for name, size in (("ell", m), ("b", m), ("s", 1), ("start", 1)))
        w, T = ca.vertcat(ca.vec(q), ca.vec(v), ca.vec(a), shared.symbols), shared.T
        own = [
            self._inputs(start + c / self.intervals, shared, q[:, k + self._late], v[:, k + self._late], a[:, k])
            for k, c in enumerate(self._c)
        ]
        lifted = join([self._torques.put(inputs, w) for inputs in own])
        values = a @ ell
        inputs = own[0][:]
        inputs[0] = s * T
        inputs[2] = q[:, 0] + T * (v[:, self._late :] @ b)
        inputs[3] = v[:, 0] + T * (a[:n, :] @ b)
        inputs[4], inputs[6] = values[:n, :], values[n:, :]
        inputs[5] = ca.horzcat(*(node[5] for node in own)) @ ell
        return Local(w, ca.vertcat(ell, b, s, start), inputs, lifted)

    def _interval_slices(self, interval: np.ndarray) -> Slices:
        parts = (
            self._q[self._members[interval]],
            self._v[self._members[interval]],
            self._a[self._collocated[interval]],
        )
        own = [part.reshape(interval.size, -1) for part in parts]
        return Slices.of(np.hstack([*own, np.tile(self._seen, (interval.size, 1))]).T)

    def anywhere(self, s: np.ndarray) -> Sites:
        """The collocation polynomials at any normalised times; torques and signals go as the accelerations do."""
        # A Radau mesh point belongs to the interval it ends, where it is collocated; rounding must not move it.
        place = np.ceil(s * self.intervals - 1e-9) - 1 if self._late else np.floor(s * self.intervals + 1e-9)
        interval = np.clip(place.astype(int), 0, self.intervals - 1)
        u = s * self.intervals - interval
        weights = [lagrange_values(self._c, u).T, lagrange_integrals(self._c, u).T / self.intervals]
        start = interval / self.intervals
        return Sites(self._interval, self._interval_slices(interval), np.vstack([*weights, s, start]), s)

    def nodes(self) -> Sites:
        """The collocated nodes."""
        k = np.arange(self._late, self._s.size)
        shared = np.tile(self._seen, (k.size, 1))
        slices = Slices.of(np.hstack([self._q[k], self._v[k], self._a, shared]).T)
        return Sites(self._node, slices, self._s[None, k], self._s[k])

    def early_nodes(self) -> Sites | None:
        """The start of a Radau mesh, which has no acceleration of its own."""
        if not self._late:
            return None
        slices = Slices.of(np.concatenate([self._q[0], self._v[0], self._seen])[:, None])
        return Sites(self._early, slices, np.zeros((1, 1)), np.zeros(1))

    def end(self, s: float) -> End:
        """State at the start or end, and the acceleration unless it is the start of a Radau mesh."""
        n, node = self.problem.model.n, 0 if s == 0 else -1
        orders = [self._q[node], self._v[node]]
        if s != 0 or not self._late:
            orders.append(self._a[node, :n])
        return End(np.array(orders), np.eye(len(orders)), normalised=False)

    def quadrature(self) -> tuple[Sites, np.ndarray]:
        """The nodes with the weights of the collocation method (Simpson, Radau)."""
        own = lagrange_integrals(self._c, np.ones(1))[0] / self.intervals
        # Nodes shared by two intervals collect from both.
        weights = np.bincount((self._collocated + self._late).ravel(), np.tile(own, self.intervals))
        return self.nodes(), weights[self._late :]

    def defects(self) -> list[Block]:
        """X(c_i) - X(0) - h sum_j A_ij X'(c_j) = 0 at every collocation point but the interval's start."""
        local, n = self._interval, self.problem.model.n
        members = self._members.shape[1]
        q, v = (ca.reshape(local.w[k * n * members : (k + 1) * n * members], n, members) for k in (0, 1))
        a = ca.reshape(local.w[2 * n * members :][: self._a.shape[1] * self._c.size], -1, self._c.size)[:n, :]
        T = local.inputs[1]
        width = ca.SX.sym("h")
        # The Runge-Kutta matrix without the trivial row of a collocation point at the interval's start.
        matrix = lagrange_integrals(self._c, self._c)[1 - self._late :]
        rows = [x[:, 1:] - x[:, 0] - T * width * (dx @ matrix.T) for x, dx in ((q, v[:, self._late :]), (v, a))]
        names = self.problem.model.joint_names
        labels = tuple(f"{x}[{name}]" for x in ("q' = qd", "qd' = qdd") for _ in matrix for name in names)
        expression = ca.vertcat(*map(ca.vec, rows))
        zero = np.zeros(expression.shape[0])
        slices = self._interval_slices(np.arange(self.intervals))
        data = np.full((1, self.intervals), 1 / self.intervals)
        p = parameter_symbols(self.problem)
        s = self.breakpoints[:-1]
        return [Block("defects", local.w, width, p, expression, slices, data, zero, zero, labels, s)]

    def pack(self, motion: Motion) -> np.ndarray:
        """A motion's state, accelerations and signals at the nodes."""
        s = self._s[self._late :]
        a = np.column_stack([motion.qdd(s), sampled_signals(self.problem, motion, s)])
        parts = (motion.q(self._s), motion.qd(self._s), a)
        return np.concatenate([*(part.ravel() for part in parts), pack_shared(self.problem, motion)])
