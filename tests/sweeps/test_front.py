"""Pareto fronts against weighted sums, a closed form, and a front that is not convex."""

from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link

CURVE = co.Radau(8)
EFFORT = co.integral(lambda now: ca.sumsqr(now.tau), name="effort")
HAND = co.integral(lambda now: ca.sumsqr(now.point("elbow").acceleration), name="hand")
COMFORT = co.integral(lambda now: (now.q[1] + 1.8) ** 2 + 0.02 * ca.sumsqr(now.tau), name="comfort")


def reach() -> co.Problem:
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
    return co.Problem(two_link(9.81), 0.8, subject_to=ends)


@cache
def between_effort_and_hand() -> co.sweeps.Front:
    return co.sweeps.pareto_front(reach(), [EFFORT, HAND], CURVE, points=5, progress=False)


def test_the_ends_minimise_one_cost():
    front = between_effort_and_hand()
    for k, cost in enumerate((EFFORT, HAND)):
        alone = co.solve(replace(reach(), minimize=cost), CURVE, progress=False)
        end = front.values[(0, -1)[k], k]
        assert alone.cost * (1 - 1e-6) <= end < alone.cost * 1.001
    assert front.failed.size == front.dominated.size == 0


def test_points_are_optima_of_weighted_sums_with_their_weights():
    front = between_effort_and_hand()
    for k in range(5):
        first, second = front.weights[k].tolist()
        weighed = co.solve(replace(reach(), minimize=first * EFFORT + second * HAND), CURVE, progress=False)
        values = np.array(list(weighed.terms.values())) / front.weights[k]
        np.testing.assert_allclose(values, front.values[k], rtol=2e-3)
    ranges = np.ptp(front.values, axis=0)
    np.testing.assert_allclose(front.weights @ ranges, 1.0)


def test_points_are_spread_evenly_and_none_is_better_in_both_costs():
    front = between_effort_and_hand()
    shares = (front.values - front.values.min(axis=0)) / np.ptp(front.values, axis=0)
    along = shares[:, 0] - shares[:, 1]
    np.testing.assert_allclose(np.diff(along), 0.5, atol=0.02)
    assert (np.diff(front["effort"]) > 0).all()
    assert (np.diff(front["hand"]) < 0).all()


def test_a_front_that_is_not_convex_is_found_between_its_ends():
    """Sums of a constant c and of 1 - (c + c**3) / 2, with any weights, are least at the ends."""
    c = co.Unknown("c", lower=0.0, upper=1.0, guess=0.5, constant=True)
    problem = co.Problem(co.Model.empty(), 1.0, unknowns=[c])
    first = co.final_cost(lambda now: now.c, name="first")
    second = co.final_cost(lambda now: 1 - (now.c + now.c**3) / 2, name="second")
    front = co.sweeps.pareto_front(problem, [first, second], co.Radau(2), points=6, progress=False)
    line = [np.roots([0.5, 0, 1.5, -2 * share]) for share in np.linspace(0, 1, 6)]  # where the front crosses it
    closed = [float(roots[np.abs(roots.imag) < 1e-9].real[0]) for roots in line]
    np.testing.assert_allclose(front["first"], closed, atol=1e-4)
    np.testing.assert_allclose(front.constants["c"].ravel(), closed, atol=1e-4)


def test_three_costs_fill_a_triangle():
    front = co.sweeps.pareto_front(
        reach(), {"effort": EFFORT, "hand": HAND, "comfort": COMFORT}, co.Radau(10), points=6, progress=False
    )
    assert len(front) == 6
    assert front.failed.size == front.dominated.size == 0
    least = front.values.argmin(axis=0)
    np.testing.assert_array_equal(least, [0, 1, 2])
    page = co.plot.front(front)
    assert [ax.get_xlabel() for ax in page.axes[:3]] == ["effort", "effort", "hand"]
    assert page.axes[0].get_xlim()[1] < 2 * front["effort"].max()
    plt.close(page)


def in_two_phases() -> co.Phases:
    """The reach, cut in two halves of 0.4 s."""
    start, end = reach().subject_to
    first, second = (co.Problem(two_link(9.81), 0.4, subject_to=[row]) for row in (start, end))
    return co.Phases({"away": first, "there": second})


