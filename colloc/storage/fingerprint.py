"""What a problem is in numbers: enough to tell whether a stored solution belongs to it.

A problem holds Python functions, which cannot be compared; their values can. Torques, costs and constraints are
evaluated at made-up instants, always the same ones, which rounding and a rewritten library leave as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from colloc.blocks.torques import inverse_dynamics_of
from colloc.dynamics import newton_euler
from colloc.problem import Problem, Sequence, Slots, State
from colloc.problem.where import Moment, Window

_INSTANTS = 3
_GOLDEN = (5**0.5 - 1) / 2  # its multiples, less their whole parts, fill an interval evenly
_SAME = 1e-6  # relative; rounding is far below, and nobody states a mass to more digits
_NOTHING = 1e-9  # of the largest number of a part
_MOMENTS = ("start", "end", "all along")
_POSITIVE = ("t", "duration", "constants", "parameters")  # masses and lengths may be among them


def fingerprint(problem: Problem) -> dict[str, np.ndarray]:
    """Numbers that say what a problem is, by part: the model with its loads, the duration, every cost and constraint.

    Returns
    -------
    dict of str to ndarray, shape (N,)
        Not a number where a function is none at a made-up instant.
    """
    horizon = problem.horizon
    found = {
        "masses, lengths, gravity, passive parts or loads": _values(
            problem.function("model", inverse_dynamics_of(problem, newton_euler))
        ),
        "duration": np.array([horizon.lower, horizon.upper]),
    }
    for unknown in problem.unknowns:
        limits = np.concatenate([unknown.lower, unknown.upper])
        kind = 2.0 if isinstance(unknown, State) else float(unknown.constant)
        found[f"unknown {unknown.name!r}"] = np.append(kind, limits)
    for parameter in problem.parameters:  # its value is the solve's
        found[f"parameter {parameter.name!r}"] = np.array([parameter.value.size])
    for name, (term, function) in problem.costs.items():
        found[f"cost {name!r}"] = np.append([term.weight, float(term.terminal)], _values(function))
    for name, stated in problem.rows.items():
        where, rows = stated.constraint.where, stated.rows
        place = where if isinstance(where, Window | Moment) else ()
        found[f"constraint {name!r}"] = np.concatenate([place, rows.lower, rows.upper, _values(stated.function)])
    if problem.closure is not None:
        found["loops"] = _values(problem.closure.function)
    return found


def links_fingerprint(sequence: Sequence) -> dict[str, np.ndarray]:
    """The same of what holds across the phases of a sequence: links and other constraints, and costs of the whole.

    Returns
    -------
    dict of str to ndarray, shape (N,)
    """
    phases, found = list(sequence.phases), {}
    across = {f"constraint {name!r}": own for name, own in sequence.rows.items()}
    across |= {f"cost {name!r}": own for name, (_, own) in sequence.costs.items()}
    for name, (rows, places, function) in across.items():
        where = [(phases.index(place.phase), _MOMENTS.index(place.moment)) for place in places]
        found[name] = np.concatenate([np.ravel(where), rows.lower, rows.upper, _values(function)])
    return found


def differences(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> list[str]:
    """Parts in which two problems differ."""
    return [part for part in {**one, **other} if not same(one.get(part), other.get(part))]


def same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Whether two arrays hold the same numbers but for rounding."""
    if one is None or other is None or one.shape != other.shape:
        return False
    size = max((float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in (one, other)), default=0.0)
    return np.allclose(one, other, rtol=_SAME, atol=_NOTHING * size, equal_nan=True)


def _values(function: ca.Function) -> np.ndarray:
    """A function of the slots of one or several instants, at the made-up ones."""
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
