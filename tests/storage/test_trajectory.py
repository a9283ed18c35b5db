"""Joint trajectories of ROS, and the polynomials of a motion, against its samples."""

import json

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.closed.four_bar import four_bar
from colloc.models.two_link import two_link
from colloc.storage.trajectory import _inline


def swing(curve: co.curves.Transcription) -> co.Solution:
    ends = [co.initial(q=(0.0, -1.0), qd=0.0), co.final(q=(1.0, 0.5), qd=0.0)]
    problem = co.Problem(two_link(), 0.8, co.integral(lambda now: ca.sumsqr(now.tau)), ends)
    solution = co.solve(problem, curve, guess=co.line((0.0, -1.0), (1.0, 0.5)))
    assert solution.success
    assert solution.status is co.solver.Status.SOLVED
    return solution


@pytest.fixture(scope="module")
def solution() -> co.Solution:
    return swing(co.BSpline(12))


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_a_trajectory_of_ros_has_the_samples_of_the_motion(tmp_path, solution, suffix):
    path, t = tmp_path / f"swing.{suffix}", np.linspace(0.0, 0.8, 9)
    co.storage.to_joint_trajectory(solution, path, t)
    load = json.loads if suffix == "json" else pytest.importorskip("yaml").safe_load
    message = load(path.read_text(encoding="utf-8"))
    assert list(message) == ["header", "joint_names", "points"]
    assert message["header"] == {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}
    assert message["joint_names"] == ["shoulder", "elbow"]
    at = solution.at(t)
    for field, expected in (("positions", at.q), ("velocities", at.qd), ("accelerations", at.qdd), ("effort", at.tau)):
        np.testing.assert_array_equal([point[field] for point in message["points"]], expected)
    times = [point["time_from_start"] for point in message["points"]]
    np.testing.assert_allclose([s["sec"] + 1e-9 * s["nanosec"] for s in times], t, rtol=0, atol=1e-9)
    assert all(isinstance(number, int) for stamp in times for number in stamp.values())


def test_small_numbers_are_numbers_in_yaml():
    words = _inline([1e-05, -2e-17, 1.5e-7, 0.25, 3])
    assert words == "[1.0e-05, -2.0e-17, 1.5e-07, 0.25, 3]"


def test_a_trajectory_is_for_joints_of_one_position(tmp_path):
    top = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)))
    problem = co.Problem(top, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), [co.initial(qd=0.0)])
    solution = co.solve(problem, co.BSpline(4), guess=co.line(top.neutral, top.neutral))
    with pytest.raises(co.InputError, match="'top' is on a quaternion"):
        co.storage.to_joint_trajectory(solution, tmp_path / "top.json")
    with pytest.raises(co.InputError, match="positions of quaternions are no polynomials"):
        co.storage.piece_coefficients(solution)


def test_positions_that_follow_others_are_no_polynomials():
    chain = four_bar()
    ends = [co.initial(q={"crank": 0.5}, qd={"crank": 0.0}), co.final(q={"crank": 1.0}, qd={"crank": 0.0})]
    turn = co.Problem(chain.model, 1.0, parts=[co.loops.IndependentJoints(chain)], subject_to=ends)
    with pytest.raises(co.InputError, match="joints that depend on others are no polynomials"):
        co.storage.piece_coefficients(co.solve(turn, co.BSpline(8)))


def test_cases_are_no_trajectory(tmp_path):
    ends = [co.initial(q=(0.0, -1.0), qd=0.0), co.final(q=(1.0, 0.5), qd=0.0)]
    problem = co.Problem(two_link(), 0.8, co.integral(lambda now: ca.sumsqr(now.tau)), ends)
    solution = co.solve(co.Cases({"one": problem, "two": problem}), co.BSpline(6), progress=False)
    with pytest.raises(co.InputError, match=r"take one, as in solution\['one'\]"):
        co.storage.to_joint_trajectory(solution, tmp_path / "cases.json")


@pytest.mark.parametrize("curve", [co.BSpline(9), co.HermiteSimpson(7), co.Radau(4)])
def test_pieces_are_the_motion_and_its_rates(curve):
    solution = swing(curve)
    breaks, c = co.storage.piece_coefficients(solution)
    assert breaks.shape == (len(c) + 1,)
    assert breaks[-1] == solution.duration
    for k, piece in enumerate(c):
        t = np.linspace(breaks[k], breaks[k + 1], 7)[1:-1]
        at = solution.at(t)
        for joint, powers in enumerate(piece):
            place = np.polynomial.Polynomial(powers)
            for order, expected in enumerate((at.q, at.qd, at.qdd)):
                values = place.deriv(order)(t - breaks[k])
                scale = 1 + np.abs(expected).max()
                np.testing.assert_allclose(values, expected[:, joint], atol=1e-10 * scale)
