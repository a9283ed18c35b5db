"""Points and weights of quadrature on [0, 1]."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre
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
