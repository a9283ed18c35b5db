"""Dynamics as functions of NumPy arrays.

evaluator  the functions, compiled on first use
samples    their results
spline     torques of a B-spline and their derivatives by its control points, breakpoints and duration
"""

from colloc.dynamics.evaluator.evaluator import Evaluator
from colloc.dynamics.evaluator.samples import (
    PointSamples,
    ReactionSamples,
    ReactionSensitivitySamples,
    SplineSensitivities,
    StateDerivatives,
    TorqueSensitivities,
)

__all__ = [
    "Evaluator", "PointSamples", "ReactionSamples", "ReactionSensitivitySamples", "SplineSensitivities",
    "StateDerivatives", "TorqueSensitivities",
]  # fmt: skip
