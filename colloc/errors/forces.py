"""The largest forces that hold passive joints between nodes.

A motion may deviate little although it is held by much for a moment: a body in flight by a fifth of its weight, in
alternating directions. Such torques are compared with the largest torque that acts at the joint. The error is a quarter
of the square of that share: torques are off by the square of an interval's width, the motion by its fourth power. So a
fifth counts like a position that is off by a hundredth, and 6 % like one that is off by a thousandth. Refinement aims
at a share below the tolerance: a body in flight is then held by a thousandth of its weight at 1e-3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from colloc.errors.motion import Motion
from colloc.errors.source import Source

_COUNTS = 0.25


@dataclass(frozen=True, eq=False)
class ForceError(Source):
    """The error of torques that equations prescribe, such as those of passive joints.

    Parameters
    ----------
    joints : ndarray of str, shape (intervals,)
        The joint with the largest error on every interval.
    """

    joints: np.ndarray

    @property
    def judged_alone(self) -> bool:
        """True: the effect of these forces on the motion is part of the equations' error."""
        return True

    def aim(self, tol: float) -> float:
        """The share itself is to be below the tolerance."""
        return _COUNTS * tol**2

    def described(self, t: np.ndarray) -> str:
        """A sentence about the joint with the largest error; t has the ends of the intervals [s]."""
        share = f"{np.sqrt(self.total / _COUNTS):.0%} of the largest force that acts there"
        return f"{self.sentence.format(joint=self.joints[self.worst], share=share)} ({self.place(t)})"

    def joined(self, later: Sequence[Self]) -> Self:
        """See `Source.joined`."""
        joints = np.concatenate([phase.joints for phase in (self, *later)])
        return replace(super().joined(later), joints=joints)


def force_error(motion: Motion) -> ForceError:
    """Deviation of torques from the values that equations prescribe, relative to the largest that act."""
    push = motion.torques.push
    intervals, names = len(push), motion.nlp.problem.model.joint_names
    worst = push.max(axis=1, initial=0.0)
    return ForceError(
        _COUNTS * worst**2,
        _COUNTS * float(worst.max()) ** 2,
        adds_up=False,
        sentence="between nodes the passive joint {joint} is held by {share}",
        joints=np.array(names)[push.argmax(axis=1)] if names else np.full(intervals, ""),
    )
