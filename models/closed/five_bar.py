"""The manipulator with a coaxial drive of Lee, Kim, Park, Kim and Bobrow (2005), figure 2 and case study B.

S.-H. Lee, J. Kim, F. C. Park, M. Kim and J. E. Bobrow, "Newton-type algorithms for dynamics-based robot movement
optimization", IEEE Trans. Robotics 21(4), 2005, pp. 657-667. Printed are the arrangement (joints 1 to 3 are actuated;
joint 2 turns the links L2 and L4 together, and joint 3, coaxial with it, L4 alone) and two poses of the actuated
joints. Lengths and masses are not printed; those below are chosen here: a waist, and a parallelogram of upper arm,
drive crank, rod and the stub of the forearm, all slender uniform links of a table-top arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, radians
from typing import Any

import colloc as co

START = tuple(map(radians, (-30.0, -30.0, 120.0)))  # rad; waist, upper arm, crank: as printed
END = tuple(map(radians, (30.0, 10.0, 70.0)))
# The same angles with the upper arm's counted from the vertical, so that the arm works above its shoulder.
RAISED_START = tuple(map(radians, (-30.0, 60.0, 120.0)))
RAISED_END = tuple(map(radians, (30.0, 100.0, 70.0)))

COLUMN = 0.5  # m, height of the shoulder
UPPER_ARM, CRANK, FOREARM = 0.4, 0.15, 0.4  # m; the rod is as long as the upper arm, the forearm's stub as the crank
COLUMN_MASS, COLUMN_RADIUS = 8.0, 0.1  # kg, m: a cylinder
UPPER_ARM_MASS, CRANK_MASS, ROD_MASS, FOREARM_MASS = 4.0, 1.0, 1.0, 3.0  # kg


def five_bar(
    gravity: Sequence[float] = (0.0, -9.81, 0.0),
    actuators: Sequence[str] = ("waist", "upper_arm", "crank"),
    weights: Any = 1.0,
) -> co.loops.ClosedChain:
    """Waist about the vertical y, and a five-bar linkage with coaxial drives in the vertical plane that it carries.

    At zero the plane is the x-y plane and all its links point along x. The crank (L4) is a child of the upper arm
    (L2), on the same axis. The rod (L5) runs from the crank's end to the stub behind the elbow, where the loop is cut,
    so that the forearm (L3) points opposite to the crank.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]
    actuators : sequence of str
        Among "waist", "upper_arm", "crank", "forearm" and "rod"; more than three make it redundantly actuated.
    weights : float or shape (actuators,)

    Returns
    -------
    ClosedChain
        Mobility 3, independent joints "waist", "upper_arm" and "crank", assembled at `START`.
    """
    disc = COLUMN_MASS * COLUMN_RADIUS**2 / 2
    tall = disc / 2 + COLUMN_MASS * COLUMN**2 / 12
    waist = co.Body("waist", co.revolute((0, 1, 0)), None, COLUMN_MASS, (0, COLUMN / 2, 0), (tall, disc, tall))
    stub, rod = CRANK, UPPER_ARM
    model = co.Model(
        [
            waist,
            _link("upper_arm", "waist", (0, COLUMN), UPPER_ARM_MASS, 0.0, UPPER_ARM),
            _link("crank", "upper_arm", (0, 0), CRANK_MASS, 0.0, CRANK),
            _link("forearm", "upper_arm", (UPPER_ARM, 0), FOREARM_MASS, -stub, FOREARM),
            _link("rod", "crank", (CRANK, 0), ROD_MASS, 0.0, rod),
        ],
        gravity=gravity,
        name="five-bar manipulator",
    )
    pin = co.loops.revolute_loop("pin", co.loops.Frame("rod", (rod, 0, 0)), co.loops.Frame("forearm", (-stub, 0, 0)))
    guess = (*START, START[2] - pi, -START[2])
    return co.loops.ClosedChain(model, [pin], ("waist", "upper_arm", "crank"), actuators, weights, guess)


def _link(name: str, parent: str, root: tuple[float, float], mass: float, near: float, far: float) -> co.Body:
    """A slender link from x = near to x = far, hinged about z at a point of its parent's plane."""
    moment = mass * (far - near) ** 2 / 12
    joint = co.revolute(placement=co.placement((*root, 0)))
    return co.Body(name, joint, parent, mass, ((near + far) / 2, 0, 0), (0, moment, moment), tip=(far, 0, 0))
