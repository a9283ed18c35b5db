"""A block: one small function applied to many overlapping slices of the decision vector."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from colloc.blocks.evaluation_points import EvaluationPoints, LocalView
from colloc.blocks.torques import Intermediate
from colloc.problem import Rows
from colloc.support.lazy import cached_property

_MET = 1e-9  # of a row's natural size: rounding
_LARGE = 100_000  # products, beyond which they are not formed as symbols


@dataclass(frozen=True, eq=False)
class Block:
    """Rows f(w_k, d_k, p) for the local variables w_k of N slices of the decision vector x.

    Derivatives are taken of the small function in w, on SX, and scattered through the slices' constant maps: nothing
    differentiates through the trajectory. A constraint has bounds on its rows. A cost is the sum of its rows, or with
    weights the sum of weighted squares of them.
    """

    name: str  # the constraint or cost to which the rows belong
    sites: EvaluationPoints  # the slices, and what stands in them for an instant
    rows: Rows  # expressions in the local variables, data, parameters and torques of the sites
    # shape (r,); expressions in data and parameters: makes the block a sum of squares, whose rows are the residuals
    weights: ca.SX | None = None

    def with_constant_data(self) -> Block:
        """This block with its data as numbers in the rows, for a single slice: what is zero drops out."""
        sites, local = self.sites, self.sites.local
        (rows,) = local.resolved([self.expression])
        rows = ca.substitute(rows, local.d, ca.DM(sites.data[:, 0]))
        alone = LocalView(local.w, ca.SX(0, 1), local.p)
        sites = replace(sites, local=alone, slices=sites.slices.pruned(), data=np.zeros((0, 1)))
        return replace(self, sites=sites, rows=self.rows._replace(expression=rows))

    def undetermined_rows(self, lower: np.ndarray, upper: np.ndarray, p: np.ndarray) -> list[int]:
        """Equalities of a single slice, by number, but those that variables with equal bounds meet by themselves."""
        rows, local, free = self.rows, self.sites.local, lower < upper
        varies, values = self.sites.slices.known(np.where(free, 0.0, lower), free)
        # Put in as numbers: a joint that is held has no velocity, whatever the duration.
        constant = np.flatnonzero(~varies).tolist()
        (expression,) = self._resolve([self.expression])
        expression = ca.substitute(expression, local.w[constant], ca.DM(values[constant]))
        moved = ca.jacobian_sparsity(expression, local.w).get_triplet()[0]
        # Values of what is free do not matter, as long as they are numbers.
        value = ca.Function("value", self._inputs, [expression])(values, self.sites.data, p)
        off = np.abs(np.array(value)[:, 0] - rows.lower) > _MET * rows.scale
        return np.union1d(moved, np.flatnonzero(off)).astype(int).tolist()

    def equations(self, chosen: np.ndarray, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Equations of a single slice in some variables, all others constant, without torques: slopes, and residuals.

        ndarray, shapes (m, n_x) and (m,), at x, shape (n_x,), of which some are `chosen`.
        """
        slices, w, expression = self.sites.slices, self.sites.local.w, self.expression
        moved = w[np.flatnonzero(slices.known(np.zeros(x.size), chosen)[0]).tolist()]
        torques = ca.SX(0, 1) if self._torques is None else self._torques.symbols
        seen, driven = (np.array(ca.which_depends(expression, symbols, 1, True)) for symbols in (moved, torques))
        rows = np.flatnonzero(seen & ~driven & (self.rows.lower == self.rows.upper)).tolist()
        if not rows:
            return np.zeros((0, x.size)), np.zeros(0)
        jacobian = ca.Function("slopes", self._inputs, [ca.densify(ca.jacobian(expression[rows], w))])
        by_local = np.array(jacobian(slices.local(x), self.sites.data, p))
        by_place = np.zeros((slices.index.shape[0], len(rows)))
        np.add.at(by_place, slices.column, (by_local[:, slices.row] * slices.weight[:, 0]).T)
        slopes = np.zeros((len(rows), x.size))
        np.add.at(slopes.T, slices.index[:, 0], by_place)
        return slopes * chosen, self.rows.lower[rows] - self.evaluate(x, p)[rows, 0]

    @property
    def expression(self) -> ca.SX:
        """The rows, SX, shape (r,)."""
        return self.rows.expression

    @property
    def n_slices(self) -> int:
        """N, the number of slices."""
        return self.sites.size

    @property
    def n_rows(self) -> int:
        """r, the number of rows in a slice."""
        return self.expression.shape[0]

    @property
    def _inputs(self) -> list[ca.SX]:
        local = self.sites.local
        return [local.w, local.d, local.p]

    @cached_property
    def _torques(self) -> Intermediate | None:
        """The torques that stand in the rows."""
        torques = self.sites.local.torques
        return torques if torques is not None and ca.depends_on(self.expression, torques.symbols) else None

    @cached_property
    def value(self) -> ca.Function:
        """(w, d, p) -> rows; of a cost what each adds to it."""
        rows = self.expression if self.weights is None else self.weights * self.expression**2
        return ca.Function("value", self._inputs, self._resolve([rows]))

    @cached_property
    def jacobian(self) -> ca.Function:
        """(w, d, p) -> sparse Jacobian of the rows."""
        return ca.Function("jacobian", self._inputs, self._resolve([self.slopes]))

    @cached_property
    def gradient(self) -> ca.Function:
        """(w, d, p) -> gradient of the cost, dense."""
        if self._torques is not None and self._torques.recursive:
            factors = ca.SX.ones(self.n_rows) if self.weights is None else 2 * self.weights * self.expression
            gradient = ca.densify(self.slopes.T @ factors)
            return ca.Function("gradient", self._inputs, self._resolve([gradient]))
        # One reverse sweep through the torque takes half the operations of a recursion.
        total = ca.sum1(self.value(*self._inputs))
        return ca.Function("gradient", self._inputs, [ca.densify(ca.gradient(total, self.sites.local.w))])

    @cached_property
    def hessian(self) -> ca.Function:
        """(w, d, p, lam) -> sparse upper triangle of the Hessian.

        Of lam' rows for a constraint, shape (r,); of lam times the cost for a cost, a scalar.
        """
        if self._terms > _LARGE:
            return self._multiplied(self.second_order)
        return self._function([self._curvature + self._gauss])

    @cached_property
    def gauss_newton(self) -> ca.Function:
        """The part of `hessian` that holds first derivatives only, empty unless the block is a sum of squares."""
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
        """Jacobian of the rows in w, sparse, torques still as symbols."""
        direct = ca.jacobian(self.expression, self.sites.local.w)
        if self._torques is None:
            return direct
        return direct + ca.jacobian(self.expression, self._torques.symbols) @ self._torques.slopes

    @cached_property
    def multipliers(self) -> ca.SX:
        """Symbols of the weights of second derivatives."""
        return ca.SX.sym("lam", 1 if self.is_cost else self.n_rows)

    def operations(self, kind: str) -> int:
        """Number of operations of one of the functions above, named by `kind`, at a slice."""
        parts = {"hessian": "second_order", "gauss_newton": "first_order"}
        if kind in parts and self._terms > _LARGE:
            return getattr(self, parts[kind]).n_instructions() + self._terms
        return getattr(self, kind).n_instructions()

    def has(self, kind: str) -> bool:
        """Whether one of the functions means anything here: gradients are for costs, Jacobians for constraints."""
        needs = {"gradient": self.is_cost, "jacobian": not self.is_cost, "gauss_newton": self.weights is not None}
        return needs.get(kind, True)

    @property
    def is_cost(self) -> bool:
        """Whether the rows are summed."""
        return self.rows.lower.size == 0

    @cached_property
    def _curvature(self) -> ca.SX:
        """Upper triangle of the rows' second derivatives, weighted."""
        pull = ca.repmat(self.multipliers, self.n_rows) if self.is_cost else self.multipliers
        if self.weights is not None:
            pull = 2 * self.weights * self.expression * pull
        fixed = ca.SX.sym("pull", self.n_rows)
        weighted = ca.dot(fixed, self.expression)
        if self._torques is None:
            second = ca.hessian(weighted, self.sites.local.w)[0]
        else:
            second = self._curvature_through(self._torques, weighted)
        return ca.triu(ca.substitute(second, fixed, pull))

    def _curvature_through(self, torques: Intermediate, weighted: ca.SX) -> ca.SX:
        """Second derivatives of a function of w and of torques that depend on w."""
        w = self.sites.local.w
        size, both = w.shape[0], ca.vertcat(w, torques.symbols)
        hessian, gradient = ca.hessian(weighted, both)
        mixed = hessian[:size, size:] @ torques.slopes
        bent = torques.slopes.T @ hessian[size:, size:] @ torques.slopes
        return hessian[:size, :size] + mixed + mixed.T + bent + torques.curvature(gradient[size:])

    @property
    def _parts(self) -> list[ca.SX]:
        return [] if self.weights is None else [self.slopes, 2 * self.weights * self.multipliers]

    @property
    def _gauss(self) -> ca.SX:
        """Upper triangle of what first derivatives add to the Hessian of a sum of squares."""
        if self.weights is None:
            size = self.sites.local.w.shape[0]
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
        return ca.Function("second", [*self._inputs, self.multipliers], self._resolve(results))

    def _resolve(self, expressions: list[ca.SX]) -> list[ca.SX]:
        return self._torques.resolve(expressions) if self._torques else expressions

    def evaluate(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Values of the rows at every slice, ndarray, shape (r, N)."""
        mapped = self.value.map("map", "serial", self.n_slices, [2], []) if self.n_slices > 1 else self.value
        return np.array(mapped(self.sites.slices.local(x), self.sites.data, p))
