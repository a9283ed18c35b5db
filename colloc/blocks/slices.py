"""Slices: many overlapping local views of the decision vector, each a constant linear map of a few entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.support.lazy import cached_property


class Entries(NamedTuple):
    """Places of the nonzeros of a block's matrix in terms of a slice's entries, the same for all slices.

    Term number e adds weight[e, k] times nonzero source[e] of slice k to the place (row[e], column[e]).
    """

    # source, row, column: ints, shape (E,); rows are those of the block (Jacobian) or places in the slice (Hessian);
    # columns are places in the slice
    source: np.ndarray
    row: np.ndarray
    column: np.ndarray
    weight: np.ndarray  # shape (E, N)


@dataclass(frozen=True, eq=False)
class Slices:
    """Local variables w_k = A_k x[index[:, k]] of N slices, with a common pattern of A."""

    index: np.ndarray  # ints, shape (m, N); entries of x that each slice reads
    # row, column: ints, shape (K,); places of the nonzeros of A_k: local variable, place in the slice; sorted by row
    row: np.ndarray
    column: np.ndarray
    weight: np.ndarray  # shape (K, N); their values

    @classmethod
    def of(cls, index: np.ndarray) -> Slices:
        """Slices whose local variables are the entries themselves."""
        diagonal = np.arange(index.shape[0])
        return cls(index, diagonal, diagonal, np.ones(index.shape))

    @property
    def size(self) -> int:
        """N, the number of slices."""
        return self.index.shape[1]

    @cached_property
    def plain(self) -> bool:
        """Whether the local variables are the entries themselves."""
        same = np.array_equal(self.row, np.arange(self.index.shape[0])) and np.array_equal(self.row, self.column)
        return same and bool((self.weight == 1).all())

    @cached_property
    def starts(self) -> np.ndarray:
        """First nonzero of A in every row, and their number at the end."""
        return np.searchsorted(self.row, np.arange(self.row[-1] + 2 if self.row.size else 1))

    def same_as(self, other: Slices) -> bool:
        """Whether both are the same maps of the same entries."""
        parts = ("index", "row", "column", "weight")
        return self is other or all(np.array_equal(getattr(self, k), getattr(other, k)) for k in parts)

    def moved(self, offset: int) -> Slices:
        """These slices for entries at an offset in a longer vector."""
        return Slices(self.index + offset, self.row, self.column, self.weight)

    def take(self, chosen: np.ndarray) -> Slices:
        return Slices(self.index[:, chosen], self.row, self.column, self.weight[:, chosen])

    def pruned(self) -> Slices:
        """These slices without entries of A that are zero in every slice, such as basis functions at the ends."""
        alive = self.weight.any(axis=1)
        return self if alive.all() else Slices(self.index, self.row[alive], self.column[alive], self.weight[alive])

    def beside(self, more: Slices) -> Slices:
        """Slices with the local variables of both, this one's first."""
        rows, places = self.row[-1] + 1, self.index.shape[0]
        return Slices(
            np.vstack([self.index, more.index]),
            np.append(self.row, more.row + rows),
            np.append(self.column, more.column + places),
            np.vstack([self.weight, more.weight]),
        )

    def local(self, x: np.ndarray) -> np.ndarray:
        """The local variables at x, ndarray, shape (len(w), N)."""
        terms = self.weight * x[self.index[self.column]]
        return terms if self.plain else np.add.reduceat(terms, self.starts[:-1], axis=0)

    def first_local(self, x: np.ndarray) -> np.ndarray:
        """The local variables of the first slice at several x, shape (K, n_x): ndarray, shape (K, len(w))."""
        terms = self.weight[:, 0] * x[:, self.index[self.column, 0]]
        return terms if self.plain else np.add.reduceat(terms, self.starts[:-1], axis=1)

    def known(self, x: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether local variables of the first slice depend on free entries of x, and the values of all."""
        places, weight, first = self.index[self.column, 0], self.weight[:, 0], self.starts[:-1]
        terms = weight * x[places]
        moved, value, size = (np.add.reduceat(k, first) for k in (free[places] & (weight != 0), terms, np.abs(terms)))
        return moved > 0, np.where(np.abs(value) > _ROUNDING * size, value, 0.0)

    def gather(self, x: ca.MX) -> ca.MX:
        """The local variables as a function of x, MX, shape (len(w), N); the same for the same x."""
        last = vars(self).get("_gathered")
        if last is None or not ca.is_equal(last[0], x):
            last = vars(self)["_gathered"] = x, self._gather(x)
        return last[1]

    def _gather(self, x: ca.MX) -> ca.MX:
        if self.plain:
            return ca.reshape(x[self.index.ravel("F").tolist()], *self.index.shape)
        count = self.starts.size - 1
        row = self.row[:, None] + count * np.arange(self.size)
        # Only the part of x that is read: a product takes as long as what it is given, of one phase among many, say.
        seen = self.index[self.column]
        first, end = (seen.min(), seen.max() + 1) if seen.size else (0, 0)
        matrix = sparse_matrix(
            count * self.size, int(end - first), row.ravel(), (seen - first).ravel(), self.weight.ravel()
        )
        return ca.reshape(ca.densify(matrix @ x[int(first) : int(end)]), count, self.size)

    def gradient(self) -> Entries:
        """Entries of a dense column of derivatives in w as a column of derivatives in x: A' g."""
        return Entries(self.row, self.column, np.zeros_like(self.row), self.weight)

    def jacobian(self, pattern: ca.Sparsity) -> Entries:
        """Entries of a matrix of derivatives in w (rows, len(w)) as derivatives in x: J A."""
        row, local = triplet(pattern)
        source, a = self.expand(local)
        return Entries(source, row[source], self.column[a], self.weight[a])

    def hessian(self, pattern: ca.Sparsity) -> Entries:
        """Entries of an upper triangle in w as the upper triangle in x: A' H A."""
        first, second = triplet(pattern)
        source, a = self.expand(first)
        again, b = self.expand(second[source])
        source, a = source[again], a[again]
        diagonal = first[source] == second[source]
        once = ~diagonal | (a <= b)  # the two halves of a symmetric product meet in the upper triangle
        source, a, b, diagonal = source[once], a[once], b[once], diagonal[once]
        weight = self.weight[a] * self.weight[b]
        i, j = self.column[a], self.column[b]
        # An entry off the diagonal in w or A that falls on the diagonal of x counts twice: with its mirror image.
        meets = (self.index[i] == self.index[j]) & ~(diagonal & (a == b))[:, None]
        weight = np.where(meets, 2 * weight, weight)
        i, j = np.minimum(i, j), np.maximum(i, j)
        order = np.lexsort((i, j, source))  # so that what is assembled from them need rarely be sorted
        return Entries(source[order], i[order], j[order], weight[order])

    def expand(self, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For every local variable in a list all nonzeros of its row of A: index in the list, index in A."""
        counts = np.diff(self.starts)[local]
        source = np.repeat(np.arange(local.size), counts)
        within = np.arange(source.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return source, self.starts[local][source] + within


_ROUNDING = 1e-12  # of the sizes of what is added up
_CHUNK = 1_000_000  # entries of a matrix that are put in order at once: each takes some hundred bytes


def nonzeros(matrix: ca.MX) -> ca.MX:
    """Nonzeros in one column."""
    # Those of a single row come as a row; `vec` would take time and memory by the size of the whole matrix.
    entries = matrix.nz[:]
    return entries.T if matrix.shape[0] == 1 else entries


def triplet(pattern: ca.Sparsity) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of a pattern's nonzeros, in their order."""
    row, column = pattern.get_triplet()
    return np.asarray(row, dtype=int), np.asarray(column, dtype=int)


def sparse_matrix(rows: int, columns: int, row: np.ndarray, column: np.ndarray, value: np.ndarray) -> ca.DM:
    """Constant sparse matrix from entries that add up where they meet; zeros are not stored."""
    alive = value != 0
    place, value = (column * rows + row)[alive], value[alive]
    if (np.diff(place) < 0).any():
        order = np.argsort(place, kind="stable")
        place, value = place[order], value[order]
    first = np.flatnonzero(np.diff(place, prepend=-1))
    if first.size < place.size:
        place, value = place[first], np.add.reduceat(value, first)
    starts = np.searchsorted(place, np.arange(columns + 1) * rows)
    pattern = ca.Sparsity(rows, columns, starts.tolist(), (place % max(rows, 1)).tolist())
    return ca.DM(pattern, value.tolist())  # in two thirds of the time that an array takes


def _distinct(places: np.ndarray) -> np.ndarray:
    """Distinct nonnegative integers in ascending order, five times as fast as `numpy.unique`, which hashes them."""
    places = np.sort(places)
    return places[np.flatnonzero(np.diff(places, prepend=-1))]


def scatter(
    n_rows: int,
    n_columns: int,
    parts: Sequence[tuple[ca.MX, Entries, np.ndarray, np.ndarray]],
    *,
    rows: np.ndarray | None = None,
    columns: np.ndarray | None = None,
) -> ca.MX:
    """Sparse matrix assembled from the nonzeros of many slices; values at one place add up.

    A permutation of nonzeros if all places differ and all weights are one, else one product with a constant sparse
    matrix. Parts are (values, entries, row, column): nonzeros of all slices in one MX column, slice after slice; their
    `Entries`; and their rows and columns in the matrix, ints, shape (E, N). Bools select the rows and columns that are
    filled.
    """
    chunks, offset = [], 0
    for values, entries, row, column in parts:
        slices = entries.weight.shape[1]
        size = values.shape[0] // max(slices, 1)
        step = max(1, _CHUNK // max(1, entries.source.size))
        for first in range(0, slices, step):
            some = slice(first, min(first + step, slices))
            chunks.append(_Chunk.of(entries, row[:, some], column[:, some], some, size, rows, columns, n_rows, offset))
        offset += values.shape[0]
    places = _distinct(np.concatenate([np.zeros(0, int), *(_distinct(chunk.place) for chunk in chunks)]))
    starts = np.searchsorted(places, np.arange(n_columns + 1) * n_rows)
    sparsity = ca.Sparsity(n_rows, n_columns, starts.tolist(), (places % max(n_rows, 1)).tolist())
    nonzeros = ca.vertcat(ca.MX(0, 1), *(values for values, *_ in parts))
    if places.size == sum(chunk.place.size for chunk in chunks) > 0 and all((c.weight == 1).all() for c in chunks):
        source, place = (np.concatenate(k) for k in list(zip(*chunks, strict=True))[:2])
        return ca.MX(sparsity, nonzeros[source[np.argsort(place)].tolist()])
    total = None
    while chunks:
        # As few products as can be: every sum of two takes as long as all nonzeros together.
        together = [chunks.pop(0)]
        while chunks and sum(chunk.place.size for chunk in together) + chunks[0].place.size <= _CHUNK:
            together.append(chunks.pop(0))
        first, end = together[0].first, together[-1].end
        source, place, weight = (np.concatenate(k) for k in list(zip(*together, strict=True))[:3])
        target = np.searchsorted(places, place)
        part = sparse_matrix(places.size, end - first, target, source - first, weight) @ nonzeros[first:end]
        total = part if total is None else total + part
    return ca.MX(sparsity, ca.densify(ca.MX(places.size, 1) if total is None else total))


class _Chunk(NamedTuple):
    """The share of some slices in a matrix: from which nonzero, to which place, with which weight."""

    source: np.ndarray
    place: np.ndarray
    weight: np.ndarray
    first: int
    end: int

    @classmethod
    def of(
        cls,
        entries: Entries,
        row: np.ndarray,
        column: np.ndarray,
        some: slice,
        size: int,
        rows: np.ndarray | None,
        columns: np.ndarray | None,
        n_rows: int,
        offset: int,
    ) -> _Chunk:
        """The share of some slices of `size` nonzeros each; rows and columns that are not filled are left out."""
        first, end = offset + size * some.start, offset + size * some.stop
        source = first + entries.source[:, None] + size * np.arange(some.stop - some.start)
        weight = entries.weight[:, some] if rows is None else entries.weight[:, some] * rows[row]
        weight = (weight if columns is None else weight * columns[column]).ravel("F")
        alive = weight != 0
        place = (column.astype(np.int64) * n_rows + row).ravel("F")
        return cls(source.ravel("F")[alive], place[alive], weight[alive], first, end)
