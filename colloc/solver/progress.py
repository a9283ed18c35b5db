"""What a user sees of a solve while it runs: a line in a terminal, a bar in a notebook, or a function of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from colloc.support.checks import InputError, function, quoted
from colloc.support.progress import in_notebook, tqdm_class

_PATIENCE = 1.0  # s; a quicker solve shows nothing unless asked to
_PAUSE = 0.1  # s between two looks


class Step(NamedTuple):
    """One iteration of a solver.

    Parameters
    ----------
    number : int
        Counted from 0.
    cost : float
    infeasibility : float
        Largest violation of a constraint, relative to its natural size.
    seconds : float
        Since the run began.
    x : ndarray
        Decision vector of the NLP.
    """

    number: int
    cost: float
    infeasibility: float
    seconds: float
    x: np.ndarray

    def __str__(self) -> str:
        return f"cost {self.cost:.8g}   infeasibility {self.infeasibility:.1e}   {self.seconds:.1f} s"


Told = Callable[[Step], object]
Asked = bool | Told | None  # as users ask for progress


def check_progress(progress: Any) -> None:
    """InputError for anything but True, False, None or a function of the iteration."""
    if progress is None or isinstance(progress, bool | np.bool_):
        return
    if not callable(progress):
        raise InputError(f"progress must be True, False or a function of the iteration, got {quoted(progress)}")
    function("progress", progress, "a function of the iteration", "now")


class Shown(Protocol):
    """Who is told of every iteration."""

    def tell(self, step: Step) -> None: ...

    def close(self) -> None: ...


def shown(progress: Asked, round: int = 1) -> Shown | None:
    """Who is told; nobody where that is not asked for, and where there is neither a terminal nor a notebook.

    From its second round on a refinement says which one it is.
    """
    if callable(progress):
        return _Own(progress)
    patience = _PATIENCE if progress is None else 0.0
    if progress is not False and in_notebook() and (bar := tqdm_class()) is not None:
        return _Bar(bar, patience, round)
    return _Line(patience, round) if (sys.stderr.isatty() if progress is None else progress) else None


def _label(what: str, round: int) -> str:
    return what if round == 1 else f"round {round}, {what}"


class _Own:
    """A user's function."""

    def __init__(self, fn: Told):
        self._fn = fn

    def tell(self, step: Step) -> None:
        self._fn(step)

    def close(self) -> None:
        pass


class _Line:
    """One updating line on standard error."""

    def __init__(self, patience: float, round: int):
        self._patience, self._last, self._label = patience, -np.inf, _label("iteration", round)

    def tell(self, step: Step) -> None:
        if step.seconds > self._patience and step.seconds - self._last > _PAUSE:
            self._last = step.seconds
            sys.stderr.write(f"\r{f'{self._label} {step.number:5d}   {step}':<78}")
            sys.stderr.flush()

    def close(self) -> None:
        if self._last > 0:
            sys.stderr.write("\n")


class _Bar:
    """A counter of tqdm's, which notebooks draw themselves."""

    def __init__(self, bar: Any, patience: float, round: int):
        self._label = _label("iterations", round)
        self._make, self._patience, self._last, self._bar = bar, patience, -np.inf, None

    def tell(self, step: Step) -> None:
        if step.seconds <= self._patience or step.seconds - self._last <= _PAUSE:
            return
        self._last = step.seconds
        if self._bar is None:
            self._bar = self._make(desc=self._label, leave=False)
        self._bar.set_postfix_str(f"cost {step.cost:.6g}, infeasibility {step.infeasibility:.1e}", refresh=False)
        self._bar.update(step.number - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
