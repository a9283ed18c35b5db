"""Search for optimal breakpoints, in iterations.

Free breakpoints make even a very regular program nonconvex and, for smooth motions, nearly singular: without limits
breakpoints collide. They are therefore moved from the optimum on fixed breakpoints, each by less than half an interval
per iteration, as in a trust region, which preserves their order. An iteration counts only if it lowers the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from colloc.solver import Outcome, Start, Status
from colloc.transcription import NLP

PATIENCE = 150  # solver iterations per iteration of the search
_ROUNDS = 10
_REACH, _LEAST = 0.4, 0.02  # of an interval: largest and smallest trust region of a breakpoint
_SETTLED = 1e-8  # relative gain below which the search ends


class KnotSearch(NamedTuple):
    """Result of a search for breakpoints.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
        The best decision vector, including breakpoints.
    status : Status
        SOLVED if further iterations would gain nothing, INTERRUPTED, or ITERATION_LIMIT.
    iterations : int
    seconds : dict of str to float
        As in a solution.
    """

    x: np.ndarray
    status: Status
    iterations: int
    seconds: dict[str, float]


def search_knots(nlp: NLP, x: np.ndarray, p: np.ndarray, run: Callable[[Start], Outcome]) -> KnotSearch:
    """Find breakpoints that lower the cost.

    Parameters
    ----------
    nlp : NLP
        Program on a grid with free breakpoints.
    x : ndarray, shape (n_x,)
        The optimum on the breakpoints in it.
    p : ndarray
        Parameter values.
    run : callable
        Solve of the program: takes a Start, returns an Outcome.
    """
    index = nlp.grid.layout["knots"][:, 0]
    reach, best, iterations = _REACH, float(nlp.f(x, p)), 0
    seconds: dict[str, float] = {}
    for _ in range(_ROUNDS):
        ends, lower, upper = x[index], nlp.lower.copy(), nlp.upper.copy()
        room = reach * np.pad(np.diff(ends), 1)
        lower[index] = np.maximum(lower[index], ends - room[:-1])
        upper[index] = np.minimum(upper[index], ends + room[1:])
        outcome = run(Start(x, near_optimum=True, bounds=(lower, upper)))
        iterations += outcome.iterations
        seconds = {name: spent + seconds.get(name, 0.0) for name, spent in outcome.seconds.items()}
        if outcome.status is Status.INTERRUPTED:
            return KnotSearch(x, Status.INTERRUPTED, iterations, seconds)
        gain = best - float(nlp.f(outcome.x, p)) if outcome.status is Status.SOLVED else -np.inf
        if gain > 0:
            x, best = outcome.x, best - gain
        if abs(gain) <= _SETTLED * abs(best):
            return KnotSearch(x, Status.SOLVED, iterations, seconds)
        if gain < 0:
            reach /= 4
            if reach < _LEAST:
                break
    return KnotSearch(x, Status.ITERATION_LIMIT, iterations, seconds)
