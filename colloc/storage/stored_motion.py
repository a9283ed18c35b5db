"""What a saved motion is made of: its arrays and metadata, and the way back to a solution of its problem."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.curves.curve import stored_curve
from colloc.curves.mesh import Points
from colloc.problem import Problem
from colloc.solution.early import fitted
from colloc.solution.sequence import SequenceSolution
from colloc.solution.solution import Solution
from colloc.solver import Outcome, Status
from colloc.storage.fingerprint import differences, fingerprint, same
from colloc.storage.schema import (
    HISTORY,
    SCHEMA,
    check_fields,
    check_sizes,
    check_variables,
    checksum,
    curve_from,
    ladder_from,
    stored_ladder,
)
from colloc.support.checks import InputError
from colloc.support.version import __version__
from colloc.transcription import NLP, BaseNLP, transcribe

_SAMPLED = ("t", "q", "qd", "qdd", "tau")


def motion_archive(solution: Solution) -> bytes:
    """A solution as the bytes of an archive."""
    arrays = {
        "x": solution.x,
        "lam_g": solution.multipliers["g"],
        "lam_x": solution.multipliers["x"],
        "parameters": solution.parameters,
        **{name: getattr(solution, name) for name in _SAMPLED},
        **stored_history(solution),
    }
    if (extra := solution.nlp.grid.extra) is not None:
        arrays |= {"extra_s": extra.s, "extra_interval": extra.interval}
    meta = {
        "curve": stored_curve(solution.curve),
        "model": solution.problem.model.name,
        "joints": list(solution.problem.model.joint_names),
    }
    return packed(arrays, stored_answer(solution) | meta, fingerprint(solution.problem))


def motion_from(name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], problem: Problem) -> Solution:
    """The solution of a problem that an archive holds.

    Parameters
    ----------
    name : str
        The file's, for messages.
    arrays, meta
        As `read_archive` returns them.
    problem : Problem

    Raises
    ------
    InputError
        As `load` does.
    """
    check_fields(name, arrays, meta)
    joints = list(problem.model.joint_names)
    if meta["joints"] != joints:
        raise InputError(f"{name!r} was saved for joints {meta['joints']}, the problem has {joints}")
    largest = largest_of(arrays)
    curve = curve_from(name, meta["curve"], largest)
    if meta["schema"] == SCHEMA:
        check_variables(name, curve, problem, arrays)
        check_same(name, arrays["fingerprint"], meta["fingerprint"], fingerprint(problem))
    nlp = transcribe(problem, curve)
    if "extra_s" in arrays:
        nlp = nlp.on_curve(curve, _extra(name, nlp, arrays))
    if meta["schema"] == 1 and (arrays["x"].size, arrays["lam_g"].size) != (nlp.n_x, nlp.n_g):
        check_sizes(name, parameters=(arrays["parameters"].size, problem.parameter_values().size))
        return Solution(nlp, fitted(name, nlp, arrays, stored_outcome(arrays, meta)), arrays["parameters"])
    check_variables(name, curve, problem, arrays)
    check_sizes(name, rows=(arrays["lam_g"].size, nlp.n_g))
    solution = Solution(nlp, judged(nlp, arrays["parameters"], stored_outcome(arrays, meta)), arrays["parameters"])
    _check_motion(name, solution, arrays, meta)
    return replace(solution, ladder=ladder_from(name, meta.get("ladder", []), 10 * largest))


def packed(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], numbers: Mapping[str, np.ndarray]) -> bytes:
    """Arrays and metadata as the bytes of an archive, with a fingerprint and a checksum."""
    arrays = {**arrays, "fingerprint": np.concatenate([np.zeros(0), *numbers.values()])}
    whole = json.loads(json.dumps({**meta, "fingerprint": {k: v.size for k, v in numbers.items()}}))
    whole["sha256"] = checksum(arrays, whole)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays, meta=np.array(json.dumps(whole)))
    return buffer.getvalue()


def stored_history(solution: Solution | SequenceSolution) -> dict[str, np.ndarray]:
    """The solver's record as arrays."""
    return {f"{HISTORY}{name}": np.array(values) for name, values in solution.history.items()}


