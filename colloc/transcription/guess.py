"""Guesses: the straight line within the limits, two postures, keyframes, functions of time; by phase and signal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np

from colloc.curves.bspline import BSpline
from colloc.model import Model
from colloc.model.ball import turned_quaternion
from colloc.model.floating import FREE
from colloc.problem import Coordinates, Phases, Problem, State, Unknown
from colloc.support.checks import (
    InputError,
    angles,
    finite_array,
    finite_number,
    function,
    mapping,
    quoted,
    spelt,
    unknown_name,
)
from colloc.support.display import shown
from colloc.transcription.final_postures import MOST, final_postures
from colloc.transcription.time_optimal_line import TimeOptimalLine, time_optimal_line
from colloc.transcription.trajectory import Trajectory

Guess = Callable[[float], Any]
_INTERVALS = 20
_SAME = 1e-6  # difference of quaternions that are meant to be the same
_GLANCES = 21  # at a guess, to see whether it may be in degrees
_LOOSE = 3  # turns that a guess may be away from zero
_ON_THE_WAY = 201  # times at which a guess is followed from one attitude to the next


@dataclass(frozen=True)
class Keyframes:
    """Postures, or values of a signal, at normalised times, connected by straight lines; see `keyframes`."""

    s: np.ndarray
    q: np.ndarray


class LineOfEnds(Keyframes):
    """The line between two postures that is a guess by default: timed within the limits if the duration is free."""


@spelt
def line(start: Any, end: Any) -> Keyframes:
    """A guess that moves every joint uniformly from one posture to another, or a signal from one value to another.

    Parameters
    ----------
    start, end : shape (n,) [rad, m]
        Shape (size,) or a number for a signal.

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

    Quaternions turn about a fixed axis from one posture to the next, by at most half a turn, whatever their signs; only
    from a quaternion to exactly its negative by a whole one.

    Parameters
    ----------
    postures : mapping of float in [0, 1] to shape (n,)
        Must include 0 and 1. Shape (size,) or numbers for a signal.

    See Also
    --------
    line : A straight line between two postures.
    reach : A posture that moves a point to a given place.

    Examples
    --------
    >>> guess = co.keyframes({0.0: (0.0, -2.0), 0.5: (0.5, -2.5), 1.0: (1.0, -1.0)})
    >>> round(co.solve(problem, co.BSpline(20), guess=guess).duration, 3)
    0.393

    Guesses of other signals by name, with or without one of the joints:

    >>> push = co.Unknown("push", lower=-5.0, upper=5.0)
    >>> pushed = co.Load("elbow", force=ca.vertcat(push.symbol, 0, 0))
    >>> swing = problem.model, problem.duration, problem.minimize, problem.subject_to
    >>> helped = co.Problem(*swing, unknowns=[push], loads=[pushed])
    >>> co.solve(helped, co.BSpline(20), guess={"q": guess, "push": co.line(5.0, -5.0)}).success
    True
    """
    times = sorted(finite_number("keyframe time", s) for s in mapping("keyframes", postures))
    if len(times) < 2 or times[0] != 0 or times[-1] != 1:
        raise InputError(f"keyframes must run from 0 to 1 (fractions of the duration), got times {times}")
    rows = [np.atleast_1d(finite_array(f"keyframe at {s:g}", postures[s])) for s in times]
    if len({row.shape for row in rows}) > 1 or rows[0].ndim != 1:
        raise InputError(f"guess postures must all have shape (n,), got shapes {[row.shape for row in rows]}")
    return Keyframes(np.array(times), np.array(rows))


def trajectory_from(problem: Problem, guess: Keyframes | Guess | Mapping[str, Any] | None) -> Trajectory:
    """A guess as a motion; None stands for the line between the initial and final posture of the problem.

    A mapping has guesses by signal: "q" for the joints, others under the names of unknowns and states. Without joints,
    a guess that is no mapping is that of all states.

    If the problem leaves the duration free without a guess, the line is timed: as fast as the limits allow, at rest at
    both ends, and scaled to the duration's bounds. Otherwise, or if the line cannot be timed, all joints move
    uniformly.
    """
    T, timed, coordinates = problem.horizon.guess or problem.horizon.middle, None, problem.coordinates
    signals: dict[str, Any] = {}
    if isinstance(guess, Mapping):
        signals = {name: value for name, value in guess.items() if name != "q"}
        guess = guess.get("q")
    default = guess is None or isinstance(guess, LineOfEnds)
    if guess is None:
        guess = LineOfEnds(np.array([0.0, 1.0]), np.array(_end_postures(problem)))
        if (bent := problem.way) is not None:
            guess = Keyframes(np.linspace(0, 1, len(bent)), bent)
    if isinstance(guess, LineOfEnds) and problem.horizon.guess is None and coordinates is None:
        timed = time_optimal_line(problem, *guess.q)
    along = _by_state(problem, guess, T)
    if along:
        guess = LineOfEnds(np.array([0.0, 1.0]), np.zeros((2, 0)))
    if isinstance(timed, TimeOptimalLine):
        T = float(np.clip(timed.duration, problem.horizon.lower, problem.horizon.upper))
        q = partial(_along, timed)
    elif isinstance(guess, Keyframes) or callable(guess):
        q = _through("guess", guess, problem.model.n_q, T, problem.model)
        if not default:
            _doubt(problem, q)
    else:
        raise InputError(
            "guess must be co.line(...), co.keyframes(...), a function of time, a mapping of signal to such, or a "
            f"Solution, got {quoted(guess)}"
        )
    if problem.model.balls and callable(guess):
        q = partial(_sampled_on_one_side, problem.model, q)
    if coordinates is not None:
        q = _closed(coordinates, q, default=default)
    values = {u.name: u.guess for u in problem.all_unknowns}
    states = {state.name: _end_values(problem, state) for state in problem.states}
    unknowns = {u.name: u for u in problem.all_unknowns}
    for name in signals:
        if name not in unknowns:
            raise unknown_name("signal to be guessed", name, ["q", *unknowns])
    along |= {name: _signal_guess(unknowns[name], value, T) for name, value in signals.items()}

    def signal(name: str, s: np.ndarray) -> np.ndarray:
        if name in along:
            return along[name](s)
        start, end = states.get(name, (values[name], values[name]))
        return start + s[:, None] * (end - start)

    return Trajectory(q, T, signal, lambda name: along[name](np.zeros(1))[0] if name in along else values[name])


def _doubt(problem: Problem, q: Callable[[np.ndarray], np.ndarray]) -> None:
    """InputWarning for a guess that may be in degrees."""
    hinges = np.flatnonzero(problem.model.hinge_angles)
    ends = prescribed_postures(problem)[:, hinges]
    farthest = np.abs(ends[np.isfinite(ends)]).max(initial=0.0)
    if farthest < 2 * np.pi:  # otherwise it turns many times, or its ends are in doubt
        angles("guess", q(np.linspace(0, 1, _GLANCES))[:, hinges], _LOOSE)


def _by_state(problem: Problem, guess: Any, T: float) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """A guess of all states, in their order, by state: (N,) -> (N, size). Empty if it is a guess of joints."""
    of_joints = guess.q.shape[1] == 0 if isinstance(guess, Keyframes) else not callable(guess)
    if problem.model.n_q or not problem.states or of_joints:
        return {}
    ends = np.cumsum([state.size for state in problem.states]).tolist()
    values = _through(f"guess of the states {shown([s.name for s in problem.states])}", guess, ends[-1], T)
    places = {state.name: slice(end - state.size, end) for state, end in zip(problem.states, ends, strict=True)}
    return {name: partial(_columns, values, part) for name, part in places.items()}


def _columns(values: Callable[[np.ndarray], np.ndarray], places: slice, s: np.ndarray) -> np.ndarray:
    return values(s)[:, places]


@overload
def by_way_of(problem: Problem, guesses: Mapping[str, Any] | None = None) -> Problem: ...


@overload
def by_way_of(problem: Phases, guesses: Mapping[str, Any] | None = None) -> Phases: ...


def by_way_of(problem: Problem | Phases, guesses: Mapping[str, Any] | None = None) -> Problem | Phases:
    """The problem with final quaternions on the side that guesses by phase reach from the initial ones.

    Without a guess the nearer side. If exactly the negative quaternion is prescribed, a whole turn, it stays. It is the
    same object if no sign changes.
    """
    if guesses is None:
        guesses = dict.fromkeys(problem.phases)
    phases = {name: _by_way_of(phase, guesses[name]) for name, phase in problem.phases.items()}
    if all(phase is problem.phases[name] for name, phase in phases.items()):
        return problem
    return replace(problem, phases=phases) if isinstance(problem, Phases) else phases[""]


def _by_way_of(problem: Problem, guess: Any) -> Problem:
    model, prescribed = problem.model, prescribed_postures(problem)
    start, end = np.where(np.isnan(prescribed), model.neutral, prescribed)
    balls = [
        places
        for places, _ in model.balls.values()
        if not (np.isnan(prescribed[:, places]).any() or np.allclose(start[places], -end[places], rtol=0, atol=_SAME))
    ]
    if not balls:
        return problem
    path = np.array([start, end])
    guess = guess.get("q") if isinstance(guess, Mapping) else guess
    if guess is not None:
        path = trajectory_from(problem, guess).q(np.linspace(0, 1, _ON_THE_WAY))
    path = _on_one_side(model, path)
    opposite = [p for p in balls if (path[0, p] @ start[p]) * (path[-1, p] @ end[p]) < 0]
    return problem.with_opposite_ends(np.r_[tuple(opposite)].tolist()) if opposite else problem


def _on_one_side(model: Model, postures: np.ndarray) -> np.ndarray:
    """Successive postures, shape (N, n_q), with quaternions on the side of those before them."""
    postures = model.of_unit_length(postures)
    for k in range(1, len(postures)):
        postures[k] = model.by_shortest_turns(postures[k - 1], postures[k])
    return postures


def _end_values(problem: Problem, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Prescribed values of a state at the ends, or its guess; if only one end is prescribed, the other is the same."""
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
    """A motion whose dependent joints follow from the independent ones, near its first posture unless that is a
    default.
    """

    def closed(s: np.ndarray) -> np.ndarray:
        order = np.argsort(s)
        closed_postures = np.empty((s.size, coordinates.model.n_q))
        postures = q(s[order])
        closed_postures[order] = coordinates.postures(postures, None if default else postures[0])
        return closed_postures

    return closed


