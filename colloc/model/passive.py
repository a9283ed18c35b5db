"""Passive parts of a joint, which act in addition to the actuator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from colloc.support.checks import InputError, instance, spelt, symbolic
from colloc.support.pickling import Portable


@spelt
@dataclass(frozen=True, eq=False)
class Friction(Portable):
    """Coulomb friction, smoothed so that it has derivatives: level * tanh(rate / velocity).

    Parameters
    ----------
    level : number or SX [N m] or [N]
        Torque at rates far above `velocity`.
    velocity : number or SX [rad/s] or [m/s]
        Rate at which friction reaches 76 % of the level. Far below it friction acts like a damper, so that a joint
        under load creeps instead of sticking.

    Raises
    ------
    InputError
        For a negative level or a velocity that is not positive.

    Examples
    --------
    >>> joint = co.revolute(passive=co.Passive(friction=co.model.Friction(level=0.5, velocity=0.01)))  # N m, rad/s
    >>> arm = co.Model([co.Body("link", joint, mass=1.0)], gravity=(0, 0, 0))
    >>> co.Evaluator(arm).torque(q=[0.0], qd=[1.0], qdd=[0.0])
    array([0.5])
    """

    level: Any
    velocity: Any

    def __post_init__(self):
        object.__setattr__(self, "level", _not_negative("friction level", self.level))
        object.__setattr__(self, "velocity", _not_negative("friction velocity", self.velocity))
        if self.velocity.is_zero():
            raise InputError("friction velocity must be positive, got 0")


@spelt
@dataclass(frozen=True, eq=False)
class Passive(Portable):
    """Damper, spring, rotor and friction of a joint.

    The actuator has to provide armature qdd + damping qd + stiffness (q - rest) + friction(qd) in addition to the
    torque of the rigid bodies, see `colloc.dynamics.passive`.

    Parameters
    ----------
    damping : number or SX [N m s/rad] or [N s/m]
        Viscous damping.
    stiffness : number or SX [N m/rad] or [N/m]
        Stiffness of a linear spring.
    rest : number or SX [rad] or [m]
        Coordinate at which the spring is at rest.
    armature : number or SX [kg m2] or [kg]
        Inertia of the motor's rotor at the joint: that of the rotor times the gear ratio squared.
    friction : Friction, optional

    Raises
    ------
    InputError
        For numbers that are not finite and a negative damping, stiffness or armature.

    Examples
    --------
    >>> joint = co.revolute(axis=(0, 1, 0), passive=co.Passive(damping=0.2, stiffness=5.0, rest=0.1))
    >>> hanging = co.Model([co.Body("rod", joint, mass=1.0)])
    >>> co.Evaluator(hanging).torque(q=[0.3], qd=[1.0], qdd=[0.0]).round(3)  # 0.2 * 1 + 5 * (0.3 - 0.1)
    array([1.2])
    """

    damping: Any = 0.0
    stiffness: Any = 0.0
    rest: Any = 0.0
    armature: Any = 0.0
    friction: Friction | None = None

    def __post_init__(self):
        for name in ("damping", "stiffness", "armature"):
            object.__setattr__(self, name, _not_negative(name, getattr(self, name)))
        object.__setattr__(self, "rest", symbolic("rest", self.rest, (1, 1)))
        if self.friction is not None:
            instance("friction", self.friction, Friction)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that are not zero: "damping", "stiffness", "armature" and "friction"."""
        numbers = [name for name in ("damping", "stiffness", "armature") if not getattr(self, name).is_zero()]
        return (*numbers, *(["friction"] if self.friction is not None else []))

    @property
    def values(self) -> ca.SX:
        """All numbers in one column, SX, shape (4,) or, with friction, (6,)."""
        friction = [] if self.friction is None else [self.friction.level, self.friction.velocity]
        return ca.vertcat(self.damping, self.stiffness, self.rest, self.armature, *friction)


def _not_negative(name: str, value: Any) -> ca.SX:
    """A number or an expression; InputError for a negative number."""
    scalar = symbolic(name, value, (1, 1))
    if scalar.is_constant() and float(scalar) < 0:
        raise InputError(f"{name} must not be negative, got {float(scalar)}")
    return scalar
