"""The seconds of a call by its parts, which add up to the whole."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_REST = "other"


class _Stopwatch:
    """The seconds of a call, with one part running at a time."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.within: dict[str, float] = {}  # of a part, and so no part
        self.running, self.whole = _REST, False
        self.begin = self._since = time.perf_counter()

    def run(self, part: str, *, whole: bool) -> None:
        """Start another part, and pause the running one."""
        now = time.perf_counter()
        self.spent[self.running] = self.spent.get(self.running, 0.0) + now - self._since
        self._since, self.running, self.whole = now, part, whole


_watch: ContextVar[_Stopwatch | None] = ContextVar("watch", default=None)


@contextmanager
def seconds_of_call() -> Iterator[dict[str, float]]:
    """The seconds of a call by part, filled in at its end: at least "build" and "solve", and "call", the sum.

    with seconds_of_call() as seconds:
        ...                             # with part("build"): ...
    """
    watch, seconds = _Stopwatch(), {"build": 0.0, "solve": 0.0}
    token = _watch.set(watch)
    try:
        yield seconds
    finally:
        _watch.reset(token)
        watch.run(_REST, whole=False)
        rest = watch.spent.pop(_REST)
        seconds |= {**watch.spent, _REST: rest, **watch.within, "call": time.perf_counter() - watch.begin}


@contextmanager
def part(name: str, *, whole: bool = False) -> Iterator[None]:
    """A part of the running call, if any; parts within it are counted separately, unless it is whole."""
    watch = _watch.get()
    if watch is None or watch.whole:
        yield
        return
    outer = watch.running
    watch.run(name, whole=whole)
    try:
        yield
    finally:
        watch.run(outer, whole=False)


def note_within(name: str, seconds: float) -> None:
    """Note seconds that some functions have taken within the running part, unless that is whole."""
    watch = _watch.get()
    if watch is not None and not watch.whole:
        watch.within[name] = watch.within.get(name, 0.0) + seconds
