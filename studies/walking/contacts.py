"""Where the feet of a step of walking are, and its posture: constraints on the motion alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import radians
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

import colloc as co
from models.human.human import Point
from models.human.stance import PITCH, ROLL

if TYPE_CHECKING:
    from studies.walking.step import Step

UPRIGHT = 0.85  # how far the pelvis may sink, of its height in standing: people walk upright, not crouched
Angle = Callable[[Any], ca.SX]
# Fractions of the step: until the trailing foot leaves, until the heel of the leading one rises, the knee bent most.
DOUBLE, FLAT_UNTIL, MID_SWING = 0.2, 0.6, 0.45


def contacts(step: Step) -> list[Any]:
    """That the right foot lies on the ground as it rolls, the left one keeps its place, and all else is above."""
    ball, tip = step.sole
    left, place = step.stance.feet["l"], (step.side, ball - step.length)
    pitch, rise, flat = _joint(step, PITCH), _joint(step, ROLL), (-step.rock, step.rock)
    found = [
        co.bounds(q={PITCH: flat}, during=(DOUBLE, 1.0)),
        co.bounds(q={ROLL: flat}, during=(0.0, FLAT_UNTIL)),
        _up(step, "right ball above", lambda now: now.q[pitch], (0.0, DOUBLE)),
        _up(step, "right heel above", lambda now: now.q[rise], (FLAT_UNTIL, 1.0)),
        *_held(step, "left ball", left.ball, place, (0.0, DOUBLE)),
        _above(step, "left heel above", left.heel, (0.0, 1.0)),
        _above(step, "left ball above", left.ball, (DOUBLE, 1.0)),
    ]
    if step.planar:  # feet that do not bend roll over the ball, without toes
        return [*found, _above(step, "left ball clear", left.ball, (0.35, 0.75), step.clearance)]
    toe = _joint(step, "toe_extension_r")
    return [
        *found,
        co.bounds(q={"toe_extension_r": flat}, during=(DOUBLE, FLAT_UNTIL)),
        co.path(
            lambda now: (tip - ball) * (now.q[toe] - now.q[rise]),
            lower=-step.band, upper=step.band, during=(FLAT_UNTIL, 1.0), scale=0.1, name="right toe",
        ),
        _up(step, "right toe above", lambda now: now.q[toe] - now.q[rise] + now.q[pitch], (0.0, DOUBLE)),
        _flat(step, "left toe", left.toe, (0.0, DOUBLE)),
        _above(step, "left toe above", left.toe, (DOUBLE, 1.0)),
        _above(step, "left toe clear", left.toe, (0.35, 0.75), step.clearance),
    ]  # fmt: skip


def _up(step: Step, name: str, angle: Angle, during: tuple[float, float]) -> Any:
    return co.path(angle, lower=-step.rock, during=during, scale=0.1, name=name)


def _held(step: Step, name: str, point: Point, place: tuple[float, float], during: tuple[float, float]) -> list[Any]:
    target = np.array([0.0, place[1]] if step.planar else [place[0], 0.0, place[1]])
    seen = slice(3 - target.size, 3)
    where = co.path(
        lambda now: now.point(*point).position[seen],
        lower=target - step.band, upper=target + step.band, during=during, scale=0.1, name=name,
    )  # fmt: skip
    still = co.path(
        lambda now: now.point(*point).velocity[seen],
        lower=-step.slip, upper=step.slip, during=during, scale=1.0, name=f"{name} still",
    )  # fmt: skip
    return [where, still]


def _flat(step: Step, name: str, point: Point, during: tuple[float, float]) -> Any:
    return co.path(
        lambda now: now.point(*point).position[1],
        lower=-step.band, upper=step.band, during=during, scale=0.1, name=name,
    )  # fmt: skip


def _above(step: Step, name: str, point: Point, during: tuple[float, float], height: float = 0.0) -> Any:
    return co.path(
        lambda now: now.point(*point).position[1],
        lower=height - step.band, during=during, scale=0.1, name=name,
    )  # fmt: skip


def posture(step: Step) -> list[Any]:
    """Knee at mid swing, upright pelvis; arms that swing with the opposite leg, and clear of the hips."""
    knee = _joint(step, "knee_flexion_l")
    turns = step.human.virtual[-1:] if step.planar else step.human.virtual[-3:]
    index = [step.human.model.joint_names.index(name) for name in turns]
    lower, upper = (side[index] for side in step.human.model.limits("position"))
    found = [
        co.at(MID_SWING, lambda now: now.q[knee], lower=radians(55), upper=radians(65), name="knee at mid swing"),
        co.path(partial(pelvis_angles, step), lower=lower, upper=upper, scale=0.1, name="pelvis angle"),
        co.path(
            lambda now: now.point(*step.stance.landmarks["pelvis"]).position[1],
            lower=UPRIGHT * step.human.pelvis_height, scale=0.1, name="pelvis above",
        ),
    ]  # fmt: skip
    if step.planar:
        return found
    return [
        *found,
        co.path(partial(_coupling, step), lower=-0.01, scale=0.1, name="arm-leg coupling"),
        co.path(partial(_wrists, step), lower=step.wrist_room, scale=0.1, name="wrist clear of hip"),
    ]


def pelvis_angles(step: Step, now: Any) -> ca.SX:
    """Yaw, list and tilt of the pelvis, or tilt alone in the plane, shape (3,) or (1,) [rad]."""
    body = step.stance.landmarks["pelvis"].body
    x, y, z = (step.direction(now, body, k).position for k in range(3))
    tilt = ca.atan2(-z[1], y[1])
    return tilt if step.planar else ca.vertcat(ca.atan2(-x[2], x[0]), ca.asin(x[1]), tilt)


def _coupling(step: Step, now: Any) -> ca.SX:
    """Forward reach of each arm times that of the opposite leg [m2]: hardly negative if they swing together."""

    def reach(end: str, root: str) -> ca.SX:
        marks = step.stance.landmarks
        return now.point(*marks[end]).position[2] - now.point(*marks[root]).position[2]

    pairs = (("l", "r"), ("r", "l"))
    return ca.vertcat(*(reach(f"wrist_{a}", f"shoulder_{a}") * reach(f"ankle_{b}", f"hip_{b}") for a, b in pairs))


def _wrists(step: Step, now: Any) -> ca.SX:
    """Distance of each wrist from the hip beside it [m]."""
    marks = step.stance.landmarks
    gaps = (now.point(*marks[f"wrist_{k}"]).position - now.point(*marks[f"hip_{k}"]).position for k in "rl")
    return ca.vertcat(*(ca.sqrt(ca.sumsqr(gap)) for gap in gaps))


def symmetry(step: Step) -> Any:
    """The end is the mirror image of the start, a step further: joints, and the foot that stands at the one."""
    names, mirror = step.stance.model.joint_names, step.stance.mirror
    inner, pitch = [j for j, name in enumerate(names) if name not in step.stance.virtual], _joint(step, PITCH)
    turned, shift = ca.DM([-1, 1, 1]), ca.DM([0, 0, step.length])

    def difference(start: Any, end: Any) -> ca.SX:
        rows, rates = [], (("position", "q"), ("velocity", "qd"), ("acceleration", "qdd"))
        for order, (motion, coordinates) in enumerate(rates[: 3 if step.seamless else 2]):
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

    return co.boundary(difference, equals=0.0, name="symmetry")


def is_length(step: Step, row: int) -> bool:
    """Whether a row of `symmetry` compares places of the ball; all others compare angles."""
    inner, (places, turns) = step.stance.model.n - len(step.stance.virtual), (2, 1) if step.planar else (3, 3)
    return inner < row % (inner + 1 + places + turns) <= inner + places


def _joint(step: Step, name: str) -> int:
    return step.stance.model.joint_names.index(name)
