"""Limits of torques that the cost keeps small are set aside; where they count, the whole program is solved."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.chains.serial import spatial_chain
from colloc.models.two_link import two_link
from colloc.refinement import reduced as module
from colloc.refinement import run
from colloc.refinement.reduced import ReducedNLP, without_limits
from colloc.solver import Status

CURVE = co.BSpline(10)
EFFORT = co.integral(lambda now: ca.sumsqr(now.tau), "effort")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few they are."""
    monkeypatch.setattr(module, "_MANY", 1)
    monkeypatch.setattr(module, "_ROWS", 1)


def lift(*limits: co.problem.Statement, cost: co.problem.Cost = EFFORT, duration: float | co.Free = 1.0) -> co.Problem:
    return co.Problem(
        two_link(), duration, cost, [co.initial(q=(-1.5, 0.0), qd=0.0), co.final(q=(0.5, 1.0), qd=0.0), *limits]
    )


def in_full(monkeypatch: pytest.MonkeyPatch, problem: co.Problem | co.Phases) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(run, "programs", lambda nlp, *_: [nlp])
        return co.solve(problem, CURVE)


def peaks(solution: co.Solution) -> np.ndarray:
    return np.abs(solution.tau).max(axis=0)


def test_limits_out_of_reach_change_nothing_but_the_number_of_rows(monkeypatch):
    problem = lift(co.bounds(tau=(-500.0, 500.0)))
    solution, full = co.solve(problem, CURVE), in_full(monkeypatch, problem)
    assert solution.status is Status.SOLVED
    assert "limits of torques set aside" in str(solution)
    np.testing.assert_allclose(solution.cost, full.cost, rtol=1e-8)
    np.testing.assert_allclose(solution.x, full.x, rtol=1e-5, atol=1e-6)
    assert solution.nlp.n_g == full.nlp.n_g == solution.multipliers["g"].size
    program = without_limits(solution.nlp)
    assert isinstance(program, ReducedNLP)
    (limits,) = (block for block in solution.nlp.constraints if block.name == "tau bounds")
    assert program.n_g == solution.nlp.n_g - 2 * limits.n_slices


@pytest.mark.parametrize("share", [0.9, 0.6])
def test_where_limits_count_the_answer_is_that_of_the_whole_program(monkeypatch, share):
    free = co.solve(lift(), CURVE)
    shoulder = share * peaks(free)[0]
    problem = lift(co.bounds(tau={"shoulder": (-shoulder, shoulder), "elbow": (-500.0, 500.0)}))
    solution, full = co.solve(problem, CURVE), in_full(monkeypatch, problem)
    assert solution.status is full.status
    assert solution.message == full.message
    np.testing.assert_array_equal(solution.x, full.x)
    assert solution.cost > free.cost * (1 + 1e-4)
    assert peaks(solution)[0] <= shoulder * (1 + 1e-6)
    assert np.abs(solution.multipliers["g"]).max() > 0  # of the limits that push
    assert solution.iterations > full.iterations  # those of both searches


def test_what_cannot_be_is_said_with_the_limits_in_place():
    with pytest.raises(co.SolveError, match="tau"):
        co.solve(lift(co.bounds(tau=(-1.0, 1.0))), CURVE)


def test_a_row_that_nothing_moves_is_found_violated_without_a_search():
    cannot = co.path(lambda now: 0 * now.q[0] + 1.0, upper=0.0, name="one below zero")
    solution = co.solve(lift(co.bounds(tau=(-500.0, 500.0)), cannot), CURVE, raise_on_failure=False)
    assert solution.status is Status.INFEASIBLE
    assert solution.iterations == 0
    assert solution.multipliers["g"].size == solution.nlp.n_g


def test_an_iteration_limit_holds_for_all(monkeypatch):
    problem = lift(co.bounds(tau=(-500.0, 500.0)))
    solution = co.solve(problem, CURVE, solver=co.Ipopt(max_iter=2), raise_on_failure=False)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.iterations <= 2


