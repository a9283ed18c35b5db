"""One task on many items, here or on any executor of concurrent.futures."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from functools import lru_cache
from typing import Any

from colloc.checks import InputError

Task = Callable[[Any], Any]


def check_executor(executor: Any) -> Executor | None:
    """The executor, or None for this process; InputError for what cannot submit."""
    if executor is None or callable(getattr(executor, "submit", None)):
        return executor
    raise InputError(
        "executor must be one of concurrent.futures, such as ProcessPoolExecutor(2), a Dask client's "
        f"client.get_executor(), mpi4py's MPIPoolExecutor(), or None for this process; got {executor!r}"
    )


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
            yield number, task(item)
        return
    # Threads have the objects themselves.
    sent = task if isinstance(executor, ThreadPoolExecutor) else pickle.dumps(task)
    futures: dict[Future[Any], int] = {}
    try:
        for number, item in enumerate(items):
            futures[executor.submit(_done, sent, item)] = number
        for future in as_completed(futures):
            error = future.exception()
            if isinstance(error, KeyboardInterrupt):
                raise error
            yield futures[future], future.result() if error is None else error
    finally:
        for future in futures:
            future.cancel()


def _done(task: Task | bytes, item: Any) -> Any:
    """In a worker: the result for an item."""
    return (_opened(task) if isinstance(task, bytes) else task)(item)


@lru_cache(maxsize=2)
def _opened(content: bytes) -> Task:
    """A task in a worker, which keeps what it builds for one item for the next."""
    return pickle.loads(content)
