"""The walk by muscles, on its coarse grid: it is a walk, and obeys what no optimisation may bend; with motors too."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.studies.walking import exoskeleton
from colloc.studies.walking.by_muscles import INTERVALS, PATIENT, SPEED, STEP, main, swinging, walk
from tests.studies.quick import numbers_of

TERMS = {
    "excitations": (10.0, lambda now: ca.sum1(now.excitation**3)),
    "lumbar": (10.0, lambda now: ca.sumsqr(now.reserve)),
    "accelerations": (1e-4, lambda now: ca.sumsqr(now.qdd[3:])),
    "trunk": (5.0, lambda now: now.q[2] ** 2),
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return numbers_of(main, tmp_path_factory.mktemp("walk"))


def test_it_walks(quick: dict[str, float]):
    assert quick["cost"] == pytest.approx(0.1270, rel=0.02)
    assert 50 < quick["stance"] < 70
    assert 0.45 < quick["step_length"] < 0.75
    assert 40 < quick["knee_flexion"] < 75
    assert 2 < quick["cost_of_transport"] < 6


def test_over_a_stride_the_ground_carries_the_weight_and_nothing_else(quick: dict[str, float]):
    """Momentum is the same after half a stride: a mean of forces that no row of the program states."""
    assert quick["mean_force"] == pytest.approx(1.0, abs=1e-2)


def test_the_guess_stands_on_the_ground():
    made = walk()
    guess = swinging(made.walker, SPEED, 0.47)
    evaluator = co.Evaluator(made.walker.model, loads=made.walker.contact.loads)
    lift = evaluator.torque(guess.q, 0 * guess.q, 0 * guess.q)[:, 1]
    assert (lift < 62 * 9.80665).all()  # the ground pushes at every time


def test_strong_ankles_spare_the_muscles(tmp_path_factory: pytest.TempPathFactory):
    numbers = numbers_of(exoskeleton.main, tmp_path_factory.mktemp("exoskeleton"))
    assert numbers["points"] == 3
    assert numbers["muscles.strongest"] < 0.6 * numbers["muscles.none"]
    assert numbers["peak"] == pytest.approx(60.0, rel=1e-3)
    assert 35 < numbers["peak_time"] < 55
    assert 10 < numbers["metabolic_saving"] < 60
    assert numbers["derivative_off"] < 1e-4


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")  # of the coarse grid
def test_a_walk_has_the_weights_of_its_cost():
    made = walk()
    terms = [
        w * co.integral(lambda now, fn=fn: fn(now) / (SPEED * now.duration), name) for name, (w, fn) in TERMS.items()
    ]
    problem = replace(made.problem, minimize=sum(terms[1:], start=terms[0]))
    guess = swinging(made.walker, SPEED, STEP)
    solution = co.solve(problem, co.Radau(INTERVALS), guess=guess, solver=PATIENT, progress=False)
    weights = co.optimality.recover_weights(solution)
    np.testing.assert_allclose(weights.values, [weight for weight, _ in TERMS.values()], rtol=1e-3)
    assert weights.undetermined == ()
