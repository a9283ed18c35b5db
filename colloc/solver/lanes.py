"""Programs of one pattern in the lanes of vectors: functions, sparse sums, and factors, for many at once.

Arrays have the shape (groups, entries, lanes): program k is lane k % lanes of group k // lanes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import local
from typing import Any, NamedTuple, TypeVar

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.kernels import Compile, CompileError, Kernel, build_source, interpret, ship
from colloc.transcription import BaseNLP

T = TypeVar("T")
_SOURCE = Path(__file__).with_name("lanes.c")
_MOST_PRODUCTS = 2e7  # in a factorisation: beyond, their list alone takes hundreds of megabytes
_KINDS = ("value", "gradient", "jacobian", "hessian")


def in_lanes(rows: np.ndarray, lanes: int) -> np.ndarray:
    """Programs as rows, shape (K, entries), in lanes; the last one is repeated in lanes without a program."""
    groups = -(-len(rows) // lanes)
    padded = rows[np.minimum(np.arange(groups * lanes), len(rows) - 1)]
    return np.ascontiguousarray(padded.reshape(groups, lanes, rows.shape[1]).transpose(0, 2, 1))


def by_program(lanes: np.ndarray, count: int) -> np.ndarray:
    """The inverse of `in_lanes`, shape (count, entries)."""
    return lanes.transpose(0, 2, 1).reshape(len(lanes) * lanes.shape[2], lanes.shape[1])[:count]


@cache
def _code() -> ctypes.CDLL:
    return ctypes.CDLL(str(build_source("lanes", _SOURCE.read_text(encoding="utf-8"), Compile())))


def ship_lanes(folder: Path) -> list[Path]:
    """Compile the library for wheels; see `kernels.ship`."""
    return ship("lanes", _SOURCE.read_text(encoding="utf-8"), lambda *_: _SOURCE.read_text(encoding="utf-8"), folder)


def _address(array: np.ndarray | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def total(a: np.ndarray, *, sizes: bool = False) -> np.ndarray:
    """Sums of entries, or of their absolute values, shape (groups, lanes)."""
    return _total(a, int(sizes), 0.0)


def largest(a: np.ndarray, *, sizes: bool = False, least: float = 0.0) -> np.ndarray:
    """Largest of entries, or of their absolute values, and of `least`, shape (groups, lanes); NaN with NaN."""
    return _total(a, 2 + sizes, least)


def _total(a: np.ndarray, kind: int, least: float) -> np.ndarray:
    groups, entries, lanes = a.shape
    y, size = np.empty((groups, lanes)), ctypes.c_int64
    start = ctypes.c_double(least)
    _code().lanes_total(size(groups), size(entries), size(kind), start, _address(a), _address(y))
    return y


class WorkArrays(local):
    """Arrays of a thread for intermediate results, by name: the first use of new memory takes as long as arithmetic."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def __call__(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """An array of any contents, valid until the next call with this name."""
        size = int(np.prod(shape))
        if name not in self._arrays or self._arrays[name].size < size:
            self._arrays[name] = np.empty(size)
        return self._arrays[name][:size].reshape(shape)


class Sums:
    """Sums of weight times an entry of one array, or times entries of two; see `lanes_sums` in lanes.c.

    Parameters
    ----------
    targets : int
    target, left : ndarray of int, shape (terms,)
    weight : ndarray, shape (terms,)
    right : ndarray of int, shape (terms,), optional
        Entries of a second array.
    """

    def __init__(
        self, targets: int, target: np.ndarray, left: np.ndarray, weight: np.ndarray, right: np.ndarray | None = None
    ):
        order = np.argsort(target, kind="stable")
        self.targets = targets
        self._starts = np.searchsorted(target[order], np.arange(targets + 1)).astype(np.int32)
        self._left = left[order].astype(np.int32)
        self._right = None if right is None else right[order].astype(np.int32)
        self._weight = np.ascontiguousarray(weight[order], dtype=float)
        fixed = self._starts, self._left, self._right, self._weight
        self._fixed = ctypes.c_int64(targets), *map(_address, fixed)

    def __call__(self, a: np.ndarray, b: np.ndarray | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """The sums, shape (groups, targets, lanes)."""
        groups, y = len(a), np.empty((len(a), self.targets, a.shape[2])) if out is None else out
        size = ctypes.c_int64
        sizes = size(a.shape[1]), size(0 if b is None else b.shape[1])
        _code().lanes_sums(size(groups), *self._fixed, _address(a), sizes[0], _address(b), sizes[1], _address(y))
        return y


class Factor:
    """L D L' of symmetric matrices of one pattern, in an order of little fill, without pivoting.

    Parameters
    ----------
    size : int
    row, column : ndarray of int, shape (entries,)
        Places of the entries of the lower triangle, each once, with the whole diagonal.

    Raises
    ------
    CompileError
        For factors that are too dense.
    """

    def __init__(self, size: int, row: np.ndarray, column: np.ndarray):
        full = ca.Sparsity.triplet(size, size, [*row.tolist(), *column.tolist()], [*column.tolist(), *row.tolist()])
        self.order = np.array(full.amd(), dtype=int)
        place = np.argsort(self.order)
        i, j = place[row], place[column]
        low, high = np.minimum(i, j), np.maximum(i, j)
        below: list[set[int]] = [set() for _ in range(size)]
        for a, b in zip(high.tolist(), low.tolist(), strict=True):
            below[b].add(a)
        for k in range(size):  # the first entry below the diagonal is the parent, which inherits the others
            rest = below[k] - {k}
            if rest:
                parent = min(rest)
                below[parent] |= rest - {parent}
        columns = [np.array([k, *sorted(below[k] - {k})]) for k in range(size)]
        lengths = np.array([len(rows) for rows in columns])
        if (lengths.astype(float) ** 2).sum() / 2 > _MOST_PRODUCTS:
            raise CompileError(f"the factors of {size} unknowns are too dense for lanes")
        self.first = np.append(0, np.cumsum(lengths)).astype(np.int32)
        self.row = np.concatenate(columns).astype(np.int32)
        self.size, self.entries, self.matrix_size = size, int(self.first[-1]), row.size
        key = np.repeat(np.arange(size), lengths) * size + self.row  # ascending
        self.source = np.full(self.entries, -1, dtype=np.int32)
        self.source[np.searchsorted(key, low * size + high)] = np.arange(row.size)
        targets, lefts, rights = [], [], []
        for k, rows in enumerate(columns):
            inside, entry = rows[1:], self.first[k] + 1 + np.arange(rows.size - 1)
            a, b = np.tril_indices(inside.size)
            targets.append(np.searchsorted(key, inside[b] * size + inside[a]))
            lefts.append(entry[a])
            rights.append(entry[b])
        target = np.concatenate(targets)
        order = np.argsort(target, kind="stable")
        self.starts = np.searchsorted(target[order], np.arange(self.entries + 1)).astype(np.int32)
        self.left, self.right = (np.concatenate(part)[order].astype(np.int32) for part in (lefts, rights))
        self._work = WorkArrays()
        fixed = self.first, self.source, self.starts, self.left, self.right
        self._fixed = ctypes.c_int64(size), ctypes.c_int64(self.entries), *map(_address, fixed)

    def factorise(self, matrix: np.ndarray, lower: np.ndarray) -> np.ndarray:
        """Write the factors L, shape (groups, entries, lanes); the numbers of negative pivots, (groups, lanes)."""
        groups, size = len(matrix), ctypes.c_int64
        upper = self._work("upper", (self.entries, matrix.shape[2]))
        negative = np.empty((groups, matrix.shape[2]), dtype=np.int64)
        _code().lanes_factorise(
            size(groups), *self._fixed, _address(matrix), size(self.matrix_size), _address(lower), _address(upper),
            _address(negative),
        )  # fmt: skip
        return negative

    def solve(self, lower: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Solutions for right-hand sides of shape (groups, size, lanes)."""
        x, size = np.take(right, self.order, axis=1), ctypes.c_int64
        _code().lanes_solve(
            size(len(x)), size(self.size), size(self.entries), _address(self.first), _address(self.row),
            _address(lower), _address(x),
        )  # fmt: skip
        solution = np.empty_like(x)
        solution[:, self.order] = x
        return solution


