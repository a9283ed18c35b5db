"""A direct-current motor with gear on a joint: armature current, rotor inertia and friction.

With the voltage u, the current i, and n turns of the rotor for one of the joint,

    L i' = u - R i - k n qd,        tau = n k i,

where the rotor adds the inertia n^2 J to the joint, and viscous friction of the rotor n^2 b. (Any textbook, such as
Siciliano, Sciavicco, Villani and Oriolo 2009, section 5.2.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
        Torque, and voltage of the turning rotor.
    resistance : float [ohm]
    inductance : float [H]
    rotor : float [kg m2]
        Inertia of the rotor.
    friction : float [N m s]
        Viscous, at the rotor.
    voltage, current : float [V], [A]
        Limits, either way.
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
        """At the joint [N m/A]."""
        return self.gear * self.constant

    def on(self, joint: co.model.Joint) -> co.model.Joint:
        """A joint with the inertia and friction of the rotor."""
        turns = self.gear**2
        passive = replace(joint.passive, armature=turns * self.rotor, damping=turns * self.friction)
        return replace(joint, passive=passive)


def driven(model: co.Model, motors: Sequence[Motor]) -> co.Model:
    """A mechanism whose joints have motors, one each in the order of q."""
    motor_of = dict(zip(model.joint_names, motors, strict=True))
    bodies = [
        replace(body, joint=motor_of[body.joint_name].on(body.joint)) if body.joint.moves else body
        for body in model.bodies
    ]
    return replace(model, bodies=bodies)


def electrical(motors: Sequence[Motor]) -> tuple[list[co.Unknown | co.State], list[co.problem.Condition]]:
    """Unknowns that motors add to a problem, "voltage" and "current" of size n each, and the torques of the currents.

    Returns
    -------
    unknowns, constraints : list
    """
    n = len(motors)
    k, R, L, u, i = (
        np.array([getattr(motor, name) for motor in motors])
        for name in ("torque_per_current", "resistance", "inductance", "voltage", "current")
    )

    def rate(now: co.problem.Instant) -> ca.SX:
        return (now.voltage - ca.DM(R) * now.current - ca.DM(k) * now.qd) / ca.DM(L)

    voltage = co.Unknown("voltage", n, lower=-u, upper=u)
    current = co.State("current", n, rate=rate, lower=-i, upper=i)
    torque = co.path(lambda now: now.tau - ca.DM(k) * now.current, equals=np.zeros(n), name="torque of the motors")
    return [voltage, current], [torque]
