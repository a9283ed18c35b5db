"""Costs in order of importance, solved level after level, each from the optimum of the previous one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from colloc.problem.ordered import OrderedCosts
from colloc.refinement.plan import Attempt, NextStep, SeekFeasible, SeekStarts, Solve
from colloc.refinement.run import CUT_SHORT, cut_short
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.solver import Start, Status
from colloc.support.stopwatch import part
from colloc.transcription.transcribe import build_program


def all_levels(first: Attempt, ordered: OrderedCosts, steps: Sequence[NextStep]) -> Attempt:
    """Solve all levels.

    Parameters
    ----------
    first : Attempt
        Result of the first level.
    ordered : OrderedCosts
        The costs before that level.
    steps : sequence of steps
        The plan of the first level; later levels follow it without a search over starts.
    """
    end = first
    while not ordered.is_complete and end.answer.outcome.status is Status.SOLVED:
        ordered = ordered.after(end.answer.cost, end.answer.cost_scale)
        level = at_optimum(end.answer, ordered, end).followed(step for step in steps if not _begins(step))
        if level.answer.outcome.status in CUT_SHORT:
            solution = cut_short(end.answer, level.answer.outcome.status)
            return replace(end, solution=solution)
        end = replace(level, solution=_counted(replace(level.answer, ordered=ordered), end.answer))
    return end


def at_optimum(solution: Solution | PhasesSolution, ordered: OrderedCosts, now: Attempt) -> Attempt:
    """The problem of the next level, solved from a motion on its grid."""
    begin = time.perf_counter()
    with part("build"):
        nlp = build_program(ordered.posed, {name: phase.recipe for name, phase in solution.nlp.phases.items()})
    start = Start(np.clip(solution.x, nlp.lower, nlp.upper), near_optimum=True)
    step, attempt = Solve(), replace(now, nlp=nlp, guess=solution, solution=None, begin=begin)
    answer, _ = now.run(nlp, start, begin)
    return replace(attempt, solution=answer, begin=None, steps=(*now.steps, f"then {step!r}"))


def _begins(step: NextStep) -> bool:
    """Whether a step only applies to the first level."""
    return isinstance(step, Solve | SeekFeasible | SeekStarts)


def _counted(solution: Solution | PhasesSolution, earlier: Solution | PhasesSolution) -> Solution | PhasesSolution:
    """A solution with the iterations of an earlier one added."""
    outcome = solution.outcome
    outcome = replace(outcome, iterations=outcome.iterations + earlier.iterations)
    return replace(solution, outcome=outcome, starts=earlier.starts)