def _sampled_on_one_side(model: Model, q: Callable[[np.ndarray], np.ndarray], s: np.ndarray) -> np.ndarray:
    order = np.argsort(s, kind="stable")
    postures = np.empty((s.size, model.n_q))
    postures[order] = _on_one_side(model, q(s[order]))
    return postures


def _between(frames: Keyframes, s: np.ndarray, model: Model | None = None) -> np.ndarray:
    """Keyframes at normalised times, shape (N, n): straight lines, and shortest turns of quaternions of a model."""
    values = np.column_stack([np.zeros((s.size, 0)), *(np.interp(s, frames.s, column) for column in frames.q.T)])
    if model is None or not model.balls or frames.s.size == 1:
        return values
    postures = _on_one_side(model, frames.q)
    along = np.array([model.displacement(*ends) for ends in pairwise(postures)])
    k = np.clip(np.searchsorted(frames.s, s, side="right") - 1, 0, len(along) - 1)
    share = np.clip((s - frames.s[k]) / (frames.s[k + 1] - frames.s[k]), 0, 1)
    turned = model.displaced(postures[k], share[:, None] * along[k])
    for places, _ in model.balls.values():
        values[:, places] = turned[:, places]
    return values


def _through(
    what: str, guess: Keyframes | Guess, n: int, T: float, model: Model | None = None
) -> Callable[[np.ndarray], np.ndarray]:
    """Keyframes or a function of time as a function of normalised times: (N,) -> (N, n).

    With a model they are postures.
    """
    if isinstance(guess, Keyframes):
        if guess.q.shape[1] != n:
            named = "guess postures" if what == "guess" else what
            raise InputError(f"{named} must have shape ({n},), got shape ({guess.q.shape[1]},)")
        return lambda s: _between(guess, s, model)
    function(what, guess, "a function of time", "t")
    return lambda s: np.array([finite_array(f"{what} at t = {t:g} s", guess(float(t)), (n,)) for t in s * T])


