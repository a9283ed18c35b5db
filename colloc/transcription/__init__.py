"""From a problem to a nonlinear program: transcriptions, blocks, guesses."""

from colloc.transcription.free_knots import FreeKnotsGrid
from colloc.transcription.freedoms import check_freedoms
from colloc.transcription.grid import Grid
from colloc.transcription.guess import Guess, Keyframes, default_curves, keyframes, line, phase_guesses, trajectory_from
from colloc.transcription.line_timing import TimedLine, Untimed, timed_line
from colloc.transcription.nlp import NLP
from colloc.transcription.program import Program
from colloc.transcription.recipe import for_own_problem
from colloc.transcription.sequence import SequenceNLP
from colloc.transcription.trajectory import Trajectory
from colloc.transcription.transcribe import (
    checked_curves,
    constraint_block,
    for_problem,
    on_curve,
    on_curves,
    transcribe,
)

__all__ = [
    "NLP", "FreeKnotsGrid", "Grid", "Guess", "Keyframes", "Program",
    "SequenceNLP", "TimedLine", "Trajectory", "Untimed", "check_freedoms",
    "checked_curves", "constraint_block", "default_curves", "for_own_problem", "for_problem", "keyframes",
    "line", "on_curve", "on_curves", "phase_guesses", "timed_line", "trajectory_from", "transcribe",
]  # fmt: skip
