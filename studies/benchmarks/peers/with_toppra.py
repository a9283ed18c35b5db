"""The fastest problems on the straight line alone, in TOPPRA: a narrower problem, without iterations."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

GRID = (100, 400, 1600)
FINEST = len(GRID)


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest along the straight line of joint space."""
    if arm.duration is not None:
        return {"unfit": "nothing but the fastest motion along a path"}
    if not all(arm.torque):
        return {"unfit": "a line that cannot be followed"}
    # [reach
    import numpy as np
    import pinocchio
    import toppra
    from toppra import algorithm, constraint

    toppra.setup_logging("ERROR")
    world = pinocchio.buildModelFromUrdf(arm.urdf)
    world.gravity.linear = np.array(arm.gravity)
    data = world.createData()
    n = world.nv
    path = toppra.SplineInterpolator([0, 1], [arm.start, arm.end])
    limits = [
        constraint.JointTorqueConstraint(
            lambda q, v, a: pinocchio.rnea(world, data, q, v, a),
            np.transpose([-np.array(arm.torque), arm.torque]),
            np.zeros(n),
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        )
    ]
    if min(arm.speed) < np.inf:
        limits.append(constraint.JointVelocityConstraint(np.transpose([-np.array(arm.speed), arm.speed])))
    grid = np.linspace(0, 1, GRID[effort] + 1)
    solver = algorithm.TOPPRA(limits, path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
    motion = solver.compute_trajectory()
    # reach]
    speed = solver.problem_data.sd_vec
    edges = np.concatenate([[0.0], np.cumsum(2 * np.diff(grid) / (speed[1:] + speed[:-1]))])
    inside = np.cos(np.pi * (np.arange(5)[::-1] + 0.5) / 5)
    at = (edges[:-1, None] + (inside + 1) / 2 * np.diff(edges)[:, None]).ravel()
    states = zip(motion(at), motion(at, 1), motion(at, 2), strict=True)
    torque = np.array([pinocchio.rnea(world, data, *state) for state in states])
    return {
        "edges": edges.tolist(),
        "inside": inside.tolist(),
        "torque": torque.reshape(-1, 5, n).tolist(),
        "cost": float(motion.duration),
        "iterations": None,
        "solved": True,
        "status": solver.problem_data.return_code.name,
    }