def _signal_guess(unknown: Unknown | State, guess: Any, T: float) -> Callable[[np.ndarray], np.ndarray]:
    """The guess of a signal, a state or a constant as a function of normalised times: (N,) -> (N, size)."""
    what = f"guess of {unknown.name!r}"
    varies = isinstance(guess, Keyframes) or callable(guess)
    if varies and isinstance(unknown, Unknown) and unknown.constant:
        raise InputError(f"{what} must be numbers, since it is constant, got {quoted(guess)}")
    if varies:
        return _through(what, guess, unknown.size, T)
    value = np.array(unknown.guess)
    if isinstance(guess, Mapping):
        for component, number in guess.items():
            if component not in unknown.names:
                raise unknown_name(f"component of {unknown.name}", component, unknown.names)
            value[unknown.names.index(component)] = finite_number(f"{what}[{component}]", number)
    else:
        value = finite_array(what, guess, (unknown.size,))
    return lambda s: np.tile(value, (s.size, 1))


def default_curves(problem: Problem | Phases, *, guessed: bool = False) -> dict[str, BSpline]:
    """Default splines by phase, with accelerations that may jump, on a mesh suited to the initial guess.

    From the straight line, timed within the limits of a free duration: cubics on breakpoints suited to it, narrow at
    the ends. Otherwise, and with a user's guess: degree 4 on equal intervals, on which a rough guess does no harm;
    refinement narrows intervals where necessary. If the problem contains jerk or torque rates, accelerations are
    continuous. So they are in several phases of a body that moves freely, where limbs would otherwise spin between the
    nodes of the first iterates: a hopper takes 84 to 160 iterations instead of 200 to more than 400.
    """
    several = len(problem.phases) > 1
    return {name: _default_curve(phase, guessed, several) for name, phase in problem.phases.items()}


