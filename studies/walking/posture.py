"""Posture during a step, and its end as the mirror image of its start: constraints on the motion alone."""

from __future__ import annotations

from functools import partial
from math import radians
from typing import Any

import casadi as ca

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.stance import PITCH
from colloc.studies.walking.step import MID_SWING, Step

UPRIGHT = 0.85  # least height of the pelvis over that in standing: people walk upright, not crouched


def posture(step: Step) -> list[Any]:
    """Knee at mid swing, upright pelvis; arms that swing with the opposite leg, and clear of the hips."""
    knee = step.joint("knee_flexion_l")
    turns = step.human.virtual[-1:] if step.planar else step.human.virtual[-3:]
    index = [step.human.model.joint_names.index(name) for name in turns]
    lower, upper = (side[index] for side in step.human.model.limits("position"))
    found = [
        co.at(
            MID_SWING, lambda now: now.q[knee], lower=radians(55), upper=radians(65), unit="rad",
            name="knee at mid swing",
        ),
        co.path(partial(pelvis_angles, step), lower=lower, upper=upper, scale=0.1, unit="rad", name="pelvis angle"),
        co.path(
            lambda now: now.point(*step.stance.landmarks["pelvis"]).position[1] - UPRIGHT * step.human.pelvis_height,
            lower=0.0, scale=0.1, unit="m", name="pelvis above",
        ),
    ]  # fmt: skip
    if step.planar:
        return found
    return [
        *found,
        co.path(
            lambda now: ca.vertcat(*(swing(step.stance, now, arm) for arm in "lr")),
            lower=-step.apart, scale=0.1, unit="m2", name="arm-leg coupling",
        ),
        co.path(
            partial(wrist_gaps, step.stance),
            lower=step.wrist_room, scale=0.1, unit="m", name="wrist clear of hip",
        ),
    ]  # fmt: skip


def pelvis_angles(step: Step, now: Any) -> ca.SX:
    """Yaw, list and tilt of the pelvis, or tilt alone in the plane, shape (3,) or (1,) [rad]."""
    body = step.stance.landmarks["pelvis"].body
    x, y, z = (step.direction(now, body, k).position for k in range(3))
    tilt = ca.atan2(-z[1], y[1])
    return tilt if step.planar else ca.vertcat(ca.atan2(-x[2], x[0]), ca.asin(x[1]), tilt)


def swing(human: Human, now: Any, arm: str) -> ca.SX:
    """Forward reach of an arm, "r" or "l", times that of the opposite leg [m2]: positive if they swing together.

    Barman (2020, equation 5.6), whose vertical unit vector is the one forward: only along it the sign means that.
    """
    leg = {"r": "l", "l": "r"}[arm]
    return ahead(human, now, f"wrist_{arm}", f"shoulder_{arm}") * ahead(human, now, f"ankle_{leg}", f"hip_{leg}")


def ahead(human: Human, now: Any, end: str, root: str) -> ca.SX:
    """How far one landmark is in front of another [m]."""
    return now.point(*human.landmarks[end]).position[2] - now.point(*human.landmarks[root]).position[2]


def wrist_gaps(human: Human, now: Any) -> ca.SX:
    """Distance of the right and the left wrist from the hip beside it, shape (2,) [m] (Barman 2020, equation 5.7)."""
    marks = human.landmarks
    gaps = (now.point(*marks[f"wrist_{k}"]).position - now.point(*marks[f"hip_{k}"]).position for k in "rl")
    return ca.vertcat(*(ca.sqrt(ca.sumsqr(gap)) for gap in gaps))


def symmetry(step: Step, *, seamless: bool | None = None) -> Any:
    """The end as the mirror image of the start, a step further: joints, and the feet that stand.

    Accelerations among them if it is to be seamless, by default as the step says.
    """
    orders = 3 if (step.seamless if seamless is None else seamless) else 2
    names, mirror = step.stance.model.joint_names, step.stance.mirror
    inner, pitch = [j for j, name in enumerate(names) if name not in step.stance.virtual], step.joint(PITCH)
    turned, shift = ca.DM([-1, 1, 1]), ca.vertcat(0, 0, step.length)

    def difference(start: Any, end: Any) -> ca.SX:
        rows, rates = [], (("position", "q"), ("velocity", "qd"), ("acceleration", "qdd"))
        for order, (motion, coordinates) in enumerate(rates[:orders]):
            before, after = (getattr(now, coordinates) for now in (start, end))
            place = turned * getattr(end.point(*step.stance.feet["r"].ball), motion) - (shift if order == 0 else 0)
            ball = getattr(start.point(*step.stance.feet["l"].ball), motion) - place
            (lx, lz), (rx, rz) = (
                [getattr(step.direction(now, step.stance.feet[side].ball.body, k), motion) for k in (0, 2)]
                for now, side in ((start, "l"), (end, "r"))
            )
            turn = [lz[1] - rz[1]] if step.planar else [lz[1] - rz[1], lz[0] + rz[0], lx[1] + rx[1]]
            found = [(after - mirror(before))[inner], after[pitch], ball[1:] if step.planar else ball, *turn]
            rows.append(step.duration**order * ca.vertcat(*found))
        return ca.vertcat(*rows)

    places, turns = (2, 1) if step.planar else (3, 3)
    # Rates are taken times the duration: every row is a place or an angle.
    units = [*["rad"] * (len(inner) + 1), *["m"] * places, *["rad"] * turns] * orders
    return co.boundary(difference, equals=0.0, unit=units, name="symmetry")
