"""A population that walks: one program, and what dimensional analysis says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc.models.human.walker2d import walker2d
from colloc.studies.walking import gait2d, population
from colloc.studies.walking.problem import problem
from colloc.studies.walking.step import Step
from tests.model.test_parametrised import margins


def test_people_are_as_those_who_were_measured():
    drawn = population.people(4000, seed=3)
    for number, sex in enumerate(population.SEXES):
        own = [person for person in drawn if person["sex"] == number]
        assert len(own) == 2000
        for name, (mean, sd) in (("stature", population.STATURE[sex]), ("mass", population.MASS[sex])):
            values = np.array([person[name] for person in own])
            assert values.mean() == pytest.approx(mean, rel=0.01)
            assert values.std() == pytest.approx(sd, rel=0.05)
        tall, heavy = ([person[name] for person in own] for name in ("stature", "mass"))
        assert 0.3 < np.corrcoef(tall, heavy)[0, 1] < 0.6


@pytest.mark.parametrize("planar", [False, True])
def test_everybody_is_a_case_of_the_one_program(planar: bool):
    problem = population.anyone(planar).problem
    for person in population.people(40, seed=5):  # rounding must not make an entry of a zero
        values = population.values(planar, **person, speed=1.2)
        assert np.isfinite(problem.parameter_values(values)).all()


def test_mass_has_no_part_in_a_walk():
    general = population.anyone(planar=True)
    nlp = co.transcribe(general.problem, general.curve)
    x = np.random.default_rng(0).normal(scale=0.1, size=nlp.n_x)
    x[-1] = 0.5
    found = []
    for mass in (55.0, 95.0):
        p = general.problem.parameter_values(population.values(True, 1.0, 1.7, mass, 1.2))
        found.append((float(nlp.f(x, p)), margins(nlp, x, p)))
    (cost, rows), (other_cost, other_rows) = found
    assert cost == pytest.approx(other_cost, rel=1e-9)
    for name in rows:
        np.testing.assert_allclose(rows[name], other_rows[name], rtol=1e-8, atol=1e-8, err_msg=name)


def test_a_woman_walks_as_in_a_problem_of_her_own():
    drawn = population.people(2, seed=0)[1:]
    found = population.walks(drawn, [1.2], planar=True)
    assert found.failed.size == 0
    solution, (person,) = found.solution(0), drawn
    who = walker2d(person["stature"], person["mass"], "female")
    posed = Step(who.ranged(gait2d.ANKLES), length=population.step_length(person["stature"], 1.2))
    assert isinstance(solution, co.Solution)
    # Both to more digits than a population needs.
    options: dict[str, Any] = population.WARM | {"tol": 1e-7}
    parameters = population.values(True, **person, speed=1.2)
    general = co.solve(solution.nlp, guess=solution, parameters=parameters, solver=co.Ipopt(**options))
    own = co.solve(problem(posed), gait2d.SPLINE, guess=solution, solver=co.Ipopt(**options))
    for step in (own, general, solution):
        assert step.outcome.status is co.solver.Status.SOLVED
        assert step.error.motion_error < 1e-2
    assert own.cost == pytest.approx(general.cost, rel=1e-5)
    assert solution.cost == pytest.approx(general.cost, rel=1e-2)
    strides = population.gathered(found, population.anyone(planar=True).driven)
    assert {len(own) for own in strides.strides.values()} == {1}
    assert 0.1 < float(strides.transport[1.2].mean()) < 0.4
