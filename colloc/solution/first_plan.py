"""The first motion of a problem that is solved again and again: one run of the solver on a curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from colloc.curves import Transcription
from colloc.problem import Phases, Problem
from colloc.solution.phases import PhasesSolution, solution_of
from colloc.solution.solution import Solution
from colloc.solution.warm_start import MotionGuess, start_from
from colloc.solver import chosen_solver
from colloc.transcription import transcribe
from colloc.transcription.derived_nlp import BoundedNLP


def first_plan(
    problem: Problem | Phases,
    curve: Transcription | Mapping[str, Transcription] | None,
    guess: MotionGuess | Mapping[str, Any],
    parameters: Mapping[str, Any] | None,
    durations: Mapping[str, float] | None = None,
) -> Solution | PhasesSolution:
    """The result of one run of the default solver from a guess, without a search over starts and without judging.

    Its functions are compiled, however few evaluations it takes.

    Phases whose durations are unknown to their programs can have stated ones [s], by name.
    """
    made: Any = transcribe
    nlp, values = made(problem, curve, compile=True), problem.parameter_values(parameters)
    start = start_from(nlp, guess, values)
    low, high = (np.append(*bounds) for bounds in zip(nlp.bounds_g, (nlp.lower, nlp.upper), strict=True))
    for name, duration in (durations or {}).items():
        entry = nlp.parts[name].start + int(nlp.phases[name].grid.layout.duration[0])
        low[nlp.n_g + entry] = high[nlp.n_g + entry] = start.x[entry] = duration
    fixed = BoundedNLP(nlp, low, high) if durations else nlp
    return solution_of(nlp, chosen_solver(None).prepare(fixed)(start, values), values)
