"""A jump by muscles on ground that is found: it obeys momentum, and its phases are those of people."""

import json

import pytest

from colloc.studies.jumping.by_muscles import main


def test_a_jump_obeys_momentum_and_has_a_countermovement(tmp_path):
    file, figure = tmp_path / "numbers.json", tmp_path / "figure.png"
    numbers = main(["--json", str(file), "--figure", str(figure)])
    assert json.loads(file.read_text(encoding="utf-8")) == numbers
    assert figure.stat().st_size > 10_000
    assert numbers["solved"] == 1
    assert numbers["cost"] == pytest.approx(-1.0755, abs=1e-3)  # another local optimum is 0.2 % costlier
    assert 0.20 < numbers["height"] < 0.24
    assert 0.1 < numbers["down"] < 0.3
    assert numbers["least_force"] < 0.43  # of weight, of people who choose the depth by themselves
    assert 0.03 < numbers["power.before"] < 0.09
    assert numbers["momentum"] < 0.06  # of gravity, where forces rise fastest
