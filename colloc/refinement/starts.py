"""Starts on a coarse grid and the optima that they reach, for `SeekStarts` and `multistart`.

Optima on a grid of a few intervals are cheap but inaccurate: their costs are off by between one and thirty per cent, in
one basin more than in another. They are therefore distinguished on the coarse grid, and compared on the final grid,
where a solve from a coarse optimum takes a third of the iterations of one from a line.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from colloc.curves import Transcription
from colloc.refinement.iteration import Iteration
from colloc.refinement.random_motions import (
    default_durations,
    near_start,
    promising_start,
    random_start,
    state_reach,
)
from colloc.refinement.run import Run
from colloc.solution.phases import PhasesSolution, solution_of
from colloc.solution.solution import Solution
from colloc.solution.warm_start import start_from
from colloc.solver import Outcome, Start, Status
from colloc.support.checks import InputError, count, not_negative, spelt
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable
from colloc.transcription import NLP, BaseNLP, DeferredNLP, PhasesNLP

Curves = Transcription | Mapping[str, Transcription]

_SAMPLES = 17  # samples of every phase, by which motions are compared


@spelt
@dataclass(frozen=True)
class SearchSettings:
    """Settings of a search over starts, and of the comparison of optima.

    Parameters
    ----------
    starts : int
        Number of starts, including the guess.
    seed : int
        Seed of the random motions.
    keep : int
        Number of distinct optima of the coarse grid that are solved on the final curve.
    intervals : int
        Smallest number of intervals per phase of the coarse grid; a curve with a few more is used unchanged.
    share : float
        Smallest number of intervals of the coarse grid, as a fraction of those of the curve.
    iterations : int
        Largest number of iterations of a coarse solve.
    motions : int
        Number of random motions of a start; the best optimum counts.
    promising : int
        Number of first starts that use the most promising of a few random motions.
    near : float
        Fraction of the starts near the best results so far.
    rounds : int
        Number of rounds in which these are solved.
    parents : int
        Number of optima near which they start.
    same_cost : float
        Relative difference within which costs of optima are equal.
    same_motion : float
        Difference within which motions of optima are equal, relative to the joints' ranges and the duration.
    arrived : float
        Distance from a known optimum, in the same unit, below which a start is stopped; zero to solve all.
    feasible : float
        Largest relative violation of constraints of a start that is stopped.

    Examples
    --------
    >>> settings = co.refinement.SearchSettings(starts=4, seed=1, keep=1)
    >>> len(co.multistart(problem, co.BSpline(10), starts=settings).starts)
    4
    """

    starts: int = 20
    seed: int = 0
    keep: int = 3
    intervals: int = 10
    share: float = 1 / 3
    iterations: int = 300
    motions: int = 2
    promising: int = 0
    near: float = 0.6
    rounds: int = 3
    parents: int = 3
    same_cost: float = 1e-3
    same_motion: float = 0.03
    arrived: float = 0.0
    feasible: float = 0.05

    def __post_init__(self) -> None:
        count("starts", self.starts, at_least=2)
        count("seed", self.seed, at_least=0)
        for name in ("keep", "intervals", "iterations", "motions", "rounds", "parents"):
            count(name, getattr(self, name), at_least=1)
        count("promising", self.promising, at_least=0)
        for name in ("share", "near"):
            not_negative(name, getattr(self, name), at_most=1.0)
        for name in ("same_cost", "same_motion", "arrived", "feasible"):
            not_negative(name, getattr(self, name))

    def coarser(self, curve: Transcription) -> Transcription:
        """A curve of the same kind with few intervals and fixed breakpoints."""
        intervals = curve.basis.intervals
        if intervals > self.intervals + 2:
            return curve.coarser(max(self.intervals, int(self.share * intervals + 1e-9)))
        return curve.with_breakpoints(curve.basis.breakpoints) if curve.free else curve


class StartJob(NamedTuple):
    """A start to be solved.

    Parameters
    ----------
    number : int
        0 is the guess.
    parent : int, optional
        The earlier start near whose result this one begins.
    near : ndarray, optional
        The decision vector of that result.
    known : sequence of ndarray
        Features of known motions near which the start is stopped.
    """

    number: int
    parent: int | None = None
    near: np.ndarray | None = None
    known: Sequence[np.ndarray] = ()


class ScreeningResult(NamedTuple):
    """The optimum of a start on the coarse grid, or the reason of its failure.

    Parameters
    ----------
    number : int
    failure : str
        Reason of the failure; empty if there is an optimum.
    seconds : float
    cost, cost_scale : float
        The cost, and the scale of its changes.
    motion : ndarray
        Features of the motion, see `motion_features`.
    outcome : Outcome or None
    arrived : int, optional
        Number of the known motion near which the start was stopped.
    iterations : int
    """

    number: int
    failure: str
    seconds: float = 0.0
    cost: float = np.inf
    cost_scale: float = 1.0
    motion: np.ndarray = np.zeros(0)
    outcome: Outcome | None = None
    arrived: int | None = None
    iterations: int = 0

    @classmethod
    def of(cls, number: int, solution: Solution | PhasesSolution, seconds: float = 0.0) -> Self:
        """The result for a solution."""
        motion = motion_features(solution.nlp, solution.x)
        return cls(number, "", seconds, solution.cost, solution.cost_scale, motion, solution.outcome)


def motion_features(nlp: BaseNLP, x: np.ndarray) -> np.ndarray:
    """Durations of the phases, and positions over the ranges of the joints at equal fractions of the duration.

    Without joints, states over their ranges.
    """
    parts, s = [], np.linspace(0, 1, _SAMPLES)
    for phase in nlp.motions:
        layout, part = phase.grid.layout, x[phase.part]
        if phase.problem.model.n:
            kind, basis, (lower, upper) = "q", phase.grid.basis, phase.problem.limits("q")
        else:
            kind, basis, (lower, upper) = "states", phase.grid.states, state_reach(phase.problem)
        scale = np.where(np.isfinite(upper - lower) & (upper > lower), upper - lower, np.pi)
        columns = basis.first[basis.interval(s)][:, None] + np.arange(basis.degree + 1)
        points = part[layout[kind] - layout.offset][np.minimum(columns, basis.size - 1)]
        T = np.maximum(part[layout.duration - layout.offset], 1e-12)
        parts += [np.log(T), (np.einsum("ik,ikj->ij", basis.values(s), points) / scale).ravel()]
    return np.concatenate(parts)


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference between the features of two motions; infinite if they cannot be compared."""
    largest = float(np.abs(a - b).max(initial=0.0)) if a.shape == b.shape else np.inf
    return largest if np.isfinite(largest) else np.inf


