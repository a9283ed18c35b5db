"""Pareto fronts: the best trades between two or three costs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from colloc.problem import Cost, Phases, Problem
from colloc.problem.cost import NOTHING
from colloc.problem.goals import ROWS, SLIGHT, ByPhase, at_goals, goal_names, labelled, minimizing, weighted_sum
from colloc.refinement import SolutionWarning, solve
from colloc.refinement.starts import Curves
from colloc.solution import PhasesSolution, Solution
from colloc.solver import Solver
from colloc.solver.scaling import scale_at
from colloc.support.checks import InputError, as_tuple, count, instance, shortened, spelt, unknown_name
from colloc.support.display import Table, Tabular, short
from colloc.support.threads import tracked
from colloc.sweeps.sweep import sweep
from colloc.sweeps.table import Sweep
from colloc.transcription import DeferredNLP

_MOST = 3  # costs
_FLAT = 1e-3  # of a cost: with a smaller range there is no trade


@dataclass(frozen=True, eq=False, repr=False)
class Front(Tabular):
    """Motions none of which is better in one cost without being worse in another; see `pareto_front`.

    Parameters
    ----------
    names : tuple of str
        Names of the costs.
    values : ndarray, shape (n, k)
        Costs of the points, those that minimise one cost first and last; NaN without a solution.
    weights : ndarray, shape (n, k)
        Weights with whose sum of costs a point is stationary; their ratio is the rate at which costs are traded there.
        They add up to one when each is multiplied by the range of its cost.
    solutions : tuple of Solution, PhasesSolution or None
    reasons : tuple of str
        Reasons of failures; empty for points with a solution.

    Examples
    --------
    >>> from dataclasses import replace
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau), name="effort")
    >>> smooth = co.integral(lambda now: ca.sumsqr(now.qdd), name="accelerations")
    >>> front = co.sweeps.pareto_front(replace(problem, duration=0.8), [effort, smooth], co.Radau(8), points=4)
    >>> front["effort"].shape, front.names
    ((4,), ('effort', 'accelerations'))
    >>> bool((np.diff(front["effort"]) > 0).all() and (np.diff(front["accelerations"]) < 0).all())
    True
    """

    names: tuple[str, ...]
    values: np.ndarray
    weights: np.ndarray
    solutions: tuple[Solution | PhasesSolution | None, ...]
    reasons: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.names:
            raise unknown_name("cost", name, self.names)
        return self.values[:, self.names.index(name)]

    @property
    def failed(self) -> np.ndarray:
        """Numbers of the points without a solution."""
        return np.flatnonzero([reason != "" for reason in self.reasons])

    @property
    def dominated(self) -> np.ndarray:
        """Numbers of points to which another is better in all costs: local optima, to be solved from other guesses."""
        size = np.nanmax(np.abs(self.values), axis=0)
        worse = [
            any((other < point - _FLAT * size).all() for other in self.values if np.isfinite(other).all())
            for point in self.values
        ]
        return np.flatnonzero(worse)

    def solution(self, point: int) -> Any:
        """The Solution or PhasesSolution of a point; InputError with the reason if it failed."""
        solution = self.solutions[count("point", point, at_least=0, at_most=len(self) - 1)]
        if solution is None:
            raise InputError(f"point {point} has no solution: {self.reasons[point]}")
        return solution

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """Unknown constants of the problem along the front, each shape (n, size)."""
        made = next(solution for solution in self.solutions if solution is not None).problem
        named = {unknown.name: unknown.size for phase in made.phases.values() for unknown in phase.constants}
        found = [{} if solution is None else _constants(solution) for solution in self.solutions]
        return {
            name: np.array([values.get(name, np.full(size, np.nan)) for values in found])
            for name, size in named.items()
        }

    def _table(self) -> Table:
        constants = {name: values[:, 0] for name, values in self.constants.items() if values.shape[1] == 1}
        header = [*self.names, *(f"weight of {name}" for name in self.names), *constants, "reason"]
        columns = np.column_stack([self.values, self.weights, *constants.values()])
        rows = [[*map(short, row), reason] for row, reason in zip(columns.tolist(), self.reasons, strict=True)]
        notes = [f"{len(self)} points, {self.failed.size} of them without a solution"]
        if self.dominated.size:
            listed = shortened([str(point) for point in self.dominated])
            notes.append(f"local optima, to which others are better in all costs: points {listed}")
        return Table(f"Front of {', '.join(self.names)}", header, rows, notes)


def _constants(solution: Solution | PhasesSolution) -> dict[str, np.ndarray]:
    return {name: value for phase in solution.phases.values() for name, value in phase.constants.items()}


@spelt
@tracked
def pareto_front(
    problem: Problem | Phases,
    costs: Sequence[Any] | Mapping[str, Any],
    curve: Curves | None = None,
    *,
    points: int = 10,
    guess: Any = None,
    folder: str | os.PathLike[str] | None = None,
    executor: Executor | int | None = None,
    tol: float | None = None,
    solver: Solver | None = None,
    progress: bool | None = None,
) -> Front:
    """Pareto front of two or three costs: motions that trade one for another.

    First each cost is minimised alone, with a ten-thousandth of the others. Between these motions, points are spread
    evenly in units of the ranges of the costs: each has goals on the straight line, or triangle, between the ends, and
    the largest excess over them is minimised, which may be negative. Unlike weighted sums this also finds the parts of
    a front that are not convex. Each point starts from a neighbour.

    Parameters
    ----------
    problem : Problem, Phases or Cases
        Its `minimize` is not used.
    costs : sequence, or mapping of str
        Two or three, with names in a mapping. Each is a Cost; of phases and cases it is the sum over all of them, or a
        mapping of their names to costs.
    curve : optional
        As in `solve`.
    points : int
        Number of points, with the ends; of three costs at least this number, as many as fill a triangle.
    guess : optional
        Start of the first end, as in `solve`.
    folder, executor :
        Of the points between the ends, as in `sweep`.
    tol, solver, progress :
        As in `solve`. With `tol`, all points are solved on the finest grid of an end, so that they can be compared.

    Returns
    -------
    Front

    Raises
    ------
    InputError
        For other numbers of costs, costs that do not conflict, or cases with `worst`.
    SolveError
        If a cost cannot be minimised alone.

    See Also
    --------
    sweep : Solves for many values of parameters.
    colloc.plot.front : A figure.

    Examples
    --------
    >>> from dataclasses import replace
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> hand = co.integral(lambda now: ca.sumsqr(now.point("elbow").acceleration))
    >>> slow = replace(problem, duration=0.8)
    >>> table = co.sweeps.pareto_front(slow, {"effort": effort, "hand": hand}, co.Radau(8), points=3)
    >>> bool(table["effort"][0] < table["effort"][1] < table["effort"][2])
    True
    """
    instance("problem", problem, Problem | Phases)
    if isinstance(problem, Phases) and problem.worst:
        raise InputError(f"cases of a front must have worst=0, got {problem.worst:g}: each of its costs is a sum")
    count("points", points, at_least=3)
    names, given = _named(problem, costs)
    parts = labelled(given)
    how: dict[str, Any] = {"tol": tol, "solver": solver, "progress": progress}
    ends = _ends(problem, parts, curve, guess, how)
    if tol is not None:
        curve = _finest([solution for solution, _ in ends])
    values = np.array([_values(solution, scales) for solution, scales in ends])
    least, ranges = values.min(axis=0), np.ptp(values, axis=0)
    flat = ranges <= _FLAT * np.abs(values).max(axis=0)
    if flat.any():
        listed = ", ".join(name for name, small in zip(names, flat.tolist(), strict=True) if small)
        raise InputError(f"costs must conflict, but {listed} is nearly the same at all ends of the front")
    between = _between(len(parts), points)
    goals = between @ ((values - least) / ranges)
    made = at_goals(problem, parts, least.tolist(), ranges.tolist())
    cases = [dict(zip(goal_names(len(parts)), row, strict=True)) for row in goals.tolist()]
    table = sweep(made, cases, curve, guess=ends[0][0], folder=folder, executor=executor, **how)
    return _assembled(names, ends, ranges, table)


def _finest(solutions: Sequence[Solution | PhasesSolution]) -> Any:
    """The curve, or curves, of the solution with the most variables."""
    finest = max(solutions, key=lambda solution: solution.x.size)
    curves = {name: phase.curve for name, phase in finest.phases.items()}
    return curves[""] if isinstance(finest, Solution) else curves


def _named(problem: Problem | Phases, costs: Any) -> tuple[tuple[str, ...], list[ByPhase]]:
    named = dict(costs) if isinstance(costs, Mapping) else {}
    each = [_by_phase(problem, cost) for cost in (named.values() or as_tuple("costs", costs))]
    if not 2 <= len(each) <= _MOST:
        raise InputError(f"costs of a front must be two or three, got {len(each)}")
    names = tuple(named) or tuple(
        " + ".join(dict.fromkeys(term.name for cost in by_phase.values() for term in cost.terms)) for by_phase in each
    )
    if len(set(names)) < len(names):
        raise InputError(f'costs must have different names, as in {{"effort": cost}}, got {shortened(names)}')
    return names, each


def _by_phase(problem: Problem | Phases, cost: Any) -> ByPhase:
    """A cost of every phase; those that a mapping does not name have none."""
    if isinstance(problem, Problem) or not isinstance(cost, Mapping):
        instance("cost", cost, Cost, "see co.integral")
        return {name: cost for name in problem.phases}
    for name, part in cost.items():
        if name not in problem.phases:
            raise unknown_name(problem.noun, name, problem.phases)
        instance(f"cost of {problem.noun} {name!r}", part, Cost, "see co.integral")
    return {name: cost.get(name, NOTHING) for name in problem.phases}


End = tuple[Any, list[float]]


def _ends(
    problem: Problem | Phases, costs: Sequence[ByPhase], curve: Any, guess: Any, how: Mapping[str, Any]
) -> list[End]:
    """The optimum of every cost with a little of the others, and the factors of the costs in that sum."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolutionWarning)  # the ends are judged, not this motion
        first: Any = solve(minimizing(problem, costs[0]), curve, guess=guess, **how)
    recipes = DeferredNLP.of(first.nlp).recipes
    each = [DeferredNLP(minimizing(problem, cost), recipes).built for cost in costs]
    sizes = np.array([scale_at(nlp, first.x, first.parameters).cost for nlp in each])
    ends: list[End] = []
    for k in range(len(costs)):
        scales = (np.where(np.arange(len(costs)) == k, 1.0, SLIGHT) / sizes).tolist()
        total = minimizing(problem, weighted_sum(costs, scales))
        end = solve(total, curve, guess=ends[0][0] if ends else first, **how)
        ends.append((end, scales))
    return ends


