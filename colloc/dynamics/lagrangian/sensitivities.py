"""Derivatives of the recursive Lagrangian inverse dynamics: direct differentiation, in 4x4 transforms.

Xiang et al. (2009), equations 21 to 35, for trees with a load on every link as in Zhakatayev et al. (2023),
equations 10 to 17. Each coordinate q_m has one forward pass, over the links that it moves, and one backward pass,
over these links and the links that carry its joint. No other pair (i, m) is visited: the zero pattern that both papers
express by conditions on indices.

T is a link's transform to its parent p, A to the world, B and C are the time derivatives of A, Xi is the constant
body twist of a joint, dT/dq = T Xi. Differences from print (automatic differentiation agrees with this module):

- dB_i/dqd_m = dC_i/dqdd_m = dA_i/dq_m and dC_i/dqd_m = 2 dB_i/dq_m for all i and m, because they are derivatives of
  one smooth motion. This replaces equations 23, 25 and 26, where the case m = i of 23 and 26 has dT_i/dqd_i and
  dT_i/dqdd_i in print; both are zero, and dT_i/dq_i is meant.
- The case m = i of equations 21, 22 and 24 is A_i Xi, B_i Xi and C_i Xi: no second and third derivatives of T.
- The case m < i of the same equations is the recursion 12 to 14 itself, applied to dA, dB and dC.
- D, E and F obey one recursion and enter the torque through one trace, so S = D - E g' - F is carried instead, a 4x4
  matrix with F as the sum of r f' over the loads. This replaces the 4-vectors E and F of equations 18, 19, 30 and 31.
- Where a link has several children, each is carried by its own T (Zhakatayev et al., equation 8). Equation 37b of
  Xiang et al. adds the children first and leaves a single T for the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import of_tree
from colloc.dynamics.formulation import Sensitivities, reduced_sensitivities
from colloc.model import Load, Model
from colloc.model.joint import sparse_vector
from colloc.model.kinematics import carry

_Triple = tuple[ca.SX, ca.SX, ca.SX]


class _LinkTransforms(NamedTuple):
    transform: ca.SX  # T, link -> parent
    twist: ca.SX  # Xi; zero for a fixed joint
    axis: ca.SX  # of rotation, link axes; zero where the joint does not turn
    inertia: ca.SX  # pseudo-inertia about the link origin
    rate: ca.SX
    change: ca.SX  # of the rate
    motion: _Triple  # A, B, C
    tangent: ca.SX  # dA/dq of the link's own joint


@of_state
@of_tree(reduced_sensitivities)
def lagrange_sensitivities(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> Sensitivities:
    """Actuator torques of a motion, and their derivatives; parameters as in `composite_sensitivities`.

    Entry (i, m) of a derivative is stored only where joint m is an ancestor or a descendant of joint i, or i itself,
    and where it is not identically zero. `dqdd` is the mass matrix. Loads are taken as constant: expressions of the
    motion in a load's force, moment or point are not differentiated.

    Examples
    --------
    >>> tau, dq, dqd, dqdd = co.dynamics.lagrange_sensitivities(model, q, qd, qdd)
    >>> ca.Function("mass", [q, qd, qdd], [dqdd])([0.0, 0.0], 0.0, 0.0)
    DM(
    [[0.4, 0.16],
     [0.16, 0.12]])
    """
    links = _outward(model, q, qd, qdd)
    forces, moments = _inward(model, links, loads)
    tau: list[ca.SX] = [ca.SX(0)] * model.n
    dq, dqd, dqdd = (ca.SX(model.n, model.n) for _ in range(3))
    for j, m in _moving(model, range(len(links))):
        tau[m] = _trace(links[j].tangent, forces[j]) - ca.dot(moments[j], _turned(links[j].motion, links[j]))
        moved = _moved_by(model, links, j)
        changed = _changed_by(model, links, j, moved, forces[j])
        for i, row in _moving(model, changed):
            link, (by_q, half_by_qd, by_qdd) = links[i], changed[i]
            dq[row, m] = _trace(link.tangent, by_q)
            dqd[row, m] = 2 * _trace(link.tangent, half_by_qd)
            if i in moved:
                # d2A_i/dq_i dq_m = dA_i/dq_m Xi_i, for m = i too.
                dq[row, m] += _trace(moved[i][0] @ link.twist, forces[i])
            if i in moved and i != j:  # a joint does not turn its own axis
                dq[row, m] -= ca.dot(moments[i], _turned(moved[i], link))
            if i not in moved or i == j:  # the mass matrix is symmetric
                dqdd[row, m] = dqdd[m, row] = _trace(link.tangent, by_qdd)
    return Sensitivities(ca.vertcat(*tau), *map(ca.sparsify, (dq, dqd, dqdd)))


def _moving(model: Model, bodies: Sequence[int] | dict[int, _Triple]) -> list[tuple[int, int]]:
    """Bodies whose joint moves, with the index of its coordinate."""
    return [(i, dof) for i in bodies if (dof := model.dofs[i]) is not None]


def _outward(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> list[_LinkTransforms]:
    """Every link with its A, B, C (equations 12 to 14)."""
    world = (ca.SX.eye(4), ca.SX(4, 4), ca.SX(4, 4))
    links: list[_LinkTransforms] = []
    for _, body, parent, (position, rate, change) in model.joint_motions(q, qd, qdd):
        joint = body.joint
        transform, twist = joint.transform(position), joint.twist
        axis = joint.after[:3, :3].T @ sparse_vector(joint.screw.angular)
        motion = carry(world if parent < 0 else links[parent].motion, transform, twist, rate, change)
        tangent = motion[0] @ twist
        links.append(_LinkTransforms(transform, twist, axis, body.pseudo_inertia, rate, change, motion, tangent))
    return links


def _inward(model: Model, links: list[_LinkTransforms], loads: Sequence[Load]) -> tuple[list[ca.SX], list[ca.SX]]:
    """S = D - E g' - F and G of every link (equations 17 to 20)."""
    gravity = ca.SX(ca.vertcat(model.gravity, 0))
    # E is the last column of the pseudo-inertia.
    forces = [link.inertia @ link.motion[2].T - link.inertia[:, 3] @ gravity.T for link in links]
    moments = [ca.SX(3, 1) for _ in links]
    for load in loads:
        i = model.index(load.body)
        forces[i] -= ca.vertcat(load.point, 1) @ ca.vertcat(load.force, 0).T
        moments[i] += load.moment
    for i, _, parent in reversed(model.walk()):
        if parent >= 0:
            forces[parent] += links[i].transform @ forces[i]
            moments[parent] += moments[i]
    return forces, moments


