"""Keeping solutions: one .npz with JSON metadata, and CSV for other programs."""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import InputError, instance
from colloc.files import check_path, check_writable, write_atomically
from colloc.interrupts import heeded
from colloc.problem import Problem
from colloc.solution.archive import read_archive
from colloc.solution.early import fitted
from colloc.solution.fingerprint import differences, fingerprint, same
from colloc.solution.run import SolutionWarning
from colloc.solution.schema import (
    HISTORY,
    SCHEMA,
    check_fields,
    check_sizes,
    check_variables,
    checksum,
    curve_from,
    ladder_from,
    stored_curve,
    stored_ladder,
)
from colloc.solution.solution import Solution
from colloc.solver import Outcome, Status
from colloc.transcription import NLP, on_curve, transcribe
from colloc.transcription.mesh import Points
from colloc.version import __version__

_SAMPLED = ("t", "q", "qd", "qdd", "tau")


@heeded
def save(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write a solution to one .npz file, atomically: the file is complete or absent.

    Beside the decision vector and multipliers it holds the sampled motion (t, q, qd, qdd, tau) as plain arrays that
    any NumPy can read, and JSON metadata under "meta": schema version, library versions, status, cost by term,
    transcription and joints, a checksum, and a fingerprint of the problem, by which `load` knows it again.

    Parameters
    ----------
    solution : Solution
    path : str or PathLike
        Ends in .npz.

    Raises
    ------
    InputError
        For a motion that is not finite, as a diverged solve may leave one, or a path that cannot be written.
    """
    instance("solution", solution, Solution, "see co.solve")
    target = check_writable(path, (".npz",))
    numbers = fingerprint(solution.problem)
    if not np.isfinite(solution.x).all() or not np.isfinite(solution.cost):
        raise InputError(f"solution has nothing worth keeping: it is not finite, status {solution.status}")
    arrays = {
        "x": solution.x,
        "lam_g": solution.multipliers["g"],
        "lam_x": solution.multipliers["x"],
        "parameters": solution.parameters,
        **{name: getattr(solution, name) for name in _SAMPLED},
        **{f"{HISTORY}{name}": np.array(values) for name, values in solution.history.items()},
        "fingerprint": np.concatenate(list(numbers.values())),
    }
    if (extra := solution.nlp.grid.extra) is not None:
        arrays |= {"extra_s": extra.s, "extra_interval": extra.interval}
    meta = json.loads(json.dumps(_metadata(solution) | {"fingerprint": {k: v.size for k, v in numbers.items()}}))
    meta["sha256"] = checksum(arrays, meta)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays, meta=np.array(json.dumps(meta)))
    write_atomically(target, buffer.getvalue())


@heeded
def load(path: str | os.PathLike[str], problem: Problem) -> Solution:
    """Read a solution back and attach it to its problem.

    A problem holds Python functions, which are not stored; the caller states it again. Its fingerprint is compared:
    the values of torques, costs and constraints at made-up instants, all bounds, the joints and the duration. Nothing
    in a file is executed, and no more is built than it holds numbers for; that its motion is an optimum is the file's
    own word, which `verify` checks.

    Parameters
    ----------
    path : str or PathLike
    problem : Problem

    Returns
    -------
    Solution
        Its status judged anew. With a SolutionWarning for a file of schema 1, which has no fingerprint: of that only
        joints, sizes, cost and motion are compared. Where such a file is of an early version whose curves had other
        variables, the answer is a fit of its samples and says that nobody has solved it.

    Raises
    ------
    InputError
        For a file that is not a saved solution, one that is damaged, or one of another problem; names the file and
        what differs.
    """
    instance("problem", problem, Problem)
    file, name = check_path(path), str(path)
    arrays, meta = read_archive(file)
    check_fields(name, arrays, meta)
    joints = list(problem.model.joint_names)
    if meta["joints"] != joints:
        raise InputError(f"{name!r} was saved for joints {meta['joints']}, the problem has {joints}")
    largest = max(arrays["x"].size, arrays["t"].size)
    curve = curve_from(name, meta["curve"], largest)
    if meta["schema"] == 1:
        warnings.warn(
            f"{name!r} has no fingerprint: whether it was solved for this problem is told by joints, sizes, cost and "
            "violations alone",
            SolutionWarning,
            stacklevel=3,  # past `heeded`
        )
    else:
        check_variables(name, curve, problem, arrays)
        _check_problem(name, problem, arrays["fingerprint"], meta["fingerprint"])
    nlp = transcribe(problem, curve)
    if "extra_s" in arrays:
        nlp = on_curve(nlp, curve, _extra(name, nlp, arrays))
    if meta["schema"] == 1 and (arrays["x"].size, arrays["lam_g"].size) != (nlp.n_x, nlp.n_g):
        check_sizes(name, parameters=(arrays["parameters"].size, problem.parameter_values().size))
        return Solution(nlp, fitted(name, nlp, arrays, _outcome(arrays, meta)), arrays["parameters"])
    check_variables(name, curve, problem, arrays)
    check_sizes(name, rows=(arrays["lam_g"].size, nlp.n_g))
    solution = Solution(nlp, _judged(nlp, arrays["parameters"], _outcome(arrays, meta)), arrays["parameters"])
    _check_motion(name, solution, arrays, meta)
    return replace(solution, ladder=ladder_from(name, meta.get("ladder", []), 10 * largest))


@heeded
def to_csv(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write the motion at the nodes as CSV: time, then q, qd, qdd and tau of every joint, units in the header.

    Parameters
    ----------
    solution : Solution
    path : str or PathLike
        Ends in .csv.
    """
    instance("solution", solution, Solution, "see co.solve")
    target = check_writable(path, (".csv",))
    model = solution.problem.model
    header, columns = ["t [s]"], [solution.t]
    units = {"q": "{}", "qd": "{}/s", "qdd": "{}/s2"}
    for name, unit in units.items():
        joints = zip(model.joint_names, model.position_units, strict=True)
        header += [f"{name}[{joint}] [{unit.format(own)}]" for joint, own in joints]
        columns += list(getattr(solution, name).T)
    header += [f"tau[{j}] [{u}]" for j, u in zip(model.joint_names, model.torque_units, strict=True)]
    columns += list(solution.tau.T)
    for name, values in solution.nodes.signals.items():
        header += [name] if values.shape[1] == 1 else [f"{name}[{k}]" for k in range(values.shape[1])]
        columns += list(values.T)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([repr(float(value)) for value in row] for row in zip(*columns, strict=True))
    write_atomically(target, buffer.getvalue().encode())


def _metadata(solution: Solution) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "versions": {"colloc": __version__, "casadi": ca.CasadiMeta.version(), "numpy": np.__version__},
        "status": str(solution.status),
        "message": solution.message,
        "tolerance": solution.outcome.tolerance,
        "cost": solution.cost,
        "terms": solution.terms,
        "duration": solution.duration,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "curve": stored_curve(solution.curve),
        "model": solution.problem.model.name,
        "joints": list(solution.problem.model.joint_names),
        "violations": [violation._asdict() for violation in solution.violations],
        "ladder": stored_ladder(solution.ladder),
    }


