"""The problems in OpenSim Moco: Hermite-Simpson, IPOPT, derivatives by differences, which are all that it has."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

INTERVALS = (25, 50, 100, 200)


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest, torques linear between the nodes."""
    N = arm.intervals or INTERVALS[effort]
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


def rise(task: Any, effort: int) -> dict[str, Any]:
    """By motors and muscles; see `Rise`."""
    N = INTERVALS[effort]
    # [rise
    from math import pi

    import numpy as np
    import opensim as osim

    osim.Logger.setLevelString("error")
    model = osim.Model()
    model.setName("human")
    model.set_gravity(osim.Vec3(*task.gravity))
    before, joints = model.getGround(), []
    for k, link in enumerate(task.links):
        body = osim.Body(f"link{k}", link["mass"], osim.Vec3(*link["com"]), osim.Inertia(*link["inertia"]))
        turn = osim.Vec3(pi if link["axis"][2] < 0 else 0, 0, 0)  # pins turn about z
        joint = osim.PinJoint(f"joint{k}", before, osim.Vec3(*link["xyz"]), turn, body, osim.Vec3(0), turn)
        joint.updCoordinate().setName(f"q{k}")
        joints.append(f"/jointset/joint{k}/q{k}")
        model.addBody(body)
        model.addJoint(joint)
        motor = osim.CoordinateActuator(f"q{k}")
        motor.setName(f"motor{k}")
        motor.setOptimalForce(task.motors[k])
        motor.setMinControl(-1)
        motor.setMaxControl(1)
        model.addForce(motor)
        before = body
    for strand in task.muscles:
        length = np.array(strand["length"])
        order, dimension = len(length) - 1, len(strand["joints"])
        every = [
            (i, j) for i in range(order + 1) for j in range(length.shape[1] if dimension > 1 else 1) if i + j <= order
        ]
        path = osim.FunctionBasedPath()
        coefficients = osim.Vector.createFromMat(np.array([length[powers] for powers in every]))
        path.setLengthFunction(osim.MultivariatePolynomialFunction(coefficients, dimension, order))
        for k in strand["joints"]:
            path.appendCoordinatePath(joints[k])
        muscle = osim.DeGrooteFregly2016Muscle()
        muscle.setName(strand["name"])
        muscle.set_path(path)
        muscle.set_max_isometric_force(strand["force"])
        muscle.set_optimal_fiber_length(strand["fiber"])
        muscle.set_tendon_slack_length(strand["tendon"])
        muscle.set_pennation_angle_at_optimal(strand["pennation"])
        muscle.set_activation_time_constant(strand["rise"])
        muscle.set_deactivation_time_constant(strand["fall"])
        muscle.set_active_force_width_scale(strand["width"])
        muscle.set_ignore_passive_fiber_force(not strand["strain"])
        muscle.set_passive_fiber_strain_at_one_norm_force(strand["strain"] or 0.6)
        muscle.set_fiber_damping(0.01)
        muscle.set_ignore_tendon_compliance(True)
        muscle.setMinControl(task.least)
        model.addForce(muscle)
    model.finalizeConnections()

    study = osim.MocoStudy()
    problem = study.updProblem()
    problem.setModel(model)
    problem.setTimeBounds(0, task.duration)
    for k, joint in enumerate(joints):
        problem.setStateInfo(f"{joint}/value", [task.lower[k], task.upper[k]], task.start[k], task.end[k])
        problem.setStateInfo(f"{joint}/speed", [-50, 50], 0, 0)
    for strand in task.muscles:
        problem.setStateInfo(f"/forceset/{strand['name']}/activation", [task.least, 1], task.least)
    problem.addGoal(osim.MocoControlGoal("effort"))
    solver = study.initCasADiSolver()
    solver.set_num_mesh_intervals(N)
    solver.set_optim_convergence_tolerance(1e-5)
    solver.set_optim_constraint_tolerance(1e-6)
    solver.set_parallel(0)
    solver.set_verbosity(0)
    solution = study.solve()
    # rise]
    if not solution.success():
        solution.unseal()
    named = [strand["name"] for strand in task.muscles] + [f"motor{k}" for k in range(len(joints))]
    signals = np.stack([solution.getControlMat(f"/forceset/{name}") for name in named], axis=1)
    states = [f"{joint}/{what}" for what in ("value", "speed") for joint in joints]
    states += [f"/forceset/{strand['name']}/activation" for strand in task.muscles]
    return {
        "edges": solution.getTimeMat().tolist(),
        "inside": [-1.0, 1.0],
        "torque": np.stack([signals[:-1], signals[1:]], axis=1).tolist(),
        "state": np.stack([solution.getStateMat(name)[::2] for name in states], axis=1).tolist(),  # between: midpoints
        "cost": float(solution.getObjective()),
        "iterations": int(solution.getNumIterations()),
        "solved": bool(solution.success()),
        "status": solution.getStatus(),
    }


