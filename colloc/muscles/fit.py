"""Least squares for polynomials: lengths and their derivatives together, in products of Legendre polynomials.

These are nearly orthogonal where the samples fill a box, so that the sums of squares keep their digits. Terms are
dropped from a fit in monomials, each in a time that does not depend on the number of samples.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

_REFRESHED = 50  # dropped terms, after which rounding errors are removed
_SINGULAR = 1e-10  # of the sums' square root


class PolynomialFit(NamedTuple):
    """A polynomial: exponents of its products, their coefficients, and root mean squares of its errors by column."""

    powers: np.ndarray
    coefficients: np.ndarray
    errors: np.ndarray


def fit_polynomial(
    x: np.ndarray,
    values: np.ndarray,
    weights: np.ndarray,
    tolerances: np.ndarray,
    degrees: range,
    *,
    thin: bool,
) -> PolynomialFit:
    """A polynomial of the lowest degree that meets the tolerances, or the best of the highest degree.

    It is fitted to the first half of the samples; errors are at the second half.

    Parameters
    ----------
    x : ndarray, shape (N, k)
        Samples in the box from -1 to 1.
    values : ndarray, shape (N, 1 + k)
        Lengths and their derivatives by x.
    weights : ndarray, shape (1 + k,)
        Of the columns of the values, and of their errors.
    tolerances : ndarray, shape (1 + k,)
        Of the errors with their weights.
    degrees : range
    thin : bool
        Whether terms that the tolerances do not need are dropped, smallest first.
    """
    half, rest = slice(len(x) // 2), slice(len(x) // 2, None)
    powers = _powers(x.shape[1], degrees[-1])
    fitted, tested = (_LegendreRows(powers, x[part], values[part], weights) for part in (half, rest))
    best = PolynomialFit(powers[:0], np.zeros(0), np.full(len(weights), np.inf))
    for degree in degrees:
        count = int((powers.sum(axis=1) <= degree).sum())
        root, right, solution = fitted.square_root(count)
        to_legendre = _legendre_of_monomials(powers[:count])
        errors = tested.errors(solution)
        best = PolynomialFit(powers[:count], np.linalg.solve(to_legendre, solution), errors)
        if (errors <= tolerances).all():
            squares = _Squares(tested.rows[:, :, :count], tested.values, to_legendre)
            return _thinned(best, root @ to_legendre, right, squares, tolerances) if thin else best
    return best


class _LegendreRows:
    """Products of Legendre polynomials at samples, with weights, and the sums of their products, as far as needed."""

    def __init__(self, powers: np.ndarray, x: np.ndarray, values: np.ndarray, weights: np.ndarray):
        self._powers, self._weights, self.values = powers, weights, (values * weights).T
        highest = int(powers.max())
        self._tables = np.polynomial.legendre.legvander(x, highest)
        slopes = [np.append(np.polynomial.legendre.legder(row), [0.0])[: highest + 1] for row in np.eye(highest + 1)]
        self._slopes = self._tables @ np.transpose(slopes)
        self.rows = np.empty((len(weights), len(x), len(powers)))  # lengths, and derivatives by each variable
        self._sums, self._mixed = np.empty((len(powers), len(powers))), np.empty(len(powers))
        self._filled = self._summed = 0

    def square_root(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """R and b so that min |R c - b| is the fit with the first terms, and its solution c."""
        self._fill(count)
        old, new = slice(0, self._summed), slice(self._summed, count)
        self._sums[old, new] = sum(rows[:, old].T @ rows[:, new] for rows in self.rows)
        self._sums[new, old] = self._sums[old, new].T
        self._sums[new, new] = sum(rows[:, new].T @ rows[:, new] for rows in self.rows)
        self._mixed[new] = sum(rows[:, new].T @ value for rows, value in zip(self.rows, self.values, strict=True))
        self._summed = count
        try:
            root = np.linalg.cholesky(self._sums[:count, :count]).T
            right = np.linalg.solve(root.T, self._mixed[:count])
            return root, right, np.linalg.solve(root, right)
        except np.linalg.LinAlgError:  # samples that do not tell the terms from each other
            q, root = np.linalg.qr(self.rows[:, :, :count].reshape(-1, count))
            right = q.T @ self.values.ravel()
            return root, right, np.linalg.lstsq(root, right, rcond=None)[0]

    def errors(self, solution: np.ndarray) -> np.ndarray:
        """Root mean squares of the errors of lengths and derivatives."""
        self._fill(len(solution))
        return np.sqrt(np.mean((self.rows[:, :, : len(solution)] @ solution - self.values) ** 2, axis=1))

    def _fill(self, count: int) -> None:
        new = slice(self._filled, count)
        for kind, rows in enumerate(self.rows):
            rows[:, new] = self._weights[kind]
            for k, degrees in enumerate(self._powers[new].T):
                rows[:, new] *= (self._slopes if kind == k + 1 else self._tables)[:, k, degrees]
        self._filled = max(self._filled, count)


class _Squares:
    """Errors of polynomials at samples, from sums over the samples."""

    def __init__(self, rows: np.ndarray, values: np.ndarray, to_legendre: np.ndarray):
        self._count, self._to_legendre = values.shape[1], to_legendre
        self._products = [column.T @ column for column in rows]
        self._mixed = [column.T @ value for column, value in zip(rows, values, strict=True)]
        self._values = np.sum(values**2, axis=1)

    def errors(self, kept: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Root mean squares of the columns' errors."""
        c = self._to_legendre[:, kept] @ coefficients
        squares = [
            c @ products @ c - 2 * mixed @ c + value
            for products, mixed, value in zip(self._products, self._mixed, self._values, strict=True)
        ]
        return np.sqrt(np.maximum(squares, 0.0) / self._count)


