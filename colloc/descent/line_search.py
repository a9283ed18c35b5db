"""Line searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colloc.support.arguments import array, callback, instance_of, number, validated
from colloc.support.checks import InputError, instance

_DECREASE = 1e-4  # fraction of the decrease predicted by the initial slope
_ROUNDING = 1e-13  # of the value: smaller differences are rounding
_TRIALS = 30  # trials for an interval, and again within it


class Point(NamedTuple):
    """An objective at x.

    Examples
    --------
    >>> x = np.ones(2)
    >>> co.descent.Point(x, value=float(x @ x), gradient=2 * x).value
    2.0
    """

    x: np.ndarray
    value: float
    gradient: np.ndarray

    @property
    def finite(self) -> bool:
        """Whether the value and all of the gradient are finite."""
        return bool(np.isfinite(self.value) and np.isfinite(self.gradient).all())


class Step(NamedTuple):
    """A point along a direction: its length in directions, and the derivative along the direction.

    Examples
    --------
    >>> co.descent.Step._fields
    ('length', 'point', 'slope')
    """

    length: float
    point: Point
    slope: float


@dataclass(frozen=True)
class Wolfe:
    """The strong Wolfe conditions along a direction from its start.

    f(a) <= f(0) + 1e-4 a f'(0)  and  |f'(a)| <= curvature |f'(0)|, values compared up to their rounding.
    """

    start: Step  # at length 0
    curvature: float  # below 1; remaining fraction of the slope

    def decreases(self, step: Step) -> bool:
        """Whether the value is low enough; False if it is not finite."""
        return satisfies_armijo(self.start.point, step.point, step.length * self.start.slope)

    def flat(self, step: Step) -> bool:
        """Whether the slope is small enough."""
        return abs(step.slope) <= self.curvature * abs(self.start.slope)

    @property
    def rounding(self) -> float:
        """Differences of values within rounding."""
        return _ROUNDING * abs(self.start.point.value)


def satisfies_armijo(start: Point, point: Point, promised: float) -> bool:
    """Whether a point achieves enough of a predicted decrease (Armijo's rule); False if it is not finite."""
    slack = _ROUNDING * abs(start.value)
    return point.finite and point.value <= start.value + _DECREASE * promised + slack


@validated(
    evaluate=callback("a function of x that returns a Point"),
    start=instance_of(Point),
    direction=array("n", finite=False),
    first=number(positive=True),
    curvature=number(positive=True),
)
def wolfe_step(
    evaluate: Callable[[np.ndarray], Point], start: Point, direction: np.ndarray, first: float, curvature: float
) -> Step | None:
    """A step that meets the strong Wolfe conditions.

    Bracketing and zooming with cubic interpolation: Nocedal and Wright (2006), algorithms 3.5 and 3.6, as the line
    searches in section 4.3 of Gill, Murray and Wright (1981) safeguarded. A trial at which the objective is not finite
    counts as too long.

    Parameters
    ----------
    evaluate : callable
        x -> Point.
    start : Point
    direction : ndarray, shape (n,)
    first : float
        Length to try first.
    curvature : float
        Remaining fraction of the slope: 0.9 for directions of Newton type, 0.1 for steepest descent.

    Returns
    -------
    Step or None
        None if the direction is not one of descent, or no step was found in 30 trials. If the objective is undefined
        beyond a decreasing part, a step with sufficient decrease is returned.

    Examples
    --------
    >>> bowl = lambda x: co.descent.Point(x, float(x @ x), 2 * x)
    >>> start = bowl(np.ones(2))
    >>> step = co.descent.wolfe_step(bowl, start, -start.gradient, first=1.0, curvature=0.1)
    >>> round(step.length, 3)  # half the gradient leads to the minimum
    0.5
    """

    def at(length: float) -> Step:
        point = instance("what evaluate returns", evaluate(start.x + length * direction), Point)
        return Step(length, point, float(point.gradient @ direction))

    if start.gradient.shape != direction.shape:
        raise InputError(f"direction must have shape {start.gradient.shape}, got shape {direction.shape}")
    slope = float(start.gradient @ direction)
    if not slope < 0:
        return None
    before = Step(0.0, start, slope)
    wolfe, length = Wolfe(before, curvature), first
    for _ in range(_TRIALS):
        step = at(length)
        if not wolfe.decreases(step) or (before.length > 0 and step.point.value > before.point.value + wolfe.rounding):
            return _zoom(at, wolfe, before, step)
        if wolfe.flat(step):
            return step
        if step.slope >= 0:
            return _zoom(at, wolfe, step, before)
        # Zero of the linearly extrapolated slope, within limits.
        bend = (step.slope - before.slope) / (step.length - before.length)
        vanishes = step.length - step.slope / bend if bend > 0 else np.inf
        before, length = step, float(np.clip(vanishes, 2 * step.length, 10 * step.length))
    return None


def _zoom(at: Callable[[float], Step], wolfe: Wolfe, low: Step, high: Step) -> Step | None:
    """A step between two: `low` decreases the value, is the lowest so far, and slopes down towards `high`."""
    for _ in range(_TRIALS):
        if low.length > 0 and not high.point.finite:
            return low
        step = at(_between(low, high))
        if not wolfe.decreases(step) or step.point.value > low.point.value + wolfe.rounding:
            high = step
            continue
        if wolfe.flat(step):
            return step
        if step.slope * (high.length - low.length) >= 0:
            high = low
        low = step
    return None


def _between(low: Step, high: Step) -> float:
    """Minimiser of the cubic through two values and slopes, away from the ends; the middle if there is none."""
    width = high.length - low.length
    middle = low.length + width / 2
    if not high.point.finite:
        return middle
    mean = low.slope + high.slope - 3 * (high.point.value - low.point.value) / width
    root = mean**2 - low.slope * high.slope
    if root < 0:
        return middle
    root = np.copysign(np.sqrt(root), width)
    denominator = high.slope - low.slope + 2 * root
    if denominator == 0:
        return middle
    share = 1 - (high.slope + root - mean) / denominator
    return float(low.length + np.clip(share, 0.1, 0.9) * width)
