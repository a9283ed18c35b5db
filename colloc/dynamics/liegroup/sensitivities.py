"""First derivatives of the recursive inverse dynamics on SE(3), without automatic differentiation.

Lee et al. (2005), equations 47 to 56, for trees with loads on any link. The parameters p_i of the print are the
coordinates q, qd and qdd themselves.

Two twists per coordinate. Seen from the links, a coordinate changes the twists V of all links below its joint alike:
dV is one twist, carried on by Ad alone (equation 53). d(dV/dt) is not, but d(dV/dt) + ad_V dV is, and is carried here
in place of equation 54. With the screw axis s of the joint, and the twist v and its rate a of the parent, they are

    by q :    dV = p = ad_v s,   d(dV/dt) + ad_V dV = r = ad_a s + ad_v p
    by qd :   dV = s,            d(dV/dt) + ad_V dV = 2 p
    by qdd :  dV = 0,            d(dV/dt) + ad_V dV = s

and the last three terms of equation 55 become J (second twist) + B (first twist). In

    B x = -(J ad_V + ad*_V J) x - ad*_x J V

the linear part of x cancels, as it must: one more constant velocity of everything changes no force.

Each coordinate has one outward pass over the links that it moves and one inward pass over these
links and the links that carry its joint. The passes of all coordinates run side by side: a derivative is a sparse
matrix with a column per coordinate, and nothing is stored or computed in the column of a coordinate that cannot
matter to the link. Equations 53 to 55 are printed with Ad of f where, as in 22 to 24 and 57 to 59, that of its inverse
is meant. The print has one load, on the last link and given in its frame; a load given in the world turns against its
link, which takes D s from the change by q, with the matrix D of `wrench_turning`.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import of_tree
from colloc.dynamics.formulation import Sensitivities, reduced_sensitivities
from colloc.dynamics.liegroup.recursion import LinkTwists, inward, joint_torques, link_loads, link_twists
from colloc.dynamics.liegroup.twists import ad, ad_dual, cross, wrench_turning
from colloc.dynamics.loads import LinkLoad
from colloc.model import Load, Model


@of_state
@of_tree(reduced_sensitivities)
def lie_sensitivities(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> Sensitivities:
    """Actuator torques of a motion, and their derivatives; parameters as in `composite_sensitivities`.

    Lee et al. (2005), equations 53 to 56. Force, moment and point of loads are taken as constant; the motion of the
    link under them is differentiated.

    Examples
    --------
    >>> tau, dq, dqd, dqdd = co.dynamics.lie_sensitivities(model, q, qd, qdd)
    >>> ca.Function("mass", [q, qd, qdd], [dqdd])([0.0, 0.0], 0.0, 0.0)
    DM(
    [[0.4, 0.16],
     [0.16, 0.12]])
    """
    links = link_twists(model, q, qd, qdd)
    in_links = link_loads(model, links, loads)
    wrenches = inward(model, links, in_links)
    changes = _own_changes(model, links, in_links)
    rows = ca.vertcat(*_inward_changes(model, links, wrenches, changes))
    dq, dqd, dqdd = (ca.sparsify(rows[:, k * model.n : (k + 1) * model.n]) for k in range(3))
    # The mass matrix is symmetric: what an acceleration does to the ancestors of its joint is known already.
    return Sensitivities(joint_torques(model, links, wrenches), dq, dqd, ca.tril2symm(ca.tril(dqdd)))


def _own_changes(model: Model, links: list[LinkTwists], loads: list[LinkLoad]) -> list[ca.SX]:
    """Derivatives (6, 3n) of every link's own wrench: inertia less loads; columns q, qd, qdd."""
    first, second = _outward_changes(model, links)
    changes = []
    for body, link, x, y in zip(model.bodies, links, first, second, strict=True):
        changes.append(link.inertia @ y + coriolis(body.mass, body.com, body.inertia, link.velocity) @ x)
    for k, force, moment, point in loads:
        # A coordinate displaces a link as its rate moves the link: the columns of qd, put in place of those of q.
        displacement = ca.horzcat(first[k][:, model.n : 2 * model.n], ca.SX(6, 2 * model.n))
        changes[k] -= wrench_turning(force, moment, point) @ displacement
    return changes


def _outward_changes(model: Model, links: list[LinkTwists]) -> tuple[list[ca.SX], list[ca.SX]]:
    """dV and d(dV/dt) + ad_V dV of every link, each (6, 3n)."""
    first: list[ca.SX] = []
    second: list[ca.SX] = []
    for k, _, parent in model.walk():
        link, dof = links[k], model.dofs[k]
        root = parent < 0
        x, y = (ca.SX(6, 3 * model.n) if root else link.from_parent @ twists[parent] for twists in (first, second))
        if dof is not None:
            by_q, by_qd, by_qdd = dof, model.n + dof, 2 * model.n + dof
            p, r = coordinate_twists(link.screw, *link.parent_motion)
            x[:, by_q], x[:, by_qd] = p, link.screw
            y[:, by_q], y[:, by_qd], y[:, by_qdd] = r, 2 * p, link.screw
        first.append(x)
        second.append(y)
    return first, second


def _inward_changes(model: Model, links: list[LinkTwists], wrenches: list[ca.SX], changes: list[ca.SX]) -> list[ca.SX]:
    """Rows (1, 3n) of the derivatives of the torques (equations 55 and 56)."""
    rows = [ca.SX(1, 3 * model.n)] * model.n
    for k, _, parent in reversed(model.walk()):
        link, dof = links[k], model.dofs[k]
        if dof is not None:
            rows[dof] = link.screw.T @ changes[k]
        if parent >= 0:
            carried = ca.SX(changes[k])
            if dof is not None:
                carried[:, dof] -= ad_dual(link.screw) @ wrenches[k]
            changes[parent] += link.from_parent.T @ carried
    return rows


def coordinate_twists(s: ca.SX, v: ca.SX, a: ca.SX) -> tuple[ca.SX, ca.SX]:
    """p and r of a joint, from its screw axis and the twist of its parent and its rate, each (6,) in one frame."""
    p = ad(v) @ s
    return p, ad(a) @ s + ad(v) @ p


def coriolis(mass: ca.SX, com: ca.SX, inertia: ca.SX, velocity: ca.SX) -> ca.SX:
    """B (6, 6) of a link with the twist `velocity` (6,): the formula of the module's docstring, written out.

    It is linear in the twist, and w' B(v) x = -v' B(w) x.
    """
    angular = cross(velocity[:3])
    momentum = -2 * mass * (velocity[3:] + angular @ com)
    turning = angular @ (2 * inertia - ca.trace(inertia) * ca.SX.eye(3)) + cross(com) @ cross(momentum)
    return ca.sparsify(ca.blockcat([[turning, ca.SX(3, 3)], [cross(momentum), ca.SX(3, 3)]]))
