"""Which bounds hold an answer: as a solver leaves it, or without the barrier that led to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from colloc.solution import BaseSolution
from colloc.solver import SHARPENING, Scale, Start, Status
from colloc.solver.scaling import scale_at
from colloc.transcription import BaseNLP

_STRONG = 1e3  # a push over the distance from the bound, both relative: a solver that follows a barrier leaves of a
# constraint that pushes a large one, of one that does not a small one, and about one of what is between
_NEAR = 1e-3  # of the natural size: what is further from its bound is not at it
_MOVED = 1e-3  # of the natural size of a variable: farther away lies another optimum
_WEAK = 1e-6  # of natural sizes, both the distance from a bound and the multiplier, where there is hardly a barrier


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The bounds that hold an answer.

    Parameters
    ----------
    rows : ndarray of int, shape (n_g,)
        1 at an upper bound, -1 at a lower one, 2 for equations, 0 for rows that hold nothing.
    variables : ndarray of int, shape (n_x,)
        The same for the bounds of the variables, 2 for what is fixed.
    weak_rows, weak_variables : ndarray of bool, shapes (n_g,), (n_x,)
        What lies at a bound, or next to it, and hardly pushes against it.
    """

    rows: np.ndarray
    variables: np.ndarray
    weak_rows: np.ndarray
    weak_variables: np.ndarray

    @property
    def active(self) -> np.ndarray:
        """Numbers of the rows at their bounds."""
        return np.flatnonzero(self.rows)

    @property
    def free(self) -> np.ndarray:
        """Numbers of the variables that no bound holds."""
        return np.flatnonzero(self.variables == 0)

    @property
    def weak(self) -> int:
        """Number of rows and variables at a bound that barely push."""
        return int(self.weak_rows.sum() + self.weak_variables.sum())

    @property
    def with_weak(self) -> ActiveSet:
        """The same where what barely pushes is an equation."""
        rows, variables = np.where(self.weak_rows, 2, self.rows), np.where(self.weak_variables, 2, self.variables)
        none = np.zeros_like
        return ActiveSet(rows, variables, none(self.weak_rows), none(self.weak_variables))


def active_set(
    nlp: BaseNLP, x: np.ndarray, p: np.ndarray, multipliers: dict[str, np.ndarray], cost: float
) -> ActiveSet:
    """The bounds that hold an answer which a solver has left at some distance from them.

    Parameters
    ----------
    nlp : BaseNLP
    x, p : ndarray
        Variables and parameters.
    multipliers : dict of str to ndarray
        "g" and "x", positive at an upper bound.
    cost : float
        Scale of the cost.
    """
    parts = [
        (np.array(nlp.g(x, p)).ravel(), *nlp.bounds_g, multipliers["g"], nlp.scale_g),
        (x, nlp.lower, nlp.upper, multipliers["x"], nlp.scale_x),
    ]
    sides, weak = [], []
    for values, lower, upper, push, size in parts:
        values, lower, upper, push = values / size, lower / size, upper / size, push * size / cost
        sides.append(_sides(values, lower, upper, push, _STRONG))
        near, push = np.minimum(upper - values, values - lower), np.abs(push)
        weak.append((sides[-1] == 0) & (near < _NEAR) & ((push > near / _STRONG) | (near <= 0)))
    return ActiveSet(sides[0], sides[1], weak[0], weak[1])


@dataclass(frozen=True, eq=False)
class SharpOptimum(ActiveSet):
    """An optimum without a barrier, and the bounds that hold it.

    What hardly pushes holds the optimum where a number moves one way, and does not where it moves the other way.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
    multipliers : ndarray, shape (n_g,)
        Of the rows, zero where a row is not active; positive at an upper bound.
    scale : Scale
        Of the cost and the rows.
    """

    x: np.ndarray
    multipliers: np.ndarray
    scale: Scale

    def without(self, rows: np.ndarray) -> SharpOptimum:
        """The same with some rows released, ndarray of bool, shape (n_g,)."""
        return replace(self, rows=np.where(rows, 0, self.rows), multipliers=np.where(rows, 0.0, self.multipliers))


def sharp_optimum(solution: BaseSolution) -> SharpOptimum:
    """An optimum and the bounds that hold it, found by a few more iterations with hardly a barrier."""
    nlp, p = solution.nlp, solution.parameters
    x, by_row, by_variable = _sharpened(solution)
    scale = scale_at(nlp, x, p)
    parts = [
        (np.array(nlp.g(x, p)).ravel(), *nlp.bounds_g, by_row, scale.rows),
        (x, nlp.lower, nlp.upper, by_variable, nlp.scale_x),
    ]
    sides, weak = [], []
    for values, lower, upper, push, size in parts:
        values, lower, upper, push = values / size, lower / size, upper / size, push * size / scale.cost
        sides.append(_sides(values, lower, upper, push, 1.0))
        near = np.minimum(upper - values, values - lower)
        weak.append((lower < upper) & (np.maximum(np.abs(push), near) < _WEAK))
    by_row = np.where(sides[0] != 0, by_row, 0.0)
    return SharpOptimum(sides[0], sides[1], weak[0], weak[1], x, by_row, scale)


def _sharpened(solution: BaseSolution) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The optimum and its multipliers, of rows and of variables; as they are, if the sharper ones are of another."""
    nlp, multipliers = solution.nlp, solution.multipliers
    start = Start(np.clip(solution.x, nlp.lower, nlp.upper), multipliers)
    sharp = SHARPENING.prepare(nlp)(start, solution.parameters)
    near = bool((np.abs(sharp.x - solution.x) <= _MOVED * nlp.scale_x).all())
    if sharp.status in (Status.SOLVED, Status.ACCEPTABLE) and near:
        return sharp.x, sharp.multipliers["g"], sharp.multipliers["x"]
    return solution.x, multipliers["g"], multipliers["x"]


def _sides(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, push: np.ndarray, strong: float) -> np.ndarray:
    """Which bounds hold, as in `ActiveSet.rows`: those pushed by more than so many times the distance; all scaled."""
    distance = np.maximum(np.where(push > 0, upper - values, values - lower), 0.0)
    sides = np.where(np.abs(push) > strong * distance, np.sign(push), 0.0).astype(int)
    return np.where(lower == upper, 2, sides)
