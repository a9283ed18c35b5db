"""Final postures that a problem leaves open: angles up to whole turns, and targets that several postures reach."""

from __future__ import annotations

import weakref
from itertools import product

import numpy as np

from colloc.model.inverse_kinematics import postures_reaching
from colloc.problem import Problem

_MOST = 8  # postures
_OF_TARGETS = 3  # postures for the same turns
_EXACT = 1e-9  # rad, of an angle that is already there

_known: weakref.WeakKeyDictionary[Problem, list[np.ndarray]] = weakref.WeakKeyDictionary()


def final_postures(problem: Problem, start: np.ndarray, end: np.ndarray) -> list[np.ndarray]:
    """Final postures that meet angles up to whole turns, and targets of bodies, the nearest to the start first.

    Empty for a problem without such statements.

    Parameters
    ----------
    problem : Problem
    start, end : ndarray, shape (n,)
        Postures at the ends; NaN in the final one for joints without a prescribed value.
    """
    if problem not in _known:
        _known[problem] = _final_postures(problem, start, end)
    return _known[problem]


def _final_postures(problem: Problem, start: np.ndarray, end: np.ndarray) -> list[np.ndarray]:
    turning = problem.up_to_turns
    at_end = (s.target for s in problem.statements if s.where.instants == 1 and s.where.moments[-1] == 1.0)
    targets = [target for target in at_end if target is not None]
    if problem.coordinates is not None or problem.model.symbols:
        targets = []  # postures that are closed, or known, only once the problem is solved
    if not (turning or targets):
        return []
    lower, upper = problem.limits("q")
    fixed = ~np.isnan(end)
    lower, upper = np.where(fixed, end, lower), np.where(fixed, end, upper)
    postures: list[np.ndarray] = []
    choices = [_nearest_turns(t.value, start[t.index], lower[t.index], upper[t.index]) for t in turning]
    by_way = sorted(
        product(*choices), key=lambda values: sum(abs(v - start[t.index]) for v, t in zip(values, turning, strict=True))
    )
    for values in by_way[:_MOST]:
        low, high, near = lower.copy(), upper.copy(), np.clip(start, lower, upper)
        for turn, value in zip(turning, values, strict=True):
            low[turn.index] = high[turn.index] = near[turn.index] = value
        postures += postures_reaching(problem.model, targets, near, low, high)[:_OF_TARGETS] if targets else [near]
    return postures[:_MOST]


def _nearest_turns(value: float, start: float, lower: float, upper: float) -> list[float]:
    """The nearest angles below and above a start that equal a value up to whole turns, within bounds."""
    below = value + 2 * np.pi * np.floor((start - value) / (2 * np.pi) + _EXACT)
    near = [below] if abs(below - start) <= _EXACT else [below, below + 2 * np.pi]
    within = [angle for angle in near if lower <= angle <= upper]
    if within:
        return within
    turns = value + 2 * np.pi * np.arange(
        np.ceil((lower - value) / (2 * np.pi)), 1 + np.floor((upper - value) / (2 * np.pi))
    )
    return [float(turns[np.argmin(np.abs(turns - start))])]
