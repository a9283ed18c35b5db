"""Motion of links and joint screws in world axes: the outward pass of the composite and articulated recursions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.model import Body, Model
from colloc.model.joint import JointMotion, sparse_vector
from colloc.model.kinematics import Jet

_AT_REST = Jet(ca.SX(6, 1), ca.SX(6, 1), ca.SX(6, 1))


class WorldLink(NamedTuple):
    """Motion of a link, about the reference point of its tree."""

    rotation: ca.SX  # shape (3, 3); WorldLink axes -> world axes
    omega: ca.SX  # omega, alpha: shape (3,)
    alpha: ca.SX
    origin: Jet  # of the link frame; gravity is included in its acceleration
    screw: Jet  # of the joint, SX, each shape (6,); zero for a fixed joint
    axes: tuple[Jet, ...]  # of the unit vectors of the link frame


def world_links(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> list[WorldLink]:
    """Motion of every link and joint screw, from the base to the tips.

    The reference point of a tree is the root of its first joint that may turn, behind any slides that carry the whole
    tree, and it moves uniformly with that point's velocity: the laws are the same in every inertial frame, and the
    screws of the first joints have more zeros in this one.
    """
    zero = ca.SX(3, 1)
    children = np.bincount([p for p in model.parents if p >= 0], minlength=len(model.bodies))
    resting: set[int] = set()
    links: list[WorldLink] = []
    for k, body, parent, motion in model.joint_motions(q, qd, qdd):
        if parent < 0:
            parent_link = _link(ca.SX.eye(3), zero, zero, Jet(zero, zero, ca.SX(-model.gravity)), _AT_REST)
        else:
            parent_link = links[parent]
        root = added(parent_link.origin, fixed_in(parent_link, body.joint.before[:3, 3]))
        if parent < 0 or (parent in resting and children[parent] == 1):
            if body.joint.turns:
                _refer(links, model.parents, parent, root)
                root = Jet(zero, zero, root.second)
            else:
                resting.add(k)
        links.append(_carry(body, parent_link, root, motion))
        if k in resting and children[k] != 1:
            _refer(links, model.parents, k, links[k].origin)
    return links


def fixed_in(link: WorldLink, local: ca.SX) -> Jet:
    """Motion of a vector given by its components in a link."""
    present = [k for k in range(3) if not local[k].is_zero()]
    if len(present) == 1:  # the motion of a unit vector serves several vectors along it
        return Jet(*(local[present[0]] * part for part in link.axes[present[0]]))
    return _turning(link.rotation @ local, link.omega, link.alpha)


def _link(rotation: ca.SX, omega: ca.SX, alpha: ca.SX, origin: Jet, screw: Jet) -> WorldLink:
    axes = tuple(_turning(axis, omega, alpha) for axis in ca.horzsplit(rotation))
    return WorldLink(rotation, omega, alpha, origin, screw, axes)


def _turning(vector: ca.SX, omega: ca.SX, alpha: ca.SX) -> Jet:
    """Motion of a vector that is fixed in a rotating frame."""
    rate = ca.cross(omega, vector)
    return Jet(vector, rate, ca.cross(alpha, vector) + ca.cross(omega, rate))


def added(first: Jet, second: Jet) -> Jet:
    """Sum of two motions."""
    return Jet(*(a + b for a, b in zip(first, second, strict=True)))


def _refer(links: list[WorldLink], parents: Sequence[int], k: int, reference: Jet) -> None:
    """Motion of link k and its ancestors, none of which turns, about another reference point."""
    while k >= 0:
        value, rate, second = links[k].origin
        origin = Jet(value - reference.value, rate - reference.rate, second)
        links[k] = links[k]._replace(origin=origin)
        k = parents[k]


def _carry(body: Body, parent_link: WorldLink, root: Jet, motion: JointMotion) -> WorldLink:
    """A link, from its parent link and the point where its joint's axis starts."""
    joint, zero, (position, qd, qdd) = body.joint, ca.SX(3, 1), motion
    screw = _AT_REST
    omega, alpha = parent_link.omega, parent_link.alpha
    rotation = parent_link.rotation @ joint.frame(position)[:3, :3]
    if joint.slides:
        slide = _turning(rotation @ sparse_vector(joint.screw.linear), omega, alpha)
        screw = Jet(*(ca.vertcat(zero, part) for part in slide))
        q, (value, rate, second) = joint.coordinate(position), slide
        root = added(root, Jet(q * value, q * rate + qd * value, q * second + 2 * qd * rate + qdd * value))
    if joint.turns:
        axis = _turning(rotation @ sparse_vector(joint.screw.angular), omega, alpha)
        screw = added(screw, _hinge(root, axis))
        rotation = rotation @ joint.rotation(position)
        alpha = alpha + qdd * axis.value + qd * axis.rate
        omega = omega + qd * axis.value
    link = _link(rotation @ joint.after[:3, :3], omega, alpha, root, screw)
    # From the joint to the link's origin, in link axes or in those before the joint's constant rotation.
    placed, arm = joint.after[:3, 3], joint.after[:3, :3].T @ joint.after[:3, 3]
    moved = _turning(rotation @ placed, omega, alpha) if _count(placed) < _count(arm) else fixed_in(link, arm)
    return link._replace(origin=added(root, moved))


def _hinge(root: Jet, axis: Jet) -> Jet:
    """Screw of an axis through a point: (axis; root x axis), with its time derivatives."""
    rate = ca.cross(root.rate, axis.value) + ca.cross(root.value, axis.rate)
    second = ca.cross(root.second, axis.value) + 2 * ca.cross(root.rate, axis.rate) + ca.cross(root.value, axis.second)
    parts = (ca.cross(root.value, axis.value), rate, second)
    return Jet(*(ca.vertcat(a, b) for a, b in zip(axis, parts, strict=True)))


def _count(vector: ca.SX) -> int:
    """Number of components that are not identically zero."""
    return sum(not vector[k].is_zero() for k in range(3))
