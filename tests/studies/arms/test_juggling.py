"""The open palm that keeps a ball in the air, in the study's quick form."""

import pytest

from colloc.studies.arms import juggling


def test_momentum_and_flight_are_as_by_hand(tmp_path):
    numbers = juggling.main(["--quick", "--figure", str(tmp_path / "figure.png")])
    assert numbers["flight_0.3.solved"] == 1
    assert numbers["flight_0.3.effort"] == pytest.approx(0.39439, rel=1e-3)
    assert numbers["impulse_off"] < 1e-8
    assert numbers["weight_off"] < 1e-4
    assert numbers["flight_off"] < 1e-12
    assert numbers["terminal_miss"] < 1e-6
    assert (tmp_path / "figure.png").stat().st_size > 20_000
