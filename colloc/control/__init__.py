"""Control of predicted motions: discrete-time systems, iterative LQR, feedback, receding horizons.

state_space states and differences between them
discrete    systems in discrete time, simulated and linearised
objective   half a sum of weighted squares of states, outputs and controls
residuals   an objective at a trajectory: its value and expansion
riccati     the optimal change of the controls, with feedback, by recursion
batch       the optimal change of the controls all at once, by least squares
box         quadratic programs with bounds
ilqr        iterations of either until the trajectory is optimal
result      the result of iLQR
tracking    feedback around a solution
horizon     the program of a receding horizon
schedule    repeated phases, and horizons that begin in each of them
native      its tables for step.c, which makes steps without Python
receding    a controller that solves a problem again at every tick
closed_loop a receding horizon in a simulated loop
export      a receding horizon as C sources
c_code      torques and feedback in C
"""

from colloc.control.batch import least_squares_step, response_matrices
from colloc.control.c_code import to_c
from colloc.control.closed_loop import ClosedLoop, closed_loop
from colloc.control.discrete import Scheme, System, discretise, rollout
from colloc.control.export import export
from colloc.control.ilqr import Form, ilqr
from colloc.control.objective import TrajectoryObjective, control_cost, output_cost, state_cost
from colloc.control.receding import Receding, Tick, receding
from colloc.control.residuals import Expansion, Residuals, fitted
from colloc.control.result import IlqrResult, IlqrStatus
from colloc.control.riccati import Policy, backward
from colloc.control.state_space import StateSpace
from colloc.control.tracking import Tracking, time_varying_lqr
from colloc.support.packages import register_public

__all__ = [
    "ClosedLoop", "Expansion", "Form", "IlqrResult", "IlqrStatus", "Policy", "Receding", "Residuals", "Scheme",
    "StateSpace", "System", "Tick", "Tracking", "TrajectoryObjective", "backward", "closed_loop", "control_cost",
    "discretise", "export", "fitted", "ilqr", "least_squares_step", "output_cost", "receding", "response_matrices",
    "rollout", "state_cost", "time_varying_lqr", "to_c",
]  # fmt: skip

register_public(__name__)
