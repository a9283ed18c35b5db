"""The planar rower of Lee, Kim, Park, Kim and Bobrow (2005), figure 4 and case study C.

S.-H. Lee, J. Kim, F. C. Park, M. Kim and J. E. Bobrow, "Newton-type algorithms for dynamics-based robot movement
optimization", IEEE Trans. Robotics 21(4), 2005, pp. 657-667. Printed are masses and moments of inertia (table II),
that the mechanism is planar with two loops, five freedoms and seven actuated joints, prismatic joints among the
passive ones, and the torque of 40 N m at the joint of the oar.

Lengths and centres of mass are not printed. They are those of P. de Leva, "Adjustments to Zatsiorsky-Seluyanov's
segment inertia parameters", J. Biomechanics 29(9), 1996, table 4, of the average man (1.741 m): pelvis from
mid-hip to the navel (his lower trunk), trunk from there to the height of the suprasternale (middle and upper trunk),
hand to the third metacarpal. Rail, oar and poses are chosen here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import Any, NamedTuple

import colloc as co

OAR_TORQUE = 40.0  # N m, clockwise on the oar


class Segment(NamedTuple):
    """Length [m], distance of the centre of mass from the joint below [m], mass [kg], sagittal inertia [kg m2]."""

    length: float
    centre: float
    mass: float
    inertia: float


# Inertia is the second of the printed three, about the transverse axis: z is along the limbs, which have least there.
PELVIS = Segment(0.1457, (1 - 0.6115) * 0.1457, 16.61, 0.18)
_UPPER, _MIDDLE = (0.1596, 0.1707, 0.2999), (0.1633, 0.2155, 0.4502)  # mass fraction, length, centre from above
_DROP = (_UPPER[0] * _UPPER[2] * _UPPER[1] + _MIDDLE[0] * (_UPPER[1] + _MIDDLE[2] * _MIDDLE[1])) / (
    _UPPER[0] + _MIDDLE[0]
)
TRUNK = Segment(_UPPER[1] + _MIDDLE[1], _UPPER[1] + _MIDDLE[1] - _DROP, 29.27, 0.63)
ARM = Segment(0.2817, 0.5772 * 0.2817, 2.97, 0.025)
FOREARM = Segment(0.2689, 0.4574 * 0.2689, 1.21, 0.0054)
THIGH = Segment(0.4222, (1 - 0.4095) * 0.4222, 8.35, 0.16)
SHANK = Segment(0.4340, (1 - 0.4395) * 0.4340, 4.16, 0.056)
HAND = 0.0862  # m, wrist to grip; the hand's mass is not printed and none is added
SEAT_HEIGHT = 0.12  # m, of the hip above the ankle, which is the origin
OAR_PIVOT = (0.80, -0.10)  # m, x and y: ahead of the feet, so that the oar stays clear of the legs
GRIP_ANGLE = radians(-135.0)  # from the oar to the hand: the wrists stay within 20 degrees of straight
ACTUATORS = ("ankle", "knee", "hip", "waist", "shoulder", "elbow", "wrist")
INDEPENDENT = ("knee", "hip", "waist", "shoulder", "elbow")
# rad, of the independent joints. Catch: legs folded, trunk leaning forward, arms straight. Finish: trunk leaning back,
# elbows drawn past it. The hip is 0.40 m and 0.78 m behind the ankle, the grip at (0.39, 0.52) m and (-0.60, 0.44) m.
CATCH = tuple(map(radians, (121.6, -135.0, -25.0, -79.0, 10.0)))
FINISH = tuple(map(radians, (45.6, -89.4, 5.0, -197.0, 100.7)))
# rad: what these joints of a person do at most, in round numbers.
RANGES = {
    joint: (radians(low), radians(high))
    for joint, low, high in (
        ("knee", 0, 140), ("hip", -145, 0), ("waist", -60, 25), ("shoulder", -225, 0), ("elbow", 0, 150),
        ("wrist", -60, 60),
    )
}  # fmt: skip


def rower(
    gravity: Sequence[float] = (0.0, -9.81, 0.0), actuators: Sequence[str] = ACTUATORS, weights: Any = 1.0
) -> co.loops.ClosedChain:
    """A rower who faces along x, in the x-y plane, y up, with the ankles at the origin.

    From the ankle upwards: shank, thigh, pelvis, trunk, arm, forearm, grip. Every x axis runs along its segment away
    from the ankle, and every angle is 0 where a segment continues the one before; the ankle's counts from world x.
    Both legs move together, as do both arms: a limb has twice the mass and inertia of the table's. Trunk and head are
    one, as printed. The oar is a massless lever from its pivot to the grip, at angle 0 along world x.

    Two loops: the hip slides on the rail of the seat and turns there, and the hand slides along the oar, at an angle
    that stays: seen from the side, an oar that swings out of the plane grows longer and shorter.
    That makes eleven joints, seven of them actuated as printed; the four passive ones are the slide and the hinge of
    the seat, the slide of the hand, which are where the loops are cut, and the hinge of the oar.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]
    actuators : sequence of str
        The seven of the paper by default, all but "oar".
    weights : float or shape (actuators,)

    Returns
    -------
    ClosedChain
        Mobility 5, independent joints `INDEPENDENT`, assembled at the catch.
    """
    bodies: list[co.Body] = []
    chain = (
        ("ankle", SHANK, 2), ("knee", THIGH, 2), ("hip", PELVIS, 1), ("waist", TRUNK, 1), ("shoulder", ARM, 2),
        ("elbow", FOREARM, 2),
    )  # fmt: skip
    reach = 0.0
    for name, segment, count in chain:
        bodies.append(_segment(name, bodies[-1].name if bodies else None, reach, segment, count))
        reach = segment.length
    bodies.append(co.Body("wrist", co.revolute(placement=co.placement((reach, 0, 0))), "elbow"))
    bodies.append(co.Body("oar", co.revolute(placement=co.placement((*OAR_PIVOT, 0)))))
    model = co.Model(bodies, gravity=gravity, name="rower")
    rail = co.loops.on_plane("seat", co.loops.Frame(None, (0, SEAT_HEIGHT, 0)), "hip", normal=(0, 1, 0))
    along = co.placement((HAND, 0, 0), (0, 0, -GRIP_ANGLE))
    grip = co.loops.prismatic_loop("grip", "oar", co.loops.Frame("wrist", along), axis=(1, 0, 0))
    guess = (radians(103.9), *CATCH, radians(-7.7), radians(123.8))
    return co.loops.ClosedChain(model, [rail, grip], INDEPENDENT, actuators, weights, guess)


def oar_load() -> co.Load:
    """The resistance of the water: a constant moment on the oar, clockwise."""
    return co.Load("oar", moment=(0, 0, -OAR_TORQUE))


def _segment(name: str, parent: str | None, reach: float, segment: Segment, count: int) -> co.Body:
    """A number of equal segments as one body, hinged about z at the end of the segment below."""
    joint = co.revolute(placement=co.placement((reach, 0, 0)))
    moment = count * segment.inertia
    inertia = (moment / 2, moment / 2, moment)  # only the last plays a part in the plane
    return co.Body(name, joint, parent, count * segment.mass, (segment.centre, 0, 0), inertia)
