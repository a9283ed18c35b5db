"""Quality of a solution: conditions of an optimum, sensitivities, active limits, reasons of failures.

certificate   conditions of an optimum, line by line
forces        forces of rows, bounds and costs on a motion
contact       times at which bounds on control points act
costates      costates of the continuous problem from the multipliers of the program
hamiltonian   the minimum principle along a motion
needles       other values of signals, far from those of a motion
arcs          active limits over time, and the accuracy of switches
limited       limited quantities along a motion, and corrected switching times
second_order  minimum, saddle, maximum, and flat directions
sensitivity   derivatives of an optimum by the numbers of its problem: a table, and the motion's at any time
gradient      the gradient of one number that depends on an optimum
along         functions of the instant along an optimum, and their derivatives
optimum_function  optima as functions of parameters, with derivatives
learning      the same functions for PyTorch and JAX
active_set    active bounds of a solution
crossover     active bounds that a barrier leaves open, decided at the exact optimum
kkt           the linearised and factorised conditions of an optimum
weights       weights of a cost from recorded motions
stationarity  weights for which a motion meets the conditions of an optimum
estimates     standard errors of constants that are identified from records
restated      the program of a motion with other costs
numbers       numbers of a problem, and their effect on the conditions
explain       reasons why a problem fails, or limits that determine its solution
elastic       the program with limits that may be relaxed at a cost
gains         least multipliers of limits
expanded      the decrease of the cost with a limit relaxed, by a quadratic program
limits        numbers that a problem states once, with all rows and variables that they bound
wider_limits  problems restated with wider limits
multipliers   multipliers of every limit, including prescribed ends
"""

from colloc.optimality.arcs import Arc, Arcs, arcs
from colloc.optimality.certificate import Certificate, certify
from colloc.optimality.costates import Costates, costates
from colloc.optimality.estimates import Estimates, standard_errors
from colloc.optimality.explain import ActiveLimit, Explanation, Relaxation, explain
from colloc.optimality.gradient import Gradient, gradient
from colloc.optimality.learning import jax_function, torch_function
from colloc.optimality.optimum_function import OptimumFunction, optimum_function
from colloc.optimality.sensitivity import Derivative, Sensitivity, sensitivity
from colloc.optimality.weights import Weights, recover_weights
from colloc.support.packages import register_public

__all__ = [
    "ActiveLimit", "Arc", "Arcs", "Certificate", "Costates", "Derivative", "Estimates", "Explanation", "Gradient",
    "OptimumFunction", "Relaxation", "Sensitivity", "Weights", "arcs", "certify", "costates", "explain", "gradient",
    "jax_function", "optimum_function", "recover_weights", "sensitivity", "standard_errors", "torch_function",
]  # fmt: skip

register_public(__name__)
