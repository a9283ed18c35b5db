"""Processes of our own: one that dies or hangs costs the item in its hands and no other."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any

from colloc.support.progress import be_silent

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # of libraries that would take every core
_starting = threading.Lock()


class Processes(Executor):
    """An executor of spawned processes, each with one thread for linear algebra.

    Parameters
    ----------
    count : int
    seconds : float, optional
        After which an item ends in a TimeoutError and its process is killed.

    Notes
    -----
    An item whose process dies is tried once more; then it ends in a BrokenExecutor. Ctrl-C is the parent's alone.
    """

    def __init__(self, count: int, seconds: float | None = None):
        self._seconds, self._waiting = seconds, queue.SimpleQueue[Any]()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(count)]
        self._closed = False
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future for the result of a call."""
        if self._closed:
            raise RuntimeError("these processes have been shut down")
        future: Future[Any] = Future()
        self._waiting.put((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes after what is waiting, or at once after what they are at."""
        self._closed = True
        while cancel_futures and not self._waiting.empty():
            self._waiting.get()[0].cancel()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _serve(self) -> None:
        """One process, and whatever takes its place."""
        process = _Process()
        while (work := self._waiting.get()) is not None:
            future, fn, args, kwargs = work
            if not future.set_running_or_notify_cancel():
                continue
            for last in (False, True):
                try:
                    future.set_result(process.call(fn, args, kwargs, self._seconds))
                except TimeoutError:
                    process = process.another()
                    future.set_exception(TimeoutError(f"no end within {self._seconds:g} s"))
                except BrokenExecutor:
                    process = process.another()
                    if not last:
                        continue
                    future.set_exception(BrokenExecutor("the process that was at it has died, twice"))
                except BaseException as error:
                    future.set_exception(error)
                break
        process.end()


class _Process:
    """One spawned process, which starts with its first call."""

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin)
        self._number: int | None = None

    def call(self, fn: Callable[..., Any], args: Any, kwargs: Any, seconds: float | None) -> Any:
        """The result; TimeoutError after so many seconds, BrokenExecutor where the process dies."""
        if self._number is None:
            with _one_thread():
                first = self._pool.submit(os.getpid)  # starts the process
            self._number = first.result()
        future = self._pool.submit(fn, *args, **kwargs)
        try:
            return future.result(seconds)
        except TimeoutError:
            if future.done():  # the call's own
                raise
            os.kill(self._number, getattr(signal, "SIGKILL", signal.SIGTERM))
            raise

    def another(self) -> _Process:
        """A new process in its place."""
        self.end()
        return _Process()

    def end(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    """In a new process: Ctrl-C is the parent's, whose death is its own; what it builds, all others do as well."""
    be_silent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """An environment for new processes in which libraries have one thread, where the user has not said how many."""
    with _starting:
        unset = [name for name in _THREADS if name not in os.environ]
        os.environ.update(dict.fromkeys(unset, "1"))
        try:
            yield
        finally:
            for name in unset:
                os.environ.pop(name, None)
