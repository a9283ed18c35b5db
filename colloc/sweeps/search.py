"""The best of the optima that random starts lead to."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from colloc.kernels import Compile
from colloc.problem import Problem, Sequence
from colloc.refinement.failure import SolveError
from colloc.solution import SequenceSolution, Solution
from colloc.solver import Solver, Status, chosen_solver
from colloc.support.checks import count, flag, instance, relative_tolerance, spelt
from colloc.support.interrupts import InterruptGuard
from colloc.support.progress import Progress, silent_if_told
from colloc.support.threads import tracked
from colloc.sweeps.executors import check_executor, results, working
from colloc.sweeps.given_guess import check_guess
from colloc.sweeps.optima import Found, Optima, Optimum, alike, grouped
from colloc.sweeps.screening import Coarse, Curves, Item, Refining, Screening, coarser, signature
from colloc.sweeps.warned import say_once
from colloc.transcription import DeferredNLP, checked_curves, default_curves

_NEAR = 0.6  # share of the starts that lie near earlier ends
_ROUNDS = 3  # in which these are solved, each near the best ends so far
_PARENTS = 3  # optima near which they lie
_STOPPED = Status.INTERRUPTED
_USUAL = -1  # the first guess on the curve asked for, among numbers of starts


@spelt
@tracked
@silent_if_told
def multistart(
    problem: Problem | Sequence,
    curve: Curves | None = None,
    *,
    guess: Any = None,
    starts: int = 20,
    seed: int = 0,
    keep: int = 3,
    executor: Executor | int | None = None,
    tol: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    compile: bool | Compile | None = None,
    solver: Solver | None = None,
    ipopt: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Optima:
    """The distinct optima to which random motions lead, the best first.

    `solve` finds the optimum in whose basin its guess lies, and a better one may be elsewhere. Here the first start is
    that guess; then come motions by way of random postures within the joint ranges, in random durations; the last
    three fifths are the best ends so far with large detours of some joints. Every start but the first is two such
    motions, the better end of which counts. All are solved on a coarse grid with inequalities at its nodes; the best
    distinct ends, and the guess itself, are then solved on the curve that is asked for as `solve` does. The
    answer depends on the seed, not on the executor.

    Parameters
    ----------
    problem : Problem or Sequence
    curve : optional
        As in `solve`; by default one of its own, refined to 1e-3.
    guess : optional
        The first start, as in `solve`.
    starts : int
        Number of starts, at least 2.
    seed : int
        Of the random motions.
    keep : int
        Distinct optima of the coarse grid that are solved on the curve asked for.
    executor : int or Executor, optional
        That many processes, or any executor of concurrent.futures. By default one start after another, here; see
        `sweep`.
    tol, parameters, compile, solver, ipopt :
        As in `solve`.
    progress : bool, optional
        A bar on standard error; by default in terminals and notebooks.

    Returns
    -------
    Optima
        Also when interrupted by Ctrl-C, if any optimum has been found: those of the coarse grid, if need be. What
        `solve` would warn of is said once, and stands in the `warnings` of every optimum.

    Raises
    ------
    InputError
        For arguments that do not fit the problem.
    SolveError
        When no start has led to an optimum; lists the reasons.
    KeyboardInterrupt
        When interrupted before there is any optimum.

    See Also
    --------
    solve : From one guess.
    sweep : Many problems in place of many starts.

    Examples
    --------
    >>> found = co.multistart(problem, co.BSpline(10), starts=4)
    >>> found.best.cost <= co.solve(problem, co.BSpline(10)).cost
    True
    >>> len(found.starts), found.interrupted
    (4, False)
    """
    instance("problem", problem, Problem | Sequence)
    count("starts", starts, at_least=2)
    count("seed", seed, at_least=0)
    count("keep", keep, at_least=1)
    chosen = check_executor(executor)
    if progress is not None:
        flag("progress", progress)
    if curve is None:
        curve = default_curves(problem, guessed=guess is not None)
        tol = 1e-3 if tol is None else tol
    if tol is not None:
        relative_tolerance("tol", tol)
    with InterruptGuard():
        if guess is not None:
            check_guess(problem, guess)
        values = problem.parameter_values(parameters)
        curve = checked_curves(problem, curve)
        screening = Screening(problem, coarser(curve), values, seed, chosen_solver(solver, ipopt), compile, guess)
        refining = Refining(screening, curve, tol)
        _ = screening.nlp  # what does not fit the problem is said here, once
    with working(chosen) as pool, Progress(starts + keep + 1, "starts", progress) as bar:
        search = _Search(pool, starts)
        search.screen(screening, bar)
        search.refine(refining, keep, bar)
    with InterruptGuard():
        found = search.answer(screening)
        say_once("optimum", {k: own.warnings for k, own in enumerate(found.optima)})
        return found


class _Search:
    """What has been found so far."""

    def __init__(self, executor: Executor | None, starts: int):
        self._executor, self._count = executor, starts
        self._coarse: list[Coarse] = []
        self._fine: list[tuple[Coarse | None, Solution | SequenceSolution]] = []
        self._near: dict[int, int] = {}
        self._interrupted = False

    def screen(self, screening: Screening, bar: Progress) -> None:
        """All starts on the coarse grid: random ones, then in rounds those near the best ends so far."""
        numbers = np.arange(self._count)
        first, later = np.split(numbers, [self._count - int(_NEAR * self._count)])
        self._screen(screening, [Item(k) for k in first.tolist()], bar)
        for some in np.array_split(later, _ROUNDS):
            parents = [group[0] for group in grouped(self._coarse)[:_PARENTS]]
            self._screen(screening, [self._near_item(k, parents) for k in some.tolist()], bar)

    def _near_item(self, number: int, parents: list[Coarse]) -> Item:
        """A start near one of some ends, or a random one where there are none."""
        if not parents:
            return Item(number)
        parent = parents[number % len(parents)]
        assert parent.outcome is not None
        self._near[number] = parent.number
        return Item(number, parent.outcome.x)

    def _screen(self, screening: Screening, items: list[Item], bar: Progress) -> None:
        if self._interrupted:
            return
        try:
            for number, found in results(screening, items, self._executor):
                if isinstance(found, Exception):
                    found = Coarse(items[number].number, np.inf, 1.0, None, np.zeros(0), _reason(found), 0.0)
                self._coarse.append(found)
                bar.step(f"best {min(c.cost if not c.reason else np.inf for c in self._coarse):.6g}")
                if found.reason == _STOPPED:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            self._interrupted = True

    def refine(self, refining: Refining, keep: int, bar: Progress) -> None:
        """The best distinct ends on the curve that is asked for, and the first guess."""
        if self._interrupted:
            return
        groups = grouped(self._coarse)
        items: list[Coarse | None] = [None, *(group[0] for group in groups[:keep])]
        if len(items) <= keep:
            bar.step(count=keep + 1 - len(items))  # no more distinct ends: else the bar would stop early, in red
        try:
            for number, found in results(refining, items, self._executor):
                bar.step()
                if isinstance(found, Solution | SequenceSolution):
                    if found.outcome.status is Status.INTERRUPTED:
                        raise KeyboardInterrupt
                    if found.outcome.status is Status.SOLVED:
                        self._fine.append((items[number], found))
        except KeyboardInterrupt:
            self._interrupted = True

    def answer(self, screening: Screening) -> Optima:
        """Everything, the best first."""
        groups = grouped(self._coarse)
        of = {one.number: k for k, group in enumerate(groups) for one in group}
        if not self._fine:
            self._none_fine(screening, [group[0] for group in groups])
        optima: list[tuple[Coarse, Solution | SequenceSolution, set[int]]] = []
        for source, solution in sorted(self._fine, key=lambda pair: pair[1].cost):
            own = Coarse(0, solution.cost, solution.cost_scale, None, signature(solution), "", 0.0)
            numbers = {_USUAL} if source is None else {one.number for one in groups[of[source.number]]}
            known = next((entry for entry in optima if alike(entry[0], own)), None)
            if known is None:
                optima.append((own, solution, numbers))
            else:
                known[2].update(numbers)
        rows = [
            Found(c.number, self._near.get(c.number), c.cost if not c.reason else np.inf, of.get(c.number), c.reason,
                  c.seconds)
            for c in sorted(self._coarse, key=lambda c: c.number)
        ]  # fmt: skip
        found = [
            Optimum(_for_problem(solution, screening.problem), tuple(sorted(numbers - {_USUAL})), _USUAL in numbers)
            for _, solution, numbers in optima
        ]
        return Optima(tuple(found), tuple(rows), self._interrupted)

    def _none_fine(self, screening: Screening, coarse: list[Coarse]) -> None:
        """What there is on the coarse grid, where Ctrl-C came before anything finer; else the error."""
        if self._interrupted and coarse:
            self._fine = [(one, screening.solution(one)) for one in coarse]
            return
        if self._interrupted:
            raise KeyboardInterrupt
        reasons = [c.reason for c in self._coarse if c.reason]
        listed = "\n".join(f"  {reasons.count(reason)} starts: {reason}" for reason in dict.fromkeys(reasons))
        raise SolveError(f"none of {len(self._coarse)} starts has led to an optimum\n{listed}".rstrip(), None)


def _for_problem(solution: Solution | SequenceSolution, problem: Problem | Sequence) -> Solution | SequenceSolution:
    """A solution that has come from a worker as one of the asker's problem."""
    if solution.problem is problem:
        return solution
    return replace(solution, program=replace(DeferredNLP.of(solution.program), problem=problem))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
