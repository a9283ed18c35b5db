"""Torques along a spline, and what they owe to all that makes it: the chain rule from q, qd and qdd on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colloc.dynamics.evaluator.samples import SplineSensitivities, TorqueSensitivities
from colloc.numerics.bspline import SplineBasis
from colloc.support.checks import InputError, finite_array, finite_number, quoted


def spline_sensitivities(
    sensitivities: Callable[..., TorqueSensitivities], basis: SplineBasis, points: Any, duration: float, s: Any, n: int
) -> SplineSensitivities:
    """Torques and derivatives of n joints; parameters as in `Evaluator.spline_sensitivities`.

    `sensitivities` lead from (q, qd, qdd, t) to torques and derivatives of some samples.
    """
    if not isinstance(basis, SplineBasis) or np.ptp(basis.degrees) or (basis.continuity < 0).any():
        raise InputError(f"basis must be a SplineBasis of one degree, such as co.BSpline(8).basis, got {quoted(basis)}")
    points, T = finite_array("points", points, (basis.size, n)), finite_number("duration", duration, positive=True)
    s = finite_array("s", s, (None,))
    if not ((s >= 0) & (s <= 1)).all():
        raise InputError(f"s must be normalised times from 0 to 1, shape (N,), got {quoted(s)}")
    per_second = np.float64(1.0) / T
    matrices = [_matrix(basis, s, order) * per_second**order for order in range(3)]
    state = [matrix @ points for matrix in matrices]
    tau, *by_state = sensitivities(*state, t=s * T)
    slopes = np.stack(by_state)
    by_points = np.einsum("dkim,dkj->kijm", slopes, np.stack(matrices))
    by_breakpoints = np.zeros((s.size, n, basis.intervals - 1))
    for k in range(1, basis.intervals):
        by_knot, by_point = basis.by_breakpoint(points, k)
        changes = [_matrix(by_knot, s, order) @ by_point * per_second**order for order in range(3)]
        by_breakpoints[:, :, k - 1] = np.einsum("dkim,dkm->ki", slopes, np.stack(changes))
    # Rates fall as 1/T, accelerations as 1/T^2.
    changes = [-order / T * values for order, values in enumerate(state)]
    by_duration = np.einsum("dkim,dkm->ki", slopes, np.stack(changes))
    return SplineSensitivities(tau, by_points, by_breakpoints, by_duration)


def _matrix(basis: SplineBasis, s: np.ndarray, order: int) -> np.ndarray:
    """A derivative of all basis functions, dense, shape (N, size)."""
    first = basis.first[basis.interval(s)]
    matrix = np.zeros((s.size, basis.size))
    columns = np.minimum(first[:, None] + np.arange(basis.degree + 1), basis.size - 1)
    np.put_along_axis(matrix, columns, basis.values(s, order), axis=1)
    return matrix
