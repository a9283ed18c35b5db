"""An interior-point method on the same objectives, for comparison."""

from __future__ import annotations

import numpy as np

from colloc.descent.line_search import Point
from colloc.descent.objective import Descent, DescentStatus, Objective, Stop
from colloc.descent.record import DescentRecord
from colloc.solver import minimise
from colloc.support.interrupts import reraise_interrupt


@reraise_interrupt
def interior_point(objective: Objective, x0: np.ndarray, stop: Stop | None = None) -> Descent:
    """Descent by the interior-point method that solves motions, under the same stopping rule.

    A Newton method with a filter, or limited-memory quasi-Newton if the objective has no Hessian; see
    `colloc.solver.minimise`. The gradient norm is that of the unscaled objective.

    Parameters, returned values and errors as in `steepest_descent`.

    Examples
    --------
    >>> bowl = co.descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    >>> co.descent.interior_point(bowl, np.ones(3)).status
    <DescentStatus.CONVERGED: 'converged'>
    """
    rule = Stop() if stop is None else stop
    record = DescentRecord("interior point", objective, x0, rule)
    if (status := record.status) is not None:
        return record.result(status)
    latest = _Latest(record)
    minimise(
        lambda x: latest(x).value,
        lambda x: latest(x).gradient,
        objective.hessian,
        record.start.x,
        (record.box.lower, record.box.upper),
        done=latest.keep,
        # IPOPT's rule, for the largest entry, must not be met before ours, for the Euclidean norm.
        tolerance=0.1 * rule.gradient / np.sqrt(record.start.x.size),
        iterations=rule.iterations,
    )
    return record.result(record.status or DescentStatus.NO_STEP)


class _Latest:
    """The objective at the latest point, computed once for value, gradient and the record."""

    def __init__(self, record: DescentRecord):
        self._record, self._point = record, record.start

    def __call__(self, x: np.ndarray) -> Point:
        if not np.array_equal(x, self._point.x):
            self._point = self._record.evaluate(x)
        return self._point

    def keep(self, x: np.ndarray) -> bool:
        """Record an iterate; return True when the stopping rule is met."""
        if not np.array_equal(x, self._record.now.x):
            self._record.append(self(x))
        return self._record.status is not None
