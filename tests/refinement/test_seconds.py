"""The seconds of a call: parts that add up to the whole, which is what a clock beside it shows."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

import colloc as co
from tests.storage.test_phases_files import CURVES, GUESS, bounce
from tests.support.problems import effort, time_optimal

PARTS = {"build", "starts", "solve", "judge", "switches", "other"}
SPLINE = co.BSpline(12)
PROBLEM = time_optimal()
CALLS: dict[str, Callable[[], Any]] = {
    "plain": partial(co.solve, PROBLEM),
    "curve": partial(co.solve, PROBLEM, SPLINE),
    "tolerance": partial(co.solve, PROBLEM, SPLINE, tol=1e-2),
    "phases": partial(co.solve, bounce(), CURVES, guess=GUESS),
    "levels": partial(co.solve, replace(PROBLEM, minimize=[co.duration(), co.integral(effort)]), SPLINE),
    "failure": partial(co.solve, PROBLEM, SPLINE, solver=co.Ipopt(max_iter=3), raise_on_failure=False),
}


def parts_of(solution: Any) -> list[float]:
    """The seconds of all parts of the call by which a solution came."""
    assert set(solution.seconds) <= PARTS | {"call", "callbacks"}
    assert min(solution.seconds.values()) >= 0.0
    return [seconds for name, seconds in solution.seconds.items() if name in PARTS]


def check(call: Callable[[], Any]) -> Any:
    """A solution whose seconds add up to what a clock beside the call says."""
    begin = time.perf_counter()
    solution = call()
    spent, seconds = time.perf_counter() - begin, solution.seconds
    assert sum(parts_of(solution)) == pytest.approx(seconds["call"], rel=1e-3)
    assert 0.98 * spent - 0.01 <= seconds["call"] <= spent
    assert seconds.get("callbacks", 0.0) <= seconds["solve"]
    assert seconds["other"] < 0.1 * seconds["call"] + 0.01  # little has no name
    return solution


@pytest.mark.parametrize("kind", CALLS)
def test_parts_add_up_to_the_call(kind: str):
    CALLS[kind]()  # what is imported once has no name
    seconds = check(CALLS[kind]).seconds
    assert (seconds.get("starts", 0.0) > 0.01 * seconds["call"]) == (kind == "plain")


def test_a_program_and_a_refinement_have_their_own_calls():
    solution = check(partial(co.solve, co.transcribe(PROBLEM, SPLINE)))
    check(partial(co.refine, solution, 1e-2))
    check(partial(co.refine, solution, 1e-2, at="switches"))


def stated(longest: float) -> co.Problem:
    return replace(time_optimal(), duration=co.Free(0.1, longest, 1.0))


def test_the_case_of_a_sweep_and_the_optimum_of_a_search_have_seconds_of_their_own():
    begin = time.perf_counter()
    sweep = co.sweep(stated, {"longest": [4.0, 5.0]}, SPLINE, progress=False)
    best = co.multistart(time_optimal(), SPLINE, starts=2, progress=False).best
    spent = time.perf_counter() - begin
    for solution in (sweep.solution(0), sweep.solution(1), best):
        assert sum(parts_of(solution)) == pytest.approx(solution.seconds["call"], rel=1e-3)
        assert 0.0 < solution.seconds["solve"] < solution.seconds["call"] < spent


def test_the_motion_of_one_run_alone_says_what_that_took():
    program = co.transcribe(time_optimal(), SPLINE)
    outcome = co.Ipopt().prepare(program)(co.solver.Start(co.solve(program).x), program.problem.parameter_values(None))
    assert set(outcome.seconds) == {"build", "solve", "callbacks"}
