"""How far a motion can be trusted: its error between the nodes, and what it violates.

cost_scale  the size of a cost, which its errors are relative to
equations   equations along the path, between the points where they are collocated
states      states with equations of their own
violations  bounds and constraints, at the nodes and between them
local       the error on every interval, by source
"""

from colloc.errors.violations import Violation, measure_violations

__all__ = ["Violation", "measure_violations"]
