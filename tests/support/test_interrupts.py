"""Ctrl-C is an interrupted solution or a KeyboardInterrupt, whatever the library is doing."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.kernels.cache import build_directory, store
from colloc.models.two_link import two_link
from colloc.refinement import rounds as run
from colloc.solver.monitor import Interruptible, Monitor
from colloc.support.files import write_atomically
from colloc.support.interrupts import InterruptGuard, reraise_interrupt
from colloc.support.lazy import cached_property
from colloc.sweeps.executors import results
from tests.campaigns.calls import interrupted
from tests.campaigns.garbage import doors, lasts
from tests.support.problems import effort, time_optimal

# Exceptions that C code drops, Python since 3.13 reports as well.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
DOORS = [door.name for door in doors() if lasts(door)]


class Converted:
    """Attribute that CasADi requests from every argument that is not its own type."""

    def __DM__(self) -> ca.DM:
        press()
        return ca.DM(1)


def press() -> None:
    """Ctrl-C, which Python's handler takes notice of at once."""
    signal.raise_signal(signal.SIGINT)


def lose() -> None:
    """Ctrl-C in code that CasADi calls, and whose exceptions it clears."""
    try:
        ca.DM(Converted())  # pyright: ignore[reportArgumentType, reportCallIssue]
    except (NotImplementedError, TypeError):
        return


def test_a_lost_ctrl_c_is_raised_at_the_end_of_what_lasts():
    after = []

    @reraise_interrupt
    def work() -> None:
        lose()
        after.append(True)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert after  # lost inside, raised at the end
    assert signal.getsignal(signal.SIGINT) is before


def test_an_attribute_in_whose_making_ctrl_c_got_lost_is_not_kept():
    class Lazy:
        presses = True

        @cached_property
        def value(self) -> int:
            if self.presses:
                lose()
            return 1

    lazy = Lazy()
    with pytest.raises(KeyboardInterrupt):
        _ = lazy.value
    lazy.presses = False
    assert "value" not in vars(lazy)
    assert lazy.value == 1


def test_the_handler_is_put_back_where_a_context_is_not_left():
    before, context = signal.getsignal(signal.SIGINT), InterruptGuard()
    context.__enter__()
    with pytest.raises(KeyboardInterrupt):
        press()
    assert signal.getsignal(signal.SIGINT) is before


def test_another_error_after_a_lost_ctrl_c_does_not_hide_it():
    with pytest.raises(KeyboardInterrupt), InterruptGuard():
        lose_and_fail()


def lose_and_fail() -> None:
    lose()
    raise ValueError("of what CasADi made of it")


def test_handlers_that_do_not_raise_are_called_once():
    """Those of asyncio, say."""
    calls: list[int] = []

    def quiet(number: int, frame: FrameType | None) -> None:
        calls.append(number)

    before = signal.signal(signal.SIGINT, quiet)
    try:
        with InterruptGuard():
            press()
        assert signal.getsignal(signal.SIGINT) is quiet
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == [signal.SIGINT]


def test_ignored_ctrl_c_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with InterruptGuard():
            press()
        assert (
            co.solve(time_optimal(), co.BSpline(5), plan=[co.refinement.Solve(between="nodes")]).outcome.status
            is co.solver.Status.SOLVED
        )
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_the_handler_alone():
    seen = []

    def work() -> None:
        with InterruptGuard():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def swing(*more) -> co.Problem:
    return co.Problem(two_link(), 1.0, co.integral(effort), [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0), *more])


def pressing(monkeypatch: pytest.MonkeyPatch, solve: int, iteration: int) -> None:
    """Ctrl-C at an iteration of one of several solves, counted from their end if negative."""
    begin, watch, seen = Monitor.begin, Monitor.eval_buffer, [0]

    def beginning(self: Monitor, *args: object) -> None:
        seen[0] += 1
        begin(self, *args)  # pyright: ignore[reportArgumentType]

    def watching(self: Monitor, arg, res) -> int:
        if seen[0] == solve and self.count == iteration:
            press()
        return watch(self, arg, res)

    monkeypatch.setattr(Monitor, "begin", beginning)
    monkeypatch.setattr(Monitor, "eval_buffer", watching)


def test_the_handler_of_a_solve_does_not_outlast_it():
    """Where a context within it was entered just before Ctrl-C came, and puts back what it found."""
    before, monitor = signal.getsignal(signal.SIGINT), Monitor(1)
    monitor.stop = False
    with Interruptible(monitor):
        found = signal.getsignal(signal.SIGINT)
        press()
        signal.signal(signal.SIGINT, found)
    assert monitor.stop
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_after_the_last_iteration_counts(monkeypatch: pytest.MonkeyPatch):
    """IPOPT no longer asks whether to stop; the optimum that it found is the best iterate."""
    optimum = co.solve(time_optimal(), co.BSpline(10), plan=[co.refinement.Solve(between="nodes")])
    pressing(monkeypatch, 1, optimum.iterations)
    solution = co.solve(time_optimal(), co.BSpline(10), plan=[co.refinement.Solve(between="nodes")])
    assert solution.status is co.solver.Status.INTERRUPTED
    np.testing.assert_array_equal(solution.x, optimum.x)


