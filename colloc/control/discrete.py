"""Mechanisms in discrete time: x[k+1] = f(x[k], u[k]) and its linearisation along a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import casadi as ca
import numpy as np

from colloc.control.state_space import StateSpace
from colloc.dynamics import composite_sensitivities, forward_dynamics, total_sensitivities
from colloc.kernels.batch import Batch
from colloc.model import Load, Model, check_forward, check_loads
from colloc.problem import Instant
from colloc.support.arguments import array, instance_of, validated
from colloc.support.checks import InputError, count, finite_number, function, instance, interval, pair, quoted

Step = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
Linearise = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Scheme(Enum):
    """Integration of a time step with constant control.

    EULER
        Explicit Euler, first order: angles advance with the old rates.
    RUNGE_KUTTA
        The classical method of four stages, fourth order.

    Examples
    --------
    >>> euler = co.control.discretise(two_link(), dt=0.001, scheme=co.control.Scheme.EULER)
    """

    EULER = ((0.0,), (1.0,))
    RUNGE_KUTTA = ((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6))

    @property
    def stages(self) -> tuple[tuple[float, float], ...]:
        """Runge-Kutta stages: fraction of the step along the slope of the previous stage, and weight in the step."""
        return tuple(zip(*self.value, strict=True))


@dataclass(frozen=True, eq=False)
class System:
    """A discrete-time system x[k+1] = f_k(x[k], u[k]).

    Parameters
    ----------
    n_x, n_u : int
        Sizes of state and control.
    step : callable
        (k, x, u) -> x[k+1], shapes (n_x,), (n_u,) -> (n_x,). If undefined, it returns NaN or infinity, or raises
        LinAlgError.
    linearise : callable
        (x, u) -> A, B, the derivatives of f_k by x and u of all steps k = 0 .. K - 1 at once, shapes (K, n_x), (K, n_u)
        -> (K, n_dx, n_dx), (K, n_dx, n_u). The same applies if undefined.
    space : StateSpace, optional
        Space of states with unit quaternions, which `step` normalises; A and B are then derivatives of displacements of
        x[k+1] by those of x[k], n_dx numbers. Plain vectors by default, n_dx = n_x.
    dt : float, optional [s]
        Time of a step, if it has one.

    Examples
    --------
    >>> system = co.control.discretise(two_link(), dt=0.02)
    >>> system.n_x, system.n_u
    (4, 2)
    >>> system.step(0, np.array([0.0, 0.0, 1.0, 0.0]), np.zeros(2)).shape
    (4,)
    """

    n_x: int
    n_u: int
    step: Step
    linearise: Linearise
    space: StateSpace | None = None
    dt: float | None = None

    def __post_init__(self):
        for name in ("n_x", "n_u"):
            count(name, getattr(self, name), at_least=1)
        if self.dt is not None:
            finite_number("dt", self.dt, positive=True)
        function("step", self.step, "a function", "k", "x", "u")
        function("linearise", self.linearise, "a function", "x", "u")
        if self.space is None:
            object.__setattr__(self, "space", StateSpace(self.n_x))
        elif instance("space", self.space, StateSpace).n_x != self.n_x:
            raise InputError(f"space must be of n_x = {self.n_x} numbers, got one of {self.space.n_x}")

    @property
    def states(self) -> StateSpace:
        """The space of the states: `space`, or plain vectors."""
        return instance("space", self.space, StateSpace)

    @property
    def n_dx(self) -> int:
        """Number of directions in which a state can be displaced."""
        return self.states.n_dx


def discretise(model: Model, dt: float, *, scheme: Scheme = Scheme.RUNGE_KUTTA, loads: Sequence[Load] = ()) -> System:
    """A mechanism as a discrete-time system: state (q, qd), controlled by the actuator torques.

    The state includes quaternions of ball joints, which every step normalises; derivatives are by small rotations about
    the axes of the links: `System.space`.

    Accelerations come from the articulated-body algorithm. Their derivatives are exact: -M^-1 dtau/dq, -M^-1 dtau/dqd
    and M^-1 with the sensitivities of the inverse dynamics at the same motion, carried through the stages of the scheme
    by the chain rule.

    Parameters
    ----------
    model : Model
        Without symbols.
    dt : float [s]
    scheme : Scheme
        RUNGE_KUTTA or EULER.
    loads : sequence of Load
        Loads, possibly functions of t, q and qd; step k begins at t = k dt.

    Returns
    -------
    System

    Raises
    ------
    InputError
        For a joint without inertia, loads that need accelerations, or a model that contains symbols.

    Examples
    --------
    >>> system = co.control.discretise(two_link(9.81), dt=0.01)
    >>> system.step(0, np.zeros(4), np.array([3.0, 1.0])).round(3)
    array([-0.   ,  0.   , -0.051,  0.069])
    >>> top = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)))
    >>> free = co.control.discretise(top, dt=0.01)
    >>> free.n_x, free.n_dx, free.n_u
    (7, 6, 3)
    """
    check_loads(instance("model", model, Model), loads)
    if model.symbols:
        raise InputError(f"model {model.name!r} contains symbols, a discrete system needs numbers: {model.symbols}")
    qd, qdd, tau = (ca.SX.sym(name, model.n) for name in ("qd", "qdd", "tau"))
    now = Instant(model, ca.SX.sym("t"), ca.SX.nan(), ca.SX.sym("q", model.n_q), qd, qdd, tau)
    return system_at(now, [load.at(now) for load in loads], dt, scheme, [], [])


def system_at(
    now: Instant, loads: Sequence[Load], dt: float, scheme: Scheme, symbols: list[ca.SX], values: list[ca.SX]
) -> System:
    """The system of an instant's model and symbols, `symbols` other than t, q, qd, tau replaced by `values`."""
    if not isinstance(scheme, Scheme):
        raise InputError(f"scheme must be one of {', '.join(map(str, Scheme))}, got {quoted(scheme)}")
    dt, model, space = finite_number("dt", dt, positive=True), now.model, StateSpace.of(now.model)
    check_forward(loads, now.qdd)
    qdd = forward_dynamics(model, now.q, now.qd, now.tau, loads)
    torque = total_sensitivities(composite_sensitivities, model, now.q, now.qd, now.qdd, loads)
    by_row = [ca.vec(ca.densify(block).T) for block in torque[1:]]
    outputs = [qdd, *ca.substitute(by_row, [now.qdd], [qdd])]
    inputs = [now.t, now.q, now.qd, now.tau]
    slopes = ca.Function("slopes", inputs, ca.substitute(outputs, symbols, values) if symbols else outputs)
    places = [np.arange(slopes.nnz_out(k)) for k in range(slopes.n_out())]
    batch = Batch.of(slopes, ("t", "q", "qd", "tau"), places)
    step = _BufferedStep(_step_function(model, slopes, space, dt, scheme), dt)
    return System(space.n_x, model.n, step, _lineariser(batch, _Positions(model), dt, scheme), space, dt)


