"""End conditions that fix variables: bounds instead of rows, which a solver removes from its equations.

Rows that only fix a few variables couple these in the KKT system, and cost half of its factorisation on a 43-joint
spline. A clamped spline starts at its first control point, and each derivative there involves one more point.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from colloc.problem import EndValue, Problem
from colloc.transcription.grid import Grid
from colloc.transcription.layout import End

_ORDERS = ("q", "qd", "qdd")
_NEAR = 1e-3  # rad, m: about values that follow from others, by which these choose among several closures


class FixedEnds(NamedTuple):
    """Bounds of the variables and the remaining rows after end conditions are fixed."""

    lower: np.ndarray  # lower, upper: shape (n_x,); bounds of the variables, equal where an end condition fixes one
    upper: np.ndarray
    remaining_rows: dict[str, list[int]]  # rows of end conditions, by name, that remain constraints


def fix_ends(problem: Problem, grid: Grid) -> FixedEnds:
    """Fix the variables that initial and final conditions determine alone."""
    ends, at = FixedEnds(grid.layout.lower.copy(), grid.layout.upper.copy(), {}), {s: grid.end(s) for s in (0.0, 1.0)}
    for name, values in problem.end_values.items():
        # A condition on a derivative may need the lower ones fixed first, whatever the order of the conditions.
        in_order = sorted(values, key=lambda end: _order(end.quantity))
        fixed = {
            end.row
            for end in in_order
            if (
                _narrow(problem, at[end.s], ends, end)
                or (_fix(problem, at[end.s], ends, end) if end.of_joint else _fix_state(problem, grid, ends, end))
            )
        }
        ends.remaining_rows[name] = [row for row in range(len(problem.rows[name].rows.labels)) if row not in fixed]
    return ends


def _narrow(problem: Problem, boundary: End, ends: FixedEnds, end: EndValue) -> bool:
    """Bound a position or velocity that follows from others, which is no further equation; False for any other."""
    if end.quantity not in _ORDERS[:2]:
        return False
    order = _order(end.quantity)
    if not problem.implied_ends[order][int(end.s), end.index]:
        return False
    if order == 0:
        k = boundary.index[0, end.index]
        ends.lower[k], ends.upper[k] = max(ends.lower[k], end.value - _NEAR), min(ends.upper[k], end.value + _NEAR)
    return True


def state_point(problem: Problem, grid: Grid, end: EndValue) -> int:
    """The variable that is the value of a state's component at an end."""
    before = sum(state.size for state in itertools.takewhile(lambda state: state.name != end.quantity, problem.states))
    return int(grid.layout["states"][0 if end.s == 0 else -1, before + end.index])


def _fix_state(problem: Problem, grid: Grid, ends: FixedEnds, end: EndValue) -> bool:
    """Fix the control point of a state's component at an end; False if it is fixed already."""
    index = state_point(problem, grid, end)
    if ends.lower[index] == ends.upper[index] != end.value:
        return False
    ends.lower[index] = ends.upper[index] = end.value
    return True


def _order(quantity: str) -> int:
    return _ORDERS.index(quantity) if quantity in _ORDERS else len(_ORDERS)


def _fix(problem: Problem, boundary: End, ends: FixedEnds, end: EndValue) -> bool:
    """Fix the variable that a row determines; False if there is none, or the value is outside its bounds."""
    joint, value = end.index, end.value
    lower, upper, order = ends.lower, ends.upper, _order(end.quantity)
    if order >= len(boundary.index):
        return False
    if order > 0 and not problem.model.has_plain_velocities:
        return False  # a joint's velocity depends on all its positions
    coordinates = problem.coordinates
    if order == 2 and coordinates is not None and joint not in coordinates.independent:
        return False  # the spline has the joint's position, but not exactly its acceleration
    horizon = problem.horizon
    if value != 0 and order > 0:
        if horizon.lower < horizon.upper:
            return False
        value *= horizon.lower**order
    variables, weights = boundary.index[: order + 1, joint], boundary.weight[order, : order + 1]
    before = variables[:-1][weights[:-1] != 0]
    if (lower[before] < upper[before]).any():
        return False
    if not boundary.constant and order > 0 and (value != 0 or np.ptp(lower[variables[:-1]]) > 0):
        return False
    k = variables[-1]
    fixed = (value - weights[:-1] @ np.where(weights[:-1] != 0, lower[variables[:-1]], 0.0)) / weights[-1]
    slack = 1e-9 * max(1.0, abs(fixed))
    if not lower[k] - slack <= fixed <= upper[k] + slack:
        return False
    if lower[k] < upper[k]:  # otherwise it is fixed already, and the row is redundant
        lower[k] = upper[k] = np.clip(fixed, lower[k], upper[k])
    return True
