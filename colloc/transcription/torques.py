"""Torques in a transcription: symbols in the rows, with derivatives of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from colloc.dynamics import (
    DerivativeRecursion,
    Differentiation,
    InverseDynamics,
    by_differentiation,
    check_formulation,
    composite_sensitivities,
    total_hessian,
    total_sensitivities,
)
from colloc.problem import Problem

# From this many joints on the recursions need fewer operations than automatic differentiation, on chains and trees;
# below, they take longer to build than they save.
RECURSIVE_FROM = 8


@dataclass(frozen=True, eq=False)
class Lifted:
    """Torques as symbols of their own, with their derivatives in the local variables w.

    Parameters
    ----------
    symbols, values : SX, shape (k,)
        The torques, and what they stand for as expressions in w.
    slopes : SX, shape (k, len(w)), sparse
    curvature : callable
        Multipliers, SX, shape (k,) -> Hessian in w of multipliers' values, SX, shape (len(w), len(w)), sparse.
    recursive : bool
        Whether gradients of sums, too, are to be made of the slopes, because a recursion was asked for.
    """

    symbols: ca.SX
    values: ca.SX
    slopes: ca.SX
    curvature: Callable[[ca.SX], ca.SX]
    recursive: bool = False

    def resolve(self, expressions: Sequence[ca.SX]) -> list[ca.SX]:
        """Expressions with the values in place of the symbols."""
        return list(ca.substitute(list(expressions), [self.symbols], [self.values]))


class Torques:
    """How torques and their derivatives enter an NLP.

    Parameters
    ----------
    problem : Problem
    dynamics : callable
        Formulation of the inverse dynamics: newton_euler, lagrange, lie.
    sensitivities : callable, optional
        Derivative recursion, and with it `lie_hessian` for the second derivatives; or `by_differentiation` for both. By
        default differentiation of the formulation for few joints, the composite recursion for many.
    """

    def __init__(self, problem: Problem, dynamics: InverseDynamics, sensitivities: DerivativeRecursion | None):
        check_formulation(dynamics, sensitivities)
        many = problem.model.n >= RECURSIVE_FROM
        recursion = sensitivities or (composite_sensitivities if many else by_differentiation(dynamics))
        self.names = (dynamics.__name__, recursion.__name__)
        self._problem, self._dynamics = problem, dynamics
        self._recursive = not isinstance(recursion, Differentiation)
        self._asked = sensitivities is not None and self._recursive
        self._value = problem.dynamics(dynamics)
        self._slope = _slopes(problem, recursion)

    @cached_property
    def _curvature(self) -> ca.Function:
        # Formed on first use: Gauss-Newton and quasi-Newton methods never ask.
        return _curvature(self._problem, self._dynamics, recursive=self._recursive)

    def put(self, inputs: list[ca.SX], w: ca.SX) -> Lifted:
        """Put torque symbols into the inputs of an instant, which are expressions in the local variables w."""
        n = inputs[5].shape[0]
        given = [*inputs[:5], ca.SX(n, 1), *inputs[6:]]
        inputs[5] = ca.SX.sym("tau", n)
        stacked = ca.vertcat(*given)
        chain = ca.jacobian(stacked, w)

        def curvature(multipliers: ca.SX) -> ca.SX:
            hessian, gradient = self._curvature(*given, multipliers)
            weight = ca.SX.sym("weight", stacked.shape[0])
            bent = ca.substitute(ca.hessian(ca.dot(weight, stacked), w)[0], weight, gradient)
            return chain.T @ hessian @ chain + bent

        return Lifted(inputs[5], self._value(*given), self._slope(*given) @ chain, curvature, self._asked)


def _slopes(problem: Problem, recursion: DerivativeRecursion) -> ca.Function:
    """Derivatives of the torque, (n, all of the instant's inputs stacked), as a function of the inputs.

    Positions, velocities and accelerations by the recursion; time, unknowns and what else a load or the model may
    contain, by automatic differentiation of the torque that the recursion returns.
    """
    now = problem.instant
    found = total_sensitivities(recursion, problem.model, now.q, now.qd, now.qdd, problem.wrenches)
    own = {2: found.dq, 3: found.dqd, 4: found.dqdd}
    columns = [own[k] if k in own else ca.jacobian(found.tau, part) for k, part in enumerate(now.inputs)]
    return problem.function("model", ca.horzcat(*columns))


def _curvature(problem: Problem, dynamics: InverseDynamics, *, recursive: bool) -> ca.Function:
    """Hessian and gradient of multipliers' torque in the instant's inputs, as a function of inputs and multipliers.

    The block of q, qd and qdd by the recursion on the Lie group where that is wanted and loads do not vary with the
    state; all else by automatic differentiation.
    """
    now = problem.instant
    multipliers = ca.SX.sym("multipliers", problem.model.n)
    inputs, state = ca.vertcat(*now.inputs), ca.vertcat(now.q, now.qd, now.qdd)
    torque = problem.dynamics(dynamics)(*now.inputs)
    gradient = ca.gradient(ca.dot(multipliers, torque), inputs)
    if recursive and not any(ca.depends_on(load.wrench, state) for load in problem.wrenches):
        from colloc.dynamics import lie_hessian  # few problems need it

        hessian = total_hessian(lie_hessian, problem.model, now.q, now.qd, now.qdd, multipliers, problem.wrenches)
        first = now.t.shape[0] + now.duration.shape[0]
        others = ca.vertcat(*now.inputs[:2], *now.inputs[5:])
        rows = ca.jacobian(ca.gradient(ca.dot(multipliers, torque), others), inputs)
        above, below = rows[:first, :], rows[first:, :]
        inner = slice(first, first + state.shape[0])
        middle = ca.horzcat(above[:, inner].T, hessian, below[:, inner].T)
        whole = ca.vertcat(above, middle, below)
    else:
        whole = ca.hessian(ca.dot(multipliers, torque), inputs)[0]
    return ca.Function("curvature", [*now.inputs, multipliers], [whole, gradient])


def join(parts: Sequence[Lifted]) -> Lifted:
    """Lifted torques of several instants of one slice."""
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + part.symbols.shape[0])

    def curvature(multipliers: ca.SX) -> ca.SX:
        own = ca.vertsplit(multipliers, ends)
        return sum((part.curvature(mu) for part, mu in zip(parts, own, strict=True)), ca.SX())

    symbols, values, slopes = (
        ca.vertcat(*(getattr(part, name) for part in parts)) for name in ("symbols", "values", "slopes")
    )
    return Lifted(symbols, values, slopes, curvature, any(part.recursive for part in parts))
