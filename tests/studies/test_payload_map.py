"""The map of lifts in its quick form."""

import json
from pathlib import Path

import numpy as np
import pytest

import colloc as co
from colloc.studies.two_link import payload_map
from colloc.studies.two_link.lifting import CONVERGED


def test_the_quick_map_is_whole_and_has_the_papers_lift(tmp_path: Path):
    files = ["--figure", str(tmp_path / "map.png"), "--json", str(tmp_path / "map.json")]
    payload_map.main(["--quick", "--workers", "2", *files])
    numbers = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert numbers["cases"] == 36
    assert numbers["failed"] == 0
    assert numbers["T.paper"] == pytest.approx(CONVERGED["T"], rel=1e-3)
    assert numbers["speedup"] > 0
    assert numbers["per_case_ratio"] > 0
    assert 1e-3 <= numbers["limited.elbow.largest_share"] <= numbers["limited.shoulder.largest_share"] < 0.1
    assert (tmp_path / "map.png").stat().st_size > 20_000


def test_heavier_loads_and_larger_shares_cost_more_along_every_line():
    found = co.sweep(payload_map.lifting(), payload_map.cases(4), payload_map.CURVE)
    costs = found["cost"].reshape(4, 4)
    assert (np.diff(costs, axis=0) > 0).all()
    assert (np.diff(costs, axis=1) > 0).all()
    gentle, fast = found.solution(3), found.solution(0)
    assert isinstance(gentle, co.Solution)
    assert isinstance(fast, co.Solution)
    kinds = [payload_map.limited(gentle), payload_map.limited(fast)]
    assert kinds == [0, 1]
