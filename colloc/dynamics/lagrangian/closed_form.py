"""The regular Lagrangian equations: closed form, every sum written out.

Xiang et al. (2009), equations 5 to 11 (after Uicker 1965), for trees: the sum over links j runs over the links that
all joints of the term move. Every term of a sum is computed separately, so that operations grow with the fourth power
of the length of a chain, and those of the sensitivities with the fifth. The module is for comparison; `lagrange` and
`newton_euler` are linear in the number of links.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import by_rows, of_tree
from colloc.dynamics.formulation import Sensitivities, reduced_sensitivities
from colloc.model import Load, Model


class _Partials(NamedTuple):
    """The transform 0T_j of a link to the world and its partial derivatives, by coordinate numbers."""

    transform: ca.SX
    first: dict[int, ca.SX]
    higher: dict[tuple[int, ...], ca.SX]  # second and, if asked for, third; numbers ascending

    def by(self, *coordinates: int) -> ca.SX:
        """The partial derivative by two or three coordinates in any order."""
        return self.higher[tuple(sorted(coordinates))]


@of_state
@of_tree(by_rows)
def regular_lagrange(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> ca.SX:
    """Actuator torques of a motion, M(q) qdd + V(q, qd) + G(q); parameters as in `newton_euler`.

    Examples
    --------
    >>> torque = ca.Function("torque", [q, qd, qdd], [co.dynamics.regular_lagrange(model, q, qd, qdd)])
    >>> torque([0.0, 0.0], 0.0, 0.0)  # holds the arm stretched out: 9.81 (0.5 0.2 + 0.5 0.6), 9.81 0.5 0.2
    DM([3.924, 0.981])
    """
    mass, velocity, static = mass_matrix_terms(model, q, qd, loads)
    return mass @ model.screw_accelerations(qd, qdd) + velocity + static


def mass_matrix_terms(model: Model, q: ca.SX, qd: ca.SX, loads: Sequence[Load] = ()) -> tuple[ca.SX, ca.SX, ca.SX]:
    """The three terms of the torque M qdd + V + G; parameters as in `regular_lagrange`.

    M is the mass matrix, SX, shape (n, n), stored where one joint is an ancestor of the other, or the same; V are
    Coriolis and centrifugal torques, G those against gravity and the loads, SX, shape (n,) [N m, N].
    """
    links = _links(model, q)
    return _mass(model, links), _velocity(model, links, qd), _static(model, links, loads)


@of_state
@of_tree(reduced_sensitivities)
def regular_sensitivities(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> Sensitivities:
    """Actuator torques and derivatives, sums differentiated term by term; parameters as in `composite_sensitivities`.

    Equation 11 of Xiang et al. (2009), which is printed for the derivatives by q and leaves those of M, V and J to the
    reader: here they are the products of equations 7 to 10 with second and third partial derivatives of 0T_j. The rates
    enter V as squares, and the derivative by the accelerations is M itself.

    Loads are taken as constant: expressions of the motion in a load's force, moment or point are not differentiated.

    Examples
    --------
    >>> tau, dq, dqd, dqdd = co.dynamics.regular_sensitivities(model, q, qd, qdd)
    >>> ca.Function("mass", [q, qd, qdd], [dqdd])([0.0, 0.0], 0.0, 0.0)
    DM(
    [[0.4, 0.16],
     [0.16, 0.12]])
    """
    links, qdd = _links(model, q, 3), model.screw_accelerations(qd, qdd)
    mass, velocity, static = _mass(model, links), _velocity(model, links, qd), _static(model, links, loads)
    by_q, by_qd = ca.SX(model.n, model.n), ca.SX(model.n, model.n)
    for body, link in zip(model.bodies, links, strict=True):
        inertia, first = body.pseudo_inertia, link.first
        for i, k, m in product(first, repeat=3):
            by_qd[i, m] += 2 * ca.trace(link.by(k, m) @ inertia @ first[i].T) * qd[k]
            by_q[i, m] += ca.trace(link.by(k, m) @ inertia @ first[i].T) * qdd[k]
            by_q[i, m] += ca.trace(first[k] @ inertia @ link.by(i, m).T) * qdd[k]
        for i, k, j, m in product(first, repeat=4):
            by_q[i, m] += ca.trace(link.by(k, j, m) @ inertia @ first[i].T) * qd[k] * qd[j]
            by_q[i, m] += ca.trace(link.by(k, j) @ inertia @ link.by(i, m).T) * qd[k] * qd[j]
    return Sensitivities(mass @ qdd + velocity + static, by_q + _static_slopes(model, links, loads), by_qd, mass)


def _mass(model: Model, links: list[_Partials]) -> ca.SX:
    """Equation 7."""
    mass = ca.SX(model.n, model.n)
    for body, link in zip(model.bodies, links, strict=True):
        for i, k in product(link.first, repeat=2):
            mass[i, k] += ca.trace(link.first[k] @ body.pseudo_inertia @ link.first[i].T)
    return mass


def _velocity(model: Model, links: list[_Partials], qd: ca.SX) -> ca.SX:
    """Equation 8, where the printed bounds of the sums, max(i, k, m) <= j, say that i, k and m move link j."""
    velocity = ca.SX.zeros(model.n)
    for body, link in zip(model.bodies, links, strict=True):
        for i, k, m in product(link.first, repeat=3):
            velocity[i] += ca.trace(link.by(k, m) @ body.pseudo_inertia @ link.first[i].T) * qd[k] * qd[m]
    return velocity


def _static(model: Model, links: list[_Partials], loads: Sequence[Load]) -> ca.SX:
    """Gravity and loads by the transposed Jacobians of equations 9 and 10.

    Equation 6 is printed with +J' m g and +J' f. With g the acceleration vector and f what the environment applies,
    the actuator has to balance both, and both are negative. Equations 9 and 10 are printed as the derivative by one
    coordinate; the derivatives by all of them are meant. The moment of a load is not in print.
    """
    static = ca.SX.zeros(model.n)
    for body, link in zip(model.bodies, links, strict=True):
        for i, partial in link.first.items():
            static[i] -= ca.dot((partial @ ca.vertcat(body.com, 1))[:3], body.mass * model.gravity)
    for load in loads:
        link = links[model.index(load.body)]
        for i, partial in link.first.items():
            # The turning of the link per unit of q_i: dR R' = [axis]x.
            axis = ca.inv_skew(partial[:3, :3] @ link.transform[:3, :3].T)
            static[i] -= ca.dot((partial @ ca.vertcat(load.point, 1))[:3], load.force) + ca.dot(axis, load.moment)
    return static


def _static_slopes(model: Model, links: list[_Partials], loads: Sequence[Load]) -> ca.SX:
    """Derivatives of `_static` by q, the last two terms of equation 11."""
    slopes = ca.SX(model.n, model.n)
    for body, link in zip(model.bodies, links, strict=True):
        for i, m in product(link.first, repeat=2):
            slopes[i, m] -= ca.dot((link.by(i, m) @ ca.vertcat(body.com, 1))[:3], body.mass * model.gravity)
    for load in loads:
        link = links[model.index(load.body)]
        turn = link.transform[:3, :3]
        for i, m in product(link.first, repeat=2):
            by_both, by_i, by_m = (part[:3, :3] for part in (link.by(i, m), link.first[i], link.first[m]))
            axis = ca.inv_skew(by_both @ turn.T + by_i @ by_m.T)
            slopes[i, m] -= ca.dot((link.by(i, m) @ ca.vertcat(load.point, 1))[:3], load.force)
            slopes[i, m] -= ca.dot(axis, load.moment)
    return slopes


def _links(model: Model, q: ca.SX, order: int = 2) -> list[_Partials]:
    """Every link with its partial derivatives, up to an order, by the coordinates that move it."""
    dofs = model.dofs
    transforms = [body.joint.transform(motion.position) for _, body, _, motion in model.joint_motions(q)]
    twists = [body.joint.twist for body in model.bodies]

    def partial(path: list[int], by: Sequence[int]) -> ca.SX:
        """Product of the transforms along a path (equation 5), differentiated once for every coordinate in `by`."""
        matrix = ca.SX.eye(4)
        for i in path:
            matrix = matrix @ transforms[i]
            for _ in range(by.count(dofs[i])):
                matrix = matrix @ twists[i]
        return matrix

    links = []
    for j in range(len(transforms)):
        path = _path(model, j)
        moving = [k for i in path if (k := dofs[i]) is not None]
        first = {k: partial(path, (k,)) for k in moving}
        orders = [combinations_with_replacement(sorted(moving), times) for times in range(2, order + 1)]
        higher = {chosen: partial(path, chosen) for each in orders for chosen in each}
        links.append(_Partials(partial(path, ()), first, higher))
    return links


def _path(model: Model, j: int) -> list[int]:
    path = [j]
    while (parent := model.parents[path[0]]) >= 0:
        path.insert(0, parent)
    return path
