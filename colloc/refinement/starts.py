"""Starts and the valleys that they lead to: whether another one is cheaper than that of the guess.

Optima on a grid of a few intervals cost little and say little: their costs are off by a per cent or by a third, in one
valley more than in the other. They are therefore told apart there, and compared on the grid that is asked for, which
from a coarse optimum takes a third of the iterations that it takes from a line.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from colloc.curves import Transcription
from colloc.refinement.iteration import Iteration
from colloc.refinement.random_motions import near_start, promising_start, random_start
from colloc.refinement.run import CUT_SHORT, Run, cut_short
from colloc.solution.phases import PhasesSolution, solution_of
from colloc.solution.solution import Solution
from colloc.solution.starts import Starts, Valley
from colloc.solution.warm_start import MotionGuess, start_from
from colloc.solver import Outcome, Start, Status
from colloc.support.checks import InputError
from colloc.support.progress import Progress
from colloc.transcription import NLP, BaseNLP, PhasesNLP, on_curves

A = TypeVar("A", bound=Solution | PhasesSolution)
Curves = Transcription | Mapping[str, Transcription]

SAME_COST = 1e-3  # of the cost's size
_SAME_MOTION = 0.03  # of the ranges of the joints, and of the duration
_SAMPLES = 17  # of every phase, by which motions are compared

_NEAR = 0.6  # share of many starts that lie near earlier ends
_ROUNDS = 3  # in which these are solved, each near the best ends so far
_PARENTS = 3  # optima near which they lie

_INTERVALS = 6  # of every phase, on which the starts of a first call are solved
_SEED = 2  # of random motions
_FEW = 8  # starts of a first call that asks for no number, at most
_AGREE = 2  # of these and the guess, or one more of these, all near one optimum: there is no other
_ITERATIONS = 60  # of a start, at most
_WORK = 1.2  # iterations times intervals that these may take, by those from the guess
_LEAST = 20  # iterations: with fewer there is no use in beginning
_JOINTS = 12  # beyond which building the coarse program takes longer than it is worth
_ARRIVED, _FEASIBLE = 0.1, 0.05  # of the ranges, and relative: so near a known optimum a start is on its way there
_HOPEFUL = 0.2  # of the cost's size: not dearer on the coarse grid than that, a motion may be cheaper on the finer one
_TRIED = 2  # other valleys that are solved on the first grid, of many starts a quarter as many as these
_CLEARLY = 1e-2  # of the cost's size: cheaper than the user's own guess by less, another motion is none to go for


class StartJob(NamedTuple):
    """A start to be solved.

    Parameters
    ----------
    number : int
        0 is the guess.
    parent : int, optional
        The earlier start near whose end it lies.
    near : ndarray, optional
        That end.
    """

    number: int
    parent: int | None = None
    near: np.ndarray | None = None


class ScreeningResult(NamedTuple):
    """The optimum to which a start has led on the coarse grid, or why there is none.

    Parameters
    ----------
    number : int
    reason : str
        Why there is no optimum; empty where there is one.
    seconds : float
    cost, cost_scale : float
        The cost, and the scale that its changes are relative to.
    motion : ndarray
        The numbers by which motions are compared, see `signature`.
    outcome : Outcome or None
    """

    number: int
    reason: str
    seconds: float = 0.0
    cost: float = np.inf
    cost_scale: float = 1.0
    motion: np.ndarray = np.zeros(0)
    outcome: Outcome | None = None

    @classmethod
    def of(cls, number: int, solution: Solution | PhasesSolution, seconds: float = 0.0) -> Self:
        """The result that is a solution."""
        motion = signature(solution.nlp, solution.x)
        return cls(number, "", seconds, solution.cost, solution.cost_scale, motion, solution.outcome)


def signature(nlp: BaseNLP, x: np.ndarray) -> np.ndarray:
    """Durations of the phases, and positions over the ranges of the joints at equal fractions of the duration."""
    parts, s = [], np.linspace(0, 1, _SAMPLES)
    for phase in nlp.motions:
        basis, layout, part = phase.grid.basis, phase.grid.layout, x[phase.part]
        lower, upper = phase.problem.limits("q")
        scale = np.where(np.isfinite(upper - lower) & (upper > lower), upper - lower, np.pi)
        seen = basis.first[basis.interval(s)][:, None] + np.arange(basis.degree + 1)
        points = part[layout["q"] - layout.offset][np.minimum(seen, basis.size - 1)]
        T = np.maximum(part[layout.duration - layout.offset], 1e-12)
        parts += [np.log(T), (np.einsum("ik,ikj->ij", basis.values(s), points) / scale).ravel()]
    return np.concatenate(parts)


def grouped(results: Sequence[ScreeningResult]) -> list[list[ScreeningResult]]:
    """Starts that have led to the same optimum, the best group first and in it the best start."""
    groups: list[list[ScreeningResult]] = []
    for result in sorted((r for r in results if not r.reason), key=lambda r: (r.cost, r.number)):
        group = next((group for group in groups if alike(group[0], result)), None)
        if group is None:
            groups.append([result])
        else:
            group.append(result)
    return groups


def alike(a: ScreeningResult, b: ScreeningResult) -> bool:
    """Whether two optima are the same: their costs are, and their motions."""
    if abs(a.cost - b.cost) > SAME_COST * max(a.cost_scale, b.cost_scale):
        return False
    return distance(a.motion, b.motion) <= _SAME_MOTION


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference between two motions, by their signatures; infinite of what cannot be compared."""
    largest = float(np.abs(a - b).max(initial=0.0)) if a.shape == b.shape else np.inf
    return largest if np.isfinite(largest) else np.inf


