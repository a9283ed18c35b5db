"""How good an answer is, and what it hangs on.

certificate   every condition of an optimum, line by line
forces        what rows, bounds and costs do to a motion
contact       when bounds on control points act
costates      costates of the continuous problem from the multipliers of the program
hamiltonian   the minimum principle along a motion
second_order  minimum, saddle, maximum, and what is flat
intervals     interval arithmetic over CasADi's functions
krawczyk      whether an answer is the only one near by
sensitivity   derivatives of an optimum by the numbers of its problem: a table, and the motion's at any time
active_set    the bounds that hold an optimum
kkt           its conditions, linearised and factorised once
numbers       the numbers that a problem is made of, and what each moves in the conditions
"""

from colloc.optimality.certificate import Certificate, certify
from colloc.optimality.costates import Costates, costates
from colloc.optimality.sensitivity import Derivative, Sensitivity, sensitivity
from colloc.support.packages import present

__all__ = ["Certificate", "Costates", "Derivative", "Sensitivity", "certify", "costates", "sensitivity"]

present(__name__)
