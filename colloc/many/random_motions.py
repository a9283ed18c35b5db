"""Random motions to start from: splines through random postures within the joint ranges, in random durations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from colloc.checks import InputError
from colloc.numerics.bspline import SplineBasis
from colloc.problem import Problem
from colloc.transcription import Program, Trajectory, trajectory_from
from colloc.transcription.guess import resting_posture, stated_postures
from colloc.transcription.program import Motion

_DETOURS = (0.25, 0.5, 1.0)  # shares of the way from the straight line to a random posture
_PIECES = (1, 2, 3)
_HASTE = 3.0  # largest factor between the duration of the usual guess and a random one
_NEAR, _NEAR_HASTE = 0.15, 1.3  # of the range of a joint, and of the duration, for motions near another
_TRIES = 20  # to close a chain in random postures


class Reach(NamedTuple):
    """Where the joints of a problem may be, each ndarray, shape (n,) [rad, m]; where nothing limits them, a guess."""

    lower: np.ndarray
    upper: np.ndarray


def random_start(nlp: Program, lines: Sequence[Trajectory], rng: np.random.Generator) -> np.ndarray:
    """A decision vector within its bounds.

    Parameters
    ----------
    nlp : Program
    lines : sequence of Trajectory
        The usual guess of every motion of the program, see `usual_guesses`.
    rng : Generator
    """
    x, posture = np.zeros(nlp.n_x), {}
    for motion, line in zip(nlp.motions, lines, strict=True):
        x[motion.part] = _random_part(motion, line, posture, rng)
    return np.clip(x, nlp.lower, nlp.upper)


def near_start(nlp: Program, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A decision vector near another: smooth detours of all joints, and another duration."""
    x = x.copy()
    for motion in nlp.motions:
        own, layout, basis = x[motion.part], motion.grid.layout, motion.grid.basis
        reach, bumps = reach_of(motion.problem), _spline(int(rng.choice(_PIECES)))
        points = rng.uniform(-_NEAR, _NEAR, (bumps.size, motion.problem.model.n)) * (reach.upper - reach.lower)
        points[[0, -1]] = 0.0
        index = layout["q"] - layout.offset
        own[index] += _along(bumps, points, basis.greville())
        own[layout.duration - layout.offset] *= _NEAR_HASTE ** rng.uniform(-1, 1)
        x[motion.part] = own
    return np.clip(x, nlp.lower, nlp.upper)


def usual_guesses(nlp: Program) -> list[Trajectory]:
    """The guess that every motion of a program has where none is given."""
    return [trajectory_from(motion.problem, None) for motion in nlp.motions]


def reach_of(problem: Problem) -> Reach:
    """The bounds of the joints; half a turn, or a metre, beyond the stated postures where there are none."""
    lower, upper = problem.limits("q")
    known = np.where(np.isnan(stated := stated_postures(problem)), resting_posture(problem), stated)
    room = np.array([np.pi if joint.turns else 1.0 for joint in problem.model.joints])
    low, high = known.min(axis=0, initial=np.inf) - room, known.max(axis=0, initial=-np.inf) + room
    return Reach(np.where(np.isfinite(lower), lower, low), np.where(np.isfinite(upper), upper, high))


def _random_part(motion: Motion, line: Trajectory, posture: dict[str, float], rng: np.random.Generator) -> np.ndarray:
    """The entries of one motion; `posture` is where the motion before it has ended, and afterwards where this one."""
    problem = motion.problem
    names, reach = problem.model.joint_names, reach_of(problem)
    for attempt in range(_TRIES):
        start, end = stated_postures(problem)
        start = np.where(np.isnan(start), [posture.get(name, np.nan) for name in names], start)
        anywhere = rng.uniform(reach.lower, reach.upper, (2, len(names)))
        start, end = np.where(np.isnan(start), anywhere[0], start), np.where(np.isnan(end), anywhere[1], end)
        T = float(line.duration * _HASTE ** rng.uniform(-1, 1))
        found = replace(_through(problem, start, end, reach, rng), duration=T)
        try:
            x = motion.grid.pack(found)
        except InputError:  # of a chain that cannot be closed there
            if attempt == _TRIES - 1:
                raise
            continue
        posture.update(zip(names, end.tolist(), strict=True))
        break
    for name, index in motion.grid.layout.constants.items():
        unknown = next(u for u in problem.constants if u.name == name)
        bounded = np.isfinite(unknown.lower) & np.isfinite(unknown.upper)
        drawn = rng.uniform(np.where(bounded, unknown.lower, 0.0), np.where(bounded, unknown.upper, 1.0))
        x[index - motion.grid.layout.offset] = np.where(bounded, drawn, unknown.guess)
    return x


def _through(
    problem: Problem, start: np.ndarray, end: np.ndarray, reach: Reach, rng: np.random.Generator
) -> Trajectory:
    """A motion between two postures on a spline whose other control points are random: it stays in their hull."""
    basis = _spline(int(rng.choice(_PIECES)))
    line = start + np.linspace(0, 1, basis.size)[:, None] * (end - start)
    points = line + rng.choice(_DETOURS) * (rng.uniform(reach.lower, reach.upper, line.shape) - line)
    points[0], points[-1] = start, end
    T = problem.horizon.guess or problem.horizon.middle

    def posture(t: float) -> np.ndarray:
        return _along(basis, points, np.array([np.clip(t / T, 0, 1)]))[0]

    return trajectory_from(problem, posture)


def _spline(pieces: int) -> SplineBasis:
    """A smooth cubic spline of so many equal pieces."""
    return SplineBasis.of(np.linspace(0, 1, pieces + 1), 3, 2)


def _along(basis: SplineBasis, points: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Splines with control points (size, n) at s, shape (N, n)."""
    index = basis.first[basis.interval(s)][:, None] + np.arange(basis.degree + 1)
    return np.einsum("sk,skj->sj", basis.values(s), points[index])
