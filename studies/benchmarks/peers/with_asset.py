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
    tau = [u[driven.index(k)] if k in driven else None for k in range(n)]
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
    phase = equations(arm).phase("LGL5", line, START)
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
        "iterations": int(phase.optimizer.LastIterNum),
        "solved": flag == asset_asrl.Solvers.ConvergenceFlags.CONVERGED and phase.MeshConverged,
        "status": str(flag),
    }


def signals(phase: Any, states: int, controls: int) -> tuple[Any, Any, Any]:
    """Edges of the mesh, places inside each segment, and controls there."""
    import numpy as np

    nodes, table = np.array(phase.returnTraj()), phase.returnTrajTable()
    edges = nodes[::2, states]  # of LGL5, with a node in the middle
    inside = np.cos(np.pi * (np.arange(5)[::-1] + 0.5) / 5)
    at = edges[:-1, None] + (inside + 1) / 2 * np.diff(edges)[:, None]
    values = np.array([table.Interpolate(t) for t in at.ravel()])
    return edges - edges[0], inside, values[:, states + 1 :].reshape(*at.shape, controls)
