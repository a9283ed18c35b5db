"""The record of a solution in a file: names, types, shapes and ranges of its fields, and their meaning.

A motion in phases has the arrays of its samples for every phase, "phase_0_q" and so on; those of a single motion are
called "q". Decision vector, multipliers and history are those of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields
from math import isfinite
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.curves.curve import Transcription, check_curve, stored_class, stored_curve
from colloc.curves.mesh import Points
from colloc.formats.time_series import label_with_unit
from colloc.problem import Problem
from colloc.solution.phases import PhasesSolution
from colloc.solution.refinement_round import RefinementRound
from colloc.solution.solution import Solution
from colloc.solver import Outcome, Status
from colloc.solver.ipopt import STATUS_OF_MESSAGE
from colloc.storage.archive import Archive, checksum, to_bytes
from colloc.storage.fingerprint import fingerprint
from colloc.support.checks import InputError, quoted
from colloc.support.version import __version__

SCHEMA = 1
MOST_PHASES = 10_000  # each of which has up to seven arrays
TABLES = ("q", "qd", "qdd", "tau")  # at the times t
_VECTORS = ("x", "lam_g", "lam_x", "parameters", "fingerprint")
_ADDED = ("extra_s", "extra_interval")  # nodes beside the curve's own
_HISTORY = "history_"
_MOST = 10**9  # iterations
# Statuses of runs with which the solver was content.
_CONTENT = (Status.SOLVED, Status.COARSE, Status.VIOLATED, Status.SADDLE)
_OPTIMAL = (*_CONTENT, Status.ACCEPTABLE)
_SECONDS = {"build", "solve"}
_MORE_SECONDS = {"starts", "judge", "switches", "other", "callbacks", "call"}
_PHASE = {"model", "joints", "curve"}
_SIGNAL = "signal_"  # and the name of an unknown signal or state: its samples


class PhaseRecord(NamedTuple):
    """The record of a phase, or of a single motion."""

    title: str  # the file and the phase, for messages
    joints: list[str]
    positions: list[str]  # names of the entries of q: the joints, but for those on quaternions
    signals: dict[str, list[str]]  # names of the components, with their units, of unknown signals and states
    curve: Transcription
    t: np.ndarray  # shape (N,) [s]
    # At the times t: positions, velocities, accelerations and torques, each shape (N, n), q (N, n_q); then unknown
    # signals and states by name, each shape (N, size).
    tables: dict[str, np.ndarray]
    extra: Points | None  # nodes beside the curve's own


class SolutionRecord(NamedTuple):
    """The record of a solution."""

    name: str  # the file's, for messages
    phases: dict[str, PhaseRecord]  # one of name "" for a single motion
    outcome: Outcome  # its status as the solver saw it: what happens between the nodes is judged again
    parameters: np.ndarray
    fingerprint: dict[str, np.ndarray]
    rounds: tuple[RefinementRound, ...]
    totals: dict[str, float]  # duration [s] and cost
    kept: dict[str, list[float]]  # of costs in order of importance: optima of the first ones, and their bounds


# -- from a solution to bytes ------------------------------------------------------------------------------------------


def solution_bytes(solution: Solution | PhasesSolution) -> bytes:
    """A solution as the bytes of a file."""
    parts = fingerprint(solution.problem)
    arrays, outcome = stored_outcome(solution)
    arrays["parameters"] = solution.parameters
    arrays["fingerprint"] = np.concatenate([np.zeros(0), *parts.values()])
    phases: dict[str, dict[str, Any]] = {}
    for prefix, (name, phase) in zip(_prefixes(solution.phases), solution.phases.items(), strict=True):
        arrays |= {prefix + field: getattr(phase, field) for field in ("t", *TABLES)}
        arrays |= {f"{prefix}{_SIGNAL}{name}": values for name, values in phase.nodes.signals.items()}
        model = phase.problem.model
        phases[name] = {"model": model.name, "joints": list(model.joint_names), "curve": stored_curve(phase.curve)}
        if model.position_names != model.joint_names:
            phases[name]["positions"] = list(model.position_names)
        if signals := stored_signals(phase.problem):
            phases[name]["signals"] = signals
    meta = {
        "schema": SCHEMA,
        "versions": {"colloc": __version__, "casadi": ca.CasadiMeta.version(), "numpy": np.__version__},
        **outcome,
        "cost": solution.cost,
        "terms": solution.terms,
        "duration": solution.duration,
        "violations": [violation._asdict() for violation in solution.violations],
        "phases": phases,
        "rounds": [_stored_round(round) for round in solution.rounds],
        "fingerprint": {part: numbers.size for part, numbers in parts.items()},
    }
    if solution.ordered is not None:
        meta["kept"] = {"costs": list(solution.ordered.costs), "bounds": list(solution.ordered.bounds)}
    return to_bytes(arrays, meta)


def stored_signals(problem: Problem) -> dict[str, list[str]]:
    """Names of the components, with units, of the unknown signals and states of a problem."""
    return {
        unknown.name: [label_with_unit(*pair) for pair in zip(unknown.labels, unknown.units, strict=True)]
        for unknown in (*problem.signals, *problem.states)
    }


def stored_outcome(solution: Solution | PhasesSolution) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The end of the solver's run as arrays, with additional nodes, and as metadata."""
    arrays = {"x": solution.x, "lam_g": solution.multipliers["g"], "lam_x": solution.multipliers["x"]}
    arrays |= {f"{_HISTORY}{name}": np.array(values) for name, values in solution.history.items()}
    for prefix, phase in zip(_prefixes(solution.phases), solution.phases.values(), strict=True):
        if (extra := phase.nlp.grid.extra) is not None:
            arrays |= {f"{prefix}extra_s": extra.s, f"{prefix}extra_interval": extra.interval}
    meta = {
        "status": str(solution.status),
        "message": solution.message,
        "tolerance": solution.outcome.tolerance,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
    }
    if solution.outcome.cost_tolerance != solution.outcome.tolerance:
        meta["cost_tolerance"] = solution.outcome.cost_tolerance
    if solution.outcome.weights:
        meta["weights"] = list(solution.outcome.weights)
    return arrays, meta


