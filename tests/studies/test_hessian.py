"""Exact Hessians beside L-BFGS: the same optimum, and seconds that are parts of a whole."""

import json

import pytest

from colloc.studies.benchmarks.hessian import PROGRAMS, WAYS, Run, main, measured


def test_all_ways_lead_to_the_same_optimum_and_seconds_add_up(tmp_path):
    numbers = main(["--quick", "--json", str(tmp_path / "numbers.json")])
    assert json.loads((tmp_path / "numbers.json").read_text()) == numbers
    ways = {way: {} for way in WAYS}
    for key, value in numbers.items():
        name, way, what = key.rsplit(".", 2)
        assert name == "hessian.squat_stiff_tendons"
        ways[way][what] = value
    for result in ways.values():
        assert result["solved"] == 1.0
        assert result["cost"] == pytest.approx(0.148576390, rel=1e-7)
        assert 0 < result["near"] <= result["iterations"]
        assert result["hessian"] <= result["callbacks"]
        assert result["callbacks"] + result["linear_algebra"] <= result["seconds"]
    assert ways["limited_memory"]["hessian"] == 0.0
    assert ways["virtual"]["hessian"] > 0.0
    assert ways["virtual"]["iterations"] == ways["exact"]["iterations"] < ways["limited_memory"]["iterations"] / 2


def test_a_run_that_is_given_up_has_no_optimum():
    """By motors L-BFGS comes to rest where the equations do not hold."""
    run = measured(PROGRAMS["squat, motors"](), "limited_memory")
    assert not run.solved
    assert run.near(0.19843649) is None


def test_near_are_the_iterations_after_which_all_holds():
    def near(cost, infeasibility):
        return Run(True, 1.0, 3, {}, {"cost": cost, "infeasibility": infeasibility}).near(1.0)

    assert near([2.0, 1.0, 1.1, 1.0], [0.0] * 4) == 3
    assert near([2.0, 1.0, 1.0, 1.0], [0.0] * 4) == 1
    assert near([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1e-3, 0.0]) == 3
    assert near([1.0, 1.0], [0.0, 0.0]) == 0
    assert near([1.0, 2.0], [0.0, 0.0]) is None
    assert near([1.0, 1.0], [0.0, 1e-3]) is None
