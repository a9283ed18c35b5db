"""From a problem to a nonlinear program: transcriptions, blocks, guesses."""

from colloc.transcription.deferred import DeferredNLP
from colloc.transcription.free_knots import FreeKnotsGrid
from colloc.transcription.freedoms import check_freedoms
from colloc.transcription.grid import Grid
from colloc.transcription.guess import Guess, Keyframes, default_curves, keyframes, line, phase_guesses, trajectory_from
from colloc.transcription.line_timing import TimedLine, Untimed, timed_line
from colloc.transcription.nlp import NLP, BaseNLP
from colloc.transcription.point_to_point import point_to_point
from colloc.transcription.problem_blocks import constraint_block
from colloc.transcription.sequence import SequenceNLP
from colloc.transcription.trajectory import Trajectory
from colloc.transcription.transcribe import checked_curves, on_curves, program_of, transcribe

__all__ = [
    "NLP", "BaseNLP", "DeferredNLP", "FreeKnotsGrid", "Grid", "Guess", "Keyframes",
    "SequenceNLP", "TimedLine", "Trajectory", "Untimed", "check_freedoms", "checked_curves", "constraint_block",
    "default_curves", "keyframes", "line", "on_curves", "phase_guesses", "point_to_point", "program_of", "timed_line",
    "trajectory_from", "transcribe",
]  # fmt: skip
