"""The problems of given duration in Crocoddyl: Box-FDDP on Pinocchio's analytic derivatives.

Of hard constraints Box-FDDP has limits of torques alone. The end and limits of the state are penalties, as in
its examples, stiffened from one solve to the next.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

INTERVALS = (50, 100, 200, 400)
STIFFER = (1e4, 1e6, 1e8)  # weights of the end and of limits of the state


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest, torques constant on every interval."""
    N = arm.intervals or INTERVALS[effort]
    if arm.duration is None:
        return {"unfit": "no free duration"}
    if not all(arm.torque):
        return {"unfit": "joints without an actuator need a class of your own"}
    # [reach
    import crocoddyl
    import numpy as np
    import pinocchio

    world = pinocchio.buildModelFromUrdf(arm.urdf)
    world.gravity.linear = np.array(arm.gravity)
    n = world.nv
    state = crocoddyl.StateMultibody(world)
    actuation = crocoddyl.ActuationModelFull(state)
    target = np.concatenate([arm.end, np.zeros(n)])
    squared = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, n))
    missed = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelState(state, target, n))
    bounds = crocoddyl.ActivationBounds(-np.array(arm.position + arm.speed), np.array(arm.position + arm.speed))
    limits = crocoddyl.CostModelResidual(
        state,
        crocoddyl.ActivationModelQuadraticBarrier(bounds),
        crocoddyl.ResidualModelState(state, np.zeros(2 * n), n),
    )
    running, final = crocoddyl.CostModelSum(state, n), crocoddyl.CostModelSum(state, n)
    running.addCost("effort", squared, 2.0)  # a residual counts as half its square
    running.addCost("limits", limits, 0.0)
    final.addCost("end", missed, 0.0)
    model, dt = crocoddyl.DifferentialActionModelFreeFwdDynamics, arm.duration / N
    step = crocoddyl.IntegratedActionModelRK(model(state, actuation, running), crocoddyl.RKType.four, dt)
    step.u_lb, step.u_ub = -np.array(arm.torque), np.array(arm.torque)
    last = crocoddyl.IntegratedActionModelRK(model(state, actuation, final), crocoddyl.RKType.four, 0.0)
    begin = np.concatenate([arm.start, np.zeros(n)])
    problem = crocoddyl.ShootingProblem(begin, [step] * N, last)
    solver = crocoddyl.SolverBoxFDDP(problem)
    xs = list(np.linspace(begin, target, N + 1))
    us, iterations = problem.quasiStatic(xs[:-1]), 0
    for weight in STIFFER:  # each from the motion before
        last.differential.costs.costs["end"].weight = weight
        step.differential.costs.costs["limits"].weight = weight / 10
        success = solver.solve(xs, us, 500)
        xs, us, iterations = solver.xs, solver.us, iterations + solver.iter
    # reach]
    return {
        "edges": np.linspace(0, arm.duration, N + 1).tolist(),
        "inside": [0.0],
        "torque": [[list(u)] for u in solver.us],
        "cost": dt * float(sum(u @ u for u in solver.us)),
        "iterations": int(iterations),
        "solved": bool(success),
        "status": "converged" if success else "not converged",
    }
