"""Recursive inverse dynamics on SE(3): twists, wrenches and 6x6 inertias in body frames.

Lee, Kim, Park, Kim and Bobrow (2005), equations 21 to 25, generalised to trees and to any number of loads; the algebra
is in `twists`.

Equation 24 is printed with its star on f instead of on Ad of the inverse of f = M exp(S q): the transpose of the map in
equations 22 and 23.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import by_rows, of_tree
from colloc.dynamics.liegroup.twists import (
    Ad,
    ad,
    ad_dual,
    gravity_acceleration,
    link_screw,
    spatial_inertia,
    wrench_at_origin,
)
from colloc.dynamics.loads import LinkLoad, loads_in_links
from colloc.model import Load, Model
from colloc.model.transforms import inverse


class LinkTwists(NamedTuple):
    """A link, its motion and that of its parent, in the link's own frame."""

    from_parent: ca.SX  # Ad, (6, 6): the parent's twists -> the link's frame; transposed, wrenches -> the parent's
    screw: ca.SX  # S, (6,); zero for a fixed joint
    inertia: ca.SX  # J, (6, 6)
    parent_motion: tuple[ca.SX, ca.SX]  # V and its rate of the parent, each (6,), in this link's frame
    velocity: ca.SX  # V, (6,)
    acceleration: ca.SX  # its rate, (6,), gravity included


@of_state
@of_tree(by_rows)
def lie(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> ca.SX:
    """Actuator torques that produce a motion; parameters as in `newton_euler`.

    Examples
    --------
    >>> torque = ca.Function("torque", [q, qd, qdd], [co.dynamics.lie(model, q, qd, qdd)])
    >>> torque([0.0, 0.0], 0.0, 0.0)  # holds the arm stretched out: 9.81 (0.5 0.2 + 0.5 0.6), 9.81 0.5 0.2
    DM([3.924, 0.981])
    """
    links = link_twists(model, q, qd, qdd)
    wrenches = inward(model, links, link_loads(model, links, loads))
    return joint_torques(model, links, wrenches)


def link_twists(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> list[LinkTwists]:
    """Every link and its motion (equations 21 to 23); gravity is an upward acceleration of the world."""
    world = ca.SX(6, 1), gravity_acceleration(model)
    links: list[LinkTwists] = []
    for _, body, parent, (position, rate, change) in model.joint_motions(q, qd, qdd):
        x = Ad(inverse(body.joint.transform(position)))
        v, a = world if parent < 0 else (links[parent].velocity, links[parent].acceleration)
        parent_motion = v, a = x @ v, x @ a
        s = link_screw(body.joint)
        a += s * change + ad(v) @ s * rate  # ad_S S is zero, so that the parent's V will do
        v += s * rate
        links.append(LinkTwists(x, s, spatial_inertia(body.mass, body.com, body.inertia), parent_motion, v, a))
    return links


def inward(model: Model, links: list[LinkTwists], loads: list[LinkLoad]) -> list[ca.SX]:
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


def joint_torques(model: Model, links: list[LinkTwists], wrenches: list[ca.SX]) -> ca.SX:
    """Equation 25 of every joint that moves."""
    return ca.densify(ca.vertcat(*(links[k].screw.T @ wrenches[k] for k in model.moving)))


def link_loads(model: Model, links: list[LinkTwists], loads: Sequence[Load]) -> list[LinkLoad]:
    """Every load in the frame of its link."""
    return loads_in_links(model, [link.from_parent[:3, :3].T for link in links], loads)
