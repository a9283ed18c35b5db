"""Joints of OpenSim's files as chains of slides and hinges, each of which follows one coordinate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from colloc.formats.osim_document import Component, OsimDocument
from colloc.model.coupling import Coupling
from colloc.model.functions import Polynomial
from colloc.model.joint import Joint, Limits
from colloc.model.kinds import prismatic, revolute
from colloc.model.transforms import homogeneous, rotation_about

# Joints whose axes are those of their frames: slides and hinges in the order in which they follow each other, and which
# of the joint's coordinates each of them has.
PLAIN: Mapping[str, tuple[tuple[str, str, int], ...]] = {
    "WeldJoint": (),
    "PinJoint": (("r", "z", 0),),
    "SliderJoint": (("t", "x", 0),),
    "UniversalJoint": (("r", "x", 0), ("r", "y", 1)),
    "GimbalJoint": (("r", "x", 0), ("r", "y", 1), ("r", "z", 2)),
    "BallJoint": (("r", "x", 0), ("r", "y", 1), ("r", "z", 2)),
    "PlanarJoint": (("t", "x", 1), ("t", "y", 2), ("r", "z", 0)),
    "FreeJoint": (("t", "x", 3), ("t", "y", 4), ("t", "z", 5), ("r", "x", 0), ("r", "y", 1), ("r", "z", 2)),
}
GLIDING = {"ScapulothoracicJoint": 4, "EllipsoidJoint": 3, "ConstantCurvatureJoint": 3}  # numbers of coordinates
QUATERNIONS = ("BallJoint", "FreeJoint", "ScapulothoracicJoint", "EllipsoidJoint")

_UPRIGHT = math.pi / 2 - 0.01  # rad, beyond which OpenSim bends no arc
_TERMS = 14  # degree of the polynomials in place of half the chord of an arc: within 1e-9 of its length


@dataclass
class Axis:
    """A slide or a hinge of a joint."""

    label: str
    slides: bool
    direction: np.ndarray
    follows: Coupling  # which coordinate, and how

    @property
    def plain(self) -> bool:
        """Whether its coordinate is the file's, unchanged."""
        return (self.follows.ratio, self.follows.offset, self.follows.curve) == (1.0, 0.0, None)

    def joint(self, place: ca.SX, limits: Limits) -> Joint:
        make = prismatic if self.slides else revolute
        return make(self.direction.tolist(), place, limits, name=self.label)

    def transform(self, value: float) -> ca.SX:
        """Its displacement at a value, SX, shape (4, 4)."""
        return self.joint(ca.SX.eye(4), Limits()).transform(ca.SX(value))


def plain_steps(kind: str, names: Sequence[str]) -> list[Any]:
    """Slides and hinges along the axes of the frames, for coordinates with these names."""
    axes = [(way == "t", np.eye(3)["xyz".index(axis)], names[place]) for way, axis, place in PLAIN[kind]]
    return [Axis(name, slides, direction, Coupling(name)) for slides, direction, name in axes]


def scapular_steps(document: OsimDocument, joint: Component, names: Sequence[str]) -> list[Any]:
    """The scapula on the ribs: gliding on an ellipsoid by two angles, turning about its normal, and winging."""
    y, x, z = document.numbers(joint, "thoracic_ellipsoid_radii_x_y_z", 3).tolist()  # the frame is turned about z
    winging = names[3]
    there, back = (homogeneous(rotation_about(2, ca.SX(side * math.pi / 2)), ca.SX(3, 1)) for side in (1, -1))
    origin = np.append(document.numbers(joint, "scapula_winging_axis_origin", 2, "0 0"), 0.0)
    angle = document.number(joint, "scapula_winging_axis_direction", 0.0)
    wing = Axis(winging, False, np.array([-math.sin(angle), math.cos(angle), 0.0]), Coupling(winging))
    return [there, *_gliding(joint.name, names, (x, y, z)), back, _shift(origin), wing, _shift(-origin)]


def ellipsoid_steps(document: OsimDocument, joint: Component, names: Sequence[str]) -> list[Any]:
    """Gliding on an ellipsoid by two angles, and turning about its normal."""
    return list(_gliding(joint.name, names, document.numbers(joint, "radii_x_y_z", 3).tolist()))


