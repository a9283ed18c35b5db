"""The effort problem of the benchmarks: a 43-DOF human, rest to rest in 1 s with the least sum of squared torques.

Once as a `Problem`, and once written in plain CasADi, as a user without this library would: the inverse dynamics mapped
over the nodes, basis matrices, CasADi's own derivatives through all of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.polynomial.legendre import leggauss

import colloc as co
from colloc.models.human43 import human43
from colloc.models.puma560 import puma560
from colloc.studies.benchmarks.plain_casadi import basis_matrix, derivative

WEIGHT = 1e-4  # of squared torques: the human's are up to a thousand
LIMIT = 1000.0  # N m, N


@dataclass(frozen=True)
class Effort:
    """Data of the problem.

    Parameters
    ----------
    model : Model
    start, end : ndarray, shape (n,)
        Postures.
    intervals, nodes : int
        Intervals of a cubic spline, and times at which its torques are bounded.
    """

    model: co.Model
    start: np.ndarray
    end: np.ndarray
    intervals: int = 3
    nodes: int = 21

    @property
    def curve(self) -> co.BSpline:
        """The transcription."""
        return co.BSpline(self.intervals, nodes=self.nodes)

    def problem(self) -> co.Problem:
        """The problem in this library's terms; its duration is 1 s."""
        return co.Problem(
            model=self.model,
            duration=1.0,
            minimize=WEIGHT * co.integral(lambda now: ca.sumsqr(now.tau)),
            subject_to=[
                co.initial(q=self.start, qd=0.0),
                co.final(q=self.end, qd=0.0),
                co.bounds(tau=(-LIMIT, LIMIT)),
            ],
        )


def effort(*, small: bool) -> Effort:
    """The human between two seeded postures, or a six-joint arm in its place."""
    model = puma560() if small else human43()
    start, end = np.random.default_rng(43).uniform(-0.5, 0.5, (2, model.n))
    return Effort(model, start, end)


def plain_functions(data: Effort, *, fixed_ends: bool) -> dict[str, ca.Function]:
    """Functions f, g, grad_f, jac_g and hess_lag of (x, lam_f, lam_g) for the control points x, point after point.

    The end states are rows of g, before the torques. With fixed ends there are no such rows, and x is without the two
    control points at either end, which a posture at rest decides.
    """
    n, count = data.model.n, data.intervals + 3
    q, qd, qdd = (ca.SX.sym(name, n) for name in ("q", "qd", "qdd"))
    torque = ca.Function("torque", [q, qd, qdd], [co.dynamics.newton_euler(data.model, q, qd, qdd)])
    x = ca.MX.sym("x", n * (count - 4 if fixed_ends else count))
    points = ca.reshape(x, n, -1)
    if fixed_ends:
        points = ca.horzcat(data.start, data.start, points, data.end, data.end)
    at_nodes = _motion(points, data.intervals, np.linspace(0, 1, data.nodes))
    roots, weights = leggauss(4)
    inside = ((np.arange(data.intervals)[:, None] + (roots + 1) / 2) / data.intervals).ravel()
    share = ca.DM(np.tile(weights / 2 / data.intervals, data.intervals)).T
    efforts = torque.map(inside.size)(*_motion(points, data.intervals, inside))
    f, g = WEIGHT * ca.dot(share, ca.sum1(efforts**2)), ca.vec(torque.map(data.nodes)(*at_nodes))
    if not fixed_ends:
        ends = [ca.vertcat(at_nodes[0][:, k], at_nodes[1][:, k]) for k in (0, -1)]
        g = ca.vertcat(*ends, g)
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", g.shape[0])
    hessian = ca.triu(ca.hessian(lam_f * f + ca.dot(lam_g, g), x)[0])
    return {
        "f": ca.Function("f", [x], [f]),
        "g": ca.Function("g", [x], [g]),
        "grad_f": ca.Function("grad_f", [x], [f, ca.gradient(f, x)]),
        "jac_g": ca.Function("jac_g", [x], [g, ca.jacobian(g, x)]),
        "hess_lag": ca.Function("hess_lag", [x, lam_f, lam_g], [hessian]),
    }


def _motion(points: ca.MX, intervals: int, s: np.ndarray) -> list[ca.MX]:
    """q, qd, qdd at the times s of a clamped cubic spline."""
    knots = [0.0] * 3 + list(np.linspace(0, 1, intervals + 1)) + [1.0] * 3
    first, second = derivative(knots, 3), derivative(knots[1:-1], 2)
    bases = [
        basis_matrix(np.array(knots), 3, s),
        basis_matrix(np.array(knots[1:-1]), 2, s) @ first,
        basis_matrix(np.array(knots[2:-2]), 1, s) @ second @ first,
    ]
    return [points @ ca.DM(basis).T for basis in bases]
