"""Solutions as tables with OpenSim's names: what is in them, and that OpenSim's inverse dynamics says the same."""

# pyright: reportArgumentType=false

import json
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from tests.support.opensim import needs_opensim, run_opensim

DURATION = 0.8  # s
T = np.linspace(0.0, DURATION, 401)
FORCE = np.column_stack([40 * np.sin(6 * T), 300 + 80 * np.cos(5 * T), 15 * np.cos(9 * T)])  # N
POINT = np.column_stack([0.1 + 0.2 * T, 0.0 * T, 0.02 + 0.05 * T**2])  # m
FREE = np.column_stack([0.0 * T, 4 * np.sin(7 * T), 0.0 * T])  # N m


def leg() -> co.Model:
    """A pelvis that moves freely, a thigh that swings."""
    pelvis = co.floating("pelvis", sequence="zxy", mass=11.0, com=(-0.07, 0.02, 0.01), inertia=(0.1, 0.09, 0.06))
    hip = co.revolute(axis=(0, 0, 1), placement=co.placement((-0.07, -0.06, 0.08)), name="hip_flexion_r")
    thigh = co.Body("thigh", hip, "pelvis", mass=9.0, com=(0.01, -0.17, 0.02), inertia=(0.13, 0.03, 0.14))
    return co.Model([*pelvis, thigh])


@pytest.fixture(scope="module")
def solution() -> co.Solution:
    plate = co.problem.ground.recorded("thigh", T, FORCE, POINT, FREE, pieces=200)
    start, end = (0.0, 0.9, 0.0, 0.1, -0.05, 0.0, -0.3), (0.3, 0.95, 0.02, -0.1, 0.1, 0.2, 0.4)
    problem = co.Problem(
        leg(),
        DURATION,
        co.integral(lambda now: ca.sumsqr(now.qdd)),
        [co.initial(q=start, qd=0.2), co.final(q=end, qd=-0.1)],
        loads=[plate],
    )
    return co.solve(problem, co.BSpline(4, degree=5), guess=co.line(start, end), tol=1e-6)


def test_columns_have_names_and_units_and_the_motion(solution: co.Solution):
    names = leg().joint_names
    assert names[:3] == ("pelvis_tx", "pelvis_ty", "pelvis_tz")
    motion, torques = co.storage.coordinate_table(solution), co.storage.torque_table(solution, T)
    assert motion.names == names
    assert tuple(motion.units.values()) == ("m",) * 3 + ("rad",) * 4
    np.testing.assert_array_equal(motion.t, solution.t)
    np.testing.assert_allclose(np.column_stack(list(motion.columns.values())), solution.q, atol=1e-14)
    assert torques.names == (*(f"{name}_force" for name in names[:3]), *(f"{name}_moment" for name in names[3:]))
    np.testing.assert_array_equal(torques["hip_flexion_r_moment"], solution.at(T).tau["hip_flexion_r"])


def test_ground_reactions_are_the_plates(solution: co.Solution):
    table = co.storage.ground_reaction_table(solution, {"r": "thigh"}, T)
    force, point, torque = (table.vector(f"ground_{name}") for name in ("force_r_v", "force_r_p", "torque_r"))
    np.testing.assert_allclose(force, FORCE, atol=1e-5)
    np.testing.assert_allclose(point, POINT, atol=1e-7)
    np.testing.assert_allclose(torque, FREE, atol=1e-5)
    assert table.units["ground_force_r_px"] == "m"


def test_a_reaction_without_weight_is_a_moment_about_the_origin():
    """And two bodies of one foot are one wrench, whose whole is kept whatever the point."""
    loads = [co.Load("pelvis", force=(5.0, 0.0, 1.0), moment=(0.0, 0.0, 2.0)), co.Load("thigh", (1.0, 0.0, 0.0))]
    problem = co.Problem(
        leg(), 1.0, co.integral(lambda now: ca.sumsqr(now.qdd)), [co.initial(q=0.1, qd=0)], loads=loads
    )
    solution = co.solve(problem, co.BSpline(4), guess=co.line([0.1] * 7, [0.1] * 7))
    table = co.storage.ground_reaction_table(solution, {"r": ["thigh", "pelvis"], "l": "thigh"}, [0.0, 0.5])
    np.testing.assert_allclose(table.vector("ground_force_r_v"), [[6.0, 0.0, 1.0]] * 2, atol=1e-14)
    np.testing.assert_array_equal(table.vector("ground_force_r_p"), np.zeros((2, 3)))
    pelvis, thigh = (
        solution.evaluate(lambda now, b=body: now.point(b).position, [0.0, 0.5]) for body in ("pelvis", "thigh")
    )
    moment = np.cross(pelvis, [5.0, 0.0, 1.0]) + np.cross(thigh, [1.0, 0.0, 0.0]) + [0.0, 0.0, 2.0]
    np.testing.assert_allclose(table.vector("ground_torque_r"), moment, atol=1e-12)


