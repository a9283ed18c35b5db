"""Equations along the path: in positions, velocities or accelerations, all along or during a part."""

from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.polynomial import legendre, polynomial
from scipy.optimize import minimize

import colloc as co
from colloc.models.two_link import two_link
from tests.support.problems import effort

CURVES = [
    co.BSpline(20),
    co.BSpline(20, degree=4),
    co.BSpline(20, degree=5, continuity=2),
    co.Radau(20),
    co.HermiteSimpson(20),
]
REST = (co.initial(q=0.0, qd=0.0), co.final(q=(1.0, np.sin(1.0)), qd=0.0))


def follow(now: co.problem.Instant) -> ca.SX:
    """An elbow on a cam that the shoulder turns."""
    return now.q[1] - ca.sin(now.q[0])


def follow_rate(now: co.problem.Instant) -> ca.SX:
    return now.qd[1] - ca.cos(now.q[0]) * now.qd[0]


def follow_acceleration(now: co.problem.Instant) -> ca.SX:
    return now.qdd[1] - ca.cos(now.q[0]) * now.qdd[0] + ca.sin(now.q[0]) * now.qd[0] ** 2


def solved(rows: list, curve: Any, duration: co.Free | float = 1.0) -> co.Solution:
    minimum = co.integral(effort) if isinstance(duration, float) else co.duration()
    solution = co.solve(
        co.Problem(two_link(), duration, minimum, rows), curve, compile=False, plan=[co.refinement.Solve(tol=0.2)]
    )
    assert solution.status is co.solver.Status.SOLVED
    return solution


@pytest.fixture(scope="module")
def least_effort() -> float:
    """The least effort with the elbow on its cam, by SciPy over polynomials of the shoulder alone."""
    t, weight = (np.polynomial.legendre.leggauss(40)[0] + 1) / 2, legendre.leggauss(40)[1] / 2
    torque = co.Evaluator(two_link())

    def cost(c: np.ndarray) -> float:
        course = polynomial.polyadd([0, 0, 3, -2], polynomial.polymul([0, 0, 1, -2, 1], c))
        q, qd, qdd = (polynomial.polyval(t, polynomial.polyder(course, k)) for k in range(3))
        elbow = np.sin(q), np.cos(q) * qd, np.cos(q) * qdd - np.sin(q) * qd**2
        tau = torque.torque(*(np.column_stack(pair) for pair in zip((q, qd, qdd), elbow, strict=True)))
        return float(weight @ (tau**2).sum(axis=1))

    return float(minimize(cost, np.zeros(7), method="BFGS", options={"gtol": 1e-7}).fun)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_follower_keeps_to_its_cam_and_does_not_ring(curve, least_effort):
    """End states of both joints given, as anyone would: what they meet by themselves is not asked again."""
    solution = solved([*REST, co.path(follow, equals=0.0)], curve)
    assert solution.cost == pytest.approx(least_effort, rel=1e-6)
    motion = solution.at(np.linspace(0, 1, 501))
    np.testing.assert_allclose(motion.q[:, 1], np.sin(motion.q[:, 0]), atol=3e-6)
    wanted = np.cos(motion.q[:, 0]) * motion.qdd[:, 0] - np.sin(motion.q[:, 0]) * motion.qd[:, 0] ** 2
    np.testing.assert_allclose(motion.qdd[:, 1], wanted, atol=0.05)
    assert float(solution.error) < 1e-5


@pytest.mark.parametrize("equation", [follow_rate, follow_acceleration])
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_its_rate_or_acceleration_says_the_same(curve, equation, least_effort):
    ends = [REST[0], co.final(q={"shoulder": 1.0}, qd={"shoulder": 0.0})]
    solution = solved([*ends, co.path(equation, equals=0.0)], curve)
    assert solution.cost == pytest.approx(least_effort, rel=1e-4)
    assert solution.at(1.0).q[1] == pytest.approx(np.sin(1.0), abs=1e-3)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_given_course_leaves_the_other_joint_to_the_cost(curve):
    course = co.path(lambda now: now.q[0] - 0.3 * ca.sin(4 * now.t), equals=0.0)
    given = co.path(lambda now: now.qdd[0] + 4.8 * ca.sin(4 * now.t), equals=0.0)
    ends = [co.initial(q={"elbow": 0.0}, qd={"elbow": 0.0}), co.final(q={"elbow": 1.0}, qd={"elbow": 0.0})]
    reference = solved([*ends, co.initial(q={"shoulder": 0.0}, qd={"shoulder": 1.2}), given], co.Radau(30, 5))
    solution = solved([*ends, course], curve)
    assert solution.cost == pytest.approx(reference.cost, rel=2e-6)
    t = np.linspace(0, 1, 501)
    np.testing.assert_allclose(solution.at(t).qdd[:, 0], -4.8 * np.sin(4 * t), atol=0.02)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_equations_hold_in_a_free_duration_beside_limits(curve):
    solution = solved([*REST, co.path(follow, equals=0.0), co.bounds(tau=(-10, 10))], curve, co.Free(0.1, 5.0, 1.0))
    assert solution.duration == pytest.approx(0.4562, rel=3e-3)
    assert np.abs(solution.tau).max() < 10.1


@pytest.mark.parametrize("during", [(0.25, 0.75), (0.23, 0.71), (0.0, 0.33)])
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_equations_hold_during_a_part_of_the_motion(curve, during: tuple[float, float]):
    rows = [REST[0], co.final(q=(1.0, 0.0), qd=0.0), co.path(follow, equals=0.0, during=during)]
    solution = solved(rows, curve)
    inside = solution.at(np.linspace(during[0], during[1], 101))
    np.testing.assert_allclose(inside.q[:, 1], np.sin(inside.q[:, 0]), atol=5e-4)
    outside = solution.at(0.9)
    assert abs(outside.q[1] - np.sin(outside.q[0])) > 0.1


def test_end_states_that_contradict_an_equation_are_reported():
    rows = [co.initial(q=(0.0, 0.5), qd=0.0), REST[1], co.path(follow, equals=0.0, name="cam")]
    with pytest.raises(co.SolveError, match="cam at t = 0 s, whose variables are fixed by end conditions"):
        solved(rows, co.Radau(20))


def test_rows_are_sorted_by_the_derivatives_they_need():
    many = co.path(
        lambda now: ca.vertcat(now.q[0] - now.t, now.qd[0] * now.q[1], now.tau[0], now.qdd[1], now.q[1], now.duration),
        equals=0.0,
        name="many",
    )
    stated = co.Problem(two_link(), 1.0, co.integral(effort), [many]).rows["many"]
    np.testing.assert_array_equal(stated.orders, [0, 1, 2, 2, 0, 2])
    rate = stated.rate.function(0.5, 1, [3, 4], [5, 6], *10 * [0])
    np.testing.assert_array_equal(np.array(rate).ravel()[[0, 4]], [5 - 1, 6])
    assert stated.rate.rows.labels[0] == "rate of many, q[shoulder]"
