"""Weights of cost terms for which a motion meets the conditions of an optimum.

With the gradients g_k of the terms, the slopes A of active rows, and the variables that are not at a bound, the motion
is stationary for weights u if

    sum_k u_k g_k + A' lambda = 0,  u >= 0,  sum_k u_k = 1,  lambda of inequalities with the sign of its bound

(Keshavarz, Wang and Boyd 2011, "Imputing a convex objective function"). The multipliers are eliminated: what the slopes
cannot balance of the gradients is a matrix R with a column for each term, and the weights minimise the length of R u.
Limits whose multipliers have the wrong sign are left out, as long as the rest explains the motion as well.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.numeric import NumericDerivatives, row_values
from colloc.optimality.active_set import SharpOptimum
from colloc.transcription import BaseNLP

_NEAR = 1e-6  # of the natural size: distance up to which a bound counts as active
_WRONG = 1e-6  # of the largest multiplier: a smaller one of the wrong sign counts as zero
_ROUNDS = 30  # in which limits whose multipliers have the wrong sign are left out
_SHIFT = 1e-12  # of the multipliers' block, so that factors exist where slopes are dependent
_REFINEMENTS = 6  # that remove the effect of the shift
_ROUNDING = 1e-9  # of a gradient: misfit of the conditions that every solver leaves
_SILENT = 1e-4  # of a gradient: what limits leave of one that has no effect on the motion
_FACTOR = 10.0  # by which weights may increase the misfit and still explain the motion


class Stationarity(NamedTuple):
    """Weights from the conditions of an optimum, and how well the motion determines them.

    Parameters
    ----------
    weights : ndarray, shape (m,)
        Shares of the terms, in units of the lengths of their gradients; their sum is one.
    lower, upper : ndarray, shape (m,)
        Least and largest share of each term in all weights that explain the motion as well; infinite for terms that
        cannot change the motion, whose share is zero.
    lengths : ndarray, shape (m,)
        Lengths of the gradients, in variables of natural size.
    misfit : float
        Length of the weighted gradient that limits cannot balance, relative to those of the terms; 0 for an optimum.
    """

    weights: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    lengths: np.ndarray
    misfit: float


def stationary_weights(nlp: BaseNLP, motion: SharpOptimum, parameters: np.ndarray) -> Stationarity:
    """The weights for which a motion is nearest to an optimum.

    Parameters
    ----------
    nlp : BaseNLP
    motion : SharpOptimum
        Limits at which it is, or almost is, may have multipliers.
    parameters : ndarray, shape (m, n_p)
        For every term those that give this term alone the weight one.
    """
    gradients, sizes, lengths, slopes = _gradients(nlp, motion.x, parameters)
    near = _sides(row_values(nlp.constraints, motion.x, parameters[0]), *nlp.bounds_g, nlp.scale_g)
    rows = np.where(motion.rows != 0, motion.rows, near)
    near = _sides(motion.x, nlp.lower, nlp.upper, nlp.scale_x)
    variables = np.where(motion.variables != 0, motion.variables, near)
    best = None
    for _ in range(_ROUNDS):
        free, active = np.flatnonzero(variables == 0), np.flatnonzero(rows)
        left, multipliers = _unbalanced(gradients[free], slopes[active.tolist(), free.tolist()])
        heard = np.linalg.norm(left, axis=0) > _SILENT * np.linalg.norm(sizes[free], axis=0)
        weights = np.zeros(lengths.size)
        weights[heard] = least_combination(left[:, heard])
        misfit = float(np.linalg.norm(left @ weights))
        if best is not None and misfit > _FACTOR * max(best[-1], _ROUNDING):
            break  # multipliers are not unique, and those of the right signs are others
        best = left, heard, weights, misfit
        push = multipliers @ weights
        held = -(gradients @ weights + np.array(slopes[active.tolist(), :].T @ push).ravel())
        wrong_rows = active[_against(rows[active], push)]
        wrong_variables = np.flatnonzero(_against(variables, np.where(variables == 2, 0.0, held)))
        if not wrong_rows.size and not wrong_variables.size:
            break
        rows[wrong_rows], variables[wrong_variables] = 0, 0
    assert best is not None
    left, heard, weights, misfit = best
    lower, upper = np.zeros(lengths.size), np.full(lengths.size, np.inf)
    lower[heard], upper[heard] = _extremes(left[:, heard], weights[heard], _FACTOR * max(misfit, _ROUNDING))
    return Stationarity(weights, lower, upper, lengths, misfit)


def _gradients(nlp: BaseNLP, x: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, ca.DM]:
    """Gradients of the terms, sums of absolute shares in them, both divided by their lengths, and slopes of the rows.

    All are in variables of natural size.
    """
    at = [NumericDerivatives(nlp.costs, nlp.constraints, x, p) for p in parameters]
    gradients, sizes = (
        np.column_stack([getattr(each, name) for each in at]) * nlp.scale_x[:, None]
        for name in ("gradient", "gradient_size")
    )
    lengths = np.linalg.norm(gradients[nlp.free], axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    return gradients / lengths, sizes / lengths, lengths, at[0].jacobian @ ca.diag(ca.DM(nlp.scale_x))


def _sides(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, size: np.ndarray) -> np.ndarray:
    """1 at an upper bound, -1 at a lower one, 2 for equal bounds, 0 elsewhere."""
    sides = np.where(upper - values < _NEAR * size, 1, np.where(values - lower < _NEAR * size, -1, 0))
    return np.where(lower == upper, 2, sides)


def _against(sides: np.ndarray, push: np.ndarray) -> np.ndarray:
    """Mask of the inequalities whose multipliers have the wrong sign; positive ones hold at upper bounds."""
    bounded = np.abs(sides) == 1
    return bounded & (sides * push < -_WRONG * np.abs(push).max(initial=0.0))


def _unbalanced(gradients: np.ndarray, slopes: ca.DM) -> tuple[np.ndarray, np.ndarray]:
    """Parts of gradients that rows cannot balance, shape (n, m), and multipliers of the rows, (rows, m)."""
    n, rows = gradients.shape[0], slopes.shape[0]
    sizes = np.sqrt(np.array(ca.sum2(slopes**2)).ravel())
    sizes = np.where(sizes > 0, sizes, 1.0)
    unit = ca.diag(ca.DM(1 / sizes)) @ slopes
    exact = ca.blockcat(ca.DM.eye(n), unit.T, unit, ca.DM(rows, rows))
    factors = ca.ldl(exact - ca.diag(ca.DM(np.repeat([0.0, _SHIFT], [n, rows]))))
    right = np.vstack([gradients, np.zeros((rows, gradients.shape[1]))])
    solution = np.zeros_like(right)
    for _ in range(_REFINEMENTS):
        solution += np.array(ca.ldl_solve(right - np.array(exact @ solution), *factors))
    return solution[:n], -solution[n:] / sizes[:, None]


def least_combination(matrix: np.ndarray) -> np.ndarray:
    """Nonnegative weights of sum one with the shortest weighted sum of the columns, shape (m,).

    An active-set method for small convex quadratic programs (Nocedal and Wright 2006, section 16.5).
    """
    m = matrix.shape[1]
    if not m:
        return np.zeros(0)
    R = np.linalg.qr(matrix).R
    held = np.zeros(m, dtype=bool)
    weights = np.full(m, 1 / m)
    for _ in range(10 * m):
        target = _on_plane(R, held)
        step = target - weights
        falls = (step < 0) & ~held
        ratios = np.where(falls, weights / np.where(falls, -step, 1.0), np.inf)
        if (target < 0).any() and ratios.min() < 1:
            weights = np.maximum(weights + ratios.min() * step, 0.0)
            held[np.argmin(ratios)] = True
            weights[held] = 0.0
            continue
        weights = np.maximum(target, 0.0)
        slope = R.T @ (R @ weights)
        gain = slope - slope @ weights
        if not (held & (gain < -(_ROUNDING**2))).any():
            break
        held[np.argmin(np.where(held, gain, np.inf))] = False
    return weights / weights.sum()


def _on_plane(R: np.ndarray, held: np.ndarray) -> np.ndarray:
    """The combination of sum one with the shortest sum of the columns that are not held at zero."""
    free = np.flatnonzero(~held)
    count = free.size
    weights = np.zeros(held.size)
    weights[free] = 1 / count
    if count > 1:
        directions = np.linalg.svd(np.ones((1, count)))[2][1:].T  # of sum zero
        weights[free] += directions @ np.linalg.lstsq(R[:, free] @ directions, -R @ weights, rcond=1e-13)[0]
    return weights


def _extremes(matrix: np.ndarray, weights: np.ndarray, most: float) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest value of every weight among those whose weighted sum differs by `most` at most."""
    m = weights.size
    if not m:
        return weights, weights
    sizes, directions = np.linalg.svd(np.linalg.qr(matrix).R)[1:]
    rows = np.vstack([sizes[:, None] * directions[: sizes.size], np.ones((1, m))])
    middle = rows @ weights
    width = np.append(np.full(sizes.size, most), 0.0)
    a = ca.DM(rows)
    solver = ca.conic("range", "highs", {"a": a.sparsity(), "h": ca.Sparsity(m, m)}, _QUIET)
    ends = np.tile(weights, (2, 1))
    for k in range(m):
        for end, sign in enumerate((1.0, -1.0)):
            goal = np.zeros(m)
            goal[k] = sign
            result = solver(a=a, g=goal, lba=middle - width, uba=middle + width, lbx=0.0, ubx=1.0)
            if solver.stats()["success"]:
                ends[end, k] = float(result["x"][k])
    return np.maximum(np.minimum(ends[0], weights), 0.0), np.maximum(ends[1], weights)


_QUIET = {"error_on_fail": False, "highs": {"output_flag": False}}
