"""Dependent joints from independent ones at a closed posture: rates, accelerations, and their derivatives.

Along every motion phi = 0, J qd = 0 and J qdd + J' qd = 0. With the rows split over the dependent (d) and independent
(i) coordinates, J_d N_d = -J_i gives the basis N of all motions, qd = N ud. Its time derivatives follow from J N = 0:

    J_d N_d' = -J' N,    J_d N_d'' = -(J'' N + 2 J' N').

Derivatives by a coordinate and by time commute, so that the derivative of the state by u, ud and udd is

    q :    N
    qd :   N'    N
    qdd :  N''   2 N'   N
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from colloc.loops.arguments import of_chain
from colloc.loops.closure import JointPath, joint_paths, loop_hessian, loop_jacobian, moving, residual, stacked
from colloc.loops.mechanism import ClosedChain
from colloc.model.kinematics import Jet


class Reduction(NamedTuple):
    """A closed posture."""

    chain: ClosedChain
    paths: list[JointPath]  # of every loop
    orthogonal: ca.SX  # orthogonal, triangular: shape (r, r); J_d, as a product
    triangular: ca.SX
    basis: ca.SX  # shape (n, mobility), sparse; N, all joint rates per rate of the independent joints

    def solve(self, right: ca.SX) -> ca.SX:
        """x with J_d x = right."""
        return ca.solve(self.triangular, self.orthogonal.T @ right)

    def solve_transposed(self, right: ca.SX) -> ca.SX:
        """x with J_d' x = right."""
        return self.orthogonal @ ca.solve(self.triangular.T, right)

    def dependent(self, right: ca.SX) -> ca.SX:
        """Change (n, k) of all coordinates with J x = right and constant independent ones."""
        full = ca.SX(self.chain.model.n, right.shape[1])
        full[self.chain.dependent_dofs, :] = self.solve(right)
        return ca.sparsify(full)

    def multipliers(self, torques: ca.SX) -> ca.SX:
        """Multipliers (r, k) with loop forces equal to generalised forces (n, k) at the dependent joints."""
        right = torques[self.chain.dependent_dofs, :]
        return self.solve_transposed(right) if right.nnz() else ca.SX(*right.shape)


class DependentMotion(NamedTuple):
    """Rates and accelerations of all joints, SX, each shape (n,).

    Examples
    --------
    >>> co.loops.DependentMotion._fields
    ('qd', 'qdd')
    """

    qd: ca.SX
    qdd: ca.SX


@of_chain
def loop_residual(chain: ClosedChain, q: ca.SX) -> ca.SX:
    """Residual of the independent rows.

    Parameters
    ----------
    chain : ClosedChain
    q : SX, shape (n_q,) [rad, m]

    Returns
    -------
    SX, shape (r,) [m, rad]
        Distances, and sines of angles; exactly zero where the loops are closed.

    Examples
    --------
    >>> q, u = ca.SX.sym("q", chain.model.n), ca.SX.sym("u")
    >>> gap = ca.Function("gap", [q], [co.loops.loop_residual(chain, q)])
    >>> bool(abs(gap(chain.posture).full()).max() < 1e-9)
    True
    """
    paths = joint_paths(chain.model, chain.loops, q)
    residuals = [residual(loop, path.transform) for loop, path in zip(chain.loops, paths, strict=True)]
    return ca.vertcat(*residuals)[chain.rows.tolist(), :]


