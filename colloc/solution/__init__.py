"""Answers: the motion, its accuracy, and its verification.

sample            the motion at given times, and arrays indexed by name
signals           all quantities that vary in time along a motion, by name
refinement_round  record of a refinement iteration
starts            results of the starts of a solve
solution          the answer to a problem
phases            the answer to a motion in phases
as_guess          a solution as a guess for another problem
mirror            a whole cycle from half of one, as a guess
warm_start        start of a solve: a guess, or a solution on another grid
first_plan        the first motion of a problem that is solved again and again
more_nodes        a program with additional nodes where limits are exceeded
solve_error       the error of a failed solve, with the last iterate
simulation        a motion simulated forward under its torques
solution_query    decorator of functions that take a solution
verify            verification by independent means
"""

from colloc.solution.mirror import mirrored
from colloc.solution.phases import PhasesSolution, solution_of
from colloc.solution.sample import JointReactions, Sample
from colloc.solution.solution import BaseSolution, Solution
from colloc.solution.verify import Verification, verify

__all__ = [
    "BaseSolution",
    "JointReactions",
    "PhasesSolution",
    "Sample",
    "Solution",
    "Verification",
    "mirrored",
    "solution_of",
    "verify",
]  # fmt: skip
