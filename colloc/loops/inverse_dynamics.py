"""Inverse dynamics of closed chains: actuator torques and loop forces of a motion.

Lee, Kim, Park, Kim and Bobrow (2005), equations 26 to 46 and 64 to 73. The tree alone, with all joints driven, needs
the torques tau_r (their reduced system). In the chain the loops carry part of them,

    tau_r = B tau_a + J' mu,

with B the columns of the actuated joints. Loop forces do no work in any motion N of the chain (J N = 0), so that

    A tau_a = N' tau_r,    A = (N_a)',

which are as many equations as degrees of freedom. With as many actuators they determine the torques (equation 31; there
the independent joints are the actuated ones, A = 1). With more, those of least tau_a' W tau_a are
tau_a = W^-1 A' nu, where A W^-1 A' nu = N' tau_r: equations 72 and 73, whose A is (1, phi') with q_v' = phi q_ea'.
The dependent rows of the first equation then give mu (equation 37 with its transpose, J_p^-T).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.dynamics import InverseDynamics, check_formulation, newton_euler
from colloc.dynamics import inverse_dynamics as tree_torques
from colloc.loops.arguments import of_chain
from colloc.loops.closure import joint_paths, loop_wrench
from colloc.loops.mechanism import ClosedChain
from colloc.loops.reduction import Reduction, all_multipliers, constraint_jacobian, reduce
from colloc.model import Load, check_loads
from colloc.support.checks import as_tuple


class Actuation(NamedTuple):
    """Torques of the actuators of a closed chain and multipliers of its loops.

    Parameters
    ----------
    tau : SX, shape (n,) [N m, N]
        Of all joints; zero at passive ones.
    multipliers : SX, shape (r,) [N, N m]
        Of the independent rows; see `loop_wrenches`.

    Examples
    --------
    >>> co.loops.Actuation._fields
    ('tau', 'multipliers')
    """

    tau: ca.SX
    multipliers: ca.SX


@of_chain
def chain_inverse_dynamics(
    chain: ClosedChain,
    q: ca.SX,
    qd: ca.SX,
    qdd: ca.SX,
    loads: Sequence[Load] = (),
    dynamics: InverseDynamics = newton_euler,
) -> Actuation:
    """Actuator torques and loop forces that produce a motion.

    Parameters
    ----------
    chain : ClosedChain
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
        Of all joints, with closed loops: see `dependent_motion`.
    loads : sequence of Load
        Of the environment; they enter as -J' w.
    dynamics : newton_euler, lagrange or lie
        Formulation of the inverse dynamics of the tree.

    Examples
    --------
    >>> q, u = ca.SX.sym("q", chain.model.n), ca.SX.sym("u")
    >>> qd, qdd = co.loops.dependent_motion(chain, q, u, u)
    >>> tau, multipliers = co.loops.chain_inverse_dynamics(chain, q, qd, qdd)
    >>> hold = ca.Function("hold", [q, u], [tau])
    >>> hold(chain.posture, 0.0).full().round(2).ravel() + 0.0  # the crank alone is driven
    array([0.52, 0.  , 0.  ])
    """
    check_formulation(dynamics)
    check_loads(chain.model, as_tuple("loads", loads))
    return actuation(reduce(chain, q), tree_torques(dynamics, chain.model, q, qd, qdd, loads))[0]


def actuation(reduction: Reduction, torques: ca.SX) -> tuple[Actuation, ca.SX]:
    """Actuation in place of the torques (n,) of the tree, and nu (mobility,) of the module's docstring."""
    chain = reduction.chain
    nu = solve_actuators(reduction, reduction.basis.T @ torques)
    tau = driven(chain, spread_torques(reduction, nu))
    return Actuation(tau, reduction.multipliers(torques - tau)), nu


def solve_actuators(reduction: Reduction, right: ca.SX) -> ca.SX:
    """nu (mobility, k) with A W^-1 A' nu = right."""
    A = reduction.basis[reduction.chain.actuator_dofs, :].T
    if A.is_eye():
        return ca.SX(ca.diag(reduction.chain.actuator_weights)) @ right
    return ca.solve(A @ inverse_weights(reduction.chain) @ A.T, right)


def spread_torques(reduction: Reduction, nu: ca.SX) -> ca.SX:
    """Torques of the actuators, W^-1 A' nu."""
    chain = reduction.chain
    return inverse_weights(chain) @ (reduction.basis[chain.actuator_dofs, :] @ nu)


def inverse_weights(chain: ClosedChain) -> ca.SX:
    """W^-1, SX, shape (actuators, actuators), diagonal."""
    return ca.SX(ca.diag(1 / chain.actuator_weights))


def driven(chain: ClosedChain, torques: ca.SX) -> ca.SX:
    """B x: torques (actuators, k) as rows of all joints, SX, shape (n, k), sparse."""
    full = ca.SX(chain.model.n, torques.shape[1])
    full[chain.actuator_dofs, :] = torques
    return full


@of_chain
def loop_torques(chain: ClosedChain, q: ca.SX, multipliers: ca.SX) -> ca.SX:
    """Generalised forces J' mu of the loops on the tree.

    The inverse dynamics of the tree less these forces are the actuator torques, zero at passive joints: the form with
    cut-joint forces as unknowns (Xiang et al. 2009, equation 38).

    Parameters
    ----------
    chain : ClosedChain
    q : SX, shape (n_q,)
    multipliers : SX, shape (r,) [N, N m]

    Returns
    -------
    SX, shape (n,) [N m, N]

    Examples
    --------
    >>> q, u = ca.SX.sym("q", chain.model.n), ca.SX.sym("u")
    >>> multipliers = ca.SX.sym("multipliers", len(chain.rows))
    >>> co.loops.loop_torques(chain, q, multipliers).shape
    (3, 1)
    """
    still = ca.SX(chain.model.n, 1)
    return constraint_jacobian(chain, q, still, still).value.T @ multipliers


@of_chain
def loop_wrenches(chain: ClosedChain, q: ca.SX, multipliers: ca.SX) -> list[ca.SX]:
    """Wrench that the first body of every loop exerts on the second; parameters as in `loop_torques`.

    Returns
    -------
    list of SX, each shape (6,)
        Moment [N m] about the origin of the second frame, then force [N]; both in the axes of the first frame.

    Examples
    --------
    >>> q, u = ca.SX.sym("q", chain.model.n), ca.SX.sym("u")
    >>> multipliers = ca.SX.sym("multipliers", len(chain.rows))
    >>> [wrench.shape for wrench in co.loops.loop_wrenches(chain, q, multipliers)]
    [(6, 1)]
    """
    paths, shares = joint_paths(chain.model, chain.loops, q), all_multipliers(chain, multipliers)
    return [
        loop_wrench(loop, path.transform, share) for loop, path, share in zip(chain.loops, paths, shares, strict=True)
    ]
