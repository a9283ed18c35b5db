"""The Universal Robots UR5.

Denavit-Hartenberg rows, masses and centres of mass: Universal Robots, "DH parameters for calculations of kinematics and
dynamics". Inertias, which the maker does not print there: cylinders of the links' sizes, config/ur5 in
github.com/UniversalRobots/Universal_Robots_ROS2_Description (BSD licence of three clauses). Limits of position and
velocity: "UR5 User Manual", UR5/CB3, version 3.13; the elbow meets the upper arm beyond half a turn. Torques: Universal
Robots, "Max. joint torques", 2020. Acceleration limits are not published.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import colloc as co

# name, d [m], a [m], alpha [rad], mass [kg], com [m] and principal moments of inertia [kg m2] in link axes about the
# com, limits of position [rad] and torque [N m]
_ROWS: tuple[tuple[str, float, float, float, float, Any, Any, float, float], ...] = (
    ("shoulder_pan", 0.089159, 0.0, pi / 2, 3.7, (0, -0.02561, 0.00193),
     (0.01497235833, 0.01040625, 0.01497235833), 2 * pi, 150.0),
    ("shoulder_lift", 0.0, -0.425, 0.0, 8.393, (0.2125, 0, 0.11336),
     (0.0151074, 0.13388583542, 0.13388583542), 2 * pi, 150.0),
    ("elbow", 0.0, -0.39225, 0.0, 2.33, (0.15, 0, 0.0265),
     (0.004095, 0.03121680352, 0.03121680352), pi, 150.0),
    ("wrist_1", 0.10915, 0.0, pi / 2, 1.219, (0, -0.0018, 0.01634),
     (0.00201388958, 0.0021942, 0.00201388958), 2 * pi, 28.0),
    ("wrist_2", 0.09465, 0.0, -pi / 2, 1.219, (0, 0.0018, 0.01634),
     (0.00183103958, 0.0021942, 0.00183103958), 2 * pi, 28.0),
    ("wrist_3", 0.0823, 0.0, 0.0, 0.1879, (0, 0, -0.001159),
     (0.00008062476, 0.00008062476, 0.00013211719), 2 * pi, 28.0),
)  # fmt: skip


def ur5(gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> co.Model:
    """Six revolute joints; z is up and the origin at the foot. At q = 0 the arm points along -x.

    Friction and the inertias of motors are left out.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]

    Returns
    -------
    Model
        Joints "shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2" and "wrist_3".
    """
    bodies: list[co.Body] = []
    for name, d, a, alpha, mass, com, inertia, position, torque in _ROWS:
        limits = co.Limits((-position, position), (-pi, pi), (-torque, torque))  # 180 deg/s
        joint = co.dh_revolute(d=d, a=a, alpha=alpha, limits=limits)
        bodies.append(co.Body(name, joint, bodies[-1].name if bodies else None, mass, com, inertia))
    return co.Model(bodies, gravity=gravity, name="UR5")
