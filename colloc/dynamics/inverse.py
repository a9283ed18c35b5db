"""Inverse dynamics of a model by any formulation: the entry points for torques and their derivatives.

A recursion has the physics of rigid bodies and takes loads as constant. This module adds, with exact derivatives, the
passive parts of joints, and loads that depend on the state.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from colloc.dynamics.arguments import checked_vector, of_state
from colloc.dynamics.coupled import by_rows, hessian_of_tree, of_tree
from colloc.dynamics.formulation import (
    DerivativeRecursion,
    HessianRecursion,
    InverseDynamics,
    Sensitivities,
    reduced_sensitivities,
)
from colloc.dynamics.loads import Differentiated, with_varying_loads
from colloc.dynamics.newtonian.recursion import newton_euler
from colloc.dynamics.passive import passive_hessian, passive_sensitivities, passive_torque
from colloc.dynamics.spatial.composite import composite_sensitivities
from colloc.model import Load, Model
from colloc.support.checks import InputError


@of_state
@of_tree(by_rows)
def inverse_dynamics(
    formulation: InverseDynamics, model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()
) -> ca.SX:
    """Actuator torques that produce a motion: those of the rigid bodies and of the passive parts of joints.

    Parameters
    ----------
    formulation : newton_euler, lagrange, lie, or a function like them
    model : Model
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
    loads : sequence of Load

    Returns
    -------
    SX, shape (n,) [N m, N]

    Examples
    --------
    >>> tau = co.dynamics.inverse_dynamics(co.dynamics.newton_euler, model, q, qd, qdd)
    >>> tau.shape
    (2, 1)
    """
    tau = checked_vector("what the formulation returns", formulation(model, q, qd, qdd, loads), model.n)
    return tau + passive_torque(model, q, qd, qdd) if model.passive else tau


@of_state
def total_sensitivities(
    recursion: DerivativeRecursion, model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()
) -> Sensitivities:
    """A recursion's sensitivities with those of passive joints, and of loads that depend on the state, added.

    The recursions take loads as constant in the world frame. Here the wrench of a load that depends on q, qd or qdd
    (such as a ground reaction that follows from the motion) becomes a symbol w, and dtau/dq gains dtau/dw dw/dq.

    For the recursions ball joints on quaternions are chains of screws, whose rates differ from the joint's. For models
    with ball joints CasADi differentiates the recursion's torque, and dq is by displacements of the joints,
    `Model.per_displacement`, at constant velocities and accelerations in the axes of the link.

    Parameters
    ----------
    recursion : callable
        Such as `composite_sensitivities`.
    model : Model
    q, qd, qdd : SX symbols, shape (n,)
    loads : sequence of Load

    Examples
    --------
    >>> total = co.dynamics.total_sensitivities(co.dynamics.composite_sensitivities, model, q, qd, qdd)
    >>> total.dqdd.shape
    (2, 2)
    """

    @of_tree(reduced_sensitivities)
    def total(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load]) -> Sensitivities:
        rigid = _checked(recursion, recursion(model, q, qd, qdd, loads))
        if not model.passive:
            return rigid
        passive = passive_sensitivities(model, q, qd, qdd)
        return Sensitivities(*(part + more for part, more in zip(rigid, passive, strict=True)))

    if not model.has_plain_velocities:
        torque = total(model, q, qd, qdd, loads).tau
        by_q, by_qd, by_qdd = (ca.jacobian(torque, part) for part in (q, qd, qdd))
        return Sensitivities(torque, ca.sparsify(by_q @ model.per_displacement(q)), by_qd, by_qdd)

    def torques(loads: Sequence[Load]) -> Differentiated:
        tau, *slopes = total(model, q, qd, qdd, loads)
        return tau, slopes

    tau, slopes = with_varying_loads(torques, q, qd, qdd, loads)
    return Sensitivities(tau, *slopes)


def _composite(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load]) -> Sensitivities:
    return total_sensitivities(composite_sensitivities, model, q, qd, qdd, loads)


@of_state
@hessian_of_tree(_composite)
def total_hessian(
    recursion: HessianRecursion,
    model: Model,
    q: ca.SX,
    qd: ca.SX,
    qdd: ca.SX,
    multipliers: ca.SX,
    loads: Sequence[Load] = (),
) -> ca.SX:
    """Hessian of multipliers' torque by q, qd and qdd, including the passive parts of joints.

    For models with ball joints on quaternions CasADi differentiates the torque instead, as in `total_sensitivities`,
    and derivatives by q are by displacements about one axis, `Model.displaced`.

    Parameters
    ----------
    recursion : callable
        Such as `lie_hessian`.
    model : Model
    q, qd, qdd : SX, shape (n,)
        Symbols where there are ball joints on a quaternion.
    multipliers : SX, shape (n,)
    loads : sequence of Load
        Independent of the state.

    Returns
    -------
    SX, shape (3n, 3n), sparse

    Examples
    --------
    >>> multipliers = ca.SX.sym("multipliers", 2)
    >>> co.dynamics.total_hessian(co.dynamics.lie_hessian, model, q, qd, qdd, multipliers).shape
    (6, 6)
    """
    if not model.has_plain_velocities:
        torque = inverse_dynamics(newton_euler, model, q, qd, qdd, loads)
        by_state = ca.hessian(ca.dot(multipliers, torque), ca.vertcat(q, qd, qdd))[0]
        # A quaternion of any length is the same attitude: what bends the way to it along its length does not count.
        moved = ca.diagcat(model.per_displacement(q), ca.SX.eye(2 * model.n))
        return ca.sparsify(moved.T @ by_state @ moved)
    hessian = recursion(model, q, qd, qdd, multipliers, loads)
    if not model.passive:
        return hessian
    zero = ca.SX(model.n, model.n)
    return hessian + ca.diagcat(zero, passive_hessian(model, qd, multipliers), zero)


def _checked(recursion: object, sensitivities: object) -> Sensitivities:
    if not isinstance(sensitivities, Sensitivities):
        raise InputError(f"sensitivities must return Sensitivities, as composite_sensitivities does, not {recursion!r}")
    return sensitivities
