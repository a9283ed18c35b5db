"""Errors of a motion between the nodes, and violations of constraints.

local       the error on every interval, by source
source      base of the sources of error
motion      deviation of a motion under interpolated torques
dynamics    source: that deviation within intervals
gap         excess of the cost over the optimum: a Newton step on richer splines
cost        source: that excess, and the quadrature of the cost; the scale of costs
equations   source: equations along the path, between their collocation points
forces      source: forces that hold passive joints
states      differential equations of states, which are part of the equations
violations  source: bounds and constraints, at the nodes and between them
"""

from colloc.errors.violations import Violation, measure_violations

__all__ = ["Violation", "measure_violations"]
