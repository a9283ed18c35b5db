"""Optimisation-based motion prediction of rigid multibody systems.

State a mechanism (`Model`), a motion problem (`Problem`), and `solve`, on a curve of the library's choice or your own
(`BSpline`, `HermiteSimpson`, `Radau`). `Solution.error` tells how far the answer can be trusted between its nodes. A
motion in phases is a `Sequence` of problems.

Conventions: SI units and radians; arrays are (node, joint); standard (distal) Denavit-Hartenberg rows; inertia about
the centre of mass in the link frame; gravity is the acceleration vector, (0, -9.81, 0) by default; a load is the wrench
that the environment applies to a link, in the world frame, and enters the actuator torque as -J'w with J the Jacobian
of the loaded point. Times given as `s` or `during` are fractions of the duration, times `t` are seconds.

The layers, lowest first; each imports only from those listed before it:

    support         validation of values and arguments, threads and interrupts, files, tables as text, progress
    numerics        spline bases, smoothing, quadrature, differences, the fastest speeds along a path
    kernels         CasADi functions compiled to machine code, and evaluated at many samples
    model           joints, bodies and their masses, the tree and its gravity, loads, kinematics and its inverse
    dynamics        inverse dynamics (newtonian, lagrangian, liegroup), composite and articulated bodies (spatial),
                    what joints do of themselves (passive: damping, springs, armature, friction), energies
    formats         models from files of other programs
    problem         costs, unknowns, parameters and constraints, each of which becomes rows with names, units, bounds;
                    the instant that users' functions see; sequences of problems, with links between them;
                    forces of the ground
    evaluator       the dynamics as functions of NumPy arrays
    loops           closed chains: closure, assembly, dynamics; in problems solved at every instant, or cut
    curves          the polynomials that a motion consists of: B-splines, Hermite-Simpson, Radau
    blocks          functions of a few variables evaluated at many points, their sparse derivatives, compiled or not
    transcription   control points as variables, the NLP made of blocks; guesses; from rest to rest in one line
    errors          how far a motion can be trusted between its nodes; what it violates
    solver          what a solver is, and those there are; progress; the diagnosis of a failed solve
    solution        the answer: motion at any time, verification
    refinement      solving in rounds: where one starts, and which grid comes next; what a failed one says
    storage         solutions as files
    solve           from a problem to a solution, refined where asked for, or a SolveError
    sweeps          many solves at once, on any executor: random starts, parameter studies
    descent         steepest descent, BFGS and Newton methods for motions without constraints beside bounds
    control         iLQR, and feedback around a motion
    plot            figures and animations
    models          ready-made mechanisms
    studies         questions answered with the library; ``python -m colloc`` lists and runs them
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from colloc.curves import BSpline, HermiteSimpson, Radau, graded
from colloc.kernels import Compile, CompileWarning
from colloc.model import (
    Body,
    Capsule,
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
    Parametrised,
    Problem,
    Sequence,
    State,
    Unknown,
    apart,
    at,
    boundary,
    bounds,
    duration,
    final,
    impact,
    initial,
    integral,
    link,
    parametrised,
    path,
    penalty,
    terminal,
    track,
)  # fmt: skip
from colloc.refinement.failure import SolutionWarning, SolveError
from colloc.refinement.iteration import Iteration
from colloc.refinement.tie_break import tie_break
from colloc.solution import Sample, SequenceSolution, Solution
from colloc.solve import refine, solve
from colloc.solver import Hessian, Ipopt, Status
from colloc.support.checks import InputError, InputWarning, unknown_name
from colloc.support.version import __version__ as __version__
from colloc.sweeps import Optima, Sweep, multistart, sweep
from colloc.transcription import NLP, SequenceNLP, keyframes, line, transcribe
from colloc.transcription.point_to_point import point_to_point

if TYPE_CHECKING:
    from colloc import control, descent, dynamics, loops, plot, solver
    from colloc.evaluator import Evaluator, TorqueSensitivities
    from colloc.formats.urdf import from_urdf
    from colloc.model.inverse_kinematics import reach
    from colloc.problem import ground
    from colloc.solution.verify import Verification, verify
    from colloc.storage.storage import load, save, to_csv, to_dataframe

__all__ = [
    "NLP", "BSpline", "Body", "Capsule", "Compile", "CompileWarning", "Cost", "Evaluator", "Free", "Friction",
    "HermiteSimpson", "Hessian", "InputError", "InputWarning", "Instant", "Ipopt", "Iteration", "Joint", "Limits",
    "Load", "Model", "Optima", "Parameter", "Parametrised", "PointMotion", "Problem", "Radau", "Sample", "Sequence",
    "SequenceNLP", "SequenceSolution", "Solution", "SolutionWarning", "SolveError", "State", "Status", "Sweep",
    "TorqueSensitivities", "Unknown", "Verification", "apart", "at", "boundary", "bounds", "control", "descent",
    "dh_prismatic", "dh_revolute", "duration", "dynamics", "final", "fixed", "floating", "from_urdf", "graded",
    "ground", "helical", "impact", "initial", "integral", "keyframes", "line", "link", "load", "loops", "multistart",
    "parametrised", "path", "penalty", "placement", "plot", "point_motion", "point_to_point", "prismatic", "reach",
    "refine", "revolute", "save", "solve", "solver", "spherical", "sweep", "terminal", "tie_break", "to_csv",
    "to_dataframe", "track", "transcribe", "verify",
]  # fmt: skip

# Loaded on first use: importing matplotlib takes longer than solving a small problem, and ground is for walkers.
_LATER: dict[str, str] = dict.fromkeys(("load", "save", "to_csv", "to_dataframe"), "colloc.storage.storage")
_LATER |= {"from_urdf": "colloc.formats.urdf", "reach": "colloc.model.inverse_kinematics"}
_LATER |= dict.fromkeys(("Evaluator", "TorqueSensitivities"), "colloc.evaluator")
_LATER |= dict.fromkeys(("Verification", "verify"), "colloc.solution.verify")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name == "ground":
        return import_module("colloc.problem.ground")
    if name in __all__:
        return import_module(f"colloc.{name}")
    # AttributeError by Python's rules; the text is the library's usual one.
    if name in import_module("colloc.dynamics").__all__:
        raise AttributeError(f"no public name in colloc named {name!r}; did you mean co.dynamics.{name}?")
    raise AttributeError(str(unknown_name("public name in colloc", name, __all__)))


def __dir__() -> list[str]:
    return __all__
