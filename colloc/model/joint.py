"""One joint: T(q) = before * exp(screw * q) * after."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.model.passive import Passive
from colloc.model.transforms import axis_rotation, homogeneous, inverse, placement, rigid
from colloc.support.checks import (
    InputError,
    angles,
    as_tuple,
    instance,
    interval,
    pair,
    quoted,
    spelt,
    symbolic,
    text,
    vector,
)
from colloc.support.display import entries, short
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable

_FREE = (-math.inf, math.inf)
_ROUNDING = 1e-9  # by how much the length of a unit vector, or a line through a point, may be off


@spelt
@dataclass(frozen=True)
class Limits:
    """Limits of one joint, each (lower, upper); infinite by default.

    Parameters
    ----------
    position : [rad] or [m]
    velocity : [rad/s] or [m/s]
    torque : [N m] or [N]
    acceleration : [rad/s2] or [m/s2]

    Examples
    --------
    >>> knee = co.revolute(limits=co.Limits(position=(0.0, 2.4), torque=(-150.0, 150.0)))
    >>> knee.limits.velocity
    (-inf, inf)
    """

    position: tuple[float, float] = _FREE
    velocity: tuple[float, float] = _FREE
    torque: tuple[float, float] = _FREE
    acceleration: tuple[float, float] = _FREE

    def __post_init__(self):
        for name in ("position", "velocity", "torque", "acceleration"):
            lower, upper = interval(f"limits {name}", *pair(f"limits {name}", getattr(self, name)), ())
            object.__setattr__(self, name, (float(lower), float(upper)))


class Screw(NamedTuple):
    """Motion of a joint per unit of its coordinate, ndarray, each shape (3,), in the frame placed by `before`.

    Parameters
    ----------
    angular : [rad/rad]
        Unit vector along the axis of rotation; zero for a joint that does not turn.
    linear : [m/rad] or [m/m]
        Velocity of the frame's origin; a unit vector for a joint that only slides, zero for one that does not.
    """

    angular: np.ndarray
    linear: np.ndarray

    @property
    def reversed(self) -> Screw:
        """The opposite motion: that of the parent relative to the link."""
        return Screw(-self.angular, -self.linear)


class JointMotion(NamedTuple):
    """Position and motion of a joint's screw: all that a recursion uses of q, qd and qdd."""

    position: ca.SX  # shape (positions,) [rad, m]; as `Joint.transform` takes it
    rate: ca.SX  # scalar [rad/s] or [m/s]; speed along the screw; a structural zero for a fixed joint
    change: ca.SX  # scalar [rad/s2] or [m/s2]; its time derivative, likewise


