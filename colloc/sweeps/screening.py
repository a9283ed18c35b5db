"""The workers of `multistart`: they solve random starts on a coarse grid, and good ones on the grid that is asked for.

Neither builds a program twice: a worker keeps it from start to start.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colloc.curves import Transcription
from colloc.kernels import Compile
from colloc.problem import Phases, Problem
from colloc.refinement.plan import AtSwitches, Attempt, Refine, Solve
from colloc.refinement.random_motions import default_durations, near_start, random_start
from colloc.refinement.run import Run
from colloc.refinement.starts import Curves, ScreeningResult, StartJob
from colloc.solution import PhasesSolution, Solution, solution_of
from colloc.solver import Solver, Start, Status
from colloc.support.checks import InputError
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable
from colloc.transcription import NLP, PhasesNLP, program_of

_FEW = 12  # intervals that are few enough for screening
_ITERATIONS = 300  # of a coarse solve, at most
_SEARCHES = 2  # of a start: motions from which an optimum is sought, the better one of which counts


@dataclass(frozen=True, eq=False)
class Screening(Portable):
    """A worker for starts: the problem on a coarse grid, inequalities at its nodes.

    Parameters
    ----------
    problem : Problem or Phases
    curve : Transcription, or mapping of phase to Transcription
        The coarse one.
    parameters : ndarray
    seed : int
    solver : Solver
    compile : bool, Compile or None
    guess : optional
        As in `solve`: start 0.
    """

    problem: Problem | Phases
    curve: Curves
    parameters: np.ndarray
    seed: int
    solver: Solver
    compile: bool | Compile | None
    guess: Any = None

    @cached_property
    def nlp(self) -> NLP | PhasesNLP:
        """The program on the coarse grid."""
        return program_of(self.problem, self.curve, compile=self.compile)

    @cached_property
    def durations(self) -> list[float]:
        """Durations of the default guesses, which are costlier to time than to vary [s]."""
        return default_durations(self.nlp)

    def __call__(self, job: StartJob) -> ScreeningResult:
        """The better optimum of some searches. Start 0 is the guess itself; of others seed and number decide."""
        begin, rng = time.perf_counter(), np.random.default_rng([self.seed, job.number])
        reason, best = self._search(job, rng)
        for _ in range(_SEARCHES - 1 if job.number else 0):
            if reason == Status.INTERRUPTED:
                break
            next_reason, end = self._search(job, rng)
            if next_reason == Status.INTERRUPTED or _better(next_reason, end, reason, best):
                reason, best = next_reason, end
        seconds = time.perf_counter() - begin
        if best is None or reason:
            return ScreeningResult(job.number, reason, seconds)
        return ScreeningResult.of(job.number, best, seconds)

    def _search(self, job: StartJob, rng: np.random.Generator) -> tuple[str, Solution | PhasesSolution | None]:
        """A local search: the reason why there is no optimum, empty where there is one, and its end."""
        nlp = self.nlp
        run = Run(self.parameters, self.solver.limited(iterations=_ITERATIONS), False, 1e-2, False)
        try:
            if job.number == 0:
                guess = self.guess
            else:
                x = random_start(nlp, self.durations, rng) if job.near is None else near_start(nlp, job.near, rng)
                guess = Start(x)
            solution, _ = run(nlp, guess, time.perf_counter())
        except InputError as error:
            return str(error), None
        status = solution.outcome.status
        return "" if status is Status.SOLVED else str(status), solution

    def solution(self, result: ScreeningResult) -> Solution | PhasesSolution:
        """The solution on the coarse grid to which a start has led."""
        assert result.outcome is not None
        return solution_of(self.nlp, result.outcome, self.parameters)


@dataclass(frozen=True, eq=False)
class Refining(Portable):
    """A worker that solves on the grid that is asked for, from optima on the coarse one.

    Parameters
    ----------
    coarse : Screening
    curve : Transcription, or mapping of phase to Transcription
    tol : float, optional
    """

    coarse: Screening
    curve: Curves
    tol: float | None

    @cached_property
    def nlp(self) -> NLP | PhasesNLP:
        """The program on the first grid that is asked for."""
        return program_of(self.coarse.problem, self.curve, compile=self.coarse.compile)

    def __call__(self, result: ScreeningResult | None) -> Solution | PhasesSolution | str:
        """The optimum near a coarse one, or from the first guess if None; the reason where there is none."""
        coarse, begin = self.coarse, time.perf_counter()
        tolerance = 1e-2 if self.tol is None else self.tol
        run = Run(coarse.parameters, coarse.solver, False, tolerance)
        guess: Any = coarse.guess if result is None else coarse.solution(result)
        steps = [Solve()] if self.tol is None else [Solve(), Refine(), AtSwitches()]
        try:
            return Attempt(self.nlp, run, guess, begin=begin).followed(steps).answer
        except InputError as error:
            return str(error)


def _better(reason: str, end: Any, best_reason: str, best: Any) -> bool:
    """Whether an end is an optimum, and cheaper than the best so far if that is one."""
    return not reason and (bool(best_reason) or end.cost < best.cost)


def coarser(curve: Curves) -> Curves:
    """A curve of its kind with few intervals, for screening."""
    if isinstance(curve, Mapping):
        return {name: _coarser(phase) for name, phase in curve.items()}
    return _coarser(curve)


def _coarser(curve: Transcription) -> Transcription:
    intervals = curve.basis.intervals
    if intervals > _FEW:
        return curve.coarser(max(_FEW - 2, intervals // 3))
    return curve.with_breakpoints(curve.basis.breakpoints) if curve.free else curve
