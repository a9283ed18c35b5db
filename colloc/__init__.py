"""Optimisation-based motion prediction of rigid multibody systems.

State a mechanism (`Model`), a motion problem (`Problem`), pick a transcription (`BSpline`, `HermiteSimpson`,
`Radau`), and `solve`. SI units and radians throughout; arrays are (node, joint).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from colloc.dynamics import lagrange, newton_euler
from colloc.errors import InputError, SolutionWarning, SolveError, unknown_name
from colloc.model import (
    Body,
    Joint,
    Limits,
    Load,
    Model,
    dh_prismatic,
    dh_revolute,
    fixed,
    placement,
    prismatic,
    revolute,
)  # fmt: skip
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
from colloc.transcription import NLP, BSpline, HermiteSimpson, Radau, keyframes, line, transcribe
from colloc.verify import Verification, verify

if TYPE_CHECKING:
    from colloc import io, plot

__all__ = [
    "NLP", "BSpline", "Body", "Cost", "Free", "HermiteSimpson", "InputError", "Instant", "Joint", "Limits", "Load",
    "Model", "Parameter", "Problem", "Radau", "Solution", "SolutionWarning", "SolveError", "Status", "Unknown",
    "Verification", "at", "boundary", "bounds", "dh_prismatic", "dh_revolute", "duration", "final", "fixed", "initial",
    "integral", "io", "keyframes", "lagrange", "line", "newton_euler", "path", "placement", "plot", "prismatic",
    "revolute", "solve", "transcribe", "verify",
]  # fmt: skip


__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Loaded on first use: importing matplotlib takes longer than solving a small problem.
    if name in ("io", "plot"):
        return import_module(f"colloc.{name}")
    # AttributeError by Python's rules; the text is the library's usual one.
    raise AttributeError(str(unknown_name("public name in colloc", name, __all__)))


def __dir__() -> list[str]:
    return __all__
