"""What the rounds of a refinement were."""

from __future__ import annotations

from dataclasses import dataclass

from colloc.transcription import Transcription, brief


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        effort = f"{self.iterations} iterations, {self.seconds:.2g} s"
        found = f"cost {self.cost:.8g}, error {self.error:.1e}"
        return f"<{brief(self.curve)}: {self.variables} variables, {found}, {effort}>"