def _values(solution: Solution | PhasesSolution, scales: Sequence[float]) -> np.ndarray:
    """The costs, whose terms have names that begin with their numbers."""
    terms = [item for phase in solution.phases.values() for item in phase.terms.items()]
    sums = [sum(value for name, value in terms if name.startswith(f"{k}.")) for k in range(1, len(scales) + 1)]
    return np.array(sums) / np.array(scales)


def _between(number: int, points: int) -> np.ndarray:
    """Barycentric coordinates of evenly spread points on a line or triangle, without its corners, shape (n, k)."""
    steps = points - 1
    if number == _MOST:
        steps = next(steps for steps in range(2, points + 1) if (steps + 1) * (steps + 2) // 2 >= points)
    grid = np.array([row for row in product(range(steps + 1), repeat=number) if sum(row) == steps])
    inner = grid[grid.max(axis=1) < steps]
    return inner[np.lexsort(-inner.T[::-1])] / steps  # from the first end on


def _assembled(names: tuple[str, ...], ends: Sequence[End], ranges: np.ndarray, table: Sweep) -> Front:
    """The points of the ends and of a sweep over goals, from the first cost's minimum on."""
    rows = []
    for solution, scales in ends:
        weights = np.array(scales) * ranges
        rows.append((_values(solution, scales), weights / weights.sum() / ranges, solution, ""))
    middle = []
    for k in range(len(table)):
        reason = str(table["reason"][k])
        if reason:
            middle.append((np.full(ranges.size, np.nan), np.full(ranges.size, np.nan), None, reason))
            continue
        solution: Any = table.solution(k)
        weights = np.maximum(_multipliers(solution), 0.0) + SLIGHT
        middle.append((_values(solution, (SLIGHT / ranges).tolist()), weights / weights.sum() / ranges, solution, ""))
    ordered = [rows[0], *middle, rows[1]] if len(ends) == 2 else [*rows, *middle]
    values, weights, solutions, reasons = zip(*ordered, strict=True)
    return Front(names, np.array(values), np.array(weights), solutions, reasons)


def _multipliers(solution: Solution | PhasesSolution) -> np.ndarray:
    """Multipliers of the rows of the goals."""
    nlp = solution.nlp
    k = next(k for k, block in enumerate(nlp.constraints) if block.name == ROWS)
    return solution.multipliers["g"][nlp.offsets[k] : nlp.offsets[k + 1]]
