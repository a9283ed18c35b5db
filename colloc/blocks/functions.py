"""The functions of a block, independent of slices: values and exact derivatives."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from colloc.blocks.evaluation_points import LocalView
from colloc.blocks.intermediate import Intermediate
from colloc.dynamics.rows import Rows
from colloc.kernels import Kernel
from colloc.support.lazy import cached_property

_LARGE = 100_000  # products, beyond which they are not formed as symbols
PARAMETERS = 2  # number of the input that is the same for all slices


@dataclass(frozen=True, eq=False)
class BlockFunctions:
    """Rows of a local view as functions of (w, d, p), with their derivatives in w, on SX; each is formed on first use.

    Blocks that differ only in their slices, such as those of one problem on several grids, share them.

    Parameters
    ----------
    local : LocalView
    rows : Rows
        Expressions in the local variables, data, parameters and torques.
    weights : SX, shape (r,), optional
        Expressions in data and parameters: makes the rows residuals of a sum of squares.
    """

    local: LocalView
    rows: Rows
    weights: ca.SX | None = None
    # what has been made of the functions for evaluation at many slices, by what it depends on
    kernels: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def expression(self) -> ca.SX:
        """The rows, SX, shape (r,)."""
        return self.rows.expression

    @property
    def n_rows(self) -> int:
        """r, the number of rows."""
        return self.expression.shape[0]

    @property
    def inputs(self) -> list[ca.SX]:
        """Arguments of the functions, without multipliers."""
        return [self.local.w, self.local.d, self.local.p]

    @cached_property
    def torques(self) -> Intermediate | None:
        """The torques in the rows."""
        return self._in_rows(self.local.torques)

    @cached_property
    def intermediate(self) -> Intermediate | None:
        """The torques, and the motion of dependent joints, in the rows."""
        dependent = self._in_rows(self.local.dependent)
        if self.torques is None or dependent is None:
            return self.torques or dependent
        return self.torques.above(dependent)

    def _in_rows(self, intermediate: Intermediate | None) -> Intermediate | None:
        present = intermediate is not None and ca.depends_on(self.expression, intermediate.symbols)
        return intermediate if present else None

    @cached_property
    def value(self) -> ca.Function:
        """(w, d, p) -> rows; for a cost the contribution of each."""
        rows = self.expression if self.weights is None else self.weights * self.expression**2
        return ca.Function("value", self.inputs, self.resolved([rows]))

    @cached_property
    def jacobian(self) -> ca.Function:
        """(w, d, p) -> sparse Jacobian of the rows."""
        return ca.Function("jacobian", self.inputs, [self.slopes])

    @cached_property
    def gradient(self) -> ca.Function:
        """(w, d, p) -> gradient of the cost, dense."""
        if self.intermediate is not None and self.intermediate.recursive:
            factors = ca.SX.ones(self.n_rows) if self.weights is None else 2 * self.weights * self.expression
            gradient = ca.densify(self.slopes.T @ self.resolved([factors])[0])
            return ca.Function("gradient", self.inputs, [gradient])
        # One reverse sweep through the torque takes half the operations of a recursion.
        total = ca.sum1(self.value(*self.inputs))
        return ca.Function("gradient", self.inputs, [ca.densify(ca.gradient(total, self.local.w))])

    @cached_property
    def hessian(self) -> ca.Function:
        """(w, d, p, lam) -> sparse upper triangle of the Hessian.

        Of lam' rows for a constraint, lam of shape (r,); of lam times the cost for a cost, lam a scalar.
        """
        if self.weights is None:
            return self.second_order
        if self._terms > _LARGE:
            return self._multiplied(self.second_order)
        return self._function([self._curvature + self._gauss])

    @cached_property
    def gauss_newton(self) -> ca.Function:
        """The part of `hessian` with first derivatives only, empty unless the block is a sum of squares."""
        if self._terms > _LARGE:
            return self._multiplied(self.first_order)
        return self._function([self._gauss])

    @cached_property
    def second_order(self) -> ca.Function:
        """The parts of `hessian`: curvature (upper triangle), and for a sum of squares also slopes J and factors f.

        (w, d, p, lam) -> C, J, f with the Hessian C + J' diag(f) J.
        """
        return self._function([self._curvature, *self._parts])

    @cached_property
    def first_order(self) -> ca.Function:
        """The parts of `gauss_newton`: (w, d, p, lam) -> J, f."""
        return self._function(self._parts)

    @cached_property
    def slopes(self) -> ca.SX:
        """Jacobian of the rows in w, sparse."""
        direct = ca.jacobian(self.expression, self.local.w)
        if self.intermediate is None:
            return direct
        # Values are put in before the chain rule: its products take many times the operations of its factors.
        direct, outer = self.resolved([direct, ca.jacobian(self.expression, self.intermediate.symbols)])
        return direct + outer @ self.intermediate.slopes

    @cached_property
    def multipliers(self) -> ca.SX:
        """Symbols of the weights of second derivatives."""
        return ca.SX.sym("lam", 1 if self.is_cost else self.n_rows)

    def kernel(self, kind: str) -> Kernel:
        """One of the functions above, named by `kind`, for evaluation at many slices at once."""
        if kind not in self.kernels:
            self.kernels[kind] = Kernel(getattr(self, kind), shared=frozenset({PARAMETERS}))
        return self.kernels[kind]

    def operations(self, kind: str) -> int:
        """Number of operations of one of the functions above, named by `kind`, at a slice."""
        parts = {"hessian": "second_order", "gauss_newton": "first_order"}
        if kind in parts and self._terms > _LARGE:
            return getattr(self, parts[kind]).n_instructions() + self._terms
        return getattr(self, kind).n_instructions()

    def has(self, kind: str) -> bool:
        """Whether the block has one of the functions: gradients are for costs, Jacobians for constraints."""
        needs = {"gradient": self.is_cost, "jacobian": not self.is_cost, "gauss_newton": self.weights is not None}
        return needs.get(kind, True)

    @property
    def is_cost(self) -> bool:
        """Whether the rows are summed."""
        return self.rows.lower.size == 0

    @cached_property
    def _curvature(self) -> ca.SX:
        """Upper triangle of the rows' second derivatives, weighted."""
        w, intermediate = self.local.w, self.intermediate
        both = w if intermediate is None else ca.vertcat(w, intermediate.symbols)
        hessian, gradient = self._curvature_in(both)
        if intermediate is None:
            return ca.triu(hessian)
        hessian, gradient = self.resolved([hessian, gradient])
        size, slopes = w.shape[0], intermediate.slopes
        mixed = hessian[:size, size:] @ slopes
        bent = slopes.T @ hessian[size:, size:] @ slopes
        bent += intermediate.curvature(gradient[size:])
        return ca.triu(hessian[:size, :size] + mixed + mixed.T + bent)

    def _curvature_in(self, symbols: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Second derivatives of the rows in symbols, weighted, and their weighted slopes."""
        pull = ca.repmat(self.multipliers, self.n_rows) if self.is_cost else self.multipliers
        if self.weights is None:
            hessian, gradient = ca.hessian(ca.dot(pull, self.expression), symbols)
            return hessian, gradient
        fixed = ca.SX.sym("pull", self.n_rows)
        parts = ca.hessian(ca.dot(fixed, self.expression), symbols)
        hessian, gradient = ca.substitute(list(parts), [fixed], [2 * self.weights * self.expression * pull])
        return hessian, gradient

    @property
    def _parts(self) -> list[ca.SX]:
        return [] if self.weights is None else [self.slopes, 2 * self.weights * self.multipliers]

    @property
    def _gauss(self) -> ca.SX:
        """Upper triangle of the part of a sum of squares' Hessian with first derivatives only."""
        if self.weights is None:
            size = self.local.w.shape[0]
            return ca.SX(size, size)
        slopes, factors = self._parts
        return ca.triu(slopes.T @ ca.diag(factors) @ slopes)

    @property
    def _terms(self) -> int:
        """Number of products in J' diag(f) J; none without squares."""
        if self.weights is None:
            return 0
        rows = np.array(self.slopes.sparsity().row(), dtype=int)
        return int((np.bincount(rows) ** 2).sum())

    def _multiplied(self, parts: ca.Function) -> ca.Function:
        """The Hessian of its parts, multiplied in numbers: as symbols, their products take gigabytes."""
        arguments = parts.mx_in()
        *curvature, slopes, factors = parts.call(arguments)
        return ca.Function("second", arguments, [ca.triu(sum(curvature, slopes.T @ ca.diag(factors) @ slopes))])

    def _function(self, results: list[ca.SX]) -> ca.Function:
        return ca.Function("second", [*self.inputs, self.multipliers], results)

    def resolved(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions with values in place of symbols of torques and of dependent joints."""
        return self.intermediate.resolve(expressions) if self.intermediate else expressions
