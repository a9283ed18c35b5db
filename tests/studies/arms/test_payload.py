"""A load and a cost learned from recorded angles."""

import pytest

import colloc.studies.arms.payload
from tests.studies.quick import numbers_of


def test_the_load_and_the_weight_are_within_their_errors(tmp_path):
    numbers = numbers_of(colloc.studies.arms.payload.main, tmp_path)
    assert abs(numbers["load"] - 1.5) < 3 * numbers["load.error"] < 0.1
    assert abs(numbers["weight"] - 0.4) < 3 * numbers["weight.error"] < 0.02
    assert numbers["beside"] < 1e-3
    assert numbers["loss"] == pytest.approx(numbers["noise"], rel=0.3)
