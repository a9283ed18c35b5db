"""Torque limits of a human's joints as a function of speed.

D. E. Anderson, M. L. Madigan and M. A. Nussbaum, "Maximum voluntary joint torque as a function of joint angle and
angular velocity: model development and application to the lower limb", Journal of Biomechanics 40, 2007: where a muscle
shortens, a hyperbola from the isometric torque through three quarters of it at one speed, C4, and half of it at
another, C5. Table 3, men of 18 to 25 years. The dependence on the angle, and the larger strength of lengthening
muscles, are left out. Shoulder and elbow have the curve of knee flexion, and each of the three joints that bend the
trunk a third of the hip's speeds: estimates made here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

import colloc as co
from colloc.models.human.human import Human

# C4 and C5 [rad/s] where the coordinate falls, and where it grows
SPEEDS = {
    "hip_flexion": ((1.578, 3.190), (2.095, 4.267)),
    "knee_flexion": ((1.517, 3.952), (2.008, 5.233)),
    "ankle_dorsiflexion": ((0.987, 3.558), (0.699, 1.940)),
    "shoulder_flexion": ((2.008, 5.233), (2.008, 5.233)),
    "elbow_flexion": ((2.008, 5.233), (2.008, 5.233)),
} | {f"spine{k}_flexion": ((0.526, 1.063), (0.698, 1.422)) for k in (1, 2, 3)}
# Within these the curve's corners are rounded off: rad/s, but no more than this share of C5; share of isometric torque.
ROUNDED = 0.2, 0.11, 0.02


def share(speed: Any, c4: float, c5: float) -> Any:
    """Torque over isometric torque at a speed of shortening [rad/s]: 1 below zero, and never negative."""
    v = _positive(speed, min(ROUNDED[0], ROUNDED[1] * c5))
    return _positive((2 * c4 * c5 + v * (c5 - 3 * c4)) / (2 * c4 * c5 + v * (2 * c5 - 4 * c4)), ROUNDED[2])


def strength(human: Human) -> Callable[[co.problem.Instant], ca.SX]:
    """Rows that are nonnegative if the torques are possible at the joints' speeds.

    Parameters
    ----------
    human : Human
        Its torque limits are the isometric torques.

    Returns
    -------
    callable
        Of the instant: for every joint of `SPEEDS` the distances to the lower and the upper limit at this speed, as
        shares of these limits.
    """
    names, (lower, upper) = human.model.joint_names, human.model.limits("torque")

    def left(now: co.problem.Instant) -> ca.SX:
        rows = []
        for j, name in enumerate(names):
            stem = name[:-2] if name[-2:] in ("_r", "_l") else name
            if stem in SPEEDS:
                falling, growing = SPEEDS[stem]
                rows += [share(-now.qd[j], *falling) - now.tau[j] / lower[j]]
                rows += [share(now.qd[j], *growing) - now.tau[j] / upper[j]]
        return ca.vertcat(*rows)

    return left


def _positive(x: Any, within: float) -> Any:
    return (x + ca.sqrt(x**2 + within**2)) / 2
