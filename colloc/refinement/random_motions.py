"""Random initial motions through random postures within the joint ranges, in random durations.

A problem without joints has random motions of its states. Beside joints, states start from their guess.

A single smooth detour reaches more of the good optima than winding motions, such as splines with random control points:
for four- and five-joint motions with a dozen to a hundred optima, two to seven times as many starts reach the best one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from colloc.problem import Problem
from colloc.support.checks import InputError
from colloc.transcription import BaseNLP, Trajectory, trajectory_from
from colloc.transcription.final_postures import posture_at_end
from colloc.transcription.guess import Keyframes, prescribed_postures, resting_posture
from colloc.transcription.nlp import Phase

_DETOURS = (0.5, 1.0)  # fractions of the way from the straight line to a random posture
_TURNING = (0.25, 0.75)  # range of the time of the farthest point of a detour, as fractions of the duration
_HASTE = 3.0  # largest ratio of a random duration and that of the default guess
# Detours of motions near another, of the range of a joint and of the duration: with half the range, joints do not fold
# the other way, and the best of a Stanford arm's optima is found in 5 of 12 searches instead of 10.
_NEAR, _NEAR_HASTE = 1.0, 1.3
_MOVED = 0.4  # fraction of the joints that take a detour
_DRAWS = 4  # random motions, of which the most promising is a start
_SPEEDS = (0.5, 2.0)  # factors of durations among which the best is chosen
_FRAMES = np.linspace(0, 1, 33)
_TRIES = 20  # attempts to close a chain in random postures


class Reach(NamedTuple):
    """Ranges of the joints, each ndarray, shape (n,) [rad, m], or of the states; a guess where there are no limits."""

    lower: np.ndarray
    upper: np.ndarray


def random_start(nlp: BaseNLP, durations: list[float], rng: np.random.Generator) -> np.ndarray:
    """A decision vector within its bounds.

    Parameters
    ----------
    nlp : BaseNLP
    durations : list of float [s]
        Durations of the phases; random ones are up to three times as long or as short; see `default_durations`.
    rng : Generator
    """
    x, posture = np.zeros(nlp.n_x), {}
    for phase, duration in zip(nlp.motions, durations, strict=True):
        x[phase.part] = _random_part(phase, duration, posture, rng)
    return np.clip(x, nlp.lower, nlp.upper)


def promising_start(
    nlp: BaseNLP, durations: list[float], parameters: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The most promising of a few random motions by cost and largest violation, with its best duration.

    It takes fewer iterations than others and ends in a better basin: for an arm of three links the two most promising
    of thirty reach the best optimum, as does a fifth of all. With many starts, variety is more useful.

    Parameters
    ----------
    nlp, durations, rng :
        As in `random_start`.
    parameters : ndarray, shape (n_p,)
    """
    motions = np.concatenate([_at_some_speeds(nlp, random_start(nlp, durations, rng)) for _ in range(_DRAWS)])
    costs, (lower, upper) = np.array(nlp.f(motions.T, parameters)).ravel(), nlp.bounds_g
    merit = costs / max(float(np.nanmedian(np.abs(costs))), 1e-12)
    if nlp.n_g:
        rows = np.array(nlp.g(motions.T, parameters)).T
        merit += (np.maximum(np.maximum(lower - rows, rows - upper), 0.0) / nlp.scale_g).max(axis=1)
    return motions[int(np.argmin(np.where(np.isfinite(merit), merit, np.inf)))]


def _at_some_speeds(nlp: BaseNLP, x: np.ndarray) -> np.ndarray:
    """A motion, and faster and slower ones if durations are free, shape (speeds, n_x)."""
    index = np.concatenate([phase.grid.layout.duration for phase in nlp.motions])
    motions = [x]
    if (nlp.lower[index] < nlp.upper[index]).any():
        for haste in _SPEEDS:
            other = x.copy()
            other[index] *= haste
            motions.append(np.clip(other, nlp.lower, nlp.upper))
    return np.array(motions)