def stored_curves(curves: Mapping[str, Transcription]) -> dict[str, Any]:
    """Curves by phase for JSON."""
    return {name: stored_curve(curve) for name, curve in curves.items()}


def _stored_round(round: RefinementRound) -> dict[str, Any]:
    """A refinement iteration for JSON, with its curves by phase."""
    curves = round.curve if isinstance(round.curve, Mapping) else {"": round.curve}
    return {**vars(round), "curve": stored_curves(curves)}


def _prefixes(phases: Iterable[str]) -> list[str]:
    """The beginning of the names of the arrays of every phase."""
    return [f"phase_{k}_" if name else "" for k, name in enumerate(phases)]


# -- from an archive to a checked record -------------------------------------------------------------------------------


def read_record(name: str, archive: Archive) -> SolutionRecord:
    """The record in the archive of a file, with all fields checked.

    InputError naming the file and the field, and the phase of a motion in phases.
    """
    arrays, meta = archive
    _check_meta(name, arrays, meta)
    _check_arrays(name, arrays, meta)
    phases: dict[str, PhaseRecord] = {}
    nodes = extra_nodes(arrays, meta["phases"])
    for prefix, (phase, about) in zip(_prefixes(meta["phases"]), meta["phases"].items(), strict=True):
        title = f"{name} (phase {phase})" if phase else name
        t, tables = arrays[f"{prefix}t"], {field: arrays[prefix + field] for field in TABLES}
        signals = _signals(about)
        tables |= {signal: arrays[f"{prefix}{_SIGNAL}{signal}"] for signal in signals}
        curve = curve_from(title, about["curve"], max(arrays["x"].size, t.size))
        phases[phase] = PhaseRecord(title, about["joints"], _positions(about), signals, curve, t, tables, nodes[phase])
    sizes: dict[str, int] = meta["fingerprint"]
    parts = np.split(arrays["fingerprint"], np.cumsum(list(sizes.values()))[:-1])
    largest = 10 * max(arrays["x"].size, *(phase.t.size for phase in phases.values()))
    return SolutionRecord(
        name,
        phases,
        outcome_from(arrays, meta),
        arrays["parameters"],
        dict(zip(sizes, parts, strict=False)),
        tuple(_round_from(name, round, largest, list(phases)) for round in meta["rounds"]),
        {total: meta[total] for total in ("duration", "cost")},
        meta.get("kept", {}),
    )


def extra_nodes(arrays: Mapping[str, np.ndarray], phases: Collection[str]) -> dict[str, Points | None]:
    """The nodes of every phase in addition to those of its curve."""
    return {
        phase: Points(*(arrays[prefix + field] for field in _ADDED)) if f"{prefix}extra_s" in arrays else None
        for phase, prefix in zip(phases, _prefixes(phases), strict=True)
    }


