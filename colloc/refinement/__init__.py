"""Solves: one program, other starts, and finer grids until the motion is as accurate as requested.

solve            entry points: from a problem or a solution to a solution with error estimates
plan             steps of a solve: solve, seek other starts, refine, end intervals at switches
final_postures   solves from lines to all final postures that a problem leaves open
random_motions   random initial motions
starts           starts on a coarse grid and the optima that they reach
seek_feasible    search for a feasible motion after a failed solve, and evidence that there is none
simulated_start  an initial motion simulated under the torques of a guess
seek_starts      search for cheaper optima than that of the guess, within one solve
forms            forms in which a program is solved: with or without torques as variables
run              settings with which programs are solved
saddles          stationary motions that are no minimum, and directions of descent from them
rounds           refinement iterations, on finer grids or in arcs
next_grid        finer grids from the error on a grid
knot_search      optimal breakpoints, where torques jump
iteration        an iteration of a solve, as passed to a progress function
levels           costs in order of importance, one level after another
switches         motions in arcs that end where limits become active or inactive, and grids that end there
reduced          programs without limits that a cost keeps torques away from, and without redundant equations
redundant        equations that follow from others at the same instant
warnings         warnings about a solution, as sentences
failure          warnings of doubtful solutions, errors of failed solves
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
