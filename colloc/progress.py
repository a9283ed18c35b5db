"""A line that shows how far a long run is: tqdm's bar where that is installed, in notebooks too, else a plain one."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

_EVERY = 0.1  # s between two updates


def in_notebook() -> bool:
    """Whether a kernel of Jupyter's runs this."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def tqdm_class() -> Any:
    """The bar of tqdm's that suits the place; None unless tqdm is installed."""
    try:
        from tqdm.auto import tqdm  # an extra  # pyright: ignore[reportMissingModuleSource]
    except ImportError:
        return None
    return tqdm


class Progress:
    """A bar on standard error, for use in a `with`; shown in terminals and notebooks, or as said.

    Parameters
    ----------
    total : int
    label : str
    shown : bool, optional
        Whether it is shown; by default in terminals and notebooks.
    """

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
        """One more is done, or several, or need not be; a few words on what it brought."""
        self._count += count
        if self._bar is not None:
            self._bar.set_postfix_str(words, refresh=False)
            self._bar.update(count)
        elif self._shown and (time.monotonic() - self._at > _EVERY or self._count == self._total):
            self._at = time.monotonic()
            sys.stderr.write(f"\r{f'{self._label}: {self._count} of {self._total}   {words}':<78}")
            sys.stderr.flush()