def test_rows_keep_their_names():
    limits = co.bounds(tau={"shoulder": (-500.0, 500.0), "elbow": (-500.0, np.inf)}, qd=(-9.0, 9.0))
    still = co.path(lambda now: now.qd[0] + 1e-3 * now.tau[1], lower=-50.0, upper=50.0, name="mixed")
    nlp = co.transcribe(lift(limits, still), CURVE)
    program = without_limits(nlp)
    assert isinstance(program, ReducedNLP)
    names = [nlp.row_name(k) for k in range(nlp.n_g)]
    kept = [program.row_name(k) for k in range(program.n_g)]
    # Limits that depend on velocities as well, and one-sided limits, stay.
    assert set(names) - set(kept) == {name for name in names if name.startswith("tau[shoulder]")} | {
        name for name in names if name.startswith("tau[elbow]")
    }
    assert kept == [name for name in names if name in set(kept)]
    x = np.random.default_rng(0).uniform(0.1, 0.9, nlp.n_x)
    rows = np.array(nlp.g(x, [])).ravel()[[name in set(kept) for name in names]]
    np.testing.assert_array_equal(np.array(program.g(x, [])).ravel(), rows)
    assert max(program.check_derivatives(x, []).values()) < 1e-6


@pytest.mark.parametrize(
    "problem",
    [
        lift(co.bounds(tau=(-500.0, 500.0)), cost=co.duration() + 1e-4 * EFFORT, duration=co.Free(0.2, 5.0)),
        lift(co.bounds(tau=(-500.0, 500.0)), cost=co.integral(lambda now: ca.sumsqr(now.qdd))),
        lift(co.bounds(tau=(1.0, 500.0))),
        lift(),
    ],
    ids=["time", "no torques", "not around zero", "no limits"],
)
def test_other_limits_stay(problem):
    nlp = co.transcribe(problem, CURVE)
    assert without_limits(nlp) is nlp


def test_limits_of_torques_that_cost_nothing_stay():
    problem = lift(
        co.bounds(tau=(-500.0, 500.0)), cost=co.integral(lambda now: now.tau[1] ** 2 + 1e-3 * ca.sumsqr(now.qdd))
    )
    program = without_limits(co.transcribe(problem, CURVE))
    assert isinstance(program, ReducedNLP)
    assert {name.split("]")[0] for name in map(program.row_name, range(program.n_g))} == {"tau[shoulder"}


def test_phases_set_aside_their_own_limits(monkeypatch):
    model = two_link()
    first = co.Problem(model, 0.5, EFFORT, [co.initial(q=(-1.5, 0.0), qd=0.0), co.bounds(tau=(-500.0, 500.0))])
    second = co.Problem(model, 0.5, EFFORT, [co.final(q=(0.5, 1.0), qd=0.0), co.bounds(tau=(-40.0, 40.0))])
    problem = co.Phases({"up": first, "on": second}, [co.connect("up", "on")])
    solution, full = co.solve(problem, CURVE), in_full(monkeypatch, problem)
    np.testing.assert_allclose(solution.cost, full.cost, rtol=1e-7)
    program = without_limits(solution.nlp)
    assert isinstance(program, ReducedNLP)
    assert set(program.owners.values()) <= {"up", "on"}


def test_from_an_optimum_a_search_begins_with_its_multipliers():
    problem = lift(co.bounds(tau=(-500.0, 500.0)))
    nlp = co.transcribe(problem, CURVE)
    first = co.solve(nlp)
    functions = without_limits(nlp).jac_g, without_limits(nlp).hess_lag
    again = co.solve(nlp, guess=first)
    assert (without_limits(nlp).jac_g, without_limits(nlp).hess_lag) == functions  # made once for all solves
    assert again.iterations < first.iterations / 2
    np.testing.assert_allclose(again.cost, first.cost, rtol=1e-9)


def test_from_an_optimum_where_limits_hold_they_stay():
    shoulder = 0.6 * peaks(co.solve(lift(), CURVE))[0]
    problem = lift(co.bounds(tau={"shoulder": (-shoulder, shoulder), "elbow": (-500.0, 500.0)}))
    first = co.solve(problem, CURVE)
    again = co.solve(problem, CURVE, guess=first)
    assert again.iterations < first.iterations / 4
    assert "aside" not in again.message
    np.testing.assert_allclose(again.cost, first.cost, rtol=1e-9)


def test_few_limits_are_not_worth_it(monkeypatch):
    monkeypatch.setattr(module, "_MANY", 20)
    limits = [co.initial(q=0.0, qd=0.0), co.final(q=0.1, qd=0.0), co.bounds(tau=(-1e4, 1e4))]
    few, many = (co.transcribe(co.Problem(spatial_chain(n), 1.0, EFFORT, limits), co.BSpline(5)) for n in (19, 20))
    assert without_limits(few) is few
    assert isinstance(without_limits(many), ReducedNLP)
