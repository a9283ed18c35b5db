"""The problems in CasADi's Opti: Legendre collocation of degree three, dynamics of the file by adam."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

INTERVALS = (25, 50, 100, 200)


def equations(arm: Any) -> Any:
    """Torques as a function of positions, velocities and accelerations."""
    # [equations
    import casadi as ca
    import numpy as np
    from adam.casadi import KinDynComputations

    n = len(arm.start)
    q, v, a = (ca.SX.sym(name, n) for name in "qva")
    if arm.name.startswith("cart_pole"):  # adam knows no slides
        m, length, g = arm.links[1]["mass"], -arm.links[1]["com"][1], -arm.gravity[1]
        force = (arm.links[0]["mass"] + m) * a[0] + m * length * (ca.cos(q[1]) * a[1] - ca.sin(q[1]) * v[1] ** 2)
        moment = m * length * (length * a[1] + ca.cos(q[1]) * a[0] + g * ca.sin(q[1]))
        return ca.Function("inverse_dynamics", [q, v, a], [ca.vertcat(force, moment)])
    robot = KinDynComputations(arm.urdf, [f"joint{k}" for k in range(n)], gravity=np.array([*arm.gravity, 0, 0, 0]))
    base, still = ca.DM.eye(4), ca.DM.zeros(6)
    M, h = robot.mass_matrix(base, q)[6:, 6:], robot.bias_force(base, q, still, v)[6:]
    return ca.Function("inverse_dynamics", [q, v, a], [M @ a + h])
    # equations]


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest, torques constant on every interval."""
    N = arm.intervals or INTERVALS[effort]
    # [reach
    import casadi as ca
    import numpy as np

    n, inverse_dynamics = len(arm.start), equations(arm)
    opti = ca.Opti()
    T = opti.variable() if arm.duration is None else arm.duration
    if arm.duration is None:
        opti.subject_to(opti.bounded(arm.guess / 10, T, arm.guess * 5))
        opti.set_initial(T, arm.guess)
    C, D, _ = ca.collocation_coeff(ca.collocation_points(3, "legendre"))
    torque, position, speed = (ca.DM(limit) for limit in (arm.torque, arm.position, arm.speed))
    X = opti.variable(2 * n, N + 1)
    U = opti.variable(n, N)
    line = np.linspace(arm.start, arm.end, N + 1).T
    opti.set_initial(X[:n, :], line)
    for k in range(N):
        inner = opti.variable(2 * n, 3)
        opti.set_initial(inner[:n, :], np.repeat(line[:, [k]], 3, axis=1))
        nodes = ca.horzcat(X[:, k], inner)
        rates = nodes @ C * (N / T)
        opti.subject_to(rates[:n, :] == inner[n:, :])
        for j in range(3):
            opti.subject_to(inverse_dynamics(inner[:n, j], inner[n:, j], rates[n:, j]) == U[:, k])
        opti.subject_to(nodes @ D == X[:, k + 1])
        opti.subject_to(opti.bounded(-torque, U[:, k], torque))
        if min(arm.position) < np.inf:
            opti.subject_to(opti.bounded(-position, X[:n, k + 1], position))
        if min(arm.speed) < np.inf:
            opti.subject_to(opti.bounded(-speed, X[n:, k + 1], speed))
    for k, posture in ((0, arm.start), (N, arm.end)):
        opti.subject_to(X[:, k] == ca.vertcat(*posture, ca.DM.zeros(n)))
    opti.minimize(T if arm.duration is None else T / N * ca.sumsqr(U))
    opti.solver("ipopt", {"expand": True, "print_time": False}, {"print_level": 0, "sb": "yes"})
    solution = opti.solve()
    # reach]
    return {
        "edges": np.linspace(0, float(solution.value(T)), N + 1).tolist(),
        "inside": [0.0],
        "torque": np.reshape(solution.value(U), (n, N)).T[:, None].tolist(),
        "cost": float(solution.value(opti.f)),
    } | said(solution)


