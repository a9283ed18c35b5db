"""The loop in acados: a real-time iteration at a tick, or SQP to 1e-6, with Gauss-Newton Hessians.

Shooting by one Runge-Kutta step of order four an interval, partial condensing by HPIPM. Limits of the state are soft,
with a linear price, as measured states may be outside. Dynamics are those of colloc as CasADi expressions, of which
acados makes C.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

import time
from typing import Any

import numpy as np

PRICE = 100.0


def follow(task: Any, effort: int) -> dict[str, Any]:
    """The loop, with one step at a tick or converged."""
    from colloc.studies.benchmarks.loops.loop import play
    from colloc.studies.benchmarks.peers.with_acados import find_libraries

    find_libraries()
    import casadi as ca
    from acados.acados_template import AcadosModel, AcadosOcp, AcadosOcpSolver

    import colloc as co

    arm = co.formats.from_urdf(task.urdf, gravity=task.gravity).model
    n, N, home = arm.n, task.intervals, np.array(task.home)
    x, u = ca.SX.sym("x", 2 * n), ca.SX.sym("u", n)
    model = AcadosModel()
    model.name, model.x, model.u = "panda", x, u
    model.f_expl_expr = ca.vertcat(x[n:], co.dynamics.forward_dynamics(arm, x[:n], x[n:], u))
    ocp = AcadosOcp()
    ocp.model, ocp.code_export_directory = model, "generated"
    ocp.dims.N, ocp.solver_options.tf = N, task.horizon
    weights = np.repeat(task.weights, n)
    for end in ("_0", ""):
        setattr(ocp.cost, f"cost_type{end}", "NONLINEAR_LS")
        setattr(model, f"cost_y_expr{end}", ca.vertcat(x, u))
        setattr(ocp.cost, f"W{end}", 2 * np.diag(weights))
        setattr(ocp.cost, f"yref{end}", np.zeros(3 * n))
    ocp.cost.cost_type_e, model.cost_y_expr_e = "NONLINEAR_LS", x
    ocp.cost.W_e, ocp.cost.yref_e = 1e-9 * np.eye(2 * n), np.zeros(2 * n)
    held, states = ocp.constraints, np.arange(2 * n)
    begin = held.x0 = np.hstack([home, np.zeros(n)])
    held.idxbu, held.lbu, held.ubu = np.arange(n), -np.array(task.torque), np.array(task.torque)
    lower = np.hstack([home - task.position, -np.array(task.speed)])
    upper = np.hstack([home + task.position, np.array(task.speed)])
    for end in ("", "_e"):
        for name, value in (("idxbx", states), ("lbx", lower), ("ubx", upper), ("idxsbx", states)):
            setattr(held, f"{name}{end}", value)
        for name in ("zl", "zu", "Zl", "Zu"):
            setattr(ocp.cost, f"{name}{end}", (PRICE if name[0] == "z" else 0.0) * np.ones(2 * n))
    options = ocp.solver_options
    options.integrator_type, options.sim_method_num_stages = "ERK", 4
    options.hessian_approx, options.qp_solver = "GAUSS_NEWTON", "PARTIAL_CONDENSING_HPIPM"
    options.nlp_solver_type, options.nlp_solver_max_iter = "SQP" if effort else "SQP_RTI", 20
    options.qp_solver_warm_start, options.qp_solver_iter_max = 1, 100
    options.ext_fun_compile_flags = "-O1 -march=native"
    solver = AcadosOcpSolver(ocp, json_file="generated.json", verbose=False)
    for k in range(N + 1):
        solver.set(k, "x", begin)
    times = np.linspace(0.0, task.horizon, N + 1)[:-1]

    def step(q: Any, qd: Any, goal: Any, rate: Any) -> tuple[Any, float]:
        for k, t in enumerate(times):
            solver.set(k, "yref", np.hstack([goal + t * rate, np.zeros(2 * n)]))
        now = np.hstack([q, qd])
        solver.set(0, "lbx", now)
        solver.set(0, "ubx", now)
        begun = time.thread_time()
        solver.solve()
        spent = time.thread_time() - begun
        return solver.get(0, "u"), spent

    return play(task, step)
