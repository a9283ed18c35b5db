"""Sparse quadratic programs: by PIQP, and where that comes to no end, by a solver that takes its time.

PIQP (Schwan, Jiang, Kuhn and Jones 2023) takes a tenth of the time of a general interior-point method; where many
directions cost nothing, as those of a free flight, it may stop far from an optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import casadi as ca
import numpy as np

_NEAR = 0.5  # of the unit of rows: those with bounds closer than that come first
_MET = 1e-9  # of the same: rounding
_PASSES = 3  # with some of the rows
_PIQP = {"error_on_fail": False, "piqp": {"max_iter": 60}}  # nearly all take 10 to 25, few more, the others hundreds

QuadraticSolver: TypeAlias = "Callable[[QuadraticProgram], QuadraticOptimum]"


class QuadraticProgram(NamedTuple):
    """Minimize g'd + d'Hd / 2 with low <= A d <= high and least <= d <= most.

    Best in units in which rows and variables change by about one.

    Parameters
    ----------
    H : DM, sparse, shape (n, n)
    g : ndarray, shape (n,)
    A : DM, sparse, shape (m, n)
    low, high : ndarray, shape (m,)
    least, most : ndarray, shape (n,)
    """

    H: ca.DM
    g: np.ndarray
    A: ca.DM
    low: np.ndarray
    high: np.ndarray
    least: np.ndarray
    most: np.ndarray

    def optimum(self, *solvers: QuadraticSolver, doubt: float = np.inf) -> QuadraticOptimum:
        """What the first of some solvers finds that leaves less doubt, or what leaves the least of all."""
        optima: list[QuadraticOptimum] = []
        for solve in solvers:
            optima.append(optimum := self._near_first(solve))
            if optimum.solved and optimum.doubt < doubt:
                return optimum
        return min(optima, key=lambda optimum: optimum.doubt)

    @property
    def fill(self) -> int:
        """Entries of the factor of its matrix, which tell what an iteration of an interior-point method takes."""
        system = ca.Sparsity.kkt(self.H.sparsity(), self.A.sparsity(), True, True)
        return system.ldl(True)[0].nnz()

    def _near_first(self, solve: QuadraticSolver) -> QuadraticOptimum:
        """What a solver finds that sees rows only as they count.

        Rows far from their bounds are left out where they are most of all, until an optimum of the others breaks them:
        of limits along a motion nine in ten never count.
        """
        bounded = np.isfinite(self.low) | np.isfinite(self.high)  # of other rows PIQP complains in print
        rows = bounded & (np.minimum(-self.low, self.high) < _NEAR)
        for _ in range(_PASSES if rows.sum() < bounded.sum() / 2 else 0):
            optimum = self._with_rows(rows, solve)
            if not optimum.solved:
                return optimum
            values = np.array(self.A @ optimum.d).ravel()
            room = np.minimum(values - self.low, self.high - values)
            if not (bounded & ~rows & (room < -_MET)).any():
                return optimum
            rows |= bounded & (room < _NEAR / 2)  # also what the next optimum may break
        return self._with_rows(bounded, solve)

    def _with_rows(self, rows: np.ndarray, solve: QuadraticSolver) -> QuadraticOptimum:
        """What a solver finds under some of the rows, ndarray of bool, shape (m,)."""
        A = self.A[np.flatnonzero(rows).tolist(), :]
        optimum, lam_a = solve(self._replace(A=A, low=self.low[rows], high=self.high[rows])), np.zeros(self.low.size)
        lam_a[rows] = optimum.lam_a
        return optimum._replace(lam_a=lam_a)

    def optimum_at(self, d: ca.DM, lam_a: ca.DM, lam_x: ca.DM, *, solved: bool) -> QuadraticOptimum:
        """What a solver has left, and how far that is in doubt."""
        slope = self.g + np.array(self.H @ d + self.A.T @ lam_a + lam_x).ravel()
        x, rows, bounds = (np.array(vector).ravel() for vector in (d, lam_a, lam_x))
        beside = _beside(rows, np.array(self.A @ d).ravel(), self.low, self.high)
        beside += _beside(bounds, x, self.least, self.most)
        return QuadraticOptimum(x, rows, bounds, float(abs(slope @ x)) + beside, solved)


class QuadraticOptimum(NamedTuple):
    """The optimum of a quadratic program, or what a solver has in its place.

    Parameters
    ----------
    d : ndarray, shape (n,)
    lam_a, lam_x : ndarray, shapes (m,), (n,)
        Multipliers of rows and variables, of CasADi's signs.
    doubt : float
        By how much what the step gains differs from what the multipliers say: the duality gap.
    solved : bool
        Whether the solver says that it is one.
    """

    d: np.ndarray
    lam_a: np.ndarray
    lam_x: np.ndarray
    doubt: float
    solved: bool


def _beside(lam: np.ndarray, values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Multipliers times the distances from the bounds at which they push, in all."""
    distance = np.where(lam > 0, upper - values, values - lower)
    return float(np.abs(lam) @ np.where(np.isfinite(distance), np.abs(distance), 0.0))


def by_piqp(program: QuadraticProgram) -> QuadraticOptimum:
    """What PIQP finds."""
    solver = ca.conic("piqp", "piqp", {"h": program.H.sparsity(), "a": program.A.sparsity()}, _PIQP)
    bounds = {"lba": program.low, "uba": program.high, "lbx": program.least, "ubx": program.most}
    result = solver(h=program.H, g=program.g, a=program.A, **bounds)
    return program.optimum_at(result["x"], result["lam_a"], result["lam_x"], solved=solver.stats()["success"])
