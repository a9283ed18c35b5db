"""Result types of `Solution.at` and `Solution.reactions`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from colloc.solution.by_joint import ByJoint
from colloc.support.checks import unknown_name


@dataclass(frozen=True)
class Sample:
    """The motion at N times, or at one; `sample["elbow"]` is that of one joint.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    q, qd, qdd, tau : ndarray, shape (N, n)
        [rad, m] and per s, per s2; [N m, N]. Without the first axis for a single time. `tau["elbow"]` is that of one
        joint, shape (N,).
    signals : dict of str to ndarray, shape (N, size)
        The unknown signals and the states; also attributes under their own names.

    Examples
    --------
    >>> sample = solution.at([0.1, 0.2])
    >>> sample.t, sample.q.shape
    (array([0.1, 0.2]), (2, 2))
    """

    t: np.ndarray
    q: ByJoint
    qd: ByJoint
    qdd: ByJoint
    tau: ByJoint
    signals: dict[str, np.ndarray]

    def __getitem__(self, joint: str) -> JointMotion:
        return JointMotion(self.t, *(getattr(self, name)[joint] for name in ("q", "qd", "qdd", "tau")))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.q.joints)

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.signals:
            legal = [*(f.name for f in fields(self)), *self.signals]
            raise AttributeError(str(unknown_name("quantity of a sample", name, legal)))
        return self.signals[name]


class JointMotion(NamedTuple):
    """The motion of one joint at N times, or at one.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    q, qd, qdd, tau : ndarray, shape (N,)
        [rad] or [m] and per s, per s2; [N m] or [N].
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


class JointReactions(NamedTuple):
    """Internal force and moment of every joint over time: what the parent exerts on the body.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    force : ndarray, shape (N, n_bodies, 3) [N]
    moment : ndarray, shape (N, n_bodies, 3) [N m]
        About the joint's origin. Both in the axes of the body's link frame.
    bodies : tuple of str
        Names of the bodies, in this order.
    """

    t: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    bodies: tuple[str, ...]
