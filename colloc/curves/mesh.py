"""Meshes: the intervals of a motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from colloc.curves.spline_basis import SplineBasis
from colloc.support.checks import InputError, as_tuple, count, finite_number, function, instance, quoted, spelt

# A narrower interval is a breakpoint written twice; times on either side of it cannot be distinguished.
NARROWEST = 1e-9


def check_mesh(name: str, intervals: Any, breakpoints: Any) -> tuple[int, tuple[float, ...] | None]:
    """Number of intervals and, unless they have equal width, their ends, rising from 0 to 1.

    InputError, with the name of the transcription, if neither is given, if both are and differ, and for illegal
    breakpoints.
    """
    if breakpoints is None:
        if intervals is None:
            raise InputError(f"{name} needs intervals (their number) or breakpoints (their ends, from 0 to 1)")
        return count(f"{name} intervals", intervals, at_least=1), None
    ends = tuple(finite_number(f"{name} breakpoint", s) for s in as_tuple(f"{name} breakpoints", breakpoints))
    if len(ends) < 2 or ends[0] != 0 or ends[-1] != 1 or (np.diff(ends) < NARROWEST).any():
        raise InputError(
            f"{name} breakpoints must rise from 0 to 1 by at least {NARROWEST:g}, got {quoted(breakpoints)}"
        )
    if intervals is not None and count(f"{name} intervals", intervals, at_least=1) != len(ends) - 1:
        raise InputError(f"{name} has {len(ends) - 1} intervals by its breakpoints, got intervals={intervals!r}")
    return len(ends) - 1, ends


def per_interval(name: str, value: Any, size: int, *, at_least: int, at_most: int) -> int | tuple[int, ...]:
    """An integer for all of `size` places, or an integer for each."""
    if not isinstance(value, list | tuple | np.ndarray) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return count(name, value, at_least=at_least, at_most=at_most)
    if len(value) != size:
        raise InputError(f"{name} must be one integer or {size}, got {quoted(value)}")
    return tuple(count(name, entry, at_least=at_least, at_most=at_most) for entry in value)


def mesh_ends(intervals: int | None, breakpoints: Sequence[float] | np.ndarray | None) -> np.ndarray:
    """Ends of all intervals in normalised time, shape (intervals + 1,).

    Parameters
    ----------
    intervals : int, optional
        Of equal width unless breakpoints are given.
    breakpoints : sequence of float, optional
        Rising from 0 to 1.

    Raises
    ------
    InputError
        If neither is given, if both are and differ, and for illegal breakpoints.

    Examples
    --------
    >>> from colloc.curves import mesh_ends
    >>> mesh_ends(4, None)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    number, ends = check_mesh("the curve", intervals, breakpoints)
    return np.linspace(0, 1, number + 1) if ends is None else np.array(ends)


class Points(NamedTuple):
    """Normalised times, each with the interval whose polynomial is used: breakpoints have two sides.

    Parameters
    ----------
    s : ndarray, shape (N,)
    interval : ndarray of int, shape (N,)

    Examples
    --------
    >>> co.Radau(2).node_points().s[5:10].round(2)  # both sides of the breakpoint at 0.5
    array([0.36, 0.43, 0.5 , 0.5 , 0.57])
    """

    s: np.ndarray
    interval: np.ndarray

    def take(self, chosen: np.ndarray) -> Points:
        return Points(self.s[chosen], self.interval[chosen])

    def merged(self, more: Points) -> Points:
        """The points of both in the order of time, without duplicates."""
        s, interval = np.append(self.s, more.s), np.append(self.interval, more.interval)
        order = np.lexsort((s, interval))
        s, interval = s[order], interval[order]
        twice = np.append(False, (np.diff(s) < 1e-12) & (np.diff(interval) == 0))
        return Points(s[~twice], interval[~twice])

    def within(self, part: tuple[float, float], breakpoints: np.ndarray) -> Points:
        """The points within a part of the motion; at a breakpoint at its start or end only the inner side."""
        (s, interval), (start, end) = self, part
        inside = (s >= start - 1e-9) & (s <= end + 1e-9)
        left = np.abs(s - breakpoints[interval + 1]) < 1e-9
        right = np.abs(s - breakpoints[interval]) < 1e-9
        twin = np.zeros(s.size, dtype=bool)
        twin[1:] |= left[:-1] & right[1:] & (np.diff(s) < 1e-9)
        twin[:-1] |= twin[1:] & left[:-1]
        before = twin & left & (np.abs(s - start) < 1e-9)
        after = twin & right & (np.abs(s - end) < 1e-9)
        return self.take(inside & ~before & ~after)


