"""One task on many items: in this process, on any executor of concurrent.futures, or on `Processes`.

`Processes` exists because shared pools lose too many items. With 8 items on 2 workers, the third of which ends its
process, a ProcessPoolExecutor and loky's lose 6, and neither has a time limit per item. Pebble loses one and has time
limits, but is another dependency, and would need the second attempt and the environment of workers around it.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import contextmanager
from functools import lru_cache
from multiprocessing import get_context, parent_process
from typing import Any

from colloc.support import checks
from colloc.support.checks import InputError, quoted
from colloc.support.interrupts import reraise_interrupt
from colloc.support.progress import be_silent

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # of libraries that use all cores by default
_starting = threading.Lock()

Task = Callable[[Any], Any]


def check_executor(executor: Any) -> Executor | int | None:
    """Return the argument; raise InputError unless it is an executor, a number of processes, or None."""
    if isinstance(executor, int) and not isinstance(executor, bool):
        return checks.count("executor, a number of processes,", executor, at_least=1)
    if executor is None or callable(getattr(executor, "submit", None)):
        return executor
    raise InputError(
        "executor must be a number of processes, an executor of concurrent.futures such as a Dask client's "
        f"client.get_executor() or mpi4py's MPIPoolExecutor(), or None for this process; got {quoted(executor)}"
    )


@contextmanager
def open_executor(executor: Executor | int | None, timeout: float | None = None) -> Iterator[Executor | None]:
    """The executor, new processes for the duration of the context, or None for this process."""
    if not isinstance(executor, int):
        yield executor
        return
    pool = Processes(executor, timeout)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def serialised(task: Task, executor: Executor | None) -> Task | bytes:
    """A task as an executor's workers receive it: pickled, except for threads."""
    return task if executor is None or isinstance(executor, ThreadPoolExecutor) else pickle.dumps(task)


def results(task: Task, items: Sequence[Any], executor: Executor | None) -> Iterator[tuple[int, Any]]:
    """Number and result of every item, in the order of completion; one after another without an executor.

    The task is pickled once, and unpickled once by every worker. An error of the executor, such as a worker that died,
    comes in place of a result. If the iteration ends early, items that have not begun are cancelled.
    """
    if executor is None:
        for number, item in enumerate(items):
            yield number, run_task(task, item)
        return
    portable = serialised(task, executor)
    futures: dict[Future[Any], int] = {}
    try:
        for number, item in enumerate(items):
            futures[executor.submit(run_task, portable, item)] = number
        for future in as_completed(futures):
            error = future.exception()
            if isinstance(error, KeyboardInterrupt):
                raise error
            yield futures[future], future.result() if error is None else error
    finally:
        for future in futures:
            future.cancel()


@reraise_interrupt
def run_task(task: Task | bytes, item: Any) -> Any:
    """The result for an item."""
    return (_deserialised(task) if isinstance(task, bytes) else task)(item)


@lru_cache(maxsize=2)
def _deserialised(content: bytes) -> Task:
    """A task in a worker, kept from item to item together with the programs that it has built."""
    return pickle.loads(content)


class Processes(Executor):
    """An executor of spawned processes, each with one thread for linear algebra.

    An item whose process dies is tried once more, then it ends in a BrokenExecutor. Only the parent handles Ctrl-C.

    Parameters
    ----------
    count : int
        Number of processes.
    timeout : float, optional [s]
        Time limit of an item, after which it ends in a TimeoutError and its process is killed.

    Examples
    --------
    >>> with co.sweeps.Processes(1, timeout=60.0) as pool:
    ...     print(pool.submit(round, 0.391854539516, 3).result())
    0.392
    """

    def __init__(self, count: int, timeout: float | None = None):
        count = checks.count("count of processes", count, at_least=1)
        if timeout is not None:
            timeout = checks.finite_number("timeout", timeout, positive=True)
        self._timeout, self._cancelled = timeout, False
        self._threads, self._local = ThreadPoolExecutor(count), threading.local()  # each thread has a process

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future for the result of a call."""
        return self._threads.submit(self._call, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes once all items are done, including waiting ones unless they are cancelled."""
        self._cancelled |= cancel_futures
        self._threads.shutdown(wait, cancel_futures=cancel_futures)

    def _call(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a call in this thread's process, or in its replacement."""
        for _ in range(2):
            try:
                process: _Process = getattr(self._local, "process", None) or _Process()
                self._local.process = process
                if self._cancelled:  # while the process started
                    raise CancelledError
                return process.call(fn, args, kwargs, self._timeout)
            except _TimeLimitError:
                self._local.process = None
                raise TimeoutError(f"not finished within {self._timeout:g} s") from None
            except BrokenExecutor:
                self._local.process = None
        raise BrokenExecutor("the process died twice on this item")


class _TimeLimitError(Exception):
    """A call exceeded its time limit, and its process was killed."""


class _Process:
    """A spawned process, which ends with this object."""

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin)
        with _one_thread():
            first = self._pool.submit(os.getpid)  # starts the process
        self._number = first.result()

    def call(self, fn: Callable[..., Any], args: Any, kwargs: Any, timeout: float | None) -> Any:
        """Return the result; raise _TimeLimitError after `timeout` seconds, BrokenExecutor if the process dies."""
        future = self._pool.submit(fn, *args, **kwargs)
        try:
            return future.result(timeout)
        except TimeoutError:
            if future.done():  # raised by the call itself
                raise
            os.kill(self._number, getattr(signal, "SIGKILL", signal.SIGTERM))
            raise _TimeLimitError from None


def _begin() -> None:
    """Prepare a new process: it ignores Ctrl-C, ends with its parent, and reports no progress."""
    be_silent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """An environment for new processes in which libraries use one thread unless the user has set a number."""
    with _starting:
        unset = [name for name in _THREADS if name not in os.environ]
        os.environ.update(dict.fromkeys(unset, "1"))
        try:
            yield
        finally:
            for name in unset:
                os.environ.pop(name, None)
