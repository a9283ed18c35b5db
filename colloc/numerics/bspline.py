"""B-spline bases on clamped uniform knots."""

from __future__ import annotations

import numpy as np


def knots(intervals: int, degree: int) -> np.ndarray:
    """Uniform breakpoints on [0, 1], the ends repeated degree + 1 times; shape (intervals + 2 degree + 1,)."""
    return np.concatenate([np.zeros(degree), np.linspace(0, 1, intervals + 1), np.ones(degree)])


def span(s: np.ndarray, intervals: int) -> np.ndarray:
    """Number of the interval that holds each s in [0, 1]; the last one holds s = 1."""
    # A node meant to lie on a breakpoint must not fall below it by rounding.
    return np.clip(np.floor(s * intervals + 1e-9).astype(int), 0, intervals - 1)


def basis(s: np.ndarray, intervals: int, degree: int, derivative: int = 0) -> np.ndarray:
    """Values of the degree + 1 basis functions that live on the interval of each s.

    Function number k of the row of s multiplies control point ``span(s) + k``. Cox-de Boor recursion; a derivative
    is the basis of lower degree on differenced control points (Piegl and Tiller 1997, section 2.3).

    Parameters
    ----------
    s : ndarray, shape (N,)
    intervals, degree, derivative : int

    Returns
    -------
    ndarray, shape (N, degree + 1)
    """
    t = knots(intervals, degree)
    first = span(s, intervals)
    values = np.zeros((s.size, degree + 1))
    if derivative > degree:
        return values
    values[:, 0] = 1.0
    for p in range(1, degree + 1):
        raised = np.zeros_like(values)
        for k in range(p):
            # Functions of degree p - 1 living here are k = 0 .. p - 1, each supported on [left, right].
            left = t[first + degree - p + 1 + k]
            right = t[first + degree + 1 + k]
            share = values[:, k] / (right - left)
            if p > degree - derivative:
                raised[:, k] -= p * share
                raised[:, k + 1] += p * share
            else:
                raised[:, k] += (right - s) * share
                raised[:, k + 1] += (s - left) * share
        values = raised
    return values


def greville(intervals: int, degree: int) -> np.ndarray:
    """Where a spline's control points sit: the mean of `degree` knots of each; shape (intervals + degree,)."""
    t = knots(intervals, degree)
    return np.array([t[k + 1 : k + degree + 1].mean() for k in range(intervals + degree)])


def interpolate(values: np.ndarray, intervals: int, degree: int) -> np.ndarray:
    """Control points of the spline that takes given values at the Greville points.

    The collocation matrix is banded and totally positive, so elimination needs no pivoting (de Boor 1978, chapter
    XIII) and costs O(intervals).

    Parameters
    ----------
    values : ndarray, shape (intervals + degree, columns)

    Returns
    -------
    ndarray, shape (intervals + degree, columns)
    """
    s = greville(intervals, degree)
    rows, first = basis(s, intervals, degree), span(s, intervals)
    count, width = s.size, 2 * degree + 1
    band = np.zeros((count, width))  # band[i, j - i + degree] is entry (i, j)
    for k in range(degree + 1):
        band[np.arange(count), first + k - np.arange(count) + degree] = rows[:, k]
    x = np.array(values, dtype=float)
    for i in range(count):
        for j in range(i + 1, min(i + degree + 1, count)):
            factor = band[j, i - j + degree] / band[i, degree]
            if factor:
                band[j, i - j + degree : i - j + width] -= factor * band[i, degree:]
                x[j] -= factor * x[i]
    for i in reversed(range(count)):
        reach = min(degree, count - 1 - i)
        x[i] = (x[i] - band[i, degree + 1 : degree + 1 + reach] @ x[i + 1 : i + 1 + reach]) / band[i, degree]
    return x
