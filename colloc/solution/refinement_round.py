"""Record of a refinement iteration, as a solution keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from colloc.curves import Transcription, brief


@dataclass(frozen=True, repr=False)
class RefinementRound:
    """Record of one refinement iteration.

    Parameters
    ----------
    curve : BSpline, HermiteSimpson or Radau
        A mapping of phase to curve for a motion in phases.
    variables : int
    cost : float
    error : float
        Relative error between the nodes, the largest of all sources.
    seconds : float
    iterations : int
    """

    curve: Transcription | Mapping[str, Transcription]
    variables: int
    cost: float
    error: float
    seconds: float
    iterations: int

    @property
    def breakpoints(self) -> np.ndarray:
        """Breakpoints of the curve from 0 to 1; phases count as equally long."""
        curves = list(self.curve.values()) if isinstance(self.curve, Mapping) else [self.curve]
        return np.unique(np.concatenate([k + curve.basis.breakpoints for k, curve in enumerate(curves)])) / len(curves)

    def __repr__(self) -> str:
        effort = f"{self.iterations} iterations, {self.seconds:.2g} s"
        result = f"cost {self.cost:.8g}, error {self.error:.1e}"
        curves = self.curve.values() if isinstance(self.curve, Mapping) else [self.curve]
        return f"<{', '.join(map(brief, curves))}: {self.variables} variables, {result}, {effort}>"
