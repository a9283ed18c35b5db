"""A parallel SCARA: two arms carry one quill.

Round numbers, chosen here, of the size of small assembly robots of this kind: the motors of both arms stay on the
base, and the quill hangs where the forearms meet. Links are slender and uniform.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import colloc as co

BASE = 0.1  # m, between the motors' axes
ARM, FOREARM = 0.2, 0.26  # m
ARM_MASS, FOREARM_MASS, QUILL_MASS = 0.8, 0.6, 1.0  # kg
QUILL_INERTIA = 2e-4  # kg m2, about its own axis


def parallel_scara(
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    actuators: Sequence[str] = ("left_arm", "right_arm", "slide", "quill"),
    weights: Any = 1.0,
) -> co.loops.ClosedChain:
    """Two arms in the horizontal x-y plane from motors at (-0.05, 0) and (0.05, 0) m, joined where the quill hangs.

    World z is up. At zero the arms point along x; a forearm's angle counts from its arm. The quill slides (down is
    positive) and turns on the left forearm; the loop is cut at the pin that the right forearm shares with it.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]
    actuators : sequence of str
        Among "left_arm", "left_forearm", "right_arm", "right_forearm", "slide" and "quill".
    weights : float or shape (actuators,)

    Returns
    -------
    ClosedChain
        Mobility 4, independent joints "left_arm", "right_arm", "slide" and "quill", assembled with elbows outwards.
    """

    def link(length: float, mass: float) -> dict[str, Any]:
        moment = mass * length**2 / 12
        return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (0, moment, moment)}

    bodies: list[co.Body] = []
    for side, x in (("left", -BASE / 2), ("right", BASE / 2)):
        arm = f"{side}_arm"
        bodies.append(co.Body(arm, co.revolute(placement=co.placement((x, 0, 0))), **link(ARM, ARM_MASS)))
        elbow = co.revolute(placement=co.placement((ARM, 0, 0)))
        bodies.append(co.Body(f"{side}_forearm", elbow, arm, **link(FOREARM, FOREARM_MASS)))
    flange = co.placement((FOREARM, 0, 0), (pi, 0, 0))  # z of the quill points down
    disc = (QUILL_INERTIA / 2, QUILL_INERTIA / 2, QUILL_INERTIA)
    bodies.append(co.Body("slide", co.prismatic(placement=flange), "left_forearm"))
    bodies.append(co.Body("quill", co.revolute(), "slide", QUILL_MASS, inertia=disc))
    tip = (FOREARM, 0, 0)
    pin = co.loops.revolute_loop("pin", co.loops.Frame("left_forearm", tip), co.loops.Frame("right_forearm", tip))
    model = co.Model(bodies, gravity=gravity, name="parallel SCARA")
    guess = (2.4, -1.3, 0.7, 1.3, 0.0, 0.0)
    return co.loops.ClosedChain(model, [pin], ("left_arm", "right_arm", "slide", "quill"), actuators, weights, guess)
