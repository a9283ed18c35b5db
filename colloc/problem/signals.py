"""What varies in time along a motion, by name: one list for figures, tables, files, viewers and guesses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.model import Model
from colloc.problem.phases import Phases
from colloc.problem.problem import Problem
from colloc.problem.time_sets import WHOLE
from colloc.problem.unknowns import State, Unknown, component_labels

_TITLES = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque"}
_RATES = {"q": "", "qd": "/s", "qdd": "/s2"}


@dataclass(frozen=True, eq=False)
class Signal:
    """A quantity that varies in time along a motion: of the joints, of an unknown or a state, of what acts on a body.

    Parameters
    ----------
    name : str
        Such as "q", "tau", "activation".
    title : str
        In words, for the axis of a figure.
    value : callable
        Instant -> SX, shape (size,).
    names : tuple of str
        Names of its components: joints, muscles, axes; empty where they have none.
    units : tuple of str, of length size
    lower, upper : ndarray, shape (size,)
        Bounds that hold all along; infinite where there are none.
    zero : ndarray of bool, shape (size,)
        Whether the problem holds a component at zero, such as the torque of a joint that nothing drives.
    of_joints : bool
        Whether its components are those of the joints.

    Examples
    --------
    >>> from colloc.problem.signals import signals_of
    >>> signals_of(problem)["tau"].labels, signals_of(problem)["tau"].upper
    (('tau[shoulder]', 'tau[elbow]'), array([10., 10.]))
    """

    name: str
    title: str
    value: Callable[[Instant], ca.SX]
    names: tuple[str, ...]
    units: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    zero: np.ndarray
    of_joints: bool = False

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.units)

    @property
    def components(self) -> tuple[str | int, ...]:
        """Names of the components, or their numbers."""
        return self.names or tuple(range(self.size))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the components with that of the signal, such as "tau[elbow]"."""
        return component_labels(self.name, self.size, self.names)

    @property
    def fixed(self) -> np.ndarray:
        """Components that are held at zero, or at another number by their bounds, ndarray of bool, shape (size,)."""
        return self.zero | (self.lower == self.upper)


def signals_of(problem: Problem | Phases) -> dict[str, Signal]:
    """What varies in time along the motion of a problem, by name.

    Positions, velocities, accelerations and torques of the joints, unless there are none, then unknown signals, states,
    and the forces of loads by body. Of phases all that any of them has, components by name, with the widest bounds.

    Parameters
    ----------
    problem : Problem or Phases

    Examples
    --------
    >>> list(signals_of(problem))
    ['q', 'qd', 'qdd', 'tau']
    """
    parts: dict[str, list[Signal]] = {}
    for phase in problem.phases.values():
        for signal in _signals(phase):
            parts.setdefault(signal.name, []).append(signal)
    return {name: signals[0] if len(signals) == 1 else _joined(signals) for name, signals in parts.items()}


def _signals(problem: Problem) -> Iterable[Signal]:
    """The signals of one phase; a new kind of signal is a line here."""
    zero = _zero_rows(problem)
    for quantity in _TITLES if problem.model.n else ():
        yield _of_joints(problem, quantity, zero)
    for unknown in (*problem.signals, *problem.states):
        yield _of_unknown(problem, unknown, zero)
    for body in dict.fromkeys(load.body for load in problem.loads):
        force = partial(_force_on, body, len(problem.loads))
        if not force(problem.instant).is_constant():
            free = np.full(3, np.inf)
            axes, units = ("x", "y", "z"), ("N",) * 3
            yield Signal(f"force on {body}", f"force on {body}", force, axes, units, -free, free, np.zeros(3, bool))


def _of_joints(problem: Problem, quantity: str, zero: set[int]) -> Signal:
    model = problem.model
    lower, upper = problem.limits(quantity)
    value = partial(_quantity, quantity)
    held = ((lower == 0) & (upper == 0)) | _held(value(problem.instant), zero)
    title, names = f"joint {_TITLES[quantity]}", model.names(quantity)
    return Signal(quantity, title, value, names, quantity_units(model, quantity), lower, upper, held, of_joints=True)


def _of_unknown(problem: Problem, unknown: Unknown | State, zero: set[int]) -> Signal:
    held = ((unknown.lower == 0) & (unknown.upper == 0)) | _held(unknown.symbol, zero)
    value, names = partial(_quantity, unknown.name), tuple(unknown.names)
    title = unknown.name.replace("_", " ")
    return Signal(unknown.name, title, value, names, unknown.units, unknown.lower, unknown.upper, held)


def quantity_units(model: Model, quantity: str) -> tuple[str, ...]:
    """Unit of every entry of a joint quantity: "q", "qd", "qdd" or "tau".

    Parameters
    ----------
    model : Model
    quantity : str
    """
    if quantity == "tau":
        return model.torque_units
    return model.position_units if quantity == "q" else tuple(unit + _RATES[quantity] for unit in model.screw_units)


def _quantity(name: str, now: Instant) -> ca.SX:
    return getattr(now, name)


def _force_on(body: str, count: int, now: Instant) -> ca.SX:
    """Sum of the forces of the first loads of an instant on a body, SX, shape (3,) [N]; others are those of loops."""
    return sum((load.force for load in (now.loads or ())[:count] if load.body == body), start=ca.SX.zeros(3))


def _zero_rows(problem: Problem) -> set[int]:
    """Hashes of the expressions that rows hold at zero all along."""
    zero: set[int] = set()
    for entry in problem.rows.values():
        lower, upper, expression = entry.rows.lower, entry.rows.upper, entry.rows.expression
        if entry.constraint.where == WHOLE:
            zero |= {expression[k].element_hash() for k in np.flatnonzero((lower == 0) & (upper == 0)).tolist()}
    return zero


def _held(value: ca.SX, zero: set[int]) -> np.ndarray:
    return np.array([value[k].element_hash() in zero for k in range(value.shape[0])], bool)


def _joined(signals: Sequence[Signal]) -> Signal:
    """A signal of several phases, with the components of all of them."""
    first = signals[0]
    places: dict[str | int, list[tuple[Signal, int]]] = {}
    for signal in signals:
        for k, component in enumerate(signal.components):
            places.setdefault(component, []).append((signal, k))
    names = tuple(map(str, places)) if any(signal.names for signal in signals) else ()
    units = tuple(signal.units[k] for (signal, k), *_ in places.values())
    lower = np.array([min(signal.lower[k] for signal, k in part) for part in places.values()])
    upper = np.array([max(signal.upper[k] for signal, k in part) for part in places.values()])
    zero = np.array([all(signal.zero[k] for signal, k in part) for part in places.values()], bool)
    return Signal(first.name, first.title, first.value, names, units, lower, upper, zero, first.of_joints)
