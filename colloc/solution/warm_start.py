"""Start of a solve: a guess, or an earlier solution on any grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from colloc.blocks.block import Block
from colloc.problem import Phases, Problem
from colloc.solution.as_guess import check_kind, trajectory_of
from colloc.solution.solution import BaseSolution, Solution
from colloc.solver import Start, Status
from colloc.transcription import NLP, BaseNLP, Guess, Keyframes, PhasesNLP, phase_guesses, trajectory_from
from colloc.transcription.blend import blended, resting
from colloc.transcription.guess import by_way_of

PhaseGuess = Keyframes | Guess | Solution | Mapping[str, Any] | None  # a mapping by signal
MotionGuess = PhaseGuess | BaseSolution  # or a mapping by phase


def start_from(nlp: NLP | PhasesNLP, guess: MotionGuess, parameters: np.ndarray) -> Start:
    """Initial decision vector, and multipliers if they fit.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
    guess : line, keyframes, function of time, Solution, mapping of signal to such, or None
        For a motion in phases, a guess over all of them, or a mapping of phase to such a guess. The guess is deformed
        to meet values that are fixed at the ends or at single times.
    parameters : ndarray, shape (n_p,)
    """
    return starts_from(nlp, guess, parameters[None])[0]


def starts_from(nlp: NLP | PhasesNLP, guess: MotionGuess, parameters: np.ndarray) -> list[Start]:
    """Starts for several values of the parameters, shape (K, n_p), as in `start_from`."""
    check_kind(nlp.problem, guess)
    multipliers, near_optimum = None, False
    if isinstance(guess, BaseSolution):
        # Multipliers of an iterate that is no optimum would mislead.
        optimal = guess.outcome.status in (Status.SOLVED, Status.ACCEPTABLE)
        same = _has_variables_of(guess, nlp)
        multipliers = _multipliers(nlp, guess) if optimal and same else None
        near_optimum = optimal and not same and guess.problem is nlp.problem
    near = _on_the_side_of_ends(nlp, _decision_vector(nlp, guess))
    points = (np.clip(x, nlp.lower, nlp.upper) for x in blended(nlp, near, parameters))
    return [Start(x, multipliers, near_optimum=near_optimum) for x in points]


def by_way_of_guess(problem: Problem | Phases, guess: MotionGuess) -> Problem | Phases:
    """A problem whose final quaternions have the signs that a guess reaches: see `by_way_of`."""
    if guess is None or not any(phase.model.balls for phase in problem.phases.values()):
        return by_way_of(problem)
    check_kind(problem, guess)
    return by_way_of(problem, {name: _frames(phase) for name, phase in _by_phase(problem, guess).items()})


def _frames(guess: PhaseGuess) -> Keyframes | Guess | Mapping[str, Any] | None:
    """A guess with the postures of a solution in its place."""
    if not isinstance(guess, Solution):
        return guess
    s = np.unique(guess.t) / guess.duration
    return Keyframes(s, np.asarray(guess.at(s * guess.duration).q))


def _decision_vector(nlp: NLP | PhasesNLP, guess: MotionGuess) -> np.ndarray:
    """A guess in the variables of a program, unchanged."""
    if isinstance(guess, BaseSolution) and _has_variables_of(guess, nlp):
        return guess.x
    guesses = _by_phase(nlp.problem, guess)
    return np.concatenate([_packed(phase, guesses[name]) for name, phase in nlp.phases.items()])


def _on_the_side_of_ends(nlp: NLP | PhasesNLP, x: np.ndarray) -> np.ndarray:
    """A decision vector with the negatives of quaternions that begin, or else end, opposite to fixed ones."""
    x = x.copy()
    for motion in nlp.motions:
        layout = motion.grid.layout
        points = layout["q"] - layout.offset + motion.part.start
        for places, _ in motion.problem.model.balls.values():
            fixed = [k for k in (points[0, places], points[-1, places]) if (nlp.lower[k] == nlp.upper[k]).all()]
            if fixed and x[fixed[0]] @ nlp.lower[fixed[0]] < 0:
                x[points[:, places]] *= -1
    return x


def _has_variables_of(solution: BaseSolution, nlp: NLP | PhasesNLP) -> bool:
    """Whether a solution has the variables of a program."""
    return solution.program.curves == nlp.curves and solution.x.size == nlp.n_x


def _packed(nlp: NLP, guess: PhaseGuess) -> np.ndarray:
    """A guess of one phase in its variables."""
    if isinstance(guess, Solution):
        if _has_variables_of(guess, nlp):
            return guess.x
        return nlp.grid.interpolate(trajectory_of(guess, nlp.problem))
    return nlp.grid.interpolate(resting(nlp.problem, trajectory_from(nlp.problem, guess)))


def _by_phase(problem: Problem | Phases, guess: MotionGuess) -> Mapping[str, PhaseGuess]:
    """A guess for every phase of a motion."""
    if isinstance(guess, BaseSolution):
        if guess.phases.keys() == problem.phases.keys():
            return guess.phases
        if not problem.in_sequence:
            return dict.fromkeys(problem.phases, guess.phases[""])
        s = np.unique(guess.t) / guess.duration
        guess = Keyframes(s, guess.at(s * guess.duration).q)
    return phase_guesses(problem, guess)


def _multipliers(nlp: BaseNLP, solution: BaseSolution) -> dict[str, np.ndarray] | None:
    """Multipliers of an optimum with the same variables; zero for rows at new sites, None if other rows differ."""
    rows, earlier = np.zeros(nlp.n_g), solution.nlp
    if [_labels(block) for block in earlier.constraints] != [_labels(block) for block in nlp.constraints]:
        return None
    pieces = np.split(solution.multipliers["g"], earlier.offsets[1:-1])
    for block, first, before, piece in zip(nlp.constraints, nlp.offsets, earlier.constraints, pieces, strict=False):
        values = piece.reshape(before.n_slices, before.n_rows)
        # Control points may have the same time, but are never new.
        if not np.array_equal(block.sites.s, before.sites.s):
            place = {site: k for k, site in enumerate(_sites(before))}
            values = np.vstack([values, np.zeros(before.n_rows)])[[place.get(site, -1) for site in _sites(block)]]
        rows[first : first + values.size] = values.ravel()
    return {"g": rows, "x": solution.multipliers["x"]}


def _labels(block: Block) -> tuple[str, tuple[str, ...]]:
    return block.name, block.rows.labels


def _sites(block: Block) -> list[tuple[float, int]]:
    """Time and interval of every site."""
    sites = block.sites
    interval = np.zeros(sites.size, dtype=int) if sites.interval is None else sites.interval
    return list(zip(np.round(sites.s, 12).tolist(), interval.tolist(), strict=True))
