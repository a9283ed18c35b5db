"""The regular Lagrangian equations: closed form, every sum written out.

Xiang et al. (2009), equations 5 to 10 (after Uicker 1965), for trees: the sum over links j runs over the links that
all joints of the term move. Nothing is carried from one link to the next, and every term of a sum is formed by
itself, so that the operations grow with the fourth power of the length of a chain. The module is there to be compared
with; `lagrange` and `newton_euler` are linear in the number of links.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import casadi as ca

from colloc.model import Load, Model


class _Partials(NamedTuple):
    """The transform 0T_j of a link to the world and its partial derivatives, by coordinate numbers."""

    transform: ca.SX
    first: dict[int, ca.SX]
    second: dict[tuple[int, int], ca.SX]  # (k, m) with k <= m


def regular_lagrange(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> ca.SX:
    """Actuator torques that produce a motion, M(q) qdd + V(q, qd) + G(q).

    Parameters
    ----------
    model : Model
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
    loads : sequence of Load

    Returns
    -------
    SX, shape (n,) [N m, N]
    """
    mass, velocity, static = regular_terms(model, q, qd, loads)
    return mass @ qdd + velocity + static


def regular_terms(model: Model, q: ca.SX, qd: ca.SX, loads: Sequence[Load] = ()) -> tuple[ca.SX, ca.SX, ca.SX]:
    """The three terms of the torque M qdd + V + G; parameters as in `regular_lagrange`.

    Returns
    -------
    M : SX, shape (n, n), sparse [kg m2, kg m, kg]
        Mass matrix. Stored where one joint is an ancestor of the other, or the same.
    V : SX, shape (n,) [N m, N]
        Coriolis and centrifugal torques.
    G : SX, shape (n,) [N m, N]
        Torques against gravity and the loads.
    """
    links = _links(model, q)
    return _mass(model, links), _velocity(model, links, qd), _static(model, links, loads)


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
            second = link.second[min(k, m), max(k, m)]
            velocity[i] += ca.trace(second @ body.pseudo_inertia @ link.first[i].T) * qd[k] * qd[m]
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


def _links(model: Model, q: ca.SX) -> list[_Partials]:
    """Every link with its partial derivatives by the coordinates that move it."""
    dofs = model.dofs
    transforms = [body.joint.transform(coordinate) for _, body, _, coordinate in model.walk(q)]
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
        second = {pair: partial(path, pair) for pair in combinations_with_replacement(moving, 2)}
        links.append(_Partials(partial(path, ()), first, second))
    return links


def _path(model: Model, j: int) -> list[int]:
    """Bodies from the root to body j."""
    path = [j]
    while (parent := model.parents[path[0]]) >= 0:
        path.insert(0, parent)
    return path
