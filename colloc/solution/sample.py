"""Results of `Solution.at` and `Solution.reactions`, and arrays whose last axis is indexed by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from colloc.support.checks import InputError, quoted, unknown_name
from colloc.support.named import Named


class NamedArray(np.ndarray):
    """Values of all components of a signal, shape (..., size); `tau["elbow"]` is one component, shape (...,).

    A name may follow other indices: `tau[0, "elbow"]`. Components are joints, in the order of q, or have the names of
    an `Unknown` or a `State`. Slices and results of computations are plain ndarrays.
    """

    names: tuple[str, ...]
    noun: str

    def __new__(cls, values: np.ndarray, names: Sequence[str], noun: str = "joint") -> NamedArray:
        array = np.asarray(values).view(cls)
        array.names, array.noun = tuple(names), noun
        return array

    def __array_finalize__(self, source: Any) -> None:
        self.names, self.noun = (), "component"  # a view or a copy may have other columns

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not any(isinstance(part, str) for part in parts):
            return np.asarray(self)[key]
        *before, name = parts
        if not isinstance(name, str) or any(isinstance(part, str) for part in before):
            raise InputError(
                f'the name of a {self.noun} must be the last index, as in tau[0, "elbow"], got {quoted(key)}'
            )
        if not self.names:
            raise InputError(f"{self._nameless}, got {quoted(key)}")
        if name not in self.names:
            raise unknown_name(self.noun, name, self.names)
        return np.asarray(self)[..., self.names.index(name)][tuple(before)]

    @property
    def _nameless(self) -> str:
        if self.noun == "component":
            return "a slice or a result of a computation has no names of components"
        return f"a {self.noun} has no name here; name the components by co.Unknown(..., names=(...))"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedArray, (np.asarray(self), self.names, self.noun)


@dataclass(frozen=True)
class Sample(Named[NamedArray]):
    """The motion at N times, or at one time; `sample["elbow"]` is the motion of one joint.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    q, qd, qdd, tau : ndarray, shape (N, n)
        [rad, m] and per s, per s2; [N m, N]. No first axis for a single time. `tau["elbow"]` has shape (N,).
    signals : dict of str to ndarray, shape (N, size)
        Unknown signals and states, also available as attributes: `sample.activation["biceps"]`.

    Examples
    --------
    >>> sample = solution.at([0.1, 0.2])
    >>> sample.t, sample.q.shape
    (array([0.1, 0.2]), (2, 2))
    """

    _noun = "quantity of a sample"

    t: np.ndarray
    q: NamedArray
    qd: NamedArray
    qdd: NamedArray
    tau: NamedArray
    signals: dict[str, NamedArray]

    def __getitem__(self, joint: str) -> JointSample:
        if joint in self.qd.names and joint not in self.q.names:
            raise InputError(
                f"joint {joint!r} is part of a ball joint: q holds its quaternion, qd[{joint!r}] its velocity"
            )
        return JointSample(self.t, *(getattr(self, name)[joint] for name in ("q", "qd", "qdd", "tau")))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.q.names)

    def _named(self) -> dict[str, NamedArray]:
        return self.signals

    def _legal(self) -> list[str]:
        return [*(f.name for f in fields(self)), *self.signals]


def read_only(sample: Sample) -> Sample:
    """The sample, whose arrays cannot be changed: a solution keeps it."""
    for array in (sample.t, sample.q, sample.qd, sample.qdd, sample.tau, *sample.signals.values()):
        array.flags.writeable = False
    return sample


class JointSample(NamedTuple):
    """The motion of one joint at N times, or at one time.

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
    """Net force and moment that the parent exerts on each body at its joint, over time; muscles are a part of it.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    force : ndarray, shape (N, n_bodies, 3) [N]
    moment : ndarray, shape (N, n_bodies, 3) [N m]
        About the joint's origin. Both in the axes of the body's link frame.
    bodies : tuple of str
        Names of the bodies, in the order of the second axis.
    """

    t: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    bodies: tuple[str, ...]
