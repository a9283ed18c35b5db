"""A ball on a body that meets the ground y = 0, with a smooth compliant contact force.

Hertz's force of the indentation with Hunt and Crossley's dissipation (1975, J. Appl. Mech. 42) and Stribeck's friction,
made smooth as by Serrancoli et al. (2019, IEEE Trans. Neural Syst. Rehabil. Eng. 27): it acts a little before the ball
touches, and never vanishes wholly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from colloc.dynamics import Wrench
from colloc.dynamics.instant import Instant
from colloc.model import Load
from colloc.problem.part import Contribution, Part, joint_contribution
from colloc.problem.signal import Signal
from colloc.problem.surfaces import (
    GROUND,
    Plane,
    constants_of,
    in_frame,
    shapes_of,
    surface_of,
    turned,
    value_at,
    velocity_of,
    with_constants,
)
from colloc.problem.unknowns import Parameter, Unknown
from colloc.support.checks import (
    InputError,
    as_tuple,
    count,
    finite_array,
    finite_number,
    instance,
    not_negative,
    shortened,
    spelt,
    symbolic,
    text,
)
from colloc.support.display import entries

_SMALL = 1e-5  # m2 beside squared indentations, m2/s2 beside squared velocities
_STEEPNESS = 300.0, 50.0  # of the transitions in depth [1/m] and in velocity [s/m]
_CORNER = 10  # power of the mean that stands for the smaller of two
_FRICTION = "static_friction", "dynamic_friction", "viscous_friction", "transition_velocity"
_NUMBERS = "stiffness", "dissipation", *_FRICTION
_LEVEL = 1e-6  # by which axes may miss a rotation


@spelt
@dataclass(frozen=True, eq=False)
class ContactSphere(Part):
    """A ball on a body, with a contact force and friction where it meets a surface, by default the ground y = 0.

    All numbers and the entries of `center` may be unknown constants of the problem or parameters.

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
        By default the body's, with that of a surface other than the ground: "thigh on seat".
    surface : Plane, Box or Capsule
        A plane in any pose, a box (a chair, a step, a pedal), a bar (a handrail), or a `Surface` of yours; fixed to the
        world or to another body, on which the opposite force acts.

    See Also
    --------
    ContactEllipsoid, GroundContact, Plane, colloc.problem.ground

    Notes
    -----
    The published friction has a corner at the transition velocity. Here a mean of power 10 replaces the smaller of two
    values: friction is 7 % less there, and less than 1 % less above 1.4 times the velocity or below 0.7 of it.

    The force is that on a plane. The edges of boxes are rounded by 5 mm, or by a quarter of the shortest one. A ball
    that meets several surfaces is as many contacts of one centre, whose forces add up.

    Examples
    --------
    >>> heel = co.problem.ContactSphere("elbow", (0.0, 0.0, 0.0), radius=0.05, stiffness=1e6)
    >>> force = solution.evaluate(lambda now: heel.wrench(now).force, [0.0, 0.1])  # N
    >>> force.shape
    (2, 3)
    >>> stool = co.model.Box(None, (0.4, 0.05, 0.4), co.placement((0.2, 0.4, 0.0)), name="stool")
    >>> co.problem.ContactSphere("elbow", (0.0, 0.0, 0.0), radius=0.05, surface=stool)
    ContactSphere('elbow on stool', radius 0.05 m)
    """

    body: str
    center: Any
    radius: Any
    stiffness: Any = 1e6
    dissipation: Any = 2.0
    static_friction: Any = 0.8
    dynamic_friction: Any = 0.8
    viscous_friction: Any = 0.5
    transition_velocity: Any = 0.2
    name: str = ""
    surface: Any = GROUND

    def __post_init__(self):
        text("body of a contact sphere", self.body)
        object.__setattr__(self, "surface", surface_of("surface of a contact sphere", self.surface))
        object.__setattr__(self, "center", with_constants("center of a contact sphere", self.center, 3))
        on = "" if self.surface is GROUND else f" on {self.surface.name}"
        name = text("name of a contact sphere", self.name) if self.name else self.body + on
        object.__setattr__(self, "name", name)
        if self.surface.body == self.body:
            raise InputError(f"contact sphere {name!r} must meet a surface of another body, got one of {self.body!r}")
        for name in _NUMBERS:
            check = not_negative if name.endswith("friction") else partial(finite_number, positive=True)
            value = with_constants(f"{name} of contact sphere {self.name!r}", getattr(self, name), 1, check)
            object.__setattr__(self, name, value)
        self._set_form()

    def _set_form(self) -> None:
        """Check the numbers of its form."""
        what = f"radius of contact sphere {self.name!r}"
        object.__setattr__(self, "radius", with_constants(what, self.radius, 1, partial(finite_number, positive=True)))

    def __repr__(self) -> str:
        radius = f"{self.radius:g} m" if isinstance(self.radius, float) else f"{self.radius}"
        return f"ContactSphere({self.name!r}, radius {radius})"

    def row(self, end: Any, number: int = 4) -> tuple[ContactSphere, ...]:
        """A row of balls like this one, from its centre to another point: a capsule.

        Parameters
        ----------
        end : shape (3,) [m]
            Centre of the last ball, in the link frame.
        number : int
            Number of balls, two or more, each with the stiffness of this one.

        Examples
        --------
        >>> heel = co.problem.ContactSphere("elbow", (0.0, 0.0, 0.0), radius=0.03, name="sole")
        >>> [ball.name for ball in heel.row((0.2, 0.0, 0.0), number=3)]
        ['sole[0]', 'sole[1]', 'sole[2]']
        """
        count("number of balls in a row", number, at_least=2)
        ends = [symbolic(f"center of contact sphere {self.name!r}", point, (3, 1)) for point in (self.center, end)]
        places = [ends[0] + share * (ends[1] - ends[0]) for share in np.linspace(0, 1, number)]
        return tuple(replace(self, center=place, name=f"{self.name}[{k}]") for k, place in enumerate(places))

    @property
    def loads(self) -> tuple[Load, ...]:
        load = Load(self.body, self.force, point=self._touching)
        if self.surface.body is None:
            return (load,)
        return (load, Load(self.surface.body, self._opposite_force, point=self._touched))

    def contribution(self) -> Contribution:
        """Its loads, and the unknown constants, parameters and shapes of it and its surface."""
        own = constants_of(self.center, self.radius, *(getattr(self, name) for name in _NUMBERS))
        constants = [*own, *self.surface.constants]
        return Contribution(
            unknowns=[constant for constant in constants if isinstance(constant, Unknown)],
            parameters=[constant for constant in constants if isinstance(constant, Parameter)],
            loads=self.loads,
            shapes=shapes_of(self.surface),
            signals=[_signal(self.name, [self])],
        )

    def wrench(self, now: Instant) -> Wrench:
        """Force of the surface and its moment about the world's origin."""
        force = self.force(now)
        return Wrench(force, ca.cross(now.point(self.body, self._touching(now)).position, force))

    def indentation(self, now: Instant) -> ca.SX:
        """Depth of the ball's lowest point below the surface, SX, scalar [m]; negative above it."""
        return self._touch(now).depth

    def normal(self, now: Instant) -> ca.SX:
        """Unit normal of the surface next to the ball, SX, shape (3,), in the world."""
        return self._touch(now).normal

    def force(self, now: Instant) -> ca.SX:
        """Force of the surface on the ball, SX, shape (3,) [N], in the world."""
        touch, at = self._touch(now), now.point(self.body, self._touching(now))
        velocity = at.velocity - velocity_of(now, self.surface, at.position)
        into = ca.dot(touch.normal, velocity)
        normal = self._normal(now, touch, -into)
        slip = velocity - into * touch.normal
        speed = ca.sqrt(ca.sumsqr(slip) + _SMALL)
        return normal * touch.normal - normal * self._friction(now, speed) * slip / speed

    def _touch(self, now: Instant) -> _Touch:
        center = now.point(self.body, value_at(now, self.center)).position
        local = in_frame(now, self.surface, center)
        normal = turned(now, self.surface, self.surface.outward(now, local))
        extent, lowest, radius = self._form(now, normal)
        return _Touch(extent - self.surface.distance(now, local), normal, lowest, radius)

    def _form(self, now: Instant, normal: ca.SX) -> tuple[Any, ca.SX, Any]:
        """Extent of the form against a normal [m], its lowest point from the centre, shape (3,), radius there [m]."""
        radius = value_at(now, self.radius)
        return radius, -radius * normal, radius

    def _touching(self, now: Instant) -> ca.SX:
        """Point where the force acts, in the link frame: midway between the undeformed surfaces."""
        touch = self._touch(now)
        below = touch.lowest + touch.depth / 2 * touch.normal
        return value_at(now, self.center) + now.rotation(self.body).T @ below

    def _touched(self, now: Instant) -> ca.SX:
        """The same point in the frame of the surface's body."""
        return in_frame(now, self.surface, now.point(self.body, self._touching(now)).position)

    def _opposite_force(self, now: Instant) -> ca.SX:
        return -self.force(now)

    def _normal(self, now: Instant, touch: _Touch, rate: ca.SX) -> ca.SX:
        stiffness, dissipation = value_at(now, self.stiffness), value_at(now, self.dissipation)
        hertz = 2**0.5 / 3 * stiffness * touch.radius**0.5 * (touch.depth**2 + _SMALL) ** 0.75
        touching = 0.5 + 0.5 * ca.tanh(_STEEPNESS[0] * touch.depth)
        least = -2 / (3 * dissipation)  # the velocity at which the dissipation would pull
        pushing = 0.5 + 0.5 * ca.tanh(_STEEPNESS[1] * (rate - least))
        return hertz * touching * (1 + 1.5 * dissipation * rate) * pushing

    def _friction(self, now: Instant, speed: ca.SX) -> ca.SX:
        """Coefficient of friction at a speed of slipping."""
        static, dynamic, viscous, transition = (value_at(now, getattr(self, name)) for name in _FRICTION)
        ratio = speed / transition
        capped = ratio * (1 + ratio**_CORNER) ** (-1 / _CORNER)
        falling = dynamic + 2 * (static - dynamic) / (1 + ratio**2)
        return capped * falling + viscous * speed


