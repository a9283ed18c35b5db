"""Round after round on finer grids, or in arcs that meet where limits begin and cease to hold."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TypeGuard, TypeVar

from colloc.curves.curve import is_ours
from colloc.refinement.failure import SolutionWarning
from colloc.refinement.next_grid import halved, has_settled, held_up_by_limits, next_nlp, round_of
from colloc.refinement.run import CUT_SHORT, Run, cut_short
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import SURE, BaseSolution, Solution
from colloc.solution.warm_start import MotionGuess
from colloc.solver import Status, to_the_last_digit
from colloc.support.checks import InputError, warn
from colloc.support.stopwatch import part

A = TypeVar("A", bound=Solution | PhasesSolution)

_ROUNDS = 20  # of a refinement, at most
_UNSURE = 1e-2  # of its size, that the cost of a motion may be off whose error is above the tolerance
_ABSURD = 10.0  # times its size, that a cost may fall by in a round


def refined(
    solution: Solution | PhasesSolution,
    run: Run,
    guess: MotionGuess = None,
    *,
    confirmed: bool = True,
    to_switches: bool = False,
) -> Solution | PhasesSolution:
    """Round after round on a finer grid, started from the round before or, where that fails, from a guess.

    A finer grid has every motion of a coarser one, up to its error. A round that ends at a higher cost by more has gone
    to another basin: the next one goes on from the coarser motion, with all intervals split, and if that ends at a
    higher cost too the coarser motion is the answer. A cost that has settled while two rounds have not halved its error
    is one, too. A cost that falls by more than `_ABSURD` times its size was no start for anything: the finer grid is
    solved from the guess as well, and the rounds begin anew with the cheaper of the two.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        The first round.
    run : Run
    guess : optional
        As in `solve`.
    confirmed : bool
        Whether a finer grid must confirm that the cost is right; else an estimate that is a quarter of the tolerance is
        enough.
    to_switches : bool
        Whether the rounds end where they close in on switches: see `closes_in_on_switches`.
    """
    first = replace(solution, rounds=(round_of(solution),))
    return _more_rounds(first, run, guess, confirmed=confirmed, to_switches=to_switches)


def _more_rounds(
    solution: Solution | PhasesSolution, run: Run, guess: MotionGuess, *, confirmed: bool, to_switches: bool
) -> Solution | PhasesSolution:
    """Rounds after those that there are."""
    tol, costlier = run.tolerance, False
    while _goes_on(solution, tol):
        if float(solution.error) <= tol and not confirmed and _is_near_best(solution, tol):
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
            # Beside an optimum of another grid rounding may leave no way on; a start of its own has one.
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
    """Whether another round may make a motion more exact, or confirm its cost."""
    if solution.outcome.status is not Status.SOLVED or len(solution.rounds) >= _ROUNDS:
        return False
    return not has_settled(solution, tol) or not (float(solution.error) <= tol or _is_stuck(solution, tol))


def closes_in_on_switches(solution: Solution | PhasesSolution, tol: float) -> TypeGuard[Solution]:
    """Whether a refinement goes on and waits for switches alone, on which a grid closes in by a factor a round."""
    return bool(solution.rounds) and _goes_on(solution, tol) and _waits_for_switches(solution, tol)


def on_ends_at_switches(
    solution: Solution, run: Run, guess: MotionGuess, *, confirmed: bool
) -> Solution | PhasesSolution:
    """The motion on a grid whose intervals end at its switches, where there are arcs that hold; then further rounds.

    Parameters
    ----------
    solution : Solution
        With the rounds so far.
    run, guess, confirmed :
        As in `refined`.
    """
    from colloc.refinement.switches import refine_at_switches  # few need all that it stands on

    run = replace(run, round=len(solution.rounds))
    answer = refine_at_switches(solution, replace(run, round=run.round + 1))
    if isinstance(answer, Status):
        return cut_short(solution, answer)
    if answer is not None and answer.cost <= solution.cost + _allowed(solution, run.tolerance):
        run = replace(run, round=run.round + 1)
        solution = replace(answer, rounds=(*solution.rounds, *answer.rounds))
    return _more_rounds(solution, run, guess, confirmed=confirmed, to_switches=False)


def _allowed(solution: Solution | PhasesSolution, tol: float) -> float:
    """Largest increase of the cost within the same basin: as much as the cost may be off."""
    error = float(solution.error)
    return (tol if error <= tol else max(error, _UNSURE)) * solution.cost_scale


def _waits_for_switches(solution: Solution | PhasesSolution, tol: float) -> TypeGuard[Solution]:
    """Whether after two rounds the cost may still gain more than it may, most of it by limits.

    A user-defined curve is kept.
    """
    if not isinstance(solution, Solution) or not is_ours(type(solution.curve)):
        return False
    return len(solution.rounds) > 1 and solution.error["cost"].total > tol and held_up_by_limits(solution)


def _is_near_best(solution: Solution | PhasesSolution, tol: float) -> bool:
    """Whether the estimate alone tells that the cost is right: not where equations of states hide what they cost."""
    states = any(phase.problem.states for phase in solution.phases.values())
    return not states and solution.error["cost"].total <= SURE * tol


def _is_stuck(solution: BaseSolution, tol: float) -> bool:
    """Whether two rounds have not halved an estimate of the cost's error that alone is too large."""
    rounds, error = solution.rounds, solution.error
    alone = max(error.motion_error, float(error.bounds.max())) <= tol
    return alone and len(rounds) > 2 and rounds[-1].error > rounds[-3].error / 2


def _cheaper(optimum: A, candidate: A) -> A:
    """The cheaper of an optimum and a solution that may be none."""
    solved = candidate.outcome.status is Status.SOLVED
    return candidate if solved and candidate.cost < optimum.cost else optimum


def at_switches(solution: Solution | PhasesSolution, run: Run) -> Solution | PhasesSolution:
    """A motion in arcs that holds; refined on grids, with a warning, where no such arcs are found.

    Parameters
    ----------
    solution : Solution
        The arcs are those that its grid shows, or else a grid that is finer.
    run : Run

    Raises
    ------
    InputError
        For a motion in phases, a problem that depends on jerk, and one that cannot be divided: see `divided`.
    """
    if not isinstance(solution, Solution):
        raise InputError(
            "refine at switches takes the motion of a Problem, and divides it itself, got one in the phases "
            f"{', '.join(map(repr, solution.phases))}"
        )
    if solution.problem.needs_rates:
        raise InputError("refine at switches lets accelerations jump, and the problem depends on their rates")
    from colloc.optimality.limited import active_arcs, limited  # few need all that these stand on
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
    warn("no arcs were found that hold: the motion is refined on grids instead", SolutionWarning)
    return solution
