"""Runge and Kutta's classic method of order four, which studies use as a second opinion of a motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import colloc as co

_INSIDE = 1e-9  # s: controls may jump where intervals meet


def integrated(
    solution: co.Solution,
    rates: Callable[[Any, Any], Any],
    state: Any,
    controls: Callable[[np.ndarray], Any],
    steps: int,
) -> Iterator[Any]:
    """States at the ends of the intervals of a solution, from its controls alone.

    Parameters
    ----------
    solution : Solution
        Its controls are smooth within each interval.
    rates : callable
        State and controls at an instant -> rates of the state, NumPy or DM.
    state : array
        At the start.
    controls : callable
        Times, ndarray, shape (N,) [s] -> a sequence of N controls.
    steps : int
        In each interval.
    """
    for begin, end in pairwise(solution.mesh_times):
        h, now = (end - begin) / steps, controls(np.linspace(begin + _INSIDE, end - _INSIDE, 2 * steps + 1))
        for k in range(0, 2 * steps, 2):
            first = rates(state, now[k])
            second = rates(state + h / 2 * first, now[k + 1])
            third = rates(state + h / 2 * second, now[k + 1])
            state = state + h / 6 * (first + 2 * second + 2 * third + rates(state + h * third, now[k + 2]))
        yield state
