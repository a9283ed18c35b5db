"""MuJoCo's files, against MuJoCo."""

import builtins
import math
import re
from pathlib import Path
from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pytest

import colloc as co
from colloc.model.kinematics import frames

mj: Any = mujoco  # its names are not typed
SLIDE, HINGE = 2, 3


def numbers(values: Any) -> str:
    return " ".join(map(repr, np.asarray(values, dtype=float).tolist()))


def random_body(rng: np.random.Generator, name: str, joints: str, inner: str = "") -> str:
    turn = rng.normal(size=4)
    inertial = (
        f'<inertial pos="{numbers(rng.normal(size=3))}" quat="{numbers(rng.normal(size=4))}" '
        f'mass="{rng.uniform(1, 3)}" diaginertia="{numbers(rng.uniform(1, 1.5, 3))}"/>'
    )
    site = f'<site name="on_{name}" pos="{numbers(rng.normal(size=3))}"/>'
    place = f'pos="{numbers(rng.normal(size=3))}" quat="{numbers(turn)}"'
    return f'<body name="{name}" {place}>{inertial}{joints}{site}{inner}</body>'


def random_joint(rng: np.random.Generator, name: str, kind: str) -> str:
    """Anywhere in its body, with a reference and all that a joint does of itself."""
    where = f'axis="{numbers(rng.normal(size=3))}" pos="{numbers(rng.normal(size=3))}"'
    spring = f'stiffness="{rng.uniform(1, 2)}" springref="{rng.uniform(-1, 1)}" ref="{rng.uniform(-1, 1)}"'
    rest = f'damping="{rng.uniform(0, 1)}" armature="{rng.uniform(0, 1)}"'
    return f'<joint name="{name}" type="{kind}" {where} {spring} {rest}/>'


def random_file(rng: np.random.Generator, equality: str = "") -> str:
    """A body that flies, with an arm of two joints in one body, a ball, and a slide."""
    slide = random_body(rng, "slider", random_joint(rng, "along", "slide"))
    ball = random_body(rng, "head", f'<joint name="neck" type="ball" pos="{numbers(rng.normal(size=3))}"/>', slide)
    both = random_joint(rng, "lift", "hinge") + random_joint(rng, "reach", "slide") + random_joint(rng, "turn", "hinge")
    trunk = random_body(rng, "trunk", '<freejoint name="root"/>', random_body(rng, "arm", both) + ball)
    stand = random_body(rng, "stand", "", random_body(rng, "lever", random_joint(rng, "swing", "hinge")))
    return (
        f'<mujoco model="things"><compiler angle="radian"/><option gravity="1 2 -9"/>'
        f"<worldbody>{trunk}{stand}</worldbody>{equality}</mujoco>"
    )


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "model.xml"
    path.write_text(text, encoding="utf-8")
    return path


