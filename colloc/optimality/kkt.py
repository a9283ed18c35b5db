"""The conditions of an optimum, linearised and factorised once: what it does when data move.

An optimum with its active bounds A solves

    dL/dx = 0 of what may move,  g_A = b_A,  x at a bound = that bound,  with L = f + lambda' g,

so that for data theta (Fiacco 1976, "Sensitivity analysis for nonlinear programming using penalty methods", theorem
2.1)

    [ H   J_A' ] [ dx      ]   [ -d(dL/dx)/dtheta - H dx_b             ]
    [ J_A  0   ] [ dlambda ] = [ db_A/dtheta - dg_A/dtheta - J_A dx_b  ]

with H the Hessian of L, and dx_b what the variables at bounds do themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.numeric import NumericDerivatives
from colloc.blocks.slices import triplet
from colloc.optimality.active_set import SharpOptimum
from colloc.support.lazy import cached_property
from colloc.transcription import BaseNLP

_SHIFT = 1e-12  # on the diagonal, so that there always are factors; a refinement takes it out again
_REFINEMENTS = 3
_EXACT = 1e-12  # error of a solution that rounding explains, relative
_VECTORS = 4  # sought at first
_EQUILIBRATIONS = 5
_FACTOR = 1e3  # of natural sizes: what is smaller by its square has more to do with rounding than with anything else
_SINGULAR = 1e-9  # of vectors of length one in the sizes of the matrix: the conditions do not determine them


_DISAGREE = 1e-6  # of a right-hand side: what lies where the conditions have no answer
_PART = 0.1  # of the largest entry of a direction: what is named


class DataChange(NamedTuple):
    """Data that change by so much.

    Parameters
    ----------
    parameters : ndarray, shape (n_p,)
    rows : ndarray, shape (n_g,)
        Of the bounds of active rows.
    variables : ndarray, shape (n_x,)
        Of variables at bounds, and fixed ones.
    """

    parameters: np.ndarray
    rows: np.ndarray
    variables: np.ndarray

    def times(self, factor: float) -> DataChange:
        """A move that is faster by a factor."""
        return DataChange(*(factor * part for part in self))

    def plus(self, other: DataChange) -> DataChange:
        """Both moves at once."""
        return DataChange(*(a + b for a, b in zip(self, other, strict=True)))


class Rate(NamedTuple):
    """What a number that depends on the optimum changes by, as weights of the parts of a move; parameters as there."""

    parameters: np.ndarray
    rows: np.ndarray
    variables: np.ndarray

    def of(self, move: DataChange) -> float:
        """The change by a move."""
        return sum(float(weight @ part) for weight, part in zip(self, move, strict=True))


@dataclass(frozen=True, eq=False)
class KKTSystem:
    """The linearised conditions of an optimum.

    Parameters
    ----------
    nlp : BaseNLP
        Any with the variables and rows of the one that was solved; its parameters are those that may move.
    parameters : ndarray, shape (n_p,)
    optimum : SharpOptimum
    """

    nlp: BaseNLP
    parameters: np.ndarray
    optimum: SharpOptimum

    def __getstate__(self) -> dict[str, Any]:
        # Factors stay in their process, and all else follows from the fields.
        return {name: vars(self)[name] for name in ("nlp", "parameters", "optimum")}

    @cached_property
    def _at_optimum(self) -> NumericDerivatives:
        """Derivatives of costs and rows, by fixed variables as well."""
        return NumericDerivatives(self.nlp.costs, self.nlp.constraints, self.optimum.x, self.parameters)

    @cached_property
    def _hessian(self) -> ca.DM:
        """That of the Lagrangian."""
        return self._at_optimum.hessian("hessian", self.optimum.multipliers)

    @property
    def _free(self) -> np.ndarray:
        """Variables that no bound holds."""
        return self.optimum.free

    @property
    def _active(self) -> np.ndarray:
        """Rows at their bounds."""
        return self.optimum.active

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Sizes of the unknowns, variables and multipliers, by which the matrix is well scaled."""
        return self._scaled[0]

    @cached_property
    def _matrix(self) -> ca.DM:
        """The matrix of the conditions in these sizes."""
        return self._scaled[1]

    @cached_property
    def _scaled(self) -> tuple[np.ndarray, ca.DM]:
        """Sizes and matrix: natural sizes, then as many more powers as make all rows alike (Ruiz 2001)."""
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
        # Of two entries that are one, rounding may leave a zero and something: the pattern is that of the lower half.
        return sizes, ca.tril2symm(ca.sparsify(ca.tril(diagonal @ matrix @ diagonal / scale.cost)))

    @cached_property
    def _solve_shifted(self) -> Callable[[np.ndarray], np.ndarray]:
        """The solution for right-hand sides, shape (size, k), with a slight shift of the matrix: never singular.

        By LDL' without pivots, which hardly ever fails on shifted conditions of an optimum, or else by QR.
        """
        shift = np.repeat([_SHIFT, -_SHIFT], [self._free.size, self._active.size])
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
        """The same without the shift; the least of all solutions where there are several."""
        right, solution = self._determined(right), np.zeros(right.size)
        for _ in range(_REFINEMENTS):
            left = right - np.array(self._matrix @ solution).ravel()
            solution = self._determined(solution + self._solve_shifted(self._determined(left)[:, None])[:, 0])
        return solution

    def _determined(self, vector: np.ndarray) -> np.ndarray:
        """A vector without its part in what is undetermined."""
        return vector - self.undetermined @ (self.undetermined.T @ vector)

    @cached_property
    def undetermined(self) -> np.ndarray:
        """Changes that the conditions leave open, in the matrix's sizes, orthonormal, shape (size, k); mostly k = 0.

        Of variables they are directions in which cost and active rows are flat, of multipliers active rows that depend
        on each other. Found by inverse iteration on more and more random vectors, until one is none.
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
        """Variables that may move without a change of the cost, to first and second order."""
        names = self._free[_taking_part(self.undetermined[: self._free.size])]
        return tuple(self.nlp.variable_name(int(k), self.optimum.x) for k in names)

    @cached_property
    def dependent(self) -> tuple[str, ...]:
        """Active rows whose gradients depend on each other."""
        names = self._active[_taking_part(self.undetermined[self._free.size :])]
        return tuple(self.nlp.row_name(int(row), self.optimum.x) for row in names)

    def independent(self) -> KKTSystem:
        """These conditions without weakly active rows that depend on others, which push more: they are let go.

        In time optima on fine grids more bounds are met to the last digits than there are variables.
        """
        weak = self.optimum.weak_rows[self._active]
        if not (weak.any() and self.dependent):
            return self
        push = np.abs(self.optimum.multipliers * self.optimum.scale.rows)[self._active]
        order = np.lexsort((-push, weak))
        gradients = np.array(self._matrix[: self._free.size, self._free.size :])[:, order]
        new = np.zeros(order.size)
        diagonal = np.abs(np.diag(np.linalg.qr(gradients, mode="r")))
        new[: diagonal.size] = diagonal / np.linalg.norm(gradients, axis=0)[: diagonal.size]
        released = np.zeros(self.nlp.n_g, dtype=bool)
        released[self._active[order]] = (new < _SINGULAR) & weak[order]
        return KKTSystem(self.nlp, self.parameters, self.optimum.without(released))

    @cached_property
    def cost_rate(self) -> Rate:
        """What the cost changes by: the multipliers, and the slope of the Lagrangian by the parameters."""
        free, sizes, multipliers = self._free, self._sizes, self.optimum.multipliers.copy()
        # A step of Newton's method: solvers leave multipliers less exact than the motion.
        slope = self._at_optimum.lagrangian_gradient(multipliers)
        right = np.append(-slope[free], np.zeros(self._active.size)) * sizes / self.optimum.scale.cost
        multipliers[self._active] += (self._solve(right) * sizes)[free.size :]
        slope = self._at_optimum.lagrangian_gradient(multipliers)
        return Rate(self._by_parameters(np.zeros(self.nlp.n_x), multipliers, 1.0), -multipliers, slope)

    def rate_of(self, direction: np.ndarray) -> Rate:
        """What a sum of the variables changes by, with these factors, shape (n_x,)."""
        free = self._free
        right = np.append(direction[free] * self._sizes[: free.size], np.zeros(self._active.size))
        rate = self._projection(self._solve(right))
        return rate._replace(variables=rate.variables + np.where(self.optimum.variables == 0, 0.0, direction))

    def agrees(self, move: DataChange) -> bool:
        """Whether any changes meet all conditions with a move: moving one of two equal bounds, nothing does."""
        return not self.undetermined.size or self._agrees(self._right(move))

    def _agrees(self, right: np.ndarray) -> bool:
        return bool(np.linalg.norm(self.undetermined.T @ right) <= _DISAGREE * np.linalg.norm(right))

    def change(self, move: DataChange) -> tuple[np.ndarray, np.ndarray]:
        """What variables, shape (n_x,), and multipliers of the rows, (n_g,), change by; NaN where nothing `agrees`."""
        right = self._right(move)
        if not self._agrees(right):
            return np.full(self.nlp.n_x, np.nan), np.full(self.nlp.n_g, np.nan)
        change = self._solve(right) * self._sizes
        x, rows = np.where(self.optimum.variables == 0, 0.0, move.variables), np.zeros(self.nlp.n_g)
        x[self._free], rows[self._active] = change[: self._free.size], change[self._free.size :]
        return x, rows

    def _right(self, move: DataChange) -> np.ndarray:
        """The right-hand side of a move, in the sizes of the matrix."""
        jacobian, hessian = self._at_optimum.jacobian, self._hessian
        slope, value = self._forcing(move.parameters)
        x = -slope - np.array(hessian @ move.variables).ravel()
        rows = move.rows - value - np.array(jacobian @ move.variables).ravel()
        return np.append(x[self._free], rows[self._active]) * self._sizes / self.optimum.scale.cost

    def _projection(self, vector: np.ndarray) -> Rate:
        """The right-hand sides of moves, in the sizes of the matrix, times a vector."""
        jacobian, hessian = self._at_optimum.jacobian, self._hessian
        x, rows, entries = np.zeros(self.nlp.n_x), np.zeros(self.nlp.n_g), vector * self._sizes
        x[self._free], rows[self._active] = entries[: self._free.size], entries[self._free.size :]
        by_variables = -np.array(hessian @ x + jacobian.T @ rows).ravel()
        by_variables[self._free] = 0.0
        parts = -self._by_parameters(x, rows, 0.0), rows, by_variables
        return Rate(*(part / self.optimum.scale.cost for part in parts))

    def _by_parameters(self, x: np.ndarray, rows: np.ndarray, cost: float) -> np.ndarray:
        """Derivative by the parameters, shape (n_p,), of a sum: the slope of the Lagrangian, rows and cost times these.

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
        """What a change of parameters adds to the slope of the Lagrangian, shape (n_x,), and to the rows, (n_g,)."""
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
    """How the slope of a block's share in the Lagrangian, and its rows, change with the parameters, at all slices.

    Both share one sum: the slope in w of multipliers' rows, and then the rows, times a direction. The first function
    is its gradient by the parameters, (w, d, p, multipliers, direction) -> (n_p,); the second one what is multiplied
    by the direction, (w, d, p, multipliers, change of p) -> (len(w) + r,).
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
    """Which rows of some vectors of length one or less are not nearly zero."""
    sizes = np.abs(vectors).max(axis=1, initial=0.0)
    return sizes > _PART * max(float(sizes.max(initial=0.0)), _PART)
