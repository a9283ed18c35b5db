"""How good an answer is, and what it hangs on.

sensitivity  derivatives of an optimum by the numbers of its problem: a table, and the motion's at any time
active_set   the bounds that hold an optimum
kkt          its conditions, linearised and factorised once
numbers      the numbers that a problem is made of, and what each moves in the conditions
"""

from colloc.optimality.sensitivity import Derivative, Sensitivity, sensitivity
from colloc.support.packages import present

__all__ = ["Derivative", "Sensitivity", "sensitivity"]

present(__name__)
