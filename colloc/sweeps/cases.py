"""Cases of a sweep: enumeration, choice of the neighbour to start from, solve and storage by a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from colloc.problem import Phases, Problem
from colloc.refinement.plan import AtSwitches, Attempt, Refine, Solve
from colloc.refinement.run import Run
from colloc.refinement.starts import Curves
from colloc.solution import PhasesSolution, Solution, solution_of
from colloc.solver import Solver, Status
from colloc.solver.solver import FOR_ONE_RUN
from colloc.storage.archive import from_bytes, to_bytes
from colloc.storage.record import curve_from, extra_nodes, outcome_from, stored_curves, stored_outcome
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
    """Names and values of all cases, shape (cases, names); a grid in all combinations, the last name fastest."""
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
    """The nearest case before each case, by values relative to their ranges, the latest of equals; None for the first.

    In a grid this is the neighbour along the last name, or along the name before where a line begins: lines are
    independent of each other. In a table only the distance counts.
    """
    width = np.ptp(table, axis=0)
    columns = np.ascontiguousarray((table / np.where(width > 0, width, 1.0)).T)
    parents: list[int | None] = [None]
    for k in range(1, len(table)):
        apart = np.abs(columns[:, :k] - columns[:, k, None])
        distance = np.round(apart.sum(axis=0), 12)
        if grid:
            # Single grid steps along different names count as equally long.
            changed = np.count_nonzero(apart, axis=0)
            distance[changed > changed.min()] = np.inf
        parents.append(k - 1 - int(np.argmin(distance[::-1])))
    return parents


def checked_record(record: Mapping[str, Any] | None, columns: Iterable[str]) -> dict[str, Any]:
    """Return the caller's columns; raise InputError for a name in use, or a value that cannot be called."""
    columns = tuple(columns)
    functions = {} if record is None else dict(mapping("record", record))
    for name, fn in functions.items():
        if text("name in record", name) in columns:
            raise InputError(f"name {name!r} in record is a column already; choose another than {', '.join(columns)}")
        if not callable(fn):
            raise InputError(f"record {name!r} must be a function of the solution, got {quoted(fn)}")
    return functions


class Case(NamedTuple):
    """A case to be solved.

    Parameters
    ----------
    values : mapping of str to float
    neighbour : tuple of values and bytes, optional
        Values and file of the solved case from which it starts.
    """

    values: Values
    neighbour: tuple[Values, bytes] | None = None


class StoredCase(NamedTuple):
    """A case as a sweep stores it.

    Parameters
    ----------
    row : dict
        Row of the table; "reason" of a failure, empty if there is a solution.
    content : bytes
        File of the case, an archive as `colloc.save` writes them; empty if there is nothing to keep.
    """

    row: dict[str, Any]
    content: bytes = b""


@dataclass(frozen=True, eq=False)
class CaseSolver(Portable):
    """Worker that solves cases, stores them, and restores their solutions.

    Parameters
    ----------
    problem : Problem, Phases, or callable
        A problem with the values as parameters, or a function with the values as arguments.
    program : DeferredNLP, optional
        Program of all cases on the first grid, if they differ only in parameters.
    curve : optional
    tol : float, optional
    record : mapping of str to callable
        Functions of a solution that return a number, for additional columns.
    solver : Solver
    parameters : callable, optional
        Function of the values that returns the problem's parameters, if they are not the values themselves.
    guess : optional
        Guess for a case without a neighbour, as in `co.solve`.
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
        """Solve a case; the row has the reason if that failed."""
        try:
            solution = self._solved(case)
            stored = self._stored(solution)
            if stored.content and not callable(self.problem):
                self._latest.clear()
                self._latest[stored.content] = solution
            return stored
        except Exception as error:  # errors of a user's function as well: one case is one row
            return _stored({"status": "", "reason": f"{type(error).__name__}: {error}"})

    def _solved(self, case: Case) -> Solution | PhasesSolution:
        """The solution of a case, whatever its status."""
        with seconds_of_call() as spent:
            solution = self._answer(case)
            solution = replace(solution, outcome=replace(solution.outcome, seconds=spent))
            _ = solution.status
        if solution.outcome.status is Status.INTERRUPTED:
            raise InterruptedError(solution.status)
        return solution

    def _answer(self, case: Case) -> Solution | PhasesSolution:
        """The motion after all steps of the plan."""
        begin = time.perf_counter()
        with part("build"):
            nlp = self._program(case.values).built
        run = self._run(nlp.problem, case.values)
        guess = self.guess if case.neighbour is None else self._neighbour(nlp, *case.neighbour)
        solved = Solve()(Attempt(nlp, run, guess, begin=begin))
        if case.neighbour is not None and solved.answer.outcome.status not in (Status.SOLVED, Status.INTERRUPTED):
            solved = Solve()(Attempt(nlp, run, self.guess, begin=begin))  # a neighbour may be a misleading start
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
        meta["curves"] = stored_curves({name: phase.curve for name, phase in solution.phases.items()})
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
        return self._program(values).problem

    def _program(self, values: Values) -> DeferredNLP:
        """The program of a case on the first grid."""
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
        latest = self._latest.get(content)
        return self._solution(nlp.problem, nlp, values, content) if latest is None else latest

    @cached_property
    def _latest(self) -> dict[bytes, Solution | PhasesSolution]:
        """The last solution with its file, usually the next case's neighbour, if cases share a problem."""
        return {}

    def solution(self, values: Values, content: bytes) -> Solution | PhasesSolution:
        """The solution in a case's file; its program is built on demand."""
        program = self._program(values)
        return self._solution(program.problem, program, values, content)

    def _solution(
        self,
        problem: Problem | Phases,
        program: NLP | PhasesNLP | DeferredNLP,
        values: Values,
        content: bytes,
    ) -> Solution | PhasesSolution:
        """The solution in a file, with `program` if that has the same grid, otherwise with a new program."""
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
    """Read the case in a file; raise InputError for other bytes."""
    row = from_bytes("a case", content).meta.get("row")
    if not isinstance(row, dict) or not {"status", "reason"} <= set(row):
        raise InputError("'a case' is not the file of a case: it has no row")
    return StoredCase(row, content)
