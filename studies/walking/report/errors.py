"""Errors of a predicted step: violations of its constraints, between the nodes too, in units of their own."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

import colloc as co
from colloc.models.human.human import Point
from colloc.studies.walking.forces import PRESSURE
from colloc.studies.walking.report.ground import Ground
from colloc.studies.walking.step import DOUBLE, FLAT_UNTIL, Sharing, Step

STANDS = 0.1  # of body weight: a foot that carries this much stands
FINER = 5  # points of the grid on which violations are measured, per interval between nodes

# Quantities by the unit of a constraint's rows, and what one unit is in them.
QUANTITIES = {
    "m": ("position_mm", 1e3),
    "m/s": ("velocity_m_per_s", 1.0),
    "rad": ("angle_deg", float(np.degrees(1))),
    "BW": ("force_percent_of_weight", 100.0),  # body weight
    "BW m": ("force_percent_of_weight", 100.0),
}
KINDS = (*dict.fromkeys(kind for kind, _ in QUANTITIES.values()), "torque_percent_of_limit", "other")
PROMISED = {"position_mm": 2.0, "velocity_m_per_s": 0.02, "angle_deg": 0.5, "force_percent_of_weight": 1.0}


class Outside(NamedTuple):
    """Excess of a centre of pressure: distance [mm] while the foot stands, moment [% of body weight times 1 m]."""

    mm: float
    moment: float


class Clock(NamedTuple):
    """An instant of the step of which only the time is known."""

    t: float
    duration: float


class Stray(NamedTuple):
    """Largest distance of a standing point from its place [mm], and its largest speed [m/s]."""

    mm: float
    speed: float


def pressing_outside(step: Step, ground: Ground) -> Outside:
    """Largest excess of the centres of pressure beyond the rectangles in which they may be."""
    far, moment = 0.0, 0.0
    for side, wrench in (("r", ground.right), ("l", ground.left)):
        places, pressing = Ground.pressure(wrench), wrench[:, 1]
        for k in np.flatnonzero(~np.isnan(places[:, 0])):
            if step.sharing is Sharing.DISTANCE and ground.s[k] <= DOUBLE + 1e-9:
                continue  # both feet press in one point between them
            corners = np.array(step.corners(Clock(ground.s[k] * step.duration, step.duration), side), dtype=float)
            beyond = float(np.maximum(corners.min(axis=0) - places[k], places[k] - corners.max(axis=0)).max())
            moment = max(moment, float(pressing[k]) * beyond)
            far = max(far, beyond) if pressing[k] > STANDS else far
    return Outside(1e3 * far, 100 * moment)


def straying(step: Step, solution: co.Solution, s: np.ndarray) -> Stray:
    """Movement of points that should stand: right heel and ball and left ball, while they touch the ground.

    Measured against their places, whatever band the problem allows.
    """
    (ball, _), feet, worst = step.sole, step.stance.feet, Stray(0.0, 0.0)
    standing = (
        (feet["r"].heel, (-step.side, 0.0, 0.0), (0.0, FLAT_UNTIL)),
        (feet["r"].ball, (-step.side, 0.0, ball), (DOUBLE, 1.0)),
        (feet["l"].ball, (step.side, 0.0, ball - step.length), (0.0, DOUBLE)),
    )
    for point, place, (first, last) in standing:
        inside = s[(s >= first - 1e-9) & (s <= last + 1e-9)]
        found = solution.evaluate(partial(_motion, point), inside * solution.duration)
        gap, velocity = found[0] - place, found[1]
        far, fast = (float(np.linalg.norm(value, axis=1).max()) for value in (gap, velocity))
        worst = Stray(max(worst.mm, 1e3 * far), max(worst.speed, fast))
    return worst


def _motion(point: Point, now: co.problem.Instant) -> co.model.PointMotion:
    return now.point(*point)


def violations(solution: co.Solution) -> dict[str, tuple[float, str]]:
    """Largest violation of each kind in its unit, and the row that has it.

    Rows of the pressure under one foot are left out: `pressing_outside` measures them, in millimetres too.
    """
    found: dict[str, tuple[float, str]] = dict.fromkeys(KINDS, (0.0, ""))
    s = np.linspace(0, 1, FINER * (solution.nlp.grid.nodes().size - 1) + 1)
    for row in solution.violations_at(s * solution.duration):
        if row.constraint in PRESSURE.values():
            continue
        kind, size = QUANTITIES.get(row.unit, ("other", 1.0))
        value = size * row.amount
        if row.constraint == "tau bounds":
            kind, value = "torque_percent_of_limit", 100 * row.relative
        if value > found[kind][0]:
            found[kind] = (value, row.row)
    return found