@of_chain
def constraint_jacobian(chain: ClosedChain, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> Jet:
    """Jacobian of the residual of the independent rows, and its time derivatives.

    Lee et al. (2005), equations 79 to 83, see `colloc.loops.closure`. The residual has the rate J qd and the
    acceleration J qdd + J' qd. The derivatives of the latter by q, qd and qdd are J'', 2 J' and J.

    Parameters
    ----------
    chain : ClosedChain
    q, qd, qdd : SX, shape (n,)

    Returns
    -------
    Jet, SX, each shape (r, n), sparse

    Examples
    --------
    >>> q, u = ca.SX.sym("q", chain.model.n), ca.SX.sym("u")
    >>> co.loops.constraint_jacobian(chain, q, 0 * q, 0 * q)[0].shape
    (2, 3)
    """
    return jacobians(chain, joint_paths(chain.model, chain.loops, q), qd, qdd)


@of_chain
def constraint_hessian(chain: ClosedChain, q: ca.SX, qd: ca.SX, qdd: ca.SX, multipliers: ca.SX) -> Jet:
    """Hessian by q of multipliers' residual and its time derivatives; parameters as in `constraint_jacobian`.

    Lee et al. (2005), equations 81 and 82. The multipliers are SX, shape (r,), the Hessian and its derivatives SX, each
    shape (n, n), sparse, symmetric.

    Examples
    --------
    >>> q, u = ca.SX.sym("q", chain.model.n), ca.SX.sym("u")
    >>> multipliers = ca.SX.sym("multipliers", len(chain.rows))
    >>> co.loops.constraint_hessian(chain, q, 0 * q, 0 * q, multipliers)[0].shape
    (3, 3)
    """
    return hessians(chain, joint_paths(chain.model, chain.loops, q), qd, qdd, multipliers)


def reduce(chain: ClosedChain, q: ca.SX) -> Reduction:
    """The linear algebra of a closed posture of all joints, SX, shape (n_q,), done once."""
    paths = joint_paths(chain.model, chain.loops, q)
    still = ca.SX(chain.model.n, 1)
    J = jacobians(chain, paths, still, still).value
    factors = ca.qr(J[:, chain.dependent_dofs])
    begun = Reduction(chain, paths, *factors, ca.SX())
    basis = -begun.dependent(J[:, chain.independent_dofs])
    basis[chain.independent_dofs, :] = ca.SX.eye(chain.mobility)
    return begun._replace(basis=basis)


@of_chain
def dependent_motion(chain: ClosedChain, q: ca.SX, ud: ca.SX, udd: ca.SX) -> DependentMotion:
    """Rates and accelerations of all joints from those of the independent ones.

    Parameters
    ----------
    chain : ClosedChain
    q : SX, shape (n_q,) [rad, m]
        Of all joints, closed: see `colloc.loops.assemble`.
    ud, udd : SX, shape (mobility,)
        In the order of `chain.independent`.

    Examples
    --------
    >>> q, u = ca.SX.sym("q", chain.model.n), ca.SX.sym("u")
    >>> co.loops.dependent_motion(chain, q, u, u).qdd.shape
    (3, 1)
    """
    return reduced_motion(reduce(chain, q), ud, udd)


def reduced_motion(reduction: Reduction, ud: ca.SX, udd: ca.SX) -> DependentMotion:
    """`dependent_motion` for a reduced posture."""
    chain, qd = reduction.chain, ca.densify(reduction.basis @ ud)
    rate = jacobians(chain, reduction.paths, qd, ca.SX(chain.model.n, 1)).rate
    return DependentMotion(qd, ca.densify(reduction.basis @ udd - reduction.dependent(rate @ qd)))


def posture_derivatives(chain: ClosedChain, q: ca.SX, value: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Gradient (mobility,) and Hessian by the independent coordinates of a function of the closed posture.

    With rho such that J_d' rho equals the slope by the dependent coordinates, phi(q(u)) = 0 gives d2f/du2 = N' (d2f/dq2
    - Hessian of rho' phi) N. The value, SX, scalar, depends on q alone, SX symbols.
    """
    reduction, still = reduce(chain, q), ca.SX(chain.model.n, 1)
    bent, slope = ca.hessian(value, q)
    rho = reduction.multipliers(ca.densify(slope))
    N = reduction.basis
    return N.T @ slope, N.T @ (bent - hessians(chain, reduction.paths, still, still, rho).value) @ N


def basis_motion(reduction: Reduction, J: Jet) -> Jet:
    """N, N' and N'', SX, each shape (n, mobility)."""
    N = reduction.basis
    rate = -reduction.dependent(J.rate @ N)
    return Jet(N, rate, -reduction.dependent(J.second @ N + 2 * J.rate @ rate))


def state_tangent(reduction: Reduction, qd: ca.SX, qdd: ca.SX, J: Jet) -> ca.SX:
    """S: derivative of the state (q, qd, qdd) by u, ud and udd, SX, shape (3n, 3m), at rates of all joints.

    Displacements x of ball joints on quaternions have x' = v + A x with v the change of qd and A of
    `Model.displacement_rates`; for all others A is zero, and the rows are those of the module's docstring.
    """
    N, model = basis_motion(reduction, J), reduction.chain.model
    zero = ca.SX(*N.value.shape)
    if model.has_plain_velocities:
        rows = [[N.value, zero, zero], [N.rate, N.value, zero], [N.second, 2 * N.rate, N.value]]
        return ca.blockcat(rows)
    turn, turn_rate = model.displacement_rates(qd), model.displacement_rates(qdd)
    independent = reduction.chain.independent_dofs
    swept, swept_rate = turn @ N.value, turn_rate @ N.value + turn @ N.rate
    own = swept[independent, :]
    by_u = N.rate - swept + N.value @ own
    by_u_rate = N.second - swept_rate + N.rate @ own + N.value @ swept_rate[independent, :]
    rows = [[N.value, zero, zero], [by_u, N.value, zero], [by_u_rate + by_u @ own, N.rate + by_u, N.value]]
    return ca.blockcat(rows)


def jacobians(chain: ClosedChain, paths: list[JointPath], qd: ca.SX, qdd: ca.SX) -> Jet:
    """`constraint_jacobian` for known paths."""
    pairs = zip(chain.loops, paths, strict=True)
    rows = chain.rows.tolist()
    jacobian = stacked([loop_jacobian(loop, chain.model.n, moving(p, qd, qdd)) for loop, p in pairs])
    return Jet(*(part[rows, :] for part in jacobian))


def hessians(chain: ClosedChain, paths: list[JointPath], qd: ca.SX, qdd: ca.SX, multipliers: ca.SX) -> Jet:
    """`constraint_hessian` for known paths."""
    shares = all_multipliers(chain, multipliers)
    total = [ca.SX(chain.model.n, chain.model.n) for _ in range(3)]
    for loop, p, share in zip(chain.loops, paths, shares, strict=True):
        blocks = loop_hessian(loop, chain.model.n, moving(p, qd, qdd), share)
        total = [a + b for a, b in zip(total, blocks, strict=True)]
    return Jet(*total)


def all_multipliers(chain: ClosedChain, multipliers: ca.SX) -> list[ca.SX]:
    """Multipliers of all rows of every loop; zero for redundant rows."""
    full = ca.SX(chain.closures.row_loops.size, 1)
    full[chain.rows.tolist(), :] = multipliers
    ends = [0, *(sum(loop.rows for loop in chain.loops[: k + 1]) for k in range(len(chain.loops)))]
    return ca.vertsplit(full, ends)
