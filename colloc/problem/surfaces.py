"""Surfaces on which bodies stand, sit, push or roll: planes in any pose, belts, boxes and bars, still or on a body.

A surface has a distance, negative inside, and its gradient is the normal. Boxes and bars are the `Box` and `Capsule` of
`colloc.model`. A surface of yours, such as terrain, is a class with a `distance`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca

from colloc.dynamics.instant import Instant
from colloc.model import Box, Capsule
from colloc.model.distance import segment_distance
from colloc.problem.unknowns import Parameter, Unknown
from colloc.support.checks import InputError, as_tuple, function, quoted, spelt, symbolic, text
from colloc.support.pickling import Portable

_ROUNDING = 5e-3  # m, of the edges of a box, unless it is thin
_THIN = 0.25  # of the shortest edge of a box: most that its edges are rounded
_SMOOTH = 0.1  # of the rounding: length over which faces and edges merge
_TINY = 1e-12  # beside squared lengths

Constant = Unknown | Parameter


def constants_of(*values: Any) -> Iterator[Constant]:
    """Unknown constants and parameters among numbers and the entries of columns."""
    for value in values:
        for entry in value if isinstance(value, tuple) else (value,):
            if isinstance(entry, Constant):
                yield entry


def with_constants(what: str, value: Any, size: int = 1, check: Callable[[str, Any], float] | None = None) -> Any:
    """A number or column that may hold symbols, unknown constants and parameters, to be read by `value_at`.

    Parameters
    ----------
    what : str
        For messages.
    size : int
        Number of entries; 1 for a number.
    check : callable, optional
        Check of entries that are numbers.
    """
    entries = [value] if size == 1 or isinstance(value, Constant | ca.SX | ca.DM) else list(as_tuple(what, value))
    for constant in constants_of(*entries):
        entry_size = size if isinstance(value, Constant) else 1
        varies = isinstance(constant, Unknown) and not constant.constant
        if varies or constant.symbol.numel() != entry_size:
            form = f"co.Unknown('k', {f'size={entry_size}, ' if entry_size > 1 else ''}constant=True)"
            raise InputError(f"{what} must be constant and of size {entry_size}, as in {form}, got {constant}")
    if isinstance(value, Constant):
        return value
    if any(isinstance(entry, Constant) for entry in entries):
        if len(entries) != size:
            raise InputError(f"{what} must be of shape ({size},), got {quoted(value)}")
        return tuple(e if isinstance(e, Constant) else symbolic(f"entry of {what}", e, (1, 1)) for e in entries)
    if size == 1 and check is not None and not isinstance(value, ca.SX):
        return check(what, value)
    return symbolic(what, value, (size, 1))


def value_at(now: Instant, value: Any) -> Any:
    """A number or column at an instant, which has the unknown constants and parameters in it."""
    if isinstance(value, tuple):
        return ca.vertcat(*(value_at(now, entry) for entry in value))
    return getattr(now, value.name) if isinstance(value, Constant) else value


class Surface(Portable, ABC):
    """A surface that pushes bodies back, fixed to the world or to a body.

    A class of your own overrides `distance`, and `material_velocity` if its material moves.

    Attributes
    ----------
    body : str or None
        To which it is fixed; None for the world.
    name : str
    constants : tuple of Unknown and Parameter
        Those that it depends on.

    See Also
    --------
    Plane, ContactSphere

    Examples
    --------
    >>> class Waves(co.problem.Surface):
    ...     name = "waves"
    ...
    ...     def distance(self, now, point):
    ...         return 0.98 * (point[1] - 0.02 * ca.sin(10 * point[0]))  # m, a little less than the true distance
    >>> ball = co.problem.ContactSphere("elbow", (0, 0, 0), radius=0.05, surface=Waves())
    """

    body: str | None = None
    name: str = "surface"
    constants: tuple[Constant, ...] = ()

    @abstractmethod
    def distance(self, now: Instant, point: ca.SX) -> ca.SX:
        """Distance of a point, SX, shape (3,) [m] in the frame of the body, from the surface, SX, scalar [m].

        Smooth, and negative inside.
        """

    def outward(self, now: Instant, point: ca.SX) -> ca.SX:
        """Unit normal at a point in the frame of the body, SX, shape (3,): by default the gradient of the distance."""
        p = ca.SX.sym("p", 3)
        slope = ca.substitute(ca.gradient(self.distance(now, p), p), p, point)
        return slope / ca.sqrt(ca.sumsqr(slope) + _TINY)

    def material_velocity(self, now: Instant, point: ca.SX) -> ca.SX:
        """Velocity of the material in the frame of the body, SX, shape (3,) [m/s]; zero by default."""
        return ca.SX(3, 1)


@spelt
@dataclass(frozen=True, eq=False)
class Plane(Surface):
    """A plane in any pose, fixed to the world or to a body: the ground, a slope, a wall, a pedal, a treadmill's belt.

    Points, normals and velocities may hold unknown constants and parameters, also as single entries.

    Parameters
    ----------
    point : shape (3,) [m]
        Any point of the plane, in the link frame or the world's.
    normal : shape (3,)
        Towards those who stand on it, in the same frame; of any length but zero.
    body : str or None
        To which the plane is fixed; None for the world.
    velocity : shape (3,) or callable [m/s]
        Of a belt in the same frame: numbers, or a function of the instant. Only what lies in the plane rubs.
    name : str

    See Also
    --------
    ContactSphere, colloc.model.Box, colloc.model.Capsule

    Examples
    --------
    >>> uphill = co.problem.Plane(normal=(-0.08, 1.0, 0.0), name="slope")  # rises by 8 %
    >>> belt = co.problem.Plane(velocity=(-1.2, 0.0, 0.0), name="belt")  # m/s
    >>> height = co.Unknown("height", lower=0.3, upper=0.6, guess=0.4, constant=True)  # m
    >>> seat = co.problem.Plane(point=(0.0, height, 0.0), name="seat")
    >>> heel = co.problem.ContactSphere("elbow", (0, 0, 0), radius=0.05, surface=uphill)
    """

    point: Any = (0.0, 0.0, 0.0)
    normal: Any = (0.0, 1.0, 0.0)
    body: str | None = None
    velocity: Any = (0.0, 0.0, 0.0)
    name: str = "plane"

    def __post_init__(self):
        text("name of a plane", self.name)
        if self.body is not None:
            text(f"body of plane {self.name!r}", self.body)
        for name in ("point", "normal"):
            object.__setattr__(self, name, with_constants(f"{name} of plane {self.name!r}", getattr(self, name), 3))
        if isinstance(self.normal, ca.SX) and self.normal.is_constant() and self.normal.is_zero():
            zeros = ca.evalf(self.normal).full().ravel().tolist()
            raise InputError(f"normal of plane {self.name!r} must not be zero, got {quoted(zeros)}")
        what = f"velocity of plane {self.name!r}"
        if callable(self.velocity):
            function(what, self.velocity, "a function of the instant", "now")
        else:
            object.__setattr__(self, "velocity", with_constants(what, self.velocity, 3))
        object.__setattr__(self, "constants", tuple(constants_of(self.point, self.normal, self.velocity)))

    def __repr__(self) -> str:
        return f"Plane({self.name!r}{f' on {self.body}' if self.body else ''})"

    def distance(self, now: Instant, point: ca.SX) -> ca.SX:
        return ca.dot(self.outward(now, point), point - value_at(now, self.point))

    def outward(self, now: Instant, point: ca.SX) -> ca.SX:
        normal = value_at(now, self.normal)
        return normal / ca.norm_2(normal)

    def material_velocity(self, now: Instant, point: ca.SX) -> ca.SX:
        velocity = self.velocity(now) if callable(self.velocity) else value_at(now, self.velocity)
        return symbolic(f"velocity of plane {self.name!r}", velocity, (3, 1))


GROUND = Plane(name="ground")


@dataclass(frozen=True, eq=False)
class _ShapeSurface(Surface):
    """The surface of a box, whose edges are a little rounded, or of a capsule."""

    shape: Box | Capsule

    def __post_init__(self):
        object.__setattr__(self, "body", self.shape.body)
        object.__setattr__(self, "name", self.shape.label)

    def distance(self, now: Instant, point: ca.SX) -> ca.SX:
        if isinstance(self.shape, Box):
            turn, origin = self.shape.placement[:3, :3], self.shape.placement[:3, 3]
            return _from_box(turn.T @ (point - origin), self.shape.size / 2)
        return segment_distance(point, point, self.shape.start, self.shape.end) - self.shape.radius


def surface_of(what: str, value: Any) -> Surface:
    """A surface as it is, or that of a box or a capsule; InputError for anything else."""
    if isinstance(value, Box | Capsule):
        return _ShapeSurface(value)
    if isinstance(value, Surface):
        return value
    raise InputError(f"{what} must be a co.problem.Plane, a co.model.Box or a co.Capsule, got {quoted(value)}")


def shapes_of(surface: Surface) -> tuple[Box | Capsule, ...]:
    """The box or capsule of a surface, for pictures."""
    return (surface.shape,) if isinstance(surface, _ShapeSurface) else ()


def _from_box(point: ca.SX, half: ca.SX) -> ca.SX:
    """Distance from a box with rounded edges, by half of its edges, SX, shape (3,) [m]."""
    radius = ca.fmin(_ROUNDING, _THIN * 2 * ca.mmin(half))
    width = _SMOOTH * radius
    beyond = ca.sqrt(point**2 + width**2) - half + radius  # the core that is rounded, by axis
    outside = ca.sqrt(ca.sumsqr((beyond + ca.sqrt(beyond**2 + width**2)) / 2) + _TINY)
    largest = beyond[0]
    for entry in ca.vertsplit(beyond[1:]):
        largest = (largest + entry + ca.sqrt((largest - entry) ** 2 + width**2)) / 2
    inside = (largest - ca.sqrt(largest**2 + width**2)) / 2
    return outside + inside - radius


def in_frame(now: Instant, surface: Surface, place: ca.SX) -> ca.SX:
    """A place of the world in the frame of a surface's body, SX, shape (3,) [m]."""
    if surface.body is None:
        return place
    frame = now.frame(surface.body)
    return frame[:3, :3].T @ (place - frame[:3, 3])


def turned(now: Instant, surface: Surface, vector: ca.SX) -> ca.SX:
    """A vector of the frame of a surface's body in the world, SX, shape (3,)."""
    return vector if surface.body is None else now.rotation(surface.body) @ vector


def velocity_of(now: Instant, surface: Surface, place: ca.SX) -> ca.SX:
    """Velocity in the world of the material of a surface at a place of the world, SX, shape (3,) [m/s]."""
    local = in_frame(now, surface, place)
    own = turned(now, surface, surface.material_velocity(now, local))
    return own if surface.body is None else own + now.point(surface.body, local).velocity
