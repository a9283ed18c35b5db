"""Descent on smooth objectives with bounds on single variables and no other constraints, including movements.

    bowl = Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    run = modified_newton(bowl, np.ones(3), Stop(gradient=1e-8, iterations=50))
    run.x, run.value, run.status, run.history.gradient_norm

`Movement` makes the objective of an NLP without constraint rows, `ChainMovement` that of the torques of a closed chain,
and `SplineMotion` that of any cost of a motion on clamped splines, given as NumPy functions. Bounds on positions are
bounds on control points; a `co.penalty` stands in for other inequalities.

objective    objectives, stopping rules, results
methods      steepest descent, BFGS, modified Newton
line_search  step length along a direction
box          bounds on single variables
cholesky     a positive definite matrix near an indefinite one
record       record of iterates
interior     the interior-point method of motions on the same objectives
movement     the cost of an NLP without constraints
spline       any cost of a motion on clamped splines
chain        torques of a closed chain
"""

from colloc.descent.chain import ChainMovement, ChainSample
from colloc.descent.cholesky import ModifiedCholesky, modified_cholesky
from colloc.descent.interior import interior_point
from colloc.descent.line_search import Point, Step, wolfe_step
from colloc.descent.methods import bfgs, modified_newton, steepest_descent
from colloc.descent.movement import Movement
from colloc.descent.objective import Descent, DescentStatus, History, Objective, Stop
from colloc.descent.spline import SplineMotion
from colloc.support.packages import register_public

__all__ = [
    "ChainMovement", "ChainSample", "Descent", "DescentStatus", "History", "ModifiedCholesky", "Movement",
    "Objective", "Point", "SplineMotion", "Step", "Stop", "bfgs", "interior_point", "modified_cholesky",
    "modified_newton", "steepest_descent", "wolfe_step",
]  # fmt: skip

register_public(__name__)
