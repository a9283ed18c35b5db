"""Keeping solutions: one .npz with JSON metadata, and CSV for other programs."""

from __future__ import annotations

import csv
import io
import os
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from colloc.model import Model
from colloc.problem import Problem, Sequence
from colloc.refinement.failure import SolutionWarning
from colloc.solution.sample import Sample
from colloc.solution.sequence import SequenceSolution
from colloc.solution.solution import Solution
from colloc.storage.archive import MOST_PHASES, read_archive
from colloc.storage.stored_motion import motion_archive, motion_from
from colloc.storage.stored_phases import phases_archive, phases_from
from colloc.support.checks import InputError, doubt, instance, quoted, spelt
from colloc.support.files import check_path, check_writable, write_atomically
from colloc.support.interrupts import heeded

if TYPE_CHECKING:
    from pandas import DataFrame  # pyright: ignore[reportMissingImports]


@spelt
@heeded
def save(solution: Solution | SequenceSolution, path: str | os.PathLike[str]) -> None:
    """Write a solution to one .npz file, atomically: the file is complete or absent.

    Beside the decision vector and multipliers it holds the sampled motion (t, q, qd, qdd, tau) as plain arrays that
    any NumPy can read, and JSON metadata under "meta": schema version, library versions, status, cost by term,
    transcription and joints, a checksum, and a fingerprint of the problem, by which `load` knows it again. Of a motion
    in phases it holds such a file for every phase, as the bytes "phase_0", "phase_1", ..., and what holds across them:

    Parameters
    ----------
    solution : Solution or SequenceSolution
    path : str or PathLike
        Ends in .npz.

    Raises
    ------
    InputError
        For a motion that is not finite, as a diverged solve may leave one, one of more than 10,000 phases, or a path
        that cannot be written.

    See Also
    --------
    load : An answer as it was.
    to_csv : The motion as a table of text.
    to_dataframe : The motion as a pandas table.

    Examples
    --------
    >>> co.save(solution, "swing.npz")
    >>> with np.load("swing.npz") as file:
    ...     print(file["q"].shape == solution.q.shape)
    True
    """
    instance("solution", solution, Solution | SequenceSolution, "see co.solve")
    target = check_writable(path, (".npz",))
    if not np.isfinite(solution.x).all() or not np.isfinite(solution.cost):
        raise InputError(f"solution has nothing worth keeping: it is not finite, status {solution.status}")
    in_phases = isinstance(solution, SequenceSolution)
    if in_phases and len(solution.phases) > MOST_PHASES:
        raise InputError(f"solution has {len(solution.phases)} phases, and files hold no more than {MOST_PHASES}")
    write_atomically(target, phases_archive(solution) if in_phases else motion_archive(solution))


@overload
def load(path: str | os.PathLike[str], problem: Problem) -> Solution: ...


@overload
def load(path: str | os.PathLike[str], problem: Sequence) -> SequenceSolution: ...


@spelt
@heeded
def load(path: str | os.PathLike[str], problem: Problem | Sequence) -> Solution | SequenceSolution:
    """Read a solution back and attach it to its problem.

    A problem holds Python functions, which are not stored; the caller states it again. Its fingerprint is compared:
    the values of torques, costs and constraints at made-up instants, all bounds, the joints and the duration. Nothing
    in a file is executed, and no more is built than it holds numbers for; that its motion is an optimum is the file's
    own word, which `verify` checks.

    Parameters
    ----------
    path : str or PathLike
    problem : Problem or Sequence

    Returns
    -------
    Solution, or SequenceSolution of a Sequence
        Its status judged anew. With a SolutionWarning for a file of schema 1, which has no fingerprint: of that only
        joints, sizes, cost and motion are compared. Where such a file is of an early version whose curves had other
        variables, the answer is a fit of its samples and says that nobody has solved it.

    Raises
    ------
    InputError
        For a file that is not a saved solution, one that is damaged, or one of another problem; names the file and
        what differs, of a motion in phases the phase as well.

    See Also
    --------
    save : Writes what this reads.
    to_csv : The motion as a table of text.
    to_dataframe : The motion as a pandas table.

    Examples
    --------
    >>> co.save(solution, "swing.npz")
    >>> co.load("swing.npz", problem).duration == solution.duration
    True
    """
    instance("problem", problem, Problem | Sequence)
    archive, name = read_archive(check_path(path)), str(path)
    if in_phases := "phases" in archive.meta:
        if isinstance(problem, Sequence):
            return phases_from(name, archive, problem)
    elif isinstance(problem, Problem):
        solution = motion_from(name, archive.arrays, archive.meta, problem)
        if archive.meta["schema"] == 1:
            doubt(
                f"{name!r} has no fingerprint: whether it was solved for this problem is told by joints, sizes, cost "
                "and violations alone",
                SolutionWarning,
            )
        return solution
    saved, wanted = ("a motion in phases", "Sequence") if in_phases else ("a single motion", "Problem")
    raise InputError(f"{name!r} holds {saved}: problem must be a {wanted}, got {quoted(problem)}")


