"""The loop in colloc: one step of sequential quadratic programming at a tick, or as many as change the plan."""

from __future__ import annotations

from typing import Any

import numpy as np


def follow(task: Any, effort: int) -> dict[str, Any]:
    """The loop, with one step at a tick or converged."""
    import casadi as ca

    import colloc as co
    from colloc.studies.benchmarks.loops.loop import play

    arm, home = co.formats.from_urdf(task.urdf, gravity=task.gravity).model, np.array(task.home)
    near, slow, calm = task.weights
    zeros = (0.0,) * len(home)
    parameters = [co.Parameter("goal", task.home), co.Parameter("pace", zeros)]

    def cost(now: Any) -> Any:
        away = now.q - now.goal - now.t * now.pace
        return near * ca.sumsqr(away) + slow * ca.sumsqr(now.qd) + calm * ca.sumsqr(now.tau)

    lower, upper = (home - sign * np.array(task.position) for sign in (1, -1))
    limits = co.bounds(
        q=(lower, upper), qd=(-np.array(task.speed), task.speed), tau=(-np.array(task.torque), task.torque)
    )
    problem = co.Problem(
        arm, task.horizon, co.integral(cost), [co.initial(q=home, qd=0.0), limits], parameters=parameters
    )
    steps = 20 if effort else 1
    controller = co.control.receding(problem, co.BSpline(task.intervals), tick=task.tick, steps=steps)

    def step(q: Any, qd: Any, goal: Any, rate: Any) -> tuple[Any, float]:
        answer = controller(q, qd, goal=goal, pace=rate)
        return answer.tau, answer.processor

    return play(task, step)
