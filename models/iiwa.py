"""The KUKA LBR iiwa 14 R820.

Frames, masses, centres of mass and inertias: lbr_iiwa, Copyright 2015 Robert Krug and Todor Stoyanov, Örebro University
(BSD licence of two clauses), github.com/rtkg/lbr_iiwa, as packed in pybullet_data 3.2.7. KUKA publishes no inertias;
these round numbers are what simulators use. Limits of position, velocity and torque: KUKA, "Sensitive robotics: LBR
iiwa", brochure, technical data of the LBR iiwa 14 R820. Acceleration limits are not published.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, radians
from typing import Any

import colloc as co

# Each joint turns about z. origin [m] and roll, pitch, yaw [rad] of the joint in the frame of the link before it; mass
# [kg], com [m] and principal moments of inertia [kg m2] in link axes about the com; limits of position [deg], velocity
# [deg/s] and torque [N m]
_ROWS: tuple[tuple[Any, Any, float, Any, Any, float, float, float], ...] = (
    ((0, 0, 0.1575), (0, 0, 0), 4.0, (0, -0.03, 0.12), (0.1, 0.09, 0.02), 170, 85, 320),
    ((0, 0, 0.2025), (pi / 2, 0, pi), 4.0, (0.0003, 0.059, 0.042), (0.05, 0.018, 0.044), 120, 85, 320),
    ((0, 0.2045, 0), (pi / 2, 0, pi), 3.0, (0, 0.03, 0.13), (0.08, 0.075, 0.01), 170, 100, 176),
    ((0, 0, 0.2155), (pi / 2, 0, 0), 2.7, (0, 0.067, 0.034), (0.03, 0.01, 0.029), 120, 75, 176),
    ((0, 0.1845, 0), (-pi / 2, pi, 0), 1.7, (0.0001, 0.021, 0.076), (0.02, 0.018, 0.005), 170, 130, 110),
    ((0, 0, 0.2155), (pi / 2, 0, 0), 1.8, (0, 0.0006, 0.0004), (0.005, 0.0036, 0.0047), 120, 135, 40),
    ((0, 0.081, 0), (-pi / 2, pi, 0), 0.3, (0, 0, 0.02), (0.001, 0.001, 0.001), 175, 135, 40),
)


def iiwa(gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> co.Model:
    """Seven revolute joints; z is up and the origin at the foot, 0.36 m below the shoulder.

    The source's damping of 0.5 N m s/rad at every joint, which stabilises simulations, is left out.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]

    Returns
    -------
    Model
        Joints "A1" to "A7", the maker's names.
    """
    bodies: list[co.Body] = []
    for k, (origin, rpy, mass, com, inertia, position, velocity, torque) in enumerate(_ROWS):
        position, velocity = radians(position), radians(velocity)
        limits = co.Limits((-position, position), (-velocity, velocity), (-torque, torque))
        joint = co.revolute(placement=co.placement(origin, rpy), limits=limits)
        bodies.append(co.Body(f"A{k + 1}", joint, bodies[-1].name if bodies else None, mass, com, inertia))
    return co.Model(bodies, gravity=gravity, name="LBR iiwa 14")
