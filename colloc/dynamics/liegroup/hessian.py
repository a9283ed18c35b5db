"""Second derivatives of the inverse dynamics on SE(3), contracted with multipliers; no automatic differentiation.

Lee et al. (2005), equations 57 to 60, for trees with loads on any link. s, p, r, B and D are those of `sensitivities`.
With the twists w that the links would have at the joint rates lambda, lambda' tau is
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

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import hessian_of_tree
from colloc.dynamics.liegroup.sensitivities import coordinate_twists, coriolis, lie_sensitivities
from colloc.dynamics.liegroup.twists import (
    Ad,
    ad,
    ad_dual,
    cross,
    gravity_acceleration,
    link_screw,
    spatial_inertia,
    wrench_at_origin,
    wrench_turning,
)  # fmt: skip
from colloc.model import Load, Model


class _WorldTwists(NamedTuple):
    """Twists of a link in the world frame."""

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


@of_state
@hessian_of_tree(lie_sensitivities)
def lie_hessian(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, multipliers: ca.SX, loads: Sequence[Load] = ()) -> ca.SX:
    """Hessian of multipliers' tau by coordinates, rates and accelerations, SX, shape (3n, 3n), symmetric, sparse.

    Lee et al. (2005), equations 57 to 60, contracted as the module's docstring says. Rows and columns are q,
    then qd, then qdd. Parameters as in `lie_sensitivities`, and multipliers, SX, shape (n,).

    Examples
    --------
    >>> multipliers = ca.SX.sym("multipliers", 2)
    >>> co.dynamics.lie_hessian(model, q, qd, qdd, multipliers).shape
    (6, 6)
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
    zero = ca.SX(model.n, model.n)
    blocks = [
        [ca.triu2symm(by_q_q), by_q_qd, by_q_qdd],
        [by_q_qd.T, ca.triu2symm(by_qd_qd), zero],
        [by_q_qdd.T, zero, zero],
    ]
    return ca.sparsify(ca.blockcat(blocks))


def _in_world(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, multipliers: ca.SX) -> tuple[list[_WorldTwists], _Axes]:
    """Every link, and the twists of every coordinate."""
    links: list[_WorldTwists] = []
    axes: list[tuple[ca.SX, ...]] = []
    world = _WorldTwists(ca.SX.eye(4), ca.SX(6, 1), gravity_acceleration(model), ca.SX(6, 1))
    steps = zip(model.joint_motions(q, qd, qdd), model.walk(multipliers), strict=True)
    for (_, body, parent, (position, rate, change)), (*_, multiplier) in steps:
        parent_transform, v, a, w = world if parent < 0 else links[parent]
        transform = parent_transform @ body.joint.transform(position)
        if body.joint.moves:
            s = Ad(transform) @ link_screw(body.joint)
            p, r = coordinate_twists(s, v, a)
            axes.append((s, p, r, ad(w) @ s))
            v, a, w = v + s * rate, a + s * change + p * rate, w + s * multiplier
        links.append(_WorldTwists(transform, v, a, w))
    return links, _Axes(*(ca.horzcat(*columns) for columns in zip(*axes, strict=True)))


def _own_terms(model: Model, links: list[_WorldTwists], loads: Sequence[Load]) -> list[_Terms]:
    """Terms of every single link."""
    terms = []
    for body, (transform, v, a, w) in zip(model.bodies, links, strict=True):
        rotation = ca.sparsify(transform[:3, :3])
        com, tensor = rotation @ body.com + transform[:3, 3], rotation @ body.inertia @ rotation.T
        inertia = spatial_inertia(body.mass, com, tensor)
        wrench = inertia @ a - ad_dual(v) @ (inertia @ v)
        b, c = coriolis(body.mass, com, tensor, v), -coriolis(body.mass, com, tensor, w).T
        zero = ca.SX(6, 6)
        terms.append(_Terms(wrench, inertia @ w, b.T @ w, ca.SX(6, 1), inertia, b, c, zero, zero))
    for load in loads:
        k = model.index(load.body)
        terms[k] = _loaded(terms[k], links[k], load)
    return terms


def _loaded(terms: _Terms, link: _WorldTwists, load: Load) -> _Terms:
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


def _subtree_sums(model: Model, terms: list[_Terms]) -> list[_Terms]:
    """Sums over the bodies that each coordinate moves."""
    sums = list(terms)
    for k, _, parent in reversed(model.walk()):
        if parent >= 0:
            sums[parent] = _Terms(*(x + y for x, y in zip(sums[parent], sums[k], strict=True)))
    return [sums[k] for k in model.moving]


def _pairs(model: Model) -> ca.Sparsity:
    """Pattern (n, n), upper triangular, of the pairs (m, i) in which coordinate i is at or below coordinate m."""
    carriers: list[list[int]] = []  # coordinates that move each body
    rows, columns = [], []
    for k, _, parent in model.walk():
        dof = model.dofs[k]
        carriers.append([*(carriers[parent] if parent >= 0 else []), *([] if dof is None else [dof])])
        if dof is not None:
            rows += carriers[-1]
            columns += [dof] * len(carriers[-1])
    return ca.Sparsity.triplet(model.n, model.n, rows, columns)


def _apply(maps: list[ca.SX], columns: ca.SX) -> ca.SX:
    """The map (6, 6) of every coordinate times its column, (6, n)."""
    return ca.horzcat(*(x @ column for x, column in zip(maps, ca.horzsplit(columns), strict=True)))


def _dots(left: list[ca.SX], right: list[ca.SX], pattern: ca.Sparsity) -> ca.SX:
    """Sums of the products x' y of columns (6, n), formed where the pattern has an entry."""
    return ca.sparsify(ca.mac(ca.vertcat(*left).T, ca.vertcat(*right), ca.SX.zeros(pattern)))
