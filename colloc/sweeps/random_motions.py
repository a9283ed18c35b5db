"""Random motions to start from: by way of random postures within the joint ranges, in random durations.

One smooth detour leads to more of the good optima than motions that wind, such as splines with random control points:
of four- and five-joint motions with a dozen to a hundred optima two to seven times as many starts end in the best one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from colloc.problem import Problem
from colloc.support.checks import InputError
from colloc.transcription import BaseNLP, Trajectory, trajectory_from
from colloc.transcription.guess import Keyframes, resting_posture, stated_postures
from colloc.transcription.nlp import Phase

_DETOURS = (0.5, 1.0)  # shares of the way from the straight line to a random posture
_TURNING = (0.25, 0.75)  # fractions of the duration between which a detour is at its farthest
_HASTE = 3.0  # largest factor between the duration of the usual guess and a random one
_NEAR, _NEAR_HASTE = 0.5, 1.3  # of the range of a joint, and of the duration, for motions near another
_MOVED = 0.4  # share of the joints in which these differ
_FRAMES = np.linspace(0, 1, 33)
_TRIES = 20  # to close a chain in random postures


class Reach(NamedTuple):
    """Where the joints of a problem may be, each ndarray, shape (n,) [rad, m]; where nothing limits them, a guess."""

    lower: np.ndarray
    upper: np.ndarray


def random_start(nlp: BaseNLP, lines: Sequence[Trajectory], rng: np.random.Generator) -> np.ndarray:
    """A decision vector within its bounds.

    Parameters
    ----------
    nlp : BaseNLP
    lines : sequence of Trajectory
        The usual guess of every motion of the program, see `usual_guesses`.
    rng : Generator
    """
    x, posture = np.zeros(nlp.n_x), {}
    for motion, line in zip(nlp.motions, lines, strict=True):
        x[motion.part] = _random_part(motion, line, posture, rng)
    return np.clip(x, nlp.lower, nlp.upper)


def near_start(nlp: BaseNLP, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A decision vector near another: large detours of some joints, and another duration."""
    x = x.copy()
    for motion in nlp.motions:
        own, layout = x[motion.part], motion.grid.layout
        reach, n = reach_of(motion.problem), motion.problem.model.n
        moved = rng.random(n) < _MOVED
        if n:
            moved[rng.integers(n)] = True
        way = np.where(moved, rng.uniform(-_NEAR, _NEAR, n), 0.0) * (reach.upper - reach.lower)
        own[layout["q"] - layout.offset] += _detour(motion.grid.basis.greville(), rng)[:, None] * way
        own[layout.duration - layout.offset] *= _NEAR_HASTE ** rng.uniform(-1, 1)
        x[motion.part] = own
    return np.clip(x, nlp.lower, nlp.upper)


def usual_guesses(nlp: BaseNLP) -> list[Trajectory]:
    """The guess that every motion of a program has where none is given."""
    return [trajectory_from(motion.problem, None) for motion in nlp.motions]


def reach_of(problem: Problem) -> Reach:
    """The bounds of the joints; half a turn, or a metre, beyond the stated postures where there are none."""
    lower, upper = problem.limits("q")
    known = np.where(np.isnan(stated := stated_postures(problem)), resting_posture(problem), stated)
    room = np.array([np.pi if unit == "rad" else 1.0 for unit in problem.model.position_units])
    low, high = known.min(axis=0, initial=np.inf) - room, known.max(axis=0, initial=-np.inf) + room
    return Reach(np.where(np.isfinite(lower), lower, low), np.where(np.isfinite(upper), upper, high))


def _random_part(motion: Phase, line: Trajectory, posture: dict[str, float], rng: np.random.Generator) -> np.ndarray:
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
            x = motion.grid.interpolate(found)
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
    """A motion between two postures by way of a random one, or part of the way to it: it stays in their hull."""
    line = start + _FRAMES[:, None] * (end - start)
    way = rng.uniform(reach.lower, reach.upper) - line
    share = rng.choice(_DETOURS) * _detour(_FRAMES, rng)
    return trajectory_from(problem, Keyframes(_FRAMES, line + share[:, None] * way))


def _detour(s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Two parabolas, from 0 to 1 at some time and back to 0, shape (N,)."""
    top = rng.uniform(*_TURNING)
    return 1 - ((s - top) / np.where(s < top, top, 1 - top)) ** 2
