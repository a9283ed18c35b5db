"""The solution: samples, reactions, violations, text; and verification."""

import re
from copy import deepcopy
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.cart_pole import cart_pole
from colloc.models.two_link import two_link
from colloc.solution.verify import kkt
from tests.support.problems import effort, everything, time_optimal

CURVES = [co.BSpline(12), co.HermiteSimpson(12), co.Radau(12)]


@pytest.fixture(scope="module", params=CURVES, ids=str)
def solution(request: pytest.FixtureRequest) -> co.Solution:
    return co.solve(everything(), request.param)


def test_samples_are_node_by_joint(solution: co.Solution):
    for name in ("q", "qd", "qdd", "tau"):
        assert getattr(solution, name).shape == (solution.t.size, 3)
    assert solution.t[0] == 0
    assert solution.t[-1] == pytest.approx(solution.duration)
    assert solution.nodes.wind.shape == (solution.t.size, 2)


@pytest.mark.parametrize("curve", [co.HermiteSimpson(12), co.Radau(12), co.BSpline(24)], ids=str)
def test_torques_are_inverse_dynamics_at_every_time(curve):
    """By another formulation, and also where loads depend on time: a torque is taken at its own time."""
    loads = [co.Load("elbow", moment=lambda now: ca.vertcat(0, 0, 5 * ca.sin(9 * now.t)))]
    ends = [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0)]
    solution = co.solve(co.Problem(two_link(), 1.0, co.integral(effort), ends, loads=loads), curve)
    now = solution.problem.instant
    needed = co.dynamics.lagrange(two_link(), now.q, now.qd, now.qdd, [])
    function = ca.Function("needed", [now.q, now.qd, now.qdd], [needed])
    for t in np.random.default_rng(0).random(20):
        sample = solution.at(t)
        bare = np.array(function(sample.q, sample.qd, sample.qdd)).ravel()
        np.testing.assert_allclose(sample.tau, bare - 5 * np.sin(9 * t), atol=1e-10)


def test_one_time_or_many(solution: co.Solution):
    one, many = solution.at(0.1), solution.at([0.1, 0.2])
    assert one.q.shape == (3,)
    np.testing.assert_array_equal(many.q[0], one.q)
    np.testing.assert_array_equal(solution.at(solution.t).tau, solution.tau)


def test_rates_are_derivatives_of_the_curve(solution: co.Solution):
    h, t = 1e-5, np.linspace(0.05, 0.9, 9) * solution.duration
    ahead, behind, now = solution.at(t + h), solution.at(t - h), solution.at(t)
    np.testing.assert_allclose((ahead.q - behind.q) / (2 * h), now.qd, atol=1e-6)
    np.testing.assert_allclose((ahead.qd - behind.qd) / (2 * h), now.qdd, atol=1e-3)


@pytest.mark.parametrize("t", [-0.1, 99.0, [0.0, 99.0], [[0.0]], "now", np.nan])
def test_times_outside_the_motion_are_refused(solution: co.Solution, t):
    with pytest.raises(co.InputError, match="t must be"):
        solution.at(t)


def test_a_typo_on_a_sample_is_explained(solution: co.Solution):
    with pytest.raises(AttributeError, match="no quantity of a sample named 'wnd'; did you mean 'wind'"):
        _ = solution.at(0.1).wnd
    assert {"wind", "tau"} <= set(dir(solution.at(0.1)))  # which are completed


def test_the_cost_is_the_sum_of_its_terms(solution: co.Solution):
    assert list(solution.terms) == ["duration", "effort", "integral"]
    assert solution.terms["duration"] == pytest.approx(0.5 * solution.duration, rel=1e-12)
    assert solution.cost == pytest.approx(sum(solution.terms.values()))


def test_actuation_is_the_axis_component_of_the_reaction(solution: co.Solution):
    """Joint "base" turns about z of its own frame, "slide" moves along y: the reaction's component is the torque."""
    reaction = solution.reactions()
    bodies = [body.name for body in solution.problem.model.bodies]
    assert reaction.force.shape == (solution.t.size, 4, 3)
    for body, joint, component in (("base", 0, reaction.moment[..., 2]), ("slide", 2, reaction.force[..., 1])):
        np.testing.assert_allclose(component[:, bodies.index(body)], solution.tau[:, joint], atol=1e-9)


def test_violations_are_measured_between_nodes():
    with pytest.warns(co.refinement.SolutionWarning):
        solution = co.solve(time_optimal(), co.BSpline(12, nodes=13), plan=[co.refinement.Solve(between="nodes")])
    worst = solution.violations[0]
    assert worst.constraint == "tau bounds"
    assert worst.row in ("tau[shoulder]", "tau[elbow]")
    joint = ("tau[shoulder]", "tau[elbow]").index(worst.row)
    assert abs(solution.at(worst.t).tau[joint]) == pytest.approx(10 + worst.amount)
    assert worst.relative == pytest.approx(worst.amount / 10)
    assert np.abs(solution.tau).max() < 10 + 1e-6  # at the nodes the bounds hold


