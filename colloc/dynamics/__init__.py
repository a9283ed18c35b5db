"""Inverse dynamics by interchangeable recursions, their sensitivities, and what follows from them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from colloc.dynamics.newton.newton_euler import Reactions, joint_reactions, newton_euler
from colloc.dynamics.newton.support import Wrench, support_wrench
from colloc.dynamics.sensitivities import (
    DerivativeRecursion,
    Differentiation,
    InverseDynamics,
    Sensitivities,
    by_differentiation,
    check_formulation,
    total_sensitivities,
)
from colloc.dynamics.spatial.articulated import forward_dynamics
from colloc.dynamics.spatial.composite import composite_sensitivities, mass_matrix

if TYPE_CHECKING:
    from colloc.dynamics.forward import equations_of_motion
    from colloc.dynamics.lagrangian.lagrange import lagrange
    from colloc.dynamics.lagrangian.lagrange_sensitivities import lagrange_sensitivities
    from colloc.dynamics.lagrangian.regular import regular_lagrange
    from colloc.dynamics.liegroup.lie import lie
    from colloc.dynamics.liegroup.lie_derivatives import lie_hessian, lie_sensitivities
    from colloc.dynamics.newton.newton_euler_sensitivities import newton_euler_sensitivities, reaction_sensitivities
    from colloc.dynamics.spatial.energy import center_of_mass, kinetic_energy, momentum, potential_energy, total_mass
    from colloc.dynamics.spatial.jacobians import point_jacobian, point_jacobian_rate

__all__ = [
    "DerivativeRecursion", "Differentiation", "InverseDynamics", "Reactions", "Sensitivities", "Wrench",
    "by_differentiation", "center_of_mass", "check_formulation", "composite_sensitivities", "equations_of_motion",
    "forward_dynamics", "joint_reactions", "kinetic_energy", "lagrange", "lagrange_sensitivities", "lie", "lie_hessian",
    "lie_sensitivities", "mass_matrix", "momentum", "newton_euler", "newton_euler_sensitivities", "point_jacobian",
    "point_jacobian_rate", "potential_energy", "reaction_sensitivities", "regular_lagrange", "support_wrench",
    "total_mass", "total_sensitivities",
]  # fmt: skip

# Loaded on first use: most scripts need one formulation.
_LATER = {
    "forward": ("equations_of_motion",),
    "lagrangian.lagrange": ("lagrange",),
    "lagrangian.lagrange_sensitivities": ("lagrange_sensitivities",),
    "lagrangian.regular": ("regular_lagrange",),
    "liegroup.lie": ("lie",),
    "liegroup.lie_derivatives": ("lie_hessian", "lie_sensitivities"),
    "newton.newton_euler_sensitivities": ("newton_euler_sensitivities", "reaction_sensitivities"),
    "spatial.energy": ("center_of_mass", "kinetic_energy", "momentum", "potential_energy", "total_mass"),
    "spatial.jacobians": ("point_jacobian", "point_jacobian_rate"),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"colloc.dynamics.{module}"), name)
    raise AttributeError(f"module 'colloc.dynamics' has no attribute {name!r}")
