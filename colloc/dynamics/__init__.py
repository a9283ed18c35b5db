"""Inverse dynamics by interchangeable recursions, their sensitivities, equations of motion and energies.

newtonian    Newton and Euler; also reactions of joints and the wrench at the root
lagrangian   recursive, and in closed form with every sum written out
liegroup     twists; also second derivatives
spatial      the fastest: composite and articulated inertias, Jacobians of points
formulation  types of formulations and derivative recursions
arguments    checks of their arguments
inverse      the entry point for torques, which adds `passive` joints and `loads` that depend on the state
coupled      models with joints that follow others
equations    the equations of motion
energy       energies, momentum, centre of mass
instant      the mechanism at one time, as an argument of users' functions
rows         their values, with bounds
evaluator    the dynamics as functions of NumPy arrays
"""

from typing import TYPE_CHECKING

from colloc.dynamics.formulation import (
    DerivativeRecursion,
    Differentiation,
    HessianRecursion,
    InverseDynamics,
    Sensitivities,
    by_differentiation,
    check_formulation,
)
from colloc.dynamics.inverse import inverse_dynamics, total_hessian, total_sensitivities
from colloc.dynamics.newtonian.recursion import Reactions, joint_reactions, newton_euler
from colloc.dynamics.newtonian.root_wrench import Wrench, root_wrench
from colloc.dynamics.spatial.articulated import forward_dynamics
from colloc.dynamics.spatial.composite import composite_sensitivities, mass_matrix
from colloc.support.packages import register_public

if TYPE_CHECKING:
    from colloc.dynamics.energy import center_of_mass, kinetic_energy, momentum, potential_energy, total_mass
    from colloc.dynamics.equations import equations_of_motion
    from colloc.dynamics.evaluator import TorqueSensitivities
    from colloc.dynamics.lagrangian.closed_form import regular_lagrange, regular_sensitivities
    from colloc.dynamics.lagrangian.recursion import lagrange
    from colloc.dynamics.lagrangian.sensitivities import lagrange_sensitivities
    from colloc.dynamics.liegroup.hessian import lie_hessian
    from colloc.dynamics.liegroup.recursion import lie
    from colloc.dynamics.liegroup.sensitivities import lie_sensitivities
    from colloc.dynamics.newtonian.sensitivities import (
        newton_euler_sensitivities,
        reaction_sensitivities,
        total_reaction_sensitivities,
    )
    from colloc.dynamics.spatial.jacobians import point_jacobian, point_jacobian_rate

__all__ = [
    "DerivativeRecursion", "Differentiation", "HessianRecursion", "InverseDynamics", "Reactions", "Sensitivities",
    "TorqueSensitivities", "Wrench", "by_differentiation", "center_of_mass", "check_formulation",
    "composite_sensitivities", "equations_of_motion", "forward_dynamics", "inverse_dynamics", "joint_reactions",
    "kinetic_energy", "lagrange", "lagrange_sensitivities", "lie", "lie_hessian", "lie_sensitivities", "mass_matrix",
    "momentum", "newton_euler", "newton_euler_sensitivities", "point_jacobian", "point_jacobian_rate",
    "potential_energy", "reaction_sensitivities", "regular_lagrange", "regular_sensitivities", "root_wrench",
    "total_hessian", "total_mass", "total_reaction_sensitivities", "total_sensitivities",
]  # fmt: skip

# Loaded on first use: most scripts need one formulation.
_LATER = {
    "energy": "center_of_mass kinetic_energy momentum potential_energy total_mass",
    "equations": "equations_of_motion",
    "evaluator": "TorqueSensitivities",
    "lagrangian.recursion": "lagrange",
    "lagrangian.closed_form": "regular_lagrange regular_sensitivities",
    "lagrangian.sensitivities": "lagrange_sensitivities",
    "liegroup.hessian": "lie_hessian",
    "liegroup.recursion": "lie",
    "liegroup.sensitivities": "lie_sensitivities",
    "newtonian.sensitivities": "newton_euler_sensitivities reaction_sensitivities total_reaction_sensitivities",
    "spatial.jacobians": "point_jacobian point_jacobian_rate",
}
register_public(__name__, {name: f"{__name__}.{module}" for module, names in _LATER.items() for name in names.split()})
