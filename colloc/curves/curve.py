"""What a transcription says of itself: its splines, and where constraints are imposed on them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from colloc.curves.mesh import Points
from colloc.numerics.bspline import SplineBasis


class Transcription(Protocol):
    """How a motion becomes finitely many numbers: BSpline, HermiteSimpson or Radau."""

    @property
    def basis(self) -> SplineBasis:
        """The splines of the joints over the normalised time."""
        ...

    @property
    def signals(self) -> SplineBasis:
        """The splines of the unknown signals."""
        ...

    def node_points(self) -> Points:
        """Where inequalities are imposed."""
        ...

    def collocation_points(self) -> Points:
        """Where equalities are imposed."""
        ...


def brief(curve: Transcription) -> str:
    """A curve as the call that makes it, or in a few words where it has many breakpoints."""
    called, basis = repr(curve), curve.basis
    if len(called) <= 80:
        return called
    degrees = f"{basis.degrees.min()} to {basis.degree}" if np.ptp(basis.degrees) else str(basis.degree)
    return f"{type(curve).__name__} of {basis.intervals} intervals, degree {degrees}"
