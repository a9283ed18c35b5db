"""Signals of a motion by name: one list for figures, tables, files, viewers and guesses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.model import Model
from colloc.problem.phases import Phases
from colloc.problem.problem import Problem
from colloc.problem.signal import Signal
from colloc.problem.time_sets import WHOLE

_TITLES = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque"}
_RATES = {"q": "", "qd": "/s", "qdd": "/s2"}


def signals_of(problem: Problem | Phases) -> dict[str, Signal]:
    """Signals of a problem by name.

    Positions, velocities, accelerations and torques of the joints, then unknown signals, states, and the forces of
    loads by body. Phases have all signals of any of them, components by name, with the widest bounds.

    Examples
    --------
    >>> list(co.problem.signals_of(problem))
    ['q', 'qd', 'qdd', 'tau']
    """
    parts: dict[str, list[Signal]] = {}
    for phase in problem.phases.values():
        for signal in _signals(phase):
            parts.setdefault(signal.name, []).append(signal)
    return {name: signals[0] if len(signals) == 1 else _joined(signals) for name, signals in parts.items()}


def _signals(problem: Problem) -> Iterable[Signal]:
    """The signals of one phase; add new kinds of signals here."""
    zero = _zero_rows(problem)
    for quantity in _TITLES if problem.model.n else ():
        yield _of_joints(problem, quantity, zero)
    for unknown in (*problem.signals, *problem.states):
        held = ((unknown.lower == 0) & (unknown.upper == 0)) | _held(unknown.symbol, zero)
        limits = {"lower": unknown.lower, "upper": unknown.upper, "zero": held}
        yield Signal(
            unknown.name, partial(_quantity, unknown.name), unknown.size, unknown.names, unknown.units, **limits
        )
    for body in dict.fromkeys(load.body for load in problem.all_loads):
        force = partial(_force_on, body, len(problem.all_loads))
        if not force(problem.instant).is_constant():
            yield Signal(f"force on {body}", force, names=("x", "y", "z"), unit="N")
    yield from problem.part_signals


def _of_joints(problem: Problem, quantity: str, zero: set[int]) -> Signal:
    model, value = problem.model, partial(_quantity, quantity)
    lower, upper = problem.limits(quantity)
    held = ((lower == 0) & (upper == 0)) | _held(value(problem.instant), zero)
    names, units, title = model.names(quantity), quantity_units(model, quantity), f"joint {_TITLES[quantity]}"
    limits = {"lower": lower, "upper": upper, "zero": held}
    kind = {"of_joints": True, "secondary": quantity == "qdd"}
    return Signal(quantity, value, len(names), names, units, title=title, **limits, **kind)


def quantity_units(model: Model, quantity: str) -> tuple[str, ...]:
    """Unit of every entry of a joint quantity: "q", "qd", "qdd" or "tau"."""
    if quantity == "tau":
        return model.torque_units
    return model.position_units if quantity == "q" else tuple(unit + _RATES[quantity] for unit in model.screw_units)


def _quantity(name: str, now: Instant) -> ca.SX:
    return getattr(now, name)


def _force_on(body: str, count: int, now: Instant) -> ca.SX:
    """Sum of the forces of the first `count` loads on a body, SX, shape (3,) [N]; the other loads are of loops."""
    return sum((load.force for load in (now.loads or ())[:count] if load.body == body), start=ca.SX.zeros(3))


def _zero_rows(problem: Problem) -> set[int]:
    """Hashes of expressions that rows hold at zero for the whole motion, and of symbols that are zero with them."""
    zero: set[int] = set()
    for entry in problem.rows.values():
        lower, upper, expression = entry.rows.lower, entry.rows.upper, entry.rows.expression
        for k in np.flatnonzero((lower == 0) & (upper == 0) & (entry.constraint.where == WHOLE)).tolist():
            row, symbols = expression[k], ca.symvar(expression[k])
            zero.add(row.element_hash())
            if len(symbols) == 1 and ca.is_linear(row, symbols[0]) and ca.substitute(row, symbols[0], 0).is_zero():
                zero.add(symbols[0].element_hash())
    return zero


def _held(value: ca.SX, zero: set[int]) -> np.ndarray:
    return np.array([value[k].element_hash() in zero for k in range(value.shape[0])], bool)


def _joined(signals: Sequence[Signal]) -> Signal:
    """A signal of several phases, with the components of all of them; by unit as well where units differ."""
    units: dict[str | int, dict[str, None]] = {}
    places: dict[tuple[str | int, str], list[tuple[Signal, int]]] = {}
    for signal in signals:
        for k, key in enumerate(zip(signal.components, signal.units, strict=True)):
            units.setdefault(key[0], {})[key[1]] = None
            places.setdefault(key, []).append((signal, k))
    names = [f"{name}, {unit}" if len(units[name]) > 1 else str(name) for name, unit in places]
    first = signals[0]
    return Signal(
        first.name,
        first.value,
        len(places),
        names if any(signal.names for signal in signals) else (),
        [unit for _, unit in places],
        [min(signal.lower[k] for signal, k in part) for part in places.values()],
        [max(signal.upper[k] for signal, k in part) for part in places.values()],
        [all(signal.zero[k] for signal, k in part) for part in places.values()],
        first.title,
        first.of_joints,
        first.secondary,
    )


def columns_of(phase: Signal, whole: Signal) -> list[int]:
    """Indices of the components of a phase's signal among those of the signal of all phases."""
    places = {component: k for k, component in enumerate(whole.components)}
    pairs = zip(phase.components, phase.units, strict=True)
    return [places[name] if name in places else places[f"{name}, {unit}"] for name, unit in pairs]
