"""Limits of a joint."""

from __future__ import annotations

import math
from dataclasses import dataclass

from colloc.checks import InputError, interval

_FREE = (-math.inf, math.inf)


@dataclass(frozen=True)
class Limits:
    """Limits of one joint, each (lower, upper); infinite where there is none.

    Parameters
    ----------
    position : [rad] or [m]
    velocity : [rad/s] or [m/s]
    torque : [N m] or [N]
    acceleration : [rad/s2] or [m/s2]
    """

    position: tuple[float, float] = _FREE
    velocity: tuple[float, float] = _FREE
    torque: tuple[float, float] = _FREE
    acceleration: tuple[float, float] = _FREE

    def __post_init__(self):
        for name in ("position", "velocity", "torque", "acceleration"):
            try:
                lower, upper = getattr(self, name)
            except (TypeError, ValueError):
                raise InputError(f"limits {name} must be (lower, upper), got {getattr(self, name)!r}") from None
            interval(f"limits {name}", lower, upper)
