"""Where a solve starts: the straight line within the limits, two postures, keyframes, a function of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from colloc.curves.bspline import BSpline
from colloc.model import Model
from colloc.problem import Coordinates, Phases, Problem, State
from colloc.support.checks import (
    InputError,
    finite_array,
    finite_number,
    function,
    mapping,
    quoted,
    spelt,
    unknown_name,
)
from colloc.transcription.time_optimal_line import TimeOptimalLine, time_optimal_line
from colloc.transcription.trajectory import Trajectory

Guess = Callable[[float], Any]
_INTERVALS = 20


@dataclass(frozen=True)
class Keyframes:
    """Postures at normalised times, joined by straight lines in joint space; made by `line` and `keyframes`."""

    s: np.ndarray
    q: np.ndarray


@spelt
def line(start: Any, end: Any) -> Keyframes:
    """A guess that moves every joint uniformly from one posture to another.

    Parameters
    ----------
    start, end : shape (n,) [rad, m]

    See Also
    --------
    keyframes : Postures at fractions of the duration.

    Examples
    --------
    >>> round(co.solve(problem, co.BSpline(20), guess=co.line((0.0, -2.0), (1.0, -1.0))).duration, 3)
    0.393
    """
    return keyframes({0.0: start, 1.0: end})


@spelt
def keyframes(postures: Mapping[float, Any]) -> Keyframes:
    """A guess through postures at given fractions of the duration, straight lines in between.

    Parameters
    ----------
    postures : mapping of float in [0, 1] to shape (n,)
        Must include 0 and 1.

    See Also
    --------
    line : A straight line between two postures.
    reach : A posture that puts a point in a place.

    Examples
    --------
    >>> guess = co.keyframes({0.0: (0.0, -2.0), 0.5: (0.5, -2.5), 1.0: (1.0, -1.0)})
    >>> round(co.solve(problem, co.BSpline(20), guess=guess).duration, 3)
    0.393
    """
    times = sorted(finite_number("keyframe time", s) for s in mapping("keyframes", postures))
    if len(times) < 2 or times[0] != 0 or times[-1] != 1:
        raise InputError(f"keyframes must run from 0 to 1 (fractions of the duration), got times {times}")
    rows = [finite_array(f"keyframe at {s:g}", postures[s]) for s in times]
    if len({row.shape for row in rows}) > 1 or rows[0].ndim != 1:
        raise InputError(f"guess postures must all have shape (n,), got shapes {[row.shape for row in rows]}")
    return Keyframes(np.array(times), np.array(rows))


def trajectory_from(problem: Problem, guess: Keyframes | Guess | None) -> Trajectory:
    """A guess as a motion; None is the line between the initial and final posture that the problem states.

    Where a problem leaves the duration open and says nothing of it either, that line is timed: as fast as the limits
    allow, at rest at both ends, and stretched or shortened to the duration's bounds. Otherwise, and where the line
    cannot be timed, every joint moves uniformly.
    """
    T, timed, coordinates = problem.horizon.guess or problem.horizon.middle, None, problem.coordinates
    default = guess is None
    if guess is None:
        start, end = _end_postures(problem)
        guess = line(start, end)
        if problem.horizon.guess is None and coordinates is None:
            timed = time_optimal_line(problem, start, end)
    if isinstance(timed, TimeOptimalLine):
        T = float(np.clip(timed.duration, problem.horizon.lower, problem.horizon.upper))
        q = partial(_along, timed)
    elif callable(guess):
        function("guess", guess, "a function of time", "t")
        q = _function_of_time(problem, guess, T)
    elif isinstance(guess, Keyframes):
        q = _through(problem, guess)
    else:
        raise InputError(
            "guess must be co.line(...), co.keyframes(...), a function of time, or an earlier Solution, "
            f"got {quoted(guess)}"
        )
    if problem.model.balls:
        q = partial(_of_unit_length, problem.model, q)
    if coordinates is not None:
        q = _closed(coordinates, q, default=default)
    values = {u.name: u.guess for u in problem.all_unknowns}
    states = {state.name: _end_values(problem, state) for state in problem.states}

    def signal(name: str, s: np.ndarray) -> np.ndarray:
        start, end = states.get(name, (values[name], values[name]))
        return start + s[:, None] * (end - start)

    return Trajectory(q, T, signal, lambda name: values[name])


def _end_values(problem: Problem, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Values of a state stated at the ends, or its guess; where one end is stated alone, the other is the same."""
    values_at: dict[int, np.ndarray] = {}
    for values in problem.end_values.values():
        for end in values:
            if end.quantity == state.name:
                values_at.setdefault(int(end.s), state.guess.copy())[end.index] = end.value
    default = next(iter(values_at.values()), state.guess)
    return values_at.get(0, default), values_at.get(1, default)


def _along(timed: TimeOptimalLine, s: np.ndarray) -> np.ndarray:
    return timed.at(s * timed.duration)[0]


def _closed(
    coordinates: Coordinates, q: Callable[[np.ndarray], np.ndarray], *, default: bool
) -> Callable[[np.ndarray], np.ndarray]:
    """A motion whose joints follow from the independent ones, near its first posture unless that is but a default."""

    def closed(s: np.ndarray) -> np.ndarray:
        order = np.argsort(s)
        closed_postures = np.empty((s.size, coordinates.model.n_q))
        postures = q(s[order])
        closed_postures[order] = coordinates.postures(postures, None if default else postures[0])
        return closed_postures

    return closed


def _of_unit_length(model: Model, q: Callable[[np.ndarray], np.ndarray], s: np.ndarray) -> np.ndarray:
    return model.of_unit_length(q(s))


