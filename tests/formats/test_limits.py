"""Limits that take the place of those in a file, in every reader."""

import ast
import re
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import casadi as ca
import pytest

import colloc as co
from colloc.formats import from_mjcf, from_osim, from_urdf

URDF = """<robot name="arm"><link name="base"/>{links}</robot>"""
LINK = """<link name="l{k}"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="l{k}"/><origin xyz="0.4 0 0"/>
  <axis xyz="0 0 1"/><limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{speed}"/></joint>"""
MJCF = """<mujoco><worldbody><body><joint name="j1" axis="0 0 1" range="-90 90" limited="true"/>
  <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.02"/></body></worldbody>
  <actuator><motor joint="j1" gear="30" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>"""
OSIM = """<OpenSimDocument Version="40000"><Model name="pendulum">
  <BodySet name="bodyset"><objects><Body name="rod"><mass>1</mass><mass_center>0 -0.5 0</mass_center>
    <inertia>0.1 0.01 0.1 0 0 0</inertia></Body></objects></BodySet>
  <JointSet name="jointset"><objects><PinJoint name="hinge">
    <socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/rod</socket_child_frame>
    <coordinates><Coordinate name="j1"><range>-1.5 1.5</range></Coordinate></coordinates>
  </PinJoint></objects></JointSet></Model></OpenSimDocument>"""


@pytest.fixture
def urdf(tmp_path: Path) -> Callable[..., Path]:
    def written(effort: float = 30.0, lower: float = -1.0, upper: float = 2.0, speed: float = 3.0) -> Path:
        numbers = {"effort": effort, "lower": lower, "upper": upper, "speed": speed}
        links = (LINK.format(k=k, parent="base" if k == 1 else f"l{k - 1}", **numbers) for k in (1, 2))
        path = tmp_path / "arm.urdf"
        path.write_text(URDF.format(links="".join(links)), encoding="utf-8")
        return path

    return written


def limits(reading: co.formats.Reading, quantity: str) -> list[tuple[float, float]]:
    return [getattr(joint.limits, quantity) for joint in reading.model.joints]


@pytest.mark.parametrize(
    ("change", "of", "expected"),
    [
        ({"torque": None}, "torque", [(-inf, inf)] * 2),
        ({"torque": 0.5}, "torque", [(-15, 15)] * 2),
        ({"torque": {"j2": 2}}, "torque", [(-30, 30), (-60, 60)]),
        ({"position": {"j1": (0, 1)}}, "position", [(0, 1), (-1, 2)]),
        ({"velocity": (-1, 4)}, "velocity", [(-1, 4)] * 2),
        ({"acceleration": {"j1": (-5, 5)}}, "acceleration", [(-5, 5), (-inf, inf)]),
        ({"velocity": {"j2": None}, "torque": None}, "velocity", [(-3, 3), (-inf, inf)]),
        ({"torque": None}, "position", [(-1, 2)] * 2),
    ],
)
def test_limits_are_replaced_scaled_and_lifted(urdf, change, of, expected):
    assert limits(from_urdf(urdf(), limits=change), of) == expected


def test_limits_in_the_files_of_other_programs(tmp_path):
    path = tmp_path / "arm.osim"
    path.write_text(OSIM, encoding="utf-8")
    assert limits(from_osim(path, limits={"position": 0.5, "torque": (-9, 9)}), "position") == [(-0.75, 0.75)]
    assert limits(from_osim(path, limits={"torque": (-9, 9)}), "torque") == [(-9, 9)]


def test_limits_in_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "arm.xml"
    path.write_text(MJCF, encoding="utf-8")
    assert limits(from_mjcf(path), "torque") == [(-30, 30)]
    assert limits(from_mjcf(path, limits={"torque": {"j1": 2.0}}), "torque") == [(-60, 60)]


