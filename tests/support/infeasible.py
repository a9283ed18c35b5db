"""Random problems that no motion solves: each takes something away from one that is known to have a solution."""

from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.benchmarks.random_motions import Case, colloc_problem, random_case

_JOINTS = 3  # at most: many small problems find more than a few large ones
_CURVES = (co.BSpline(12), co.BSpline(8, degree=5, continuity=1), co.Radau(8, 3), co.HermiteSimpson(12))


def infeasible(seed: int) -> tuple[str, co.Problem, co.curves.Transcription]:
    """The removed condition, the problem, and a curve for it."""
    rng = np.random.default_rng([33, seed])
    while (case := random_case(seed)).n > _JOINTS:
        seed += 1000
    problem = colloc_problem(case)
    ends, effort = problem.subject_to[:2], co.integral(lambda now: ca.sumsqr(now.tau), "effort")
    kind, make = list(_CONTRADICTIONS.items())[seed % len(_CONTRADICTIONS)]
    free = kind in {"torques", "end", "wall"} and rng.random() < 0.5
    horizon = co.Free(case.duration / 2, case.duration) if free else case.duration
    more = make(rng, case, problem)
    return kind, co.Problem(problem.model, horizon, effort, [*ends, *more]), _CURVES[seed // 8 % len(_CURVES)]


def _torques(rng: np.random.Generator, case: Case, problem: co.Problem) -> list[Any]:
    """A share of those of the motion of least effort."""
    least = co.integral(lambda now: ca.sumsqr(now.tau))
    easy = co.Problem(problem.model, case.duration, least, problem.subject_to[:2])
    needed = np.abs(co.solve(easy, co.BSpline(12), tol=1e-1, compile=False).tau).max(axis=0)
    size = rng.uniform(0.02, 0.2) * np.maximum(needed, 0.05)
    return [co.bounds(tau=(-size, size))]


def _speeds(rng: np.random.Generator, case: Case, problem: co.Problem) -> list[Any]:
    """A share of the mean speed of the joint with the longest way."""
    size = rng.uniform(0.3, 0.9) * np.abs(case.end - case.start).max() / case.duration
    return [co.bounds(qd=(-size, size))]


def _goal(rng: np.random.Generator, case: Case, problem: co.Problem) -> list[Any]:
    """A place out of reach, even of slides."""
    tip, axis, far = problem.model.bodies[-1].name, int(rng.integers(3)), float(rng.uniform(2, 10))
    slides = {f"link{k}": (-3.0, 3.0) for k, link in enumerate(case.links) if link.slides}
    when = float(rng.uniform(0.3, 0.7))
    far += 3.0 * len(slides)
    goal = co.at(when, lambda now: now.point(tip).position[axis], equals=far, unit="m", name="goal")
    return [goal, *([co.bounds(q=slides)] if slides else [])]


def _end(rng: np.random.Generator, case: Case, problem: co.Problem) -> list[Any]:
    """A stop before the end of a joint's way."""
    j, share = _longest(case), float(rng.uniform(0.1, 0.5))
    stop = float(case.end[j] - share * (case.end[j] - case.start[j]))
    side: dict[str, Any] = {"upper": stop} if case.end[j] > case.start[j] else {"lower": stop}
    return [co.path(lambda now: now.q[j], **side, unit="rad", name="stop")]


def _contradiction(rng: np.random.Generator, case: Case, problem: co.Problem) -> list[Any]:
    """Two bounds for one thing."""
    low, high = float(case.start[0]), float(case.start[0] + rng.uniform(0.25, 1))
    return [
        co.path(lambda now: now.q[0], lower=high, during=(0.4, 0.6), name="high"),
        co.path(lambda now: 2 * now.q[0], upper=2 * low, during=(0.3, 0.7), name="low"),
    ]


def _passing(rng: np.random.Generator, case: Case, problem: co.Problem) -> list[Any]:
    """Two places in a twentieth of the duration: 1.2 times the largest speed at least."""
    first = float(case.start[0])
    second = first + float(rng.uniform(0.2, 1)) + abs(float(case.end[0] - case.start[0])) / 6
    speed = 2 * (np.abs(case.end - case.start) + second - first) / case.duration
    return [
        co.at(0.4, lambda now: now.q[0], equals=first, name="first"),
        co.at(0.45, lambda now: now.q[0], equals=second, name="second"),
        co.bounds(qd=(-speed, speed)),
    ]


def _wall(rng: np.random.Generator, case: Case, problem: co.Problem) -> list[Any]:
    """A wall across the way."""
    j, share = _longest(case), float(rng.uniform(0.2, 0.8))
    wall = float(case.start[j] + share * (case.end[j] - case.start[j]))
    sign = float(np.sign(case.end[j] - case.start[j]))
    return [co.path(lambda now: sign * now.q[j], upper=sign * wall, name="wall")]


def _tip(rng: np.random.Generator, case: Case, problem: co.Problem) -> list[Any]:
    """Squared speeds of a point and of all joints together, which are less than the way takes."""
    tip, share = problem.model.bodies[-1].name, float(rng.uniform(0.2, 0.7))
    slowest = share * float(((case.end - case.start) ** 2).sum()) / case.duration**2
    point = (0.1, 0.1, 0.1)
    return [
        co.path(lambda now: ca.sumsqr(now.point(tip, point).velocity), upper=share, unit="m2/s2", name="tip speed"),
        co.path(lambda now: ca.sumsqr(now.qd), upper=slowest, name="speed"),
    ]


def _longest(case: Case) -> int:
    return int(np.argmax(np.abs(case.end - case.start)))


_CONTRADICTIONS = {
    "torques": _torques,
    "speeds": _speeds,
    "goal": _goal,
    "end": _end,
    "contradiction": _contradiction,
    "passing": _passing,
    "wall": _wall,
    "tip": _tip,
}
