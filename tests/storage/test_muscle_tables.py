"""Tables of muscles and of contact forces: OpenSim's analysis of the same motion has the same forces in its joints."""

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from tests.support.opensim import needs_opensim, run_opensim

V = co.muscles.ViaPoint
POINTS = {
    "biceps": [("upper", (0.0, 0.03, 0.01)), ("forearm", (0.04, 0.01, -0.01))],
    "triceps": [("world", (0.0, -0.05, 0.02)), ("upper", (0.31, -0.03, 0.0)), ("forearm", (0.05, -0.02, 0.01))],
    "deltoid": [("world", (-0.05, 0.04, 0.03)), ("upper", (0.12, 0.02, 0.01))],
}
SLACK = {"biceps": 0.2, "triceps": 0.25, "deltoid": 0.07}  # m
RESERVES = {"shoulder": 100.0, "elbow": 20.0}
T = np.linspace(0.0, 0.5, 251)


@pytest.fixture(scope="module")
def solution() -> co.Solution:
    """An arm that three muscles and reserves bend."""
    upper = co.Body("upper", co.revolute(name="shoulder"), mass=2.0, com=(0.15, 0.01, 0.02), inertia=(0.01, 0.02, 0.02))
    elbow = co.revolute(name="elbow", placement=co.placement((0.3, 0.0, 0.0), (0.2, 0.0, 0.0)))
    forearm = co.Body("forearm", elbow, "upper", mass=1.5, com=(0.12, 0.0, 0.01), inertia=(0.002, 0.02, 0.02))
    model = co.Model([upper, forearm], gravity=(0.0, -9.81, 0.0))
    made = [co.muscles.Muscle(name, _path(places), 800.0, 0.12, SLACK[name]) for name, places in POINTS.items()]
    part = co.muscles.Muscles(model, made, reserves=RESERVES)
    effort = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve))
    ends = [co.initial(q=(-1.2, 0.6), qd=0), co.final(q=(-1.0, 1.4), qd=0)]
    return co.solve(co.Problem(model, 0.5, effort, ends, parts=[part]), co.Radau(12), progress=False, tol=None)


def _path(places: list[tuple[str, tuple[float, ...]]]) -> co.muscles.MusclePath:
    return co.muscles.MusclePath([V(None if body == "world" else body, place) for body, place in places])


def test_columns_of_muscles_have_the_names_of_states(solution: co.Solution, tmp_path: Path):
    table = co.storage.muscle_table(solution, T)
    assert table.names == tuple(
        f"/forceset/{name}/{what}" for what in ("activation", "fiber_length") for name in POINTS
    )
    np.testing.assert_array_equal(table["/forceset/biceps/activation"], solution.at(T).activation["biceps"])
    assert table.units["/forceset/biceps/fiber_length"] == "m"
    co.formats.write_table(table, tmp_path / "states.sto")
    assert co.formats.read_table(tmp_path / "states.sto").names == table.names
    with pytest.raises(co.InputError, match="a table of muscles needs a motion with muscles"):
        co.storage.muscle_table(_still())


def _still() -> co.Solution:
    model = co.Model([co.Body("rod", co.revolute(), mass=1.0, inertia=(0.1, 0.1, 0.1))])
    problem = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), [co.initial(q=0.0, qd=0.0)])
    return co.solve(problem, co.BSpline(4), progress=False)


def test_a_contact_force_is_in_the_world(solution: co.Solution, tmp_path: Path):
    table = co.storage.joint_contact_table(solution, ["upper", "forearm"], T)
    force = np.einsum(
        "nij,nj->ni", *solution.evaluate(lambda now: (now.rotation("forearm"), now.joint_contact("forearm").force), T)
    )
    np.testing.assert_allclose(table.vector("elbow_on_forearm_in_ground_f"), force, atol=1e-9)
    place = solution.evaluate(lambda now: now.point("upper", (0.3, 0.0, 0.0)).position, T)
    np.testing.assert_allclose(table.vector("elbow_on_forearm_in_ground_p"), place, atol=1e-12)
    co.formats.write_table(table, tmp_path / "contact.sto")
    assert co.formats.read_table(tmp_path / "contact.sto").units == table.units


ANALYSIS = """
osim.Logger.setLevelString("error")  # it always warns that forces come from a file
points, model = {points!r}, osim.Model()
model.setName("arm")
model.setGravity(osim.Vec3(0, -9.81, 0))
upper = osim.Body("upper", 2.0, osim.Vec3(0.15, 0.01, 0.02), osim.Inertia(0.01, 0.02, 0.02))
forearm = osim.Body("forearm", 1.5, osim.Vec3(0.12, 0.0, 0.01), osim.Inertia(0.002, 0.02, 0.02))
zero = osim.Vec3(0)
shoulder = osim.PinJoint("shoulder", model.getGround(), zero, zero, upper, zero, zero)
elbow = osim.PinJoint("elbow", upper, osim.Vec3(0.3, 0, 0), osim.Vec3(0.2, 0, 0), forearm, zero, zero)
frames = dict(world=model.getGround(), upper=upper, forearm=forearm)
for body, joint in ((upper, shoulder), (forearm, elbow)):
    joint.updCoordinate().setName(joint.getName())
    model.addBody(body)
    model.addJoint(joint)
for name, places in points.items():
    actuator = osim.PathActuator()
    actuator.setName(name)
    for k, (body, place) in enumerate(places):
        actuator.addNewPathPoint(name + str(k), frames[body], osim.Vec3(*place))
    model.addForce(actuator)
for name in ("shoulder", "elbow"):
    actuator = osim.CoordinateActuator(name)
    actuator.setName("reserve_" + name)
    model.addForce(actuator)
model.finalizeConnections()
model.printToXML("arm.osim")
analysis = osim.JointReaction()
analysis.setName("JointReaction")
analysis.setForcesFileName("forces.sto")
tool = osim.AnalyzeTool()
tool.setName("arm")
tool.setModelFilename("arm.osim")
tool.updAnalysisSet().cloneAndAppend(analysis)
tool.setCoordinatesFileName("motion.mot")
tool.setStartTime(0.0)
tool.setFinalTime(0.5)
tool.setResultsDir(".")
tool.printToXML("setup.xml")
assert osim.AnalyzeTool("setup.xml").run()
"""


@needs_opensim
def test_opensims_analysis_has_the_same_forces_in_the_joints(solution: co.Solution, tmp_path: Path):
    """From the motion, the tendon forces and the reserves in files, within 1e-3 of the arm's weight."""
    co.formats.write_table(co.storage.coordinate_table(solution, T), tmp_path / "motion.mot")
    forces, reserves = (co.storage.signal_table(solution, name, T) for name in ("tendon_force", "reserve"))
    columns = dict(forces.columns) | {f"reserve_{k}": RESERVES[k] * values for k, values in reserves.columns.items()}
    co.formats.write_table(co.formats.TimeSeriesTable(T, columns), tmp_path / "forces.sto")
    run_opensim(ANALYSIS.format(points=POINTS), tmp_path)
    theirs = co.formats.read_table(tmp_path / "arm_JointReaction_ReactionLoads.sto")
    ours = co.storage.joint_contact_table(solution, ["upper", "forearm"], theirs.t)
    assert set(ours.names) <= set(theirs.names)
    assert {name: theirs.units[name] for name in ours.names} == ours.units
    inside, weight = slice(20, -20), 3.5 * 9.81  # N; its splines through the samples bend at both ends
    for name in ours.names:
        np.testing.assert_allclose(theirs[name][inside], ours[name][inside], atol=1e-3 * weight, err_msg=name)
