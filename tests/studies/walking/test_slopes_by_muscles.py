"""A walker by muscles on slopes, on coarse grids: the energy that it takes is near that of people."""

import pytest

from colloc.studies.walking.slopes_by_muscles import main, measured, on_slope
from tests.studies.quick import numbers_of


def test_it_takes_energy_to_walk_uphill(tmp_path):
    numbers = numbers_of(main, tmp_path)
    costs = [numbers[f"slope.{slope}.net_cost"] for slope in (-10, 0, 10)]
    assert costs[0] < costs[1] < costs[2]
    assert costs[1] == pytest.approx(measured(0.0), abs=0.4)
    assert costs[2] == pytest.approx(measured(0.1), abs=0.8)


def test_the_slope_is_in_gravity_alone():
    level, steep = on_slope(0.0).problem.model, on_slope(0.75).problem.model
    assert steep.gravity.tolist() == pytest.approx([0.6 * level.gravity[1], 0.8 * level.gravity[1], 0.0])
