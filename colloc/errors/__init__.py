"""How far a motion can be trusted: its error between the nodes, and what it violates.

local       the error on every interval, by source: where sources are listed
source      what a source of error says of itself
motion      how far a motion strays under torques that are handed over as few numbers
dynamics    a source: that, within intervals
gap         how much less a motion could cost: a Newton step on splines that can do more than its own
cost        a source: that, and the cost's quadrature; and the scale that errors of a cost are relative to
equations   a source: equations along the path, between the points where they are collocated
forces      a source: what holds that which nothing drives, at its largest
states      states with equations of their own, which are among these
violations  a source: bounds and constraints, at the nodes and between them
"""

from colloc.errors.violations import Violation, measure_violations

__all__ = ["Violation", "measure_violations"]