def walk(task: Any, effort: int) -> dict[str, Any]:
    """Half a stride by muscles, with the settings of Moco's example of planar walking; see `Walk`."""
    N = INTERVALS[effort + 1]
    # [walk
    from math import pi

    import numpy as np
    import opensim as osim

    osim.Logger.setLevelString("error")
    model = osim.Model()
    model.setName("walker")
    model.set_gravity(osim.Vec3(*task.gravity))
    bodies, joints = [model.getGround()], []
    for k, link in enumerate(task.links[2:]):  # whose pelvis is on a planar joint
        body = osim.Body(f"link{k + 2}", link["mass"], osim.Vec3(*link["com"]), osim.Inertia(*link["inertia"]))
        before, place, zero = bodies[max(task.parents[k + 2] - 1, 0)], osim.Vec3(*link["xyz"]), osim.Vec3(0)
        if k == 0:
            joint = osim.PlanarJoint("pelvis", before, place, zero, body, zero, zero)
            for name, which in (("q2", 0), ("q0", 1), ("q1", 2)):  # its turn comes first
                joint.upd_coordinates(which).setName(name)
            joints = [f"/jointset/pelvis/q{n}" for n in range(3)]
        else:
            joint = osim.PinJoint(f"joint{k + 2}", before, place, zero, body, zero, zero)
            joint.updCoordinate().setName(f"q{k + 2}")
            joints.append(f"/jointset/joint{k + 2}/q{k + 2}")
        model.addBody(body)
        model.addJoint(joint)
        bodies.append(body)
    for k, size in enumerate(task.motors):
        if size:
            motor = osim.CoordinateActuator(f"q{k}")
            motor.setName(f"motor{k}")
            motor.setOptimalForce(1)
            motor.setMinControl(-size)
            motor.setMaxControl(size)
            model.addForce(motor)
    for strand in task.muscles:
        length = np.array(strand["length"])
        order, dimension = len(length) - 1, len(strand["joints"])
        every = [
            (i, j) for i in range(order + 1) for j in range(length.shape[1] if dimension > 1 else 1) if i + j <= order
        ]
        path = osim.FunctionBasedPath()
        coefficients = osim.Vector.createFromMat(np.array([length[powers] for powers in every]))
        path.setLengthFunction(osim.MultivariatePolynomialFunction(coefficients, dimension, order))
        for k in strand["joints"]:
            path.appendCoordinatePath(joints[k])
        muscle = osim.DeGrooteFregly2016Muscle()
        muscle.setName(strand["name"])
        muscle.set_path(path)
        muscle.set_max_isometric_force(strand["force"])
        muscle.set_optimal_fiber_length(strand["fiber"])
        muscle.set_tendon_slack_length(strand["tendon"])
        muscle.set_pennation_angle_at_optimal(strand["pennation"])
        muscle.set_activation_time_constant(strand["rise"])
        muscle.set_deactivation_time_constant(strand["fall"])
        muscle.set_fiber_damping(0.01)
        muscle.set_ignore_tendon_compliance(True)
        muscle.setMinControl(task.least)
        muscle.setMaxControl(1)
        model.addForce(muscle)
    floor = osim.ContactHalfSpace(osim.Vec3(0), osim.Vec3(0, 0, -pi / 2), model.getGround(), "floor")
    model.addContactGeometry(floor)
    for k, ball in enumerate(task.balls):
        sphere = osim.ContactSphere(ball["radius"], osim.Vec3(*ball["center"]), bodies[ball["link"] - 1], f"ball{k}")
        model.addContactGeometry(sphere)
        contact = osim.SmoothSphereHalfSpaceForce(f"contact{k}", sphere, floor)
        contact.set_stiffness(ball["stiffness"])
        contact.set_dissipation(ball["dissipation"])
        contact.set_static_friction(ball["friction"])
        contact.set_dynamic_friction(ball["friction"])
        contact.set_viscous_friction(ball["viscous"])
        contact.set_transition_velocity(ball["transition"])
        model.addForce(contact)
    model.finalizeConnections()

    names = [f"{joint}/{what}" for what in ("value", "speed") for joint in joints]
    activations = [f"/forceset/{strand['name']}/activation" for strand in task.muscles]
    record = np.hstack([task.q, task.qd])
    if task.speed is None:
        table = osim.TimeSeriesTable()
        table.addTableMetaDataString("inDegrees", "no")
        table.setColumnLabels(names)
        for t, row in zip(task.t, record, strict=True):
            table.appendRow(t, osim.RowVector.createFromMat(row))
        track = osim.MocoTrack()
        track.setModel(osim.ModelProcessor(model))
        track.setStatesReference(osim.TableProcessor(table))
        track.set_states_global_tracking_weight(task.weight)
        track.set_apply_tracked_states_to_guess(True)
        track.set_control_effort_weight(task.weight)
        track.set_initial_time(0)
        track.set_final_time(task.t[-1])
        study = track.initialize()
        problem = study.updProblem()
    else:
        study = osim.MocoStudy()
        problem = study.updProblem()
        problem.setModel(model)
        problem.setTimeBounds(osim.MocoInitialBounds(0), osim.MocoFinalBounds(*task.durations))
        speed = osim.MocoAverageSpeedGoal("speed")
        speed.set_desired_average_speed(task.speed)
        problem.addGoal(speed)
        goal = osim.MocoControlGoal("effort", task.weight)
        goal.setExponent(3)
        goal.setDivideByDisplacement(True)
        problem.addGoal(goal)
        study.initCasADiSolver()
    symmetry = osim.MocoPeriodicityGoal("symmetry")
    n = len(joints)
    for k in range(n):
        problem.setStateInfo(names[k], [task.lower[k], task.upper[k]])
        if k:  # but for the way
            symmetry.addStatePair(osim.MocoPeriodicityGoalPair(names[k], names[task.mirror[k]]))
        symmetry.addStatePair(osim.MocoPeriodicityGoalPair(names[n + k], names[n + task.mirror[k]]))
    for k, name in enumerate(activations):
        problem.setStateInfo(name, [task.least, 1])
        symmetry.addStatePair(osim.MocoPeriodicityGoalPair(name, activations[task.other[k]]))
    problem.addGoal(symmetry)
    solver = osim.MocoCasADiSolver.safeDownCast(study.updSolver())
    solver.set_num_mesh_intervals(N)
    solver.set_optim_convergence_tolerance(1e-4)
    solver.set_optim_constraint_tolerance(1e-4)
    solver.set_optim_max_iterations(1000)
    solver.set_parallel(0)
    solver.set_verbosity(0)
    if task.speed is not None:  # MocoTrack has the same guess, and forward differences; here they are central
        guess = solver.createGuess()
        guess.resampleWithNumTimes(len(task.t))
        guess.setTime(task.t)
        for k, name in enumerate(names):
            guess.setState(name, record[:, k])
        solver.setGuess(guess)
    solution = study.solve()
    # walk]
    if not solution.success():
        solution.unseal()
    times = solution.getTimeMat()
    signals = np.zeros((times.size, len(activations) + n))
    for k, strand in enumerate(task.muscles):
        signals[:, k] = solution.getControlMat(f"/forceset/{strand['name']}")
    for k, size in enumerate(task.motors):
        if size:
            signals[:, len(activations) + k] = solution.getControlMat(f"/forceset/motor{k}") / size
    return {
        "edges": times.tolist(),
        "inside": [-1.0, 1.0],
        "torque": np.stack([signals[:-1], signals[1:]], axis=1).tolist(),
        "state": np.stack([solution.getStateMat(name)[::2] for name in [*names, *activations]], axis=1).tolist(),
        "cost": float(solution.getObjective()),
        "iterations": int(solution.getNumIterations()),
        "solved": bool(solution.success()),
        "status": solution.getStatus(),
    }
