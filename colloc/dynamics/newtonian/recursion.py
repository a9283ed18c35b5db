"""Recursive Newton-Euler inverse dynamics in moving (link) coordinates.

Barman (2020), chapter III, generalised to trees and to any number of loads. Everything about link j is expressed in
the axes of its own frame; only 3x3 rotations appear. Gravity enters as an upward acceleration of the world, which is
the same as the force m (a - R' g) on every link (Barman's equation 3.67 with the sign of g as the acceleration
vector).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import by_rows, of_tree
from colloc.dynamics.loads import loads_in_links
from colloc.model import Body, CoupledMotion, Load, Model
from colloc.model.joint import sparse_vector


class Reactions(NamedTuple):
    """Wrenches that the joints transmit: those that the parents exert on the bodies.

    Parameters
    ----------
    tau : SX, shape (n,) [N m, N]
        Actuation: the component of the wrench along the joint's screw.
    force : SX, shape (3, n_bodies) [N]
        In the axes of the body's own link frame.
    moment : SX, shape (3, n_bodies) [N m]
        About the joint's origin on the parent (where the axis starts), in the axes of the body's own link frame.

    Examples
    --------
    >>> reactions = co.dynamics.joint_reactions(model, q, qd, qdd)
    >>> reactions.force.shape  # a column for every body
    (3, 2)
    """

    tau: ca.SX
    force: ca.SX
    moment: ca.SX


def reduced_reactions(tree: Reactions, motion: CoupledMotion) -> Reactions:
    """Reactions with the actuation of the coordinates of a model with couplings."""
    return tree._replace(tau=by_rows(tree.tau, motion))


class LinkMotion(NamedTuple):
    """A link's geometry and motion; vectors in link axes unless noted."""

    rotation: ca.SX  # link axes -> parent axes
    root: ca.SX  # joint origin in the parent frame, parent axes
    arm: ca.SX  # joint origin -> link origin, link axes
    axis: ca.SX  # angular part of the joint's screw, link axes; zero for a slide
    slide: ca.SX  # its linear part, along the axis of a turn; zero for a hinge
    omega: ca.SX
    alpha: ca.SX
    acceleration: ca.SX  # of the link origin, gravity included


@of_state
def newton_euler(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> ca.SX:
    """Actuator torques that produce a motion.

    Parameters
    ----------
    model : Model
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
    loads : sequence of Load
        Of the environment; they enter as -J' w.

    Returns
    -------
    SX, shape (n,) [N m, N]

    Examples
    --------
    >>> torque = ca.Function("torque", [q, qd, qdd], [co.dynamics.newton_euler(model, q, qd, qdd)])
    >>> torque([0.0, 0.0], 0.0, 0.0)  # holds the arm stretched out: 9.81 (0.5 0.2 + 0.5 0.6), 9.81 0.5 0.2
    DM([3.924, 0.981])
    """
    return joint_reactions(model, q, qd, qdd, loads).tau


@of_state
@of_tree(reduced_reactions)
def joint_reactions(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> Reactions:
    """Actuation and the internal force and moment of every joint; parameters as in `newton_euler`.

    Examples
    --------
    >>> force = co.dynamics.joint_reactions(model, q, qd, qdd).force
    >>> ca.Function("force", [q, qd, qdd], [force])([0.0, 0.0], 0.0, 0.0)  # weights, along the links' own axes
    DM(
    [[0, 0],
     [9.81, 4.905],
     [0, 0]])
    """
    links = link_motions(model, q, qd, qdd)
    force, moment = link_wrenches(model, links)
    for load in loads_in_links(model, [link.rotation for link in links], loads):
        force[load.body] -= load.force
        moment[load.body] -= load.moment + ca.cross(links[load.body].arm + load.point, load.force)
    for j, _, parent in reversed(model.walk()):
        if parent >= 0:
            carried = links[j].rotation @ force[j]
            lever = links[parent].arm + links[j].root
            force[parent] += carried
            moment[parent] += links[j].rotation @ moment[j] + ca.cross(lever, carried)
    tau = [ca.dot(links[j].axis, moment[j]) + ca.dot(links[j].slide, force[j]) for j in model.moving]
    return Reactions(ca.vertcat(*tau), ca.horzcat(*force), ca.horzcat(*moment))


def link_motions(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> list[LinkMotion]:
    """The outward pass: every link with its motion (Barman 2020, steps 2 to 7)."""
    zero = ca.SX(3, 1)
    world = LinkMotion(ca.SX.eye(3), zero, zero, zero, zero, zero, zero, ca.SX(-model.gravity))
    links: list[LinkMotion] = []
    for _, body, parent, (position, rate, change) in model.joint_motions(q, qd, qdd):
        p = world if parent < 0 else links[parent]
        rotation, root, arm, axis, slide = _geometry(body, position)
        omega, alpha = rotation.T @ p.omega, rotation.T @ p.alpha
        at_root = p.acceleration + ca.cross(p.alpha, root) + ca.cross(p.omega, ca.cross(p.omega, root))
        acceleration = rotation.T @ at_root
        # The slide is along the axis, so that the turning of the parent and that of the link carry it alike.
        acceleration += 2 * ca.cross(omega, slide * rate) + slide * change
        alpha += ca.cross(omega, axis * rate) + axis * change
        omega += axis * rate
        acceleration += ca.cross(alpha, arm) + ca.cross(omega, ca.cross(omega, arm))
        links.append(LinkMotion(rotation, root, arm, axis, slide, omega, alpha, acceleration))
    return links


def _geometry(body: Body, q: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
    """Rotation link -> parent, joint origin in the parent, joint origin -> link origin, and screw in link axes."""
    joint = body.joint
    to_link = joint.after[:3, :3].T
    axis, slide = (to_link @ sparse_vector(part) for part in joint.screw)
    arm = to_link @ joint.after[:3, 3] + slide * joint.coordinate(q)
    return joint.transform(q)[:3, :3], joint.before[:3, 3], arm, axis, slide


def link_wrenches(model: Model, links: list[LinkMotion]) -> tuple[list[ca.SX], list[ca.SX]]:
    """Inertial force of every link and its moment about the joint origin, in link axes."""
    force, moment = [], []
    for body, link in zip(model.bodies, links, strict=True):
        com = body.com
        acceleration = link.acceleration + ca.cross(link.alpha, com) + ca.cross(link.omega, ca.cross(link.omega, com))
        inertial = body.mass * acceleration
        spin = body.inertia @ link.alpha + ca.cross(link.omega, body.inertia @ link.omega)
        force.append(inertial)
        moment.append(spin + ca.cross(link.arm + com, inertial))
    return force, moment
