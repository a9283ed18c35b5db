"""Meshes: how the motion is cut into intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from colloc.checks import InputError, as_tuple, count, finite_array, finite_number

# A narrower interval is a breakpoint written twice; times on either side of it cannot be told apart.
NARROWEST = 1e-9


def check_mesh(name: str, intervals: Any, breakpoints: Any) -> tuple[int, tuple[float, ...] | None]:
    """Number of intervals and, where they are not of equal width, their ends.

    Parameters
    ----------
    name : str
        The transcription's, for messages.
    intervals : int, optional
    breakpoints : sequence of float, optional
        Rising from 0 to 1.

    Raises
    ------
    InputError
        If neither is given, or both and they differ, or breakpoints that cut no motion into intervals.
    """
    if breakpoints is None:
        if intervals is None:
            raise InputError(f"{name} needs intervals (their number) or breakpoints (their ends, from 0 to 1)")
        return count(f"{name} intervals", intervals, at_least=1), None
    ends = tuple(finite_number(f"{name} breakpoint", s) for s in as_tuple(f"{name} breakpoints", breakpoints))
    if len(ends) < 2 or ends[0] != 0 or ends[-1] != 1 or (np.diff(ends) < NARROWEST).any():
        raise InputError(f"{name} breakpoints must rise from 0 to 1 by at least {NARROWEST:g}, got {breakpoints!r}")
    if intervals not in (None, len(ends) - 1):
        raise InputError(f"{name} has {len(ends) - 1} intervals by its breakpoints, got intervals={intervals!r}")
    return len(ends) - 1, ends


def per_interval(name: str, value: Any, size: int, *, at_least: int, at_most: int) -> int | tuple[int, ...]:
    """An integer for all of `size` places or one for each."""
    if not isinstance(value, Sequence | np.ndarray):
        return count(name, value, at_least=at_least, at_most=at_most)
    if len(value) != size:
        raise InputError(f"{name} must be one integer or {size}, got {value!r}")
    return tuple(count(name, one, at_least=at_least, at_most=at_most) for one in value)


def mesh(intervals: int, breakpoints: Sequence[float] | np.ndarray | None) -> np.ndarray:
    """Ends of all intervals in normalised time, shape (intervals + 1,)."""
    if breakpoints is None:
        return np.linspace(0, 1, intervals + 1)
    return finite_array("breakpoints", breakpoints, (intervals + 1,))


def points_inside(breakpoints: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The same points of [0, 1] on every interval, one after another; shape (intervals * points,)."""
    return (breakpoints[:-1, None] + np.diff(breakpoints)[:, None] * points).ravel()
