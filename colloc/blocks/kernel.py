"""A block's functions as kernels, which transform derivatives to the slices' entries of x.

In a CasADi graph this is one product with a constant sparse matrix over all slices. Compiled, it is a few loops over
index tables, the same for all slices, so that a new mesh needs no new code: with the pattern's nonzeros stored one
after another, every step is a list of sums of products.

    Jacobian             J A
    Hessian              A' (C A)            C the rows' curvature
    sum of squares       A' (C A) + (F J A)' (J A)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.slices import Slices, triplet
from colloc.kernels import Kernel, Pass


@dataclass(frozen=True, eq=False)
class BlockKernel:
    """A kernel of a block."""

    kernel: Kernel  # its first inputs are those of the block's function
    extra: tuple[np.ndarray, ...]  # values of the others
    pattern: ca.Sparsity  # of the results, in every slice
    slices: Slices  # those in whose local variables the results are
    # whether results of slices that see the same entries of x may be added up: those of Hessians
    additive: bool = False


def block_kernel(block: Block, kind: str) -> BlockKernel:
    """The kernel of one of a block's functions: value, gradient, jacobian, hessian or gauss_newton.

    Blocks that differ only in their slices, such as those of one problem on several grids, share it.
    """
    slices, known = block.sites.slices, block.functions.kernels
    key = (kind, slices.plain, slices.index.shape[0], slices.row.tobytes(), slices.column.tobytes())
    if key not in known:
        known[key] = _kernel(block, kind)
    kernel, pattern, additive = known[key]
    if not kernel.extra:
        return BlockKernel(kernel, (), pattern, slices, additive)
    weight = np.ones((1, slices.size)) if slices.plain else slices.weight
    return BlockKernel(kernel, (weight,), pattern, Slices.of(slices.index), additive)


def _kernel(block: Block, kind: str) -> tuple[Kernel, ca.Sparsity, bool]:
    """The kernel, pattern and additivity of a `BlockKernel`."""
    if kind in ("hessian", "gauss_newton"):
        return _second(block, exact=kind == "hessian")
    if kind == "jacobian" and not block.sites.slices.plain:
        return _jacobian(block)
    return _direct(block, kind)


def _direct(block: Block, kind: str) -> tuple[Kernel, ca.Sparsity, bool]:
    kernel = block.functions.kernel(kind)
    return kernel, kernel.function.sparsity_out(0), False


def _jacobian(block: Block) -> tuple[Kernel, ca.Sparsity, bool]:
    function, weights = block.functions.jacobian, block.sites.slices.weight.shape[0]
    pool = _Pool(function, weights)
    row, slot, _ = pool.times_map(block.sites.slices, *triplet(function.sparsity_out(0)), pool.outputs[0])
    kernel = Kernel(function, (weights,), _SHARED, tuple(pool.passes))
    slots = block.sites.slices.index.shape[0]
    return kernel, _pattern(block.n_rows, slots, row, slot), False


def _second(block: Block, *, exact: bool) -> tuple[Kernel, ca.Sparsity, bool]:
    function = block.functions.second_order if exact else block.functions.first_order
    if block.weights is None and block.sites.slices.plain:
        return _direct(block, "hessian")
    slices, slots = block.sites.slices, block.sites.slices.index.shape[0]
    weights = 1 if slices.plain else slices.weight.shape[0]
    pool = _Pool(function, weights)
    patterns = [triplet(function.sparsity_out(k)) for k in range(function.n_out())]
    terms = []
    if exact:
        terms += _congruence(pool, slices, *patterns[0], pool.outputs[0])
    if block.weights is not None:
        terms += _gauss(pool, slices, *patterns[-2], pool.outputs[-2], pool.outputs[-1])
    key, left, right = (np.concatenate(k) for k in zip(*terms, strict=True))
    place, _ = pool.add(key, left, right)
    kernel = Kernel(function, (weights,), _SHARED, tuple(pool.passes))
    return kernel, _pattern(slots, slots, place % slots, place // slots), True


def _congruence(pool: _Pool, slices: Slices, row: np.ndarray, column: np.ndarray, places: np.ndarray) -> list[_Terms]:
    """Terms of the upper triangle of A' C A, from that of C."""
    slots = slices.index.shape[0]
    if slices.plain:
        return [(column * slots + row, places, np.full(row.size, pool.extra))]
    mirrored = row != column
    row, column = np.append(row, column[mirrored]), np.append(column, row[mirrored])
    row, right, places = pool.times_map(slices, row, column, np.append(places, places[mirrored]))
    source, a = slices.expand(row)
    upper = slices.column[a] <= right[source]
    source, a = source[upper], a[upper]
    return [(right[source] * slots + slices.column[a], pool.extra + a, places[source])]


def _gauss(
    pool: _Pool, slices: Slices, row: np.ndarray, column: np.ndarray, places: np.ndarray, factors: np.ndarray
) -> list[_Terms]:
    """Terms of the upper triangle of (F J A)' (J A)."""
    slots = slices.index.shape[0]
    if not slices.plain:
        row, column, places = pool.times_map(slices, row, column, places)
    _, scaled = pool.add(np.arange(row.size), factors[row], places)
    terms = []
    for factor in range(factors.size):
        entries = np.flatnonzero(row == factor)
        a, b = np.meshgrid(entries, entries, indexing="ij")
        a, b = a[column[a] <= column[b]], b[column[a] <= column[b]]
        terms.append((column[b] * slots + column[a], scaled[a], places[b]))
    return terms


_Terms = tuple[np.ndarray, np.ndarray, np.ndarray]  # keys of the sums, places of the left and the right factors
_SHARED = frozenset({2})  # the parameters, of (w, d, p, lam)


class _Pool:
    """Indices of the values that a kernel's passes read, and the passes."""

    def __init__(self, function: ca.Function, extra: int):
        self.extra = sum(function.numel_in(k) for k in range(function.n_in()))
        ends = self.extra + extra + np.cumsum([0] + [function.nnz_out(k) for k in range(function.n_out())])
        self.outputs = [np.arange(start, end) for start, end in pairwise(ends)]
        self.passes: list[Pass] = []
        self._end = int(ends[-1])

    def add(self, key: np.ndarray, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add a pass: sums of products with equal keys. Returns the keys, ascending, and the places of the sums."""
        order = np.argsort(key, kind="stable")
        keys, first = np.unique(key[order], return_index=True)
        self.passes.append(Pass(np.append(first, key.size), left[order], right[order]))
        places = self._end + np.arange(keys.size)
        self._end += keys.size
        return keys, places

    def times_map(
        self, slices: Slices, row: np.ndarray, column: np.ndarray, places: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A pass that multiplies a sparse matrix by the slices' map: rows, columns and places of the product."""
        slots = slices.index.shape[0]
        source, a = slices.expand(column)
        place, products = self.add(row[source] + slices.column[a] * _ROWS, places[source], self.extra + a)
        assert slots < _ROWS
        return place % _ROWS, place // _ROWS, products


_ROWS = 1 << 24  # more than any matrix here has


def _pattern(rows: int, columns: int, row: np.ndarray, column: np.ndarray) -> ca.Sparsity:
    """Pattern of places that are sorted by column, then row."""
    starts = np.searchsorted(column, np.arange(columns + 1))
    return ca.Sparsity(rows, columns, starts.tolist(), row.tolist())
