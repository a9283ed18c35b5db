"""A step of running as two phases, stance on the right ball and flight, whose mirror image is the next step.

The ground acts on the ball of the right foot, which keeps its place through the stance and meets the ground without an
impact, by a force that grows from nothing and falls to nothing; nothing drives the joints that carry the pelvis.
Torques fall with the joints' speeds (`colloc.models.human.strength`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import pi
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.strength import SPEEDS, strength

FRICTION = 0.8
SMOOTH = 1e-5  # s4: what squared accelerations of 1 rad/s2 are worth beside squares of full torques
RATE = 50.0  # body weights a second, of the ground's force, which grows as fast as muscles do
LEAN = (0.0, 0.2)  # rad, of the trunk
BESIDE = 0.04  # m, of the ball from the midline, out of the plane


@dataclass(frozen=True, eq=False)
class Step:
    """A runner, and the problem of a step.

    Parameters
    ----------
    runner : Human
        As `runner2d` returns it, or one in three dimensions with the same markers.
    speed : float [m/s]
    duration : float [s]
        Duration of a step, from the touch-down of one foot to that of the other.
    """

    runner: Human
    speed: float = 3.0
    duration: float = 0.36

    @property
    def weight(self) -> float:
        """Body weight [N]."""
        return self.runner.mass * float(np.linalg.norm(self.runner.model.gravity))

    @cached_property
    def inner(self) -> list[int]:
        """Indices of the joints that muscles drive."""
        names = self.runner.model.joint_names
        return [j for j, name in enumerate(names) if name not in self.runner.virtual]

    @property
    def planar(self) -> bool:
        """Whether the runner moves in the plane x = 0."""
        return "pelvis_tx_lateral" not in self.runner.model.joint_names

    @cached_property
    def isometric(self) -> dict[str, tuple[float, float]]:
        """Torque limits of joints of which no more is known: those for which `strength` does not stand."""
        lower, upper = self.runner.model.limits("torque")
        names = self.runner.model.joint_names
        known = {f"{stem}{end}" for stem in SPEEDS for end in ("", "_r", "_l")}
        return {names[j]: (lower[j], upper[j]) for j in self.inner if names[j] not in known}

    @cached_property
    def ease(self) -> co.problem.Cost:
        """Cost of a phase: small torques and accelerations."""
        lower, upper = self.runner.model.limits("torque")
        size = ca.DM(((upper - lower) / 2)[self.inner])
        effort = co.integral(lambda now: ca.sumsqr(now.tau[self.inner] / size) / len(self.inner), "effort")
        return effort + SMOOTH * co.integral(lambda now: ca.sumsqr(now.qdd[self.inner]), "accelerations")

    def phase(self, duration: co.Free, contact: str | None) -> co.Problem:
        """A phase on the ball of one foot or in the air, with the others above the ground."""
        apart = [mark for mark in ("heel_r", "ball_r", "heel_l", "ball_l", "toe_l") if mark != contact]

        def heights(now: co.problem.Instant) -> ca.SX:
            return ca.vertcat(*(now.marker(mark).position[1] for mark in apart))

        stated = [
            co.bounds(
                q={self.runner.virtual[-1]: LEAN},
                tau=dict.fromkeys(self.runner.virtual, (0.0, 0.0)) | self.isometric,
            ),
            co.path(strength(self.runner), lower=0.0, name="strength"),
            co.path(heights, lower=0.0, unit="m", name="above the ground"),
        ]
        model = self.runner.strengthless.model
        if contact is None:
            return co.Problem(model, duration, self.ease, stated)
        body, at = self.runner.landmarks[contact]
        size, seen = (2, slice(1, 3)) if self.planar else (3, slice(0, 3))
        most, least = [3.0, 6.0, 3.0], [-3.0, 0.0, -3.0]
        # Forward, up and to the left, over weight.
        force = co.Unknown("force", size, guess=[0.0, 1.5, 0.0][:size], lower=least[:size], upper=most[:size])

        def pushed(now: co.problem.Instant) -> ca.SX:
            return self.weight * ca.vertcat(0 if self.planar else now.force[2], now.force[1], now.force[0])

        def grips(now: co.problem.Instant) -> ca.SX:
            along = [now.force[k] for k in range(size) if k != 1]
            return ca.vertcat(*(FRICTION * now.force[1] + sign * part for part in along for sign in (-1, 1)))

        none = [0.0] * size
        load = co.Load(body, pushed, point=at)
        stated += [
            co.at(0.0, lambda now: now.force, equals=none, unit="BW", name="touch-down"),
            co.at(1.0, lambda now: now.force, equals=none, unit="BW", name="take-off"),
            co.path(
                lambda now: now.marker(contact).position[seen], equals=[-BESIDE, 0.0, 0.0][seen], unit="m",
                name="place of the ball",
            ),
            co.path(lambda now: now.rate("force"), lower=-RATE, upper=RATE, unit="BW/s", name="rate of the force"),
            co.path(grips, lower=0.0, unit="BW", name="friction"),
        ]  # fmt: skip
        return co.Problem(model, duration, self.ease, stated, [force], loads=[load])

    @property
    def sequence(self) -> co.Phases:
        """Stance and flight, which end as the mirror image of how they begin, a step ahead."""
        names, mirror = self.runner.model.joint_names, self.runner.mirror
        mirrored = {
            name: (names[k], float(sign)) for name, k, sign in zip(names, mirror.partners, mirror.signs, strict=True)
        }
        forward = names.index("pelvis_tz_forward")

        def gone(phases: Mapping[str, Any]) -> ca.SX:
            return phases["flight"].end.q[forward] - phases["stance"].start.q[forward]

        return co.Phases(
            {
                "stance": self.phase(co.Free(0.1, 0.4, 0.65 * self.duration), "ball_r"),
                "flight": self.phase(co.Free(0.03, 0.3, 0.35 * self.duration), None),
            },
            [
                co.connect("flight", "stance", joints=mirrored, jumps=["pelvis_tz_forward"]),
                co.boundary(gone, equals=self.speed * self.duration, unit="m", name="length"),
            ],
            duration=self.duration,
        )

    def guess(self) -> dict[str, dict[float, np.ndarray]]:
        """Postures of both phases at fractions of their durations, drawn from watching people run."""
        stand = dict(zip(self.runner.model.joint_names, self.runner.standing, strict=True))

        def posture(forward: float, height: float, **joints: float) -> np.ndarray:
            placed = {"pelvis_tz_forward": forward, "pelvis_ty_vertical": height * self.runner.pelvis_height}
            bent = {"elbow_flexion_r": pi / 2, "elbow_flexion_l": pi / 2, self.runner.virtual[-1]: 0.1}
            values = stand | placed | bent | joints
            return np.array([values[name] for name in self.runner.model.joint_names])

        length = self.speed * self.duration
        touch = {"hip_flexion": (0.5, -0.1), "knee_flexion": (0.4, 1.2), "shoulder_flexion": (-0.6, 0.4)}
        right = {
            f"{name}_{side}": angle for name, pair in touch.items() for side, angle in zip("rl", pair, strict=True)
        }
        left = {f"{name}_{side}": angle for name, pair in touch.items() for side, angle in zip("lr", pair, strict=True)}
        under = posture(
            0.05, 0.91, hip_flexion_r=0.2, knee_flexion_r=0.7, ankle_dorsiflexion_r=0.3, hip_flexion_l=0.3,
            knee_flexion_l=1.7,
        )  # fmt: skip
        off = posture(
            0.45 * length, 1.0, hip_flexion_r=-0.3, knee_flexion_r=0.3, ankle_dorsiflexion_r=-0.4, hip_flexion_l=0.8,
            knee_flexion_l=1.3, shoulder_flexion_r=0.4, shoulder_flexion_l=-0.6,
        )  # fmt: skip
        start, end = posture(-0.25, 0.96, **right), posture(length - 0.25, 0.96, **left)
        return {"stance": {0.0: start, 0.5: under, 1.0: off}, "flight": {0.0: off, 1.0: end}}
