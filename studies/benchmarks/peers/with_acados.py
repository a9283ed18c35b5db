"""The problems in acados: multiple shooting, SQP with partial condensing by HPIPM, exact second derivatives.

Dynamics of the file by adam; acados compiles them, and that is a part of its cold seconds.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

INTERVALS = (25, 50, 100, 200)


def find_libraries() -> None:
    """The wheel's folders, for which acados asks the environment, and its libraries, which do not know each other."""
    import ctypes
    import os

    import acados

    os.environ |= {"ACADOS_SOURCE_DIR": acados.DIR, "TERA_PATH": acados.TERA_PATH}
    os.environ["ACADOS_PYTHON_INTERFACE_PATH"] = acados.TEMPLATE_DIR
    for name in ("blasfeo", "hpipm", "qpOASES_e"):
        ctypes.CDLL(os.path.join(acados.LIB_DIR, f"lib{name}.so"), ctypes.RTLD_GLOBAL)


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
    find_libraries()
    # [reach
    import casadi as ca
    import numpy as np
    from acados.acados_template import AcadosModel, AcadosOcp, AcadosOcpSolver

    n, inverse_dynamics, free = len(arm.start), equations(arm), arm.duration is None
    driven, most = np.flatnonzero(arm.torque), np.array([torque for torque in arm.torque if torque])
    m = len(most)
    # A free duration is a state that does not change, with which rates are multiplied.
    x, xdot, u = (ca.SX.sym(name, size) for name, size in (("x", 2 * n + free), ("xdot", 2 * n + free), ("u", m)))
    T = x[2 * n] if free else 1.0
    tau = ca.SX(n, 1)
    tau[driven.tolist()] = u
    model = AcadosModel()
    model.name, model.x, model.xdot, model.u = arm.name, x, xdot, u
    accelerations = xdot[n : 2 * n] / T
    rows = [xdot[:n] - T * x[n : 2 * n], inverse_dynamics(x[:n], x[n : 2 * n], accelerations) - tau]
    model.f_impl_expr = ca.vertcat(*rows, *([xdot[2 * n]] if free else []))
    ocp = AcadosOcp()
    ocp.model, ocp.code_export_directory = model, "generated"
    ocp.dims.N, ocp.solver_options.tf = N, 1.0 if free else arm.duration
    if free:
        ocp.cost.cost_type_e, model.cost_expr_ext_cost_e = "EXTERNAL", x[2 * n]
    else:
        for end in ("", "_0"):
            setattr(ocp.cost, f"cost_type{end}", "NONLINEAR_LS")
            setattr(model, f"cost_y_expr{end}", u)
            setattr(ocp.cost, f"W{end}", 2 * np.eye(m))
            setattr(ocp.cost, f"yref{end}", np.zeros(m))
    start, end, still = np.array(arm.start), np.array(arm.end), np.zeros(n)
    fixed = np.arange(2 * n)
    held = ocp.constraints
    held.idxbx_0, held.lbx_0, held.ubx_0 = fixed, np.hstack([start, still]), np.hstack([start, still])
    held.idxbx_e, held.lbx_e, held.ubx_e = fixed, np.hstack([end, still]), np.hstack([end, still])
    held.idxbu, held.lbu, held.ubu = np.arange(m), -most, most
    limits = np.array([*arm.position, *arm.speed])
    within = np.flatnonzero(limits < np.inf)
    lower, upper = -limits[within], limits[within]
    if free:
        within, lower, upper = (
            np.append(within, 2 * n),
            np.append(lower, arm.guess / 10),
            np.append(upper, arm.guess * 5),
        )
    if within.size:
        held.idxbx, held.lbx, held.ubx = within, lower, upper
    ocp.solver_options.integrator_type, ocp.solver_options.sim_method_num_stages = "IRK", 3
    ocp.solver_options.hessian_approx = "EXACT" if free else "GAUSS_NEWTON"
    ocp.solver_options.regularize_method = "PROJECT"
    ocp.solver_options.qp_solver, ocp.solver_options.qp_solver_iter_max = "PARTIAL_CONDENSING_HPIPM", 200
    ocp.solver_options.nlp_solver_type, ocp.solver_options.globalization = "SQP", "MERIT_BACKTRACKING"
    ocp.solver_options.nlp_solver_max_iter = 500
    solver = AcadosOcpSolver(ocp, json_file="generated.json", verbose=False)
    for k in range(N + 1):
        guess = np.hstack([start + k / N * (end - start), still, *([arm.guess] if free else [])])
        solver.set(k, "x", guess)
    status = solver.solve()
    # reach]
    duration = float(solver.get(N, "x")[2 * n]) if free else arm.duration
    torque = np.zeros((N, 1, n))
    torque[:, 0, driven] = [solver.get(k, "u") for k in range(N)]
    return {
        "edges": np.linspace(0, duration, N + 1).tolist(),
        "inside": [0.0],
        "torque": torque.tolist(),
        "cost": float(solver.get_cost()),
        "iterations": int(np.sum(solver.get_stats("sqp_iter"))),
        "solved": status == 0,
        "status": ("solved", "failed", "too many steps", "small step", "QP failed")[status],
    }
