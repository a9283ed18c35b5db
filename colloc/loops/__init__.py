"""Closed chains: loops, assembly, inverse dynamics and its derivatives."""

from colloc.loops.assembly import assemble, closure_error
from colloc.loops.cut_joints import CutJoints
from colloc.loops.evaluator import ChainDerivatives, ChainEvaluator, ChainForces, ChainMotion
from colloc.loops.independent_joints import IndependentJoints
from colloc.loops.inverse_dynamics import Actuation, inverse_dynamics, loop_torques, loop_wrenches
from colloc.loops.loop import (
    Frame,
    Loop,
    cylindrical,
    on_line,
    on_plane,
    planar,
    prismatic,
    revolute,
    spherical,
    weld,
)  # fmt: skip
from colloc.loops.mechanism import ClosedChain
from colloc.loops.reduction import (
    JointMotion,
    constraint_hessian,
    constraint_jacobian,
    dependent_motion,
    loop_residual,
)  # fmt: skip
from colloc.loops.sensitivities import ChainSensitivities, chain_hessian, chain_sensitivities
from colloc.support.packages import present

__all__ = [
    "Actuation", "ChainDerivatives", "ChainEvaluator", "ChainForces", "ChainMotion", "ChainSensitivities",
    "ClosedChain", "CutJoints", "Frame", "IndependentJoints", "JointMotion", "Loop", "assemble", "chain_hessian",
    "chain_sensitivities", "closure_error", "constraint_hessian", "constraint_jacobian", "cylindrical",
    "dependent_motion", "inverse_dynamics", "loop_residual", "loop_torques", "loop_wrenches", "on_line", "on_plane",
    "planar", "prismatic", "revolute", "spherical", "weld",
]  # fmt: skip

present(__name__)
