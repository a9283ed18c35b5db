"""What workers do for `multistart`: random starts solved on a coarse grid, good ones on the grid that is asked for.

Neither builds a program twice: a worker keeps it from one item to the next.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from colloc.curves import Transcription
from colloc.kernels import Compile
from colloc.problem import Problem, Sequence
from colloc.refinement.rounds import Run, refined
from colloc.solution import SequenceSolution, Solution, solution_of
from colloc.solver import Outcome, Solver, Start, Status
from colloc.support.checks import InputError
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable
from colloc.sweeps.random_motions import near_start, random_start, usual_guesses
from colloc.transcription import NLP, SequenceNLP, Trajectory, program_of

_FEW = 12  # intervals that are few enough for screening
_SAMPLES = 17  # of every phase, by which motions are compared
_ITERATIONS = 300  # of a coarse solve, at most
_SEARCHES = 2  # of a start: motions from which an optimum is sought, the better one of which counts

Curves = Transcription | Mapping[str, Transcription]


class Item(NamedTuple):
    """A start: its number, and the end of an earlier one near which it lies, where it does."""

    number: int
    near: np.ndarray | None = None


class Coarse(NamedTuple):
    """Where a start has led on the coarse grid.

    Parameters
    ----------
    number : int
    cost, size : float
        The cost, and what its changes are relative to.
    outcome : Outcome or None
    motion : ndarray
        What motions are compared by: the duration of every phase, and samples of all joints over their range.
    reason : str
        Why there is no optimum; empty where there is one.
    seconds : float
    """

    number: int
    cost: float
    size: float
    outcome: Outcome | None
    motion: np.ndarray
    reason: str
    seconds: float


@dataclass(frozen=True, eq=False)
class Screening(Portable):
    """A start as the worker takes it: the problem on a coarse grid, inequalities at its nodes.

    Parameters
    ----------
    problem : Problem or Sequence
    curve : Transcription, or mapping of phase to Transcription
        The coarse one.
    parameters : ndarray
    seed : int
    solver : Solver
    compile : bool, Compile or None
    guess : optional
        As in `solve`: start 0.
    """

    problem: Problem | Sequence
    curve: Curves
    parameters: np.ndarray
    seed: int
    solver: Solver
    compile: bool | Compile | None
    guess: Any = None

    @cached_property
    def nlp(self) -> NLP | SequenceNLP:
        """The program on the coarse grid."""
        return program_of(self.problem, self.curve, compile=self.compile)

    @cached_property
    def lines(self) -> list[Trajectory]:
        """The usual guesses, which are costlier to time than to vary."""
        return usual_guesses(self.nlp)

    def __call__(self, item: Item) -> Coarse:
        """The better optimum of some searches. Start 0 is the guess itself; of others seed and number decide."""
        begin, rng = time.perf_counter(), np.random.default_rng([self.seed, item.number])
        reason, best = self._search(item, rng)
        for _ in range(_SEARCHES - 1 if item.number else 0):
            if reason == Status.INTERRUPTED:
                break
            another, end = self._search(item, rng)
            if another == Status.INTERRUPTED or _better(another, end, reason, best):
                reason, best = another, end
        seconds = time.perf_counter() - begin
        if best is None or reason:
            return Coarse(item.number, np.inf, 1.0, None, np.zeros(0), reason, seconds)
        return Coarse(item.number, best.cost, best.cost_scale, best.outcome, signature(best), "", seconds)

    def _search(self, item: Item, rng: np.random.Generator) -> tuple[str, Solution | SequenceSolution | None]:
        """Why there is no optimum, empty where there is one, and where a local search has ended."""
        nlp = self.nlp
        run = Run(self.parameters, self.solver.limited(iterations=_ITERATIONS), False, 1e-2, False)
        try:
            if item.number == 0:
                guess = self.guess
            else:
                x = random_start(nlp, self.lines, rng) if item.near is None else near_start(nlp, item.near, rng)
                guess = Start(x)
            found, _ = run(nlp, guess, time.perf_counter())
        except InputError as error:
            return str(error), None
        status = found.outcome.status
        return "" if status is Status.SOLVED else str(status), found

    def solution(self, found: Coarse) -> Solution | SequenceSolution:
        """What a start has led to, as a solution on the coarse grid."""
        assert found.outcome is not None
        return solution_of(self.nlp, found.outcome, self.parameters)


@dataclass(frozen=True, eq=False)
class Refining(Portable):
    """The same on the grid that is asked for, from an optimum on the coarse one; or from the first guess, None.

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
    def nlp(self) -> NLP | SequenceNLP:
        """The program on the first grid that is asked for."""
        return program_of(self.coarse.problem, self.curve, compile=self.coarse.compile)

    def __call__(self, found: Coarse | None) -> Solution | SequenceSolution | str:
        """The optimum; without its problem, which the asker has. Where there is none, the reason."""
        own, begin = self.coarse, time.perf_counter()
        tolerance = 1e-2 if self.tol is None else self.tol
        run = Run(own.parameters, own.solver, False, tolerance)
        guess: Any = own.guess if found is None else own.solution(found)
        try:
            solution, _ = run(self.nlp, guess, begin)
        except InputError as error:
            return str(error)
        return solution if self.tol is None else refined(solution, run, guess)


def _better(reason: str, end: Any, other: str, than: Any) -> bool:
    """Whether one end, with its reason for being none, is better than another."""
    return not reason and (bool(other) or end.cost < than.cost)


def coarser(curve: Curves) -> Curves:
    """A curve of its kind with few intervals, for screening."""
    if isinstance(curve, Mapping):
        return {name: _coarser(own) for name, own in curve.items()}
    return _coarser(curve)


def _coarser(curve: Transcription) -> Transcription:
    intervals = curve.basis.intervals
    if intervals > _FEW:
        return curve.coarser(max(_FEW - 2, intervals // 3))
    return curve.with_breakpoints(curve.basis.breakpoints) if curve.free else curve


def signature(solution: Solution | SequenceSolution) -> np.ndarray:
    """Durations of the phases, and positions over the ranges of the joints at equal fractions of the duration."""
    parts = []
    for own in solution.phases.values():
        reach = own.problem.limits("q")
        T = own.duration
        q = np.zeros((0, 0))
        if T > 0 and np.isfinite(own.x).all():
            q = own.evaluate(lambda now: now.q, np.linspace(0, T, _SAMPLES))
        width = reach[1] - reach[0]
        scale = np.where(np.isfinite(width) & (width > 0), width, np.pi)
        parts += [[np.log(max(T, 1e-12))], (q / scale).ravel() if q.size else []]
    return np.concatenate([np.asarray(part, dtype=float) for part in parts])
