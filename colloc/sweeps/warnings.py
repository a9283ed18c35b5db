"""Warnings of many solves, grouped so that each kind is issued once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from colloc.refinement.failure import SolutionWarning
from colloc.refinement.warnings import warning_messages
from colloc.solution import PhasesSolution, Solution
from colloc.solver import Status
from colloc.support.checks import warn

_NUMBER = r"-?\d[\d.]*(e[-+]\d+)?"


def warnings_of(solution: Solution | PhasesSolution) -> list[str]:
    """Warnings of `solve`, as sentences."""
    return warning_messages(solution) if solution.outcome.status is Status.SOLVED else []


def warn_grouped(unit: str, warnings: Mapping[int, Sequence[str]]) -> None:
    """Issue a SolutionWarning for every kind of sentence; sentences that differ only in numbers are of one kind.

    `unit` names the numbered things: "case".
    """
    kinds: dict[str, list[tuple[int, str]]] = {}
    for number, sentences in warnings.items():
        for sentence in sentences:
            kinds.setdefault(re.sub(_NUMBER, "#", sentence), []).append((number, sentence))
    for alike in kinds.values():
        number, sentence = alike[0]
        more = f", and {len(alike) - 1} more like it" if len(alike) > 1 else ""
        warn(f"{unit} {number}{more}: {sentence}", SolutionWarning)
