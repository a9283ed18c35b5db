"""Equations that follow from others are named and left out, with the optimum of those that remain; others never are."""

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.chains.serial import planar_chain, spatial_chain
from colloc.refinement import reduced
from colloc.refinement.redundant import redundant_rows
from colloc.solution.warm_start import start_from
from colloc.solver import Status

CURVE = co.BSpline(10)
EFFORT = co.integral(lambda now: ca.sumsqr(now.tau), "effort")
END = 0.7  # rad, of the sum of all angles


def turned(now: co.problem.Instant) -> ca.SX:
    return ca.sum1(now.q) - END


def reach(*rows: co.problem.Statement) -> co.Problem:
    """Three links whose last is turned at the end."""
    ends = [co.initial(q=(-0.6, 0.9, -0.3), qd=0.0), co.final(qd=0.0)]
    return co.Problem(planar_chain(3), 1.0, EFFORT, [*ends, *rows])


def at_end(*rows: Callable[[Any], ca.SX]) -> list[co.problem.Statement]:
    return [co.at(1.0, row, equals=0.0, name=f"end {k}") for k, row in enumerate(rows)]


def along(*rows: Callable[[Any], ca.SX]) -> list[co.problem.Statement]:
    """All three angles start where their sum is zero."""
    return [co.path(lambda now, row=row: row(now), equals=0.0, name=f"path {k}") for k, row in enumerate(rows)]


def left_out(problem: co.Problem | co.Phases, curve: Any = CURVE) -> list[str]:
    nlp = co.transcribe(problem, curve, compile=False)
    p = nlp.problem.parameter_values()
    found = redundant_rows(nlp, start_from(nlp, None, p).x, p)
    return [nlp.constraints[k].rows.labels[row] for k, rows in found.items() for row in np.flatnonzero(rows)]


@pytest.mark.parametrize(
    "more",
    [
        [turned],
        [lambda now: -3 * turned(now)],
        [lambda now: turned(now) + turned(now) ** 2],
        [lambda now: ca.sin(ca.sum1(now.q)) - np.sin(END), lambda now: ca.cos(ca.sum1(now.q)) - np.cos(END)],
    ],
    ids=["twice", "a multiple", "a function", "sine and cosine"],
)
@pytest.mark.parametrize("curve", [CURVE, co.HermiteSimpson(12)], ids=repr)
def test_the_answer_is_that_without_them(more, curve):
    once = co.solve(reach(*at_end(turned)), curve)
    solution = co.solve(reach(*at_end(turned, *more)), curve)
    np.testing.assert_allclose(solution.cost, once.cost, rtol=1e-8)
    assert abs(solution.iterations - once.iterations) <= 3
    assert "follow from other equations: end " in str(solution)
    assert solution.multipliers["g"].size == solution.nlp.n_g
    assert solution.outcome.scale is not None
    assert solution.outcome.scale.rows.size == solution.nlp.n_g


def test_along_the_path():
    level = [co.initial(q=(-0.6, 0.9, -0.3), qd=0.0), co.final(q=(0.4, 0.3, -0.7), qd=0.0)]

    def angle(now: co.problem.Instant) -> ca.SX:
        return ca.sum1(now.q)

    rows = along(lambda now: ca.sin(angle(now)), lambda now: ca.cos(angle(now)) - 1)
    once, both = (
        co.solve(co.Problem(planar_chain(3), 1.0, EFFORT, [*level, *some]), co.HermiteSimpson(12))
        for some in (rows[:1], rows)
    )
    assert both.status is once.status is Status.SOLVED
    np.testing.assert_allclose(both.cost, once.cost, rtol=1e-8)
    assert "path 1" in both.message


def test_one_component_of_a_cross_product_follows_where_it_vanishes():
    model = spatial_chain(4)

    def crossed(now: co.problem.Instant) -> ca.SX:
        first, last = (now.point(now.model.bodies[k].name).position for k in (1, -1))
        return ca.cross(first, last)

    ends = [co.initial(q=(0.1, 0.3, -0.2, 0.4), qd=0.0), co.final(qd=0.0)]
    problem = co.Problem(model, 1.0, EFFORT, [*ends, co.at(1.0, crossed, equals=0.0, name="in line")])
    (row,) = left_out(problem)
    assert "in line" in row


def test_equations_that_meet_in_a_point_are_independent():
    """Their slopes are parallel where both hold, and at the guess."""
    folded = at_end(turned, lambda now: turned(now) + (now.q[1] - 0.9) ** 2)
    assert left_out(reach(*folded)) == []
    assert left_out(reach(*at_end(lambda now: turned(now) ** 2))) == []


def test_equations_that_contradict_each_other_stay():
    contradiction = reach(*at_end(turned, lambda now: turned(now) - 0.5))
    assert left_out(contradiction) == []
    assert not co.solve(contradiction, CURVE, raise_on_failure=False).success


@pytest.mark.parametrize("seed", range(5))
def test_random_equations_are_independent(seed):
    ways = np.random.default_rng(seed).normal(size=(3, 2, 3))
    rows = [lambda now, a=a, b=b: ca.sin(ca.dot(a, now.q)) + 0.1 * ca.dot(b, now.q) ** 2 for a, b in ways]
    assert left_out(reach(*at_end(*rows))) == []


def test_what_follows_nowhere_else_is_solved_with_all_equations(monkeypatch):
    problem = reach(*at_end(turned, lambda now: now.q[0]))
    whole = co.solve(problem, CURVE)
    wrong = {len(whole.nlp.constraints) - 1: np.array([True])}
    monkeypatch.setattr(reduced, "redundant_rows", lambda *_: wrong)
    solution = co.solve(problem, CURVE)
    np.testing.assert_array_equal(solution.x, whole.x)
    assert solution.message == whole.message
    assert solution.iterations > whole.iterations
