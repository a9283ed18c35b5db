"""Solving, where asked for in rounds, each on a finer grid, until the motion is as exact as asked for.

solve            the entry points: from a problem, or an answer, to a solution that says how far it can be trusted
plan             the steps between: solve, seek other starts, refine, end intervals at switches
random_motions   random motions to start from
starts           starts on a coarse grid, and the optima to which they lead
seek_feasible    the search for a feasible motion where a solver has found none, and the proof that there is none
simulated_start  a motion to start from, simulated under the torques of a guess
seek_starts      the search for cheaper optima than that of the guess, within one solve
forms            the forms in which a program is solved: torques as variables, or not
run              a way of solving programs, one after another
saddles          stationary motions that are no minimum, and the way down from them
rounds           a motion refined, round after round or at its switches
next_grid        where a finer grid follows from the error on this one
knot_search      the best places of breakpoints, where torques jump
iteration        an iteration of a solve, as a progress function receives it
levels           costs in order of importance, one level after another
switches         a motion in arcs that meet where limits begin and cease to hold, and a grid that ends there
reduced          a program without limits that a cost keeps torques away from, and without needless equations
redundant        equations that follow from others at the same instant
warnings         reservations about an answer, in sentences
failure          warnings of doubtful answers, an error for none
"""

from colloc.refinement.failure import SolutionWarning, SolveError
from colloc.refinement.iteration import Iteration
from colloc.refinement.plan import AtSwitches, Attempt, Refine, SeekFeasible, SeekStarts, Solve
from colloc.refinement.solve import refine, solve
from colloc.refinement.starts import SearchSettings

__all__ = [
    "AtSwitches", "Attempt", "Iteration", "Refine", "SearchSettings", "SeekFeasible", "SeekStarts", "SolutionWarning",
    "Solve", "SolveError", "refine", "solve",
]  # fmt: skip
