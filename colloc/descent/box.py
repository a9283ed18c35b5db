"""Bounds on single variables: remaining gradients, and steps within the bounds.

D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM J. Control and
Optimization 20(2), 1982, pp. 221-246. Variables at a bound that their gradient pushes against are held: they follow
their negative gradient, the others the direction of the method, and the result is projected onto the box. Unlike along
a straight line, many variables can reach or leave their bounds in one step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colloc.descent.line_search import Point, Step, satisfies_armijo
from colloc.support.checks import InputError, float_array, quoted

_NEAR = 1e-4  # in units of x: closer variables count as being at a bound
_TRIALS = 60


@dataclass(frozen=True, eq=False)
class VariableBounds:
    """Bounds on every variable."""

    lower: np.ndarray  # lower, upper: shape (n,); infinite where there is no bound
    upper: np.ndarray

    @property
    def bounded(self) -> bool:
        """Whether there is any bound."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def project(self, x: np.ndarray) -> np.ndarray:
        """The nearest point within the bounds."""
        return np.clip(x, self.lower, self.upper)

    def residual(self, point: Point) -> np.ndarray:
        """The residual of the conditions of first order, shape (n,).

        The gradient; of variables held by a bound, their distance from it. Zero if and only if the gradient vanishes
        except for variables at a bound that it pushes them against.
        """
        return np.where(self.held(point), self._projected(point), point.gradient)

    def held(self, point: Point) -> np.ndarray:
        """Variables at a bound that their gradient pushes against, ndarray of bool, shape (n,)."""
        near = min(_NEAR, float(np.linalg.norm(self._projected(point))))
        low = (point.x <= self.lower + near) & (point.gradient > 0)
        return low | ((point.x >= self.upper - near) & (point.gradient < 0))

    def _projected(self, point: Point) -> np.ndarray:
        """The vector x - P(x - gradient), from the projection of a steepest step."""
        return np.clip(point.gradient, point.x - self.upper, point.x - self.lower)


def box_of(lower: Any, upper: Any, n: int) -> VariableBounds:
    """The box of n variables; bounds are floats for all or one for each.

    Raise InputError for bounds of another shape, that are not numbers, or that are not in order.
    """
    arrays = []
    for name, value in (("lower", lower), ("upper", upper)):
        array = float_array(name, value)
        if array.shape not in ((), (n,)) or np.isnan(array).any():
            raise InputError(f"{name} bounds must be a number or shape ({n},), got {quoted(value)}")
        arrays.append(np.broadcast_to(array, (n,)))
    if (crossed := np.flatnonzero(arrays[0] > arrays[1])).size:
        k = int(crossed[0])
        raise InputError(f"bounds of variable {k} must be in order, got {arrays[0][k]:g} and {arrays[1][k]:g}")
    return VariableBounds(*arrays)


def projected_step(
    evaluate: Callable[[np.ndarray], Point], box: VariableBounds, start: Point, direction: np.ndarray, first: float
) -> Step | None:
    """A step along a direction, projected onto the box, with sufficient decrease (Armijo's rule).

    The length `first` is tried first, then shorter ones; None without a decrease in 60 trials.
    """
    bound = box.held(start)
    slope, length = float(start.gradient[~bound] @ direction[~bound]), first
    for _ in range(_TRIALS):
        x = box.project(start.x + length * direction)
        promised = length * slope + float(start.gradient[bound] @ (x - start.x)[bound])
        if not promised < 0:
            return None
        point = evaluate(x)
        if satisfies_armijo(start, point, promised):
            return Step(length, point, slope)
        # The minimiser of the parabola through both values, within limits.
        above = point.value - start.value - promised
        share = -promised / (2 * above) if np.isfinite(above) and above > 0 else 0.5
        length *= float(np.clip(share, 0.1, 0.5))
    return None
