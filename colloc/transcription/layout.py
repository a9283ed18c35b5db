"""The layout of a decision vector: which entries are what, and their bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from colloc.problem import Problem, State, Unknown, Window
from colloc.support.checks import InputError
from colloc.support.lazy import cached_property


@dataclass(frozen=True, eq=False)
class Layout:
    """Named entries of a decision vector, one motion's: control points, then its duration and its constants.

    Parameters
    ----------
    tables : dict of str to ndarray of int, shape (points, size)
        Control points of the joints, "q", of all signals side by side, "signals", and of all states, "states".
    duration : ndarray of int, shape (1,)
    constants : dict of str to ndarray of int, shape (size,)
    lower, upper : ndarray
        Bounds of this motion's entries.
    offset : int
        Where they begin in the decision vector.
    """

    tables: dict[str, np.ndarray]
    duration: np.ndarray
    constants: dict[str, np.ndarray]
    lower: np.ndarray
    upper: np.ndarray
    offset: int = 0

    def __getitem__(self, quantity: str) -> np.ndarray:
        return self.tables[quantity]

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.lower.size

    @cached_property
    def shared(self) -> np.ndarray:
        """Entries that do not vary along the motion: the duration, then the constants."""
        return np.concatenate([self.duration, *self.constants.values()])

    @property
    def names(self) -> dict[str, np.ndarray]:
        """All entries by name, for reports; what the layout does not have left out."""
        found = self.tables | {"duration": self.duration} | self.constants
        return {name: index for name, index in found.items() if index.size}

    def filled(self, values: Mapping[str, Any]) -> np.ndarray:
        """This motion's part of a decision vector, ndarray, shape (size,), from values by name; zeros elsewhere."""
        x, names = np.zeros(self.size), self.names
        for name in names.keys() & values.keys():
            x[names[name] - self.offset] = values[name]
        return x

    def narrowed(self, problem: Problem, chosen: np.ndarray | slice, limits: _Limits) -> Layout:
        """The same with narrower bounds on some control points of the joints.

        Parameters
        ----------
        problem : Problem
            For its joints' names.
        chosen : ndarray of bool or slice
            Points.
        limits : (Window, ndarray, ndarray)
            Part of the motion, and lower and upper bounds, each shape (n,).

        Raises
        ------
        InputError
            If nothing is left between the bounds.
        """
        window, low, high = limits
        index = self["q"][chosen]
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[index - self.offset] = np.maximum(lower[index - self.offset], low)
        upper[index - self.offset] = np.minimum(upper[index - self.offset], high)
        for k in np.flatnonzero((lower > upper)[index - self.offset].any(axis=0)):
            joint = problem.model.position_names[k]
            raise InputError(f"bounds on q[{joint}] during {window.start:g} .. {window.end:g} contradict others")
        return replace(self, lower=lower, upper=upper)


class End(NamedTuple):
    """Which variables the motion depends on at its start or end.

    Derivative k of joint j with respect to the normalised time is the sum over i of weight[k, i] x[index[i, j]].

    Parameters
    ----------
    index : ndarray of int, shape (3, n)
        For q, qd and qdd.
    weight : ndarray, shape (3, 3)
        Lower triangular.
    constant : bool
        Whether the weights are, and not only that points which are all the same give no derivatives.
    """

    index: np.ndarray
    weight: np.ndarray
    constant: bool = True


_Limits = tuple[Window, np.ndarray, np.ndarray]


def lay_out(problem: Problem, q: int, signals: int, offset: int = 0) -> Layout:
    """Layout of a problem's motion: point after point, control points of joints, then of signals, then of states.

    Parameters
    ----------
    problem : Problem
    q, signals : int
        Numbers of control points of every joint and every signal; states have those of the joints' velocities, one
        less.
    offset : int
        Where the motion's entries begin in the decision vector.
    """
    own = {"q": np.array(problem.limits("q")), "signals": _side_by_side(problem.signals)}
    own["states"] = _side_by_side(problem.states)
    points, index, start = {"q": q, "signals": signals, "states": q - 1}, {}, offset
    for name, limits in own.items():
        size = points[name] * limits.shape[1]
        index[name] = start + np.arange(size).reshape(points[name], limits.shape[1])
        start += size
    ends = start + np.cumsum([0, 1, *(u.size for u in problem.constants)])
    duration, *constants = (np.arange(a, b) for a, b in pairwise(ends))
    named = dict(zip((u.name for u in problem.constants), constants, strict=True))
    shared = np.hstack([[[problem.horizon.lower], [problem.horizon.upper]], _side_by_side(problem.constants)])
    lower, upper = np.hstack([*(np.tile(limits, points[name]) for name, limits in own.items()), shared])
    return Layout(index, duration=duration, constants=named, lower=lower, upper=upper, offset=offset)


def _side_by_side(unknowns: Sequence[Unknown | State]) -> np.ndarray:
    """Lower and upper bounds of some unknowns, shape (2, size)."""
    return np.hstack([np.zeros((2, 0)), *([u.lower, u.upper] for u in unknowns)])
