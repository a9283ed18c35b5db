"""Mechanisms in discrete time: x[k+1] = f(x[k], u[k]) and its linearisation along a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import casadi as ca
import numpy as np

from colloc.dynamics import composite_sensitivities, forward_dynamics, total_sensitivities
from colloc.kernels.batch import Batch
from colloc.model import Load, Model, check_forward, check_loads
from colloc.model.tree import plain_only
from colloc.problem import Instant
from colloc.support.arguments import array, instance_of, validated
from colloc.support.checks import InputError, count, finite_number, function, instance, interval, pair, quoted

Step = Callable[[int, np.ndarray, np.ndarray], np.ndarray]
Linearise = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Scheme(Enum):
    """How a time step is taken, the control held constant through it.

    EULER
        Explicit Euler, first order: the angles advance with the old rates.
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
        """Runge-Kutta stages: how far along the slope of the stage before it is taken, and its weight in the step."""
        return tuple(zip(*self.value, strict=True))


@dataclass(frozen=True, eq=False)
class System:
    """A discrete-time system x[k+1] = f_k(x[k], u[k]).

    Parameters
    ----------
    n_x, n_u : int
        Sizes of state and control.
    step : callable
        (k, x, u) -> x[k+1], shapes (n_x,), (n_u,) -> (n_x,). Where it is undefined it returns NaN, infinity or
        raises LinAlgError.
    linearise : callable
        (x, u) -> A, B, the derivatives of f_k by x and u of all steps k = 0 .. K - 1 at once, shapes (K, n_x), (K, n_u)
        -> (K, n_x, n_x), (K, n_x, n_u). Undefined likewise.

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

    def __post_init__(self):
        for name in ("n_x", "n_u"):
            count(name, getattr(self, name), at_least=1)
        function("step", self.step, "a function", "k", "x", "u")
        function("linearise", self.linearise, "a function", "x", "u")


def discretise(model: Model, dt: float, *, scheme: Scheme = Scheme.RUNGE_KUTTA, loads: Sequence[Load] = ()) -> System:
    """A mechanism as a discrete-time system: state (q, qd), controlled by the actuator torques.

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
        They may be functions of t, q and qd; step k begins at t = k dt.

    Raises
    ------
    InputError
        For a joint without inertia, loads that need accelerations, or a model that contains symbols.

    Examples
    --------
    >>> system = co.control.discretise(two_link(9.81), dt=0.01)
    >>> system.step(0, np.zeros(4), np.array([3.0, 1.0])).round(3)
    array([-0.   ,  0.   , -0.051,  0.069])
    """
    plain_only("a discrete-time system", instance("model", model, Model))
    check_loads(model, loads)
    if model.symbols:
        raise InputError(f"model {model.name!r} contains symbols, a discrete system needs numbers: {model.symbols}")
    q, qd, qdd, tau = (ca.SX.sym(name, model.n) for name in ("q", "qd", "qdd", "tau"))
    now = Instant(model, ca.SX.sym("t"), ca.SX.nan(), q, qd, qdd, tau)
    return system_at(now, [load.at(now) for load in loads], dt, scheme, [], [])


def system_at(
    now: Instant, loads: Sequence[Load], dt: float, scheme: Scheme, symbols: list[ca.SX], values: list[ca.SX]
) -> System:
    """The system of an instant's model and symbols, `symbols` other than t, q, qd, tau replaced by `values`."""
    if not isinstance(scheme, Scheme):
        raise InputError(f"scheme must be one of {', '.join(map(str, Scheme))}, got {quoted(scheme)}")
    dt, n = finite_number("dt", dt, positive=True), now.model.n
    check_forward(loads, now.qdd)
    qdd = forward_dynamics(now.model, now.q, now.qd, now.tau, loads)
    torque = total_sensitivities(composite_sensitivities, now.model, now.q, now.qd, now.qdd, loads)
    by_row = [ca.vec(ca.densify(block).T) for block in torque[1:]]
    outputs = [qdd, *ca.substitute(by_row, [now.qdd], [qdd])]
    inputs = [now.t, now.q, now.qd, now.tau]
    slopes = ca.Function("slopes", inputs, ca.substitute(outputs, symbols, values) if symbols else outputs)
    places = [np.arange(slopes.nnz_out(k)) for k in range(slopes.n_out())]
    batch = Batch.of(slopes, ("t", "q", "qd", "tau"), places)
    return System(2 * n, n, _BufferedStep(_step_function(slopes, n, dt, scheme), dt), _lineariser(batch, dt, scheme))


