"""Times at which a constraint holds: during a part of the motion, at one time, at both ends together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from colloc.support.checks import InputError, finite_number, pair, quoted

PointSet = TypeVar("PointSet", covariant=True)


class PointSets(Protocol[PointSet]):
    """Points of a discretised motion at which constraints hold."""

    def during(self, window: Window) -> Sequence[PointSet]:
        """A part of the motion."""
        ...

    def at(self, s: float) -> PointSet:
        """One normalised time."""
        ...

    def ends(self) -> PointSet:
        """Both ends at once."""
        ...

    def bounds(self, quantity: str, window: Window) -> Sequence[PointSet]:
        """Points for bounds on a joint quantity in a part of the motion that bounds on variables do not enforce."""
        ...


class Window(NamedTuple):
    """A part of the motion: times `where` a `Statement` holds.

    Parameters
    ----------
    start, end : float
        Fractions of the duration; by default the whole motion.

    Examples
    --------
    >>> str(co.problem.Window()), str(co.problem.Window(0.5, 1.0))
    ('along the path', 'during s = 0.5 .. 1')
    """

    start: float = 0.0
    end: float = 1.0

    @property
    def along(self) -> bool:
        """Whether rows hold during a part of the motion, and not at single times."""
        return True

    @property
    def moments(self) -> tuple[float, ...]:
        """Fractions of the duration at which it begins and ends, or of the single time."""
        return tuple(self)

    @property
    def instants(self) -> int:
        """Number of instants that rows are functions of."""
        return 1

    def covers(self, s: np.ndarray) -> np.ndarray:
        """Whether fractions of the duration lie inside, ndarray of bool."""
        return (s > self.start) & (s < self.end)

    def points(self, grid: PointSets[PointSet]) -> Sequence[PointSet]:
        """The points of a discretised motion at which rows hold."""
        return grid.during(self)

    def __str__(self) -> str:
        return "along the path" if self == WHOLE else f"during s = {self.start:g} .. {self.end:g}"


class TimePoint(NamedTuple):
    """One time `where` a `Statement` holds; attributes as those of `Window`.

    Parameters
    ----------
    s : float
        Fraction of the duration.

    Examples
    --------
    >>> str(co.problem.TimePoint(0.5))
    'at s = 0.5'
    """

    s: float

    @property
    def along(self) -> bool:
        return False

    @property
    def moments(self) -> tuple[float, ...]:
        return tuple(self)

    @property
    def instants(self) -> int:
        return 1

    def covers(self, s: np.ndarray) -> np.ndarray:
        return s == self.s

    def points(self, grid: PointSets[PointSet]) -> Sequence[PointSet]:
        return [grid.at(self.s)]

    def __str__(self) -> str:
        return f"at s = {self.s:g}"


class Ends(NamedTuple):
    """The first and the last instant together, `where` a `Statement` holds; attributes as those of `Window`.

    Examples
    --------
    >>> str(co.problem.Ends())
    'between the ends'
    """

    @property
    def along(self) -> bool:
        return False

    @property
    def moments(self) -> tuple[float, ...]:
        return 0.0, 1.0

    @property
    def instants(self) -> int:
        return 2

    def covers(self, s: np.ndarray) -> np.ndarray:
        return (s == 0) | (s == 1)

    def points(self, grid: PointSets[PointSet]) -> Sequence[PointSet]:
        return [grid.ends()]

    def __str__(self) -> str:
        return "between the ends"


TimeSet = Window | TimePoint | Ends

WHOLE = Window()


def window(name: str, during: Any) -> Window:
    """A part of the motion from a user's pair; InputError for anything else."""
    start, end = pair(name, during)
    start, end = finite_number(f"{name} start", start), finite_number(f"{name} end", end)
    if not 0 <= start <= end <= 1:
        raise InputError(f"{name} must satisfy 0 <= start <= end <= 1, got {quoted(during)}")
    return Window(start, end)
