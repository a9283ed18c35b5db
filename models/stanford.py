"""The Stanford arm, with five revolute joints and a sliding boom.

Kinematics: R. Paul, "Modelling, trajectory calculation and servoing of a computer controlled arm", Stanford AIM-177,
1972, figure 2.3. Masses and inertias: R. Paul, "Robot Manipulators: Mathematics, Programming and Control", MIT Press
1981, tables 6.5 and 6.6, as transcribed in Corke's Robotics Toolbox. Ranges: V. Dobrotin and V. Scheinman, "Design of a
computer controlled manipulator for robot research", IJCAI 1973.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, pi, radians
from typing import Any

import numpy as np

import colloc as co

TOOL = (0.0, 0.0, 0.263)  # m, between the fingers, in the frame of the hand

# name, d [m], alpha [rad], mass [kg], com [m], moments of inertia about the axes of the link frame [kg m2], range [deg]
_ROWS: tuple[tuple[str, float, float, float, Any, Any, float], ...] = (
    ("waist", 0.412, -pi / 2, 9.29, (0, 0.0175, -0.1105), (0.276, 0.255, 0.071), 170),
    ("shoulder", 0.154, pi / 2, 5.01, (0, -0.1054, 0), (0.108, 0.018, 0.100), 170),
    ("boom", 0.0, 0.0, 4.25, (0, 0, -0.6447), (2.51, 2.51, 0.006), inf),
    ("wrist_roll", 0.0, -pi / 2, 1.08, (0, 0.0092, -0.0054), (0.002, 0.001, 0.001), 170),
    ("wrist_bend", 0.0, pi / 2, 0.63, (0, 0, 0.0566), (0.003, 0.003, 0.0004), 90),
    ("hand", 0.0, 0.0, 0.51, (0, 0, 0.1554), (0.013, 0.013, 0.0003), 170),
)
_BOOM_RANGE = (0.3048, 1.27)  # m, 12 in retracted and a stroke of 38 in


def stanford(gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> co.Model:
    """Waist and shoulder, a boom that slides through the shoulder, and a wrist with three axes through one point.

    z is up and the origin on the table, 0.412 m below the shoulder; at q = 0 the boom points up with no length. The
    boom's row has theta = -pi/2. The last frame sits at the wrist's centre, `TOOL` is the point between the fingers.

    The transcription is changed, because no such arm could exist:

    - It has the centres of mass of links 2 to 6 ten times as far out, that of the boom 6.4 m behind the wrist of an arm
      that reaches 1.3 m. They are read as decimetres.
    - It takes the moments of inertia about the centres of mass. They are read about the axes of the link frames, as
      Paul's pseudo-inertias are: 0.51 kg at 0.1554 m alone give 0.0123 of the hand's 0.013 kg m2. The products of
      inertia in the link frames are zero.
    - Its later releases have lost a zero in the row of link 5; the earlier ones are followed.

    Motors and their reflected inertias (0.02 kg m2 at the hand to 2.2 kg m2 at the shoulder) are left out.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]

    Returns
    -------
    Model
        Joints "waist", "shoulder" [rad], "boom" [m], "wrist_roll", "wrist_bend" and "hand" [rad].
    """
    bodies: list[co.Body] = []
    for name, d, alpha, mass, com, about_origin, reach in _ROWS:
        if name == "boom":
            joint = co.dh_prismatic(theta=-pi / 2, limits=co.Limits(position=_BOOM_RANGE))
        else:
            limits = co.Limits(position=(-radians(reach), radians(reach)))
            joint = co.dh_revolute(d=d, alpha=alpha, limits=limits)
        c = np.array(com, dtype=float)
        inertia = np.diag(about_origin) - mass * (c @ c * np.eye(3) - np.outer(c, c))
        bodies.append(co.Body(name, joint, bodies[-1].name if bodies else None, mass, com, inertia))
    return co.Model(bodies, gravity=gravity, name="Stanford arm")
