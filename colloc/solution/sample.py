"""Results of `Solution.at` and `Solution.reactions`, and arrays that know joints by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from colloc.support.checks import InputError, quoted, unknown_name
from colloc.support.named import Named


class JointArray(np.ndarray):
    """Values of all joints, shape (..., n), in the order of q; `tau["elbow"]` are those of one, shape (...,).

    After other indices as well: `tau[0, "elbow"]`.

    In all else an array as any other: what is sliced or computed from it is a plain ndarray.
    """

    joints: tuple[str, ...]

    def __new__(cls, values: np.ndarray, joints: Sequence[str]) -> JointArray:
        array = np.asarray(values).view(cls)
        array.joints = tuple(joints)
        return array

    def __array_finalize__(self, source: Any) -> None:
        self.joints = ()  # a view or a copy may have other columns

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not any(isinstance(part, str) for part in parts):
            return np.asarray(self)[key]
        *before, joint = parts
        if not isinstance(joint, str) or any(isinstance(part, str) for part in before):
            raise InputError(f'the name of a joint stands alone or last, as in tau[0, "elbow"], got {quoted(key)}')
        if not self.joints:
            raise InputError(f"an array made of another one does not know joints by name, got {quoted(key)}")
        if joint not in self.joints:
            raise unknown_name("joint", joint, self.joints)
        return np.asarray(self)[..., self.joints.index(joint)][tuple(before)]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.joints)

    def __reduce__(self) -> tuple[Any, ...]:
        return JointArray, (np.asarray(self), self.joints)


@dataclass(frozen=True)
class Sample(Named[np.ndarray]):
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

    _noun = "quantity of a sample"

    t: np.ndarray
    q: JointArray
    qd: JointArray
    qdd: JointArray
    tau: JointArray
    signals: dict[str, np.ndarray]

    def __getitem__(self, joint: str) -> JointSample:
        if joint in self.qd.joints and joint not in self.q.joints:
            raise InputError(
                f"joint {joint!r} is part of a ball joint: q has its quaternion, qd[{joint!r}] its velocity"
            )
        return JointSample(self.t, *(getattr(self, name)[joint] for name in ("q", "qd", "qdd", "tau")))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.q.joints)

    def _named(self) -> dict[str, np.ndarray]:
        return self.signals

    def _legal(self) -> list[str]:
        return [*(f.name for f in fields(self)), *self.signals]


class JointSample(NamedTuple):
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
