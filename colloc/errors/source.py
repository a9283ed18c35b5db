"""Sources of error, and the error of a motion by source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from colloc.support.display import short
from colloc.support.lazy import cached_property
from colloc.support.stopwatch import part


@dataclass(frozen=True, eq=False)
class Source:
    """A source of error: one way in which a grid can be too coarse for a motion.

    Parameters
    ----------
    per_interval : ndarray, shape (intervals,)
        Relative error on every interval.
    total : float
        Relative error of the whole motion.
    adds_up : bool
        Whether the totals of phases are added for a motion in phases; otherwise the largest counts.
    sentence : str
        Effect of this error, for messages; {total} is replaced by the error of the whole motion, {share} by its
        percentage.

    Examples
    --------
    >>> cost = solution.error["cost"]
    >>> cost.adds_up, cost.per_interval.shape == (solution.curve.basis.intervals,)
    (True, True)
    """

    per_interval: np.ndarray
    total: float
    adds_up: bool
    sentence: str

    @property
    def judged_alone(self) -> bool:
        """Whether this source is judged by itself, instead of in the sum of all sources."""
        return False

    def aim(self, tol: float) -> float:
        """The error at which refinement aims: the tolerance, or less where an answer may miss the aim."""
        return tol

    @property
    def worst(self) -> int:
        """The interval with the largest error."""
        return int(self.per_interval.argmax())

    def described(self, t: np.ndarray) -> str:
        """The sentence with numbers, and the place of the largest error; t has the ends of the intervals [s]."""
        share = f"{self.total:.1%}" if self.total >= 1e-3 else f"{short(self.total)} of its size"
        return f"{self.sentence.format(total=short(self.total), share=share)} (most in {self.place(t)})"

    def place(self, t: np.ndarray) -> str:
        """The interval with the largest error, as text."""
        k = self.worst
        return f"interval {k}, t = {short(t[k])} .. {short(t[k + 1])} s"

    def joined(self, later: Sequence[Self]) -> Self:
        """The error of a motion in phases, from this phase and the phases that follow."""
        phases = (self, *later)
        totals = [phase.total for phase in phases]
        per_interval = np.concatenate([phase.per_interval for phase in phases])
        return replace(self, per_interval=per_interval, total=sum(totals) if self.adds_up else max(totals))


@dataclass(frozen=True, eq=False)
class Deferred:
    """A source of error that is measured on first use: the distance from the best can take as long as a solve.

    Parameters
    ----------
    measure : callable
        Function that returns the source.
    """

    measure: Callable[[], Source]

    @cached_property
    def source(self) -> Source:
        """The source, measured once."""
        with part("judge"):
            return self.measure()

    def __reduce__(self) -> tuple[Any, ...]:
        # Measured sources are pickled; others are not, as they belong to this process.
        return (_measured, (self.source,)) if "source" in vars(self) else (Deferred, (self.measure,))


def _measured(source: Source) -> Deferred:
    deferred = Deferred(lambda: source)
    _ = deferred.source
    return deferred
