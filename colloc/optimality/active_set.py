"""An optimum without the barrier that led to it: which bounds hold it, and which do so without a push."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from colloc.solution import BaseSolution
from colloc.solver import SHARPENING, Start, Status
from colloc.solver.scaling import Scale, scale_at

_MOVED = 1e-3  # of the natural size of a variable: farther away lies another optimum
_WEAK = 1e-6  # of natural sizes, both the distance from a bound and the multiplier


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """An optimum, and the bounds that hold it.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
    multipliers : ndarray, shape (n_g,)
        Of the rows, zero where a row is not active; positive at an upper bound.
    scale : Scale
        Of the cost and the rows.
    rows : ndarray of int, shape (n_g,)
        1 at an upper bound, -1 at a lower one, 2 for equations, 0 for rows that hold nothing.
    variables : ndarray of int, shape (n_x,)
        The same for the bounds of the variables, 2 for what is fixed.
    weak_rows, weak_variables : ndarray of bool, shapes (n_g,), (n_x,)
        What lies at a bound, or next to it, and hardly pushes against it: where a number moves one way it holds the
        optimum, where it moves the other way it does not.
    """

    x: np.ndarray
    multipliers: np.ndarray
    scale: Scale
    rows: np.ndarray
    variables: np.ndarray
    weak_rows: np.ndarray
    weak_variables: np.ndarray

    def without(self, rows: np.ndarray) -> ActiveSet:
        """The same with some rows released, ndarray of bool, shape (n_g,)."""
        return replace(self, rows=np.where(rows, 0, self.rows), multipliers=np.where(rows, 0.0, self.multipliers))


def active_set(solution: BaseSolution) -> ActiveSet:
    """The bounds that hold an optimum, found by a few more iterations with hardly a barrier."""
    nlp, p = solution.nlp, solution.parameters
    x, by_row, by_variable = _sharpened(solution)
    scale = scale_at(nlp, x, p)
    values, push = np.array(nlp.g(x, p)).ravel(), by_row * scale.rows / scale.cost
    lower, upper = nlp.bounds_g
    rows, weak_rows = _partition(values / scale.rows, lower / scale.rows, upper / scale.rows, push)
    push = by_variable * nlp.scale_x / scale.cost
    lower, upper = nlp.lower / nlp.scale_x, nlp.upper / nlp.scale_x
    variables, weak_variables = _partition(x / nlp.scale_x, lower, upper, push)
    return ActiveSet(x, np.where(rows != 0, by_row, 0.0), scale, rows, variables, weak_rows, weak_variables)


def _sharpened(solution: BaseSolution) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The optimum and its multipliers, of rows and of variables; as they are, if the sharper ones are of another."""
    nlp, multipliers = solution.nlp, solution.multipliers
    start = Start(np.clip(solution.x, nlp.lower, nlp.upper), multipliers)
    sharp = SHARPENING(nlp, start, solution.parameters)
    near = bool((np.abs(sharp.x - solution.x) <= _MOVED * nlp.scale_x).all())
    if sharp.status in (Status.SOLVED, Status.ACCEPTABLE) and near:
        return sharp.x, sharp.multipliers["g"], sharp.multipliers["x"]
    return solution.x, multipliers["g"], multipliers["x"]


def _partition(
    values: np.ndarray, lower: np.ndarray, upper: np.ndarray, push: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which bounds hold, as in `ActiveSet.rows`, and which of them, or of those that do not, hardly; all scaled."""
    distance = np.where(push > 0, upper - values, values - lower)
    nearest = np.minimum(upper - values, values - lower)
    equal, active = lower == upper, np.abs(push) > distance
    weak = ~equal & (np.maximum(np.abs(push), nearest) < _WEAK)
    sides = np.where(active, np.sign(push), 0.0).astype(int)
    return np.where(equal, 2, sides), weak
