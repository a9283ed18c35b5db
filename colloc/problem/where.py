"""Where along the motion a constraint holds: during a part of it, at one moment, between its ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from colloc.support.checks import InputError, finite_number, pair, quoted

Place = TypeVar("Place", covariant=True)


class Places(Protocol[Place]):
    """What a discretised motion offers to constraints."""

    def during(self, window: Window) -> Sequence[Place]:
        """A part of the motion."""
        ...

    def moment(self, s: float) -> Place:
        """One normalised time."""
        ...

    def ends(self) -> Place:
        """Both ends at once."""
        ...

    def bounds(self, quantity: str, window: Window) -> Sequence[Place]:
        """A part of the motion, for bounds on a joint quantity: where bounds on variables do not see to them."""
        ...


class Window(NamedTuple):
    """A part of the motion, as fractions of its duration."""

    start: float = 0.0
    end: float = 1.0

    def places(self, grid: Places[Place]) -> Sequence[Place]:
        return grid.during(self)

    def __str__(self) -> str:
        return "along the path" if self == WHOLE else f"during s = {self.start:g} .. {self.end:g}"


class Moment(NamedTuple):
    """One time, as a fraction of the duration."""

    s: float

    def places(self, grid: Places[Place]) -> Sequence[Place]:
        return [grid.moment(self.s)]

    def __str__(self) -> str:
        return f"at s = {self.s:g}"


class Ends(NamedTuple):
    """The first and the last instant."""

    def places(self, grid: Places[Place]) -> Sequence[Place]:
        return [grid.ends()]

    def __str__(self) -> str:
        return "between the ends"


Where = Window | Moment | Ends

WHOLE = Window()


def window(name: str, during: Any) -> Window:
    """A part of the motion from a user's pair; InputError for anything else."""
    a, b = pair(name, during)
    a, b = finite_number(f"{name} start", a), finite_number(f"{name} end", b)
    if not 0 <= a <= b <= 1:
        raise InputError(f"{name} must satisfy 0 <= start <= end <= 1, got {quoted(during)}")
    return Window(a, b)
