"""Solves from lines to all final postures that a problem leaves open, and the cheapest of their answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from colloc.refinement.run import CUT_SHORT, Run, after
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.solver import Status
from colloc.support.display import short
from colloc.transcription import NLP, PhasesNLP
from colloc.transcription.guess import lines_to_final_postures


def best_of_final_postures(
    nlp: NLP | PhasesNLP, run: Run, begin: float
) -> tuple[Solution | PhasesSolution, np.ndarray]:
    """The cheapest of the solutions without a guess, and its start; arguments as those of a `Run`."""
    lines = lines_to_final_postures(nlp.problem)
    if len(lines) < 2:
        return run(nlp, None, begin)
    ends: list[tuple[Solution | PhasesSolution, np.ndarray]] = []
    for guess in lines:
        ends.append(run(nlp, guess, begin))
        if ends[-1][0].outcome.status in CUT_SHORT:
            break
        begin = time.perf_counter()
    ends.sort(key=lambda end: (end[0].outcome.status is not Status.SOLVED, end[0].cost))
    (best, start), *others = ends
    best = after(best, *(solution for solution, _ in others))
    message = f"{best.outcome.message}, {_described([solution for solution, _ in others])}"
    return replace(best, outcome=replace(best.outcome, message=message)), start


def _described(others: Sequence[Solution | PhasesSolution]) -> str:
    """How an answer compares with others."""
    solved = [solution.cost for solution in others if solution.outcome.status is Status.SOLVED]
    costs = f"the next costs {short(min(solved))}" if solved else "the others fail"
    return f"the best of {len(others) + 1} final postures, {costs}"
