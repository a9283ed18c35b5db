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
    if arm.name == "cart_pole":  # adam knows no slides
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
    N = INTERVALS[effort]
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
