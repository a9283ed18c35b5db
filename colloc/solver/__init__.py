"""Handing a nonlinear program to a solver, watching it, and reading what came back.

progress        what a user sees of a solve while it runs
solver          the protocol of solvers: prepared for a program, then from one start after another to an outcome
degenerate      rows and costs that no variable changes, values that are not finite, kinks
scaling         the program in units of natural size one, with its derivatives
monitor         the best iterate, progress, Ctrl-C and the time, at every iteration
nlpsol          any solver that CasADi knows, prepared for a program
linear_solvers  the linear algebra below IPOPT; multifrontal/ is our own, in C
trial           whether IPOPT and our own understand each other, in a process of its own
ipopt           IPOPT: its options (their names in ipopt_options.txt), statuses and strategies
quadratic       quadratic programs by IPOPT
conflicts       bounds and conditions that stand in the way of violated rows
diagnosis       why a solve failed, in a few lines

A solver of another make is a class in one file with the methods of `Solver`.
"""

from colloc.solver.ipopt import ELASTIC as ELASTIC
from colloc.solver.ipopt import ELASTIC_FROM_FAR as ELASTIC_FROM_FAR
from colloc.solver.ipopt import SHARPENING as SHARPENING
from colloc.solver.ipopt import Ipopt
from colloc.solver.ipopt import chosen_solver as chosen_solver
from colloc.solver.ipopt import minimise as minimise
from colloc.solver.ipopt import to_the_last_digit as to_the_last_digit
from colloc.solver.nlpsol import Nlpsol
from colloc.solver.progress import Iterate
from colloc.solver.scaling import Hessian
from colloc.solver.solver import Outcome, PreparedSolver, Scale, Solver, Start, Status

__all__ = ["Hessian", "Ipopt", "Iterate", "Nlpsol", "Outcome", "PreparedSolver", "Scale", "Solver", "Start", "Status"]