def batches(count: int, ends: list[ScreeningResult]) -> Iterator[list[StartJob]]:
    """The guess and random starts, then in rounds starts near the best ends so far.

    Parameters
    ----------
    count : int
        Number of starts.
    ends : list of ScreeningResult
        Those so far, to be continued by the caller.
    """
    first, later = np.split(np.arange(count), [count - int(_NEAR * count)])
    yield [StartJob(k) for k in first.tolist()]
    for numbers in np.array_split(later, _ROUNDS):
        parents = [group[0] for group in grouped(ends)[:_PARENTS]]
        yield [_near(k, parents) for k in numbers.tolist()]


def _near(number: int, parents: list[ScreeningResult]) -> StartJob:
    """A start near an end among some, or a random one where there are none."""
    if not parents:
        return StartJob(number)
    parent = parents[number % len(parents)]
    assert parent.outcome is not None
    return StartJob(number, parent.number, parent.outcome.x)


def best_of_starts(
    nlp: NLP | PhasesNLP, solution: A, run: Run, guess: MotionGuess, count: int, *, quick: bool = False
) -> tuple[A, MotionGuess]:
    """The cheapest of the motions to which some starts lead, and from where it is found.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
        The program, on the first grid.
    solution : Solution or PhasesSolution
        Its end from the guess.
    run : Run
    guess : optional
        As in `solve`.
    count : int
        Number of starts, the guess included.
    quick : bool
        Whether effort is in proportion to what the guess took: see `SeekStarts`.
    """
    if solution.outcome.status in CUT_SHORT or (quick and not _worth_while(nlp, solution)):
        return solution, guess
    search = _StartSearch(nlp, solution, run, guess, count, quick=quick)
    search.screen()
    return search.best()


def _worth_while(nlp: NLP | PhasesNLP, solution: Solution | PhasesSolution) -> bool:
    """Whether a first call looks for other valleys: see `solve`."""
    joints = max(phase.problem.model.n for phase in nlp.motions)
    return 0 < joints <= _JOINTS and _affordable(nlp, solution) >= _LEAST


def _affordable(nlp: NLP | PhasesNLP, solution: Solution | PhasesSolution) -> int:
    """Iterations on the coarse grid that take no more work than is due to a search."""
    intervals = sum(phase.grid.basis.intervals for phase in nlp.motions)
    return int(_WORK * solution.iterations * intervals / (_INTERVALS * len(nlp.motions)))


class _Arrived(Exception):
    """A start is so near an optimum that is known that it need not be solved to its end."""

    def __init__(self, valley: _StartValley):
        super().__init__()
        self.valley = valley


