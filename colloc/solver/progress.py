"""Progress of a solve: a line in a terminal, a bar in a notebook, or a function of the user."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from colloc.support.checks import InputError, function, quoted
from colloc.support.progress import in_notebook, tqdm_class

_PATIENCE = 1.0  # s; a faster solve shows nothing by default
_PAUSE = 0.1  # s between updates


class Iterate(NamedTuple):
    """One iteration of a solver.

    Parameters
    ----------
    number : int
        Counted from 0 in every run of a solver that tries several strategies.
    cost : float
    infeasibility : float
        Largest violation of a constraint, relative to its natural size.
    seconds : float
        Time since the run began.
    x : ndarray, shape (n_x,)
        Decision vector of the NLP.

    Examples
    --------
    >>> print(co.solver.Iterate(3, 0.5, 1e-4, 0.1, np.zeros(2)))
    cost 0.5   infeasibility 1.0e-04   0.1 s
    """

    number: int
    cost: float
    infeasibility: float
    seconds: float
    x: np.ndarray

    def __str__(self) -> str:
        return f"cost {self.cost:.8g}   infeasibility {self.infeasibility:.1e}   {self.seconds:.1f} s"


OnIteration = Callable[[Iterate], object]


def check_progress(progress: Any) -> None:
    """Raise InputError for anything but True, False, None or a function of the iteration."""
    if progress is None or isinstance(progress, bool | np.bool_):
        return
    if not callable(progress):
        raise InputError(f"progress must be True, False or a function of the iteration, got {quoted(progress)}")
    function("progress", progress, "a function of the iteration", "now")


@contextmanager
def displayed(progress: bool | OnIteration | None, round: int = 1) -> Iterator[OnIteration | None]:
    """A context with the callback for every iteration of a solve; None without display.

    The callback is a user's function, or updates a bar or a line; by default there is none without a terminal or
    notebook. From the second refinement iteration on, the display shows its number.
    """
    if callable(progress):
        yield progress
        return
    view, patience = None, _PATIENCE if progress is None else 0.0
    if progress is not False and in_notebook() and (bar := tqdm_class()) is not None:
        view = _Bar(bar, patience, round)
    elif sys.stderr.isatty() if progress is None else progress:
        view = _Line(patience, round)
    if view is None:
        yield None
        return
    try:
        yield view.show
    finally:
        view.close()


def _label(what: str, round: int) -> str:
    return what if round == 1 else f"round {round}, {what}"


class _Line:
    """An updating line on standard error for every run."""

    def __init__(self, patience: float, round: int):
        self._patience, self._last, self._label = patience, -np.inf, _label("iteration", round)

    def show(self, iterate: Iterate) -> None:
        if iterate.number == 0:
            self.close()
        if iterate.seconds > self._patience and iterate.seconds - self._last > _PAUSE:
            self._last = iterate.seconds
            sys.stderr.write(f"\r{f'{self._label} {iterate.number:5d}   {iterate}':<78}")
            sys.stderr.flush()

    def close(self) -> None:
        if self._last > 0:
            sys.stderr.write("\n")
        self._last = -np.inf


class _Bar:
    """A tqdm counter for every run, which notebooks draw as a bar."""

    def __init__(self, bar: Any, patience: float, round: int):
        self._label = _label("iterations", round)
        self._make, self._patience, self._last, self._bar = bar, patience, -np.inf, None

    def show(self, iterate: Iterate) -> None:
        if iterate.number == 0:
            self.close()
        if iterate.seconds <= self._patience or iterate.seconds - self._last <= _PAUSE:
            return
        self._last = iterate.seconds
        if self._bar is None:
            self._bar = self._make(desc=self._label, leave=False)
        self._bar.set_postfix_str(f"cost {iterate.cost:.6g}, infeasibility {iterate.infeasibility:.1e}", refresh=False)
        self._bar.update(iterate.number - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar, self._last = None, -np.inf
