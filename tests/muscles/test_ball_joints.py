"""Muscles over ball joints on quaternions, against MuJoCo's tendons."""

from pathlib import Path
from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pytest

import colloc as co
from colloc.muscles.path import random_postures

mj: Any = mujoco  # its names are not typed
ARM = """<mujoco><compiler angle="radian"/><worldbody><site name="chest" pos="-0.1 0.1 0.2"/>
<body name="upper" pos="0 0 0.4"><joint name="shoulder" type="ball"/><site name="deltoid" pos="0.05 0.04 -0.1"/>
  <inertial pos="0 0 -0.15" mass="2" diaginertia="0.02 0.02 0.005"/>
  <body name="fore" pos="0 0 -0.3"><joint name="elbow" axis="0 1 0"/><site name="radius" pos="0.02 0.03 -0.05"/>
    <inertial pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.002"/></body></body></worldbody>
<tendon><spatial name="long"><site site="chest"/><site site="deltoid"/><site site="radius"/></spatial></tendon>
<actuator><motor tendon="long"/></actuator></mujoco>"""
PLACES = {
    "chest": (None, (-0.1, 0.1, 0.2)),
    "deltoid": ("upper", (0.05, 0.04, -0.1)),
    "radius": ("fore", (0.02, 0.03, -0.05)),
}
PATH = co.muscles.MusclePath([co.muscles.ViaPoint(*place) for place in PLACES.values()])
LONG = co.muscles.Muscle("long", PATH, 900.0, 0.15, 0.3)


@pytest.fixture
def model(tmp_path: Path) -> co.Model:
    (tmp_path / "arm.xml").write_text(ARM, encoding="utf-8")
    return co.formats.from_mjcf(tmp_path / "arm.xml", balls="quaternion").model


def numbers(model: co.Model, q: np.ndarray) -> tuple[float, np.ndarray]:
    """Length of the muscle and its moment arms, shape (n,)."""
    symbols, length, slopes = co.muscles.Muscles(model, [LONG]).length_graph
    length, slopes = ca.Function("long", [symbols], [length, slopes])(q)
    return float(length), -np.array(ca.DM(slopes)).ravel()


@pytest.mark.parametrize("seed", range(4))
def test_lengths_their_rates_and_moment_arms_are_those_of_a_tendon(model, seed):
    rng = np.random.default_rng(seed)
    theirs = mj.MjModel.from_xml_string(ARM)
    data, q = mj.MjData(theirs), model.of_unit_length(rng.normal(size=5))
    data.qpos[:], data.qvel[:], data.ctrl[:] = q, rng.normal(size=4), 1.0
    mj.mj_forward(theirs, data)
    length, arms = numbers(model, q)
    np.testing.assert_allclose(length, data.ten_length[0], rtol=1e-12)
    np.testing.assert_allclose(-arms, data.qfrc_actuator, atol=1e-13)
    np.testing.assert_allclose(-arms @ data.qvel, data.ten_velocity[0], atol=1e-13)


def test_a_quaternion_of_another_length_is_the_same_attitude(model):
    q = model.of_unit_length(np.random.default_rng(5).normal(size=5))
    stretched = q * np.array([3.0] * 4 + [1.0])
    for one, other in zip(numbers(model, q), numbers(model, stretched), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


def test_a_motion_by_muscles_over_a_ball_joint_has_their_torques(model):
    reserves = {name: 20.0 for name in model.joint_names}
    muscles = co.muscles.Muscles(model, [LONG], activation="instantaneous", reserves=reserves)
    assert muscles.driven == model.joint_names
    end = model.of_unit_length(np.array([1.0, 0.2, 0.1, 0.3, 0.5]))
    problem = co.Problem(
        model,
        0.5,
        co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve)),
        [co.initial(q=model.neutral, qd=0), co.final(q=end, qd=0)],
        parts=[muscles],
    )
    solution = co.solve(problem, co.Radau(10))
    assert 1e-6 < co.verify(solution).local_error < 1e-4  # moved by the muscle, and 1e-3 on half as many intervals

    def values(now: co.problem.Instant) -> ca.SX:
        torques = muscles.torques(now).values()
        return ca.vertcat(now.q, now.tau, muscles.tendon_forces(now), now.reserve, *torques)

    for row in solution.evaluate(values, [0.1, 0.3, 0.5]):
        q, tau, force, reserve, torques = np.split(row, [5, 9, 10, 14])
        np.testing.assert_allclose(torques, numbers(model, q)[1] * force + 20 * reserve, atol=1e-9)
    np.testing.assert_allclose(tau, torques, atol=1e-6)  # at the last time, a collocation point
    assert solution.evaluate(muscles.tendon_forces, solution.t).max() > 1.0


