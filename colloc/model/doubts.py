"""What a model may say, but hardly anybody means: other units than SI, gravity that pulls upwards."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from colloc.support.checks import warn
from colloc.support.display import short

_HEAVY = 100.0  # m/s2, of the gravity on no planet
_LONG = 50.0  # m, which few machines measure


def check_units(model: Any) -> None:
    """InputWarning for gravity that points upwards, and for gravity and lengths that are hardly in SI units."""
    _check_gravity(model.gravity)
    for body in model.bodies:
        length, what = max(_lengths(body))
        if length > _LONG:
            warn(
                f"body {body.name!r} has {what} {short(length)} m: millimetres? lengths are in m, masses in kg, "
                "inertias in kg m2"
            )
            return


def _check_gravity(gravity: np.ndarray) -> None:
    words = f"gravity ({', '.join(map(short, gravity))})"
    if (size := float(np.linalg.norm(gravity))) > _HEAVY:
        warn(f"{words} is {short(size)} m/s2, more than on any planet: cm/s2? on Earth it is 9.81 m/s2")
    for axis, pull in zip("yz", gravity[1:].tolist(), strict=True):
        if pull > 0 and np.count_nonzero(gravity) == 1:
            down = tuple(-np.abs(gravity).round(6))
            down = ", ".join(short(value + 0.0) for value in down)
            warn(
                f"{words} pulls along +{axis}: upwards? it is the acceleration of falling bodies, ({down}) where "
                f"{axis} points up"
            )


def _lengths(body: Any) -> list[tuple[float, str]]:
    """Lengths that a body is made of, as far as they are numbers [m]."""
    lengths = [(0.0, "")]
    if body.com.is_constant():
        lengths.append((_norm(body.com), "a centre of mass off its frame by"))
    for transform in (body.joint.before, body.joint.after):
        if transform.is_constant():
            lengths.append((_norm(transform[:3, 3]), "a link frame off its joint by"))
    if body.inertia.is_constant() and body.mass.is_constant() and float(body.mass) > 0:
        largest = np.linalg.eigvalsh(np.array(ca.DM(body.inertia))).max()
        lengths.append((float(np.sqrt(largest / float(body.mass))), "a radius of gyration of"))
    return lengths


def _norm(vector: ca.SX) -> float:
    return float(np.linalg.norm(np.array(ca.DM(vector))))
