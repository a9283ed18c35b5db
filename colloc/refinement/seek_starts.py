"""Search for cheaper optima than that of the guess, within one solve."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from colloc.refinement.final_postures import cheaper_turn
from colloc.refinement.iteration import Iteration
from colloc.refinement.run import CUT_SHORT, Run, cut_short
from colloc.refinement.starts import (
    CoarseStarts,
    ScreeningResult,
    SearchSettings,
    StartJob,
    alike,
    batches,
    motion_features,
    nearest,
)
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.solution.starts import Basin, Starts
from colloc.solution.warm_start import MotionGuess, start_from
from colloc.solver import Start, Status
from colloc.support.progress import Progress
from colloc.transcription import NLP, PhasesNLP, on_curves

A = TypeVar("A", bound=Solution | PhasesSolution)

SEARCH = SearchSettings(seed=2, keep=2, intervals=6, iterations=60, motions=1, promising=8, arrived=0.1)


@dataclass(frozen=True)
class QuickSearch:
    """Limits and goals of a quick search.

    Parameters
    ----------
    work : float
        Iterations times intervals that the starts may take, relative to the solve from the guess.
    least : int
        Smallest number of iterations: with fewer the search is skipped.
    joints : int
        Largest number of joints: with more, building the coarse program takes too long.
    agree : int
        Number of starts, in addition to the guess or another one, that end in one optimum, with none in another: the
        search ends.
    hopeful : float
        Relative excess of the cost on the coarse grid above which a motion is not solved on the curve.
    clearly : float
        Relative saving of the cost that replaces the motion of a quick search or of a user's guess.
    """

    work: float = 1.2
    least: int = 20
    joints: int = 12
    agree: int = 2
    hopeful: float = 0.2
    clearly: float = 1e-2


QUICK = QuickSearch()


def best_of_starts(
    nlp: NLP | PhasesNLP, solution: A, run: Run, guess: MotionGuess, count: int, *, quick: bool = False
) -> tuple[A, MotionGuess]:
    """The cheapest of the motions that starts reach, and its start.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
        The program, on the first grid.
    solution : Solution or PhasesSolution
        Result from the guess.
    run : Run
    guess : optional
        As in `solve`.
    count : int
        Number of starts, including the guess.
    quick : bool
        Whether the effort is proportional to that of the guess: see `SeekStarts`.
    """
    if solution.outcome.status in CUT_SHORT:
        return solution, guess
    if guess is not None and (best := cheaper_turn(nlp, solution, run, QUICK.clearly)).x is not solution.x:
        return best, best
    if quick and not _worth_while(nlp, solution):
        return solution, guess
    keep = SEARCH.keep if quick else max(SEARCH.keep, count // 4)
    search = _StartSearch(nlp, solution, run, guess, replace(SEARCH, starts=count, keep=keep), quick=quick)
    search.screen()
    return search.best()


def _worth_while(nlp: NLP | PhasesNLP, solution: Solution | PhasesSolution) -> bool:
    """Whether a quick search is worth its time: see `SeekStarts`."""
    joints = max(phase.problem.model.n for phase in nlp.motions)
    return 0 < joints <= QUICK.joints and _affordable(nlp, solution) >= QUICK.least


def _affordable(nlp: NLP | PhasesNLP, solution: Solution | PhasesSolution) -> int:
    """Number of iterations on the coarse grid that a search may take."""
    intervals = sum(phase.grid.basis.intervals for phase in nlp.motions)
    return int(QUICK.work * solution.iterations * intervals / (SEARCH.intervals * len(nlp.motions)))


def _on_one_branch(solution: Solution | PhasesSolution, other: Solution | PhasesSolution) -> bool:
    """Whether closed chains start on the same branches in two motions."""
    return all(
        part.on_one_branch(phase.q[0], other.phases[name].q[0])
        for name, phase in solution.phases.items()
        for part in phase.problem.parts
    )


@dataclass(eq=False)
class _StartBasin:
    """Starts that end in one motion, with the coarse result, and the solution on the first grid if there is one."""

    motion: np.ndarray
    starts: list[int]
    end: ScreeningResult | None = None
    solution: Solution | PhasesSolution | None = None

    @property
    def cost(self) -> float:
        """Cost on the first grid, otherwise on the coarse one."""
        if self.solution is not None:
            return self.solution.cost
        return np.inf if self.end is None else self.end.cost

    @property
    def record(self) -> Basin:
        """The record that a solution keeps."""
        return Basin(self.cost, tuple(sorted(self.starts)), self.solution is not None)


class _Reached(Exception):
    """Raised when a solve on the first grid is near an optimum that is known there."""

    def __init__(self, basin: _StartBasin):
        super().__init__()
        self.basin = basin


class _StartSearch:
    """The starts of a solve on a coarse grid, and the best results on the first grid."""

    def __init__(
        self, nlp: NLP | PhasesNLP, solution: Solution | PhasesSolution, run: Run, guess: MotionGuess,
        settings: SearchSettings, *, quick: bool,
    ):  # fmt: skip
        self._nlp, self._solution, self._run, self._guess = nlp, solution, run, guess
        self._settings, self._quick = settings, quick
        coarse = on_curves(nlp, {name: curve.coarser(settings.intervals) for name, curve in nlp.curves.items()})
        spans = [phase.duration for phase in solution.phases.values()]
        first = Start(start_from(coarse, solution, run.parameters).x)
        # In phases the line on the coarse grid often ends in another motion than on the first grid.
        has_line = guess is not None or isinstance(nlp, PhasesNLP)
        self._coarse = CoarseStarts(coarse, run, settings, first, has_line, spans)
        self._basins: list[_StartBasin] = []
        self._failed: list[int] = []
        self._cut_short: Status | None = None
        if solution.outcome.status is Status.SOLVED:
            self._basins.append(_StartBasin(motion_features(solution.nlp, solution.x), [0], solution=solution))
        else:
            self._failed.append(0)

    def screen(self) -> None:
        """Solve all starts except the guess on the coarse grid, until Ctrl-C or the time limit."""
        count, iterations = self._settings.starts, 0
        affordable = _affordable(self._nlp, self._solution) if self._quick else np.inf
        ends: list[ScreeningResult] = []
        jobs = [[StartJob(k) for k in range(1, count)]] if self._quick else batches(self._settings, ends)
        with Progress(count - 1, "starts", self._shown()) as bar:
            for batch in jobs:
                for job in batch:
                    if not self._cut_short and iterations < affordable and not self._agree():
                        iterations += self._solve(job)
                        bar.step()
                ends[:] = [basin.end for basin in self._basins if basin.end is not None]

    def _shown(self) -> bool:
        """Whether a bar counts the starts: on request, or for many starts in a terminal."""
        progress = self._run.progress
        return progress is True or (progress is None and not self._quick and sys.stderr.isatty())

    def _agree(self) -> bool:
        """Whether enough of few starts reached one optimum, that of the guess or another, and none a third."""
        ends = [basin for basin in self._basins if basin.starts != [0]]
        return self._quick and len(ends) == 1 and len(ends[0].starts) > QUICK.agree

    def _solve(self, job: StartJob) -> int:
        """Solve a start on the coarse grid until it converges or is near a known optimum; return its iterations."""
        known = [basin.motion for basin in self._basins] if job.number else []
        result = self._coarse(job._replace(known=known))
        if result.arrived is not None:
            self._basins[result.arrived].starts.append(job.number)
        elif result.failure:
            self._failed.append(job.number)
            if result.failure in CUT_SHORT:
                self._cut_short = Status(result.failure)
        else:
            self._keep(result)
        return result.iterations

    def _keep(self, end: ScreeningResult) -> None:
        """Add an optimum of the coarse grid to a known basin, or as a new one."""
        number = nearest([basin.motion for basin in self._basins], end.motion, self._settings.arrived)
        if number is None:
            self._basins.append(_StartBasin(end.motion, [end.number], end))
            return
        basin = self._basins[number]
        basin.end = basin.end or end
        basin.starts += [end.number] * (end.number not in basin.starts)

    def best(self) -> tuple[Any, MotionGuess]:
        """The cheapest motion on the first grid, with the record of all starts, and its start."""
        for basin in self._hopeful():
            if not self._cut_short:
                self._solve_on_first_grid(basin)
        chosen = self._chosen()
        if chosen is None or chosen.solution is None:
            best, guess = self._solution, self._guess
        else:
            best, guess = chosen.solution, self._guess if 0 in chosen.starts else chosen.solution
            others = sorted((basin for basin in self._basins if basin is not chosen), key=lambda v: v.cost)
            best = replace(best, starts=Starts(tuple(v.record for v in (chosen, *others)), tuple(self._failed)))
        return cut_short(best, self._cut_short) if self._cut_short else best, guess

    def _hopeful(self) -> list[_StartBasin]:
        """The best basins of the coarse grid that may be cheaper than that of the guess on the first grid."""
        limit = np.inf
        if self._quick and self._solution.outcome.status is Status.SOLVED:
            limit = self._solution.cost + QUICK.hopeful * self._solution.cost_scale
        others = [v for v in self._basins if v.solution is None and v.cost <= limit]
        return sorted(others, key=lambda v: v.cost)[: self._settings.keep]

    def _solve_on_first_grid(self, basin: _StartBasin) -> None:
        """Solve a basin on the first grid; merge it with another one of the same optimum."""
        assert basin.end is not None
        coarse = self._coarse.solution(basin.end)
        solved, progress = [other for other in self._basins if other.solution is not None], self._run.progress

        def watch(now: Iteration) -> None:
            if callable(progress):
                progress(now)
            if now.infeasibility <= self._settings.feasible:
                number = nearest([v.motion for v in solved], motion_features(now.nlp, now.x), self._settings.arrived)
                if number is not None:
                    raise _Reached(solved[number])

        run = replace(self._run, progress=watch) if self._quick else self._run
        try:
            solution, _ = run(self._nlp, coarse, time.perf_counter())
        except _Reached as arrival:
            self._merge(basin, arrival.basin)
            return
        if solution.outcome.status in CUT_SHORT:
            self._cut_short = solution.outcome.status
        if solution.outcome.status is not Status.SOLVED:
            return
        if not _on_one_branch(solution, self._solution):
            self._basins.remove(basin)
            self._failed.extend(basin.starts)
            return
        end = ScreeningResult.of(basin.starts[0], solution)
        for other in self._solved():
            if alike(ScreeningResult.of(other.starts[0], other.solution), end, self._settings):  # pyright: ignore[reportArgumentType]
                self._merge(basin, other)
                return
        basin.solution = solution

    def _solved(self) -> Sequence[_StartBasin]:
        """The basins with a solution on the first grid."""
        return [basin for basin in self._basins if basin.solution is not None]

    def _merge(self, basin: _StartBasin, other: _StartBasin) -> None:
        other.starts.extend(basin.starts)
        self._basins.remove(basin)

    def _chosen(self) -> _StartBasin | None:
        """The basin of the cheapest motion; that of the guess unless another one is clearly cheaper."""
        solved = self._solved()
        if not solved:
            return None
        best = min(solved, key=lambda basin: basin.cost)
        usual = next((basin for basin in solved if 0 in basin.starts), best)
        gain = QUICK.clearly if self._guess is not None or self._quick else self._settings.same_cost
        return best if usual.cost - best.cost > gain * self._solution.cost_scale else usual
