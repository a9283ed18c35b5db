"""Search for a motion that meets all constraints after a failed solve, and evidence that there is none.

A solver that ends "infeasible" has found a point from which no small step violates less, on one grid. Here the least
violation is sought from other starts and on finer grids. If it vanishes, the program is solved from there. If it is the
same positive number from all starts, and about the same on a finer grid, the problem counts as infeasible.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from colloc.blocks.slices import triplet
from colloc.curves.curve import is_ours
from colloc.refinement.random_motions import default_durations, random_start
from colloc.refinement.run import CUT_SHORT, Run, cut_short
from colloc.refinement.simulated_start import simulated_start
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.solution.warm_start import MotionGuess, start_from
from colloc.solver import Start, Status
from colloc.solver.diagnosis import violated_rows
from colloc.solver.least_violation import LeastViolation, least_violation
from colloc.support.checks import InputError
from colloc.transcription import NLP, FreeKnotsGrid, PhasesNLP, on_curves
from colloc.transcription.derived_nlp import BoundedNLP

Program = NLP | PhasesNLP
Answer = Solution | PhasesSolution

_SOUGHT = (Status.NOT_FOUND, Status.FAILED, Status.DIVERGED, Status.ITERATION_LIMIT)
_NONE = 1e-4  # of natural sizes, root mean square: smaller violations are rounding of the solver
_SAME = 0.02  # of a least violation: tolerance of equal ones from two starts
_KEPT = 0.85  # of a least violation: fraction that remains on a halved grid if it is not due to the grid
_ITERATIONS = 500  # iterations of the program from a start
_WORK, _LEAST_WORK = 8.0, 1_000_000  # iterations times unknowns: relative to the first run, and at least
_MANY = 1000  # iterations: a smaller limit was set by the user
_ROUNDING = 1e-9  # of a slope
_HALVINGS = 2  # times that all intervals are halved
_SEED = 7
_RANDOM = 3  # random motions on a grid
_SIMULATED, _RANDOMLY = "a simulated motion", "a random motion"
_ANYWHERE = "anywhere"  # for linear rows, whose least violation does not depend on the start


class Trial(NamedTuple):
    """A search for the least violation: grid, number of halvings, start and result."""

    level: int
    start: str
    intervals: int
    end: LeastViolation


class _CutShort(Exception):
    """Raised at the time limit or by Ctrl-C."""

    def __init__(self, status: Status):
        super().__init__()
        self.status = status


def feasible_motion(nlp: Program, failed: Answer, run: Run, guess: MotionGuess, *, finer: bool) -> Answer:
    """The optimum from another start or on a finer grid, otherwise the failed solution with an account of the search.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
        The program that was solved.
    failed : Solution or PhasesSolution
        The failed solution, of any status.
    run : Run
    guess : optional
        As in `solve`.
    finer : bool
        Whether the answer may be on a finer grid than requested.
    """
    status, few = failed.outcome.status, failed.iterations < _MANY
    if status not in _SOUGHT or (status is Status.ITERATION_LIMIT and few):
        return failed
    if not violated_rows(nlp, failed.x, run.parameters, 1):
        return failed
    if any(isinstance(phase.grid, FreeKnotsGrid) for phase in nlp.phases.values()):
        return failed
    search = _FeasibilitySearch(nlp, failed, run, guess)
    try:
        feasible = search.optimum()
        if feasible is not None and not finer and feasible.nlp is not nlp:
            again = search.solved(nlp, feasible, "a motion on a finer grid")
            if again is None:
                return search.unsolved(f"a feasible motion exists on {_intervals(feasible.nlp)} intervals")
            return again
    except _CutShort as cut:
        return cut_short(failed, cut.status)
    return search.unsolved() if feasible is None else feasible


@dataclass
class _FeasibilitySearch:
    """Searches for the least violation, one after another."""

    nlp: Program
    failed: Answer
    run: Run
    guess: MotionGuess
    trials: list[Trial] = field(default_factory=list)
    linear: list[float] = field(default_factory=list)  # least violations of the linear rows, grid by grid
    work: int = 0  # work of solved programs: iterations times unknowns

    def optimum(self) -> Answer | None:
        """The first optimum that a start reaches; None if all end at a violation, or the work limit is reached."""
        for level, nlp in enumerate(self._grids()):
            if self._contradicts_itself(nlp, level):
                return None
            for start, x in self._starts(nlp, level):
                if self._exhausted():
                    return None
                seconds = max(self.run.deadline - time.perf_counter(), 1e-3)
                try:
                    end = least_violation(nlp, x, self.run.parameters, seconds)
                except KeyboardInterrupt:
                    raise _CutShort(Status.INTERRUPTED) from None
                self.trials.append(Trial(level, start, _intervals(nlp), end))
                # A simulated motion satisfies the equations of motion, which a least violation may not.
                first = next(trial.end.left for trial in self.trials if trial.level == level)
                elsewhere = start == _SIMULATED and abs(end.left - first) > _SAME * first
                point = end.x if end.left <= _NONE else x if elsewhere else None
                if point is not None and (found := self.solved(nlp, Start(point), start)) is not None:
                    return found
            if self._proves():
                break
        return None

    def _grids(self) -> Iterator[Program]:
        """The grid, then repeatedly with every interval halved."""
        nlp = self.nlp
        yield nlp
        for _ in range(_HALVINGS if all(is_ours(type(curve)) for curve in nlp.curves.values()) else 0):
            curves = {}
            for name, curve in nlp.curves.items():
                nowhere = np.zeros(curve.basis.intervals, dtype=bool)
                curves[name] = curve.finer(np.full(nowhere.size, 2), nowhere, nowhere)
            nlp = on_curves(nlp, curves)
            yield nlp

    def _contradicts_itself(self, nlp: Program, level: int) -> bool:
        """Whether rows that are linear in the motion leave a violation on this grid and the one before, a global
        minimum.
        """
        if level > 1 or any(nlp.free[phase.grid.layout.duration].any() for phase in nlp.motions):
            return False
        x, p = start_from(nlp, self.guess, self.run.parameters).x, self.run.parameters
        end = least_violation(_linear_rows(nlp, x, p), x, p, max(self.run.deadline - time.perf_counter(), 1e-3))
        certain = end.status is Status.SOLVED and end.left > _NONE
        self.linear.append(end.left if certain else np.nan)
        if level and _KEPT <= self.linear[1] / self.linear[0] <= 1 / _KEPT:
            self.trials = [Trial(level, _ANYWHERE, _intervals(nlp), end)]
            return True
        return False

    def _starts(self, nlp: Program, level: int) -> Iterator[tuple[str, np.ndarray]]:
        """Starts of searches on a grid, with names."""
        p = self.run.parameters
        guess = start_from(nlp, self.guess, p).x
        yield "the straight line" if self.guess is None else "the guess", guess
        if not level:
            return
        simulated = simulated_start(nlp, guess, p)
        if simulated is not None:
            yield _SIMULATED, simulated
        for number in range(_RANDOM):
            yield _RANDOMLY, self._random(nlp, guess, np.random.default_rng([_SEED, number]))

    def _random(self, nlp: Program, guess: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A random motion; the guess with noise if there are no joints, or a chain cannot be closed."""
        if any(phase.problem.model.n for phase in nlp.motions):
            with suppress(InputError):
                return random_start(nlp, default_durations(nlp), rng)
        noise = rng.uniform(-1, 1, nlp.n_x) * nlp.scale_x
        return np.clip(np.where(nlp.free, guess + noise, guess), nlp.lower, nlp.upper)

    def _exhausted(self) -> bool:
        """Whether the time or the work limit is reached."""
        if time.perf_counter() > self.run.deadline:
            return True
        sought = sum(trial.end.iterations * 2 * trial.end.x.size for trial in self.trials)
        return sought + self.work > max(_WORK * self.failed.iterations * self.failed.nlp.n_x, _LEAST_WORK)

    def solved(self, nlp: Program, guess: MotionGuess | Start, start: str) -> Answer | None:
        """The optimum from a motion; None if the solver fails."""
        solver = self.run.solver.limited(iterations=_ITERATIONS)
        solution, _ = replace(self.run, solver=solver)(nlp, guess, time.perf_counter())
        outcome, self.work = solution.outcome, self.work + solution.iterations * nlp.n_x
        if outcome.status in CUT_SHORT:
            raise _CutShort(outcome.status)
        if outcome.status is not Status.SOLVED:
            return None
        how = f"{outcome.strategy}, started at the least violation from {start} on {_intervals(nlp)} intervals"
        return replace(solution, outcome=replace(outcome, strategy=how))

    def _proves(self) -> bool:
        """Whether all searches on the finest grid end at one violation, that of the previous grid. Different violations
        only show that there are several minima.
        """
        if self.trials[-1].start == _ANYWHERE:
            return True
        level = self.trials[-1].level
        last, before = ([trial.end for trial in self.trials if trial.level == k] for k in (level, level - 1))
        if not before or len(last) <= _RANDOM or any(end.status is not Status.SOLVED for end in last):
            return False
        least, most, coarser = min(end.left for end in last), max(end.left for end in last), before[0].left
        return least > _NONE and most <= (1 + _SAME) * least and _KEPT <= least / coarser <= 1 / _KEPT

    def unsolved(self, found: str = "") -> Answer:
        """The failed motion with the status that the searches justify, and an account of them."""
        outcome = self.failed.outcome
        if not self.trials:
            return self.failed
        proved = not found and self._proves()
        best = min((trial.end for trial in self.trials), key=lambda end: end.left)
        starts = ", ".join(dict.fromkeys(trial.start for trial in self.trials))
        grids = ", ".join(dict.fromkeys(str(trial.intervals) for trial in self.trials))
        what = f"least violation sought from {starts}"
        if starts == _ANYWHERE:
            what = "rows linear in the motion contradict each other"
        tried = f"{what} on {grids} intervals: {best.left:.2g} of natural sizes left"
        status = Status.INFEASIBLE if proved else outcome.status
        message = f"{outcome.message}, {tried}, most at {best.row}{'; ' * bool(found)}{found}"
        return replace(self.failed, outcome=replace(outcome, status=status, message=message))


def _linear_rows(nlp: Program, x: np.ndarray, p: np.ndarray) -> BoundedNLP:
    """The program with only the rows that are linear in the variables, with fixed durations."""
    rng, bent = np.random.default_rng(_SEED), np.zeros(nlp.n_g)
    here, there = (nlp.jac_g(x + nlp.free * nlp.scale_x * rng.uniform(-1, 1, x.size), p)[1] for _ in range(2))
    rows, _ = triplet(here.sparsity())
    slopes, others = (np.array(jacobian.nonzeros()) for jacobian in (here, there))
    same = np.abs(slopes - others) <= _ROUNDING * (np.abs(slopes) + np.abs(others))  # False for NaN
    np.maximum.at(bent, rows, ~same)
    low, high = (np.where(bent, sign * np.inf, bounds) for sign, bounds in zip((-1, 1), nlp.bounds_g, strict=True))
    return BoundedNLP(nlp, np.append(low, nlp.lower), np.append(high, nlp.upper))


def _intervals(nlp: Program) -> int:
    """Total number of intervals of all phases."""
    return sum(phase.grid.basis.intervals for phase in nlp.motions)
