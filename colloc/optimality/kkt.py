"""The conditions of an optimum, linearised and factorised once: its response to changes of data.

An optimum with its active bounds A solves

    dL/dx = 0 of free variables,  g_A = b_A,  x at a bound = that bound,  with L = f + lambda' g,

so that for data theta (Fiacco 1976, "Sensitivity analysis for nonlinear programming using penalty methods", theorem
2.1)

    [ H   J_A' ] [ dx      ]   [ -d(dL/dx)/dtheta - H dx_b             ]
    [ J_A  0   ] [ dlambda ] = [ db_A/dtheta - dg_A/dtheta - J_A dx_b  ]

with H the Hessian of L, and dx_b the change of the variables at bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.numeric import NumericDerivatives, row_values
from colloc.blocks.slices import triplet
from colloc.optimality.active_set import SharpOptimum
from colloc.support.lazy import cached_property
from colloc.transcription import BaseNLP

_SHIFT = 1e-12  # shift of the diagonal, so that factors exist; iterative refinement removes its effect
_FLAT_SHIFT = 1e-8  # the same for a step of Newton's method, beside flat directions that rounding must not follow
_REFINEMENTS = 3
_EXACT = 1e-12  # relative error of a solution due to rounding
_VECTORS = 4  # random vectors at first
_EQUILIBRATIONS = 5
_FACTOR = 1e3  # of natural sizes: effects below its square are mostly rounding
_SINGULAR = 1e-9  # for unit vectors in the sizes of the matrix: below, the conditions do not determine them


_DISAGREE = 1e-4  # largest part of a right-hand side outside the range; nearly dependent rows leave 1e-5
_PART = 0.1  # of the largest entry of a direction: smaller entries are not named


class DataChange(NamedTuple):
    """A change of data.

    Parameters
    ----------
    parameters : ndarray, shape (n_p,)
    rows : ndarray, shape (n_g,)
        Changes of the bounds of active rows.
    variables : ndarray, shape (n_x,)
        Changes of variables at bounds, and of fixed ones.
    """

    parameters: np.ndarray
    rows: np.ndarray
    variables: np.ndarray

    def times(self, factor: float) -> DataChange:
        return DataChange(*(factor * part for part in self))

    def plus(self, other: DataChange) -> DataChange:
        return DataChange(*(a + b for a, b in zip(self, other, strict=True)))


class Rate(NamedTuple):
    """Derivative of a number that depends on the optimum: weights of the parts of a `DataChange`, named as there."""

    parameters: np.ndarray
    rows: np.ndarray
    variables: np.ndarray

    def of(self, move: DataChange) -> float:
        """The change of the number due to a change of data."""
        return sum(float(weight @ part) for weight, part in zip(self, move, strict=True))


@dataclass(frozen=True, eq=False)
class KKTSystem:
    """The linearised conditions of an optimum.

    Parameters
    ----------
    nlp : BaseNLP
        Any program with the variables and rows of the one that was solved; its parameters may change.
    parameters : ndarray, shape (n_p,)
    optimum : SharpOptimum
    """

    nlp: BaseNLP
    parameters: np.ndarray
    optimum: SharpOptimum

    def __getstate__(self) -> dict[str, Any]:
        # Factors stay in their process; the rest follows from the fields.
        return {name: vars(self)[name] for name in ("nlp", "parameters", "optimum")}

    @cached_property
    def _at_optimum(self) -> NumericDerivatives:
        """Derivatives of costs and rows, including those by fixed variables."""
        return NumericDerivatives(self.nlp.costs, self.nlp.constraints, self.optimum.x, self.parameters)

    @cached_property
    def _hessian(self) -> ca.DM:
        return self._at_optimum.hessian("hessian", self.optimum.multipliers)

    @property
    def _free(self) -> np.ndarray:
        return self.optimum.free

    @property
    def _active(self) -> np.ndarray:
        return self.optimum.active

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Sizes of the unknowns (variables and multipliers) that scale the matrix well."""
        return self._scaled[0]

    @cached_property
    def _matrix(self) -> ca.DM:
        """The matrix of the conditions in these sizes."""
        return self._scaled[1]

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, ca.DM]:
        """Sizes and matrix, equilibrated from natural sizes (Ruiz 2001)."""
        jacobian, hessian = self._at_optimum.jacobian, self._hessian
        free, active, scale = self._free.tolist(), self._active.tolist(), self.optimum.scale
        none = ca.DM(len(active), len(active))
        matrix = ca.blockcat(hessian[free, free], jacobian[active, free].T, jacobian[active, free], none)
        natural = np.append(self.nlp.scale_x[free], scale.cost / scale.rows[active])
        row, column = triplet(matrix.sparsity())
        entries = np.abs(np.array(matrix.nonzeros())) * natural[row] * natural[column] / scale.cost
        factors = np.ones(natural.size)
        for _ in range(_EQUILIBRATIONS):
            largest = np.zeros(natural.size)
            np.maximum.at(largest, row, entries * factors[row] * factors[column])
            factors = np.clip(factors / np.sqrt(np.where(largest > 0, largest, 1.0)), 1 / _FACTOR, _FACTOR)
        sizes = natural * factors
        diagonal = ca.diag(ca.DM(sizes))
        # Rounding may make one of two symmetric entries zero: the pattern is that of the lower half.
        return sizes, ca.tril2symm(ca.sparsify(ca.tril(diagonal @ matrix @ diagonal / scale.cost)))

    @cached_property
    def _solve_shifted(self) -> Callable[[np.ndarray], np.ndarray]:
        """Solutions for right-hand sides, shape (size, k), with a slightly shifted, nonsingular matrix."""
        return self._shifted(_SHIFT)

    def _shifted(self, by: float) -> Callable[[np.ndarray], np.ndarray]:
        """Solutions with a shifted matrix.

        By LDL' without pivots, which rarely fails on shifted conditions of an optimum, otherwise by QR.
        """
        shift = np.repeat([by, -by], [self._free.size, self._active.size])
        shifted = self._matrix + ca.diag(ca.DM(shift))
        right = np.random.default_rng(0).standard_normal((shift.size, 1))
        factors = ca.ldl(shifted)
        solution = np.array(ca.ldl_solve(right, *factors))
        off = np.linalg.norm(np.array(shifted @ solution) - right)
        if off < _EXACT * float(ca.norm_fro(shifted)) * np.linalg.norm(solution):  # False for NaN
            return lambda right: np.array(ca.ldl_solve(right, *factors))
        rotated = ca.qr_sparse(shifted)
        return lambda right: np.array(ca.qr_solve(right, *rotated))

    def _solve(self, right: np.ndarray) -> np.ndarray:
        """Solutions without the shift, of least norm if there are several."""
        right, solution = self._determined(right), np.zeros(right.size)
        for _ in range(_REFINEMENTS):
            left = right - np.array(self._matrix @ solution).ravel()
            solution = self._determined(solution + self._solve_shifted(self._determined(left)[:, None])[:, 0])
        return solution

    def _determined(self, vector: np.ndarray) -> np.ndarray:
        """A vector without its components along undetermined directions."""
        return vector - self.undetermined @ (self.undetermined.T @ vector)

    @cached_property
    def undetermined(self) -> np.ndarray:
        """Orthonormal basis of undetermined changes, in the sizes of the matrix, shape (size, k); usually k = 0.

        Parts in variables are directions in which cost and active rows are flat, parts in multipliers are dependent
        active rows. Computed by inverse iteration on a growing number of random vectors.
        """
        size, rng = self._sizes.size, np.random.default_rng(0)
        count = min(_VECTORS, size)
        while count:
            vectors = np.linalg.qr(rng.standard_normal((size, count)))[0]
            for _ in range(2):
                vectors = np.linalg.qr(self._solve_shifted(vectors))[0]
            _, values, basis = np.linalg.svd(np.array(self._matrix @ vectors), full_matrices=False)
            left_open = values < _SINGULAR
            if not left_open.all() or count == size:
                return vectors @ basis[left_open].T
            count = min(2 * count, size)
        return np.zeros((size, 0))

    @cached_property
    def flat(self) -> tuple[str, ...]:
        """Variables that can move without changing the cost to second order."""
        names = self._free[_taking_part(self.undetermined[: self._free.size])]
        return tuple(self.nlp.variable_name(int(k), self.optimum.x) for k in names)

    @cached_property
    def dependent(self) -> tuple[str, ...]:
        """Active rows with dependent gradients."""
        names = self._active[_taking_part(self.undetermined[self._free.size :])]
        return tuple(self.nlp.row_name(int(row), self.optimum.x) for row in names)

    def newton_step(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A step of Newton's method with active bounds as equations.

        Returns
        -------
        x : ndarray, shape (n_x,)
        values : ndarray, shape (n_g + n_x,)
            Of the rows, linearised, and of the variables.
        multipliers : ndarray, shape (n_g + n_x,)
            Of the rows and of the bounds of variables; zero if inactive.
        """
        nlp, optimum, free, active = self.nlp, self.optimum, self._free, self._active
        rows = row_values(nlp.constraints, optimum.x, self.parameters)
        wanted = np.where(optimum.rows == -1, nlp.bounds_g[0], nlp.bounds_g[1])
        bound = np.where(optimum.variables == -1, nlp.lower, nlp.upper)
        step = np.where(optimum.variables == 0, 0.0, bound - optimum.x)
        slope = self._at_optimum.lagrangian_gradient(optimum.multipliers)
        short = np.where(optimum.rows == 0, 0.0, wanted - rows)
        right = self._right(DataChange(np.zeros(self.parameters.size), short, step))
        right -= np.append(slope[free], np.zeros(active.size)) * self._sizes / optimum.scale.cost
        change, solve = np.zeros(right.size), self._shifted(_FLAT_SHIFT)
        for _ in range(_REFINEMENTS):  # flat directions are not followed
            change += solve((right - np.array(self._matrix @ change).ravel())[:, None])[:, 0]
        change, multipliers = change * self._sizes, optimum.multipliers.copy()
        step[free] = change[: free.size]
        multipliers[active] += change[free.size :]
        jacobian = self._at_optimum.jacobian
        slope = self._at_optimum.lagrangian_gradient(multipliers) + np.array(self._hessian @ step).ravel()
        x = optimum.x + step
        values = rows + np.array(jacobian @ step).ravel()
        pushes = np.where(optimum.variables == 0, 0.0, -slope)
        return x, np.append(values, x), np.append(multipliers, pushes)

    @cached_property
    def cost_rate(self) -> Rate:
        """Derivative of the cost: the multipliers, and the gradient of the Lagrangian by the parameters."""
        free, sizes, multipliers = self._free, self._sizes, self.optimum.multipliers.copy()
        # A step of Newton's method: solvers compute multipliers less accurately than the motion.
        slope = self._at_optimum.lagrangian_gradient(multipliers)
        right = np.append(-slope[free], np.zeros(self._active.size)) * sizes / self.optimum.scale.cost
        multipliers[self._active] += (self._solve(right) * sizes)[free.size :]
        slope = self._at_optimum.lagrangian_gradient(multipliers)
        return Rate(self._by_parameters(np.zeros(self.nlp.n_x), multipliers, 1.0), -multipliers, slope)

    def rate_of(self, direction: np.ndarray) -> Rate:
        """Derivative of a linear combination of the variables, with coefficients of shape (n_x,)."""
        free = self._free
        right = np.append(direction[free] * self._sizes[: free.size], np.zeros(self._active.size))
        rate = self._projection(self._solve(right))
        return rate._replace(variables=rate.variables + np.where(self.optimum.variables == 0, 0.0, direction))

    def agrees(self, move: DataChange) -> bool:
        """Whether the conditions are solvable for a change of data; not if one of two equal bounds moves alone."""
        return not self.undetermined.size or self._agrees(self._right(move))

    def _agrees(self, right: np.ndarray) -> bool:
        return bool(np.linalg.norm(self.undetermined.T @ right) <= _DISAGREE * np.linalg.norm(right))

    def change(self, move: DataChange) -> tuple[np.ndarray, np.ndarray]:
        """Changes of variables, shape (n_x,), and of multipliers of rows, (n_g,); NaN unless the data `agrees`."""
        right = self._right(move)
        if not self._agrees(right):
            return np.full(self.nlp.n_x, np.nan), np.full(self.nlp.n_g, np.nan)
        change = self._solve(right) * self._sizes
        x, rows = np.where(self.optimum.variables == 0, 0.0, move.variables), np.zeros(self.nlp.n_g)
        x[self._free], rows[self._active] = change[: self._free.size], change[self._free.size :]
        return x, rows

    def _right(self, move: DataChange) -> np.ndarray:
        """The right-hand side of a change of data, in the sizes of the matrix."""
        jacobian, hessian = self._at_optimum.jacobian, self._hessian
        slope, value = self._forcing(move.parameters)
        x = -slope - np.array(hessian @ move.variables).ravel()
        rows = move.rows - value - np.array(jacobian @ move.variables).ravel()
        return np.append(x[self._free], rows[self._active]) * self._sizes / self.optimum.scale.cost

    def _projection(self, vector: np.ndarray) -> Rate:
        """The adjoint of `_right`: right-hand sides of changes of data times a vector."""
        jacobian, hessian = self._at_optimum.jacobian, self._hessian
        x, rows, entries = np.zeros(self.nlp.n_x), np.zeros(self.nlp.n_g), vector * self._sizes
        x[self._free], rows[self._active] = entries[: self._free.size], entries[self._free.size :]
        by_variables = -np.array(hessian @ x + jacobian.T @ rows).ravel()
        by_variables[self._free] = 0.0
        parts = -self._by_parameters(x, rows, 0.0), rows, by_variables
        return Rate(*(part / self.optimum.scale.cost for part in parts))

    def _by_parameters(self, x: np.ndarray, rows: np.ndarray, cost: float) -> np.ndarray:
        """Derivative by the parameters, shape (n_p,), of the Lagrangian's gradient, rows and cost, with these weights.

        Parameters
        ----------
        x : ndarray, shape (n_x,)
        rows : ndarray, shape (n_g,)
        cost : float
        """
        total = np.zeros(self.nlp.n_p)
        if not total.size:
            return total
        for (block, multipliers), (_, weights) in zip(self._weighted, _weighted(self.nlp, cost, rows), strict=True):
            slices = block.sites.slices
            directions = np.vstack([slices.local(x), weights])
            values = self._functions[block][0](*self._arguments(block), multipliers, directions)
            total += np.array(values).sum(axis=1)
        return total

    def _forcing(self, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Change of the Lagrangian's gradient, shape (n_x,), and of the rows, (n_g,), due to parameters."""
        slope, rows = np.zeros(self.nlp.n_x), [np.zeros(0)]
        if not change.any():
            return slope, np.zeros(self.nlp.n_g)
        for block, multipliers in self._weighted:
            slices, size = block.sites.slices, block.sites.local.w.shape[0]
            values = self._functions[block][1](*self._arguments(block), multipliers, change)
            values = np.array(values).reshape(-1, block.n_slices)
            np.add.at(slope, slices.index[slices.column], slices.weight * values[:size][slices.row])
            if not block.is_cost:
                rows.append(values[size:].ravel("F"))
        return slope, np.concatenate(rows)

    @cached_property
    def _weighted(self) -> list[tuple[Block, np.ndarray]]:
        return _weighted(self.nlp, 1.0, self.optimum.multipliers)

    def _arguments(self, block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Local variables, data and parameters at all slices of a block."""
        return block.sites.slices.local(self.optimum.x), block.sites.data, self.parameters

    @cached_property
    def _functions(self) -> dict[Block, tuple[ca.Function, ca.Function]]:
        return {block: _parameter_derivatives(block) for block, _ in self._weighted}


def _weighted(nlp: BaseNLP, cost: float, rows: np.ndarray) -> list[tuple[Block, np.ndarray]]:
    """Every block with weights of its rows at all slices, shape (r, N)."""
    weighted = [(block, np.full((block.n_rows, block.n_slices), cost)) for block in nlp.costs]
    for block, first, end in zip(nlp.constraints, nlp.offsets, nlp.offsets[1:], strict=False):
        weighted.append((block, rows[first:end].reshape(block.n_slices, block.n_rows).T))
    return weighted


def _parameter_derivatives(block: Block) -> tuple[ca.Function, ca.Function]:
    """Derivatives of a block's gradient of the Lagrangian, and of its rows, by the parameters, at all slices.

    Both follow from one sum: the gradient in w of multipliers times rows, and the rows, times a direction. The first
    function is its gradient by the parameters, (w, d, p, multipliers, direction) -> (n_p,); the second is the factor of
    the direction, (w, d, p, multipliers, change of p) -> (len(w) + r,).
    """
    local = block.sites.local
    w, d, p = (ca.SX.sym(name, part.shape[0]) for name, part in (("w", local.w), ("d", local.d), ("p", local.p)))
    rows = block.functions.value(w, d, p)
    multipliers, direction = ca.SX.sym("multipliers", rows.shape[0]), ca.SX.sym("direction", w.numel() + rows.numel())
    change = ca.SX.sym("change", p.shape[0])
    slope = ca.jtimes(ca.dot(multipliers, rows), w, direction[: w.numel()])
    gradient = ca.gradient(slope + ca.dot(direction[w.numel() :], rows), p)
    forcing = ca.gradient(ca.dot(gradient, change), direction)
    arguments, count = [w, d, p, multipliers], block.n_slices
    by_parameters = ca.Function("by_parameters", [*arguments, direction], [ca.densify(gradient)])
    by_direction = ca.Function("by_direction", [*arguments, change], [ca.densify(forcing)])
    return by_parameters.map("map", "serial", count, [2], []), by_direction.map("map", "serial", count, [2, 4], [])


def _taking_part(vectors: np.ndarray) -> np.ndarray:
    """Mask of the rows of vectors, of length one or less, that are not nearly zero."""
    sizes = np.abs(vectors).max(axis=1, initial=0.0)
    return sizes > _PART * max(float(sizes.max(initial=0.0)), _PART)
