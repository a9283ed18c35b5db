"""The control studies: what they claim holds, and their numbers have the agreed names."""

from pathlib import Path

import pytest

import colloc.studies.benchmarks.ilqr
import colloc.studies.control.loop
import colloc.studies.control.reaching
import colloc.studies.control.tracking
from tests.studies.quick import numbers_of


def check_reaches(numbers: dict[str, float], links: tuple[int, ...]) -> None:
    assert numbers["cost.difference"] < 1e-6
    for plane in ("vertical", "horizontal"):
        assert numbers[f"cost.batch.{plane}.2"] == pytest.approx(numbers[f"cost.ilqr.{plane}.2"], rel=1e-8)
        assert numbers[f"iterations.batch.{plane}.2"] > 1
    for n in links:
        for plane in ("vertical", "horizontal"):
            assert numbers[f"solved.{plane}.{n}"] == 1
            ours, other = (numbers[f"cost.{solver}.{plane}.{n}"] for solver in ("ilqr", "ipopt"))
            assert ours == pytest.approx(other, abs=1e-6)
            for solver in ("ilqr", "ipopt"):
                assert numbers[f"iterations.{solver}.{plane}.{n}"] > 1
                assert numbers[f"seconds.{solver}.{plane}.{n}"] > 0
        assert numbers[f"cost.ilqr.vertical.{n}"] > numbers[f"cost.ilqr.horizontal.{n}"]


def test_ilqr_and_ipopt_reach_the_same_cost(tmp_path: Path):
    check_reaches(numbers_of(colloc.studies.control.reaching.main, tmp_path, size=20_000), (2, 3))


def test_ilqr_and_ipopt_reach_the_same_cost_with_ten_links(tmp_path: Path):
    check_reaches(numbers_of(colloc.studies.control.reaching.main, tmp_path, quick=False, size=20_000), (2, 3, 5, 10))


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_feedback_ends_ten_times_closer(tmp_path: Path, quick: bool):
    numbers = numbers_of(colloc.studies.control.tracking.main, tmp_path, quick=quick, size=20_000)
    assert numbers["cost.time_optimal"] == pytest.approx(0.391855, abs=2e-3)
    assert numbers["tip_error.tvlqr"] < 0.1 * numbers["tip_error.open_loop"]
    assert 0.02 < numbers["tip_error.open_loop"] < 0.1
    for motion in ("time_optimal", "lifting"):
        assert {f"iterations.{motion}", f"seconds.solve.{motion}", f"seconds.track.{motion}"} <= numbers.keys()
        for masses in ("light", "heavy"):
            assert numbers[f"tip_error.ratio.{motion}.{masses}.reserve"] > 10
            lost = numbers[f"tip_error.open_loop.{motion}.{masses}"]
            assert numbers[f"tip_error.tvlqr.{motion}.{masses}.planned"] < lost / 5


def test_a_heavier_panda_follows_a_target_round_a_ball(tmp_path: Path):
    numbers = numbers_of(colloc.studies.control.loop.main, tmp_path, size=20_000)
    assert numbers["miss"] < 0.01
    assert numbers["clearance"] > 0.99 * 0.12
    assert numbers["speed"] < 1.01
    assert numbers["torque"] <= 1.0
    assert numbers["untrusted"] < 0.1
    assert 0 < numbers["seconds.median"] <= numbers["seconds.longest"]


def test_what_an_iteration_takes_is_measured_where_it_converges(tmp_path: Path):
    numbers = numbers_of(colloc.studies.benchmarks.ilqr.main, tmp_path, size=None)
    for plane in ("vertical", "horizontal"):
        closed, tree = (f"ilqr.{plane}.{name}" for name in ("closed_form", "articulated"))
        assert numbers[f"{closed}.converged"] == numbers[f"{tree}.converged"] == 1
        assert numbers[f"{closed}.cost"] == pytest.approx(numbers[f"{tree}.cost"], rel=1e-9)
        assert numbers[f"{closed}.solve"] > 0
    assert {"ilqr.slope.all", "ilqr.slope.backward", "ilqr.1000.ms.all"} <= numbers.keys()