def test_what_needs_a_coordinate_of_its_own_is_refused_by_name(model):
    torque = {"shoulder_ry": lambda q, qd: -q}
    with pytest.raises(co.InputError, match="joint 'shoulder_ry' is on a quaternion: a passive torque needs"):
        co.muscles.Muscles(model, [LONG], passive=torque)
    with pytest.raises(co.InputError, match="muscle 'long' crosses ball joint 'shoulder', which is on a quaternion"):
        co.muscles.fit_lengths(model, [LONG])
    q = np.random.default_rng(0).uniform(0.0, 2.0, (200, 1))
    for joint, refused in (("elbow", False), ("shoulder_rx", True)):
        path = co.muscles.fit_samples([joint], q, 0.3 - 0.02 * np.sin(q[:, 0]), 0.02 * np.cos(q))
        muscles = [co.muscles.Muscle("one", path, 900.0, 0.15, 0.2)]
        at = ca.SX([1, 0, 0, 0, 0.5])
        if refused:
            with pytest.raises(co.InputError, match="shoulder_rx"):
                co.muscles.path_lengths(model, muscles, at)
        else:
            length = float(ca.evalf(co.muscles.path_lengths(model, muscles, at)))
            assert length == pytest.approx(0.3 - 0.02 * np.sin(0.5), abs=1e-3)


def test_polynomials_of_muscles_that_cross_hinges_alone_are_those_without_the_ball(model):
    """On a shoulder of a quaternion and on one of three angles: the same elbow, the same polynomial."""
    short = [co.muscles.ViaPoint(*PLACES["deltoid"]), co.muscles.ViaPoint(*PLACES["radius"])]
    muscle = co.muscles.Muscle("short", co.muscles.MusclePath(short), 900.0, 0.15, 0.1)
    by_angles = co.Model([*co.spherical("upper", sequence="zyx"), model.bodies[-1]])
    fitted = [co.muscles.fit_lengths(m, [muscle], {"elbow": (0.2, 1.5)})[0] for m in (model, by_angles)]
    paths = [each.path for each in fitted]
    assert paths[0].joints == paths[1].joints == ("elbow",)
    assert np.array_equal(paths[0].powers, paths[1].powers)
    at = ca.SX([*model.of_unit_length(np.ones(5))[:4], 0.9])
    lengths = np.array(ca.DM(co.muscles.path_lengths(model, [muscle, fitted[0]], at))).ravel()
    assert lengths[0] == pytest.approx(lengths[1], abs=2e-3)


def test_fibers_are_looked_at_with_the_ball_turned(model: co.Model):
    samples = random_postures(model, 21)
    np.testing.assert_array_equal(samples[0], model.neutral)
    np.testing.assert_allclose(np.linalg.norm(samples[:, :4], axis=1), 1.0, atol=1e-12)
    assert np.abs(samples[1:, 1:4]).max() > 0.3
    assert not co.muscles.Muscles(model, [LONG]).doubts(samples, "anywhere")


def test_limits_hold_in_random_postures():
    hinge = co.revolute(limits=co.Limits((0.2, 0.5)))
    arm = co.Model([co.Body("a", hinge, mass=1.0), co.Body("b", co.prismatic((1, 0, 0)), "a")])
    samples = random_postures(arm, 30)
    assert ((samples[1:, 0] >= 0.2) & (samples[1:, 0] <= 0.5)).all()
    assert 0.5 < np.abs(samples[1:, 1]).max() <= 1.0
