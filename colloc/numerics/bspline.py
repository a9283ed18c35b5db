"""B-spline bases on clamped knots, uniform or not, of any multiplicity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class SplineBasis:
    """Piecewise polynomials with a chosen number of continuous derivatives at every breakpoint.

    Parameters
    ----------
    breakpoints : ndarray, shape (intervals + 1,)
        Rising.
    degree : int
    continuity : ndarray of int, shape (intervals - 1,)
        Continuous derivatives at the breakpoints inside, 0 to degree - 1: a knot is repeated degree - continuity times.
    """

    breakpoints: np.ndarray
    degree: int
    continuity: np.ndarray

    @classmethod
    def smooth(cls, breakpoints: np.ndarray, degree: int) -> SplineBasis:
        """The smoothest splines of a degree: every knot inside stands once."""
        return cls(breakpoints, degree, np.full(breakpoints.size - 2, degree - 1))

    @cached_property
    def _repeats(self) -> np.ndarray:
        """How often every breakpoint but the last stands among the knots."""
        return np.append(self.degree + 1, self.degree - self.continuity)

    @cached_property
    def knots(self) -> np.ndarray:
        """Breakpoints with their repeats, the ends degree + 1 times; shape (size + degree + 1,)."""
        return np.repeat(self.breakpoints, np.append(self._repeats, self.degree + 1))

    @property
    def intervals(self) -> int:
        """Number of polynomial pieces."""
        return self.breakpoints.size - 1

    @property
    def size(self) -> int:
        """Number of basis functions and control points."""
        return int(self._repeats.sum())

    @cached_property
    def first(self) -> np.ndarray:
        """First control point that every interval sees, ndarray of int, shape (intervals,); it sees degree + 1."""
        return np.cumsum(self._repeats) - self.degree - 1

    def interval(self, s: np.ndarray) -> np.ndarray:
        """Number of the interval that holds each s; a breakpoint belongs to the one it begins, the end to the last."""
        # A node meant to lie on a breakpoint must not fall below it by rounding.
        slack = 1e-9 * np.diff(self.breakpoints)
        return np.searchsorted(self.breakpoints[1:-1] - slack[1:], s, side="right")

    def values(self, s: np.ndarray, derivative: int = 0, interval: np.ndarray | None = None) -> np.ndarray:
        """Values of the degree + 1 basis functions that live on the interval of each s.

        Function number k of the row of s multiplies control point ``first[interval] + k``. Cox-de Boor recursion; a
        derivative is the basis of lower degree on differenced control points (Piegl and Tiller 1997, section 2.3).

        Parameters
        ----------
        s : ndarray, shape (N,)
        derivative : int
        interval : ndarray of int, shape (N,), optional
            The interval whose polynomial is meant, where it is not `interval(s)`: its left or right end from inside.

        Returns
        -------
        ndarray, shape (N, degree + 1)
        """
        t, degree = self.knots, self.degree
        first = self.first[self.interval(s) if interval is None else interval]
        values = np.zeros((s.size, degree + 1))
        if derivative > degree:
            return values
        values[:, 0] = 1.0
        for p in range(1, degree + 1):
            raised = np.zeros_like(values)
            for k in range(p):
                # Functions of degree p - 1 living here are k = 0 .. p - 1, each supported on [left, right].
                left = t[first + degree - p + 1 + k]
                right = t[first + degree + 1 + k]
                share = values[:, k] / (right - left)
                if p > degree - derivative:
                    raised[:, k] -= p * share
                    raised[:, k + 1] += p * share
                else:
                    raised[:, k] += (right - s) * share
                    raised[:, k + 1] += (s - left) * share
            values = raised
        return values

    def derivative(self) -> SplineBasis:
        """The basis of the splines' first derivatives."""
        return SplineBasis(self.breakpoints, self.degree - 1, self.continuity - 1)

    def differences(self) -> np.ndarray:
        """Factors of the derivative's control points: number k is factor k times (point k + 1 less point k)."""
        t, p = self.knots, self.degree
        return p / (t[p + 1 : -1] - t[1 : -p - 1])

    def greville(self) -> np.ndarray:
        """Where control points sit: the mean of `degree` knots of each; shape (size,)."""
        return np.lib.stride_tricks.sliding_window_view(self.knots[1:-1], self.degree).mean(axis=1)

    def interpolate(self, values: np.ndarray) -> np.ndarray:
        """Control points of the spline that takes given values at the Greville points.

        The collocation matrix is banded and totally positive, so elimination needs no pivoting (de Boor 1978, chapter
        XIII) and costs O(intervals).

        Parameters
        ----------
        values : ndarray, shape (size, columns)

        Returns
        -------
        ndarray, shape (size, columns)
        """
        s, degree = self.greville(), self.degree
        rows, first = self.values(s), self.first[self.interval(s)]
        count, width = s.size, 2 * degree + 1
        band = np.zeros((count, width))  # band[i, j - i + degree] is entry (i, j)
        for k in range(degree + 1):
            band[np.arange(count), first + k - np.arange(count) + degree] = rows[:, k]
        x = np.array(values, dtype=float)
        for i in range(count):
            for j in range(i + 1, min(i + degree + 1, count)):
                factor = band[j, i - j + degree] / band[i, degree]
                if factor:
                    band[j, i - j + degree : i - j + width] -= factor * band[i, degree:]
                    x[j] -= factor * x[i]
        for i in reversed(range(count)):
            reach = min(degree, count - 1 - i)
            x[i] = (x[i] - band[i, degree + 1 : degree + 1 + reach] @ x[i + 1 : i + 1 + reach]) / band[i, degree]
        return x
