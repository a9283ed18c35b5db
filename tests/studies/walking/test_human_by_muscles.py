"""The walk of a human in space by muscles: the recorded one on a few intervals, and what no optimisation may bend."""

import numpy as np
import pytest

import colloc as co
from colloc.models.muscle_human import mirror_image
from colloc.studies.walking.human_by_muscles import (
    FOLLOWING,
    SPEED,
    STEP,
    Walk,
    measures,
    recorded,
    walk,
)
from colloc.studies.walking.report.by_muscles import first_contact


@pytest.fixture(scope="module")
def made() -> Walk:
    return walk()


def test_the_guess_stands_on_the_ground(made: Walk):
    guess = recorded(made, SPEED, STEP)
    evaluator = co.Evaluator(made.human.model, loads=made.human.contact.loads)
    lift = evaluator.torque(guess.q, 0 * guess.q, 0 * guess.q)[:, 1]
    assert (lift < 85.3 * 9.80665).all()  # the ground pushes at every time
    other, sign = mirror_image(made.human.model)
    np.testing.assert_allclose(guess.q[-1, 2:], (sign * guess.q[0, other])[2:], atol=1e-12)


def test_beside_a_recorded_walk(made: Walk):
    """Momentum is the same after half a stride: a mean of forces that no row of the program states."""
    with pytest.warns(co.refinement.SolutionWarning):  # of a coarse grid
        solution = co.solve(
            made.problem,
            co.Radau(8, nodes="collocation", signal_degree=0),
            guess=recorded(made, SPEED, STEP),
            parameters={"following": FOLLOWING},
            plan=[co.refinement.Solve(judge_cost=False)],
            progress=False,
        )
    assert solution.outcome.status is co.solver.Status.SOLVED
    assert float(solution.error.bounds.max()) < 1e-6  # activations are straight between nodes
    numbers = measures(made, solution, SPEED)
    assert numbers["mean_force"] == pytest.approx(1.0, abs=3e-2)
    assert 50 < numbers["stance"] < 70
    assert 55 < numbers["knee_flexion"] < 80
    assert numbers["rms.hip"] < 10
    assert numbers["rms.knee"] < 10


def test_a_foot_comes_down_after_its_longest_time_off_the_ground():
    upward = np.array([0.0, 0.0, 0.9, 0.0, 0.9, 0.9, 0.0, 0.0, 0.0])
    assert first_contact(upward) == 2
    assert first_contact(np.roll(upward, 4)) == 6
