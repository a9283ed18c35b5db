"""The time-optimal two-link problem written by hand in plain CasADi, as a user without this library would.

The same nonlinear programs as ``BSpline(20)`` and ``HermiteSimpson(100)``: closed-form torques (Xiang et al. 2009,
equations 69 and 70), basis matrices, CasADi's own derivatives. Run as a script: prints seconds as JSON.
"""

import itertools
import json
import sys
import time

START = time.perf_counter()

import casadi as ca  # noqa: E402
import numpy as np  # noqa: E402

IMPORTED = time.perf_counter()
M, L, I = 0.5, 0.4, 0.1  # noqa: E741
Q0, Q1 = np.array([0.0, -2.0]), np.array([1.0, -1.0])
INF = float("inf")


def torque(q, v, a):
    """Closed-form torques of many samples at once: arguments of shape (2, N)."""
    coupling = M * L * L / 2
    inner = I + M * L * L / 4
    c, s = ca.cos(q[1, :]), ca.sin(q[1, :])
    tau1 = (2 * inner + M * L * L + 2 * coupling * c) * a[0, :] + (inner + coupling * c) * a[1, :]
    tau1 -= coupling * s * (2 * v[0, :] * v[1, :] + v[1, :] ** 2)
    tau2 = inner * a[1, :] + (inner + coupling * c) * a[0, :] + coupling * s * v[0, :] ** 2
    return ca.vertcat(tau1, tau2)


def spline(intervals=20, degree=3, continuity=2, nodes=101):
    """Clamped spline with that many continuous derivatives, torques bounded at equally spaced nodes."""
    inside = np.repeat(np.linspace(0, 1, intervals + 1)[1:-1], degree - continuity)
    knots = [0.0] * (degree + 1) + list(inside) + [1.0] * (degree + 1)
    count = len(knots) - degree - 1
    s = np.linspace(0, 1, nodes)
    basis = ca.sparsify(ca.DM(basis_matrix(np.array(knots), degree, s)))
    slopes = [derivative(knots, degree), derivative(knots[1:-1], degree - 1)]
    basis1 = ca.sparsify(ca.DM(basis_matrix(np.array(knots[1:-1]), degree - 1, s) @ slopes[0]))
    basis2 = ca.sparsify(ca.DM(basis_matrix(np.array(knots[2:-2]), degree - 2, s) @ slopes[1] @ slopes[0]))
    c, T = ca.SX.sym("c", count, 2), ca.SX.sym("T")
    q, v, a = (basis @ c).T, (basis1 @ c).T / T, (basis2 @ c).T / T**2
    tau = torque(q, v, a)
    ends = ca.vertcat(q[:, 0] - Q0, v[:, 0], q[:, -1] - Q1, v[:, -1])
    x = ca.vertcat(ca.vec(c), T)
    greville = np.array([np.mean(knots[k + 1 : k + degree + 1]) for k in range(count)])
    start = np.append(np.concatenate([Q0[j] + greville * (Q1 - Q0)[j] for j in (0, 1)]), 1.0)
    lower, upper = [-INF] * (2 * count) + [0.1], [INF] * (2 * count) + [5.0]
    g = ca.vertcat(ends, ca.vec(tau))
    limit = [10.0] * (2 * nodes)
    return {"x": x, "f": T, "g": g}, start, lower, upper, [0.0] * 8 + [-b for b in limit], [0.0] * 8 + limit


def basis_matrix(knots, degree, s):
    """B-spline basis functions at s, dense."""
    values = [((s >= a) & (s < b)) | ((s == 1) & (a < 1) & (b == 1)) for a, b in itertools.pairwise(knots)]
    values = [value.astype(float) for value in values]
    for p in range(1, degree + 1):
        raised = []
        for k in range(len(values) - 1):
            left, right = knots[k + p] - knots[k], knots[k + p + 1] - knots[k + 1]
            up = (s - knots[k]) / left * values[k] if left > 0 else 0.0
            down = (knots[k + p + 1] - s) / right * values[k + 1] if right > 0 else 0.0
            raised.append(up + down)
        values = raised
    return np.column_stack(values)


def derivative(knots, degree):
    """Matrix from control points to those of the derivative."""
    count = len(knots) - degree - 1
    matrix = np.zeros((count - 1, count))
    for k in range(count - 1):
        matrix[k, k + 1] = degree / (knots[k + degree + 1] - knots[k + 1])
        matrix[k, k] = -matrix[k, k + 1]
    return matrix


def hermite_simpson(intervals=100):
    """Quartics with continuous accelerations."""
    return spline(intervals, degree=4, continuity=2, nodes=7 * intervals + 1)


def main(kind):
    """Build, solve, print."""
    begin = time.perf_counter()
    nlp, x0, lbx, ubx, lbg, ubg = {"spline": spline, "hermite_simpson": hermite_simpson}[kind]()
    options = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}}
    solver = ca.nlpsol("solver", "ipopt", nlp, options)
    built = time.perf_counter()
    result = solver(x0=x0, lbx=lbx, ubx=ubx, lbg=lbg, ubg=ubg)
    end = time.perf_counter()
    seconds = {"import": IMPORTED - START, "build": built - begin, "solve": end - built, "total": end - START}
    print(json.dumps(seconds | {"T": float(result["f"]), "iterations": solver.stats()["iter_count"]}))


if __name__ == "__main__":
    main(sys.argv[1])
