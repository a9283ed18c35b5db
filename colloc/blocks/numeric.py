"""Derivatives of blocks at one decision vector, as matrices of numbers, without a graph.

The graphs of `assembly` are for solvers, which evaluate them many times: building one takes as long as some ten
evaluations. With W_k the linear map from the decision vector to the local variables of slice k, and W all of these
one below the other, gradient, Jacobian and Hessian are W' g, J W and W' H W, of block-diagonal J and H.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.slices import sparse_matrix, triplet
from colloc.support.lazy import cached_property

_ROUNDING = 1e-12  # of the largest entry of a matrix


@dataclass(frozen=True, eq=False)
class NumericDerivatives:
    """Derivatives of summed costs, and of constraints, at one decision vector.

    Parameters
    ----------
    costs, constraints : sequence of Block
    x, p : ndarray, shapes (n_x,), (n_p,)
        Decision vector and parameters.
    """

    costs: Sequence[Block]
    constraints: Sequence[Block]
    x: np.ndarray
    p: np.ndarray

    @cached_property
    def _maps(self) -> dict[Block, ca.DM]:
        """W of every block, shape (N len(w), n_x)."""
        return {block: block.sites.map_from(self.x.size) for block in (*self.costs, *self.constraints)}

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of the summed costs, shape (n_x,)."""
        return sum((_pulled_back(block, "gradient", self.x, self.p) for block in self.costs), np.zeros(self.x.size))

    @cached_property
    def gradient_size(self) -> np.ndarray:
        """Sum of the absolute values of all slices' shares in the gradient, shape (n_x,)."""
        return sum((_pulled_back(block, "gradient", self.x, self.p, size=True) for block in self.costs), 0 * self.x)

    @cached_property
    def jacobian(self) -> ca.DM:
        """Jacobian of all rows, slice after slice, sparse, shape (rows, n_x)."""
        parts = [_block_diagonal(block, "jacobian", self.x, self.p) @ self._maps[block] for block in self.constraints]
        return ca.vertcat(ca.DM(0, self.x.size), *parts)

    def lagrangian_gradient(self, multipliers: np.ndarray) -> np.ndarray:
        """Gradient of the summed costs and of multipliers' rows, shape (n_x,); multipliers, shape (rows,)."""
        gradient, first = self.gradient, 0
        for block in self.constraints:
            pushes = multipliers[first : (first := first + block.n_rows * block.n_slices)]
            if pushes.any():
                weights = pushes.reshape(block.n_slices, block.n_rows).T
                gradient = gradient + _pulled_back(block, "jacobian", self.x, self.p, weights)
        return gradient

    def hessian(self, kind: str, multipliers: np.ndarray | None = None) -> ca.DM:
        """Second derivatives of the summed costs and of multipliers' rows, whole, sparse, shape (n_x, n_x).

        Parameters as in `second_derivatives`.
        """
        return self.second_derivatives(kind, multipliers).matrix

    def second_derivatives(self, kind: str, multipliers: np.ndarray | None = None) -> SecondDerivatives:
        """Second derivatives of the summed costs and of multipliers' rows.

        Parameters
        ----------
        kind : "hessian" or "gauss_newton"
            The latter includes sums of squares only.
        multipliers : ndarray, shape (rows,), optional
            Of all rows, slice after slice; none by default.
        """
        weights, rows, first = {block: np.ones((1, block.n_slices)) for block in self.costs}, {}, 0
        for block in self.constraints if multipliers is not None else ():
            assert multipliers is not None
            count = block.n_rows * block.n_slices
            rows[block] = multipliers[first : first + count].reshape(block.n_slices, block.n_rows).T
            first += count
        for joint, blocks in Block.joined([*rows]).items():
            weights[joint] = np.vstack([rows[block] for block in blocks])
        parts = []
        for block, weight in weights.items():
            if block.functions.has(kind) and weight.any():
                upper = _block_diagonal(block, kind, self.x, self.p, weight)
                parts.append((upper + ca.triu(upper, False).T, block.sites.map_from(self.x.size)))
        return SecondDerivatives(parts, self.x.size)

    @cached_property
    def convex(self) -> SecondDerivatives:
        """Positive semidefinite part of the second derivatives of the summed costs.

        Hessians of sums are restricted to eigenvectors of positive eigenvalues, slice by slice; for sums of squares,
        which may have negative weights, those of Gauss and Newton are used.
        """
        parts = []
        for block in self.costs:
            squares = block.functions.has("gauss_newton")
            if squares or block.functions.has("hessian"):
                kind, once = "gauss_newton" if squares else "hessian", np.ones((1, block.n_slices))
                upper = _block_diagonal(block, kind, self.x, self.p, once)
                if upper.nnz():
                    whole = upper + ca.triu(upper, False).T
                    rises = squares and block.has_positive_weights(self.p)
                    parts.append((whole if rises else _rising(whole, block.n_slices), self._maps[block]))
        return SecondDerivatives(parts, self.x.size)