def turned(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation Rz Ry Rx, and the matrix that makes angular velocities in the turned axes of rates of the angles."""
    (cz, cy, cx), (sz, sy, sx) = np.cos(angles), np.sin(angles)
    Rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    Ry = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    Rx = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    return Rz @ Ry @ Rx, np.array([[-sy, 0, 1], [cy * sx, cx, 0], [cy * cx, -sx, 0]])


def turning(angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Time derivative of that matrix."""
    (_, cy, cx), (_, sy, sx), (_, dy, dx) = np.cos(angles), np.sin(angles), rates
    return np.array(
        [[-cy * dy, 0, 0], [-sy * dy * sx + cy * cx * dx, -sx * dx, 0], [-sy * dy * cx - cy * sx * dx, -cx * dx, 0]]
    )


def in_mujoco(
    theirs: Any, names: tuple[str, ...], q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[Any, np.ndarray]:
    """The state there, and T with the rates there T qd: angles in a row here are quaternions there."""
    data, T, bias = mj.MjData(theirs), np.zeros((theirs.nv, len(names))), np.zeros(theirs.nv)
    for j in range(theirs.njnt):
        name, at, dof = theirs.joint(j).name, int(theirs.jnt_qposadr[j]), int(theirs.jnt_dofadr[j])
        if theirs.jnt_type[j] in (SLIDE, HINGE):
            data.qpos[at], T[dof, names.index(name)] = q[names.index(name)], 1.0
            continue
        if theirs.jnt_type[j] == 0:
            places = [names.index(f"{name}_t{axis}") for axis in "xyz"]
            data.qpos[at : at + 3], T[dof : dof + 3, places] = q[places], np.eye(3)
            at, dof = at + 3, dof + 3
        angles = [names.index(f"{name}_r{axis}") for axis in "zyx"]
        rotation, B = turned(q[angles])
        quaternion = np.zeros(4)
        mj.mju_mat2Quat(quaternion, rotation.ravel())
        data.qpos[at : at + 4], T[dof : dof + 3, angles] = quaternion, B
        bias[dof : dof + 3] = turning(q[angles], qd[angles]) @ qd[angles]
    data.qvel[:], data.qacc[:] = T @ qd, T @ qdd + bias
    mj.mj_inverse(theirs, data)
    return data, T


@pytest.mark.parametrize("seed", range(6))
def test_torques_masses_and_sites_are_those_of_mujoco(tmp_path, seed):
    rng = np.random.default_rng(seed)
    text = random_file(rng)
    model = co.formats.from_mjcf(written(tmp_path, text), balls="angles").model
    theirs = mj.MjModel.from_xml_string(text)
    assert (model.name, model.gravity.tolist(), model.n) == ("things", [1.0, 2.0, -9.0], theirs.nv)
    q, qd, qdd = rng.uniform(-1, 1, model.n), *rng.normal(size=(2, model.n))
    data, T = in_mujoco(theirs, model.joint_names, q, qd, qdd)
    evaluator = co.Evaluator(model)
    expected = T.T @ data.qfrc_inverse
    np.testing.assert_allclose(evaluator.torque(q, qd, qdd), expected, atol=1e-11 * np.abs(expected).max())
    mass = np.zeros((theirs.nv, theirs.nv))
    mj.mj_fullM(theirs, data, mass)
    np.testing.assert_allclose(evaluator.mass_matrix(q), T.T @ mass @ T, atol=1e-11 * np.abs(mass).max())
    np.testing.assert_allclose(evaluator.forward_dynamics(q, qd, expected), qdd, rtol=1e-8, atol=1e-8)
    for name, (body, point) in model.markers.items():
        place = evaluator.point(body, np.array(ca.DM(point)).ravel(), q=q).position
        np.testing.assert_allclose(place, data.site(name).xpos, atol=1e-12)


@pytest.mark.parametrize("chart", [{}, {"balls": "angles"}])
def test_postures_are_those_of_the_file(tmp_path, chart):
    text = random_file(np.random.default_rng(9))
    theirs = mj.MjModel.from_xml_string(text)
    qpos = np.random.default_rng(10).normal(size=theirs.nq)
    key = f'<keyframe><key name="jump" qpos="{numbers(qpos)}"/></keyframe></mujoco>'
    reading = co.formats.from_mjcf(written(tmp_path, text.replace("</mujoco>", key)), **chart)
    data, evaluator = mj.MjData(theirs), co.Evaluator(reading.model)
    for name, posture in reading.postures.items():
        data.qpos[:] = theirs.qpos0 if name == "initial" else qpos
        mj.mj_kinematics(theirs, data)
        q = [posture[position] for position in reading.model.position_names]
        for body in ("trunk", "arm", "head", "slider", "lever"):
            np.testing.assert_allclose(evaluator.point(body, q=q).position, data.body(body).xpos, atol=1e-12)
    assert list(reading.postures) == ["initial", "jump"]


def test_couplings_are_the_models(tmp_path):
    equality = (
        '<equality><joint joint1="turn" joint2="lift" polycoef="0.3 -2 0 0 0"/>'
        '<joint joint1="along" joint2="turn" polycoef="0.1 0.5 0 0 0"/>'
        '<joint joint1="reach" polycoef="0.2 0 0 0 0"/>'
        '<joint name="bent" joint1="swing" joint2="lift" polycoef="0 1 1 0 0"/>'
        '<joint name="again" joint1="swing" joint2="turn"/></equality>'
    )
    rng = np.random.default_rng(4)
    text = random_file(rng, equality)
    with pytest.warns(co.support.InputWarning, match="coupling that is a joint's second, 'again'$"):
        reading = co.formats.from_mjcf(written(tmp_path, text), balls="angles")
    model, theirs = reading.model, mj.MjModel.from_xml_string(text)
    assert set(model.couplings) == {"turn", "along", "swing"}
    assert {coupling.joint for coupling in model.couplings.values()} == {"lift"}
    assert "1 coupling that is a joint's second of joints: again" in reading.left_out
    assert reading.changed == ("joint 'reach' is held where an equality constraint holds it",)
    uncoupled = written(tmp_path, random_file(np.random.default_rng(4)))
    free = co.formats.from_mjcf(uncoupled, balls="angles").model
    q, qd, qdd = rng.uniform(-1, 1, model.n), *rng.normal(size=(2, model.n))
    every = np.zeros((3, free.n))
    for values, offset, which in zip(every, (1.0, 0.0, 0.0), (q, qd, qdd), strict=True):
        by_name = dict(zip(model.joint_names, which, strict=True))
        reference = {name: offset * float(theirs.qpos0[theirs.joint(name).qposadr[0]]) for name in free_hinges(theirs)}
        by_name["turn"] = reference["turn"] + 0.3 * offset - 2 * (by_name["lift"] - reference["lift"])
        by_name["along"] = reference["along"] + 0.1 * offset + 0.5 * (by_name["turn"] - reference["turn"])
        by_name["reach"] = reference["reach"] + 0.2 * offset
        away = q[list(model.joint_names).index("lift")] - float(theirs.qpos0[theirs.joint("lift").qposadr[0]])
        by_name["swing"] = reference["swing"] + away + away**2 if offset else (1 + 2 * away) * by_name["lift"]
        values[:] = [by_name[name] for name in free.joint_names]
    swing = free.joint_names.index("swing")
    every[2, swing] += 2 * qd[list(model.joint_names).index("lift")] ** 2
    data, _ = in_mujoco(theirs, free.joint_names, *every)
    np.testing.assert_allclose(data.efc_pos[:4], 0.0, atol=1e-12)  # all but the second of a joint are met there
    loose = co.Evaluator(free).torque(*every)
    C = np.zeros((free.n, model.n))
    for row, name in enumerate(free.joint_names):
        if name == "turn":
            C[row, model.joint_names.index("lift")] = -2.0
        elif name == "along":
            C[row, model.joint_names.index("lift")] = -1.0
        elif name == "swing":
            C[row, model.joint_names.index("lift")] = 1 + 2 * away
        elif name != "reach":
            C[row, model.joint_names.index(name)] = 1.0
    np.testing.assert_allclose(co.Evaluator(model).torque(q, qd, qdd), C.T @ loose, rtol=1e-10, atol=1e-10)


def free_hinges(theirs: Any) -> list[str]:
    return [theirs.joint(j).name for j in range(theirs.njnt) if theirs.jnt_type[j] in (SLIDE, HINGE)]


FOUR_BAR = """<mujoco model="four_bar"><compiler angle="radian"/><option gravity="0 0 -9.81"/>
<worldbody><body name="crank"><joint name="crank" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/>
  <body name="coupler" pos="0 0 0.3"><joint name="coupler" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0.8 0 0" size="0.02"/><site name="end" pos="0.8 0 0" euler="0 0.2 0.1"/>
  </body></body>
  <body name="rocker" pos="0.8 0 -0.1"><joint name="rocker" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.02"/><site name="top" pos="0 0 0.4"/></body>
</worldbody>
<equality>{}</equality></mujoco>"""
CONNECTS = {
    "bodies": '<connect name="pin" body1="coupler" body2="rocker" anchor="0.8 0 0"/>',
    "sites": '<connect name="pin" site1="end" site2="top"/>',
    "world": '<connect name="pin" body1="coupler" anchor="0.7 0 0.1"/>',
}


@pytest.mark.parametrize("case", CONNECTS)
def test_connects_are_loops(tmp_path, case):
    text = FOUR_BAR.format(CONNECTS[case])
    reading = co.formats.from_mjcf(written(tmp_path, text))
    theirs = mj.MjModel.from_xml_string(text)
    data = mj.MjData(theirs)
    (loop,) = reading.loops
    assert (loop.name, loop.kind) == ("pin", "spherical")
    data.qpos[:] = [0.3, -0.5, 0.8]
    mj.mj_forward(theirs, data)
    first, second = (
        co.Evaluator(reading.model).point(f.body, np.array(ca.DM(f.placement))[:3, 3], q=data.qpos).position
        if f.body
        else np.array(ca.DM(f.placement))[:3, 3]
        for f in (loop.first, loop.second)
    )
    np.testing.assert_allclose(first - second, data.efc_pos[:3], atol=1e-12)


def test_a_four_bar_of_a_file_moves_as_mujocos(tmp_path):
    """Forward dynamics of MuJoCo with a stiff constraint, at a closed posture and rates."""
    stiff = CONNECTS["bodies"].replace("/>", ' solref="0.0005 1" solimp="0.9999 0.99999 0.001"/>')
    text = FOUR_BAR.format(stiff)
    reading = co.formats.from_mjcf(written(tmp_path, text))
    chain = co.loops.ClosedChain(reading.model, reading.loops, actuators=["crank"], guess=0.1)
    theirs = mj.MjModel.from_xml_string(text)
    theirs.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONTACT)
    data = mj.MjData(theirs)
    q = co.loops.assemble(chain, np.array([[0.2]]), chain.posture)[0]
    evaluator = co.loops.ChainEvaluator(chain)
    moving = evaluator.motion(q, [1.0], [0.0])
    data.qpos[:], data.qvel[:] = q, moving.qd
    mj.mj_forward(theirs, data)
    torque = evaluator.forces(q, [1.0], [data.qacc[0]]).tau
    assert abs(torque[0]) < 1e-3  # nothing drives theirs; it is as soft as that
    np.testing.assert_allclose(evaluator.motion(q, [1.0], [data.qacc[0]]).qdd, data.qacc, rtol=1e-3)


def test_welds_hold_what_mujocos_hold(tmp_path):
    """The file's posture, in which a weld without a relative pose holds the bodies, and one with a pose."""
    for pose in ("", ' relpose="0.1 0.2 0.3 0.5 0.5 0.5 0.5" anchor="0.3 0.2 0.1"'):
        weld = f'<weld name="glue" body1="coupler" body2="rocker"{pose}/>'
        text = FOUR_BAR.format(weld)
        reading, theirs = co.formats.from_mjcf(written(tmp_path, text)), mj.MjModel.from_xml_string(text)
        data = mj.MjData(theirs)
        data.qpos[:] = [0.3, -0.5, 0.8]
        mj.mj_forward(theirs, data)
        (loop,) = reading.loops
        frames = [loop_frame(reading.model, f, np.array(data.qpos)) for f in (loop.first, loop.second)]
        np.testing.assert_allclose(frames[0][:3, 3] - frames[1][:3, 3], data.efc_pos[:3], atol=1e-12)
        turn = frames[0][:3, :3].T @ frames[1][:3, :3]
        angle = math.acos((np.trace(turn) - 1) / 2)
        torque_scale = theirs.eq_data[0][10]
        assert np.linalg.norm(data.efc_pos[3:6]) == pytest.approx(torque_scale * 2 * math.sin(angle / 2) / 2, rel=1e-9)


def loop_frame(model: co.Model, frame: Any, q: np.ndarray) -> np.ndarray:
    symbols = ca.SX.sym("q", model.n)
    now = co.problem.Instant(model, ca.SX(0), ca.SX(0), symbols, 0 * symbols, 0 * symbols, 0 * symbols)
    return np.array(ca.Function("f", [symbols], [now.frame(frame.body) @ frame.placement])(q))


MOTORS = """<mujoco><compiler angle="degree"/><worldbody>
<body name="a"><joint name="a" range="-90 90" damping="0.2" frictionloss="0.3"/><geom size="0.1"/>
  <body name="b" pos="1 0 0"><joint name="b" actuatorfrclimited="true" actuatorfrcrange="-3 9"/><geom size="0.1"/>
    <body name="c" pos="1 0 0"><joint name="c"/><geom size="0.1"/>
      <body pos="1 0 0"><joint/><geom size="0.1"/><site name="s"/></body></body></body></body>
<site name="there"/></worldbody>
<tendon><fixed name="rope"><joint joint="c" coef="2"/></fixed></tendon>
<actuator><motor joint="a" gear="-50" ctrlrange="-1 2" ctrllimited="true"/>
<position joint="b" kp="10" forcerange="-7 7" gear="2"/><motor name="pull" tendon="rope"/></actuator>
<sensor><jointpos joint="a"/></sensor></mujoco>"""


def test_motors_are_limits_of_torque_and_gears(tmp_path):
    reading = co.formats.from_mjcf(written(tmp_path, MOTORS), friction_velocity=0.05)
    model = reading.model
    assert [body.name for body in model.bodies] == ["a", "b", "c", "body4"]
    assert model.joint_names == ("a", "b", "c", "body4_joint0")
    assert dict(reading.gears) == {"a": -50.0, "b": 2.0}
    low, high = model.limits("torque")
    assert low.tolist() == [-100.0, -3.0, -math.inf, 0.0]  # the last has no actuator, of the rope nothing is known
    assert high.tolist() == [50.0, 9.0, math.inf, 0.0]
    assert model.limits("position")[1].tolist() == [pytest.approx(math.pi / 2), math.inf, math.inf, math.inf]
    friction = model.joints[0].passive.friction
    assert friction is not None
    assert (float(friction.level), float(friction.velocity)) == (0.3, 0.05)
    assert reading.left_out == (
        "1 law of an actuator, but for its limits of force, of the file: actuator1",
        "1 actuator of tendons, sites or bodies of the file: pull",
        "1 site of the world of the file: there",
        "1 <tendon> of the file: rope",
        "1 <sensor> of the file",
    )


DRONE = """<mujoco><option timestep="0.001"/><compiler angle="radian"/><worldbody><body name="drone">
<freejoint name="base"/><inertial pos="0.01 0 0.02" mass="0.4" diaginertia="0.002 0.003 0.004"/>
<site name="left" pos="0 0.2 0.01" quat="0.9 0.1 0.3 0.2"/><site name="right" pos="0 -0.2 0"/><site name="middle"/>
</body></worldbody><actuator>
<motor name="left" site="left" gear="0 0 2 0 0 0.06" ctrlrange="0 3" ctrllimited="true"/>
<motor name="right" site="right" gear="0 0 -2 0 0 0.02" ctrlrange="-3 0" ctrllimited="true"/>
<motor name="wheel" site="middle" gear="0 0 0 -0.1 0 0" ctrlrange="-2 3" ctrllimited="true"/>
<motor name="other wheel" site="middle" gear="0 0 0 0 0 0.2" ctrlrange="-1 1" ctrllimited="true"/>
</actuator></mujoco>"""


def test_motors_at_sites_are_thrusters_and_turns_of_a_free_body(tmp_path):
    """Accelerations of a motion by them are MuJoCo's."""
    path = written(tmp_path, DRONE)
    reading = co.formats.from_mjcf(path)
    assert (str(reading).split("read ")[1], reading.left_out) == (
        "7 bodies, 6 joints that move, 3 markers, 1 posture, 2 gear ratios, 2 thrusters",
        (),
    )
    assert [(thruster.lower, thruster.upper) for thruster in reading.thrusters] == [(0.0, 6.0), (-6.0, 0.0)]
    low, high = reading.model.limits("torque")
    np.testing.assert_allclose(low, [0, 0, 0, -0.3, 0, -0.2], rtol=0, atol=1e-15)
    np.testing.assert_allclose(high, [0, 0, 0, 0.2, 0, 0.2], rtol=0, atol=1e-15)
    problem = co.Problem(
        reading.model,
        0.1,
        co.integral(lambda now: ca.sumsqr(now.thrust - ca.DM([2.0, -3.0])) + 100 * (now.motor[1] - 0.05) ** 2),
        [co.initial(q=[0, 0, 0, 0.5, 0.5, -0.5, 0.5], qd=[0.1, 0.2, 0.3, 1.0, -2.0, 1.0])],
        parts=[co.problem.Thrusters(reading.thrusters), reading.motors],
    )
    solution = co.solve(problem, co.Radau(4))
    assert solution.status is co.solver.Status.SOLVED
    model = mj.MjModel.from_xml_path(str(path))
    data = mj.MjData(model)
    now = solution.at(0.1)  # a point of collocation
    data.qpos[:], data.qvel[:] = now.q, now.qd
    data.ctrl[:] = now.thrust[0] / 2, now.thrust[1] / 2, now.motor[0] / -0.1, now.motor[1] / 0.2
    mj.mj_forward(model, data)
    np.testing.assert_allclose(now.qdd, data.qacc, rtol=0, atol=1e-7)


def test_a_drones_joints_have_no_forces_of_their_own(tmp_path):
    site = '<site name="s"/></body></worldbody><actuator><motor site="s" gear="{}"/></actuator></mujoco>'
    hinge = '<body><joint name="h"/><geom size="0.1"/></body></body></worldbody><actuator><motor joint="h"/></actuator>'
    base = '<mujoco><worldbody><body name="drone"><freejoint name="base"/><geom size="0.1"/>'
    lifted = co.formats.from_mjcf(written(tmp_path, base + site.format("0 0 1 0 0 0")))
    assert lifted.model.limits("torque")[1].tolist() == [0.0] * 6
    driven = co.formats.from_mjcf(written(tmp_path, f"{base}{hinge}</mujoco>"))
    assert driven.model.limits("torque")[1].tolist() == [0.0] * 6 + [math.inf]
    screw = co.formats.from_mjcf(written(tmp_path, base + site.format("0 0 1 1 0 0")))  # not read
    assert screw.model.limits("torque")[1].tolist() == [math.inf] * 6
    assert screw.left_out == ("1 actuator of tendons, sites or bodies of the file: actuator0",)


def test_a_massless_body_with_inertia_is_mujocos(tmp_path):
    """It takes one that carries a body with mass."""
    rotor = '<body name="rotor"><joint axis="0 0 1"/><inertial pos="0 0 0" mass="0" diaginertia="1 2 3"/>{}</body>'
    carried = '<body name="end"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
    text = f"<mujoco><worldbody>{rotor.format(carried)}</worldbody></mujoco>"
    model = co.formats.from_mjcf(written(tmp_path, text)).model
    assert co.Evaluator(model).mass_matrix([0.0]).item() == pytest.approx(4.0)


def test_what_a_file_switches_off_is_off(tmp_path):
    text = MOTORS.replace("<worldbody>", '<option><flag gravity="disable" limit="disable"/></option><worldbody>')
    reading = co.formats.from_mjcf(written(tmp_path, text))
    assert reading.changed == (
        "limit is off, as the file's <flag> has it",
        "gravity is off, as the file's <flag> has it",
    )
    assert reading.model.gravity.tolist() == [0.0, 0.0, 0.0]
    assert reading.model.limits("position")[1].tolist() == [math.inf] * 4


def test_actuators_of_a_group_that_a_file_switches_off_drive_nothing(tmp_path):
    """As in MuJoCo, where their controls have no effect."""
    text = """<mujoco><option actuatorgroupdisable="2"/><worldbody><body name="arm">
      <joint name="turn" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.02"/>
      <body name="hand" pos="0.4 0 0"><joint name="bend" axis="0 1 0"/><geom size="0.05"/></body></body></worldbody>
      <actuator><motor name="strong" joint="turn" ctrlrange="-9 9" group="2"/>
      <motor name="weak" joint="turn" ctrlrange="-1 2"/><motor name="off" joint="bend" group="2"/>
      </actuator></mujoco>"""
    path = written(tmp_path, text)
    reading, theirs = co.formats.from_mjcf(path), mj.MjModel.from_xml_path(str(path))
    data = mj.MjData(theirs)
    data.ctrl[:] = 9.0
    mj.mj_forward(theirs, data)
    assert reading.model.limits("torque")[1].tolist() == data.qfrc_actuator.tolist() == [2.0, 0.0]
    assert reading.left_out == ("2 actuator of a group that is switched off of the file: strong, off",)


def test_what_joints_of_several_freedoms_do_of_themselves_is_left_out_by_name(tmp_path):
    text = (
        '<mujoco><worldbody><body name="a"><joint name="f" type="free" armature="0.1"/><geom size="0.1"/>'
        '<body name="b"><joint name="j" type="ball" damping="1" stiffness="2" range="0 1" limited="true"/>'
        '<geom size="0.1"/></body></body></worldbody><option density="1.2"/></mujoco>'
    )
    with pytest.warns(co.support.InputWarning, match=r"springs of free and ball joints: torques change by .* %"):
        left_out = co.formats.from_mjcf(written(tmp_path, text), balls="angles").left_out
    assert "1 armature (balls='quaternion' keeps it) of turns of free and ball joints: f" in left_out
    assert "1 damping (balls='quaternion' keeps it) of turns of free and ball joints: j" in left_out
    assert "1 spring of free and ball joints: j" in left_out
    assert "1 range of the angle of ball joints: j" in left_out
    assert "1 density of the medium of the file: 1.2" in left_out


SWIMMER = """<mujoco><option density="4000" viscosity="0.1"/><worldbody><body name="head">
  <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/><joint name="r" axis="0 0 1"/>
  <geom type="capsule" fromto="0.5 0 0 1.5 0 0" size="0.1" density="1000"/>
  <body name="tail" pos="0.5 0 0"><joint name="bend" axis="0 0 1"/>
    <geom type="capsule" fromto="0 0 0 -1 0 0" size="0.1" density="1000"/></body></body></worldbody>{tendon}</mujoco>"""
TENDON = '<tendon><fixed name="cord" stiffness="5000"><joint joint="bend" coef="1"/></fixed></tendon>'


@pytest.mark.parametrize("tendon", ["", TENDON], ids=["medium", "tendon"])
def test_what_changes_torques_and_is_left_out_warns_with_its_size(tmp_path, tendon):
    """The torques of the model that is read fall short of MuJoCo's by the largest of the sizes, or their sum."""
    path = written(tmp_path, SWIMMER.format(tendon=tendon))
    with pytest.warns(
        co.support.InputWarning, match="forces and constraints in .* that are left out: the medium"
    ) as issued:
        reading = co.formats.from_mjcf(path)
    sizes = [float(size) / 100 for size in re.findall(r"change by (\S+) %", str(issued[0].message))]
    assert len(sizes) == 1 + bool(tendon)
    assert ("tendons (cord)" in str(issued[0].message)) == bool(tendon)
    m = mj.MjModel.from_xml_path(str(path))
    data, rng = mj.MjData(m), np.random.default_rng(0)
    data.qvel[:] = rng.standard_normal(m.nv)
    mj.mj_integratePos(m, data.qpos, data.qvel, 0.3)
    data.qacc[:] = rng.standard_normal(m.nv)
    mj.mj_inverse(m, data)
    read = co.Evaluator(reading.model).torque(data.qpos, data.qvel, data.qacc)
    missing = np.abs(np.ravel(read) - data.qfrc_inverse).max() / np.abs(data.qfrc_inverse).max()
    assert max(sizes) * 0.999 <= missing <= sum(sizes) * 1.001


def test_constraints_that_are_left_out_warn_with_their_sizes(tmp_path):
    text = """<mujoco><worldbody><body><joint name="a"/><geom size="0.1" pos="0.5 0 0"/><site name="near"/>
      <body pos="1 0 0"><joint name="b"/><geom size="0.1" pos="0.5 0 0"/></body></body><site name="far" pos="0 1 0"/>
      </worldbody><tendon><spatial name="rope" limited="true" range="0 2.5" frictionloss="40"><site site="near"/>
      <site site="far"/></spatial><fixed name="belt"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed>
      </tendon><equality><tendon name="tie" tendon1="belt"/>{more}</equality></mujoco>"""
    words = "bodies 'tie'; friction of tendons (rope 40 N); limits of tendons (rope 0 to 2.5)"
    with pytest.warns(co.support.InputWarning, match=f"that are left out: .*{re.escape(words)}$") as issued:
        co.formats.from_mjcf(written(tmp_path, text.replace("{more}", "")))
    assert len(issued) == 1
    off = text.replace("{more}", "").replace('tendon1="belt"', 'tendon1="belt" active="false"')
    flags = '<option><flag frictionloss="disable" limit="disable"/></option><worldbody>'
    co.formats.from_mjcf(written(tmp_path, off.replace("<worldbody>", flags)))  # warnings are errors


STIFFER = """<mujoco><worldbody><body><joint name="a" stiffness="2 0.5" damping="1 0.3"/>
  <geom size="0.1" pos="0.5 0 0"/></body></worldbody></mujoco>"""
CORD = """<mujoco><worldbody><body name="cord"><flexcomp name="f" type="grid" dim="1" count="3 1 1" spacing="0.05 1 1"
  radius="0.01" mass="1"><edge equality="false" stiffness="100" damping="10"/></flexcomp></body>
  </worldbody></mujoco>"""
DRIVEN = """<mujoco><worldbody><body><joint name="a"/><geom size="0.1" pos="0.5 0 0"/></body></worldbody>
  <actuator><motor joint="a" armature="0.3" damping="0.2"/></actuator></mujoco>"""


@pytest.mark.skipif(not hasattr(mj.MjModel, "nactuator"), reason="these elements are new in MuJoCo 4")
@pytest.mark.parametrize(
    ("text", "words"),
    [(STIFFER, "joints beyond the linear"), (CORD, "flexible bodies"), (DRIVEN, "armatures of actuators")],
)
def test_forces_of_newer_files_that_are_left_out_warn_with_their_sizes(tmp_path, text, words):
    path = written(tmp_path, text)
    with pytest.warns(co.support.InputWarning, match=f"are left out: .*{words}: torques change by") as issued:
        model = co.formats.from_mjcf(path).model
    m = mj.MjModel.from_xml_path(str(path))
    data, rng = mj.MjData(m), np.random.default_rng(0)
    data.qvel[:] = rng.standard_normal(m.nv)
    mj.mj_integratePos(m, data.qpos, data.qvel, 0.3)
    data.qacc[:] = rng.standard_normal(m.nv)
    mj.mj_inverse(m, data)
    read = np.ravel(co.Evaluator(model).torque(data.qpos, data.qvel, data.qacc))
    missing = 100 * np.abs(read - data.qfrc_inverse).max() / np.abs(data.qfrc_inverse).max()
    assert missing == pytest.approx(float(re.findall(r"change by (\S+) %", str(issued[0].message))[0]), rel=1e-3)


@pytest.mark.skipif(not hasattr(mj.MjModel, "nactuator"), reason="such actuators are new in MuJoCo 4")
def test_motors_after_one_with_two_inputs_have_their_own_ranges(tmp_path):
    joint = '<joint name="{0}"/><geom size="0.1" pos="0.5 0 0"/>'
    text = (
        f"<mujoco><worldbody><body>{joint.format('a')}<body>{joint.format('b')}</body></body></worldbody><actuator>"
        '<dcmotor name="both" joint="a" motorconst="1.0" resistance="1.0" input="pos vel" controller="0 0 5"/>'
        '<motor joint="b" gear="-3" ctrlrange="-1 2" ctrllimited="true"/></actuator></mujoco>'
    )
    assert mj.MjModel.from_xml_string(text).nu == 3
    reading = co.formats.from_mjcf(written(tmp_path, text))
    assert dict(reading.gears) == {"a": 1.0, "b": -3.0}
    assert [limit.tolist() for limit in reading.model.limits("torque")] == [[-math.inf, -6.0], [math.inf, 3.0]]


RESISTED = (
    '<mujoco><option gravity="1 2 -9"/><worldbody>'
    '<body name="a" pos="1 2 3"><joint name="f" type="free" armature="0.3" damping="0.7" frictionloss="0.2"/>'
    '<geom type="box" size="0.1 0.2 0.3" pos="0.1 0.2 0.1"/>'
    '<body name="b" pos="1 0 0" euler="20 30 40"><joint name="j" type="ball" pos="0.1 0 0.2" damping="1.1" '
    'armature="0.4" frictionloss="0.3"/><geom type="box" size="0.3 0.2 0.1" pos="0.3 0.1 0.2"/>'
    '<body name="c" pos="0 1 0"><joint name="h" axis="1 2 3" damping="0.5" armature="0.1"/>'
    '<geom size="0.2" pos="1 0 0"/>'
    "</body></body></body></worldbody></mujoco>"
)


@pytest.mark.parametrize("seed", range(3))
def test_free_and_ball_joints_on_quaternions_are_resisted_as_mujocos(tmp_path, seed):
    """Damping and rotors to rounding in torque, mass matrix and forward dynamics; friction where the joint slides."""
    reading, theirs = (
        co.formats.from_mjcf(written(tmp_path, RESISTED)), mj.MjModel.from_xml_string(RESISTED)
    )  # fmt: skip
    assert reading.left_out == ()
    model, rng, data = reading.model, np.random.default_rng(seed), mj.MjData(theirs)
    assert model.position_names[3:7] == ("f_qw", "f_qx", "f_qy", "f_qz")
    qd, qdd = rng.uniform(0.5, 2, model.n) * rng.choice([-1, 1], model.n), rng.normal(size=model.n)
    q = model.of_unit_length(rng.normal(size=model.n_q))
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
    theirs.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT)  # which friction loss is
    mj.mj_inverse(theirs, data)
    loss = np.array([0.2] * 6 + [0.3] * 3 + [0.0]) * np.tanh(qd / 0.1)
    expected = data.qfrc_inverse + loss
    evaluator = co.Evaluator(model)
    np.testing.assert_allclose(evaluator.torque(q, qd, qdd), expected, atol=1e-11 * np.abs(expected).max())
    mass = np.zeros((theirs.nv, theirs.nv))
    mj.mj_fullM(theirs, data, mass)
    np.testing.assert_allclose(evaluator.mass_matrix(q), mass, atol=1e-11 * np.abs(mass).max())
    np.testing.assert_allclose(evaluator.forward_dynamics(q, qd, expected), qdd, rtol=1e-8, atol=1e-8)
    slopes = evaluator.sensitivities(q, qd, qdd)
    np.testing.assert_allclose(slopes.dqdd, mass, atol=1e-11 * np.abs(mass).max())


