"""Torques along a spline, and their derivatives by its control points, breakpoints and duration: the chain rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from colloc.curves.spline_basis import SplineBasis
from colloc.dynamics.evaluator.samples import SplineSensitivities, TorqueSensitivities
from colloc.kernels.batch import Batch
from colloc.model import Model
from colloc.support.checks import InputError, finite_array, finite_number, quoted


class PositionSlopes:
    """Torques and derivatives by positions and by their first and second time derivatives, quaternions among them.

    Called like `Evaluator.sensitivities`, with dq/dt and d2q/dt2 of shape (N, n_q) in place of velocities.
    """

    def __init__(self, model: Model, sensitivities: Callable[..., TorqueSensitivities]):
        self._n, self._sensitivities = model.n, sensitivities
        q, q1, q2 = (ca.SX.sym(name, model.n_q) for name in ("q", "q1", "q2"))
        qd, qdd = model.velocities(q, q1, q2)
        slope = ca.jacobian(ca.vertcat(qd, qdd), ca.vertcat(q, q1, q2))
        outputs = [ca.densify(ca.vec(part.T)) for part in (qd, qdd, slope, ca.jacobian(qd, q1))]
        places = [np.arange(part.shape[0]) for part in outputs]
        self._batch = Batch.of(ca.Function("rates", [q, q1, q2], outputs), ("q", "q1", "q2"), places)

    def __call__(self, q: np.ndarray, q1: np.ndarray, q2: np.ndarray, t: np.ndarray) -> list[np.ndarray]:
        """tau (N, n), then its derivatives, each shape (N, n, n_q)."""
        (count, n_q), n = q.shape, self._n
        columns = {"q": q, "q1": q1, "q2": q2}
        arrays = {name: np.ascontiguousarray(part) for name, part in columns.items()}
        qd, qdd, slope, displaced = self._batch.evaluate(arrays, count)
        tau, by_x, by_qd, by_qdd = self._sensitivities(q, qd, qdd, t)
        slope = slope.reshape(count, 2 * n, 3 * n_q)
        total = by_qd @ slope[:, :n] + by_qdd @ slope[:, n:]
        total[:, :, :n_q] += by_x @ displaced.reshape(count, n, n_q)
        return [tau, *np.split(total, 3, axis=2)]


def spline_sensitivities(
    sensitivities: Callable[..., Any], basis: SplineBasis, points: Any, duration: float, s: Any, n: int
) -> SplineSensitivities:
    """Torques and derivatives by n positions; parameters as in `Evaluator.spline_sensitivities`.

    `sensitivities` lead from positions, their first and second time derivatives and t to torques and derivatives of
    some samples: `Evaluator.sensitivities`, or `PositionSlopes`.
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
    by_breakpoints = np.zeros((*tau.shape, basis.intervals - 1))
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
