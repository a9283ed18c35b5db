"""Optimisation-based motion prediction of rigid multibody systems.

State a mechanism (`Model`), a motion problem (`Problem`), pick a transcription (`BSpline`, `HermiteSimpson`,
`Radau`), and `solve`. SI units and radians throughout; arrays are (node, joint).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from colloc.dynamics import (
    by_differentiation,
    composite_sensitivities,
    forward_dynamics,
    joint_reactions,
    mass_matrix,
    newton_euler,
)
from colloc.errors import CompileWarning, InputError, SolutionWarning, SolveError, unknown_name
from colloc.evaluator import Evaluator, TorqueSensitivities
from colloc.kernels import Compile
from colloc.model import (
    Body,
    Friction,
    Joint,
    Limits,
    Load,
    Model,
    dh_prismatic,
    dh_revolute,
    fixed,
    floating,
    helical,
    placement,
    prismatic,
    revolute,
    spherical,
)  # fmt: skip
from colloc.model.kinematics import PointMotion, point_motion
from colloc.problem import (
    Cost,
    Free,
    Instant,
    Parameter,
    Problem,
    Unknown,
    at,
    boundary,
    bounds,
    duration,
    final,
    initial,
    integral,
    path,
)  # fmt: skip
from colloc.solution import Solution, Status
from colloc.solve import solve
from colloc.solver.ipopt import Hessian
from colloc.transcription import NLP, BSpline, HermiteSimpson, Radau, keyframes, line, transcribe
from colloc.verify import Verification, verify

if TYPE_CHECKING:
    from colloc import control, cut_joints, descent, ground, io, loops, plot
    from colloc.dynamics import (
        center_of_mass,
        kinetic_energy,
        lagrange,
        lagrange_sensitivities,
        lie,
        lie_hessian,
        lie_sensitivities,
        momentum,
        newton_euler_sensitivities,
        point_jacobian,
        point_jacobian_rate,
        potential_energy,
        reaction_sensitivities,
        regular_lagrange,
    )  # fmt: skip

__all__ = [
    "NLP", "BSpline", "Body", "Compile", "CompileWarning", "Cost", "Evaluator", "Free",
    "Friction", "HermiteSimpson", "Hessian",
    "InputError", "Instant", "Joint", "Limits", "Load", "Model", "Parameter", "PointMotion", "Problem", "Radau",
    "Solution", "SolutionWarning", "SolveError", "Status", "TorqueSensitivities", "Unknown", "Verification", "at",
    "boundary", "bounds", "by_differentiation", "center_of_mass", "composite_sensitivities", "control",
    "cut_joints", "descent", "dh_prismatic", "dh_revolute", "duration", "final", "fixed",
    "floating", "forward_dynamics",
    "ground", "helical", "initial", "integral", "io", "joint_reactions", "keyframes", "kinetic_energy", "lagrange",
    "lagrange_sensitivities", "lie", "lie_hessian", "lie_sensitivities", "line", "loops", "mass_matrix", "momentum",
    "newton_euler", "newton_euler_sensitivities", "path", "placement", "plot", "point_jacobian",
    "point_jacobian_rate", "point_motion", "potential_energy", "prismatic", "reaction_sensitivities",
    "regular_lagrange", "revolute", "solve",
    "spherical", "transcribe", "verify",
]  # fmt: skip


__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Loaded on first use: importing matplotlib takes longer than solving a small problem, and ground is for walkers.
    if name in ("control", "cut_joints", "descent", "ground", "io", "loops", "plot"):
        return import_module(f"colloc.{name}")
    if name in __all__:
        return getattr(import_module("colloc.dynamics"), name)
    # AttributeError by Python's rules; the text is the library's usual one.
    raise AttributeError(str(unknown_name("public name in colloc", name, __all__)))


def __dir__() -> list[str]:
    return __all__
