"""The loop in Crocoddyl: one iteration of Box-FDDP at a tick, or as many as it needs.

Pinocchio's analytic derivatives, one Runge-Kutta step of order four an interval; with Euler steps its line search stops
at 1/512. Of hard constraints Box-FDDP has limits of torques
alone; those of the state are quadratic barriers.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

import time
from typing import Any

import numpy as np

BARRIER = 1e3  # weight of what exceeds a limit of the state


def follow(task: Any, effort: int) -> dict[str, Any]:
    """The loop, with one iteration at a tick or converged."""
    import crocoddyl
    import pinocchio

    from colloc.studies.benchmarks.loops.loop import play

    world = pinocchio.buildModelFromUrdf(task.urdf)
    world.gravity.linear = np.array(task.gravity)
    n, N, home = world.nv, task.intervals, np.array(task.home)
    state = crocoddyl.StateMultibody(world)
    actuation, dt = crocoddyl.ActuationModelFull(state), task.horizon / task.intervals
    near, slow, calm = task.weights
    lower = np.hstack([home - task.position, -np.array(task.speed)])
    upper = np.hstack([home + task.position, np.array(task.speed)])

    def action(last: bool) -> tuple[Any, Any]:
        costs = crocoddyl.CostModelSum(state, n)
        away = crocoddyl.ResidualModelState(state, np.hstack([home, np.zeros(n)]), n)
        weighted = crocoddyl.ActivationModelWeightedQuad(2 * np.repeat([near, slow], n))
        barrier = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(lower, upper))
        limits = crocoddyl.ResidualModelState(state, np.zeros(2 * n), n)
        effort = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, n))
        costs.addCost("target", crocoddyl.CostModelResidual(state, weighted, away), 0.0 if last else 1.0)
        costs.addCost("limits", crocoddyl.CostModelResidual(state, barrier, limits), BARRIER)
        costs.addCost("effort", effort, 0.0 if last else 2 * calm)
        model = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        step = crocoddyl.IntegratedActionModelRK(model, crocoddyl.RKType.four, 0.0 if last else dt)
        step.u_lb, step.u_ub = -np.array(task.torque), np.array(task.torque)
        return step, away

    actions, targets = zip(*(action(False) for _ in range(N)), strict=True)
    problem = crocoddyl.ShootingProblem(np.hstack([home, np.zeros(n)]), list(actions), action(True)[0])
    solver = crocoddyl.SolverBoxFDDP(problem)
    solver.th_stop = 1e-8
    xs = [problem.x0] * (N + 1)
    plan: dict[str, Any] = {"xs": xs, "us": list(problem.quasiStatic(xs[:-1])), "begun": False}

    def step(q: Any, qd: Any, goal: Any, rate: Any) -> tuple[Any, float]:
        for k, away in enumerate(targets):
            away.reference = np.hstack([goal + k * dt * rate, np.zeros(n)])
        problem.x0 = np.hstack([q, qd])
        plan["xs"][0] = problem.x0
        begun = time.thread_time()
        solver.solve(plan["xs"], plan["us"], 1 if plan["begun"] and not effort else 30, False)
        spent = time.thread_time() - begun
        plan.update(xs=list(solver.xs), us=list(solver.us), begun=True)
        return plan["us"][0], spent

    return play(task, step)
