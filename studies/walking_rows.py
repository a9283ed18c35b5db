"""Where the feet of a step of walking are, and its posture: constraints on the motion alone."""

from __future__ import annotations

from functools import partial
from math import radians
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

import colloc as co
from models.human import Point

if TYPE_CHECKING:
    from studies.walking import Step

# Fractions of the step: until the trailing foot leaves, until the heel of the leading one rises, the knee bent most.
DOUBLE, FLAT_UNTIL, MID_SWING = 0.2, 0.8, 0.45


def contacts(step: Step) -> list[Any]:
    """Where the feet touch, that they stay there, and that all else is above the ground."""
    ball, _ = step.sole
    feet, left, x = step.human.feet, ball - step.length, step.side
    found = [
        *_held(step, "right heel", feet["r"].heel, (-x, 0.0), (0.0, FLAT_UNTIL)),
        *_held(step, "right ball", feet["r"].ball, (-x, ball), (DOUBLE, 1.0)),
        *_held(step, "left ball", feet["l"].ball, (x, left), (0.0, DOUBLE)),
        _above(step, "right ball above", feet["r"].ball, (0.0, DOUBLE)),
        _above(step, "right heel above", feet["r"].heel, (FLAT_UNTIL, 1.0)),
        _above(step, "left heel above", feet["l"].heel, (0.0, 1.0)),
        _above(step, "left ball above", feet["l"].ball, (DOUBLE, 1.0)),
    ]
    if step.planar:  # feet that do not bend roll over the ball, without toes
        return [*found, _above(step, "left ball clear", feet["l"].ball, (0.35, 0.75), step.clearance)]
    return [
        *found,
        _flat(step, "right toe", feet["r"].toe, (DOUBLE, 1.0)),
        _flat(step, "left toe", feet["l"].toe, (0.0, DOUBLE)),
        _above(step, "right toe above", feet["r"].toe, (0.0, DOUBLE)),
        _above(step, "left toe above", feet["l"].toe, (DOUBLE, 1.0)),
        _above(step, "left toe clear", feet["l"].toe, (0.35, 0.75), step.clearance),
    ]


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
    """Knee at mid swing; arms that swing with the opposite leg, and clear of the hips."""
    knee = _joint(step, "knee_flexion_l")
    bent = co.at(MID_SWING, lambda now: now.q[knee], lower=radians(55), upper=radians(65), name="knee at mid swing")
    if step.planar:
        return [bent]
    return [
        bent,
        co.path(partial(_coupling, step), lower=-0.01, scale=0.1, name="arm-leg coupling"),
        co.path(partial(_wrists, step), lower=step.wrist_room, scale=0.1, name="wrist clear of hip"),
    ]


def _coupling(step: Step, now: Any) -> ca.SX:
    """Forward reach of each arm times that of the opposite leg [m2]: hardly negative if they swing together."""

    def reach(end: str, root: str) -> ca.SX:
        marks = step.human.landmarks
        return now.point(*marks[end]).position[2] - now.point(*marks[root]).position[2]

    pairs = (("l", "r"), ("r", "l"))
    return ca.vertcat(*(reach(f"wrist_{a}", f"shoulder_{a}") * reach(f"ankle_{b}", f"hip_{b}") for a, b in pairs))


def _wrists(step: Step, now: Any) -> ca.SX:
    """Distance of each wrist from the hip beside it [m]."""
    marks = step.human.landmarks
    gaps = (now.point(*marks[f"wrist_{k}"]).position - now.point(*marks[f"hip_{k}"]).position for k in "rl")
    return ca.vertcat(*(ca.sqrt(ca.sumsqr(gap)) for gap in gaps))


def symmetry(step: Step) -> Any:
    """The end is the mirror image of the start, a step further."""
    mirror, shift = step.human.mirror, np.zeros(step.human.model.n)
    shift[_joint(step, "pelvis_tz_forward")] = step.length

    def difference(start: Any, end: Any) -> ca.SX:
        return ca.vertcat(
            end.q - mirror(start.q) - shift,
            step.duration * (end.qd - mirror(start.qd)),
            step.duration**2 * (end.qdd - mirror(start.qdd)),
        )

    return co.boundary(difference, equals=0.0, name="symmetry")


def _joint(step: Step, name: str) -> int:
    return step.human.model.joint_names.index(name)
