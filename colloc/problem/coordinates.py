"""Joints that follow from others at every instant, as a problem and its transcription see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from colloc.dynamics import InverseDynamics
from colloc.model import Load, Model
from colloc.problem.conditions import Condition
from colloc.problem.instant import Instant


class JointState(NamedTuple):
    """Positions, velocities and accelerations of all joints, SX, each shape (n,)."""

    q: ca.SX
    qd: ca.SX
    qdd: ca.SX


@runtime_checkable
class Coordinates(Protocol):
    """Which joints of a mechanism move by themselves, and how the others follow from them.

    All joints are splines, those that follow just near where they belong: `closure` is met at collocation points, and
    everything else sees the `motion` that is right at every instant.
    """

    @property
    def model(self) -> Model:
        """The mechanism."""
        ...

    @property
    def independent(self) -> list[int]:
        """Coordinates that move by themselves, m of n."""
        ...

    @property
    def posture(self) -> np.ndarray:
        """A posture in which all fits together, shape (n,): where joints are of which nothing is said."""
        ...

    @property
    def closure(self) -> Condition:
        """What the splines of the others meet, in positions: as many equations as others."""
        ...

    def motion(self, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> JointState:
        """The state of all joints, given that of the independent ones, and positions near which the others are."""
        ...

    def tangent(self, now: Instant) -> ca.SX:
        """How q, qd, qdd (one below the other) change with those of the independent joints, SX, shape (3n, 3m)."""
        ...

    def torques(self, now: Instant, loads: Sequence[Load], dynamics: InverseDynamics) -> ca.SX:
        """Inverse dynamics, SX, shape (n,); zero where nothing drives."""
        ...

    def acceleration(self, now: Instant, loads: Sequence[Load]) -> ca.SX:
        """Forward dynamics: accelerations of all joints under the instant's torques, SX, shape (n,)."""
        ...

    def loads(self, now: Instant, loads: Sequence[Load]) -> tuple[Load, ...]:
        """What holds the other joints to the independent ones, as loads beside those of the environment."""
        ...

    def postures(self, q: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Right postures with the independent coordinates of given ones, each shape (N, n).

        Parameters
        ----------
        q : ndarray, shape (N, n)
        start : ndarray, shape (n,), optional
            Near which the first one is looked for.
        """
        ...
