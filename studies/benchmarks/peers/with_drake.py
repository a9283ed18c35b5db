"""The problems in Drake: its own direct collocation, exact gradients, its choice of solver (SNOPT)."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any

INTERVALS = (25, 50, 100, 200)


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest, torques linear on every interval."""
    N = arm.intervals or INTERVALS[effort]
    # [reach
    import numpy as np
    from pydrake.all import DirectCollocation, MultibodyPlant, Parser, PiecewisePolynomial, Solve

    plant = MultibodyPlant(time_step=0.0)
    Parser(plant).AddModels(arm.urdf)
    plant.mutable_gravity_field().set_gravity_vector(arm.gravity)
    plant.Finalize()
    free = arm.duration is None
    shortest, longest = (arm.guess / 10, arm.guess * 5) if free else (arm.duration, arm.duration)
    port = plant.get_actuation_input_port().get_index()
    context = plant.CreateDefaultContext()
    dircol = DirectCollocation(plant, context, N + 1, shortest / N, longest / N, input_port_index=port)
    dircol.AddEqualTimeIntervalsConstraints()
    prog, u = dircol.prog(), dircol.input()
    still = np.zeros(len(arm.start))
    prog.AddLinearEqualityConstraint(dircol.initial_state(), np.concatenate([arm.start, still]))
    prog.AddLinearEqualityConstraint(dircol.final_state(), np.concatenate([arm.end, still]))
    most = np.array([torque for torque in arm.torque if torque])
    states = np.concatenate([arm.position, arm.speed])
    for k in range(N + 1):
        prog.AddBoundingBoxConstraint(-most, most, dircol.input(k))
        prog.AddBoundingBoxConstraint(-states, states, dircol.state(k))
    if free:
        dircol.AddFinalCost(dircol.time())
    else:
        dircol.AddRunningCost(u.dot(u))
    ends = np.transpose([np.concatenate([arm.start, still]), np.concatenate([arm.end, still])])
    line = PiecewisePolynomial.FirstOrderHold([0.0, arm.duration or arm.guess], ends)
    dircol.SetInitialTrajectory(PiecewisePolynomial(), line)
    result = Solve(prog)
    # reach]
    torque = np.array([plant.MakeActuationMatrix() @ result.GetSolution(dircol.input(k)) for k in range(N + 1)])
    return {
        "edges": dircol.GetSampleTimes(result).ravel().tolist(),
        "inside": [-1.0, 1.0],
        "torque": np.stack([torque[:-1], torque[1:]], axis=1).tolist(),
        "cost": float(result.get_optimal_cost()),
        "iterations": None,  # not available from SNOPT through Drake
        "solved": bool(result.is_success()),
        "status": result.get_solution_result().name,
    }


