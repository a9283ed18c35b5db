"""The cases of a sweep: which there are and which of them starts from which, how a worker solves and stores one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from colloc.curves.curve import stored_curve
from colloc.problem import Phases, Problem
from colloc.refinement.plan import AtSwitches, Attempt, Refine, Solve
from colloc.refinement.run import Run
from colloc.refinement.starts import Curves
from colloc.solution import PhasesSolution, Solution, solution_of
from colloc.solver import Solver, Status
from colloc.solver.solver import FOR_ONE_RUN
from colloc.storage.archive import from_bytes, to_bytes
from colloc.storage.record import curve_from, extra_nodes, outcome_from, stored_outcome
from colloc.support.checks import InputError, as_tuple, finite_array, finite_number, mapping, quoted, text
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable
from colloc.support.stopwatch import part, seconds_of_call
from colloc.sweeps.programs import first_program
from colloc.sweeps.warnings import warnings_of
from colloc.transcription import NLP, DeferredNLP, PhasesNLP

_ENDED = (Status.SOLVED, Status.COARSE, Status.VIOLATED)

Values = Mapping[str, Any]


def enumerate_cases(cases: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and values of all cases, shape (cases, names): of a grid all combinations, the last name varying fastest.

    Parameters
    ----------
    cases : mapping of str to sequence, or sequence of mappings
    """
    if isinstance(cases, Mapping):
        names = tuple(text("name in cases", name) for name in cases)
        axes = [finite_array(f"cases of {name!r}", cases[name], (None,)) for name in names]
        table = np.array(list(product(*axes)), dtype=float)
    else:
        rows = as_tuple("cases", cases)
        for row in rows:
            if not isinstance(row, Mapping) or set(row) != set(rows[0]):
                raise InputError(f"cases must be mappings of the same names to numbers, got {quoted(row)}")
        names = tuple(text("name in cases", name) for name in (rows[0] if rows else ()))
        table = np.array([[finite_number(f"{name!r} of a case", row[name]) for name in names] for row in rows])
    if not names or not table.size:
        raise InputError(
            f"cases must hold one case or more, such as {{'payload': [0.0, 1.0, 2.0]}}, got {quoted(cases)}"
        )
    return names, table


def warm_start_parents(table: np.ndarray, *, grid: bool = True) -> list[int | None]:
    """For every case the nearest before it, values over their ranges, the latest of equals; None for the first.

    In a grid that is its neighbour along the last name, and where a line begins that along the name before: lines are
    independent of each other. In a table names have no steps, and distance alone counts.
    """
    width = np.ptp(table, axis=0)
    columns = np.ascontiguousarray((table / np.where(width > 0, width, 1.0)).T)
    parents: list[int | None] = [None]
    for k in range(1, len(table)):
        apart = np.abs(columns[:, :k] - columns[:, k, None])
        distance = np.round(apart.sum(axis=0), 12)
        if grid:
            # Steps of different names are as good as each other where they are one step of a grid.
            changed = np.count_nonzero(apart, axis=0)
            distance[changed > changed.min()] = np.inf
        parents.append(k - 1 - int(np.argmin(distance[::-1])))
    return parents


def checked_record(record: Mapping[str, Any] | None, columns: Iterable[str]) -> dict[str, Any]:
    """The caller's columns; InputError for a name that is taken, or a value that cannot be called."""
    columns = tuple(columns)
    functions = {} if record is None else dict(mapping("record", record))
    for name, fn in functions.items():
        if text("name in record", name) in columns:
            raise InputError(f"record cannot have {name!r}, which is a column already: {', '.join(columns)}")
        if not callable(fn):
            raise InputError(f"record {name!r} must be a function of the solution, got {quoted(fn)}")
    return functions


class Case(NamedTuple):
    """A case to be solved.

    Parameters
    ----------
    values : mapping of str to float
    neighbour : tuple of values and bytes, optional
        A solved case from which it starts, and its file.
    """

    values: Values
    neighbour: tuple[Values, bytes] | None = None


class StoredCase(NamedTuple):
    """A case as a sweep keeps it.

    Parameters
    ----------
    row : dict
        Its row of the table; "reason" says why there is no solution, and is empty where there is one.
    content : bytes
        Its file, an archive as `colloc.save` writes them; empty where none is worth keeping.
    """

    row: dict[str, Any]
    content: bytes = b""


