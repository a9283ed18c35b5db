"""One task on many items, here or on any executor of concurrent.futures."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from colloc.support.checks import InputError, count, quoted
from colloc.support.interrupts import reraise_interrupt
from colloc.sweeps.processes import Processes

Task = Callable[[Any], Any]


def check_executor(executor: Any) -> Executor | int | None:
    """The executor, a number of processes, or None for this one; InputError for what is none."""
    if isinstance(executor, int) and not isinstance(executor, bool):
        return count("executor, a number of processes,", executor, at_least=1)
    if executor is None or callable(getattr(executor, "submit", None)):
        return executor
    raise InputError(
        "executor must be a number of processes, an executor of concurrent.futures such as a Dask client's "
        f"client.get_executor() or mpi4py's MPIPoolExecutor(), or None for this process; got {quoted(executor)}"
    )


@contextmanager
def working(executor: Executor | int | None, seconds: float | None = None) -> Iterator[Executor | None]:
    """The executor, processes of our own while they are needed, or None for this process."""
    if not isinstance(executor, int):
        yield executor
        return
    pool = Processes(executor, seconds)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def sent(task: Task, executor: Executor | None) -> Task | bytes:
    """A task as an executor's workers take it: threads have the object itself."""
    return task if executor is None or isinstance(executor, ThreadPoolExecutor) else pickle.dumps(task)


def results(task: Task, items: Sequence[Any], executor: Executor | None) -> Iterator[tuple[int, Any]]:
    """Number of every item and what the task makes of it, in the order in which they are done.

    What an executor itself fails with, such as a worker that died, comes in place of a result. Where the iteration ends
    early, what has not begun is cancelled.

    Parameters
    ----------
    task : callable
        Item -> result; pickled once, and opened once by every worker.
    items : sequence
    executor : Executor or None
        None works here, one item after another.
    """
    if executor is None:
        for number, item in enumerate(items):
            yield number, done(task, item)
        return
    what = sent(task, executor)
    futures: dict[Future[Any], int] = {}
    try:
        for number, item in enumerate(items):
            futures[executor.submit(done, what, item)] = number
        for future in as_completed(futures):
            error = future.exception()
            if isinstance(error, KeyboardInterrupt):
                raise error
            yield futures[future], future.result() if error is None else error
    finally:
        for future in futures:
            future.cancel()


@reraise_interrupt
def done(task: Task | bytes, item: Any) -> Any:
    """The result for an item, in a worker or here."""
    return (_opened(task) if isinstance(task, bytes) else task)(item)


@lru_cache(maxsize=2)
def _opened(content: bytes) -> Task:
    """A task in a worker, which keeps what it builds for one item for the next."""
    return pickle.loads(content)
