"""The first motion of a problem that is solved again and again: one run of the solver on a curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colloc.curves import Transcription
from colloc.problem import Problem
from colloc.solution.solution import Solution
from colloc.solution.warm_start import MotionGuess, start_from
from colloc.solver import chosen_solver
from colloc.transcription import transcribe


def first_plan(
    problem: Problem, curve: Transcription | None, guess: MotionGuess, parameters: Mapping[str, Any] | None
) -> Solution:
    """The result of one run of the default solver from a guess, without a search over starts and without judging."""
    nlp, values = transcribe(problem, curve), problem.parameter_values(parameters)
    outcome = chosen_solver(None).prepare(nlp)(start_from(nlp, guess, values), values)
    return Solution(nlp, outcome, values)