def _thinned(
    fit: PolynomialFit, root: np.ndarray, right: np.ndarray, squares: _Squares, tolerances: np.ndarray
) -> PolynomialFit:
    """Without the terms of the smallest coefficients, one after another, as long as errors are within tolerances.

    With P the inverse of the sums of products, the best fit without term j is c - P[:, j] c[j] / P[j, j].
    """
    kept, coefficients, errors = np.arange(len(fit.powers)), fit.coefficients, fit.errors
    inverse: np.ndarray | None = None
    while len(kept) > 1:
        if inverse is None or (len(fit.powers) - len(kept)) % _REFRESHED == 0:
            q, r = np.linalg.qr(root[:, kept])
            inverse = np.linalg.pinv(r) if np.abs(np.diag(r)).min() < _SINGULAR else np.linalg.inv(r)
            coefficients, inverse = inverse @ (q.T @ right), inverse @ inverse.T
        j = int(np.argmin(np.abs(coefficients)))
        column = np.delete(inverse[:, j], j)
        fewer = np.delete(coefficients, j) - column * (coefficients[j] / inverse[j, j])
        fewer_errors = squares.errors(np.delete(kept, j), fewer)
        if (fewer_errors > tolerances).any():
            break
        inverse = np.delete(np.delete(inverse, j, axis=0), j, axis=1) - np.outer(column, column) / inverse[j, j]
        kept, coefficients, errors = np.delete(kept, j), fewer, fewer_errors
    coefficients = np.linalg.lstsq(root[:, kept], right, rcond=None)[0]
    return PolynomialFit(fit.powers[kept], coefficients, errors)


def _powers(variables: int, degree: int) -> np.ndarray:
    """Exponents of all products of up to `degree` factors, shape (terms, variables)."""
    factors = (c for d in range(degree + 1) for c in combinations_with_replacement(range(variables), d))
    return np.array([[chosen.count(k) for k in range(variables)] for chosen in factors])


def _legendre_of_monomials(powers: np.ndarray) -> np.ndarray:
    """Products of powers in products of Legendre polynomials, a column for each, shape (terms, terms)."""
    highest = int(powers.max())
    single = np.zeros((highest + 1, highest + 1))
    for power, row in enumerate(np.eye(highest + 1)):
        found = np.polynomial.legendre.poly2leg(row[: power + 1])
        single[: len(found), power] = found
    whole = np.ones((len(powers), len(powers)))
    for k in range(powers.shape[1]):
        whole *= single[np.ix_(powers[:, k], powers[:, k])]
    return whole
