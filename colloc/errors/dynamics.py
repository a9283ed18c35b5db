"""Deviation of a motion within its intervals under interpolated torques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from colloc.errors.motion import Motion
from colloc.errors.source import Source
from colloc.support.display import short


@dataclass(frozen=True, eq=False)
class DynamicsError(Source):
    """The error of the dynamics, by joint.

    Parameters
    ----------
    joints : tuple of str
    position : ndarray, shape (intervals, n) [rad, m]
        Deviation of each joint within an interval under the interpolated torques.
    torque : ndarray, shape (intervals, n)
        Required minus interpolated torque, relative to the largest torque of the joint (of any joint, if it is
        passive).
    """

    joints: tuple[str, ...]
    position: np.ndarray
    torque: np.ndarray

    def described(self, t: np.ndarray) -> str:
        """A sentence about the worst joint in the worst interval; t has the ends of the intervals [s]."""
        k = self.worst
        j = int(self.torque[k].argmax())
        more, deviation = f"{self.torque[k, j]:.0%}", short(self.position[k, j])
        return f"{self.sentence.format(joint=self.joints[j], more=more, deviation=deviation)} ({self.place(t)})"

    def joined(self, later: Sequence[Self]) -> Self:
        """See `Source.joined`; phases may have different joints."""
        phases = (self, *later)
        joints = tuple(dict.fromkeys(joint for phase in phases for joint in phase.joints))
        position, torque = (np.zeros((sum(len(phase.position) for phase in phases), len(joints))) for _ in range(2))
        first = 0
        for phase in phases:
            columns, end = [joints.index(joint) for joint in phase.joints], first + len(phase.position)
            position[first:end, columns], torque[first:end, columns] = phase.position, phase.torque
            first = end
        return replace(super().joined(later), joints=joints, position=position, torque=torque)


def dynamics_error(motion: Motion) -> DynamicsError:
    """Deviation in the worst interval, relative to 1 + the largest position (Betts 2010, section 4.7)."""
    torques = motion.torques
    relative = (torques.position / (1 + torques.size)).max(axis=1, initial=0.0)
    return DynamicsError(
        relative,
        float(relative.max(initial=0.0)),
        adds_up=False,
        sentence="between nodes {joint} needs {more} more than the interpolated torque and deviates by {deviation}",
        joints=motion.nlp.problem.model.joint_names,
        position=torques.position,
        torque=torques.torque,
    )