def test_phases_are_a_table_of_the_whole(solution: co.Solution):
    effort = co.integral(lambda now: ca.sumsqr(now.qdd))
    parts = [
        co.Problem(leg(), 0.5, effort, conditions) for conditions in ([co.initial(q=0.1, qd=0)], [co.final(q=0.2)])
    ]
    motion = co.solve(co.Phases(dict(zip("ab", parts, strict=True))), co.BSpline(4))
    table = co.storage.coordinate_table(motion)
    assert (np.diff(table.t) > 0).all()
    np.testing.assert_array_equal(table["hip_flexion_r"], motion.at(table.t).q[:, "hip_flexion_r"])


def test_wrong_calls_are_refused(solution: co.Solution):
    for call, message in (
        (lambda: co.storage.coordinate_table(solution.problem), "solution must be a Solution or PhasesSolution"),
        (lambda: co.storage.torque_table(solution, [0.1, 0.1]), "times of a table must rise"),
        (lambda: co.storage.torque_table(solution, [0.0, 5.0]), "t must be one or more times within"),
        (lambda: co.storage.ground_reaction_table(solution, {"r": "pelvis"}), r"got 'pelvis' \(loaded: thigh\)"),
        (lambda: co.storage.ground_reaction_table(solution, {"r": []}), "bodies of foot 'r' must be at least one"),
        (lambda: co.storage.ground_reaction_table(solution, ["thigh"]), "feet must be a mapping"),
        (lambda: co.storage.ground_reaction_table(solution, None), "feet must name at least one foot .* got None"),
        (lambda: co.storage.ground_reaction_table(solution, {}), "feet must name at least one foot"),
    ):
        with pytest.raises(co.InputError, match=message):
            call()


TOOL = """
model = osim.Model()
model.setName("leg")
model.setGravity(osim.Vec3(0, -9.81, 0))
pelvis = osim.Body("pelvis", 11.0, osim.Vec3(-0.07, 0.02, 0.01), osim.Inertia(0.1, 0.09, 0.06))
thigh = osim.Body("thigh", 9.0, osim.Vec3(0.01, -0.17, 0.02), osim.Inertia(0.13, 0.03, 0.14))
transform = osim.SpatialTransform()
for k, (axis, name) in enumerate(zip("zxyxyz", ("rz", "rx", "ry", "tx", "ty", "tz"))):
    part = transform.updTransformAxis(k)
    part.setAxis(osim.Vec3(*(float(axis == other) for other in "xyz")))
    part.setCoordinateNames(osim.ArrayStr("pelvis_" + name, 1))
    part.set_function(osim.LinearFunction(1, 0))
zero = osim.Vec3(0)
root = osim.CustomJoint("root", model.getGround(), zero, zero, pelvis, zero, zero, transform)
hip = osim.PinJoint("hip", pelvis, osim.Vec3(-0.07, -0.06, 0.08), zero, thigh, zero, zero)
hip.updCoordinate().setName("hip_flexion_r")
for part in (pelvis, thigh):
    model.addBody(part)
for joint in (root, hip):
    model.addJoint(joint)
model.finalizeConnections()
model.initSystem()
plate = osim.ExternalForce()
plate.setName("plate")
plate.set_applied_to_body("thigh")
plate.set_force_expressed_in_body("ground")
plate.set_point_expressed_in_body("ground")
plate.set_force_identifier("ground_force_r_v")
plate.set_point_identifier("ground_force_r_p")
plate.set_torque_identifier("ground_torque_r_")
loads = osim.ExternalLoads()
loads.cloneAndAppend(plate)
loads.setDataFileName("grf.mot")
loads.printToXML("loads.xml")
tool = osim.InverseDynamicsTool()
tool.setModel(model)
tool.setCoordinatesFileName("motion.mot")
tool.setExternalLoadsFileName("loads.xml")
tool.setStartTime(0.0)
tool.setEndTime(0.8)
tool.setLowpassCutoffFrequency(-1)
tool.setResultsDir(".")
tool.setOutputGenForceFileName("torques.sto")
assert tool.run()
"""


