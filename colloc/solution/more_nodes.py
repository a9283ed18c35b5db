"""A program with additional nodes where limits are exceeded between nodes."""

from __future__ import annotations

from colloc.curves import Points
from colloc.errors.violations import exceeded
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.transcription import NLP, PhasesNLP, on_curves


def with_nodes(solution: Solution | PhasesSolution, tolerance: float) -> NLP | PhasesNLP:
    """The motion on a grid with additional nodes where limits are exceeded between nodes."""
    extra: dict[str, Points | None] = {}
    for name, phase in solution.phases.items():
        extra[name] = nodes = phase.nlp.grid.extra
        if phase.error.bounds.max() > tolerance:
            peaks = exceeded(phase.nlp, phase.x, phase.parameters, tolerance)
            extra[name] = peaks if nodes is None else nodes.merged(peaks)
    return on_curves(solution.nlp, solution.nlp.curves, extra)
