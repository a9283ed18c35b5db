"""A pendulum that a motor turns through a spring.

With the angle q of the pendulum and that of the motor, m, whose speed is the command,

    tau = k (m - q),        m' = speed.

M. W. Spong, "Modeling and control of elastic joint robots", ASME Journal of Dynamic Systems, Measurement, and Control
109, 1987; with a motor that follows its command up to a limit of the speed, S. Haddadin, M. Weis, S. Wolf and A.
Albu-Schäffer, "Optimal control for maximizing link velocity of robotic variable stiffness joints", IFAC World Congress,
2011. The numbers are chosen here, of the size of a forearm.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import casadi as ca

import colloc as co

LENGTH, MASS = 0.5, 1.0  # m, kg: a slender rod
INERTIA = MASS * LENGTH**2 / 3  # kg m2, about the hinge


@dataclass(frozen=True)
class Drive:
    """A motor and the spring between it and the joint.

    Parameters
    ----------
    stiffness : float [N m/rad]
    speed : float [rad/s]
        Limit of the motor's speed in both directions.
    """

    stiffness: float = 20.0
    speed: float = 4.0

    @property
    def frequency(self) -> float:
        """Natural frequency of the pendulum on the spring, without gravity and with the motor at rest [rad/s]."""
        return sqrt(self.stiffness / INERTIA)


def spring_pendulum(gravity: float = 9.81) -> co.Model:
    """A rod in the x-y plane that hangs down at zero and turns about z.

    Parameters
    ----------
    gravity : float [m/s2]
        Along -y.

    Returns
    -------
    Model
        Joint "pendulum"; the massless body "tip" sits at the end of the rod.
    """
    rod = MASS * LENGTH**2 / 12
    bodies = [
        co.Body("pendulum", co.revolute((0, 0, 1)), None, MASS, (0, -LENGTH / 2, 0), (rod, 0, rod)),
        co.Body("tip", co.fixed(co.placement((0, -LENGTH, 0))), "pendulum"),
    ]
    return co.Model(bodies, (0.0, -gravity, 0.0), "spring-driven pendulum")


def sprung(drive: Drive) -> tuple[list[co.Unknown | co.State], list[co.problem.Condition]]:
    """Unknowns that the drive adds to a problem, "speed" and "motor", and the torque that the spring gives.

    Returns
    -------
    unknowns, constraints : list
    """

    def spring(now: co.problem.Instant) -> ca.SX:
        return now.tau - drive.stiffness * (now.motor - now.q)

    motor = co.State("motor", rate=lambda now: now.speed)
    torque = co.path(spring, equals=0.0, unit="N m", name="torque of the spring")
    return [co.Unknown("speed", lower=-drive.speed, upper=drive.speed), motor], [torque]
