"""Its own example in nosnoc: finite elements with Radau points that detect switches, IPOPT along a homotopy.

It is made for switches, and refuses systems without one: the other motions here are none of its own.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

STAGES = (30, 40, 60)
FINEST = len(STAGES)


def slide(task: Any, effort: int) -> dict[str, Any]:
    """A slide with dry friction, voltage constant on every stage."""
    N = STAGES[effort]
    # [slide
    import casadi as ca
    import nosnoc
    import numpy as np

    x, u = ca.SX.sym("x", 5), ca.SX.sym("u")
    place, speed, far, rate, current = ca.vertsplit(x)
    voltage = u - task.constant * speed - task.resistance * current
    pull = task.spring * (place - far)
    fields = []
    for sign in (1, -1):
        force = task.constant * current - pull - sign * task.friction
        fields.append(ca.vertcat(speed, force / task.slide, rate, pull / task.load, voltage / task.inductance))
    model = nosnoc.NosnocModel(x=x, F=[ca.horzcat(*fields)], S=[np.array([[1], [-1]])], c=[speed], x0=np.zeros(5), u=u)
    most = np.array([task.voltage])
    end = x - ca.DM([task.way, 0, task.way, 0, 0])
    ocp = nosnoc.NosnocOcp(lbu=-most, ubu=most, f_q=u**2, g_terminal=end)
    options = nosnoc.NosnocOpts()
    options.comp_tol, options.homotopy_update_slope = 1e-6, 0.1
    options.step_equilibration = nosnoc.StepEquilibrationMode.L2_RELAXED_SCALED
    options.N_stages, options.N_finite_elements, options.n_s = N, 2, 3
    options.terminal_time = task.duration
    results = nosnoc.NosnocSolver(options, model, ocp).solve()
    # slide]
    voltages = np.ravel(results["u_list"])
    return {
        "edges": np.linspace(0, task.duration, N + 1).tolist(),
        "inside": [0.0],
        "torque": voltages.reshape(N, 1, 1).tolist(),
        "cost": float(results["cost_val"]),
        "iterations": int(np.sum(results["nlp_iter"])),
        "solved": bool(str(results["status"]).endswith("SUCCESS")),
        "status": str(results["status"]),
    }
