"""Rows of a constraint: expressions with bounds, names, units and natural sizes, and as functions of the instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, Protocol

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Slots
from colloc.model import Model
from colloc.problem.time_sets import PointSet, PointSets, TimeSet
from colloc.problem.user_functions import check_returned
from colloc.support.checks import InputError, finite_array, function, interval, quoted, text
from colloc.support.lazy import cached_property

_LOOSE = 1e4  # from how many times the size of the other one on a bound tells no size
_TIGHT = 1e-50  # bounds that are tighter are meant as zero
# The highest time derivative of the coordinates in a row, by the slots that the row depends on.
_ORDERS = {"q": 0, "qd": 1, "qdd": 2, "tau": 2, "signals": 2, "jerk": 2, "tau_rate": 2}
_ORDERS |= {"signal_rates": 2, "states": 1, "state_rates": 2}


class Rows(NamedTuple):
    """A constraint in symbols: lower <= expression <= upper. A cost has no bounds: its rows are summed."""

    expression: ca.SX  # shape (r,)
    lower: np.ndarray  # lower, upper: shape (r,); empty for a cost
    upper: np.ndarray
    labels: tuple[str, ...]  # name of every row, with its joint where it has one
    units: tuple[str, ...]  # unit of every row; empty where none is stated
    scale: np.ndarray  # shape (r,); natural size of every row, in its own unit. Empty for a cost.

    def take(self, chosen: Sequence[int]) -> Rows:
        """Some of the rows."""
        chosen = list(chosen)
        labels, units = (tuple(names[k] for k in chosen) for names in (self.labels, self.units))
        expression = self.expression[chosen]
        return Rows(expression, self.lower[chosen], self.upper[chosen], labels, units, self.scale[chosen])


class TimedConstraint(Protocol):
    """A constraint, of whatever kind, that holds at certain times."""

    @property
    def name(self) -> str: ...
    @property
    def where(self) -> TimeSet: ...

    def points(self, grid: PointSets[PointSet]) -> Sequence[PointSet]:
        """The points at which the rows hold."""
        ...


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """A constraint with its rows as a function of the instant."""

    constraint: TimedConstraint
    rows: Rows  # in the symbols of the problem's instant
    # of the `Slots` of an instant -> the rows; between the ends of those of the first and then the last instant
    function: ca.Function
    model: Model  # the model, which says how positions change with velocities

    def of(self, arguments: Sequence[ca.SX]) -> Rows:
        """The rows as expressions in what stands for the slots."""
        return self.rows._replace(expression=self.function(*arguments))

    @cached_property
    def orders(self) -> np.ndarray:
        """Highest time derivative of the coordinates that each row needs, ndarray of int, shape (r,).

        0 for positions alone, 1 for velocities, 2 for all else: torques and signals go with accelerations.
        """
        orders = np.full(self.rows.lower.size, -1)
        for name, order in _ORDERS.items():
            dependent = self.function.jac_sparsity(0, Slots._fields.index(name)).get_triplet()[0]
            orders[dependent] = np.maximum(orders[dependent], order)
        return np.where(orders < 0, 2, orders)

    @cached_property
    def rate(self) -> ConstraintRows:
        """The time derivative, to be zero, of rows of order 0."""
        slots = Slots(*self.function.sx_in())
        rates = ca.vertcat(1, self.model.position_rates(slots.q, slots.qd))
        rate = ca.jtimes(self.function(*slots), ca.vertcat(slots.t, slots.q), rates)
        zero = np.zeros(self.orders.size)
        labels = tuple(f"rate of {label}" for label in self.rows.labels)
        units = tuple(f"{unit}/s" if unit else "" for unit in self.rows.units)
        rows = Rows(rate, zero, zero, labels, units, self.rows.scale)
        return ConstraintRows(self.constraint, rows, ca.Function("rate", [*slots], [rate]), self.model)


def summed(expression: ca.SX, labels: Sequence[str]) -> Rows:
    """Rows of a cost."""
    empty = np.zeros(0)
    return Rows(expression, empty, empty, tuple(labels), ("",) * len(labels), empty)


def bounded(
    name: str,
    value: Any,
    lower: Any,
    upper: Any,
    scale: Any = None,
    unit: str | Sequence[str] = "",
    labels: Sequence[str] = (),
) -> Rows:
    """Rows from what a user's function returned.

    InputError for a value that is not a scalar or a column, or bounds and scales of another shape.
    """
    check_returned(f"constraint {name!r}", value)
    try:
        expression = ca.SX(ca.vertcat(*value) if isinstance(value, list | tuple) else value)
    except (TypeError, NotImplementedError):
        raise InputError(f"constraint {name!r} must return an SX scalar or column, got {quoted(value)}") from None
    if expression.shape[1] != 1 or expression.shape[0] == 0:
        raise InputError(f"constraint {name!r} must return a scalar or a column, got shape {expression.shape}")
    r = expression.shape[0]
    low, high = interval(f"constraint {name!r}", lower, upper, (r,))
    size = natural_size(low, high) if scale is None else finite_array(f"constraint {name!r} scale", scale, (r,))
    units = (unit,) * r if isinstance(unit, str) else tuple(unit)
    if len(units) != r:
        raise InputError(f"constraint {name!r} needs one unit or {r}, got {quoted(unit)}")
    names = tuple(labels) or ((name,) if r == 1 else tuple(f"{name}[{k}]" for k in range(r)))
    return Rows(ca.densify(expression), low, high, names, units, size)


def column(what: str, value: Any, size: int) -> ca.SX:
    """The value of a user's function as SX, of any shape; InputError, which states a size, for what is no SX."""
    check_returned(what, value)
    try:
        return ca.SX(ca.vertcat(*value) if isinstance(value, list | tuple) else value)
    except (TypeError, NotImplementedError):
        raise InputError(f"{what} must return SX, shape ({size},), got {quoted(value)}") from None


def name_of(what: str, fn: Any, name: Any, *arguments: str) -> str:
    """Name of a function of the instant: `name`, else that of the function itself; empty for a lambda.

    With names of arguments, it is checked that the function takes as many.
    """
    function(what, fn, "a function of the instant", *arguments)
    if name is not None:
        return text(f"{what} name", name)
    name = getattr(fn, "__name__", "<lambda>")
    return "" if name == "<lambda>" else name


def unique(name: str, taken: Mapping[str, object]) -> str:
    """The name, with a number where it is taken."""
    numbered = (f"{name} {k}" for k in count(2))
    return name if name not in taken else next(candidate for candidate in numbered if candidate not in taken)


def natural_size(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Natural size of a bounded quantity: half the range, else the size of the one bound or value, else 1.

    A bound that is far looser than the other one is meant as none and tells no size: it counts as 1e4 times the other
    one, or 1e4, at most.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        half = (upper - lower) / 2
        most = _LOOSE * np.maximum(np.minimum(np.abs(lower), np.abs(upper)), 1.0)
    only = np.where(np.isfinite(lower), np.abs(lower), np.abs(upper))
    size = np.where(np.isfinite(half), np.minimum(half, most), only)
    size = np.where(lower == upper, np.abs(lower), size)
    return np.where(np.isfinite(size) & (size > _TIGHT), size, 1.0)
