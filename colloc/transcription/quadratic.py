"""Sparse quadratic programs: solved by PIQP, and if that fails, by a slower solver.

PIQP (Schwan, Jiang, Kuhn and Jones 2023) takes a tenth of the time of a general interior-point method. If many
directions cost nothing, such as those of a free flight, it may stop far from an optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import casadi as ca
import numpy as np

_NEAR = 0.5  # in units of rows: rows with closer bounds are included first
_MET = 1e-9  # in units of rows: rounding error
_PASSES = 3  # attempts with some of the rows
_PIQP = {
    "error_on_fail": False,
    "piqp": {"max_iter": 60},
}  # nearly all programs take 10 to 25, a few more, the others hundreds

QuadraticSolver: TypeAlias = "Callable[[QuadraticProgram], QuadraticOptimum]"


class QuadraticProgram(NamedTuple):
    """Minimize g'd + d'Hd / 2 with low <= A d <= high and least <= d <= most.

    Works best in units in which rows and variables change by about one.

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
        """Result of the first solver with less doubt than `doubt`, otherwise the result with least doubt."""
        optima: list[QuadraticOptimum] = []
        for solve in solvers:
            optima.append(optimum := self._near_first(solve))
            if optimum.solved and optimum.doubt < doubt:
                return optimum
        return min(optima, key=lambda optimum: optimum.doubt)

    @property
    def fill(self) -> int:
        """Entries of the factor of its matrix, a measure of the time of an interior-point iteration."""
        system = ca.Sparsity.kkt(self.H.sparsity(), self.A.sparsity(), True, True)
        return system.ldl(True)[0].nnz()

    def _near_first(self, solve: QuadraticSolver) -> QuadraticOptimum:
        """Result of a solver that includes rows only as needed. If most rows are far from their bounds, these are left
        out until an optimum violates them: nine of ten limits along a motion are never active.
        """
        bounded = np.isfinite(self.low) | np.isfinite(self.high)  # PIQP prints warnings about other rows
        rows = bounded & (np.minimum(-self.low, self.high) < _NEAR)
        for _ in range(_PASSES if rows.sum() < bounded.sum() / 2 else 0):
            optimum = self._with_rows(rows, solve)
            if not optimum.solved:
                return optimum
            values = np.array(self.A @ optimum.d).ravel()
            room = np.minimum(values - self.low, self.high - values)
            if not (bounded & ~rows & (room < -_MET)).any():
                return optimum
            rows |= bounded & (room < _NEAR / 2)  # including rows that the next optimum may violate
        return self._with_rows(bounded, solve)

    def _with_rows(self, rows: np.ndarray, solve: QuadraticSolver) -> QuadraticOptimum:
        """Result of a solver with some of the rows, ndarray of bool, shape (m,)."""
        A = self.A[np.flatnonzero(rows).tolist(), :]
        optimum, lam_a = solve(self._replace(A=A, low=self.low[rows], high=self.high[rows])), np.zeros(self.low.size)
        lam_a[rows] = optimum.lam_a
        return optimum._replace(lam_a=lam_a)

    def optimum_at(self, d: ca.DM, lam_a: ca.DM, lam_x: ca.DM, *, solved: bool) -> QuadraticOptimum:
        """Result of a solver, with its duality gap."""
        slope = self.g + np.array(self.H @ d + self.A.T @ lam_a + lam_x).ravel()
        x, rows, bounds = (np.array(vector).ravel() for vector in (d, lam_a, lam_x))
        beside = _beside(rows, np.array(self.A @ d).ravel(), self.low, self.high)
        beside += _beside(bounds, x, self.least, self.most)
        return QuadraticOptimum(x, rows, bounds, float(abs(slope @ x)) + beside, solved)


class QuadraticOptimum(NamedTuple):
    """The optimum of a quadratic program, or the last iterate of a solver.

    Parameters
    ----------
    d : ndarray, shape (n,)
    lam_a, lam_x : ndarray, shapes (m,), (n,)
        Multipliers of rows and variables, with CasADi's signs.
    doubt : float
        The duality gap: difference between the gain of the step and the gain by the multipliers.
    solved : bool
        Whether the solver reports an optimum.
    """

    d: np.ndarray
    lam_a: np.ndarray
    lam_x: np.ndarray
    doubt: float
    solved: bool


def _beside(lam: np.ndarray, values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Sum of multipliers times the distances from their bounds."""
    distance = np.where(lam > 0, upper - values, values - lower)
    return float(np.abs(lam) @ np.where(np.isfinite(distance), np.abs(distance), 0.0))


def by_piqp(program: QuadraticProgram) -> QuadraticOptimum:
    """Result of PIQP."""
    solver = ca.conic("piqp", "piqp", {"h": program.H.sparsity(), "a": program.A.sparsity()}, _PIQP)
    bounds = {"lba": program.low, "uba": program.high, "lbx": program.least, "ubx": program.most}
    result = solver(h=program.H, g=program.g, a=program.A, **bounds)
    return program.optimum_at(result["x"], result["lam_a"], result["lam_x"], solved=solver.stats()["success"])
