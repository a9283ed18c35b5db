"""Motions of states: when estimates replace finer grids, and sizes where there are no bounds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.refinement.next_grid import is_near_best, round_of
from tests.campaigns import altered

CONFIRMED = [co.refinement.Solve(), co.refinement.Refine(1e-3), co.refinement.AtSwitches()]


def steered(growth: float) -> co.Problem:
    """From one to zero in a second with the least squares of what is added to a state that grows by itself."""
    x = co.State("x", rate=lambda now: growth * now.x + now.u)
    ends = [co.initial(states={"x": 1.0}), co.final(states={"x": 0.0})]
    return co.Problem(co.Model.empty(), 1.0, co.integral(lambda now: now.u**2), ends, unknowns=[x, co.Unknown("u")])


def least(growth: float) -> float:
    """Its cost: exp(2 g) over the Gramian, the integral of exp(2 g t)."""
    return 2 * growth / (1 - np.exp(-2 * growth))


def test_a_motion_of_states_with_small_estimates_takes_one_grid():
    plain, confirmed = co.solve(steered(3.0)), co.solve(steered(3.0), plan=CONFIRMED)
    assert plain.success
    assert [len(solution.rounds) for solution in (plain, confirmed)] == [1, 2]
    assert plain.cost == pytest.approx(least(3.0), rel=1e-6)


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
@pytest.mark.parametrize("curve", [co.BSpline(4), co.Radau(2, 2), co.Radau(4, 2), co.HermiteSimpson(4)], ids=str)
@pytest.mark.parametrize("growth", [-5.0, 3.0, 12.0])
def test_what_errors_of_states_hide_covers_what_they_save(growth: float, curve: co.curves.Transcription):
    """On coarse grids the cost lies up to seven times its size below the optimum."""
    solution = co.solve(steered(growth), curve, raise_on_failure=False)
    error, excess = solution.error["cost"], (solution.cost - least(growth)) / solution.cost_scale
    assert -excess < error.hidden
    if np.isfinite(error.hidden):
        assert error.total == pytest.approx(abs(excess), rel=0.05)


@pytest.mark.parametrize("foreseen", [True, False])
def test_a_cost_that_changes_by_more_than_the_last_error_is_not_trusted(foreseen: bool):
    solution = co.solve(steered(3.0))
    now = round_of(solution)
    before = replace(now, cost=now.cost + 2e-3 * solution.cost_scale, error=5e-3 if foreseen else 1e-3)
    assert is_near_best(replace(solution, rounds=(before, now)), 1e-3) is foreseen


@pytest.mark.parametrize("seed", range(len(altered.OF_STATES)))
def test_estimates_in_place_of_finer_grids_cost_at_most_the_tolerance(seed: int):
    altered.check(seed, "estimates")


def rocket(bounded: bool) -> co.Problem:
    """A sounding rocket that rises as high as its fuel takes it (Betts 2010), in feet, slugs, pounds and seconds."""

    def state(name: str, rate: Callable[[Any], Any], lower: float, upper: float, guess: float) -> co.State:
        limits = {"lower": lower, "upper": upper} if bounded else {}
        return co.State(name, rate=rate, guess=guess, **limits)

    def force(now: Any) -> Any:
        return now.thrust - 5.49153484923381e-5 * now.v**2 * ca.exp(-now.h / 23800.0)

    return co.Problem(
        co.Model.empty(),
        co.Free(10.0, 100.0, guess=40.0),
        -1.0 * co.final_cost(lambda now: now.h),
        [co.initial(states={"h": 0.0, "v": 0.0, "m": 3.0}), co.final(states={"m": 1.0})],
        unknowns=[
            co.Unknown("thrust", lower=0.0, upper=193.044, guess=96.522),
            state("h", lambda now: now.v, 0.0, 2e4, 5e3),
            state("v", lambda now: force(now) / now.m - 32.174, -1e2, 2e3, 0.0),
            state("m", lambda now: -now.thrust / 1580.9425279876559, 1.0, 3.0, 0.0),
        ],
    )


def test_a_guess_and_ends_give_sizes_where_bounds_do_not():
    """In place of feet, of which a rocket covers 18,551."""
    sizes = rocket(bounded=False).state_sizes
    assert sizes == {"h": [5e3], "v": [1.0], "m": [3.0]}
    runs = [co.solve(rocket(bounded), plan=[co.refinement.Solve(tol=1.0)]) for bounded in (True, False)]
    assert runs[1].cost == pytest.approx(runs[0].cost, rel=1e-5)
    assert runs[1].iterations < 1.5 * runs[0].iterations


def test_bounds_come_before_guesses_and_ends():
    states = [
        co.State("x", 2, rate=lambda now: -now.x, upper=(np.inf, 8.0), guess=(3.0, -2.0)),
        co.State("y", rate=lambda now: now.y),
    ]
    ends = [co.initial(states={"x": (-50.0, 5.0), "y": 1e-3})]
    sizes = co.Problem(co.Model.empty(), 1.0, co.final_cost(lambda now: now.y), ends, unknowns=states).state_sizes
    assert sizes["x"].tolist() == [50.0, 8.0]
    assert sizes["y"].tolist() == [1.0]