def _gliding(name: str, names: Sequence[str], radii: Sequence[float]) -> Iterator[Any]:
    """Turns Rx(a) Ry(b) Rz(c) at the point that has the direction Rx(a) Ry(b) z times the three radii.

    It is the sum of three vectors of constant lengths, along Rx(a) Ry(b) z, Rx(a) Ry(-b) z and Rx(-a) Ry(b) z. Hence a
    chain of hinges that turn by a or b, or twice back.
    """
    first, second, third = names[:3]
    x, y, z = radii
    labels = (f"{name}_hinge{k}" for k in itertools.count(1))

    def hinge(axis: str, coordinate: str, ratio: float = 1.0) -> Axis:
        return Axis(next(labels), False, np.eye(3)["xyz".index(axis)], Coupling(coordinate, ratio))

    yield from (hinge("x", first), hinge("y", second), _shift((0, 0, (x + y) / 2)))
    if z != x:
        yield from (hinge("y", second, -2.0), _shift((0, 0, (z - x) / 2)), hinge("y", second, 2.0))
    if z != y:
        yield from (hinge("y", second, -1.0), hinge("x", first, -2.0), hinge("y", second))
        yield _shift((0, 0, (z - y) / 2))
        yield from (hinge("y", second, -1.0), hinge("x", first, 2.0), hinge("y", second))
    yield hinge("z", third)


def arc_steps(
    document: OsimDocument, joint: Component, names: Sequence[str], ranges: Sequence[tuple[float, float]]
) -> tuple[list[Any], float]:
    """An arc of constant curvature and length that bends about x and z and twists about y; and its error [m].

    An arc of length d that bends by an angle t ends where an isosceles triangle does with legs d tan(t/2) / t along the
    first and the last tangent. Here the legs are sums of slides that follow one coordinate each, exact where the other
    is zero. The error is the largest of the end, over the ranges of both coordinates.
    """
    length = document.number(joint, "length", 1.0)
    neutral = document.numbers(joint, "neutral_angle_x_z_y", 3, "0 0 0")
    bends = [
        (max(low, -_UPRIGHT - rest), min(high, _UPRIGHT - rest))
        for (low, high), rest in zip(ranges, neutral[:2], strict=True)
    ]
    curves = [_leg(*ends, rest) for ends, rest in zip(bends, neutral[:2], strict=True)]
    labels = (f"{joint.name}_slide{k}" for k in itertools.count(1))

    def legs() -> list[Any]:
        slides = [Coupling(name, length / 2, 0.0, curve) for name, curve in zip(names[:2], curves, strict=True)]
        return [_shift((0, -length / 2, 0)), *(Axis(next(labels), True, np.eye(3)[1], slide) for slide in slides)]

    def hinge(place: int, axis: int) -> list[Any]:
        turned = homogeneous(rotation_about(axis, ca.SX(neutral[place])), ca.SX(3, 1))
        return [turned, Axis(names[place], False, np.eye(3)[axis], Coupling(names[place]))]

    error = length * _arc_error([np.linspace(*ends, 41) + rest for ends, rest in zip(bends, neutral[:2], strict=True)])
    return [*legs(), *hinge(0, 0), *hinge(1, 2), *legs(), *hinge(2, 1)], error


def _leg(low: float, high: float, rest: float) -> Polynomial:
    """2 tan(t/2) / t at t = q + rest, as a polynomial of q from low to high."""
    series = np.polynomial.Chebyshev.interpolate(lambda q: _legs(q + rest), _TERMS, [low, high])
    return Polynomial(tuple(series.convert(kind=np.polynomial.Polynomial).coef.tolist()))


def _legs(t: np.ndarray) -> np.ndarray:
    safe = np.where(np.abs(t) < 1e-4, 1.0, t)
    return np.where(np.abs(t) < 1e-4, 1 + t**2 / 12, 2 * np.tan(safe / 2) / safe)


def _arc_error(bends: Sequence[np.ndarray]) -> float:
    """The largest distance of the end of a chain from that of an arc of length one, over pairs of its bends."""
    x, z = np.meshgrid(*bends)
    t = np.arccos(np.cos(x) * np.cos(z))
    return float(np.max(np.abs(_legs(x) + _legs(z) - 1 - _legs(t)) * np.cos(t / 2)))


def _shift(by: Any) -> ca.SX:
    return homogeneous(ca.SX.eye(3), ca.SX(ca.DM(by)))
