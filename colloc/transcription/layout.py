"""The layout of a decision vector: which entries are what, and their bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from colloc.checks import InputError
from colloc.problem import Problem, Window


@dataclass(frozen=True, eq=False)
class Layout:
    """Named entries of a decision vector, one motion's: tables of points, then its duration and its constants.

    Parameters
    ----------
    tables : dict of str to ndarray of int, shape (points, size)
        Entries of every quantity in `Problem.quantities`: control points of a spline, or values at the nodes of a
        mesh; no points where they are not variables.
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

    def narrowed(self, problem: Problem, quantity: str, chosen: np.ndarray | slice, limits: _Limits) -> Layout:
        """The same with narrower bounds on some points of a joint quantity.

        Parameters
        ----------
        problem : Problem
            For its joints' names.
        quantity : "q", "qd" or "qdd"
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
        index = self[quantity][chosen]
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[index - self.offset] = np.maximum(lower[index - self.offset], low)
        upper[index - self.offset] = np.minimum(upper[index - self.offset], high)
        for k in np.flatnonzero((lower > upper)[index - self.offset].any(axis=0)):
            joint = problem.model.joint_names[k]
            raise InputError(
                f"bounds on {quantity}[{joint}] during {window.start:g} .. {window.end:g} contradict others"
            )
        return replace(self, lower=lower, upper=upper)


_Limits = tuple[Window, np.ndarray, np.ndarray]


def lay_out(problem: Problem, tables: Sequence[tuple[int, tuple[str, ...]]], offset: int = 0) -> Layout:
    """Layout of a problem's motion.

    Parameters
    ----------
    problem : Problem
    tables : sequence of (points, names)
        Entries point after point; at each point those of some quantities, side by side.
    offset : int
        Where the motion's entries begin in the decision vector.
    """
    columns = problem.quantities
    shared = [[[problem.horizon.lower], [problem.horizon.upper]], *([u.lower, u.upper] for u in problem.constants)]
    index = {name: np.zeros((0, limits.shape[1]), dtype=int) for name, limits in columns.items()}
    limits, start = [], offset
    for points, names in tables:
        row = np.hstack([columns[name] for name in names])
        table = start + np.arange(points * row.shape[1]).reshape(points, -1)
        ends = np.cumsum([columns[name].shape[1] for name in names])
        index |= dict(zip(names, np.split(table, ends[:-1], axis=1), strict=True))
        limits.append(np.tile(row, points))
        start += table.size
    ends = start + np.cumsum([0, 1, *(u.size for u in problem.constants)])
    duration, *constants = (np.arange(a, b) for a, b in pairwise(ends))
    lower, upper = np.hstack([*limits, *map(np.array, shared)])
    named = dict(zip((u.name for u in problem.constants), constants, strict=True))
    return Layout(index, duration=duration, constants=named, lower=lower, upper=upper, offset=offset)