def _default_curve(problem: Problem, guessed: bool, several: bool) -> BSpline:
    horizon = problem.horizon
    if problem.needs_rates or (several and _moves_freely(problem)):
        return BSpline(_INTERVALS, degree=4, continuity=2)
    if not guessed and horizon.lower < horizon.upper and problem.coordinates is None:
        timed = time_optimal_line(problem, *_end_postures(problem))
        if isinstance(timed, TimeOptimalLine):
            return BSpline(breakpoints=timed.breakpoints(), degree=3, continuity=1)
    return BSpline(_INTERVALS, degree=4, continuity=1)


def _moves_freely(problem: Problem) -> bool:
    """Whether torques and forces of as many joints as a free body has are zero along the motion."""
    lower, upper = problem.limits("tau")
    return int(((lower == 0) & (upper == 0)).sum()) >= len(FREE)


def phase_guesses(problem: Problem | Phases, guess: Any) -> dict[str, Any]:
    """A guess for every phase, from guesses by phase (some may be missing) or one guess of the whole motion.

    Keyframes or a function of time use the guessed durations of the phases. None stands for lines between the postures
    that phases prescribe at their ends. A guess of the whole motion may also be a mapping by signal. For cases, one
    guess is that of each of them, and None stands for the default of each.
    """
    phases = problem.phases
    if "" in phases:
        return {"": guess}
    ends = _phase_times(phases)
    spans = list(pairwise(ends / ends[-1])) if problem.in_sequence else [(0.0, 1.0)] * len(phases)
    parts = {
        name: _Share(phase.model, start if problem.in_sequence else 0.0, *span)
        for (name, phase), start, span in zip(phases.items(), ends, spans, strict=False)
    }
    if isinstance(guess, Mapping):
        by_phase = phase_guesses(problem, None)
        return by_phase | (dict(guess) if guess.keys() <= phases.keys() else _by_signal(phases, parts, guess, by_phase))
    if guess is None:
        return _lines(phases, ends, _known_ends(phases)[0]) if problem.in_sequence else dict.fromkeys(phases)
    if isinstance(guess, Keyframes) or callable(guess):
        return _in_phases("guess", parts, guess)
    raise InputError(
        "guess must be co.line(...), co.keyframes(...), a function of time, a mapping of phase to such, or a "
        f"Solution, got {quoted(guess)}"
    )


class _Share(NamedTuple):
    """The part of a guess of the whole motion that is a phase, or all of it for a case."""

    model: Model
    start: float  # s
    s_start: float  # s_start, s_end: fractions of the whole motion
    s_end: float


def _phase_times(phases: Mapping[str, Problem]) -> np.ndarray:
    """Guessed times of the ends of phases, from 0 on."""
    return np.append(0.0, np.cumsum([phase.horizon.guess or phase.horizon.middle for phase in phases.values()]))


