"""How good an answer is, and what it hangs on.

forces        what rows, bounds and costs do to a motion
contact       when bounds on control points act
costates      costates of the continuous problem from the multipliers of the program
hamiltonian   the minimum principle along a motion
second_order  minimum, saddle, maximum, and what is flat
intervals     interval arithmetic over CasADi's functions
krawczyk      whether an answer is the only one near by
certificate   all of these, line by line
"""

from colloc.optimality.certificate import Certificate, certify
from colloc.optimality.costates import Costates, costates

__all__ = ["Certificate", "Costates", "certify", "costates"]
