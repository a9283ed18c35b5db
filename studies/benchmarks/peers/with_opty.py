"""The problems of planar chains in opty: equations by Kane's method of SymPy, compiled C, IPOPT through cyipopt."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

NODES = (101, 201)
FINEST = len(NODES)


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest, torques linear between the nodes."""
    N = arm.intervals + 1 if arm.intervals else NODES[effort]
    if any(abs(link["rpy"][0]) > 0 for link in arm.links):
        return {"unfit": "equations of a chain in space fill hours of SymPy"}
    # [reach
    import numpy as np
    import sympy as sm
    from opty.direct_collocation import Problem
    from sympy.physics import mechanics as me

    n, t = len(arm.start), me.dynamicsymbols._t
    q, u, tau = ([me.dynamicsymbols(f"{name}{k}") for k in range(n)] for name in ("q", "u", "tau"))
    ground, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, 0)
    frame, point, bodies, loads = ground, origin, [], []
    for k, link in enumerate(arm.links):
        joint, centre = me.Point(f"P{k}"), me.Point(f"C{k}")
        axes = frame.orientnew(f"A{k}", "Axis", [q[k] if link["kind"] == "revolute" else 0, frame.z])
        joint.set_pos(point, link["xyz"][0] * frame.x + (0 if link["kind"] == "revolute" else q[k]) * frame.x)
        if link["kind"] == "revolute":
            axes.set_ang_vel(frame, u[k] * frame.z)
            joint.v2pt_theory(point, ground, frame)
            push = (axes, tau[k] * frame.z), (frame, -tau[k] * frame.z)
        else:
            joint.set_vel(ground, point.vel(ground) + u[k] * frame.x)
            push = ((joint, tau[k] * frame.x),)
        centre.set_pos(joint, link["com"][0] * axes.x + link["com"][1] * axes.y)
        centre.v2pt_theory(joint, ground, axes)
        inertia = me.inertia(axes, *link["inertia"][:3])
        bodies.append(me.RigidBody(f"B{k}", centre, axes, link["mass"], (inertia, centre)))
        loads += [(centre, link["mass"] * arm.gravity[1] * ground.y), *(push if arm.torque[k] else ())]
        frame, point = axes, joint
    kane = me.KanesMethod(ground, q, u, [u[k] - q[k].diff(t) for k in range(n)])
    fr, frstar = kane.kanes_equations(bodies, loads)
    equations = sm.Matrix([q[k].diff(t) - u[k] for k in range(n)]).col_join(fr + frstar)
    tau = [tau[k] for k in range(n) if arm.torque[k]]

    free, m = arm.duration is None, len(tau)
    h = sm.Symbol("h") if free else arm.duration / (N - 1)
    weights = np.ones(N)
    weights[[0, -1]] = 0.5

    def cost(x):
        return x[-1] if free else h * float(weights @ (x[2 * n * N :].reshape(m, N) ** 2).sum(axis=0))

    def slope(x):
        gradient = np.zeros_like(x)
        gradient[2 * n * N :] = 1.0 if free else 2 * h * (weights * x[2 * n * N :].reshape(m, N)).ravel()
        if free:
            gradient[:-1] = 0.0
        return gradient

    ends = ((0, arm.start), ((N - 1) * h, arm.end))
    fixed = [q[k].func(at) - posture[k] for at, posture in ends for k in range(n)]
    fixed += [u[k].func(at) for at, _ in ends for k in range(n)]
    most = [torque for torque in arm.torque if torque]
    bounds = {signal: (-limit, limit) for signal, limit in zip(tau, most, strict=True)}
    bounds |= {signal: (-limit, limit) for signal, limit in zip(q + u, arm.position + arm.speed, strict=True)}
    if free:
        bounds[h] = (arm.guess / 10 / (N - 1), arm.guess * 5 / (N - 1))
    problem = Problem(
        cost, slope, equations, q + u, N, h, instance_constraints=fixed, bounds=bounds, integration_method="midpoint"
    )
    problem.add_option("print_level", 0)
    line = np.linspace(arm.start, arm.end, N).T.ravel()
    guess = np.concatenate([line, np.zeros(n * N + m * N), [arm.guess / (N - 1)] * free])
    solution, info = problem.solve(guess)
    # reach]
    duration = (N - 1) * (solution[-1] if free else h)
    torque = np.zeros((N, n))
    torque[:, np.array(arm.torque) > 0] = solution[2 * n * N :][: m * N].reshape(m, N).T
    return {
        "edges": np.linspace(0, duration, N).tolist(),
        "inside": [-1.0, 1.0],
        "torque": np.stack([torque[:-1], torque[1:]], axis=1).tolist(),
        "cost": float(duration if free else cost(solution)),
        "iterations": None,
        "solved": info["status"] == 0,
        "status": info["status_msg"].decode(),
    }