def _by_signal(
    phases: Mapping[str, Problem], parts: Mapping[str, _Share], guess: Mapping[str, Any], default: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Guesses by phase and signal, from guesses of the whole motion by signal; lines for the joints by default."""
    there = {name: {"q", *(unknown.name for unknown in phase.all_unknowns)} for name, phase in phases.items()}
    by_phase: dict[str, dict[str, Any]] = {name: {"q": default[name]} for name in phases}
    for signal, value in guess.items():
        if signal not in set().union(*there.values()):
            raise unknown_name("phase", signal, [*phases, *sorted(set().union(*there.values()))])
        for name, piece in _in_phases(f"guess of {signal!r}", parts, value).items():
            if signal in there[name]:
                by_phase[name][signal] = piece
    return by_phase


def _in_phases(what: str, parts: Mapping[str, _Share], guess: Any) -> dict[str, Any]:
    """A guess of the whole motion, divided into phases; numbers are the same in all of them."""
    if isinstance(guess, Keyframes):
        return {
            name: _piece(guess, part.s_start, part.s_end, part.model if what == "guess" else None)
            for name, part in parts.items()
        }
    if callable(guess):
        function(what, guess, "a function of time", "t")
        return {name: partial(_later, guess, part.start) for name, part in parts.items()}
    return dict.fromkeys(parts, guess)


def _later(guess: Guess, start: float, t: float) -> Any:
    return guess(start + t)


def _piece(frames: Keyframes, start: float, end: float, model: Model | None) -> Keyframes:
    """The part of keyframes between two fractions of the duration; of postures, if with a model."""
    inside = frames.s[(frames.s > start) & (frames.s < end)]
    s = np.concatenate([[start], inside, [end]])
    postures = model is not None and frames.q.shape[1] == model.n_q
    return Keyframes((s - start) / (end - start), _between(frames, s, model if postures else None))


def _lines(phases: Mapping[str, Problem], ends: np.ndarray, known: Mapping[str, np.ndarray]) -> dict[str, Keyframes]:
    """Lines through known postures at the ends of phases, joint by joint; at the middle of its bounds without any.

    A ball joint takes part with all entries of its quaternion.
    """
    values_at: dict[tuple[str, ...], dict[float, np.ndarray]] = {}
    for (name, problem), *times in zip(phases.items(), ends, ends[1:], strict=False):
        for t, posture in zip(times, known[name], strict=True):
            for names, places in _separate(problem.model):
                if not np.isnan(posture[places]).any():
                    values_at.setdefault(names, {}).setdefault(float(t), posture[places])
    lines = {}
    for (name, problem), *times in zip(phases.items(), ends, ends[1:], strict=False):
        postures = np.tile(resting_posture(problem), (2, 1))
        for names, places in _separate(problem.model):
            if names in values_at:
                when = sorted(values_at[names])
                frames = np.tile(postures[0], (len(when), 1))
                frames[:, places] = [values_at[names][t] for t in when]
                between = _between(Keyframes(np.array(when), frames), np.array(times), problem.model)
                postures[:, places] = between[:, places]
        lines[name] = line(*postures)
    return lines


def _separate(model: Model) -> list[tuple[tuple[str, ...], slice]]:
    """Names and places of the positions of every joint: one, or those of a quaternion."""
    of_balls = {places.start: places for places, _ in model.balls.values()}
    inside = {k for places in of_balls.values() for k in range(places.start + 1, places.stop)}
    parts = [of_balls.get(k, slice(k, k + 1)) for k in range(model.n_q) if k not in inside]
    return [(tuple(model.position_names[part]), part) for part in parts]


def _end_postures(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Postures at the ends; a joint without a value takes that of the other end, or of the resting posture."""
    stated_at = prescribed_postures(problem)
    filled = np.where(np.isnan(stated_at), stated_at[::-1], stated_at)
    start, end = np.where(np.isnan(filled), resting_posture(problem), filled)
    open_ends = _final_postures(problem)
    return start, open_ends[0] if open_ends else end


def lines_to_final_postures(problem: Problem | Phases) -> list[Any]:
    """Guesses for every final posture that meets angles up to turns and targets; empty without such statements.

    In phases that follow each other for every choice of one in each phase, the shortest ways first. In cases for the
    first of every case, the second and so on.
    """
    if not isinstance(problem, Phases):
        start, _ = _end_postures(problem)
        return [LineOfEnds(np.array([0.0, 1.0]), np.array([start, end])) for end in _final_postures(problem)]
    if not problem.in_sequence:
        lines = {name: lines_to_final_postures(case) for name, case in problem.phases.items()}
        choices = range(max(len(of_case) for of_case in lines.values()))
        return [
            {name: of_case[min(k, len(of_case) - 1)] if of_case else None for name, of_case in lines.items()}
            for k in choices
        ]
    if not any(_final_postures(phase) for phase in problem.phases.values()):
        return []
    times = _phase_times(problem.phases)
    return [_lines(problem.phases, times, known) for known in _known_ends(problem.phases)]


def whole_turns(problem: Problem | Phases) -> list[Keyframes]:
    """Guesses for a motion from a quaternion to exactly its negative: a whole turn about each axis of the body.

    Empty for motions in phases, without a whole turn, and with parts that have another guess than the straight line.
    """
    if isinstance(problem, Phases) or problem.way is not None or problem.coordinates is not None:
        return []
    (start, end), prescribed = _end_postures(problem), problem.prescribed_postures
    turning = [
        places
        for places, _ in problem.model.balls.values()
        if np.isfinite(prescribed[:, places]).all() and np.allclose(start[places], -end[places], rtol=0, atol=_SAME)
    ]
    guesses = []
    for axis in np.eye(3) if turning else ():
        middle = (start + end) / 2
        for places in turning:
            middle[places] = turned_quaternion(start[places], np.pi * axis)
        guesses.append(Keyframes(np.array([0.0, 0.5, 1.0]), np.array([start, middle, end])))
    return guesses


def _final_postures(problem: Problem, before: Mapping[str, float] | None = None) -> list[np.ndarray]:
    """Final postures that a problem leaves open; see `final_postures` and `_start_of`."""
    return final_postures(problem, _start_of(problem, before), prescribed_postures(problem)[1])


def _start_of(problem: Problem, before: Mapping[str, float] | None = None) -> np.ndarray:
    """The initial posture, with the last positions before it, by name, or those at the end, where none is stated."""
    start, end = prescribed_postures(problem)
    carried = np.array([(before or {}).get(name, np.nan) for name in problem.model.position_names])
    for other in (carried, end, resting_posture(problem)):
        start = np.where(np.isnan(start), other, start)
    return start


class _Choices(NamedTuple):
    """Final postures chosen in some phases that follow each other."""

    known: dict[str, np.ndarray]  # postures at the ends, shape (2, n), by phase; NaN where nothing is known
    reached: dict[str, float]  # last known positions, by name
    length: float  # of the way from one to the next


def _known_ends(phases: Mapping[str, Problem]) -> list[dict[str, np.ndarray]]:
    """Known postures at the ends of phases in sequence, for every choice of final postures, the shortest ways first."""
    ways = [_Choices({}, {}, 0.0)]
    for name, problem in phases.items():
        longer = [extended for way in ways for extended in _extended(way, name, problem)]
        ways = sorted(longer, key=lambda way: way.length)[:MOST]
    return [way.known for way in ways]


def _extended(way: _Choices, name: str, problem: Problem) -> list[_Choices]:
    """A way with one more phase, for each of its final postures."""
    stated_at, names = prescribed_postures(problem), problem.model.position_names
    turning = [turn.index for turn in problem.up_to_turns]
    start, extended = _start_of(problem, way.reached), []
    for end in _final_postures(problem, way.reached) or [None]:
        known = stated_at.copy()
        if end is not None:
            moved = (end != start) | np.isin(np.arange(end.size), turning)
            known[1] = np.where(moved, end, known[1])
        reached, length = dict(way.reached), way.length
        for posture in known:
            here = {joint: float(q) for joint, q in zip(names, posture, strict=True) if not np.isnan(q)}
            length += sum(abs(q - reached[joint]) for joint, q in here.items() if joint in reached)
            reached |= here
        extended.append(_Choices(way.known | {name: known}, reached, length))
    return extended


def resting_posture(problem: Problem) -> np.ndarray:
    """Default positions of joints, shape (n,): zero, or the nearest value within bounds; an assembled posture for
    closed chains.
    """
    rest = problem.model.neutral if problem.coordinates is None else problem.coordinates.posture
    return np.clip(rest, *problem.limits("q"))


def prescribed_postures(problem: Problem) -> np.ndarray:
    """Postures prescribed at the ends, shape (2, n); NaN for joints without a value."""
    return problem.prescribed_postures
