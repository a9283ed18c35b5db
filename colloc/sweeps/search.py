"""Search for the best of the optima to which random starts lead."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from colloc.problem import Phases, Problem
from colloc.refinement.failure import SolveError
from colloc.refinement.plan import TOLERANCE, AtSwitches, Attempt, Refine, Solve
from colloc.refinement.run import Run
from colloc.refinement.starts import (
    CoarseStarts,
    Curves,
    ScreeningResult,
    SearchSettings,
    StartJob,
    alike,
    batches,
    grouped,
)
from colloc.solution import PhasesSolution, Solution
from colloc.solver import Solver, Status, chosen_solver
from colloc.solver.solver import FOR_ONE_RUN
from colloc.support.checks import InputError, count, flag, instance, relative_tolerance, spelt
from colloc.support.interrupts import InterruptGuard
from colloc.support.pickling import Portable
from colloc.support.progress import Progress, silent_without_progress
from colloc.support.stopwatch import part, seconds_of_call
from colloc.support.threads import tracked
from colloc.sweeps.executors import check_executor, open_executor, results
from colloc.sweeps.guesses import check_guess
from colloc.sweeps.optima import Optima, Optimum, StartResult
from colloc.sweeps.programs import first_program
from colloc.sweeps.warnings import warn_grouped
from colloc.transcription import NLP, DeferredNLP, PhasesNLP

_FIRST_GUESS = -1  # key of the final curve among the numbers of starts


@spelt
@tracked
@silent_without_progress
def multistart(
    problem: Problem | Phases | NLP | PhasesNLP,
    curve: Curves | None = None,
    *,
    guess: Any = None,
    starts: int | SearchSettings = 20,
    executor: Executor | int | None = None,
    tol: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    solver: Solver | None = None,
    progress: bool | None = None,
) -> Optima:
    """The distinct optima that random starts reach, the best first.

    `solve` finds the optimum in whose basin its guess lies, and a better one may be elsewhere. The first start of
    `multistart` is that guess. Others pass through random postures within the joint ranges, in random durations; the
    last three fifths are the best results so far with large detours of some joints. Every start but the first consists
    of two such motions, the better of which counts. All are solved on a coarse grid with inequalities at its nodes. The
    best distinct results, and the guess, are then solved on the final curve, as `solve` does. The answer depends on the
    seed, not on the executor.

    Parameters
    ----------
    problem : Problem, Phases or NLP
        An NLP, as `transcribe` returns it, brings its curve and compiled functions.
    curve : optional
        The final curve, as in `solve`; by default chosen automatically and refined to 1e-3.
    guess : optional
        The first start, as in `solve`.
    starts : int or SearchSettings
        Number of starts, at least 2; or `co.refinement.SearchSettings`, with the seed of the random motions, the number
        of distinct optima solved on the final curve, and the tolerances within which two are the same.
    executor : int or Executor, optional
        Number of processes, or any executor of concurrent.futures. By default one start after another in this process;
        see `sweep`.
    tol, parameters, solver :
        As in `solve`.
    progress : bool, optional
        Progress bar on standard error; by default in terminals and notebooks.

    Returns
    -------
    Optima
        Also after Ctrl-C if there is any optimum, if necessary those of the coarse grid. Warnings of `solve` are issued
        once, and listed in the `warnings` of every optimum.

    Raises
    ------
    InputError
        For arguments that do not fit the problem.
    SolveError
        If no start reaches an optimum; lists the reasons.
    KeyboardInterrupt
        If interrupted before there is any optimum.

    See Also
    --------
    solve : One optimum, from one guess.
    sweep : Many problems instead of many starts.

    Examples
    --------
    >>> optima = co.multistart(problem, co.BSpline(10), starts=4)
    >>> optima.best.cost <= co.solve(problem, co.BSpline(10)).cost
    True
    >>> len(optima.starts), optima.interrupted
    (4, False)
    """
    instance("problem", problem, Problem | Phases | NLP | PhasesNLP)
    settings = starts if isinstance(starts, SearchSettings) else SearchSettings(count("starts", starts, at_least=2))
    check_executor(executor)
    if progress is not None:
        flag("progress", progress)
    if tol is not None:
        relative_tolerance("tol", tol)
    if curve is None and isinstance(problem, Problem | Phases):
        tol = TOLERANCE if tol is None else tol
    with InterruptGuard():
        if guess is not None:
            check_guess(problem if isinstance(problem, Problem | Phases) else problem.problem, guess)
        program = first_program(problem, curve, guessed=guess is not None)
        tolerance = FOR_ONE_RUN if tol is None else tol
        values = program.problem.parameter_values(parameters)
        run = Run(values, chosen_solver(solver), False, tolerance)
        screening = CoarseStarts(_coarse(program, settings), replace(run, tolerance=FOR_ONE_RUN), settings, guess)
        refining = Refining(screening, program, run, refines=tol is not None)
        _ = screening.nlp  # errors of arguments are raised here, once
    with open_executor(executor) as pool, Progress(settings.starts + settings.keep + 1, "starts", progress) as bar:
        search = _Search(pool, settings)
        search.screen(screening, bar)
        search.refine(refining, bar)
    with InterruptGuard():
        optima = search.optima(screening, program.problem)
        warn_grouped("optimum", {k: optimum.warnings for k, optimum in enumerate(optima.optima)})
        return optima


def _coarse(program: DeferredNLP, settings: SearchSettings) -> DeferredNLP:
    """A program on a coarse grid."""
    recipes = {
        name: recipe._replace(curve=settings.coarser(recipe.curve), extra=None)
        for name, recipe in program.recipes.items()
    }
    return DeferredNLP(program.problem, recipes)


@dataclass(frozen=True, eq=False)
class Refining(Portable):
    """Worker that solves on the final grid, from optima on the coarse grid.

    Parameters
    ----------
    coarse : CoarseStarts
    program : DeferredNLP
    run : Run
    refines : bool
        Whether the grid is refined to the tolerance of the run.
    """

    coarse: CoarseStarts
    program: DeferredNLP
    run: Run
    refines: bool

    def __call__(self, result: ScreeningResult | None) -> Solution | PhasesSolution | str:
        """The optimum near a coarse one, or from the first guess if None; the reason if there is none."""
        begin = time.perf_counter()
        guess: Any = self.coarse.guess if result is None else self.coarse.solution(result)
        steps = [Solve(), Refine(), AtSwitches()] if self.refines else [Solve()]
        try:
            with seconds_of_call() as spent:
                with part("build"):
                    nlp = self.program.built
                answer = Attempt(nlp, self.run, guess, begin=begin).followed(steps).answer
                return replace(answer, outcome=replace(answer.outcome, seconds=spent))
        except InputError as error:
            return str(error)


class _Search:
    """The starts of a search, screened on the coarse grid; the best of them solved on the final grid."""

    def __init__(self, executor: Executor | None, settings: SearchSettings):
        self._executor, self._settings = executor, settings
        self._coarse: list[ScreeningResult] = []
        self._fine: list[tuple[ScreeningResult | None, Solution | PhasesSolution]] = []
        self._near: dict[int, int] = {}
        self._interrupted = False

    def screen(self, screening: CoarseStarts, bar: Progress) -> None:
        """Solve all starts on the coarse grid: random ones, then in rounds those near the best results so far."""
        for jobs in batches(self._settings, self._coarse):
            self._near |= {job.number: job.parent for job in jobs if job.parent is not None}
            self._screen(screening, jobs, bar)

    def _screen(self, screening: CoarseStarts, jobs: list[StartJob], bar: Progress) -> None:
        if self._interrupted:
            return
        try:
            for k, result in results(screening, jobs, self._executor):
                if isinstance(result, Exception):
                    result = ScreeningResult(jobs[k].number, f"{type(result).__name__}: {result}")
                self._coarse.append(result)
                bar.step(f"best {min(r.cost for r in self._coarse):.6g}")
                if result.failure == Status.INTERRUPTED:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            self._interrupted = True

    def refine(self, refining: Refining, bar: Progress) -> None:
        """Solve the best distinct results, and the first guess, on the final curve."""
        if self._interrupted:
            return
        keep = self._settings.keep
        parents = [None, *(group[0] for group in grouped(self._coarse, self._settings)[:keep])]
        if len(parents) <= keep:
            bar.step(count=keep + 1 - len(parents))  # fewer results: else the bar would stop early, in red
        try:
            for k, solution in results(refining, parents, self._executor):
                bar.step()
                if not isinstance(solution, str | Exception):
                    if solution.outcome.status is Status.INTERRUPTED:
                        raise KeyboardInterrupt
                    if solution.outcome.status is Status.SOLVED:
                        self._fine.append((parents[k], solution))
        except KeyboardInterrupt:
            self._interrupted = True

    def optima(self, screening: CoarseStarts, problem: Problem | Phases) -> Optima:
        """All optima on the finest available grid, the best first; the error if there are none."""
        groups = grouped(self._coarse, self._settings)
        group_of = {result.number: k for k, group in enumerate(groups) for result in group}
        if not self._fine and not self._interrupted:
            raise self._failure()
        fine = self._fine or [(group[0], screening.solution(group[0])) for group in groups]
        if not fine:
            raise KeyboardInterrupt
        distinct: list[tuple[ScreeningResult, Solution | PhasesSolution, set[int]]] = []
        for parent, solution in sorted(fine, key=lambda pair: pair[1].cost):
            end = ScreeningResult.of(_FIRST_GUESS, solution)
            numbers = {_FIRST_GUESS} if parent is None else {r.number for r in groups[group_of[parent.number]]}
            same = next((starts for optimum, _, starts in distinct if alike(optimum, end, self._settings)), None)
            if same is None:
                distinct.append((end, solution, numbers))
            else:
                same |= numbers
        optima = tuple(
            Optimum(_for_problem(solution, problem), tuple(sorted(starts - {_FIRST_GUESS})),
                    _FIRST_GUESS in starts)
            for _, solution, starts in distinct
        )  # fmt: skip
        starts = tuple(
            StartResult(r.number, self._near.get(r.number), r.cost, group_of.get(r.number), r.failure, r.seconds)
            for r in sorted(self._coarse, key=lambda r: r.number)
        )
        return Optima(optima, starts, self._interrupted, self._settings.same_cost)

    def _failure(self) -> SolveError:
        reasons = [result.failure for result in self._coarse if result.failure]
        lines = [f"  {reasons.count(reason)} starts: {reason}" for reason in dict.fromkeys(reasons)]
        return SolveError("\n".join([f"none of {len(self._coarse)} starts reached an optimum", *lines]), None)


def _for_problem(solution: Solution | PhasesSolution, problem: Problem | Phases) -> Solution | PhasesSolution:
    """A solution from a worker, with the caller's problem."""
    if solution.problem is problem:
        return solution
    return replace(solution, program=replace(DeferredNLP.of(solution.program), problem=problem))
