"""The contact force of a joint as signals, and its shares on two condyles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.problem import Contribution, Part, Signal
from colloc.support.checks import InputError, finite_array, instance, spelt, text

_AXES = ("x", "y", "z")


class CondyleForces(NamedTuple):
    """Compression of the two condyles of a joint, SX, scalars [N].

    Examples
    --------
    >>> knee = co.muscles.JointContact("elbow", medial=(-0.4, 0.0, -0.02), lateral=(-0.4, 0.0, 0.02))
    >>> first, second = solution.evaluate(lambda now: tuple(knee.shares(now)), 0.1)
    >>> float(np.round(first - second, 6))  # symmetric in a plane
    0.0
    """

    medial: ca.SX
    lateral: ca.SX


@spelt
@dataclass(frozen=True, eq=False)
class JointContact(Part):
    """The contact force of a joint: a part of a problem that adds signals only.

    The signal "contact_tibia" has the force of `Instant.joint_contact` in the axes of the body, "condyles_tibia" the
    compression of both condyles if they are stated.

    Parameters
    ----------
    body : str
        The body beyond the joint.
    medial, lateral : shape (3,), optional [m]
        Points of contact in the link frame. The shares are the two forces along `direction` at these points that have
        the sum of the contact force and its moment about the axis across both. Forces across the direction are shared
        in no particular way.
    direction : shape (3,)
        From the points into the parent, in the link frame; its part along the line through the points is left out.

    Raises
    ------
    InputError
        For one point without the other, equal points, or a direction along the line through them.

    See Also
    --------
    Muscles

    Examples
    --------
    >>> knee = co.muscles.JointContact("elbow", medial=(-0.4, 0.0, -0.02), lateral=(-0.4, 0.0, 0.02))
    >>> [signal.labels for signal in knee.contribution().signals][1]
    ('condyles_elbow[medial]', 'condyles_elbow[lateral]')
    >>> gentle = co.integral(lambda now: knee.shares(now).medial ** 2)
    """

    body: str
    medial: Any = None
    lateral: Any = None
    direction: Any = (0.0, 1.0, 0.0)
    name = "joint contact"

    def __post_init__(self):
        text("body of a joint contact", self.body)
        what = f"joint contact of {self.body!r}"
        if (self.medial is None) != (self.lateral is None):
            raise InputError(f"{what} needs both points, medial and lateral, or neither")
        object.__setattr__(self, "direction", tuple(finite_array(f"direction of {what}", self.direction, (3,))))
        if self.medial is None:
            return
        for side in ("medial", "lateral"):
            object.__setattr__(self, side, tuple(finite_array(f"{side} of {what}", getattr(self, side), (3,))))
        across, along = self._axes
        if not np.linalg.norm(across) > 0 or not np.linalg.norm(along) > 0:
            raise InputError(
                f"{what} needs two different points, and a direction across the line through them, got medial "
                f"{self.medial}, lateral {self.lateral} and direction {self.direction}"
            )

    @property
    def _axes(self) -> tuple[np.ndarray, np.ndarray]:
        """From the medial to the lateral point, and the direction across it, of length one."""
        across, along = np.subtract(self.lateral, self.medial), np.array(self.direction)
        along = along - across * (along @ across) / max(across @ across, np.finfo(float).tiny)
        return across, along / max(float(np.linalg.norm(along)), np.finfo(float).tiny)

    def contribution(self) -> Contribution:
        """Signals of the force and, if points are stated, of the condyles."""
        title = f"contact force of {self.body}"
        signals = [Signal(f"contact_{self.body}", self.force, names=_AXES, unit="N", title=title)]
        if self.medial is not None:
            names, title = CondyleForces._fields, f"compression of {self.body}"
            signals.append(Signal(f"condyles_{self.body}", self._compression, names=names, unit="N", title=title))
        return Contribution(signals=signals)

    def torques(self, now: Instant) -> dict[str, ca.SX]:
        """None; InputError for an unknown body, or a muscle of unknown direction across its joint, before any solve."""
        now.model.index(self.body)
        now.pull_on(self.body)
        return {}

    def force(self, now: Instant) -> ca.SX:
        """Contact force on the body, in its axes, SX, shape (3,) [N]."""
        return instance("now", now, Instant).joint_contact(self.body).force

    def shares(self, now: Instant) -> CondyleForces:
        """Compression of the condyles.

        Parameters
        ----------
        now : Instant

        Raises
        ------
        InputError
            Without points.
        """
        if self.medial is None:
            raise InputError(f"shares of the joint contact of {self.body!r} need the points medial= and lateral=")
        force, moment = instance("now", now, Instant).joint_contact(self.body)
        across, along = self._axes
        frame, model = now.frame(self.body), now.model
        index = model.index(self.body)
        parent, before = model.parents[index], model.bodies[index].joint.before[:3, 3]
        joint = before if parent < 0 else now.point(model.bodies[parent].name, before).position
        origin = frame[:3, :3].T @ (joint - frame[:3, 3])  # of the joint, in the link frame
        about_medial = moment + ca.cross(origin - ca.SX(self.medial), force)
        axis = ca.SX(np.cross(across, along) / (across @ across))
        lateral = -ca.dot(axis, about_medial)
        return CondyleForces(-ca.dot(ca.SX(along), force) - lateral, lateral)

    def _compression(self, now: Instant) -> ca.SX:
        return ca.vertcat(*self.shares(now))
