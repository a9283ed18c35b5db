"""One case of a sweep: solved by a worker, kept in a file of arrays and text."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from colloc.curves.curve import stored_curve
from colloc.curves.mesh import Points
from colloc.kernels import Compile
from colloc.problem import Problem, Sequence
from colloc.refinement.rounds import Run, refined
from colloc.solution import SequenceSolution, Solution, solution_of
from colloc.solver import Solver, Status
from colloc.storage.record import curve_from, outcome_from, stored_history
from colloc.support.checks import InputError, quoted
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable
from colloc.sweeps.screening import Curves
from colloc.sweeps.warned import warnings_of
from colloc.transcription import NLP, DeferredNLP, SequenceNLP, checked_curves, default_curves, program_of
from colloc.transcription.nlp import Recipe

_ENDED = (Status.SOLVED, Status.COARSE, Status.VIOLATED)

Values = Mapping[str, Any]
Answer = Solution | SequenceSolution
Program = NLP | SequenceNLP | DeferredNLP


class Item(NamedTuple):
    """A case to be solved: its number and values, and a solved neighbour's values and file where there is one."""

    number: int
    values: Values
    neighbour: tuple[Values, bytes] | None = None


class Kept(NamedTuple):
    """What the file of a case holds: its row of the table, and its arrays; none where it has failed."""

    row: dict[str, Any]
    arrays: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class CaseSolver(Portable):
    """What a worker needs for any case.

    Parameters
    ----------
    problem : Problem, Sequence, or callable
        With the values as parameters, or as arguments of the function that states it.
    curve : optional
    tol : float, optional
    record : mapping of str to callable
        Solution -> number, columns of the table beside the usual ones.
    solver : Solver
    compile : bool, Compile or None
    parameters : callable, optional
        Values -> the problem's parameters, where they are not the values themselves.
    guess : optional
        For a case without a neighbour, as `colloc.solve` takes it.
    """

    problem: Problem | Sequence | Callable[..., Problem | Sequence]
    curve: Curves | None
    tol: float | None
    record: Mapping[str, Callable[[Any], float]]
    solver: Solver
    compile: bool | Compile | None
    parameters: Callable[..., Values] | None = None
    guess: Any = None

    def __call__(self, item: Item) -> bytes:
        """The file of a case."""
        begin = time.perf_counter()
        try:
            return self._solved(item, begin)
        except Exception as error:  # of a user's function, too: one case is one row
            return packed({"status": "", "reason": f"{type(error).__name__}: {error}"}, {})

    def _solved(self, item: Item, begin: float) -> bytes:
        nlp = self.nlp_of(item.values)
        run = self._run(nlp.problem, item.values)
        guess = self.guess if item.neighbour is None else self._solution(nlp.problem, nlp, *item.neighbour)
        solution, _ = run(nlp, guess, begin)
        if item.neighbour is not None and solution.outcome.status not in (Status.SOLVED, Status.INTERRUPTED):
            solution, _ = run(nlp, self.guess, begin)  # a neighbour that misleads
        if self._tolerance is not None:
            solution = refined(solution, run)
        if solution.outcome.status is Status.INTERRUPTED:
            raise InterruptedError(solution.status)
        row: dict[str, Any] = {"status": str(solution.status), "reason": ""}
        if solution.status not in _ENDED:
            return packed(row | {"reason": f"{solution.status} ({solution.message})"}, {})
        row |= {"cost": solution.cost, "duration": solution.duration, "error": float(solution.error)}
        row |= {"iterations": solution.iterations, "variables": int(solution.nlp.n_x)}
        row |= {name: float(fn(solution)) for name, fn in self.record.items()}
        row["warning"] = warnings_of(solution)
        return packed(row | {"answer": _words(solution)}, _arrays(solution))

    @property
    def _tolerance(self) -> float | None:
        return 1e-3 if self.tol is None and self.curve is None else self.tol

    def _run(self, problem: Problem | Sequence, values: Values) -> Run:
        given = self.given(values)
        tolerance = 1e-2 if self._tolerance is None else self._tolerance
        return Run(problem.parameter_values(given), self.solver, False, tolerance)

    def given(self, values: Values) -> Values | None:
        """The parameters of a case, as `colloc.solve` takes them."""
        if self.parameters is not None:
            return self.parameters(**values)
        return None if callable(self.problem) else values

    def _curve(self, problem: Problem | Sequence) -> Curves:
        if self.curve is not None:
            return self.curve
        return default_curves(problem, guessed=self.guess is not None)

    def problem_of(self, values: Values) -> Problem | Sequence:
        """The problem of a case."""
        if not callable(self.problem):
            return self.problem
        found = self.problem(**values)
        if not isinstance(found, Problem | Sequence):
            raise InputError(
                f"problem must return a Problem or Sequence for a case, got {quoted(found)} for {dict(values)}"
            )
        return found

    def nlp_of(self, values: Values) -> NLP | SequenceNLP:
        """The program of a case on its first grid."""
        if not callable(self.problem):
            return self._shared.built
        problem = self.problem_of(values)
        return program_of(problem, self._curve(problem), compile=self.compile)

    def answer(self, values: Values, content: bytes) -> Answer:
        """The solution that a file holds, its program built on demand."""
        program = None if callable(self.problem) else self._shared
        return self._solution(self.problem_of(values), program, values, content)

    @cached_property
    def _shared(self) -> DeferredNLP:
        """The program of all cases on the first grid, where they differ in parameters."""
        assert not callable(self.problem)
        curves = checked_curves(self.problem, self._curve(self.problem))
        recipes = {name: Recipe(curve, compile=self.compile) for name, curve in curves.items()}
        return DeferredNLP(self.problem, recipes, self.compile)

    def _solution(self, problem: Problem | Sequence, program: Program | None, values: Values, content: bytes) -> Answer:
        """The solution in a file, as one of a program if that is on the same grid."""
        stored = unpacked(content)
        deferred = DeferredNLP(problem, self._recipes(stored), self.compile)
        if program is None or program.curves != deferred.curves or deferred.has_extra_nodes:
            program = deferred
        outcome = outcome_from(stored.arrays, stored.row["answer"])
        return solution_of(program, outcome, self._run(problem, values).parameters)

    def _recipes(self, stored: Kept) -> dict[str, Recipe]:
        """The grids of a file's answer."""
        recipes = {}
        for k, (name, curve) in enumerate(stored.row["answer"]["curves"].items()):
            extra = None
            if f"extra_s_{k}" in stored.arrays:
                extra = Points(stored.arrays[f"extra_s_{k}"], stored.arrays[f"extra_interval_{k}"])
            curve = curve_from("a case", curve, stored.arrays["x"].size * 10)
            recipes[name] = Recipe(curve, extra=extra, compile=self.compile)
        return recipes


