"""Objectives and matrices that tests of descent share."""

import casadi as ca
import numpy as np
from scipy.optimize import rosen, rosen_der, rosen_hess

from colloc.descent import Objective


def curvature(x: np.ndarray) -> np.ndarray:
    """Hessian of Rosenbrock's function."""
    return np.asarray(rosen_hess(x))


ROSENBROCK = Objective(lambda x: (float(rosen(x)), rosen_der(x)), curvature)
START = np.array([-1.2, 1.0])


def smooth(expression, size: int) -> Objective:
    """An objective from an SX expression, with CasADi's derivatives."""
    x = ca.SX.sym("x", size)
    f = expression(x)
    hessian, gradient = ca.hessian(f, x)
    first = ca.Function("first", [x], [f, gradient])
    second = ca.Function("second", [x], [ca.densify(hessian)])

    def value_and_gradient(at: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = first(at)
        return float(value), np.array(slope).ravel()

    return Objective(value_and_gradient, lambda at: np.array(second(at)))


def convex(size: int = 6) -> Objective:
    """Strictly convex and far from quadratic."""
    return smooth(lambda x: ca.logsumexp(ca.vertcat(x, -2 * x)) + 0.05 * ca.sumsqr(x) + 0.1 * ca.sum1(x), size)


def symmetric(n: int, lowest: float, seed: int) -> np.ndarray:
    """Random, with eigenvalues from `lowest` to 10."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((n, n)))[0]
    matrix = vectors @ np.diag(np.linspace(lowest, 10, n)) @ vectors.T
    return (matrix + matrix.T) / 2
