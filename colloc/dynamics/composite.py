"""Inverse dynamics, its first-order sensitivities and the mass matrix by composite inertias.

One outward pass (motion of the links and of the joint screws), one inward pass (integrals over everything that a joint
carries), and dot products between a joint and its ancestors. The composite inertia is that of Featherstone (2008,
section 6.2); that the sensitivities need only two composites more is due to Carpentier and Mansard (2018, "Analytical
derivatives of rigid body dynamics algorithms") and, in the form used here, to Singh, Russell and Wensing (2022,
"Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra").

Everything is in world axes about the reference point of the tree. Six-vectors are (angular; linear) for motions and
(moment; force) for wrenches. S = (u; s) is the screw of a joint, dS and ddS are its time derivatives, the second with
the world accelerating against gravity. When q_j moves, what joint j carries moves by s_j + u_j x r at r, so that the
acceleration a of a particle with velocity v changes by

    da/dq_j = s''_j + u''_j x r + 2 u'_j x v + u_j x a,    with dS = (u'; s') and ddS = (u''; s''),
    da/dqd_j = 2 (s'_j + u'_j x r + u_j x v),    da/dqdd_j = s_j + u_j x r.

Integrated over the mass these are wrenches that need the composites of mass (for the terms in r) and of velocity (for
those in v), and the composite wrench, which turns and shifts along with the particles (for those in a). A joint i that
carries j feels dtau_i/dq_j = S_i . wrench. The same integrals with i in place of j give dtau_j/dq_i: they are linear in
S_i, dS_i and ddS_i, and their product with S_j is collected once, in rows that depend on j alone. The composite wrench
and S_j then turn together, so that the last term drops out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics.sensitivities import Sensitivities
from colloc.model import Body, Load, Model, check_loads
from colloc.model.joint import PRISMATIC, REVOLUTE, axis_rotation

Entries = dict[tuple[int, int], ca.SX]  # (row, column) -> value


class Motion(NamedTuple):
    """A point, vector or screw with its first two time derivatives, SX, each of the same shape."""

    value: ca.SX
    rate: ca.SX
    second: ca.SX


_AT_REST = Motion(ca.SX(6, 1), ca.SX(6, 1), ca.SX(6, 1))


class Link(NamedTuple):
    """Motion of a link, about the reference point of its tree.

    Parameters
    ----------
    rotation : SX, shape (3, 3)
        Link axes -> world axes.
    omega, alpha : SX, shape (3,)
    origin : Motion
        Of the link frame; gravity is included in its acceleration.
    screw : Motion
        Of the joint, SX, each shape (6,); zero for a fixed joint.
    axes : tuple of Motion
        Of the unit vectors of the link frame.
    """

    rotation: ca.SX
    omega: ca.SX
    alpha: ca.SX
    origin: Motion
    screw: Motion
    axes: tuple[Motion, ...]


class Composite(NamedTuple):
    """Integrals over the mass that a joint carries, and sums over the loads on it.

    Parameters
    ----------
    mass : SX, scalar
    moment : SX, shape (3,)
        Integral of r.
    inertia : SX, shape (3, 3), lower triangle
        Integral of r r' - (r . r) 1: minus the inertia tensor.
    momentum : SX, shape (3,)
        Integral of v, the time derivative of r.
    gyration : SX, shape (3, 3)
        Integral of v r' - (r . v) 1: minus the moment of the velocities turned by a unit rotation.
    wrench : SX, shape (6,)
        Inertial wrench less the wrench of the loads.
    force : SX, shape (3,)
        Sum of the loads' forces.
    turning : SX, shape (3, 3)
        Change of the loads' moment when forces and moments turn, about points at rest.
    """

    mass: ca.SX
    moment: ca.SX
    inertia: ca.SX
    momentum: ca.SX
    gyration: ca.SX
    wrench: ca.SX
    force: ca.SX
    turning: ca.SX


def composite_sensitivities(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> Sensitivities:
    """Actuator torques and their derivatives by q, qd and qdd.

    Parameters
    ----------
    model : Model
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
    loads : sequence of Load
        Taken as constant in the world frame, at points fixed in their links.

    Returns
    -------
    Sensitivities
        Entries that vanish identically are not stored.
    """
    links = outward(model, q, qd, qdd)
    screws, rates, seconds = zip(*(link.screw for link in links), strict=True)
    # Twice the rate of every screw, and twice its angular part: the factors of the Coriolis terms.
    rates, turns = [2 * rate for rate in rates], [2 * screw[:3] for screw in screws]
    tau: list[ca.SX] = [ca.SX(0)] * model.n
    dq, dqd, dqdd = Entries(), Entries(), Entries()
    for j, carried in enumerate(composites(model, links, loads)):
        if (column := model.dofs[j]) is None:
            continue
        by_q, by_qd, by_qdd, coriolis, loading = _columns(links[j].screw, rates[j], turns[j], carried)
        tau[column] = ca.dot(screws[j], carried.wrench)
        for i, row in _carriers(model, j):
            dq[row, column] = ca.dot(screws[i], by_q)
            dqd[row, column] = ca.dot(screws[i], by_qd)
            dqdd[row, column] = dqdd[column, row] = ca.dot(screws[i], by_qdd)
            if i != j:
                torque = ca.dot(rates[i][:3], coriolis) + ca.dot(screws[i][:3], loading)
                dq[column, row] = torque + ca.dot(seconds[i], by_qdd)
                dqd[column, row] = ca.dot(turns[i], coriolis) + ca.dot(rates[i], by_qdd)
    blocks = [_sparse(model.n, entries) for entries in (dq, dqd, dqdd)]
    return Sensitivities(*ca.cse([ca.vertcat(*tau), *blocks]))  # joints with parallel axes share products


def mass_matrix(model: Model, q: ca.SX) -> ca.SX:
    """Joint-space mass matrix, dtau/dqdd (composite-rigid-body algorithm; Featherstone 2008, table 6.2).

    Parameters
    ----------
    model : Model
    q : SX, shape (n,) [rad, m]

    Returns
    -------
    SX, shape (n, n), sparse [kg m2, kg m, kg]
        Symmetric. Entries of joints on different branches are not stored.
    """
    rest = ca.SX(model.n, 1)
    links = outward(model, q, rest, rest)
    entries = Entries()
    for j, carried in enumerate(composites(model, links)):
        if (column := model.dofs[j]) is None:
            continue
        inertial = _inertial(carried, links[j].screw.value)
        for i, row in _carriers(model, j):
            entries[row, column] = entries[column, row] = ca.dot(links[i].screw.value, inertial)
    return _sparse(model.n, entries)


def outward(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> list[Link]:
    """Motion of every link and joint screw, from the base to the tips.

    The reference point of a tree is the root of its first joint that may turn, behind any slides that carry the whole
    tree, and it moves uniformly with that point's velocity: the laws are the same in every inertial frame, and the
    screws of the first joints have more zeros in this one.
    """
    zero = ca.SX(3, 1)
    children = np.bincount([p for p in model.parents if p >= 0], minlength=len(model.bodies))
    resting: set[int] = set()
    links: list[Link] = []
    for k, (body, parent, dof) in enumerate(zip(model.bodies, model.parents, model.dofs, strict=True)):
        if parent < 0:
            above = _link(ca.SX.eye(3), zero, zero, Motion(zero, zero, ca.SX(-model.gravity)), _AT_REST)
        else:
            above = links[parent]
        root = _sum(above.origin, fixed_in(above, body.joint.before[:3, 3]))
        if parent < 0 or (parent in resting and children[parent] == 1):
            if body.joint.kind == REVOLUTE:
                _refer(links, model.parents, parent, root)
                root = Motion(zero, zero, root.second)
            else:
                resting.add(k)
        coordinates = (ca.SX(1, 1) if dof is None else x[dof] for x in (q, qd, qdd))
        links.append(_carry(body, above, root, *coordinates))
        if k in resting and children[k] != 1:
            _refer(links, model.parents, k, links[k].origin)
    return links


def fixed_in(link: Link, local: ca.SX) -> Motion:
    """Motion of a vector given by its components in a link."""
    present = [k for k in range(3) if not local[k].is_zero()]
    if len(present) == 1:  # the motion of a unit vector serves several vectors along it
        return Motion(*(local[present[0]] * part for part in link.axes[present[0]]))
    return _turning(link.rotation @ local, link.omega, link.alpha)


def composites(model: Model, links: list[Link], loads: Sequence[Load] = ()) -> list[Composite]:
    """What every joint carries, from the tips to the base."""
    carried = own_integrals(model, links, loads)
    for k in reversed(range(len(carried))):
        if model.parents[k] >= 0:
            both = zip(carried[model.parents[k]], carried[k], strict=True)
            carried[model.parents[k]] = Composite(*(one + other for one, other in both))
    return carried


def own_integrals(model: Model, links: list[Link], loads: Sequence[Load] = ()) -> list[Composite]:
    """The integrals over each link alone, with the loads that act on it."""
    own = [_integrals(body, link) for body, link in zip(model.bodies, links, strict=True)]
    check_loads(model, loads)
    for load in loads:
        k = model.index(load.body)
        at = links[k].origin.value + links[k].rotation @ load.point
        # A turn of the force F and the moment M by a small rotation u changes the moment about the reference point by
        # at x (u x F) + u x M.
        turning = ca.dot(at, load.force) * ca.SX.eye(3) - load.force @ at.T - ca.skew(load.moment)
        own[k] = own[k]._replace(
            wrench=own[k].wrench - ca.vertcat(ca.cross(at, load.force) + load.moment, load.force),
            force=own[k].force + load.force,
            turning=own[k].turning + turning,
        )
    return own


def symmetric(lower: ca.SX) -> ca.SX:
    """The symmetric matrix with this lower triangle."""
    return lower + ca.tril(lower, False).T


def _link(rotation: ca.SX, omega: ca.SX, alpha: ca.SX, origin: Motion, screw: Motion) -> Link:
    axes = tuple(_turning(axis, omega, alpha) for axis in ca.horzsplit(rotation))
    return Link(rotation, omega, alpha, origin, screw, axes)


def _turning(vector: ca.SX, omega: ca.SX, alpha: ca.SX) -> Motion:
    """Motion of a vector that is fixed in something that turns."""
    rate = ca.cross(omega, vector)
    return Motion(vector, rate, ca.cross(alpha, vector) + ca.cross(omega, rate))


def _sum(one: Motion, other: Motion) -> Motion:
    return Motion(*(a + b for a, b in zip(one, other, strict=True)))


def _refer(links: list[Link], parents: Sequence[int], k: int, reference: Motion) -> None:
    """Motion of link k and its ancestors, none of which turns, about another reference point."""
    while k >= 0:
        value, rate, second = links[k].origin
        origin = Motion(value - reference.value, rate - reference.rate, second)
        links[k] = links[k]._replace(origin=origin)
        k = parents[k]


def _carry(body: Body, above: Link, root: Motion, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> Link:
    """A link from the link above it and the point from which its joint's axis starts."""
    joint, zero = body.joint, ca.SX(3, 1)
    screw = _AT_REST
    omega, alpha = above.omega, above.alpha
    rotation = above.rotation @ joint.before[:3, :3]
    if joint.moves:
        axis, rate, second = _turning(rotation @ joint.axis, omega, alpha)
        if joint.kind == PRISMATIC:
            screw = Motion(*(ca.vertcat(zero, part) for part in (axis, rate, second)))
            slid = Motion(q * axis, q * rate + qd * axis, q * second + 2 * qd * rate + qdd * axis)
            root = _sum(root, slid)
        else:
            screw = _hinge(root, Motion(axis, rate, second))
            rotation = rotation @ axis_rotation(joint.axis, ca.cos(q), ca.sin(q))
            alpha = alpha + qdd * axis + qd * rate
            omega = omega + qd * axis
    link = _link(rotation @ joint.after[:3, :3], omega, alpha, root, screw)
    # From the joint to the link's origin, in link axes or in those before the joint's constant rotation.
    placed, arm = joint.after[:3, 3], joint.after[:3, :3].T @ joint.after[:3, 3]
    moved = _turning(rotation @ placed, omega, alpha) if _count(placed) < _count(arm) else fixed_in(link, arm)
    return link._replace(origin=_sum(root, moved))


