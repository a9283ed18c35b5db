"""Iterative LQR: controls of a discrete system that minimise a sum of squares."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from colloc.control.batch import least_squares_step
from colloc.control.discrete import System, rollout
from colloc.control.objective import TrajectoryObjective
from colloc.control.residuals import Expansion, Residuals, fitted
from colloc.control.result import IlqrResult, IlqrStatus
from colloc.control.riccati import Policy, backward
from colloc.support.checks import InputError, count, finite_array, finite_number, interval, pair, quoted, spelt
from colloc.support.interrupts import reraise_interrupt
from colloc.support.threads import raise_if_stopped

# Fraction of the expected decrease that a step must achieve. A small one admits steps far outside the range of the
# linearisation, and whirling local minima: with 0.1, 16 reaches of 2 to 10 links took a third more iterations.
_SHARE = 0.6
_LENGTHS = 0.5 ** np.arange(9)
_HISTORY = ("cost", "expected", "step", "damping")
_LEAST_DAMPING = 1e-4  # times the weights of the controls
_MOST_DAMPING = 1e20  # times the least


class Form(Enum):
    """Computation of the step of an iteration; both give the same step.

    RECURSIVE
        By the Riccati recursion: with feedback gains and limits, in time proportional to the number of steps.
    BATCH
        By least squares over S_u, all steps at once: without gains and limits, for short horizons.

    Examples
    --------
    >>> system = co.control.discretise(two_link(), dt=0.02)
    >>> there = co.control.state_cost((1.0, -1.0, 0.0, 0.0), 100.0, steps=[-1]) + co.control.control_cost(1e-3)
    >>> forms = (co.control.Form.RECURSIVE, co.control.Form.BATCH)
    >>> runs = [co.control.ilqr(system, there, (0, -2, 0, 0), np.zeros((20, 2)), form=form) for form in forms]
    >>> abs(runs[0].cost - runs[1].cost) < 1e-6
    True
    """

    RECURSIVE = "recursive"
    BATCH = "batch"


@spelt
@reraise_interrupt
def ilqr(
    system: System,
    objective: TrajectoryObjective,
    x0: Any,
    u0: Any,
    *,
    limits: Sequence[Any] | None = None,
    form: Form = Form.RECURSIVE,
    tolerance: float = 1e-10,
    max_iterations: int = 500,
) -> IlqrResult:
    """Minimise an objective over the controls of a discrete system.

    Li and Todorov (2004), with the line search and the limits of Tassa, Mansard and Todorov (2014). The system is
    linearised about the trajectory and the objective expanded to squares (Gauss-Newton); second derivatives of
    dynamics and outputs are not used, so the step is always one of descent and convergence is linear. A full step is
    tried, then its halves; if none decreases the cost, a Levenberg term damps the change of the controls.

    Parameters
    ----------
    system : System
    objective : TrajectoryObjective
    x0 : shape (n_x,)
        Initial state; quaternions in it of length one.
    u0 : shape (K, n_u)
        Initial controls, clamped to the limits; they determine which local minimum is found.
    limits : (lower, upper), optional
        Limits of the controls, numbers or each shape (n_u,).
    form : Form
        RECURSIVE or BATCH.
    tolerance : float
        Convergence: the expected decrease of the cost by the full step, relative to 1 + cost, is below this.
    max_iterations : int

    Returns
    -------
    IlqrResult
        Also if states diverge, the mass matrix is singular or the cost is not finite: see its status.

    Raises
    ------
    InputError
        For arguments that do not fit the system, or limits with the batch form.

    Examples
    --------
    >>> system = co.control.discretise(two_link(), dt=0.02)
    >>> there = co.control.state_cost((1.0, -1.0, 0.0, 0.0), 100.0, steps=[-1])
    >>> start, idle = (0.0, -2.0, 0.0, 0.0), np.zeros((50, 2))
    >>> swing = co.control.ilqr(system, there + co.control.control_cost(1e-3), start, idle, limits=(-10.0, 10.0))
    >>> swing.status, swing.x[-1].round(2)
    (<IlqrStatus.CONVERGED: 'converged'>, array([ 1., -1.,  0.,  0.]))
    """
    begin = time.perf_counter()
    task, x0, u0 = _task(system, objective, x0, u0, limits, form, tolerance)
    count("max_iterations", max_iterations, at_least=1)
    history: dict[str, list[float]] = {key: [] for key in _HISTORY}
    with np.errstate(all="ignore"):
        now, damping = _follow(task, x0, u0), 0.0
        gains = np.zeros((*u0.shape, system.n_dx))
        status = None
        if not np.isfinite(now.cost):
            status = IlqrStatus.UNDEFINED if np.isfinite(now.x).all() else IlqrStatus.DIVERGED
        while status is None and len(history["cost"]) < max_iterations:
            raise_if_stopped()
            local = _expanded(task, now)
            if local is None:
                status = IlqrStatus.UNDEFINED
                break
            result = _descend(task, now, local, damping)
            for key, value in zip(_HISTORY, (now.cost, result.expected, result.step, result.damping), strict=True):
                history[key].append(value)
            now, gains, status, damping = result.reached, result.gains, result.status, _next_damping(local, result)
    status = status or IlqrStatus.ITERATION_LIMIT
    return IlqrResult(now.x, now.u, gains, now.cost, status, history, time.perf_counter() - begin)


@dataclass(frozen=True, eq=False)
class _Task:
    """The problem, the same for all iterations."""

    system: System
    residuals: Residuals
    limits: tuple[np.ndarray, np.ndarray] | None
    form: Form
    tolerance: float


class _Rollout(NamedTuple):
    """A trajectory and its cost; NaN where it diverges."""

    x: np.ndarray
    u: np.ndarray
    cost: float


class _Local(NamedTuple):
    """System and objective about an iterate."""

    A: np.ndarray
    B: np.ndarray
    objective: Expansion

    @property
    def least_damping(self) -> float:
        """Smallest damping, in proportion to the weights of the controls."""
        size = float(np.trace(self.objective.uu, axis1=1, axis2=2).mean())
        return _LEAST_DAMPING * (size if size > 0 else 1.0)


class _IterationResult(NamedTuple):
    """The result of an iteration: trajectory, step, and the status if it is the last."""

    reached: _Rollout
    gains: np.ndarray
    expected: float
    step: float
    damping: float
    status: IlqrStatus | None


def _task(
    system: Any, objective: Any, x0: Any, u0: Any, limits: Sequence[Any] | None, form: Any, tolerance: Any
) -> tuple[_Task, np.ndarray, np.ndarray]:
    if not isinstance(system, System) or not isinstance(objective, TrajectoryObjective):
        raise InputError(f"ilqr needs a System and a TrajectoryObjective, got {quoted(system)} and {quoted(objective)}")
    if not isinstance(form, Form):
        raise InputError(f"form must be one of {', '.join(map(str, Form))}, got {quoted(form)}")
    if limits is not None and form is Form.BATCH:
        raise InputError("limits need the recursive form, got form=Form.BATCH")
    u0 = finite_array("u0", u0, (None, system.n_u))
    if len(u0) == 0:
        raise InputError(f"u0 must have shape (K, {system.n_u}), K > 0, got shape {u0.shape}")
    task = _Task(
        system,
        fitted(objective, len(u0), system.n_x, system.n_u, system.states),
        None if limits is None else interval("limits", *pair("limits", limits), shape=(system.n_u,)),
        form,
        finite_number("tolerance", tolerance, positive=True),
    )
    return task, system.states.checked("x0", finite_array("x0", x0, (system.n_x,))), u0


def _follow(
    task: _Task, x0: np.ndarray, u: np.ndarray, reference: np.ndarray | None = None, gains: np.ndarray | None = None
) -> _Rollout:
    x, applied = rollout(task.system, x0, u, reference=reference, gains=gains, limits=task.limits)
    return _Rollout(x, applied, task.residuals.value(x, applied) if np.isfinite(x[-1]).all() else np.inf)


def _expanded(task: _Task, now: _Rollout) -> _Local | None:
    """System and objective about an iterate; None if a derivative is not finite."""
    try:
        A, B = task.system.linearise(now.x[:-1], now.u)
    except np.linalg.LinAlgError:
        return None
    (steps, n_u), n_dx = now.u.shape, task.system.n_dx
    if np.shape(A) != (steps, n_dx, n_dx) or np.shape(B) != (steps, n_dx, n_u):
        wanted = f"{(steps, n_dx, n_dx)} and {(steps, n_dx, n_u)}"
        raise InputError(f"linearise must return arrays of shapes {wanted}, got {np.shape(A)} and {np.shape(B)}")
    local = _Local(A, B, task.residuals.expand(now.x, now.u))
    arrays = (local.A, local.B, *local.objective)
    return local if all(np.isfinite(array).all() for array in arrays) else None


def _descend(task: _Task, now: _Rollout, local: _Local, damping: float) -> _IterationResult:
    """The first step, with decreasing length and then increasing damping, that decreases the cost sufficiently."""
    enough, expected = task.tolerance * (1 + abs(now.cost)), np.nan
    gains = np.zeros((*now.u.shape, task.system.n_dx))
    while damping <= _MOST_DAMPING * local.least_damping:
        policy = _policy(task, now, local, damping)
        if policy is not None:
            gains, expected = policy.gains, policy.decrease(1.0)
            if expected <= enough:
                # Damping shortens the step and the expected decrease: only the undamped step indicates a minimum.
                full = _policy(task, now, local, 0.0) or _policy(task, now, local, local.least_damping) or policy
                if full.decrease(1.0) <= enough:
                    return _IterationResult(now, full.gains, full.decrease(1.0), 0.0, damping, IlqrStatus.CONVERGED)
            for length in map(float, _LENGTHS):
                trial = _follow(task, now.x[0], now.u + length * policy.feedforward, now.x, gains)
                if now.cost - trial.cost > _SHARE * policy.decrease(length):
                    return _IterationResult(trial, gains, expected, length, damping, None)
        damping = max(10 * damping, local.least_damping)
    return _IterationResult(now, gains, expected, 0.0, damping, IlqrStatus.NO_DESCENT)


def _next_damping(local: _Local, result: _IterationResult) -> float:
    """Damping is reduced after a full step, and increased after a shortened one."""
    if result.step < 1:
        return max(4 * result.damping, local.least_damping)
    return result.damping / 10 if result.damping > local.least_damping else 0.0


def _policy(task: _Task, now: _Rollout, local: _Local, damping: float) -> Policy | None:
    if task.form is Form.BATCH:
        return least_squares_step(local.A, local.B, task.residuals, now.x, now.u, damping)
    room = None if task.limits is None else (task.limits[0] - now.u, task.limits[1] - now.u)
    return backward(local.A, local.B, local.objective, damping, room)