@pytest.mark.parametrize("rounds", [2, 3])
def test_ctrl_c_in_a_round_of_refinement_counts(monkeypatch: pytest.MonkeyPatch, rounds: int):
    pressing(monkeypatch, rounds, 1)
    solution = co.solve(swing(), co.Radau(3), tol=1e-6)
    assert solution.status is co.solver.Status.INTERRUPTED
    assert len(solution.rounds) == rounds - 1  # the best of them, not what the interrupted round had


def test_ctrl_c_while_nodes_are_added_counts(monkeypatch: pytest.MonkeyPatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        assert (
            co.solve(time_optimal(), co.Radau(8), plan=[co.refinement.Solve(between="nodes")]).status
            is co.solver.Status.VIOLATED
        )
    pressing(monkeypatch, 2, 1)
    assert co.solve(time_optimal(), co.Radau(8)).status is co.solver.Status.INTERRUPTED


def test_ctrl_c_between_two_rounds_is_a_keyboard_interrupt(monkeypatch: pytest.MonkeyPatch):
    def curve(*args: object, **kwargs: object) -> None:
        press()

    monkeypatch.setattr(run, "next_nlp", curve)
    with pytest.raises(KeyboardInterrupt):
        co.solve(swing(), co.Radau(3), tol=1e-6)


def test_ctrl_c_in_a_descent_by_ipopt_is_a_keyboard_interrupt():
    calls = []

    def first(x: np.ndarray) -> tuple[float, np.ndarray]:
        calls.append(x)
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)
        return float((x**4).sum()), 4 * x**3

    objective = co.descent.Objective(first, lambda x: np.diag(12 * x**2))
    with pytest.raises(KeyboardInterrupt):
        co.descent.interior_point(objective, np.ones(3))
    assert len(calls) < 10


def pressed_at_every_step(action: Callable[[], object], *modules: str) -> int:
    """Call an action again and again with Ctrl-C at each instruction of some modules in turn; the number of calls."""
    for number in range(1, 10_000):
        seen = [0]

        def trace(frame: FrameType, event: str, _: object, number: int = number, seen: list[int] = seen) -> Any:
            if Path(frame.f_code.co_filename).name not in modules:
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                seen[0] += 1
                if seen[0] == number:
                    press()
            return trace

        before = sys.gettrace()
        try:
            sys.settrace(trace)
            action()
        except KeyboardInterrupt:
            continue
        finally:
            sys.settrace(before)
        if number == 1 and not seen[0]:
            continue  # Python 3.12.1 tells of instructions from the second call on
        if seen[0] < number:
            return number
        pytest.fail(f"Ctrl-C at instruction {number} was lost")
    pytest.fail("the action takes a new turn each time")


@pytest.mark.parametrize("links", [1, 2])
def test_ctrl_c_at_any_instruction_of_a_writer_leaves_nothing_torn_and_nothing_behind(
    tmp_path: Path, links: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # slow
    path, names = tmp_path / "motion.npz", [f"{k}.npz" for k in range(links - 1)] + ["motion.npz"]
    path.write_bytes(b"the old content")
    for name in names[:-1]:
        (tmp_path / name).hardlink_to(path)

    def write() -> None:
        assert sorted(os.listdir(tmp_path)) == names
        assert path.read_bytes() in (b"the old content", b"new")
        write_atomically(path, b"new")

    assert pressed_at_every_step(write, "files.py", "interrupts.py", "contextlib.py") > 100
    assert sorted(os.listdir(tmp_path)) == names


def test_ctrl_c_at_any_instruction_leaves_no_directory_of_a_compilation(tmp_path: Path):
    """Interrupted compilers are tested beside the cache."""

    def building() -> list[str]:
        return [name for name in os.listdir(tmp_path) if name.startswith("build-")]

    def compile_nothing() -> None:
        assert building() == []
        with build_directory(tmp_path) as inside:
            (inside / "0.c").write_text("", encoding="utf-8")
            (inside / "library").write_text("code", encoding="utf-8")
            store(tmp_path, "key", inside / "library")

    tmp_path.chmod(0o700)
    modules = "cache.py", "interrupts.py", "contextlib.py"
    assert pressed_at_every_step(compile_nothing, *modules) > 100
    assert building() == []


def test_doors_that_last_are_known_by_their_code():
    lasting = {"co.solve", "co.refine", "co.transcribe", "co.Problem", "co.Evaluator", "co.sweep", "co.multistart"}
    lasting |= {"co.save", "co.load", "co.verify", "co.control.ilqr", "co.descent.bfgs"}
    assert lasting <= set(DOORS)
    assert not {"co.revolute", "co.path", "co.BSpline", "co.dynamics.newton_euler"} & set(DOORS)


@pytest.mark.parametrize("name", DOORS)
def test_ctrl_c_reaches_the_user_from_any_call_that_a_door_that_lasts_makes(name: str):
    """Most of the calls are CasADi's own, which clears what is raised in them."""
    for share in np.linspace(0.02, 0.98, 7):
        assert not interrupted(name, share)


def test_what_one_of_many_tasks_loses_is_not_lost():
    with pytest.raises(KeyboardInterrupt):
        list(results(lambda item: lose(), [1, 2], None))
