"""The walk by muscles from random starts: two of them, and what is made of many ends."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from colloc.models.muscle_walker import muscle_walker
from colloc.studies.walking.starts_by_muscles import Run, alike, main, random_start
from tests.studies.quick import numbers_of


def test_costs_are_distinguished():
    costs = [0.2, None, 0.1, 0.10005, 0.2001]
    ends: list[Any] = [cost and SimpleNamespace(cost=cost) for cost in costs]
    walks = alike([Run(end, 1.0) for end in ends])
    assert [[run.solution.cost for run in same if run.solution] for same in walks] == [[0.1, 0.10005], [0.2, 0.2001]]
    assert alike([Run(None, 1.0)]) == []


def test_starts_are_random_and_stand_on_the_ground():
    walker = muscle_walker()
    first, second = (random_start(walker, np.random.default_rng(seed)) for seed in (0, 1))
    again = random_start(walker, np.random.default_rng(0))
    np.testing.assert_array_equal(first.q, again.q)
    assert np.abs(first.q - second.q).max() > 0.1
    np.testing.assert_allclose(first.q[:, 0], first.q[-1, 0] * np.linspace(0, 1, 9), atol=1e-12)  # m, forward
    assert (np.abs(first.q[:, 1] - 0.9) < 0.15).all()


def test_two_starts_end(tmp_path: Any):
    numbers = numbers_of(main, tmp_path)
    assert numbers["starts"] == 2.0
    assert numbers["walking"] == sum(numbers[f"{k}.starts"] for k in range(int(numbers["walks"])))
    assert all(numbers[f"{k}.cost"] > 0.1 for k in range(int(numbers["walks"])))
