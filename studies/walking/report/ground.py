"""Ground reactions of a predicted step, and a second opinion on them.

The problem sees the human from the right foot. `pelvis_torques` puts its motion into the coordinates of the skeleton as
it is described, carried by its pelvis, and loads both feet with what the problem says of the ground: nothing must be
left to the virtual joints of the pelvis then.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.walking.forces import left, right
from colloc.studies.walking.posture import pelvis_angles
from colloc.studies.walking.step import Step

LOADED = 0.03  # of body weight: below, a foot has no centre of pressure worth drawing


@dataclass(frozen=True, eq=False)
class Ground:
    """Ground reactions of the step at normalised times s, wrenches about the world's origin.

    Parameters
    ----------
    s : ndarray, shape (N,)
    right, left, whole : ndarray, shape (N, 6)
        Force over body weight, moment over body weight times 1 m.
    """

    s: np.ndarray
    right: np.ndarray
    left: np.ndarray
    whole: np.ndarray

    @staticmethod
    def pressure(wrench: np.ndarray) -> np.ndarray:
        """Centre of pressure (x, z) [m], shape (N, 2); NaN where hardly anything presses."""
        fy = np.where(wrench[:, 1] > LOADED, wrench[:, 1], np.nan)
        return np.column_stack([wrench[:, 5] / fy, -wrench[:, 3] / fy])


def ground_reactions(step: Step, solution: co.Solution, s: np.ndarray) -> Ground:
    """Wrenches of both feet and of the whole at normalised times."""

    def wrenches(now: co.problem.Instant) -> tuple[ca.SX, ...]:
        return tuple(ca.vertcat(*wrench) / step.weight for wrench in (right(step, now), left(step, now), now.support))

    return Ground(s, *solution.evaluate(wrenches, s * solution.duration))


def pelvis_torques(step: Step, solution: co.Solution, s: np.ndarray) -> dict[str, np.ndarray]:
    """Torques of the human on its pelvis at normalised times, by joint, each shape (N,) [N m, N]."""
    model = step.human.model

    def torques(now: co.problem.Instant) -> ca.SX:
        q, qd, qdd = pelvis_coordinates(step, now)
        loads = []
        for side, wrench in (("r", right(step, now)), ("l", left(step, now))):
            body = step.human.feet[side].ball.body
            place = co.model.point_motion(model, body, q=q).position
            loads.append(co.Load(body, wrench.force, wrench.about(place)))
        return co.dynamics.newton_euler(model, q, qd, qdd, loads)

    return dict(zip(model.joint_names, solution.evaluate(torques, s * solution.duration).T, strict=True))


def pelvis_coordinates(step: Step, now: co.problem.Instant) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Coordinates of the human on its pelvis and their rates, SX, each shape (n,), as functions of an instant."""
    place = now.point(*step.stance.landmarks["pelvis"]).position
    angles = pelvis_angles(step, now)
    turns = step.human.virtual[-angles.shape[0] :]
    axes = {"lateral": 0, "vertical": 1, "forward": 2}
    slides = [name for name in step.human.virtual if name not in turns]
    known = dict(zip(step.stance.model.joint_names, ca.vertsplit(now.q), strict=True))
    known |= {name: place[axes[name.rpartition("_")[2]]] for name in slides}
    known |= dict(zip(turns, ca.vertsplit(angles), strict=True))
    q = ca.vertcat(*(known[name] for name in step.human.model.joint_names))
    qd = ca.jtimes(q, now.q, now.qd)
    qdd = ca.jtimes(qd, ca.vertcat(now.q, now.qd), ca.vertcat(now.qd, now.qdd))
    return q, qd, qdd