def _check_problem(name: str, problem: Problem, numbers: np.ndarray, sizes: Mapping[str, int]) -> None:
    """InputError unless the stored fingerprint is the problem's."""
    parts = np.split(numbers, np.cumsum(list(sizes.values()))[:-1])
    if other := differences(dict(zip(sizes, parts, strict=True)), fingerprint(problem)):
        raise InputError(f"{name!r} is of another problem, which differs in {'; '.join(other)}")


def _extra(name: str, nlp: NLP, arrays: Mapping[str, np.ndarray]) -> Points:
    """Nodes that were added to the curve's own."""
    points, ends = Points(arrays["extra_s"], arrays["extra_interval"]), nlp.grid.breakpoints
    known = points.interval < ends.size - 1
    begin, end = ends[points.interval * known], ends[points.interval * known + 1]
    if not (known & (points.s >= begin - 1e-9) & (points.s <= end + 1e-9)).all():
        raise InputError(f"{name!r}: extra_interval must name the intervals in which extra_s lie, got {points}")
    return points


def _judged(nlp: NLP, p: np.ndarray, outcome: Outcome) -> Outcome:
    """The same, violated if solved it was, but not with these bounds and constraints."""
    violated = outcome.status is Status.SOLVED and not nlp.violation(outcome.x, p) <= outcome.tolerance
    return replace(outcome, status=Status.VIOLATED) if violated else outcome


def _outcome(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Outcome:
    """What the solver left, its status as it saw it: what happens between nodes is judged anew."""
    status, tolerance, x = Status(meta["status"]), meta.get("tolerance", Outcome.tolerance), arrays["x"]
    if status in (Status.VIOLATED, Status.COARSE):
        status = Status.SOLVED
    history = {field[len(HISTORY) :]: values.tolist() for field, values in arrays.items() if field.startswith(HISTORY)}
    multipliers = {"g": arrays["lam_g"], "x": arrays["lam_x"]}
    return Outcome(x, multipliers, status, meta["message"], history, meta["iterations"], meta["seconds"], tolerance)


def _check_motion(name: str, solution: Solution, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """InputError unless duration, cost and motion are those in the file."""
    compared = {"duration": solution.duration, "cost": solution.cost}
    for what, here in compared.items():
        stored = meta[what]
        if not abs(here - stored) <= 1e-6 * max(1.0, abs(stored)):
            raise InputError(f"{name!r} is of another problem: its {what} was {stored:.8g}, here it is {here:.8g}")
    t, T = arrays["t"], solution.duration
    if not ((t >= 0) & (t <= T * (1 + 1e-6))).all():
        raise InputError(
            f"{name!r}: its times must lie within its duration, {T:.8g} s, got {t.min():.8g} to {t.max():.8g}"
        )
    sample = solution.at(np.minimum(t, T))
    for what in _SAMPLED if meta["schema"] == SCHEMA else ("q", "qd"):  # earlier versions saw other sides of jumps
        if not same(arrays[what], getattr(sample, what)):
            raise InputError(f"{name!r} is of another problem: its {what} is not that of its variables here")
