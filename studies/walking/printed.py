"""One step of walking as chapter V of Barman (2020) prints it: constraint kinds (5.2) to (5.10), one by one.

The human hangs on its pelvis; all six control points of every joint are unknowns, both feet are held by constraints,
and these hold at instants alone. The ground's wrench is found in the two steps of Xiang et al. (2009).

Points that the text leaves open, and their reading here:

instants       Counted neither per kind nor together: eleven, equally apart, so that phases begin on them.
equations      Met within the thesis's feasibility tolerance, 1e-3 in m, m/s, rad and rad/s.
joint ranges   Not printed; `Human.model` brings them.
phases         Named, not timed: those of `colloc.studies.walking.step`. A point touches the ground at both ends of its
phase. shares         By the distance of the zero moment point from the trailing ball and the leading heel, while both
               feet stand. The last instant, when the other heel strikes, belongs to the foot that stood.
polygon        Convex hull of the contact points, each 8 cm wide; under the heel 2 cm long at strike.
(5.6)          The left arm and the right leg, as written, along the way forward.
(5.7)          Radii are not printed: 9 cm together, as in our own step.
(5.9)          Mid swing at 45 % of the step.
(5.10)         Heel and ball of the feet that touch, across and forward.
(5.1)          Over the joints that something drives and that are not frozen.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import radians
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human import Human, Point
from colloc.problem import Condition
from colloc.studies.walking.forces import while_both
from colloc.studies.walking.posture import swing, wrist_gaps
from colloc.studies.walking.step import DOUBLE, FLAT_UNTIL, HALF_FOOT, MID_SWING, Step

CONTROL_POINTS, INSTANTS = 6, 11
TOLERANCE = 1e-3
IPOPT: dict[str, Any] = {
    "tol": 1e-3, "constr_viol_tol": 0.1 * TOLERANCE, "max_iter": 500, "max_soc": 0, "mumps_pivot_order": 0,
    "mu_strategy": "adaptive",
}  # fmt: skip
STRIKE = 0.02  # m: length of the heel that touches at strike
# Parts of the step during which each contact point touches the ground.
TOUCHES: Mapping[tuple[str, str], tuple[float, float]] = {
    ("r", "heel"): (0.0, FLAT_UNTIL), ("r", "ball"): (DOUBLE, 1.0), ("r", "toe"): (DOUBLE, 1.0),
    ("l", "ball"): (0.0, DOUBLE), ("l", "toe"): (0.0, DOUBLE), ("l", "heel"): (1.0, 1.0),
}  # fmt: skip
_MET: dict[str, Any] = {"lower": -TOLERANCE, "upper": TOLERANCE}


def curve(instants: int = INSTANTS) -> co.BSpline:
    """Cubic splines of six control points a joint, and the instants at which constraints hold."""
    return co.BSpline(CONTROL_POINTS - 3, degree=3, nodes=instants)


def printed(step: Step, minimize: co.problem.Cost, instants: int = INSTANTS) -> co.Problem:
    """The problem with a cost: a constant one to find a motion, then `effort`."""
    rows = [row for kind in constraints(step, instants).values() for row in kind]
    return co.Problem(unlimited(step.human).model, step.duration, minimize, rows, loads=loads(step))


def effort(step: Step, now: co.problem.Instant) -> ca.SX:
    """Squares of torques over the largest that their limits allow (5.1)."""
    driven, lower, upper = _driven(step.human)
    return ca.sumsqr(now.tau[driven] / np.maximum(np.abs(lower), np.abs(upper)))


def unlimited(human: Human) -> Human:
    """The human without limits of its joints, which the constraints state."""
    return human.ranged(dict.fromkeys(human.model.joint_names, (-np.inf, np.inf))).strengthless


def loads(step: Step) -> list[co.Load]:
    """Ground reactions of both feet."""
    feet = (("l", left), ("r", right))
    return [
        co.problem.ground.applied(step.human.feet[side].ball.body, (0, 0, 0), lambda now, of=of: of(step, now))
        for side, of in feet
    ]


def left(step: Step, now: Any) -> co.dynamics.Wrench:
    """Wrench on the trailing foot: its share by distance while both stand."""
    share = co.problem.ground.by_distance(now.support, [step.places["l"][0], step.places["r"][0]])[0]
    return co.dynamics.Wrench(*(while_both(now, part) for part in share))


def right(step: Step, now: Any) -> co.dynamics.Wrench:
    """Wrench on the leading foot: what the other one leaves of the whole."""
    return co.dynamics.Wrench(*(whole - part for whole, part in zip(now.support, left(step, now), strict=True)))


def constraints(step: Step, instants: int = INSTANTS) -> dict[str, list[Condition]]:
    """All constraints by kind, in the thesis's order."""
    human, names = step.human, step.human.model.joint_names
    lower, upper = human.model.limits("position")
    driven, weakest, strongest = _driven(human)
    knee = names.index("knee_flexion_l")
    height, velocity, above = _contacts(step, 1 / (instants - 1))
    return {
        "joint angles": [co.path(lambda now: now.q, lower=lower, upper=upper, scale=1.0, unit="rad", name="q")],
        "joint torques": [co.path(lambda now: now.tau[driven], lower=weakest, upper=strongest, unit="N m", name="tau")],
        "contact height": height,
        "contact velocity": velocity,
        "clear of the ground": above,
        "zero moment point": _balance(step, 1 / (instants - 1)),
        "arm-leg coupling": [
            co.path(lambda now: swing(human, now, "l"), lower=-TOLERANCE, scale=0.1, unit="m2", name="arm and leg")
        ],
        "wrist clear of hip": [
            co.path(lambda now: wrist_gaps(human, now), lower=step.wrist_room, scale=0.1, unit="m", name="wrist")
        ],
        "symmetry": [_symmetry(step)],
        "knee at mid swing": [
            co.at(MID_SWING, lambda now: now.q[knee], lower=radians(55), upper=radians(65), unit="rad", name="knee")
        ],
        "foot positions": _placed(step),
    }


