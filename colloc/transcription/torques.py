"""Torques and their derivatives in a program, by a formulation of the inverse dynamics."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from colloc.blocks.intermediate import Intermediate
from colloc.dynamics import (
    DerivativeRecursion,
    Differentiation,
    InverseDynamics,
    Sensitivities,
    by_differentiation,
    composite_sensitivities,
    total_hessian,
    total_sensitivities,
)
from colloc.dynamics.formulation import differentiated
from colloc.problem import Problem, Slots
from colloc.support.checks import InputError
from colloc.support.lazy import cached_property

# From this many joints on the recursions need fewer operations than automatic differentiation, on chains and trees;
# below, they take longer to build than they save.
RECURSIVE_FROM = 8


class Torques:
    """Torques and their derivatives in an NLP, by a formulation of the inverse dynamics.

    A derivative recursion is combined with `lie_hessian` for the second derivatives; `by_differentiation` is for both.
    By default it is differentiation of the formulation for few joints, the composite recursion for many. All programs
    of the problem share `views`, the local views of sites with these torques: see `Grid`.
    """

    def __init__(self, problem: Problem, dynamics: InverseDynamics, sensitivities: DerivativeRecursion | None):
        if problem.coordinates is not None and not isinstance(sensitivities, Differentiation | None):
            raise InputError("torques of closed chains are differentiated by CasADi: leave out sensitivities")
        plain = problem.coordinates is None and problem.model.has_plain_velocities
        if not (plain or isinstance(sensitivities, Differentiation | None)):
            raise InputError(
                "torques of ball joints on quaternions are differentiated by CasADi: leave out sensitivities"
            )
        many = problem.model.n >= RECURSIVE_FROM and plain
        if sensitivities is not None:
            self._recursion = sensitivities
        else:
            self._recursion = composite_sensitivities if many else by_differentiation(dynamics)
        self.names = (dynamics.__name__, self._recursion.__name__)
        self._problem, self.given = problem, (dynamics, sensitivities)
        self.views: dict[Hashable, Any] = {}
        self._recursive = not isinstance(self._recursion, Differentiation)
        self._asked = sensitivities is not None and self._recursive
        self._tau = problem.inverse_dynamics(dynamics)
        self._value = problem.function("model", self._tau)

    def for_problem(self, problem: Problem) -> Torques:
        """Torques of another problem, by this formulation and recursion."""
        return Torques(problem, *self.given)

    @cached_property
    def _slope(self) -> ca.Function:
        # Formed on first use: motions without torques do not need it.
        problem, model, now = self._problem, self._problem.model, self._problem.instant
        if problem.coordinates is None and model.has_plain_velocities and model.n:
            # Where all of the torque is the formulation's, it need not be formed again.
            if self._recursion == by_differentiation(self.given[0]) and not (
                model.couplings or model.passive or problem.wrenches
            ):
                return _by_slot(problem, differentiated(self._tau, now.q, now.qd, now.qdd))
            total = total_sensitivities(self._recursion, model, now.q, now.qd, now.qdd, problem.wrenches)
            return _by_slot(problem, total)
        return _differentiated(problem, self._value)

    @cached_property
    def _curvature(self) -> ca.Function:
        # Formed on first use: Gauss-Newton and quasi-Newton methods do not need it.
        return _curvature(self._problem, self._value, recursive=self._recursive)

    def slopes(self, slots: Sequence[ca.SX]) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Linearisation with respect to the m of n joints that are independent.

        Rates of all joints per rate of these, SX, shape (n, m); derivatives of torques by their accelerations, (n, m);
        linearised equations of motion: stiffness, damping and mass matrix side by side, (m, 3m), derivatives of the
        generalised forces by positions, velocities and accelerations under constant torques.
        """
        n = self._problem.model.n
        if self._problem.coordinates is None:
            tau = self._sensitivities(slots)
            return ca.SX.eye(n), tau[:, 2 * n :], tau
        tangent = self._tangent(*slots)
        m = tangent.shape[1] // 3
        N = tangent[:n, :m]
        by_state = self._chain_slopes(*slots) if self._reduced else self._sensitivities(slots) @ tangent
        # N' tau is the required force; N' changes as well, but the constant torques change with it equally.
        return N, by_state[:, 2 * m :], N.T @ by_state

    @cached_property
    def _tangent(self) -> ca.Function:
        coordinates = self._problem.coordinates
        assert coordinates is not None
        return self._problem.function("model", coordinates.tangent(self._problem.instant))

    def _sensitivities(self, slots: Sequence[ca.SX]) -> ca.SX:
        """Derivatives of torques by displacements, velocities and accelerations, side by side, SX, shape (n, 3n)."""
        model, now = self._problem.model, self._problem.instant
        before = now.t.shape[0] + now.duration.shape[0]
        slopes = self._slope(*slots)[:, before : before + model.n_q + 2 * model.n]
        moved = ca.jacobian(model.position_rates(now.q, now.qd), now.qd)  # positions, per displacement of the joints
        moved = ca.substitute(moved, now.q, Slots(*slots).q)
        return ca.horzcat(slopes[:, : model.n_q] @ moved, slopes[:, model.n_q :])

    def put(self, slots: Slots, w: ca.SX) -> tuple[Slots, Intermediate]:
        """Insert torque symbols into the slots of an instant, which are expressions in the local variables w."""
        n = self._problem.model.n
        empty = ca.SX(n, 1)  # for slots on which no torque depends
        arguments = slots._replace(jerk=empty, tau=empty, tau_rate=empty, signal_rates=ca.SX(slots.signals.shape[0], 1))
        symbols = ca.SX.sym("tau", n)
        inner = self._independent_state(slots) if self._reduced else ca.vertcat(*arguments)
        chain = ca.jacobian(inner, w)

        def curvature(multipliers: ca.SX) -> ca.SX:
            if self._reduced:
                gradient = ca.densify(self._chain_slopes(*arguments).T @ multipliers)
                hessian = self._chain_curvature(*arguments, multipliers)
            else:
                hessian, gradient = self._curvature(*arguments, multipliers)
            weight = ca.SX.sym("weight", inner.shape[0])
            bent = ca.substitute(ca.hessian(ca.dot(weight, inner), w)[0], weight, gradient)
            return chain.T @ hessian @ chain + bent

        def linearised() -> ca.SX:
            return (self._chain_slopes if self._reduced else self._slope)(*arguments) @ chain

        recursive = self._asked or self._reduced
        torques = Intermediate(symbols, self._value(*arguments), linearised, curvature, recursive)
        return slots._replace(tau=symbols), torques

    def put_dependent(self, slots: Slots, w: ca.SX) -> tuple[Slots, Intermediate | None]:
        """Insert symbols for the motion of dependent joints, with derivatives of the chain, where there are any.

        As for torques (`_reduced`), these are the derivatives at closed loops.
        """
        problem = self._problem
        coordinates = problem.coordinates
        if coordinates is None or not coordinates.has_motion_derivatives:
            return slots, None
        n, independent = problem.model.n, coordinates.independent
        dependent = [k for k in range(n) if k not in independent]
        inner, size = self._independent_state(slots), len(dependent)
        chain, rows = ca.jacobian(inner, w), [k * n + dof for k in range(3) for dof in dependent]
        symbols = [ca.SX.sym(name, size) for name in ("q", "qd", "qdd")]

        def curvature(multipliers: ca.SX) -> ca.SX:
            pulls = ca.vertsplit(multipliers, [0, size, 2 * size, 3 * size])
            orders = max((k + 1 for k, pull in enumerate(pulls) if not pull.is_zero()), default=1)
            hessian = self._motion_curvature(orders)(*slots, *(pull for pull in pulls[:orders]))
            inside = orders * len(independent)
            gradient = ca.densify(self._tangent(*slots)[rows, :].T @ multipliers)
            weight = ca.SX.sym("weight", inner.shape[0])
            bent = ca.substitute(ca.hessian(ca.dot(weight, inner), w)[0], weight, gradient)
            return chain[:inside, :].T @ hessian @ chain[:inside, :] + bent

        values = ca.vertcat(*(part[dependent] for part in (slots.q, slots.qd, slots.qdd)))
        moved = {name: ca.SX(getattr(slots, name)) for name in ("q", "qd", "qdd")}
        for part, symbol in zip(moved.values(), symbols, strict=True):
            part[dependent] = symbol
        motion = Intermediate(
            ca.vertcat(*symbols), values, lambda: self._tangent(*slots)[rows, :] @ chain, curvature, recursive=True
        )
        return slots._replace(**moved), motion

    def _motion_curvature(self, orders: int) -> ca.Function:
        """Hessian of multipliers' motion, up to an order, as a function of slots and of these, of dependent joints."""
        if orders not in self._motion_curvatures:
            problem, coordinates = self._problem, self._problem.coordinates
            assert coordinates is not None
            dependent = [k for k in range(problem.model.n) if k not in coordinates.independent]
            multipliers = [ca.SX.sym(f"multipliers {k}", len(dependent)) for k in range(orders)]
            weights = [ca.SX(problem.model.n, 1) for _ in multipliers]
            for weight, multiplier in zip(weights, multipliers, strict=True):
                weight[dependent] = multiplier
            hessian = coordinates.motion_curvature(problem.instant, weights)
            self._motion_curvatures[orders] = ca.Function(
                "curvature", [*problem.instant.slots, *multipliers], [hessian]
            )
        return self._motion_curvatures[orders]

    @cached_property
    def _motion_curvatures(self) -> dict[int, ca.Function]:
        return {}

    @cached_property
    def _reduced(self) -> bool:
        """Whether torques have derivatives by the state of independent joints alone.

        They are those at closed loops. Where splines of dependent joints leave a gap, they differ from the derivatives
        of the torques by its third power, as the steps that close the loops at every instant converge quadratically.
        """
        coordinates, (_, sensitivities) = self._problem.coordinates, self.given
        if coordinates is None or sensitivities is not None:
            return False
        return coordinates.has_torque_derivatives(self._problem.instant, self._problem.wrenches)

    def _independent_state(self, slots: Slots) -> ca.SX:
        coordinates = self._problem.coordinates
        assert coordinates is not None
        return ca.vertcat(*(part[coordinates.independent] for part in (slots.q, slots.qd, slots.qdd)))

    @cached_property
    def _chain_slopes(self) -> ca.Function:
        problem = self._problem
        assert problem.coordinates is not None
        slopes = problem.coordinates.torque_slopes(problem.instant, problem.wrenches)
        return problem.function("model", slopes)

    @cached_property
    def _chain_curvature(self) -> ca.Function:
        problem, multipliers = self._problem, ca.SX.sym("multipliers", self._problem.model.n)
        assert problem.coordinates is not None
        hessian = problem.coordinates.torque_curvature(problem.instant, problem.wrenches, multipliers)
        return ca.Function("curvature", [*problem.instant.slots, multipliers], [hessian])

    def rate(self, slots: Slots) -> ca.SX:
        """Total time derivative of the torques, from the slots of an instant with jerk and rates of signals."""
        return self._rate(*slots._replace(tau=0, tau_rate=0))

    @cached_property
    def _rate(self) -> ca.Function:
        # Formed on first use: few problems need it.
        now = self._problem.instant
        slots = now.slots
        symbols = ca.vertcat(slots.t, slots.q, slots.qd, slots.qdd, slots.signals, slots.states)
        rates = ca.vertcat(
            1, now.model.position_rates(slots.q, slots.qd), slots.qdd, slots.jerk, slots.signal_rates, slots.state_rates
        )
        rate = ca.jtimes(self._value(*slots), symbols, rates)
        return ca.Function("rate", [*slots], [rate])


