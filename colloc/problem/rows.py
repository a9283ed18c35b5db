"""Rows of a constraint or a cost, from the values of users' functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.rows import Rows
from colloc.problem.user_functions import check_returned
from colloc.support.checks import InputError, as_tuple, finite_array, function, interval, quoted, text

_LOOSE = 1e4  # from how many times the size of the other one on a bound tells no size
_TIGHT = 1e-50  # bounds that are tighter are meant as zero


def no_rows() -> Rows:
    """Empty rows."""
    return summed(ca.SX(0, 1), ())


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
    """Rows from the value of a user's function.

    A scalar has the name of its constraint, rows of a column the labels. Without labels a problem names them by the
    joints or signals that they depend on.

    Parameters
    ----------
    name : str
    value : SX, scalar or column
    lower, upper : float or shape (r,)
    scale : float or shape (r,), optional
        Natural sizes; by default those of the bounds, see `natural_size`.
    unit : str or sequence of str
    labels : sequence of str

    Raises
    ------
    InputError
        For a value that is not a scalar or a column, and bounds, scales, units or labels of another size.

    Examples
    --------
    >>> co.problem.bounded("speed", ca.SX.sym("v"), -1.0, 1.0, unit="m/s").labels
    ('speed',)
    """
    check_returned(f"constraint {text('name of a constraint', name)!r}", value)
    try:
        expression = ca.SX(ca.vertcat(*value) if isinstance(value, list | tuple) else value)
    except (TypeError, NotImplementedError):
        raise InputError(f"constraint {name!r} must return an SX scalar or column, got {quoted(value)}") from None
    if expression.shape[1] != 1 or expression.shape[0] == 0:
        raise InputError(f"constraint {name!r} must return a scalar or a column, got shape {expression.shape}")
    if isinstance(value, list | tuple) and any(isinstance(entry, list | tuple) for entry in value):
        raise InputError(f"constraint {name!r} must return a column, got a list of lists: {quoted(value)}")
    r = expression.shape[0]
    low, high = interval(f"constraint {name!r}", lower, upper, (r,))
    size = natural_size(low, high) if scale is None else finite_array(f"constraint {name!r} scale", scale, (r,))
    units = (unit,) * r if isinstance(unit, str) else texts(f"unit of constraint {name!r}", unit)
    if len(units) != r:
        raise InputError(f"constraint {name!r} needs one unit or {r}, got {quoted(unit)}")
    names = texts(f"labels of constraint {name!r}", labels) or ((name,) if r == 1 else ("",) * r)
    if len(names) != r:
        raise InputError(f"constraint {name!r} needs {r} labels, got {quoted(labels)}")
    return Rows(ca.densify(expression), low, high, names, units, size)


def texts(what: str, values: Any) -> tuple[str, ...]:
    """A tuple of texts, some of which may be empty; InputError for anything else."""
    return tuple(
        "" if isinstance(value, str) and value == "" else text(what, value) for value in as_tuple(what, values)
    )


def column(what: str, value: Any, size: int) -> ca.SX:
    """The value of a user's function as SX, of any shape; InputError, with the size expected, for anything else."""
    check_returned(what, value)
    try:
        return ca.SX(ca.vertcat(*value) if isinstance(value, list | tuple) else value)
    except (TypeError, NotImplementedError):
        raise InputError(f"{what} must return SX, shape ({size},), got {quoted(value)}") from None


def name_of(what: str, fn: Any, name: Any, *arguments: str) -> str:
    """Name of a function of the instant: `name`, else that of the function itself; empty for a lambda.

    With names of arguments, the number of the function's arguments is checked.
    """
    function(what, fn, "a function of the instant", *arguments)
    if name is not None:
        return text(f"{what} name", name)
    name = getattr(fn, "__name__", "<lambda>")
    return "" if name == "<lambda>" else name


def unique(name: str, taken: Mapping[str, object]) -> str:
    """The name, with a number appended if it is taken."""
    numbered = (f"{name} {k}" for k in count(2))
    return name if name not in taken else next(candidate for candidate in numbered if candidate not in taken)


def natural_size(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Natural size of a bounded quantity: half the range, else the size of the only bound or value, else 1.

    A bound that is far looser than the other one counts as at most 1e4 times that one, or 1e4.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        half = (upper - lower) / 2
        most = _LOOSE * np.maximum(np.minimum(np.abs(lower), np.abs(upper)), 1.0)
    only = np.where(np.isfinite(lower), np.abs(lower), np.abs(upper))
    size = np.where(np.isfinite(half), np.minimum(half, most), only)
    size = np.where(lower == upper, np.abs(lower), size)
    return np.where(np.isfinite(size) & (size > _TIGHT), size, 1.0)
