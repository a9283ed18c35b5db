"""An arm that floats freely and turns itself over."""

import json
from pathlib import Path

import pytest

from colloc.studies.arms import free_floating


def test_an_arm_turns_over_without_angular_momentum(tmp_path: Path):
    file = tmp_path / "numbers.json"
    free_floating.main(["--quick", "--json", str(file), "--figure", str(tmp_path / "arm.png")])
    numbers = json.loads(file.read_text())
    assert numbers["quaternion.solved"] == 1.0
    assert numbers["quaternion.cost"] == pytest.approx(1.19444, rel=2e-3)
    assert numbers["momentum_by_scipy"] < 1e-9
    assert numbers["miss_by_scipy"] < 2e-2
