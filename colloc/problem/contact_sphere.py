"""A ball on a body that meets the ground y = 0, with a smooth compliant contact force.

Hertz's force of the indentation with Hunt and Crossley's dissipation (1975, J. Appl. Mech. 42) and Stribeck's friction,
made smooth as by Serrancoli et al. (2019, IEEE Trans. Neural Syst. Rehabil. Eng. 27): it acts a little before the ball
touches, and never vanishes wholly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from colloc.dynamics import Wrench
from colloc.dynamics.instant import Instant
from colloc.model import Load
from colloc.problem.part import Contribution, Part
from colloc.support.checks import (
    InputError,
    as_tuple,
    finite_number,
    instance,
    not_negative,
    shortened,
    spelt,
    symbolic,
    text,
)

_SMALL = 1e-5  # m2 beside squared indentations, m2/s2 beside squared velocities
_STEEPNESS = 300.0, 50.0  # of the transitions in depth [1/m] and in velocity [s/m]
_CORNER = 10  # power of the mean that stands for the smaller of two


@spelt
@dataclass(frozen=True, eq=False)
class ContactSphere(Part):
    """A ball on a body, with a contact force and friction where it meets the ground y = 0.

    Parameters
    ----------
    body : str
    center : shape (3,) [m]
        In the link frame.
    radius : float [m]
    stiffness : float [Pa]
        Modulus E of the plane strain; the force of an indentation d is sqrt(2 R) / 3 E d^(3/2).
    dissipation : float [s/m]
        The force is multiplied by 1 + 3/2 dissipation times the velocity of indentation.
    static_friction, dynamic_friction, viscous_friction : float, float, float [s/m]
        Coefficients: at the transition velocity, far above it, and the increase for each m/s.
    transition_velocity : float [m/s]
        Velocity of slipping below which friction grows with it: a body at rest on a slope creeps.
    name : str
        By default the body's.

    See Also
    --------
    GroundContact, colloc.problem.ground

    Notes
    -----
    The published friction has a corner at the transition velocity. Here a mean of power 10 replaces the smaller of two
    values: friction is 7 % less there, and less than 1 % less above 1.4 times the velocity or below 0.7 of it.

    Examples
    --------
    >>> heel = co.problem.ContactSphere("elbow", (0.0, 0.0, 0.0), radius=0.05, stiffness=1e6)
    >>> force = solution.evaluate(lambda now: heel.wrench(now).force, [0.0, 0.1])  # N
    >>> force.shape
    (2, 3)
    """

    body: str
    center: Any
    radius: float
    stiffness: float = 1e6
    dissipation: float = 2.0
    static_friction: float = 0.8
    dynamic_friction: float = 0.8
    viscous_friction: float = 0.5
    transition_velocity: float = 0.2
    name: str = ""

    def __post_init__(self):
        text("body of a contact sphere", self.body)
        object.__setattr__(self, "center", symbolic("center of a contact sphere", self.center, (3, 1)))
        object.__setattr__(self, "name", text("name of a contact sphere", self.name) if self.name else self.body)
        for name in ("radius", "stiffness", "dissipation", "transition_velocity"):
            value = finite_number(f"{name} of contact sphere {self.name!r}", getattr(self, name), positive=True)
            object.__setattr__(self, name, value)
        for name in ("static_friction", "dynamic_friction", "viscous_friction"):
            value = not_negative(f"{name} of contact sphere {self.name!r}", getattr(self, name))
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"ContactSphere({self.name!r}, radius {self.radius:g} m)"

    @property
    def loads(self) -> tuple[Load, ...]:
        return (Load(self.body, self.force, point=self._touching),)

    def contribution(self) -> Contribution:
        return Contribution(loads=self.loads)

    def wrench(self, now: Instant) -> Wrench:
        """Force of the ground and its moment about the world's origin."""
        force = self.force(now)
        return Wrench(force, ca.cross(now.point(self.body, self._touching(now)).position, force))

    def indentation(self, now: Instant) -> ca.SX:
        """Depth of the ball's lowest point below the ground, SX, scalar [m]; negative above it."""
        return self.radius - now.point(self.body, self.center).position[1]

    def force(self, now: Instant) -> ca.SX:
        """Force of the ground on the ball, SX, shape (3,) [N], in the world."""
        depth, velocity = self.indentation(now), now.point(self.body, self._touching(now)).velocity
        normal = self._normal(depth, -velocity[1])
        slip = ca.vertcat(velocity[0], 0, velocity[2])
        speed = ca.sqrt(ca.sumsqr(slip) + _SMALL)
        return ca.vertcat(0, normal, 0) - normal * self._friction(speed) * slip / speed

    def _touching(self, now: Instant) -> ca.SX:
        """Point where the force acts, in the link frame: midway between the undeformed surfaces of ball and ground."""
        below = self.radius - self.indentation(now) / 2
        return self.center - now.rotation(self.body).T @ ca.vertcat(0, below, 0)

    def _normal(self, depth: ca.SX, rate: ca.SX) -> ca.SX:
        hertz = 2**0.5 / 3 * self.stiffness * self.radius**0.5 * (depth**2 + _SMALL) ** 0.75
        touching = 0.5 + 0.5 * ca.tanh(_STEEPNESS[0] * depth)
        least = -2 / (3 * self.dissipation)  # the velocity at which the dissipation would pull
        pushing = 0.5 + 0.5 * ca.tanh(_STEEPNESS[1] * (rate - least))
        return hertz * touching * (1 + 1.5 * self.dissipation * rate) * pushing

    def _friction(self, speed: ca.SX) -> ca.SX:
        """Coefficient of friction at a speed of slipping."""
        ratio = speed / self.transition_velocity
        capped = ratio * (1 + ratio**_CORNER) ** (-1 / _CORNER)
        falling = self.dynamic_friction + 2 * (self.static_friction - self.dynamic_friction) / (1 + ratio**2)
        return capped * falling + self.viscous_friction * speed


