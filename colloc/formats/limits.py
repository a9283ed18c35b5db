"""Limits of joints that take the place of those in a file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from numbers import Real
from typing import Any
from xml.etree.ElementTree import Element

from colloc.formats.xml import wrong
from colloc.model.body import Body
from colloc.model.joint import Limits
from colloc.support.checks import InputError, finite_number, mapping, pair, quoted, unknown_name

_QUANTITIES = tuple(field.name for field in fields(Limits))
_NO_LIMIT = -math.inf, math.inf


class NewLimits:
    """Limits that replace, scale or lift those of a file.

    Parameters
    ----------
    limits : mapping of str to value, or of str to mapping of joint to value
        By quantity, for all joints or by joint: (lower, upper), a factor, or None for no limit.
    """

    def __init__(self, limits: Mapping[str, Any] | None):
        self._changes: dict[str, Any] = dict(mapping("limits", limits))
        for quantity, value in self._changes.items():
            if quantity not in _QUANTITIES:
                raise unknown_name("quantity of limits", quantity, _QUANTITIES)
            for joint, one in value.items() if isinstance(value, Mapping) else [("", value)]:
                self._changed(f"limits {quantity}{f' of {joint!r}' if joint else ''}", one, _NO_LIMIT)

    def replaces(self, joint: str, quantity: str) -> bool:
        """Whether the file's limits of a joint do not matter."""
        return not isinstance(self._change(joint, quantity), Real)

    def _change(self, joint: str, quantity: str) -> Any:
        change = self._changes.get(quantity, 1.0)
        return change.get(joint, 1.0) if isinstance(change, Mapping) else change

    def _changed(self, name: str, change: Any, limits: tuple[float, float]) -> tuple[float, float]:
        if change is None:
            return _NO_LIMIT
        if isinstance(change, Real) and not isinstance(change, bool):
            factor = finite_number(f"factor of {name}", change, positive=True)
            return factor * limits[0], factor * limits[1]
        if not isinstance(change, tuple | list):
            raise InputError(f"{name} must be (lower, upper), a factor, or None for no limit, got {quoted(change)}")
        return pair(name, change)

    def applied(self, bodies: Iterable[Body]) -> list[Body]:
        """Bodies with the new limits of their joints; InputError for joints that the file does not have."""
        changed = [self._with_limits(body) for body in bodies]
        known = [body.joint.name or body.name for body in changed if body.joint.moves]
        for value in self._changes.values():
            for joint in value if isinstance(value, Mapping) else ():
                if joint not in known:
                    raise unknown_name("joint that moves", joint, known)
        return changed

    def _with_limits(self, body: Body) -> Body:
        joint, name = body.joint, body.joint.name or body.name
        limits = {
            quantity: self._changed(
                f"limits {quantity} of {name!r}", self._change(name, quantity), getattr(joint.limits, quantity)
            )
            for quantity in self._changes
        }
        new = replace(joint.limits, **limits)
        return body if new == joint.limits or not joint.moves else replace(body, joint=replace(joint, limits=new))


class Exchanged:
    """Limits in a file with the lower above the upper one, collected so that one error names all."""

    def __init__(self):
        self._others: dict[str, dict[str, tuple[float, float] | None]] = {}
        self._first: tuple[Element, str] | None = None

    def without(
        self, limits: Mapping[str, tuple[float, float]], joint: str, element: Element
    ) -> dict[str, tuple[float, float]]:
        """The limits of a joint but for exchanged ones, which are kept here."""
        for quantity, (lower, upper) in limits.items():
            if lower > upper:
                ends, said = (upper, lower), f"are exchanged, lower={lower:g}, upper={upper:g}"
                if quantity != "position":  # of which a file has one number
                    ends, said = None, f"are {upper:g}, and below zero"
                self._others.setdefault(quantity, {})[joint] = ends
                self._first = self._first or (element, f"{quantity} limits of joint {joint!r} {said}")
        return {quantity: (lower, upper) for quantity, (lower, upper) in limits.items() if lower <= upper}

    def check(self) -> None:
        """InputError with the argument that replaces all exchanged limits, if there are any."""
        if self._first is None:
            return
        element, message = self._first
        more = sum(map(len, self._others.values())) - 1
        rest = f" ({more} more are wrong)" if more else ""
        raise wrong(element, f"{message}{rest}: give others, as in limits={self._others}")


@contextmanager
def replaceable(quantity: str, joint: str) -> Iterator[None]:
    """A context in which an error names the argument without which a limit is read."""
    try:
        yield
    except InputError as error:
        message, line = (*str(error).split(" (line ", 1), "")[:2]
        hint = f"; limits={{{quantity!r}: {{{joint!r}: None}}}} does without it"
        raise InputError(message + hint + (f" (line {line}" if line else "")) from None