def test_the_text_says_what_a_violation_is_relative_to():
    """A pole without a motor: the error of its zero torque between nodes is reported by how far the motion strays."""
    pole = co.bounds(tau={"pole": (0.0, 0.0)})
    problem = co.Problem(
        cart_pole(),
        2.0,
        co.integral(lambda now: now.tau[0] ** 2),
        [co.initial(q=0.0, qd=0.0), co.final(q=(1.0, 3.1416), qd=0.0), pole],
    )
    found = co.solve(problem, co.Radau(20))
    worst = found.violations[0]
    assert (found.status, worst.row, worst.unit, worst.size) == (co.solver.Status.SOLVED, "tau[pole]", "N m", 1.0)
    assert worst.relative == worst.amount > 1e-4
    text = repr(found).splitlines()
    assert text[-3].split() == ["violation", "0,", "including", "between", "nodes"]
    strays = found.error.totals["dynamics"] + found.error.totals["equations"]
    assert f"relative error of the motion between nodes: {strays:.1e}" in text[-2]
    assert text[-1].strip() == f"tau[pole]: by {worst} at t = {worst.t:.4g} s"
    bounded = co.solve(time_optimal(), co.BSpline(12), plan=[co.refinement.Solve(tol=1.0, between="nodes")])
    assert (bounded.violations[0].row[:3], bounded.violations[0].size) == ("tau", 10.0)
    assert "of its row's natural size, 10 N m, including" in repr(bounded)
    assert "status     solved at its nodes, not judged between them with tol=1 (Solve_Succeeded)" in repr(bounded)
    assert "status     solved (Solve_Succeeded)" in repr(found)


def test_text_and_html_fit_a_screen(solution: co.Solution):
    text = repr(solution)
    assert len(text.splitlines()) <= 24
    assert re.search(r"status +solved", text)
    assert f"{solution.duration:.8g} s" in text
    assert "<table>" in solution._repr_html_()


# --- verification ---


@pytest.mark.parametrize("curve", [co.BSpline(20), co.HermiteSimpson(120), co.Radau(40)], ids=str)
def test_the_torques_produce_the_motion(curve):
    ends = [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0)]
    problem = co.Problem(
        two_link(9.81), 1.0, co.integral(effort), ends, loads=[co.Load("elbow", (0, -5, 0), (0, 0, 1))]
    )
    solution = co.solve(problem, curve)
    checks = co.verify(solution)
    assert checks.forward_error < 1e-5
    assert checks.terminal_miss <= checks.forward_error
    assert checks.kkt.stationarity < 1e-6
    assert max(checks.kkt.feasibility, checks.kkt.complementarity, checks.kkt.sign) < 1e-7
    assert "forward simulation" in repr(checks)


def test_springs_and_drag_are_part_of_the_forward_simulation():
    loads = [
        co.Load("elbow", force=lambda now: -8.0 * now.point("elbow").velocity),
        co.Load("shoulder", moment=lambda now: ca.vertcat(0, 0, -5.0 * now.q[0] + ca.cos(9 * now.t))),
    ]
    ends = [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0)]
    free, loaded = (
        co.solve(co.Problem(two_link(), 1.0, co.integral(effort), ends, loads=w), co.BSpline(20)) for w in ([], loads)
    )
    assert co.verify(loaded).forward_error < 1e-6
    assert abs(loaded.cost - free.cost) > 1.0


def moved(solution: co.Solution, x: np.ndarray) -> co.Solution:
    """The same outcome with another decision vector."""
    return replace(solution, outcome=replace(solution.outcome, x=x))


def test_what_is_measured_is_of_the_motion_and_shared_by_all_answers_that_it_is():
    solution = co.solve(time_optimal(), co.Radau(20))
    error, judged = solution.error, replace(solution, outcome=replace(solution.outcome, tolerance=1e-9))
    assert judged.error is error
    assert replace(judged, rounds=()).nodes is solution.nodes
    assert (solution.status, judged.status) == (co.solver.Status.SOLVED, co.solver.Status.COARSE)
    unsolved = replace(solution, outcome=replace(solution.outcome, status=co.solver.Status.FAILED))
    for other in (unsolved, moved(solution, solution.x + 0.01)):
        assert other.error is not error
    assert moved(solution, solution.x + 0.01).duration == pytest.approx(solution.duration + 0.01)
    assert deepcopy(solution).error is not error


def test_a_wrong_motion_does_not_verify():
    solution = co.solve(time_optimal(), co.BSpline(20))
    bent = solution.x.copy()
    bent[solution.nlp.grid.layout["q"][10, 0]] += 0.01
    checks = co.verify(moved(solution, bent))
    assert checks.kkt.stationarity + checks.kkt.feasibility > 1e-3
    # A motion it is all the same, whatever its control points, so forward simulation still agrees ...
    assert checks.forward_error < 1e-6
    # ... unless there is an equation that the torques have to meet.
    idle = replace(time_optimal(), duration=1.0, minimize=co.integral(effort))
    idle = replace(idle, subject_to=[*idle.subject_to[:1], co.bounds(tau={"elbow": (0, 0)})])
    passive = co.solve(idle, co.Radau(20))
    assert co.verify(passive).forward_error < 1e-6
    bent = passive.x.copy()
    bent[passive.nlp.grid.layout["q"][30, 1]] += 0.01
    assert co.verify(moved(passive, bent)).forward_error > 1e-4


def test_kkt_residuals_notice_a_multiplier_of_the_wrong_sign():
    solution = co.solve(time_optimal(), co.BSpline(10))
    nlp, x, p = solution.nlp, solution.x, solution.parameters
    good = kkt(nlp, x, p, solution.multipliers["g"], solution.multipliers["x"])
    wrong = kkt(nlp, x, p, -solution.multipliers["g"], solution.multipliers["x"])
    assert good.stationarity < 1e-7 < 1e-2 < wrong.stationarity
    assert wrong.complementarity > 1e-2
