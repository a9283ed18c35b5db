"""Inverse dynamics of a model by any formulation: the derivatives with all that acts in them."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from colloc.dynamics.formulation import DerivativeRecursion, Sensitivities
from colloc.errors import InputError
from colloc.model import Load, Model


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