@needs_opensim
def test_inverse_dynamics_of_opensim_agrees(solution: co.Solution, tmp_path: Path):
    co.formats.write_table(co.storage.coordinate_table(solution, T), tmp_path / "motion.mot", degrees=True)
    reactions = co.storage.ground_reaction_table(solution, {"r": "thigh"}, T)
    co.formats.write_table(reactions, tmp_path / "grf.mot")
    run_opensim(TOOL, tmp_path)
    theirs, ours = co.formats.read_table(tmp_path / "torques.sto"), co.storage.torque_table(solution, T)
    assert set(theirs.names) == set(ours.names)
    assert theirs.units == {name: ours.units[name] for name in theirs.names}
    inside = slice(50, -50)  # its splines through the samples bend at both ends
    for name in ours.names:
        np.testing.assert_allclose(theirs[name][inside], ours[name][inside], atol=2e-8, err_msg=name)  # of 8 decimals
        np.testing.assert_allclose(theirs[name], ours[name], atol=0.25, err_msg=name)


# -- any signal --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tank() -> co.solution.Solution:
    """Two pumps that fill a tank, which has no joints."""
    pumps = co.Unknown("pump", names=("left", "right"), unit="l/s", lower=0.0, upper=2.0)
    level = co.State("level", rate=lambda now: ca.sum1(now.pump), unit="l")
    ends = [co.initial(states={"level": 0.5}), co.final(states={"level": 1.0})]
    cost = co.integral(lambda now: ca.sumsqr(now.pump))
    return co.solve(co.Problem(co.Model.empty(), 2.0, cost, ends, unknowns=[pumps, level]), co.Radau(2))


def test_signals_are_tables_by_component(tank, tmp_path):
    table = co.storage.signal_table(tank, "pump", [0.0, 1.0, 2.0])
    assert table.names == ("left", "right")
    assert table.units == {"left": "l/s", "right": "l/s"}
    np.testing.assert_allclose(table["left"], 0.125, atol=1e-7)
    both = co.storage.signal_table(tank, ["level", "pump"])
    assert both.names == ("level", "pump[left]", "pump[right]")
    np.testing.assert_array_equal(both.t, np.unique(tank.t))
    co.formats.write_table(both, tmp_path / "tank.sto")
    back = co.formats.read_table(tmp_path / "tank.sto")
    np.testing.assert_allclose(back["level"], 0.5 + both.t / 4, atol=1e-7)
    with pytest.raises(co.InputError, match="no signal of the motion named 'flow'"):
        co.storage.signal_table(tank, "flow")
    with pytest.raises(co.InputError, match="no signal of the motion named 'q'"):
        co.storage.coordinate_table(tank)


def test_signals_are_columns_of_text(tank, tmp_path):
    co.storage.to_csv(tank, tmp_path / "tank.csv")
    table = co.formats.read_table(tmp_path / "tank.csv")
    assert table.names == ("pump[left]", "pump[right]", "level")
    assert table.units["pump[left]"] == "l/s"
    np.testing.assert_allclose(table["level"], tank.level[:, 0])


def test_signals_are_kept_in_files(tank, tmp_path):
    co.save(tank, tmp_path / "tank.npz")
    with np.load(tmp_path / "tank.npz") as file:
        np.testing.assert_array_equal(file["signal_pump"], tank.pump)
        meta = json.loads(str(file["meta"]))
    assert meta["phases"][""]["signals"] == {"pump": ["pump[left] [l/s]", "pump[right] [l/s]"], "level": ["level [l]"]}
    back = co.load(tmp_path / "tank.npz", tank.problem)
    np.testing.assert_array_equal(back.pump["right"], tank.pump["right"])
    pump, level = tank.problem.unknowns
    renamed = co.Unknown("pump", names=("left", "middle"), unit="l/s", lower=0.0, upper=2.0)
    other = co.State("level", rate=level.rate, unit="l")
    with pytest.raises(co.InputError, match=r"was saved for signals .*right.* the problem has .*middle"):
        co.load(tmp_path / "tank.npz", replace(tank.problem, unknowns=[renamed, other]))
    assert pump.names == ("left", "right")