def step(task: Any, effort: int) -> dict[str, Any]:
    """From strike to strike, torques linear on every interval."""
    N = INTERVALS[effort]
    # [step
    import numpy as np
    from pydrake.all import DirectCollocation, JacobianWrtVariable, MultibodyPlant, Parser, PiecewisePolynomial, Solve

    plants = []
    for file in (task.urdf, task.loose):
        plant = MultibodyPlant(time_step=0.0)
        Parser(plant).AddModels(file)
        plant.mutable_gravity_field().set_gravity_vector(task.gravity)
        plant.Finalize()
        plants.append(plant)
    n, swap, context = len(task.start), np.array(task.swap), plants[0].CreateDefaultContext()
    port = plants[0].get_actuation_input_port().get_index()
    dt = task.duration / N
    dircol = DirectCollocation(plants[0], context, N + 1, dt, dt, input_port_index=port)
    dircol.AddEqualTimeIntervalsConstraints()
    prog, u = dircol.prog(), dircol.input()
    kinds = {np.dtype(float): plants, np.dtype(object): [plant.ToAutoDiffXd() for plant in plants]}
    contexts = {kind: [plant.CreateDefaultContext() for plant in pair] for kind, pair in kinds.items()}

    def foot(x):
        """Place and velocity of the swinging foot."""
        plant, context = kinds[x.dtype][0], contexts[x.dtype][0]
        plant.SetPositionsAndVelocities(context, x)
        frame, world = plant.GetFrameByName(f"link{n - 1}"), plant.world_frame()
        rates = JacobianWrtVariable.kV, frame, task.foot, world, world
        place = plant.CalcPointsPositions(context, frame, task.foot, world)
        return place[:2, 0], (plant.CalcJacobianTranslationalVelocity(context, *rates) @ x[n:])[:2]

    def strike(x):
        """Gain in joint momenta of the chain that begins at the striking foot, and the position of the foot."""
        (start, end), (loose, state) = np.split(x, 2), (kinds[x.dtype][1], contexts[x.dtype][1])
        place, speed = foot(end)
        loose.SetPositions(state, np.concatenate([0 * speed, start[:n]]))
        jump = np.concatenate([-speed, start[n:] - swap @ end[n:]])
        return np.concatenate([(loose.CalcMassMatrix(state) @ jump)[2:], place])

    first, last = dircol.initial_state(), dircol.final_state()
    target = np.concatenate([np.zeros(n), [task.length, 0]])
    prog.AddConstraint(strike, target, target, np.concatenate([first, last]))
    prog.AddLinearEqualityConstraint(first[:n] - swap @ last[:n], np.zeros(n))
    prog.AddConstraint(lambda x: foot(x)[1][1:], [0], [np.inf], first)
    prog.AddConstraint(lambda x: foot(x)[1][1:], [-np.inf], [0], last)
    dircol.AddRunningCost(u.dot(u))
    ends = np.transpose([[*task.start, *np.zeros(n)], [*task.end, *np.zeros(n)]])
    line = PiecewisePolynomial.FirstOrderHold([0.0, task.duration], ends)
    dircol.SetInitialTrajectory(PiecewisePolynomial(), line)
    result = Solve(prog)
    # step]
    torque = np.array([plants[0].MakeActuationMatrix() @ result.GetSolution(dircol.input(k)) for k in range(N + 1)])
    return {
        "edges": dircol.GetSampleTimes(result).ravel().tolist(),
        "inside": [-1.0, 1.0],
        "torque": np.stack([torque[:-1], torque[1:]], axis=1).tolist(),
        "state": result.GetSolution(first).tolist(),
        "cost": float(result.get_optimal_cost()),
        "iterations": None,  # not available from SNOPT through Drake
        "solved": bool(result.is_success()),
        "status": result.get_solution_result().name,
    }


def inverse_dynamics(body: Any, effort: int) -> dict[str, Any]:
    """Torques, and all first derivatives by its automatic differentiation, of a batch of samples."""
    # [inverse_dynamics
    import numpy as np
    from pydrake.all import AutoDiffXd, MultibodyForces, MultibodyForces_, MultibodyPlant, Parser
    from pydrake.autodiffutils import ExtractGradient, InitializeAutoDiff

    plant = MultibodyPlant(time_step=0.0)
    Parser(plant).AddModels(body.urdf)
    plant.mutable_gravity_field().set_gravity_vector(body.gravity)
    plant.Finalize()
    # inverse_dynamics]
    places = [
        plant.get_joint(index).name() for index in plant.GetJointIndices() if plant.get_joint(index).num_positions()
    ]
    starts = [plant.GetJointByName(name).position_start() for name in places]
    names = [places[k] for k in np.argsort(starts)]
    order = [body.names.index(name) for name in names]
    samples = [np.array(part)[:, order] for part in (body.q, body.qd, body.qdd)]
    n, context, forces = len(names), plant.CreateDefaultContext(), MultibodyForces(plant)
    twin = plant.ToAutoDiffXd()
    shadow, loads = twin.CreateDefaultContext(), MultibodyForces_[AutoDiffXd](twin)

    def torques(count: int = len(body.q)) -> list[Any]:
        values = []
        for q, v, a in zip(*(part[:count] for part in samples), strict=True):
            plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
            plant.CalcForceElementsContribution(context, forces)
            values.append(plant.CalcInverseDynamics(context, a, forces))
        return values

    def derivatives() -> None:
        for q, v, a in zip(*(part[:20] for part in samples), strict=True):
            both = InitializeAutoDiff(np.concatenate([q, v, a])).ravel()
            twin.SetPositionsAndVelocities(shadow, both[: 2 * n])
            twin.CalcForceElementsContribution(shadow, loads)
            ExtractGradient(twin.CalcInverseDynamics(shadow, both[2 * n :], loads))

    return {
        "calls": {"torque": (torques, len(body.q)), "derivatives": (derivatives, 20)},
        "values": torques(1)[0].tolist(),
        "names": names,
    }