@spelt
@heeded
def to_csv(solution: Solution | SequenceSolution, path: str | os.PathLike[str]) -> None:
    """Write the motion at the nodes as CSV: time, then q, qd, qdd and tau of every joint, units in the header.

    Of a motion in phases the first column is the phase, time is that of the whole, and what a phase does not have, such
    as a state of others, is nan; where phases meet stand the end of one and the start of the next.

    Parameters
    ----------
    solution : Solution or SequenceSolution
    path : str or PathLike
        Ends in .csv.

    Raises
    ------
    InputError
        For a path that cannot be written, or phases of different joints.

    See Also
    --------
    save : All of an answer, for `load`.
    load : An answer as it was.
    to_dataframe : The motion as a pandas table.

    Examples
    --------
    >>> co.to_csv(solution, "swing.csv")
    >>> with open("swing.csv") as file:
    ...     print(file.readline()[:40])
    t [s],q[shoulder] [rad],q[elbow] [rad],q
    """
    instance("solution", solution, Solution | SequenceSolution, "see co.solve")
    target = check_writable(path, (".csv",))
    header, columns = _table(solution)
    rows = [
        [value if isinstance(value, str) else repr(float(value)) for value in row] for row in zip(*columns, strict=True)
    ]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_atomically(target, buffer.getvalue().encode())


@spelt
@heeded
def to_dataframe(solution: Solution | SequenceSolution) -> DataFrame:
    """The motion at the nodes as a table of pandas, with the columns of `to_csv`.

    Parameters
    ----------
    solution : Solution or SequenceSolution

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InputError
        For phases of different joints.
    ImportError
        Without pandas, which ``pip install 'colloc[formats]'`` brings.

    See Also
    --------
    save : All of an answer, for `load`.
    load : An answer as it was.
    to_csv : The motion as a table of text.

    Examples
    --------
    >>> table = co.to_dataframe(solution)  # doctest: +SKIP
    >>> table["tau[elbow] [N m]"].abs().max()  # doctest: +SKIP
    10.0
    """
    instance("solution", solution, Solution | SequenceSolution, "see co.solve")
    try:
        from pandas import DataFrame  # an extra  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError("co.to_dataframe needs pandas: pip install 'colloc[formats]'") from error
    return DataFrame(dict(zip(*_table(solution), strict=True)))


def _table(solution: Solution | SequenceSolution) -> tuple[list[str], list[Any]]:
    """Names with units, and columns, the phase first if there are any."""
    phases = solution.phases if isinstance(solution, SequenceSolution) else {"": solution}
    models = [own.problem.model for own in phases.values()]
    if len({(model.joint_names, model.position_units, model.torque_units) for model in models}) > 1:
        raise InputError(
            f"phases {', '.join(phases)} have different joints, which no table fits: take each by itself, as in "
            f"co.to_csv(solution[{next(iter(phases))!r}], ...)"
        )
    header, columns = _columns(models[0], solution.nodes)
    if isinstance(solution, SequenceSolution):
        return ["phase", *header], [[name for name, own in phases.items() for _ in own.t], *columns]
    return header, columns


def _columns(model: Model, sample: Sample) -> tuple[list[str], list[np.ndarray]]:
    """Names with units, and numbers, of what a table of a motion has beside the phase."""
    header, columns = ["t [s]"], [sample.t]
    units = {"q": "{}", "qd": "{}/s", "qdd": "{}/s2"}
    for name, unit in units.items():
        joints = zip(model.names(name), model.position_units if name == "q" else model.screw_units, strict=True)
        header += [f"{name}[{joint}] [{unit.format(own)}]" for joint, own in joints]
        columns += list(getattr(sample, name).T)
    header += [f"tau[{j}] [{u}]" for j, u in zip(model.joint_names, model.torque_units, strict=True)]
    columns += list(sample.tau.T)
    for name, values in sample.signals.items():
        header += [name] if values.shape[1] == 1 else [f"{name}[{k}]" for k in range(values.shape[1])]
        columns += list(values.T)
    return header, columns