def step(task: Any, effort: int) -> dict[str, Any]:
    """From strike to strike, torques linear between the nodes.

    Conditions between the ends know no functions of the unknowns, so that unknowns are sines and cosines of the links'
    absolute angles, whose squares the midpoint rule keeps; and no inequalities, so that the foot rises by itself.
    """
    N = NODES[effort]
    # [step
    import numpy as np
    import sympy as sm
    from opty.direct_collocation import Problem
    from sympy.physics import mechanics as me

    n, t = len(task.start), me.dynamicsymbols._t
    turns = np.tri(n)
    swap = sm.Matrix(np.rint(turns @ task.swap @ np.linalg.inv(turns)).astype(int))
    q, u, tau, s, c = ([me.dynamicsymbols(f"{name}{k}") for k in range(n)] for name in ("q", "u", "tau", "s", "c"))
    slide, ground, origin = sm.symbols("vx vy"), me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(ground, slide[0] * ground.x + slide[1] * ground.y)  # as if the standing foot had speeds
    frame, point, bodies, loads = ground, origin, [], []
    for k, link in enumerate(task.links):
        joint, centre, axes = me.Point(f"P{k}"), me.Point(f"C{k}"), ground.orientnew(f"A{k}", "Axis", [q[k], ground.z])
        joint.set_pos(point, link["xyz"][1] * frame.y)
        axes.set_ang_vel(ground, u[k] * ground.z)
        joint.v2pt_theory(point, ground, frame)
        centre.set_pos(joint, link["com"][1] * axes.y)
        centre.v2pt_theory(joint, ground, axes)
        inertia = me.inertia(axes, *link["inertia"][:3])
        bodies.append(me.RigidBody(f"B{k}", centre, axes, link["mass"], (inertia, centre)))
        weight = (centre, link["mass"] * task.gravity[1] * ground.y)
        loads += [weight, (axes, tau[k] * frame.z), (frame, -tau[k] * frame.z)]
        frame, point = axes, joint
    foot = point.locatenew("foot", task.foot[1] * frame.y)
    foot.v2pt_theory(point, ground, frame)
    place, speed = ([v.dot(axis) for axis in (ground.x, ground.y)] for v in (foot.pos_from(origin), foot.vel(ground)))
    momenta = sm.Matrix([sum(body.kinetic_energy(ground) for body in bodies)]).jacobian(u)
    still = dict.fromkeys(slide, 0)
    kane = me.KanesMethod(ground, q, u, [u[k] - q[k].diff(t) for k in range(n)])
    fr, frstar = kane.kanes_equations(bodies, loads)
    waves = dict(zip(map(sm.sin, q), s, strict=True)) | dict(zip(map(sm.cos, q), c, strict=True))
    place, speed, momenta, forces = (sm.Matrix(x).subs(waves) for x in (place, speed, momenta, fr + frstar))
    turning = [s[k].diff(t) - c[k] * u[k] for k in range(n)] + [c[k].diff(t) + s[k] * u[k] for k in range(n)]
    equations = sm.Matrix(turning).col_join(forces.subs(still))

    h, driven = task.duration / (N - 1), slice(3 * n * N, None)
    weights = np.ones(N)
    weights[[0, -1]] = 0.5

    def cost(x):
        return h * float(weights @ (x[driven].reshape(n, N) ** 2).sum(axis=0))

    def slope(x):
        gradient = np.zeros_like(x)
        gradient[driven] = 2 * h * (weights * x[driven].reshape(n, N)).ravel()
        return gradient

    begin, end = ({x: x.func(at) for x in (*s, *c, *u)} for at in (0, task.duration))
    landed, fall = (values.subs(still).subs(end) for values in (place, speed))
    swapped = swap @ sm.Matrix(u).subs(end)
    before = momenta.subs(dict(zip((*u, *slide), (*swapped, *fall), strict=True)), simultaneous=True)
    jump = (momenta.subs(still) - before).subs(begin)
    rows = [*(sm.Matrix(s).subs(begin) - swap @ sm.Matrix(s).subs(end)), *jump]
    rows += [(s[k] ** 2 + c[k] ** 2 - 1).subs(begin) for k in range(n)]
    rows += [landed[0] - task.length, landed[1]]
    problem = Problem(cost, slope, equations, s + c + u, N, h, instance_constraints=rows, integration_method="midpoint")
    problem.add_option("print_level", 0)
    line = np.linspace(turns @ task.start, turns @ task.end, N).T.ravel()
    solution, info = problem.solve(np.concatenate([np.sin(line), np.cos(line), np.zeros(2 * n * N)]))
    # step]
    sines, cosines, rates, torque = solution.reshape(4, n, N)
    start = np.stack([np.arctan2(sines[:, 0], cosines[:, 0]), rates[:, 0]])
    torque = torque.T
    return {
        "edges": np.linspace(0, task.duration, N).tolist(),
        "inside": [-1.0, 1.0],
        "torque": np.stack([torque[:-1], torque[1:]], axis=1).tolist(),
        "state": np.diff(start, prepend=0.0).ravel().tolist(),
        "cost": float(cost(solution)),
        "iterations": None,
        "solved": info["status"] == 0,
        "status": info["status_msg"].decode(),
    }