def _driven(human: Human) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Joints with torque limits, and these limits [N m]."""
    lower, upper = human.model.limits("torque")
    driven = np.flatnonzero(np.isfinite(upper))
    return driven.tolist(), lower[driven], upper[driven]


def _contacts(step: Step, apart: float) -> tuple[list[Condition], list[Condition], list[Condition]]:
    """Height and velocity of the points that touch the ground, height of those that do not (5.4)."""
    height, velocity, above = [], [], []
    for (side, name), (first, last) in TOUCHES.items():
        point: Point = getattr(step.human.feet[side], name)

        def up(now: Any, point: Point = point) -> ca.SX:
            return now.point(*point).position[1]

        def rate(now: Any, point: Point = point) -> ca.SX:
            return now.point(*point).velocity

        on, label = (first, last), f"{side} {name}"
        height.append(co.path(up, **_MET, during=on, scale=0.1, unit="m", name=f"height {label}"))
        velocity.append(co.path(rate, **_MET, during=on, scale=1.0, unit="m/s", name=f"velocity {label}"))
        for off in ((0.0, first - apart), (last + apart, 1.0)):
            if off[1] >= off[0]:
                above.append(co.path(up, lower=-TOLERANCE, during=off, scale=0.1, unit="m", name=f"clear {label}"))
    return height, velocity, above


def _balance(step: Step, apart: float) -> list[Condition]:
    """Zero moment point within the polygon of the contact points (5.5), as moments about its sides."""
    (ball, toe), x, half = step.sole, step.side, HALF_FOOT
    back, front = ball - step.length, toe - step.length
    both = [(-x - half, 0), (-x - half, STRIKE), (-x + half, STRIKE), (x + half, front), (x + half, back),
            (x - half, back)]  # fmt: skip
    flat, fore = ([(-x - half, z), (-x - half, toe), (-x + half, toe), (-x + half, z)] for z in (0, ball))
    phases = (
        (both, (0.0, DOUBLE), "both feet"), (flat, (DOUBLE + apart, FLAT_UNTIL), "foot"),
        (fore, (FLAT_UNTIL + apart, 1.0), "forefoot"),
    )  # fmt: skip
    return [
        co.path(
            lambda now, corners=corners: co.problem.ground.pressure_rows(now.support, corners) / step.weight,
            lower=0.0, during=during, scale=0.1, unit="BW m", name=f"pressure of {name}",
        )
        for corners, during, name in phases
    ]  # fmt: skip


def _symmetry(step: Step) -> Condition:
    """The last posture and its rates as the mirror image of the first, a step further (5.8)."""
    mirror, n = step.human.mirror, step.human.model.n
    shift = ca.DM(step.length * np.array([name == "pelvis_tz_forward" for name in step.human.model.joint_names]))
    return co.boundary(
        lambda start, end: ca.vertcat(end.q - mirror(start.q) - shift, end.qd - mirror(start.qd)),
        **_MET, scale=1.0, unit=["rad"] * n + ["rad/s"] * n, name="symmetry",
    )  # fmt: skip


def _placed(step: Step) -> list[Condition]:
    """Feet at their places (x, z) at both ends (5.10)."""
    (ball, _), x = step.sole, step.side
    places = (
        (0.0, "r", "heel", (-x, 0.0)), (0.0, "l", "ball", (x, ball - step.length)),
        (1.0, "r", "ball", (-x, ball)), (1.0, "l", "heel", (x, step.length)),
    )  # fmt: skip
    found = []
    for s, side, name, at in places:
        point: Point = getattr(step.human.feet[side], name)

        def miss(now: Any, point: Point = point, at: tuple[float, float] = at) -> ca.SX:
            return now.point(*point).position[[0, 2]] - ca.DM(at)

        found.append(co.at(s, miss, **_MET, scale=0.1, unit="m", name=f"place {side} {name}"))
    return found
