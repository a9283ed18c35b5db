"""Any function of the instant along an answer."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from tests.support.problems import effort, everything


@pytest.fixture(scope="module", params=[co.BSpline(5), co.HermiteSimpson(5), co.Radau(4)], ids=str)
def solution(request: pytest.FixtureRequest) -> co.Solution:
    return co.solve(everything(), request.param, raise_on_failure=False, solver=co.Ipopt(max_iter=5))


def test_quantities_of_a_sample_come_out_again(solution: co.Solution):
    t = np.linspace(0, solution.duration, 7)
    q, wind, gain = solution.evaluate(lambda now: (now.q, now.wind, now.gain), t)
    np.testing.assert_array_equal(q, solution.at(t).q)
    np.testing.assert_array_equal(wind, solution.at(t).wind)
    np.testing.assert_array_equal(gain, np.full(7, 1.5))
    np.testing.assert_allclose(solution.evaluate(lambda now: now.tau), solution.tau, rtol=1e-14)


def test_functions_of_points_equal_kinematics_of_the_sample(solution: co.Solution):
    model, t = solution.problem.model, np.linspace(0, solution.duration, 5)
    found = solution.evaluate(lambda now: now.point("arm", (0.1, 0, 0)), t)
    q, qd, qdd = (ca.SX.sym(name, model.n) for name in ("q", "qd", "qdd"))
    motion = ca.Function(
        "arm", [q, qd, qdd], list(co.model.point_motion(model, "arm", (0.1, 0, 0), q=q, qd=qd, qdd=qdd))
    )
    sample = solution.at(t)
    for k in range(5):
        expected = motion(sample.q[k], sample.qd[k], sample.qdd[k])
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours[k], np.array(theirs).ravel(), atol=1e-12)


def test_shapes_follow_the_function(solution: co.Solution):
    t = np.linspace(0, solution.duration, 4)
    assert solution.evaluate(effort, t).shape == (4,)
    assert solution.evaluate(effort, 0.1).shape == ()
    assert solution.evaluate(lambda now: now.q @ now.qd.T, t).shape == (4, 3, 3)
    q, qd = solution.at(0.1).q, solution.at(0.1).qd
    np.testing.assert_allclose(solution.evaluate(lambda now: now.q @ now.qd.T, 0.1), np.outer(q, qd), atol=1e-14)
    assert solution.evaluate(lambda now: 2.0, t).tolist() == [2.0] * 4


def test_the_integral_of_a_cost_term_is_its_value():
    """By Gauss points on every interval, where a spline takes its cost too."""
    solution = co.solve(everything(), co.BSpline(5), raise_on_failure=False, solver=co.Ipopt(max_iter=5))
    edges = np.linspace(0, solution.duration, 6)
    x, w = np.polynomial.legendre.leggauss(4)
    t = (edges[:-1, None] + np.diff(edges)[:, None] * (x + 1) / 2).ravel()
    values = solution.evaluate(effort, t).reshape(5, 4) @ w / 2 * np.diff(edges)
    assert 0.1 * values.sum() == pytest.approx(solution.terms["effort"], rel=1e-9)


def test_mistakes_are_named(solution: co.Solution):
    with pytest.raises(co.InputError, match="evaluate needs a function of the instant, got 3"):
        solution.evaluate(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match="must return SX or a tuple of SX, got 'q'"):
        solution.evaluate(lambda now: "q")
    with pytest.raises(co.InputError, match="must use symbols of this problem only, got foreign"):
        solution.evaluate(lambda now: ca.SX.sym("foreign"))
    with pytest.raises(AttributeError, match="did you mean 'tau'"):
        solution.evaluate(lambda now: now.tua)
    with pytest.raises(co.InputError, match="t must be one or more times within"):
        solution.evaluate(effort, [-1.0])


def test_violations_carry_units_and_any_times():
    box = co.path(lambda now: now.point("elbow").position[1], lower=-9.0, unit="m", name="height")
    from colloc.models.two_link import two_link

    stated = [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0), co.bounds(tau=(-50, 50), qd=(-9, 9)), box]
    solution = co.solve(co.Problem(two_link(), 1.0, co.integral(effort), stated), co.BSpline(6))
    units = {v.row: v.unit for v in solution.violations}
    assert units["height"] == "m"
    assert units["tau[elbow]"] == "N m"
    assert units["qd[elbow]"] == "rad/s"
    assert units["initial q[elbow]"] == "rad"
    tight = co.Problem(two_link(), 1.0, co.integral(effort), [*stated[:2], co.bounds(tau=(-1, 1))])
    loose = co.solve(tight, co.BSpline(6), raise_on_failure=False, solver=co.Ipopt(max_iter=0))
    at = {v.row: v for v in loose.violations_at([0.0, 0.5])}["tau[shoulder]"]
    assert at.t in (0.0, 0.5)
    beyond = np.abs(loose.at([0.0, 0.5]).tau[:, 0]).max() - 1
    assert at.amount == pytest.approx(beyond)
