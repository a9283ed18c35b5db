"""What other threads than the main one compute ends with it.

Python raises KeyboardInterrupt in the main thread alone. And when it exits it kills the daemon threads that are left,
at their next step in Python: one that comes from CasADi, or that a solver has called at an iteration, is killed in C++,
which aborts the process.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 60.0  # s, that the exit waits: a user's function may never return


class _Began(threading.local):
    """The exceptions that the main thread had when this one began what it computes; None while it computes nothing."""

    known: tuple[object, ...] | None = None


class _Computations:
    """Those that run in other threads: no process exits before their end."""

    def __init__(self) -> None:
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
        """Tell them to end, and let no more begin."""
        with self._changed:
            self.leaving = True
            self._changed.wait_for(lambda: self._count == 0, _PATIENCE)


_began, _computations = _Began(), _Computations()
atexit.register(lambda: _computations.wait())  # those of this process, as below


def _alone() -> None:
    """A forked process has none of the threads."""
    global _computations
    _computations = _Computations()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)


def _in_main_thread() -> tuple[object, ...]:
    """The exception that the main thread handles, if any, and the last one that it did not."""
    handled: Any = sys._current_exceptions().get(threading.main_thread().ident or 0)
    if isinstance(handled, tuple):  # before Python 3.12: type, value, traceback
        handled = handled[1]
    return handled, getattr(sys, "last_exc", getattr(sys, "last_value", None))  # by its older name before Python 3.12


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def computing() -> Iterator[None]:
    """A context that the exit of Python waits for, and whose long work asks `must_end`.

    A KeyboardInterrupt of the main thread counts from its beginning, or from that of the one around it.
    """
    if _is_main() or _began.known is not None:
        yield
        return
    computations = _computations
    computations.begin()
    _began.known = _in_main_thread()
    try:
        yield
    finally:
        _began.known = None
        computations.end()


def must_end() -> bool:
    """Whether this is another thread than the main one, and the main one has ended or has been interrupted.

    A KeyboardInterrupt counts while the main thread handles it, as where it leaves a `with ThreadPoolExecutor()`, and
    once it has brought it back to its prompt or to its end.
    """
    if _is_main():
        return False
    known = _began.known or ()
    new = (one for one in _in_main_thread() if all(one is not other for other in known))
    return _computations.leaving or any(isinstance(one, KeyboardInterrupt) for one in new)


def end_if_told() -> None:
    """KeyboardInterrupt where this thread must end."""
    if must_end():
        raise KeyboardInterrupt
