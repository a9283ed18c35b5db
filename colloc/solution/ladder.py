"""What the rounds of a refinement were."""

from __future__ import annotations

from dataclasses import dataclass

from colloc.transcription import Transcription


@dataclass(frozen=True)
class Rung:
    """One round of a refinement.

    Parameters
    ----------
    curve : BSpline, HermiteSimpson or Radau
    variables : int
    cost : float
    error : float
        Between the nodes, relative: the largest of all sources.
    seconds : float
    iterations : int
    """

    curve: Transcription
    variables: int
    cost: float
    error: float
    seconds: float
    iterations: int
