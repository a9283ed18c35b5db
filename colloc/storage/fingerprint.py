"""A problem in numbers: enough to tell whether a stored solution belongs to it.

A problem holds Python functions, which cannot be compared; their values can. Torques, costs and constraints are
evaluated at fixed artificial instants, which do not depend on rounding or on the version of the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import casadi as ca
import numpy as np

from colloc.problem import Phases, Problem, Slots, State

_INSTANTS = 3
_GOLDEN = (5**0.5 - 1) / 2  # its multiples, less their whole parts, fill an interval evenly
_SAME = 1e-6  # relative; rounding is far below, and nobody states a mass to more digits
_NOTHING = 1e-9  # of the largest number of a part
_TIMES = ("start", "end", "all along")
_POSITIVE = ("t", "duration", "constants", "parameters")  # masses and lengths may be among them


def fingerprint(problem: Problem | Phases) -> dict[str, np.ndarray]:
    """Numbers that identify a problem, shape (N,), by part: model with loads, duration, costs, constraints.

    A motion in phases has those of every phase, and of statements across them. NaN where a function is undefined at an
    artificial instant.
    """
    if (alone := problem.phases.get("")) is not None:
        return _phase_parts(alone)
    sequence, names, parts = cast(Phases, problem), list(problem.phases), {}
    across = {f"constraint {name!r}": rows for name, rows in sequence.rows.items()}
    across |= {f"cost {name!r}": rows for name, (_, rows) in sequence.costs.items()}
    for name, entry in across.items():
        where = [(names.index(point.phase), _TIMES.index(point.time)) for point in entry.points]
        parts[name] = np.concatenate([np.ravel(where), entry.rows.lower, entry.rows.upper, _values(entry.function)])
    for name, phase in sequence.phases.items():
        parts |= {f"{part} of phase {name!r}": numbers for part, numbers in _phase_parts(phase).items()}
    return parts


def _phase_parts(problem: Problem) -> dict[str, np.ndarray]:
    horizon = problem.horizon
    parts = {
        "masses, lengths, gravity, passive parts or loads": _values(
            problem.function("model", problem.inverse_dynamics())
        ),
        "duration": np.array([horizon.lower, horizon.upper]),
    }
    for unknown in problem.all_unknowns:
        limits = np.concatenate([unknown.lower, unknown.upper])
        kind = 2.0 if isinstance(unknown, State) else float(unknown.constant)
        parts[f"unknown {unknown.name!r}"] = np.append(kind, limits)
    for parameter in problem.all_parameters:  # its value is the solve's
        parts[f"parameter {parameter.name!r}"] = np.array([parameter.value.size])
    for name, (term, function) in problem.costs.items():
        parts[f"cost {name!r}"] = np.append([term.weight, float(term.final)], _values(function))
    for name, rows in problem.rows.items():
        times = np.array(tuple(rows.constraint.where), dtype=float)
        parts[f"constraint {name!r}"] = np.concatenate(
            [times, rows.rows.lower, rows.rows.upper, _values(rows.function)]
        )
    if problem.closure is not None:
        parts["loops"] = _values(problem.closure.function)
    return parts


def differences(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> list[str]:
    """Parts in which two problems differ."""
    return [part for part in {**first, **second} if not same(first.get(part), second.get(part))]


def same(first: np.ndarray | None, second: np.ndarray | None) -> bool:
    """Whether two arrays hold the same numbers up to rounding."""
    if first is None or second is None or first.shape != second.shape:
        return False
    size = max(float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in (first, second))
    return np.allclose(first, second, rtol=_SAME, atol=_NOTHING * size, equal_nan=True)


def _values(function: ca.Function) -> np.ndarray:
    """Values at the artificial instants of a function of the slots of an instant, or of several."""
    names = Slots._fields
    values = []
    for k in range(_INSTANTS):
        arguments, begin = [], 1 + 1000 * k
        for i in range(function.n_in()):
            count = function.size1_in(i)
            even = np.modf(_GOLDEN * np.arange(begin, begin + count))[0]
            arguments.append(0.2 + 0.8 * even if names[i % len(names)] in _POSITIVE else 2 * even - 1)
            begin += count
        values.append(np.array(function.call(arguments)[0]).ravel())
    return np.concatenate(values)
