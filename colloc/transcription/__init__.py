"""From a problem to a nonlinear program: transcriptions, blocks, guesses."""

from colloc.transcription.bspline import BSpline
from colloc.transcription.grid import Grid, Trajectory, Transcription
from colloc.transcription.guess import Guess, Keyframes, keyframes, line, trajectory_from
from colloc.transcription.hermite_simpson import HermiteSimpson
from colloc.transcription.nlp import NLP
from colloc.transcription.radau import Radau
from colloc.transcription.transcribe import constraint_block, transcribe

# The transcriptions that files may name.
TRANSCRIPTIONS = {curve.__name__: curve for curve in (BSpline, HermiteSimpson, Radau)}

__all__ = [
    "NLP", "TRANSCRIPTIONS", "BSpline", "Grid", "Guess", "HermiteSimpson", "Keyframes", "Radau", "Trajectory",
    "Transcription", "constraint_block", "keyframes", "line", "trajectory_from", "transcribe",
]  # fmt: skip