def _words(solution: Answer) -> dict[str, Any]:
    """What an answer is, beside its arrays."""
    outcome = solution.outcome
    return {
        "status": str(outcome.status),
        "message": outcome.message,
        "tolerance": outcome.tolerance,
        "iterations": outcome.iterations,
        "seconds": outcome.seconds,
        "curves": {name: stored_curve(own.curve) for name, own in solution.phases.items()},
    }


def _arrays(solution: Answer) -> dict[str, np.ndarray]:
    arrays = {"x": solution.x, "lam_g": solution.multipliers["g"], "lam_x": solution.multipliers["x"]}
    for k, own in enumerate(solution.phases.values()):
        if (extra := own.nlp.grid.extra) is not None:
            arrays |= {f"extra_s_{k}": extra.s, f"extra_interval_{k}": extra.interval}
    return arrays | stored_history(solution)


def packed(row: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes of a case's file: a .npz that any NumPy can read."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays, row=np.array(json.dumps(row)))
    return buffer.getvalue()


def unpacked(content: bytes) -> Kept:
    """The same the other way; ValueError for what is no such file."""
    return _read(content, whole=True)


def row_of(content: bytes) -> dict[str, Any]:
    """The row alone, which is read faster."""
    return _read(content, whole=False).row


def _read(content: bytes, *, whole: bool) -> Kept:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if whole and name != "row"}
            row = json.loads(str(file["row"]))
    except Exception as error:  # whatever zipfile, NumPy and json make of other bytes
        raise ValueError(f"not the file of a case: {error}") from error
    if not isinstance(row, dict) or not {"status", "reason"} <= set(row):
        raise ValueError("not the file of a case: no row")
    return Kept(row, arrays)