def _moved_by(model: Model, links: list[_LinkTransforms], j: int) -> dict[int, _Triple]:
    """dA, dB, dC by the coordinate of joint j, of link j and its descendants (equations 21, 22 and 24)."""
    _, velocity, acceleration = links[j].motion
    moved = {j: (links[j].tangent, velocity @ links[j].twist, acceleration @ links[j].twist)}
    for i in range(j + 1, len(links)):
        if model.parents[i] in moved:
            link = links[i]
            moved[i] = carry(moved[model.parents[i]], link.transform, link.twist, link.rate, link.change)
    return moved


def _changed_by(
    model: Model, links: list[_LinkTransforms], j: int, moved: dict[int, _Triple], force: ca.SX
) -> dict[int, _Triple]:
    """dS by q, half of it by qd, and by qdd of joint j, of its descendants and ancestors (equations 27 to 31)."""
    changed: dict[int, _Triple] = {}
    for i, (da, db, dc) in moved.items():
        inertia = links[i].inertia
        changed[i] = (inertia @ dc.T, inertia @ db.T, inertia @ da.T)
    for i in reversed(moved):
        if i != j:
            changed[model.parents[i]] = _add(changed[model.parents[i]], links[i].transform, changed[i])
    child, (by_q, half_by_qd, by_qdd) = j, changed[j]
    by_q += links[j].twist @ force  # only the joint itself turns what it carries: dT_j/dq_j S_j = T_j Xi_j S_j
    while (i := model.parents[child]) >= 0:
        t = links[child].transform
        changed[i] = by_q, half_by_qd, by_qdd = t @ by_q, t @ half_by_qd, t @ by_qdd
        child = i
    return changed


def _add(parent: _Triple, transform: ca.SX, child: _Triple) -> _Triple:
    first, second, third = (x + transform @ y for x, y in zip(parent, child, strict=True))
    return first, second, third


def _turned(motion: _Triple, link: _LinkTransforms) -> ca.SX:
    """The link's axis of rotation in the world frame, or its derivative."""
    return motion[0][:3, :3] @ link.axis


def _trace(left: ca.SX, right: ca.SX) -> ca.SX:
    return ca.dot(left, right.T)
