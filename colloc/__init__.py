"""Optimisation-based motion prediction of rigid multibody systems.

Define a mechanism (`Model`) and a motion problem (`Problem`), and `solve` it, on a default curve or your own
(`BSpline`, `HermiteSimpson`, `Radau`). `Solution.error` is the error of the answer between its nodes. A motion in
phases is a `Phases`, a sequence of problems. Problems that share a design are `Cases`.

Conventions: SI units and radians; arrays are (node, joint); standard (distal) Denavit-Hartenberg rows; inertia about
the centre of mass in the link frame; gravity is the acceleration vector, (0, -9.81, 0) by default; a load is the wrench
that the environment applies to a link, in the world frame, and enters the actuator torque as -J'w with J the Jacobian
of the loaded point. Times given as `s` or `during` are fractions of the duration, times `t` are seconds.

The layers, lowest first; each imports only from those listed before it:

    support         validation of values and arguments, threads and interrupts, files, tables as text, progress
    curves          the polynomials that a motion consists of, B-splines, Hermite-Simpson, Radau; their quadrature
    kernels         CasADi functions evaluated at many samples: interpreted, or as machine code
    model           joints, bodies and their masses, the tree and its gravity, loads, kinematics and its inverse
    dynamics        inverse dynamics (newtonian, lagrangian, liegroup), composite and articulated bodies (spatial),
                    what joints do of themselves (passive: damping, springs, armature, friction), energies; all of it
                    at an instant, in symbols that users' functions see, and as functions of NumPy arrays (evaluator)
    problem         costs, unknowns, parameters and constraints, each of which becomes rows with names, units, bounds;
                    sequences of problems, with links between them; forces of the ground
    muscles         paths, fibers, tendons, activation, metabolic rates; how they drive the joints in a problem
    loops           closed chains: closure, assembly, dynamics; in problems solved at every instant, or cut
    formats         models and recordings from files of other programs, and the way back
    blocks          functions of a few variables evaluated at many points, their sparse derivatives, compiled or not
    transcription   control points as variables, the NLP made of blocks; guesses; motions from rest to rest
    solver          interface of solvers, IPOPT and others; progress; the diagnosis of a failed solve
    errors          errors of a motion between its nodes, and violations
    solution        the answer: motion at any time, verification
    optimality      conditions of an optimum, sensitivities, active limits, reasons of failures
    refinement      from a problem to a solution: starts, refinement iterations, warnings and errors
    storage         solutions as files
    sweeps          many solves at once, on any executor: random starts, parameter studies
    descent         steepest descent, BFGS and Newton methods for motions with bounds and no other constraints
    control         iLQR, and feedback around a motion
    plot            figures and animations
    models          ready-made mechanisms
    studies         questions answered with the library; ``python -m colloc`` lists and runs them
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colloc.support.checks import unknown_name
from colloc.support.version import __version__ as __version__

if not Path(__file__).with_name("models").is_dir():  # in a checkout, where models and studies lie beside the package
    __path__.append(str(Path(__file__).parents[1]))

# fmt: off
# isort: off
if TYPE_CHECKING:  # for type checkers and editors, the table below once more
    from colloc import (
        control as control, curves as curves, descent as descent, dynamics as dynamics, formats as formats,
        kernels as kernels, loops as loops, model as model, muscles as muscles, optimality as optimality, plot as plot,
        problem as problem, refinement as refinement, solution as solution, solver as solver, storage as storage,
        support as support, sweeps as sweeps, transcription as transcription,
    )
    from colloc.curves import BSpline as BSpline, HermiteSimpson as HermiteSimpson, Radau as Radau
    from colloc.dynamics.evaluator import Evaluator as Evaluator
    from colloc.model import (
        Body as Body, Capsule as Capsule, Limits as Limits, Load as Load, Model as Model, Passive as Passive,
        dh_prismatic as dh_prismatic, dh_revolute as dh_revolute, fixed as fixed, floating as floating,
        placement as placement, prismatic as prismatic, revolute as revolute, spherical as spherical,
    )
    from colloc.problem import (
        Cases as Cases, Free as Free, Motors as Motors, Parameter as Parameter, Phases as Phases, Problem as Problem,
        Spring as Spring, State as State, Unknown as Unknown, at as at, boundary as boundary, bounds as bounds,
        clearance as clearance, connect as connect, duration as duration, final as final, final_cost as final_cost,
        impact as impact, initial as initial, integral as integral, path as path, penalty as penalty, track as track,
    )
    from colloc.refinement import SolveError as SolveError, refine as refine, solve as solve
    from colloc.solution import Solution as Solution, verify as verify
    from colloc.solver import Ipopt as Ipopt
    from colloc.storage import load as load, save as save
    from colloc.support import InputError as InputError
    from colloc.sweeps import multistart as multistart, sweep as sweep
    from colloc.transcription import keyframes as keyframes, line as line, transcribe as transcribe

# Names at the top, by the module that has them. All are loaded on first use.
_TOP = {
    "curves": "BSpline HermiteSimpson Radau",
    "dynamics.evaluator": "Evaluator",
    "model": (
        "Body Capsule Limits Load Model Passive dh_prismatic dh_revolute fixed floating placement "
        "prismatic revolute spherical"
    ),
    "problem": (
        "Cases Free Motors Parameter Phases Problem Spring State Unknown at boundary bounds clearance connect duration "
        "final final_cost impact initial integral path penalty track"
    ),
    "refinement": "SolveError refine solve",
    "solution": "Solution verify",
    "solver": "Ipopt",
    "storage": "load save",
    "support": "InputError",
    "sweeps": "multistart sweep",
    "transcription": "keyframes line transcribe",
}

# Names reached through a package, such as co.solver.Status; packages without names here are public as listed.
_PACKAGES = {
    "control": "",
    "curves": "Points Transcription collocation_points graded mesh_ends register",
    "descent": "",
    "dynamics": "",
    "formats": (
        "ContactLaw ContactShape ForcePlate LinkShape MotionCapture MuscleData PathPoint Reading TimeSeriesTable "
        "collision_shapes force_plates from_c3d from_mjcf from_osim from_sdf from_urdf mesh_vertices read_table "
        "to_urdf write_table"
    ),
    "kernels": "Compile CompileWarning",
    "loops": "",
    "model": (
        "Box ConvexHull Coupling CubicSpline Friction Joint PointMotion Polynomial RoundedLine Shape Target "
        "avoidance_pairs hull_around helical point_motion reach"
    ),
    "muscles": (
        "HUMAN_JOINTS OPENSIM PUBLISHED CondyleForces Cylinder Ellipsoid Fibers JointContact LengthPolynomial Ligament "
        "Ligaments MetabolicRate Muscle MuscleCurves MusclePath Muscles PassiveTorque Sphere Synergies Torus ViaPoint "
        "fit_lengths fit_samples from_file path_lengths"
    ),
    "optimality": (
        "ActiveLimit Arc Arcs Certificate Costates Derivative Estimates Explanation Gradient OptimumFunction "
        "Relaxation Sensitivity Weights arcs certify costates explain gradient jax_function optimum_function "
        "recover_weights sensitivity standard_errors torch_function"
    ),
    "plot": "",
    "problem": (
        "Assist Cable Cables ContactEllipsoid ContactSphere Contribution Cost Ends Grip GroundContact Instant "
        "JointTorque NamedNumber Parametrised Part Plane Reaction Statement Surface Thruster Thrusters TimePoint Wheel "
        "Wheels Window bounded ground parametrised track_motion"
    ),
    "refinement": "AtSwitches Attempt Iteration Refine SearchSettings SeekFeasible SeekStarts SolutionWarning Solve",
    "solution": "Sample PhasesSolution Verification mirrored",
    "solver": "Hessian Iterate Nlpsol Outcome PreparedSolver Scale Solver Start Status",
    "storage": (
        "coordinate_table ground_reaction_table joint_contact_table muscle_table piece_coefficients signal_table "
        "to_csv to_dataframe to_joint_trajectory torque_table"
    ),
    "support": "InputWarning",
    "sweeps": "Front Independent Many Optima Processes Sweep pareto_front solve_many",
    "transcription": "NLP PhasesNLP TimeOptimalLine Untimed point_to_point time_optimal_line",
}
# fmt: on
# isort: on

_MODULES = {name: f"colloc.{module}" for module, names in _TOP.items() for name in names.split()}
__all__ = sorted([*_MODULES, *(name for name, names in _PACKAGES.items() if not names)])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"colloc.{name}")
    if name in _MODULES:
        return globals().setdefault(name, getattr(import_module(_MODULES[name]), name))
    # AttributeError by Python's rules; the text is the library's usual one.
    listed = {
        package: names.split() or import_module(f"colloc.{package}").__all__ for package, names in _PACKAGES.items()
    }
    if package := next((package for package, names in listed.items() if name in names), ""):
        raise AttributeError(f"no public name in colloc named {name!r}; did you mean co.{package}.{name}?")
    raise AttributeError(str(unknown_name("public name in colloc", name, __all__)))


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})
