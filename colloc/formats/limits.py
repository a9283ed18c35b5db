"""Limits of joints that take the place of those in a file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

from colloc.model.body import Body
from colloc.support.checks import InputError, finite_number, mapping, pair, quoted, unknown_name

_QUANTITIES = ("position", "velocity", "acceleration", "torque")
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

    def of(self, joint: str, quantity: str, limits: tuple[float, float]) -> tuple[float, float]:
        """The limits of a joint, from those in the file."""
        return self._changed(f"limits {quantity} of {joint!r}", self._change(joint, quantity), limits)

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
        """Bodies with the new limits of their joints."""
        changed = []
        for body in bodies:
            joint, name = body.joint, body.joint.name or body.name
            limits = {quantity: self.of(name, quantity, getattr(joint.limits, quantity)) for quantity in self._changes}
            if joint.moves and (new := replace(joint.limits, **limits)) != joint.limits:
                body = replace(body, joint=replace(joint, limits=new))
            changed.append(body)
        self.check(body.joint.name or body.name for body in changed if body.joint.moves)
        return changed

    def check(self, joints: Iterable[str]) -> None:
        """InputError for joints that the file does not have."""
        known = list(joints)
        for value in self._changes.values():
            for joint in value if isinstance(value, Mapping) else ():
                if joint not in known:
                    raise unknown_name("joint that moves", joint, known)