@pytest.mark.parametrize("curved", [False, True])
def test_joints_that_follow_go_with_quaternions(tmp_path, curved):
    """A free body with a gripper: the torques of MuJoCo's tree, of which the second finger's is the first's."""
    joint = '<joint name="{0}" axis="0 1 0" damping="0.2"/>'
    finger = f'<body name="{{0}}" pos="{{1}} 0 0.2">{joint}<geom size="0.1" pos="0 0 0.3"/></body>'
    polycoef = "0.1 -1.5 0.3 0 0" if curved else "0.1 -1.5 0 0 0"
    text = (
        '<mujoco><worldbody><body name="palm"><freejoint name="f"/><geom type="box" size="0.1 0.2 0.3"/>'
        f"{finger.format('one', 0.1)}{finger.format('two', -0.1)}</body></worldbody>"
        f'<equality><joint joint1="two" joint2="one" polycoef="{polycoef}"/></equality></mujoco>'
    )
    model = co.formats.from_mjcf(written(tmp_path, text)).model
    theirs = mj.MjModel.from_xml_string(text)
    data, rng = mj.MjData(theirs), np.random.default_rng(2)
    q, (qd, qdd) = model.of_unit_length(rng.normal(size=8)), rng.normal(size=(2, 7))
    bend = 0.3 if curved else 0.0
    slope = -1.5 + 2 * bend * q[7]
    C = np.vstack([np.eye(7), slope * np.eye(7)[6]])
    data.qpos[:] = [*q, 0.1 - 1.5 * q[7] + bend * q[7] ** 2]
    data.qvel[:], data.qacc[:] = C @ qd, C @ qdd
    data.qacc[7] += 2 * bend * qd[6] ** 2
    theirs.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT)
    mj.mj_inverse(theirs, data)
    expected, evaluator = C.T @ data.qfrc_inverse, co.Evaluator(model)
    np.testing.assert_allclose(evaluator.torque(q, qd, qdd), expected, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(evaluator.forward_dynamics(q, qd, expected), qdd, rtol=1e-8, atol=1e-8)
    slopes, step = evaluator.sensitivities(q, qd, qdd), 1e-6
    for k, direction in enumerate(step * np.eye(7)):
        moved = [evaluator.torque(model.displaced(q, sign * direction), qd, qdd) for sign in (1, -1)]
        np.testing.assert_allclose(slopes.dq[:, k], (moved[0] - moved[1]) / (2 * step), rtol=1e-6, atol=1e-5)


def test_the_slides_of_a_free_joint_are_resisted_by_angles_too(tmp_path):
    reading = co.formats.from_mjcf(written(tmp_path, RESISTED), balls="angles")
    damping = {joint.name: float(joint.passive.damping) for joint in reading.model.joints}
    assert [damping[f"f_t{axis}"] for axis in "xyz"] == [0.7] * 3
    assert [damping[f"{name}_r{axis}"] for name in "fj" for axis in "zyx"] == [0.0] * 6
    assert len(reading.left_out) == 3  # damping, rotors and friction of the turns


def test_includes_and_defaults_are_mujocos_business(tmp_path):
    (tmp_path / "arm.xml").write_text(
        '<mujocoinclude><body name="arm"><joint name="turn"/><geom size="0.1" mass="2" pos="1 0 0"/></body>'
        "</mujocoinclude>",
        encoding="utf-8",
    )
    text = (
        '<mujoco><default><joint axis="0 1 0" damping="0.7"/></default><worldbody><include file="arm.xml"/></worldbody>'
        "</mujoco>"
    )
    model = co.formats.from_mjcf(written(tmp_path, text)).model
    assert co.Evaluator(model).torque([0.0], [1.0], [0.0]).item() == pytest.approx(0.7 - 2 * 9.81)


REFUSED = {
    "half": ("<mujoco><worldbody>", r"model.xml' is refused by MuJoCo: .*Line number=1"),
    "schema": ("<mujoco>\n<strange/></mujoco>", r"is refused by MuJoCo: .*strange.*line 2"),
    "circle": ('<mujoco><include file="model.xml"/></mujoco>', r"is refused by MuJoCo: .*already included"),
    "mesh": (
        '<mujoco><asset><mesh name="m" file="none.stl"/></asset><worldbody/></mujoco>',
        r"is refused by MuJoCo: .*none.stl.*: MuJoCo needs meshes and pictures too",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_mujoco_refuses_is_refused_in_its_words(tmp_path, case):
    text, words = REFUSED[case]
    with pytest.raises(co.InputError, match=words):
        co.formats.from_mjcf(written(tmp_path, text))


def test_entities_are_not_expanded_and_name_no_other_files(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    types = f'<!DOCTYPE r [<!ENTITY a SYSTEM "file://{secret}"><!ENTITY b "&a;&a;">]>'
    model = co.formats.from_mjcf(written(tmp_path, types + MOTORS.replace('name="a"', 'name="&a;&b;"', 1))).model
    assert model.bodies[0].name == "&a;&b;"


def test_warnings_of_mujoco_are_in_the_report_and_nowhere_else(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    text = MOTORS.replace('angle="degree"', 'angle="degree" settotalmass="3"')
    reading = co.formats.from_mjcf(written(tmp_path, text))
    assert reading.changed[0].startswith("MuJoCo warns: compiler attribute 'settotalmass' is deprecated")
    assert sum(float(body.mass) for body in reading.model.bodies) == pytest.approx(3.0)
    assert [path.name for path in tmp_path.iterdir()] == ["model.xml"]
    assert capfd.readouterr() == ("", "")


def test_missing_files_and_a_missing_mujoco_are_reported(tmp_path, monkeypatch):
    with pytest.raises(co.InputError, match="is no file"):
        co.formats.from_mjcf(tmp_path / "none.xml")
    ordinary = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "mujoco":
            raise ImportError
        return ordinary(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(co.InputError, match=r"pip install 'colloc\[mujoco\]'"):
        co.formats.from_mjcf(written(tmp_path, MOTORS))


def test_the_chain_of_a_file_starts_in_its_posture_and_has_its_motors(tmp_path):
    bar = '<geom type="capsule" fromto="0 0 0 {x} 0 0" size=".01" mass="1"/>'
    text = f"""<mujoco model="bars"><worldbody>
      <body name="crank"><joint name="crank" axis="0 0 1" ref="50"/>{bar.format(x=0.2)}
        <body name="rod" pos=".2 0 0"><joint name="rod" axis="0 0 1"/>{bar.format(x=0.4)}</body></body>
      <body name="rocker" pos=".5 0 0"><joint name="rocker" axis="0 0 1"/>{bar.format(x=0.4)}</body>
    </worldbody>
    <equality><connect name="pin" body1="rod" body2="rocker" anchor=".4 0 0"/></equality>
    <actuator><motor joint="crank" ctrllimited="true" ctrlrange="-5 5"/></actuator>
    <keyframe><key name="up" qpos="1 -.4 1.8"/></keyframe></mujoco>"""
    reading = co.formats.from_mjcf(written(tmp_path, text))
    assert (reading.actuators, set(reading.postures)) == (("crank",), {"initial", "up"})
    chain = reading.chain("up")
    assert (chain.actuators, chain.mobility) == (("crank",), 1)
    assert reading.chain("up", actuators=["rocker"]).actuators == ("rocker",)


def test_sites_with_axes_of_their_own_are_frames(tmp_path):
    site = '<site name="tool" pos="0.1 0 -0.6" euler="90 20 -30"/><site name="tip" pos="0 0 -0.5"/>'
    body = f'<body name="rod" pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" size="0.02 0.3"/>{site}</body>'
    path = written(tmp_path, f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    model = co.formats.from_mjcf(path).model
    assert [body.name for body in model.bodies] == ["rod", "tool"]
    compiled = mj.MjModel.from_xml_path(str(path))
    data = mj.MjData(compiled)
    data.qpos[:] = 0.7
    mj.mj_forward(compiled, data)
    q = ca.SX([0.7])
    place = frames(model, q, ca.SX(1, 1), ca.SX(1, 1)).position[1]
    np.testing.assert_allclose(np.array(ca.DM(place))[:3, :3], data.site("tool").xmat.reshape(3, 3), atol=1e-12)
    for name in ("tool", "tip"):
        np.testing.assert_allclose(co.Evaluator(model).point(name, q=[0.7]).position, data.site(name).xpos, atol=1e-12)
