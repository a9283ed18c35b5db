"""Muscles of MuJoCo's files: lengths and moment arms of their tendons against MuJoCo."""

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco model="arm"><compiler angle="radian"/><worldbody>
  <body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" range="-1 1"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.3"/>
    <geom name="pulley" type="cylinder" pos="0 0 -0.3" size="0.03 0.1" euler="1.5708 0.1 0" mass="0"/>
    <geom name="ball" type="sphere" pos="0 0 -0.3" size="0.035" mass="0"/>
    <site name="behind" pos="-0.05 0.01 -0.1"/><site name="before" pos="0.05 0 -0.1"/>
    <site name="side" pos="-0.06 0 -0.3"/>
    <body name="lower" pos="0 0 -0.3"><joint name="elbow" axis="0 1 0" range="-1.2 1.2"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.25"/>
      <site name="back" pos="-0.045 -0.01 -0.12"/><site name="front" pos="0.045 0.02 -0.12"/></body></body></worldbody>
  <tendon>
    <spatial name="long"><site site="behind"/><geom geom="pulley" sidesite="side"/><site site="back"/></spatial>
    <spatial name="short"><site site="before"/><geom geom="ball"/><site site="front"/></spatial>
    <fixed name="rope"><joint joint="elbow" coef="2"/></fixed></tendon>
  <actuator>
    <muscle name="extensor" tendon="long" force="800" range="0.75 1.05" lengthrange="0.22 0.27"/>
    <muscle name="flexor" tendon="short" force="600" lengthrange="0.2 0.25" timeconst="0.02 0.05"/>
    <muscle name="rigid" tendon="short" force="600" lengthrange="0.1 0.25"/>
    <motor name="pull" tendon="rope"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("mjcf") / "arm.xml"
    path.write_text(ARM, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def reading(file) -> co.formats.Reading:
    return co.formats.from_mjcf(file)


def test_lengths_and_moment_arms_are_those_of_mujoco(file, reading):
    model, q = mujoco.MjModel.from_xml_path(str(file)), ca.SX.sym("q", 2)
    data, muscles = mujoco.MjData(model), reading.muscles
    lengths = co.muscles.path_lengths(reading.model, muscles.muscles, q)
    ours = ca.Function("ours", [q], [ca.horzcat(lengths, ca.jacobian(lengths, q))])
    wrapped = 0
    for posture in np.random.default_rng(0).uniform((-1, -1.2), (1, 1.2), (40, 2)):
        data.qpos[:] = posture
        mujoco.mj_forward(model, data)
        jacobian = np.zeros((model.ntendon, 2))
        for k in range(model.ntendon):
            first, count = model.ten_J_rowadr[k], model.ten_J_rownnz[k]
            jacobian[k, model.ten_J_colind[first : first + count]] = data.ten_J[first : first + count]
        here = ours(posture).full()
        np.testing.assert_allclose(here[:, 0], data.ten_length[:2], atol=1e-5)
        np.testing.assert_allclose(here[:, 1:], jacobian[:2], atol=2e-4)
        wrapped += int(data.ten_wrapnum[0] > 2)
    assert 5 < wrapped < 35


def test_a_tendon_stays_on_its_side_of_a_ball_as_in_mujoco(tmp_path):
    """Also the longer way round, after the straight line has left the ball."""
    aside = ARM.replace('<geom geom="ball"/>', '<geom geom="ball" sidesite="side"/>')
    (path := tmp_path / "aside.xml").write_text(aside, encoding="utf-8")
    model, q = mujoco.MjModel.from_xml_path(str(path)), ca.SX.sym("q", 2)
    data, reading = mujoco.MjData(model), co.formats.from_mjcf(path)
    lengths = co.muscles.path_lengths(reading.model, reading.muscles.muscles, q)
    ours, longer = ca.Function("ours", [q], [lengths]), 0
    for posture in np.random.default_rng(1).uniform((-1, -1.2), (1, 1.2), (40, 2)):
        data.qpos[:] = posture
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(ours(posture).full()[1, 0], data.ten_length[1], atol=1e-5)
        sites = [data.site(name).xpos for name in ("before", "front")]
        longer += int(data.ten_length[1] > np.linalg.norm(sites[1] - sites[0]) + 0.02)
    assert longer > 5


def test_a_tendon_through_a_ring_or_a_sheath_is_held_inside_as_in_mujoco(tmp_path):
    """With a side site inside of a geom the tendon touches it at one point, where the straight line misses it."""
    inside = ARM.replace('<geom geom="ball"/>', '<geom geom="ball" sidesite="side"/>')
    (path := tmp_path / "inside.xml").write_text(
        inside.replace('pos="-0.06 0 -0.3"', 'pos="0.01 0 -0.305"'), encoding="utf-8"
    )
    model, q = mujoco.MjModel.from_xml_path(str(path)), ca.SX.sym("q", 2)
    data, reading = mujoco.MjData(model), co.formats.from_mjcf(path)
    surfaces = [record.points[1] for record in reading.muscle_data]
    assert [(type(part).__name__, getattr(part, "side", None)) for part in surfaces] == [
        ("Cylinder", "inside"),
        ("Sphere", "inside"),
    ]
    lengths = co.muscles.path_lengths(reading.model, reading.muscles.muscles, q)
    ours, held = ca.Function("ours", [q], [ca.horzcat(lengths, ca.jacobian(lengths, q))]), np.zeros(2)
    for posture in np.random.default_rng(2).uniform((-1, -1.2), (1, 1.2), (60, 2)):
        data.qpos[:] = posture
        mujoco.mj_forward(model, data)
        here = ours(posture).full()
        np.testing.assert_allclose(here[:, 0], data.ten_length[:2], atol=1e-6)
        h = 1e-6 * np.eye(2)[1]
        np.testing.assert_allclose(
            here[:, 2], (ours(posture + h)[:, 0] - ours(posture - h)[:, 0]).full()[:, 0] / 2e-6, atol=1e-6
        )
        held += data.ten_wrapnum[:2] > 2
    assert (held > 5).all()


def test_a_geom_with_an_end_of_the_tendon_inside_is_left_out(tmp_path):
    """MuJoCo leads no tendon round it; sites and geoms of one body are so in all postures."""
    (path := tmp_path / "held.xml").write_text(
        ARM.replace('pos="-0.05 0.01 -0.1"', 'pos="-0.01 0.01 -0.29"'), encoding="utf-8"
    )
    reading, model = co.formats.from_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    assert reading.left_out[1] == (
        "1 geom with an end of the tendon inside, round which MuJoCo does not lead it, of muscles: extensor"
    )
    data, q = mujoco.MjData(model), ca.SX.sym("q", 2)
    muscles = [co.muscles.from_file(record) for record in reading.muscle_data]
    lengths = co.muscles.path_lengths(reading.model, muscles, q)
    ours = ca.Function("ours", [q], [lengths])
    for posture in np.random.default_rng(3).uniform((-1, -1.2), (1, 1.2), (10, 2)):
        data.qpos[:] = posture
        mujoco.mj_forward(model, data)
        assert float(ours(posture)[0]) == pytest.approx(data.ten_length[0], abs=1e-12)


def test_fibers_and_tendons_span_the_range_of_lengths(reading):
    extensor, flexor = reading.muscle_data
    assert extensor.optimal_fiber_length == pytest.approx(0.05 / 0.3)
    assert extensor.tendon_slack_length == pytest.approx(0.22 - 0.75 * 0.05 / 0.3)
    assert (extensor.max_isometric_force, extensor.rigid_tendon) == (800.0, True)
    assert (flexor.activation, flexor.deactivation) == (0.02, 0.05)


def test_the_report_has_what_is_changed_and_left_out(reading):
    assert reading.changed == (
        "2 muscles have the curves of co.muscles.Muscle in place of MuJoCo's, and rigid tendons",
    )
    assert reading.left_out == (
        "1 actuator of tendons, sites or bodies of the file: pull",
        "1 muscle with fibers of 0.5 m and a tendon of -0.275 m of the file: rigid",
        "1 <tendon> of the file: rope",
    )


def test_muscles_of_a_file_move_its_joints(reading):
    """Without a motor: the elbow bends, and the shoulder hangs on nothing."""
    effort = co.integral(lambda now: ca.sumsqr(now.activation))
    ends = co.initial(q=(0.0, 0.2), qd=0.0), co.final(q={"elbow": 0.4})
    bend = co.Problem(reading.model, 0.3, effort, ends, parts=[reading.muscles])
    assert bend.passive == ("shoulder",)
