"""Many starts: what they find, on whatever they run, and what is said of what they have not found."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.models.closed.five_bar import five_bar
from colloc.refinement.random_motions import default_durations, near_start, random_start, reach_of
from colloc.sweeps import search
from colloc.sweeps.optima import Optima, StartResult
from tests.storage.test_phases_files import CURVES, bounce
from tests.support.problems import effort, everything, time_optimal

CURVE = co.BSpline(20)


def folded_arm() -> co.Problem:
    """Three links in gravity; `solve` is 18 % costlier than the best of many starts."""
    return co.Problem(
        planar_chain(3),
        co.Free(0.3, 5.0),
        co.duration() + 0.01 * co.integral(effort),
        [co.initial(q=(-1.5, 0.2, 0.1), qd=0.0), co.final(q=(1.5, -0.3, 0.4), qd=0.0), co.bounds(tau=(-8, 8))],
    )


@pytest.fixture(scope="module")
def found() -> co.sweeps.Optima:
    with pytest.warns(
        co.refinement.SolutionWarning, match=r"^optimum 0, and 2 more like it: the cost is inaccurate"
    ):  # 20 intervals
        return co.multistart(co.transcribe(folded_arm(), CURVE, compile=False), starts=12, progress=False)


def test_the_best_of_some_starts_is_better_than_that_of_the_usual_guess(found: co.sweeps.Optima):
    usual = next(optimum for optimum in found.optima if optimum.from_default_guess)
    assert usual.solution.cost == pytest.approx(0.75488226, rel=1e-5)
    assert found.best.cost == pytest.approx(0.64025047, rel=1e-5)
    assert list(found.costs) == sorted(found.costs)
    assert found.best is found.optima[0].solution
    assert max(co.verify(found.best).violations, key=lambda v: v.relative).relative < 0.02


def test_optima_are_optima_of_the_problem_that_was_asked(found: co.sweeps.Optima):
    problem = found.best.problem
    for optimum in found.optima:
        assert optimum.solution.problem is problem
        nlp: Any = optimum.solution.nlp
        with pytest.warns(
            co.refinement.SolutionWarning, match="the cost is inaccurate"
        ):  # 20 intervals are few for these motions
            again = co.solve(nlp, guess=optimum.solution)
        assert again.cost == pytest.approx(optimum.solution.cost, rel=1e-6)


def test_the_first_start_is_the_guess(found: co.sweeps.Optima):
    """From the best optimum the first of few starts ends there, which without it none of them does."""
    with pytest.warns(co.refinement.SolutionWarning, match="the cost is inaccurate"):
        again = co.multistart(
            co.transcribe(folded_arm(), CURVE, compile=False),
            guess=found.best,
            starts=co.refinement.SearchSettings(2, keep=1),
        )
    assert again.best.cost == pytest.approx(found.best.cost, rel=1e-5)
    assert again.optima[0].from_default_guess
    assert again.starts[0].group == 0
    with pytest.raises(co.InputError, match=r"guess postures must have shape \(3,\)"):
        co.multistart(folded_arm(), CURVE, guess=co.line((0.0, 0.0), (1.0, 1.0)))


def test_every_start_is_accounted_for(found: co.sweeps.Optima):
    assert [start.number for start in found.starts] == list(range(12))
    counted = [n for optimum in found.optima for n in optimum.starts]
    assert len(counted) == len(set(counted))
    assert all(found.starts[n].group is not None for n in counted)
    assert "solve finds it" in repr(found)
    assert "12 starts" in repr(found)
    assert found._repr_html_().startswith("<div>")


@pytest.mark.parametrize("kind", ["threads", "spawned processes"])
def test_the_answer_does_not_depend_on_the_executor(found: co.sweeps.Optima, kind: str):
    pytest.importorskip("cloudpickle")
    context = multiprocessing.get_context("spawn")
    pool = ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(2, mp_context=context)
    with (
        pool as executor,
        pytest.warns(co.refinement.SolutionWarning, match=r"^optimum 0, and 2 more like it: the cost is inaccurate"),
    ):
        other = co.multistart(
            co.transcribe(folded_arm(), CURVE, compile=False), starts=12, executor=executor, progress=False
        )
    assert len(other.optima) == len(found.optima)
    for one, two in zip(other.optima, found.optima, strict=True):
        assert one.starts == two.starts
        assert np.array_equal(one.solution.x, two.solution.x)
        assert one.solution.status is two.solution.status
    assert [s[:5] for s in other.starts] == [s[:5] for s in found.starts]


def test_another_seed_has_other_starts():
    nlp = co.transcribe(everything(), co.BSpline(8))
    durations = default_durations(nlp)
    one, again, other = (random_start(nlp, durations, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.allclose(one, other)


@pytest.mark.parametrize("seed", range(20))
def test_random_motions_stay_within_the_ranges_and_begin_and_end_where_they_must(seed: int):
    problem = time_optimal()
    nlp, rng = co.transcribe(problem, co.BSpline(15, degree=5)), np.random.default_rng(seed)
    reach = reach_of(problem)
    assert reach.lower == pytest.approx(np.array([0.0, -2.0]) - np.pi)
    assert reach.upper == pytest.approx(np.array([1.0, -1.0]) + np.pi)
    x = random_start(nlp, default_durations(nlp), rng)
    for start in (x, near_start(nlp, x, rng)):
        assert ((start >= nlp.lower) & (start <= nlp.upper)).all()
        motion = nlp.grid.nodes().evaluate([nlp.grid.nodes().local.arguments[2]], start, np.zeros(0))[0]
        assert motion[0] == pytest.approx([0.0, -2.0])
        assert motion[-1] == pytest.approx([1.0, -1.0])
    inside = nlp.grid.nodes().evaluate([nlp.grid.nodes().local.arguments[2]], x, np.zeros(0))[0]
    assert (inside >= reach.lower - 0.1).all()
    assert (inside <= reach.upper + 0.1).all()


def test_motions_in_phases_have_starts_as_well():
    found = co.multistart(co.transcribe(bounce(), CURVES, compile=False), starts=4, progress=False)
    assert isinstance(found.best, co.solution.PhasesSolution)
    assert found.best.outcome.status is co.solver.Status.SOLVED
    usual = [o for o in found.optima if o.from_default_guess]
    assert not usual or found.best.cost <= usual[0].solution.cost


@pytest.mark.filterwarnings("ignore:optimum 1")  # a bad one, on few intervals
def test_closed_chains_and_problems_without_a_mechanism_have_starts_as_well():
    chain = five_bar()
    ends = [co.initial(qd=0.0), co.final(qd=0.0), co.final(q={"waist": 0.5})]
    closed = co.Problem(chain.model, 1.0, co.integral(effort), ends, parts=[co.loops.IndependentJoints(chain)])
    best = co.multistart(co.transcribe(closed, co.BSpline(20), compile=False), starts=3, progress=False).best
    assert best.outcome.status is co.solver.Status.SOLVED
    assert np.abs(chain.closures.at(best.q[3])[0]).max() < 1e-9
    push = co.Unknown("push", lower=-1.0, upper=1.0)
    place, speed = co.State("place", rate=lambda now: now.speed), co.State("speed", rate=lambda now: now.push)
    states = [co.initial(states={"place": 0.0, "speed": 0.0}), co.final(states={"place": 1.0, "speed": 0.0})]
    moved = co.Problem(None, co.Free(0.5, 5.0), co.duration(), states, [push, place, speed])  # pyright: ignore[reportArgumentType]
    best = co.multistart(co.transcribe(moved, co.Radau(8), compile=False), starts=3, progress=False).best
    assert best.duration == pytest.approx(2.0, rel=1e-4)


def test_where_no_start_leads_to_an_optimum_the_reasons_are_listed():
    stated = time_optimal()
    problem = co.Problem(stated.model, 0.05, co.integral(effort), stated.subject_to)
    reasons = "none of 3 starts reached an optimum\n  3 starts: no feasible motion found"
    with pytest.raises(co.SolveError, match=reasons):
        co.multistart(co.transcribe(problem, co.BSpline(6), compile=False), starts=3)


def test_without_a_curve_the_best_is_refined():
    found = co.multistart(time_optimal(), starts=2, progress=False)
    assert found.best.duration == pytest.approx(0.391854539516, rel=1e-3)
    assert found.best.rounds


class Dying(Executor):
    """An executor one of whose workers dies."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if getattr(args[1], "number", None) == 1:
            future.set_exception(RuntimeError("a worker died"))
        else:
            future.set_result(fn(*args))
        return future


