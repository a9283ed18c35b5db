"""Computations of other threads end with the main one.

Python raises KeyboardInterrupt in the main thread only. When it exits, it kills the remaining daemon threads at their
next step in Python: one called from CasADi, or by a solver at an iteration, is killed in C++, which aborts the process.
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
    """The exceptions of the main thread at the start of this thread's computation; None without a computation."""

    exceptions: tuple[object, ...] | None = None


class _Computations:
    """The computations of other threads than the main one: the process exits after their end."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset, for a forked process, which has none of its parent's other threads."""
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
        """Ask all of them to end, and start no more."""
        with self._changed:
            self.leaving = True
            self._changed.wait_for(lambda: self._count <= 0, _PATIENCE)


_start, _computations = _ExceptionsAtStart(), _Computations()
atexit.register(_computations.wait)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_computations.forget)


def _exceptions_of_main() -> tuple[object, ...]:
    """The exception that the main thread handles, if any, and the last unhandled one."""
    handled: Any = sys._current_exceptions().get(threading.main_thread().ident or 0)
    if isinstance(handled, tuple):  # before Python 3.12: type, value, traceback
        handled = handled[1]
    return handled, getattr(sys, "last_exc", getattr(sys, "last_value", None))  # by its older name before Python 3.12


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def tracked(function: Callable[P, T]) -> Callable[P, T]:
    """Let the exit of Python wait for a function, which must check `stop_requested`.

    A KeyboardInterrupt of the main thread is noticed from the start of the thread's outermost tracked function on.
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

    A KeyboardInterrupt counts while the main thread handles it, as when it leaves a `with ThreadPoolExecutor()`, and
    after it has returned the thread to its prompt or ended it. Outside `tracked` functions only the end counts, as
    earlier interrupts cannot be distinguished there.
    """
    if _is_main():
        return False
    if (earlier := _start.exceptions) is None:
        return _computations.leaving
    later = (error for error in _exceptions_of_main() if all(error is not before for before in earlier))
    return _computations.leaving or any(isinstance(error, KeyboardInterrupt) for error in later)


def raise_if_stopped() -> None:
    """Raise a KeyboardInterrupt if this thread must end."""
    if stop_requested():
        raise KeyboardInterrupt
