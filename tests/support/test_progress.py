"""Output and callbacks while a solve runs."""

import re
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.solver.progress import Iterate, displayed
from tests.support.problems import time_optimal

CURVE = co.BSpline(8)


def shows(progress: bool | None, *iterates: tuple[int, float]) -> bool:
    """Whether anything is shown of a solve, which makes iterations of these numbers after so many seconds."""
    with displayed(progress) as tell:
        if tell is None:
            return False
        for number, seconds in iterates:
            tell(Iterate(number, 0.5, 1e-3, seconds, np.zeros(1)))
        return True


def test_a_function_gets_every_iteration_in_the_users_terms():
    seen: list[co.refinement.Iteration] = []
    solution = co.solve(time_optimal(), CURVE, plan=[co.refinement.Solve(between="nodes")], progress=seen.append)
    assert [now.number for now in seen] == list(range(solution.iterations + 1))
    assert seen[-1].cost == pytest.approx(solution.cost, rel=1e-9)
    assert [now.cost for now in seen] == pytest.approx(solution.history["cost"], rel=1e-9)
    assert seen[-1].infeasibility < 1e-6 < max(now.infeasibility for now in seen)
    assert np.diff([now.seconds for now in seen]).min() >= 0
    assert seen[-1].solution.duration == pytest.approx(solution.duration, rel=1e-9)
    np.testing.assert_allclose(seen[-1].solution.tau, solution.tau, atol=1e-6)
    assert seen[3].solution.duration != seen[4].solution.duration
    assert repr(seen[0]).startswith("Iteration(0, cost ")


def test_a_function_may_look_at_the_motion_as_the_solve_runs():
    heights: list[float] = []

    def watch(now: co.refinement.Iteration) -> None:
        assert isinstance(now.solution, co.Solution)
        heights.append(now.solution.evaluate(lambda at: at.point("elbow").position[1], 0.0))

    co.solve(time_optimal(), CURVE, progress=watch)
    assert heights == pytest.approx([0.4 * np.sin(-2.0)] * len(heights), abs=1e-6)


def test_motions_in_phases_and_refinements_tell_as_well():
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    effort = co.integral(lambda now: now.tau.T @ now.tau)
    one = co.Problem(two_link(), 1.0, effort, ends)
    durations: list[float] = []
    co.solve(co.Phases({"a": one}), CURVE, progress=lambda now: durations.append(now.solution.duration))
    assert durations == [1.0] * len(durations) != []
    numbers: list[int] = []
    rough = co.solve(one, co.BSpline(3))
    co.refine(rough, 1e-5, progress=lambda now: numbers.append(now.number))
    assert numbers.count(0) > 1


def test_long_steps_are_announced_before_they_begin(
    capsys: pytest.CaptureFixture[str], monkeypatch: Any, tmp_path: Any
):
    monkeypatch.setattr("colloc.support.progress._SPOKEN_OF", 1e-3)
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(tmp_path))
    co.solve(time_optimal(), CURVE, compile=True, progress=False)
    assert capsys.readouterr().err == ""
    for _ in range(2):
        problem = time_optimal()
        co.solve(problem, CURVE, compile=co.kernels.Compile(threads=1, cache=tmp_path / "own"))
        said = capsys.readouterr().err.splitlines()
        assert re.fullmatch(r"colloc: building the program of two-link arm, 2 joints, about \d+ s", said[0])
        compiled = [line for line in said if re.fullmatch(r"colloc: compiling what .*, once, .*, about \d+ s", line)]
        assert len(compiled) == len(said) - 1
    assert not compiled  # it is in the cache
    co.solve(problem, co.BSpline(7))
    assert "building" not in capsys.readouterr().err  # another program shares what took long


def test_what_a_function_raises_ends_the_solve():
    def enough(now: co.refinement.Iteration) -> None:
        if now.number == 3:
            raise RuntimeError(f"enough of {now.number}")

    with pytest.raises(RuntimeError, match="enough of 3"):
        co.solve(time_optimal(), CURVE, progress=enough)
    assert co.solve(time_optimal(), CURVE).outcome.status is co.solver.Status.SOLVED


def test_progress_is_a_flag_or_a_function():
    wrong: Any
    for wrong, words in (("no", "must be True, False or a function"), (lambda: None, r"called with \(now\)")):
        with pytest.raises(co.InputError, match=words):
            co.solve(time_optimal(), CURVE, progress=wrong)


def test_a_terminal_gets_one_line(capsys):
    co.solve(time_optimal(), CURVE, progress=True)
    assert capsys.readouterr().err.startswith("\riteration     0   cost ")
    shows(True, (0, 0.05), (1, 0.2), (2, 0.25), (3, 0.5))
    lines = capsys.readouterr().err.split("\r")
    assert [line.split()[:2] for line in lines[1:]] == [["iteration", "0"], ["iteration", "1"], ["iteration", "3"]]
    assert lines[-1].endswith("\n")
    assert not shows(False)
    assert not shows(None)  # standard error is no terminal here


def test_every_run_of_a_solver_that_tries_again_has_a_line(capsys):
    shows(True, (0, 0.5), (1, 3.0), (0, 0.1), (1, 0.4))
    assert [line.count("\r") for line in capsys.readouterr().err.split("\n")] == [2, 2, 0]


class Bar:
    """The parts of tqdm's bar that are used."""

    made: list["Bar"] = []  # noqa: RUF012

    def __init__(self, **options: Any):
        self.options, self.n, self.postfix, self.closed = options, 0, "", False
        Bar.made.append(self)

    def update(self, by: int) -> None:
        self.n += by

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        self.postfix = text

    def close(self) -> None:
        self.closed = True


def test_a_notebook_gets_a_bar_where_tqdm_is_installed(monkeypatch: pytest.MonkeyPatch):
    class ZMQInteractiveShell:
        pass

    ipython, tqdm = ModuleType("IPython"), ModuleType("tqdm.auto")
    monkeypatch.setattr(ipython, "get_ipython", ZMQInteractiveShell, raising=False)
    monkeypatch.setattr(tqdm, "tqdm", Bar, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(auto=tqdm))
    monkeypatch.setitem(sys.modules, "tqdm.auto", tqdm)
    Bar.made.clear()
    assert shows(None, (1, 0.3), (2, 0.8))
    assert not Bar.made  # nothing in the first second
    shows(None, (20, 1.2), (30, 1.4))
    (bar,) = Bar.made
    assert (bar.n, bar.postfix, bar.closed) == (30, "cost 0.5, infeasibility 1.0e-03", True)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert not shows(None)  # without tqdm, and without a terminal


@pytest.mark.parametrize("tqdm", [False, True])
def test_a_search_that_finds_one_optimum_ends_at_the_end_of_its_bar(
    capsys, monkeypatch: pytest.MonkeyPatch, tqdm: bool
):
    """Of ends to refine there may be fewer than asked for: tqdm draws a bar that stops early in red."""
    if tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    effort = co.integral(lambda now: now.tau.T @ now.tau)
    problem = co.Problem(two_link(), 1.0, effort, [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)])
    found = co.multistart(problem, co.BSpline(4), starts=co.refinement.SearchSettings(3, keep=5), progress=True)
    assert len(found.optima) < 5
    last = capsys.readouterr().err.split("\r")[-1]
    assert last.startswith("starts: 100%" if tqdm else "starts: 9 of 9 ")
    assert not tqdm or " 9/9 " in last
    assert last.endswith("\n")
