"""Derivatives of blocks at one decision vector, as matrices of numbers: for a single look they need no graph.

The graphs of `assembly` are for solvers, which evaluate them again and again; to build one takes as long as some ten of
its evaluations.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.slices import Entries, sparse_matrix

_Places = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns and values that add up where they meet


def gradient_at(costs: Sequence[Block], x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Gradient of the summed costs, shape (n_x,)."""
    gradient = np.zeros(x.size)
    for block in costs:
        values, _ = block.nonzeros("gradient", x, p)
        entries = block.sites.slices.gradient()
        np.add.at(gradient, block.sites.slices.index[entries.row], entries.weight * values[entries.source])
    return gradient


def jacobian_at(constraints: Sequence[Block], x: np.ndarray, p: np.ndarray) -> ca.DM:
    """Jacobian of all rows, slice after slice, sparse, shape (rows, n_x)."""
    parts, first = [], 0
    for block in constraints:
        values, pattern = block.nonzeros("jacobian", x, p)
        entries, slices = block.sites.slices.jacobian(pattern), block.sites.slices
        rows = first + entries.row[:, None] + block.n_rows * np.arange(block.n_slices)
        parts.append(_places(entries, values, rows, slices.index[entries.column]))
        first += block.n_rows * block.n_slices
    return sparse_matrix(first, x.size, *_joined(parts))


def hessian_at(
    kind: str,
    costs: Sequence[Block],
    constraints: Sequence[Block],
    x: np.ndarray,
    p: np.ndarray,
    multipliers: np.ndarray,
) -> ca.DM:
    """Second derivatives of the summed costs and of multipliers' rows, whole, sparse, shape (n_x, n_x).

    Parameters
    ----------
    kind : "hessian" or "gauss_newton"
        The latter of sums of squares alone, without what other blocks add.
    costs, constraints : sequence of Block
    x, p : ndarray
    multipliers : ndarray, shape (rows,)
        Of all rows, slice after slice.
    """
    weights = [np.ones((1, block.n_slices)) for block in costs]
    first = 0
    for block in constraints:
        count = block.n_rows * block.n_slices
        weights.append(multipliers[first : first + count].reshape(block.n_slices, block.n_rows).T)
        first += count
    parts = []
    for block, weight in zip((*costs, *constraints), weights, strict=True):
        if block.functions.has(kind) and weight.any():
            values, pattern = block.nonzeros(kind, x, p, weight)
            entries, slices = block.sites.slices.hessian(pattern), block.sites.slices
            row, column = slices.index[entries.row], slices.index[entries.column]
            parts.append(_places(entries, values, np.minimum(row, column), np.maximum(row, column)))
    upper = sparse_matrix(x.size, x.size, *_joined(parts))
    return upper + ca.triu(upper, False).T


def _places(entries: Entries, values: np.ndarray, row: np.ndarray, column: np.ndarray) -> _Places:
    """What the nonzeros of all slices add to a matrix, and where."""
    return row.ravel(), column.ravel(), (entries.weight * values[entries.source]).ravel()


def _joined(parts: Sequence[_Places]) -> _Places:
    nothing = np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0)
    row, column, value = (np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True))
    return row, column, value
