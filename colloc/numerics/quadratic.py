"""Sparse quadratic programs: by PIQP, and where that comes to no end, by IPOPT.

PIQP (Schwan, Jiang, Kuhn and Jones 2023) takes a tenth of IPOPT's time; where many directions cost nothing, as those of
a free flight, it may stop far from an optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

_PIQP = {"error_on_fail": False, "piqp": {"max_iter": 60}}
_IPOPT = {"print_level": 0, "sb": "yes", "max_iter": 200, "tol": 1e-7}
_IPOPT |= dict.fromkeys(("hessian_constant", "jac_c_constant", "jac_d_constant"), "yes")


class QuadraticProgram(NamedTuple):
    """Minimize g'd + d'Hd / 2 with low <= A d <= high and least <= d <= most.

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

    def optimum(self, doubt: float) -> QuadraticOptimum:
        """What PIQP finds, or where that is none or in more doubt, IPOPT."""
        optimum = self.by_piqp()
        return optimum if optimum.solved and optimum.doubt < doubt else self.by_ipopt()

    def by_piqp(self) -> QuadraticOptimum:
        """What PIQP finds."""
        bounded = np.flatnonzero(
            np.isfinite(self.low) | np.isfinite(self.high)
        )  # of other rows PIQP complains in print
        A, lam_a = self.A[bounded.tolist(), :], np.zeros(self.low.size)
        solver = ca.conic("piqp", "piqp", {"h": self.H.sparsity(), "a": A.sparsity()}, _PIQP)
        bounds = {"lba": self.low[bounded], "uba": self.high[bounded], "lbx": self.least, "ubx": self.most}
        result = solver(h=self.H, g=self.g, a=A, **bounds)
        lam_a[bounded] = np.array(result["lam_a"]).ravel()
        return self._optimum(result["x"], ca.DM(lam_a), result["lam_x"], solved=solver.stats()["success"])

    def by_ipopt(self) -> QuadraticOptimum:
        """What IPOPT finds."""
        n, m = self.g.size, self.low.size
        x, p, lam_f, lam_g = (ca.MX.sym(name, size) for name, size in (("x", n), ("p", 0), ("lam_f", 1), ("lam_g", m)))
        H, A = ca.MX(self.H), ca.MX(self.A)
        f, slope, g = ca.dot(self.g, x) + ca.dot(x, H @ x) / 2, ca.densify(H @ x) + self.g, ca.densify(A @ x)
        upper = lam_f * ca.MX(ca.triu(self.H))
        options = {
            "print_time": False,
            "error_on_fail": False,
            "ipopt": _IPOPT,
            "grad_f": ca.Function("grad_f", [x, p], [f, slope], ["x", "p"], ["f", "grad_f_x"]),
            "jac_g": ca.Function("jac_g", [x, p], [g, A], ["x", "p"], ["g", "jac_g_x"]),
            "hess_lag": ca.Function(
                "hess_lag", [x, p, lam_f, lam_g], [upper], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
            ),
        }
        solver = ca.nlpsol("ipopt", "ipopt", {"x": x, "f": f, "g": g}, options)
        result = solver(x0=0.0, lbx=self.least, ubx=self.most, lbg=self.low, ubg=self.high)
        return self._optimum(result["x"], result["lam_g"], result["lam_x"], solved=solver.stats()["success"])

    def _optimum(self, d: ca.DM, lam_a: ca.DM, lam_x: ca.DM, *, solved: bool) -> QuadraticOptimum:
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
