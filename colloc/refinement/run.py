"""Solve of one program, with additional nodes where limits were exceeded, and search for free breakpoints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from colloc.refinement import knot_search as knots
from colloc.refinement.failure import SolutionWarning, doubts_at
from colloc.refinement.forms import ends_in_form
from colloc.refinement.iteration import ProgressRequest, progress_adapter
from colloc.refinement.reduced import ReducedNLP, programs
from colloc.refinement.saddles import PATIENCE, beyond_saddles
from colloc.solution.more_nodes import with_nodes
from colloc.solution.phases import PhasesSolution, initial_motion, solution_of
from colloc.solution.solution import BaseSolution, Solution
from colloc.solution.warm_start import MotionGuess, start_from
from colloc.solver import Outcome, Solver, Start, Status
from colloc.solver.degenerate import violated_constants
from colloc.solver.progress import displayed
from colloc.solver.scaling import scale_at
from colloc.support.checks import InputError, warn
from colloc.support.stopwatch import part
from colloc.transcription import NLP, BaseNLP, FreeKnotsGrid, PhasesNLP, check_determined
from colloc.transcription.worst import WorstNLP

A = TypeVar("A", bound=Solution | PhasesSolution)

CUT_SHORT = (Status.INTERRUPTED, Status.TIME_LIMIT)
_DOUBTFUL = (Status.ACCEPTABLE, Status.DIVERGED, Status.FAILED)  # failures that limits may have prevented
_EXCHANGES = 10  # largest number of times that nodes are added to a grid: each may lead to another basin


@dataclass(frozen=True)
class Run:
    """Settings with which NLPs are solved, one after another.

    Parameters
    ----------
    parameters : ndarray
        Values of the problem's parameters.
    solver, progress :
        As in `solve`.
    tolerance : float
        Largest error between nodes of an answer that counts as solved.
    cost_tolerance : float, optional
        The tolerance of the cost, if it differs.
    always : bool
        Whether nodes are added where inequalities are violated between nodes.
    deadline : float
        Time at which solving ends with the best motion so far, on the clock of `time.perf_counter`.
    round : int
        Number of the refinement iteration.
    form : "auto", "compact", "lifted" or "race"
        Form in which programs are solved, as in `refinement.Solve`.
    """

    parameters: np.ndarray
    solver: Solver
    progress: ProgressRequest
    tolerance: float
    cost_tolerance: float | None = None
    always: bool = True
    deadline: float = float("inf")
    round: int = 1
    form: str = "auto"

    def __call__(
        self, nlp: NLP | PhasesNLP, guess: MotionGuess | Start, begin: float
    ) -> tuple[Solution | PhasesSolution, np.ndarray]:
        """A solution and its start; `begin` is the time at which the build of its NLP began."""
        if isinstance(nlp, NLP) and isinstance(nlp.grid, FreeKnotsGrid):
            return self._free_knots(nlp, nlp.grid, guess, begin)
        solution, start = self._once(nlp, guess, begin)
        # Refinement leaves room for other sources of error, which add up.
        within = self.tolerance if self.round == 1 else self.tolerance / 2
        for _ in range(_EXCHANGES if self.always else 0):
            if not solution.exceeds(within):
                break
            begin = time.perf_counter()
            again, _ = self._once(with_nodes(solution, within), solution, begin)
            if again.outcome.status in CUT_SHORT:
                return cut_short(solution, again.outcome.status), start
            if again.outcome.status is not Status.SOLVED:
                break
            solution = after(again, solution)
        return solution, start

    def _free_knots(
        self, nlp: NLP, grid: FreeKnotsGrid, guess: MotionGuess | Start, begin: float
    ) -> tuple[Solution | PhasesSolution, np.ndarray]:
        """The optimum with free breakpoints, then the optimum on these breakpoints."""
        first, start = self._once(nlp.on_curve(grid.curve.with_breakpoints(grid.breakpoints)), guess, begin)
        if first.outcome.status is not Status.SOLVED:
            return first, start
        quiet = replace(self, progress=False if callable(self.progress) else self.progress)
        solver, x = self.solver.limited(iterations=knots.PATIENCE), np.append(first.x, grid.breakpoints)
        search = knots.search_knots(nlp, x, self.parameters, lambda start: quiet.end(solver, nlp, start, nlp))
        if search.status in CUT_SHORT:
            return cut_short(first, search.status), start
        if search.status is not Status.SOLVED:
            warn("better knots may exist: the search for them has not converged", SolutionWarning)
        begin, x = time.perf_counter(), grid.without_knots(search.x)
        solution, start = self(nlp.on_curve(grid.curve_at(search.x)), Start(x, near_optimum=True), begin)
        return after(solution, first, search), start

    def _once(
        self, nlp: NLP | PhasesNLP, guess: MotionGuess | Start, begin: float
    ) -> tuple[Solution | PhasesSolution, np.ndarray]:
        """A solution at the nodes of the NLP that is no saddle, and its start."""
        solution, start = self._stationary(nlp, guess, begin)
        brief = replace(self, solver=self.solver.limited(iterations=PATIENCE))
        with part("judge"):
            motions = beyond_saddles(solution, self.solver, lambda x: brief._stationary(nlp, x, time.perf_counter())[0])
        return after(*motions), start

    def _stationary(
        self, nlp: NLP | PhasesNLP, guess: MotionGuess | Start, begin: float
    ) -> tuple[Solution | PhasesSolution, np.ndarray]:
        """The result of a run at the nodes of the NLP, and its start."""
        with part("build"):
            start = guess if isinstance(guess, Start) else start_from(nlp, guess, self.parameters)
            if start is not guess and self.round == 1:
                for sentence in doubts_at(initial_motion(nlp, start.x, self.parameters)):
                    warn(sentence)
            few, *more = programs(nlp, start, self.parameters)
            check_determined(few)
            if undefined := few.first_undefined(start.x, self.parameters):
                raise InputError(f"not finite at the guess: {undefined}; change the guess or the function")
        built = time.perf_counter() - begin
        with part("solve"):
            outcome = self._end([few, *more], start, nlp)
            if isinstance(nlp, PhasesNLP) and nlp.problem.worst:
                outcome = self._worst(nlp, start, outcome)
        seconds = outcome.seconds | {"build": built + outcome.seconds["build"]}
        of_cost = self.tolerance if self.cost_tolerance is None else self.cost_tolerance
        outcome = replace(outcome, seconds=seconds, tolerance=self.tolerance, cost_tolerance=of_cost)
        return solution_of(nlp, outcome, self.parameters), start.x

    def _end(self, attempts: Sequence[BaseNLP], start: Start, nlp: NLP | PhasesNLP) -> Outcome:
        """The result for the first program whose optimum satisfies the rows that it leaves out."""

        def run(solver: Solver, program: BaseNLP, start: Start) -> Outcome:
            return self.end(solver, program, start, nlp)

        def end_of(program: BaseNLP, start: Start) -> Outcome:
            constants = violated_constants(program, start.x, self.parameters)
            return constants or _counted(*ends_in_form(self.form, self.solver, program, start, self.parameters, run))

        earlier: list[Outcome] = []
        for program in attempts:
            if not isinstance(program, ReducedNLP):
                break
            outcome = program.lifted(end_of(program, program.start(start)))
            solved = outcome.status is Status.SOLVED
            if outcome.status not in _DOUBTFUL and (not solved or program.holds(outcome.x, self.parameters)):
                return _counted(replace(outcome, message=f"{outcome.message}, {program.described}"), *earlier)
            earlier.append(outcome)
        return _counted(end_of(nlp, start), *earlier)

    def _worst(self, nlp: PhasesNLP, start: Start, summed: Outcome) -> Outcome:
        """The result of a run in which the largest cost of all cases counts, from the optimum of their sum."""
        if summed.status is not Status.SOLVED:
            return summed
        rows = scale_at(nlp, summed.x, self.parameters).rows
        program, x = WorstNLP.at(nlp, summed.x, self.parameters, rows)
        outcome = self.end(self.solver, program, Start(x, near_optimum=True), nlp)
        multipliers = {"g": outcome.multipliers["g"][: nlp.n_g], "x": outcome.multipliers["x"][:-1]}
        weights = tuple(program.weights(outcome.multipliers["g"]).tolist())
        outcome = replace(outcome, x=outcome.x[:-1], multipliers=multipliers, scale=None, weights=weights, best=())
        return _counted(outcome, summed)

    def end(self, solver: Solver, nlp: BaseNLP, start: Start, shown: NLP | PhasesNLP) -> Outcome:
        """The result of one run of a solver, within the remaining time; progress shows iterates in terms of `shown`."""
        seconds = max(self.deadline - time.perf_counter(), 1e-3)
        with displayed(progress_adapter(self.progress, shown, self.parameters, self.round), self.round) as on_iteration:
            with part("build"):
                prepared = solver.prepare(nlp)
            return prepared(start, self.parameters, on_iteration, seconds=seconds)


def cut_short(solution: A, status: Status) -> A:
    """A solution whose improvement was interrupted by Ctrl-C or the time limit."""
    return replace(solution, outcome=replace(solution.outcome, status=status))


def after(solution: A, *earlier: BaseSolution | knots.KnotSearch) -> A:
    """A solution with the iterations and seconds of earlier solves added."""
    return replace(solution, outcome=_counted(solution.outcome, *earlier))


def _counted(outcome: Outcome, *earlier: Outcome | BaseSolution | knots.KnotSearch) -> Outcome:
    """An outcome with the iterations and seconds of earlier runs added."""
    runs = (outcome, *earlier)
    seconds = {name: sum(run.seconds[name] for run in runs) for name in outcome.seconds}
    best = tuple(x for run in runs if isinstance(run, Outcome) for x in run.best)
    return replace(outcome, seconds=seconds, iterations=sum(run.iterations for run in runs), best=best)
