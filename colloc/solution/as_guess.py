"""A solution as a guess for another problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from colloc.problem import Phases, Problem
from colloc.solution.solution import BaseSolution, Solution
from colloc.support.checks import InputError, quoted, shortened
from colloc.transcription.trajectory import Trajectory


def check_kind(problem: Problem | Phases, guess: object) -> None:
    """Raise InputError if the guess has other joints or phases, or has phases where the problem has none."""
    in_phases = "" not in (guess.phases if isinstance(guess, BaseSolution) else [""])
    strange = _without_signals(problem, guess) if isinstance(guess, Mapping) and guess else ""
    if "" in problem.phases and (in_phases or strange):
        raise InputError(f"guess must be a single motion, as the problem has no phases, got {quoted(guess)}{strange}")
    if not isinstance(guess, BaseSolution):
        return
    if in_phases and guess.phases.keys() != problem.phases.keys():
        phases = ", ".join(problem.phases)
        raise InputError(f"guess must have the phases {phases}, got {', '.join(guess.phases)}")
    for name, phase in problem.phases.items():
        _check_joints(f"phase {name!r}" if name else "the problem", phase, guess.phases[name if in_phases else ""])


def _check_joints(what: str, problem: Problem, guess: Solution) -> None:
    """Raise InputError if the guess is a motion of other joints."""
    joints, guessed = (p.model.position_names for p in (problem, guess.problem))
    if guessed != joints:
        raise InputError(
            f"guess is a motion of {_joints(guessed)}, {what} has {_joints(joints)}: use a function of time if the "
            "joints correspond, as in guess=lambda t: solution.at(t).q"
        )


def _joints(names: Sequence[str]) -> str:
    return f"the joints {shortened(names)}" if names else "no joints"


def trajectory_of(solution: Solution, problem: Problem) -> Trajectory:
    """A solution as a guess for another problem; unknowns that it does not have take their default guesses."""
    sizes = {u.name: u.size for u in solution.problem.all_unknowns}
    default = {u.name: u.guess for u in problem.all_unknowns}
    constants = solution.constants

    def sampled(name: str, s: np.ndarray) -> np.ndarray:
        return getattr(solution.at(s * solution.duration), name)

    def signal(name: str, s: np.ndarray) -> np.ndarray:
        if sizes.get(name) == default[name].size and name not in constants:
            return sampled(name, s)
        return np.tile(default[name], (s.size, 1))

    return Trajectory(
        lambda s: sampled("q", s),
        solution.duration,
        signal,
        lambda name: constants[name] if name in constants else default[name],
    )


def _without_signals(problem: Problem | Phases, guess: Mapping[Any, Any]) -> str:
    """The signals that a guess by name could have, if it has none of them."""
    models = [phase.model for phase in problem.phases.values()]
    positions = {name for model in models for name in (*model.joint_names, *model.position_names)}
    unknowns = (unknown.name for phase in problem.phases.values() for unknown in phase.all_unknowns)
    names = list(dict.fromkeys(["q", *unknowns]))
    if not guess.keys().isdisjoint(names):
        return ""
    joints = "" if positions.isdisjoint(guess) else "; q has the positions of all joints"
    return f": its signals are {shortened(names)}{joints}"