def near_start(nlp: BaseNLP, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A decision vector near another: large detours of some joints, and another duration."""
    x = x.copy()
    for phase in nlp.motions:
        part, layout = x[phase.part], phase.grid.layout
        reach, n = reach_of(phase.problem), phase.problem.model.n_q
        moved = rng.random(n) < _MOVED
        if n:
            moved[rng.integers(n)] = True
        way = np.where(moved, rng.uniform(-_NEAR, _NEAR, n), 0.0) * (reach.upper - reach.lower)
        part[layout["q"] - layout.offset] += _detour(phase.grid.basis.greville(), rng)[:, None] * way
        if not n:
            reach, basis = state_reach(phase.problem), phase.grid.states
            way = rng.uniform(-_NEAR, _NEAR, reach.lower.size) * (reach.upper - reach.lower)
            part[layout["states"] - layout.offset] += _detour(basis.greville(), rng)[:, None] * way
        part[layout.duration - layout.offset] *= _NEAR_HASTE ** rng.uniform(-1, 1)
        x[phase.part] = part
    return np.clip(x, nlp.lower, nlp.upper)


def default_durations(nlp: BaseNLP) -> list[float]:
    """Durations of all phases in the default guess of `solve` [s]."""
    return [trajectory_from(phase.problem, None).duration for phase in nlp.motions]


def reach_of(problem: Problem) -> Reach:
    """Ranges from bounds of the joints; without bounds, half a turn or a metre beyond the prescribed postures."""
    lower, upper = problem.limits("q")
    fixed = prescribed_postures(problem)
    postures = np.where(np.isnan(fixed), resting_posture(problem), fixed)
    room = np.array([np.pi if unit == "rad" else 1.0 for unit in problem.model.position_units])
    low, high = postures.min(axis=0, initial=np.inf) - room, postures.max(axis=0, initial=-np.inf) + room
    return Reach(np.where(np.isfinite(lower), lower, low), np.where(np.isfinite(upper), upper, high))


def state_reach(problem: Problem) -> Reach:
    """Ranges from bounds of the states; without bounds, their largest value in the default guess beyond it."""
    if not problem.states:
        return Reach(np.zeros(0), np.zeros(0))
    ends = trajectory_from(problem, None).signals(problem.states, np.array([0.0, 1.0]))
    room = np.abs(ends).max(axis=0)
    room[room == 0] = 1.0
    lower, upper = (np.concatenate([getattr(s, bound) for s in problem.states]) for bound in ("lower", "upper"))
    low, high = ends.min(axis=0) - room, ends.max(axis=0) + room
    return Reach(np.where(np.isfinite(lower), lower, low), np.where(np.isfinite(upper), upper, high))


def _random_part(phase: Phase, duration: float, posture: dict[str, float], rng: np.random.Generator) -> np.ndarray:
    """The entries of a phase; `posture`, the end of the previous phase, is updated to the end of this one."""
    problem = phase.problem
    names, reach = problem.model.position_names, reach_of(problem)
    for attempt in range(_TRIES):
        start, end = prescribed_postures(problem)
        start = np.where(np.isnan(start), [posture.get(name, np.nan) for name in names], start)
        anywhere = rng.uniform(reach.lower, reach.upper, (2, len(names)))
        ends = [(0.0, start, anywhere[0]), (1.0, end, anywhere[1])]
        start, end = (
            posture_at_end(problem, moment, np.where(np.isnan(stated), random, stated), ~np.isnan(stated))
            for moment, stated, random in ends
        )
        T = float(duration * _HASTE ** rng.uniform(-1, 1))
        trajectory = replace(_through(problem, start, end, reach, rng), duration=T)
        try:
            x = phase.grid.interpolate(trajectory)
        except InputError:  # the chain cannot be closed there
            if attempt == _TRIES - 1:
                raise
            continue
        posture.update(zip(names, end.tolist(), strict=True))
        break
    for name, index in phase.grid.layout.constants.items():
        unknown = next(u for u in problem.constants if u.name == name)
        bounded = np.isfinite(unknown.lower) & np.isfinite(unknown.upper)
        drawn = rng.uniform(np.where(bounded, unknown.lower, 0.0), np.where(bounded, unknown.upper, 1.0))
        x[index - phase.grid.layout.offset] = np.where(bounded, drawn, unknown.guess)
    return x


def _through(
    problem: Problem, start: np.ndarray, end: np.ndarray, reach: Reach, rng: np.random.Generator
) -> Trajectory:
    """A motion between two postures that passes a random one, or a part of the way to it, within their hull."""
    model, line = problem.model, start + _FRAMES[:, None] * (end - start)
    way = rng.uniform(reach.lower, reach.upper) - line
    share = (rng.choice(_DETOURS) * _detour(_FRAMES, rng))[:, None]
    postures = line + share * way
    if model.balls:
        start, end = model.of_unit_length(np.array([start, end]))
        turned = model.displaced(start, _FRAMES[:, None] * model.displacement(start, end))
        turned = model.displaced(turned, share * rng.uniform(-np.pi, np.pi, model.n))
        for places, _ in model.balls.values():
            postures[:, places] = turned[:, places]
    if problem.coordinates is not None:  # the first posture determines the branch of a closed chain
        postures[0] = problem.coordinates.postures(postures[:1])[0]
    trajectory = trajectory_from(problem, Keyframes(_FRAMES, postures))
    return trajectory if problem.model.n else _with_random_states(problem, trajectory, rng)


def _with_random_states(problem: Problem, trajectory: Trajectory, rng: np.random.Generator) -> Trajectory:
    """A motion whose states take a detour through random values."""
    line, reach = trajectory.signals(problem.states, _FRAMES), state_reach(problem)
    share = rng.choice(_DETOURS) * _detour(_FRAMES, rng)
    values = line + share[:, None] * (rng.uniform(reach.lower, reach.upper) - line)
    sizes = np.cumsum([state.size for state in problem.states])[:-1]
    along = dict(zip((state.name for state in problem.states), np.split(values, sizes, axis=1), strict=True))

    def signal(name: str, s: np.ndarray) -> np.ndarray:
        if name not in along:
            return trajectory.signal(name, s)
        return np.column_stack([np.interp(s, _FRAMES, column) for column in along[name].T])

    return replace(trajectory, signal=signal)


def _detour(s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Two parabolas, from 0 to 1 at a random time and back to 0, shape (N,)."""
    top = rng.uniform(*_TURNING)
    return 1 - ((s - top) / np.where(s < top, top, 1 - top)) ** 2