class _LanePart(NamedTuple):
    """One function of one block: its values at all slices are entries of a long vector."""

    block: Block
    name: str
    kernel: Kernel
    pattern: ca.Sparsity
    first: int

    @property
    def size(self) -> int:
        return self.pattern.nnz() * self.block.n_slices


class LaneFunctions:
    """Cost, rows and derivatives of programs in lanes, in the free variables.

    Parameters
    ----------
    nlp : BaseNLP
    size_x, size_g : ndarray
        Natural sizes of all variables, and of the rows.
    """

    def __init__(self, nlp: BaseNLP, size_x: np.ndarray, size_g: np.ndarray):
        self.nlp, self.size_x, self.size_g = nlp, size_x, size_g
        self.free = np.flatnonzero(nlp.free)
        self.place = np.full(nlp.n_x, -1)
        self.place[self.free] = np.arange(self.free.size)
        self._offsets = dict(zip(nlp.constraints, nlp.offsets, strict=False))
        self._joined = Block.joined(nlp.constraints)
        self._cache: dict[tuple[Block, str], Any] = {}
        self._work = WorkArrays()
        self._parts = {kind: self._of_kind(kind) for kind in _KINDS}
        named = {part.name: part.kernel for parts in self._parts.values() for part in parts}
        self._interpreter = interpret(named, Compile(), compile=True)
        self.lanes = self._interpreter.lanes
        if self.lanes != (width := int(_code().lanes_width())):
            raise CompileError(f"functions have {self.lanes} lanes, sums {width}")
        if missing := named.keys() - self._interpreter.kernels.keys():
            raise CompileError(f"no translation of {', '.join(sorted(missing))}")
        self._make_values()
        self._make_jacobian()
        self._make_hessian()

    def _of_kind(self, kind: str) -> list[_LanePart]:
        parts, first = [], 0
        for block in (*self.nlp.costs, *(self._joined if kind == "hessian" else self.nlp.constraints)):
            if block.functions.has(kind):
                function = getattr(block.functions, kind)
                part = _LanePart(block, f"{kind}_{len(parts)}", Kernel(function), function.sparsity_out(0), first)
                if part.size:
                    parts.append(part)
                    first += part.size
        return parts

    def _entries(self, part: _LanePart, source: np.ndarray) -> np.ndarray:
        """Entries of the long vector: nonzeros of all slices, shape (sources, N)."""
        return part.first + source[:, None] + part.pattern.nnz() * np.arange(part.block.n_slices)

    def _make_values(self) -> None:
        cost: list[np.ndarray] = []
        target, left, weight = [], [], []
        for part in self._parts["value"]:
            nonzero = np.arange(part.pattern.nnz())
            entries = self._entries(part, nonzero)
            if part.block.is_cost:
                cost.append(entries.ravel())
            else:
                row = np.array(part.pattern.row(), dtype=int)
                rows = self._offsets[part.block] + row[:, None] + part.block.n_rows * np.arange(part.block.n_slices)
                target.append(rows.ravel())
                left.append(entries.ravel())
                weight.append(1 / self.size_g[rows].ravel())
        costs = _joined(cost)
        self._cost = Sums(1, np.zeros(costs.size, int), costs, np.ones(costs.size))
        self._rows = Sums(self.nlp.n_g, *map(_joined, (target, left, weight)))

    def _make_jacobian(self) -> None:
        target, left, weight = [], [], []
        for part in self._parts["gradient"]:
            slices = part.block.sites.slices
            entries = slices.gradient()
            variable = slices.index[entries.row]
            alive = self.place[variable].ravel() >= 0
            target.append(self.place[variable].ravel()[alive])
            left.append(self._entries(part, entries.source).ravel()[alive])
            weight.append((entries.weight * self.size_x[variable]).ravel()[alive])
        self._gradient = Sums(self.free.size, *map(_joined, (target, left, weight)))
        rows, columns, left, weight = [], [], [], []
        for part in self._parts["jacobian"]:
            block, slices = part.block, part.block.sites.slices
            entries = slices.jacobian(part.pattern)
            row = self._offsets[block] + entries.row[:, None] + block.n_rows * np.arange(block.n_slices)
            variable = slices.index[entries.column]
            alive = (self.place[variable].ravel() >= 0) & (entries.weight.ravel() != 0)
            rows.append(row.ravel()[alive])
            columns.append(self.place[variable].ravel()[alive])
            left.append(self._entries(part, entries.source).ravel()[alive])
            weight.append((entries.weight * self.size_x[variable] / self.size_g[row]).ravel()[alive])
        row, column, source, factor = map(_joined, (rows, columns, left, weight))
        key, place = np.unique(row * self.free.size + column, return_inverse=True)
        self.jacobian_row, self.jacobian_column = key // self.free.size, key % self.free.size
        self._jacobian = Sums(key.size, place, source, factor)
        every, ones = np.arange(key.size), np.ones(key.size)
        self.transposed_times = Sums(self.free.size, self.jacobian_column, every, ones, self.jacobian_row)

    def _make_hessian(self) -> None:
        rows, columns, left, weight = [], [], [], []
        for part in self._parts["hessian"]:
            slices = part.block.sites.slices
            entries = slices.hessian(part.pattern)
            first, second = slices.index[entries.row], slices.index[entries.column]
            i, j = self.place[first], self.place[second]
            alive = ((i >= 0) & (j >= 0)).ravel() & (entries.weight.ravel() != 0)
            rows.append(np.maximum(i, j).ravel()[alive])
            columns.append(np.minimum(i, j).ravel()[alive])
            left.append(self._entries(part, entries.source).ravel()[alive])
            weight.append((entries.weight * self.size_x[first] * self.size_x[second]).ravel()[alive])
        row, column, source, factor = map(_joined, (rows, columns, left, weight))
        key, place = np.unique(row * self.free.size + column, return_inverse=True)
        self.hessian_row, self.hessian_column = key // self.free.size, key % self.free.size
        self._hessian = Sums(key.size, place, source, factor)

    def whole(self, x: np.ndarray, fixed: np.ndarray) -> np.ndarray:
        """The decision vectors, in their units, of free variables in natural sizes."""
        full = fixed.copy()
        full[:, self.free] = x * self.size_x[self.free, None]
        return full

    def values(self, full: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs, shape (groups, lanes), and rows, (groups, n_g, lanes)."""
        everything = self._evaluate("value", full, p)
        return self._cost(everything)[:, 0], self._rows(everything)

    def derivatives(self, full: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradients of the costs, and nonzeros of the Jacobians."""
        return self._gradient(self._evaluate("gradient", full, p)), self._jacobian(self._evaluate("jacobian", full, p))

    def hessian(self, full: np.ndarray, p: np.ndarray, weight: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Nonzeros of the lower triangles of the Hessians of weights times costs, (groups, lanes), and of rows."""
        pushes = multipliers / self.size_g[:, None]
        return self._hessian(self._evaluate("hessian", full, p, weight, pushes))

    def _evaluate(
        self,
        kind: str,
        full: np.ndarray,
        p: np.ndarray,
        weight: np.ndarray | None = None,
        multipliers: np.ndarray | None = None,
    ) -> np.ndarray:
        """All values of one kind, a long vector, shape (groups, entries, lanes); valid until the next call."""
        groups, parts, memory = len(full), self._parts[kind], self._work
        result = memory("result", (groups, sum(part.size for part in parts), self.lanes))
        for part in parts:
            block, count = part.block, part.block.n_slices
            gather = self._gather(block)
            w = gather(full, out=memory("local", (groups, gather.targets, self.lanes)))
            inputs, every = [w.reshape(groups * count, -1, self.lanes), self._data(block), p], [1, 1, count]
            if block.is_cost and weight is not None:
                inputs.append(np.ascontiguousarray(weight[:, None]))
                every.append(count)
            elif multipliers is not None:
                inputs.append(self._of_rows(block, multipliers))
                every.append(1)
            alone = part.size == result.shape[1]
            out = result if alone else memory("part", (groups, part.size, self.lanes))
            shape = groups * count, part.pattern.nnz(), self.lanes
            self._interpreter.evaluate_vectors(part.name, inputs, groups * count, every, out.reshape(shape))
            if not alone:
                result[:, part.first : part.first + part.size] = out
        return result

    def _of_rows(self, joint: Block, multipliers: np.ndarray) -> np.ndarray:
        """The multipliers of blocks that are joined, shape (groups * slices, rows, lanes)."""
        each, first = [], self._offsets
        for block in self._joined[joint]:
            mine = multipliers[:, first[block] : first[block] + block.n_slices * block.n_rows]
            each.append(np.ascontiguousarray(mine).reshape(-1, block.n_rows, self.lanes))
        return each[0] if len(each) == 1 else np.concatenate(each, axis=1)

    def _data(self, block: Block) -> np.ndarray:
        return self._kept(
            block, "data", lambda: np.ascontiguousarray(np.tile(block.sites.data.T[:, :, None], self.lanes))
        )

    def _gather(self, block: Block) -> Sums:
        """The local variables of all slices, slice after slice."""

        def made() -> Sums:
            slices = block.sites.slices
            size = block.sites.local.w.shape[0]
            target = slices.row[:, None] + size * np.arange(slices.size)
            return Sums(size * slices.size, target.ravel(), slices.index[slices.column].ravel(), slices.weight.ravel())

        return self._kept(block, "gather", made)

    def _kept(self, block: Block, name: str, make: Callable[[], T]) -> T:
        key = block, name
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """Parts one after another; there may be none."""
    return np.concatenate([np.zeros(0, dtype=int), *parts])
