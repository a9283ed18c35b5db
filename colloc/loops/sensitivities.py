"""First and second derivatives of the inverse dynamics of closed chains by the independent coordinates.

Lee, Kim, Park, Kim and Bobrow (2005), equations 61 to 63 and 74 to 78, in one form for exactly and redundantly
actuated chains and without the derivative of an inverse. The parameters are x = (u, ud, udd) of the independent joints;
S is the derivative of the state (q, qd, qdd) by x, see `colloc.loops.reduction`.

Torques, multipliers and w = N nu solve

    tau_r = B tau_a + J' mu,    W tau_a = B' w,    J w = 0,

the last two being the conditions of least weighted torque. Their differentials, with H the Hessian of mu' phi and
G = d(J w)/dq, are solved as the equations are:

    A dtau_a = N' D,    D = (dtau_r/dstate) S - (H N, 0, 0),    dw = N dnu - (J_d^-1 G N, 0, 0),
    A W^-1 A' dnu = N' D + A W^-1 B' (J_d^-1 G N, 0, 0),    J_d' dmu = (D - B dtau_a)_d.

Second derivatives, contracted. For weights l of the torques the adjoint of the three equations is y = N theta with
A W^-1 A' theta = A W^-1 l, e = W^-1 (A' theta - l) and J_d' zeta = (B e)_d; e and zeta vanish where the actuators are
as many as the freedoms. Then

    l' d2tau_a = y' (d2tau_r - 2 dJ' dmu - d2J' mu) + zeta' (2 dJ dw + d2J w).

The second differentials of the state are eliminated in the same way: with a the factors of d2(q, qd, qdd) and
multipliers rho of phi, phi' and phi'' such that a vanishes at the dependent coordinates,

    a' d2(q, qd, qdd) = -d(q, qd, qdd)' [Hessian of rho_0' phi + rho_1' phi' + rho_2' phi''] d(q, qd, qdd).

Equation 77 is printed with mixed indices, and footnote 5 with J_p for J_p^-T; they are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.dynamics import Sensitivities, composite_sensitivities, lie_hessian, total_hessian, total_sensitivities
from colloc.loops.arguments import of_chain
from colloc.loops.inverse_dynamics import Actuation, actuation, driven, inverse_weights, solve_actuators, spread_torques
from colloc.loops.mechanism import ClosedChain
from colloc.loops.reduction import Reduction, hessians, jacobians, reduce, reduced_motion, state_tangent
from colloc.model import Load, check_loads
from colloc.model.kinematics import Jet
from colloc.model.tree import plain_only
from colloc.support.checks import InputError, as_tuple


class ChainSensitivities(NamedTuple):
    """Actuation of a closed chain and its derivatives; columns by u, ud and udd of the independent joints.

    Parameters
    ----------
    tau : SX, shape (n,) [N m, N]
    multipliers : SX, shape (r,) [N, N m]
    dtau : SX, shape (n, 3 mobility), sparse
    dmultipliers : SX, shape (r, 3 mobility)

    Examples
    --------
    >>> co.loops.ChainSensitivities._fields
    ('tau', 'multipliers', 'dtau', 'dmultipliers')
    """

    tau: ca.SX
    multipliers: ca.SX
    dtau: ca.SX
    dmultipliers: ca.SX


class _ChainState(NamedTuple):
    """A motion of the chain with everything that its derivatives share."""

    reduction: Reduction
    qd: ca.SX
    qdd: ca.SX
    J: Jet
    change: ca.SX  # S, (3n, 3m)
    tree: Sensitivities
    actuation: Actuation
    nu: ca.SX


class _Changes(NamedTuple):
    """Derivatives by x, each with 3m columns."""

    torques: ca.SX
    multipliers: ca.SX
    virtual: ca.SX  # of w


@of_chain
def chain_sensitivities(
    chain: ClosedChain, q: ca.SX, ud: ca.SX, udd: ca.SX, loads: Sequence[Load] = ()
) -> ChainSensitivities:
    """Actuator torques and loop forces of a motion, and their derivatives.

    Parameters
    ----------
    chain : ClosedChain
    q : SX symbols, shape (n_q,) [rad, m]
        Of all joints, closed.
    ud, udd : SX, shape (mobility,)
        Rates and accelerations of the independent joints.
    loads : sequence of Load
        May depend on q.

    Raises
    ------
    InputError
        For a load that depends on rates or accelerations.

    Examples
    --------
    >>> q, u = ca.SX.sym("q", chain.model.n), ca.SX.sym("u")
    >>> co.loops.chain_sensitivities(chain, q, u, u).dtau.shape
    (3, 3)
    """
    state = _state(chain, q, ud, udd, loads)
    changes = _changes(state)
    return ChainSensitivities(*state.actuation, changes.torques, changes.multipliers)


@of_chain
def chain_hessian(
    chain: ClosedChain, q: ca.SX, ud: ca.SX, udd: ca.SX, weights: ca.SX, loads: Sequence[Load] = ()
) -> ca.SX:
    """Hessian of weights' tau by u, ud and udd; parameters as in `chain_sensitivities`.

    Parameters
    ----------
    weights : SX, shape (n,)
        Those of passive joints have no effect.

    Returns
    -------
    SX, shape (3 mobility, 3 mobility)

    Raises
    ------
    InputError
        For a load that depends on the state, and for ball joints on quaternions.

    Examples
    --------
    >>> q, u = ca.SX.sym("q", chain.model.n), ca.SX.sym("u")
    >>> weights = ca.SX.sym("weights", chain.model.n)
    >>> co.loops.chain_hessian(chain, q, u, u, weights).shape
    (3, 3)
    """
    plain_only("the Hessian of a chain's torques", chain.model)
    for load in loads:
        if ca.depends_on(load.wrench, ca.vertcat(q, ud, udd)):
            raise InputError(f"no second derivatives: the load on {load.body!r} depends on the state")
    state = _state(chain, q, ud, udd, loads)
    reduction, N = state.reduction, state.reduction.basis
    # The adjoint.
    scaled = inverse_weights(chain) @ weights[chain.actuator_dofs, :]
    theta = solve_actuators(reduction, N[chain.actuator_dofs, :].T @ scaled)
    y = N @ theta
    excess = driven(chain, spread_torques(reduction, theta) - scaled) if chain.redundant else ca.SX(chain.model.n, 1)
    zeta = reduction.multipliers(excess)
    return _contracted(state, q, _changes(state), y, zeta, loads)


def _contracted(state: _ChainState, q: ca.SX, changes: _Changes, y: ca.SX, zeta: ca.SX, loads: Sequence[Load]) -> ca.SX:
    """l' d2tau_a of the module's docstring."""
    reduction, n = state.reduction, state.qd.shape[0]
    chain, paths, still = reduction.chain, reduction.paths, ca.SX(n, 1)
    by_q = state.change[:n, :]
    w = reduction.basis @ state.nu
    # d2J' mu contracted with y is the rate of the Hessian of mu' phi in a motion with the rates y.
    loop = hessians(chain, paths, y, still, state.actuation.multipliers)
    bends = -loop.rate
    cross = -_bracket(reduction, y).T @ changes.multipliers
    a_q = state.tree.dq.T @ y - loop.value @ y
    if chain.redundant:
        least = hessians(chain, paths, w, still, zeta)
        bends += least.rate
        cross += least.value @ changes.virtual
        a_q += least.value @ w
    tree = total_hessian(lie_hessian, chain.model, q, state.qd, state.qdd, y, loads)
    by_rates = state.tree.dqd.T @ y, state.tree.dqdd.T @ y
    bent = _state_curvature(reduction, state.qd, state.qdd, state.J, a_q, *by_rates)
    mixed = by_q.T @ cross
    return state.change.T @ (tree - bent) @ state.change + by_q.T @ bends @ by_q + mixed + mixed.T


def _state(chain: ClosedChain, q: ca.SX, ud: ca.SX, udd: ca.SX, loads: Sequence[Load]) -> _ChainState:
    check_loads(chain.model, as_tuple("loads", loads))
    for load in loads:
        if ca.depends_on(load.wrench, ca.vertcat(ud, udd)):
            raise InputError(f"no derivatives: the load on {load.body!r} depends on rates or accelerations")
    reduction = reduce(chain, q)
    qd, qdd = reduced_motion(reduction, ud, udd)
    J = jacobians(chain, reduction.paths, qd, qdd)
    tree = _tree(chain, q, qd, qdd, loads)
    change = state_tangent(reduction, qd, qdd, J)
    return _ChainState(reduction, qd, qdd, J, change, tree, *actuation(reduction, tree.tau))


def _tree(chain: ClosedChain, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load]) -> Sensitivities:
    """Torques of the tree and their derivatives as expressions of q, qd and qdd, which are expressions themselves."""
    rate, change = ca.SX.sym("qd", chain.model.n), ca.SX.sym("qdd", chain.model.n)
    tree = total_sensitivities(composite_sensitivities, chain.model, q, rate, change, loads)
    return Sensitivities(*ca.substitute(list(tree), [rate, change], [qd, qdd]))


def _changes(state: _ChainState) -> _Changes:
    reduction, chain = state.reduction, state.reduction.chain
    n, m, N = chain.model.n, chain.mobility, state.reduction.basis
    zero, rates = ca.SX(n, 2 * m), ca.SX(n, 1)
    multipliers = state.actuation.multipliers
    curvature = hessians(chain, reduction.paths, rates, rates, multipliers).value
    if not chain.model.has_plain_velocities:
        curvature -= chain.model.displacement_rates(ca.densify(state.J.value.T @ multipliers)) / 2
    by_state = ca.horzcat(state.tree.dq, state.tree.dqd, state.tree.dqdd)
    change = by_state @ state.change - ca.horzcat(curvature @ N, zero)
    # How w changes with N while nu stays.
    turned = ca.horzcat(-reduction.dependent(_bracket(reduction, N @ state.nu) @ N), zero)
    actuators = chain.actuator_dofs
    moved = inverse_weights(chain) @ turned[actuators, :]
    dnu = solve_actuators(reduction, N.T @ change - N[actuators, :].T @ moved)
    torques = driven(chain, spread_torques(reduction, dnu) + moved)
    return _Changes(torques, reduction.multipliers(change - torques), N @ dnu + turned)


def _bracket(reduction: Reduction, direction: ca.SX) -> ca.SX:
    """G = d(J direction)/dq, SX, shape (r, n): the rate of J in a motion with these rates, and see `closure`."""
    J, model = jacobians(reduction.chain, reduction.paths, direction, ca.SX(*direction.shape)), reduction.chain.model
    return J.rate if model.has_plain_velocities else J.rate + J.value @ model.displacement_rates(direction)


def motion_curvature(reduction: Reduction, qd: ca.SX, qdd: ca.SX, multipliers: Sequence[ca.SX]) -> ca.SX:
    """Hessian of multipliers' (q, qd, ...) by u, ud, ..., SX, shape (km, km), for k = 1, 2 or 3 multipliers, (n,)."""
    n, k, m = qd.shape[0], len(multipliers), reduction.chain.mobility
    J = jacobians(reduction.chain, reduction.paths, qd, qdd)
    change = state_tangent(reduction, qd, qdd, J)[: k * n, : k * m]
    a_q, a_qd, a_qdd = *multipliers, *[ca.SX(n, 1)] * (3 - k)
    bent = _state_curvature(reduction, qd, qdd, J, a_q, a_qd, a_qdd)[: k * n, : k * n]
    return -change.T @ bent @ change


def _state_curvature(
    reduction: Reduction, qd: ca.SX, qdd: ca.SX, J: Jet, a_q: ca.SX, a_qd: ca.SX, a_qdd: ca.SX
) -> ca.SX:
    """Hessian (3n, 3n) of rho' (phi, phi', phi'') for the factors a of the second differentials of the state."""
    rho_2 = reduction.multipliers(a_qdd)
    rho_1 = reduction.multipliers(a_qd - 2 * J.rate.T @ rho_2)
    rho_0 = reduction.multipliers(a_q - J.rate.T @ rho_1 - J.second.T @ rho_2)
    H_0, H_1, H_2 = (hessians(reduction.chain, reduction.paths, qd, qdd, rho) for rho in (rho_0, rho_1, rho_2))
    q_q, q_qd, zero = H_0.value + H_1.rate + H_2.second, H_1.value + 2 * H_2.rate, ca.SX(*H_2.value.shape)
    return ca.blockcat([[q_q, q_qd, H_2.value], [q_qd, 2 * H_2.value, zero], [H_2.value, zero, zero]])
