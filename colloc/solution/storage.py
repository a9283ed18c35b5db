"""Keeping solutions: one .npz with JSON metadata, and CSV for other programs."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import InputError, unknown_name
from colloc.files import check_writable, write_atomically
from colloc.interrupts import heeded
from colloc.problem import Problem
from colloc.solution.solution import Solution
from colloc.solver import Outcome, Status
from colloc.transcription import TRANSCRIPTIONS, Transcription, on_curve, transcribe
from colloc.transcription.mesh import Points
from colloc.version import __version__

SCHEMA = 1


def save(solution: Solution, path: str | Path) -> None:
    """Write a solution to one .npz file, atomically: the file is complete or absent.

    Beside the decision vector and multipliers it holds the sampled motion (t, q, qd, qdd, tau) as plain arrays that
    any NumPy can read, and JSON metadata under "meta": schema version, library versions, status, cost by term,
    transcription and joints.

    Parameters
    ----------
    solution : Solution
    path : str or Path
        Ends in .npz.
    """
    target = check_writable(path, (".npz",))
    arrays = {
        "x": solution.x,
        "lam_g": solution.multipliers["g"],
        "lam_x": solution.multipliers["x"],
        "parameters": solution.parameters,
        **{name: getattr(solution, name) for name in ("t", "q", "qd", "qdd", "tau")},
        **{f"history_{name}": np.array(values) for name, values in solution.history.items()},
        "meta": np.array(json.dumps(_metadata(solution))),
    }
    if (extra := solution.nlp.grid.extra) is not None:
        arrays |= {"extra_s": extra.s, "extra_interval": extra.interval}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_atomically(target, buffer.getvalue())


@heeded
def load(path: str | Path, problem: Problem) -> Solution:
    """Read a solution back and attach it to its problem.

    A problem holds Python functions, which are not stored; the caller states it again, and its joints, size and cost
    at the stored motion are checked against the file.

    Parameters
    ----------
    path : str or Path
    problem : Problem

    Returns
    -------
    Solution

    Raises
    ------
    InputError
        For a file that is not a saved solution, or one of another problem.
    """
    arrays, meta = _read(Path(path))
    joints = list(problem.model.joint_names)
    if meta["joints"] != joints:
        raise InputError(f"{str(path)!r} was saved for joints {meta['joints']}, the problem has {joints}")
    nlp = transcribe(problem, _curve(meta["curve"]))
    if "extra_s" in arrays:
        nlp = on_curve(nlp, nlp.curve, Points(arrays["extra_s"], arrays["extra_interval"]))
    x, p = arrays["x"], arrays["parameters"]
    sizes = (x.size, arrays["lam_g"].size, p.size)
    expected = (nlp.n_x, nlp.n_g, problem.parameter_values().size)
    if sizes != expected:
        raise InputError(
            f"{str(path)!r} is of another problem: {sizes} variables, constraint rows and parameters, not {expected}"
        )
    prefix = "history_"
    outcome = Outcome(
        x,
        {"g": arrays["lam_g"], "x": arrays["lam_x"]},
        Status.SOLVED
        if meta["status"] in (Status.VIOLATED, Status.COARSE)
        else Status(meta["status"]),  # as the solver saw it
        meta["message"],
        {name[len(prefix) :]: values.tolist() for name, values in arrays.items() if name.startswith(prefix)},
        meta["iterations"],
        meta["seconds"],
        meta.get("tolerance", Outcome.tolerance),
    )
    solution, cost = Solution(nlp, outcome, p), meta["cost"]
    if abs(solution.cost - cost) > 1e-6 * max(1.0, abs(cost)):
        raise InputError(
            f"{str(path)!r} is of another problem: its cost was {cost:.8g}, here it is {solution.cost:.8g}"
        )
    return solution


def to_csv(solution: Solution, path: str | Path) -> None:
    """Write the motion at the nodes as CSV: time, then q, qd, qdd and tau of every joint, units in the header.

    Parameters
    ----------
    solution : Solution
    path : str or Path
        Ends in .csv.
    """
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
        "curve": {"type": type(solution.curve).__name__, **_fields(solution.curve)},
        "model": solution.problem.model.name,
        "joints": list(solution.problem.model.joint_names),
        "violations": [violation._asdict() for violation in solution.violations],
    }


def _fields(curve: Transcription) -> dict[str, Any]:
    return asdict(curve)  # pyright: ignore[reportArgumentType]  # every transcription is a dataclass


def _curve(stored: dict[str, Any]) -> Transcription:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    name = fields.pop("type")
    if name not in TRANSCRIPTIONS:
        raise unknown_name("transcription", name, TRANSCRIPTIONS)
    return TRANSCRIPTIONS[name](**fields)


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    if not path.is_file():
        raise InputError(f"no file {str(path)!r}")
    try:
        # Opened here, so that it is closed when NumPy refuses the content.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = dict(file)
        meta = json.loads(str(arrays.pop("meta")))
        schema = meta["schema"]
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{str(path)!r} is not a saved solution: {error}") from error
    if schema != SCHEMA:
        raise InputError(f"{str(path)!r} has schema version {schema}, this library reads {SCHEMA}")
    return arrays, meta
