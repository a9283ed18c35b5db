"""Parameters and geometry of one step of steady walking: what the problem of the walking studies is made of.

The step of Barman (2020, chapter V, after Xiang et al. 2009) for any `Human`, from the strike of the right heel to that
of the left, s = 0 to 1. The mirror image of the end is the beginning of the next step. World axes: x to the left, y up,
z forward; the right heel strikes at z = 0.

    s                0        0.2              0.8       1
    right foot       heel ----|---- flat ------|---- forefoot
    left foot        forefoot | swing
    support          double   | single

The human is seen from the right foot (`colloc.models.human.stance`): a foot that stands needs no constraint to keep its
place at all times, not only at nodes, and the ground's wrench on it is what the joints that carry it transmit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import radians
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.model.kinematics import frames
from colloc.models.human.human import Human
from colloc.models.human.stance import FORWARD, LATERAL, LIST, PITCH, ROLL, VERTICAL, YAW, on_foot

# Fractions of the step: until the trailing foot leaves, until the heel of the leading one rises, the knee bent most.
DOUBLE, FLAT_UNTIL, MID_SWING = 0.2, 0.6, 0.45
# From here on the leading foot's centre of pressure moves forward; it would linger at the heel, which spares the ankle,
# and run when it must.
ROLLS_FROM = 0.05
NATURAL = {"ankle": 0.05, "hip": 0.5, "toe": 0.3, "spine": 3.0}  # weights of squared torques over limits; others 1
HALF_FOOT = 0.04  # m: half the width within which a foot presses


class Sharing(Enum):
    """Rule for the wrench on the trailing foot during double support.

    FREE
        A wrench of its own, an unknown signal.
    DISTANCE
        A share by the distance of the zero moment point from the trailing ball and the leading heel.
    PARTITION
        A share by a partition of unity over the contact points, unknown signals.
    """

    FREE = "free"
    DISTANCE = "by distance"
    PARTITION = "by partition"


@dataclass(frozen=True, eq=False)
class Step:
    """Parameters of a step, and the geometry that follows from them.

    Parameters
    ----------
    human : Human
    speed : number or SX [m/s]
    length : number or SX [m]
        Distance from one heel strike to the next, of the other foot.
    half_width : float [m]
        Distance of each foot from the midline.
    weights : mapping of str to float
        Weights of squared torques, by the beginning of the joint's name; 1 for all others.
    smooth : float
        Weight of the squared acceleration of the pelvis over gravity.
    rest : float
        Weight of the squared angles of the ankles, whose passive tissue brings them back to neutral.
    even : float
        Weight of the squared distance, over body weight, of the leading foot's force from a share that grows evenly.
    friction : float
        Coefficient of friction between sole and ground.
    band : float [m]
        Distance allowed between a contact point of the trailing foot and its place.
    slip : float [m/s]
        Speed allowed to a contact point of the trailing foot.
    rock : float [rad]
        Angle by which the leading foot may turn about heel and ball while it lies flat.
    seamless : bool
        Whether accelerations, too, go on from one step to the next without a jump, and with them the forces.
    clearance : float [m]
        Height of the foremost point of the swinging foot at mid swing.
    wrist_room : float [m]
        Distance of each wrist from the hip beside it.
    apart : float [m2]
        How far (5.6) may fall below zero, where it is printed: an arm may be this much, 10 cm times 10 cm, on the other
        side of the shoulder than the opposite leg is of the hip. Held at zero, arm and leg must pass below both at the
        same instant; `colloc.studies.walking.gait` shows the result.
    sharing : Sharing
    """

    human: Human
    speed: Any = 1.2
    length: Any = 0.6
    half_width: float = 0.06
    weights: Mapping[str, float] = field(default_factory=lambda: NATURAL)
    smooth: float = 0.2
    rest: float = 0.1
    even: float = 0.3
    friction: float = 0.7
    band: float = 1e-3
    slip: float = 0.005
    rock: float = 2e-4
    seamless: bool = True
    clearance: float = 0.01
    wrist_room: float = 0.09
    apart: float = 0.01
    sharing: Sharing = Sharing.FREE

    @property
    def duration(self) -> Any:
        """Duration of the step [s]."""
        return self.length / self.speed

    @property
    def weight(self) -> Any:
        """Body weight [N]."""
        return self.human.mass * float(np.linalg.norm(self.human.model.gravity))

    @property
    def planar(self) -> bool:
        """Whether the human moves in the plane x = 0, on feet that do not bend."""
        return "pelvis_tx_lateral" not in self.human.model.joint_names

    @property
    def side(self) -> float:
        """Distance of each foot from the midline [m], zero in the plane."""
        return 0.0 if self.planar else self.half_width

    @cached_property
    def stance(self) -> Human:
        """The human on the right foot, which does not leave its place and rolls over heel and ball."""
        held = {LATERAL: -self.side, VERTICAL: 0.0, FORWARD: 0.0, YAW: 0.0, LIST: 0.0}
        ranges = {name: (at, at) for name, at in held.items()}
        ranges |= {PITCH: (-radians(5), radians(45)), ROLL: (-radians(5), radians(75))}
        seen = on_foot(self.human, "r")
        return seen.ranged({name: ends for name, ends in ranges.items() if name in seen.virtual})

    def joint(self, name: str) -> int:
        """Index of a joint of the human on the right foot."""
        return self.stance.model.joint_names.index(name)

    @cached_property
    def sole(self) -> tuple[Any, Any]:
        """Distance of ball and toe from the heel [m] when the foot is flat."""
        model, rest = self.human.model, ca.SX(self.human.model.n, 1)
        standing = frames(model, self.human.upright, rest, rest).position
        heel, ball, toe = (
            (standing[model.index(body)] @ ca.vertcat(*point, 1))[2] for body, point in self.human.feet["r"]
        )
        return _number(ball - heel), _number(toe - heel)

    @cached_property
    def places(self) -> dict[str, list[ca.SX]]:
        """Contact points of each foot during double support: trailing ball and toe, leading heel and ball."""
        ball, toe = self.sole
        return {
            "l": [ca.SX([self.side, 0, z - self.length]) for z in (ball, toe)],
            "r": [ca.SX([-self.side, 0, z]) for z in (0.0, ball)],
        }

    def corners(self, now: Any, side: str) -> list[tuple[Any, Any]]:
        """Corners (x, z) [m] of the rectangle within which a foot may press, which moves as the foot rolls."""
        ball, toe = self.sole
        s, half = now.t / self.duration, HALF_FOOT
        # The rear foot carries the wrench, which cannot act far beyond its end.
        reach = _number(ca.fmin(ball + 0.03, toe))
        if side == "l":  # the trailing forefoot, one step behind
            x, back, front = self.side, ball - 0.01 - self.length, reach - self.length
        else:
            x = -self.side
            back = (ball - 0.01) * _ramp(s, ROLLS_FROM, FLAT_UNTIL)
            front = 0.02 + (reach - 0.02) * _ramp(s, ROLLS_FROM, 0.35)
        return [(x - half, back), (x - half, front), (x + half, front), (x + half, back)]

    def direction(self, now: Any, body: str, axis: int) -> co.model.PointMotion:
        """A world axis carried along by a body from standing on, with its derivatives, each shape (3,)."""
        tip, root = now.point(body, self._axes[body][axis]), now.point(body)
        return co.model.PointMotion(*(a - b for a, b in zip(tip, root, strict=True)))

    @cached_property
    def _axes(self) -> dict[str, np.ndarray]:
        """World axes in every link frame of the standing human, as rows."""
        model, rest = self.stance.model, ca.SX(self.stance.model.n, 1)
        standing = frames(model, self.stance.upright, rest, rest).position
        return {
            body.name: np.round(np.array(ca.DM(frame[:3, :3])), 12)
            for body, frame in zip(model.bodies, standing, strict=True)
        }


def _number(value: Any) -> Any:
    """A float, where no symbol is in it."""
    expression = ca.SX(value)
    return float(expression) if expression.is_constant() else expression


def _ramp(s: Any, start: float, end: float) -> Any:
    """0 before the start, 1 after the end, linear between."""
    return ca.fmin(ca.fmax((s - start) / (end - start), 0.0), 1.0)
