"""Result types of `Solution.at` and `Solution.reactions`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from colloc.checks import unknown_name


@dataclass(frozen=True)
class Sample:
    """The motion at N times, or at one.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    q, qd, qdd, tau : ndarray, shape (N, n)
        [rad, m] and per s, per s2; [N m, N]. Without the first axis for a single time.
    signals : dict of str to ndarray, shape (N, size)
        The unknown signals and the states; also attributes under their own names.

    Examples
    --------
    >>> sample = solution.at([0.1, 0.2])
    >>> sample.t, sample.q.shape
    (array([0.1, 0.2]), (2, 2))
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    signals: dict[str, np.ndarray]

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.signals:
            legal = [*(f.name for f in fields(self)), *self.signals]
            raise AttributeError(str(unknown_name("quantity of a sample", name, legal)))
        return self.signals[name]


class JointReactions(NamedTuple):
    """Internal force and moment of every joint over time: what the parent exerts on the body.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    force : ndarray, shape (N, n_bodies, 3) [N]
    moment : ndarray, shape (N, n_bodies, 3) [N m]
        About the joint's origin. Both in the axes of the body's link frame.
    """

    t: np.ndarray
    force: np.ndarray
    moment: np.ndarray