def _through(problem: Problem, frames: Keyframes) -> Callable[[np.ndarray], np.ndarray]:
    n = problem.model.n_q
    if frames.q.shape[1] != n:
        raise InputError(f"guess postures must have shape ({n},), got shape ({frames.q.shape[1]},)")
    return lambda s: np.column_stack([np.zeros((s.size, 0)), *(np.interp(s, frames.s, q) for q in frames.q.T)])


def _function_of_time(problem: Problem, guess: Guess, T: float) -> Callable[[np.ndarray], np.ndarray]:
    n = problem.model.n_q
    return lambda s: np.array([finite_array(f"guess at t = {t:g} s", guess(float(t)), (n,)) for t in s * T])


def default_curves(problem: Problem | Phases, *, guessed: bool = False) -> dict[str, BSpline]:
    """Splines whose accelerations may jump, on a mesh for where the search starts, by phase.

    From the straight line, timed within the limits of a free duration, cubics on breakpoints that suit it, narrow where
    it starts and ends. Else, and where a user's guess is, of degree 4 on equal intervals, on which a rough guess does
    no harm; where narrow ones are needed, refinement shows. Where the problem speaks of jerk or torque rates,
    accelerations are continuous.
    """
    return {name: _default_curve(phase, guessed) for name, phase in problem.phases.items()}


def _default_curve(problem: Problem, guessed: bool) -> BSpline:
    horizon = problem.horizon
    if problem.needs_rates:
        return BSpline(_INTERVALS, degree=4, continuity=2)
    if not guessed and horizon.lower < horizon.upper and problem.coordinates is None:
        timed = time_optimal_line(problem, *_end_postures(problem))
        if isinstance(timed, TimeOptimalLine):
            return BSpline(breakpoints=timed.breakpoints(), degree=3, continuity=1)
    return BSpline(_INTERVALS, degree=4, continuity=1)


def phase_guesses(problem: Problem | Phases, guess: Any) -> dict[str, Any]:
    """A guess for every phase, from guesses by phase, where phases may be left out, or one of the whole motion.

    Keyframes or a function of time have durations that are those guessed of the phases. None is a line from each
    posture that a phase states at an end to the next one.
    """
    phases = problem.phases
    if "" in phases:
        return {"": guess}
    if isinstance(guess, Mapping):
        for name in guess:
            if name not in phases:
                raise unknown_name("phase", name, phases)
        return phase_guesses(problem, None) | dict(guess)
    ends = np.append(0.0, np.cumsum([phase.horizon.guess or phase.horizon.middle for phase in phases.values()]))
    if guess is None:
        return _lines(phases, ends)
    if isinstance(guess, Keyframes):
        return {
            name: _piece(guess, start / ends[-1], end / ends[-1])
            for name, start, end in zip(phases, ends, ends[1:], strict=False)
        }
    if callable(guess):
        function("guess", guess, "a function of time", "t")
        return {name: partial(_later, guess, start) for name, start in zip(phases, ends, strict=False)}
    raise InputError(
        "guess must be co.line(...), co.keyframes(...), a function of time, a mapping of phase to such, or an earlier "
        f"Solution, got {quoted(guess)}"
    )


def _later(guess: Guess, start: float, t: float) -> Any:
    return guess(start + t)


def _piece(frames: Keyframes, start: float, end: float) -> Keyframes:
    """A part of some keyframes."""
    inside = frames.s[(frames.s > start) & (frames.s < end)]
    s = np.concatenate([[start], inside, [end]])
    return Keyframes((s - start) / (end - start), np.column_stack([np.interp(s, frames.s, q) for q in frames.q.T]))


def _lines(phases: Mapping[str, Problem], ends: np.ndarray) -> dict[str, Keyframes]:
    """Lines through the postures that phases state, joint by joint; through a middle of its bounds where none does."""
    postures_at: dict[str, dict[float, float]] = {}
    for problem, *times in zip(phases.values(), ends, ends[1:], strict=False):
        for t, posture in zip(times, prescribed_postures(problem), strict=True):
            for joint, value in zip(problem.model.position_names, posture.tolist(), strict=True):
                if not np.isnan(value):
                    postures_at.setdefault(joint, {}).setdefault(float(t), value)
    lines = {}
    for (name, problem), *times in zip(phases.items(), ends, ends[1:], strict=False):
        postures = np.tile(resting_posture(problem), (2, 1))
        for j, joint in enumerate(problem.model.position_names):
            if joint in postures_at:
                when, where = np.array(sorted(postures_at[joint].items())).T
                postures[:, j] = np.interp(times, when, where)
        lines[name] = line(*postures)
    return lines


def _end_postures(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Postures stated at the ends; a joint without one takes that of the other end, or of the resting posture."""
    stated_at = prescribed_postures(problem)
    filled = np.where(np.isnan(stated_at), stated_at[::-1], stated_at)
    start, end = np.where(np.isnan(filled), resting_posture(problem), filled)
    return start, end


def resting_posture(problem: Problem) -> np.ndarray:
    """Where joints are of which nothing is said, shape (n,): zero, or what is nearest to it within their bounds; of a
    closed chain where it is assembled."""
    rest = problem.model.neutral if problem.coordinates is None else problem.coordinates.posture
    return np.clip(rest, *problem.limits("q"))


def prescribed_postures(problem: Problem) -> np.ndarray:
    """Postures stated at the ends, shape (2, n); NaN where none is."""
    n = problem.model.n_q
    postures = np.full((2, n), np.nan)
    for values in problem.end_values.values():
        for end in values:
            if end.quantity == "q":
                postures[int(end.s), end.index] = end.value
    return postures
