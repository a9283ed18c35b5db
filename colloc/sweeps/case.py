"""One case of a sweep: solved by a worker, kept in a file of arrays and text."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from colloc.curves.mesh import Points
from colloc.dynamics import newton_euler
from colloc.kernels import Compile
from colloc.problem import Problem, Sequence
from colloc.refinement.next_grid import phases_of
from colloc.refinement.rounds import Run, refined
from colloc.solution import SequenceSolution, Solution
from colloc.solver import Solver, Status
from colloc.storage.schema import curve_from, stored_curve
from colloc.storage.stored_motion import stored_history, stored_outcome
from colloc.support.checks import InputError, quoted
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable
from colloc.sweeps.screening import Curves, program
from colloc.sweeps.warned import warnings_of
from colloc.transcription import NLP, SequenceNLP, default_curves
from colloc.transcription.recipe import Recipe, to_be_built

_ENDED = (Status.SOLVED, Status.COARSE, Status.VIOLATED)

Values = Mapping[str, Any]
Answer = Solution | SequenceSolution


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
        guess = self.guess if item.neighbour is None else self._neighbour(nlp, *item.neighbour)
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
            return self._only
        problem = self.problem_of(values)
        return program(problem, self._curve(problem), self.compile)

    def answer(self, values: Values, content: bytes) -> Answer:
        """The solution that a file holds, its program built on demand."""
        problem = self.problem_of(values)
        kept = unpacked(content)
        recipes = self._recipes(problem, kept)
        shared = not callable(self.problem) and self._only.curve == _curves(recipes) and not _has_extra(recipes)
        nlp = self._only if shared else to_be_built(problem, recipes, self.compile)
        return self._as_answer(nlp, values, kept)

    @cached_property
    def _only(self) -> NLP | SequenceNLP:
        """The program of all cases on the first grid, where they differ in parameters; built when it is needed."""
        assert not callable(self.problem)
        curve: Any = self._curve(self.problem)
        if isinstance(self.problem, Sequence):
            recipes = {name: self._recipe(curve[name]) for name in self.problem.phases}
            return to_be_built(self.problem, recipes, self.compile)
        return to_be_built(self.problem, self._recipe(curve), self.compile)

    def _recipe(self, curve: Any, extra: Points | None = None) -> Recipe:
        return Recipe(curve, newton_euler, None, extra, self.compile)

    def _neighbour(self, nlp: NLP | SequenceNLP, values: Values, content: bytes) -> Answer:
        """The solution in a file as one of a program, or where its grid is another as one of that."""
        kept = unpacked(content)
        recipes = self._recipes(nlp.problem, kept)
        if nlp.curve != _curves(recipes) or _has_extra(recipes):
            nlp = to_be_built(nlp.problem, recipes, self.compile)
        return self._as_answer(nlp, values, kept)

    def _as_answer(self, nlp: NLP | SequenceNLP, values: Values, kept: Kept) -> Answer:
        p = self._run(nlp.problem, values).parameters
        outcome = stored_outcome(kept.arrays, kept.row["answer"])
        return SequenceSolution(nlp, outcome, p) if isinstance(nlp, SequenceNLP) else Solution(nlp, outcome, p)

    def _recipes(self, problem: Problem | Sequence, kept: Kept) -> Recipe | dict[str, Recipe]:
        """The grids of a file's answer."""
        stored = kept.row["answer"]["curves"]
        found = {}
        for k, (name, curve) in enumerate(stored.items()):
            extra = None
            if f"extra_s_{k}" in kept.arrays:
                extra = Points(kept.arrays[f"extra_s_{k}"], kept.arrays[f"extra_interval_{k}"])
            known = curve_from("a case", curve, kept.arrays["x"].size * 10)
            found[name] = self._recipe(known, extra)
        return found if isinstance(problem, Sequence) else found[""]


def _curves(recipes: Recipe | dict[str, Recipe]) -> Any:
    return recipes.curve if isinstance(recipes, Recipe) else {name: own.curve for name, own in recipes.items()}


def _has_extra(recipes: Recipe | dict[str, Recipe]) -> bool:
    every = [recipes] if isinstance(recipes, Recipe) else recipes.values()
    return any(own.extra is not None for own in every)


def _words(solution: Answer) -> dict[str, Any]:
    """What an answer is, beside its arrays."""
    outcome = solution.outcome
    return {
        "status": str(outcome.status),
        "message": outcome.message,
        "tolerance": outcome.tolerance,
        "iterations": outcome.iterations,
        "seconds": outcome.seconds,
        "curves": {name: stored_curve(own.curve) for name, own in phases_of(solution).items()},
    }


def _arrays(solution: Answer) -> dict[str, np.ndarray]:
    arrays = {"x": solution.x, "lam_g": solution.multipliers["g"], "lam_x": solution.multipliers["x"]}
    for k, own in enumerate(phases_of(solution).values()):
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
