"""Costs at the last instant: closed forms, exact derivatives, descents, and what is refused."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from tests.support.problems import effort, everything
from tests.transcription.test_nlp import point

CURVES = [co.BSpline(6), co.Radau(6), co.HermiteSimpson(6)]
SLIDE = co.Model([co.Body("mass", co.prismatic((1, 0, 0)), mass=2.0)], gravity=(0, 0, 0))


def acceleration(now: co.problem.Instant) -> ca.SX:
    return 0.5 * ca.sumsqr(now.qdd)


@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize("hessian", [co.solver.Hessian.EXACT, co.solver.Hessian.GAUSS_NEWTON])
def test_a_penalty_on_the_end_is_weighed_against_the_way_there(curve, hessian):
    """Minimum of u^2/2 integrated and c (x(T) - 1)^2 / 2: u = lambda (T - t), lambda = c / (1 + c T^3 / 3)."""
    c, T = 40.0, 1.5
    miss = co.final_cost(lambda now: (now.q[0] - 1) ** 2, name="miss")
    problem = co.Problem(SLIDE, T, co.integral(acceleration) + c / 2 * miss, [co.initial(q=0.0, qd=0.0)])
    solution = co.solve(problem, curve, solver=co.Ipopt(hessian=hessian), progress=False)
    pull = c / (1 + c * T**3 / 3)
    assert solution.success
    assert solution.at(T).q[0] == pytest.approx(pull * T**3 / 3, rel=1e-8)
    expected = {"acceleration": pull**2 * T**3 / 6, "miss": c / 2 * (1 - pull * T**3 / 3) ** 2}
    assert solution.terms == pytest.approx(expected, rel=1e-8)
    assert solution.cost == pytest.approx(sum(expected.values()), rel=1e-9)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_the_highest_speed_at_the_end_is_that_of_full_force(curve):
    speed = co.final_cost(lambda now: -now.qd[0], name="speed")
    problem = co.Problem(SLIDE, 2.0, speed, [co.initial(q=0.0, qd=0.0), co.bounds(tau=(-6, 6))])
    solution = co.solve(problem, curve, progress=False)
    assert solution.success
    assert solution.cost == pytest.approx(-6.0 / 2.0 * 2.0, rel=1e-6)


@pytest.mark.parametrize("curve", [co.BSpline(3), co.Radau(3), co.HermiteSimpson(3)], ids=str)
def test_derivatives_are_exact(curve):
    stated = everything()
    torque = co.final_cost(lambda now: now.tau[0] ** 2 + ca.sin(now.q[1]) * now.qdd[1] + now.duration * now.payload)
    problem = replace(stated, minimize=stated.minimize + 0.3 * torque + co.final_cost(lambda now: ca.sumsqr(now.q)))
    nlp = co.transcribe(problem, curve)
    assert max(nlp.check_derivatives(point(nlp), [1.5]).values()) < 1e-7
    assert sum(nlp.terms(point(nlp), np.array([1.5])).values()) == pytest.approx(
        float(nlp.f(point(nlp), [1.5])), rel=1e-12
    )


def test_descents_weigh_the_end_as_solve_does():
    """Soft end states, as in section II of Lee et al. (2005): what the ends leave free, the penalty draws."""
    goal = np.array([0.8, 0.4])
    miss = co.final_cost(lambda now: ca.sumsqr(now.q - goal) + 0.1 * ca.sumsqr(now.qd), name="miss")
    problem = co.Problem(two_link(), 1.0, co.integral(effort) + 500.0 * miss, [co.initial(q=0.1, qd=0.0)])
    nlp = co.transcribe(problem, co.BSpline(20))
    movement = co.descent.Movement(nlp)
    run = co.descent.modified_newton(movement.objective, movement.start())
    assert movement.solution(run).cost == pytest.approx(co.solve(nlp).cost, rel=1e-8)


def test_misuse_is_explained():
    with pytest.raises(co.InputError, match="final_cost needs a function of the instant, got 3"):
        co.final_cost(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match=r"cost term 'final cost' must return an SX scalar, got shape \(2, 1\)"):
        co.Problem(two_link(), 1.0, co.final_cost(lambda now: now.q))


def test_terms_are_listed_and_named_apart():
    twice = co.final_cost(lambda now: now.q[0], name="effort") + co.integral(effort) + 2 * co.duration()
    problem = co.Problem(two_link(), 1.0, twice)
    assert list(problem.costs) == ["effort", "effort 2", "duration"]
    assert list(problem.final_costs) == ["effort"]
    assert list(problem.integrands) == ["effort 2", "duration"]
    assert not problem.minimize.is_duration
    assert "1 * effort 2" in repr(problem)
