"""The Unimation Puma 560.

B. Armstrong, O. Khatib and J. Burdick, "The explicit dynamic model and inertial parameters of the PUMA 560 arm", IEEE
ICRA 1986, pp. 510-518: the masses, centres of mass and inertias, measured on a dismantled arm. P. Corke and B.
Armstrong-Hélouvry, "A search for consensus among model parameters reported for the PUMA 560 robot", IEEE ICRA 1994, pp.
1608-1613: the same in standard Denavit-Hartenberg frames with Paul's signs, the form known from Corke's Robotics
Toolbox and used here. Joint ranges as there, after Wang and Chen, IEEE Trans. Robotics and Automation 7(4), 1991.

Torque limits: Armstrong et al. 1986, table 7. Velocity limits, where the motors' supply ends: P. Corke, "Visual Control
of Robots", 1996, table 2.21. Motor inertias and gear ratios: Corke and Armstrong-Hélouvry 1994. How far the flange is
from the wrist's centre: C. S. G. Lee, "Robot arm kinematics, dynamics, and control", Computer 15(12), 1982.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import pi, radians
from typing import Any

import colloc as co

_TORQUES = (97.6, 186.4, 89.4, 24.2, 20.1, 21.3)  # N m
_VELOCITIES = (1.92, 1.51, 2.40, 5.34, 5.09, 5.74)  # rad/s
_ROTORS = (200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6)  # kg m2
_GEARS = (62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686)

# name, d [m], a [m], alpha [rad], mass [kg], com [m] and inertia [kg m2] in link axes about the com, range [deg]
_ROWS: tuple[tuple[str, float, float, float, float, Any, Any, tuple[float, float]], ...] = (
    ("waist", 0.0, 0.0, pi / 2, 1.0, (0, 0, 0), (0.175, 0.35, 0.175), (-160, 160)),
    ("shoulder", 0.0, 0.4318, 0.0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539), (-45, 225)),
    ("elbow", 0.15005, 0.0203, -pi / 2, 4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.020), (-225, 45)),
    ("wrist_roll", 0.4318, 0.0, pi / 2, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3), (-110, 170)),
    ("wrist_bend", 0.0, 0.0, -pi / 2, 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3), (-100, 100)),
    ("flange", 0.0, 0.0, 0.0, 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), (-266, 266)),
)
_FLANGE = (0.0, 0.0, 0.05625)  # m, face of the flange in the last frame


def puma560(gravity: Sequence[float] = (0.0, 0.0, -9.81), *, motors: bool = False) -> co.Model:
    """Six revolute joints; the world's origin is where the waist and shoulder axes meet, and z is up.

    At q = 0 the upper arm points along x and the forearm along z. The last frame sits at the wrist's centre.

    Of the first link only the inertia about the vertical was measured, 0.35 kg m2. Its mass (1 kg here) and other
    moments are placeholders: the link only turns about the vertical, so that they load the pedestal, never a joint.

    The printed moments of the third link, 0.066, 0.086 and 0.0125 kg m2, belong to no body: none may exceed the sum of
    the other two. The smallest, about the forearm's own axis, is raised to 0.020. Only the first entry of the mass
    matrix feels it, by 0.0075 kg m2 at most, and the centrifugal torques that go with it.

    The centre of mass of the fourth link is 19 mm beyond the wrist's centre, as in the toolbox, whose published gravity
    loads and inertias this model reproduces. In the frames of Armstrong et al. it is 19 mm before it, on the elbow's
    side; that changes the torques at shoulder and elbow by up to 0.31 N m.

    Friction is left out, and so are motors by default. Seen through its gears a motor's inertia is 0.17 to 0.19 kg m2
    at the wrist's joints, where the arm's own is a hundredth of that or less, and 0.6 to 2.3 kg m2 at the first three.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]
    motors : bool
        Whether joints have their motors: the inertia of their rotors, and limits of velocity and torque.

    Returns
    -------
    Model
        Joints "waist", "shoulder", "elbow", "wrist_roll", "wrist_bend" and "flange".
    """
    bodies: list[co.Body] = []
    for k, (name, d, a, alpha, mass, com, inertia, (lower, upper)) in enumerate(_ROWS):
        limits, armature = co.Limits(position=(radians(lower), radians(upper))), 0.0
        if motors:
            velocity, torque, armature = _VELOCITIES[k], _TORQUES[k], _ROTORS[k] * _GEARS[k] ** 2
            limits = replace(limits, velocity=(-velocity, velocity), torque=(-torque, torque))
        joint = co.dh_revolute(d=d, a=a, alpha=alpha, limits=limits, passive=co.Passive(armature=armature))
        bodies.append(co.Body(name, joint, bodies[-1].name if bodies else None, mass, com, inertia))
    bodies[-1] = replace(bodies[-1], tip=_FLANGE)
    return co.Model(bodies, gravity=gravity, name="Puma 560")