def _hinge(root: Motion, axis: Motion) -> Motion:
    """Screw of an axis through a point: (axis; root x axis), with its time derivatives."""
    rate = ca.cross(root.rate, axis.value) + ca.cross(root.value, axis.rate)
    second = ca.cross(root.second, axis.value) + 2 * ca.cross(root.rate, axis.rate) + ca.cross(root.value, axis.second)
    parts = (ca.cross(root.value, axis.value), rate, second)
    return Motion(*(ca.vertcat(a, b) for a, b in zip(axis, parts, strict=True)))


def _count(vector: ca.SX) -> int:
    """Number of components that are not identically zero."""
    return sum(not vector[k].is_zero() for k in range(3))


def _integrals(body: Body, link: Link) -> Composite:
    """What one link contributes to the composites, loads apart."""
    com = _sum(link.origin, fixed_in(link, body.com))
    moment, momentum, force = (body.mass * part for part in com)
    second, turned, spin = _about_com(body, link)
    # Integrals of r r' and of v r', of which the trace is taken off.
    second, turned = second + ca.tril(moment @ com.value.T), turned + com.rate @ moment.T
    return Composite(
        mass=body.mass,
        moment=moment,
        inertia=second - ca.trace(second) * ca.SX.eye(3),
        momentum=momentum,
        gyration=turned - ca.trace(turned) * ca.SX.eye(3),
        wrench=ca.vertcat(spin + ca.cross(com.value, force), force),
        force=ca.SX(3, 1),
        turning=ca.SX(3, 3),
    )


