"""A line that shows how far a long run is: tqdm's bar where that is installed, in notebooks too, else a plain one."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

_EVERY = 0.1  # s between two updates


class Progress:
    """A bar on standard error, for use in a `with`; shown in terminals and notebooks, or as said.

    Parameters
    ----------
    total : int
    label : str
    shown : bool, optional
        Whether it is shown; by default where standard error is a terminal or tqdm a notebook's.
    """

    def __init__(self, total: int, label: str, shown: bool | None):
        self._total, self._label, self._count, self._at = total, label, 0, 0.0
        interactive = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._shown = interactive if shown is None else shown
        self._bar: Any = None
        if self._shown:
            try:
                from tqdm.auto import tqdm  # pyright: ignore[reportMissingModuleSource, reportMissingImports]
            except ImportError:
                return
            self._bar = tqdm(total=total, desc=label, leave=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._shown and self._at:
            sys.stderr.write("\n")

    def step(self, words: str = "") -> None:
        """One more is done; a few words on what it brought."""
        self._count += 1
        if self._bar is not None:
            self._bar.set_postfix_str(words, refresh=False)
            self._bar.update()
        elif self._shown and (time.monotonic() - self._at > _EVERY or self._count == self._total):
            self._at = time.monotonic()
            sys.stderr.write(f"\r{f'{self._label}: {self._count} of {self._total}   {words}':<78}")
            sys.stderr.flush()
