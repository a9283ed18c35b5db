"""Lengths of paths round cylinders and spheres, in closed form.

On an unrolled cylinder the shortest path is straight: seen along the axis two tangents and an arc between them, of
slope dz along the axis. On a sphere it lies in the plane of its ends and the center.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from colloc.model.transforms import unit_vector
from colloc.support.checks import finite_array, finite_number, spelt, text
from colloc.support.pickling import Portable

_TINY = 1e-12  # m2, beside squared lengths: roots that touch zero have a derivative


@spelt
@dataclass(frozen=True)
class Cylinder(Portable):
    """An infinite cylinder on a body round which a muscle wraps.

    Parameters
    ----------
    body : str or None
        None for the world.
    center : shape (3,) [m]
        A point of its axis in the link frame.
    axis : shape (3,)
        Direction of its axis in the link frame; the muscle wraps counterclockwise along its path, seen against the
        direction of the axis.
    radius : float [m]

    Notes
    -----
    The muscle leaves the surface where the straight line between the points does not meet it. Length and moment arm are
    continuous there, the slope of the moment arm is not.

    Examples
    --------
    >>> epicondyle = co.muscles.Cylinder("shoulder", (0.4, 0.0, 0.0), (0, 0, 1), radius=0.02)
    """

    body: str | None
    center: Any
    axis: Any
    radius: float

    def __post_init__(self):
        _check_surface(self, "cylinder")
        object.__setattr__(self, "axis", tuple(unit_vector("axis of a cylinder", self.axis)))

    def length(self, start: ca.SX, end: ca.SX) -> ca.SX:
        """Length of the shortest path from start to end, SX, each shape (3,) [m], in the frame of the body."""
        axis = ca.SX(self.axis)
        a, b = start - ca.SX(self.center), end - ca.SX(self.center)
        rise = ca.dot(axis, b - a)
        a, b = a - ca.dot(axis, a) * axis, b - ca.dot(axis, b) * axis
        turn = ca.atan2(ca.dot(axis, ca.cross(a, b)), ca.dot(a, b))  # counterclockwise
        turn = ca.fmod(turn + 2.25 * np.pi, 2 * np.pi) - np.pi / 4  # up to seven eighths round it, and never backwards
        flat = _around(a, b, turn, self.radius)
        return ca.sqrt(flat**2 + rise**2 + _TINY)


@spelt
@dataclass(frozen=True)
class Sphere(Portable):
    """A sphere on a body round which a muscle wraps, on the shorter side.

    Parameters
    ----------
    body : str or None
        None for the world.
    center : shape (3,) [m]
        In the link frame.
    radius : float [m]

    Examples
    --------
    >>> head = co.muscles.Sphere("shoulder", (0.0, 0.0, 0.0), radius=0.025)  # of the humerus
    """

    body: str | None
    center: Any
    radius: float

    def __post_init__(self):
        _check_surface(self, "sphere")

    def length(self, start: ca.SX, end: ca.SX) -> ca.SX:
        """Length of the shortest path from start to end, SX, each shape (3,) [m], in the frame of the body."""
        a, b = start - ca.SX(self.center), end - ca.SX(self.center)
        turn = ca.atan2(ca.sqrt(ca.sumsqr(ca.cross(a, b)) + _TINY**2), ca.dot(a, b))
        return _around(a, b, turn, self.radius)


def _around(a: ca.SX, b: ca.SX, turn: ca.SX, radius: float) -> ca.SX:
    """Length of two tangents and an arc, or a line; a and b from the center, with the angle between them.

    An end inside the circle is taken as on the surface.
    """
    tangents = [ca.sqrt(ca.fmax(ca.sumsqr(x) - radius**2, 0) + _TINY) for x in (a, b)]
    arc = turn - sum(ca.atan2(tangent, radius) for tangent in tangents)
    wrapped = sum(tangents) + radius * arc
    straight = ca.sqrt(ca.sumsqr(b - a) + _TINY)
    return ca.if_else(arc > 0, wrapped, straight)


def _check_surface(surface: Cylinder | Sphere, kind: str) -> None:
    if surface.body is not None:
        text(f"body of a {kind}", surface.body)
    object.__setattr__(surface, "center", tuple(finite_array(f"center of a {kind}", surface.center, (3,))))
    object.__setattr__(surface, "radius", finite_number(f"radius of a {kind}", surface.radius, positive=True))
