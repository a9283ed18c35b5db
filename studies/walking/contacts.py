"""Contacts of a step: which part of each foot touches the ground when, and that nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

import colloc as co
from colloc.models.human.human import Point
from colloc.models.human.stance import PITCH, ROLL
from colloc.studies.walking.step import DOUBLE, FLAT_UNTIL, Step

Angle = Callable[[Any], ca.SX]


def contacts(step: Step) -> list[Any]:
    """Constraints on the feet: the right one rolls on the ground, the left one keeps its place, then swings."""
    ball, tip = step.sole
    left, place = step.stance.feet["l"], (step.side, ball - step.length)
    pitch, rise, flat = step.joint(PITCH), step.joint(ROLL), (-step.rock, step.rock)
    found = [
        co.bounds(q={PITCH: flat}, during=(DOUBLE, 1.0)),
        co.bounds(q={ROLL: flat}, during=(0.0, FLAT_UNTIL)),
        _up(step, "right ball above", lambda now: now.q[pitch], (0.0, DOUBLE)),
        _up(step, "right heel above", lambda now: now.q[rise], (FLAT_UNTIL, 1.0)),
        *_in_place(step, "left ball", left.ball, place, (0.0, DOUBLE)),
        _above(step, "left heel above", left.heel, (0.0, 1.0)),
        _above(step, "left ball above", left.ball, (DOUBLE, 1.0)),
    ]
    if step.planar:  # feet that do not bend roll over the ball, without toes
        return [*found, _above(step, "left ball clear", left.ball, (0.35, 0.75), step.clearance)]
    toe = step.joint("toe_extension_r")
    return [
        *found,
        co.bounds(q={"toe_extension_r": flat}, during=(DOUBLE, FLAT_UNTIL)),
        co.path(
            lambda now: (tip - ball) * (now.q[toe] - now.q[rise]),
            lower=-step.band, upper=step.band, during=(FLAT_UNTIL, 1.0), scale=0.1, unit="m", name="right toe",
        ),
        _up(step, "right toe above", lambda now: now.q[toe] - now.q[rise] + now.q[pitch], (0.0, DOUBLE)),
        _on_ground(step, "left toe", left.toe, (0.0, DOUBLE)),
        _above(step, "left toe above", left.toe, (DOUBLE, 1.0)),
        _above(step, "left toe clear", left.toe, (0.35, 0.75), step.clearance),
    ]  # fmt: skip


def _up(step: Step, name: str, angle: Angle, during: tuple[float, float]) -> Any:
    """An angle of the standing foot that may not turn into the ground."""
    return co.path(angle, lower=-step.rock, during=during, scale=0.1, unit="rad", name=name)


def _in_place(step: Step, name: str, point: Point, place: tuple[float, Any], during: tuple[float, float]) -> list[Any]:
    """A point at rest at a place (x, z) on the ground."""
    seen = slice(1, 3) if step.planar else slice(0, 3)
    target = ca.vertcat(place[0], 0.0, place[1])
    where = co.path(
        lambda now: (now.point(*point).position - target)[seen],
        lower=-step.band, upper=step.band, during=during, scale=0.1, unit="m", name=name,
    )  # fmt: skip
    still = co.path(
        lambda now: now.point(*point).velocity[seen],
        lower=-step.slip, upper=step.slip, during=during, scale=1.0, unit="m/s", name=f"{name} still",
    )  # fmt: skip
    return [where, still]


def _on_ground(step: Step, name: str, point: Point, during: tuple[float, float]) -> Any:
    """A point at the height of the ground."""
    return co.path(
        lambda now: now.point(*point).position[1],
        lower=-step.band, upper=step.band, during=during, scale=0.1, unit="m", name=name,
    )  # fmt: skip


def _above(step: Step, name: str, point: Point, during: tuple[float, float], height: float = 0.0) -> Any:
    """A point at or above a height."""
    return co.path(
        lambda now: now.point(*point).position[1],
        lower=height - step.band, during=during, scale=0.1, unit="m", name=name,
    )  # fmt: skip