@dataclass(frozen=True, eq=False)
class CaseSolver(Portable):
    """A worker for cases: it solves them, stores them, and makes solutions of what it has stored.

    Parameters
    ----------
    problem : Problem, Phases, or callable
        With the values as parameters, or as arguments of the function that states it.
    program : DeferredNLP, optional
        Of all cases on the first grid, where they differ in parameters.
    curve : optional
    tol : float, optional
    record : mapping of str to callable
        Solution -> number, columns of the table beside the library's.
    solver : Solver
    parameters : callable, optional
        Values -> the problem's parameters, where they are not the values themselves.
    guess : optional
        For a case without a neighbour, as `co.solve` takes it.
    """

    problem: Problem | Phases | Callable[..., Problem | Phases]
    program: DeferredNLP | None
    curve: Curves | None
    tol: float | None
    record: Mapping[str, Callable[[Any], float]]
    solver: Solver
    parameters: Callable[..., Values] | None = None
    guess: Any = None

    def __call__(self, case: Case) -> StoredCase:
        """A case solved; its row has the reason where that has failed."""
        try:
            solution = self._solved(case)
            stored = self._stored(solution)
            if stored.content and not callable(self.problem):
                self._latest.clear()
                self._latest[stored.content] = solution
            return stored
        except Exception as error:  # of a user's function, too: one case is one row
            return _stored({"status": "", "reason": f"{type(error).__name__}: {error}"})

    def _solved(self, case: Case) -> Solution | PhasesSolution:
        """The solution of a case, in whatever status the solver has left it."""
        with seconds_of_call() as spent:
            solution = self._answer(case)
            solution = replace(solution, outcome=replace(solution.outcome, seconds=spent))
            _ = solution.status
        if solution.outcome.status is Status.INTERRUPTED:
            raise InterruptedError(solution.status)
        return solution

    def _answer(self, case: Case) -> Solution | PhasesSolution:
        """The motion at the end of the steps of a case."""
        begin = time.perf_counter()
        with part("build"):
            nlp = self._program(case.values).built
        run = self._run(nlp.problem, case.values)
        guess = self.guess if case.neighbour is None else self._neighbour(nlp, *case.neighbour)
        solved = Solve()(Attempt(nlp, run, guess, begin=begin))
        if case.neighbour is not None and solved.answer.outcome.status not in (Status.SOLVED, Status.INTERRUPTED):
            solved = Solve()(Attempt(nlp, run, self.guess, begin=begin))  # a neighbour that misleads
        if self.tol is not None:
            solved = replace(solved, guess=None).followed([Refine(), AtSwitches()])
        return solved.answer

    def _stored(self, solution: Solution | PhasesSolution) -> StoredCase:
        row: dict[str, Any] = {"status": str(solution.status), "reason": ""}
        if solution.status not in _ENDED:
            return _stored(row | {"reason": f"{solution.status} ({solution.message})"})
        row |= {"cost": solution.cost, "duration": solution.duration, "error": float(solution.error)}
        row |= {"iterations": solution.iterations, "variables": int(solution.nlp.n_x)}
        row |= {name: float(fn(solution)) for name, fn in self.record.items()}
        row["warning"] = warnings_of(solution)
        arrays, meta = stored_outcome(solution)
        meta["curves"] = {name: stored_curve(phase.curve) for name, phase in solution.phases.items()}
        return _stored(row, arrays, meta)

    def _run(self, problem: Problem | Phases, values: Values) -> Run:
        parameters: Values | None = values
        if self.parameters is not None:
            parameters = self.parameters(**values)
        elif callable(self.problem):
            parameters = None
        tolerance = FOR_ONE_RUN if self.tol is None else self.tol
        return Run(problem.parameter_values(parameters), self.solver, False, tolerance)

    def problem_of(self, values: Values) -> Problem | Phases:
        """The problem of a case."""
        return self._program(values).problem

    def _program(self, values: Values) -> DeferredNLP:
        """The program of a case on its first grid."""
        if self.program is not None:
            return self.program
        assert callable(self.problem)
        problem = self.problem(**values)
        if not isinstance(problem, Problem | Phases):
            raise InputError(
                f"problem must return a Problem or Phases for a case, got {quoted(problem)} for {dict(values)}"
            )
        return first_program(problem, self.curve, guessed=self.guess is not None)

    def _neighbour(self, nlp: NLP | PhasesNLP, values: Values, content: bytes) -> Solution | PhasesSolution:
        """The solution in the file of a case from which another starts."""
        latest = self._latest.get(content)
        return self._solution(nlp.problem, nlp, values, content) if latest is None else latest

    @cached_property
    def _latest(self) -> dict[bytes, Solution | PhasesSolution]:
        """The last solution by its file, which as a rule is the next case's neighbour, where cases share a problem."""
        return {}

    def solution(self, values: Values, content: bytes) -> Solution | PhasesSolution:
        """The solution in a case's file, its program built on demand."""
        program = self._program(values)
        return self._solution(program.problem, program, values, content)

    def _solution(
        self,
        problem: Problem | Phases,
        program: NLP | PhasesNLP | DeferredNLP,
        values: Values,
        content: bytes,
    ) -> Solution | PhasesSolution:
        """The solution in a file, as that of a program which is on the same grid, or else of one on its grid."""
        arrays, meta = from_bytes("a case", content)
        nodes, largest = extra_nodes(arrays, meta["curves"]), 10 * arrays["x"].size
        recipes = DeferredNLP.of(program).recipes
        stored = {
            name: recipes[name]._replace(curve=curve_from("a case", curve, largest), extra=nodes[name])
            for name, curve in meta["curves"].items()
        }
        deferred = DeferredNLP(problem, stored)
        if program.curves != deferred.curves or deferred.has_extra_nodes:
            program = deferred
        return solution_of(program, outcome_from(arrays, meta), self._run(problem, values).parameters)


def _stored(
    row: dict[str, Any],
    arrays: Mapping[str, np.ndarray] = MappingProxyType({}),
    meta: Mapping[str, Any] = MappingProxyType({}),
) -> StoredCase:
    return StoredCase(row, to_bytes(arrays, {**meta, "row": row}))


def read_case(content: bytes) -> StoredCase:
    """The case that a file holds; InputError for other bytes."""
    row = from_bytes("a case", content).meta.get("row")
    if not isinstance(row, dict) or not {"status", "reason"} <= set(row):
        raise InputError("'a case' is not the file of a case: it has no row")
    return StoredCase(row, content)
