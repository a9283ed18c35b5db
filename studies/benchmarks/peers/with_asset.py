"""The problems in ASSET: Legendre-Gauss-Lobatto collocation, a mesh that adapts itself, PSIOPT with MKL's Pardiso."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

TOLERANCES = (1e-5, 1e-7, 1e-9)  # of the mesh
FINEST = len(TOLERANCES)
START = 10  # segments of the first mesh


def equations(arm: Any) -> Any:
    """Ordinary differential equations of a planar chain, which ASSET's functions write down."""
    # [equations
    import asset_asrl
    import numpy as np

    vf, oc = asset_asrl.VectorFunctions, asset_asrl.OptimalControl
    n, driven = len(arm.start), [k for k, most in enumerate(arm.torque) if most]
    args = oc.ODEArguments(2 * n, len(driven))
    x, u = args.XVec().tolist(), args.UVec().tolist()
    q, v = x[:n], x[n:]
    tau: Any = [u[driven.index(k)] if k in driven else None for k in range(n)]
    if arm.name.startswith("cart_pole"):
        m, length, g = arm.links[1]["mass"], -arm.links[1]["com"][1], -arm.gravity[1]
        total, sine, cosine = arm.links[0]["mass"] + m, vf.sin(q[1]), vf.cos(q[1])
        M = vf.stack(total, m * length * cosine, m * length * cosine, m * length**2)
        b = vf.stack(tau[0] + m * length * sine * v[1] ** 2, -m * length * g * sine)
        return oc.ODEBase(vf.stack([*v, vf.RowMatrix(M, 2, 2).inverse() * b]), 2 * n, len(driven))
    # Of absolute angles: M_ij = w_ij cos(a_i - a_j), and the torque of a joint is that of all links beyond it.
    angle, rate = [q[0]], [v[0]]
    for k in range(1, n):
        angle.append(angle[-1] + q[k])
        rate.append(rate[-1] + v[k])
    mass = np.array([link["mass"] for link in arm.links])
    centre = np.array([link["com"][0] for link in arm.links])
    length = [link["xyz"][0] for link in arm.links[1:]]
    arms = [[(length[j] if j < k else centre[k]) if j <= k else 0.0 for j in range(n)] for k in range(n)]
    w = np.array([[sum(mass[k] * arms[k][i] * arms[k][j] for k in range(n)) for j in range(n)] for i in range(n)])
    weight = arm.gravity[1] * (mass @ np.array(arms))
    spin = [link["inertia"][2] for link in arm.links]
    M, b = [], []
    for i in range(n):
        force = tau[i] - tau[i + 1] if i + 1 < n else 1.0 * tau[i]
        for j in range(n):
            if i == j:
                M.append(float(w[i, i] + spin[i]))
            else:
                M.append(w[i, j] * vf.cos(angle[i] - angle[j]))
                force = force - w[i, j] * vf.sin(angle[i] - angle[j]) * rate[j] ** 2
        b.append(force + weight[i] * vf.cos(angle[i]) if weight[i] else force)
    turning = vf.RowMatrix(vf.stack(*M), n, n).inverse() * vf.stack(b)
    a = [turning[0], *(turning[k] - turning[k - 1] for k in range(1, n))]
    return oc.ODEBase(vf.stack([*v, *a]), 2 * n, len(driven))
    # equations]


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest."""
    if any(abs(link["rpy"][0]) > 0 for link in arm.links):
        return {"unfit": "no dynamics of a chain in space"}
    # [reach
    import asset_asrl
    import numpy as np

    n, most = len(arm.start), [torque for torque in arm.torque if torque]
    m, free = len(most), arm.duration is None
    T = arm.guess if free else arm.duration
    line = [
        [*(np.array(arm.start) + s * np.subtract(arm.end, arm.start)), *np.zeros(n), s * T, *np.zeros(m)]
        for s in np.linspace(0, 1, 100)
    ]
    phase = equations(arm).phase("LGL5", line, arm.intervals or START)
    phase.addBoundaryValue("First", range(2 * n + 1), [*arm.start, *np.zeros(n), 0.0])
    phase.addBoundaryValue("Last", range(2 * n), [*arm.end, *np.zeros(n)])
    if free:
        phase.addLUVarBound("Last", 2 * n, arm.guess / 10, arm.guess * 5)
        phase.addDeltaTimeObjective(1.0)
    else:
        phase.addBoundaryValue("Last", [2 * n], [T])
        phase.addIntegralObjective(
            asset_asrl.VectorFunctions.Arguments(m).squared_norm(), range(2 * n + 1, 2 * n + 1 + m)
        )
    for k, limit in enumerate([*arm.position, *arm.speed, np.inf, *most]):
        if limit < np.inf:
            phase.addLUVarBound("Path", k, -limit, limit)
    phase.setThreads(1, 1)
    phase.optimizer.set_PrintLevel(3)
    if not arm.intervals:
        phase.setAdaptiveMesh(True)
        phase.setMeshTol(TOLERANCES[effort])
    flag = phase.optimize()
    # reach]
    edges, inside, torque = signals(phase, 2 * n, m)
    full = np.zeros((*torque.shape[:2], n))
    full[:, :, np.array(arm.torque) > 0] = torque
    return {
        "edges": edges.tolist(),
        "inside": inside.tolist(),
        "torque": full.tolist(),
        "cost": float(edges[-1] if free else phase.optimizer.LastObjVal),
    } | said(phase, flag, arm.intervals is None)


def signals(phase: Any, states: int, controls: int) -> tuple[Any, Any, Any]:
    """Edges of the mesh, places inside each segment, and controls there."""
    import numpy as np

    nodes, table = np.array(phase.returnTraj()), phase.returnTrajTable()
    edges = nodes[::2, states]  # of LGL5, with a node in the middle
    inside = np.cos(np.pi * (np.arange(5)[::-1] + 0.5) / 5)
    at = edges[:-1, None] + (inside + 1) / 2 * np.diff(edges)[:, None]
    values = np.array([table.Interpolate(t) for t in at.ravel()])
    return edges - edges[0], inside, values[:, states + 1 :].reshape(*at.shape, controls)


def goddard(task: Any, effort: int) -> dict[str, Any]:
    """As high as the fuel takes it, searched from a flight at full thrust as in its example."""
    # [goddard
    import asset_asrl
    import numpy as np

    vf, oc = asset_asrl.VectorFunctions, asset_asrl.OptimalControl
    H, V = 1e4, 1e4 / 60.0  # natural sizes of height and speed, and a minute of time
    args = oc.ODEArguments(3, 1)
    h, v, m = args.XVec().tolist()
    thrust, minute = args.UVar(0) * task.thrust, H / V
    drag = task.drag * V**2 * v**2 * vf.exp(h * (-H / task.scale))
    rates = [v, ((thrust - drag) / m - task.gravity) * (minute / V), thrust * (-minute / task.exhaust)]
    ode = oc.ODEBase(vf.stack(rates), 3, 1)
    law = vf.ifelse(vf.Arguments(1)[0] > task.empty, 1, 0)
    start = np.array([0.0, 0.0, task.mass, 0.0, 1.0])
    flight = ode.integrator(0.01, law, [2]).integrate_dense(start, task.durations[1] / minute, 1000, lambda x: x[1] < 0)
    phase = ode.phase("LGL5", flight, 4 * START)
    phase.setControlMode("BlockConstant")  # on a singular arc smoother controls ring
    phase.addBoundaryValue("First", range(4), start[:4])
    phase.addLUVarBound("Path", 4, 0.0, 1.0)
    phase.addBoundaryValue("Last", [2], [task.empty])
    phase.addLUVarBound("Last", 3, task.durations[0] / minute, task.durations[1] / minute)
    phase.addValueObjective("Last", 0, -1.0)
    phase.setThreads(1, 1)
    phase.optimizer.set_PrintLevel(3)
    phase.setAdaptiveMesh(True)
    phase.setMeshTol(TOLERANCES[effort])
    flag = phase.optimize()
    # goddard]
    edges, inside, thrust = signals(phase, 3, 1)
    return {
        "edges": (edges * minute).tolist(),
        "inside": inside.tolist(),
        "torque": (thrust * task.thrust).tolist(),
        "cost": float(H * phase.optimizer.LastObjVal),
    } | said(phase, flag)


def alp_rider(task: Any, effort: int) -> dict[str, Any]:
    """Outside of four peaks."""
    # [alp_rider
    import asset_asrl
    import numpy as np

    vf, oc = asset_asrl.VectorFunctions, asset_asrl.OptimalControl
    args = oc.ODEArguments(4, 2)
    signs = [*args.XVec().tolist(), *args.UVec().tolist()]
    rows = [[*a, *b] for a, b in zip(task.matrix, task.control, strict=True)]
    rates = [vf.sum([float(c) * signal for c, signal in zip(row, signs, strict=True) if c]) for row in rows]
    ode = oc.ODEBase(vf.stack(rates), 4, 2)
    x, t = vf.Arguments(5).head(4), vf.Arguments(5)[4]
    peaks = vf.sum([high * vf.exp((t - at) ** 2 * -sharp) for high, at, sharp in task.peaks])
    line = [[*np.array(task.start) + s * np.subtract(task.end, task.start), s * task.duration, 0.0, 0.0]
            for s in np.linspace(0, 1, 100)]  # fmt: skip
    phase = ode.phase("LGL5", line, 10 * START)
    phase.addBoundaryValue("First", range(5), [*task.start, 0.0])
    phase.addBoundaryValue("Last", range(5), [*task.end, task.duration])
    phase.addLowerFuncBound("Path", x.squared_norm() - peaks, range(5), task.floor)
    both = vf.Arguments(6)
    squares = 100.0 * both.head(4).squared_norm() + 0.01 * both.tail(2).squared_norm()
    phase.addIntegralObjective(squares, [0, 1, 2, 3, 5, 6])
    phase.setThreads(1, 1)
    phase.optimizer.set_PrintLevel(3)
    phase.setAdaptiveMesh(True)
    phase.setMeshTol(TOLERANCES[effort])
    flag = phase.optimize()
    # alp_rider]
    edges, inside, torque = signals(phase, 4, 2)
    return {
        "edges": edges.tolist(),
        "inside": inside.tolist(),
        "torque": torque.tolist(),
        "state": np.array(phase.returnTraj())[::2, :4].tolist(),
        "cost": float(phase.optimizer.LastObjVal),
    } | said(phase, flag)


def delta_iii(task: Any, effort: int) -> dict[str, Any]:
    """Four phases to an orbit, in natural units, with a direction of the thrust that is made a unit vector."""
    # [delta_iii
    import asset_asrl
    import numpy as np

    vf, oc = asset_asrl.VectorFunctions, asset_asrl.OptimalControl
    L, M, T = task.radius, task.mass[0], 961.0
    gravity, turn = task.gravity * T**2 / L**3, np.array([0.0, 0.0, task.turn * T])

    def flight(k):
        args = oc.ODEArguments(7, 3)
        r, v, m = args.XVec().head3(), args.XVec().segment3(3), args.XVar(6)
        wind = v + r.cross(turn)
        drag = vf.exp((r.norm() - 1.0) * (-L / task.scale)) * (wind * wind.norm()) * (-task.drag * L / M)
        push = args.UVec().normalized() * (task.force[k] * T**2 / (M * L))
        pull = r.normalized_power3() * -gravity
        return oc.ODEBase(vf.stack(v, pull + (push + drag) / m, -task.flow[k] * T / M), 7, 3)

    def orbit():
        r, v = vf.Arguments(6).tolist([(0, 3), (3, 3)])
        momentum = r.cross(v)
        node = vf.cross([0, 0, 1], momentum)
        eccentricity = v.cross(momentum) / gravity - r.normalized()
        energy = 0.5 * v.norm() ** 2 - gravity / r.norm()
        ascent = vf.arccos(node.normalized()[0])
        argument = vf.arccos(node.normalized().dot(eccentricity.normalized()))
        return vf.stack(
            [
                -0.5 * gravity / energy,
                eccentricity.norm(),
                vf.arccos(momentum.normalized()[2]),
                vf.ifelse(node[1] > 0, ascent, 2 * np.pi - ascent),
                vf.ifelse(eccentricity[2] > 0, argument, 2 * np.pi - argument),
            ]
        ) - np.array([task.orbit[0] / L, *task.orbit[1:]])

    begin = np.array([*task.site, *np.multiply(task.speed, T)]) / L
    begin[3] += 1e-5 * T / L  # at rest in the air the drag has no derivative
    # A place before the perigee, to which a line does not lead through the earth.
    end = asset_asrl.Astro.classic_to_cartesian([task.orbit[0] / L, *task.orbit[1:], -0.05], gravity)
    edges = np.concatenate([[0.0], np.cumsum(task.durations)]) / T
    program, phases = oc.OptimalControlProblem(), []
    for k in range(4):
        shares = np.linspace(edges[k], edges[k + 1], 100)
        masses = (task.mass[k] - task.flow[k] * T * (shares - edges[k])) / M
        line = [[*(begin + t / edges[-1] * (end - begin)), m, t, 0, 1, 0] for t, m in zip(shares, masses, strict=True)]
        phase = flight(k).phase("LGL5", line, START)
        phase.addLowerNormBound("Path", [0, 1, 2], 1.0 - 1e-6 * (k == 0))
        phase.addLUNormBound("Path", [8, 9, 10], 0.5, 1.5)
        if k == 0:
            phase.addBoundaryValue("Front", range(8), line[0][:8])
        else:
            phase.addBoundaryValue("Front", [6], [task.mass[k] / M])
        if k < 3:
            phase.addBoundaryValue("Back", [7], [edges[k + 1]])
        phase.setThreads(1, 1)
        phases.append(phase)
        program.addPhase(phase)
    phases[3].addUpperVarBound("Back", 7, edges[-1], 1.0)
    phases[3].addLowerVarBound("Back", 6, task.payload / M)
    phases[3].addEqualCon("Back", orbit(), range(6))
    phases[3].addValueObjective("Back", 6, -1.0)
    program.addForwardLinkEqualCon(phases[0], phases[3], [0, 1, 2, 3, 4, 5, 7, 8, 9, 10])
    program.setThreads(1, 1)
    program.optimizer.set_PrintLevel(3)
    program.optimizer.set_OptLSMode("L1")
    program.optimizer.set_SoeLSMode("L1")
    program.optimizer.set_MaxLSIters(2)
    program.setAdaptiveMesh()
    for phase in phases:
        phase.setMeshTol(TOLERANCES[effort])
    flag = program.solve_optimize()
    # delta_iii]
    parts = []
    for phase in phases:
        times, inside, direction = signals(phase, 7, 3)
        unit = direction / np.linalg.norm(direction, axis=2, keepdims=True)
        parts.append({"edges": (times * T).tolist(), "inside": inside.tolist(), "torque": unit.tolist()})
    return {
        "phases": parts,
        "cost": float(M * program.optimizer.LastObjVal),
        "iterations": int(program.optimizer.LastIterNum),
        "solved": str(flag).endswith(".CONVERGED") and all(phase.MeshConverged for phase in phases),
        "status": str(flag),
    }


def said(phase: Any, flag: Any, adaptive: bool = True) -> dict[str, Any]:
    """Its word for its answer."""
    return {
        "iterations": int(phase.optimizer.LastIterNum),
        "solved": str(flag).endswith(".CONVERGED") and bool(phase.MeshConverged or not adaptive),
        "status": str(flag),
    }
