"""First and second derivatives of the inverse dynamics on SE(3), without automatic differentiation.

Lee et al. (2005), equations 47 to 60, for trees with loads on any link. The parameters p_i of the print are the
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

First derivatives. Each coordinate has one outward pass over the links that it moves and one inward pass over these
links and the links that carry its joint. The passes of all coordinates run side by side: a derivative is a sparse
matrix with a column per coordinate, and nothing is stored or computed in the column of a coordinate that cannot
matter to the link. Equations 53 to 55 are printed with Ad of f where, as in 22 to 24 and 57 to 59, that of its inverse
is meant. The print has one load, on the last link and given in its frame; a load given in the world turns against its
link, which takes D s from the change by q, with the matrix D of `wrench_turning`.

Second derivatives, contracted. With the twists w that the links would have at the joint rates lambda, lambda' tau is
the virtual power, the sum over the links of w' (own wrench). Let F, J, B, D, h, b and d be the sums, over the subtree
of a joint, of the links' own wrenches, of J, B and D, and of J w, B' w and D' w; all in the world frame, where sums are
plain and serve all coordinates. With t = ad_w s (w of the parent) the gradient is

    by q :    t' F + r' h + p' b - s' d
    by qd :   2 p' h + s' b
    by qdd :  s' h

Here s, p, r and t depend on the coordinates of ancestors only. The derivative by a coordinate of joint i, at or below
joint m of the gradient, is thus that of F, h, b and d, and these change by one 6-vector each that belongs to i alone:
equations 57 to 59 without a recursion. An entry of the Hessian is at most four dot products of a vector of m with a
vector of i, and nothing of size n^3 is formed. In equation 58 as printed, the second derivative of qd stands for that
of qdd, and 57 lacks an index of f.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.dynamics.liegroup.lie import (
    Ad,
    _inward,
    _Link,
    _link_loads,
    _outward,
    _torques,
    ad,
    ad_dual,
    cross,
    screw,
    spatial_inertia,
    upward,
    wrench_at_origin,
    wrench_turning,
)
from colloc.dynamics.loads import LinkLoad
from colloc.dynamics.sensitivities import Sensitivities
from colloc.model import Load, Model


def lie_sensitivities(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> Sensitivities:
    """Actuator torques that produce a motion, and their derivatives by coordinates, rates and accelerations.

    Lee et al. (2005), equations 53 to 56.

    Parameters
    ----------
    model : Model
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
    loads : sequence of Load
        Their force, moment and point count as given, whatever they depend on; that the link moves under them is
        differentiated.

    Returns
    -------
    Sensitivities
    """
    links = _outward(model, q, qd, qdd)
    given = _link_loads(model, links, loads)
    wrenches = _inward(model, links, given)
    changes = _own_changes(model, links, given)
    rows = ca.vertcat(*_inward_changes(model, links, wrenches, changes))
    dq, dqd, dqdd = (ca.sparsify(rows[:, k * model.n : (k + 1) * model.n]) for k in range(3))
    # The mass matrix is symmetric: what an acceleration does to the ancestors of its joint is known already.
    return Sensitivities(_torques(model, links, wrenches), dq, dqd, ca.tril2symm(ca.tril(dqdd)))


def _own_changes(model: Model, links: list[_Link], loads: list[LinkLoad]) -> list[ca.SX]:
    """Derivatives (6, 3n) of every link's own wrench: inertia less loads; columns q, qd, qdd."""
    first, second = _outward_changes(model, links)
    changes = []
    for body, link, x, y in zip(model.bodies, links, first, second, strict=True):
        changes.append(link.inertia @ y + _coriolis(body.mass, body.com, body.inertia, link.velocity) @ x)
    for k, force, moment, point in loads:
        # A coordinate displaces a link as its rate moves the link: the columns of qd, put in place of those of q.
        displacement = ca.horzcat(first[k][:, model.n : 2 * model.n], ca.SX(6, 2 * model.n))
        changes[k] -= wrench_turning(force, moment, point) @ displacement
    return changes


def _outward_changes(model: Model, links: list[_Link]) -> tuple[list[ca.SX], list[ca.SX]]:
    """dV and d(dV/dt) + ad_V dV of every link, each (6, 3n)."""
    first: list[ca.SX] = []
    second: list[ca.SX] = []
    for k, _, parent in model.walk():
        link, dof = links[k], model.dofs[k]
        x, y = (ca.SX(6, 3 * model.n) if parent < 0 else link.from_parent @ above[parent] for above in (first, second))
        if dof is not None:
            by_q, by_qd, by_qdd = dof, model.n + dof, 2 * model.n + dof
            p, r = _twists(link.screw, *link.above)
            x[:, by_q], x[:, by_qd] = p, link.screw
            y[:, by_q], y[:, by_qd], y[:, by_qdd] = r, 2 * p, link.screw
        first.append(x)
        second.append(y)
    return first, second


