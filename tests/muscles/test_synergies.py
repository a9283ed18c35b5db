"""Muscles that a few signals control together."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.arm26 import arm26

CURVE = co.Radau(8)
RESERVES = {"shoulder": 10.0, "elbow": 1.0}


def lift(groups: Any = None, activation: str = "instantaneous", weights: Any = None) -> co.Problem:
    """The forearm is raised in 0.5 s, with or without synergies."""
    arm = arm26()
    muscles = co.muscles.Muscles(arm.model, arm.muscles, activation=activation, reserves=RESERVES)
    parts: list[co.problem.Part] = [muscles]
    if groups is not None:
        parts.append(co.muscles.Synergies(muscles, groups, weights))
    effort = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve), name="effort")
    ends = [co.initial(q=(0.0, 0.5), qd=0.0), co.final(q=(0.3, 1.5), qd=0.0)]
    return co.Problem(arm.model, 0.5, effort, ends, parts=parts)


def solved(problem: co.Problem) -> co.Solution:
    return co.solve(problem, CURVE, guess=co.line((0.0, 0.5), (0.3, 1.5)), progress=False)


def test_as_many_synergies_as_muscles_change_nothing():
    free = solved(lift())
    each = solved(lift([f"s{k}" for k in range(6)], weights=np.eye(6)))
    assert each.cost == pytest.approx(free.cost, rel=1e-6)
    np.testing.assert_allclose(each.activation, free.activation, atol=1e-5)


def test_muscles_follow_their_synergies_and_the_cost_is_not_less():
    weights = np.array([[1.0, 0.5, 0.7, 0.0, 0.0, 0.1], [0.0, 0.2, 0.0, 0.8, 0.6, 1.0]]).T
    free, two = solved(lift()), solved(lift(["extend", "bend"], weights=weights))
    assert two.cost > 1.01 * free.cost
    commands = two.evaluate(lambda now: now.synergy)
    np.testing.assert_allclose(two.activation, 0.01 + commands @ weights.T, atol=1e-6)
    assert two.problem.signals[-1].names == ("extend", "bend")


def test_unknown_weights_are_better_than_any_that_were_given():
    weights = np.array([[1.0, 0.5, 0.7, 0.0, 0.0, 0.1], [0.0, 0.2, 0.0, 0.8, 0.6, 1.0]]).T
    given, best, free = solved(lift(["e", "b"], weights=weights)), solved(lift(["e", "b"])), solved(lift())
    assert free.cost * (1 - 1e-6) < best.cost < 0.99 * given.cost
    found = best.constants["synergy_weights"].reshape(2, 6)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-6)
    assert found.min() >= -1e-8
    np.testing.assert_allclose(best.activation, 0.01 + best.evaluate(lambda now: now.synergy) @ found, atol=1e-6)


def test_excitations_are_shared_where_there_are_some():
    weights = np.array([[1.0, 1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]]).T
    solution = solved(lift(["extend", "bend"], "explicit", weights))
    assert np.ptp(solution.excitation[:, :3], axis=1).max() < 1e-6
    assert np.ptp(solution.activation[:, 3:], axis=1).max() > 1e-6


@pytest.mark.parametrize(
    ("names", "weights", "message"),
    [
        ([], None, "one or more"),
        (["a", "a"], None, "different"),
        (["a"], np.ones((5, 1)), "weights of synergies"),
        (["a"], -np.ones((6, 1)), "negative"),
        (["a"] * 7, None, "different"),
        (list("abcdefg"), None, "at most as many"),
    ],
)
def test_mistakes_are_named(names: Any, weights: Any, message: str):
    with pytest.raises(co.InputError, match=message):
        lift(names, weights=weights)
