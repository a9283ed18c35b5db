"""A solution as a guess for another problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from colloc.problem import Phases, Problem
from colloc.solution.solution import BaseSolution, Solution
from colloc.support.checks import InputError, quoted, shortened
from colloc.transcription.trajectory import Trajectory


def check_kind(problem: Problem | Phases, guess: object) -> None:
    """Raise InputError if the guess has other joints or phases, or has phases where the problem has none."""
    in_phases = "" not in (guess.phases if isinstance(guess, BaseSolution) else [""])
    names = {"q": None} | {unknown.name: None for phase in problem.phases.values() for unknown in phase.all_unknowns}
    strange = isinstance(guess, Mapping) and bool(guess) and not guess.keys() & names.keys()
    if "" in problem.phases and (in_phases or strange):
        joints = "; q has the positions of all joints" if strange and _positions(problem) & guess.keys() else ""
        signals = f": its signals are {shortened([*names])}{joints}" if strange else ""
        raise InputError(f"guess must be a single motion, as the problem has no phases, got {quoted(guess)}{signals}")
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


def _positions(problem: Problem | Phases) -> set[str]:
    """Names of joints and of their positions."""
    models = [phase.model for phase in problem.phases.values()]
    return {name for model in models for name in (*model.joint_names, *model.position_names)}
