"""The joint: exp(screw q) between two constant transforms, what it refuses, and its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

import colloc as co
from colloc.model import Screw
from colloc.models.panda import panda
from colloc.plot.posture import skeleton_of
from tests.support.random_trees import evaluate, numbers, random_unit

Z, NONE, HERE = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), ca.SX.eye(4)


def transform_at(joint: co.model.Joint, q: float) -> np.ndarray:
    """Numeric transform of a joint."""
    symbol = ca.SX.sym("q")
    return evaluate([joint.transform(symbol)], [symbol], [q])[0]


def exponential(angular: Any, linear: Any, q: float) -> np.ndarray:
    """exp(screw q) as the exponential of a matrix."""
    (x, y, z), (u, v, w) = angular, linear
    return expm(q * np.array([[0, -z, y, u], [z, 0, -x, v], [-y, x, 0, w], [0, 0, 0, 0]]))


@pytest.mark.parametrize("seed", range(4))
def test_a_joint_is_the_exponential_of_its_screw_between_two_transforms(seed):
    """Hinges, slides, threads and screws whose axis misses the joint frame, from minus to plus two turns."""
    rng = np.random.default_rng(seed)
    axis, place, after = random_unit(rng), co.placement(rng.normal(size=3), rng.normal(size=3)), co.placement((1, 2, 3))
    screws = ((axis, NONE), (NONE, axis), (axis, 0.3 * axis), (axis, rng.normal(size=3)), (NONE, NONE))
    for screw in screws:
        joint, q = co.model.Joint(place, screw, after), rng.uniform(-12, 12)
        expected = numbers(place) @ exponential(screw[0], screw[1], q) @ numbers(after)
        assert transform_at(joint, q) == pytest.approx(expected, abs=1e-12)


def test_an_axis_that_misses_the_joint_frame_is_moved_into_it():
    """A turn about the vertical through (2, 0, 0) that rises by 0.1 m/rad."""
    joint = co.model.Joint(HERE, (Z, (0, -2, 0.1)), HERE)
    assert numbers(joint.before)[:3, 3] == pytest.approx([2, 0, 0])
    assert numbers(joint.after)[:3, 3] == pytest.approx([-2, 0, 0])
    assert (joint.kind, tuple(joint.screw.linear)) == ("helical", (0, 0, 0.1))


@pytest.mark.parametrize(
    ("joint", "kind", "units"),
    [
        (co.revolute((0, 2, 0)), "revolute", ("rad", "N m")),
        (co.prismatic((0, 2, 0)), "prismatic", ("m", "N")),
        (co.model.helical((0, 2, 0), 0.01), "helical", ("rad", "N m")),
        (co.model.helical((0, 2, 0)), "revolute", ("rad", "N m")),
        (co.dh_revolute(), "revolute", ("rad", "N m")),
        (co.dh_prismatic(), "prismatic", ("m", "N")),
    ],
)
def test_the_kind_and_the_units_follow_from_the_screw(joint, kind, units):
    model = co.Model([co.Body("link", joint)])
    assert joint.kind == kind
    assert (model.position_units, model.torque_units) == tuple((unit,) for unit in units)
    assert kind in repr(model)


def test_a_thread_advances_by_its_pitch_per_radian():
    joint = co.model.helical((3, 0, 0), 0.02)
    assert transform_at(joint, 2 * np.pi) == pytest.approx(numbers(co.placement((0.04 * np.pi, 0, 0))), abs=1e-15)


def test_a_kind_is_a_label_and_no_way_to_make_a_joint():
    """Once "Revolute" was taken for no joint at all by two of the three formulations, and for a hinge by the third."""
    written: Any = ("Revolute", np.array([0.0, 0.0, 1.0]), ca.SX.eye(4), ca.SX.eye(4))
    with pytest.raises(co.InputError, match=r"before must be of shape \(4, 4\), numbers or SX symbols, got 'Revolute'"):
        co.model.Joint(*written)


@pytest.mark.parametrize(
    ("screw", "message"),
    [
        ("z", r"screw must be \(angular, linear\), each of shape \(3,\), got 'z'"),
        ((Z, NONE, NONE), r"screw must be \(angular, linear\), each of shape \(3,\), got"),
        (((0, 1), NONE), r"angular part of the screw must have shape \(3,\), got shape \(2,\): \(0, 1\)"),
        ((0.0, Z), r"angular part of the screw must be a vector of shape \(3,\), got 0\.0"),
        ((Z, (0, 0, np.inf)), r"linear part of the screw must be finite, got \(0, 0, inf\)"),
        ((("a", 0, 0), Z), r"angular part of the screw must be numbers of shape \(3,\), got \('a', 0, 0\)"),
        (((0, 0, 2), NONE), r"angular part of the screw must be zero or of unit length, got length 2: \(0, 0, 2\)"),
        ((NONE, (0, 0, 2)), r"linear part of a screw that only slides must be zero or of unit length, got length 2"),
    ],
)
def test_an_impossible_screw_is_refused(screw, message):
    with pytest.raises(co.InputError, match=message):
        co.model.Joint(HERE, screw, HERE)


@pytest.mark.parametrize("side", ["before", "after"])
def test_transforms_on_both_sides_must_be_rigid(side):
    with pytest.raises(co.InputError, match=rf"{side} must be a rigid homogeneous transform, got \[\["):
        replace(co.revolute(), **{side: np.diag([2.0, 1.0, 1.0, 1.0])})


@pytest.mark.parametrize("bad", ["", 7])
def test_a_joint_refuses_a_name_that_is_not_a_word(bad):
    with pytest.raises(co.InputError, match=rf"joint name must be a non-empty string, got {bad!r}"):
        co.revolute(name=bad)


@pytest.mark.parametrize("pitch", [np.nan, "steep", True])
def test_a_pitch_is_a_finite_number(pitch):
    with pytest.raises(co.InputError, match="pitch must be"):
        co.model.helical(pitch=pitch)


def test_the_opposite_screw_is_the_same_joint_seen_from_the_link():
    joint, q = co.model.helical((1, 2, 2), 0.1, co.placement((1, 0, 2), (0.1, 0.2, 0.3))), 0.7
    back = co.model.Joint(HERE, joint.screw.reversed, np.linalg.inv(numbers(joint.before)))
    assert transform_at(back, q) == pytest.approx(np.linalg.inv(transform_at(joint, q)), abs=1e-14)
    assert isinstance(joint.screw, Screw)


ROD = {"mass": 1.0, "com": (0.1, 0, 0)}


def arm(**names: str | None) -> co.Model:
    """Two links; joints may have names of their own."""
    bodies = [co.Body("upper", co.revolute(name=names.get("upper"), limits=co.Limits(torque=(-3, 3))), **ROD)]
    bodies.append(co.Body("lower", co.revolute(name=names.get("lower")), "upper", **ROD))
    return co.Model(bodies, name="arm")


def test_a_joint_goes_by_its_own_name_or_by_its_bodys():
    model = arm(lower="elbow")
    assert model.joint_names == ("upper", "elbow")
    assert [model.index("lower"), model.frozen({"elbow": 0.5}).joint_names] == [1, ("upper",)]
    assert "elbow, revolute" in repr(model)
    with pytest.raises(co.InputError, match=r"no joint that moves named 'lower'.*\(known: upper, elbow\)"):
        model.frozen({"lower": 0.5})


def test_joint_names_are_unique():
    with pytest.raises(co.InputError, match=r"two joints are named 'upper'; names must be unique"):
        arm(lower="upper")


def test_bounds_and_limits_speak_in_joint_names():
    model = arm(upper="shoulder", lower="elbow")
    rest = [co.initial(q=(0.0, 0.0), qd=0.0), co.final(q={"elbow": 0.1})]
    problem = co.Problem(
        model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), [*rest, co.bounds(tau={"elbow": (-1.0, 1.0)})]
    )
    labels = [label for stated in problem.rows.values() for label in stated.rows.labels]
    assert {"tau[shoulder]", "tau[elbow]"} <= set(labels)
    with pytest.raises(co.InputError, match=r"no joint named 'upper'; did you mean|no joint named 'upper' \(known"):
        co.Problem(model, 1.0, co.duration(), [co.final(q={"upper": 0.1})])


PITCH, MASS, INERTIA, G = 0.05, 2.0, 0.01, 9.81


def lead_screw() -> co.Model:
    """A nut that turns on an upright thread and rises."""
    nut = co.Body("nut", co.model.helical((0, 1, 0), PITCH), mass=MASS, com=(0, 0.3, 0), inertia=(0.02, INERTIA, 0.02))
    return co.Model([nut], name="lead screw")


@pytest.mark.parametrize(
    "formulation", [co.dynamics.newton_euler, co.dynamics.lagrange, co.dynamics.lie, co.dynamics.regular_lagrange]
)
def test_a_nut_on_a_thread_has_its_closed_form(formulation):
    """Turning and rising it by one angle: (J + m p^2) alpha + m g p."""
    model, state = lead_screw(), (0.7, -3.0, 5.0)
    symbols = [ca.SX.sym(name) for name in ("q", "qd", "qdd")]
    found = evaluate([formulation(model, *symbols, ())], symbols, state)[0]
    assert found == pytest.approx((INERTIA + MASS * PITCH**2) * 5.0 + MASS * G * PITCH, rel=1e-14)


def test_a_thread_goes_through_problem_file_and_picture(tmp_path):
    """Turned from rest to rest with least squared torque: the torque about what gravity wants is linear in time."""
    turns, seconds = 3.0, 1.0
    problem = co.Problem(
        lead_screw(),
        seconds,
        co.integral(lambda now: (now.tau - MASS * G * PITCH) ** 2),
        [co.initial(q=0.0, qd=0.0), co.final(q=turns, qd=0.0)],
    )
    solution = co.solve(problem, co.HermiteSimpson(4), progress=False)
    effective = INERTIA + MASS * PITCH**2
    expected = MASS * G * PITCH + effective * 6 * turns * (1 - 2 * solution.t / seconds)
    assert solution.tau[:, 0] == pytest.approx(expected, abs=1e-7)
    assert co.verify(solution).forward_error < 1e-8
    co.save(solution, tmp_path / "thread.npz")
    assert co.load(tmp_path / "thread.npz", problem).tau == pytest.approx(solution.tau)
    figure = skeleton_of(solution, np.array([0.0, seconds]))
    assert (figure.hinges, figure.slides, figure.floats) == ([0], [0], [])
    assert figure.slid[1, 0] == pytest.approx([0, PITCH * turns, 0], abs=1e-9)


# Franka Emika's own table, in Craig's convention: a, d, alpha of every joint.
PANDA = ((0, 0.333, 0), (0, 0, -1), (0, 0.316, 1), (0.0825, 0, 1), (-0.0825, 0.384, -1), (0, 0, 1), (0.088, 0, 1))


def test_modified_rows_are_those_of_a_pandas_maker():
    """Against the model, whose rows are other numbers: origins and rolls of URDF."""
    bodies: list[co.Body] = []
    for k, (a, d, quarters) in enumerate(PANDA):
        joint = co.dh_revolute(a=a, d=d, alpha=quarters * np.pi / 2, modified=True)
        bodies.append(co.Body(f"joint{k + 1}", joint, bodies[-1].name if bodies else None))
    q = np.random.default_rng(3).uniform(-2, 2, 7)
    for body in bodies:
        ours, theirs = (
            co.model.point_motion(model, body.name, (0.1, 0.2, 0.3), q=ca.SX(ca.DM(q))).position
            for model in (co.Model(bodies), panda())
        )
        np.testing.assert_allclose(np.array(ca.DM(ours)), np.array(ca.DM(theirs)), atol=1e-12)


@pytest.mark.parametrize("make", [co.dh_revolute, co.dh_prismatic])
def test_modified_rows_turn_first_about_the_axis_of_the_link_before(make):
    """Rx(alpha) Tx(a) Rz(theta) Tz(d), multiplied out (Craig 1989, equation 3.6)."""
    theta, d, a, alpha, q = 0.3, 0.2, 0.5, -0.7, 0.4
    found = transform_at(make(theta, d, a, alpha, modified=True), q)
    theta, d = (theta + q, d) if make is co.dh_revolute else (theta, d + q)
    c, s, ca_, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    rows = [[c, -s, 0, a], [s * ca_, c * ca_, -sa, -sa * d], [s * sa, c * sa, ca_, ca_ * d], [0, 0, 0, 1]]
    np.testing.assert_allclose(found, rows, atol=1e-15)
    with pytest.raises(co.InputError, match="modified must be True or False, got 1"):
        make(modified=1)
