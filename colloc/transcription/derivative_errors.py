"""Derivatives of a program against differences of its values."""

from __future__ import annotations

from typing import Protocol

import casadi as ca
import numpy as np

from colloc.numerics.differences import central_difference


class Differentiated(Protocol):
    """Cost f and rows g of (x, p), and their derivatives, as `colloc.transcription.Program` has them."""

    @property
    def n_x(self) -> int: ...
    @property
    def n_g(self) -> int: ...
    @property
    def free(self) -> np.ndarray: ...
    @property
    def f(self) -> ca.Function: ...
    @property
    def g(self) -> ca.Function: ...
    @property
    def grad_f(self) -> ca.Function: ...
    @property
    def jac_g(self) -> ca.Function: ...
    @property
    def hess_lag(self) -> ca.Function: ...


def derivative_errors(
    program: Differentiated, x: np.ndarray, p: np.ndarray, directions: int, seed: int
) -> dict[str, float]:
    """Largest relative errors along random directions; parameters as of `Program.check_derivatives`."""
    rng = np.random.default_rng(seed)
    lam = rng.standard_normal(program.n_g)

    def value(y: np.ndarray) -> np.ndarray:
        return np.array(program.f(y, p)).ravel()

    def rows(y: np.ndarray) -> np.ndarray:
        return np.array(program.g(y, p)).ravel()

    def slope(y: np.ndarray) -> np.ndarray:
        """Gradient of f + lam' g."""
        return np.array(program.grad_f(y, p)[1] + program.jac_g(y, p)[1].T @ lam).ravel()

    upper = program.hess_lag(x, p, 1.0, lam)
    exact = {
        "gradient": (program.grad_f(x, p)[1].T, value),
        "jacobian": (program.jac_g(x, p)[1], rows),
        "hessian": (upper + ca.triu(upper, False).T, slope),
    }
    worst = dict.fromkeys(exact, 0.0)
    for _ in range(directions):
        v = rng.standard_normal(program.n_x) * program.free
        for name, (matrix, function) in exact.items():
            along = np.array(matrix @ v).ravel()
            error = np.linalg.norm(along - central_difference(function, x, v))
            worst[name] = max(worst[name], float(error / max(1.0, float(np.linalg.norm(along)))))
    return worst
