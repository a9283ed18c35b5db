"""Refinement iterations, on finer grids or in arcs that end where limits become active or inactive."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TypeGuard, TypeVar

from colloc.curves.curve import is_ours
from colloc.refinement.failure import SolutionWarning
from colloc.refinement.next_grid import halved, has_settled, held_up_by_limits, is_near_best, missed, next_nlp, round_of
from colloc.refinement.run import CUT_SHORT, Run, cut_short
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import SURE, BaseSolution, Solution
from colloc.solution.warm_start import MotionGuess
from colloc.solver import Status, to_the_last_digit
from colloc.support.checks import InputError, warn
from colloc.support.stopwatch import part

A = TypeVar("A", bound=Solution | PhasesSolution)

_ROUNDS = 20  # largest number of refinement iterations
_UNSURE = 1e-2  # of its size: error of the cost of a motion whose error exceeds the tolerance
_ABSURD = 10.0  # times its size: largest decrease of a cost in an iteration


def refined(
    solution: Solution | PhasesSolution,
    run: Run,
    guess: MotionGuess = None,
    *,
    confirmed: bool = True,
    to_switches: bool = False,
) -> Solution | PhasesSolution:
    """Refinement iterations on finer grids, each started from the one before or, if that fails, from a guess.

    A finer grid contains every motion of a coarser one, up to its error. If an iteration ends at a cost that is higher
    by more, it has reached another basin: the next one starts from the coarser motion, with all intervals split, and if
    that ends at a higher cost too, the coarser motion is the answer. So is a motion whose cost has settled while two
    iterations have not halved its error. If a cost falls by more than `_ABSURD` times its size, it was a poor start:
    the finer grid is solved from the guess as well, and refinement starts again with the cheaper of the two.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        The solution on the first grid.
    run : Run
    guess : optional
        As in `solve`.
    confirmed : bool
        Whether a finer grid must confirm the cost; otherwise an estimated error of a quarter of the tolerance suffices.
    to_switches : bool
        Whether refinement ends when only switches remain: see `closes_in_on_switches`.
    """
    first = replace(solution, rounds=(round_of(solution),))
    return _more_rounds(first, run, guess, confirmed=confirmed, to_switches=to_switches)


def _more_rounds(
    solution: Solution | PhasesSolution, run: Run, guess: MotionGuess, *, confirmed: bool, to_switches: bool
) -> Solution | PhasesSolution:
    tol, costlier = run.tolerance, False
    while _goes_on(solution, tol):
        if _is_accurate(solution, tol) and not confirmed and is_near_best(solution, SURE * tol):
            return replace(solution, outcome=replace(solution.outcome, cost_tolerance=SURE * tol))
        if to_switches and _waits_for_switches(solution, tol):
            break
        begin, run = time.perf_counter(), replace(run, round=run.round + 1)
        with part("build"):
            nlp = halved(solution) if costlier else next_nlp(solution, tol, settled=has_settled(solution, tol))
        if nlp is None:
            break
        finer, _ = run(nlp, solution, begin)
        if finer.outcome.status not in (Status.SOLVED, *CUT_SHORT):
            # Near an optimum of another grid a solver may fail by rounding; from a new start it does not.
            finer, _ = run(nlp, guess, begin)
        if finer.outcome.status in CUT_SHORT:
            return cut_short(solution, finer.outcome.status)
        if finer.outcome.status is Status.SOLVED and finer.cost <= solution.cost + _allowed(solution, tol):
            rounds, costlier = solution.rounds, False
            if solution.cost - finer.cost > _ABSURD * finer.cost_scale:
                finer, rounds = _cheaper(finer, run(nlp, guess, begin)[0]), ()
            solution = replace(finer, rounds=(*rounds, round_of(finer)))
        elif finer.outcome.status is not Status.SOLVED or costlier:
            break
        else:
            costlier = True
    return solution


def _goes_on(solution: Solution | PhasesSolution, tol: float) -> bool:
    """Whether another iteration may make a motion more accurate, or confirm its cost."""
    if solution.outcome.status is not Status.SOLVED or len(solution.rounds) >= _ROUNDS:
        return False
    return not has_settled(solution, tol) or not (_is_accurate(solution, tol) or _is_stuck(solution, tol))


def _is_accurate(solution: Solution | PhasesSolution, tol: float) -> bool:
    """Whether all errors together are below the tolerance, and each of them meets its aim."""
    return float(solution.error) <= tol and not missed(solution.error, tol)


def closes_in_on_switches(solution: Solution | PhasesSolution, tol: float) -> TypeGuard[Solution]:
    """Whether only switches delay the refinement, which a grid encloses by a constant factor per iteration."""
    return bool(solution.rounds) and _goes_on(solution, tol) and _waits_for_switches(solution, tol)


def on_ends_at_switches(
    solution: Solution, run: Run, guess: MotionGuess, *, confirmed: bool
) -> Solution | PhasesSolution:
    """The motion on a grid whose intervals end at its switches, if valid arcs exist; then further iterations.

    Parameters
    ----------
    solution : Solution
        A solution with the iterations so far.
    run, guess, confirmed :
        As in `refined`.
    """
    from colloc.refinement.switches import refine_at_switches  # few solves need this import

    run = replace(run, round=len(solution.rounds))
    answer = refine_at_switches(solution, replace(run, round=run.round + 1))
    if isinstance(answer, Status):
        return cut_short(solution, answer)
    if answer is not None and answer.cost <= solution.cost + _allowed(solution, run.tolerance):
        run = replace(run, round=run.round + 1)
        solution = replace(answer, rounds=(*solution.rounds, *answer.rounds))
    return _more_rounds(solution, run, guess, confirmed=confirmed, to_switches=False)


def _allowed(solution: Solution | PhasesSolution, tol: float) -> float:
    """Largest increase of the cost within the same basin: the error of the cost."""
    error = float(solution.error)
    return (tol if error <= tol else max(error, _UNSURE)) * solution.cost_scale


def _waits_for_switches(solution: Solution | PhasesSolution, tol: float) -> TypeGuard[Solution]:
    """Whether after two iterations the possible gain exceeds the tolerance, most of it by limits.

    A user-defined curve is kept.
    """
    if not isinstance(solution, Solution) or not is_ours(type(solution.curve)):
        return False
    return len(solution.rounds) > 1 and solution.error["cost"].total > tol and held_up_by_limits(solution)


def _is_stuck(solution: BaseSolution, tol: float) -> bool:
    """Whether two iterations have not halved an estimated error of the cost that is the only one too large."""
    rounds, error = solution.rounds, solution.error
    alone = max(error.motion_error, float(error.bounds.max())) <= tol
    return alone and len(rounds) > 2 and rounds[-1].error > rounds[-3].error / 2


def _cheaper(optimum: A, candidate: A) -> A:
    """The cheaper of an optimum and a solution that may have failed."""
    solved = candidate.outcome.status is Status.SOLVED
    return candidate if solved and candidate.cost < optimum.cost else optimum


def at_switches(solution: Solution | PhasesSolution, run: Run) -> Solution | PhasesSolution:
    """A valid motion in arcs; refined on grids, with a warning, if none is found.

    Parameters
    ----------
    solution : Solution
        The initial arcs are those of its grid, or of a finer grid.
    run : Run

    Raises
    ------
    InputError
        For a motion in phases, a problem that depends on jerk, and one that cannot be divided: see `divided`.
    """
    if not isinstance(solution, Solution):
        raise InputError(
            "refine at switches needs the motion of a Problem, which it divides itself, got one in the "
            f"{solution.problem.noun}s {', '.join(map(repr, solution.phases))}"
        )
    if solution.problem.needs_rates:
        raise InputError("refine at switches makes accelerations jump, and the problem depends on their rates")
    from colloc.optimality.limited import active_arcs, limited  # few solves need these imports
    from colloc.refinement.switches import in_arcs

    exact = replace(run, solver=to_the_last_digit(run.solver))
    for attempt in range(2):
        if attempt:
            solution = refined(solution, run)
            if solution.outcome.status in CUT_SHORT:
                return solution
        assert isinstance(solution, Solution)
        answer = in_arcs(solution, exact, active_arcs(solution, limited(solution)[""]))
        if isinstance(answer, Status):
            return cut_short(solution, answer)
        if answer is not None:
            return answer
    warn("no valid arcs were found: the motion is refined on grids instead", SolutionWarning)
    return solution
