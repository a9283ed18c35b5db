"""Ctrl-C that is not lost in long computations.

Python raises KeyboardInterrupt at any place: also in code that CasADi calls to convert an argument, and whose
exceptions it clears or takes for an argument of the wrong type. A computation would go on, or end in a meaningless
TypeError. Long functions are therefore decorated by `reraise_interrupt`, which raises the exception again at the end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

from colloc.support.threads import tracked

P = ParamSpec("P")
T = TypeVar("T")
Handler = Callable[[int, FrameType | None], object]


def handler() -> Handler | None:
    """The handler of Ctrl-C; None if it must not be changed.

    Python delivers signals to the main thread only. A process may ignore Ctrl-C, and a handler that is not Python's
    cannot be restored.
    """
    if threading.current_thread() is not threading.main_thread():
        return None
    current = signal.getsignal(signal.SIGINT)
    return current if callable(current) else None


class InterruptGuard:
    """A context at whose end a lost exception of the handler of Ctrl-C is raised again.

    Guards inside each other share the handler of the outermost, since a change of handlers takes as long as the
    computation of a small property.
    """

    def __enter__(self) -> None:
        self._raised: BaseException | None = None
        self._before = handler()
        owner = getattr(self._before, "__self__", None)
        # The handler of an outer guard is in place until its exception, which is then that of the guards inside too.
        self._handling = owner if isinstance(owner, InterruptGuard) else self
        if self._before is not None and self._handling is self:
            signal.signal(signal.SIGINT, self._handle)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._handling is self and self._before is not None and signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, self._before)
        raised = self._handling._raised
        if raised is not None and not isinstance(error, type(raised)):
            raise raised

    def _handle(self, number: int, frame: FrameType | None) -> None:
        assert self._before is not None
        # At once, since the exception may keep the context from being entered or left.
        signal.signal(signal.SIGINT, self._before)
        try:
            self._before(number, frame)
        except BaseException as error:
            self._raised = error
            raise


def reraise_interrupt(function: Callable[P, T]) -> Callable[P, T]:
    """Raise a lost KeyboardInterrupt at the end of a function; in other threads, end it with the main one."""

    @tracked
    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        with InterruptGuard():
            return function(*args, **kwargs)

    return guarded


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A context that Ctrl-C waits for; it must be short."""
    before = handler()
    if before is None:
        yield
        return
    presses: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: presses.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if presses:
            signal.raise_signal(signal.SIGINT)
