"""Postures at the ends that a problem leaves open: whole turns, targets, and equations of users in positions alone."""

from __future__ import annotations

import weakref
from itertools import product

import casadi as ca
import numpy as np

from colloc.model.inverse_kinematics import postures_reaching
from colloc.problem import Problem

MOST = 8  # postures
_OF_TARGETS = 3  # postures for the same turns
_EXACT = 1e-9  # rad, of an angle that is already there

_STEPS, _MET = 30, 1e-6  # iterations of a search, and residuals at its end in natural sizes
_SINGULAR = 1e-6  # singular values of slopes, relative, that count as zero
_STRIDE = 0.5  # rad or m, longest step of a joint

_known: weakref.WeakKeyDictionary[Problem, dict[bytes, list[np.ndarray]]] = weakref.WeakKeyDictionary()  # by start
_equations: weakref.WeakKeyDictionary[Problem, dict[tuple[float, bytes], ca.Function | None]]
_equations = weakref.WeakKeyDictionary()


def final_postures(problem: Problem, start: np.ndarray, end: np.ndarray) -> list[np.ndarray]:
    """Final postures that meet angles up to whole turns, and targets of bodies, the nearest to the start first.

    Empty for a problem without such statements.

    Parameters
    ----------
    problem : Problem
    start, end : ndarray, shape (n,)
        Postures at the ends; NaN in the final one for joints without a prescribed value.
    """
    known, key = _known.setdefault(problem, {}), start.tobytes()
    if key not in known:
        known[key] = _final_postures(problem, start, end)
    return known[key]


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
    for values in by_way[:MOST]:
        low, high, near = lower.copy(), upper.copy(), np.clip(start, lower, upper)
        for turn, value in zip(turning, values, strict=True):
            low[turn.index] = high[turn.index] = near[turn.index] = value
        postures += postures_reaching(problem.model, targets, near, low, high)[:_OF_TARGETS] if targets else [near]
    return postures[:MOST]


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


def posture_at_end(problem: Problem, moment: float, near: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """A posture near another that meets the equations in positions alone at the start or end.

    The other posture without such equations, or if the search does not converge.

    Parameters
    ----------
    problem : Problem
    moment : 0.0 or 1.0
    near : ndarray, shape (n,)
    fixed : ndarray of bool, shape (n,)
        Joints with a prescribed value.
    """
    goals = _goals(problem, moment, fixed)
    if goals is None:
        return near
    lower, upper = problem.limits("q")
    q = near.copy()
    for _ in range(_STEPS):
        residuals, slopes = (np.array(part) for part in goals(q))
        if not np.isfinite(slopes).all():
            break
        if np.abs(residuals).max() < _MET:
            return q
        step = np.linalg.lstsq(slopes[:, ~fixed], -residuals[:, 0], rcond=_SINGULAR)[0]
        step *= min(1.0, _STRIDE / max(float(np.abs(step).max(initial=0.0)), _MET))
        q[~fixed] += step
        q = problem.model.of_unit_length(np.clip(q, lower, upper))
    return near


def _goals(problem: Problem, moment: float, fixed: np.ndarray) -> ca.Function | None:
    """Residuals of equations in positions alone at a moment and their slopes, functions of q; None without any."""
    key = moment, fixed.tobytes()
    known = _equations.setdefault(problem, {})
    if key not in known:
        known[key] = _made_goals(problem, moment, fixed)
    return known[key]


def _made_goals(problem: Problem, moment: float, fixed: np.ndarray) -> ca.Function | None:
    q, rows = problem.instant.q, []
    positions = {symbol.element_hash() for symbol in ca.symvar(q)}
    if problem.coordinates is not None or not problem.model.n_q:
        return None
    for constraint in problem.rows.values():
        where, stated = constraint.constraint.where, constraint.rows
        if where.instants != 1 or where.moments[-1:] != (moment,):
            continue
        for k in map(int, np.flatnonzero(stated.lower == stated.upper)):
            row = (stated.expression[k] - stated.lower[k]) / stated.scale[k]
            places = ca.jacobian_sparsity(row, q).get_col()
            alone = {symbol.element_hash() for symbol in ca.symvar(row)} <= positions
            if alone and not fixed[places].all():
                rows.append(row)
    if not rows:
        return None
    residuals = ca.vertcat(*rows)
    return ca.Function("goals", [q], [residuals, ca.jacobian(residuals, q)])