def _about_com(body: Body, link: Link) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Integrals of r r' (lower triangle), v r' and r x a about the centre of mass, in world axes."""
    # The integral of r r' in link axes.
    distribution = ca.trace(body.inertia) / 2 * ca.SX.eye(3) - body.inertia
    if not (distribution.is_constant() or _is_diagonal(distribution)):
        second = ca.tril(link.rotation @ distribution @ link.rotation.T)
    else:
        ball, rods = _ball_and_rods(distribution)
        if ball == 0 and len(rods) == 1:  # all that turns is one vector
            weight, direction = rods[0]
            r, v, a = fixed_in(link, direction)
            return ca.tril(weight * r @ r.T), v @ (weight * r).T, ca.cross(weight * r, a)
        second = ca.tril(ball * ca.SX.eye(3))
        for weight, direction in rods:
            r = link.rotation @ direction
            second += ca.tril(weight * r @ r.T)
    full = symmetric(second)
    turned = ca.horzcat(*(ca.cross(link.omega, column) for column in ca.horzsplit(full)))
    spin = ca.vertcat(turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1])
    inertia = ca.trace(distribution) * ca.SX.eye(3) - full
    return second, turned, inertia @ link.alpha + ca.cross(link.omega, spin)


def _ball_and_rods(distribution: ca.SX) -> tuple[float, list[tuple[ca.SX, ca.SX]]]:
    """A second moment of mass as ball 1 + sum of weight d d', with as few and as sparse directions d as possible.

    The ball is the smallest eigenvalue, the directions are the columns of a pivoted Cholesky factor of what remains.
    """
    units = ca.horzsplit(ca.SX.eye(3))
    if not distribution.is_constant():
        return 0.0, [(distribution[k, k], units[k]) for k in range(3) if not distribution[k, k].is_zero()]
    numbers = np.array(ca.DM(distribution))
    diagonal = _is_diagonal(distribution)
    smallest = np.diag(numbers).min() if diagonal else np.linalg.eigvalsh(numbers).min()
    noise = 0.0 if diagonal else 1e-15 * np.abs(numbers).max()
    ball = float(smallest) if abs(smallest) > noise else 0.0
    rest = numbers - ball * np.eye(3)
    rods = []
    while np.diag(rest).max() > 4 * noise:
        pivot = int(np.argmax(np.diag(rest)))
        direction = rest[:, pivot] / rest[pivot, pivot]
        rods.append((ca.SX(rest[pivot, pivot]), ca.sparsify(ca.SX(direction))))
        rest = rest - rest[pivot, pivot] * np.outer(direction, direction)
        rest[pivot, :] = rest[:, pivot] = 0.0
    return ball, rods


def _is_diagonal(matrix: ca.SX) -> bool:
    return all(matrix[i, j].is_zero() for i in range(3) for j in range(3) if i != j)


def _columns(screw: Motion, rate: ca.SX, turn: ca.SX, carried: Composite) -> tuple[ca.SX, ...]:
    """What one joint does: derivatives of the wrench it carries by q, qd, qdd, and rows for the joints that carry it.

    `rate` is twice the rate of the screw, `turn` twice its angular part.

    Returns
    -------
    by_q, by_qd, by_qdd : SX, shape (6,)
        Derivatives of the inertial wrench less the loads.
    coriolis : SX, shape (3,)
        Torque of this joint by the angular part of 2 dS_i, per unit.
    loading : SX, shape (3,)
        Torque of this joint when the loads turn back by the angular part of S_i, per unit.
    """
    angular, linear = screw.value[:3], screw.value[3:]
    moment, force = carried.wrench[:3], carried.wrench[3:]
    by_qdd = _inertial(carried, screw.value)
    by_qd = _inertial(carried, rate) + _gyroscopic(carried, turn)
    # The wrench turns and shifts along with what the joint carries, except for the loads, which stay.
    along = ca.vertcat(
        ca.cross(angular, moment) + ca.cross(linear, force) + carried.turning @ angular,
        ca.cross(angular, force + carried.force),
    )
    by_q = _inertial(carried, screw.second) + _gyroscopic(carried, rate[:3]) + along
    coriolis = ca.cross(carried.momentum, linear) - carried.gyration.T @ angular
    loading = carried.turning.T @ angular + ca.cross(carried.force, linear)
    return by_q, by_qd, by_qdd, coriolis, loading


def _inertial(carried: Composite, motion: ca.SX) -> ca.SX:
    """Wrench that gives what is carried the acceleration linear + angular x r."""
    angular, linear = motion[:3], motion[3:]
    moment = ca.cross(carried.moment, linear) - symmetric(carried.inertia) @ angular
    return ca.vertcat(moment, carried.mass * linear + ca.cross(angular, carried.moment))


def _gyroscopic(carried: Composite, angular: ca.SX) -> ca.SX:
    """Wrench of the acceleration angular x v of every particle."""
    return ca.vertcat(-(carried.gyration @ angular), ca.cross(angular, carried.momentum))


def _carriers(model: Model, j: int) -> Iterator[tuple[int, int]]:
    """Body and coordinate of joint j and of every joint that carries it."""
    i = j
    while i >= 0:
        row = model.dofs[i]
        if row is not None:
            yield i, row
        i = model.parents[i]


def _sparse(n: int, entries: Entries) -> ca.SX:
    """Square matrix of the entries that are not identically zero."""
    places = sorted((place for place, entry in entries.items() if not entry.is_zero()), key=lambda ij: (ij[1], ij[0]))
    pattern = ca.Sparsity.triplet(n, n, [i for i, _ in places], [j for _, j in places])
    return ca.SX(pattern, ca.vertcat(*(entries[place] for place in places)))
