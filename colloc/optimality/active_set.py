"""Active bounds of a solution, as the solver returns it or after a few iterations with almost no barrier."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from colloc.blocks.numeric import row_values
from colloc.solution import BaseSolution
from colloc.solver import SHARPENING, Scale, Start, Status
from colloc.solver.scaling import scale_at
from colloc.transcription import BaseNLP

_STRONG = 1e3  # ratio of multiplier and distance from the bound, both relative: an interior-point solver leaves a large
# ratio for an active constraint, a small one for an inactive constraint, and about one for cases between
_NEAR = 1e-3  # of the natural size: largest distance from an active bound
_MOVED = 1e-3  # of the natural size of a variable: farther away is another optimum
_WEAK = 1e-6  # of natural sizes, for distance and multiplier, with almost no barrier


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """The active bounds of a solution.

    Parameters
    ----------
    rows : ndarray of int, shape (n_g,)
        1 at an upper bound, -1 at a lower one, 2 for equations, 0 for inactive rows.
    variables : ndarray of int, shape (n_x,)
        The same for the bounds of the variables, 2 for fixed ones.
    weak_rows, weak_variables : ndarray of bool, shapes (n_g,), (n_x,)
        Masks of weakly active rows and variables: at or near a bound, with almost no multiplier.
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
        """Numbers of the variables that are not at a bound."""
        return np.flatnonzero(self.variables == 0)

    @property
    def weak(self) -> int:
        """Number of weakly active rows and variables."""
        return int(self.weak_rows.sum() + self.weak_variables.sum())

    @property
    def with_weak(self) -> ActiveSet:
        """The active set with weakly active rows and variables as equations."""
        rows, variables = np.where(self.weak_rows, 2, self.rows), np.where(self.weak_variables, 2, self.variables)
        none = np.zeros_like
        return ActiveSet(rows, variables, none(self.weak_rows), none(self.weak_variables))


def active_set(
    nlp: BaseNLP, x: np.ndarray, p: np.ndarray, multipliers: dict[str, np.ndarray], cost: float
) -> ActiveSet:
    """The active bounds of a solution that a solver has left at some distance from them.

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
        (row_values(nlp.constraints, x, p), *nlp.bounds_g, multipliers["g"], nlp.scale_g),
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
    """An optimum without a barrier, and its active bounds.

    A weakly active bound holds the optimum if a number changes in one direction, but not in the other.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
    multipliers : ndarray, shape (n_g,)
        Multipliers of the rows, zero for inactive rows; positive at an upper bound.
    scale : Scale
        Scale of the cost and the rows.
    unsure : ndarray of bool, shape (n_g + n_x,), optional
        Mask of rows, then variables, whose distance from a bound and multiplier are small and of similar size: the
        barrier that is left does not show which of the two vanishes.
    """

    x: np.ndarray
    multipliers: np.ndarray
    scale: Scale
    unsure: np.ndarray | None = None

    def without(self, rows: np.ndarray) -> SharpOptimum:
        """The optimum with some rows released, ndarray of bool, shape (n_g,)."""
        return replace(self, rows=np.where(rows, 0, self.rows), multipliers=np.where(rows, 0.0, self.multipliers))


def sharp_optimum(solution: BaseSolution, nlp: BaseNLP | None = None) -> SharpOptimum:
    """An optimum and its active bounds, after a few more iterations with almost no barrier.

    Parameters
    ----------
    solution : BaseSolution
    nlp : BaseNLP, optional
        Its program with other bounds.
    """
    nlp, p = solution.nlp if nlp is None else nlp, solution.parameters
    x, by_row, by_variable = _sharpened(solution, nlp)
    scale = scale_at(nlp, x, p)
    parts = [
        (row_values(nlp.constraints, x, p), *nlp.bounds_g, by_row, nlp.scale_g),
        (x, nlp.lower, nlp.upper, by_variable, nlp.scale_x),
    ]
    sides, weak, unsure = [], [], []
    for values, lower, upper, push, size in parts:
        values, lower, upper, push = values / size, lower / size, upper / size, push * size / scale.cost
        sides.append(_sides(values, lower, upper, push, 1.0))
        near, push = np.minimum(upper - values, values - lower), np.abs(push)
        weak.append((lower < upper) & (np.maximum(push, near) < _WEAK))
        small, large = np.minimum(push, np.abs(near)), np.maximum(push, np.abs(near))
        unsure.append((lower < upper) & (large < _NEAR) & (large < _STRONG * small))
    by_row = np.where(sides[0] != 0, by_row, 0.0)
    return SharpOptimum(sides[0], sides[1], weak[0], weak[1], x, by_row, scale, np.append(*unsure))


def _sharpened(solution: BaseSolution, nlp: BaseNLP) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sharpened optimum with multipliers of rows and variables; the original if sharpening leads to another."""
    multipliers = solution.multipliers
    start = Start(np.clip(solution.x, nlp.lower, nlp.upper), multipliers)
    sharp = SHARPENING.prepare(nlp)(start, solution.parameters)
    near = bool((np.abs(sharp.x - solution.x) <= _MOVED * nlp.scale_x).all())
    if sharp.status in (Status.SOLVED, Status.ACCEPTABLE) and near:
        return sharp.x, sharp.multipliers["g"], sharp.multipliers["x"]
    return solution.x, multipliers["g"], multipliers["x"]


def _sides(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, push: np.ndarray, strong: float) -> np.ndarray:
    """Active bounds as in `ActiveSet.rows`: multipliers above `strong` times the distance, all scaled."""
    distance = np.maximum(np.where(push > 0, upper - values, values - lower), 0.0)
    sides = np.where(np.abs(push) > strong * distance, np.sign(push), 0.0).astype(int)
    return np.where(lower == upper, 2, sides)
