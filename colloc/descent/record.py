"""Counting, timing and stopping, common to all methods."""

from __future__ import annotations

import time

import numpy as np

from colloc.descent.box import box_of
from colloc.descent.line_search import Point
from colloc.descent.objective import Descent, DescentStatus, History, Objective, Stop, check_objective
from colloc.support.checks import InputError, finite_array, instance
from colloc.support.threads import raise_if_stopped


class DescentRecord:
    """The iterates of one descent so far; the clock starts when it is made.

    The start x0, shape (n,), is projected onto the objective's bounds.
    """

    def __init__(self, method: str, objective: Objective, x0: np.ndarray, stop: Stop):
        check_objective(objective)
        instance("stop", stop, Stop)
        x0 = finite_array("x0", x0)
        if x0.ndim != 1 or x0.size == 0:
            raise InputError(f"x0 must be a vector, shape (n,), got shape {x0.shape}")
        self._method, self._objective, self._stop = method, objective, stop
        self._begin, self._evaluations = time.perf_counter(), 0
        self._rows: list[tuple[float, float, float, int, float]] = []
        self.box = box_of(objective.lower, objective.upper, x0.size)
        self.start = self.evaluate(self.box.project(x0))
        self.now = self.start
        self.append(self.start)

    def evaluate(self, x: np.ndarray) -> Point:
        """The objective at x, counted."""
        self._evaluations += 1
        value, gradient = self._objective.first(x)
        return Point(x, float(value), np.asarray(gradient, dtype=float))

    def append(self, point: Point) -> None:
        """Append an iterate."""
        raise_if_stopped()
        norm, step = float(np.linalg.norm(self.box.residual(point))), float(np.linalg.norm(point.x - self.now.x))
        self._rows.append((point.value, norm, step, self._evaluations, time.perf_counter() - self._begin))
        self.now = point

    @property
    def status(self) -> DescentStatus | None:
        """The status with which to stop; None to continue."""
        if not self.now.finite:
            return DescentStatus.NOT_FINITE
        if self._rows[-1][1] < self._stop.gradient:
            return DescentStatus.CONVERGED
        if len(self._rows) > self._stop.iterations:
            return DescentStatus.ITERATION_LIMIT
        return None

    def result(self, status: DescentStatus) -> Descent:
        """The result of the descent."""
        now, history = self.now, History(*map(np.array, zip(*self._rows, strict=True)))
        return Descent(self._method, now.x, now.value, now.gradient, status, self._stop, history)