@spelt
@dataclass(frozen=True, eq=False)
class ContactEllipsoid(ContactSphere):
    """An ellipsoid on a body that meets a surface, such as a heel, a thigh or the sole of a shoe.

    Arguments are those of `ContactSphere`, except for the radius.

    Parameters
    ----------
    radius : shape (3,) [m]
        Half axes.
    orientation : shape (3, 3)
        Axes of the ellipsoid as columns, in the link frame; by default the axes of that frame.

    See Also
    --------
    ContactSphere

    Notes
    -----
    The indentation of a plane is exact. The radius in Hertz's force is the geometric mean of both radii of curvature at
    the lowest point, a b c / h^2 with the extent h against the normal (Gauss's curvature of an ellipsoid); on other
    surfaces the normal is taken at the centre.

    Examples
    --------
    >>> sole = co.problem.ContactEllipsoid("elbow", (0.0, 0.0, 0.0), radius=(0.12, 0.02, 0.04))
    >>> sole
    ContactEllipsoid('elbow', half axes (0.12, 0.02, 0.04) m)
    """

    orientation: Any = None

    def _set_form(self) -> None:
        object.__setattr__(self, "radius", with_constants(f"radius of contact ellipsoid {self.name!r}", self.radius, 3))
        axes = np.eye(3) if self.orientation is None else self.orientation
        axes = finite_array(f"orientation of contact ellipsoid {self.name!r}", axes, (3, 3))
        if not np.allclose(axes.T @ axes, np.eye(3), atol=_LEVEL):
            raise InputError(f"orientation of contact ellipsoid {self.name!r} must be a rotation, got {axes.tolist()}")
        object.__setattr__(self, "orientation", axes)
        half = ca.vertsplit(self.radius) if isinstance(self.radius, ca.SX) else []
        if any(entry.is_constant() and float(entry) <= 0 for entry in half):
            raise InputError(f"radius of contact ellipsoid {self.name!r} must be positive, got {entries(self.radius)}")

    def __repr__(self) -> str:
        half = entries(self.radius) if isinstance(self.radius, ca.SX) else f"{self.radius}"
        return f"ContactEllipsoid({self.name!r}, half axes {half} m)"

    def _form(self, now: Instant, normal: ca.SX) -> tuple[Any, ca.SX, Any]:
        half, axes = value_at(now, self.radius), now.rotation(self.body) @ self.orientation
        across = half * (axes.T @ normal)
        extent = ca.sqrt(ca.sumsqr(across))
        return extent, -axes @ (half * across) / extent, half[0] * half[1] * half[2] / extent**2


