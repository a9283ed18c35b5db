"""First-order sensitivities of the inverse dynamics: what every derivative recursion returns, and what loads add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from colloc.errors import InputError
from colloc.model import Load, Model

InverseDynamics = Callable[[Model, ca.SX, ca.SX, ca.SX, Sequence[Load]], ca.SX]


class Sensitivities(NamedTuple):
    """Actuator torques and their derivatives; entry (i, m) is dtau_i/dq_m, dtau_i/dqd_m, dtau_i/dqdd_m.

    Parameters
    ----------
    tau : SX, shape (n,) [N m, N]
    dq, dqd, dqdd : SX, shape (n, n), sparse
        Only entries in which one joint is an ancestor of the other, or the same, are stored.
    """

    tau: ca.SX
    dq: ca.SX
    dqd: ca.SX
    dqdd: ca.SX


DerivativeRecursion = Callable[[Model, ca.SX, ca.SX, ca.SX, Sequence[Load]], Sensitivities]


def check_formulation(dynamics: object, sensitivities: object = None) -> None:
    """InputError unless these can be a formulation of the inverse dynamics and a derivative recursion (or None)."""
    if not callable(dynamics):
        raise InputError(f"dynamics must be newton_euler, lagrange, lie or a function like them, got {dynamics!r}")
    if sensitivities is not None and not callable(sensitivities):
        raise InputError(f"sensitivities must be composite_sensitivities or a function like it, got {sensitivities!r}")


def total_sensitivities(
    recursion: DerivativeRecursion, model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()
) -> Sensitivities:
    """A recursion's sensitivities with those of loads that depend on the state (springs, drag) added.

    The recursions take loads as given: constant in the world frame. Here the wrench of a load that depends on q, qd or
    qdd (as a ground reaction does that follows from the motion) becomes a symbol w, and dtau/dq gains dtau/dw dw/dq.

    Parameters
    ----------
    recursion : callable
        Such as `composite_sensitivities`.
    model : Model
    q, qd, qdd : SX symbols, shape (n,)
    loads : sequence of Load

    Returns
    -------
    Sensitivities
    """
    state = ca.vertcat(q, qd, qdd)
    varying = [load for load in loads if ca.depends_on(load.wrench, state)]
    if not varying:
        return _checked(recursion, recursion(model, q, qd, qdd, loads))
    given = [ca.SX.sym("w", 9) for _ in varying]
    held = [Load(load.body, w[:3], w[3:6], w[6:]) for load, w in zip(varying, given, strict=True)]
    others = [load for load in loads if not ca.depends_on(load.wrench, state)]
    found = _checked(recursion, recursion(model, q, qd, qdd, [*others, *held]))
    symbols, wrenches = ca.vertcat(*given), ca.densify(ca.vertcat(*(load.wrench for load in varying)))
    slope = ca.jacobian(found.tau, symbols)
    # One Jacobian shares more between its columns than three would.
    added = ca.horzsplit(slope @ ca.jacobian(wrenches, state), model.n)
    totals = [own + more for own, more in zip(found[1:], added, strict=True)]
    return Sensitivities(*ca.substitute([found.tau, *totals], [symbols], [wrenches]))


def _checked(recursion: object, found: object) -> Sensitivities:
    if not isinstance(found, Sensitivities):
        raise InputError(f"sensitivities must return Sensitivities, as composite_sensitivities does, not {recursion!r}")
    return found


@dataclass(frozen=True)
class Differentiation:
    """The sensitivities of a formulation by CasADi's automatic differentiation; made by `by_differentiation`."""

    formulation: InverseDynamics

    @property
    def __name__(self) -> str:
        return f"differentiation of {self.formulation.__name__}"

    def __call__(self, model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> Sensitivities:
        tau = self.formulation(model, q, qd, qdd, loads)
        # One Jacobian shares more between its columns than three would.
        return Sensitivities(tau, *ca.horzsplit(ca.jacobian(tau, ca.vertcat(q, qd, qdd)), model.n))


def by_differentiation(formulation: InverseDynamics) -> Differentiation:
    """The sensitivities of a formulation by CasADi's automatic differentiation, as a recursion to compare with.

    The recursion it returns takes symbols for q, qd and qdd.
    """
    return Differentiation(formulation)
