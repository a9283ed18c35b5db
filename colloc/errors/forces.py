"""Forces that hold what nothing drives, at their largest.

What strays little may be held by much for a moment: a body in flight by a fifth of its weight, this way and that. Such
torques are compared with the largest that act at the joint. A quarter of the square of that share counts: where torques
are off by the square of an interval's width, the motion is by its fourth power. So a fifth is as wrong as a position
that is off by a hundredth, and 6 % as one that is off by a thousandth.
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
    """The error of torques that equations fix, as those of passive joints.

    Parameters
    ----------
    joints : ndarray of str, shape (intervals,)
        The joint with the largest error on every interval.
    """

    joints: np.ndarray

    @property
    def stands_alone(self) -> bool:
        """True: how far these forces move the motion is a matter of the equations."""
        return True

    def described(self, t: np.ndarray) -> str:
        """A sentence on the joint that is held most; t has the ends of the intervals [s]."""
        share = f"{np.sqrt(self.total / _COUNTS):.0%} of the largest force that acts there"
        return f"{self.sentence.format(joint=self.joints[self.worst], share=share)} ({self.place(t)})"

    def joined(self, later: Sequence[Self]) -> Self:
        """This error in one phase and in those that follow, as that of a motion in phases."""
        joints = np.concatenate([phase.joints for phase in (self, *later)])
        return replace(super().joined(later), joints=joints)


def force_error(motion: Motion) -> ForceError:
    """By how much torques miss the values that equations fix, relative to the largest that act."""
    push = motion.torques.push
    intervals, names = len(push), motion.nlp.problem.model.joint_names
    worst = push.max(axis=1, initial=0.0)
    return ForceError(
        _COUNTS * worst**2,
        _COUNTS * float(worst.max()) ** 2,
        adds_up=False,
        sentence="between nodes {joint} is held by {share}, though nothing drives it",
        joints=np.array(names)[push.argmax(axis=1)] if names else np.full(intervals, ""),
    )
