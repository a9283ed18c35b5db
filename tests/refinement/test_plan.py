"""The steps of a solve: those of a plain call, those of a user's plan, and what an answer says of them."""

import inspect
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc.refinement.plan import default_plan
from tests.support.problems import effort, time_optimal

CURVE = co.BSpline(10)
REACH = replace(time_optimal(), duration=1.0, minimize=co.integral(effort))
Solve, Refine, AtSwitches, SeekStarts, SeekFeasible = (
    co.refinement.Solve, co.refinement.Refine, co.refinement.AtSwitches, co.refinement.SeekStarts,
    co.refinement.SeekFeasible,
)  # fmt: skip


def test_the_plain_calls_are_lists_of_steps():
    assert default_plan(None, has_curve=True) == [Solve(), SeekFeasible(finer=False)]
    assert default_plan(1e-4, has_curve=True) == [Solve(), SeekFeasible(), Refine(1e-4), AtSwitches()]
    quick = SeekStarts(8, quick=True)
    assert default_plan(None, has_curve=False) == [
        Solve(), SeekFeasible(), quick, Refine(1e-3, confirm=False), AtSwitches()
    ]  # fmt: skip
    assert default_plan(1e-4, has_curve=False) == [Solve(), SeekFeasible(), quick, Refine(1e-4), AtSwitches()]


def test_an_answer_names_the_steps_that_made_it():
    one = co.solve(REACH, CURVE)
    assert one.plan == ("Solve()",)
    assert "plan       Solve()" in repr(one)
    assert one.rounds == ()
    assert co.solve(REACH, CURVE, tol=1e-2).plan == ("Solve()", "Refine(tol=0.01)")
    finer = co.refine(co.solve(time_optimal(), CURVE, plan=[Solve(tol=1.0)]), 1e-4)
    assert finer.plan == ("Solve(tol=1.0)", "Refine(tol=0.0001)", "AtSwitches()")


def test_a_plan_of_the_plain_steps_is_the_plain_call():
    plain = co.solve(time_optimal(), tol=1e-4)
    by_hand = co.solve(time_optimal(), plan=[Solve(), SeekStarts(8, quick=True), Refine(1e-4), AtSwitches()])
    np.testing.assert_array_equal(by_hand.x, plain.x)
    assert by_hand.plan == plain.plan
    assert by_hand.outcome.tolerance == plain.outcome.tolerance == 1e-4


def test_a_step_of_ones_own_is_a_function():
    def perturbed(attempt: co.refinement.Attempt) -> co.refinement.Attempt:
        return replace(attempt, guess=lambda t: (t, -2 + t + 0.3 * np.sin(np.pi * t)))

    solution = co.solve(REACH, CURVE, plan=[perturbed, Solve()])
    assert solution.plan == ("Solve()",)  # the other has changed no motion
    assert solution.cost == pytest.approx(co.solve(REACH, CURVE).cost, rel=1e-6)


def test_a_tolerance_is_that_of_the_step_of_the_call_or_the_smallest_stated():
    def judged(**given: Any) -> float:
        return co.solve(REACH, CURVE, **given).outcome.tolerance

    assert judged() == 1e-2
    assert judged(plan=[Solve(tol=0.5)]) == 0.5
    assert judged(plan=[Solve()], tol=1e-3) == 1e-3
    assert judged(plan=[Solve(), Refine(1e-3)]) == 1e-3


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ([], "plan must have a step"),
        ([Solve], r"plan must be a list of steps, as in \[Solve\(\), Refine\(1e-3\)\], got"),
        ([Refine(1e-3)], r"plan must begin with a step that solves"),
        ([SeekStarts(3), Solve()], r"plan must begin with a step that solves"),
    ],
)
def test_what_is_no_plan_is_refused(plan: Any, message: str):
    with pytest.raises(co.InputError, match=message):
        co.solve(REACH, CURVE, plan=plan)


@pytest.mark.parametrize(("function", "most"), [(co.solve, 9), (co.sweep, 8), (co.multistart, 7), (co.refine, 5)])
def test_keywords_are_few(function: Any, most: int):
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    assert kinds.count(inspect.Parameter.KEYWORD_ONLY) <= most


def test_seconds_are_those_of_the_whole_call():
    begin = time.perf_counter()
    solution = co.solve(time_optimal())
    spent = time.perf_counter() - begin
    assert solution.seconds["build"] + solution.seconds["solve"] <= solution.seconds["call"] <= spent
