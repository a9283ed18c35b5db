"""Timing for the benchmarks: calls that take turns, and runs in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import casadi as ca
import numpy as np

ROOT = Path(__file__).parent.parent.parent


class Timing(NamedTuple):
    """Seconds of a call."""

    minimum: float
    median: float


def alternately(
    calls: Mapping[str, Callable[[], object]], rounds: int = 9, visit: float = 0.01, budget: float = 20.0
) -> dict[str, Timing]:
    """Time calls that take turns, so that what else the machine does meets all of them.

    Parameters
    ----------
    calls : mapping of str to callable
    rounds : int
        Number of turns of each call; after three rounds no more are begun once the budget is spent.
    visit : float [s]
        A call that takes less is repeated until its turn has lasted this long.
    budget : float [s]

    Returns
    -------
    dict of str to Timing
        Minimum and median over all calls but the first of every turn.
    """
    repeats = {name: max(1, int(visit / _seconds(call))) for name, call in calls.items()}
    found: dict[str, list[float]] = {name: [] for name in calls}
    begin = time.perf_counter()
    for number in range(rounds):
        if number >= 3 and time.perf_counter() - begin > budget:
            break
        for name, call in calls.items():
            call()  # what caches hold is that of the call before
            found[name] += [_seconds(call) for _ in range(repeats[name])]
    return {name: Timing(min(seconds), median(seconds)) for name, seconds in found.items()}


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def buffered(function: ca.Function, inputs: Sequence[np.ndarray]) -> tuple[Callable[[], object], list[np.ndarray]]:
    """A call of a CasADi function as IPOPT makes it, without matrices of Python's, and the nonzeros it fills."""
    given = [np.ascontiguousarray(x, dtype=float) for x in inputs]
    results = [np.zeros(function.nnz_out(k)) for k in range(function.n_out())]
    buffer, trigger = function.buffer()
    for k, array in enumerate(given):
        buffer.set_arg(k, array.data)  # pyright: ignore[reportCallIssue]
    for k, array in enumerate(results):
        buffer.set_res(k, array.data)  # pyright: ignore[reportCallIssue]

    def call() -> object:
        # The buffer holds addresses only: naming them here keeps it and the arrays alive.
        return trigger() or (buffer, given, results)

    return call, results


def difference(ours: np.ndarray, other: np.ndarray) -> float:
    """Largest difference, relative to the largest entry."""
    return float(np.abs(ours - other).max() / np.abs(other).max())


def fresh(
    module: str, *words: str, environment: Mapping[str, str] | None = None, root: Path = ROOT
) -> dict[str, float]:
    """Numbers that a module of this package prints as JSON, run in a process of its own.

    `root` is the checkout that it runs in, by default this one.
    """
    command = [sys.executable, "-m", f"colloc.studies.benchmarks.{module}", *words]
    given = os.environ | dict(environment or {})
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=root, env=given)
    return json.loads(done.stdout)
