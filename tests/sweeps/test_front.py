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