@spelt
@dataclass(frozen=True, eq=False)
class Joint(Portable):
    """A joint with at most one degree of freedom between a parent frame and a link frame.

    The homogeneous transform from link frame to parent frame is ``before @ exp(screw * q) @ after``. The screw
    determines the motion: without a linear part it is a hinge, without an angular one a slide, with both along one axis
    a helix, with none a rigid connection. Where the axis of a turn does not pass through the origin of `before`, both
    transforms are shifted so that it does, which does not change the joint's transform: the linear part of the screw is
    then along the axis.

    Parameters
    ----------
    before : shape (4, 4)
        Constant homogeneous transform from the joint frame to the parent's link frame (lengths in m; numbers or
        symbols).
    screw : Screw, or pair (angular, linear) of shape (3,) each
        Motion per unit of the coordinate, in the joint frame.
    after : shape (4, 4)
        Constant homogeneous transform from the link frame to the joint frame once it has moved.
    limits : Limits, optional
    name : str, optional
        That of the body by default, see `Model.joint_names`.
    passive : Passive, optional
        Damper, spring, rotor and friction.

    Raises
    ------
    InputError
        For transforms that are not rigid, an angular part that is neither zero nor of unit length, a slide that is not
        of unit length, numbers that are not finite, and passive parts of a fixed joint.

    Examples
    --------
    >>> screw = co.model.Joint(before=np.eye(4), screw=([0, 0, 1], [0, 0, 0.01]), after=np.eye(4))
    >>> screw.kind
    'helical'
    """

    before: Any
    screw: Any
    after: Any
    limits: Limits = field(default_factory=Limits)
    name: str | None = None
    passive: Passive = field(default_factory=Passive)

    def __post_init__(self):
        before, after = rigid("before", self.before), rigid("after", self.after)
        screw, shift = _through_origin(_checked_screw(self.screw))
        instance("limits", self.limits, Limits)
        if self.name is not None:
            text("joint name", self.name)
        if shift.any():
            before, after = before @ placement(shift), placement(-shift) @ after
        for name, value in (("before", before), ("screw", screw), ("after", after)):
            object.__setattr__(self, name, value)
        parts = instance("passive", self.passive, Passive).parts
        if self.hinge:
            of = f" of joint {self.name!r}" if self.name else ""
            angles(f"position limit{of}", self.limits.position, turns=3)  # arms turn their tools by two
            angles("rest", self.passive.rest)
        if parts and not self.moves:
            raise InputError(f"a fixed joint has no {' and no '.join(parts)}")

    def __repr__(self) -> str:
        parts = [repr(self.name)] if self.name else []
        parts += [self.kind + (f" about {_vector(self.axis)}" if self.turns else "")]
        if self.slides and not self.turns:
            parts[-1] += f" along {_vector(self.axis)}"
        unit = "rad" if self.turns else "m"
        low, high = self.limits.position
        parts += [f"q in [{short(low)}, {short(high)}] {unit}"] if np.isfinite([low, high]).any() else []
        parts += [f"{name} {entries(getattr(self.passive, name))}" for name in self.passive.parts if name != "friction"]
        parts += ["friction"] if self.passive.friction is not None else []
        return f"Joint({', '.join(parts)})"

    @property
    def symbols(self) -> list[ca.SX]:
        """The symbols in transforms and passive parts."""
        return ca.symvar(ca.vertcat(ca.vec(self.before), ca.vec(self.after), self.passive.values))

    @cached_property
    def turns(self) -> bool:
        return bool(self.screw.angular.any())

    @cached_property
    def slides(self) -> bool:
        return bool(self.screw.linear.any())

    @property
    def moves(self) -> bool:
        return self.turns or self.slides

    @property
    def hinge(self) -> bool:
        """Whether its coordinate is an angle of at most a turn: it turns and does not slide, unlike a thread."""
        return self.turns and not self.slides

    def alike(self, other: Joint) -> bool:
        """Whether another joint is of the same kind, and has friction or not as this one."""
        instance("other", other, Joint)
        return self.kind == other.kind and (self.passive.friction is None) == (other.passive.friction is None)

    @property
    def axis(self) -> np.ndarray:
        """Direction of the axis in the joint frame, ndarray, shape (3,); zero for a joint that does not move."""
        return self.screw.angular if self.turns else self.screw.linear

    @property
    def kind(self) -> str:
        """Label of the motion: "revolute", "prismatic", "helical" or "fixed"."""
        if self.turns:
            return "helical" if self.slides else "revolute"
        return "prismatic" if self.slides else "fixed"

    @property
    def positions(self) -> int:
        """Number of entries of q for the joint."""
        return int(self.moves)

    def position_names(self, name: str) -> tuple[str, ...]:
        """Names of the positions of a joint called `name`."""
        return (text("name", name),) * self.positions

    @property
    def position_unit(self) -> str:
        """Unit of its positions: rad where it turns, m for a slide."""
        return "rad" if self.turns else "m"

    @property
    def neutral(self) -> np.ndarray:
        """Positions of a joint at its placement, ndarray, shape (positions,)."""
        return np.zeros(self.positions)

    def coordinate(self, q: ca.SX) -> ca.SX:
        """Displacement along the screw at the positions q, SX, scalar [rad] or [m]; structurally zero if fixed."""
        return symbolic("q", q, (1, 1)) if self.moves else ca.SX(1, 1)

    def frame(self, q: ca.SX) -> ca.SX:
        """Transform from the frame in which the screw is constant to the parent frame, SX, shape (4, 4): `before`."""
        self.coordinate(q)  # what is no position is refused here as well
        return self.before

    def rotation(self, q: ca.SX) -> ca.SX:
        """Rotation by the screw alone, SX, shape (3, 3)."""
        if not self.turns:
            return ca.SX.eye(3)
        angle = self.coordinate(q)
        return axis_rotation(self.screw.angular, ca.cos(angle), ca.sin(angle))

    def transform(self, q: ca.SX) -> ca.SX:
        """Homogeneous transform from the link frame to the parent frame, SX, shape (4, 4).

        Parameters
        ----------
        q : SX, shape (positions,) [rad] or [m]
            Of this joint; ignored for a fixed one.
        """
        if not self.moves:
            return self.before @ self.after
        moved = homogeneous(self.rotation(q), sparse_vector(self.screw.linear) * self.coordinate(q))
        return self.frame(q) @ moved @ self.after

    @property
    def twist(self) -> ca.SX:
        """Constant body twist as a 4x4 matrix Xi: dT/dq = T Xi, d2T/dq2 = T Xi Xi.

        With Z = before S before^-1 this is the same derivative as dT/dq = Z T (Xiang et al. 2009, equation 13).
        """
        screw = ca.SX(4, 4)
        if self.turns:
            screw[:3, :3] = ca.skew(ca.SX(self.screw.angular))
        if self.slides:
            screw[:3, 3] = self.screw.linear
        return inverse(self.after) @ screw @ self.after


def _vector(axis: np.ndarray) -> str:
    return entries(ca.SX(axis))


def sparse_vector(vector: np.ndarray) -> ca.SX:
    """Numbers (3,) as a sparse column, so that terms with zeros vanish."""
    return ca.sparsify(ca.SX(vector))


def _checked_screw(value: Any) -> Screw:
    try:
        angular, linear = as_tuple("screw", value)
    except (InputError, ValueError):
        raise InputError(f"screw must be (angular, linear), each of shape (3,), got {quoted(value)}") from None
    parts = []
    for name, part in (("angular", angular), ("linear", linear)):
        parts.append(vector(f"{name} part of the screw", part, 3))
    screw = Screw(*parts)
    turn, shift = (float(np.linalg.norm(part)) for part in screw)
    if turn != 0 and abs(turn - 1) > _ROUNDING:
        raise InputError(f"angular part of the screw must be zero or of unit length, got length {turn:g}: {angular!r}")
    if turn == 0 and shift != 0 and abs(shift - 1) > _ROUNDING:
        raise InputError(
            f"linear part of a screw that only slides must be zero or of unit length, got length {shift:g}: {linear!r}"
        )
    return screw


def _through_origin(screw: Screw) -> tuple[Screw, np.ndarray]:
    """The screw seen from a point on its axis, and that point, shape (3,), in the joint frame."""
    angular, linear = screw
    shift = np.cross(angular, linear)
    if np.linalg.norm(shift) <= _ROUNDING * np.linalg.norm(linear):
        return screw, np.zeros(3)
    return Screw(angular, angular * (angular @ linear)), shift
