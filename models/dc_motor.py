"""A direct-current motor with gear on a joint: armature current, rotor inertia and friction.

With the voltage u, the current i, and n turns of the rotor for one of the joint,

    L i' = u - R i - k n qd,        tau = n k i,

where the rotor adds the inertia n^2 J to the joint, and viscous friction of the rotor n^2 b. (Any textbook, such as
Siciliano, Sciavicco, Villani and Oriolo 2009, section 5.2.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co


@dataclass(frozen=True)
class Motor:
    """A motor, and its gear.

    Parameters
    ----------
    gear : float
        Turns of the rotor for one turn of the joint.
    constant : float [N m/A, V s]
        Torque per current, and voltage per speed of the rotor.
    resistance : float [ohm]
    inductance : float [H]
    rotor : float [kg m2]
        Inertia of the rotor.
    friction : float [N m s]
        Viscous, at the rotor.
    voltage, current : float [V], [A]
        Limits in both directions.
    """

    gear: float
    constant: float = 0.1
    resistance: float = 1.0
    inductance: float = 5e-3
    rotor: float = 5e-5
    friction: float = 1e-5
    voltage: float = 48.0
    current: float = 5.0

    @property
    def torque_per_current(self) -> float:
        """Torque constant at the joint [N m/A]."""
        return self.gear * self.constant

    def on(self, joint: co.model.Joint) -> co.model.Joint:
        turns = self.gear**2
        passive = replace(joint.passive, armature=turns * self.rotor, damping=turns * self.friction)
        return replace(joint, passive=passive)


class DrivenModel(NamedTuple):
    """A mechanism with the rotors of its motors, and the motors as a part of a problem."""

    model: co.Model
    motors: DCMotors


@dataclass(frozen=True, eq=False)
class DCMotors(co.problem.Part):
    """Motors at joints: unknowns "voltage" [V] and state "current" [A], one each, and the torques of the currents.

    Parameters
    ----------
    motors : mapping of str to Motor
        By joint.
    """

    motors: Mapping[str, Motor]
    name: str = "motor"
    _unknowns: tuple[co.Unknown, co.State] = field(init=False, repr=False)

    def __post_init__(self):
        u, i = self._numbers("voltage"), self._numbers("current")
        voltage = co.Unknown("voltage", lower=-u, upper=u, names=tuple(self.motors), unit="V")
        current = co.State("current", rate=self._rate, lower=-i, upper=i, names=tuple(self.motors), unit="A")
        object.__setattr__(self, "_unknowns", (voltage, current))

    def contribution(self) -> co.problem.Contribution:
        sizes = self._numbers("torque_per_current") * self._numbers("current")
        return co.problem.Contribution(
            unknowns=self._unknowns, sizes=dict(zip(self.motors, sizes.tolist(), strict=True))
        )

    def torques(self, now: co.problem.Instant) -> dict[str, ca.SX]:
        torques = ca.DM(self._numbers("torque_per_current")) * now.current
        return dict(zip(self.motors, ca.vertsplit(torques), strict=True))

    def _rate(self, now: co.problem.Instant) -> ca.SX:
        k, R, L = (ca.DM(self._numbers(name)) for name in ("torque_per_current", "resistance", "inductance"))
        joints = [now.model.joint_names.index(joint) for joint in self.motors]
        return (now.voltage - R * now.current - k * now.qd[joints]) / L

    def _numbers(self, name: str) -> np.ndarray:
        return np.array([getattr(motor, name) for motor in self.motors.values()])


def driven(model: co.Model, motors: Mapping[str, Motor]) -> DrivenModel:
    """A mechanism with motors at some or all joints, by joint."""
    for joint in motors:
        if joint not in model.joint_names:
            raise co.InputError(f"no joint named {joint!r}; joints are {', '.join(model.joint_names)}")
    bodies = [
        replace(body, joint=motors[body.joint_name].on(body.joint)) if body.joint_name in motors else body
        for body in model.bodies
    ]
    return DrivenModel(replace(model, bodies=bodies), DCMotors(dict(motors)))
