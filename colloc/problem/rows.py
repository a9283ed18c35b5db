"""Rows of a constraint: expressions with bounds, names, units and natural sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.problem.user_functions import returned
from colloc.support.checks import InputError, finite_array, function, interval, quoted, text

_LOOSE = 1e4  # from how many times the size of the other one on a bound tells no size
_TIGHT = 1e-50  # bounds that are tighter are meant as zero


class Rows(NamedTuple):
    """A constraint in symbols: lower <= expression <= upper. A cost has no bounds: its rows are summed.

    Parameters
    ----------
    expression : SX, shape (r,)
    lower, upper : ndarray, shape (r,)
        Empty for a cost.
    labels : tuple of str
        Name of every row, with its joint where it has one.
    units : tuple of str
        Unit of every row; empty where none is stated.
    scale : ndarray, shape (r,)
        Natural size of every row, in its own unit. Empty for a cost.
    """

    expression: ca.SX
    lower: np.ndarray
    upper: np.ndarray
    labels: tuple[str, ...]
    units: tuple[str, ...]
    scale: np.ndarray

    def take(self, chosen: Sequence[int]) -> Rows:
        """Some of the rows."""
        chosen = list(chosen)
        labels, units = (tuple(names[k] for k in chosen) for names in (self.labels, self.units))
        expression = self.expression[chosen]
        return Rows(expression, self.lower[chosen], self.upper[chosen], labels, units, self.scale[chosen])


def summed(expression: ca.SX, labels: Sequence[str]) -> Rows:
    """Rows of a cost."""
    none = np.zeros(0)
    return Rows(expression, none, none, tuple(labels), ("",) * len(labels), none)


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

    Raises
    ------
    InputError
        For a value that is not a scalar or a column, or bounds and scales of another shape.
    """
    returned(f"constraint {name!r}", value)
    try:
        expression = ca.SX(ca.vertcat(*value) if isinstance(value, list | tuple) else value)
    except (TypeError, NotImplementedError):
        raise InputError(f"constraint {name!r} must return an SX scalar or column, got {quoted(value)}") from None
    if expression.shape[1] != 1 or expression.shape[0] == 0:
        raise InputError(f"constraint {name!r} must return a scalar or a column, got shape {expression.shape}")
    count = expression.shape[0]
    low, high = interval(f"constraint {name!r}", lower, upper, (count,))
    size = natural_size(low, high) if scale is None else finite_array(f"constraint {name!r} scale", scale, (count,))
    units = (unit,) * count if isinstance(unit, str) else tuple(unit)
    if len(units) != count:
        raise InputError(f"constraint {name!r} needs one unit or {count}, got {quoted(unit)}")
    own = tuple(labels) or ((name,) if count == 1 else tuple(f"{name}[{k}]" for k in range(count)))
    return Rows(ca.densify(expression), low, high, own, units, size)


def column(what: str, value: Any, size: int) -> ca.SX:
    """What a user's function returned as SX, of any shape; InputError, which states a size, for what is no SX."""
    returned(what, value)
    try:
        return ca.SX(ca.vertcat(*value) if isinstance(value, list | tuple) else value)
    except (TypeError, NotImplementedError):
        raise InputError(f"{what} must return SX, shape ({size},), got {quoted(value)}") from None


def name_of(what: str, fn: Any, name: Any, *arguments: str) -> str:
    """Name of a function of the instant: the one given, else its own; empty for a lambda.

    Its arguments are looked at if their names are given.
    """
    function(what, fn, "a function of the instant", *arguments)
    if name is not None:
        return text(f"{what} name", name)
    own = getattr(fn, "__name__", "<lambda>")
    return "" if own == "<lambda>" else own


def unique(name: str, taken: Mapping[str, object]) -> str:
    """The name, with a number where it is taken."""
    k = 2
    unique = name
    while unique in taken:
        unique, k = f"{name} {k}", k + 1
    return unique


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