def _signal(name: str, balls: Sequence[ContactSphere]) -> Signal:
    """Normal forces of balls, which figures leave out unless they are asked for."""
    names = [ball.name for ball in balls]
    return Signal(f"contact_{name}", partial(_normal_forces, tuple(balls)), names=names, unit="N", secondary=True)


def _normal_forces(balls: Sequence[ContactSphere], now: Instant) -> ca.SX:
    """Force of each ball's surface along its normal, SX, shape (len(balls),) [N]."""
    return ca.vertcat(ca.SX(0, 1), *(ca.dot(ball.force(now), ball.normal(now)) for ball in balls))


class _Touch(NamedTuple):
    """A form that meets a surface, in the world."""

    depth: ca.SX  # of its lowest point below the surface [m]
    normal: ca.SX  # shape (3,)
    lowest: ca.SX  # point from its centre, shape (3,) [m]
    radius: Any  # of curvature there [m]


@spelt
@dataclass(frozen=True, eq=False)
class GroundContact(Part):
    """Balls and ellipsoids on bodies that meet surfaces, by default the ground y = 0: a part of a problem.

    Parameters
    ----------
    spheres : sequence of ContactSphere and ContactEllipsoid
        With different names.
    name : str

    Examples
    --------
    >>> ball = co.problem.ContactSphere("elbow", (0.0, 0.0, 0.0), radius=0.05)
    >>> ground = co.problem.GroundContact([ball])
    >>> pushed = co.Problem(two_link(), 1.0, problem.minimize, parts=[ground])
    >>> co.problem.signals_of(pushed)["contact_ground"].labels  # normal forces, for tables and figures
    ('contact_ground[elbow]',)
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
        """Those of the balls, with their normal forces as one signal, "contact_ground"."""
        return replace(joint_contribution(self.spheres), signals=[_signal(self.name, self.spheres)])

    def wrench(self, now: Instant) -> Wrench:
        """Force of the surfaces on all balls together, and its moment about the world's origin."""
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
_AGAINST = -1, 0, 0  # normal of a half-space, in its axes


