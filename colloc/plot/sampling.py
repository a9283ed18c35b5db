"""A solution's own curve, on a time grid fine enough to draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from colloc.model import Model
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import instance

_POINTS = 400  # over the whole motion, at least


def checked(solution: Any) -> Solution | PhasesSolution:
    """The argument, or InputError if it is not a Solution, of one motion or in phases."""
    return instance("solution", solution, Solution | PhasesSolution, "see co.solve")


def by_phase(solution: Solution | PhasesSolution, t: np.ndarray) -> list[tuple[Solution, np.ndarray]]:
    """The phases in which times lie, with the times since their own start; where two meet, of the later one."""
    return [(solution.phases[name], times) for name, times in solution.by_phase(t)]


def models(solution: Solution | PhasesSolution) -> list[Model]:
    """The models of all phases, each once."""
    return list(dict.fromkeys(phase.problem.model for phase in solution.phases.values()))


def title_of(solution: Solution | PhasesSolution) -> str:
    """The names of the models."""
    return ", ".join(dict.fromkeys(model.name for model in models(solution)))


def fine_times(solution: Solution | PhasesSolution, points: int = _POINTS, least: int = 5) -> np.ndarray:
    """Times on every interval, up to its very end, so that a jump between intervals is drawn upright.

    Over the whole motion about as many as `points`, or more, and `least` on every interval.
    """
    ends = solution.mesh_times
    per_interval = max(least, -(-points // (ends.size - 1)))
    u = np.linspace(0, 1, per_interval)
    u[-1] -= 1e-9  # still on this interval, not on the next one
    times = ends[:-1, None] + u * np.diff(ends)[:, None]
    return np.append(times.ravel(), solution.duration)
