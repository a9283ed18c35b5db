"""Twists, wrenches and their maps on SE(3).

Lee, Kim, Park, Kim and Bobrow (2005), equations 11 to 20. A twist is (angular, linear), a wrench (moment, force); both
refer to the origin and the axes of the frame they are written in.
"""

from __future__ import annotations

import casadi as ca

from colloc.model import Joint, Model


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


def gravity_acceleration(model: Model) -> ca.SX:
    """Acceleration (6,) of the world that acts as gravity: upwards."""
    return ca.sparsify(ca.vertcat(ca.SX(3, 1), -model.gravity))


def link_screw(joint: Joint) -> ca.SX:
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
