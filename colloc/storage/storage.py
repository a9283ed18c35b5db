"""Solutions kept in a file, an .npz with JSON metadata, and as tables for other programs."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from colloc.curves import Transcription
from colloc.curves.mesh import Points
from colloc.formats.columns import csv_bytes, data_frame
from colloc.formats.time_series import label_with_unit
from colloc.problem import Phases, Problem
from colloc.problem.ordered import OrderedCosts
from colloc.solution.phases import PhasesSolution, solution_of
from colloc.solution.solution import Solution
from colloc.solver import Outcome, Status
from colloc.solver.solver import FOR_ONE_RUN
from colloc.storage.archive import read_archive
from colloc.storage.fingerprint import differences, fingerprint, same
from colloc.storage.record import MOST_PHASES, TABLES, SolutionRecord, read_record, solution_bytes, stored_signals
from colloc.support.checks import InputError, instance, quoted, relative_tolerance, spelt
from colloc.support.files import check_writable, write_atomically
from colloc.support.interrupts import reraise_interrupt
from colloc.transcription.guess import Keyframes, by_way_of
from colloc.transcription.layout import lay_out
from colloc.transcription.nlp import Recipe
from colloc.transcription.transcribe import build_program

if TYPE_CHECKING:
    from pandas import DataFrame  # pyright: ignore[reportMissingImports]


@spelt
@reraise_interrupt
def save(solution: Solution | PhasesSolution, path: str | os.PathLike[str]) -> None:
    """Write a solution to one .npz file, atomically: the file is complete or absent.

    In addition to decision vector and multipliers it holds the sampled motion (t, q, qd, qdd, tau, and "signal_thrust"
    for an unknown signal or state thrust) as plain arrays that any NumPy can read, and JSON metadata under "meta":
    schema version, library versions, status, cost by term, transcription, joints and components of signals, a checksum,
    and a fingerprint of the problem, which `load` compares. Samples of a motion in phases are "phase_0_q", "phase_1_q"
    and so on.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    path : str or PathLike
        Ends in .npz.

    Raises
    ------
    InputError
        For a motion that is not finite, such as after a diverged solve, one of more than 10,000 phases, or a path that
        cannot be written.

    See Also
    --------
    load, to_csv, to_dataframe

    Examples
    --------
    >>> co.save(solution, "swing.npz")
    >>> with np.load("swing.npz") as file:
    ...     print(file["q"].shape == solution.q.shape)
    True
    """
    instance("solution", solution, Solution | PhasesSolution, "see co.solve")
    target = check_writable(path, (".npz",))
    if not np.isfinite(solution.x).all() or not np.isfinite(solution.cost):
        raise InputError(f"solution cannot be saved: it is not finite, status {solution.status}")
    if len(solution.phases) > MOST_PHASES:
        raise InputError(f"solution has {len(solution.phases)} phases, and files hold at most {MOST_PHASES}")
    write_atomically(target, solution_bytes(solution))


@overload
def load(path: str | os.PathLike[str], problem: Problem, tol: float = FOR_ONE_RUN) -> Solution: ...


@overload
def load(path: str | os.PathLike[str], problem: Phases, tol: float = FOR_ONE_RUN) -> PhasesSolution: ...


@spelt
@reraise_interrupt
def load(
    path: str | os.PathLike[str], problem: Problem | Phases, tol: float = FOR_ONE_RUN
) -> Solution | PhasesSolution:
    """Read a solution back and attach it to its problem.

    A problem holds Python functions, which are not stored: pass the same problem again. Its fingerprint is compared:
    the values of torques, costs and constraints at artificial instants, all bounds, the joints and the duration. No
    code in a file is executed, and memory is limited by the size of the file. The status is judged again; the file's
    claim that the solver ended at an optimum is not, see `verify`.

    Parameters
    ----------
    path : str or PathLike
    problem : Problem or Phases
    tol : float
        Largest error between nodes, and of the cost, of a solved answer, as in `solve`. Smaller tolerances of the file
        take precedence.

    Returns
    -------
    Solution, or PhasesSolution for Phases
        With its status judged again.

    Raises
    ------
    InputError
        Naming the file, the difference and the phase: for a file that is not a saved solution, that is damaged, whose
        status contradicts the solver's message, or that belongs to another problem.

    See Also
    --------
    save, to_csv, to_dataframe

    Examples
    --------
    >>> co.save(solution, "swing.npz")
    >>> co.load("swing.npz", problem).duration == solution.duration
    True
    """
    instance("problem", problem, Problem | Phases)
    relative_tolerance("tol", tol)
    archive = read_archive(path)  # what is no path is refused there
    record = read_record(str(path), archive)
    _check_phases(record, problem)
    problem = _on_the_stored_side(record, problem)
    ordered = _ordered(record, problem)
    problem = problem if ordered is None else ordered.posed
    if parts := differences(record.fingerprint, fingerprint(problem)):
        raise InputError(f"{record.name!r} is of another problem, which differs in {'; '.join(parts)}")
    _check_sizes(record, problem)
    for phase in record.phases.values():
        if phase.extra is not None:
            _check_nodes(phase.title, phase.extra, phase.curve.basis.breakpoints)
    nlp = build_program(
        problem, {name: Recipe(phase.curve, extra=phase.extra) for name, phase in record.phases.items()}
    )
    _check_size(record, "rows", record.outcome.multipliers["g"].size, nlp.n_g)
    outcome, p = _judged_by(record.outcome, tol), record.parameters
    if outcome.status is Status.SOLVED and not nlp.violation(outcome.x, p) <= outcome.tolerance:
        outcome = replace(outcome, status=Status.VIOLATED)
    solution = replace(solution_of(nlp, outcome, p), rounds=record.rounds, ordered=ordered)
    _check_motion(record, solution)
    return solution


def _on_the_stored_side(record: SolutionRecord, problem: Problem | Phases) -> Problem | Phases:
    """The problem with final quaternions on the side that the stored motion reaches, as `solve` chose it."""
    if not any(phase.model.balls for phase in problem.phases.values()):
        return problem
    frames: dict[str, Keyframes] = {}
    for name, phase in record.phases.items():
        t, first = np.unique(phase.t, return_index=True)
        if t.size < 2 or t[0] < 0:
            raise InputError(f"{phase.title!r}: times must increase from 0, got {quoted(phase.t)}")
        frames[name] = Keyframes(t / t[-1], phase.tables["q"][first])
    return by_way_of(problem, frames)


def _judged_by(outcome: Outcome, tol: float) -> Outcome:
    """The end of a run with tolerances of at most `tol`."""
    tolerances = {name: min(getattr(outcome, name), tol) for name in ("tolerance", "cost_tolerance")}
    return replace(outcome, **tolerances)


def _ordered(record: SolutionRecord, problem: Problem | Phases) -> OrderedCosts | None:
    """The costs of a record in order of importance, or None; InputError for those of another problem."""
    ordered = OrderedCosts(problem, *(tuple(record.kept.get(name, ())) for name in ("costs", "bounds")))
    if len(ordered.costs) >= len(ordered.names):
        raise InputError(f"{record.name!r} keeps {len(ordered.costs)} costs, the problem has {len(ordered.names)}")
    return ordered if len(ordered.names) > 1 else None


def _check_phases(record: SolutionRecord, problem: Problem | Phases) -> None:
    """InputError unless a record and a problem have the same phases, with the same joints."""
    names, wanted = list(record.phases), list(problem.phases)
    if (names == [""]) != (wanted == [""]):
        saved, kind = ("a single motion", "a Problem") if names == [""] else ("a motion in phases", "Phases")
        raise InputError(f"{record.name!r} holds {saved}: problem must be {kind}, got {quoted(problem)}")
    if names != wanted:
        raise InputError(f"{record.name!r} was saved for phases {names}, the problem has {wanted}")
    for name, phase in record.phases.items():
        model, signals = problem.phases[name].model, stored_signals(problem.phases[name])
        for what, saved, wanted in (
            ("joints", phase.joints, list(model.joint_names)),
            ("positions", phase.positions, list(model.position_names)),
            ("signals", phase.signals, signals if phase.signals else {}),
        ):
            if saved != wanted:
                raise InputError(f"{phase.title!r} was saved for {what} {saved}, the problem has {wanted}")


def _check_sizes(record: SolutionRecord, problem: Problem | Phases) -> None:
    """InputError unless a record has as many variables and parameters as the problem on its curves.

    It is checked first, because building takes time and memory in proportion to the curves.
    """
    size, variables = record.outcome.x.size, 0
    for name, phase in record.phases.items():
        if variables <= size:
            variables += _variables(phase.curve, problem.phases[name])
    _check_size(record, "variables", size, variables)
    _check_size(record, "multipliers", record.outcome.multipliers["x"].size, variables)
    _check_size(record, "parameters", record.parameters.size, problem.parameter_values().size)


def _check_size(record: SolutionRecord, what: str, size: int, wanted: int) -> None:
    if size != wanted:
        raise InputError(f"{record.name!r} is of another problem: it has {size} {what}, not {wanted}")


def _variables(curve: Transcription, problem: Problem) -> int:
    knots = curve.basis.intervals - 1 if curve.free else 0
    return lay_out(problem, curve.basis.size, curve.signals.size).size + knots


def _check_nodes(title: str, nodes: Points, ends: np.ndarray) -> None:
    """InputError unless nodes lie in their intervals."""
    s, interval = nodes.s, nodes.interval
    right = s.size == interval.size and bool(((interval >= 0) & (interval < ends.size - 1)).all())
    if not (right and ((s >= ends[interval] - 1e-9) & (s <= ends[interval + 1] + 1e-9)).all()):
        raise InputError(f"{title!r}: extra_interval must name the intervals in which extra_s lie, got {quoted(nodes)}")


def _check_motion(record: SolutionRecord, solution: Solution | PhasesSolution) -> None:
    """InputError unless duration, cost and motion are those in the file."""
    for total, saved in record.totals.items():
        value = getattr(solution, total)
        if not abs(value - saved) <= 1e-6 * max(1.0, abs(saved)):
            raise InputError(
                f"{record.name!r} is of another problem: its {total} was {saved:.8g}, here it is {value:.8g}"
            )
    for name, phase in record.phases.items():
        t, T = phase.t, solution.phases[name].duration
        if not ((t >= 0) & (t <= T * (1 + 1e-6))).all():
            times = f"{t.min():.8g} to {t.max():.8g}"
            raise InputError(f"{phase.title!r}: times must lie within its duration, {T:.8g} s, got {times}")
        sample = solution.phases[name].at(np.minimum(t, T))
        there = {table: getattr(sample, table) for table in ("t", *TABLES)} | sample.signals
        for table, values in {"t": t, **phase.tables}.items():
            if not same(values, there[table]):
                raise InputError(
                    f"{phase.title!r} is of another problem: its {table} is not that of its variables here"
                )


@spelt
@reraise_interrupt
def to_csv(solution: Solution | PhasesSolution, path: str | os.PathLike[str]) -> None:
    """Write the motion at the nodes as CSV: time, then every component of every signal, units in the header.

    The columns are those of ``print(solution.signals)``. For a motion in phases the first column is the phase, time is
    that of the whole, and components that a phase does not have, such as a state of another, are nan. Where phases meet
    there are rows for the end of one and the start of the next.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    path : str or PathLike
        Ends in .csv.

    Raises
    ------
    InputError
        For a path that cannot be written.

    See Also
    --------
    save, load, to_dataframe

    Examples
    --------
    >>> co.storage.to_csv(solution, "swing.csv")
    >>> with open("swing.csv") as file:
    ...     print(file.readline()[:40])
    t [s],q[shoulder] [rad],q[elbow] [rad],q
    """
    instance("solution", solution, Solution | PhasesSolution, "see co.solve")
    target = check_writable(path, (".csv",))
    header, columns = _table(solution)
    write_atomically(target, csv_bytes(header, columns))


@spelt
@reraise_interrupt
def to_dataframe(solution: Solution | PhasesSolution) -> DataFrame:
    """The motion at the nodes as a pandas DataFrame, with the columns of `to_csv`.

    Raises
    ------
    ImportError
        Without pandas: ``pip install 'colloc[formats]'``.

    See Also
    --------
    save, load, to_csv

    Examples
    --------
    >>> table = co.storage.to_dataframe(solution)  # doctest: +SKIP
    >>> table["tau[elbow] [N m]"].abs().max()  # doctest: +SKIP
    10.0
    """
    instance("solution", solution, Solution | PhasesSolution, "see co.solve")
    return data_frame(*_table(solution), "co.storage.to_dataframe")


def _table(solution: Solution | PhasesSolution) -> tuple[list[str], list[Any]]:
    """Names with units, and columns, with the phase first for a motion in phases."""
    signals = solution.signals.definitions.values()
    header = ["t [s]", *(label_with_unit(*pair) for s in signals for pair in zip(s.labels, s.units, strict=True))]
    starts = solution.start_times
    times = np.concatenate([starts[name] + phase.t for name, phase in solution.phases.items()])
    columns = [times, *(column for values in solution.signals.at(None).values() for column in np.asarray(values).T)]
    if "" in solution.phases:
        return header, columns
    names = [name for name, phase in solution.phases.items() for _ in phase.t]
    return ["phase" if solution.problem.in_sequence else "case", *header], [names, *columns]
