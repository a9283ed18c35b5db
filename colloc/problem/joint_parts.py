"""Parts that act at joints: springs with dampers, and ideal motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.problem.part import Contribution, Part
from colloc.problem.unknowns import Parameter, Unknown
from colloc.support.checks import (
    InputError,
    as_tuple,
    finite_number,
    interval,
    not_negative,
    pair,
    shortened,
    spelt,
    text,
    unknown_name,
)


@spelt
@dataclass(frozen=True, eq=False)
class Spring(Part):
    """A spring and a damper at a joint: a prosthesis, a passive exoskeleton, soft tissue.

    The torque is stiffness times (rest - position) less damping times velocity. Each of these numbers may be an unknown
    constant of the problem, or a parameter that changes between solves.

    Parameters
    ----------
    joint : str
    stiffness : float, Unknown or Parameter [N m/rad, N/m]
    rest : float, Unknown or Parameter [rad, m]
        Position at which the spring is slack.
    damping : float, Unknown or Parameter [N m s/rad, N s/m]
    name : str

    See Also
    --------
    Passive, Motors

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
    name: str = "spring"

    def __post_init__(self):
        text("joint of a spring", self.joint)
        text("name of a spring", self.name)
        for name, checked in (("stiffness", not_negative), ("rest", finite_number), ("damping", not_negative)):
            value, what = getattr(self, name), f"{name} of the {self.name} at joint {self.joint!r}"
            if isinstance(value, Unknown | Parameter):
                if value.symbol.numel() != 1 or (isinstance(value, Unknown) and not value.constant):
                    raise InputError(f"{what} must be one constant, as in co.Unknown('k', constant=True), got {value}")
            else:
                object.__setattr__(self, name, checked(what, value))

    def __repr__(self) -> str:
        return f"Spring({self.joint!r}, stiffness={self.stiffness}, rest={self.rest}, damping={self.damping})"

    def contribution(self) -> Contribution:
        """Its numbers that are unknowns or parameters."""
        numbers = (self.stiffness, self.rest, self.damping)
        return Contribution(
            unknowns=[number for number in numbers if isinstance(number, Unknown)],
            parameters=[number for number in numbers if isinstance(number, Parameter)],
        )

    def torques(self, now: Instant) -> dict[str, ca.SX]:
        if self.joint not in now.model.joint_names:
            raise unknown_name(f"joint that moves (of a {self.name})", self.joint, now.model.joint_names)
        if self.joint not in now.model.position_names:
            raise InputError(f"joint {self.joint!r} is on a quaternion: a spring needs a joint with one coordinate")
        q, qd = now.q[now.model.position_names.index(self.joint)], now.qd[now.model.joint_names.index(self.joint)]
        stiffness, rest, damping = (
            getattr(now, number.name) if isinstance(number, Unknown | Parameter) else number
            for number in (self.stiffness, self.rest, self.damping)
        )
        return {self.joint: stiffness * (rest - q) - damping * qd}


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
    unit : str

    Examples
    --------
    >>> parts = [co.Spring("elbow", stiffness=5.0), co.Motors({"shoulder": 10.0})]
    >>> swing = co.Problem(two_link(), 1.0, co.integral(lambda now: now.motor**2), problem.subject_to[:1], parts=parts)
    >>> swing.passive, [signal.name for signal in swing.signals]
    ((), ['motor'])
    """

    joints: Sequence[str] | Mapping[str, Any]
    name: str = "motor"
    unit: str = "N m"
    torque: Unknown = field(init=False, repr=False)

    def __post_init__(self):
        joints = self.joints
        for joint in joints if isinstance(joints, Mapping) else as_tuple("joints", joints):
            text("joint of motors", joint)
        limits = dict(joints) if isinstance(joints, Mapping) else dict.fromkeys(as_tuple("joints", joints), np.inf)
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