@dataclass(frozen=True, eq=False)
class SecondDerivatives:
    """The sum of W' H W over blocks, as a matrix or along directions.

    Parameters
    ----------
    parts : list of (DM, DM)
        H, block-diagonal, and W of every block.
    size : int
        Number of variables.
    """

    parts: list[tuple[ca.DM, ca.DM]]
    size: int

    @cached_property
    def matrix(self) -> ca.DM:
        """The full matrix, sparse, shape (n_x, n_x)."""
        return sum((local.T @ (blocks @ local) for blocks, local in self.parts), ca.DM(self.size, self.size))

    def along(self, d: np.ndarray) -> float:
        """The second derivative along a direction, shape (n_x,)."""
        steps = [(blocks, local @ d) for blocks, local in self.parts]
        return sum(float(ca.bilin(blocks, step, step)) for blocks, step in steps)


def _rising(blocks: ca.DM, count: int) -> ca.DM:
    """The part of a symmetric matrix of `count` diagonal blocks along eigenvectors of positive eigenvalues."""
    size = blocks.shape[0] // count
    row, column = triplet(blocks.sparsity())
    used, index = np.unique(row % size, return_inverse=True)  # most blocks are zero but for a few rows
    dense = np.zeros((count, used.size, used.size))
    dense[row // size, index, np.searchsorted(used, column % size)] = blocks.nonzeros()
    rounding = _ROUNDING * np.abs(dense).max() * np.eye(used.size)
    with suppress(np.linalg.LinAlgError):
        np.linalg.cholesky(dense + rounding)  # a tenth of the time of eigenvalues tells that all are positive
        return blocks
    values, vectors = np.linalg.eigh(dense)
    rising = np.einsum("nij,nj,nkj->nik", vectors, np.maximum(values, 0.0), vectors)
    rising = (rising + rising.transpose(0, 2, 1)) / 2  # rounding may leave a zero, which is not stored, on one side
    at = used + size * np.arange(count)[:, None]
    rows, columns = np.broadcast_to(at[:, :, None], rising.shape), np.broadcast_to(at[:, None, :], rising.shape)
    return sparse_matrix(*blocks.shape, rows.ravel(), columns.ravel(), rising.ravel())


def row_values(constraints: Sequence[Block], x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Values of all rows, slice after slice, shape (rows,)."""
    return np.concatenate([np.zeros(0), *(block.evaluate(x, p).T.ravel() for block in constraints)])


def _pulled_back(
    block: Block,
    kind: str,
    x: np.ndarray,
    p: np.ndarray,
    multipliers: np.ndarray | None = None,
    *,
    size: bool = False,
) -> np.ndarray:
    """W' g of a block's gradients g, or W' J' multipliers of its Jacobians, shape (n_x,); multipliers, shape (r, N).

    With `size` the absolute values of all slices are summed.
    """
    values, pattern = block.nonzeros(kind, x, p)
    place, column = triplet(pattern)
    if multipliers is not None:
        place, values = column, values * multipliers[place]
    if not values.size:
        return np.zeros(x.size)
    slices = block.sites.slices
    by_local = np.zeros((block.sites.local.w.shape[0], block.n_slices))
    first = np.flatnonzero(np.diff(place, prepend=-1))
    by_local[place[first]] = np.add.reduceat(values, first, axis=0)
    terms = slices.weight * by_local[slices.row]
    terms = np.abs(terms) if size else terms
    return np.bincount(slices.index[slices.column].ravel(), terms.ravel(), x.size)


def _block_diagonal(block: Block, kind: str, x: np.ndarray, p: np.ndarray, *multipliers: np.ndarray) -> ca.DM:
    """A block's function in every slice, as diagonal blocks of a matrix."""
    values, pattern = block.nonzeros(kind, x, p, *multipliers)
    if not values.size:
        return ca.DM(pattern.size1() * block.n_slices, pattern.size2() * block.n_slices)
    return ca.DM(ca.kron(ca.Sparsity.diag(block.n_slices), pattern), values.T.ravel())
