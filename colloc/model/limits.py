"""Limits of a joint."""

from __future__ import annotations

import math
from dataclasses import dataclass

from colloc.support.checks import interval, pair, spelt

_FREE = (-math.inf, math.inf)


@spelt
@dataclass(frozen=True)
class Limits:
    """Limits of one joint, each (lower, upper); infinite where there is none.

    Parameters
    ----------
    position : [rad] or [m]
    velocity : [rad/s] or [m/s]
    torque : [N m] or [N]
    acceleration : [rad/s2] or [m/s2]

    Examples
    --------
    >>> knee = co.revolute(limits=co.Limits(position=(0.0, 2.4), torque=(-150.0, 150.0)))
    >>> knee.limits.velocity
    (-inf, inf)
    """

    position: tuple[float, float] = _FREE
    velocity: tuple[float, float] = _FREE
    torque: tuple[float, float] = _FREE
    acceleration: tuple[float, float] = _FREE

    def __post_init__(self):
        for name in ("position", "velocity", "torque", "acceleration"):
            lower, upper = interval(f"limits {name}", *pair(f"limits {name}", getattr(self, name)), ())
            object.__setattr__(self, name, (float(lower), float(upper)))
