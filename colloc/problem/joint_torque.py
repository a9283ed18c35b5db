"""A part that is any torque of a joint's own coordinate and velocity, such as a soft limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca

from colloc.dynamics.instant import Instant
from colloc.problem.part import Part
from colloc.support.checks import InputError, spelt, text, unknown_name


@spelt
@dataclass(frozen=True, eq=False)
class JointTorque(Part):
    """A torque at a joint as a function of its coordinate and velocity: tissue at the end of its range, a bushing.

    Parameters
    ----------
    joint : str
    torque : callable
        Function of coordinate [rad, m] and velocity [rad/s, m/s], each SX, scalar, that returns the torque [N m, N].
    name : str

    See Also
    --------
    Spring, colloc.muscles.PassiveTorque

    Examples
    --------
    >>> stop = co.problem.JointTorque("elbow", lambda q, qd: -0.1 * ca.exp(20 * (q - 2.2)) - 0.5 * qd, name="stop")
    >>> parts = [stop, co.Motors(["shoulder", "elbow"])]
    >>> turn = co.Problem(two_link(), 1.0, problem.minimize, problem.subject_to[:2], parts=parts)
    >>> turn.passive
    ()
    """

    joint: str
    torque: Callable[[Any, Any], Any]
    name: str = "joint torque"

    def __post_init__(self):
        text("joint of a torque", self.joint)
        text("name of a joint torque", self.name)
        if not callable(self.torque):
            raise InputError(f"torque at joint {self.joint!r} must be a function of q and qd, got {self.torque!r}")

    def torques(self, now: Instant) -> dict[str, ca.SX]:
        model = now.model
        if self.joint not in model.joint_names:
            raise unknown_name(f"joint that moves (of the {self.name})", self.joint, model.joint_names)
        if self.joint not in model.position_names:
            raise InputError(f"joint {self.joint!r} is on a quaternion: {self.name} needs a joint with one coordinate")
        q, qd = now.q[model.position_names.index(self.joint)], now.qd[model.joint_names.index(self.joint)]
        return {self.joint: ca.SX(self.torque(q, qd))}