def test_an_effort_of_zero_is_doubted_with_the_argument_that_lifts_it(urdf):
    with pytest.warns(co.support.InputWarning, match=r"unknown, limits=\{'torque': None\} lifts it"):
        from_urdf(urdf(effort=0.0))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=(1.0, 0.5), qd=0.0)]
    with pytest.warns(co.support.InputWarning):
        without = from_urdf(urdf(effort=0.0)).model
    unmoved = co.Problem(without, co.Free(0.05, 20.0), co.duration(), ends)
    with pytest.raises(co.InputError, match="torque limits of 0 hold joint j1, j2 at zero torque: if they are unknown"):
        co.solve(unmoved, co.BSpline(12))
    model = from_urdf(urdf(effort=0.0), limits={"torque": None}).model
    fastest = co.solve(co.Problem(model, co.Free(0.05, 20.0), co.duration() + rates(), ends), co.BSpline(12))
    assert fastest.duration > 1 / 3  # s, at 3 rad/s
    with pytest.warns(co.support.InputWarning, match=r"velocity limit is 0; limits=\{'velocity': None\} lifts it"):
        from_urdf(urdf(speed=0.0))


def rates() -> co.problem.Cost:
    return 1e-4 * co.integral(lambda now: ca.sumsqr(now.tau))


@pytest.mark.parametrize(
    ("wrong", "quantity", "words", "expected"),
    [
        ({"lower": 2.775, "upper": -2.775}, "position", "are exchanged, lower=2.775, upper=-2.775", (-2.775, 2.775)),
        ({"speed": -1.0}, "velocity", "are -1, and below zero", (-inf, inf)),
        ({"effort": -1.0}, "torque", "are -1, and below zero", (-inf, inf)),
    ],
)
def test_limits_that_leave_no_room_are_refused_with_the_argument_that_replaces_all(
    urdf, wrong, quantity, words, expected
):
    path = urdf(**wrong)
    pattern = (
        rf"{quantity} limits of joint 'j1' {words} \(1 more are wrong\): give others, as in limits=(.*) \(line 4\)"
    )
    with pytest.raises(co.InputError, match=pattern) as refused:
        from_urdf(path)
    change = ast.literal_eval(re.findall(pattern, str(refused.value))[0])
    assert limits(from_urdf(path, limits=change), quantity) == [expected] * 2
    change[quantity]["j2"] = (-1, 2)
    assert limits(from_urdf(path, limits=change), quantity) == [expected, (-1, 2)]


def test_a_limit_that_is_no_number_is_refused_with_the_argument_that_does_without_it(urdf):
    path = urdf()
    path.write_text(
        path.read_text(encoding="utf-8").replace('velocity="3.0"', "velocity='3.0&quot;'", 1), encoding="utf-8"
    )
    words = (
        r"""velocity of limit of joint 'j1' must be a finite number, got '3.0"'; limits=(.*) does without it \(line"""
    )
    with pytest.raises(co.InputError, match=words) as refused:
        from_urdf(path)
    change = ast.literal_eval(re.findall(words, str(refused.value))[0])
    assert limits(from_urdf(path, limits=change), "velocity") == [(-inf, inf), (-3.0, 3.0)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"effort": None}, "no quantity of limits named 'effort'; did you mean 'torque'"),
        ({"torque": "none"}, r"limits torque must be \(lower, upper\), a factor, or None for no limit, got 'none'"),
        ({"torque": -2.0}, "factor of limits torque must be finite and positive, got -2"),
        ({"torque": {"j3": None}}, "no joint that moves named 'j3'"),
        ({"position": {"j1": (1, 0)}}, "lower bound exceeds upper bound, got lower=1, upper=0"),
        ({"position": {"j1": (1, 2, 3)}}, r"limits position of 'j1' must be \(lower, upper\)"),
        ([("torque", None)], "limits must be a mapping"),
    ],
)
def test_misuse(urdf, change: Any, words: str):
    with pytest.raises(co.InputError, match=words):
        from_urdf(urdf(), limits=change)


def test_position_limits_of_zero_width_at_zero_raise_a_warning_with_the_argument_that_lifts_them(tmp_path):
    """As some exporters write them for joints without limits."""
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{}</joint>'
    limit = '<limit lower="0" upper="0" effort="1" velocity="1"/>'
    path = tmp_path / "a.urdf"
    path.write_text(f'<robot name="r"><link name="a"/><link name="b"/>{joint.format(limit)}</robot>', encoding="utf-8")
    with pytest.warns(
        co.support.InputWarning, match=r"joint j cannot move: position limits are 0 to 0; limits=\{'posi"
    ):
        co.formats.from_urdf(path)
    free = co.formats.from_urdf(path, limits={"position": None}).model
    assert free.joints[-1].limits.position == (-inf, inf)
