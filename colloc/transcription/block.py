"""A block: one small function applied to many overlapping slices of the decision vector."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import casadi as ca
import numpy as np

from colloc.transcription.slices import Slices
from colloc.transcription.torques import Lifted


@dataclass(frozen=True, eq=False)
class Block:
    """Rows f(w_k, d_k, p) for the local variables w_k of N slices of the decision vector x.

    Derivatives are taken of the small function in w, on SX, and scattered through the slices' constant maps: nothing
    differentiates through the trajectory. A constraint has bounds on its rows. A cost is the sum of its rows, or with
    weights the sum of weighted squares of them.

    Parameters
    ----------
    name : str
        The constraint or cost the rows belong to.
    w, d, p : SX columns
        Symbols of the local variables, a slice's constant data and the problem's parameters.
    rows : SX, shape (r,)
        Expressions in w, d, p and the lifted torques.
    slices : Slices
    data : ndarray, shape (len(d), N)
    lower, upper : ndarray, shape (r,)
        Bounds of a constraint; unused by a cost.
    labels : tuple of str, r of them
        Name of every row, with its joint where it has one.
    s : ndarray, shape (N,)
        Normalised time of every slice.
    natural : ndarray, shape (r,), optional
        Natural size of the rows, NaN where it shall follow from the bounds.
    lifted : Lifted, optional
        Torques in the rows that bring their own derivatives.
    weights : SX, shape (r,), optional
        Expressions in d and p: makes the block a sum of squares, whose rows are the residuals.
    """

    name: str
    w: ca.SX
    d: ca.SX
    p: ca.SX
    rows: ca.SX
    slices: Slices
    data: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    labels: tuple[str, ...]
    s: np.ndarray
    lifted: Lifted | None = None
    natural: np.ndarray | None = None
    weights: ca.SX | None = None
    scale: np.ndarray = field(init=False)

    def __post_init__(self):
        scale = row_scale(self.lower, self.upper)
        if self.natural is not None:
            scale = np.where(np.isnan(self.natural), scale, self.natural)
        object.__setattr__(self, "scale", scale)
        if self.lifted is not None and not ca.depends_on(self.rows, self.lifted.symbols):
            object.__setattr__(self, "lifted", None)

    def folded(self) -> Block:
        """The same block with its data as numbers in the rows, for a single slice: what is zero drops out."""
        rows = self.lifted.resolve([self.rows])[0] if self.lifted else self.rows
        rows = ca.substitute(rows, self.d, ca.DM(self.data[:, 0]))
        none = np.zeros((0, 1))
        return replace(self, d=ca.SX(0, 1), rows=rows, slices=self.slices.pruned(), data=none, lifted=None)

    @property
    def n_slices(self) -> int:
        """N, the number of slices."""
        return self.slices.size

    @property
    def n_rows(self) -> int:
        """r, the number of rows in a slice."""
        return self.rows.shape[0]

    @cached_property
    def value(self) -> ca.Function:
        """(w, d, p) -> rows; of a cost what each adds to it."""
        rows = self.rows if self.weights is None else self.weights * self.rows**2
        return ca.Function("value", [self.w, self.d, self.p], self._resolve([rows]))

    @cached_property
    def jacobian(self) -> ca.Function:
        """(w, d, p) -> sparse Jacobian of the rows."""
        return ca.Function("jacobian", [self.w, self.d, self.p], self._resolve([self.slopes]))

    @cached_property
    def gradient(self) -> ca.Function:
        """(w, d, p) -> gradient of the cost, dense."""
        if self.lifted is not None and self.lifted.recursive:
            factors = ca.SX.ones(self.n_rows) if self.weights is None else 2 * self.weights * self.rows
            gradient = ca.densify(self.slopes.T @ factors)
            return ca.Function("gradient", [self.w, self.d, self.p], self._resolve([gradient]))
        # One reverse sweep through the torque takes half the operations of a recursion.
        total = ca.sum1(self.value(self.w, self.d, self.p))
        return ca.Function("gradient", [self.w, self.d, self.p], [ca.densify(ca.gradient(total, self.w))])

    @cached_property
    def hessian(self) -> ca.Function:
        """(w, d, p, lam) -> sparse upper triangle of the Hessian.

        Of lam' rows for a constraint, shape (r,); of lam times the cost for a cost, a scalar.
        """
        return self._function([self._curvature + self._gauss])

    @cached_property
    def gauss_newton(self) -> ca.Function:
        """The part of `hessian` that holds first derivatives only, nothing for what is no sum of squares."""
        return self._function([self._gauss])

    @cached_property
    def second_order(self) -> ca.Function:
        """What `hessian` is made of: curvature (upper triangle), and for a sum of squares also slopes J and factors f.

        (w, d, p, lam) -> C, J, f with the Hessian C + J' diag(f) J.
        """
        return self._function([self._curvature, *self._parts])

    @cached_property
    def first_order(self) -> ca.Function:
        """What `gauss_newton` is made of: (w, d, p, lam) -> J, f."""
        return self._function(self._parts)

    @cached_property
    def slopes(self) -> ca.SX:
        """Jacobian of the rows in w, sparse, torques still as symbols."""
        direct = ca.jacobian(self.rows, self.w)
        if self.lifted is None:
            return direct
        return direct + ca.jacobian(self.rows, self.lifted.symbols) @ self.lifted.slopes

    @cached_property
    def multipliers(self) -> ca.SX:
        """Symbols of what the second derivatives are weighted by."""
        return ca.SX.sym("lam", 1 if self.is_cost else self.n_rows)

    def has(self, kind: str) -> bool:
        """Whether one of the functions means anything here: gradients are for costs, Jacobians for constraints."""
        needs = {"gradient": self.is_cost, "jacobian": not self.is_cost, "gauss_newton": self.weights is not None}
        return needs.get(kind, True)

    @property
    def is_cost(self) -> bool:
        """Whether the rows are summed."""
        return self.lower.size == 0

    @cached_property
    def _curvature(self) -> ca.SX:
        """Upper triangle of the rows' second derivatives, weighted."""
        pull = ca.repmat(self.multipliers, self.n_rows) if self.is_cost else self.multipliers
        if self.weights is not None:
            pull = 2 * self.weights * self.rows * pull
        fixed = ca.SX.sym("pull", self.n_rows)
        weighted = ca.dot(fixed, self.rows)
        if self.lifted is None:
            second = ca.hessian(weighted, self.w)[0]
        else:
            second = self._lifted_curvature(weighted, self.lifted)
        return ca.triu(ca.substitute(second, fixed, pull))

    def _lifted_curvature(self, weighted: ca.SX, lifted: Lifted) -> ca.SX:
        """Second derivatives of a function of w and of torques that depend on w."""
        size, both = self.w.shape[0], ca.vertcat(self.w, lifted.symbols)
        hessian, gradient = ca.hessian(weighted, both)
        mixed = hessian[:size, size:] @ lifted.slopes
        bent = lifted.slopes.T @ hessian[size:, size:] @ lifted.slopes
        return hessian[:size, :size] + mixed + mixed.T + bent + lifted.curvature(gradient[size:])

    @property
    def _parts(self) -> list[ca.SX]:
        return [] if self.weights is None else [self.slopes, 2 * self.weights * self.multipliers]

    @property
    def _gauss(self) -> ca.SX:
        """Upper triangle of what first derivatives add to the Hessian of a sum of squares."""
        if self.weights is None:
            return ca.SX(self.w.shape[0], self.w.shape[0])
        slopes, factors = self._parts
        return ca.triu(slopes.T @ ca.diag(factors) @ slopes)

    def _function(self, results: list[ca.SX]) -> ca.Function:
        return ca.Function("second", [self.w, self.d, self.p, self.multipliers], self._resolve(results))

    def _resolve(self, expressions: list[ca.SX]) -> list[ca.SX]:
        return self.lifted.resolve(expressions) if self.lifted else expressions

    def evaluate(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Values of the rows at every slice, ndarray, shape (r, N)."""
        mapped = self.value.map("map", "serial", self.n_slices, [2], []) if self.n_slices > 1 else self.value
        return np.array(mapped(self.slices.local(x), self.data, p))


def row_scale(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Natural size of a bounded quantity: half the range, else the size of the one bound or value, else 1."""
    with np.errstate(invalid="ignore"):
        half = (upper - lower) / 2
    size = np.where(np.isfinite(half), half, np.where(np.isfinite(lower), np.abs(lower), np.abs(upper)))
    equal = lower == upper
    size = np.where(equal, np.abs(lower), size)
    return np.where(np.isfinite(size) & (size > 0), size, 1.0)
