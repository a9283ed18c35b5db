"""Closed chains: loops, assembly, inverse dynamics and its derivatives.

loop                a loop: two frames, and the rows that close it
closure             residuals of loops, their Jacobians and Hessians
posture             closed postures, with their independent rows and joints
mechanism           the closed chain: a tree with loops, independent joints and actuators
arguments           checks of the arguments of functions of a chain
assembly            closed postures for values of the independent joints
reduction           motion of all joints from that of the independent ones
inverse_dynamics    torques of actuators, wrenches of loops
sensitivities       their derivatives
loop_loads          loops as loads on the bodies of the tree
evaluator           all of these as functions of NumPy arrays
independent_joints  chains in problems, closed at every instant
cut_joints          chains in problems, cut, with forces of the loops as unknowns
"""

from typing import TYPE_CHECKING

from colloc.loops.loop import (
    Frame,
    Loop,
    cylindrical_loop,
    on_line,
    on_plane,
    planar_loop,
    prismatic_loop,
    revolute_loop,
    spherical_loop,
    weld,
)  # fmt: skip
from colloc.support.packages import register_public

if TYPE_CHECKING:
    from colloc.loops.assembly import assemble, closure_error
    from colloc.loops.cut_joints import CutJoints
    from colloc.loops.evaluator import ChainDerivatives, ChainEvaluator, ChainForces, ChainMotion
    from colloc.loops.independent_joints import IndependentJoints
    from colloc.loops.inverse_dynamics import Actuation, chain_inverse_dynamics, loop_torques, loop_wrenches
    from colloc.loops.mechanism import ClosedChain
    from colloc.loops.reduction import (
        DependentMotion,
        constraint_hessian,
        constraint_jacobian,
        dependent_motion,
        loop_residual,
    )
    from colloc.loops.sensitivities import ChainSensitivities, chain_hessian, chain_sensitivities

__all__ = [
    "Actuation", "ChainDerivatives", "ChainEvaluator", "ChainForces", "ChainMotion", "ChainSensitivities",
    "ClosedChain", "CutJoints", "DependentMotion", "Frame", "IndependentJoints", "Loop", "assemble",
    "chain_hessian", "chain_inverse_dynamics", "chain_sensitivities", "closure_error", "constraint_hessian",
    "constraint_jacobian", "cylindrical_loop", "dependent_motion", "loop_residual", "loop_torques",
    "loop_wrenches", "on_line", "on_plane", "planar_loop", "prismatic_loop", "revolute_loop", "spherical_loop",
    "weld",
]  # fmt: skip

# Loaded on first use: files that have no loop need none of it.
_LATER = {
    "assembly": "assemble closure_error",
    "cut_joints": "CutJoints",
    "evaluator": "ChainDerivatives ChainEvaluator ChainForces ChainMotion",
    "independent_joints": "IndependentJoints",
    "inverse_dynamics": "Actuation chain_inverse_dynamics loop_torques loop_wrenches",
    "mechanism": "ClosedChain",
    "reduction": "DependentMotion constraint_hessian constraint_jacobian dependent_motion loop_residual",
    "sensitivities": "ChainSensitivities chain_hessian chain_sensitivities",
}
register_public(__name__, {name: f"{__name__}.{module}" for module, names in _LATER.items() for name in names.split()})
