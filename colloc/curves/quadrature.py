"""Quadrature points, and the polynomials through them."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import Legendre
from numpy.polynomial.legendre import leggauss


@cache
def gauss(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre points and weights on [0, 1], exact to degree 2 points - 1; read-only."""
    nodes, weights = leggauss(points)
    rule = (nodes + 1) / 2, weights / 2
    for array in rule:
        array.flags.writeable = False
    return rule


def radau(points: int) -> np.ndarray:
    """Radau points on (0, 1], the last one at 1 (Hairer and Wanner 1996, section IV.5).

    They are the roots of P_d - P_{d-1}, d the number of points, in x = 2 c - 1.
    """
    roots = (Legendre.basis(points) - Legendre.basis(points - 1)).roots()
    return np.append(np.sort(roots.real)[:-1] / 2 + 0.5, 1.0)


def lagrange_values(points: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Polynomials that are 1 at one of the points and 0 at the others, at u; shape (len(u), len(points))."""
    columns = []
    for k, point in enumerate(points):
        others = np.delete(points, k)
        columns.append(np.prod((u[:, None] - others) / (point - others), axis=1))
    return np.column_stack(columns)


def lagrange_integrals(points: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Integral of each Lagrange basis polynomial from 0 to u, shape (len(u), len(points)).

    At u = points this is the Runge-Kutta matrix A of the collocation method, at u = 1 its weights b (Hairer,
    Norsett and Wanner 1993, theorem II.7.7).
    """
    # Gauss quadrature of the product form is exact here and, unlike monomial coefficients, does not cancel.
    nodes, weights = gauss(points.size // 2 + 1)
    values = lagrange_values(points, (u[:, None] * nodes).ravel()).reshape(u.size, nodes.size, points.size)
    return u[:, None] * np.einsum("g,ugj->uj", weights, values)
