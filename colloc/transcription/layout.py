"""The layout of a decision vector: meaning and bounds of its entries, and the entries that each time depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.slices import Slices
from colloc.curves.spline_basis import SplineBasis
from colloc.problem import Problem, State, Unknown, Window
from colloc.support.checks import InputError
from colloc.support.lazy import cached_property


@dataclass(frozen=True, eq=False)
class Layout:
    """Named entries of the decision vector of one motion: control points, then its duration and its constants."""

    # each of shape (points, size); control points of the joints, "q", of all signals side by side, "signals", and of
    # all states, "states"
    tables: dict[str, np.ndarray]
    duration: np.ndarray  # ints, shape (1,)
    constants: dict[str, np.ndarray]  # each of shape (size,)
    lower: np.ndarray  # lower, upper: bounds of this motion's entries
    upper: np.ndarray
    offset: int = 0  # their first index in the decision vector

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
        """All entries by name, for reports, without empty ones."""
        entries = self.tables | {"duration": self.duration} | self.constants
        return {name: index for name, index in entries.items() if index.size}

    def filled(self, values: Mapping[str, Any]) -> np.ndarray:
        """The motion's part of a decision vector, shape (size,), from values by name, with zeros elsewhere."""
        x, names = np.zeros(self.size), self.names
        for name in names.keys() & values.keys():
            x[names[name] - self.offset] = values[name]
        return x

    def narrowed(self, problem: Problem, chosen: np.ndarray | slice, limits: _Limits) -> Layout:
        """The layout with narrower bounds on some control points of the joints; raise InputError if the bounds are
        empty.

        `limits` has the part of the motion, and lower and upper bounds, each shape (n,).
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
    """Variables on which the motion depends at its start or end.

    Derivative k of joint j with respect to the normalised time is the sum over i of weight[k, i] x[index[i, j]].
    """

    index: np.ndarray  # ints, shape (3, n); for q, qd and qdd
    weight: np.ndarray  # shape (3, 3); lower triangular
    # whether the weights are known, and not only that equal points have zero derivatives
    constant: bool = True


_Limits = tuple[Window, np.ndarray, np.ndarray]


def lay_out(problem: Problem, q: int, signals: int, offset: int = 0) -> Layout:
    """Layout of a problem's motion: point after point, control points of joints, then of signals, then of states.

    q and signals are numbers of control points; states have as many as joint velocities, one fewer than q. `offset` is
    the first index of the motion in the decision vector.
    """
    limits_of = {"q": np.array(problem.limits("q")), "signals": _side_by_side(problem.signals)}
    limits_of["states"] = _side_by_side(problem.states)
    points, index, start = {"q": q, "signals": signals, "states": q - 1}, {}, offset
    for name, limits in limits_of.items():
        size = points[name] * limits.shape[1]
        index[name] = start + np.arange(size).reshape(points[name], limits.shape[1])
        start += size
    ends = start + np.cumsum([0, 1, *(u.size for u in problem.constants)])
    duration, *constants = (np.arange(a, b) for a, b in pairwise(ends))
    named = dict(zip((u.name for u in problem.constants), constants, strict=True))
    shared = np.hstack([[[problem.horizon.lower], [problem.horizon.upper]], _side_by_side(problem.constants)])
    lower, upper = np.hstack([*(np.tile(limits, points[name]) for name, limits in limits_of.items()), shared])
    return Layout(index, duration=duration, constants=named, lower=lower, upper=upper, offset=offset)


def _side_by_side(unknowns: Sequence[Unknown | State]) -> np.ndarray:
    """Lower and upper bounds of some unknowns, shape (2, size)."""
    return np.hstack([np.zeros((2, 0)), *([u.lower, u.upper] for u in unknowns)])


class StaticUnknowns(NamedTuple):
    """The unknowns on which every slice depends, as symbols."""

    T: ca.SX
    constants: ca.SX
    # those that are not fixed. A fixed duration is a number: it stays in the decision vector for reading, but nothing
    # depends on it.
    symbols: ca.SX
    index: np.ndarray  # their entries in the decision vector


def static_unknowns(problem: Problem, layout: Layout) -> StaticUnknowns:
    """Duration and constants of a problem."""
    horizon = problem.horizon
    free = horizon.lower < horizon.upper
    T = ca.SX.sym("T") if free else ca.SX(horizon.lower)
    constants = ca.SX.sym("constants", sum(u.size for u in problem.constants))
    symbols = ca.vertcat(T, constants) if free else constants
    return StaticUnknowns(T, constants, symbols, layout.shared[layout.shared.size - symbols.shape[0] :])


def parameter_symbols(problem: Problem) -> ca.SX:
    """The problem's parameters in one column."""
    return problem.instant.slots.parameters


def spline_slices(basis: SplineBasis, points: np.ndarray, s: np.ndarray, interval: np.ndarray, orders: int) -> Slices:
    """Splines and their derivatives in s, as sums over the active control points of each interval."""
    count, width = basis.degree + 1, points.shape[1]
    index = points[np.minimum(basis.first[interval] + np.arange(count)[:, None], basis.size - 1)]
    values = np.stack([basis.values(s, derivative, interval).T for derivative in range(orders)])
    # A basis function that ends at a breakpoint is zero there, up to rounding.
    values[np.abs(values) < 1e-13 * np.abs(values).max(axis=(1, 2), keepdims=True, initial=0.0)] = 0.0
    row = np.repeat(np.arange(orders * width), count)
    column = np.tile((np.arange(width)[:, None] + width * np.arange(count)).ravel(), orders)
    weight = np.repeat(values, width, axis=0).reshape(row.size, s.size)
    return Slices(index.transpose(0, 2, 1).reshape(count * width, s.size), row, column, weight)


def intervals_within(window: Window, basis: SplineBasis) -> slice | None:
    """Intervals within a part of the motion; None if there is none."""
    ends = basis.breakpoints
    inside = np.flatnonzero((ends >= window.start - 1e-9) & (ends <= window.end + 1e-9))
    return slice(int(inside[0]), int(inside[-1])) if inside.size > 1 else None


def active_control_points(intervals: slice | None, basis: SplineBasis) -> slice:
    """Control points that are active on the given intervals."""
    assert intervals is not None
    last = intervals.stop - 1
    return slice(int(basis.first[intervals.start]), int(basis.first[last] + basis.degrees[last]) + 1)