def _step_function(model: Model, slopes: ca.Function, space: StateSpace, dt: float, scheme: Scheme) -> ca.Function:
    """(t, x, u) -> the state a time step later."""
    n_q = model.n_q
    t, x, u = ca.SX.sym("t"), ca.SX.sym("x", space.n_x), ca.SX.sym("u", model.n)
    slope, total = ca.SX(space.n_x, 1), ca.SX(space.n_x, 1)
    for reach, weight in scheme.stages:
        at = x + dt * reach * slope
        q, qd = at[:n_q, :], at[n_q:, :]
        slope = ca.vertcat(model.position_rates(q, qd), slopes(t + dt * reach, q, qd, u)[0])
        total += weight * slope
    after = ca.densify(x + dt * total)
    for start in space.quaternions:
        after[start : start + 4] /= ca.norm_2(after[start : start + 4])
    return ca.Function("step", [t, x, u], [after])


class _BufferedStep:
    """A step function called through a buffer: conversion to CasADi's own matrices takes longer than the dynamics."""

    def __init__(self, function: ca.Function, dt: float):
        self._dt = dt
        self._arguments = [np.zeros(function.nnz_in(k)) for k in range(3)]
        self._after = np.zeros(function.nnz_out(0))
        self._buffer, self._trigger = function.buffer()
        for k, memory in enumerate(self._arguments):
            self._buffer.set_arg(k, memory.data)  # pyright: ignore[reportCallIssue]
        self._buffer.set_res(0, self._after.data)  # pyright: ignore[reportCallIssue]

    def __call__(self, k: int, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        for memory, value in zip(self._arguments, (k * self._dt, x, u), strict=True):
            memory[:] = value
        self._trigger()
        return self._after.copy()


class _Positions:
    """Rates of positions from velocities, at many samples; equal to them for models without quaternions."""

    def __init__(self, model: Model):
        self.n_q, self.plain = model.n_q, model.has_plain_velocities
        if self.plain:
            return
        q, qd = ca.SX.sym("q", model.n_q), ca.SX.sym("qd", model.n)
        rates = model.position_rates(q, qd)
        (velocities,) = model.velocities(q, still := ca.SX.sym("still", model.n_q))
        parts = [rates, ca.jacobian(rates, q), ca.jacobian(rates, qd), ca.jacobian(velocities, still)]
        self._shapes = [part.shape for part in parts[1:]]
        rows = [ca.densify(ca.vec(part.T)) for part in parts]
        function = ca.Function("positions", [q, qd], rows)
        self._batch = Batch.of(function, ("q", "qd"), [np.arange(row.shape[0]) for row in rows])

    def at(self, x: np.ndarray) -> list[np.ndarray]:
        """Rates of the positions, their derivatives by positions and by velocities, and velocities by rates."""
        q, qd = np.ascontiguousarray(x[:, : self.n_q]), np.ascontiguousarray(x[:, self.n_q :])
        rates, *slopes = self._batch.evaluate({"q": q, "qd": qd}, len(x))
        return [rates, *(part.reshape(len(x), *shape) for part, shape in zip(slopes, self._shapes, strict=True))]

    def by_displacements(
        self, A: np.ndarray, B: np.ndarray, x: np.ndarray, after: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of a state `after` by x and a control, in displacements of both states."""
        if self.plain:
            return A, B
        inward, outward = self.at(after)[3], self.at(x)[2]
        n_q = inward.shape[2]
        A, B = (np.concatenate([inward @ part[:, :n_q], part[:, n_q:]], axis=1) for part in (A, B))
        return np.concatenate([A[:, :, :n_q] @ outward, A[:, :, n_q:]], axis=2), B


def _lineariser(batch: Batch, positions: _Positions, dt: float, scheme: Scheme) -> Linearise:
    """Derivatives of the step by the chain rule through its stages, for all steps at once."""

    def linearise(x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        (steps, n), n_x = u.shape, x.shape[1]
        identity = np.eye(n_x)
        slope, by_x, by_u = np.zeros((steps, n_x)), np.zeros((steps, n_x, n_x)), np.zeros((steps, n_x, n))
        A, B, after = np.tile(identity, (steps, 1, 1)), np.zeros((steps, n_x, n)), x
        for reach, weight in scheme.stages:
            t = dt * (np.arange(steps) + reach)
            slope, F_x, F_u = _slopes(batch, positions, t, x + dt * reach * slope, u)
            by_x, by_u = F_x @ (identity + dt * reach * by_x), F_x @ (dt * reach * by_u) + F_u
            A += dt * weight * by_x
            B += dt * weight * by_u
            after = after + dt * weight * slope
        return positions.by_displacements(A, B, x, after)

    return linearise


def _slopes(
    batch: Batch, positions: _Positions, t: np.ndarray, x: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """d(q, qd)/dt and its derivatives by (q, qd) and tau, shapes (K, n_x), (K, n_x, n_x), (K, n_x, n)."""
    (steps, n), n_q = u.shape, positions.n_q
    inputs = {"t": t[:, None], "q": x[:, :n_q], "qd": x[:, n_q:], "tau": u}
    arrays = {name: np.ascontiguousarray(array, dtype=float) for name, array in inputs.items()}
    qdd, by_q, by_qd, mass = batch.evaluate(arrays, steps)
    by_q, by_qd, mass = (block.reshape(steps, n, n) for block in (by_q, by_qd, mass))
    solved = np.linalg.solve(mass, np.concatenate([-by_q, -by_qd, np.broadcast_to(np.eye(n), mass.shape)], axis=2))
    F_x, F_u = np.zeros((steps, n_q + n, n_q + n)), np.zeros((steps, n_q + n, n))
    F_u[:, n_q:] = solved[:, :, 2 * n :]
    if positions.plain:
        F_x[:, :n, n:], F_x[:, n:] = np.eye(n), solved[:, :, : 2 * n]
        return np.concatenate([x[:, n:], qdd], axis=1), F_x, F_u
    rates, F_x[:, :n_q, :n_q], F_x[:, :n_q, n_q:], velocities = positions.at(x)
    F_x[:, n_q:, :n_q], F_x[:, n_q:, n_q:] = solved[:, :, :n] @ velocities, solved[:, :, n : 2 * n]
    return np.concatenate([rates, qdd], axis=1), F_x, F_u


@validated(
    system=instance_of(System),
    x0=array("n_x"),
    u=array("K", "n_u"),
    reference=array("rows", "n_x"),
    gains=array("K", "n_u", "n_dx"),
)
def rollout(
    system: System,
    x0: np.ndarray,
    u: np.ndarray,
    *,
    reference: np.ndarray | None = None,
    gains: np.ndarray | None = None,
    limits: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """States that follow from controls, with optional feedback.

    Step k applies u[k] + gains[k] (x[k] - reference[k]), clamped to the limits; the difference is that of the system's
    `StateSpace`, a rotation for quaternions.

    Parameters
    ----------
    system : System
    x0 : ndarray, shape (n_x,)
    u : ndarray, shape (K, n_u)
    reference : ndarray, shape (K, n_x) or more rows, optional
    gains : ndarray, shape (K, n_u, n_dx), optional
    limits : two ndarray, shape (n_u,), optional
        Lower and upper limits of the controls.

    Returns
    -------
    x : ndarray, shape (K + 1, n_x)
        NaN from the first step without a finite state: divergence raises no exception.
    u : ndarray, shape (K, n_u)
        The applied controls; NaN beyond that step as well.

    Raises
    ------
    InputError
        For gains without a reference, or a step that returns no state.

    Examples
    --------
    >>> system = co.control.discretise(two_link(), dt=0.01)
    >>> x, u = co.control.rollout(system, np.zeros(4), np.ones((10, 2)))
    >>> x.shape, u.shape
    ((11, 4), (10, 2))
    """
    if gains is not None and reference is None:
        raise InputError("gains need a reference, got gains alone")
    if x0.size != system.n_x or u.shape[1] != system.n_u:
        raise InputError(
            f"the system has {system.n_x} states and {system.n_u} controls, got {x0.size} and {u.shape[1]}"
        )
    if gains is not None and gains.shape[2] != system.n_dx:
        raise InputError(f"gains must have {system.n_dx} columns, one for each displacement, got {gains.shape[2]}")
    if limits is not None:
        limits = interval("limits", *pair("limits", limits), (system.n_u,))
    if reference is not None and len(reference) < len(u):
        raise InputError(f"reference must have a row for each of {len(u)} steps, got {len(reference)}")
    x, applied = np.full((len(u) + 1, system.n_x), np.nan), np.full((len(u), system.n_u), np.nan)
    x[0], difference = x0, system.states.difference
    with np.errstate(all="ignore"):
        for k in range(len(u)):
            control = u[k]
            if gains is not None and reference is not None:
                control = control + gains[k] @ difference(x[k], reference[k])
            if limits is not None:
                control = np.minimum(np.maximum(control, limits[0]), limits[1])
            try:
                state = np.asarray(system.step(k, x[k], control), dtype=float)
            except np.linalg.LinAlgError:
                break
            if state.shape != x[k].shape:
                raise InputError(f"step must return a state of shape {x[k].shape}, got shape {state.shape}")
            if not np.isfinite(state).all():
                break
            x[k + 1], applied[k] = state, control
    return x, applied
