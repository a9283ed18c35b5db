"""The highest speeds along a path under limits that are linear in the path's acceleration and squared speed.

With x = s'^2 and u = s'' on a path of parameter s, and constant u on every step of a grid of s, x changes by 2 u times
the step. A backward pass from rest at the end finds the x of every grid point from which the motion can be brought to
rest, a forward pass from rest at the start takes the largest of them (Pham and Pham 2018, "A new approach to
time-optimal path parameterization based on reachability analysis", IEEE Trans. Robotics 34(3)). Their linear programs
in (u, x) are solved here by elimination of u: every lower bound of u must stay below every upper bound, which leaves an
interval of x.

The result is optimal on the grid if higher speeds lead to higher speeds. If a row has almost no a, a long step may
violate this, and another profile may be slightly better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_ROUNDING = 1e-12


class PathLimits(NamedTuple):
    """Limits at the grid points of a path: lower <= a u + b x <= upper, row by row, and 0 <= x <= fastest."""

    s: np.ndarray  # shape (N + 1,); rising
    fastest: np.ndarray  # shape (N + 1,) [1/s2]; may be infinite, as bounds of rows may
    a: np.ndarray  # a, b, lower, upper: shape (N + 1, rows)
    b: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class _Steps(NamedTuple):
    """Limits at both ends of every step: low + slope x <= u <= high + slope x, and least <= factor x <= most."""

    low: np.ndarray
    high: np.ndarray
    slope: np.ndarray
    factor: np.ndarray
    least: np.ndarray
    most: np.ndarray


def path_speeds(limits: PathLimits) -> np.ndarray | None:
    """Squared speeds of the fastest motion from rest at the first grid point to rest at the last, shape (N + 1,).

    Infinite where nothing limits them; None if no motion obeys the limits.
    """
    steps, doubled = _on_steps(limits), 2 * np.diff(limits.s)
    reach = [(0.0, 0.0)]
    for *step, width in reversed(list(zip(*steps, doubled, strict=True))):
        reach.append(_brought_to(*reach[-1], _Steps(*step), width))
        if reach[-1][0] > reach[-1][1]:
            return None
    reach.reverse()
    if reach[0][0] > 0:
        return None
    x = np.zeros(limits.s.size)
    for k, width in enumerate(doubled):
        u = (steps.high[k] + steps.slope[k] * x[k]).min(initial=np.inf) if np.isfinite(x[k]) else np.inf
        x[k + 1] = np.clip(x[k] + width * u, *reach[k + 1])
    return x


def _on_steps(limits: PathLimits) -> _Steps:
    """Rows of both ends of every step in (u, x) of its start, solved for u."""
    doubled = 2 * np.diff(limits.s)[:, None]
    a = np.hstack([limits.a[:-1], limits.a[1:] + doubled * limits.b[1:]])
    b, lower, upper = (np.hstack([rows[:-1], rows[1:]]) for rows in (limits.b, limits.lower, limits.upper))
    flat = np.abs(a) <= _ROUNDING * (np.abs(a) + np.abs(b))  # such a row bounds only x
    divisor = np.where(flat, 1.0, a)
    rising, ones = a > 0, np.ones_like(doubled)
    return _Steps(
        low=np.where(flat, -np.inf, np.where(rising, lower, upper) / divisor),
        high=np.where(flat, np.inf, np.where(rising, upper, lower) / divisor),
        slope=np.where(flat, 0.0, -b / divisor),
        factor=np.hstack([np.where(flat, b, 0.0), ones]),
        least=np.hstack([np.where(flat, lower, -np.inf), 0 * ones]),
        most=np.hstack([np.where(flat, upper, np.inf), limits.fastest[:-1, None]]),
    )


def _brought_to(after_least: float, after_most: float, step: _Steps, width: float) -> tuple[float, float]:
    """Least and most x from which one step leads into an interval of x; least > most if there is none."""
    slope = np.append(step.slope, -1 / width)  # the interval as a last row
    low, high = np.append(step.low, after_least / width), np.append(step.high, after_most / width)
    factor = np.concatenate([(slope[:, None] - slope).ravel(), step.factor, -step.factor])
    bound = np.concatenate([(high - low[:, None]).ravel(), step.most, -step.least])
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = bound / factor
    most = float(ends[factor > 0].min(initial=np.inf))
    least = float(ends[factor < 0].max(initial=-np.inf))
    # Limits that meet in a point, as at rest with a torque at its limit, may miss it by rounding.
    if most < least <= most + _ROUNDING * (1 + abs(most)):
        most = least
    return (1.0, 0.0) if (bound[factor == 0] < 0).any() else (least, most)
