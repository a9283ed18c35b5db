"""The wrench that the environment must apply to a mechanism for a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.newtonian.recursion import joint_reactions
from colloc.model import Load, Model
from colloc.support.arguments import expressions, validated


class Wrench(NamedTuple):
    """A force and its moment about the origin of the world, in world axes, SX, each shape (3,) [N], [N m].

    Examples
    --------
    >>> wrench = co.dynamics.root_wrench(model, q, qd, qdd)
    >>> wrench.force.shape, wrench.moment.shape
    ((3, 1), (3, 1))
    """

    force: ca.SX
    moment: ca.SX

    @validated(point=expressions(3))
    def about(self, point: ca.SX) -> ca.SX:
        """Moment about another point, shape (3,) [N m]."""
        return self.moment - ca.cross(point, self.force)

    def __add__(self, other: Wrench) -> Wrench:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Wrench(self.force + other.force, self.moment + other.moment)

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(self.force - other.force, self.moment - other.moment)

    @validated(factor=expressions(1))
    def scaled(self, factor: ca.SX | float) -> Wrench:
        return Wrench(factor * self.force, factor * self.moment)


@of_state
def root_wrench(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> Wrench:
    """Wrench on the mechanism in addition to loads: rate of its momentum less gravity, about the world's origin.

    The joints between the world and the mechanism transmit it unless other forces do: the resultant of the active
    forces of Xiang et al. (2009, Int. J. Numer. Meth. Engng 79).

    Parameters
    ----------
    model : Model
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
    loads : sequence of Load
        Known ones, such as a payload.

    Examples
    --------
    >>> force = co.dynamics.root_wrench(model, q, qd, qdd).force
    >>> ca.Function("weight", [q, qd, qdd], [force])([0.3, 0.4], 0.0, 0.0)
    DM([0, 9.81, 0])
    """
    reactions = joint_reactions(model, q, qd, qdd, loads)
    total = Wrench(ca.SX(3, 1), ca.SX(3, 1))
    for k, body, parent, (position, _, _) in model.joint_motions(q):
        if parent < 0:
            rotation = body.joint.transform(position)[:3, :3]
            force = rotation @ reactions.force[:, k]
            root = body.joint.before[:3, 3]
            total += Wrench(force, rotation @ reactions.moment[:, k] + ca.cross(root, force))
    return total
