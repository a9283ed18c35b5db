"""Parts that push and pull bodies: thrusters and rotors, cables, wheels that do not slip, and limits of grips.

Their forces are unknown signals and loads on bodies, which pictures show as arrows. All joints between the world and a
body that they move are passive, unless a part such as `Motors` drives them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.model import Load, Model
from colloc.model.kinematics import frames, point_in
from colloc.problem.conditions import Condition, path
from colloc.problem.part import Contribution, Part
from colloc.problem.signal import Signal
from colloc.problem.unknowns import Unknown
from colloc.support.checks import (
    InputError,
    as_tuple,
    finite_array,
    finite_number,
    instance,
    interval,
    not_negative,
    shortened,
    spelt,
    symbolic,
    text,
)

_POSTURES = 3  # random ones, at which rows of wheels are compared
_RANK = 1e-9  # smallest singular value of independent rows
_SMALL_SHEAR = 1e-6  # of the largest, beside squared shear forces


@spelt
@dataclass(frozen=True, eq=False)
class Thruster:
    """A force along an axis of a body: a rotor, a jet, a propeller.

    Parameters
    ----------
    name : str
    body : str
    direction : shape (3,)
        Of a positive force on the body, in the link frame; of any length but zero.
    point : shape (3,) [m]
        In the link frame; its origin by default.
    lower, upper : float [N]
        Bounds of the force. A thruster with two sides has a negative lower bound.
    moment_per_force : float [m]
        Moment on the body about the direction for each newton, such as the drag of a rotor; its sign is opposite to
        that of the rotor's spin.

    See Also
    --------
    Thrusters

    Examples
    --------
    >>> rotor = co.problem.Thruster("front", "hull", (0, 0, 1), (0.2, 0, 0), upper=5.0, moment_per_force=0.02)
    """

    name: str
    body: str
    direction: Any
    point: Any = (0.0, 0.0, 0.0)
    lower: float = 0.0
    upper: float = np.inf
    moment_per_force: float = 0.0

    def __post_init__(self):
        what = f"of thruster {text('name of a thruster', self.name)!r}"
        text(f"body {what}", self.body)
        object.__setattr__(self, "direction", _unit(f"direction {what}", self.direction))
        object.__setattr__(self, "point", symbolic(f"point {what}", self.point, (3, 1)))
        object.__setattr__(self, "moment_per_force", finite_number(f"moment_per_force {what}", self.moment_per_force))
        interval(f"force {what}", self.lower, self.upper)


@spelt
@dataclass(frozen=True, eq=False)
class Thrusters(Part):
    """Thrusters or rotors as a part of a problem, each with an unknown force along a fixed axis of its body.

    The joints between the world and these bodies are passive, unless `Motors` drive them.

    Parameters
    ----------
    thrusters : sequence of Thruster
        With different names.
    name : str
        Name of the signal: instants carry the forces under this name [N].

    See Also
    --------
    Cables, Motors

    Examples
    --------
    A lander slows down over its place, with the least impulse:

    >>> lander = co.Model([co.Body("lander", co.prismatic((0, 1, 0)), mass=2.0)], gravity=(0, -1.6, 0))
    >>> jet = co.problem.Thruster("jet", "lander", (0, 1, 0), upper=10.0)
    >>> ends = [co.initial(q=10.0, qd=-1.0), co.final(q=0.0, qd=0.0)]
    >>> parts = [co.problem.Thrusters([jet])]
    >>> landing = co.Problem(lander, 4.0, co.integral(lambda now: now.thrust**2), ends, parts=parts)
    >>> landing.passive, co.solve(landing).at(4.0).thrust.round(1)
    (('lander',), array([10.]))
    """

    thrusters: Sequence[Thruster]
    name: str = "thrust"
    thrust: Unknown = field(init=False, repr=False)

    def __post_init__(self):
        thrusters = _named("thrusters", self.thrusters, Thruster)
        object.__setattr__(self, "thrusters", thrusters)
        object.__setattr__(self, "thrust", _forces(self.name, thrusters))

    def __repr__(self) -> str:
        return f"Thrusters({shortened([thruster.name for thruster in self.thrusters], most=6)})"

    def contribution(self) -> Contribution:
        """The forces as signals and loads."""
        loads = [
            Load(thruster.body, partial(self._force, k), partial(self._moment, k), thruster.point)
            for k, thruster in enumerate(self.thrusters)
        ]
        return Contribution(unknowns=[self.thrust], loads=loads, moved=_distinct(t.body for t in self.thrusters))

    def _force(self, k: int, now: Instant) -> ca.SX:
        """Force of a thruster on its body, SX, shape (3,) [N], in the world."""
        thruster = self.thrusters[k]
        return getattr(now, self.name)[k] * (now.rotation(thruster.body) @ ca.DM(thruster.direction))

    def _moment(self, k: int, now: Instant) -> ca.SX:
        return self.thrusters[k].moment_per_force * self._force(k, now)


@spelt
@dataclass(frozen=True, eq=False)
class Cable:
    """A straight cable without mass that only pulls, from a point of a body to the world or to another body.

    Its length is free: a winch at one end pays it out.

    Parameters
    ----------
    name : str
    body : str
    point : shape (3,) [m]
        End of the cable on the body, in the link frame.
    anchor : shape (3,) [m]
        The other end, in the world, or in the link frame of `other`.
    other : str, optional
        Body that the cable pulls at its other end; the world by default.
    lower, upper : float [N]
        Bounds of the tension, not negative. A positive lower bound keeps the cable taut.
    longest : float [m]
        Upper bound of the length.

    See Also
    --------
    Cables

    Examples
    --------
    >>> cable = co.problem.Cable("left", "plate", (-0.1, 0, 0), anchor=(-1, 1, 0), lower=0.5, upper=20.0)
    """

    name: str
    body: str
    point: Any
    anchor: Any
    other: str | None = None
    lower: float = 0.0
    upper: float = np.inf
    longest: float = np.inf

    def __post_init__(self):
        what = f"of cable {text('name of a cable', self.name)!r}"
        text(f"body {what}", self.body)
        if self.other is not None and text(f"other body {what}", self.other) == self.body:
            raise InputError(f"a cable pulls two bodies, or one and the world; both ends {what} are on {self.body!r}")
        for name in ("point", "anchor"):
            object.__setattr__(self, name, symbolic(f"{name} {what}", getattr(self, name), (3, 1)))
        not_negative(f"lower tension {what}", self.lower)
        interval(f"tension {what}", self.lower, self.upper)
        if self.longest != np.inf:
            finite_number(f"longest {what}", self.longest, positive=True)

    @property
    def ends(self) -> tuple[tuple[str, ca.SX], ...]:
        """Bodies at the ends, each with its point."""
        first = (self.body, self.point)
        return (first,) if self.other is None else (first, (self.other, self.anchor))

    def span(self, now: Instant) -> ca.SX:
        """Vector from the point on the body to the other end, SX, shape (3,) [m], in the world."""
        far = self.anchor if self.other is None else now.point(self.other, self.anchor).position
        return far - now.point(self.body, self.point).position


@spelt
@dataclass(frozen=True, eq=False)
class Cables(Part):
    """Cables that pull bodies, as a part of a problem: a cable robot, a crane, a tether between two satellites.

    Tensions are the unknown signal `<name>_tension` [N], lengths are the signal `<name>_length` [m]; instants carry
    both, as in ``co.path(lambda now: now.cable_length, upper=2.0)``. The joints between
    the world and the bodies are passive, unless `Motors` drive them. The two ends of a cable must not meet: its
    direction is undefined there.

    Parameters
    ----------
    cables : sequence of Cable
        With different names.
    name : str

    See Also
    --------
    Thrusters

    Examples
    --------
    A mass between two winches, as fast as they can move it:

    >>> mass = co.Model([co.Body("mass", co.prismatic((1, 0, 0)), mass=1.0)], gravity=(0, 0, 0))
    >>> pull = [co.problem.Cable(side, "mass", (0, 0, 0), (x, 0, 0), upper=4.0) for side, x in (("l", -2), ("r", 2))]
    >>> ends = [co.initial(q=-1.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    >>> fastest = co.Problem(mass, co.Free(0.1, 9.0), co.duration(), ends, parts=[co.problem.Cables(pull)])
    >>> round(co.solve(fastest).duration, 3)  # 2 sqrt(2 / 4) s
    1.414
    """

    cables: Sequence[Cable]
    name: str = "cable"
    tension: Unknown = field(init=False, repr=False)

    def __post_init__(self):
        cables = _named("cables", self.cables, Cable)
        object.__setattr__(self, "cables", cables)
        object.__setattr__(self, "tension", _forces(f"{text('name of cables', self.name)}_tension", cables))

    def __repr__(self) -> str:
        return f"Cables({shortened([cable.name for cable in self.cables], most=6)})"

    def contribution(self) -> Contribution:
        """Tensions as signals and loads, lengths as signals, and bounds of lengths."""
        names, longest = tuple(cable.name for cable in self.cables), [cable.longest for cable in self.cables]
        loads = [
            Load(body, partial(self._force, k, sign), point=point)
            for k, cable in enumerate(self.cables)
            for sign, (body, point) in zip((1.0, -1.0), cable.ends, strict=False)
        ]
        length = Signal(f"{self.name}_length", self.lengths, names=names, unit="m", upper=longest)
        short = [k for k, most in enumerate(longest) if most < np.inf]
        within = path(
            partial(self._some_lengths, short),
            upper=[longest[k] for k in short],
            name=f"{self.name} lengths",
            unit="m",
            labels=[f"length of {self.name} {names[k]}" for k in short],
        ) if short else None  # fmt: skip
        return Contribution(
            unknowns=[self.tension],
            loads=loads,
            statements=[] if within is None else [within],
            signals=[length],
            moved=_distinct(body for cable in self.cables for body, _ in cable.ends),
        )

    def lengths(self, now: Instant) -> ca.SX:
        """Lengths of all cables, SX, shape (number,) [m]."""
        return self._some_lengths(range(len(self.cables)), now)

    def _some_lengths(self, which: Sequence[int], now: Instant) -> ca.SX:
        return ca.vertcat(*(ca.norm_2(self.cables[k].span(now)) for k in which))

    def _force(self, k: int, sign: float, now: Instant) -> ca.SX:
        """Force of a cable on the body at one of its ends, SX, shape (3,) [N], in the world."""
        span = self.cables[k].span(now)
        return sign * getattr(now, self.tension.name)[k] * span / ca.norm_2(span)


@spelt
@dataclass(frozen=True, eq=False)
class Wheel:
    """A wheel that does not slip sideways; with a radius, it rolls without slipping.

    Parameters
    ----------
    name : str
    body : str
        Body that carries the axle. A wheel with a radius is a body that turns about it.
    axle : shape (3,)
        Direction of the axle, to the left of the direction of travel, in the link frame.
    center : shape (3,) [m]
        In the link frame; its origin by default.
    radius : float, optional [m]
        Of a wheel whose turning moves the vehicle. Without one the wheel runs freely.
    up : shape (3,)
        Normal of the ground, in the world.

    See Also
    --------
    Wheels

    Examples
    --------
    >>> rear = co.problem.Wheel("rear", "chassis", axle=(0, 1, 0), center=(-1.2, 0, 0))
    """

    name: str
    body: str
    axle: Any
    center: Any = (0.0, 0.0, 0.0)
    radius: float | None = None
    up: Any = (0.0, 0.0, 1.0)

    def __post_init__(self):
        what = f"of wheel {text('name of a wheel', self.name)!r}"
        text(f"body {what}", self.body)
        for name in ("axle", "up"):
            object.__setattr__(self, name, _unit(f"{name} {what}", getattr(self, name)))
        object.__setattr__(self, "center", symbolic(f"center {what}", self.center, (3, 1)))
        if self.radius is not None:
            object.__setattr__(self, "radius", finite_number(f"radius {what}", self.radius, positive=True))

    def directions(self, rotation: ca.SX) -> list[ca.SX]:
        """Directions in which the point of contact does not slip, in the world: to the left, and ahead."""
        side = rotation @ ca.DM(self.axle)
        return [side] if self.radius is None else [side, ca.cross(side, ca.SX(self.up))]

    def touching(self, rotation: ca.SX) -> ca.SX:
        """Point of contact in the link frame, SX, shape (3,) [m]."""
        return self.center - (self.radius or 0.0) * (rotation.T @ ca.DM(self.up))


@spelt
@dataclass(frozen=True, eq=False)
class Wheels(Part):
    """Wheels on flat ground that do not slip: a car, a trailer, the base of a mobile manipulator.

    The velocity of a point of contact is zero along the axle, and ahead as well for a wheel with a radius. The forces
    that keep it so are the unknown signal `name` [N]. Two wheels on one axle forbid the same slip: of all rows the
    independent ones remain, in the order of the wheels, and the first wheel of an axle takes the force of both. The
    ground does not carry the vehicle: let it move in a plane.

    The joints between the world and the bodies are passive: drive them by `Motors` at the wheels, or by `Thrusters` at
    the chassis.

    Parameters
    ----------
    model : Model
    wheels : sequence of Wheel
        With different names.
    name : str

    Attributes
    ----------
    rows : tuple of str
        Names of the components: that of a wheel, then side or ahead.

    Examples
    --------
    A sledge on one runner, pushed ahead and turned, comes to rest one meter to its left:

    >>> plane = [co.Body("x", co.prismatic((1, 0, 0))), co.Body("y", co.prismatic((0, 1, 0)), "x")]
    >>> sledge = co.Body("sledge", co.revolute(), "y", mass=1.0, inertia=(0.1, 0.1, 0.1))
    >>> model = co.Model([*plane, sledge], gravity=(0, 0, 0))
    >>> runner = co.problem.Wheels(model, [co.problem.Wheel("runner", "sledge", axle=(0, 1, 0))])
    >>> push = co.problem.Thruster("push", "sledge", (1, 0, 0), lower=-2.0, upper=2.0)
    >>> parts = [runner, co.problem.Thrusters([push]), co.Motors({"sledge": 0.3})]
    >>> ends = [co.initial(q=0.0, qd=0.0), co.final(q=(0.0, 1.0, 0.0), qd=0.0)]
    >>> aside = co.Problem(model, co.Free(0.1, 20.0), co.duration(), ends, parts=parts)
    >>> round(co.solve(aside).duration, 2)
    2.72
    """

    model: Model
    wheels: Sequence[Wheel]
    name: str = "wheel_force"
    force: Unknown = field(init=False, repr=False)
    _kept: tuple[tuple[int, ...], ...] = field(init=False, repr=False)  # by wheel, directions of independent rows

    def __post_init__(self):
        instance("model", self.model, Model)
        wheels = _named("wheels", self.wheels, Wheel)
        object.__setattr__(self, "wheels", wheels)
        object.__setattr__(self, "_kept", _independent_rows(self.model, wheels))
        names = tuple(
            f"{wheel.name} {('side', 'ahead')[k]}" for wheel, kept in zip(wheels, self._kept, strict=True) for k in kept
        )
        object.__setattr__(self, "force", Unknown(self.name, names=names, unit="N"))

    def __repr__(self) -> str:
        return f"Wheels({shortened([wheel.name for wheel in self.wheels], most=6)})"

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(self.force.names)

    def contribution(self) -> Contribution:
        """Forces of the ground as signals and loads, and no slip along the path."""
        loads, first = [], 0
        for wheel, kept in zip(self.wheels, self._kept, strict=True):
            if kept:
                force = partial(self._force, wheel, kept, first)
                loads.append(Load(wheel.body, force, point=partial(_touching, wheel)))
            first += len(kept)
        labels = [f"slip of wheel {row}" for row in self.rows]
        still = path(self.slip, equals=0.0, name=f"no slip of {self.name}", unit="m/s", labels=labels)
        moved = _distinct(wheel.body for wheel in self.wheels)
        return Contribution(unknowns=[self.force], loads=loads, statements=[still], moved=moved)

    def slip(self, now: Instant) -> ca.SX:
        """Velocities of the points of contact in the independent directions, SX, shape (rows,) [m/s]."""
        each = zip(self.wheels, self._kept, strict=True)
        return ca.vertcat(*(_slips(wheel, now.point, now.rotation(wheel.body))[list(kept)] for wheel, kept in each))

    def _force(self, wheel: Wheel, kept: Sequence[int], first: int, now: Instant) -> ca.SX:
        """Force of the ground on a wheel, SX, shape (3,) [N], in the world."""
        directions, size = wheel.directions(now.rotation(wheel.body)), getattr(now, self.name)
        return sum((size[first + k] * directions[row] for k, row in enumerate(kept)), ca.SX(3, 1))


def _touching(wheel: Wheel, now: Instant) -> ca.SX:
    return wheel.touching(now.rotation(wheel.body))


def _slips(wheel: Wheel, point: Callable[..., Any], rotation: ca.SX) -> ca.SX:
    """Velocities of the point of contact in the directions in which it does not slip, SX [m/s]."""
    velocity = point(wheel.body, wheel.touching(rotation)).velocity
    return ca.vertcat(*(ca.dot(direction, velocity) for direction in wheel.directions(rotation)))


def _independent_rows(model: Model, wheels: Sequence[Wheel]) -> tuple[tuple[int, ...], ...]:
    """By wheel, directions whose rows do not follow from those before them, at random postures."""
    q, qd = ca.SX.sym("q", model.n_q), ca.SX.sym("qd", model.n)
    moving = frames(model, q, qd, ca.SX(model.n, 1))

    def point(body: str, at: Any) -> Any:
        return point_in(moving, model.index(body), at)

    rows = [_slips(wheel, point, moving.position[model.index(wheel.body)][:3, :3]) for wheel in wheels]
    slips = ca.vertcat(*rows)
    others = ca.vertcat(*model.symbols, *(wheel.center for wheel in wheels))
    sizes = ca.vertcat(*ca.symvar(others))  # that are unknowns or parameters
    jacobian, rng = ca.Function("jacobian", [q, sizes], [ca.jacobian(slips, qd)]), np.random.default_rng(0)
    samples = []
    for _ in range(_POSTURES):
        posture = model.displaced(model.neutral, rng.normal(size=model.n))
        samples.append(np.asarray(jacobian(posture, rng.uniform(0.5, 1.5, sizes.numel()))))
    places = [(wheel, k) for wheel, of_wheel in enumerate(rows) for k in range(of_wheel.numel())]
    chosen: list[int] = []
    for row in range(len(places)):
        if any(np.linalg.matrix_rank(J[[*chosen, row]], _RANK) > len(chosen) for J in samples):
            chosen.append(row)
    kept = [places[row] for row in chosen]
    return tuple(tuple(k for of, k in kept if of == wheel) for wheel in range(len(wheels)))


@spelt
@dataclass(frozen=True, eq=False)
class Grip(Part):
    """Limits of what holds a body: a suction cup, or the jaws of a gripper.

    The body hangs by a `fixed` joint on what carries it, with the joint's origin at the middle of the cup or the jaws.
    The force through that joint (`Instant.reaction`) has a component along the normal, positive where the body is
    pulled towards the cup, and a shear force across it.

    Parameters
    ----------
    body : str
        The body that is held.
    normal : shape (3,)
        From the body into the cup, in the body's link frame.
    pull : float [N]
        Largest force that pulls at the body along the normal: pressure difference times area of a cup.
    push : float [N]
        Largest force that pushes the body along the normal.
    shear : float [N]
        Largest shear force.
    friction : float, optional
        The shear force is at most this times `pull` less the force along the normal: what pulls less than the cup can
        presses its rim on the body.
    moment : float [N m]
        Largest moment about the joint's origin.
    name : str
        Of the signal with the components along the normal and across it [N], which instants carry.

    Examples
    --------
    A box of 2 kg under a cup, moved by one meter in the shortest time, where shear allows 4 m/s2:

    >>> cart = co.Body("cart", co.prismatic((1, 0, 0)), mass=1.0)
    >>> box = co.Body("box", co.fixed(), "cart", mass=2.0)
    >>> ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    >>> cup = co.problem.Grip("box", normal=(0, 1, 0), pull=60.0, shear=8.0)
    >>> swift = co.Problem(co.Model([cart, box]), co.Free(0.1, 5.0), co.duration(), ends, parts=[cup])
    >>> round(co.solve(swift).duration, 3)
    1.0
    """

    body: str
    normal: Any
    pull: float = np.inf
    push: float = np.inf
    shear: float = np.inf
    friction: float | None = None
    moment: float = np.inf
    name: str = "grip"

    def __post_init__(self):
        what = f"of the grip of {text('body of a grip', self.body)!r}"
        text(f"name {what}", self.name)
        object.__setattr__(self, "normal", _unit(f"normal {what}", self.normal))
        for name in ("pull", "push", "shear", "moment"):
            value = getattr(self, name)
            if value != np.inf:
                object.__setattr__(self, name, not_negative(f"{name} {what}", value))
        if self.friction is not None:
            object.__setattr__(self, "friction", finite_number(f"friction {what}", self.friction, positive=True))
            if self.pull == np.inf:
                raise InputError(f"friction {what} needs the force of the cup: give pull [N]")

    def __repr__(self) -> str:
        return f"Grip({self.body!r})"

    def contribution(self) -> Contribution:
        """Rows for the limits that are finite, and the force as a signal."""
        rows: list[Condition] = []
        along, most = f"{self.name} along the normal", max(self._sizes, default=1.0)
        if min(self.pull, self.push) < np.inf:
            rows.append(path(self.along, lower=-self.push, upper=self.pull, name=along, unit="N", scale=most))
        if self.shear < np.inf:
            rows.append(path(self.across, upper=self.shear, name=f"{self.name} shear", unit="N", scale=most))
        if self.friction is not None:
            rows.append(path(self._to_spare, lower=0.0, name=f"{self.name} friction", unit="N", scale=most))
        if self.moment < np.inf:
            name = f"{self.name} moment"
            rows.append(path(self._moment, upper=self.moment, name=name, unit="N m", scale=self.moment or 1.0))
        both = Signal(self.name, self._force, names=("along", "across"), unit="N")
        return Contribution(statements=rows, signals=[both])

    @property
    def _sizes(self) -> list[float]:
        return [value for value in (self.pull, self.push, self.shear) if 0 < value < np.inf]

    def along(self, now: Instant) -> ca.SX:
        """Force on the body along the normal, SX, scalar [N]; positive where it is pulled towards the cup."""
        return ca.dot(ca.DM(self.normal), now.reaction(self.body).force)

    def across(self, now: Instant) -> ca.SX:
        """Size of the force on the body across the normal, SX, scalar [N]."""
        force, normal = now.reaction(self.body).force, ca.DM(self.normal)
        return _length(force - ca.dot(normal, force) * normal, max(self._sizes, default=1.0))

    def _force(self, now: Instant) -> ca.SX:
        return ca.vertcat(self.along(now), self.across(now))

    def _to_spare(self, now: Instant) -> ca.SX:
        """Shear force that friction has left, SX, scalar [N]."""
        assert self.friction is not None
        return self.friction * (self.pull - self.along(now)) - self.across(now)

    def _moment(self, now: Instant) -> ca.SX:
        return _length(now.reaction(self.body).moment, self.moment)


def _length(vector: ca.SX, size: float) -> ca.SX:
    """Length of a vector, smooth where it is zero: too large by at most 1e-6 of a size."""
    return ca.sqrt(ca.sumsqr(vector) + (_SMALL_SHEAR * size) ** 2)


def _unit(what: str, value: Any) -> np.ndarray:
    """A direction of length one, shape (3,); InputError for zero."""
    vector = finite_array(what, value, (3,))
    length = float(np.linalg.norm(vector))
    if length == 0:
        raise InputError(f"{what} must not be zero, got {vector}")
    return vector / length


def _named(what: str, items: Any, kind: type) -> tuple[Any, ...]:
    """Items of a kind with different names; InputError for none."""
    listed = as_tuple(what, items)
    names = [instance(f"{what}[{k}]", item, kind).name for k, item in enumerate(listed)]
    if not listed:
        raise InputError(f"{what} must be one or more, got none")
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{what} must have different names, got {len(repeated)} of {repeated[0]!r}")
    return listed


def _forces(name: str, items: Sequence[Thruster | Cable]) -> Unknown:
    """Unknown forces within bounds."""
    lower, upper = np.array([(item.lower, item.upper) for item in items], float).T
    return Unknown(name, lower=lower, upper=upper, names=tuple(item.name for item in items), unit="N")


def _distinct(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