def _step_function(slopes: ca.Function, n: int, dt: float, scheme: Scheme) -> ca.Function:
    """(t, x, u) -> the state a time step later."""
    t, x, u = ca.SX.sym("t"), ca.SX.sym("x", 2 * n), ca.SX.sym("u", n)
    slope, total = ca.SX(2 * n, 1), ca.SX(2 * n, 1)
    for reach, weight in scheme.stages:
        at = x + dt * reach * slope
        slope = ca.vertcat(at[n:, :], slopes(t + dt * reach, at[:n, :], at[n:, :], u)[0])
        total += weight * slope
    return ca.Function("step", [t, x, u], [ca.densify(x + dt * total)])


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


def _lineariser(batch: Batch, dt: float, scheme: Scheme) -> Linearise:
    """Derivatives of the step by the chain rule through its stages, for all steps at once."""

    def linearise(x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        steps, n = u.shape
        identity = np.eye(2 * n)
        slope, by_x, by_u = np.zeros((steps, 2 * n)), np.zeros((steps, 2 * n, 2 * n)), np.zeros((steps, 2 * n, n))
        A, B = np.tile(identity, (steps, 1, 1)), np.zeros((steps, 2 * n, n))
        for reach, weight in scheme.stages:
            t = dt * (np.arange(steps) + reach)
            slope, F_x, F_u = _slopes(batch, t, x + dt * reach * slope, u)
            by_x, by_u = F_x @ (identity + dt * reach * by_x), F_x @ (dt * reach * by_u) + F_u
            A += dt * weight * by_x
            B += dt * weight * by_u
        return A, B

    return linearise


def _slopes(batch: Batch, t: np.ndarray, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """d(q, qd)/dt and its derivatives by (q, qd) and tau, shapes (K, 2 n), (K, 2 n, 2 n), (K, 2 n, n)."""
    steps, n = u.shape
    inputs = {"t": t[:, None], "q": x[:, :n], "qd": x[:, n:], "tau": u}
    arrays = {name: np.ascontiguousarray(array, dtype=float) for name, array in inputs.items()}
    qdd, by_q, by_qd, mass = batch.evaluate(arrays, steps)
    by_q, by_qd, mass = (block.reshape(steps, n, n) for block in (by_q, by_qd, mass))
    solved = np.linalg.solve(mass, np.concatenate([-by_q, -by_qd, np.broadcast_to(np.eye(n), mass.shape)], axis=2))
    F_x, F_u = np.zeros((steps, 2 * n, 2 * n)), np.zeros((steps, 2 * n, n))
    F_x[:, :n, n:] = np.eye(n)
    F_x[:, n:], F_u[:, n:] = solved[:, :, : 2 * n], solved[:, :, 2 * n :]
    return np.concatenate([x[:, n:], qdd], axis=1), F_x, F_u


@validated(
    system=instance_of(System),
    x0=array("n_x"),
    u=array("K", "n_u"),
    reference=array("rows", "n_x"),
    gains=array("K", "n_u", "n_x"),
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
    """States that follow from controls, with feedback where gains are given.

    Step k applies u[k] + gains[k] (x[k] - reference[k]), clamped to the limits.

    Parameters
    ----------
    system : System
    x0 : ndarray, shape (n_x,)
    u : ndarray, shape (K, n_u)
    reference : ndarray, shape (K, n_x) or more rows, optional
    gains : ndarray, shape (K, n_u, n_x), optional
    limits : two ndarray, shape (n_u,), optional
        Lower and upper limits of the controls.

    Returns
    -------
    x : ndarray, shape (K + 1, n_x)
        NaN from the first step on that does not give a finite state: divergence is no exception.
    u : ndarray, shape (K, n_u)
        The controls applied; NaN as well beyond that step.

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
    if limits is not None:
        limits = interval("limits", *pair("limits", limits), (system.n_u,))
    if reference is not None and len(reference) < len(u):
        raise InputError(f"reference must have a row for each of {len(u)} steps, got {len(reference)}")
    x, applied = np.full((len(u) + 1, system.n_x), np.nan), np.full((len(u), system.n_u), np.nan)
    x[0] = x0
    with np.errstate(all="ignore"):
        for k in range(len(u)):
            control = u[k]
            if gains is not None and reference is not None:
                control = control + gains[k] @ (x[k] - reference[k])
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
