"""Validation of arguments, done once where a thing is made, and the error that says what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np


class InputError(ValueError):
    """An argument that cannot be used; the message quotes the argument, its value and the legal values."""


def unknown_name(what: str, name: object, legal: Iterable[str]) -> InputError:
    """Error for a name that does not exist: quotes it, guesses what was meant, lists the legal ones."""
    legal = list(legal)
    close = get_close_matches(str(name), legal, n=3)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    if close and len(legal) > 20:
        return InputError(f"no {what} named {name!r}{hint}")
    listed = ", ".join(legal[:20]) + (", ..." if len(legal) > 20 else "")
    return InputError(f"no {what} named {name!r}{hint} (known: {listed or 'none'})")


def finite_array(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Float array of exactly `shape`, every entry finite; a scalar fills a vector."""
    array = _float_array(name, value, shape)
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got {value!r}")
    return array


def _float_array(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, NotImplementedError):
        raise InputError(f"{name} must be numbers of shape {shape}, got {value!r}") from None
    if array.ndim == 0 and len(shape) == 1:
        array = np.full(shape, float(array))
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, got shape {array.shape}: {value!r}")
    return array


def as_tuple(name: str, value: Any) -> tuple[Any, ...]:
    """A tuple of the items of a list or another iterable."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(value)
    raise InputError(f"{name} must be a list, got {value!r}")


def symbolic(name: str, value: Any, shape: tuple[int, int]) -> ca.SX:
    """SX matrix of `shape` from numbers, symbols or nested sequences of both; numbers must be finite."""
    try:
        if isinstance(value, ca.SX | ca.DM):
            matrix = ca.SX(value)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            rows = [ca.horzcat(*row) if isinstance(row, Sequence) else ca.SX(row) for row in value]
            matrix = ca.SX(ca.vertcat(*rows))
        else:
            matrix = ca.SX(np.asarray(value, dtype=float))
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        raise InputError(f"{name} must be {_wanted(shape)}, numbers or SX symbols, got {value!r}") from None
    if matrix.shape != shape:
        raise InputError(f"{name} must be {_wanted(shape)}, got {value!r}")
    entries = [matrix.nz[k] for k in range(matrix.nnz())]
    if not all(math.isfinite(float(entry)) for entry in entries if entry.is_constant()):
        raise InputError(f"{name} must be finite, got {value!r}")
    return matrix


def _wanted(shape: tuple[int, int]) -> str:
    if shape == (1, 1):
        return "a scalar"
    return f"of shape {(shape[0],) if shape[1] == 1 else shape}"


def finite_number(name: str, value: Any, *, positive: bool = False) -> float:
    """A finite float, strictly positive where asked."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InputError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if not math.isfinite(number) or (positive and number <= 0):
        raise InputError(f"{name} must be finite{' and positive' if positive else ''}, got {value!r}")
    return number


def count(name: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """An integer within a range."""
    legal = f"an integer >= {at_least}" if at_most is None else f"an integer from {at_least} to {at_most}"
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise InputError(f"{name} must be {legal}, got {value!r}")
    if value < at_least or (at_most is not None and value > at_most):
        raise InputError(f"{name} must be {legal}, got {value!r}")
    return int(value)


def interval(name: str, lower: Any, upper: Any, shape: tuple[int, ...] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Bounds lower <= upper, infinite where there is none, never NaN; of `shape`, or as the two broadcast."""
    if shape is None:
        try:
            shape = np.broadcast_shapes(np.shape(lower), np.shape(upper))
        except ValueError:
            raise InputError(f"{name}: bounds have different shapes, got lower={lower!r}, upper={upper!r}") from None
    low, high = _float_array(f"{name} lower", lower, shape), _float_array(f"{name} upper", upper, shape)
    if np.isnan(low).any() or np.isnan(high).any():
        raise InputError(f"{name} bounds must not be NaN, got lower={lower!r}, upper={upper!r}")
    if (low > high).any():
        raise InputError(f"{name}: lower bound exceeds upper bound, got lower={lower!r}, upper={upper!r}")
    if (low == np.inf).any() or (high == -np.inf).any():
        raise InputError(f"{name}: no value satisfies lower={lower!r}, upper={upper!r}")
    return low, high
