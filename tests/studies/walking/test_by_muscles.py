"""The walk by muscles, on its coarse grid: it is a walk, and obeys what no optimisation may bend."""

import pytest

import colloc as co
from colloc.studies.walking.by_muscles import SPEED, main, swinging, walk
from tests.studies.quick import numbers_of


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
