"""The numeric face of the dynamics: NumPy arrays in, NumPy arrays out."""

from colloc.evaluator.evaluator import Evaluator
from colloc.evaluator.samples import (
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
