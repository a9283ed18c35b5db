"""The control points that intervals of a spline see, and its values as sums over them."""

from __future__ import annotations

import numpy as np

from colloc.blocks.slices import Slices
from colloc.numerics.bspline import SplineBasis
from colloc.problem import Window


def spline_slices(basis: SplineBasis, points: np.ndarray, s: np.ndarray, interval: np.ndarray, orders: int) -> Slices:
    """Splines and their derivatives in s, as sums over the control points that an interval sees."""
    count, width = basis.degree + 1, points.shape[1]
    index = points[np.minimum(basis.first[interval] + np.arange(count)[:, None], basis.size - 1)]
    values = np.stack([basis.values(s, derivative, interval).T for derivative in range(orders)])
    # A function that ends at a breakpoint is zero there, up to rounding.
    values[np.abs(values) < 1e-13 * np.abs(values).max(axis=(1, 2), keepdims=True, initial=0.0)] = 0.0
    row = np.repeat(np.arange(orders * width), count)
    column = np.tile((np.arange(width)[:, None] + width * np.arange(count)).ravel(), orders)
    weight = np.repeat(values, width, axis=0).reshape(row.size, s.size)
    return Slices(index.transpose(0, 2, 1).reshape(count * width, s.size), row, column, weight)


def intervals_within(window: Window, basis: SplineBasis) -> slice | None:
    """Intervals that lie within a part of the motion; None if there is none."""
    ends = basis.breakpoints
    inside = np.flatnonzero((ends >= window.start - 1e-9) & (ends <= window.end + 1e-9))
    return slice(int(inside[0]), int(inside[-1])) if inside.size > 1 else None


def seen_points(intervals: slice | None, basis: SplineBasis) -> slice:
    """Control points that some intervals see."""
    assert intervals is not None
    last = intervals.stop - 1
    return slice(int(basis.first[intervals.start]), int(basis.first[last] + basis.degrees[last]) + 1)
