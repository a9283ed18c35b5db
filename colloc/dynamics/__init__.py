"""Inverse dynamics by interchangeable recursions, their sensitivities, and what follows from them."""

from colloc.dynamics.forward import equations_of_motion
from colloc.dynamics.lagrange import lagrange
from colloc.dynamics.newton_euler import Reactions, joint_reactions, newton_euler
from colloc.dynamics.sensitivities import (
    DerivativeRecursion,
    InverseDynamics,
    Sensitivities,
    by_differentiation,
    total_sensitivities,
)

__all__ = [
    "DerivativeRecursion",
    "InverseDynamics",
    "Reactions",
    "Sensitivities",
    "by_differentiation",
    "equations_of_motion",
    "joint_reactions",
    "lagrange",
    "newton_euler",
    "total_sensitivities",
]