@spelt
@dataclass(frozen=True, eq=False)
class GroundContact(Part):
    """Balls on bodies that meet the ground y = 0: a part of a problem.

    Parameters
    ----------
    spheres : sequence of ContactSphere
        With different names.
    name : str

    Examples
    --------
    >>> ball = co.problem.ContactSphere("elbow", (0.0, 0.0, 0.0), radius=0.05)
    >>> ground = co.problem.GroundContact([ball])
    >>> pushed = co.Problem(two_link(), 1.0, problem.minimize, parts=[ground])
    """

    spheres: Sequence[ContactSphere]
    name: str = "ground"

    def __post_init__(self):
        text("name of the ground", self.name)
        spheres = as_tuple("spheres", self.spheres)
        names = [instance("sphere", sphere, ContactSphere).name for sphere in spheres]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise InputError(f"spheres must have different names, got {len(repeated)} of {repeated[0]!r}")
        object.__setattr__(self, "spheres", spheres)

    def __repr__(self) -> str:
        return f"GroundContact({shortened([sphere.name for sphere in self.spheres], most=6)})"

    @property
    def loads(self) -> tuple[Load, ...]:
        return tuple(load for sphere in self.spheres for load in sphere.loads)

    def contribution(self) -> Contribution:
        return Contribution(loads=self.loads)

    def wrench(self, now: Instant) -> Wrench:
        """Force of the ground on all balls together, and its moment about the world's origin."""
        wrenches = [sphere.wrench(now) for sphere in self.spheres]
        return sum(wrenches[1:], start=wrenches[0]) if wrenches else Wrench(ca.SX(3, 1), ca.SX(3, 1))


@runtime_checkable
class ShapeRecord(Protocol):
    """A contact shape of a file: a `colloc.formats.ContactShape`."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def body(self) -> str | None: ...
    @property
    def placement(self) -> Any: ...
    @property
    def radius(self) -> float | None: ...


@runtime_checkable
class LawRecord(Protocol):
    """A contact force of a file: a `colloc.formats.ContactLaw`."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def shapes(self) -> Sequence[str]: ...
    @property
    def numbers(self) -> Mapping[str, float]: ...


_LAW = "SmoothSphereHalfSpaceForce"
_NUMBERS = (
    "stiffness", "dissipation", "static_friction", "dynamic_friction", "viscous_friction", "transition_velocity",
)  # fmt: skip
_LEVEL = 1e-6  # by which a ground may miss y = 0 in slope and height [m]


def contact_of_records(shapes: Sequence[ShapeRecord], laws: Sequence[LawRecord]) -> GroundContact:
    """Contact of an OpenSim file: a ball for every force between a sphere and the ground.

    Parameters
    ----------
    shapes, laws : sequence of ContactShape and of ContactLaw
        `contacts` and `contact_laws` of a `Reading`.

    Raises
    ------
    InputError
        For a force of another kind, between other shapes, and for a ground that is not y = 0.
    """
    for name, records, kind in (("shapes", shapes, ShapeRecord), ("laws", laws, LawRecord)):
        for k, record in enumerate(as_tuple(name, records)):
            instance(f"{name}[{k}]", record, kind, "of the contacts and contact_laws of a co.formats.Reading")
    named, spheres = {shape.name: shape for shape in shapes}, []
    for law in laws:
        touching = [named[name] for name in law.shapes if name in named]
        if law.kind != _LAW or sorted(shape.kind for shape in touching) != ["half-space", "sphere"]:
            kinds = " and ".join(shape.kind for shape in touching) or "nothing"
            raise InputError(
                f"contact law {law.name!r} must be a {_LAW} of a sphere and a half-space, got a {law.kind} of {kinds}"
            )
        ball, ground = sorted(touching, key=lambda shape: shape.kind, reverse=True)
        place = np.asarray(ground.placement)
        if ground.body is not None or not np.allclose([*place[:3, 0], place[1, 3]], [0, -1, 0, 0], atol=_LEVEL):
            raise InputError(f"half-space {ground.name!r} must be the world's, below y = 0, for law {law.name!r}")
        if ball.body is None or ball.radius is None:
            raise InputError(f"sphere {ball.name!r} must have a radius, and a body that moves")
        numbers = {name: law.numbers[name] for name in _NUMBERS if name in law.numbers}
        center = np.asarray(ball.placement)[:3, 3]
        spheres.append(ContactSphere(ball.body, center, ball.radius, name=ball.name, **numbers))
    return GroundContact(spheres)
