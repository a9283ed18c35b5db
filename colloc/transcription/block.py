"""A block: one small function applied to many overlapping slices of the decision vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np


class Lifted(NamedTuple):
    """Torques as symbols of their own, whose derivatives come from a recursion.

    Parameters
    ----------
    symbols, values : SX, shape (k,)
        The torques, and what they stand for as expressions of the slice.
    slopes : SX, shape (k, len(z)), sparse
        Derivatives of the values with respect to the slice.
    """

    symbols: ca.SX
    values: ca.SX
    slopes: ca.SX

    def resolve(self, expressions: Sequence[ca.SX]) -> list[ca.SX]:
        """Expressions with the values in place of the symbols."""
        return list(ca.substitute(list(expressions), [self.symbols], [self.values]))


@dataclass(frozen=True, eq=False)
class Block:
    """Rows f(z_k, d_k, p) for N slices z_k = x[index[:, k]] of the decision vector x.

    Values are mapped over the slices. Derivatives are taken of the small function, on SX, and scattered: nothing
    differentiates through the map.

    Parameters
    ----------
    name : str
        The constraint or cost the rows belong to.
    z, d, p : SX columns
        Symbols of a slice, its constant data and the problem's parameters.
    rows : SX, shape (r,)
    index : ndarray of int, shape (len(z), N)
    data : ndarray, shape (len(d), N)
    lower, upper : ndarray, shape (r,)
        Bounds of a constraint; unused by a cost, whose rows are all summed.
    labels : tuple of str, r of them
        Name of every row, with its joint where it has one.
    s : ndarray, shape (N,)
        Normalised time of every slice.
    lifted : Lifted, optional
        Torques in the rows that bring their own derivatives; without it CasADi differentiates the rows whole.
    """

    name: str
    z: ca.SX
    d: ca.SX
    p: ca.SX
    rows: ca.SX
    index: np.ndarray
    data: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    labels: tuple[str, ...]
    s: np.ndarray
    lifted: Lifted | None = None
    scale: np.ndarray = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "scale", row_scale(self.lower, self.upper))

    def folded(self) -> Block:
        """The same block with its data as numbers in the rows, for a single slice: zero weights drop out."""
        data = ca.DM(self.data[:, 0])
        rows, lifted = ca.substitute(self.rows, self.d, data), None
        if self.lifted:
            lifted = Lifted(self.lifted.symbols, *ca.substitute(list(self.lifted[1:]), [self.d], [data]))
        return replace(self, d=ca.SX(0, 1), rows=rows, data=np.zeros((0, 1)), lifted=lifted)

    @property
    def n_slices(self) -> int:
        """N, the number of slices."""
        return self.index.shape[1]

    @property
    def n_rows(self) -> int:
        """r, the number of rows in a slice."""
        return self.rows.shape[0]

    @cached_property
    def _resolved(self) -> ca.SX:
        """The rows as functions of the slice alone."""
        return self.lifted.resolve([self.rows])[0] if self.lifted else self.rows

    @cached_property
    def value(self) -> ca.Function:
        """(z, d, p) -> rows."""
        return ca.Function("value", [self.z, self.d, self.p], [self._resolved])

    @cached_property
    def _jacobian_sx(self) -> ca.SX:
        direct = ca.jacobian(self.rows, self.z)
        if self.lifted is None:
            return direct
        total = direct + ca.jacobian(self.rows, self.lifted.symbols) @ self.lifted.slopes
        return self.lifted.resolve([total])[0]

    @cached_property
    def jacobian(self) -> ca.Function:
        """(z, d, p) -> structural nonzeros of the Jacobian of the rows."""
        return ca.Function("jacobian", [self.z, self.d, self.p], [self._jacobian_sx.nz[:]])

    @cached_property
    def gradient(self) -> ca.Function:
        """(z, d, p) -> gradient of the summed rows, dense."""
        # By AD one reverse sweep, which is cheaper than the sum of the Jacobian's rows.
        slope = ca.sum1(self._jacobian_sx).T if self.lifted else ca.gradient(ca.sum1(self.rows), self.z)
        return ca.Function("gradient", [self.z, self.d, self.p], [ca.densify(slope)])

    @cached_property
    def _hessian_sx(self) -> tuple[ca.SX, ca.SX]:
        # Second derivatives are CasADi's, whatever gives the first: differentiating a recursion's Jacobian once more
        # took five times the operations on a 43-DOF human.
        multipliers = ca.SX.sym("lam", self.n_rows)
        return ca.triu(ca.hessian(ca.dot(multipliers, self._resolved), self.z)[0]), multipliers

    @cached_property
    def hessian(self) -> ca.Function:
        """(z, d, p, lam) -> structural nonzeros of the upper triangle of the Hessian of lam' rows."""
        upper, multipliers = self._hessian_sx
        return ca.Function("hessian", [self.z, self.d, self.p, multipliers], [upper.nz[:]])

    def jacobian_entries(self, first_row: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns in the NLP's Jacobian of all slices' nonzeros, slice after slice."""
        row, col = map(np.asarray, self._jacobian_sx.sparsity().get_triplet())
        rows = first_row + row.astype(int)[:, None] + self.n_rows * np.arange(self.n_slices)
        return rows.ravel("F"), self.index[col.astype(int)].ravel("F")

    def hessian_entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns in the NLP's Hessian, upper triangle, of all slices' nonzeros, slice after slice."""
        row, col = map(np.asarray, self._hessian_sx[0].sparsity().get_triplet())
        a, b = self.index[row.astype(int)].ravel("F"), self.index[col.astype(int)].ravel("F")
        return np.minimum(a, b), np.maximum(a, b)

    def hessian_weights(self) -> np.ndarray:
        """2 for an off-diagonal entry of a slice that falls on the NLP's diagonal (one variable twice), else 1."""
        row, col = map(np.asarray, self._hessian_sx[0].sparsity().get_triplet())
        a, b = self.index[row.astype(int)], self.index[col.astype(int)]
        return np.where((row != col)[:, None] & (a == b), 2.0, 1.0).ravel("F")

    def evaluate(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The rows at every slice, ndarray, shape (r, N)."""
        mapped = self.value.map("map", "serial", self.n_slices, [2], []) if self.n_slices > 1 else self.value
        return np.array(mapped(x[self.index], self.data, p))

    def gather(self, x: ca.MX) -> ca.MX:
        """All slices of x, shape (len(z), N)."""
        return ca.reshape(x[self.index.ravel("F").tolist()], *self.index.shape)

    def map(self, function: ca.Function, x: ca.MX, p: ca.MX, *multipliers: ca.MX) -> ca.MX:
        """Apply one of the block's functions to every slice; the results as one column, slice after slice."""
        if function.nnz_out() == 0:
            return ca.MX(0, 1)
        mapped = function.map("map", "serial", self.n_slices, [2], []) if self.n_slices > 1 else function
        return ca.vec(mapped(self.gather(x), ca.DM(self.data), p, *multipliers))


def row_scale(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Natural size of a bounded quantity: half the range, else the size of the one bound or value, else 1."""
    with np.errstate(invalid="ignore"):
        half = (upper - lower) / 2
    size = np.where(np.isfinite(half), half, np.where(np.isfinite(lower), np.abs(lower), np.abs(upper)))
    equal = lower == upper
    size = np.where(equal, np.abs(lower), size)
    return np.where(np.isfinite(size) & (size > 0), size, 1.0)
