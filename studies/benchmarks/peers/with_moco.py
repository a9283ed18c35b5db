"""The problems in OpenSim Moco: Hermite-Simpson, IPOPT, derivatives by differences, which are all that it has."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

INTERVALS = (25, 50, 100, 200)


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest, torques linear between the nodes."""
    N = INTERVALS[effort]
    # [reach
    import numpy as np
    import opensim as osim

    osim.Logger.setLevelString("error")
    model = osim.Model()
    model.setName("chain")
    model.set_gravity(osim.Vec3(*arm.gravity))
    before, origin = model.getGround(), osim.Vec3(0)
    for k, link in enumerate(arm.links):
        body = osim.Body(f"link{k}", link["mass"], osim.Vec3(*link["com"]), osim.Inertia(*link["inertia"]))
        place, turn = osim.Vec3(*link["xyz"]), osim.Vec3(*link["rpy"])
        kind = osim.PinJoint if link["kind"] == "revolute" else osim.SliderJoint  # about z, along x
        joint = kind(f"joint{k}", before, place, turn, body, origin, origin)
        coordinate = joint.updCoordinate()
        coordinate.setName(f"q{k}")
        model.addBody(body)
        model.addJoint(joint)
        if arm.torque[k]:
            motor = osim.CoordinateActuator(f"q{k}")
            motor.setName(f"motor{k}")
            motor.setCoordinate(coordinate)
            motor.setOptimalForce(1)
            model.addForce(motor)
        before = body
    model.finalizeConnections()

    study = osim.MocoStudy()
    problem = study.updProblem()
    problem.setModel(model)
    free = arm.duration is None
    longest = osim.MocoFinalBounds(arm.guess / 10, arm.guess * 5) if free else osim.MocoFinalBounds(arm.duration)
    problem.setTimeBounds(osim.MocoInitialBounds(0), longest)
    for k in range(len(arm.links)):
        position, speed, torque = (min(limit[k], 50) for limit in (arm.position, arm.speed, arm.torque))
        problem.setStateInfo(f"/jointset/joint{k}/q{k}/value", [-position, position], arm.start[k], arm.end[k])
        problem.setStateInfo(f"/jointset/joint{k}/q{k}/speed", [-speed, speed], 0, 0)
        if arm.torque[k]:
            problem.setControlInfo(f"/forceset/motor{k}", [-arm.torque[k], arm.torque[k]])
    problem.addGoal(osim.MocoFinalTimeGoal("time") if free else osim.MocoControlGoal("effort"))
    solver = study.initCasADiSolver()
    solver.set_num_mesh_intervals(N)
    solver.set_optim_convergence_tolerance(1e-5)
    solver.set_optim_constraint_tolerance(1e-6)
    solver.set_parallel(0)
    solver.set_verbosity(0)
    guess = solver.createGuess()
    share = guess.getTimeMat() / guess.getTimeMat()[-1]
    guess.setTime(share * (arm.duration or arm.guess))
    for k in range(len(arm.links)):
        guess.setState(f"/jointset/joint{k}/q{k}/value", arm.start[k] + share * (arm.end[k] - arm.start[k]))
    solver.setGuess(guess)
    solution = study.solve()
    # reach]
    if not solution.success():
        solution.unseal()
    torque = np.zeros((solution.getNumTimes(), len(arm.links)))
    for name in solution.getControlNames():
        torque[:, int(name.rsplit("motor")[-1])] = solution.getControlMat(name)
    return {
        "edges": solution.getTimeMat().tolist(),
        "inside": [-1.0, 1.0],
        "torque": np.stack([torque[:-1], torque[1:]], axis=1).tolist(),
        "cost": float(solution.getObjective()),
        "iterations": int(solution.getNumIterations()),
        "solved": bool(solution.success()),
        "status": solution.getStatus(),
    }
