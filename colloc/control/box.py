"""Small quadratic programs with bounds, by the projected Newton method of Tassa, Mansard and Todorov (2014)."""

from __future__ import annotations

import numpy as np

_ITERATIONS = 100
_ARMIJO = 0.1


def box_minimum(H: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minimiser of x' H x / 2 + g' x within lower <= x <= upper, and a mask of its entries that are not at a bound.

    Newton steps in the entries that the gradient does not push against a bound, projected into the box, until the free
    part of the gradient vanishes. H is positive definite; bounds may be infinite.
    """
    x = np.clip(-np.linalg.solve(H, g), lower, upper)
    scale = np.abs(g).max() + np.abs(H @ x).max()
    free = np.ones(len(x), dtype=bool)
    for _ in range(_ITERATIONS):
        gradient = H @ x + g
        free = ~(((x <= lower) & (gradient > 0)) | ((x >= upper) & (gradient < 0)))
        if np.abs(gradient[free]).max(initial=0.0) <= 1e-14 * scale:
            break
        newton = np.zeros_like(x)
        newton[free] = -np.linalg.solve(H[np.ix_(free, free)], gradient[free])
        step = 1.0
        while True:
            trial = np.clip(x + step * newton, lower, upper)
            change = trial - x
            if change @ (gradient + 0.5 * H @ change) <= _ARMIJO * gradient @ change:
                break
            step /= 2
            if step < 1e-12:
                return x, free
        if not change.any():
            break
        x = trial
    return x, free
