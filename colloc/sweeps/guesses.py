"""Checks of the guess for many solves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from colloc.problem import Phases, Problem
from colloc.solution import BaseSolution
from colloc.solution.as_guess import check_kind
from colloc.support.checks import InputError, quoted
from colloc.transcription import phase_guesses, trajectory_from
from colloc.transcription.guess import Keyframes


@dataclass(frozen=True, eq=False)
class Independent:
    """A guess from which all cases of a sweep start, instead of from their neighbours.

    Parameters
    ----------
    guess : optional
        As in `solve`.

    Examples
    --------
    >>> from dataclasses import replace
    >>> weighed = replace(problem, parameters=[co.Parameter("nothing", 0.0)])
    >>> table = co.sweep(weighed, {"nothing": [0.0, 1.0]}, co.BSpline(10), guess=co.sweeps.Independent())
    >>> bool(table["iterations"][0] == table["iterations"][1])
    True
    """

    guess: Any = None


def check_guess(problem: Problem | Phases | Callable[..., Problem | Phases], guess: Any) -> None:
    """Raise InputError for a guess that does not fit the problem, or any problem if `problem` is a function."""
    if callable(problem):
        if not (callable(guess) or isinstance(guess, Keyframes | Mapping | BaseSolution)):
            raise InputError(f"guess must be as for solve, such as co.line(...) or a Solution, got {quoted(guess)}")
        return
    check_kind(problem, guess)
    if isinstance(guess, BaseSolution):
        return
    for name, phase in phase_guesses(problem, guess).items():
        trajectory_from(problem.phases[name], phase)
