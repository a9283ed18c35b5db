"""One step of steady walking as a problem: what the gait studies solve.

The formulation of Barman (2020, chapter V, after Xiang et al. 2009) for any `Human`, from the strike of the right heel
to that of the left, s = 0 to 1. The mirror image of the end is the beginning of the next step. World axes: x to the
left, y up, z forward; the right heel strikes at z = 0.

    s                0        0.2              0.8       1
    right foot       heel ----|---- flat ------|---- forefoot
    left foot        forefoot | swing
    support          double   | single

The human is seen from the right foot (`models.stance`): a foot that stands needs no constraint to keep its place at all
times, not only at nodes, and the ground's wrench on it is what the joints that carry it transmit, so that the two steps
of the algorithm of Xiang et al., the wrench that the motion needs and then its effect on the joints, are one recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import radians
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc import ground
from colloc.dynamics import Wrench
from colloc.model import kinematics
from models.human import Human, Point
from models.stance import FORWARD, LATERAL, LIST, PITCH, ROLL, VERTICAL, YAW, on_foot
from studies.walking_forces import Sharing, forces
from studies.walking_rows import DOUBLE, FLAT_UNTIL, contacts, posture, symmetry

SIGNAL = "trailing"  # wrench of the trailing foot during double support, over body weight (and 1 m), or shares
NATURAL = {
    "ankle": 0.05,
    "hip": 0.5,
    "toe": 0.3,
    "spine": 3.0,
}  # weights of squared torques over their limits; others 1


@dataclass(frozen=True, eq=False)
class Step:
    """Parameters of a step.

    Parameters
    ----------
    human : Human
    speed : float [m/s]
    length : float [m]
        Of the step.
    half_width : float [m]
        Between the middle and each foot.
    weights : mapping of str to float
        Of squared torques by the beginning of the joint's name.
    smooth : float
        Weight of the squared acceleration of the pelvis over gravity.
    rest : float
        Weight of the squared angles of the ankles, whose passive tissue brings them back to neutral.
    even : float
        Weight of how far the force on the leading foot is from a share that grows evenly in time, over body weight.
    friction : float
    band : float [m]
        How far a contact point of the trailing foot may be from where it touches.
    slip : float [m/s]
        How fast it may be.
    rock : float [rad]
        How far the leading foot may turn about heel and ball while it lies flat.
    seamless : bool
        Whether accelerations, too, go on from one step to the next without a jump, and with them the forces.
    clearance : float [m]
        Of the foremost point of the swinging foot at mid swing.
    wrist_room : float [m]
        Between each wrist and the hip beside it.
    sharing : Sharing
    """

    human: Human
    speed: float = 1.2
    length: float = 0.6
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
    sharing: Sharing = Sharing.FREE

    @property
    def duration(self) -> float:
        """Of the step [s]."""
        return self.length / self.speed

    @property
    def weight(self) -> float:
        """Body weight [N]."""
        return self.human.mass * float(np.linalg.norm(self.human.model.gravity))

    @property
    def planar(self) -> bool:
        """Whether the human moves in the plane x = 0, on feet that do not bend."""
        return "pelvis_tx_lateral" not in self.human.model.joint_names

    @property
    def side(self) -> float:
        """How far each foot is from the middle [m]."""
        return 0.0 if self.planar else self.half_width

    @cached_property
    def stance(self) -> Human:
        """The human on the right foot, which does not leave its place and rolls over heel and ball."""
        held = {LATERAL: -self.side, VERTICAL: 0.0, FORWARD: 0.0, YAW: 0.0, LIST: 0.0}
        ranges = {name: (at, at) for name, at in held.items()}
        ranges |= {PITCH: (-radians(5), radians(45)), ROLL: (-radians(5), radians(75))}
        seen = on_foot(self.human, "r")
        return seen.ranged({name: ends for name, ends in ranges.items() if name in seen.virtual})

    @cached_property
    def sole(self) -> tuple[float, float]:
        """Distance of ball and toe from the heel [m] when the foot is flat."""
        place = {name: self._standing(getattr(self.human.feet["r"], name)) for name in ("heel", "ball", "toe")}
        return place["ball"][2] - place["heel"][2], place["toe"][2] - place["heel"][2]

    def _standing(self, point: Point) -> np.ndarray:
        q = ca.DM(self.human.standing)
        return np.array(ca.DM(co.point_motion(self.human.model, *point, q=ca.SX(q)).position)).ravel()

    def direction(self, now: Any, body: str, axis: int) -> co.PointMotion:
        """A world axis carried along by a body from standing on, with its derivatives, each shape (3,)."""
        tip, root = now.point(body, self._axes[body][axis]), now.point(body)
        return co.PointMotion(*(a - b for a, b in zip(tip, root, strict=True)))

    @cached_property
    def _axes(self) -> dict[str, np.ndarray]:
        """World axes in every link frame of the standing human, as rows."""
        model, rest = self.stance.model, ca.SX(self.stance.model.n, 1)
        frames = kinematics.frames(model, ca.SX(ca.DM(self.stance.standing)), rest, rest).position
        return {
            body.name: np.round(np.array(ca.DM(frame))[:3, :3], 12)
            for body, frame in zip(model.bodies, frames, strict=True)
        }

    # Ground reactions ------------------------------------------------------------------------------------------------

    def right(self, now: Any) -> Wrench:
        """Wrench on the right foot: what the joints between world and foot transmit."""
        tau = dict(zip(self.stance.model.joint_names, ca.vertsplit(now.tau), strict=True))
        force = ca.vertcat(tau.get(LATERAL, 0), tau[VERTICAL], tau[FORWARD])
        about_heel = ca.vertcat(-tau[PITCH], tau.get(YAW, 0), tau.get(LIST, 0))
        return Wrench(force, about_heel + ca.cross(ca.SX([-self.side, 0, 0]), force))

    def left(self, now: Any) -> Wrench:
        """Wrench on the left foot: its share during double support, nothing afterwards."""
        return Wrench(*(_while_both(now, part) for part in self.share(now)))

    def share(self, now: Any) -> Wrench:
        """Wrench of the trailing foot while both are on the ground."""
        if self.sharing is Sharing.DISTANCE:
            return ground.by_distance(now.support, [self.places["l"][0], self.places["r"][0]])[0]
        if self.sharing is Sharing.PARTITION:
            parts = ground.by_partition(now.support, [*self.places["l"], *self.places["r"]], now.trailing)
            return parts[0] + parts[1]
        signal = self.weight * now.trailing
        if self.planar:
            return Wrench(ca.vertcat(0, signal[:2]), ca.vertcat(signal[2], 0, 0))
        return Wrench(signal[:3], signal[3:])

    @cached_property
    def places(self) -> dict[str, list[ca.SX]]:
        """Where each foot touches during double support: the trailing ball and toe, the leading heel and ball."""
        ball, toe = self.sole
        return {
            "l": [ca.SX([self.side, 0, z - self.length]) for z in (ball, toe)],
            "r": [ca.SX([-self.side, 0, z]) for z in (0.0, ball)],
        }

    def unknowns(self) -> list[co.Unknown]:
        """Signals of the sharing."""
        if self.sharing is Sharing.DISTANCE:
            return []
        if self.sharing is Sharing.PARTITION:
            return [co.Unknown(SIGNAL, size=4, lower=-0.01, upper=1.01, guess=0.25)]
        return [co.Unknown(SIGNAL, size=3 if self.planar else 6, lower=-3.0, upper=3.0)]

    def corners(self, now: Any, side: str) -> list[tuple[Any, Any]]:
        """Where the centre of pressure of a foot may be: (x, z) of a rectangle that moves with the roll of the foot."""
        ball, toe = self.sole
        s, half = now.t / self.duration, 0.04
        reach = min(ball + 0.03, toe)  # the rear foot carries the wrench, which cannot act far beyond its end
        if side == "l":  # the trailing forefoot, one step behind
            x, back, front = self.side, ball - 0.01 - self.length, reach - self.length
        else:
            x = -self.side
            back = (ball - 0.01) * _ramp(s, FLAT_UNTIL - 0.25, FLAT_UNTIL)
            front = 0.02 + (reach - 0.02) * _ramp(s, 0.05, 0.35)
        return [(x - half, back), (x - half, front), (x + half, front), (x + half, back)]

    # The problem -----------------------------------------------------------------------------------------------------

    def problem(self) -> co.Problem:
        """The step as a problem."""
        return co.Problem(
            model=self.stance.model,
            duration=self.duration,
            minimize=co.integral(self.effort) + co.integral(self.regular, name="regularisation"),
            subject_to=[*contacts(self), *forces(self), *posture(self), symmetry(self)],
            unknowns=self.unknowns(),
            loads=[ground.applied(self.stance.feet["l"].ball.body, (0, 0, 0), self.left)],
        )

    def motion_only(self) -> co.Problem:
        """The same without forces: a motion that keeps to its constraints with small angles and accelerations.

        Where to start from, as the paper's first stage. Accelerations may jump from step to step.
        """
        free, T = replace(self, seamless=False), self.duration

        def ease(now: co.Instant) -> ca.SX:
            return ca.sumsqr(now.q) + 0.1 * ca.sumsqr(T * now.qd) + 1e-3 * ca.sumsqr(T**2 * now.qdd)

        return co.Problem(
            model=self.stance.strengthless.model,
            duration=T,
            minimize=co.integral(ease),
            subject_to=[*contacts(free), *posture(free), symmetry(free)],
        )

    def effort(self, now: co.Instant) -> ca.SX:
        """Weighted squares of torques over their limits."""
        lower, upper = self.stance.model.limits("torque")
        total = ca.SX(0)
        for j, name in enumerate(self.stance.model.joint_names):
            if np.isfinite(upper[j]):
                weight = next((w for start, w in self.weights.items() if name.startswith(start)), 1.0)
                total += weight * (now.tau[j] / ((upper[j] - lower[j]) / 2)) ** 2
        return total

    def regular(self, now: co.Instant) -> ca.SX:
        """Smoothness of the pelvis and of the transfer between the feet, ankles at rest."""
        pelvis = now.point(*self.stance.landmarks["pelvis"])
        ankles = [j for j, name in enumerate(now.model.joint_names) if name.startswith("ankle_dorsiflexion")]
        smooth = self.smooth * ca.sumsqr(pelvis.acceleration / 9.81) + self.rest * ca.sumsqr(now.q[ankles])
        if self.sharing is not Sharing.FREE:
            return smooth
        grown, left = now.t / (DOUBLE * self.duration), self.share(now).force
        uneven = _while_both(now, ((1 - grown) * self.right(now).force - grown * left) / self.weight)
        # After its time the signal means nothing, and a little of its square keeps it at zero.
        return smooth + self.even * ca.sumsqr(uneven) + 1e-4 * ca.sumsqr(now.trailing)


def _while_both(now: Any, double: ca.SX) -> ca.SX:
    """Zero after double support."""
    return ca.if_else(now.t <= (DOUBLE + 1e-6) * now.duration, double, ca.SX(*double.shape))


def _ramp(s: Any, start: float, end: float) -> Any:
    """0 before, 1 after, linear between."""
    return ca.fmin(ca.fmax((s - start) / (end - start), 0.0), 1.0)
