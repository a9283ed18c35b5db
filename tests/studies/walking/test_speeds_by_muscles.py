"""A walker by muscles who is asked to go faster runs at last, on coarse grids."""

import numpy as np
import pytest

from colloc.studies.walking.speeds_by_muscles import begins, main
from tests.studies.quick import numbers_of


def test_who_goes_faster_leaves_the_ground(tmp_path):
    numbers = numbers_of(main, tmp_path)
    assert 2.0 < numbers["runs_from"] < 2.8
    assert numbers["speed.1.2.stance"] > 55
    assert numbers["speed.3.stance"] < 45
    assert numbers["speed.3.peak_force"] > 2.3
    # Momentum is the same after half a stride: a mean of forces that no row of the program states.
    assert all(value == pytest.approx(1.0, abs=2e-2) for key, value in numbers.items() if key.endswith("mean_force"))


def test_where_running_begins():
    assert begins([1.0, 2.0, 3.0], [60.0, 52.0, 48.0]) == pytest.approx(2.5)
    assert np.isnan(begins([1.0, 2.0], [60.0, 52.0]))