def stored_answer(solution: Solution | SequenceSolution) -> dict[str, Any]:
    """What every answer can tell about itself, as metadata."""
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
        "violations": [violation._asdict() for violation in solution.violations],
        "ladder": stored_ladder(solution.ladder),
    }


def largest_of(arrays: Mapping[str, np.ndarray]) -> int:
    """Numbers that a file holds for what has at least one for each interval, degree or node."""
    return max(arrays["x"].size, arrays["t"].size)


def check_same(name: str, numbers: np.ndarray, sizes: Mapping[str, int], wanted: Mapping[str, np.ndarray]) -> None:
    """InputError unless the stored fingerprint is the one wanted."""
    parts = np.split(numbers, np.cumsum(list(sizes.values()))[:-1])
    if other := differences(dict(zip(sizes, parts, strict=False)), wanted):
        raise InputError(f"{name!r} is of another problem, which differs in {'; '.join(other)}")


def check_totals(name: str, solution: Solution | SequenceSolution, meta: Mapping[str, Any]) -> None:
    """InputError unless duration and cost are those in the file."""
    compared = {"duration": solution.duration, "cost": solution.cost}
    for what, here in compared.items():
        stored = meta[what]
        if not abs(here - stored) <= 1e-6 * max(1.0, abs(stored)):
            raise InputError(f"{name!r} is of another problem: its {what} was {stored:.8g}, here it is {here:.8g}")


def _extra(name: str, nlp: NLP, arrays: Mapping[str, np.ndarray]) -> Points:
    """Nodes that were added to the curve's own."""
    points, ends = Points(arrays["extra_s"], arrays["extra_interval"]), nlp.grid.breakpoints
    known = points.interval < ends.size - 1
    begin, end = ends[points.interval * known], ends[points.interval * known + 1]
    if not (known & (points.s >= begin - 1e-9) & (points.s <= end + 1e-9)).all():
        raise InputError(f"{name!r}: extra_interval must name the intervals in which extra_s lie, got {points}")
    return points


def judged(nlp: BaseNLP, p: np.ndarray, outcome: Outcome) -> Outcome:
    """The same, violated if solved it was, but not with these bounds and constraints."""
    violated = outcome.status is Status.SOLVED and not nlp.violation(outcome.x, p) <= outcome.tolerance
    return replace(outcome, status=Status.VIOLATED) if violated else outcome


def stored_outcome(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Outcome:
    """What the solver left, its status as it saw it: what happens between nodes is judged anew."""
    status, tolerance, x = Status(meta["status"]), meta.get("tolerance", Outcome.tolerance), arrays["x"]
    if status in (Status.VIOLATED, Status.COARSE):
        status = Status.SOLVED
    history = {field[len(HISTORY) :]: values.tolist() for field, values in arrays.items() if field.startswith(HISTORY)}
    multipliers = {"g": arrays["lam_g"], "x": arrays["lam_x"]}
    return Outcome(x, multipliers, status, meta["message"], history, meta["iterations"], meta["seconds"], tolerance)


def _check_motion(name: str, solution: Solution, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """InputError unless duration, cost and motion are those in the file."""
    check_totals(name, solution, meta)
    t, T = arrays["t"], solution.duration
    if not ((t >= 0) & (t <= T * (1 + 1e-6))).all():
        raise InputError(
            f"{name!r}: its times must lie within its duration, {T:.8g} s, got {t.min():.8g} to {t.max():.8g}"
        )
    sample = solution.at(np.minimum(t, T))
    for what in _SAMPLED if meta["schema"] == SCHEMA else ("q", "qd"):  # earlier versions saw other sides of jumps
        if not same(arrays[what], getattr(sample, what)):
            raise InputError(f"{name!r} is of another problem: its {what} is not that of its variables here")