def alike(a: ScreeningResult, b: ScreeningResult, settings: SearchSettings) -> bool:
    """Whether two optima have equal costs and motions."""
    if abs(a.cost - b.cost) > settings.same_cost * max(a.cost_scale, b.cost_scale):
        return False
    return distance(a.motion, b.motion) <= settings.same_motion


def grouped(results: Sequence[ScreeningResult], settings: SearchSettings) -> list[list[ScreeningResult]]:
    """Starts grouped by optimum, the best group first, and the best start first in each group."""
    groups: list[list[ScreeningResult]] = []
    for result in sorted((r for r in results if r.outcome is not None), key=lambda r: (r.cost, r.number)):
        group = next((group for group in groups if alike(group[0], result, settings)), None)
        if group is None:
            groups.append([result])
        else:
            group.append(result)
    return groups


def batches(settings: SearchSettings, ends: list[ScreeningResult]) -> Iterator[list[StartJob]]:
    """The guess and random starts, then in rounds starts near the best results so far.

    Parameters
    ----------
    settings : SearchSettings
    ends : list of ScreeningResult
        Results so far, to which the caller appends.
    """
    near = int(settings.near * settings.starts)
    first, later = np.split(np.arange(settings.starts), [settings.starts - near])
    yield [StartJob(k) for k in first.tolist()]
    for numbers in np.array_split(later, settings.rounds) if near else []:
        parents = [group[0] for group in grouped(ends, settings)[: settings.parents]]
        yield [_near(k, parents) for k in numbers.tolist()]


def _near(number: int, parents: list[ScreeningResult]) -> StartJob:
    """A start near one of some results, or a random one if there are none."""
    if not parents:
        return StartJob(number)
    parent = parents[number % len(parents)]
    assert parent.outcome is not None
    return StartJob(number, parent.number, parent.outcome.x)