def outcome_from(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Outcome:
    """The end of the solver's run, with the solver's status."""
    status = Status(meta["status"])
    if status in (Status.VIOLATED, Status.COARSE):
        status = Status.SOLVED
    history = {name.removeprefix(_HISTORY): v.tolist() for name, v in arrays.items() if name.startswith(_HISTORY)}
    multipliers = {"g": arrays["lam_g"], "x": arrays["lam_x"]}
    return Outcome(
        arrays["x"], multipliers, status, meta["message"], history, meta["iterations"], meta["seconds"],
        meta["tolerance"], meta.get("cost_tolerance", meta["tolerance"]), weights=tuple(meta.get("weights", ())),
    )  # fmt: skip


def curve_from(name: str, stored: Mapping[str, Any], largest: int) -> Transcription:
    """The curve of a file; InputError for an impossible one.

    Integers for which the file has at least one number each (intervals, degrees, nodes) may be at most `largest`.
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


def _round_from(name: str, stored: Any, largest: int, phases: list[str]) -> RefinementRound:
    wanted = {field.name for field in fields(RefinementRound)}
    if not isinstance(stored, dict) or set(stored) != wanted:
        raise InputError(f"{name!r}: a refinement iteration must have {', '.join(wanted)}, got {stored!r:.200}")
    curves = stored["curve"]
    if not _numbers({field: value for field, value in stored.items() if field != "curve"}):
        raise InputError(f"{name!r}: a refinement iteration must hold finite numbers, got {stored!r:.200}")
    if not (isinstance(curves, dict) and set(curves) == set(phases) and all(map(_object, curves.values()))):
        raise InputError(f"{name!r}: a refinement iteration must have a curve for every phase, got {curves!r:.200}")
    by_phase = {phase: curve_from(name, curves[phase], largest) for phase in phases}
    return RefinementRound(**{**stored, "curve": by_phase.get("", by_phase)})


# -- checks of the fields ----------------------------------------------------------------------------------------------


def _number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300 and isfinite(value)


def _numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_number, value.values()))


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _phase(value: Any) -> bool:
    right = _object(value) and set(value) - {"positions", "signals"} == _PHASE and _texts(_positions(value))
    right = right and _object(_signals(value)) and all(_texts(labels) and labels for labels in _signals(value).values())
    return right and _text(value["model"]) and _texts(value["joints"]) and _object(value["curve"])


def _positions(phase: Mapping[str, Any]) -> list[str]:
    """Names of the positions of a phase, by default those of its joints."""
    return phase.get("positions", phase["joints"])


def _kept(value: Any) -> bool:
    if not (_object(value) and set(value) == {"costs", "bounds"}):
        return False
    lists: list[Any] = list(value.values())
    numbers = all(isinstance(one, list) and all(map(_number, one)) for one in lists)
    return numbers and 0 < len(lists[0]) == len(lists[1])


def _signals(phase: Mapping[str, Any]) -> dict[str, list[str]]:
    """Names of the components of unknown signals and states; empty by default."""
    return phase.get("signals", {})


# Metadata: the type of each, in code and as text.
_META: dict[str, tuple[Callable[[Any], bool], str]] = {
    "schema": (lambda v: type(v) is int, "an integer"),
    "versions": (lambda v: _object(v) and _texts(list(v.values())), "an object of texts"),
    "status": (lambda v: _text(v) and v in list(Status), f"one of {', '.join(Status)}"),
    "message": (_text, "a text"),
    "tolerance": (lambda v: _number(v) and v > 0, "a positive number"),
    "cost_tolerance": (lambda v: _number(v) and v > 0, "a positive number"),  # where it is another
    "kept": (_kept, "costs and their bounds, as many finite numbers each"),  # of costs in order of importance
    "cost": (_number, "a finite number"),
    "terms": (_numbers, "an object of finite numbers"),
    "weights": (lambda v: isinstance(v, list) and all(map(_number, v)), "a list of finite numbers"),  # of cases
    "duration": (lambda v: _number(v) and v > 0, "a positive number"),
    "iterations": (lambda v: type(v) is int and 0 <= v < _MOST, "a number of iterations"),
    "seconds": (
        lambda v: _numbers(v) and _SECONDS <= set(v) <= _SECONDS | _MORE_SECONDS and min(v.values()) >= 0,
        "the seconds of build, solve and other parts of a call",
    ),
    "violations": (lambda v: isinstance(v, list), "a list"),
    "phases": (
        lambda v: _object(v) and len(v) > 0 and all(map(_phase, v.values())) and (all(v) or len(v) == 1),
        "an object of phases with model, joints and curve",
    ),
    "rounds": (lambda v: isinstance(v, list), "a list"),
    "fingerprint": (
        lambda v: _object(v) and all(type(size) is int and size >= 0 for size in v.values()),
        "an object of sizes",
    ),
    "sha256": (_text, "a text"),
}


def _check_meta(name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """InputError unless all metadata are present and legal, and the checksum is correct."""
    schema = meta.get("schema")
    if schema != SCHEMA or type(schema) is not int:
        raise InputError(f"{name!r} has schema version {schema!r:.50}, this library reads {SCHEMA}")
    needed = [field for field in _META if field in meta or field not in ("cost_tolerance", "kept", "weights")]
    _check_names(name, "metadata", needed, meta)
    for field, value in meta.items():
        legal, words = _META[field]
        if not legal(value):
            raise InputError(f"{name!r}: {field} must be {words}, got {value!r:.200}")
    if meta["sha256"] != checksum(arrays, meta):
        raise InputError(f"{name!r} is damaged: its checksum does not fit its content")
    status, message = Status(meta["status"]), meta["message"]
    if status in _CONTENT and STATUS_OF_MESSAGE.get(message.partition(",")[0], status) not in _CONTENT:
        raise InputError(
            f"{name!r} contradicts itself: its status is {str(status)!r}, the solver's message {message!r}"
        )


def _check_names(name: str, what: str, needed: Iterable[str], fields: Iterable[str]) -> None:
    """InputError for fields that are missing or unknown."""
    needed, fields = dict.fromkeys(needed), dict.fromkeys(fields)
    missing, unknown = [f for f in needed if f not in fields], [f for f in fields if f not in needed]
    if missing or unknown:
        raise InputError(
            f"{name!r} is not a saved solution: {what} missing {quoted(missing)}, unknown {quoted(unknown)}"
        )


def _check_arrays(name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """InputError unless all arrays are present, finite, and of the right shapes and types."""
    prefixes = _prefixes(meta["phases"])
    phases = dict(zip(prefixes, meta["phases"].values(), strict=True))
    tables = [prefix + field for prefix in prefixes for field in ("t", *TABLES)]
    tables += [f"{prefix}{_SIGNAL}{signal}" for prefix, phase in phases.items() for signal in _signals(phase)]
    added = [prefix + field for prefix in prefixes if f"{prefix}extra_s" in arrays for field in _ADDED]
    history = [field for field in arrays if field.startswith(_HISTORY)]
    _check_names(name, "arrays", [*_VECTORS, *tables, *added, *history], arrays)
    shapes = {}
    for prefix, phase in phases.items():
        count = arrays[f"{prefix}t"].size
        shapes |= {prefix + field: (count, len(phase["joints"])) for field in TABLES}
        shapes[f"{prefix}q"] = (count, len(_positions(phase)))
        shapes |= {f"{prefix}{_SIGNAL}{signal}": (count, len(labels)) for signal, labels in _signals(phase).items()}
    for field, array in arrays.items():
        shape, kind = shapes.get(field, (array.size,)), "i" if field.endswith("extra_interval") else "f"
        if array.shape != shape or array.dtype.kind != kind or array.dtype.itemsize != 8:
            raise InputError(
                f"{name!r}: {field} must be 64-bit numbers of shape {shape}, got {array.dtype} of {array.shape}"
            )
    # A failed solve may not know its multipliers.
    finite = ["x", "parameters", *tables, *(("lam_g", "lam_x") if Status(meta["status"]) in _OPTIMAL else ())]
    for field in finite:
        if not np.isfinite(arrays[field]).all():
            raise InputError(f"{name!r}: {field} must be finite, got {quoted(arrays[field])}")
    if len(lengths := {arrays[field].size for field in history}) > 1:
        raise InputError(f"{name!r}: the histories must be of one length, got {sorted(lengths)}")
    if arrays["fingerprint"].size != sum(meta["fingerprint"].values()):
        raise InputError(f"{name!r}: the fingerprint must have as many numbers as its parts")
