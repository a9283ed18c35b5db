"""B-spline bases: piecewise polynomials of chosen breakpoints, degrees and smoothness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colloc.support.lazy import cached_property


@dataclass(frozen=True, eq=False)
class SplineBasis:
    """Piecewise polynomials with a chosen number of continuous derivatives at every breakpoint.

    On an interval of degree p live p + 1 functions, B-splines of a knot vector of the interval's own: p knots on
    either side, breakpoints as often as p less the continuity there. Where degrees differ, and nothing beyond the first
    derivative is continuous, the knot beyond the breakpoint is that of the neighbour, with its width stretched by the
    ratio of the degrees: control points are then the same for both (Bezier's condition for equal slopes).
    """

    breakpoints: np.ndarray  # shape (intervals + 1,); rising
    degrees: np.ndarray  # ints, shape (intervals,)
    # ints, shape (intervals - 1,); continuous derivatives at the breakpoints inside: -1 (values may jump) to the degree
    # - 1, and at most 1 where degrees differ
    continuity: np.ndarray

    @classmethod
    def of(cls, breakpoints: np.ndarray, degree: int | np.ndarray, continuity: int | np.ndarray) -> SplineBasis:
        """Splines with the same degree or continuity everywhere, or one for each interval or breakpoint inside."""
        inside = breakpoints.size - 2
        return cls(breakpoints, np.broadcast_to(degree, (inside + 1,)), np.broadcast_to(continuity, (inside,)))

    @property
    def degree(self) -> int:
        """The highest degree."""
        return int(self.degrees.max())

    @property
    def intervals(self) -> int:
        """Number of polynomial pieces."""
        return self.breakpoints.size - 1

    @cached_property
    def first(self) -> np.ndarray:
        """First control point that every interval sees, ndarray of int, shape (intervals,); it sees degree + 1."""
        new = np.append(self.degrees[0] + 1, self.degrees[1:] - self.continuity)
        return np.cumsum(new) - self.degrees - 1

    @property
    def size(self) -> int:
        """Number of basis functions and control points."""
        return int(self.first[-1] + self.degrees[-1]) + 1

    @cached_property
    def _groups(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Degrees p, the intervals that have them, and their knots, shape (intervals with it, 2 p)."""
        groups = []
        for p in sorted(set(self.degrees.tolist())):
            intervals = np.flatnonzero(self.degrees == p)
            everywhere = intervals.size == self.intervals
            knots = self._smooth_knots(p) if everywhere else self._joined_knots(p, intervals)
            groups.append((p, intervals, knots))
        return groups

    def _smooth_knots(self, p: int) -> np.ndarray:
        return self.breakpoints[self.knots()[self.first[:, None] + np.arange(1, 2 * p + 1)]]

    def knots(self) -> np.ndarray:
        """The knots of splines with one degree, by the numbers of their breakpoints, ndarray of int."""
        p = self.degree
        return np.repeat(np.arange(self.intervals + 1), np.concatenate([[p + 1], p - self.continuity, [p + 1]]))

    def _joined_knots(self, p: int, intervals: np.ndarray) -> np.ndarray:
        """Knots of some intervals at whose ends nothing beyond the first derivative is continuous."""
        ends, widths = self.breakpoints, np.diff(self.breakpoints)
        knots = np.repeat(np.column_stack([ends[intervals], ends[intervals + 1]]), p, axis=1)
        for column, beside, sign in ((0, -1, -1.0), (-1, 1, 1.0)):
            smooth = np.concatenate([[False], self.continuity == 1, [False]])[intervals + (beside > 0)]
            if smooth.any():
                next_to = intervals[smooth] + beside
                knots[smooth, column] += sign * widths[next_to] / self.degrees[next_to] * p
        return knots

    def interval(self, s: np.ndarray) -> np.ndarray:
        """Number of the interval that holds each s; a breakpoint belongs to the one it begins, the end to the last."""
        # A node meant to lie on a breakpoint must not fall below it by rounding.
        slack = 1e-9 * np.diff(self.breakpoints)
        return np.searchsorted(self.breakpoints[1:-1] - slack[1:], s, side="right")

    def values(self, s: np.ndarray, derivative: int = 0, interval: np.ndarray | None = None) -> np.ndarray:
        """Values, shape (N, degree + 1), of the basis functions that live on the interval of each s, shape (N,).

        Function number k of the row of s multiplies control point ``first[interval] + k``; those beyond the degree of
        the interval are zero. `interval`, ints (N,), says whose polynomial is meant where it is not `interval(s)`: its
        left or right end from inside.
        """
        interval = self.interval(s) if interval is None else interval
        values = np.zeros((s.size, self.degree + 1))
        for p, intervals, knots in self._groups:
            row = np.searchsorted(intervals, interval)
            chosen = intervals[np.minimum(row, intervals.size - 1)] == interval
            values[chosen, : p + 1] = np.transpose(cox_de_boor(s[chosen], knots[row[chosen]].T, derivative))
        return values

    def derivative(self) -> SplineBasis:
        """The basis of the splines' first derivatives."""
        return SplineBasis(self.breakpoints, self.degrees - 1, self.continuity - 1)

    def part(self, intervals: slice) -> SplineBasis:
        """These splines on some of the intervals alone."""
        ends, inside = slice(intervals.start, intervals.stop + 1), slice(intervals.start, intervals.stop - 1)
        return SplineBasis(self.breakpoints[ends], self.degrees[intervals], self.continuity[inside])

    def differences(self) -> np.ndarray:
        """Factors of the derivative's control points: number k is factor k times (point k + 1 less point k)."""
        factors = np.zeros(self.size - 1)
        for p, intervals, knots in self._groups:
            factors[self.first[intervals, None] + np.arange(p)] = p / (knots[:, p:] - knots[:, :p])
        return factors

    def by_breakpoint(self, points: np.ndarray, k: int) -> tuple[SplineBasis, np.ndarray]:
        """The derivative of a spline by one of its breakpoints, everywhere at a fixed s: a spline, a point longer.

        Its knots are those of the spline and the breakpoint once more. Control point i is the difference of points i -
        1 and i over the knots on which function i lives, for every copy of the knot that moves (Piegl and Tiller 1998,
        the derivative of a spline with respect to a knot). Points are of shape (size, columns); at breakpoint k,
        inside, the spline is continuous; the degree is the same everywhere.
        """
        p, knots, continuity = self.degree, self.knots(), self.continuity.copy()
        continuity[k - 1] -= 1
        doubled = SplineBasis(self.breakpoints, self.degrees, continuity)
        copies, t = np.flatnonzero(knots == k), self.breakpoints[doubled.knots()]
        i = np.arange(copies[0] - p, copies[-1] + 1)
        moving = ((copies - p <= i[:, None]) & (i[:, None] <= copies)).sum(axis=1)
        moved = np.zeros((doubled.size, points.shape[1]))
        moved[i] = (points[i - 1] - points[i]) * (moving / (t[i + p + 1] - t[i]))[:, None]
        return doubled, moved

    def greville(self) -> np.ndarray:
        """Where control points sit: the mean of `degree` knots of each; shape (size,)."""
        return self._greville.copy()

    @cached_property
    def _greville(self) -> np.ndarray:
        means = np.zeros(self.size)
        for p, intervals, knots in self._groups:
            if p:
                sites = np.lib.stride_tricks.sliding_window_view(knots, p, axis=1).mean(axis=2)
            else:
                sites = (self.breakpoints[intervals] + self.breakpoints[intervals + 1])[:, None] / 2
            means[self.first[intervals, None] + np.arange(p + 1)] = sites
        return means

    def sites(self) -> tuple[np.ndarray, np.ndarray]:
        """Greville points, each with an interval on which its function lives: the left one's, where values may jump."""
        s = self.greville()
        return s, np.clip(self.interval(s), *self.supports())

    def supports(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last interval on which every function lives, each shape (size,)."""
        k = np.arange(self.size)
        return np.searchsorted(self.first + self.degrees, k), np.searchsorted(self.first, k, side="right") - 1

    def interpolate(self, values: np.ndarray) -> np.ndarray:
        """Control points of the spline that takes given values at the Greville points, both of shape (size, columns).

        The collocation matrix is banded and totally positive, so elimination needs no pivoting (de Boor 1978, chapter
        XIII) and costs O(intervals).
        """
        band, steps = self._eliminated
        x, degree, count = np.array(values, dtype=float), self.degree, self.size
        for j, i, factor in steps:
            x[j] -= factor * x[i]
        for i in reversed(range(count)):
            reach = min(degree, count - 1 - i)
            x[i] = (x[i] - band[i, degree + 1 : degree + 1 + reach] @ x[i + 1 : i + 1 + reach]) / band[i, degree]
        return x

    @cached_property
    def _eliminated(self) -> tuple[np.ndarray, list[tuple[int, int, float]]]:
        """The band of the collocation matrix after elimination, and its steps: row j less a factor times row i."""
        (s, interval), degree = self.sites(), self.degree
        rows, first = self.values(s, interval=interval), self.first[interval]
        count, width = s.size, 2 * degree + 1
        band = np.zeros((count, width + degree))  # band[i, j - i + degree] is entry (i, j)
        for k in range(degree + 1):
            # A site's own function is among those of its interval, so that no index is negative.
            band[np.arange(count), first + k - np.arange(count) + degree] = rows[:, k]
        steps = []
        for i in range(count):
            for j in range(i + 1, min(i + degree + 1, count)):
                factor = band[j, i - j + degree] / band[i, degree]
                if factor:
                    band[j, i - j + degree : i - j + width] -= factor * band[i, degree:width]
                    steps.append((j, i, factor))
        return band, steps


def cox_de_boor(s: Any, knots: Sequence[Any] | np.ndarray, derivative: int = 0) -> list[Any]:
    """B-splines that live on an interval, or their derivatives: degree + 1 of them.

    A derivative is the basis of lower degree on differenced control points (Piegl and Tiller 1997, section 2.3). Knots
    are 2 degree, those on either side of the interval, which is not empty; they and s are symbols or of shape (N,).
    """
    degree = len(knots) // 2
    values: list[Any] = [float(derivative <= degree)] + [0.0] * degree
    for p in range(1, degree + 1):
        raised: list[Any] = [0.0] * (degree + 1)
        for k in range(p):
            # Functions of degree p - 1 living here are k = 0 .. p - 1, each supported on [left, right].
            left, right = knots[degree - p + k], knots[degree + k]
            share = values[k] / (right - left)
            falling, rising = (-p, p) if p > degree - derivative else (right - s, s - left)
            raised[k], raised[k + 1] = raised[k] + falling * share, raised[k + 1] + rising * share
        values = raised
    return values
