"""Walks by muscles of three criteria, on coarse grids: each is the best by its own."""

import pytest

import colloc as co
from colloc.studies.walking.costs_by_muscles import CRITERIA, cheapest, effort, first_walk, main
from tests.studies.quick import numbers_of


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return numbers_of(main, tmp_path_factory.mktemp("costs"))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_walk_of_a_criterion_is_the_cheapest_by_it(quick: dict[str, float], criterion: str):
    mine = quick[f"{criterion}.of.{criterion}"]
    assert all(mine < 0.9 * quick[f"{other}.of.{criterion}"] for other in CRITERIA if other != criterion)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_it_is_a_walk(quick: dict[str, float], criterion: str):
    """Momentum is the same after half a stride: a mean of forces that no row of the program states."""
    assert quick[f"{criterion}.mean_force"] == pytest.approx(1.0, abs=2e-2)
    assert 50 < quick[f"{criterion}.stance"] < 70
    assert 2 < quick[f"{criterion}.cost_of_transport"] < 5


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
def test_least_effort_has_no_bursts_that_finer_grids_make_cheaper():
    guess = first_walk()
    coarse, fine = (cheapest(effort, guess, rounds)[1] for rounds in (0, 6))
    assert fine.status is co.solver.Status.SOLVED
    assert fine.curve.basis.intervals > 1.5 * coarse.curve.basis.intervals
    assert fine.cost == pytest.approx(coarse.cost, rel=5e-3)
