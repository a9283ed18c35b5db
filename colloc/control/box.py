"""Small quadratic programs with bounds, by the projected Newton method of Tassa, Mansard and Todorov (2014)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colloc.support.arguments import array, validated
from colloc.support.checks import InputError, interval

_ITERATIONS = 100
_ARMIJO = 0.1


class BoxMinimum(NamedTuple):
    """Minimiser of a quadratic function in a box."""

    x: np.ndarray  # shape (n,)
    free: np.ndarray  # bools, shape (n,); which components no bound holds


@validated(H=array("n", "n"), g=array("n"))
def box_minimum(H: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> BoxMinimum:
    """Minimise x' H x / 2 + g' x subject to lower <= x <= upper.

    A Newton step in the components that the gradient does not push against a bound, projected into the box, until the
    free part of the gradient vanishes.

    Parameters
    ----------
    H : ndarray, shape (n, n)
        Positive definite.
    g, lower, upper : ndarray, shape (n,)
        Bounds may be infinite.

    Examples
    --------
    >>> co.control.box_minimum(np.eye(2), np.array([-3.0, 0.5]), np.full(2, -1.0), np.full(2, 1.0)).x
    array([ 1. , -0.5])
    """
    low, high = interval("bounds", lower, upper, g.shape)
    try:
        np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        raise InputError(f"H must be positive definite, got {H}") from None
    return projected_newton(H, g, low, high)


def projected_newton(H: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> BoxMinimum:
    """`box_minimum` of arguments that are right, which are not checked."""
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
                return BoxMinimum(x, free)
        if not change.any():
            break
        x = trial
    return BoxMinimum(x, free)
