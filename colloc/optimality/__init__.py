"""How good an answer is, and what it hangs on.

explain      the door: why a problem fails, or what limits its answer
elastic      the program whose limits give way at a cost
limits       numbers that a problem states once, with all rows and variables that they bound
widened      problems restated with wider limits
multipliers  what a unit of every limit is worth
"""

from colloc.optimality.explain import ActiveLimit, Explanation, Relaxation, explain

__all__ = ["ActiveLimit", "Explanation", "Relaxation", "explain"]
