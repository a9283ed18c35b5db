"""From rest to rest in one line: what is stated, what is refused, and motions no slower than the straight line."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import colloc as co
from colloc.models.puma560 import puma560
from colloc.problem import EndState
from colloc.transcription import TimeOptimalLine, default_curves, time_optimal_line

FAST = co.Limits(position=(-3.0, 3.0), velocity=(-2.0, 2.0), torque=(-40.0, 40.0))
ROD = {"mass": 1.0, "com": (-0.5, 0, 0), "inertia": (0, 1 / 12, 1 / 12)}


def arm(limits: co.Limits = FAST) -> co.Model:
    """Two rods of 1 m and 1 kg in gravity."""
    upper = co.Body("shoulder", co.dh_revolute(a=1.0, limits=limits), None, **ROD)
    return co.Model([upper, co.Body("elbow", co.dh_revolute(a=1.0, limits=limits), "shoulder", **ROD)])


def slide(limits: co.Limits) -> co.Model:
    return co.Model([co.Body("slide", co.prismatic((1, 0, 0), limits=limits), None, 2.0)], gravity=(0, 0, 0))


def line_of(problem: co.Problem, start, end) -> TimeOptimalLine:
    found = time_optimal_line(problem, np.asarray(start, float), np.asarray(end, float))
    assert isinstance(found, TimeOptimalLine)
    return found


def test_a_point_to_point_problem_states_rest_to_rest_in_bounds_of_the_lines_time():
    start, end = (0.0, 0.5), (1.0, -0.5)
    problem = co.transcription.point_to_point(arm(), start, end)
    time = line_of(problem, start, end).duration
    assert problem.horizon.upper == pytest.approx(1.2 * time)
    assert problem.horizon.lower == pytest.approx(0.99 * 0.5)  # 1 rad at 2 rad/s
    assert problem.horizon.guess is None
    assert list(problem.integrands) == ["duration", "smoothness"]
    values = {state.name: state.values for state in problem.subject_to if isinstance(state, EndState)}
    np.testing.assert_array_equal(values["initial"]["q"], start)
    np.testing.assert_array_equal(values["final"]["q"], end)
    assert values["initial"]["qd"] == values["final"]["qd"] == 0.0


def test_the_tie_break_is_a_fixed_small_share_of_the_lines_time():
    start, end = np.array([0.0, 0.5]), np.array([1.0, -0.5])
    problem = co.transcription.point_to_point(arm(), start, end)
    line, (weight, integrand) = line_of(problem, start, end), problem.integrands["smoothness"]
    *_, qdd = line.at((line.t[1:] + line.t[:-1]) / 2)
    slots = [np.zeros(symbol.shape) for symbol in problem.instant.slots]
    values = []
    for row in qdd:
        slots[4] = row
        values.append(float(integrand(*slots)))
    assert weight * (values @ np.diff(line.t)) == pytest.approx(3e-5 * line.duration)


@pytest.mark.parametrize(
    ("limits", "exact"),
    [
        (co.Limits(torque=(-50.0, 50.0)), 0.4),
        (co.Limits(torque=(-50.0, 50.0), velocity=(-3.0, 3.0)), 1 / 3 + 3 / 25),
        (co.Limits(acceleration=(-5.0, 20.0)), (2 / 5 + 2 / 20) ** 0.5),
    ],
    ids=["force", "speed", "acceleration"],
)
def test_one_joint_takes_the_time_of_the_textbook(limits, exact):
    problem = co.transcription.point_to_point(slide(limits), [0.0], [1.0])
    mesh = line_of(problem, [0.0], [1.0]).breakpoints()
    solution = co.solve(problem, co.BSpline(breakpoints=mesh, continuity=1))
    assert solution.status is co.solver.Status.SOLVED
    assert solution.duration == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("seed", [0, 1])
def test_an_arm_is_not_slower_than_its_straight_line(seed):
    puma = puma560(motors=True)
    start, end = np.random.default_rng(seed).uniform(*puma.limits("position"), (2, 6))
    problem = co.transcription.point_to_point(puma, start, end)
    line = line_of(problem, start, end)
    solution = co.solve(
        problem, co.BSpline(breakpoints=line.breakpoints(), continuity=1), plan=[co.refinement.Solve(tol=0.05)]
    )
    assert solution.success
    assert problem.horizon.lower < solution.duration < line.duration


def test_the_tie_break_settles_idle_joints_and_costs_no_time():
    """The elbow has far to go, the shoulder has time to spare."""
    start, end = (-1.5, -1.0), (-1.4, 1.5)
    problem = co.transcription.point_to_point(arm(), start, end)
    curve = co.BSpline(breakpoints=line_of(problem, start, end).breakpoints(), continuity=1)
    plain = co.Problem(problem.model, problem.duration, co.duration(), problem.subject_to)
    quick, settled = (co.solve(p, curve, plan=[co.refinement.Solve(tol=0.05)]) for p in (plain, problem))
    assert -1e-6 < settled.duration / quick.duration - 1 < 4e-4

    def shaking(solution: co.Solution) -> float:
        """Integral of squared accelerations."""
        t = np.linspace(0, solution.duration, 2001)
        return float(np.trapezoid((solution.at(t).qdd ** 2).sum(axis=1), t))

    assert shaking(settled) < shaking(quick)


def test_in_a_given_duration_squared_accelerations_are_least():
    """The cubic q = s^2 (3 - 2 s), whose acceleration is 6 (1 - 2 s) d / T^2."""
    problem = co.transcription.point_to_point(slide(co.Limits()), [0.0], [2.0], duration=1.5)
    solution = co.solve(problem, co.BSpline(4))
    s = np.linspace(0, 1, 11)
    np.testing.assert_allclose(solution.at(1.5 * s).q[:, 0], 2 * s**2 * (3 - 2 * s), atol=1e-6)


def test_a_cost_of_ones_own_goes_with_a_duration():
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    problem = co.transcription.point_to_point(arm(), (0, 0), (1, 0), duration=co.Free(0.5, 2.0), minimize=effort)
    assert problem.minimize is effort
    assert problem.horizon == co.Free(0.5, 2.0)


WEAK = co.Limits(torque=(-5.0, 5.0))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: co.transcription.point_to_point("arm", 0, 1), "model must be a Model, got 'arm'"),  # pyright: ignore
        (
            lambda: co.transcription.point_to_point(arm(), (0, 0, 0), (1, 1)),
            r"start must have shape \(2,\), got shape \(3,\)",
        ),
        (lambda: co.transcription.point_to_point(arm(), (0, 0), (1, np.nan)), r"end must be finite"),
        (
            lambda: co.transcription.point_to_point(arm(), (0, 4), (1, 1)),
            r"initial q\[elbow\] = 4 lies outside its bounds \[-3, 3\]",
        ),
        (lambda: co.transcription.point_to_point(arm(), (0, 1), (0, 1)), r"same posture: \(0, 1\)"),
        (
            lambda: co.transcription.point_to_point(arm(co.Limits()), (0, 0), (1, 1)),
            "no duration: nothing limits the speed; pass",
        ),
        (
            lambda: co.transcription.point_to_point(arm(WEAK), (0, 0), (1, 1)),
            r"shoulder needs 19.6\d* N m to be held at 0%",
        ),
        (
            lambda: co.transcription.point_to_point(arm(), (0, 0), (1, 1), minimize=co.duration()),
            "minimize needs a duration",
        ),
    ],
)
def test_what_no_motion_follows_from_is_refused(given, message):
    with pytest.raises(co.InputError, match=message):
        given()


def test_with_a_duration_the_line_may_be_impossible():
    """A swing-up has no straight line, but a problem."""
    problem = co.transcription.point_to_point(arm(WEAK), (-np.pi / 2, 0), (np.pi / 2, 0), duration=co.Free(0.5, 10.0))
    assert problem.horizon.upper == 10.0


def test_the_line_of_a_motion_is_timed_once(monkeypatch):
    move = co.transcription.point_to_point(arm(), (0.0, -2.0), (1.0, -1.0))
    module = import_module("colloc.transcription.time_optimal_line")
    monkeypatch.setattr(module, "_timed", lambda *_: pytest.fail("timed again"))
    assert default_curves(move)[""].breakpoints is not None  # a mesh that suits the line


def ball(limits: co.Limits, *more: co.Body) -> co.Model:
    by_name = {f"hub_r{axis}": limits for axis in "xyz"}
    hub = co.spherical("hub", sequence="quaternion", mass=1.0, inertia=(0.3, 0.25, 0.4), limits=by_name)
    return co.Model([*hub, *more], gravity=(0, 0, 0))


def test_a_ball_joint_turns_about_one_axis_as_a_hinge_does():
    limits = co.Limits(velocity=(-2.0, 2.0), torque=(-3.0, 3.0))
    angle, model = 1.2, ball(limits)
    wheel = co.Model([co.Body("hub", co.revolute((0, 0, 1), limits=limits), None, 1.0, inertia=(0.3, 0.25, 0.4))])
    end = np.array([np.cos(angle / 2), 0, 0, np.sin(angle / 2)])
    problem = co.transcription.point_to_point(model, model.neutral, end)
    others = co.bounds(qd={name: (0.0, 0.0) for name in model.joint_names[:2]})
    turned = co.solve(replace(problem, subject_to=[*problem.subject_to, others]), co.BSpline(16))
    hinged = co.solve(co.transcription.point_to_point(wheel, [0.0], [angle]), co.BSpline(16))
    exact = angle / 2 + 2 / (3 / 0.4)  # up to the speed limit, along, and down
    assert line_of(turned.problem, model.neutral, end).duration == pytest.approx(exact, rel=2e-3)
    assert turned.duration == pytest.approx(hinged.duration, rel=1e-4)
    np.testing.assert_allclose(turned.qd[:, :2], 0.0, atol=1e-5)
    # About one axis alone is not the fastest (Bilimoria and Wie 1993): the other two help to turn.
    assert co.solve(problem, co.BSpline(16), guess=turned).duration < turned.duration - 0.01


def test_the_line_between_attitudes_is_scipys_and_its_velocities_are_its_rates():
    arm_ = co.Body("rod", co.revolute((0, 1, 0), limits=FAST), "hub", **ROD)
    model = ball(co.Limits(torque=(-4.0, 4.0)), arm_)
    rng = np.random.default_rng(2)
    start, end = (model.of_unit_length(rng.uniform(-1, 1, 5)) for _ in range(2))
    end[:4] *= np.sign(start[:4] @ end[:4])  # the short way
    line = line_of(co.transcription.point_to_point(model, start, end), start, end)
    t = np.linspace(0, line.duration, 50)
    q, qd, _ = line.at(t)
    ends = Rotation.from_quat(np.array([start[:4], end[:4]]), scalar_first=True)
    share = (q[:, 4] - start[4]) / (end[4] - start[4])
    np.testing.assert_allclose(np.abs((Slerp([0, 1], ends)(share).as_quat(scalar_first=True) * q[:, :4]).sum(1)), 1.0)
    step = 1e-5
    rates = (line.at(t[1:-1] + step)[0] - line.at(t[1:-1] - step)[0]) / (2 * step)
    expected = [np.array(ca.DM(model.position_rates(ca.SX(a), ca.SX(b)))).ravel() for a, b in zip(q, qd, strict=True)]
    np.testing.assert_allclose(rates, expected[1:-1], atol=1e-3)


def test_the_fastest_way_between_attitudes_is_no_slower_than_the_line_and_is_a_motion():
    arm_ = co.Body("rod", co.revolute((0, 1, 0), limits=FAST), "hub", **ROD)
    model = ball(co.Limits(torque=(-4.0, 4.0)), arm_)
    start = model.of_unit_length(np.array([1.0, 0.1, 0.2, 0.3, 0.4]))
    end = model.of_unit_length(np.array([1.0, -0.4, 0.5, 0.3, -0.5]))
    problem = co.transcription.point_to_point(model, start, end)
    solution = co.solve(problem, co.BSpline(16))
    assert solution.duration <= line_of(problem, start, end).duration * 1.001
    assert co.verify(solution).local_error < 1e-3
