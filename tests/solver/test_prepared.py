"""Solvers prepared once for a program: what they give again, at the same time, one within the other; what they keep."""

import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.solution.warm_start import start_from
from colloc.solver import Iterate, Outcome, Scale, Start, Status, nlpsol
from colloc.transcription import BaseNLP
from tests.support.problems import time_optimal

NONE = np.zeros(0)


@pytest.fixture
def nlp() -> co.transcription.NLP:
    return co.transcribe(time_optimal(), co.BSpline(8), compile=False)


def answers(outcome: Outcome) -> list[np.ndarray]:
    return [outcome.x, outcome.multipliers["g"], outcome.multipliers["x"], np.array(outcome.history["cost"])]


def scale(outcome: Outcome) -> Scale:
    assert outcome.scale is not None
    return outcome.scale


def test_every_run_from_the_same_start_gives_the_same_digits(nlp, monkeypatch):
    start, prepared = start_from(nlp, None, NONE), co.Ipopt().prepare(nlp)
    first = prepared(start, NONE)
    made: list[str] = []
    make = ca.nlpsol
    monkeypatch.setattr(ca, "nlpsol", lambda *args: made.append(args[0]) or make(*args))
    for again in (prepared(start, NONE), co.Ipopt().prepare(nlp)(start, NONE)):
        for one, other in zip(answers(first), answers(again), strict=True):
            np.testing.assert_array_equal(one, other)
    assert not made
    fresh = co.transcribe(time_optimal(), co.BSpline(8), compile=False)
    for one, other in zip(answers(first), answers(co.Ipopt().prepare(fresh)(start, NONE)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert co.Ipopt(tol=1e-4).prepare(nlp)(start, NONE).iterations < first.iterations
    assert [name for name in made if name != "probe"] == ["ipopt"] * 2  # the options are tried on a parabola before


def test_a_start_far_away_has_scales_of_its_own_or_those_that_it_is_given(nlp):
    start, prepared = start_from(nlp, None, NONE), co.Ipopt().prepare(nlp)
    duration = nlp.grid.layout.duration
    slow = start._replace(x=start.x.copy())
    slow.x[duration] *= 4
    near, far = prepared(start, NONE), prepared(slow, NONE)
    assert scale(far).cost == pytest.approx(4 * scale(near).cost, rel=1e-2)
    assert far.x[duration] == pytest.approx(near.x[duration], rel=1e-6)
    held = prepared(slow._replace(scale=near.scale), NONE)
    assert held.scale is near.scale
    assert held.x[duration] == pytest.approx(near.x[duration], rel=1e-6)
    assert held.history["cost"][0] == pytest.approx(float(slow.x[duration][0]), rel=0.1)


def test_a_cost_that_a_parameter_takes_away_changes_the_program_between_two_runs():
    weight = co.Parameter("weight", 1.0)
    problem = time_optimal()
    effort = co.integral(lambda now: now.weight * ca.sumsqr(now.tau))
    program = co.Problem(problem.model, 1.0, effort, problem.subject_to, parameters=[weight])
    nlp = co.transcribe(program, co.BSpline(8), compile=False)
    start, prepared = start_from(nlp, None, np.ones(1)), co.Ipopt().prepare(nlp)
    first = prepared(start, np.ones(1))
    nearest = prepared(start, np.zeros(1))
    assert scale(nearest).anchor is start.x
    assert np.abs(nearest.x - start.x).max() < np.abs(first.x - start.x).max()
    np.testing.assert_array_equal(prepared(start, np.ones(1)).x, first.x)


def test_threads_run_one_program_at_the_same_time(nlp):
    start, prepared = start_from(nlp, None, NONE), co.Ipopt().prepare(nlp)
    expected = prepared(start, NONE)
    with ThreadPoolExecutor(6) as threads:
        for outcome in threads.map(lambda _: prepared(start, NONE), range(24)):
            for one, other in zip(answers(expected), answers(outcome), strict=True):
                np.testing.assert_array_equal(one, other)


def test_a_run_within_a_run_disturbs_neither(nlp):
    start, prepared = start_from(nlp, None, NONE), co.Ipopt().prepare(nlp)
    expected, inner = prepared(start, NONE), []

    def on_iteration(iterate: Iterate) -> None:
        if iterate.number == 3:
            inner.append(prepared(start, NONE))

    for outcome in (prepared(start, NONE, on_iteration), *inner):
        for one, other in zip(answers(expected), answers(outcome), strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(inner) == 1


def test_a_run_that_was_stopped_or_raised_leaves_the_next_as_it_was(nlp):
    start, prepared = start_from(nlp, None, NONE), co.Ipopt().prepare(nlp)
    expected = prepared(start, NONE)

    def refuse(iterate: Iterate) -> None:
        raise ArithmeticError("enough")

    stopped = prepared(start, NONE, seconds=1e-6)
    assert stopped.status is Status.TIME_LIMIT
    assert stopped.iterations < expected.iterations
    with pytest.raises(ArithmeticError, match="enough"):
        prepared(start, NONE, refuse)
    again = prepared(start, NONE, seconds=100.0)
    for one, other in zip(answers(expected), answers(again), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_is_kept_goes_with_the_program(nlp):
    """Without the garbage collector: nothing that a program keeps refers to it."""
    program = co.transcribe(time_optimal(), co.BSpline(6), compile=False)
    start, seen = start_from(program, None, NONE), weakref.ref(program)

    class Watch:
        def __init__(self, nlp: BaseNLP):
            self.nlp = nlp

        def __call__(self, iterate: Iterate) -> None:
            self.last = iterate

    watch = Watch(program)
    watched, prepared = weakref.ref(watch), co.Ipopt().prepare(program)
    gc.collect()
    gc.disable()
    try:
        prepared(start, NONE, watch)
        del watch
        assert watched() is None
        del program, prepared
        assert seen() is None
    finally:
        gc.enable()


def test_a_program_keeps_few_solvers_and_a_large_one_none(nlp, monkeypatch):
    start = Start(start_from(nlp, None, NONE).x)
    for k in range(8):
        co.Ipopt(tol=1e-6 * (1 + k), max_iter=3).prepare(nlp)(start, NONE)
    assert len(nlp.cache["idle"]) == 4
    large = co.transcribe(time_optimal(), co.BSpline(8), compile=False)
    monkeypatch.setattr(nlpsol, "_LARGE", large.n_x + large.n_g)
    first = co.Ipopt().prepare(large)(start, NONE)
    assert "idle" not in large.cache
    np.testing.assert_array_equal(co.Ipopt().prepare(large)(start, NONE).x, first.x)


def test_what_is_written_to_a_file_is_there_after_every_run(nlp, tmp_path):
    start, file = start_from(nlp, None, NONE), tmp_path / "ipopt.txt"
    prepared = co.Ipopt(output_file=str(file), file_print_level=3).prepare(nlp)
    for _ in range(2):
        prepared(start, NONE)
        assert "EXIT: Optimal Solution Found" in file.read_text(encoding="utf-8")
        file.unlink()


def test_a_limit_of_the_processors_time_is_that_of_every_run(nlp):
    """Not of all runs of one object of CasADi's together."""
    start, prepared = start_from(nlp, None, NONE), co.Ipopt(max_cpu_time=1.0).prepare(nlp)
    begin, ends = time.process_time(), []
    while time.process_time() - begin < 1.5:
        ends.append(prepared(start, NONE).status)
    assert set(ends) == {Status.SOLVED}
    assert len(ends) > 3


def test_scales_of_another_program_are_refused_in_one_line(nlp):
    start = Start(start_from(nlp, None, NONE).x, scale=Scale(1.0, np.ones(3)))
    with pytest.raises(co.InputError, match=r"scale.rows must have 82 entries, got shape \(3,\)"):
        co.Ipopt().prepare(nlp)(start, NONE)