def _inward_changes(model: Model, links: list[_Link], wrenches: list[ca.SX], changes: list[ca.SX]) -> list[ca.SX]:
    """Rows (1, 3n) of the derivatives of the torques (equations 55 and 56)."""
    rows = [ca.SX(1, 3 * model.n)] * model.n
    for k in reversed(range(len(links))):
        link, parent, dof = links[k], model.parents[k], model.dofs[k]
        if dof is not None:
            rows[dof] = link.screw.T @ changes[k]
        if parent >= 0:
            carried = ca.SX(changes[k])
            if dof is not None:
                carried[:, dof] -= ad_dual(link.screw) @ wrenches[k]
            changes[parent] += link.from_parent.T @ carried
    return rows


def _twists(s: ca.SX, v: ca.SX, a: ca.SX) -> tuple[ca.SX, ca.SX]:
    """p and r of a joint, from its screw axis and the twist of its parent and its rate, each (6,) in one frame."""
    p = ad(v) @ s
    return p, ad(a) @ s + ad(v) @ p


def _coriolis(mass: ca.SX, com: ca.SX, inertia: ca.SX, velocity: ca.SX) -> ca.SX:
    """B (6, 6) of a link with the twist `velocity` (6,): the formula of the module's docstring, written out.

    It is linear in the twist, and w' B(v) x = -v' B(w) x.
    """
    angular = cross(velocity[:3])
    momentum = -2 * mass * (velocity[3:] + angular @ com)
    turning = angular @ (2 * inertia - ca.trace(inertia) * ca.SX.eye(3)) + cross(com) @ cross(momentum)
    return ca.sparsify(ca.blockcat([[turning, ca.SX(3, 3)], [cross(momentum), ca.SX(3, 3)]]))


class _Placed(NamedTuple):
    """A link in the world frame."""

    transform: ca.SX  # link -> world, (4, 4)
    velocity: ca.SX  # v, (6,)
    acceleration: ca.SX  # its rate, (6,), gravity included
    virtual: ca.SX  # w, (6,)


class _Axes(NamedTuple):
    """The twists s, p, r and t, one column per coordinate, SX, each (6, n), in the world frame."""

    s: ca.SX
    p: ca.SX
    r: ca.SX
    t: ca.SX


class _Terms(NamedTuple):
    """Of a link or, summed, of a subtree, in the world frame, as named in the module's docstring.

    C and E tell how b and d change with V and with the turn of the loads: x' C y = w' B(y) x, which is -y' B(w) x, and
    x' E y = w' (change of D by y) x.
    """

    F: ca.SX
    h: ca.SX
    b: ca.SX
    d: ca.SX
    J: ca.SX
    B: ca.SX
    C: ca.SX
    D: ca.SX
    E: ca.SX


def lie_hessian(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, multipliers: ca.SX, loads: Sequence[Load] = ()) -> ca.SX:
    """Hessian of multipliers' tau by coordinates, rates and accelerations.

    Lee et al. (2005), equations 57 to 60, contracted as the module's docstring says.

    Parameters
    ----------
    model : Model
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
    multipliers : SX, shape (n,)
    loads : sequence of Load
        As in `lie_sensitivities`.

    Returns
    -------
    SX, shape (3n, 3n), sparse
        Symmetric; rows and columns q, then qd, then qdd.
    """
    links, (s, p, r, t) = _in_world(model, q, qd, qdd, multipliers)
    sums = _subtree_sums(model, _own_terms(model, links, loads))
    F, h, b, d, J, B, C, D, E = (list(column) for column in zip(*sums, strict=True))
    B_dual, D_dual = [x.T for x in B], [x.T for x in D]
    turn = [ad_dual(x) for x in ca.horzsplit(s)]  # of a wrench in the subtree, which turns as a whole

    F_q = _apply(J, r) + _apply(B, p) - _apply(D, s) - _apply(turn, ca.horzcat(*F))
    F_qd, F_qdd = 2 * _apply(J, p) + _apply(B, s), _apply(J, s)
    h_q = _apply(J, t) - _apply(turn, ca.horzcat(*h))
    b_q, b_qd = _apply(B_dual, t) + _apply(C, p) - _apply(turn, ca.horzcat(*b)), _apply(C, s)
    d_q = _apply(D_dual, t) + _apply(E, s) - _apply(turn, ca.horzcat(*d))

    below = _pairs(model)
    by_q_q = _dots([t, r, p, -s], [F_q, h_q, b_q, d_q], below)
    by_q_qd = _dots([t, p], [F_qd, b_qd], below) + ca.triu(_dots([2 * p, s], [h_q, b_q], below), False).T
    by_q_qdd = _dots([t], [F_qdd], below) + ca.triu(_dots([s], [h_q], below), False).T
    by_qd_qd = _dots([s], [b_qd], below)
    none = ca.SX(model.n, model.n)
    blocks = [
        [ca.triu2symm(by_q_q), by_q_qd, by_q_qdd],
        [by_q_qd.T, ca.triu2symm(by_qd_qd), none],
        [by_q_qdd.T, none, none],
    ]
    return ca.sparsify(ca.blockcat(blocks))


