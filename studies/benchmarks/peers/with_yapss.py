"""The problems in yapss: Legendre-Gauss-Lobatto collocation on segments, CasADi's second derivatives, IPOPT."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

SEGMENTS = (5, 10, 20, 40)  # of ten points
POINTS = 10


def equations(arm: Any) -> Any:
    """Accelerations of a planar chain by its mass matrix, which Cholesky's method of scalars solves."""
    # [equations
    import numpy as np
    from yapss.math import cos, sin, sqrt

    n = len(arm.start)
    mass = np.array([link["mass"] for link in arm.links])
    spin = np.array([link["inertia"][2] for link in arm.links])

    def solved(M, b):
        L = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i):
                L[i][j] = (M[i][j] - sum(L[i][k] * L[j][k] for k in range(j))) / L[j][j]
            L[i][i] = sqrt(M[i][i] - sum(L[i][k] ** 2 for k in range(i)))
        y = []
        for i in range(n):
            y.append((b[i] - sum(L[i][k] * y[k] for k in range(i))) / L[i][i])
        x = [0.0] * n
        for i in reversed(range(n)):
            x[i] = (y[i] - sum(L[k][i] * x[k] for k in range(i + 1, n))) / L[i][i]
        return x

    def swinging(q, v, tau):
        length, g = -arm.links[1]["com"][1], -arm.gravity[1]
        ml = mass[1] * length
        M = [[mass[0] + mass[1], ml * cos(q[1])], [ml * cos(q[1]), ml * length]]
        return solved(M, [tau[0] + ml * sin(q[1]) * v[1] ** 2, -ml * g * sin(q[1])])

    # Of absolute angles: M_ij = w_ij cos(a_i - a_j), and the torque of a joint is that of all links beyond it.
    centre = [link["com"][0] for link in arm.links]
    length = [link["xyz"][0] for link in arm.links[1:]]
    arms = np.array([[(length[j] if j < k else centre[k]) if j <= k else 0.0 for j in range(n)] for k in range(n)])
    w, weight = arms.T @ (mass[:, None] * arms), arm.gravity[1] * (mass @ arms)

    def turning(q, v, tau):
        angle, rate = ([sum(x[: k + 1]) for k in range(n)] for x in (q, v))
        M = [[w[i, j] * cos(angle[i] - angle[j]) + spin[i] * (i == j) for j in range(n)] for i in range(n)]
        b = [
            tau[i]
            - (tau[i + 1] if i + 1 < n else 0.0)
            - sum(w[i, j] * sin(angle[i] - angle[j]) * rate[j] ** 2 for j in range(n) if i != j)
            + weight[i] * cos(angle[i])
            for i in range(n)
        ]
        a = solved(M, b)
        return [a[0], *(a[k] - a[k - 1] for k in range(1, n))]

    return swinging if arm.name.startswith("cart_pole") else turning
    # equations]


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest."""
    if any(abs(link["rpy"][0]) > 0 for link in arm.links):
        return {"unfit": "no dynamics of a chain in space"}
    N = SEGMENTS[effort]
    # [reach
    import numpy as np
    from yapss import Problem

    n, most, accelerations = len(arm.start), np.array([torque for torque in arm.torque if torque]), equations(arm)
    driven, free = np.flatnonzero(arm.torque), arm.duration is None
    T = arm.guess if free else arm.duration
    problem = Problem(name=arm.name, nx=[2 * n], nu=[len(most)], nq=[0 if free else 1])

    def objective(arg):
        arg.objective = arg.phase[0].final_time if free else arg.phase[0].integral[0]

    def continuous(arg):
        x, u = arg.phase[0].state, arg.phase[0].control
        tau = [0.0] * n
        for k, signal in zip(driven, u, strict=True):
            tau[k] = signal
        arg.phase[0].dynamics[:] = [*x[n:], *accelerations(x[:n], x[n:], tau)]
        if not free:
            arg.phase[0].integrand[0] = sum(signal**2 for signal in u)

    problem.functions.objective, problem.functions.continuous = objective, continuous
    bounds, guess, still = problem.bounds.phase[0], problem.guess.phase[0], np.zeros(n)
    bounds.initial_time.lower = bounds.initial_time.upper = 0.0
    bounds.final_time.lower, bounds.final_time.upper = (arm.guess / 10, arm.guess * 5) if free else (T, T)
    for end, posture in ((bounds.initial_state, arm.start), (bounds.final_state, arm.end)):
        end.lower[:] = end.upper[:] = [*posture, *still]
    bounds.state.upper[:] = [*arm.position, *arm.speed]
    bounds.state.lower[:] = -bounds.state.upper
    bounds.control.lower[:], bounds.control.upper[:] = -most, most
    guess.time, guess.control = (0.0, T), np.zeros((len(most), 2))
    guess.state = np.transpose([[*arm.start, *still], [*arm.end, *still]])
    problem.mesh.phase[0].collocation_points, problem.mesh.phase[0].fraction = N * (POINTS,), N * (1 / N,)
    problem.derivatives.method, problem.derivatives.order = "auto", "second"
    problem.ipopt_options.print_level = 0
    solution = problem.solve()
    # reach]
    torque = np.zeros((N, POINTS, n))
    torque[:, :, driven], edges, inside = signals(solution.phase[0])
    return {
        "edges": edges,
        "inside": inside,
        "torque": torque.tolist(),
        "cost": float(solution.objective),
        **said(solution),
    }


def signals(phase: Any) -> tuple[Any, list[float], list[float]]:
    """Controls at the points of every segment, its edges, and the points' places in it."""
    import numpy as np

    last = POINTS - 1
    edges = phase.time_c[::last] - phase.time_c[0]
    inside = 2 * (phase.time_c[:POINTS] - phase.time_c[0]) / (phase.time_c[last] - phase.time_c[0]) - 1
    control = [phase.control[:, k : k + POINTS].T for k in range(0, phase.time_c.size - 1, last)]
    return np.array(control), edges.tolist(), inside.tolist()


def said(solution: Any) -> dict[str, Any]:
    """Its word for its answer; it does not report iterations."""
    status = solution.nlp_info.ipopt_status
    text = solution.nlp_info.ipopt_status_message
    return {"iterations": None, "solved": status == 0, "status": text.decode() if isinstance(text, bytes) else text}
