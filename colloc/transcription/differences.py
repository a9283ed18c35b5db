"""Derivatives by differences, for tests of exact ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def central_difference(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Derivative along v of a function of x, shape (n,), Richardson-extrapolated to fourth order."""
    step = 1e-3 / float(np.abs(v).max(initial=1.0))
    coarse, fine = ((function(x + h * v) - function(x - h * v)) / (2 * h) for h in (step, step / 2))
    return (4 * fine - coarse) / 3
