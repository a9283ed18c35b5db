"""Problems: a mechanism, a duration, a cost, unknowns and constraints, of one motion or of phases one after another.

problem            `Problem`; coordinates of closed chains as it sees them
divided            a problem in arcs of free durations, as a sequence
phases             `Phases`: problems one after another, as one motion
cases              `Cases`: problems solved together that share constants
unknowns           durations that are free, unknown signals and constants, states, parameters
parametrised       a model whose numbers are a parameter
cost               the duration, integrals, final costs and penalties, which add up
ordered            costs in order of importance, level by level
goals              several costs that exceed their goals as little as possible
track              a cost: the distance from measured time series
smoothing          splines through samples, or near noisy ones
statement          the base of all constraints: rows, times, numbers, values at ends, limits
conditions         constraints on functions of the instant: along the path, at a time, between the ends; clearances
joint_constraints  constraints on joints: values at the ends, bounds, limits of the model
phase_functions    links between phases, and other functions of their ends
impacts            rigid impacts between phases
signal             a quantity that varies in time, with names, units and bounds
signals            all signals of a motion, by name, with units and bounds
rows               the rows of any constraint, with bounds, names, units and natural sizes
time_sets          the times at which constraints hold
torque_equations   torques that equations prescribe along the path, such as those of passive joints
validate           checks of a problem's arguments, and warnings of likely mistakes
part               parts: drives, springs and loads of a mechanism, with all that they add to a problem
joint_parts        parts at joints: springs, torques over a cycle, ideal motors
joint_torque       a part that is any torque of a joint's coordinate and velocity
force_parts        parts that push and pull bodies: thrusters, cables, wheels, grips
user_functions     errors in users' functions, in the terms of the problem
ground             forces of the ground, shared between feet
surfaces           planes, boxes and bars on which bodies stand
contact_sphere     balls and ellipsoids on bodies that surfaces push back
"""

from typing import TYPE_CHECKING

from colloc.dynamics.instant import SHARED, Instant, Reaction, Slots
from colloc.dynamics.rows import Rows
from colloc.problem.cases import Cases
from colloc.problem.conditions import Condition, at, boundary, clearance, path
from colloc.problem.cost import Cost, duration, final_cost, integral, penalty
from colloc.problem.impacts import Impact, impact
from colloc.problem.joint_constraints import QUANTITIES, Bounds, EndState, JointBounds, bounds, final, initial
from colloc.problem.parametrised import Parametrised, parametrised
from colloc.problem.part import Contribution, Part
from colloc.problem.phase_functions import Connection, PhaseEnds, PhasePoint, PhaseRows, connect
from colloc.problem.phases import Phases
from colloc.problem.problem import Coordinates, JointState, Problem
from colloc.problem.rows import bounded, natural_size, summed
from colloc.problem.signal import Signal
from colloc.problem.signals import signals_of
from colloc.problem.statement import ConstraintRows, EndValue, NamedNumber, Statement
from colloc.problem.time_sets import Ends, PointSets, TimePoint, Window
from colloc.problem.track import track, track_motion
from colloc.problem.unknowns import Free, Parameter, State, Unknown
from colloc.support.packages import register_public

if TYPE_CHECKING:
    from colloc.problem import ground
    from colloc.problem.contact_sphere import ContactEllipsoid, ContactSphere, GroundContact
    from colloc.problem.force_parts import Cable, Cables, Grip, Thruster, Thrusters, Wheel, Wheels
    from colloc.problem.joint_parts import Assist, Motors, Spring
    from colloc.problem.joint_torque import JointTorque
    from colloc.problem.surfaces import Plane, Surface

__all__ = [
    "QUANTITIES",
    "SHARED",
    "Assist",
    "Bounds",
    "Cable",
    "Cables",
    "Cases",
    "Condition",
    "Connection",
    "ConstraintRows",
    "ContactEllipsoid",
    "ContactSphere",
    "Contribution",
    "Coordinates",
    "Cost",
    "EndState",
    "EndValue",
    "Ends",
    "Free",
    "Grip",
    "GroundContact",
    "Impact",
    "Instant",
    "JointBounds",
    "JointState",
    "JointTorque",
    "Motors",
    "NamedNumber",
    "Parameter",
    "Parametrised",
    "Part",
    "PhaseEnds",
    "PhasePoint",
    "PhaseRows",
    "Phases",
    "Plane",
    "PointSets",
    "Problem",
    "Reaction",
    "Rows",
    "Signal",
    "Slots",
    "Spring",
    "State",
    "Statement",
    "Surface",
    "Thruster",
    "Thrusters",
    "TimePoint",
    "Unknown",
    "Wheel",
    "Wheels",
    "Window",
    "at",
    "boundary",
    "bounded",
    "bounds",
    "clearance",
    "connect",
    "duration",
    "final",
    "final_cost",
    "ground",
    "impact",
    "initial",
    "integral",
    "natural_size",
    "parametrised",
    "path",
    "penalty",
    "signals_of",
    "summed",
    "track",
    "track_motion",
]  # fmt: skip

# Loaded on first use: most scripts need few parts.
_LATER = {
    "contact_sphere": "ContactEllipsoid ContactSphere GroundContact",
    "force_parts": "Cable Cables Grip Thruster Thrusters Wheel Wheels",
    "ground": "ground",
    "joint_parts": "Assist Motors Spring",
    "joint_torque": "JointTorque",
    "surfaces": "Plane Surface",
}
register_public(__name__, {name: f"{__name__}.{module}" for module, names in _LATER.items() for name in names.split()})
