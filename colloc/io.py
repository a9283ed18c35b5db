"""Keeping solutions: one .npz with JSON metadata, and CSV for other programs."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.errors import InputError
from colloc.problem import Problem
from colloc.solution import Solution, Status
from colloc.transcription import BSpline, HermiteSimpson, Radau, Transcription, transcribe
from colloc.violations import measure_violations

SCHEMA = 1
_CURVES = {curve.__name__: curve for curve in (BSpline, HermiteSimpson, Radau)}


def check_writable(path: str | os.PathLike[str], suffixes: tuple[str, ...] = ()) -> Path:
    """The path, if a file can be written there; for use before a long computation.

    Raises
    ------
    InputError
        For a suffix other than those given, a missing directory, or one that cannot be written to.
    """
    try:
        target = Path(path)
    except TypeError:
        raise InputError(f"path must be a file name, got {path!r}") from None
    if suffixes and target.suffix.lower() not in suffixes:
        raise InputError(f"file name must end in {' or '.join(suffixes)}, got {str(path)!r}")
    if target.is_dir():
        raise InputError(f"{str(path)!r} is a directory, not a file")
    if not target.parent.is_dir():
        raise InputError(f"directory {str(target.parent)!r} of {target.name!r} does not exist")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"{str(path)!r} cannot be written: permission denied")
    return target


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
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_atomically(target, buffer.getvalue())


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
    x, p = arrays["x"], arrays["parameters"]
    sizes = (x.size, arrays["lam_g"].size, p.size)
    expected = (nlp.n_x, nlp.n_g, problem.parameter_values().size)
    if sizes != expected:
        raise InputError(
            f"{str(path)!r} is of another problem: {sizes} variables, constraint rows and parameters, not {expected}"
        )
    terms = nlp.terms(x, p)
    cost = sum(terms.values())
    if abs(cost - meta["cost"]) > 1e-6 * max(1.0, abs(meta["cost"])):
        raise InputError(f"{str(path)!r} is of another problem: its cost was {meta['cost']:.8g}, here it is {cost:.8g}")
    prefix = "history_"
    return Solution(
        nlp, x, p, Status(meta["status"]), meta["message"], cost, terms, measure_violations(nlp, x, p),
        {"g": arrays["lam_g"], "x": arrays["lam_x"]},
        {name[len(prefix) :]: values.tolist() for name, values in arrays.items() if name.startswith(prefix)},
        meta["iterations"], meta["seconds"],
    )  # fmt: skip


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


def write_atomically(target: Path, content: bytes) -> None:
    """Write a file through a temporary one beside it, so that readers never see half of it."""
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _metadata(solution: Solution) -> dict[str, Any]:
    from colloc import __version__

    return {
        "schema": SCHEMA,
        "versions": {"colloc": __version__, "casadi": ca.CasadiMeta.version(), "numpy": np.__version__},
        "status": str(solution.status),
        "message": solution.message,
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
    fields = dict(stored)
    return _CURVES[fields.pop("type")](**fields)


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
