"""The problem layer: what to find, what to minimise, what must hold."""

from typing import TYPE_CHECKING

from colloc.problem.conditions import Condition, Constraint, apart, at, boundary, path
from colloc.problem.constraint_rows import ConstraintRows
from colloc.problem.coordinates import Coordinates, JointState
from colloc.problem.cost import Cost, duration, integral, penalty, terminal
from colloc.problem.instant import SHARED, Instant, Slots
from colloc.problem.joint_constraints import QUANTITIES, Bounds, EndState, JointBounds, bounds, final, initial
from colloc.problem.parametrised import Parametrised, parametrised
from colloc.problem.phase_functions import Impact, Link, PhaseEnds, PhasePoint, PhaseRows, impact, link
from colloc.problem.problem import Problem
from colloc.problem.rows import Rows, natural_size, summed
from colloc.problem.sequence import Sequence
from colloc.problem.time_sets import Ends, PointSets, TimePoint, Window
from colloc.problem.track import track
from colloc.problem.unknowns import Free, Parameter, State, Unknown
from colloc.support.packages import present

if TYPE_CHECKING:
    from colloc.problem import ground

__all__ = [
    "QUANTITIES",
    "SHARED",
    "Bounds",
    "Condition",
    "Constraint",
    "ConstraintRows",
    "Coordinates",
    "Cost",
    "EndState",
    "Ends",
    "Free",
    "Impact",
    "Instant",
    "JointBounds",
    "JointState",
    "Link",
    "Parameter",
    "Parametrised",
    "PhaseEnds",
    "PhasePoint",
    "PhaseRows",
    "PointSets",
    "Problem",
    "Rows",
    "Sequence",
    "Slots",
    "State",
    "TimePoint",
    "Unknown",
    "Window",
    "apart",
    "at",
    "boundary",
    "bounds",
    "duration",
    "final",
    "ground",
    "impact",
    "initial",
    "integral",
    "link",
    "natural_size",
    "parametrised",
    "path",
    "penalty",
    "summed",
    "terminal",
    "track",
]  # fmt: skip

present(__name__, later={"ground": "colloc.problem.ground"})
