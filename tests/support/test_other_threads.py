"""Work in other threads ends with the main one."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.solver import monitor
from colloc.support.interrupts import reraise_interrupt
from colloc.sweeps import search
from tests.support.problems import time_optimal

ROOT = Path(__file__).parents[2]


class Work:
    """An action in another thread that tells when it has made its first iteration."""

    def __init__(self, action: Callable[[Callable[..., None]], Any]):
        self.begun = threading.Event()
        self._action = action

    def __call__(self) -> Any:
        return self._action(lambda *_: self.begun.set())


def endless(begun: Callable[..., None]) -> co.Solution | co.solution.PhasesSolution:
    """Iterations until they are stopped, or for 30 s."""
    power = co.integral(lambda now: ca.sum1(ca.fabs(now.tau * now.qd)))
    problem = co.Problem(two_link(), 1.0, power, [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)])
    ipopt = {"tol": 1e-14, "max_iter": 10**6, "max_wall_time": 30.0, "mu_strategy": "adaptive"}
    return co.solve(
        problem, co.BSpline(100), solver=co.Ipopt(**ipopt), progress=begun, compile=False, raise_on_failure=False
    )


def descent(method: Callable[..., Any], begun: Callable[..., None]) -> Any:
    """Slow steps to the minimum of a quartic of many variables."""
    size = np.arange(1.0, 41.0)

    def first(x: np.ndarray) -> tuple[float, np.ndarray]:
        begun()
        threading.Event().wait(0.05)  # s
        return float(size @ (x - 1) ** 4), 4 * size * (x - 1) ** 3

    objective = co.descent.Objective(first, lambda x: np.diag(12 * size * (x - 1) ** 2))
    return method(objective, np.zeros(40), co.descent.Stop(1e-300, 10**6))


def controls(begun: Callable[..., None]) -> co.control.IlqrResult:
    """Slow steps of iLQR."""
    fast = co.control.discretise(two_link(), dt=0.02)

    def linearise(x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        begun()
        threading.Event().wait(0.2)  # s
        return fast.linearise(x, u)

    there = co.control.state_cost((1.0, -1.0, 0.0, 0.0), 100.0, steps=[-1]) + co.control.control_cost(1e-3)
    slow = co.control.System(fast.n_x, fast.n_u, fast.step, linearise)
    return co.control.ilqr(slow, there, (0.0, -2.0, 0.0, 0.0), np.zeros((50, 2)), limits=(-10.0, 10.0))


def delayed(begun: Callable[..., None]) -> float:
    """A number, a while after it was asked for: nothing that asks whether to end."""
    begun()
    threading.Event().wait(0.2)  # s
    return 1.0


def interrupted_while(*works: Work) -> list[Future[Any]]:
    """The ends of works in threads for which the main thread waits when Ctrl-C comes."""
    futures: list[Future[Any]] = []

    def wait() -> None:
        with ThreadPoolExecutor(len(works)) as pool:
            futures.extend(pool.submit(work) for work in works)
            for work in works:
                assert work.begun.wait(30.0)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        wait()
    return futures


def test_ctrl_c_interrupts_the_solves_that_the_main_thread_waits_for():
    for future in interrupted_while(Work(endless), Work(endless)):
        assert future.result().status is co.solver.Status.INTERRUPTED


@pytest.mark.parametrize(
    "action",
    [partial(descent, co.descent.interior_point), partial(descent, co.descent.bfgs), controls],
    ids=["descent by IPOPT", "descent by BFGS", "iLQR"],
)
def test_ctrl_c_is_a_keyboard_interrupt_of_what_has_no_interrupted_answer(action: Callable[[Callable[..., None]], Any]):
    (future,) = interrupted_while(Work(action))
    assert isinstance(future.exception(), KeyboardInterrupt)


def test_ctrl_c_before_the_first_iteration_of_what_has_begun_counts():
    @reraise_interrupt
    def solved(begun: Callable[..., None]) -> co.Solution | co.solution.PhasesSolution:
        delayed(begun)
        return endless(begun)

    (future,) = interrupted_while(Work(solved))
    assert future.result().status is co.solver.Status.INTERRUPTED
    assert future.result().iterations == 0


def test_ctrl_c_before_the_first_case_of_a_sweep_counts():
    def table(begun: Callable[..., None]) -> co.sweeps.Sweep:
        return co.sweep(weighed(), {"w": [1.0, 2.0]}, co.BSpline(5), parameters=lambda w: {"w": w * delayed(begun)})

    (future,) = interrupted_while(Work(table))
    assert future.result().interrupted


def test_ctrl_c_before_the_first_start_of_a_search_counts(monkeypatch: pytest.MonkeyPatch):
    def optima(begun: Callable[..., None]) -> co.sweeps.Optima:
        monkeypatch.setattr(search, "_coarse", lambda *given: coarse(*given) if delayed(begun) else None)
        return co.multistart(weighed(), co.BSpline(5), starts=2)

    coarse = search._coarse
    (future,) = interrupted_while(Work(optima))
    assert isinstance(future.exception(), KeyboardInterrupt)


def weighed() -> co.Problem:
    """A swing with a parameter."""
    cost = co.integral(lambda now: now.w * ca.sumsqr(now.tau))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    return co.Problem(two_link(), 1.0, cost, ends, parameters=[co.Parameter("w", 1.0)])


def test_ctrl_c_while_the_monitor_asks_for_other_threads_counts(monkeypatch: pytest.MonkeyPatch):
    def pressed() -> bool:
        signal.raise_signal(signal.SIGINT)
        monkeypatch.setattr(monitor, "stop_requested", lambda: False)
        return False

    monkeypatch.setattr(monitor, "stop_requested", pressed)
    assert co.solve(time_optimal(), co.BSpline(5), compile=False).status is co.solver.Status.INTERRUPTED


def test_a_solve_that_begins_after_a_ctrl_c_is_none_of_its():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        with ThreadPoolExecutor(1) as pool:
            solution = pool.submit(
                co.solve, time_optimal(), co.BSpline(5), plan=[co.refinement.Solve(between="nodes")], compile=False
            ).result()
        assert solution.outcome.status is co.solver.Status.SOLVED


def test_a_ctrl_c_that_brings_the_main_thread_to_its_prompt_interrupts(monkeypatch: pytest.MonkeyPatch):
    name = "last_exc" if sys.version_info >= (3, 12) else "last_value"
    monkeypatch.setattr(sys, name, KeyboardInterrupt(), raising=False)  # of an earlier line
    work = Work(endless)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        assert work.begun.wait(30.0)
        assert not future.done()
        monkeypatch.setattr(sys, name, KeyboardInterrupt(), raising=False)
    assert future.result().status is co.solver.Status.INTERRUPTED


_EXIT = """
import os, threading
from tests.support.test_other_threads import Work, endless
work = Work(endless)
threading.Thread(target=work, daemon=True).start()
assert work.begun.wait(30.0)
"""
_FORK = """
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize(
    "script",
    [_EXIT, pytest.param(_EXIT + _FORK, marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"))],
)
def test_python_exits_while_a_daemon_thread_solves(script: str):
    """Not by a signal, as C++ ends a process whose thread Python kills in a callback; nor never, in a forked one."""
    own = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    words = [sys.executable, "-W", "ignore", "-c", script]  # Python doubts that forks and threads go together
    done = subprocess.run(words, env=own, capture_output=True, text=True, timeout=60.0)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
