"""Measures of a step as printed: curves over a stride, violations between the instants, feet that creep."""

from __future__ import annotations

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human import Human
from colloc.studies.walking.printed import INSTANTS, TOUCHES, constraints, left, right
from colloc.studies.walking.report.errors import FINER
from colloc.studies.walking.report.report import SAMPLES
from colloc.studies.walking.report.stride import ANGLES, DIRECTIONS, Stride
from colloc.studies.walking.step import Step


def stride(step: Step, solution: co.Solution) -> Stride:
    """Angles and ground reactions of the right side over a stride, as in `Report.curves`."""
    names = step.human.model.joint_names

    def seen(now: co.problem.Instant) -> tuple[ca.SX, ...]:
        return (now.q, *(wrench.force / step.weight for wrench in (right(step, now), left(step, now))))

    q, leading, trailing = solution.evaluate(seen, np.linspace(0, solution.duration, SAMPLES))
    curves = {}
    for name, joint in ANGLES.items():
        here, there = (q[:, names.index(f"{joint}_{side}")] for side in "rl")
        curves[name] = np.degrees(np.append(here, there[1:]))
    for name, axis in DIRECTIONS.items():
        curves[name] = np.append(leading[:, axis], (-1 if name == "lateral" else 1) * trailing[1:, axis])
    return Stride(np.linspace(0, 100, 2 * SAMPLES - 1), curves)


def violations(step: Step, solution: co.Solution, per_instant: int = FINER) -> dict[str, float]:
    """Largest violation of every kind of constraint, between the instants too, in the unit of its rows.

    Torques over their range; equations beyond their tolerance.
    """
    kinds = {row.name: kind for kind, rows in constraints(step).items() for row in rows}
    found = dict.fromkeys(kinds.values(), 0.0)
    s = np.linspace(0, 1, per_instant * (INSTANTS - 1) + 1)
    for row in solution.violations_at(s * solution.duration):
        kind = kinds[row.constraint]
        found[kind] = max(found[kind], row.relative if kind == "joint torques" else row.amount)
    return found


def creep(human: Human, solution: co.Solution) -> tuple[np.ndarray, np.ndarray]:
    """Times of a step, and the largest speed of the heels and balls that touch the ground then [m/s]."""
    s, velocities = _standing(human, solution, "velocity")
    fastest = np.zeros(SAMPLES)
    for on, velocity in velocities:
        fastest[on] = np.maximum(fastest[on], np.linalg.norm(velocity, axis=1))
    return s, fastest


def crept(human: Human, solution: co.Solution) -> float:
    """Largest distance between two places of a heel or ball while it touches the ground [m]."""
    _, places = _standing(human, solution, "position")
    return max(float(np.linalg.norm(place[:, None] - place, axis=2).max()) for _, place in places)


def _standing(human: Human, solution: co.Solution, what: str) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Times of a step; of every heel and ball when it touches the ground, and its positions or velocities then."""
    s = np.linspace(0, 1, SAMPLES)
    points = {key: getattr(human.feet[key[0]], key[1]) for key in TOUCHES if key[1] != "toe"}

    def seen(now: co.problem.Instant) -> tuple[ca.SX, ...]:
        return tuple(getattr(now.point(*point), what) for point in points.values())

    found = []
    for key, values in zip(points, solution.evaluate(seen, s * solution.duration), strict=True):
        on = (s >= TOUCHES[key][0] - 1e-9) & (s <= TOUCHES[key][1] + 1e-9)
        found.append((on, values[on]))
    return s, found
