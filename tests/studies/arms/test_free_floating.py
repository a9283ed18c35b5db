"""An arm that floats freely and turns itself over."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import colloc as co
from colloc.studies.arms import free_floating
from tests.studies.quick import numbers_of


def test_an_arm_turns_over_without_angular_momentum(tmp_path: Path):
    numbers = numbers_of(free_floating.main, tmp_path)
    assert numbers["quaternion.solved"] == 1.0
    assert numbers["quaternion.cost"] == pytest.approx(1.19444, rel=2e-3)
    assert numbers["momentum_simulated"] < 1e-9
    assert numbers["miss_simulated"] < 2e-2


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
def test_scipy_simulates_the_same():
    """By another method, on a few intervals, as the torques of any motion will do."""
    guess = free_floating.round_about("quaternion")
    solution = co.solve(
        free_floating.problem("quaternion"), co.BSpline(24, degree=5), guess=guess, compile=False, progress=False,
        raise_on_failure=False,
    )  # fmt: skip
    rates, momentum = free_floating.equations(solution.problem.model)
    state = np.concatenate([solution.q[0], solution.qd[0]])
    for begin, end in pairwise(solution.mesh_times):

        def motion(t: float, y: np.ndarray) -> np.ndarray:
            return np.array(rates(y, np.asarray(solution.at(min(t, solution.duration)).tau))).ravel()

        state = solve_ivp(motion, (begin, end), state, "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    assert np.abs(np.array(momentum(state))).max() < 1e-9
    ours, kept = free_floating.simulated(solution)
    np.testing.assert_allclose(ours, state, atol=1e-6)
    assert kept < 1e-6
