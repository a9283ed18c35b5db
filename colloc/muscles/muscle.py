"""One muscle: its path and the numbers of its fibers and tendon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, pi
from typing import Any

import casadi as ca

from colloc.dynamics.instant import Instant
from colloc.muscles.curves import OPENSIM, MuscleCurves
from colloc.support.checks import (
    InputError,
    finite_number,
    function,
    instance,
    not_negative,
    spelt,
    symbolic,
    text,
    warn,
)
from colloc.support.display import entries, short
from colloc.support.pickling import Portable


@spelt
@dataclass(frozen=True, eq=False)
class Muscle(Portable):
    """A muscle of Hill's type: a contractile fiber parallel to an elastic one, in series with a tendon.

    Parameters
    ----------
    name : str
    path : callable
        Length from origin to insertion as a function of the instant, SX, scalar [m]: a `MusclePath`, a
        `LengthPolynomial`, or your own function of positions alone.
    max_isometric_force : float or SX [N]
    optimal_fiber_length, tendon_slack_length : float or SX [m]
    pennation : float or SX [rad]
        Angle between fibers and tendon at the optimal fiber length; the thickness of the muscle is constant.
    max_velocity : float [1/s]
        Of shortening, in optimal fiber lengths.
    damping : float
        Additional force of the fiber at the maximal velocity, in maximal isometric forces; keeps equations regular
        where the curves give no force.
    activation_time, deactivation_time : float [s]
    slow_fraction : float
        Share of slow-twitch fibers, 0 to 1, for metabolic rates.
    specific_tension : float [Pa]
        Isometric force per cross-section, for the muscle's mass.
    curves : MuscleCurves

    See Also
    --------
    Muscles

    Examples
    --------
    >>> origin = co.muscles.ViaPoint(None, (0.0, 0.05, 0.0))
    >>> insertion = co.muscles.ViaPoint("elbow", (-0.35, 0.02, 0.0))
    >>> biceps = co.muscles.Muscle("biceps", co.muscles.MusclePath([origin, insertion]), 435.6, 0.1157, 0.2723)
    """

    name: str
    path: Callable[[Instant], ca.SX]
    max_isometric_force: Any
    optimal_fiber_length: Any
    tendon_slack_length: Any
    pennation: Any = 0.0
    max_velocity: float = 10.0
    damping: float = 0.01
    activation_time: float = 0.015
    deactivation_time: float = 0.060
    slow_fraction: float = 0.5
    specific_tension: float = 0.25e6
    curves: MuscleCurves = OPENSIM

    def __post_init__(self):
        text("name of a muscle", self.name)
        function(f"path of muscle {self.name!r}", self.path, "a function of the instant", "now")
        instance(f"curves of muscle {self.name!r}", self.curves, MuscleCurves)
        for name in ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation"):
            what = f"{name} of muscle {self.name!r}"
            value = symbolic(what, getattr(self, name), (1, 1))
            if value.is_constant():
                value = finite_number(what, float(value), positive=name not in ("pennation", "tendon_slack_length"))
            object.__setattr__(self, name, value)
        if isinstance(self.pennation, float) and not 0 <= self.pennation < pi / 2:
            raise InputError(
                f"pennation of muscle {self.name!r} must be from 0 to below pi/2 rad, got {self.pennation:g}: degrees?"
            )
        if isinstance(self.tendon_slack_length, float):  # none, in some files
            not_negative(f"tendon_slack_length of muscle {self.name!r}", self.tendon_slack_length)
        for name in ("max_velocity", "activation_time", "deactivation_time", "specific_tension"):
            value = finite_number(f"{name} of muscle {self.name!r}", getattr(self, name), positive=True)
            object.__setattr__(self, name, value)
        for name, most in (("damping", inf), ("slow_fraction", 1.0)):
            value = not_negative(f"{name} of muscle {self.name!r}", getattr(self, name), at_most=most)
            object.__setattr__(self, name, value)

        for name in ("activation_time", "deactivation_time"):
            if (seconds := getattr(self, name)) > 1.0:
                warn(f"{name} of muscle {self.name!r} is {short(seconds)} s: milliseconds?")

    def __repr__(self) -> str:
        numbers = self.max_isometric_force, self.optimal_fiber_length, self.tendon_slack_length
        force, fiber, slack = (entries(ca.SX(number)) for number in numbers)
        return f"Muscle({self.name!r}, {force} N, fiber {fiber} m, tendon {slack} m)"
