"""The problems in dymos: Radau pseudospectral, Pinocchio's analytic derivatives, SLSQP.

IPOPT and SNOPT take pyOptSparse, which is no wheel; SLSQP is what dymos comes with.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

SEGMENTS = (10, 20, 40)
FINEST = len(SEGMENTS)


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest, torques cubic on every segment."""
    N = SEGMENTS[effort]
    # [reach
    import dymos
    import numpy as np
    import openmdao.api as om
    import pinocchio

    n, free = len(arm.start), arm.duration is None
    world = pinocchio.buildModelFromUrdf(arm.urdf)
    world.gravity.linear = np.array(arm.gravity)
    data = world.createData()
    most = np.array(arm.torque)  # bounds of a control are the same for all its entries, so controls are shares

    class Dynamics(om.ExplicitComponent):
        def initialize(self):
            self.options.declare("num_nodes", types=int)

        def setup(self):
            count = self.options["num_nodes"]
            for name in ("q", "v", "share"):
                self.add_input(name, shape=(count, n))
            self.add_output("a", shape=(count, n))
            self.add_output("power", shape=(count,))
            nodes = np.arange(count)
            rows = np.repeat(np.arange(count * n), n)
            columns = (nodes[:, None, None] * n + np.arange(n)[None, None, :] + np.zeros((1, n, 1), int)).ravel()
            for name in ("q", "v", "share"):
                self.declare_partials("a", name, rows=rows, cols=columns)
            self.declare_partials("power", "share", rows=np.repeat(nodes, n), cols=np.arange(count * n))

        def compute(self, inputs, outputs):
            states = zip(inputs["q"], inputs["v"], inputs["share"] * most, strict=True)
            outputs["a"] = [pinocchio.aba(world, data, *state) for state in states]
            outputs["power"] = ((inputs["share"] * most) ** 2).sum(axis=1)

        def compute_partials(self, inputs, partials):
            states = zip(inputs["q"], inputs["v"], inputs["share"] * most, strict=True)
            slopes = [[np.array(d) for d in pinocchio.computeABADerivatives(world, data, *state)] for state in states]
            for name, blocks in zip(("q", "v", "share"), zip(*slopes, strict=True), strict=True):
                full = np.stack(blocks)
                partials["a", name] = (full * most if name == "share" else full).ravel()
            partials["power", "share"] = 2 * (inputs["share"] * most**2).ravel()

    problem = om.Problem()
    problem.driver = om.ScipyOptimizeDriver(optimizer="SLSQP", maxiter=500, tol=1e-6, disp=False)
    problem.driver.declare_coloring(show_summary=False)
    phase = dymos.Phase(ode_class=Dynamics, transcription=dymos.Radau(num_segments=N, order=3))
    trajectory = problem.model.add_subsystem("trajectory", dymos.Trajectory())
    trajectory.add_phase("phase", phase)
    if free:
        phase.set_time_options(fix_initial=True, duration_bounds=(arm.guess / 10, arm.guess * 5))
    else:
        phase.set_time_options(fix_initial=True, fix_duration=True)
    ends = {"fix_initial": True, "fix_final": True}
    phase.add_state("q", rate_source="v", shape=(n,), **ends)
    phase.add_state("v", rate_source="a", shape=(n,), ref=5.0, **ends)
    phase.add_state("J", rate_source="power", fix_initial=True, ref=100.0)
    phase.add_control("share", shape=(n,), lower=-1.0, upper=1.0, continuity=False, rate_continuity=False)
    for name, limits in (("q", arm.position), ("v", arm.speed)):
        for k in np.flatnonzero(np.isfinite(limits)):
            phase.add_path_constraint(
                name, constraint_name=f"{name}{k}", indices=[k], lower=-limits[k], upper=limits[k]
            )
    if free:
        phase.add_objective("time", loc="final")
    else:
        phase.add_objective("J", loc="final", ref=100.0)
    problem.setup()
    phase.set_time_val(0.0, arm.duration or arm.guess)
    phase.set_state_val("q", [arm.start, arm.end])
    phase.set_state_val("v", [np.zeros(n), np.zeros(n)])
    phase.set_state_val("J", [0.0, 100.0])
    phase.set_control_val("share", [np.zeros(n), np.zeros(n)])
    failed = not problem.run_driver().success
    # reach]
    from numpy.polynomial import legendre

    t = problem.get_val("trajectory.phase.timeseries.time").ravel().reshape(N, 4)
    radau = np.sort(legendre.legroots([0, 0, 1, 1]))  # and the end, where the polynomial goes on
    torque = problem.get_val("trajectory.phase.timeseries.share").reshape(N, 4, n)
    return {
        "edges": [*t[:, 0].tolist(), float(t[-1, -1])],
        "inside": [*radau.tolist(), 1.0],
        "torque": (torque * most).tolist(),
        "cost": float(t[-1, -1] if free else problem.get_val("trajectory.phase.timeseries.J")[-1, 0]),
        "iterations": int(problem.driver.result.iter_count),
        "solved": not failed,
        "status": problem.driver.result.exit_status,
    }
