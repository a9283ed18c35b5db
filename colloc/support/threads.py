"""Computations of other threads end with the main one.

Python raises KeyboardInterrupt in the main thread alone. And when it exits it kills the daemon threads that are left,
at their next step in Python: one that comes from CasADi, or that a solver has called at an iteration, is killed in C++,
which aborts the process.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_PATIENCE = 60.0  # s, that the exit waits: a user's function may never return


class _ExceptionsAtStart(threading.local):
    """The exceptions of the main thread when this thread began to compute; None while it computes nothing."""

    exceptions: tuple[object, ...] | None = None


class _Computations:
    """The computations of other threads than the main one: no process exits before their end."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, as a forked process does, which has no thread of its parent's but the one that forked."""
        self._changed = threading.Condition()
        self._count, self.leaving = 0, False

    def begin(self) -> None:
        with self._changed:
            if self.leaving:
                raise SystemExit  # of this thread
            self._count += 1

    def end(self) -> None:
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def wait(self) -> None:
        """Ask all of them to end, and let no more begin."""
        with self._changed:
            self.leaving = True
            self._changed.wait_for(lambda: self._count <= 0, _PATIENCE)


_start, _computations = _ExceptionsAtStart(), _Computations()
atexit.register(_computations.wait)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_computations.forget)


def _exceptions_of_main() -> tuple[object, ...]:
    """The exception that the main thread handles, if any, and the last one that it did not handle."""
    handled: Any = sys._current_exceptions().get(threading.main_thread().ident or 0)
    if isinstance(handled, tuple):  # before Python 3.12: type, value, traceback
        handled = handled[1]
    return handled, getattr(sys, "last_exc", getattr(sys, "last_value", None))  # by its older name before Python 3.12


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def tracked(function: Callable[P, T]) -> Callable[P, T]:
    """Let the exit of Python wait for a function, whose long work asks `stop_requested`.

    A KeyboardInterrupt of the main thread counts from the beginning of the outermost tracked function of the thread.
    The attribute `tracked` of the function is True.
    """

    @wraps(function)
    def tracking(*args: P.args, **kwargs: P.kwargs) -> T:
        if _is_main() or _start.exceptions is not None:
            return function(*args, **kwargs)
        _computations.begin()
        _start.exceptions = _exceptions_of_main()
        try:
            return function(*args, **kwargs)
        finally:
            _start.exceptions = None
            _computations.end()

    tracking.tracked = True  # pyright: ignore[reportAttributeAccessIssue]
    return tracking


def stop_requested() -> bool:
    """Whether this is another thread than the main one, and the main one has ended or has been interrupted.

    A KeyboardInterrupt counts while the main thread handles it, as where it leaves a `with ThreadPoolExecutor()`, and
    once it has brought it back to its prompt or to its end. Outside `tracked` functions the end alone counts: which
    interrupts are earlier is not known there.
    """
    if _is_main():
        return False
    if (earlier := _start.exceptions) is None:
        return _computations.leaving
    later = (error for error in _exceptions_of_main() if all(error is not before for before in earlier))
    return _computations.leaving or any(isinstance(error, KeyboardInterrupt) for error in later)


def raise_if_stopped() -> None:
    """Raise a KeyboardInterrupt where this thread must end."""
    if stop_requested():
        raise KeyboardInterrupt
