"""Validation of arguments that may be symbols as well as numbers."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import InputError, float_array, quoted


def symbols(name: str, value: Any, shape: tuple[int, ...]) -> ca.SX:
    """Numbers or symbols as `symbolic`, of a column given as (n,) that a function of CasADi passes on unchanged."""
    if isinstance(value, ca.SX) and value.shape == (shape[0], 1):
        return value
    return symbolic(name, value, (shape[0], 1))


def symbolic(name: str, value: Any, shape: tuple[int, int]) -> ca.SX:
    """SX matrix of `shape` from numbers, symbols or nested sequences of both; numbers must be finite."""
    try:
        if isinstance(value, ca.SX | ca.DM):
            matrix = ca.SX(value)
        elif isinstance(value, list | tuple):
            matrix = ca.SX(ca.vertcat(*(_row(name, row) for row in value)))
        else:
            matrix = ca.SX(float_array(name, value))
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        raise InputError(f"{name} must be {_wanted(shape)}, numbers or SX symbols, got {quoted(value)}") from None
    if matrix.shape != shape:
        raise InputError(f"{name} must be {_wanted(shape)}, got {quoted(value)}")
    entries = [matrix.nz[k] for k in range(matrix.nnz())]
    if not all(math.isfinite(float(entry)) for entry in entries if entry.is_constant()):
        raise InputError(f"{name} must be finite, got {quoted(value)}")
    return matrix


def _row(name: str, row: Any) -> ca.SX:
    """One entry of a column, or a row of entries."""
    if isinstance(row, np.ndarray) and row.ndim:
        row = row.tolist()
    entries = row if isinstance(row, list | tuple) else [row]
    return ca.horzcat(*(e if isinstance(e, ca.SX | ca.DM) else ca.SX(float(float_array(name, e, ()))) for e in entries))


def _wanted(shape: tuple[int, int]) -> str:
    if shape == (1, 1):
        return "a scalar"
    return f"of shape {(shape[0],) if shape[1] == 1 else shape}"
