"""A positive definite matrix near an indefinite one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colloc.support.checks import InputError, finite_array

_LEAST = 1e-10  # smallest pivots, relative to the matrix, which bound the condition number


class ModifiedCholesky(NamedTuple):
    """Factors L and D of a symmetric matrix A with a diagonal E added: P (A + E) P' = L D L'.

    Parameters
    ----------
    order : ndarray of int, shape (n,)
        The permutation: row k of P A P' is row order[k] of A.
    lower : ndarray, shape (n, n)
        L, with ones on its diagonal.
    diagonal : ndarray, shape (n,)
        D, all positive.
    added : ndarray, shape (n,)
        E, nonnegative, in the order of A; zero if A is sufficiently positive definite.

    Examples
    --------
    >>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> order, L, D, added = co.descent.modified_cholesky(A)
    >>> bool(np.allclose(L @ np.diag(D) @ L.T, A[np.ix_(order, order)])), added.round(3) + 0.0
    (True, array([0., 0.]))
    """

    order: np.ndarray
    lower: np.ndarray
    diagonal: np.ndarray
    added: np.ndarray

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The x of (A + E) x = b, both of shape (n,)."""
        b = finite_array("b", b, self.diagonal.shape)
        x = np.empty_like(b)
        x[self.order] = np.linalg.solve(self.lower.T, np.linalg.solve(self.lower, b[self.order]) / self.diagonal)
        return x


def modified_cholesky(matrix: np.ndarray) -> ModifiedCholesky:
    """Factorise a symmetric matrix after increasing its diagonal until it is positive definite.

    Gill, Murray and Wright (1981), section 4.4.2.2, with symmetric interchanges. Every pivot is at least so large that
    no entry of L sqrt(D) exceeds beta, which leaves sufficiently positive definite matrices as they are, and keeps E
    bounded for others.

    Parameters
    ----------
    matrix : ndarray, shape (n, n)
        Symmetric; its lower triangle is read.

    Raises
    ------
    InputError
        For a matrix that is not square or not finite.

    Examples
    --------
    >>> factors = co.descent.modified_cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))  # eigenvalues 3 and -1
    >>> bool((factors.diagonal > 0).all())
    True
    """
    matrix = finite_array("matrix", matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"matrix must be square, got shape {matrix.shape}")
    n, order = matrix.shape[0], np.arange(matrix.shape[0])
    rest = np.tril(matrix) + np.tril(matrix, -1).T  # the remaining matrix, from row and column k on
    lower, diagonal, added = np.eye(n), np.zeros(n), np.zeros(n)
    on = np.abs(np.diag(matrix)).max(initial=0.0)
    off = np.abs(np.tril(matrix, -1)).max(initial=0.0)
    beta2 = max(on, off / max(1.0, np.sqrt(n**2 - 1.0)))
    least = _LEAST * (on + off) or 1.0
    for k in range(n):
        pivot = k + int(np.abs(np.diag(rest)[k:]).argmax())
        for array in (order, rest, rest.T, lower[:, :k]):
            array[[k, pivot]] = array[[pivot, k]]
        column = rest[k + 1 :, k].copy()
        bound = np.abs(column).max(initial=0.0) ** 2 / beta2 if column.any() else 0.0
        diagonal[k] = max(abs(rest[k, k]), bound, least)
        added[order[k]] = diagonal[k] - rest[k, k]
        lower[k + 1 :, k] = column / diagonal[k]
        rest[k + 1 :, k + 1 :] -= np.outer(column, lower[k + 1 :, k])
    return ModifiedCholesky(order, lower, diagonal, added)
