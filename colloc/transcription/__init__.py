"""From a problem to a nonlinear program: transcriptions, blocks, guesses."""

from colloc.transcription.block import Block
from colloc.transcription.bspline import BSpline
from colloc.transcription.collocation import HermiteSimpson, Radau
from colloc.transcription.grid import Grid, Motion, Sites, Transcription
from colloc.transcription.guess import Guess, Keyframes, keyframes, line, motion_from
from colloc.transcription.nlp import NLP
from colloc.transcription.transcribe import block_at, transcribe, window

__all__ = [
    "NLP", "BSpline", "Block", "Grid", "Guess", "HermiteSimpson", "Keyframes", "Motion", "Radau", "Sites",
    "Transcription", "block_at", "keyframes", "line", "motion_from", "transcribe", "window",
]  # fmt: skip
