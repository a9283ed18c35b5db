"""Solves from all lines and turns that a problem leaves open, and the cheapest of their answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from colloc.refinement.run import CUT_SHORT, Run, after
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.solver import Status
from colloc.support.display import short
from colloc.transcription import NLP, PhasesNLP
from colloc.transcription.guess import lines_to_final_postures, whole_turns

A = TypeVar("A", bound=Solution | PhasesSolution)

_LEAST, _LONGER = 100, 3  # largest number of iterations of a turn: at least, and times those from the guess


def best_of_final_postures(
    nlp: NLP | PhasesNLP, run: Run, begin: float
) -> tuple[Solution | PhasesSolution, np.ndarray]:
    """The cheapest of the solutions without a guess, and its start; arguments as those of a `Run`."""
    lines = lines_to_final_postures(nlp.problem)
    turns = [] if lines else whole_turns(nlp.problem)
    if len(lines) < 2 and not turns:
        return run(nlp, None, begin)
    what = "turns" if turns else "final postures"
    if nlp.problem.in_sequence:
        return _cheapest(nlp, run, begin, lines or turns, what)
    return _cheapest(nlp, run, begin, lines, what, mixed=True)


def cheaper_turn(nlp: NLP | PhasesNLP, solution: A, run: Run, clearly: float) -> A:
    """A solution from a guess, or that of a whole turn about another axis of the body whose cost is clearly lower.

    Parameters
    ----------
    nlp, solution, run :
        The program, its solution from a guess, and a run of it.
    clearly : float
        Relative saving of the cost that replaces the solution.
    """
    turns = whole_turns(nlp.problem) if solution.outcome.status is Status.SOLVED else []
    if not turns:
        return solution
    most = max(_LEAST, _LONGER * solution.iterations)
    limited = replace(run, solver=run.solver.limited(iterations=most))
    best, _ = _cheapest(nlp, limited, time.perf_counter(), turns, "turns")
    solved = best.outcome.status is Status.SOLVED
    if not solved or solution.cost - best.cost <= clearly * solution.cost_scale:
        return replace(after(solution, best), starts=solution.starts)
    message = f"{best.outcome.message}, that from the guess costs {short(solution.cost)}"
    best = replace(after(best, solution), starts=solution.starts)
    return replace(best, outcome=replace(best.outcome, message=message))  # pyright: ignore[reportReturnType]


def _cheapest(
    nlp: NLP | PhasesNLP, run: Run, begin: float, guesses: Sequence[Any], what: str, *, mixed: bool = False
) -> tuple[Solution | PhasesSolution, np.ndarray]:
    """The cheapest of the solutions from some guesses, and its start.

    With `mixed` also that from the cheapest guess of every case.
    """
    ends: list[tuple[Solution | PhasesSolution, np.ndarray]] = []
    waiting = list(guesses)
    while waiting:
        ends.append(run(nlp, waiting.pop(0), begin))
        if ends[-1][0].outcome.status in CUT_SHORT:
            break
        begin = time.perf_counter()
        if mixed and not waiting:
            waiting, mixed = _mixed(guesses, [solution for solution, _ in ends]), False
    ends.sort(key=lambda end: (end[0].outcome.status is not Status.SOLVED, end[0].cost))
    (best, start), *others = ends
    best = after(best, *(solution for solution, _ in others))
    message = f"{best.outcome.message}, {_described([solution for solution, _ in others], what)}"
    return replace(best, outcome=replace(best.outcome, message=message)), start


def _mixed(guesses: Sequence[Any], solutions: Sequence[Solution | PhasesSolution]) -> list[Any]:
    """The guess that has for every case the one whose solution costs least in it; empty if that is one of them."""
    solved = [k for k, solution in enumerate(solutions) if solution.outcome.status is Status.SOLVED]
    if not solved:
        return []
    best = {name: min(solved, key=lambda k: solutions[k].phases[name].cost) for name in guesses[0]}
    return [{name: guesses[k][name] for name, k in best.items()}] if len(set(best.values())) > 1 else []


def _described(others: Sequence[Solution | PhasesSolution], what: str) -> str:
    """How an answer compares with others."""
    solved = [solution.cost for solution in others if solution.outcome.status is Status.SOLVED]
    costs = f"the next costs {short(min(solved))}" if solved else "the others fail"
    return f"the best of {len(others) + 1} {what}, {costs}"
