"""From a problem to a nonlinear program, and to the start of a search in it.

layout             meaning of the entries of a decision vector
grid               splines of a problem, and their evaluation
free_knots         the same for splines whose breakpoints are unknowns
constraint_points  places on a grid at which constraints hold
fixed_ends         end conditions that fix variables
torques            torques and their derivatives in a program
problem_blocks     costs and constraints of a problem as blocks
nlp                the program of one motion
phases             the program of a motion in phases
transcribe         entry point: from a problem and curves to a program
deferred           programs that are built on first use
derived_nlp        programs in terms of another one
lifted             programs with torques as variables
worst              the program of cases in which the largest of their costs counts
trajectory         a motion as functions of the normalised time
guess              guesses: lines, keyframes, functions of time; default curves
final_postures     final postures that a problem leaves open
time_optimal_line  the straight line between two postures, as fast as limits allow
topp               the fastest speeds along a path under limits linear in its acceleration and squared speed
blend              guesses deformed to meet conditions at single times
quadratic          sparse quadratic programs and the accuracy of their optima
differences        derivatives by differences, for tests of exact ones
point_to_point     motions from rest to rest between two postures
"""

from colloc.transcription.deferred import DeferredNLP
from colloc.transcription.free_knots import FreeKnotsGrid
from colloc.transcription.grid import Grid
from colloc.transcription.guess import Guess, Keyframes, default_curves, keyframes, line, phase_guesses, trajectory_from
from colloc.transcription.nlp import NLP, BaseNLP, check_determined
from colloc.transcription.phases import PhasesNLP
from colloc.transcription.point_to_point import point_to_point
from colloc.transcription.problem_blocks import constraint_block
from colloc.transcription.time_optimal_line import TimeOptimalLine, Untimed, time_optimal_line
from colloc.transcription.trajectory import Trajectory
from colloc.transcription.transcribe import checked_curves, on_curves, program_of, transcribe

__all__ = [
    "NLP", "BaseNLP", "DeferredNLP", "FreeKnotsGrid", "Grid", "Guess", "Keyframes", "PhasesNLP", "TimeOptimalLine",
    "Trajectory", "Untimed", "check_determined", "checked_curves", "constraint_block", "default_curves", "keyframes",
    "line", "on_curves", "phase_guesses", "point_to_point", "program_of", "time_optimal_line", "trajectory_from",
    "transcribe",
]  # fmt: skip