class _Arrived(Exception):
    """Raised when a start is so near a known optimum that it can be stopped."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number


@dataclass(frozen=True, eq=False)
class CoarseStarts(Portable):
    """Worker for starts: a program on a coarse grid, with inequalities at its nodes, kept from start to start.

    Parameters
    ----------
    program : NLP, PhasesNLP or DeferredNLP
        The coarse program.
    run : Run
    settings : SearchSettings
    guess : optional
        Start 0: as in `solve`, or a Start.
    has_line : bool
        Whether start 1 is the straight line.
    spans : sequence of float, optional [s]
        Durations of the phases, to be varied; by default those of the default guesses.
    """

    program: NLP | PhasesNLP | DeferredNLP
    run: Run
    settings: SearchSettings
    guess: Any = None
    has_line: bool = False
    spans: Sequence[float] = field(default=())

    @property
    def nlp(self) -> NLP | PhasesNLP:
        """The coarse program, built."""
        return self.program.built

    @cached_property
    def durations(self) -> list[float]:
        """Durations of the phases, to be varied, computed on first use [s]."""
        return list(self.spans) or default_durations(self.nlp)

    def __call__(self, job: StartJob) -> ScreeningResult:
        """Solve from several motions and return the best optimum. Start 0 is the guess; others depend on seed and
        number.
        """
        begin, rng = time.perf_counter(), np.random.default_rng([self.settings.seed, job.number])
        best = self._search(job, rng)
        for _ in range(self.settings.motions - 1 if job.number else 0):
            if best.failure == Status.INTERRUPTED:
                break
            end = self._search(job, rng)
            if end.failure == Status.INTERRUPTED or (not end.failure and (best.failure or end.cost < best.cost)):
                best = end
        return best._replace(seconds=time.perf_counter() - begin)

    def _search(self, job: StartJob, rng: np.random.Generator) -> ScreeningResult:
        """Search for an optimum until it converges or is near a known one."""
        iterations = 0

        def watch(now: Iteration) -> None:
            nonlocal iterations
            iterations = now.number
            if job.known and now.infeasibility <= self.settings.feasible:
                number = nearest(job.known, motion_features(now.nlp, now.x), self.settings.arrived)
                if number is not None:
                    raise _Arrived(number)

        solver = self.run.solver.limited(iterations=self.settings.iterations)
        run = replace(self.run, solver=solver, progress=watch if self.settings.arrived else False, always=False)
        try:
            solution, _ = run(self.nlp, self._start(job, rng), time.perf_counter())
        except _Arrived as arrival:
            return ScreeningResult(job.number, "", arrived=arrival.number, iterations=iterations)
        except InputError as error:  # a function is not finite there, or a chain cannot be closed
            return ScreeningResult(job.number, str(error), iterations=iterations)
        if solution.outcome.status is not Status.SOLVED:
            return ScreeningResult(job.number, str(solution.outcome.status), iterations=iterations)
        return ScreeningResult.of(job.number, solution)._replace(iterations=iterations)

    def _start(self, job: StartJob, rng: np.random.Generator) -> Any:
        """Initial motion of a start: the guess, the straight line, a motion near another, or a random one."""
        nlp, parameters = self.nlp, self.run.parameters
        if not job.number:
            return self.guess
        if job.number == 1 and self.has_line:
            return Start(start_from(nlp, None, parameters).x)
        if job.near is not None:
            return Start(near_start(nlp, job.near, rng))
        if job.number < self.settings.promising:
            return Start(promising_start(nlp, self.durations, parameters, rng))
        return Start(random_start(nlp, self.durations, rng))

    def solution(self, result: ScreeningResult) -> Solution | PhasesSolution:
        """The solution of a start on the coarse grid."""
        assert result.outcome is not None
        return solution_of(self.nlp, result.outcome, self.run.parameters)


def nearest(known: Sequence[np.ndarray], motion: np.ndarray, within: float) -> int | None:
    """Number of the first known motion within a distance; None if there is none."""
    return next((k for k, other in enumerate(known) if distance(other, motion) <= within), None)
