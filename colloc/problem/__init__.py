"""The problem layer: what to find, what to minimise, what must hold."""

from colloc.problem.constraints import (
    QUANTITIES,
    At,
    Boundary,
    Bounds,
    Constraint,
    Path,
    Rows,
    State,
    at,
    boundary,
    bounds,
    final,
    initial,
    path,
    per_joint,
)  # fmt: skip
from colloc.problem.cost import Cost, duration, integral
from colloc.problem.instant import Instant
from colloc.problem.problem import SHARED, Problem
from colloc.problem.unknowns import Free, Parameter, Unknown

__all__ = [
    "QUANTITIES", "SHARED", "At", "Boundary", "Bounds", "Constraint", "Cost", "Free", "Instant",
    "Parameter", "Path", "Problem", "Rows", "State", "Unknown", "at", "boundary", "bounds", "duration", "final",
    "initial", "integral", "path", "per_joint",
]  # fmt: skip
