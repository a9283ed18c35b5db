"""Paths round surfaces between two points: cylinders, spheres, ellipsoids and tori.

On an unrolled cylinder the shortest path is straight: seen along the axis two tangents and an arc between them, of
slope dz along the axis. On a sphere it lies in the plane of its ends and the center. Round an ellipsoid the path is
that of OpenSim: in a plane through its ends and a third point, where the ellipsoid is cut in an ellipse, and an ellipse
is a circle in other coordinates. A torus is touched as the cylinder is that touches it along its tube.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.model.transforms import unit_vector
from colloc.support.checks import InputError, choice, finite_array, finite_number, spelt, text
from colloc.support.pickling import Portable

METHODS = ("hybrid", "midpoint", "axial")
HALF = 0.5  # the share of a surface that is just touched
ROUNDED = 0.05  # rad of arc, on both sides of the posture in which a path first touches a surface

_TINY = 1e-12  # m2, beside squared lengths: roots that touch zero have a derivative
_ALONG = 1e-9  # added to lengths in denominators


class Wrap(NamedTuple):
    """A path between two points round a surface, in the frame of its body.

    Parameters
    ----------
    share : SX
        0 where the path is straight, 1 where it is round the surface, and between them where it begins to touch.
    first, last : SX, shape (3,) [m]
        Points at which it meets and leaves the surface.
    length : SX [m]
        Between these points.
    """

    share: ca.SX
    first: ca.SX
    last: ca.SX
    length: ca.SX


@spelt
@dataclass(frozen=True)
class Cylinder(Portable):
    """A cylinder on a body round which a muscle wraps.

    Parameters
    ----------
    body : str or None
        None for the world.
    center : shape (3,) [m]
        The middle of its axis in the link frame.
    axis : shape (3,)
        Direction of its axis in the link frame.
    radius : float [m]
    side : shape (3,), "shorter", "counterclockwise" or "inside"
        How the muscle passes: on the side of the axis to which a vector of the link frame points, as with OpenSim's
        quadrants; on the shorter way; counterclockwise along its path, seen against the direction of the axis; or
        inside, as through a sheath, which it touches at one point where the straight line misses it.
    length : float [m]
        The muscle passes freely beyond its ends.

    Notes
    -----
    The muscle leaves the surface where the straight line between the points does not meet it. The moment arm, which has
    a kink there, is rounded over 0.05 rad of arc on both sides: it errs by up to 0.003 a b / (a + b), where a and b are
    the distances of the points from the surface.

    Examples
    --------
    >>> epicondyle = co.muscles.Cylinder("shoulder", (0.4, 0.0, 0.0), (0, 0, 1), radius=0.02)
    """

    body: str | None
    center: Any
    axis: Any
    radius: float
    side: Any = "counterclockwise"
    length: float = inf

    def __post_init__(self):
        _check_surface(self, "cylinder", "radius")
        object.__setattr__(self, "axis", tuple(unit_vector("axis of a cylinder", self.axis).tolist()))
        _check_side(self, "cylinder", ("shorter", "counterclockwise", "inside"))
        if self.length != inf:
            object.__setattr__(self, "length", finite_number("length of a cylinder", self.length, positive=True))

    def wrap(self, start: ca.SX, end: ca.SX) -> Wrap:
        """The path from start to end, SX, each shape (3,) [m], in the frame of the body."""
        frame = ca.SX(_frame(self.axis, self.side))
        a, b = (frame.T @ (point - ca.SX(self.center)) for point in (start, end))
        kind = self.side if isinstance(self.side, str) else "side"
        return _placed(_round_cylinder(a, b, self.radius, self.length, kind), frame, ca.SX(self.center))


@spelt
@dataclass(frozen=True)
class Sphere(Portable):
    """A sphere on a body round which a muscle wraps.

    Parameters
    ----------
    body : str or None
        None for the world.
    center : shape (3,) [m]
        In the link frame.
    radius : float [m]
    side : shape (3,), "shorter" or "inside"
        How the muscle passes: on the side to which a vector of the link frame points, on the shorter way, or inside, as
        through a `Cylinder` across the plane of its ends and the center.

    Notes
    -----
    Muscles pass a side of a sphere by the rules of a `Cylinder`, in the plane through both points and the center.

    Examples
    --------
    >>> head = co.muscles.Sphere("shoulder", (0.0, 0.0, 0.0), radius=0.025)  # of the humerus
    """

    body: str | None
    center: Any
    radius: float
    side: Any = "shorter"

    def __post_init__(self):
        _check_surface(self, "sphere", "radius")
        _check_side(self, "sphere", ("shorter", "inside"))

    def wrap(self, start: ca.SX, end: ca.SX) -> Wrap:
        """The path from start to end, SX, each shape (3,) [m], in the frame of the body."""
        center = ca.SX(self.center)
        a, b = start - center, end - center
        normal = ca.cross(a, b)
        normal /= ca.sqrt(ca.sumsqr(normal) + _TINY**2)
        x = a if isinstance(self.side, str) else ca.SX(self.side) - ca.dot(normal, ca.SX(self.side)) * normal
        x /= ca.sqrt(ca.sumsqr(x) + _TINY)
        frame = ca.horzcat(x, ca.cross(normal, x), normal)
        flat_a, flat_b = (frame[:, :2].T @ point for point in (a, b))
        if self.side == "inside":
            held, misses = _held_inside(flat_a, flat_b, self.radius)
            place = ca.vertcat(held, 0)
            return _placed(Wrap(misses, place, place, ca.SX(0)), frame, center)
        direction, allowed = ca.SX(1), ca.SX(1)
        if not isinstance(self.side, str):
            direction, allowed = _past_side(flat_a, flat_b, self.radius)
        way = _way(flat_a, flat_b, self.radius, direction)
        share = _shares(way.arc) * allowed
        flat = Wrap(share, ca.vertcat(way.first, 0), ca.vertcat(way.last, 0), self.radius * way.arc)
        return _placed(flat, frame, center)


@spelt
@dataclass(frozen=True)
class Ellipsoid(Portable):
    """An ellipsoid on a body round which a muscle wraps.

    Parameters
    ----------
    body : str or None
        None for the world.
    center : shape (3,) [m]
        In the link frame.
    radii : shape (3,) [m]
    axes : shape (3, 3)
        Directions of its axes in the link frame, as columns of a rotation.
    side : shape (3,) or "shorter"
        How the muscle passes: on the side to which a vector of the link frame points, which lies along one of the axes,
        or on the side that is nearer.
    method : {"hybrid", "midpoint", "axial"}
        How the plane of the path is chosen, as in OpenSim.

    Notes
    -----
    The path lies in a plane, and is longer than the shortest on the surface, by less than 0.3 mm for most ends. It is
    OpenSim's up to the 300 samples of its hybrid method, of which 5 are taken here. The pull on bodies, by derivatives
    of the length, differs from that of the shortest path by 0.1 to 0.2 % of the tension in the median of random ends
    and less than 6 % for nine in ten; along OpenSim's straight pieces by 0.7 to 1.4 % and less than 11 %.

    Examples
    --------
    >>> thorax = co.muscles.Ellipsoid("shoulder", (0.0, -0.15, 0.0), radii=(0.07, 0.17, 0.07))
    """

    body: str | None
    center: Any
    radii: Any
    axes: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    side: Any = "shorter"
    method: str = "hybrid"

    def __post_init__(self):
        _check_surface(self, "ellipsoid", "radii")
        axes = finite_array("axes of an ellipsoid", self.axes, (3, 3))
        if np.abs(axes.T @ axes - np.eye(3)).max() > 1e-6:
            raise InputError("axes of an ellipsoid must be columns of a rotation, of length one and perpendicular")
        object.__setattr__(self, "axes", tuple(map(tuple, axes.tolist())))
        _check_side(self, "ellipsoid", ("shorter",))
        choice("method of an ellipsoid", self.method, METHODS)
        if not isinstance(self.side, str) and np.abs(axes.T @ np.array(self.side)).max() < 1 - 1e-6:
            raise InputError("side of an ellipsoid must lie along one of its axes")

    def wrap(self, start: ca.SX, end: ca.SX) -> Wrap:
        """The path from start to end, SX, each shape (3,) [m], in the frame of the body."""
        frame, center, radii = ca.SX(ca.DM(self.axes)), ca.SX(self.center), np.array(self.radii)
        size = float(radii.mean())
        a, b = (frame.T @ (point - center) / size for point in (start, end))
        radii = radii / size
        side = None if isinstance(self.side, str) else np.round(np.array(self.axes).T @ np.array(self.side)).astype(int)
        through, meets = _plane_point(a, b, radii, side, self.method)
        wrap = _round_ellipse(a, b, through, radii)
        wrap = Wrap(wrap.share * meets, size * wrap.first, size * wrap.last, size * wrap.length)
        return _placed(wrap, frame, center)


@spelt
@dataclass(frozen=True)
class Torus(Portable):
    """A torus on a body, through whose ring a muscle passes.

    Parameters
    ----------
    body : str or None
        None for the world.
    center : shape (3,) [m]
        In the link frame.
    axis : shape (3,)
        Direction of its axis of symmetry in the link frame.
    radius : float [m]
        Of the circle in the middle of the tube.
    tube : float [m]
        Radius of the tube.
    side : shape (3,) or "shorter"
        The half of the ring, to which a vector of the link frame points, that the muscle may touch; or both.

    Examples
    --------
    >>> sling = co.muscles.Torus("shoulder", (0.1, 0.0, 0.0), (1, 0, 0), radius=0.03, tube=0.005)
    """

    body: str | None
    center: Any
    axis: Any
    radius: float
    tube: float
    side: Any = "shorter"

    def __post_init__(self):
        _check_surface(self, "torus", "radius", "tube")
        object.__setattr__(self, "axis", tuple(unit_vector("axis of a torus", self.axis).tolist()))
        _check_side(self, "torus", ("shorter",))
        if self.tube >= self.radius:
            raise InputError(f"tube of a torus must be below its radius of {self.radius:g} m, got {self.tube:g} m")

    def wrap(self, start: ca.SX, end: ca.SX) -> Wrap:
        """The path from start to end, SX, each shape (3,) [m], in the frame of the body."""
        sided = not isinstance(self.side, str)
        frame, center = ca.SX(_frame(self.axis, self.side)), ca.SX(self.center)
        a, b = (frame.T @ (point - center) for point in (start, end))
        nearest, there = _nearest_of_circle(a, b, self.radius, sided=sided)
        x = -nearest / self.radius  # from the tube to the middle of the ring
        z = ca.vertcat(-x[1], x[0], 0)
        tube = ca.horzcat(x, ca.cross(z, x), z)
        a, b = (tube.T @ (point - nearest) for point in (a, b))
        wrap = _placed(_round_cylinder(a, b, self.tube, inf, "side"), tube, nearest)
        return _placed(wrap._replace(share=wrap.share * there), frame, center)


Surface = Cylinder | Sphere | Ellipsoid | Torus


def length_round(surface: Surface, start: ca.SX, end: ca.SX) -> ca.SX:
    """Length from start to end, round a surface where it is in the way, SX, scalar [m], in the frame of its body."""
    wrap, straight = surface.wrap(start, end), apart(start, end)
    return straight + wrap.share * (apart(start, wrap.first) + wrap.length + apart(wrap.last, end) - straight)


def apart(start: ca.SX, end: ca.SX) -> ca.SX:
    """Distance between two points, SX, scalar [m], with a derivative where it is zero."""
    return ca.sqrt(ca.sumsqr(end - start) + _TINY**2)


class _Way(NamedTuple):
    """A path round a circle in a plane: points of contact, the angle between the ends and between these points."""

    first: ca.SX
    last: ca.SX
    turn: ca.SX
    arc: ca.SX
    tangents: ca.SX  # lengths of the two straight pieces


def _way(a: ca.SX, b: ca.SX, radius: float, direction: ca.SX) -> _Way:
    """A path from a to b, each shape (2,), counterclockwise round a circle, or clockwise where direction is -1.

    An end inside the circle is taken as on it.
    """
    turn = direction * ca.atan2(a[0] * b[1] - a[1] * b[0], ca.dot(a, b) + _TINY)
    turn = ca.fmod(turn + 2.25 * pi, 2 * pi) - pi / 4  # up to seven eighths round it, and never backwards
    points, angles, tangents = [], [], []
    for point, sign in ((a, direction), (b, -direction)):
        squared = ca.fmax(ca.sumsqr(point), radius**2) + _TINY
        tangent = ca.sqrt(squared - radius**2)
        across = sign * tangent * ca.vertcat(-point[1], point[0])
        points.append(radius / squared * (radius * point + across))
        angles.append(ca.atan2(tangent, radius))
        tangents.append(tangent)
    return _Way(points[0], points[1], turn, turn - angles[0] - angles[1], ca.vertcat(*tangents))


def _shares(arc: ca.SX) -> ca.SX:
    """0 for a negative arc, 1 for a positive one, with two derivatives."""
    x = ca.fmin(ca.fmax((arc + ROUNDED) / (2 * ROUNDED), 0), 1)
    return x**3 * (10 - 15 * x + 6 * x**2)


def _round_cylinder(a: ca.SX, b: ca.SX, radius: float, length: float, kind: str) -> Wrap:
    """A path round a cylinder along the axis z, for a side on the side of x > 0."""
    flat_a, flat_b = a[:2], b[:2]
    if kind == "inside":
        held, misses = _held_inside(flat_a, flat_b, radius)
        before, after = apart(flat_a, held), apart(held, flat_b)
        place = ca.vertcat(held, a[2] + (b[2] - a[2]) * before / (before + after + _ALONG))
        return Wrap(misses, place, place, ca.SX(0))
    allowed: Any = 1
    direction = ca.SX(1)
    if kind == "shorter":
        direction = ca.if_else(flat_a[0] * flat_b[1] - flat_a[1] * flat_b[0] >= 0, 1, -1)
    elif kind == "side":
        direction, allowed = _past_side(flat_a, flat_b, radius)
    way = _way(flat_a, flat_b, radius, direction)
    rise, curved = b[2] - a[2], radius * way.arc
    straight = way.tangents[0] + way.tangents[1]
    slope = rise / (ca.fmax(straight + curved, straight / 10) + _ALONG)
    low, high = a[2] + slope * way.tangents[0], b[2] - slope * way.tangents[1]
    share = _shares(way.arc) * allowed
    if length < inf:
        share *= ca.logic_or(ca.fabs(low) <= length / 2, ca.fabs(high) <= length / 2)
    return Wrap(share, ca.vertcat(way.first, low), ca.vertcat(way.last, high), curved * ca.sqrt(1 + slope**2))


def _held_inside(a: ca.SX, b: ca.SX, radius: float) -> tuple[ca.SX, ca.SX]:
    """The point of a circle by which the path between two points outside is shortest, and whether the line misses it.

    As in MuJoCo; the angle of the point by Newton's method, from the point of the line that is nearest to the center.
    """
    line = b - a
    along = ca.fmin(ca.fmax(-ca.dot(a, line) / (ca.sumsqr(line) + _TINY), 0), 1)
    nearest = a + along * line
    angle = ca.atan2(nearest[1], nearest[0])
    for _ in range(8):
        outward = radius * ca.vertcat(ca.cos(angle), ca.sin(angle))
        tangent = ca.vertcat(-outward[1], outward[0])
        slope, bend = ca.SX(0), ca.SX(0)
        for end in (a, b):
            far, rate = apart(end, outward), ca.dot(outward - end, tangent)
            slope += rate / far
            bend += ca.dot(end, outward) / far - rate**2 / far**3
        angle -= ca.fmin(ca.fmax(slope / ca.fmax(ca.fabs(bend), _ALONG), -HALF), HALF)
    outside = ca.logic_and(ca.sumsqr(a) > radius**2, ca.sumsqr(b) > radius**2)
    return radius * ca.vertcat(ca.cos(angle), ca.sin(angle)), ca.logic_and(outside, ca.sumsqr(nearest) > radius**2)


def _past_side(a: ca.SX, b: ca.SX, radius: float) -> tuple[ca.SX, ca.SX]:
    """Direction in which a path passes a circle on the side of x > 0, and whether it may touch it.

    Of both ways round, that with the middle further on the side. Whether it may touch is by the rules of OpenSim's
    WrapCylinder, which are those of MuJoCo.
    """
    ahead, back = (_way(a, b, radius, ca.SX(sign)) for sign in (1, -1))
    middles = [
        ca.cos(ca.atan2(way.first[1], way.first[0]) + sign * way.arc / 2) for way, sign in ((ahead, 1), (back, -1))
    ]
    ahead_is_right = middles[0] >= middles[1]
    line = b - a
    along = -ca.dot(a, line) / (ca.sumsqr(line) + _TINY)
    nearest = a[0] + along * line[0]
    on_side = a[0] > 0, b[0] > 0
    turn = ca.fabs(ca.atan2(a[0] * b[1] - a[1] * b[0], ca.dot(a, b) + _TINY))
    meets = turn - (ahead.turn - ahead.arc) > -ROUNDED
    behind = ca.logic_and(on_side[0] != on_side[1], nearest <= 0)
    neither = ca.logic_not(ca.logic_or(*on_side))
    return ca.if_else(ahead_is_right, 1, -1), ca.logic_or(neither, ca.logic_or(meets, behind))


_FAN = (
    np.array([0.046910077, 0.230765345, 0.5, 0.769234655, 0.953089923]),
    np.array([0.118463443, 0.239314335, 0.284444444, 0.239314335, 0.118463443]),
)  # Gauss
_BLEND = 0.7073, 0.9  # of the fan of the hybrid method, in cosines
_FADE = 0.3


def _plane_point(a: ca.SX, b: ca.SX, radii: np.ndarray, side: np.ndarray | None, method: str) -> tuple[ca.SX, ca.SX]:
    """A point of an ellipsoid through which the path goes, as in OpenSim, and whether the line meets the ellipsoid."""
    sizes = ca.SX(radii)
    line = a - b
    f1, f2 = line / sizes, b / sizes
    aa, bb, cc = ca.sumsqr(f1) + _TINY, 2 * ca.dot(f1, f2), ca.sumsqr(f2) - 1
    root = ca.sqrt(ca.fmax(bb**2 - 4 * aa * cc, 0) + _TINY)
    ends = [(-bb + way * root) / (2 * aa) for way in (1, -1)]
    meets = ca.logic_and(bb < 0, -bb < 2 * aa)  # between the ends, if it does
    start, stop = (b + end * line for end in ends)
    point, weight = _closest((start + stop) / 2, radii), ca.SX(1)  # of the fan, or the middle
    if method == "hybrid":
        point = _fan_point(start, stop, radii)
    if method != "midpoint":
        axial, strongest = _axial_point(start, stop, line, radii, blends=method == "hybrid")
        mixed = ca.SX(1)
        if method == "hybrid":
            mixed = ca.fmin(ca.fmax((strongest - _BLEND[0]) / (_BLEND[1] - _BLEND[0]), 0), 1)
            axial = _closest(mixed * axial + (1 - mixed) * point, radii)
        point, weight = axial, 1 - mixed
    if side is not None:
        axis = int(np.flatnonzero(side)[0])
        wrong = point[axis] * int(side[axis]) < 0
        flipped = ca.SX(point)
        flipped[axis] = -(1 - weight) * point[axis]
        point = ca.if_else(wrong, _closest(flipped, radii), point)
        meets = ca.logic_and(meets, ca.logic_or(ca.logic_not(wrong), bb**2 > 4 * aa * cc))
    return point, meets


def _fan_point(start: ca.SX, stop: ca.SX, radii: np.ndarray) -> ca.SX:
    """The point of an ellipsoid in the mean direction from a chord to the points closest to it."""
    fan = ca.SX(ca.DM.zeros(3))
    for place, share in zip(*_FAN, strict=True):
        outward = _closest(start + place * (stop - start), radii) / ca.SX(radii) ** 2  # from the point to the closest
        fan += share * outward / ca.norm_2(outward)
    return _closest((start + stop) / 2 + fan / ca.sqrt(ca.sumsqr(fan) + _TINY), radii)


def _axial_point(start: ca.SX, stop: ca.SX, line: ca.SX, radii: np.ndarray, *, blends: bool) -> tuple[ca.SX, ca.SX]:
    """The point of an ellipsoid closest to a chord where it crosses the symmetry plane that it is most normal to.

    With it the cosine between them, which fades, if it blends with the fan, where the crossing is near an end.
    """
    chord = stop - start
    cosines = ca.fabs(line / ca.sqrt(ca.sumsqr(line) + _TINY))
    axial, strongest = ca.SX(ca.DM.zeros(3)), ca.SX(0)
    for axis in range(3):
        safe = ca.if_else(ca.fabs(chord[axis]) > _ALONG, chord[axis], _ALONG)
        place = -start[axis] / safe
        crossing = start + place * chord
        edge = ca.fmin(ca.fmax(ca.fmin(place, 1 - place) / _FADE, 0), 1)
        cosine = _BLEND[0] + edge * (cosines[axis] - _BLEND[0]) if blends else cosines[axis]
        most = cosines[axis] >= ca.mmax(cosines)
        axial = ca.if_else(most, _closest(crossing, radii, without=axis), axial)
        strongest = ca.if_else(most, ca.if_else(cosines[axis] > _BLEND[0], cosine, cosines[axis]), strongest)
    return axial, strongest


def _closest(point: ca.SX, radii: np.ndarray, without: int | None = None) -> ca.SX:
    """The point of an ellipsoid that is closest to a point; of the ellipse in a plane of symmetry without an axis."""
    squares = [(k, float(radii[k]) ** 2) for k in range(3) if k != without]
    least = min(square for _, square in squares)
    inside = ca.sumsqr(point / ca.SX(radii)) < 1
    t = ca.if_else(inside, 0, ca.sqrt(ca.sumsqr(point)) * float(radii.max()))
    for _ in range(8):
        lengths = sum((square * (point[k] / (t + square)) ** 2 for k, square in squares), ca.SX(_TINY))
        slopes = sum((square * point[k] ** 2 / (t + square) ** 3 for k, square in squares), ca.SX(_TINY))
        step = lengths * (ca.sqrt(lengths) - 1) / slopes
        t = ca.fmax(t + step, 0.1 * t - 0.9 * least)  # never past the pole
    places = [ca.SX(0)] * 3
    for k, square in squares:
        places[k] = square * point[k] / (t + square)
    norm = ca.sqrt(sum((places[k] ** 2 / square for k, square in squares), ca.SX(_TINY)))
    if without is not None:
        places[without] = point[without] * norm
    return ca.vertcat(*places) / norm


_GAUSS = np.polynomial.legendre.leggauss(8)


def _round_ellipse(a: ca.SX, b: ca.SX, through: ca.SX, radii: np.ndarray) -> Wrap:
    """A path in the plane of three points round an ellipsoid, on the side of the third."""
    sizes = ca.SX(radii)
    a, b, through = a / sizes, b / sizes, through / sizes  # of the unit sphere
    normal = ca.cross(a - through, b - through)
    normal /= ca.sqrt(ca.sumsqr(normal) + _TINY)
    middle = ca.dot(normal, through) * normal
    radius = ca.sqrt(ca.fmax(1 - ca.sumsqr(middle), 0) + _TINY)
    x = (through - middle) / radius
    y = ca.cross(normal, x)
    plane = ca.horzcat(x, y) * radius
    flat = [plane.T @ (point - middle) / radius**2 for point in (a, b)]  # the third point is (1, 0)
    direction = ca.if_else(flat[1][1] >= flat[0][1], 1, -1)
    way = _way(flat[0], flat[1], 1.0, direction)
    length = ca.SX(0)
    start = ca.atan2(way.first[1], way.first[0])
    for node, weight in zip(*(part.tolist() for part in _GAUSS), strict=True):
        angle = start + direction * way.arc * (node + 1) / 2
        speed = sizes * (plane @ ca.vertcat(-ca.sin(angle), ca.cos(angle)))
        length += weight / 2 * way.arc * ca.sqrt(ca.sumsqr(speed) + _TINY)
    first, last = (sizes * (middle + plane @ point) for point in (way.first, way.last))
    return Wrap(_shares(way.arc), first, last, length)


def _nearest_of_circle(a: ca.SX, b: ca.SX, radius: float, *, sided: bool) -> tuple[ca.SX, ca.SX]:
    """The point of a circle about z that is nearest to the line from a to b, and whether it is on the side x > 0."""
    line = (b - a) / ca.sqrt(ca.sumsqr(b - a) + _TINY)
    points, misses = [], []
    for start in (a, b):
        u = ca.dot(start - a, line)
        for _ in range(12):  # damped Newton iterations towards the least distance
            x = a + u * line
            flat = ca.sqrt(ca.sumsqr(x[:2]) + _TINY)
            outward = ca.dot(x[:2], line[:2]) / flat
            slope = ca.dot(x, line) - radius * outward
            curvature = 1 - radius * (ca.sumsqr(line[:2]) - outward**2) / flat
            u -= slope / ca.fmax(ca.fabs(curvature), 0.1)
        x = a + u * line
        flat = ca.sqrt(ca.sumsqr(x[:2]) + _TINY)
        points.append(ca.vertcat(radius / flat * x[:2], 0))
        misses.append(ca.sumsqr(x[2]) + (flat - radius) ** 2)
    second = misses[1] < misses[0]
    there = ca.SX(1)
    if sided:
        right = [point[0] > 0 for point in points]
        second = ca.if_else(right[0] == right[1], second, right[1])
        there = ca.logic_or(*right)
    return ca.if_else(second, points[1], points[0]), there


def outside(surface: Surface, point: ca.SX) -> ca.SX:
    """Positive where a point lies outside of a surface, SX, in the frame of the body."""
    place = point - ca.SX(surface.center)
    if isinstance(surface, Ellipsoid):
        return ca.sumsqr(ca.SX(ca.DM(surface.axes)).T @ place / ca.SX(surface.radii)) - 1
    if isinstance(surface, Sphere):
        return ca.sumsqr(place) - surface.radius**2
    along = ca.dot(place, ca.SX(surface.axis))
    across = ca.sumsqr(place) - along**2
    if isinstance(surface, Torus):
        return (ca.sqrt(across) - surface.radius) ** 2 + along**2 - surface.tube**2
    return across - surface.radius**2


def _placed(wrap: Wrap, frame: ca.SX, origin: ca.SX) -> Wrap:
    return wrap._replace(first=origin + frame @ wrap.first, last=origin + frame @ wrap.last)


def _frame(axis: Any, side: Any) -> np.ndarray:
    """A rotation with an axis for z, and x to a side if there is one."""
    z = np.array(axis)
    x = np.eye(3)[np.argmin(np.abs(z))] if isinstance(side, str) else np.array(side)
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _check_surface(surface: Surface, kind: str, *sizes: str) -> None:
    if surface.body is not None:
        text(f"body of a {kind}", surface.body)
    object.__setattr__(surface, "center", tuple(finite_array(f"center of a {kind}", surface.center, (3,)).tolist()))
    for name in sizes:
        value = getattr(surface, name)
        if name == "radii":
            value = tuple(finite_number(f"radii of an {kind}", radius, positive=True) for radius in value)
        else:
            value = finite_number(f"{name} of a {kind}", value, positive=True)
        object.__setattr__(surface, name, value)


def _check_side(surface: Surface, kind: str, words: tuple[str, ...]) -> None:
    if isinstance(surface.side, str):
        choice(f"side of a {kind}", surface.side, words)
        return
    side = unit_vector(f"side of a {kind}", surface.side)
    axis = getattr(surface, "axis", None)
    if axis is not None and abs(side @ np.array(axis)) > 1 - 1e-6:
        raise InputError(f"side of a {kind} must point away from its axis, got one along it")
    object.__setattr__(surface, "side", tuple(side.tolist()))
