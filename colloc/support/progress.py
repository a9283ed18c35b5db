"""Progress of long runs on standard error: announcements, and bars of tqdm or lines."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

_EVERY = 0.1  # s between two updates
_SPOKEN_OF = 2.0  # s that a step takes, of which a word is said before it begins
_silent: ContextVar[bool] = ContextVar("silent", default=False)

P = ParamSpec("P")
T = TypeVar("T")


def announce(step: str, seconds: float) -> None:
    """Write a line on standard error before a step that takes some seconds on an idle machine; none for a short one."""
    if hasattr(os, "getloadavg"):  # others have their share of a busy one
        seconds *= max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    if seconds >= _SPOKEN_OF and not _silent.get():
        print(f"colloc: {step}, about {seconds:.0f} s", file=sys.stderr, flush=True)


def be_silent() -> None:
    """Turn announcements off in this thread."""
    _silent.set(True)


def silent_without_progress(function: Callable[P, T]) -> Callable[P, T]:
    """A function that announces nothing if its argument `progress` is False."""

    @wraps(function)
    def quieter(*args: P.args, **kwargs: P.kwargs) -> T:
        before = _silent.set(_silent.get() or kwargs.get("progress") is False)
        try:
            return function(*args, **kwargs)
        finally:
            _silent.reset(before)

    return quieter


def in_notebook() -> bool:
    """Whether a kernel of Jupyter's runs this."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def tqdm_class() -> Any:
    """The bar of tqdm for a notebook or a terminal; None unless tqdm is installed."""
    try:
        from tqdm.auto import tqdm  # an extra  # pyright: ignore[reportMissingModuleSource]
    except ImportError:
        return None
    return tqdm


class Progress:
    """A bar on standard error, for use in a `with`; shown in terminals and notebooks by default."""

    def __init__(self, total: int, label: str, shown: bool | None):
        self._total, self._label, self._count, self._at = total, label, 0, 0.0
        self._shown = sys.stderr.isatty() or in_notebook() if shown is None else shown
        make = tqdm_class() if self._shown else None
        self._bar = make and make(total=total, desc=label, leave=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._shown and self._at:
            sys.stderr.write("\n")

    def step(self, words: str = "", count: int = 1) -> None:
        """Advance by one or more, with a few words on the result."""
        self._count += count
        if self._bar is not None:
            self._bar.set_postfix_str(words, refresh=False)
            self._bar.update(count)
        elif self._shown and (time.monotonic() - self._at > _EVERY or self._count == self._total):
            self._at = time.monotonic()
            sys.stderr.write(f"\r{f'{self._label}: {self._count} of {self._total}   {words}':<78}")
            sys.stderr.flush()
