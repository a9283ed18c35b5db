"""Ctrl-C that is not lost on the way.

Python raises KeyboardInterrupt wherever it happens to be: also in code that CasADi has called, to see how an argument
could be converted, and whose exceptions it clears or takes for an argument of the wrong type. A computation would go
on, or end in a TypeError that tells nothing. At the end of what is `heeded` the exception is raised again.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

from colloc.support.threads import computing

P = ParamSpec("P")
T = TypeVar("T")
Handler = Callable[[int, FrameType | None], object]


def handler() -> Handler | None:
    """What handles Ctrl-C here; None where it is not for us to change.

    Python delivers signals to the main thread alone. A process may ignore Ctrl-C, and a handler that is not Python's
    could not be put back.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    found = signal.getsignal(signal.SIGINT)
    return found if callable(found) else None


class Heeded:
    """A context at whose end an exception is raised that the handler of Ctrl-C has raised in it, if it got lost."""

    def __enter__(self) -> None:
        self._raised: BaseException | None = None
        self._before = handler()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._handle)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._before is not None and signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, self._before)
        if self._raised is not None and not isinstance(error, type(self._raised)):
            raise self._raised

    def _handle(self, number: int, frame: FrameType | None) -> None:
        assert self._before is not None
        # At once, since the exception may keep the context from being entered or left.
        signal.signal(signal.SIGINT, self._before)
        try:
            self._before(number, frame)
        except BaseException as error:
            self._raised = error
            raise


def heeded(function: Callable[P, T]) -> Callable[P, T]:
    """A function during which Ctrl-C is not lost."""

    @wraps(function)
    def heeding(*args: P.args, **kwargs: P.kwargs) -> T:
        with Heeded(), computing():
            return function(*args, **kwargs)

    return heeding


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A context that Ctrl-C waits for: short, since nobody can end it before."""
    before = handler()
    if before is None:
        yield
        return
    asked: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: asked.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if asked:
            signal.raise_signal(signal.SIGINT)
