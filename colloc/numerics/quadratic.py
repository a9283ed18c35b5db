"""Sparse quadratic programs: by PIQP, and where that comes to no end, by a solver that takes its time.

PIQP (Schwan, Jiang, Kuhn and Jones 2023) takes a tenth of the time of a general interior-point method; where many
directions cost nothing, as those of a free flight, it may stop far from an optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np

_NEAR = 0.5  # of the unit of rows: those with bounds closer than that come first
_MET = 1e-9  # of the same: rounding
_PASSES = 3  # with some of the rows
_PIQP = {"error_on_fail": False, "piqp": {"max_iter": 60}}


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

    def optimum(self, doubt: float, otherwise: Callable[[QuadraticProgram], QuadraticOptimum]) -> QuadraticOptimum:
        """What PIQP finds, or where that is none or in more doubt, another solver."""
        optimum = self.by_piqp()
        return optimum if optimum.solved and optimum.doubt < doubt else otherwise(self)

    def by_piqp(self) -> QuadraticOptimum:
        """What PIQP finds.

        Rows far from their bounds are left out where they are most of all, until an optimum of the others breaks them:
        of limits along a motion nine in ten never count.
        """
        bounded = np.isfinite(self.low) | np.isfinite(self.high)  # of other rows PIQP complains in print
        chosen = bounded & (np.minimum(-self.low, self.high) < _NEAR)
        for _ in range(_PASSES if chosen.sum() < bounded.sum() / 2 else 0):
            optimum = self._by_piqp(chosen)
            if not optimum.solved:
                break
            rows = np.array(self.A @ optimum.d).ravel()
            missed = bounded & ~chosen & ((rows < self.low - _MET) | (rows > self.high + _MET))
            if not missed.any():
                return optimum
            chosen |= missed
        return self._by_piqp(bounded)

    def _by_piqp(self, chosen: np.ndarray) -> QuadraticOptimum:
        """What PIQP finds under some of the rows, ndarray of bool, shape (m,)."""
        A, lam_a = self.A[np.flatnonzero(chosen).tolist(), :], np.zeros(self.low.size)
        solver = ca.conic("piqp", "piqp", {"h": self.H.sparsity(), "a": A.sparsity()}, _PIQP)
        bounds = {"lba": self.low[chosen], "uba": self.high[chosen], "lbx": self.least, "ubx": self.most}
        result = solver(h=self.H, g=self.g, a=A, **bounds)
        lam_a[chosen] = np.array(result["lam_a"]).ravel()
        return self.optimum_at(result["x"], ca.DM(lam_a), result["lam_x"], solved=solver.stats()["success"])

    def optimum_at(self, d: ca.DM, lam_a: ca.DM, lam_x: ca.DM, *, solved: bool) -> QuadraticOptimum:
        """What a solver has left, and how far that is in doubt."""
        slope = self.g + np.array(self.H @ d + self.A.T @ lam_a + lam_x).ravel()
        x, rows, bounds = (np.array(vector).ravel() for vector in (d, lam_a, lam_x))
        return QuadraticOptimum(x, rows, bounds, float(abs(slope @ x)), solved)


class QuadraticOptimum(NamedTuple):
    """The optimum of a quadratic program, or what a solver has in its place.

    Parameters
    ----------
    d : ndarray, shape (n,)
    lam_a, lam_x : ndarray, shapes (m,), (n,)
        Multipliers of rows and variables, of CasADi's signs.
    doubt : float
        By how much what the step gains differs from what the multipliers say.
    solved : bool
        Whether the solver says that it is one.
    """

    d: np.ndarray
    lam_a: np.ndarray
    lam_x: np.ndarray
    doubt: float
    solved: bool