@spelt
def graded(intervals: int, narrowest: float = 1e-3, ratio: float = 3.0) -> tuple[float, ...]:
    """Breakpoints of intervals that widen by a constant factor from both ends of the motion, and are equal inside.

    Motions with velocity limits start and end with pulses of torque that are shorter than equal intervals.

    Parameters
    ----------
    intervals : int
        At least 2.
    narrowest : float
        Width of the first and the last interval, as a fraction of the duration.
    ratio : float
        Largest ratio of an interval's width to that of its outer neighbour; above 1.

    Returns
    -------
    tuple of float
        Shape (intervals + 1,), from 0 to 1.

    See Also
    --------
    BSpline, refine

    Examples
    --------
    >>> np.round(co.curves.graded(6, narrowest=0.05), 3)
    array([0.  , 0.05, 0.2 , 0.5 , 0.8 , 0.95, 1.  ])
    >>> curve = co.BSpline(breakpoints=co.curves.graded(20), degree=4, continuity=1)
    """
    intervals = count("graded intervals", intervals, at_least=2)
    narrowest, ratio = finite_number("graded narrowest", narrowest, positive=True), finite_number("graded ratio", ratio)
    if narrowest > 1 / intervals:
        raise InputError(f"graded narrowest must be at most 1 / intervals = {1 / intervals:g}, got {quoted(narrowest)}")
    if ratio <= 1:
        raise InputError(f"graded ratio must be above 1, got {quoted(ratio)}")
    place = np.minimum(np.arange(intervals), np.arange(intervals)[::-1])
    widths = np.minimum(narrowest * ratio ** np.minimum(place, 600 / np.log(ratio)), 1.0)
    if widths.sum() < 1:
        raise InputError(f"graded({intervals}, {narrowest:g}) needs a ratio above {ratio:g}, or more intervals")
    low, high = narrowest, 1.0
    for _ in range(60):  # the widest by bisection: the sum of the widths rises with it
        widest = (low + high) / 2
        low, high = (low, widest) if np.minimum(widths, widest).sum() > 1 else (widest, high)
    ends = np.append(0.0, np.cumsum(np.minimum(widths, high)))
    return tuple(np.append(ends[:-1] / ends[-1], 1.0).tolist())


def split(breakpoints: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """Ends of intervals after each is split into `pieces` equal ones, shape (intervals,)."""
    ends = [np.linspace(a, b, k + 1)[:-1] for a, b, k in zip(breakpoints, breakpoints[1:], pieces, strict=False)]
    return np.append(np.concatenate(ends), 1.0)


def points_inside(breakpoints: np.ndarray, points: np.ndarray) -> Points:
    """Points of [0, 1] on every interval, one interval after another."""
    s = breakpoints[:-1, None] + np.diff(breakpoints)[:, None] * points
    return Points(s.ravel(), np.repeat(np.arange(breakpoints.size - 1), points.size))


def equal_nodes(basis: SplineBasis) -> Points:
    """Equally spaced nodes, max(5, 2 degree - 1) on every interval of a spline; both sides of a jump.

    A breakpoint is a node of the interval that it begins, and of the one that it ends where accelerations jump.
    """
    widths, counts = np.diff(basis.breakpoints), np.maximum(5, 2 * basis.degrees - 1)
    interval = np.repeat(np.arange(basis.intervals), counts + 1)
    k = np.arange(interval.size) - np.repeat(np.cumsum(counts + 1) - counts - 1, counts + 1)
    s = basis.breakpoints[interval] + widths[interval] * k / counts[interval]
    # Both sides of a breakpoint are the same time, which the sum may miss by rounding.
    s = np.where(k < counts[interval], s, basis.breakpoints[interval + 1])
    smooth = np.append(basis.continuity >= 2, False)
    return Points(s, interval).take((k < counts[interval]) | ~smooth[interval])


def collocation_points(basis: SplineBasis, rule: Callable[[int], np.ndarray]) -> Points:
    """Points where equations along the path hold: as many as a spline has freedoms after an initial state.

    If accelerations may jump at every breakpoint, they are degree - 1 on every interval; else they are the Greville
    points of the acceleration.

    Parameters
    ----------
    basis : SplineBasis
        The splines of the joints.
    rule : callable
        Number -> that many points on [0, 1], rising, shape (number,).

    Examples
    --------
    >>> from colloc.curves import collocation_points
    >>> points = collocation_points(co.Radau(2).basis, lambda count: (np.arange(count) + 0.5) / count)
    >>> points.s.round(3)
    array([0.083, 0.25 , 0.417, 0.583, 0.75 , 0.917])
    """
    instance("basis", basis, SplineBasis)
    function("rule", rule, "a function of how many points there are")
    if (basis.continuity > 1).any():
        return Points(*basis.derivative().derivative().sites())
    if (basis.degrees == basis.degree).all():
        return points_inside(basis.breakpoints, rule(basis.degree - 1))
    points = [
        Points(start + width * (c := rule(int(degree) - 1)), np.full(c.size, k))
        for k, (start, width, degree) in enumerate(
            zip(basis.breakpoints, np.diff(basis.breakpoints), basis.degrees, strict=False)
        )
    ]
    return Points(np.concatenate([part.s for part in points]), np.concatenate([part.interval for part in points]))


def equation_points(basis: SplineBasis, order: int) -> Points:
    """Points inside a spline for an equation in its values (order 0) or first derivatives (1).

    With values, and for order 0 rates, at both ends they are as many as the spline's freedoms: Greville points, at
    which splines interpolate without ringing, except those next to the ends, in place of which rates are used (complete
    interpolation).
    """
    s, interval = (basis.derivative() if order else basis).sites()
    inner = slice(1, -1) if order else slice(2, -2)
    return Points(s[inner], interval[inner])
