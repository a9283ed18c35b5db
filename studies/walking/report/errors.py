"""Errors of a predicted step: violations of its constraints, between the nodes too, in units of their own."""

from __future__ import annotations

import re
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.problem.constraints import Path, State
from colloc.transcription import Block, block_at, window
from studies.walking.posture import is_length
from studies.walking.report.ground import Ground
from studies.walking.step import DOUBLE, FLAT_UNTIL, Sharing, Step

STANDS = 0.1  # of body weight: a foot that carries this much stands
FINER = 5  # points of the grid on which violations are measured, per interval between nodes

# Quantity that the rows of a constraint measure, by its name: the first pattern that is found.
# Rows of "pressure" are measured by `Outside`, which also says how many millimetres.
KINDS = (
    (r"^pressure [rl]", ""),
    (r"still", "velocity_m_per_s"),
    (r"tau bounds", "torque_percent_of_limit"),
    (r"friction|pressure|touch|hand over|partition", "force_percent_of_weight"),
    (r"coupling", "other"),
    (r"knee|angle|^right \w+ above", "angle_deg"),  # the foot that stands turns about heel and ball
    (r"ball|toe|above|clear", "position_mm"),
)
UNITS = {
    "position_mm": 1e3, "velocity_m_per_s": 1.0, "angle_deg": float(np.degrees(1)), "force_percent_of_weight": 100.0,
    "torque_percent_of_limit": 100.0, "other": 1.0,
}  # fmt: skip
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
    now, (ball, _) = solution.problem.instant, step.sole
    feet, worst = step.stance.feet, Stray(0.0, 0.0)
    standing = (
        (feet["r"].heel, (-step.side, 0.0, 0.0), (0.0, FLAT_UNTIL)),
        (feet["r"].ball, (-step.side, 0.0, ball), (DOUBLE, 1.0)),
        (feet["l"].ball, (step.side, 0.0, ball - step.length), (0.0, DOUBLE)),
    )
    for point, place, during in standing:
        motion = now.point(*point)
        function = ca.Function("point", now.inputs, [motion.position - ca.DM(place), motion.velocity])
        sites = solution.nlp.grid.anywhere(s).restrict(during)
        found = sites.evaluate(list(function(*sites.local.inputs)), solution.x, solution.parameters)
        far, fast = (float(np.linalg.norm(value, axis=1).max()) for value in found)
        worst = Stray(max(worst.mm, 1e3 * far), max(worst.speed, fast))
    return worst


def violations(step: Step, solution: co.Solution) -> dict[str, tuple[float, str]]:
    """Largest violation of each kind in its unit, and the row that has it."""
    nlp = solution.nlp
    found: dict[str, tuple[float, str]] = {kind: (0.0, "") for kind in UNITS}
    nodes = nlp.grid.nodes().s.size
    fine = nlp.grid.anywhere(np.linspace(0, 1, FINER * (nodes - 1) + 1))
    for name, (constraint, rows, function) in nlp.problem.rows.items():
        if isinstance(constraint, Path):
            blocks = [block_at(name, window(nlp.grid, fine, constraint.during), rows, function)]
        elif isinstance(constraint, State):
            blocks = [block_at(name, nlp.grid.anywhere(np.array([constraint.s])), rows, function)]
        else:
            blocks = [block for block in nlp.constraints if block.name == name]
        for block in blocks:
            amounts = _outside(block, solution)
            for k, (label, amount) in enumerate(zip(block.labels, amounts, strict=True)):
                kind = _kind(step, name, label, k)
                if not kind:
                    continue
                size = float(block.upper[k] - block.lower[k]) / 2 if kind.startswith("torque") else 1.0
                value = float(amount) * UNITS[kind] / size
                if value > found[kind][0]:
                    found[kind] = (value, label)
    return found


def _outside(block: Block, solution: co.Solution) -> np.ndarray:
    """Largest excess of each row beyond its bounds, shape (rows,)."""
    values = block.evaluate(solution.x, solution.parameters)
    outside = np.maximum(block.lower[:, None] - values, values - block.upper[:, None])
    return outside.clip(min=0).max(axis=1)


def _kind(step: Step, name: str, label: str, row: int) -> str:
    """Kind of quantity that a row of a constraint measures."""
    if name == "symmetry":  # places and angles, their rates times the duration
        return "position_mm" if is_length(step, row) else "angle_deg"
    if name.startswith("q bounds"):
        joint, model = label[label.index("[") + 1 : -1], step.stance.model
        return "position_mm" if model.position_units[model.joint_names.index(joint)] == "m" else "angle_deg"
    return next((kind for pattern, kind in KINDS if re.search(pattern, name)), "other")
