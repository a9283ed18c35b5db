"""How many optima there are: the study quickly, and the best known optima that are kept as data."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import colloc as co
from colloc.studies.arms import starts
from colloc.studies.benchmarks import best_known

# Optima are counted, and distinguished, on few intervals.
COARSE = pytest.mark.filterwarnings("ignore:optimum:colloc.refinement.failure.SolutionWarning")


@COARSE
def test_the_study_counts_the_optima_of_two_arms(tmp_path: Path):
    figure, file = tmp_path / "figure.png", tmp_path / "numbers.json"
    starts.main(["--starts", "8", "--steps", "0", "--figure", str(figure), "--json", str(file)])
    assert figure.stat().st_size > 20_000
    numbers = json.loads(file.read_text(encoding="utf-8"))
    for name in ("three_links", "puma"):
        assert numbers[f"optima.{name}"] >= 1
        assert 0 <= numbers[f"best_share.{name}"] <= 1
        assert numbers[f"failed.{name}"] == 0
        assert numbers[f"missed.{name}"] >= 0
    assert numbers["optima.three_links"] >= 3
    assert numbers["missed.three_links"] > 0.05  # the answer of `solve` alone is costlier


@pytest.mark.parametrize("name", best_known.SETS)
def test_the_best_known_optima_are_those_of_the_problems(name: str):
    known = json.loads(best_known.FILE.read_text(encoding="utf-8"))
    assert (known["starts"], known["seed"]) == (best_known.SEARCHED, best_known.SEED)
    assert list(known[name]) == list(best_known.KINDS)
    for kind, best in known[name].items():
        model = best_known.problem(kind, best_known.SETS[name]).model
        assert 3 <= model.n <= 6
        costs = [optimum["cost"] for optimum in best["coarse"]]
        assert all(one <= two for one, two in pairwise(costs))
        assert sum(optimum["share"] for optimum in best["coarse"]) <= 1 + 1e-3
        assert len(costs) == min(best["optima"], best_known.LISTED)


@COARSE
def test_a_best_known_optimum_is_found_and_is_not_the_usual_one():
    kind, seed = "spatial 4", best_known.SETS["reference"]
    known = json.loads(best_known.FILE.read_text(encoding="utf-8"))["reference"][kind]["cost"]
    found = co.multistart(best_known.problem(kind, seed), best_known.CURVE, starts=6, progress=False)
    assert found.best.cost == pytest.approx(known, rel=1e-6)
    usual = [optimum.solution.cost for optimum in found.optima if optimum.from_default_guess]
    assert np.min(usual) > known * 1.01


def test_two_searches_for_the_same_seed_state_the_same_motion():
    for kind in best_known.KINDS:
        one, two = (best_known.problem(kind, 5) for _ in range(2))
        other = best_known.problem(kind, 6)
        assert repr(one) == repr(two)
        assert repr(one) != repr(other)
