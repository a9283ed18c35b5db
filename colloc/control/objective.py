"""Objectives of discrete trajectories: half a sum of weighted squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from colloc.model import Model
from colloc.problem import Instant
from colloc.support.arguments import callback, instance_of, validated
from colloc.support.checks import InputError, as_tuple, finite_array, function, quoted

Rows = Callable[[np.ndarray], np.ndarray]


_MOST_STEPS = 2**31


@dataclass(frozen=True, eq=False)
class Output:
    """A function of the state, with its Jacobian."""

    n_x: int  # n_x, size: numbers of states and of outputs, p
    size: int
    value: Rows  # states (m, n_x) -> outputs (m, p)
    jacobian: Rows  # states (m, n_x) -> (m, p, n_dx), by displacements


@dataclass(frozen=True, eq=False)
class ObjectiveTerm:
    """(y - target)' W (y - target) / 2, summed over steps."""

    targets: np.ndarray  # shape (), (p,) or (m, p)
    weights: np.ndarray  # shape (), (p,) or (p, p)
    # of m states, negative from the end; None for all; a control is at every step
    steps: tuple[int, ...] | None = None
    output: Output | None = None  # y as a function of the state; the state, or control, itself by default


@dataclass(frozen=True, eq=False)
class TrajectoryObjective:
    """A sum of terms in the states and in the controls. Objectives add: ``output_cost(...) + control_cost(1e-3)``.

    Made by `state_cost`, `output_cost` and `control_cost`.

    Examples
    --------
    >>> both = co.control.state_cost((0.0, 0.0), 1.0) + co.control.control_cost(0.1)
    >>> len(both.states), len(both.controls)
    (1, 1)
    """

    states: tuple[ObjectiveTerm, ...] = ()
    controls: tuple[ObjectiveTerm, ...] = ()

    def __add__(self, other: TrajectoryObjective) -> TrajectoryObjective:
        if not isinstance(other, TrajectoryObjective):
            raise InputError(f"an objective can be added to an objective only, got {quoted(other)}")
        return TrajectoryObjective(self.states + other.states, self.controls + other.controls)


def state_cost(targets: Any, weights: Any, steps: Sequence[int] | None = None) -> TrajectoryObjective:
    """Distance of the state from targets: a reference to track, or via-points with `steps`.

    Parameters
    ----------
    targets : shape (n_x,), or one row for each of the steps, (m, n_x)
    weights : number, shape (n_dx,) or (n_dx, n_dx)
        Weight, weights of the components, or weight matrix W in (x - target)' W (x - target) / 2. The difference of a
        quaternion is the shortest rotation from the target's attitude, three numbers.
    steps : sequence of int, optional
        Steps at which the cost counts, 0 .. K, or negative from the end; all K + 1 states by default.

    Examples
    --------
    >>> upright = co.control.state_cost((1.0, -1.0, 0.0, 0.0), (10.0, 10.0, 1.0, 1.0), steps=[-1])
    """
    return TrajectoryObjective(states=(ObjectiveTerm(_numbers("targets", targets), _weights(weights), _steps(steps)),))


@validated(model=instance_of(Model), fn=callback("a function of the instant"))
def output_cost(
    model: Model, fn: Callable[[Instant], ca.SX], targets: Any, weights: Any, steps: Sequence[int] | None = (-1,)
) -> TrajectoryObjective:
    """Distance of a function of the state from targets, such as of the end-effector from a point to reach.

    Parameters
    ----------
    model : Model
        Its state is (q, qd).
    fn : callable
        Instant -> SX, shape (p,), of q and qd: ``lambda now: now.point("elbow").position[:2]``.
    targets : shape (p,) or (m, p)
    weights : number, shape (p,) or (p, p)
    steps : sequence of int or None
        As in `state_cost`; the last state by default.

    Raises
    ------
    InputError
        For a function that depends on anything but q and qd.

    Examples
    --------
    >>> reach = co.control.output_cost(two_link(), lambda now: now.point("elbow").position[:2], (0.3, 0.5), 1e3)
    >>> system = co.control.discretise(two_link(), 0.02)
    >>> swing = co.control.ilqr(system, reach + co.control.control_cost(1e-3), (0, 0.5, 0, 0), np.zeros((50, 2)))
    >>> swing.status
    <IlqrStatus.CONVERGED: 'converged'>
    """
    q, (qd, qdd, tau) = ca.SX.sym("q", model.n_q), (ca.SX.sym(name, model.n) for name in ("qd", "qdd", "tau"))
    now = Instant(model, ca.SX.sym("t"), ca.SX.sym("duration"), q, qd, qdd, tau)
    value, state = function("fn", fn, "a function of the instant", "now")(now), ca.vertcat(q, qd)
    others = ca.vertcat(now.t, now.duration, qdd, tau)
    if not isinstance(value, ca.SX) or value.shape[1] != 1 or ca.depends_on(value, others):
        raise InputError(f"fn must return an SX column that depends on now.q and now.qd only, got {quoted(value)}")
    value, size = ca.densify(value), value.shape[0]
    outputs = ca.Function("outputs", [state], [value])
    slope = ca.horzcat(ca.jacobian(value, q) @ model.per_displacement(q), ca.jacobian(value, qd))
    slopes = ca.Function("slopes", [state], [ca.densify(ca.vec(slope.T))])
    output = Output(
        state.shape[0],
        size,
        lambda x: np.array(outputs(x.T)).T,
        lambda x: np.array(slopes(x.T)).T.reshape(len(x), size, 2 * model.n),
    )
    term = ObjectiveTerm(_numbers("targets", targets), _weights(weights), _steps(steps), output)
    return TrajectoryObjective(states=(term,))


def control_cost(weights: Any, targets: Any = 0.0) -> TrajectoryObjective:
    """Size of the controls, or their distance from targets.

    Parameters
    ----------
    weights : number, shape (n_u,) or (n_u, n_u)
    targets : number, shape (n_u,) or (K, n_u)

    Examples
    --------
    >>> cost = co.control.output_cost(two_link(), lambda now: now.point("elbow").position[:2], (0.3, 0.5), 1e3)
    >>> cost = cost + co.control.control_cost(1e-3)
    >>> len(cost.states), len(cost.controls)
    (1, 1)
    """
    return TrajectoryObjective(controls=(ObjectiveTerm(_numbers("targets", targets), _weights(weights)),))


def _numbers(name: str, value: Any) -> np.ndarray:
    array = finite_array(name, value)
    if array.ndim > 2:
        raise InputError(f"{name} must be finite and have at most two axes, got {quoted(value)}")
    return array


def _weights(value: Any) -> np.ndarray:
    weights = _numbers("weights", value)
    if weights.ndim < 2:
        legal = (weights >= 0).all()
    else:
        square = weights.shape[0] == weights.shape[1] and np.allclose(weights, weights.T, rtol=1e-12, atol=0)
        legal = square and np.linalg.eigvalsh(weights)[0] >= -1e-12 * np.abs(weights).max()
    if not legal:
        raise InputError(f"weights must be >= 0, or a symmetric positive semidefinite matrix, got {quoted(value)}")
    return weights


def _steps(value: Sequence[int] | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    steps = as_tuple("steps", value)
    if not steps or not all(
        isinstance(k, int | np.integer) and not isinstance(k, bool | np.timedelta64) for k in steps
    ):
        raise InputError(f"steps must be a list of integers, got {quoted(value)}")
    if max(map(abs, steps)) >= _MOST_STEPS:
        raise InputError("steps must be integers of 32 bits, got larger ones")
    return tuple(map(int, steps))
