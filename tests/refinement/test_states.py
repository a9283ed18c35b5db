"""Motions of states: when estimates replace finer grids that confirm a cost."""

from dataclasses import replace

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
