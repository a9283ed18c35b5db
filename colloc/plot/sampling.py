"""Samples of a solution on its curve, on a time grid fine enough to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from colloc.model import Model
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError, as_tuple, instance, quoted, text

_POINTS = 400  # least number over the whole motion


def checked(solution: Any) -> Solution | PhasesSolution:
    """Return the argument; raise InputError if it is not a Solution or PhasesSolution."""
    return instance("solution", solution, Solution | PhasesSolution, "see co.solve")


def by_phase(solution: Solution | PhasesSolution, t: np.ndarray) -> list[tuple[Solution, np.ndarray]]:
    """The phases that contain given times, with the times since their start; the later one where two meet."""
    return [(solution.phases[name], times) for name, times in solution.by_phase(t)]


def one_by_one(
    solutions: Sequence[Any], labels: Sequence[str] | None
) -> tuple[list[Solution | PhasesSolution], list[str]]:
    """Solutions and their names, with every case of an answer to `Cases` on its own."""
    for solution in solutions:
        checked(solution)
    titles = [f"solution {k + 1}" for k in range(len(solutions))] if labels is None else as_tuple("labels", labels)
    if len(titles) != len(solutions):
        raise InputError(f"labels must be one for each of {len(solutions)} solutions, got {quoted(labels)}")
    drawn: list[Solution | PhasesSolution] = []
    names: list[str] = []
    for solution, title in zip(solutions, titles, strict=True):
        text("label", title)
        if solution.problem.in_sequence:
            drawn.append(solution)
            names.append(title)
        else:
            drawn += solution.phases.values()
            names += [f"{title}: {name}" if labels or len(solutions) > 1 else name for name in solution.phases]
    return drawn, names


def models(solution: Solution | PhasesSolution) -> list[Model]:
    """The models of all phases, each once."""
    return list(dict.fromkeys(phase.problem.model for phase in solution.phases.values()))


def node_times(solution: Solution | PhasesSolution) -> np.ndarray:
    """Times of the nodes of all phases, also of phases with different joints."""
    starts = solution.start_times
    return np.concatenate([starts[name] + phase.t for name, phase in solution.phases.items()])


def title_of(solution: Solution | PhasesSolution) -> str:
    """The names of the models."""
    return ", ".join(dict.fromkeys(model.name for model in models(solution)))


def fine_times(solution: Solution | PhasesSolution, points: int = _POINTS, least: int = 5) -> np.ndarray:
    """Times on every interval, including its end, so that a jump between intervals is drawn vertically.

    At least about `points` over the whole motion, and at least `least` on every interval.
    """
    ends = solution.mesh_times
    per_interval = max(least, -(-points // (ends.size - 1)))
    u = np.linspace(0, 1, per_interval)
    u[-1] -= 1e-9  # on this interval, not on the next one
    times = ends[:-1, None] + u * np.diff(ends)[:, None]
    return np.append(times.ravel(), solution.duration)
