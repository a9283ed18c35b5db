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
    N, P = (arm.intervals // 8, 9) if arm.intervals else (SEGMENTS[effort], POINTS)
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
    problem.mesh.phase[0].collocation_points, problem.mesh.phase[0].fraction = N * (P,), N * (1 / N,)
    problem.derivatives.method, problem.derivatives.order = "auto", "second"
    problem.ipopt_options.print_level = 0
    solution = problem.solve()
    # reach]
    torque = np.zeros((N, P, n))
    torque[:, :, driven], edges, inside = signals(solution.phase[0], P)
    return {
        "edges": edges,
        "inside": inside,
        "torque": torque.tolist(),
        "cost": float(solution.objective),
    } | said(solution)


def signals(phase: Any, points: int) -> tuple[Any, list[float], list[float]]:
    """Controls at the points of every segment, its edges, and the points' places in it."""
    import numpy as np

    last = points - 1
    edges = phase.time_c[::last] - phase.time_c[0]
    inside = 2 * (phase.time_c[:points] - phase.time_c[0]) / (phase.time_c[last] - phase.time_c[0]) - 1
    control = [phase.control[:, k : k + points].T for k in range(0, phase.time_c.size - 1, last)]
    return np.array(control), edges.tolist(), inside.tolist()


def said(solution: Any) -> dict[str, Any]:
    """Its word for its answer; it does not report iterations."""
    status = solution.nlp_info.ipopt_status
    text = solution.nlp_info.ipopt_status_message
    return {"iterations": None, "solved": status == 0, "status": text.decode() if isinstance(text, bytes) else text}


def goddard(task: Any, effort: int) -> dict[str, Any]:
    """As high as the fuel takes it, in three phases as in its example: full thrust, a singular arc, and coasting."""
    N, P = (1, 2, 4, 8)[effort], POINTS
    # [goddard
    from yapss import Problem
    from yapss.math import exp

    problem = Problem(name="goddard", nx=[3, 3, 3], nu=[1, 1, 1], nh=[0, 1, 0], nd=8)  # codespell:ignore

    def objective(arg):
        arg.objective = arg.phase[2].final_state[0]

    def continuous(arg):
        for p in arg.phase_list:
            (h, v, m), (thrust,) = arg.phase[p].state, arg.phase[p].control
            drag = task.drag * v**2 * exp(-h / task.scale)
            arg.phase[p].dynamics[:] = v, (thrust - drag) / m - task.gravity, -thrust / task.exhaust
            if p == 1:
                arg.phase[p].path[:] = (m * task.gravity - (1 + v / task.exhaust) * drag,)

    def discrete(arg):
        phase = arg.phase
        arg.discrete = [
            gap
            for p in range(2)
            for gap in (
                phase[p].final_time - phase[p + 1].initial_time,
                *(phase[p].final_state - phase[p + 1].initial_state),
            )
        ]

    functions = problem.functions
    functions.objective, functions.continuous, functions.discrete = objective, continuous, discrete
    problem.sense = "maximize"
    for p, (least, most) in enumerate(((task.thrust, task.thrust), (0.0, task.thrust), (0.0, 0.0))):
        bounds, guess = problem.bounds.phase[p], problem.guess.phase[p]
        bounds.state.lower[:], bounds.state.upper[:] = (0.0, 0.0, task.empty), (30000.0, 15000.0, task.mass)
        bounds.control.lower[:], bounds.control.upper[:] = least, most
        guess.time = (15.0 * p, 15.0 * (p + 1))
        guess.state = ((6000.0 * p, 6000.0 * (p + 1)), (500.0, 500.0), (task.mass - p, max(task.mass - p - 1, 1.0)))
        guess.control = ((most, least),)
        scale = problem.scale.phase[p]
        scale.state = scale.dynamics = 18_000.0, 800.0, 3.0
        scale.time = 30.0
        problem.mesh.phase[p].collocation_points, problem.mesh.phase[p].fraction = N * (P,), N * (1 / N,)
    first, last = problem.bounds.phase[0], problem.bounds.phase[2]
    first.initial_time.lower = first.initial_time.upper = 0.0
    first.initial_state.lower[:] = first.initial_state.upper[:] = (0.0, 0.0, task.mass)
    last.final_time.lower, last.final_time.upper = task.durations
    last.final_state.lower[2] = last.final_state.upper[2] = task.empty
    problem.bounds.phase[1].path.lower[:] = problem.bounds.phase[1].path.upper[:] = 0.0
    problem.bounds.discrete.lower[:] = problem.bounds.discrete.upper[:] = 0.0
    problem.derivatives.method, problem.derivatives.order = "auto", "second"
    problem.ipopt_options.print_level = 0
    solution = problem.solve()
    # goddard]
    parts = [signals(phase, P) for phase in solution.phase]
    starts = [phase.time_c[0] for phase in solution.phase]
    edges = [edge + start for (_, edges, _), start in zip(parts, starts, strict=True) for edge in edges[:-1]]
    return {
        "edges": [*edges, float(solution.phase[2].time_c[-1])],
        "inside": parts[0][2],
        "torque": [piece.tolist() for torque, _, _ in parts for piece in torque],
        "cost": -float(solution.objective),
    } | said(solution)


def alp_rider(task: Any, effort: int) -> dict[str, Any]:
    """Outside of four peaks."""
    N, P = (20, 40, 80, 160)[effort], POINTS
    # [alp_rider
    import numpy as np
    from yapss import Problem
    from yapss.math import exp

    problem = Problem(name="alp_rider", nx=[4], nu=[2], nh=[1], nq=[1])

    def objective(arg):
        arg.objective = arg.phase[0].integral[0]

    def continuous(arg):
        x, u, t = arg.phase[0].state, arg.phase[0].control, arg.phase[0].time
        rows = zip(task.matrix, task.control, strict=True)
        arg.phase[0].dynamics[:] = [sum(c * s for c, s in zip((*a, *b), (*x, *u), strict=True)) for a, b in rows]
        squared = sum(signal**2 for signal in x)
        peaks = sum(high * exp(-sharp * (t - at) ** 2) for high, at, sharp in task.peaks)
        arg.phase[0].path[:] = (squared - peaks,)
        arg.phase[0].integrand[0] = 100 * squared + 0.01 * sum(signal**2 for signal in u)

    problem.functions.objective, problem.functions.continuous = objective, continuous
    bounds, guess = problem.bounds.phase[0], problem.guess.phase[0]
    bounds.initial_time.lower = bounds.initial_time.upper = 0.0
    bounds.final_time.lower = bounds.final_time.upper = task.duration
    bounds.initial_state.lower[:] = bounds.initial_state.upper[:] = task.start
    bounds.final_state.lower[:] = bounds.final_state.upper[:] = task.end
    bounds.path.lower[:] = task.floor
    guess.time, guess.control = (0.0, task.duration), np.zeros((2, 2))
    guess.state = np.transpose([task.start, task.end])
    problem.mesh.phase[0].collocation_points, problem.mesh.phase[0].fraction = N * (P,), N * (1 / N,)
    problem.derivatives.method, problem.derivatives.order = "auto", "second"
    problem.ipopt_options.print_level = 0
    solution = problem.solve()
    # alp_rider]
    torque, edges, inside = signals(solution.phase[0], P)
    return {
        "edges": edges,
        "inside": inside,
        "torque": torque.tolist(),
        "state": solution.phase[0].state[:, :: P - 1].T.tolist(),
        "cost": float(solution.objective),
    } | said(solution)


def delta_iii(task: Any, effort: int) -> dict[str, Any]:
    """Four phases to an orbit, as in its example."""
    N, P = (1, 2, 4, 8)[effort], POINTS
    # [delta_iii
    import numpy as np
    from yapss import Problem
    from yapss.math import arccos, exp

    problem = Problem(name="delta_iii", nx=[7] * 4, nu=[3] * 4, nh=[2] * 4, nd=23)  # codespell:ignore

    def size(x):
        return (sum(part**2 for part in x) + 1e-100) ** 0.5

    def dot(x, y):
        return sum(a * b for a, b in zip(x, y, strict=True))

    def cross(x, y):
        return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]

    def objective(arg):
        arg.objective = arg.phase[3].final_state[6]

    def continuous(arg):
        for p in arg.phase_list:
            x, u = arg.phase[p].state, arg.phase[p].control
            r, v, m = x[:3], x[3:6], x[6]
            distance = size(r)
            wind = [v[0] + task.turn * r[1], v[1] - task.turn * r[0], v[2]]
            drag = -task.drag * exp((task.radius - distance) / task.scale) * size(wind)
            a = [-task.gravity / distance**3 * r[i] + (task.force[p] * u[i] + drag * wind[i]) / m for i in range(3)]
            arg.phase[p].dynamics[:] = *v, *a, -task.flow[p]
            arg.phase[p].path[:] = size(u), distance

    def discrete(arg):
        for p in range(3):
            arg.discrete[6 * p : 6 * p + 6] = arg.phase[p].final_state[:6] - arg.phase[p + 1].initial_state[:6]
        x = arg.phase[3].final_state
        r, v = x[:3], x[3:6]
        momentum, distance = cross(r, v), size(r)
        node, excess = [-momentum[1], momentum[0], 0.0], dot(v, v) / task.gravity - 1 / distance
        eccentricity = [excess * r[i] - dot(r, v) / task.gravity * v[i] for i in range(3)]
        e, n = size(eccentricity), (momentum[0] ** 2 + momentum[1] ** 2) ** 0.5
        arg.discrete[18:23] = [
            1 / (2 / distance - dot(v, v) / task.gravity),
            e,
            arccos(momentum[2] / size(momentum)),
            2 * np.pi - arccos(node[0] / n),
            arccos((node[0] * eccentricity[0] + node[1] * eccentricity[1]) / (n * e)),
        ]

    functions = problem.functions
    functions.objective, functions.continuous, functions.discrete = objective, continuous, discrete
    problem.sense = "maximize"
    times = np.concatenate([[0.0], np.cumsum(task.durations)])
    far = 2 * task.radius
    speed = np.sqrt(task.gravity / task.radius)
    for p in range(4):
        bounds, guess = problem.bounds.phase[p], problem.guess.phase[p]
        least = task.payload if p == 3 else task.mass[p] - task.flow[p] * task.durations[p]
        upper = np.array([*[far] * 3, *[1e4] * 3, task.mass[p] + 10])
        for end in (bounds.initial_state, bounds.state, bounds.final_state):
            end.lower[:6], end.upper[:6] = -upper[:6], upper[:6]
        for end in (bounds.state, bounds.final_state):
            end.lower[6], end.upper[6] = least - 10, upper[6]
        bounds.initial_state.lower[6] = bounds.initial_state.upper[6] = task.mass[p]
        bounds.initial_time.lower = bounds.initial_time.upper = times[p]
        bounds.final_time.lower, bounds.final_time.upper = times[p + (p < 3)], times[p + 1]
        bounds.path.lower[:], bounds.path.upper[0] = (1.0, task.radius), 1.0
        bounds.control.lower[:], bounds.control.upper[:] = -1.1, 1.1
        begin, end = ([*task.site, *task.speed], [*task.perigee[0], *task.perigee[1]])
        state = begin if p < 2 else end
        guess.time = (times[p], times[p + 1])
        guess.state = np.transpose([[*state, task.mass[p]], [*state, least]])
        guess.control = ((0.0, 0.0), (1.0, 1.0), (0.0, 0.0))
        scale = problem.scale.phase[p]
        scale.state[:] = scale.dynamics[:] = [*[task.radius] * 3, *[speed] * 3, task.mass[0]]
        scale.time, scale.path[:] = task.radius / speed, (1.0, task.radius)
        problem.mesh.phase[p].collocation_points, problem.mesh.phase[p].fraction = N * (P,), N * (1 / N,)
    first = problem.bounds.phase[0].initial_state
    first.lower[:6] = first.upper[:6] = [*task.site, *task.speed]
    problem.bounds.phase[3].final_state.lower[6] = task.payload
    problem.bounds.discrete.lower[:18] = problem.bounds.discrete.upper[:18] = 0.0
    problem.bounds.discrete.lower[18:] = problem.bounds.discrete.upper[18:] = task.orbit
    problem.scale.discrete[:18] = 3 * ([task.radius] * 3 + [speed] * 3)
    problem.scale.discrete[18] = task.radius
    problem.derivatives.method, problem.derivatives.order = "auto", "second"
    problem.ipopt_options.print_level, problem.ipopt_options.max_iter = 0, 1000
    solution = problem.solve()
    # delta_iii]
    parts = [signals(phase, P) for phase in solution.phase]
    return {
        "phases": [{"edges": edges, "inside": inside, "torque": torque.tolist()} for torque, edges, inside in parts],
        "cost": -float(solution.objective),
    } | said(solution)
