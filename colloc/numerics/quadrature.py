"""Quadrature points, and the polynomials through them."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre, Polynomial
from numpy.polynomial.legendre import leggauss


def gauss(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre points and weights on [0, 1], exact to degree 2 points - 1."""
    nodes, weights = leggauss(points)
    return (nodes + 1) / 2, weights / 2


def radau(points: int) -> np.ndarray:
    """Radau points on (0, 1], the last one at 1 (Hairer and Wanner 1996, section IV.5).

    They are the roots of P_d - P_{d-1}, d the number of points, in x = 2 c - 1.
    """
    roots = (Legendre.basis(points) - Legendre.basis(points - 1)).roots()
    return np.append(np.sort(roots.real)[:-1] / 2 + 0.5, 1.0)


def lagrange_basis(points: np.ndarray) -> list[Polynomial]:
    """Polynomials that are 1 at one of the points and 0 at the others."""
    basis = []
    for k, point in enumerate(points):
        others = np.delete(points, k)
        basis.append(Polynomial.fromroots(others) / np.prod(point - others) if others.size else Polynomial([1.0]))
    return basis


def lagrange_values(points: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Lagrange basis of the points at u, shape (len(u), len(points))."""
    return np.column_stack([p(u) for p in lagrange_basis(points)])


def lagrange_integrals(points: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Integral of each Lagrange basis polynomial from 0 to u, shape (len(u), len(points)).

    At u = points this is the Runge-Kutta matrix A of the collocation method, at u = 1 its weights b (Hairer,
    Norsett and Wanner 1993, theorem II.7.7).
    """
    return np.column_stack([p.integ()(u) for p in lagrange_basis(points)])