def test_a_front_of_phases_is_that_of_the_motion_they_make():
    """Collocation on four intervals in each of two phases is collocation on eight intervals."""
    curves = {"away": co.Radau(4), "there": co.Radau(4)}
    front = co.sweeps.pareto_front(in_two_phases(), [EFFORT, HAND], curves, points=5, progress=False)
    np.testing.assert_allclose(front.values, between_effort_and_hand().values, rtol=1e-4)
    np.testing.assert_allclose(front.weights, between_effort_and_hand().weights, rtol=1e-2)
    assert isinstance(front.solution(2), co.solution.PhasesSolution)


def test_costs_of_single_phases_are_traded():
    costs = {"first half": {"away": EFFORT}, "second half": {"there": EFFORT}}
    front = co.sweeps.pareto_front(in_two_phases(), costs, co.Radau(4), points=3, progress=False)
    first, second = front.weights[1].tolist()
    weighed = {
        name: replace(phase, minimize=weight * EFFORT)
        for (name, phase), weight in zip(in_two_phases().phases.items(), (first, second), strict=True)
    }
    best = co.solve(co.Phases(weighed), co.Radau(4), guess=front.solution(1), progress=False)
    values = np.array([best["away"].cost, best["there"].cost]) / (first, second)
    np.testing.assert_allclose(values, front.values[1], rtol=2e-3)


def test_a_front_of_cases_shares_their_constants():
    """Any point is the optimum of its weighted sum, in which the cases have one stiffness."""
    stiffness = co.Unknown("stiffness", lower=0.0, upper=100.0, guess=5.0, constant=True, unit="N m/rad")
    spring = co.Load("elbow", moment=lambda now: ca.vertcat(0, 0, -now.stiffness * now.q[1]))

    def swing(angle: float, minimize: co.problem.Cost) -> co.Problem:
        ends = [co.initial(q=0.0, qd=0.0), co.final(q=angle, qd=0.0)]
        return co.Problem(two_link(), 0.5, minimize, ends, unknowns=[stiffness], loads=[spring])

    soft = co.final_cost(lambda now: now.stiffness**2, name="stiff")
    costs = {"effort": EFFORT, "stiff": {"near": soft}}
    cases = co.Cases({"near": swing(0.3, EFFORT), "far": swing(1.0, EFFORT)})
    front = co.sweeps.pareto_front(cases, costs, co.Radau(8), points=4, progress=False)
    assert front.failed.size == front.dominated.size == 0
    first, second = front.weights[1].tolist()
    weighed = co.Cases({"near": swing(0.3, first * EFFORT + second * soft), "far": swing(1.0, first * EFFORT)})
    best = co.solve(weighed, co.Radau(8), progress=False)
    assert front.constants["stiffness"][1, 0] == pytest.approx(best["near"].constants["stiffness"][0], rel=2e-3)
    assert front["stiff"][1] == pytest.approx(front.constants["stiffness"][1, 0] ** 2, rel=1e-6)
    with pytest.raises(co.InputError, match="worst=0"):
        co.sweeps.pareto_front(replace(cases, worst=0.5), costs, co.Radau(8), progress=False)
    with pytest.raises(co.InputError, match="'near'"):
        co.sweeps.pareto_front(cases, {"effort": EFFORT, "stiff": {"nearer": soft}}, co.Radau(8), progress=False)


def test_with_a_tolerance_all_points_are_on_the_grid_of_an_end():
    front = co.sweeps.pareto_front(reach(), [EFFORT, HAND], co.Radau(3), points=3, tol=1e-2, progress=False)
    sizes = [front.solution(k).x.size for k in range(3)]
    assert sizes[1] >= max(sizes[0], sizes[2]) > co.transcribe(reach(), co.Radau(3)).n_x
    assert all(front.solution(k).status is co.solver.Status.SOLVED for k in range(3))


def test_a_figure_of_two_costs():
    page = co.plot.front(between_effort_and_hand())
    assert (page.axes[0].get_xlabel(), page.axes[0].get_ylabel()) == ("effort", "hand")
    plt.close(page)


def test_a_table_shows_costs_and_constants():
    text = repr(between_effort_and_hand())
    assert "Front of effort, hand" in text
    assert "5 points, 0 of them without a solution" in text
    assert between_effort_and_hand().solution(2).status in {co.solver.Status.SOLVED, co.solver.Status.COARSE}


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([EFFORT], "two or three, got 1"),
        ([EFFORT, 2 * EFFORT], "different names"),
        ({"a": EFFORT, "b": 2 * EFFORT}, "must conflict"),
        ([EFFORT, 3.0], "cost"),
    ],
)
def test_mistakes_are_named(costs: Any, message: str):
    with pytest.raises(co.InputError, match=message):
        co.sweeps.pareto_front(reach(), costs, CURVE, points=3, progress=False)
