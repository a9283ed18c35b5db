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
    N = arm.intervals or SEGMENTS[effort]
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


def hop(task: Any, effort: int) -> dict[str, Any]:
    """Three phases, linked; forces cubic on every segment."""
    N = (4, 8, 16)[effort]
    # [hop
    import dymos
    import openmdao.api as om

    g = task.gravity
    problem = om.Problem()
    problem.driver = om.ScipyOptimizeDriver(optimizer="SLSQP", maxiter=500, tol=1e-6, disp=False)
    problem.driver.declare_coloring(show_summary=False)
    trajectory = problem.model.add_subsystem("trajectory", dymos.Trajectory())
    rates = {
        "push": ["a = F / {trunk} - {g}", "squared = F**2"],
        "flight": ["a = F / {trunk} - {g}", "b = -F / {foot} - {g}", "leg = x - y", "squared = F**2", "up = 1.0 * y"],
    }
    rates["landing"] = rates["push"]
    phases = {}
    for name, lines in rates.items():
        text = [line.format(trunk=task.trunk, foot=task.foot, g=g) for line in lines]

        def ode(num_nodes, text=text):
            return om.ExecComp(text, has_diag_partials=True, shape=(num_nodes,))

        phase = dymos.Phase(ode_class=ode, transcription=dymos.Radau(num_segments=N, order=3))
        phases[name] = trajectory.add_phase(name, phase)
        start = {"fix_initial": name == "push"}
        phase.set_time_options(**start, initial_bounds=(0, 1), duration_bounds=(0.1, 1.0))
        phase.add_state(
            "x",
            units=None,
            shape=(1,),
            rate_source="v",
            **start,
            fix_final=name == "landing",
            targets=["x"] * (name == "flight"),
        )
        phase.add_state("v", units=None, shape=(1,), rate_source="a", **start, fix_final=name == "landing")
        phase.add_state("J", units=None, shape=(1,), rate_source="squared", **start, ref=1e3)
        least = None if name == "flight" else -task.foot * g
        phase.add_control("F", units=None, lower=least, ref=100.0, continuity=False, rate_continuity=False)
        if name == "flight":
            phase.add_state(
                "y", units=None, shape=(1,), rate_source="w", fix_initial=True, fix_final=True, targets=["y"]
            )
            phase.add_state("w", units=None, shape=(1,), rate_source="b", fix_initial=True)
            phase.add_path_constraint("y", lower=0.0)
            phase.add_timeseries_output("up")
        phase.add_path_constraint("leg" if name == "flight" else "x", lower=task.leg[0], upper=task.leg[1])
    trajectory.link_phases(list(phases), ["time", "x", "v", "J"])
    problem.model.add_constraint("trajectory.flight.timeseries.up", indices=[N // 2 * 4], lower=task.height)
    problem.model.add_constraint("trajectory.landing.timeseries.time", indices=[-1], equals=task.duration)
    blow = om.ExecComp(f"cost = J + {task.weight} * ({task.foot} * w)**2")
    problem.model.add_subsystem("total", blow)
    problem.model.connect("trajectory.landing.timeseries.J", "total.J", src_indices=[-1], flat_src_indices=True)
    problem.model.connect("trajectory.flight.timeseries.w", "total.w", src_indices=[-1], flat_src_indices=True)
    problem.model.add_objective("total.cost", ref=1e3)
    problem.setup()
    third = task.duration / 3
    for k, phase in enumerate(phases.values()):
        phase.set_time_val(k * third, third)
        phase.set_state_val("x", [task.rest, task.rest])
        phase.set_state_val("v", [0.0, 0.0])
        phase.set_state_val("J", [1e3 * k, 1e3 * (k + 1)] if k else [0.0, 1e3])
        phase.set_control_val("F", [task.trunk * g, task.trunk * g] if k != 1 else [0.0, 0.0])
    phases["flight"].set_state_val("y", [0.0, 0.0])
    phases["flight"].set_state_val("w", [0.0, -1.0])
    failed = not problem.run_driver().success
    # hop]
    from numpy.polynomial import legendre

    radau = sorted(legendre.legroots([0, 0, 1, 1]).tolist())
    parts = []
    for name in phases:
        t = problem.get_val(f"trajectory.{name}.timeseries.time").reshape(N, 4)
        force = problem.get_val(f"trajectory.{name}.timeseries.F").reshape(N, 4, 1)
        edges = [*(t[:, 0] - t[0, 0]).tolist(), float(t[-1, -1] - t[0, 0])]
        parts.append({"edges": edges, "inside": [*radau, 1.0], "torque": force.tolist()})
    return {
        "phases": parts,
        "cost": float(problem.get_val("total.cost")[0]),
        "iterations": int(problem.driver.result.iter_count),
        "solved": not failed,
        "status": problem.driver.result.exit_status,
    }