@dataclass(eq=False)
class _StartValley:
    """Starts that lead to one motion, the end on the coarse grid, and the solution on the first grid if it is there."""

    motion: np.ndarray
    starts: list[int]
    end: ScreeningResult | None = None
    solution: Solution | PhasesSolution | None = None

    @property
    def cost(self) -> float:
        """On the first grid, else on the coarse one."""
        if self.solution is not None:
            return self.solution.cost
        return np.inf if self.end is None else self.end.cost

    @property
    def record(self) -> Valley:
        """What an answer remembers of it."""
        return Valley(self.cost, tuple(sorted(self.starts)), self.solution is not None)


def _known(valleys: Sequence[_StartValley], motion: np.ndarray) -> _StartValley | None:
    """The valley of a motion; None of one that leads to none so far."""
    return next((valley for valley in valleys if distance(valley.motion, motion) <= _ARRIVED), None)


class _StartSearch:
    """The starts of a solve: on a coarse grid, as many as it takes, and the best ends on the first grid."""

    def __init__(
        self, nlp: NLP | PhasesNLP, solution: Solution | PhasesSolution, run: Run, guess: MotionGuess,
        count: int, *, quick: bool,
    ):  # fmt: skip
        self._nlp, self._solution, self._run, self._guess, self._count = nlp, solution, run, guess, count
        self._quick = quick
        self._coarse = on_curves(nlp, {name: curve.coarser(_INTERVALS) for name, curve in nlp.curves.items()})
        self._durations = [phase.duration for phase in solution.phases.values()]
        self._valleys: list[_StartValley] = []
        self._failed: list[int] = []
        self._cut_short: Status | None = None
        if solution.outcome.status is Status.SOLVED:
            self._valleys.append(_StartValley(signature(solution.nlp, solution.x), [0], solution=solution))
        else:
            self._failed.append(0)

    def screen(self) -> None:
        """All starts but the guess on the coarse grid, until Ctrl-C, or until there is no time left."""
        limit, iterations = self._count, 0
        affordable = _affordable(self._nlp, self._solution) if self._quick else np.inf
        ends: list[ScreeningResult] = []
        with Progress(limit - 1, "starts", self._shown()) as bar:
            for batch in [[StartJob(k) for k in range(1, limit)]] if self._quick else batches(limit, ends):
                for job in batch:
                    if not self._cut_short and iterations < affordable and not self._agree():
                        iterations += self._solve(job)
                        bar.step()
                ends[:] = [valley.end for valley in self._valleys if valley.end is not None]

    def _shown(self) -> bool:
        """Whether a bar counts the starts: where it is asked for, or where there are many and a terminal."""
        progress = self._run.progress
        return progress is True or (progress is None and not self._quick and sys.stderr.isatty())

    def _agree(self) -> bool:
        """Whether of few starts enough have led to one optimum, that of the guess or another, and none to a third."""
        ends = [valley for valley in self._valleys if valley.starts != [0]]
        return self._quick and len(ends) == 1 and len(ends[0].starts) > _AGREE

    def _solve(self, job: StartJob) -> int:
        """A start on the coarse grid, to its end or until it is near a known optimum; its iterations."""
        iterations = 0

        def watch(now: Iteration) -> None:
            nonlocal iterations
            iterations = now.number
            if job.number:
                self._watch(now, self._valleys)

        solver = self._run.solver.limited(iterations=_ITERATIONS)
        run = replace(self._run, solver=solver, progress=watch, always=False)
        try:
            end, _ = run(self._coarse, Start(self._start(job)), time.perf_counter())
        except _Arrived as arrival:
            arrival.valley.starts.append(job.number)
        except InputError:  # a function is not finite there, or a chain cannot be closed
            self._failed.append(job.number)
        else:
            self._keep(job.number, end)
        return iterations

    def _watch(self, now: Iteration, valleys: Sequence[_StartValley]) -> None:
        """Stop a solve that is near the optimum of one of some valleys."""
        if now.infeasibility <= _FEASIBLE and (valley := _known(valleys, signature(now.nlp, now.x))) is not None:
            raise _Arrived(valley)

    def _start(self, job: StartJob) -> np.ndarray:
        """Where a start begins: the straight line if that is not the guess, a random motion, or one near another."""
        if (job.number < 2 and self._guess is not None) or not job.number:
            return start_from(self._coarse, None if job.number else self._solution, self._run.parameters).x
        rng = np.random.default_rng([_SEED, job.number])
        if job.near is not None:
            return near_start(self._coarse, job.near, rng)
        if job.number < _FEW:
            return promising_start(self._coarse, self._durations, self._run.parameters, rng)
        return random_start(self._coarse, self._durations, rng)

    def _keep(self, number: int, solution: Solution | PhasesSolution) -> None:
        """The end of a start on the coarse grid."""
        if solution.outcome.status in CUT_SHORT:
            self._cut_short = solution.outcome.status
        if solution.outcome.status is not Status.SOLVED:
            self._failed.append(number)
            return
        end = ScreeningResult.of(number, solution)
        if (valley := _known(self._valleys, end.motion)) is None:
            self._valleys.append(_StartValley(end.motion, [number], end))
        else:
            valley.end = valley.end or end
            valley.starts += [number] * (number not in valley.starts)

    def best(self) -> tuple[Any, MotionGuess]:
        """The cheapest motion on the first grid, with the record of all starts, and from where it is found."""
        for valley in self._hopeful():
            if not self._cut_short:
                self._solve_on_first_grid(valley)
        chosen = self._chosen()
        if chosen is None or chosen.solution is None:
            best, guess = self._solution, self._guess
        else:
            best, guess = chosen.solution, self._guess if 0 in chosen.starts else chosen.solution
            others = sorted((valley for valley in self._valleys if valley is not chosen), key=lambda v: v.cost)
            best = replace(best, starts=Starts(tuple(v.record for v in (chosen, *others)), tuple(self._failed)))
        return cut_short(best, self._cut_short) if self._cut_short else best, guess

    def _hopeful(self) -> list[_StartValley]:
        """The best valleys of the coarse grid that may be cheaper than that of the guess on the first one."""
        limit = np.inf
        if self._quick and self._solution.outcome.status is Status.SOLVED:
            limit = self._solution.cost + _HOPEFUL * self._solution.cost_scale
        others = [v for v in self._valleys if v.solution is None and v.cost <= limit]
        return sorted(others, key=lambda v: v.cost)[: _TRIED if self._quick else max(_TRIED, self._count // 4)]

    def _solve_on_first_grid(self, valley: _StartValley) -> None:
        """The optimum near that of a valley; where it is that of another, the two are one."""
        assert valley.end is not None
        assert valley.end.outcome is not None
        coarse = solution_of(self._coarse, valley.end.outcome, self._run.parameters)
        solved, progress = [other for other in self._valleys if other.solution is not None], self._run.progress

        def watch(now: Iteration) -> None:
            if callable(progress):
                progress(now)
            self._watch(now, solved)

        run = replace(self._run, progress=watch) if self._quick else self._run
        try:
            solution, _ = run(self._nlp, coarse, time.perf_counter())
        except _Arrived as arrival:
            self._merge(valley, arrival.valley)
            return
        if solution.outcome.status in CUT_SHORT:
            self._cut_short = solution.outcome.status
        if solution.outcome.status is not Status.SOLVED:
            return
        end = ScreeningResult.of(valley.starts[0], solution)
        for other in self._valleys:
            if other.solution is not None and alike(ScreeningResult.of(other.starts[0], other.solution), end):
                self._merge(valley, other)
                return
        valley.solution = solution

    def _merge(self, valley: _StartValley, other: _StartValley) -> None:
        """One valley is another."""
        other.starts.extend(valley.starts)
        self._valleys.remove(valley)

    def _chosen(self) -> _StartValley | None:
        """The valley of the cheapest motion; that of the guess unless another is cheaper by what counts."""
        solved = [valley for valley in self._valleys if valley.solution is not None]
        if not solved:
            return None
        best = min(solved, key=lambda valley: valley.cost)
        usual = next((valley for valley in solved if 0 in valley.starts), best)
        gain = _CLEARLY if self._guess is not None or self._quick else SAME_COST
        return best if usual.cost - best.cost > gain * self._solution.cost_scale else usual