def test_a_worker_that_dies_is_one_start_without_an_optimum():
    pytest.importorskip("cloudpickle")
    found = co.multistart(co.transcribe(time_optimal(), co.BSpline(8), compile=False), starts=3, executor=Dying())
    assert found.starts[1].reason == "RuntimeError: a worker died"
    assert found.best.duration == pytest.approx(0.4000283, rel=1e-5)


def interrupted_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = search.results

    def results(*args: Any) -> Iterator[Any]:
        for k, result in enumerate(usual(*args)):
            if k == count:
                raise KeyboardInterrupt
            yield result

    monkeypatch.setattr(search, "results", results)


def test_ctrl_c_returns_what_has_been_found(monkeypatch: pytest.MonkeyPatch):
    interrupted_after(2, monkeypatch)
    found = co.multistart(co.transcribe(time_optimal(), co.BSpline(20), compile=False), starts=9)
    assert found.interrupted
    assert len(found.starts) == 2
    assert "interrupted" in repr(found)
    assert found.best.outcome.status is co.solver.Status.SOLVED


def test_ctrl_c_before_anything_is_found_is_one(monkeypatch: pytest.MonkeyPatch):
    interrupted_after(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        co.multistart(co.transcribe(time_optimal(), co.BSpline(20), compile=False), starts=9)


def test_the_chance_of_an_unseen_optimum_is_right_on_the_average(found: co.sweeps.Optima):
    """Against draws from a known distribution, whose unseen share is known as well (seeded: 4,000 samples of 15)."""
    rng, shares = np.random.default_rng(7), np.array([0.4, 0.2, 0.15, 0.1, 0.08, 0.04, 0.02, 0.01])
    estimates, truths = [], []
    for _ in range(4000):
        groups = rng.choice(shares.size, 15, p=shares)
        rows = tuple(StartResult(k, None, 1.0, int(g), "", 0.0) for k, g in enumerate(groups, 1))
        usual, near = StartResult(0, None, 1.0, 99, "", 0.0), StartResult(16, 3, 1.0, 98, "", 0.0)  # neither counts
        estimates.append(Optima(found.optima, (usual, *rows, near)).unseen)
        truths.append(1 - shares[np.unique(groups)].sum())
    # E[n1/N] is the expected unseen share after N - 1 draws, a little more than after N.
    after_one_less = float((shares * (1 - shares) ** 14).sum())
    assert np.mean(estimates) == pytest.approx(after_one_less, abs=4 * np.std(estimates) / 4000**0.5)
    assert np.mean(truths) == pytest.approx(after_one_less, rel=0.1)


def test_what_the_chance_rests_on_is_said(found: co.sweeps.Optima):
    usual, one = StartResult(0, None, 1.0, 0, "", 0.0), StartResult(1, None, 1.0, 1, "", 0.0)
    assert "a new optimum: not known yet, by 1 random start\n" in f"{Optima(found.optima, (usual, one))}\n"
    five = tuple(one._replace(number=k, group=1 + (k == 5)) for k in range(1, 6))
    assert "a new optimum: 20%, by 5 random starts\n" in f"{Optima(found.optima, (usual, *five))}\n"
    assert "chance" not in repr(Optima(found.optima, (usual,)))
    for agreeing in (1, 4, 5, 20):
        starts = (usual, *(one._replace(number=k) for k in range(1, agreeing + 1)))
        optima, known = Optima(found.optima, starts), agreeing >= 5
        assert np.isnan(optima.unseen) != known
        # One of that chance is missed by all starts once in twenty searches: (1 - p) ** n.
        words = {5: "below 45%", 20: "below 14%"}.get(agreeing, "not known yet")
        assert f"a new optimum: {words}, by {agreeing} random start" in repr(optima)
    assert pytest.approx(0.05, rel=0.02) == 0.55**5
    assert pytest.approx(0.05, rel=0.05) == 0.86**20


def test_the_ladder_is_drawn(found: co.sweeps.Optima):
    figure = co.plot.optima(found)
    (ax,) = figure.axes
    assert ax.get_title(loc="left") == "12 starts, 0 without an optimum"
    plt.close(figure)
    with pytest.raises(co.InputError, match="found must be an Optima"):
        co.plot.optima(found.best)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"starts": 1}, "starts must be an integer >= 2, got 1"),
        ({"executor": "two"}, "executor must be a number of processes, .* got 'two'"),
        ({"executor": 0}, "executor, a number of processes, must be an integer >= 1, got 0"),
        ({"tol": -1.0}, "tol must be finite and positive"),
        ({"solver": "ipopt"}, "solver must be a solver"),
    ],
)
def test_wrong_calls_say_what_is_wrong(wrong: dict[str, Any], message: str):
    with pytest.raises(co.InputError, match=message):
        co.multistart(time_optimal(), co.BSpline(8), **wrong)


def test_a_program_brings_its_curve():
    nlp = co.transcribe(time_optimal(), co.BSpline(8))
    with pytest.raises(co.InputError, match="curve must be left out for an NLP: pass it to co"):
        co.multistart(nlp, co.BSpline(8))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"starts": 1}, "starts must be an integer >= 2, got 1"),
        ({"seed": 0.5}, "seed must be an integer >= 0, got 0.5"),
        ({"keep": 0}, "keep must be an integer >= 1, got 0"),
    ],
)
def test_wrong_settings_say_what_is_wrong(wrong: dict[str, Any], message: str):
    with pytest.raises(co.InputError, match=message):
        co.refinement.SearchSettings(**wrong)
