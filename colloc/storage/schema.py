"""What stands in the file of a solution, and whether it can be true: names, types, shapes and ranges.

Schema 1 knew no fingerprint of the problem, no checksum, no rounds of a refinement, and at first no tolerance.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from math import isfinite
from typing import Any

import numpy as np

from colloc.curves.curve import Transcription, check_curve, stored_class, stored_curve
from colloc.problem import Problem
from colloc.solution.ladder import Rung
from colloc.solver import Status
from colloc.support.checks import InputError
from colloc.transcription.layout import lay_out

SCHEMA = 2
HISTORY = "history_"
_MOST = 10**9  # iterations
_OPTIMAL = (Status.SOLVED, Status.COARSE, Status.VIOLATED, Status.ACCEPTABLE)
_BUILT = {"build", "solve"}
_NEW = ("sha256", "fingerprint", "ladder")  # since schema 2


def _number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300 and isfinite(value)


def _numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_number, value.values()))


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


# Metadata: what each must be, in code and in words.
_META: dict[str, tuple[Callable[[Any], bool], str]] = {
    "schema": (lambda v: type(v) is int, "an integer"),
    "versions": (lambda v: isinstance(v, dict) and _texts(list(v.values())), "an object of texts"),
    "status": (lambda v: isinstance(v, str) and v in list(Status), f"one of {', '.join(Status)}"),
    "message": (lambda v: isinstance(v, str), "a text"),
    "tolerance": (lambda v: _number(v) and v > 0, "a positive number"),
    "cost": (_number, "a finite number"),
    "terms": (_numbers, "an object of finite numbers"),
    "duration": (lambda v: _number(v) and v > 0, "a positive number"),
    "iterations": (lambda v: type(v) is int and 0 <= v < _MOST, "a number of iterations"),
    "seconds": (
        lambda v: _numbers(v) and _BUILT <= set(v) <= _BUILT | {"callbacks"} and min(v.values()) >= 0,
        "the seconds of build, solve and callbacks",
    ),
    "curve": (lambda v: isinstance(v, dict), "an object"),
    "model": (lambda v: isinstance(v, str), "a text"),
    "joints": (_texts, "a list of texts"),
    "violations": (lambda v: isinstance(v, list), "a list"),
    "fingerprint": (
        lambda v: isinstance(v, dict) and all(type(size) is int and size >= 0 for size in v.values()),
        "an object of sizes",
    ),
    "ladder": (lambda v: isinstance(v, list), "a list"),
    "sha256": (lambda v: isinstance(v, str), "a text"),
    "phases": (lambda v: _texts(v) and len(set(v)) == len(v) > 0, "a list of names"),
}
_SINGLE = ("curve", "model", "joints")  # not of a motion in phases, which has these of every phase
_PHASES = ("phases",)
PHASE = "phase_"  # names of arrays that hold the archives of phases, as bytes
_VECTORS = ("x", "lam_g", "lam_x", "parameters", "t")
_TABLES = ("q", "qd", "qdd", "tau")  # at the times t


def check_fields(name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """InputError unless a file has all fields of its schema, and each is what it must be.

    Parameters
    ----------
    name : str
        The file's, for messages.
    arrays, meta
        As `read_archive` returns them.
    """
    _check_meta(name, arrays, meta, [field for field in _META if field not in _PHASES], (1, SCHEMA))
    _check_arrays(name, arrays, meta)


def check_phases(name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """The same for a file of a motion in phases, whose own archives are checked as files of motions are."""
    _check_meta(name, arrays, meta, [field for field in _META if field not in _SINGLE], (SCHEMA,))
    inner = [f"{PHASE}{k}" for k in range(len(meta["phases"]))]
    needed = [*inner, "lam_g", "fingerprint"]
    missing = [f for f in needed if f not in arrays]
    extra = [f for f in arrays if f not in needed and not f.startswith(HISTORY)]
    if missing or extra:
        raise InputError(f"{name!r} is not a saved solution: arrays missing {missing}, unknown {extra}")
    for field, array in arrays.items():
        wanted = "uint8" if field in inner else "float64"
        if array.ndim != 1 or array.dtype != wanted:
            raise InputError(f"{name!r}: {field} must be {wanted} in one row, got {array.dtype} of {array.shape}")
    known = Status(meta["status"]) in _OPTIMAL  # a failed solve may not know multipliers
    if known and not np.isfinite(arrays["lam_g"]).all():
        raise InputError(f"{name!r}: lam_g must be finite, got {arrays['lam_g']}")
    _check_lengths(name, arrays, meta)


def _check_meta(
    name: str,
    arrays: Mapping[str, np.ndarray],
    meta: Mapping[str, Any],
    wanted: Sequence[str],
    schemas: tuple[int, ...],
) -> None:
    """InputError unless the metadata are those wanted, and the checksum fits."""
    schema = meta.get("schema")
    if schema not in schemas or type(schema) is not int:
        raise InputError(f"{name!r} has schema version {schema!r:.50}, this library reads {schemas[0]} to {SCHEMA}")
    missing = [f for f in wanted if f not in meta and not (schema == 1 and f in (*_NEW, "tolerance"))]
    extra = [f for f in meta if f not in wanted or (schema == 1 and f in _NEW)]
    if missing or extra:
        raise InputError(f"{name!r} is not a saved solution: metadata missing {missing}, unknown {extra}")
    for field, value in meta.items():
        legal, words = _META[field]
        if not legal(value):
            raise InputError(f"{name!r}: {field} must be {words}, got {value!r:.200}")
    if schema == SCHEMA and meta["sha256"] != checksum(arrays, meta):
        raise InputError(f"{name!r} is damaged: its checksum does not fit its content")


def _check_arrays(name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    optional = ("extra_s", "extra_interval")
    needed = [*_VECTORS, *_TABLES, *(["fingerprint"] if meta["schema"] == SCHEMA else [])]
    missing = [f for f in needed if f not in arrays]
    extra = [f for f in arrays if f not in (*needed, *optional) and not f.startswith(HISTORY)]
    if missing or extra or len({f in arrays for f in optional}) > 1:
        raise InputError(f"{name!r} is not a saved solution: arrays missing {missing}, unknown {extra}")
    nodes, joints = arrays["t"].size, len(meta["joints"])
    unknown = () if Status(meta["status"]) in _OPTIMAL else ("lam_g", "lam_x")  # a failed solve may not know them
    for field, array in arrays.items():
        shape = (nodes, joints) if field in _TABLES else (array.size,)
        kind = "i" if field == "extra_interval" else "f"
        if array.shape != shape or array.dtype.kind != kind or array.dtype.itemsize != 8:
            raise InputError(
                f"{name!r}: {field} must be 64-bit numbers of shape {shape}, got {array.dtype} of {array.shape}"
            )
        if field in (*_VECTORS, *_TABLES) and field not in unknown and not np.isfinite(array).all():
            raise InputError(f"{name!r}: {field} must be finite, got {array}")
    _check_lengths(name, arrays, meta)
    if "extra_s" in arrays:
        s, interval = arrays["extra_s"], arrays["extra_interval"]
        inside = s.size == interval.size <= arrays["lam_g"].size and ((s >= 0) & (s <= 1) & (interval >= 0)).all()
        if not inside:
            raise InputError(f"{name!r}: extra_s and extra_interval must be nodes, got {s} and {interval}")


def _check_lengths(name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """InputError for histories of unlike lengths, or a fingerprint of other parts."""
    history = {array.size for f, array in arrays.items() if f.startswith(HISTORY)}
    if len(history) > 1:
        raise InputError(f"{name!r}: the histories must be of one length, got {sorted(history)}")
    if meta["schema"] == SCHEMA and arrays["fingerprint"].size != sum(meta["fingerprint"].values()):
        raise InputError(f"{name!r}: the fingerprint must have as many numbers as its parts")


def checksum(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> str:
    """SHA-256 of everything but itself."""
    found = hashlib.sha256(json.dumps({k: v for k, v in meta.items() if k != "sha256"}, sort_keys=True).encode())
    for name in sorted(arrays):
        found.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape} ".encode())
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def _stored_curves(curve: Transcription | Mapping[str, Transcription]) -> dict[str, Any]:
    """One curve, or those of all phases by name."""
    if isinstance(curve, Mapping):
        return {name: stored_curve(own) for name, own in curve.items()}
    return stored_curve(curve)


def curve_from(name: str, stored: Mapping[str, Any], largest: int) -> Transcription:
    """The curve of a file; InputError for one that cannot be, or none of whose numbers may be that large.

    Parameters
    ----------
    name : str
        The file's, for messages.
    stored : mapping
    largest : int
        Numbers that the file holds for what has at least one for each interval, degree or node.
    """
    try:
        kind, arguments = stored_class(stored)
        for argument, value in arguments.items():
            entries = value if isinstance(value, tuple) else (value,)
            if len(entries) > largest + 1 or any(type(entry) is int and entry > largest for entry in entries):
                raise InputError(
                    f"{argument} of its {kind.__name__} is too large for the {largest} numbers that it holds"
                )
        return check_curve(kind(**arguments))
    except InputError as error:
        raise InputError(f"{name!r}: {error}") from None


def check_variables(name: str, curve: Transcription, problem: Problem, arrays: Mapping[str, np.ndarray]) -> None:
    """InputError unless a file holds as many variables and parameters as a problem has on its curve.

    Before anything is built, which takes time and memory in proportion to what the curve says.
    """
    variables = variables_of(curve, problem)
    check_sizes(
        name,
        variables=(arrays["x"].size, variables),
        multipliers=(arrays["lam_x"].size, variables),
        parameters=(arrays["parameters"].size, problem.parameter_values().size),
    )


def variables_of(curve: Transcription, problem: Problem) -> int:
    """Number of variables of a problem on a curve."""
    variables = lay_out(problem, curve.basis.size, curve.signals.size).size
    if curve.free:
        variables += curve.basis.intervals - 1
    return variables


def check_sizes(name: str, **sizes: tuple[int, int]) -> None:
    """InputError for what a file has in another number than it should."""
    for what, (found, wanted) in sizes.items():
        if found != wanted:
            raise InputError(f"{name!r} is of another problem: it has {found} {what}, not {wanted}")


def stored_ladder(ladder: tuple[Rung, ...]) -> list[dict[str, Any]]:
    """The rounds of a refinement, for JSON."""
    return [{**vars(rung), "curve": _stored_curves(rung.curve)} for rung in ladder]


def ladder_from(name: str, stored: list[Any], largest: int, phases: Iterable[str] = ()) -> tuple[Rung, ...]:
    """The rounds of a refinement, of a motion in phases where those are named.

    Parameters
    ----------
    name, largest :
        As of `curve_from`.
    stored : list
    phases : iterable of str, optional
    """
    rungs, wanted, names = [], {field.name for field in fields(Rung)}, list(phases)
    for rung in stored:
        if not isinstance(rung, dict) or set(rung) != wanted or not isinstance(rung["curve"], dict):
            raise InputError(f"{name!r}: a round of the ladder must have {', '.join(wanted)}, got {rung!r:.200}")
        if not _numbers({key: value for key, value in rung.items() if key != "curve"}):
            raise InputError(f"{name!r}: a round of the ladder must hold finite numbers, got {rung!r:.200}")
        curve = rung["curve"]
        if names and not (set(curve) == set(names) and all(isinstance(own, dict) for own in curve.values())):
            raise InputError(f"{name!r}: a round of the ladder must have a curve for every phase, got {curve!r:.200}")
        found = {phase: curve_from(name, curve[phase], largest) for phase in names}
        rungs.append(Rung(**{**rung, "curve": found or curve_from(name, curve, largest)}))
    return tuple(rungs)
