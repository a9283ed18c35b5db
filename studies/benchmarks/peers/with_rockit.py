"""The problems in rockit: direct collocation on a control grid, dynamics of the file by adam."""

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
    from rockit import DirectCollocation, FreeTime, Ocp

    n, inverse_dynamics = len(arm.start), equations(arm)
    free = arm.duration is None
    ocp = Ocp(T=FreeTime(arm.guess) if free else arm.duration)
    q, v, a, tau = ocp.state(n), ocp.state(n), ocp.algebraic(n), ocp.control(n)
    ocp.set_der(q, v)
    ocp.set_der(v, a)
    ocp.add_alg(inverse_dynamics(q, v, a) - tau)
    ocp.subject_to(ocp.at_t0(q) == ca.DM(arm.start))
    ocp.subject_to(ocp.at_t0(v) == 0)
    ocp.subject_to(ocp.at_tf(q) == ca.DM(arm.end))
    ocp.subject_to(ocp.at_tf(v) == 0)
    for signal, limit in ((tau, arm.torque), (q, arm.position), (v, arm.speed)):
        if min(limit) < np.inf:
            ocp.subject_to(-ca.DM(limit) <= (signal <= ca.DM(limit)))
    ocp.add_objective(ocp.T if free else ocp.integral(ca.sumsqr(tau)))
    if free:
        duration = ocp.T
        ocp.subject_to(duration >= arm.guess / 10)
        ocp.subject_to(duration <= arm.guess * 5)
    ocp.set_initial(q, ca.DM(arm.start) + ocp.t / (arm.duration or arm.guess) * ca.DM(np.subtract(arm.end, arm.start)))
    ocp.solver("ipopt", {"expand": True, "print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    ocp.method(DirectCollocation(N=N))
    solution = ocp.solve()
    # reach]
    edges, torque = solution.sample(tau, grid="control")
    return {
        "edges": edges.tolist(),
        "inside": [0.0],
        "torque": torque.reshape(N + 1, 1, n)[:-1].tolist(),
        "cost": float(solution.value(ocp.objective)),
        "iterations": int(solution.stats["iter_count"]),
        "solved": bool(solution.stats["success"]),
        "status": solution.stats["return_status"],
    }


def hop(task: Any, effort: int) -> dict[str, Any]:
    """Four stages, as the flight has a constraint half way; forces constant on every interval."""
    N = (10, 20, 40)[effort]
    # [hop
    from rockit import FreeTime, MultipleShooting, Ocp

    ocp, g, stages = Ocp(), task.gravity, {}
    for name in ("push", "rise", "fall", "landing"):
        length = task.duration / (6 if name in ("rise", "fall") else 3)
        stage = ocp.stage(t0=FreeTime(0.0), T=FreeTime(length))
        x, v, push = stage.state(), stage.state(), stage.control()  # trunk's place and speed, the leg's force
        stage.set_der(x, v)
        stage.set_der(v, push / task.trunk - g)
        stage.add_objective(stage.integral(push**2))
        stage.set_initial(x, task.rest)
        if name in ("rise", "fall"):
            y, w = stage.state(), stage.state()  # those of the foot
            stage.set_der(y, w)
            stage.set_der(w, -push / task.foot - g)
            stage.subject_to(y >= 0)
            stage.set_initial(y, task.height)
        else:
            y = w = 0
            stage.subject_to(push >= -task.foot * g)
        stage.subject_to(task.leg[0] <= (x - y <= task.leg[1]))
        stage.method(MultipleShooting(N=N, intg="rk"))
        stages[name] = stage, (x, v), (y, w), push
    first, rise, fall, landing = (stages[name] for name in ("push", "rise", "fall", "landing"))
    ocp.subject_to(first[0].t0 == 0)
    for before, after in ((first, rise), (rise, fall), (fall, landing)):
        ocp.subject_to(before[0].tf == after[0].t0)
        for k in range(2):
            ocp.subject_to(before[0].at_tf(before[1][k]) == after[0].at_t0(after[1][k]))
    for k in range(2):
        ocp.subject_to(first[0].at_t0(first[1][k]) == (task.rest, 0)[k])
        ocp.subject_to(landing[0].at_tf(landing[1][k]) == (task.rest, 0)[k])
        ocp.subject_to(rise[0].at_t0(rise[2][k]) == 0)
        ocp.subject_to(rise[0].at_tf(rise[2][k]) == fall[0].at_t0(fall[2][k]))
    ocp.subject_to(rise[0].T == fall[0].T)
    ocp.subject_to(rise[0].at_tf(rise[2][0]) >= task.height)
    ocp.subject_to(fall[0].at_tf(fall[2][0]) == 0)
    for stage in (first[0], landing[0]):
        ocp.subject_to(stage.T >= 0.1)
    ocp.subject_to(rise[0].T >= 0.05)
    ocp.subject_to(landing[0].tf == task.duration)
    ocp.add_objective(task.weight * (task.foot * fall[0].at_tf(fall[2][1])) ** 2)
    ocp.solver("ipopt", {"expand": True, "print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    solution = ocp.solve()
    # hop]
    parts = []
    for names in (("push",), ("rise", "fall"), ("landing",)):
        edges, forces = [0.0], []
        for name in names:
            t, force = solution(stages[name][0]).sample(stages[name][3], grid="control")
            edges += (t[1:] - t[0] + edges[-1]).tolist()
            forces += [[[value]] for value in force[:-1].tolist()]
        parts.append({"edges": edges, "inside": [0.0], "torque": forces})
    return {
        "phases": parts,
        "cost": float(solution.value(ocp.objective) + sum(solution(s).value(s.objective) for s, *_ in stages.values())),
        "iterations": int(solution.stats["iter_count"]),
        "solved": bool(solution.stats["success"]),
        "status": solution.stats["return_status"],
    }


def step(task: Any, effort: int) -> dict[str, Any]:
    """From strike to strike, torques constant on every interval."""
    N = INTERVALS[effort]
    # [step
    import casadi as ca
    import numpy as np
    from adam.casadi import KinDynComputations
    from rockit import DirectCollocation, Ocp

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
    ocp = Ocp(T=task.duration)
    q, v, a, tau = ocp.state(n), ocp.state(n), ocp.algebraic(n), ocp.control(n)
    ocp.set_der(q, v)
    ocp.set_der(v, a)
    ocp.add_alg(inverse_dynamics(q, v, a) - tau)
    swap, start, end = ca.DM(task.swap), (ocp.at_t0(q), ocp.at_t0(v)), (ocp.at_tf(q), ocp.at_tf(v))
    landed, fall = foot(*end)
    ocp.subject_to(landed == ca.vertcat(task.length, 0))
    ocp.subject_to(start[0] == swap @ end[0])
    ocp.subject_to(momenta(start[0], ca.vertcat(-fall, start[1] - swap @ end[1])) == 0)
    ocp.subject_to(foot(*start)[1][1] >= 0)
    ocp.subject_to(fall[1] <= 0)
    ocp.add_objective(ocp.integral(ca.sumsqr(tau)))
    speed = ca.DM(np.subtract(task.end, task.start)) / task.duration
    ocp.set_initial(q, ca.DM(task.start) + ocp.t * speed)
    ocp.set_initial(v, speed)
    ocp.solver("ipopt", {"expand": True, "print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    ocp.method(DirectCollocation(N=N, degree=3, scheme="legendre"))  # on Radau points IPOPT creeps
    solution = ocp.solve()
    # step]
    edges, torque = solution.sample(tau, grid="control")
    begin = [solution.sample(signal, grid="control")[1][0] for signal in (q, v)]
    return {
        "edges": edges.tolist(),
        "inside": [0.0],
        "torque": torque.reshape(N + 1, 1, n)[:-1].tolist(),
        "state": np.concatenate(begin).tolist(),
        "cost": float(solution.value(ocp.objective)),
        "iterations": int(solution.stats["iter_count"]),
        "solved": bool(solution.stats["success"]),
        "status": solution.stats["return_status"],
    }
