"""Inverse dynamics by interchangeable recursions, their sensitivities, and what follows from them."""

from colloc.dynamics.articulated import forward_dynamics
from colloc.dynamics.composite import composite_sensitivities, mass_matrix
from colloc.dynamics.energy import center_of_mass, kinetic_energy, momentum, potential_energy
from colloc.dynamics.forward import equations_of_motion
from colloc.dynamics.jacobians import point_jacobian, point_jacobian_rate
from colloc.dynamics.lagrange import lagrange
from colloc.dynamics.lagrange_sensitivities import lagrange_sensitivities
from colloc.dynamics.lie import lie
from colloc.dynamics.lie_derivatives import lie_hessian, lie_sensitivities
from colloc.dynamics.newton_euler import Reactions, joint_reactions, newton_euler
from colloc.dynamics.newton_euler_sensitivities import newton_euler_sensitivities, reaction_sensitivities
from colloc.dynamics.regular import regular_lagrange
from colloc.dynamics.sensitivities import (
    DerivativeRecursion,
    InverseDynamics,
    Sensitivities,
    by_differentiation,
    total_sensitivities,
)  # fmt: skip

__all__ = [
    "DerivativeRecursion", "InverseDynamics", "Reactions", "Sensitivities", "by_differentiation", "center_of_mass",
    "composite_sensitivities", "equations_of_motion", "forward_dynamics", "joint_reactions", "kinetic_energy",
    "lagrange", "lagrange_sensitivities", "lie", "lie_hessian", "lie_sensitivities", "mass_matrix", "momentum",
    "newton_euler", "newton_euler_sensitivities", "point_jacobian", "point_jacobian_rate", "potential_energy",
    "reaction_sensitivities", "regular_lagrange", "total_sensitivities",
]  # fmt: skip
