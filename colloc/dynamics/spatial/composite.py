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

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import by_both, of_tree
from colloc.dynamics.formulation import Sensitivities, reduced_sensitivities
from colloc.dynamics.passive import armature
from colloc.dynamics.spatial.integrals import Composite, composites, symmetric
from colloc.dynamics.spatial.links import Jet, world_links
from colloc.model import Load, Model

Entries = dict[tuple[int, int], ca.SX]  # (row, column) -> value


@of_state
@of_tree(reduced_sensitivities)
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

    Examples
    --------
    >>> tau, dq, dqd, dqdd = co.dynamics.composite_sensitivities(model, q, qd, qdd)
    >>> ca.Function("mass", [q, qd, qdd], [dqdd])([0.0, 0.0], 0.0, 0.0)
    DM(
    [[0.4, 0.16],
     [0.16, 0.12]])
    """
    links = world_links(model, q, qd, qdd)
    screws, rates, seconds = zip(*(link.screw for link in links), strict=True)
    # Twice the rate of every screw, and twice its angular part: the factors of the Coriolis terms.
    rates, turns = [2 * rate for rate in rates], [2 * screw[:3] for screw in screws]
    carried_by = composites(model, links, loads)
    tau: list[ca.SX] = []
    dq, dqd, dqdd = Entries(), Entries(), Entries()
    for column, j in enumerate(model.moving):
        carried = carried_by[j]
        by_q, by_qd, by_qdd, coriolis, loading = _columns(links[j].screw, rates[j], turns[j], carried)
        tau.append(ca.dot(screws[j], carried.wrench))
        # Dot products with all joints that carry this one: as products of matrices they are formed five times as soon.
        above, places = zip(*_carriers(model, j), strict=True)
        screw, rate, second, turn = (_rows(of, above) for of in (screws, rates, seconds, turns))
        for entries, wrench in ((dq, by_q), (dqd, by_qd), (dqdd, by_qdd)):
            values = ca.vertsplit(ca.densify(screw @ wrench))
            entries |= {(row, column): value for row, value in zip(places, values, strict=True)}
        dqdd |= {(column, row): dqdd[row, column] for row in places}
        torque = rate[:, :3] @ coriolis + screw[:, :3] @ loading + second @ by_qdd
        for entries, torques in ((dq, torque), (dqd, turn @ coriolis + rate @ by_qdd)):
            values = ca.vertsplit(ca.densify(torques))
            entries |= {(column, row): value for row, value in zip(places[1:], values[1:], strict=True)}
    blocks = [_sparse(model.n, entries) for entries in (dq, dqd, dqdd)]
    return Sensitivities(*ca.cse([ca.vertcat(*tau), *blocks]))  # joints with parallel axes share products


@of_state
@of_tree(by_both)
def mass_matrix(model: Model, q: ca.SX) -> ca.SX:
    """Joint-space mass matrix (composite-rigid-body algorithm; Featherstone 2008, table 6.2), armature included.

    Parameters
    ----------
    model : Model
    q : SX, shape (n,) [rad, m]

    Returns
    -------
    SX, shape (n, n), sparse [kg m2, kg m, kg]
        Symmetric. Entries of joints on different branches are not stored.

    Examples
    --------
    >>> q = ca.SX.sym("q", 2)
    >>> ca.Function("mass", [q], [co.dynamics.mass_matrix(two_link(), q)])([0.0, 0.0])
    DM(
    [[0.4, 0.16],
     [0.16, 0.12]])
    """
    rest = ca.SX(model.n, 1)
    links = world_links(model, q, rest, rest)
    carried, entries = composites(model, links), Entries()
    for column, j in enumerate(model.moving):
        inertial = _inertial(carried[j], links[j].screw.value)
        for i, row in _carriers(model, j):
            entries[row, column] = entries[column, row] = ca.dot(links[i].screw.value, inertial)
    mass = _sparse(model.n, entries)
    return mass + ca.sparsify(ca.diag(armature(model))) if model.passive else mass


def _columns(screw: Jet, rate: ca.SX, turn: ca.SX, carried: Composite) -> tuple[ca.SX, ...]:
    """Derivatives by q, qd, qdd of a joint of the wrench that it carries, and rows for the joints that carry it.

    `rate` is twice the rate of the screw, `turn` twice its angular part. The derivatives are of the inertial wrench
    less the loads, SX, each shape (6,); the rows, shape (3,), are torques of this joint per unit of the angular part of
    2 dS_i, and when the loads turn back by the angular part of S_i.
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
    """Wrench of the acceleration linear + angular x r of every particle."""
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


def _rows(vectors: Sequence[ca.SX], chosen: Sequence[int]) -> ca.SX:
    """Some of the vectors as rows of a matrix."""
    return ca.horzcat(*(vectors[i] for i in chosen)).T


def _sparse(n: int, entries: Entries) -> ca.SX:
    """Square matrix of the entries that are not identically zero."""
    places = sorted((place for place, entry in entries.items() if not entry.is_zero()), key=lambda ij: (ij[1], ij[0]))
    pattern = ca.Sparsity.triplet(n, n, [i for i, _ in places], [j for _, j in places])
    return ca.SX(pattern, ca.vertcat(*(entries[place] for place in places)))
