"""End conditions that fix variables: bounds instead of rows, which a solver removes from its equations.

Rows that merely say what a few variables are still couple these in the KKT system, and cost half of its factorisation
on a 43-joint spline. A clamped spline starts at its first control point, and its derivatives there involve one more
point each; a collocation mesh has the state at its ends among its variables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colloc.problem import Problem, State, per_joint
from colloc.transcription.grid import Grid

_ORDERS = ("q", "qd", "qdd")


class Settled(NamedTuple):
    """What end conditions leave.

    Parameters
    ----------
    lower, upper : ndarray, shape (n_x,)
        Bounds of the variables, equal where an end condition fixes one.
    open : dict of str to list of int
        The rows of every end condition, by name, that have to be constraints.
    """

    lower: np.ndarray
    upper: np.ndarray
    open: dict[str, list[int]]


def settle(problem: Problem, grid: Grid) -> Settled:
    """Fix the variables that initial and final conditions determine by themselves."""
    settled = Settled(grid.lower.copy(), grid.upper.copy(), {})
    for name, (constraint, _, _) in problem.rows.items():
        if not isinstance(constraint, State):
            continue
        # A condition on a derivative may need the lower ones fixed first, whichever order they are stated in.
        stated = sorted(_rows(problem, constraint), key=lambda row: (row[1] not in _ORDERS, row[1] != "q", row[1]))
        settled.open[name] = sorted(
            row
            for row, quantity, joint, value in stated
            if not _fix(problem, grid, settled, constraint.s, quantity, joint, value)
        )
    return settled


def _rows(problem: Problem, state: State) -> list[tuple[int, str, int, float]]:
    """Number, quantity, joint and value of every row."""
    found: list[tuple[int, str, int, float]] = []
    for quantity, value in state.values.items():
        joints, numbers = per_joint(f"{state.name} {quantity}", value, problem.model)
        for joint, number in zip(joints, numbers, strict=True):
            found.append((len(found), quantity, joint, float(number)))
    return found


def _fix(problem: Problem, grid: Grid, settled: Settled, s: float, quantity: str, joint: int, value: float) -> bool:
    """Fix the variable that a row determines; False if it does not, or not within the variable's bounds."""
    lower, upper = settled.lower, settled.upper
    end = grid.end(s)
    if quantity not in _ORDERS[: len(end.index)]:
        return False
    order = _ORDERS.index(quantity)
    horizon = problem.horizon
    if end.normalised and value != 0 and order > 0:
        if horizon.lower < horizon.upper:
            return False
        value *= horizon.lower**order
    variables, weights = end.index[: order + 1, joint], end.weight[order, : order + 1]
    before = variables[:-1][weights[:-1] != 0]
    if (lower[before] < upper[before]).any():
        return False
    k = variables[-1]
    found = (value - weights[:-1] @ np.where(weights[:-1] != 0, lower[variables[:-1]], 0.0)) / weights[-1]
    slack = 1e-9 * max(1.0, abs(found))
    if not lower[k] - slack <= found <= upper[k] + slack:
        return False
    if lower[k] < upper[k]:  # else it is fixed there already, and the row says it again
        lower[k] = upper[k] = np.clip(found, lower[k], upper[k])
    return True
