"""Solvers of nonlinear programs: interface, monitoring and diagnosis.

progress         display of a solve while it runs
solver           the protocol of solvers: prepared for a program, then run from several starts
degenerate       rows and costs that no variable changes, values that are not finite, kinks
scaling          the program in units of natural size one, with its derivatives
monitor          the best iterate, progress, Ctrl-C and the time limit, at every iteration
nlpsol           any CasADi solver, prepared for a program
lanes            programs of one pattern in the lanes of vectors: functions, sums, factors
many             an interior-point method for many such programs at once
linear_solvers   linear solvers of IPOPT; multifrontal/ is part of this package, in C
trial            check of the interface of IPOPT and multifrontal, in a process of its own
ipopt            IPOPT: options (names in ipopt_options.txt), statuses and strategies
quadratic        quadratic programs by IPOPT
least_violation  the program of least violation
conflicts        bounds and conditions that conflict with violated rows
diagnosis        reasons of a failed solve, in a few lines

Another solver is a class in one file with the methods of `Solver`.
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
