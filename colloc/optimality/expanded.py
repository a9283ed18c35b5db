"""Decrease of an optimal cost when one limit is relaxed by a finite amount, on the same curve.

A derivative is valid while the same bounds are active. In a shortest time other bounds, where torques switch, are
inactive by a hair and become active before a limit is relaxed by 1 %. With cost and rows to first order and the
Lagrangian to second, the optimum with other bounds is at x + d, with d of

    min over d of  g'd + d'Hd / 2,  lower <= values + A d <= upper,

and the bounds of all rows and variables, active or not (Kadam and Marquardt 2004, "Sensitivity-based solution updates
in closed-loop dynamic optimization"). Multipliers need not be unique. The decrease is the difference between the values
of this program with the stated bounds and with those of one limit relaxed.

H is positive along active rows only, and the program has other local optima. The proximal point method solves convex
programs with rho |A_s d - c|^2 / 2 added, for rows s near their bounds: c is at first where the rows are if they remain
at their bounds, then A_s d of the last program. The term vanishes at an optimum (Rockafellar 1976, "Monotone operators
and the proximal point algorithm").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.blocks.numeric import NumericDerivatives
from colloc.optimality.limits import Limit, relaxed_bounds
from colloc.optimality.second_order import natural_sizes
from colloc.support.lazy import cached_property
from colloc.transcription import BaseNLP
from colloc.transcription.quadratic import QuadraticProgram, QuadraticSolver, by_piqp

_UNIT = 0.01  # of natural sizes and of the cost: unit of the quadratic program
_FAR = 1.0  # of natural sizes: the expansion is not trusted beyond
_NEAR = 0.01  # of these units: rows so close to their bounds are in the proximal term
_STIFF = tuple((rho, ridge) for ridge in (1e-8, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 1e1) for rho in (1.0, 1e1, 1e2))
_LEFT, _LESS = 1e-5, 0.2  # of a row that is that far from its bound, in these units, the weight falls by this factor
_STEPS = 30  # of the proximal point method
_ROUNDING, _SHARE = 1e-6, 1e-3  # of the cost's unit, or of the decrease by the derivative: largest error of a value
_CURVED = 0.05  # of the decrease by the derivative: a decrease that exceeds it by more is due to negative curvature
_OPTIMAL = 0.01  # of the cost's unit: largest decrease without any relaxation
_FLAT = 1e-12  # of the steepest row: less steep rows do not move
_WORK = 5_000_000  # entries of the factors of all programs, which take some five seconds


@dataclass(frozen=True, eq=False)
class ExpandedOptimum:
    """The program of an optimum, expanded there.

    Parameters
    ----------
    nlp : BaseNLP
        Without fixed ends and durations.
    x, p : ndarray
        Variables and parameters.
    values, multipliers : ndarray, shape (n_g + n_x,)
        Of rows, then of variables; multipliers are positive at an upper bound.
    limits : sequence of Limit
        All limits of the program.
    scale : float
        Scale of the cost.
    solver : callable
        Solver of quadratic programs on which PIQP fails.
    """

    nlp: BaseNLP
    x: np.ndarray
    p: np.ndarray
    values: np.ndarray
    multipliers: np.ndarray
    limits: Sequence[Limit]
    scale: float
    solver: QuadraticSolver

    def decrease(self, limit: Limit, amount: float, expected: float) -> float:
        """Decrease of the cost with a limit relaxed; NaN if no optimum is found nearby.

        Parameters
        ----------
        limit : Limit
            One of `limits`.
        amount : float
            Its relaxation.
        expected : float
            The decrease by the derivative.
        """
        expected /= self._unit
        error = max(_ROUNDING, _SHARE * expected)
        stated, doubt = self._stated
        if not doubt < error or stated < -_OPTIMAL:
            return np.nan
        relaxed, doubt = self._value(limit, amount, error)
        value = stated - relaxed
        trusted = doubt < error and -2 * error < value < (1 + _CURVED) * expected + 2 * error
        return max(value, 0.0) * self._unit if trusted else np.nan

    @cached_property
    def affordable(self) -> int:
        """Number of limits whose programs take a few seconds."""
        return _WORK // max(self._program(None, 0.0)[0].fill, 1)

    @cached_property
    def _at(self) -> NumericDerivatives:
        return NumericDerivatives(self.nlp.costs, self.nlp.constraints, self.x, self.p)

    @cached_property
    def _hessian(self) -> ca.DM:
        return self._at.hessian("hessian", self.multipliers[: self.nlp.n_g])

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Units of the variables; loose bounds give no size."""
        return _UNIT * np.minimum(self.nlp.scale_x, np.maximum(np.abs(self.x), 1.0))

    @cached_property
    def _far(self) -> np.ndarray:
        """Largest steps of the variables, in their units."""
        return _FAR * natural_sizes(self.nlp) / self._sizes

    @cached_property
    def _unit(self) -> float:
        """Unit of the cost."""
        return max(_UNIT * self.scale, float(np.abs(self._at.gradient * self._sizes).max(initial=0.0)))

    @cached_property
    def _metric(self) -> tuple[float, float]:
        """Weights of the proximal term, of rows near their bounds and of all variables."""
        program, near, *_ = self._program(None, 0.0)
        n, size = program.g.size, float(np.abs(program.H.nonzeros()).max(initial=0.0))
        for stiff, ridge in _STIFF if size else ():
            upper = ca.horzcat(program.H + ridge * size * ca.DM.eye(n), near.T)
            pivots = ca.ldl(ca.vertcat(upper, ca.horzcat(near, -ca.DM.eye(near.shape[0]) / (stiff * size))))[0]
            if (np.array(pivots) > 0).sum() == n:
                return stiff * size, ridge * size
        return (np.nan, np.nan) if size else (0.0, 0.0)

    @cached_property
    def _stated(self) -> tuple[float, float]:
        """Value and error of the program with the stated bounds, in the cost's unit."""
        return self._value(None, 0.0, _ROUNDING)

    def _value(self, relaxed: Limit | None, amount: float, error: float) -> tuple[float, float]:
        """Value of a program in the cost's unit, and its error, `error` if possible; infinite without an optimum."""
        program, near, center, far = self._program(relaxed, amount)
        best = np.nan, np.inf
        if np.isnan(self._metric[0]):
            return best
        kept, (rho, ridge), d = center, self._metric, np.zeros(program.g.size)
        weights = np.full(center.size, rho)
        for _ in range(_STEPS):
            metric = near.T @ ca.diag(ca.DM(weights)) @ near + ridge * ca.DM.eye(d.size)
            g = program.g - np.array(near.T @ (weights * center)).ravel() - ridge * d
            end = program._replace(H=program.H + metric, g=g).optimum(by_piqp, self.solver, doubt=error)
            optimum = program.optimum_at(ca.DM(end.d), ca.DM(end.lam_a), ca.DM(end.lam_x), solved=end.solved)
            d = optimum.d
            if end.solved and optimum.doubt < best[1] and (np.abs(d) < 0.99 * far).all():
                best = float(program.g @ d + ca.bilin(program.H, d, d) / 2), optimum.doubt
            if best[1] < error:
                break
            center = np.array(near @ d).ravel()
            weights, ridge = np.where(np.abs(center - kept) > _LEFT, _LESS * weights, weights), _LESS * ridge
        return best

    def _program(self, relaxed: Limit | None, amount: float) -> tuple[QuadraticProgram, ca.DM, np.ndarray, np.ndarray]:
        """The program with one limit relaxed, of variables and rows that can move.

        Also slopes of rows and variables near their stated bounds, their values if they remain as near, and the largest
        steps of the variables.
        """
        n_g = self.nlp.n_g
        low, high = self._room(relaxed, amount)
        moving, sizes = np.flatnonzero(low[n_g:] < high[n_g:]), self._sizes
        columns, unit = moving.tolist(), ca.diag(ca.DM(sizes[moving]))
        A = self._at.jacobian[:, columns] @ unit
        slopes = np.sqrt(np.array(ca.sum2(A**2)).ravel())
        steep = np.flatnonzero(slopes > _FLAT * slopes.max(initial=0.0))
        A = ca.diag(ca.DM(1 / slopes[steep])) @ A[steep.tolist(), :]
        every, units = np.append(steep, n_g + moving), np.append(slopes[steep], sizes[moving])
        below, above = (room[every] / units for room in self._room(None, 0.0))
        low, high, m = low[every] / units, high[every] / units, steep.size
        far = self._far[moving]
        near = np.flatnonzero((below > -_NEAR) | (above < _NEAR))
        center = np.where(below > -_NEAR, low, 0.0) + np.where(above < _NEAR, high, 0.0)
        program = QuadraticProgram(
            unit @ self._hessian[columns, columns] @ unit / self._unit,
            (self._at.gradient * sizes)[moving] / self._unit,
            A,
            low[:m],
            high[:m],
            np.maximum(low[m:], -far),
            np.minimum(high[m:], far),
        )
        return program, ca.vertcat(A, ca.DM.eye(moving.size))[near.tolist(), :], center[near], far

    def _room(self, relaxed: Limit | None, amount: float) -> tuple[np.ndarray, np.ndarray]:
        """Room of rows, then of variables, below and above their values.

        Bounds that a solver exceeds by its tolerance are not repaired.
        """
        amounts = np.array([amount if limit is relaxed else 0.0 for limit in self.limits])
        lower, upper = relaxed_bounds(self.nlp, self.limits, amounts)
        low, high, equal = lower - self.values, upper - self.values, lower >= upper
        return np.where(equal, low, np.minimum(low, 0.0)), np.where(equal, high, np.maximum(high, 0.0))
