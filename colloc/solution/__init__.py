"""Answers: the motion, how far it can be trusted, and whether it holds.

sample            the motion at some times, and arrays that know their components by name
signals           all that varies in time along a motion, by name
refinement_round  one round of a refinement
starts            where the starts of a solve have led
solution          the answer to a problem
sequence          the answer to a motion in phases
as_guess          a solution as a guess for another problem
warm_start        where a solve begins: a guess, or a solution on another grid
more_nodes        its program with nodes where limits are exceeded between those that there are
solve_error       what a failed solve raises, with the last iterate
simulation        a motion simulated forward under its torques
solution_query    the decorator of functions that take a solution
verify            whether an answer holds, by other means
"""

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
    "solution_of",
    "verify",
]  # fmt: skip
