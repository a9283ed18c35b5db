"""Recursive inverse dynamics on SE(3): twists, wrenches and 6x6 inertias in body frames.

Lee, Kim, Park, Kim and Bobrow (2005), equations 15 to 25, generalised to trees and to any number of loads. A twist
is (angular, linear), a wrench (moment, force); both refer to the origin and the axes of the frame they are written in.

Equation 24 is printed with its star on f: meant is the dual of Ad of the inverse of f = M exp(S q), the transpose of
the map in equations 22 and 23.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.dynamics.loads import LinkLoad, loads_in_links
from colloc.model import Joint, Load, Model
from colloc.model.transforms import inverse


class _Link(NamedTuple):
    """A link in its own frame."""

    from_parent: ca.SX  # Ad, (6, 6): the parent's twists -> the link's frame; transposed, wrenches -> the parent's
    screw: ca.SX  # S, (6,); zero for a fixed joint
    inertia: ca.SX  # J, (6, 6)
    above: tuple[ca.SX, ca.SX]  # V and its rate of the parent, each (6,), in this link's frame
    velocity: ca.SX  # V, (6,)
    acceleration: ca.SX  # its rate, (6,), gravity included


def lie(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> ca.SX:
    """Actuator torques that produce a motion.

    Parameters
    ----------
    model : Model
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
    loads : sequence of Load
        What the environment applies; enters as -J' w.

    Returns
    -------
    SX, shape (n,) [N m, N]
    """
    links = _outward(model, q, qd, qdd)
    wrenches = _inward(model, links, _link_loads(model, links, loads))
    return _torques(model, links, wrenches)


def _outward(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> list[_Link]:
    """Every link and its motion (equations 21 to 23); gravity is an upward acceleration of the world."""
    links: list[_Link] = []
    for _, body, parent, coordinate, rate, change in model.walk(q, qd, qdd):
        x = Ad(inverse(body.joint.transform(coordinate)))
        v, a = (ca.SX(6, 1), upward(model)) if parent < 0 else (links[parent].velocity, links[parent].acceleration)
        above = v, a = x @ v, x @ a
        s = screw(body.joint)
        a += s * change + ad(v) @ s * rate  # ad_S S is zero, so that the parent's V will do
        v += s * rate
        links.append(_Link(x, s, spatial_inertia(body.mass, body.com, body.inertia), above, v, a))
    return links


def _inward(model: Model, links: list[_Link], loads: list[LinkLoad]) -> list[ca.SX]:
    """Wrench F (6,) that its parent exerts on every link, in the link's frame (equation 24)."""
    wrenches = [
        link.inertia @ link.acceleration - ad_dual(link.velocity) @ (link.inertia @ link.velocity) for link in links
    ]
    for k, force, moment, point in loads:
        wrenches[k] -= wrench_at_origin(force, moment, point)
    for k, _, parent in reversed(model.walk()):
        if parent >= 0:
            wrenches[parent] += links[k].from_parent.T @ wrenches[k]
    return wrenches


def _torques(model: Model, links: list[_Link], wrenches: list[ca.SX]) -> ca.SX:
    """Equation 25 of every joint that moves."""
    return ca.densify(ca.vertcat(*(links[k].screw.T @ wrenches[k] for k in model.moving)))


def _link_loads(model: Model, links: list[_Link], loads: Sequence[Load]) -> list[LinkLoad]:
    """Every load in the frame of its link."""
    return loads_in_links(model, [link.from_parent[:3, :3].T for link in links], loads)


def wrench_at_origin(force: ca.SX, moment: ca.SX, point: ca.SX) -> ca.SX:
    """Wrench (6,) about the origin, of a force at a point and a moment."""
    return ca.vertcat(moment + ca.cross(point, force), force)


def wrench_turning(force: ca.SX, moment: ca.SX, point: ca.SX) -> ca.SX:
    """Change of `wrench_at_origin` per twist of the link, in the link's frame, SX, shape (6, 6).

    Force and moment keep their directions in the world: in the link, which turns by theta, they change by
    force x theta and moment x theta. The point stays.
    """
    moment_turning = cross(moment) + cross(point) @ cross(force)
    return ca.blockcat([[moment_turning, ca.SX(3, 3)], [cross(force), ca.SX(3, 3)]])


def upward(model: Model) -> ca.SX:
    """Acceleration (6,) of the world that acts as gravity."""
    return ca.sparsify(ca.vertcat(ca.SX(3, 1), -model.gravity))


def screw(joint: Joint) -> ca.SX:
    """Twist S of the link, in its own frame, per unit rate of the joint; SX, shape (6,), zero for a fixed joint."""
    xi = joint.twist
    return ca.sparsify(ca.vertcat(ca.inv_skew(xi[:3, :3]), xi[:3, 3]))


def spatial_inertia(mass: ca.SX, com: ca.SX, inertia: ca.SX) -> ca.SX:
    """Inertia J (6, 6) about the origin, from the tensor about the centre of mass (equation 20)."""
    moment = mass * cross(com)
    about_origin = inertia - moment @ cross(com)
    return ca.sparsify(ca.blockcat([[about_origin, moment], [-moment, mass * ca.SX.eye(3)]]))


def Ad(transform: ca.SX) -> ca.SX:
    """Map (6, 6) of twists from one frame to another, by their homogeneous transform (4, 4) (equation 15).

    Its transpose is the dual map (equation 17), which takes wrenches the other way.
    """
    rotation = ca.sparsify(transform[:3, :3])
    return ca.blockcat([[rotation, ca.SX(3, 3)], [cross(transform[:3, 3]) @ rotation, rotation]])


def ad(twist: ca.SX) -> ca.SX:
    """Lie bracket with a twist (6,), as a matrix (6, 6): ad(x) y = [x, y] = -ad(y) x (equation 16)."""
    angular = cross(twist[:3])
    return ca.blockcat([[angular, ca.SX(3, 3)], [cross(twist[3:]), angular]])


def ad_dual(twist: ca.SX) -> ca.SX:
    """Dual of the bracket with a twist (6,), which acts on wrenches, as a matrix (6, 6) (equation 18)."""
    return ad(twist).T


def cross(vector: ca.SX) -> ca.SX:
    """Cross product with a vector (3,), as a matrix (3, 3) without stored zeros."""
    return ca.sparsify(ca.skew(vector))
