"""The guess of a sweep or of many starts: whether it fits the problem, and what two sweeps are compared by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from colloc.problem import Problem, Sequence
from colloc.refinement.warm_start import check_kind
from colloc.solution.solution import BaseSolution
from colloc.support.checks import InputError, quoted
from colloc.transcription import phase_guesses, trajectory_from
from colloc.transcription.guess import Keyframes


def check_guess(problem: Problem | Sequence | Callable[..., Problem | Sequence], guess: Any) -> None:
    """InputError for a guess that no program of the problem, or of any where it is a function, could take."""
    if callable(problem):
        if not (callable(guess) or isinstance(guess, Keyframes | Mapping | BaseSolution)):
            raise InputError(f"guess must be such as solve takes, co.line(...) or a Solution, got {quoted(guess)}")
        return
    check_kind(problem, guess)
    if isinstance(guess, BaseSolution):
        return
    for name, phase in phase_guesses(problem, guess).items():
        trajectory_from(problem.phases[name], phase)


def described(guess: Any) -> Any:
    """What JSON can keep of a guess: the numbers of a solution or of keyframes, the name of a function."""
    if isinstance(guess, BaseSolution):
        return guess.x.tolist()
    if isinstance(guess, Keyframes):
        return [guess.s.tolist(), guess.q.tolist()]
    if isinstance(guess, dict):
        return {str(name): described(own) for name, own in guess.items()}
    return None if guess is None else getattr(guess, "__qualname__", str(guess))
