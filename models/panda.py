"""The Franka Emika Panda, without its hand.

Frames, masses, centres of mass and inertias: the maker's description, franka_description in
github.com/frankaemika/franka_ros (branch noetic-devel, Apache License 2.0), as packed in example-robot-data 6.0.0; they
are those that C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano and A. De Luca identified, "Dynamic identification of
the Franka Emika Panda robot with retrieval of feasible parameters using penalty-based optimization", IEEE Robotics and
Automation Letters 4(4), 2019. Limits of position, velocity, acceleration and torque: Franka Control Interface
documentation, "Control parameters specifications", Panda. Jerk and torque rate have limits there too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import colloc as co

# Each joint turns about z. origin [m] and roll [rad] of the joint in the frame of the link before it; mass [kg], com
# [m] and inertia xx, yy, zz, xy, xz, yz [kg m2] in link axes about the com
_ROWS: tuple[tuple[Any, float, float, Any, Any], ...] = (
    ((0, 0, 0.333), 0.0, 4.970684, (0.003875, 0.002081, -0.04762),
     (0.70337, 0.70661, 0.009117, -0.000139, 0.006772, 0.019169)),
    ((0, 0, 0), -pi / 2, 0.646926, (-0.003141, -0.02872, 0.003495),
     (0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704)),
    ((0, -0.316, 0), pi / 2, 3.228604, (0.027518, 0.039252, -0.066502),
     (0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805)),
    ((0.0825, 0, 0), pi / 2, 3.587895, (-0.05317, 0.104419, 0.027454),
     (0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641)),
    ((-0.0825, 0.384, 0), -pi / 2, 1.225946, (-0.011953, 0.041065, -0.038437),
     (0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229)),
    ((0, 0, 0), pi / 2, 1.666555, (0.060149, -0.014117, -0.010517),
     (0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341)),
    ((0.088, 0, 0), pi / 2, 0.735522, (0.010517, -0.004252, 0.061597),
     (0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741)),
)  # fmt: skip
# position [rad], velocity [rad/s], torque [N m], acceleration [rad/s2]
_LIMITS = (
    ((-2.8973, 2.8973), 2.175, 87.0, 15.0),
    ((-1.7628, 1.7628), 2.175, 87.0, 7.5),
    ((-2.8973, 2.8973), 2.175, 87.0, 10.0),
    ((-3.0718, -0.0698), 2.175, 87.0, 12.5),
    ((-2.8973, 2.8973), 2.61, 12.0, 15.0),
    ((-0.0175, 3.7525), 2.61, 12.0, 20.0),
    ((-2.8973, 2.8973), 2.61, 12.0, 20.0),
)


def panda(gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> co.Model:
    """Seven revolute joints; z is up and the origin on the table, 0.333 m below the shoulder.

    Friction is left out, and so are the motors' inertias, which the identification includes in the links where it could
    not separate them.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]

    Returns
    -------
    Model
        Joints "joint1" to "joint7", the maker's numbers.
    """
    bodies: list[co.Body] = []
    for k, ((origin, roll, mass, com, (xx, yy, zz, xy, xz, yz)), limits) in enumerate(zip(_ROWS, _LIMITS, strict=True)):
        position, *rest = limits
        velocity, torque, acceleration = ((-value, value) for value in rest)
        joint = co.revolute(
            placement=co.placement(origin, (roll, 0, 0)),
            limits=co.Limits(position, velocity, torque, acceleration),
        )
        inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        bodies.append(co.Body(f"joint{k + 1}", joint, bodies[-1].name if bodies else None, mass, com, inertia))
    return co.Model(bodies, gravity=gravity, name="Panda")
