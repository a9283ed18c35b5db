"""Weights of cost terms for which a motion meets the conditions of an optimum.

With the gradients g_k of the terms, the slopes A of active rows, and the variables that are not at a bound, the motion
is stationary for weights u if

    sum_k u_k g_k + A' lambda = 0,  u >= 0,  sum_k u_k = 1,  lambda of inequalities with the sign of its bound

(Keshavarz, Wang and Boyd 2011, "Imputing a convex objective function"). A convex quadratic program minimises the length
of this sum over weights and multipliers with their signs. Multipliers that may have any sign are eliminated. Those of
limits may at first, too; limits whose signs come out wrong are asked for them, until all are right.
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
_ROUNDS = 30  # in which limits whose multipliers have the wrong sign are left out at first
_SHIFT = 1e-12  # of the multipliers' block, so that factors exist where slopes are dependent
_REFINEMENTS = 6  # that remove the effect of the shift
_DEPENDENT = 1e-13  # of the largest singular value: smaller ones count as zero
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
    signed = np.zeros(rows.size, dtype=bool), np.zeros(variables.size, dtype=bool)
    while True:
        found = _combined(gradients, sizes, slopes, (rows, variables), signed)
        wrong = _against(rows, found.rows) & ~signed[0], _against(variables, found.variables) & ~signed[1]
        if not wrong[0].any() and not wrong[1].any():
            break
        signed = signed[0] | wrong[0], signed[1] | wrong[1]
    heard, weights = found.heard, found.weights
    misfit = float(np.linalg.norm(found.left @ weights))
    lower, upper = np.zeros(lengths.size), np.full(lengths.size, np.inf)
    lower[heard], upper[heard] = _extremes(found.left[:, heard], weights[heard], _FACTOR * max(misfit, _ROUNDING))
    return Stationarity(weights, lower, upper, lengths, misfit)


class _Combined(NamedTuple):
    """Weights and multipliers, and gradients without what limits can balance of them.

    `heard` is false for terms that cannot change the motion.
    """

    heard: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    variables: np.ndarray
    left: np.ndarray


def _combined(
    gradients: np.ndarray,
    sizes: np.ndarray,
    slopes: ca.DM,
    sides: tuple[np.ndarray, np.ndarray],
    signed: tuple[np.ndarray, np.ndarray],
) -> _Combined:
    """The shortest combination of gradients with multipliers of active limits, of which some keep their signs.

    Multipliers of the other limits may have any sign: rows are eliminated, and variables at bounds left out. If their
    signs are right, the combination is the shortest with all signs.
    """
    (rows, variables), m = sides, gradients.shape[1]
    free, equal = np.flatnonzero((variables == 0) | signed[1]), np.flatnonzero((rows != 0) & ~signed[0])
    pushes = _pushes(rows * signed[0], variables * signed[1], slopes)
    columns = np.hstack([gradients, pushes])
    left, multipliers = _unbalanced(columns[free], slopes[equal.tolist(), free.tolist()])
    felt, lengths = left[:, :m], np.linalg.norm(left[:, m:], axis=0)
    unit = left[:, m:] / np.where(lengths > _ROUNDING, lengths, np.inf)
    heard = np.ones(m, dtype=bool)
    while True:
        combination = least_combination(np.hstack([felt[:, heard], unit]), int(heard.sum()))
        active = unit[:, combination[heard.sum() :] > 0]
        rest = felt - active @ np.linalg.lstsq(active, felt, rcond=_DEPENDENT)[0]
        silent = heard & (np.linalg.norm(rest, axis=0) <= _SILENT * np.linalg.norm(sizes[free], axis=0))
        if not silent.any():
            break
        heard &= ~silent
    factors = np.zeros(columns.shape[1])
    factors[:m][heard] = combination[: heard.sum()]
    factors[m:] = combination[heard.sum() :] / np.where(lengths > _ROUNDING, lengths, np.inf)
    of_rows, of_variables = np.zeros(rows.size), np.zeros(variables.size)
    of_rows[equal] = multipliers @ factors
    of_variables -= columns @ factors + np.array(slopes.T @ of_rows).ravel()
    of_variables[free] = 0.0
    return _Combined(heard, factors[:m], of_rows, of_variables, rest)


def _pushes(rows: np.ndarray, variables: np.ndarray, slopes: ca.DM) -> np.ndarray:
    """Columns in the conditions of the multipliers of limits, signed so that these are positive, shape (n, limits)."""
    limits, bounds = np.flatnonzero(rows), np.flatnonzero(variables)
    unit = np.zeros((variables.size, bounds.size))
    unit[bounds, np.arange(bounds.size)] = variables[bounds]
    return np.hstack([np.array(slopes[limits.tolist(), :]).T * rows[limits], unit])


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
    return (np.abs(sides) == 1) & (sides * push < -_WRONG * np.abs(push).max(initial=0.0))


def _unbalanced(columns: np.ndarray, slopes: ca.DM) -> tuple[np.ndarray, np.ndarray]:
    """Parts of columns that rows cannot balance, shape (n, m), and multipliers of the rows, (rows, m)."""
    n, rows = columns.shape[0], slopes.shape[0]
    sizes = np.sqrt(np.array(ca.sum2(slopes**2)).ravel())
    sizes = np.where(sizes > 0, sizes, 1.0)
    unit = ca.diag(ca.DM(1 / sizes)) @ slopes
    exact = ca.blockcat(ca.DM.eye(n), unit.T, unit, ca.DM(rows, rows))
    factors = ca.ldl(exact - ca.diag(ca.DM(np.repeat([0.0, _SHIFT], [n, rows]))))
    right = np.vstack([columns, np.zeros((rows, columns.shape[1]))])
    solution = np.zeros_like(right)
    for _ in range(_REFINEMENTS):
        solution += np.array(ca.ldl_solve(right - np.array(exact @ solution), *factors))
    return solution[:n], -solution[n:] / sizes[:, None]


def least_combination(matrix: np.ndarray, weighed: int | None = None) -> np.ndarray:
    """Nonnegative numbers with the shortest sum of the columns times these, the first of which add up to one.

    An active-set method for convex quadratic programs (Nocedal and Wright 2006, section 16.5). It starts without the
    columns whose numbers would be negative.

    Parameters
    ----------
    matrix : ndarray, shape (n, k)
    weighed : int, optional
        Number of columns whose numbers add up to one; all by default. The others are multipliers.
    """
    k = matrix.shape[1]
    m = k if weighed is None else weighed
    if not m:
        return np.zeros(k)
    R = np.linalg.qr(matrix).R
    held = np.zeros(k, dtype=bool)
    for _ in range(_ROUNDS):
        target = _on_plane(R, held, m)
        wrong = (target < 0) & (np.arange(k) >= m)
        if not wrong.any():
            break
        held |= wrong
    numbers = np.where(np.arange(k) < m, 1 / m, 0.0)
    for _ in range(10 * k):
        target = _on_plane(R, held, m)
        step = target - numbers
        falls = (target < 0) & (step < 0) & ~held
        ratios = np.where(falls, numbers / np.where(falls, -step, 1.0), np.inf)
        if falls.any() and ratios.min() < 1:
            numbers = np.maximum(numbers + ratios.min() * step, 0.0)
            held[np.argmin(ratios)] = True
            numbers[held] = 0.0
            continue
        numbers = np.maximum(target, 0.0)
        left = R @ numbers
        slope = R.T @ left
        slope[:m] -= slope[:m] @ numbers[:m]
        if np.linalg.norm(left) < _ROUNDING or not (held & (slope < -(_ROUNDING**2))).any():
            break
        held[np.argmin(np.where(held, slope, np.inf))] = False
    return numbers / numbers[:m].sum()


def _on_plane(R: np.ndarray, held: np.ndarray, m: int) -> np.ndarray:
    """As `least_combination`, of any sign, but with columns that are held at zero."""
    weighed, others = np.flatnonzero(~held[:m]), m + np.flatnonzero(~held[m:])
    numbers = np.zeros(held.size)
    numbers[weighed] = 1 / weighed.size
    turn = np.linalg.svd(np.ones((1, weighed.size)))[2][1:].T  # of sum zero
    columns = np.hstack([R[:, weighed] @ turn, R[:, others]])
    change = np.linalg.lstsq(columns, -R @ numbers, rcond=_DEPENDENT)[0]
    numbers[weighed] += turn @ change[: weighed.size - 1]
    numbers[others] = change[weighed.size - 1 :]
    return numbers


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
