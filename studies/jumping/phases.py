"""A countermovement jump as phases: push on flat feet, push on the balls of the feet, flight, landing on flat feet.

The human is seen from the feet (`colloc.models.human.stance`), which do not bend: slides carry them forward and up, and
a hinge in the balls turns them. The ground acts on the feet through these three joints: nothing in flight, and no
moment about the balls while the heels are up. Feet hit the ground with heels and balls at once, a rigid impact. Torques
fall with the joints' speeds (`colloc.models.human.strength`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, radians
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.stance import FORWARD, PITCH, ROLL, VERTICAL, on_foot
from colloc.models.human.strength import SPEEDS, strength

FRICTION = 0.8
EFFORT, SMOOTH = 0.3, 1e-5  # m and m s3 of height that a second of full torques, and of 1 rad/s2 everywhere, are worth
PUSH = 0.7  # s, on flat feet from standing still
GROUND = (VERTICAL, FORWARD, ROLL)


@dataclass(frozen=True, eq=False)
class Jump:
    """A jumper on both feet, and the problems of the phases.

    Parameters
    ----------
    jumper : Human
        As `jumper2d` returns it, or `symmetric` one in three dimensions.
    """

    jumper: Human

    @cached_property
    def human(self) -> Human:
        """The jumper as seen from the feet, which turn about their balls."""
        return on_foot(self.jumper, "both").frozen({PITCH: 0.0})

    @cached_property
    def model(self) -> co.Model:
        """The same without torque limits, for which `strength` stands."""
        return self.human.strengthless.model

    @property
    def weight(self) -> float:
        """Body weight [N]."""
        return self.human.mass * float(np.linalg.norm(self.model.gravity))

    @cached_property
    def foot(self) -> tuple[float, float]:
        """Distances of the heel behind the ball, and of the toe ahead of it [m]."""
        stand = ca.SX(ca.DM(self.jumper.standing))
        heel, ball, toe = (
            float(co.model.point_motion(self.jumper.model, *point, q=stand).position[2])
            for point in self.jumper.feet["both"]
        )
        return ball - heel, toe - ball

    def joint(self, name: str) -> int:
        """Index of a joint."""
        return self.model.joint_names.index(name)

    def rising_speed(self, now: co.problem.Instant) -> ca.SX:
        """Speed at which the centre of mass rises [m/s]."""
        return co.dynamics.momentum(now.model, now.q, now.qd).linear[1] / self.human.mass

    def apex(self, now: co.problem.Instant) -> ca.SX:
        """Height to which the centre of mass would fly from here [m]."""
        g = self.weight / self.human.mass
        return co.dynamics.center_of_mass(now.model, now.q)[1] + self.rising_speed(now) ** 2 / (2 * g)

    @cached_property
    def ease(self) -> co.problem.Cost:
        """Cost of a phase: small torques and accelerations."""
        lower, upper = self.human.model.limits("torque")
        inner = [j for j, name in enumerate(self.model.joint_names) if name not in GROUND]
        size = ca.DM(((upper - lower) / 2)[inner])
        torques = co.integral(lambda now: ca.sumsqr(now.tau[inner] / size) / len(inner), "effort")
        return EFFORT * torques + SMOOTH * co.integral(lambda now: ca.sumsqr(now.qdd[inner]), "accelerations")

    def phase(
        self, duration: co.Free | float, *stated: co.problem.Condition, cost: co.problem.Cost | None = None
    ) -> co.Problem:
        """A phase in which torques are possible at the joints' speeds."""
        muscles = co.path(strength(self.human), lower=0.0, name="strength")
        names, (lower, upper) = self.model.joint_names, self.human.model.limits("torque")
        # Of the others no more is known than their isometric torques.
        others = {name: (lower[j], upper[j]) for j, name in enumerate(names) if name not in (*SPEEDS, *GROUND)}
        isometric = [co.bounds(tau=others)] if others else []
        return co.Problem(self.model, duration, self.ease if cost is None else cost, [*stated, muscles, *isometric])

    def on_the_ground(self, *, flat: bool) -> list[co.problem.Condition]:
        """The balls where they are, heels down or up, the ground only pushing, within friction and the feet."""
        y, z, turn = (self.joint(name) for name in GROUND)
        behind, ahead = self.foot

        def pushes(now: co.problem.Instant) -> ca.SX:
            up, forward = now.tau[y], now.tau[z]
            return ca.vertcat(FRICTION * up - forward, FRICTION * up + forward) / self.weight

        def pressed(now: co.problem.Instant) -> ca.SX:
            return ca.vertcat(now.tau[turn] + ahead * now.tau[y], behind * now.tau[y] - now.tau[turn]) / self.weight

        held = {VERTICAL: (0.0, 0.0), FORWARD: (0.0, 0.0), ROLL: (0.0, 0.0 if flat else radians(85))}
        force = co.path(pushes, lower=0.0, unit="BW", name="friction")
        if flat:
            return [co.bounds(q=held), force, co.path(pressed, lower=0.0, unit="BW m", name="pressure")]
        return [co.bounds(q=held, tau={ROLL: (0.0, 0.0)}), force]

    @cached_property
    def push(self) -> co.Problem:
        """From standing, on flat feet."""
        stand = co.initial(q=self.human.standing, qd=0.0)
        return self.phase(PUSH, stand, *self.on_the_ground(flat=True))

    @cached_property
    def toes(self) -> co.Problem:
        """On the balls, and off as high as can be."""
        height = co.final_cost(self.apex, "height")
        return self.phase(co.Free(0.03, 0.6, 0.2), *self.on_the_ground(flat=False), cost=self.ease - height)

    @cached_property
    def flight(self) -> co.Problem:
        """Without any force from the ground, until the feet are flat where they were."""
        ranges = {VERTICAL: (0.0, inf), ROLL: (0.0, radians(85))}
        alone = co.bounds(q=ranges, tau=dict.fromkeys(GROUND, (0.0, 0.0)))
        return self.phase(co.Free(0.2, 1.0, 0.5), alone, co.final(q=dict.fromkeys(GROUND, 0.0)))

    @cached_property
    def landing(self) -> co.Problem:
        """On flat feet to rest in any posture."""
        return self.phase(co.Free(0.2, 1.0, 0.5), *self.on_the_ground(flat=True), co.final(qd=0.0))

    @property
    def sequence(self) -> co.Phases:
        """The whole jump, in which the ground's impulses push and keep within friction as well."""

        def pushes(phases: Mapping[str, Any]) -> ca.SX:
            heel, ball, forward = ca.vertsplit(phases["landing"].start.impulse)
            limit = FRICTION * (heel + ball)
            return ca.vertcat(heel, ball, limit - forward, limit + forward)

        phases = {"push": self.push, "toes": self.toes, "flight": self.flight, "landing": self.landing}
        impact = co.impact("flight", "landing", {"heel": "y", "ball": "yz"})
        return co.Phases(phases, [impact, co.boundary(pushes, lower=0.0, unit="N s", name="impulse")])

    def posture(self, **joints: float) -> np.ndarray:
        """Upright, but for some joints; those that are held are left out."""
        stand = zip(self.model.joint_names, self.human.standing, strict=True)
        return np.array([joints.get(name, angle) for name, angle in stand])

    def guess(self) -> dict[str, dict[float, np.ndarray]]:
        """Postures of every phase at fractions of its duration, drawn from watching people jump."""
        stand = self.posture()
        crouch = self.posture(
            ankle_dorsiflexion=0.4, knee_flexion=1.5, hip_flexion=1.5, shoulder_flexion=-0.6, elbow_flexion=0.3
        )
        off = self.posture(
            stance_roll=0.7, ankle_dorsiflexion=-0.5, knee_flexion=0.2, hip_flexion=0.1, shoulder_flexion=1.5
        )
        touch = self.posture(ankle_dorsiflexion=0.2, knee_flexion=0.6, hip_flexion=0.6, shoulder_flexion=1.5)
        up = (off + touch) / 2 + self.posture(stance_vertical=0.3)
        low = self.posture(ankle_dorsiflexion=0.45, knee_flexion=1.5, hip_flexion=1.5, shoulder_flexion=0.8)
        return {
            "push": {0.0: stand, 0.6: crouch, 1.0: 0.6 * crouch},
            "toes": {0.0: 0.6 * crouch, 1.0: off},
            "flight": {0.0: off, 0.5: up, 1.0: touch},
            "landing": {0.0: touch, 0.5: low, 1.0: low},
        }