def _in_world(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, multipliers: ca.SX) -> tuple[list[_Placed], _Axes]:
    """Every link, and the twists of every coordinate."""
    links: list[_Placed] = []
    axes: list[tuple[ca.SX, ...]] = []
    world = _Placed(ca.SX.eye(4), ca.SX(6, 1), upward(model), ca.SX(6, 1))
    for _, body, parent, coordinate, rate, change, multiplier in model.walk(q, qd, qdd, multipliers):
        above, v, a, w = world if parent < 0 else links[parent]
        transform = above @ body.joint.transform(coordinate)
        if body.joint.moves:
            s = Ad(transform) @ screw(body.joint)
            p, r = _twists(s, v, a)
            axes.append((s, p, r, ad(w) @ s))
            v, a, w = v + s * rate, a + s * change + p * rate, w + s * multiplier
        links.append(_Placed(transform, v, a, w))
    return links, _Axes(*(ca.horzcat(*columns) for columns in zip(*axes, strict=True)))


def _own_terms(model: Model, links: list[_Placed], loads: Sequence[Load]) -> list[_Terms]:
    """Terms of every link by itself."""
    own = []
    for body, (transform, v, a, w) in zip(model.bodies, links, strict=True):
        rotation = ca.sparsify(transform[:3, :3])
        com, tensor = rotation @ body.com + transform[:3, 3], rotation @ body.inertia @ rotation.T
        inertia = spatial_inertia(body.mass, com, tensor)
        wrench = inertia @ a - ad_dual(v) @ (inertia @ v)
        b, c = _coriolis(body.mass, com, tensor, v), -_coriolis(body.mass, com, tensor, w).T
        zero = ca.SX(6, 6)
        own.append(_Terms(wrench, inertia @ w, b.T @ w, ca.SX(6, 1), inertia, b, c, zero, zero))
    for load in loads:
        k = model.index(load.body)
        own[k] = _loaded(own[k], links[k], load)
    return own


def _loaded(terms: _Terms, link: _Placed, load: Load) -> _Terms:
    """Terms of a link with those of a load."""
    point = link.transform[:3, :3] @ load.point + link.transform[:3, 3]
    turning = wrench_turning(load.force, load.moment, point)
    angular = cross(link.virtual[:3])
    twice = angular @ cross(load.moment) + cross(link.virtual[3:] + angular @ point) @ cross(load.force)
    return terms._replace(
        F=terms.F - wrench_at_origin(load.force, load.moment, point),
        d=terms.d + turning.T @ link.virtual,
        D=terms.D + turning,
        E=terms.E + ca.diagcat(twice, ca.SX(3, 3)),
    )


def _subtree_sums(model: Model, own: list[_Terms]) -> list[_Terms]:
    """Sums over the bodies that each coordinate moves."""
    sums = list(own)
    for k, _, parent in reversed(model.walk()):
        if parent >= 0:
            sums[parent] = _Terms(*(x + y for x, y in zip(sums[parent], sums[k], strict=True)))
    return [sums[k] for k in model.moving]


def _pairs(model: Model) -> ca.Sparsity:
    """Pattern (n, n), upper triangular, of the pairs (m, i) in which coordinate i is at or below coordinate m."""
    above: list[list[int]] = []  # coordinates that move each body
    rows, columns = [], []
    for k, _, parent in model.walk():
        dof = model.dofs[k]
        above.append([*(above[parent] if parent >= 0 else []), *([] if dof is None else [dof])])
        if dof is not None:
            rows += above[-1]
            columns += [dof] * len(above[-1])
    return ca.Sparsity.triplet(model.n, model.n, rows, columns)


def _apply(maps: list[ca.SX], columns: ca.SX) -> ca.SX:
    """The map (6, 6) of every coordinate times its column, (6, n)."""
    return ca.horzcat(*(x @ column for x, column in zip(maps, ca.horzsplit(columns), strict=True)))


def _dots(left: list[ca.SX], right: list[ca.SX], pattern: ca.Sparsity) -> ca.SX:
    """Sums of the products x' y of columns (6, n), formed where the pattern has an entry."""
    return ca.sparsify(ca.mac(ca.vertcat(*left).T, ca.vertcat(*right), ca.SX.zeros(pattern)))
