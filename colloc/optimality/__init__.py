"""How good an answer is, and what it hangs on.

certificate   every condition of an optimum, line by line
forces        what rows, bounds and costs do to a motion
contact       when bounds on control points act
costates      costates of the continuous problem from the multipliers of the program
hamiltonian   the minimum principle along a motion
arcs          which limits are active when, and how far switches are from where they belong
limited       what is limited along a motion, where it is and where it should be
second_order  minimum, saddle, maximum, and what is flat
sensitivity   derivatives of an optimum by the numbers of its problem: a table, and the motion's at any time
active_set    the bounds that hold an answer
kkt           its conditions, linearised and factorised once
numbers       the numbers that a problem is made of, and what each moves in the conditions
explain       why a problem fails, or what limits its answer
elastic       the program whose limits give way at a cost
gains         what a limit gains by itself, of all multipliers the least
limits        numbers that a problem states once, with all rows and variables that they bound
wider_limits  problems restated with wider limits
multipliers   what a unit of every limit is worth
"""

from colloc.optimality.arcs import Arc, Arcs, arcs
from colloc.optimality.certificate import Certificate, certify
from colloc.optimality.costates import Costates, costates
from colloc.optimality.explain import ActiveLimit, Explanation, Relaxation, explain
from colloc.optimality.sensitivity import Derivative, Sensitivity, sensitivity
from colloc.support.packages import register_public

__all__ = [
    "ActiveLimit", "Arc", "Arcs", "Certificate", "Costates", "Derivative", "Explanation", "Relaxation", "Sensitivity",
    "arcs", "certify", "costates", "explain", "sensitivity",
]  # fmt: skip

register_public(__name__)