def _by_slot(problem: Problem, sensitivities: Sensitivities) -> ca.Function:
    """Derivatives of the torque, (n, all slots of the instant stacked), as a function of the slots.

    Those of the sensitivities for positions, velocities and accelerations; by automatic differentiation of their torque
    for time, unknowns and other symbols in loads or the model.
    """
    by_state = {"q": sensitivities.dq, "qd": sensitivities.dqd, "qdd": sensitivities.dqdd}
    slots = problem.instant.slots._asdict()
    columns = [
        by_state[name] if name in by_state else ca.jacobian(sensitivities.tau, part) for name, part in slots.items()
    ]
    return problem.function("model", ca.horzcat(*columns))


def _differentiated(problem: Problem, value: ca.Function) -> ca.Function:
    """Derivatives of the torque as in `_by_slot`, all by automatic differentiation."""
    slots = problem.instant.slots
    return problem.function("model", ca.jacobian(value(*slots), ca.vertcat(*slots)))


def _curvature(problem: Problem, value: ca.Function, *, recursive: bool) -> ca.Function:
    """Hessian and gradient of multipliers times torque in the slots, as a function of slots and multipliers.

    The block of q, qd and qdd by the recursion on the Lie group if chosen and if loads do not depend on the state; the
    rest by automatic differentiation.
    """
    now = problem.instant
    multipliers = ca.SX.sym("multipliers", problem.model.n)
    slots, state = ca.vertcat(*now.slots), ca.vertcat(now.q, now.qd, now.qdd)
    weighted = ca.dot(multipliers, value(*now.slots))
    gradient = ca.gradient(weighted, slots)
    if recursive and not any(ca.depends_on(load.wrench, state) for load in problem.wrenches):
        from colloc.dynamics import lie_hessian  # few problems need it

        inner = total_hessian(lie_hessian, problem.model, now.q, now.qd, now.qdd, multipliers, problem.wrenches)
        whole = _around(inner, now.slots, weighted)
    else:
        whole = ca.hessian(weighted, slots)[0]
    return ca.Function("curvature", [*now.slots, multipliers], [whole, gradient])


def _around(inner: ca.SX, slots: Slots, weighted: ca.SX) -> ca.SX:
    """Hessian of a function in all slots, from its block of q, qd and qdd."""
    state = ("q", "qd", "qdd")
    others = ca.vertcat(*(part for name, part in slots._asdict().items() if name not in state))
    rows = ca.jacobian(ca.gradient(weighted, others), ca.vertcat(*(getattr(slots, k) for k in state), others))
    size = inner.shape[0]
    ordered = ca.vertcat(ca.horzcat(inner, rows[:, :size].T), rows)
    # From "state first" to the order of the slots.
    names = [*state, *(name for name in slots._fields if name not in state)]
    ends = dict(zip(names, np.cumsum([getattr(slots, name).shape[0] for name in names]), strict=True))
    order = [k for name in slots._fields for k in range(ends[name] - getattr(slots, name).shape[0], ends[name])]
    return ordered[order, order]