def contact_of_records(shapes: Sequence[ShapeRecord], laws: Sequence[LawRecord]) -> GroundContact:
    """Contact of an OpenSim file: a ball for every force between a sphere and a half-space.

    Parameters
    ----------
    shapes, laws : sequence of ContactShape and of ContactLaw
        `contact_shapes` and `contact_laws` of a `Reading`.

    Raises
    ------
    InputError
        For a force of another kind, and between other shapes.
    """
    for name, records, kind in (("shapes", shapes, ShapeRecord), ("laws", laws, LawRecord)):
        for k, record in enumerate(as_tuple(name, records)):
            instance(f"{name}[{k}]", record, kind, "of the contact_shapes and contact_laws of a co.formats.Reading")
    named, spheres = {shape.name: shape for shape in shapes}, []
    for law in laws:
        touching = [named[name] for name in law.shapes if name in named]
        if law.kind != _LAW or sorted(shape.kind for shape in touching) != ["half-space", "sphere"]:
            kinds = " and ".join(shape.kind for shape in touching) or "nothing"
            raise InputError(
                f"contact law {law.name!r} must be a {_LAW} of a sphere and a half-space, got a {law.kind} of {kinds}: "
                "state it by co.problem.ContactSphere"
            )
        ball, ground = sorted(touching, key=lambda shape: shape.kind, reverse=True)
        if ball.body is None or ball.radius is None:
            raise InputError(f"sphere {ball.name!r} must have a radius, and a body that moves")
        numbers = {name: law.numbers[name] for name in _NUMBERS if name in law.numbers}
        center = np.asarray(ball.placement)[:3, 3]
        plane = _plane(ground)
        spheres.append(ContactSphere(ball.body, center, ball.radius, name=ball.name, surface=plane, **numbers))
    return GroundContact(spheres)


def _plane(record: ShapeRecord) -> Plane:
    """A half-space as a plane; the ground, if it is that."""
    place = np.asarray(record.placement)
    normal = place[:3, :3] @ _AGAINST
    if record.body is None and np.allclose([*normal, place[1, 3]], [0, 1, 0, 0], atol=_LEVEL):
        return GROUND
    return Plane(place[:3, 3], normal, record.body, name=record.name)