def hop(task: Any, effort: int) -> dict[str, Any]:
    """Three phases; forces constant on every interval, on which positions are parabolas, exactly."""
    N = (15, 30, 60)[effort]
    # [hop
    import casadi as ca
    import numpy as np

    g, opti = task.gravity, ca.Opti()
    T, F = opti.variable(3), [opti.variable(N) for _ in range(3)]
    cost = 0

    def fly(y, v, rate, dt):
        return y + v * dt + rate * dt**2 / 2, v + rate * dt

    x, v = opti.variable(N + 1, 3), opti.variable(N + 1, 3)  # place and speed of the trunk in every phase
    y, w = opti.variable(N + 1), opti.variable(N + 1)  # and of the foot in the flight
    for phase in range(3):
        dt = T[phase] / N
        for k in range(N):
            ahead = fly(x[k, phase], v[k, phase], F[phase][k] / task.trunk - g, dt)
            opti.subject_to(ca.vertcat(*ahead) == ca.vertcat(x[k + 1, phase], v[k + 1, phase]))
            if phase == 1:
                ahead = fly(y[k], w[k], -F[phase][k] / task.foot - g, dt)
                opti.subject_to(ca.vertcat(*ahead) == ca.vertcat(y[k + 1], w[k + 1]))
        cost += dt * ca.sumsqr(F[phase])
        foot = y if phase == 1 else 0
        opti.subject_to(opti.bounded(task.leg[0], x[:, phase] - foot, task.leg[1]))
        if phase != 1:
            opti.subject_to(F[phase] + task.foot * g >= 0)
    for phase in range(2):
        opti.subject_to(x[N, phase] == x[0, phase + 1])
        opti.subject_to(v[N, phase] == v[0, phase + 1])
    opti.subject_to(ca.vertcat(x[0, 0], v[0, 0], x[N, 2], v[N, 2]) == ca.vertcat(task.rest, 0, task.rest, 0))
    opti.subject_to(ca.vertcat(y[0], w[0], y[N]) == 0)
    opti.subject_to(y[1:] >= 0)
    middle = y[N // 2] if N % 2 == 0 else fly(y[N // 2], w[N // 2], -F[1][N // 2] / task.foot - g, T[1] / N / 2)[0]
    opti.subject_to(middle >= task.height)
    opti.subject_to(ca.sum1(T) == task.duration)
    opti.subject_to(T >= 0.1)
    opti.minimize(cost + task.weight * (task.foot * w[N]) ** 2)
    opti.set_initial(T, task.duration / 3)
    opti.set_initial(x, task.rest)
    opti.set_initial(y, task.height)
    opti.solver("ipopt", {"expand": True, "print_time": False}, {"print_level": 0, "sb": "yes"})
    solution = opti.solve()
    # hop]
    times = solution.value(T)
    return {
        "phases": [
            {
                "edges": np.linspace(0, times[phase], N + 1).tolist(),
                "inside": [0.0],
                "torque": solution.value(F[phase]).reshape(N, 1, 1).tolist(),
            }
            for phase in range(3)
        ],
        "cost": float(solution.value(opti.f)),
    } | said(solution)


def step(task: Any, effort: int) -> dict[str, Any]:
    """From strike to strike, torques constant on every interval."""
    N = INTERVALS[effort]
    # [step
    import casadi as ca
    import numpy as np
    from adam.casadi import KinDynComputations

    n = len(task.start)
    q, v, a = (ca.SX.sym(name, n) for name in "qva")
    gravity = np.array([*task.gravity, 0, 0, 0])
    robot = KinDynComputations(task.urdf, [f"joint{k}" for k in range(n)], gravity=gravity)
    base, still = ca.DM.eye(4), ca.DM.zeros(6)
    M, h = robot.mass_matrix(base, q), robot.bias_force(base, q, still, v)[6:]
    inverse_dynamics = ca.Function("inverse_dynamics", [q, v, a], [M[6:, 6:] @ a + h])
    place = (robot.forward_kinematics(f"link{n - 1}", base, q) @ ca.vertcat(*task.foot, 1))[:2]
    foot = ca.Function("foot", [q, v], [place, ca.jtimes(place, q, v)])
    jump = ca.SX.sym("jump", 2 + n)  # of the speeds of the foot that strikes, where the chain begins, and of all joints
    momenta = ca.Function("momenta", [q, jump], [M[6:, [0, 1, *range(6, 6 + n)]] @ jump])
    opti = ca.Opti()
    C, D, _ = ca.collocation_coeff(ca.collocation_points(3, "legendre"))
    X = opti.variable(2 * n, N + 1)
    U = opti.variable(n, N)
    line = np.linspace(task.start, task.end, N + 1).T
    opti.set_initial(X[:n, :], line)
    for k in range(N):
        inner = opti.variable(2 * n, 3)
        opti.set_initial(inner[:n, :], np.repeat(line[:, [k]], 3, axis=1))
        nodes = ca.horzcat(X[:, k], inner)
        rates = nodes @ C * (N / task.duration)
        opti.subject_to(rates[:n, :] == inner[n:, :])
        for j in range(3):
            opti.subject_to(inverse_dynamics(inner[:n, j], inner[n:, j], rates[n:, j]) == U[:, k])
        opti.subject_to(nodes @ D == X[:, k + 1])
    swap, start, end = ca.DM(task.swap), ca.vertsplit(X[:, 0], n), ca.vertsplit(X[:, N], n)
    landed, speed = foot(*end)
    opti.subject_to(landed == ca.vertcat(task.length, 0))
    opti.subject_to(start[0] == swap @ end[0])
    opti.subject_to(momenta(start[0], ca.vertcat(-speed, start[1] - swap @ end[1])) == 0)
    opti.subject_to(foot(*start)[1][1] >= 0)
    opti.subject_to(speed[1] <= 0)
    opti.minimize(task.duration / N * ca.sumsqr(U))
    opti.solver("ipopt", {"expand": True, "print_time": False}, {"print_level": 0, "sb": "yes"})
    solution = opti.solve()
    # step]
    return {
        "edges": np.linspace(0, task.duration, N + 1).tolist(),
        "inside": [0.0],
        "torque": solution.value(U).T[:, None].tolist(),
        "state": solution.value(X[:, 0]).tolist(),
        "cost": float(solution.value(opti.f)),
    } | said(solution)


def goddard(task: Any, effort: int) -> dict[str, Any]:
    """As high as the fuel takes it, in shares of natural sizes, thrust constant on every interval."""
    N = INTERVALS[effort]
    # [goddard
    import casadi as ca
    import numpy as np

    sizes = ca.DM([2e4, 1e3, task.mass])
    x, u = ca.SX.sym("x", 3), ca.SX.sym("u")
    h, v, m = ca.vertsplit(x * sizes)
    drag = task.drag * v**2 * ca.exp(-h / task.scale)
    rates = ca.vertcat(v, (u - drag) / m - task.gravity, -u / task.exhaust) / sizes
    f = ca.Function("f", [x, u], [rates])
    opti = ca.Opti()
    C, D, _ = ca.collocation_coeff(ca.collocation_points(3, "legendre"))
    T, X, U = opti.variable(), opti.variable(3, N + 1), opti.variable(1, N)
    opti.subject_to(opti.bounded(task.durations[0], T, task.durations[1]))
    opti.set_initial(T, task.guess)
    line = np.linspace([0.25, 0.3, 1.0], [0.25, 0.3, task.empty / task.mass], N + 1).T
    opti.set_initial(X, line)
    opti.set_initial(U, 0.5)
    for k in range(N):
        inner = opti.variable(3, 3)
        opti.set_initial(inner, np.repeat(line[:, [k]], 3, axis=1))
        nodes = ca.horzcat(X[:, k], inner)
        for j in range(3):
            opti.subject_to((nodes @ C)[:, j] == T / N * f(inner[:, j], task.thrust * U[k]))
        opti.subject_to(nodes @ D == X[:, k + 1])
    opti.subject_to(opti.bounded(0, U, 1))
    opti.subject_to(opti.bounded(task.empty / task.mass, X[2, 1:], 1))
    opti.subject_to(X[:, 0] == ca.DM([0, 0, 1]))
    opti.subject_to(X[2, N] == task.empty / task.mass)
    opti.minimize(-X[0, N])
    opti.solver("ipopt", {"expand": True, "print_time": False}, {"print_level": 0, "sb": "yes"})
    solution = opti.solve()
    # goddard]
    return {
        "edges": np.linspace(0, float(solution.value(T)), N + 1).tolist(),
        "inside": [0.0],
        "torque": (task.thrust * np.reshape(solution.value(U), (N, 1, 1))).tolist(),
        "cost": 2e4 * float(solution.value(opti.f)),
    } | said(solution)


def alp_rider(task: Any, effort: int) -> dict[str, Any]:
    """Outside of four peaks, controls constant on every interval."""
    N = 2 * INTERVALS[effort]
    # [alp_rider
    import casadi as ca
    import numpy as np

    A, B, h = ca.DM(task.matrix), ca.DM(task.control), task.duration / N
    opti = ca.Opti()
    points = ca.collocation_points(3, "legendre")
    C, D, weights = ca.collocation_coeff(points)
    X, U = opti.variable(4, N + 1), opti.variable(2, N)
    line, cost = np.linspace(task.start, task.end, N + 1).T, 0
    opti.set_initial(X, line)
    for k in range(N):
        inner = opti.variable(4, 3)
        opti.set_initial(inner, np.repeat(line[:, [k]], 3, axis=1))
        nodes = ca.horzcat(X[:, k], inner)
        opti.subject_to(nodes @ C == h * (A @ inner + ca.repmat(B @ U[:, k], 1, 3)))
        opti.subject_to(nodes @ D == X[:, k + 1])
        for j in range(3):
            t = h * (k + points[j])
            peaks = sum(high * np.exp(-sharp * (t - at) ** 2) for high, at, sharp in task.peaks)
            opti.subject_to(ca.sumsqr(inner[:, j]) >= peaks + task.floor)
            cost += h * weights[j] * 100 * ca.sumsqr(inner[:, j])
        cost += h * 0.01 * ca.sumsqr(U[:, k])
    opti.subject_to(X[:, 0] == ca.DM(task.start))
    opti.subject_to(X[:, N] == ca.DM(task.end))
    opti.minimize(cost)
    opti.solver("ipopt", {"expand": True, "print_time": False}, {"print_level": 0, "sb": "yes"})
    solution = opti.solve()
    # alp_rider]
    return {
        "edges": np.linspace(0, task.duration, N + 1).tolist(),
        "inside": [0.0],
        "torque": np.reshape(solution.value(U), (2, N)).T[:, None].tolist(),
        "state": solution.value(X).T.tolist(),
        "cost": float(solution.value(opti.f)),
    } | said(solution)


def said(solution: Any) -> dict[str, Any]:
    """Its word for its answer."""
    return {
        "iterations": int(solution.stats()["iter_count"]),
        "solved": bool(solution.stats()["success"]),
        "status": solution.stats()["return_status"],
    }
