"""End conditions that fix variables: bounds instead of rows, which a solver removes from its equations.

Rows that merely say what a few variables are still couple these in the KKT system, and cost half of its factorisation
on a 43-joint spline. A clamped spline starts at its first control point, and its derivatives there involve one more
point each.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from colloc.problem import EndState, Problem
from colloc.transcription.grid import Grid
from colloc.transcription.layout import End

_ORDERS = ("q", "qd", "qdd")


class FixedEnds(NamedTuple):
    """What end conditions leave."""

    lower: np.ndarray  # lower, upper: shape (n_x,); bounds of the variables, equal where an end condition fixes one
    upper: np.ndarray
    remaining_rows: dict[str, list[int]]  # the rows of every end condition, by name, that have to be constraints


def fix_ends(problem: Problem, grid: Grid) -> FixedEnds:
    """The variables fixed that initial and final conditions determine by themselves."""
    ends = FixedEnds(grid.layout.lower.copy(), grid.layout.upper.copy(), {})
    for name, rows in problem.rows.items():
        state = rows.constraint
        if isinstance(state, EndState):
            # A condition on a derivative may need the lower ones fixed first, whichever order they are stated in.
            conditions = sorted(enumerate(state.joint_values(problem.model)), key=lambda row: _order(row[1][0]))
            joints, boundary = len(conditions), grid.end(state.where.s)
            components = state.state_values(problem.instant.states)
            ends.remaining_rows[name] = [
                joints + row
                for row, (component, k, value) in enumerate(components)
                if not _fix_state(problem, grid, ends, state.where.s, (component, k), value)
            ]
            ends.remaining_rows[name] += sorted(
                row
                for row, (quantity, joint, value) in conditions
                if not _fix(problem, boundary, ends, quantity, joint, value)
            )
    return ends


def _fix_state(
    problem: Problem, grid: Grid, ends: FixedEnds, s: float, component: tuple[str, int], value: float
) -> bool:
    """Fix the control point at an end of a component of a state, given as name and number; False if it is fixed."""
    before = itertools.takewhile(lambda state: state.name != component[0], problem.states)
    index = grid.layout["states"][0 if s == 0 else -1, sum(state.size for state in before) + component[1]]
    if ends.lower[index] == ends.upper[index] != value:
        return False
    ends.lower[index] = ends.upper[index] = value
    return True


def _order(quantity: str) -> int:
    return _ORDERS.index(quantity) if quantity in _ORDERS else len(_ORDERS)


def _fix(problem: Problem, boundary: End, ends: FixedEnds, quantity: str, joint: int, value: float) -> bool:
    """Fix the variable that a row determines; False if it does not, or not within the variable's bounds."""
    lower, upper, order = ends.lower, ends.upper, _order(quantity)
    if order >= len(boundary.index):
        return False
    if order > 0 and not problem.model.has_plain_velocities:
        return False  # it takes all of a joint's positions to say how fast it is
    coordinates = problem.coordinates
    if order == 2 and coordinates is not None and joint not in coordinates.independent:
        return False  # its spline is where the joint is, but only next to how it accelerates
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
    if lower[k] < upper[k]:  # else it is fixed there already, and the row says it again
        lower[k] = upper[k] = np.clip(fixed, lower[k], upper[k])
    return True
