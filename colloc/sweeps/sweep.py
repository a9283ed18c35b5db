"""Parameter studies: one problem over a grid or a table of values, on any executor, resumable after an interrupt."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from colloc.problem import Phases, Problem
from colloc.refinement.plan import TOLERANCE
from colloc.refinement.starts import Curves
from colloc.solution import BaseSolution
from colloc.solver import Solver, chosen_solver
from colloc.storage.fingerprint import differences, fingerprint
from colloc.support.checks import InputError, flag, function, relative_tolerance, spelt
from colloc.support.files import check_path, write_atomically
from colloc.support.progress import Progress, silent_without_progress
from colloc.support.threads import tracked
from colloc.sweeps.cases import (
    Case,
    CaseSolver,
    StoredCase,
    checked_record,
    enumerate_cases,
    read_case,
    warm_start_parents,
)  # fmt: skip
from colloc.sweeps.executors import check_executor, open_executor, run_task, serialised
from colloc.sweeps.guesses import Independent, check_guess
from colloc.sweeps.programs import first_program
from colloc.sweeps.table import COLUMNS, Sweep
from colloc.sweeps.warnings import warn_grouped
from colloc.transcription import NLP, DeferredNLP, PhasesNLP
from colloc.transcription.guess import Keyframes

_ABOUT = "sweep.json"
_FORMAT = 2  # version of the files of cases


@spelt
@tracked
@silent_without_progress
def sweep(
    problem: Problem | Phases | NLP | PhasesNLP | Callable[..., Problem | Phases],
    cases: Any,
    curve: Curves | None = None,
    *,
    parameters: Callable[..., Mapping[str, Any]] | None = None,
    guess: Any = None,
    record: Mapping[str, Callable[[Any], float]] | None = None,
    folder: str | os.PathLike[str] | None = None,
    executor: Executor | int | None = None,
    tol: float | None = None,
    solver: Solver | None = None,
    progress: bool | None = None,
) -> Sweep:
    """Solve a problem for many values; return a table with a row for every case, failed ones with a reason.

    Every case but the first starts from the nearest solved case before it. The order depends only on the cases, so that
    the table does not depend on the executor or on interrupts.

    Parameters
    ----------
    problem : Problem, Phases, NLP or callable
        A problem with a `Parameter` for every name in `cases`, unless `parameters` is passed; or a function of these
        names that returns the problem of a case: ``problem(payload=2.0, share=0.1)``. An NLP, as `transcribe` returns
        it, brings its curve and compiled functions.
    cases : mapping of str to sequence of float, or sequence of mappings of str to float
        A grid: all combinations, the last name varying fastest; or a table: a mapping for every case.
    curve : optional
        As in `solve`.
    parameters : callable, optional
        Function of the names in `cases` that returns the problem's parameters, if they are not the values of the cases:
        ``lambda stature, mass: anyone.values(human55(stature, mass))``, see `parametrised`.
    guess : optional
        Start of cases without a solved neighbour, as in `solve`; `co.sweeps.Independent(guess)` is the start of all
        cases.
    record : mapping of str to callable, optional
        Additional columns: functions of a solution that return a number, such as ``{"peak": lambda solution:
        abs(solution.tau).max()}``.
    folder : str or PathLike, optional
        Folder for one file per finished case, written atomically. The same call resumes a sweep that was stopped by
        Ctrl-C or kill -9. Without a folder only the table is kept.
    executor : int or Executor, optional
        Number of processes, each with one thread; a process that dies is replaced, and its case tried once more. Or
        `co.sweeps.Processes(2, timeout=60.0)`, which also limits the seconds of a case; or any executor of
        concurrent.futures. By default one case after another in this process. Scripts that spawn processes need ``if
        __name__ == "__main__":``.
    tol, solver :
        As in `solve`.
    progress : bool, optional
        Progress bar on standard error; by default in terminals and notebooks.

    Returns
    -------
    Sweep
        After Ctrl-C, the finished cases, with `interrupted` set; other cases have the reason "not begun". Warnings of
        `solve` are in the column `warning`, and issued once for cases that share them.

    Raises
    ------
    InputError
        For cases that do not fit the problem, or a folder of another sweep; names the differences.

    See Also
    --------
    multistart : Many starts instead of many problems.
    parametrised : A model whose numbers are parameters.

    Examples
    --------
    >>> from dataclasses import replace
    >>> gain = co.Parameter("gain", 1.0)
    >>> effort = co.integral(lambda now: now.gain * ca.sumsqr(now.tau))
    >>> weighed = replace(problem, minimize=co.duration() + 1e-3 * effort, parameters=[gain])
    >>> table = co.sweep(weighed, {"gain": [1.0, 2.0, 4.0]}, co.BSpline(10))
    >>> bool((np.diff(table["duration"]) > 0).all())
    True
    """
    names, values = enumerate_cases(cases)
    record = checked_record(record, (*names, *COLUMNS))
    if progress is not None:
        flag("progress", progress)
    if tol is not None:
        relative_tolerance("tol", tol)
    if parameters is not None:
        function("parameters", parameters, "a function of the names in cases", *names, keywords=True)
    warm, guess = not isinstance(guess, Independent), guess.guess if isinstance(guess, Independent) else guess
    if tol is None and curve is None and not isinstance(problem, NLP | PhasesNLP):
        tol = TOLERANCE
    program: DeferredNLP | None = None
    if isinstance(problem, Problem | Phases | NLP | PhasesNLP):
        program = first_program(problem, curve, guessed=guess is not None)
        problem = program.problem
        first = dict(zip(names, values[0].tolist(), strict=True))
        program.problem.parameter_values(first if parameters is None else parameters(**first))  # names and shapes
    else:
        function("problem", problem, "a Problem, Phases or a function that returns one", *names, keywords=True)
    if guess is not None:
        check_guess(problem, guess)
    worker = CaseSolver(problem, program, curve, tol, record, chosen_solver(solver), parameters, guess)
    no_parents: list[int | None] = [None] * len(values)
    parents = warm_start_parents(values, grid=isinstance(cases, Mapping)) if warm else no_parents
    study = _Study(worker, names, values, parents)
    if folder is not None:
        study.resume(_folder(folder), _about(worker, names, values, warm))
    with open_executor(check_executor(executor)) as pool, Progress(len(values), "cases", progress) as bar:
        study.run(pool, bar)
    table = Sweep(worker, names, values, tuple(study.cases), study.interrupted)
    warn_grouped("case", table.warnings)
    return table


class _Study:
    """A sweep while it is computed."""

    def __init__(self, solver: CaseSolver, names: tuple[str, ...], values: np.ndarray, parents: list[int | None]):
        self._solver, self._names, self._values, self._parents = solver, names, values, parents
        self.cases = [StoredCase({"status": "", "reason": "not begun"})] * len(values)
        self._folder: Path | None = None
        self.interrupted = False

    def resume(self, folder: Path, about: Mapping[str, Any]) -> None:
        """Read the files of an earlier run; raise InputError for a folder of another sweep."""
        self._folder = folder
        note = folder / _ABOUT
        if note.exists():
            _compare(folder, json.loads(note.read_text(encoding="utf-8")), about)
        else:
            write_atomically(note, json.dumps(about).encode())
        for k in range(len(self._values)):
            file = self._file(k)
            if file.exists():
                try:
                    self.cases[k] = read_case(file.read_bytes())
                except ValueError:
                    file.unlink()  # damaged from outside, as files are written atomically: solve the case again

    def _file(self, k: int) -> Path:
        assert self._folder is not None
        return self._folder / f"case_{k:0{len(str(len(self._values)))}d}.npz"

    def run(self, pool: Executor | None, bar: Progress) -> None:
        """Solve all remaining cases; Ctrl-C ends the run early."""
        followers: dict[int | None, list[int]] = {}
        for k, parent in enumerate(self._parents):
            followers.setdefault(parent, []).append(k)
        ready = list(reversed(followers.get(None, [])))
        futures: dict[Future[StoredCase], int] = {}
        done: SimpleQueue[Future[StoredCase]] = SimpleQueue()
        task = serialised(self._solver, pool)
        try:
            while ready or futures:
                while ready:
                    k = ready.pop()
                    if not self.cases[k].content and pool is not None:
                        future = pool.submit(run_task, task, self._case(k))
                        futures[future] = k
                        future.add_done_callback(done.put)
                        continue
                    if not self.cases[k].content:
                        self._keep(k, run_task(self._solver, self._case(k)))
                    bar.step()
                    ready += reversed(followers.get(k, []))
                if futures:
                    # Each future reports its own end: checking all of them takes time proportional to their number.
                    future = done.get()
                    k = futures.pop(future)
                    self._collect(k, future)
                    bar.step()
                    ready += reversed(followers.get(k, []))
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            for future in futures:
                future.cancel()

    def _case(self, k: int) -> Case:
        """A case with the file of its nearest solved predecessor."""
        parent = self._parents[k]
        while parent is not None and self.cases[parent].row["reason"]:
            parent = self._parents[parent]
        self._parents[k] = parent  # skip failed predecessors, also for the cases that follow
        return Case(self._named(k), None if parent is None else (self._named(parent), self.cases[parent].content))

    def _named(self, k: int) -> dict[str, float]:
        return dict(zip(self._names, self._values[k].tolist(), strict=True))

    def _collect(self, k: int, future: Future[StoredCase]) -> None:
        error = future.exception()
        if error is None:
            self._keep(k, future.result())
        elif isinstance(error, KeyboardInterrupt):
            raise error
        else:  # an error of the executor, not of the case: nothing is stored, and another run tries again
            self.cases[k] = StoredCase({"status": "", "reason": f"{type(error).__name__}: {error}"})

    def _keep(self, k: int, case: StoredCase) -> None:
        if case.row["reason"].startswith("InterruptedError"):
            raise KeyboardInterrupt
        if self._folder is not None:
            write_atomically(self._file(k), case.content)
        self.cases[k] = case


def _folder(path: str | os.PathLike[str]) -> Path:
    folder = check_path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"folder {str(path)!r} cannot be created: {error}") from None
    return folder


def _about(solver: CaseSolver, names: tuple[str, ...], values: np.ndarray, warm: bool) -> dict[str, Any]:
    """The traits of a sweep by which a folder is recognised."""
    first = solver.problem_of(dict(zip(names, values[0].tolist(), strict=True)))
    parts = {part: numbers.tolist() for part, numbers in fingerprint(first).items()}
    curves = solver.curve if solver.program is None else solver.program.curves
    return {
        "format": _FORMAT, "names": list(names), "values": values.tolist(), "warm": warm, "record": list(solver.record),
        "curve": repr(curves), "tol": solver.tol, "guess": _numbers_of(solver.guess), "problem": parts,
    }  # fmt: skip


def _numbers_of(guess: Any) -> Any:
    """A guess as JSON: the numbers of a solution or of keyframes, the name of a function."""
    if isinstance(guess, BaseSolution):
        return guess.x.tolist()
    if isinstance(guess, Keyframes):
        return [guess.s.tolist(), guess.q.tolist()]
    if isinstance(guess, dict):
        return {str(name): _numbers_of(phase) for name, phase in guess.items()}
    return None if guess is None else getattr(guess, "__qualname__", str(guess))


def _compare(folder: Path, stored: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Raise InputError if the traits in a folder differ from those of a sweep."""
    traits = [name for name in about if name != "problem" and stored.get(name) != json.loads(json.dumps(about[name]))]
    parts = [{k: np.array(v) for k, v in side.get("problem", {}).items()} for side in (stored, about)]
    traits += [f"problem ({part})" for part in differences(*parts)]
    if traits:
        raise InputError(f"folder {str(folder)!r} holds another sweep, which differs in {', '.join(traits)}")
