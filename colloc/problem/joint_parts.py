"""Parts that act at joints: springs with dampers, torques over a cycle, and ideal motors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.problem.part import Contribution, Part
from colloc.problem.signal import Signal
from colloc.problem.unknowns import Parameter, Unknown
from colloc.support.checks import (
    InputError,
    as_tuple,
    choice,
    finite_number,
    function,
    interval,
    not_negative,
    pair,
    shortened,
    spelt,
    text,
    unknown_name,
)

_SPRING = "spring"  # the name of springs without one


@spelt
@dataclass(frozen=True, eq=False)
class Spring(Part):
    """A spring and a damper at a joint: a prosthesis, an orthosis, a passive exoskeleton, soft tissue.

    The torque is stiffness times (rest - position) less damping times velocity. Each of these numbers may be an unknown
    constant of the problem, or a parameter that changes between solves. The spring of an orthosis or a stop acts on one
    side of its rest position only.

    Parameters
    ----------
    joint : str
    stiffness : float, Unknown or Parameter [N m/rad, N/m]
    rest : float, Unknown or Parameter [rad, m]
        Position at which the spring is slack.
    damping : float, Unknown or Parameter [N m s/rad, N s/m]
    name : str
        Such as "orthosis". The torque of a spring with a name of its own is a signal, which figures and files show:
        "orthosis at ankle".
    side : {"both", "above", "below"}
        Positions at which the spring acts: all, or those above or below rest. The damper always acts.
    width : float [rad, m]
        Of the smooth transition at rest of a spring on one side. There its torque is stiffness times half the width in
        place of zero; at x beyond rest it is larger by about width squared over 4 x, times stiffness.
    unit : str
        Of the signal: "N" where the joint slides.

    See Also
    --------
    Passive, Motors, Assist

    Examples
    --------
    >>> spring = co.Unknown("k", lower=1.0, upper=100.0, constant=True)  # N m/rad
    >>> parts = [co.Spring("elbow", stiffness=spring, rest=-1.5), co.Motors(["shoulder", "elbow"])]
    >>> effort = co.integral(lambda now: ca.sumsqr(now.motor))
    >>> turn = co.Problem(two_link(), 1.0, effort, problem.subject_to[:2], parts=parts)
    >>> solution = co.solve(turn, co.BSpline(20))
    >>> solution.constants["k"].round(1)
    array([1.7])
    """

    joint: str
    stiffness: Any = 0.0
    rest: Any = 0.0
    damping: Any = 0.0
    name: str = _SPRING
    side: str = "both"
    width: float = 0.02
    unit: str = "N m"

    def __post_init__(self):
        text("joint of a spring", self.joint)
        text("name of a spring", self.name)
        checks = {"stiffness": not_negative, "rest": finite_number, "damping": not_negative}
        _check_constants(self, f"the {self.name} at joint {self.joint!r}", checks)
        choice("side of a spring", self.side, ("both", "above", "below"))
        finite_number("width of a spring", self.width, positive=True)

    def __repr__(self) -> str:
        side = "" if self.side == "both" else f", side={self.side!r}"
        return f"Spring({self.joint!r}, stiffness={self.stiffness}, rest={self.rest}, damping={self.damping}{side})"

    def contribution(self) -> Contribution:
        """Its numbers that are unknowns or parameters, and its torque as a signal if it has a name."""
        added = _constants_of(self.stiffness, self.rest, self.damping)
        if self.name == _SPRING:
            return added
        signal = Signal(f"{self.name} at {self.joint}", self._torque, names=(self.joint,), unit=self.unit)
        return replace(added, signals=[signal])

    def torques(self, now: Instant) -> dict[str, ca.SX]:
        return {self.joint: self._torque(now)}

    def _torque(self, now: Instant) -> ca.SX:
        if self.joint not in now.model.joint_names:
            raise unknown_name(f"joint that moves (of a {self.name})", self.joint, now.model.joint_names)
        if self.joint not in now.model.position_names:
            raise InputError(f"joint {self.joint!r} is on a quaternion: a spring needs a joint with one coordinate")
        q, qd = now.q[now.model.position_names.index(self.joint)], now.qd[now.model.joint_names.index(self.joint)]
        stiffness, rest, damping = (_at(now, number) for number in (self.stiffness, self.rest, self.damping))
        stretch = rest - q
        if self.side != "both":
            sign = 1.0 if self.side == "below" else -1.0
            stretch = sign * (sign * stretch + ca.sqrt(stretch**2 + self.width**2)) / 2
        return stiffness * stretch - damping * qd


@spelt
@dataclass(frozen=True, eq=False)
class Assist(Part):
    """A torque at a joint that rises and falls once in every cycle: the motor of an exoskeleton, the cable of a suit.

    From zero at `time` - `rise` it rises to `peak` at `time`, and falls to zero at `time` + `fall`, with continuous
    second derivatives. These are the four numbers that Zhang et al. (2017, "Human-in-the-loop optimization of
    exoskeleton assistance during walking", Science 356) optimise for an ankle. Each may be an unknown constant of the
    problem, or a parameter that changes between solves.

    Parameters
    ----------
    joint : str
    peak : float, Unknown or Parameter [N m, N]
        Positive or negative, in the direction of the joint.
    time, rise, fall : float, Unknown or Parameter
        Fractions of the cycle; `rise` and `fall` are positive, and together 1 at most. Bounds of unknowns should keep
        them so.
    cycle : callable, optional
        Instant -> fraction of the cycle that has passed; by default ``now.t / now.duration``. For a walker that is
        solved for one step, half a stride, the right leg may have ``0.5 * now.t / now.duration``, and the left leg half
        a cycle more. Only the remainder counts: 1.25 is 0.25.
    name : str
    unit : str
        Of the signal: "N" where the joint slides.

    See Also
    --------
    Spring, Motors

    Examples
    --------
    >>> from dataclasses import replace
    >>> peak = co.Unknown("peak", lower=0.0, upper=5.0, constant=True, unit="N m")
    >>> helper = co.problem.Assist("elbow", peak, time=0.4, rise=0.3, fall=0.3)
    >>> effort = co.integral(lambda now: ca.sumsqr(now.motor))
    >>> parts = [helper, co.Motors(["shoulder", "elbow"])]
    >>> turn = co.Problem(two_link(), 1.0, effort, problem.subject_to[:2], parts=parts)
    >>> solution = co.solve(turn, co.BSpline(20))
    >>> bool(solution.cost < 0.95 * co.solve(replace(turn, parts=parts[1:]), co.BSpline(20)).cost)
    True
    """

    joint: str
    peak: Any
    time: Any
    rise: Any
    fall: Any
    cycle: Callable[[Instant], Any] | None = None
    name: str = "assist"
    unit: str = "N m"

    def __post_init__(self):
        text("joint of an assist", self.joint)
        text("name of an assist", self.name)
        fraction = partial(finite_number, positive=True, at_most=1.0)
        checks = {"peak": finite_number, "time": finite_number, "rise": fraction, "fall": fraction}
        _check_constants(self, f"the {self.name} at joint {self.joint!r}", checks)
        if self.cycle is not None:
            function(
                f"cycle of the {self.name} at joint {self.joint!r}", self.cycle, "a function of the instant", "now"
            )
        total = [number for number in (self.rise, self.fall) if isinstance(number, float)]
        if len(total) == 2 and sum(total) > 1:
            raise InputError(f"rise and fall of an assist must be 1 at most together, got {sum(total):g}")

    def contribution(self) -> Contribution:
        """Its numbers that are unknowns or parameters, and its torque as a signal."""
        added = _constants_of(self.peak, self.time, self.rise, self.fall)
        signal = Signal(f"{self.name} at {self.joint}", self._torque, names=(self.joint,), unit=self.unit)
        return replace(added, signals=[signal])

    def torques(self, now: Instant) -> dict[str, ca.SX]:
        return {self.joint: self._torque(now)}

    def _torque(self, now: Instant) -> ca.SX:
        peak, time, rise, fall = (_at(now, number) for number in (self.peak, self.time, self.rise, self.fall))
        passed = now.t / now.duration if self.cycle is None else self.cycle(now)
        since = passed - time
        since = since - ca.floor(since + (1 + rise - fall) / 2)  # farthest from the torque where the cycle is cut
        return peak * _smooth_step(since / rise + 1) * _smooth_step(1 - since / fall)


def _smooth_step(x: Any) -> ca.SX:
    """From 0 at 0 to 1 at 1 and constant beyond, with continuous second derivatives."""
    x = ca.fmax(ca.fmin(x, 1), 0)
    return x**3 * (10 - 15 * x + 6 * x**2)


def _check_constants(part: Any, what: str, checks: Mapping[str, Callable[..., float]]) -> None:
    """Numbers of a part in their final form; InputError unless they are numbers, unknown constants or parameters."""
    for name, checked in checks.items():
        value = getattr(part, name)
        if isinstance(value, Unknown | Parameter):
            if value.symbol.numel() != 1 or (isinstance(value, Unknown) and not value.constant):
                raise InputError(
                    f"{name} of {what} must be one constant, as in co.Unknown('k', constant=True), got {value}"
                )
        else:
            object.__setattr__(part, name, checked(f"{name} of {what}", value))


def _constants_of(*numbers: Any) -> Contribution:
    """Numbers that are unknowns or parameters."""
    return Contribution(
        unknowns=[number for number in numbers if isinstance(number, Unknown)],
        parameters=[number for number in numbers if isinstance(number, Parameter)],
    )


def _at(now: Instant, number: Any) -> Any:
    """A number, or the unknown or parameter in its place."""
    return getattr(now, number.name) if isinstance(number, Unknown | Parameter) else number


@spelt
@dataclass(frozen=True, eq=False)
class Motors(Part):
    """Ideal motors at joints of a problem whose other joints are driven by parts, or passive.

    A problem without parts that drive joints has an ideal motor at every joint by default.

    Parameters
    ----------
    joints : sequence of str, or mapping of str to float or (lower, upper) [N m, N]
        Names, or the largest torque of each in both directions, or its bounds. Torque limits of the model hold for the
        sum of the torques of all parts.
    name : str
        Name of the signal: instants carry the torques under this name, one for each joint.
    unit : str or sequence of str
        Of all torques, or of each: "N" where a joint slides.

    Examples
    --------
    >>> parts = [co.Spring("elbow", stiffness=5.0), co.Motors({"shoulder": 10.0})]
    >>> swing = co.Problem(two_link(), 1.0, co.integral(lambda now: now.motor**2), problem.subject_to[:1], parts=parts)
    >>> swing.passive, [signal.name for signal in swing.signals]
    ((), ['motor'])
    """

    joints: Sequence[str] | Mapping[str, Any]
    name: str = "motor"
    unit: str | Sequence[str] = "N m"
    torque: Unknown = field(init=False, repr=False)

    def __post_init__(self):
        joints = self.joints if isinstance(self.joints, Mapping) else as_tuple("joints", self.joints)
        for joint in joints:
            text("joint of motors", joint)
        limits = dict(joints) if isinstance(joints, Mapping) else dict.fromkeys(joints, np.inf)
        if not limits:
            raise InputError("joints of motors must be one or more, got none")
        if not isinstance(joints, Mapping) and len(limits) < len(joints):
            raise InputError(f"joints of motors must differ, got {shortened(list(joints))}")
        lower, upper = zip(*(_sides(joint, value) for joint, value in limits.items()), strict=True)
        torque = Unknown(self.name, lower=np.array(lower), upper=np.array(upper), names=tuple(limits), unit=self.unit)
        object.__setattr__(self, "joints", tuple(limits))
        object.__setattr__(self, "torque", torque)

    def __repr__(self) -> str:
        return f"Motors({shortened([*self.joints], most=6)})"

    def contribution(self) -> Contribution:
        """Signals for the torques, and their natural sizes where they have bounds."""
        most = np.maximum(np.abs(self.torque.lower), np.abs(self.torque.upper))
        sizes = {joint: float(size) for joint, size in zip(self.joints, most, strict=True) if 0 < size < np.inf}
        return Contribution(unknowns=[self.torque], sizes=sizes)

    def torques(self, now: Instant) -> dict[str, ca.SX]:
        return dict(zip(self.joints, ca.vertsplit(getattr(now, self.name)), strict=True))


def _sides(joint: str, value: Any) -> tuple[float, float]:
    what = f"torque of the motor at {text('joint of a motor', joint)!r}"
    if isinstance(value, tuple | list):
        lower, upper = interval(what, *pair(what, value))
        return float(lower), float(upper)
    size = float("inf") if value == np.inf else finite_number(what, value, positive=True)
    return -size, size
