"""The problems in colloc on equal intervals, as other tools have them: nothing is refined, nothing searched."""

from __future__ import annotations

from typing import Any

import colloc as co
from colloc.studies.benchmarks.peers import with_colloc

STATEMENT = with_colloc
INTERVALS = (25, 50, 100, 200)


def reach(arm: Any, effort: int) -> dict[str, Any]:
    """From rest to rest."""
    if arm.intervals:
        return with_colloc.reach(arm, effort, co.Radau(arm.intervals, 3))
    return with_colloc.reach(arm, effort, co.HermiteSimpson(INTERVALS[effort]))


def hop(task: Any, effort: int) -> dict[str, Any]:
    """Three phases."""
    return with_colloc.hop(task, effort, co.HermiteSimpson(INTERVALS[effort] // 5))


def rise(task: Any, effort: int) -> dict[str, Any]:
    """By motors and muscles, on intervals that widen from both ends, where activations take 10 ms to follow."""
    breakpoints = co.curves.graded(INTERVALS[effort] - 5, narrowest=5e-3, ratio=2.0)
    return with_colloc.rise(task, effort, co.Radau(breakpoints=breakpoints))


def step(task: Any, effort: int) -> dict[str, Any]:
    """From strike to strike."""
    return with_colloc.step(task, effort, co.HermiteSimpson(INTERVALS[effort]))


def walk(task: Any, effort: int) -> dict[str, Any]:
    """Half a stride by muscles, on as many intervals as Moco's example has."""
    return with_colloc.walk(task, effort, co.HermiteSimpson(INTERVALS[effort + 1]))


def stand(task: Any, effort: int) -> dict[str, Any]:
    """A posture at rest, on one interval."""
    return with_colloc.stand(task, effort, co.BSpline(1))


def goddard(task: Any, effort: int) -> dict[str, Any]:
    """As high as the fuel takes it."""
    return with_colloc.goddard(task, effort, co.HermiteSimpson(INTERVALS[effort]))


def alp_rider(task: Any, effort: int) -> dict[str, Any]:
    """Outside of four peaks."""
    return with_colloc.alp_rider(task, effort, co.HermiteSimpson(2 * INTERVALS[effort]))


def delta_iii(task: Any, effort: int) -> dict[str, Any]:
    """Four phases to an orbit."""
    return with_colloc.delta_iii(task, effort, co.HermiteSimpson(INTERVALS[effort] // 5))


def slide(task: Any, effort: int) -> dict[str, Any]:
    """A slide with dry friction."""
    return with_colloc.slide(task, effort, co.Radau(INTERVALS[effort], 3))
