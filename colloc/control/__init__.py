"""Control of predicted motions: discrete-time systems, iterative LQR, feedback around a solution."""

from colloc.control.batch import least_squares_step, response, response_matrices, response_transposed
from colloc.control.box import box_minimum
from colloc.control.discrete import Scheme, System, discretise, simulate
from colloc.control.ilqr import Form, ilqr
from colloc.control.objective import Objective, control_cost, output_cost, state_cost
from colloc.control.residuals import Expansion, Residuals, fitted
from colloc.control.riccati import Policy, backward
from colloc.control.track import Tracking, track
from colloc.control.trajectory import Status, Trajectory
from colloc.support.packages import present

__all__ = [
    "Expansion", "Form", "Objective", "Policy", "Residuals", "Scheme", "Status", "System", "Tracking", "Trajectory",
    "backward", "box_minimum", "control_cost", "discretise", "fitted", "ilqr", "least_squares_step", "output_cost",
    "response", "response_matrices", "response_transposed", "simulate", "state_cost", "track",
]  # fmt: skip

present(__name__)
