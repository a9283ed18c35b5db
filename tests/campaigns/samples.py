"""Arguments that are right, by the names of parameters: what a campaign starts from before it puts garbage in."""

# ruff: noqa: E501 - tables, one entry after another

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

import colloc as co
from colloc import control, descent, dynamics, loops
from colloc.models.closed.four_bar import four_bar
from colloc.models.two_link import two_link

FOLDER = Path(tempfile.mkdtemp(prefix="colloc_garbage_"))


@cache
def model() -> co.Model:
    return two_link()


@cache
def mesh() -> Path:
    """A tetrahedron in a file."""
    path = FOLDER / "tetrahedron.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n", encoding="utf-8")
    return path


@cache
def problem() -> co.Problem:
    """A swing in a given time; the signal, which burns fuel, and the parameter cost what they add to the torques."""
    push, weight = co.Unknown("push"), co.Parameter("weight", 1.0)
    fuel = co.State("fuel", rate=lambda now: -now.push)
    return co.Problem(
        model(),
        1.0,
        co.integral(lambda now: now.weight * ca.sumsqr(now.tau) + ca.sumsqr(now.push), name="effort"),
        [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0), co.bounds(tau=(-50.0, 50.0))],
        unknowns=[push, fuel],
        parameters=[weight],
    )


@cache
def swing() -> co.Problem:
    """The same without anything but the motion to be found."""
    stated = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    return co.Problem(model(), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), stated)


@cache
def timed() -> co.transcription.TimeOptimalLine:
    limited = co.Problem(model(), co.Free(0.1, 5.0), co.duration(), [co.bounds(tau=(-10.0, 10.0))])
    line = co.transcription.time_optimal_line(limited, (0.0, 0.0), (1.0, 1.0))
    assert isinstance(line, co.transcription.TimeOptimalLine)
    return line


@cache
def turning() -> co.Problem:
    """A closed chain whose loops are solved at every instant."""
    joints = co.loops.IndependentJoints(chain())
    ends = [co.initial(q={"crank": 0.5}), co.final(q={"crank": 1.0})]
    return co.Problem(chain().model, 1.0, co.duration(), ends, parts=[joints])


@cache
def sequence() -> co.Phases:
    """A swing in two phases, of which the second begins with an impact."""
    tip = co.Model(model().bodies, model().gravity, markers={"hand": (model().bodies[-1].name, (0.0, 0.0, 0.0))})
    cost = co.integral(lambda now: ca.sumsqr(now.tau))
    first = co.Problem(tip, 0.5, cost, [co.initial(q=0.0, qd=0.0)])
    second = co.Problem(tip, 0.5, cost, [co.final(q=1.0)])
    return co.Phases({"first": first, "second": second}, [co.impact("first", "second", {"hand": "x"})])


@cache
def phases() -> co.transcription.PhasesNLP:
    return co.transcribe(sequence(), co.BSpline(6), compile=False)


@cache
def in_phases() -> co.solution.PhasesSolution:
    return co.solve(phases(), tol=0.2)


@cache
def nlp() -> co.transcription.NLP:
    return co.transcribe(problem(), co.BSpline(6), compile=False)


@cache
def solution() -> co.Solution:
    return co.solve(nlp(), tol=0.2)


@cache
def certificate() -> co.optimality.Certificate:
    return co.optimality.certify(solution())


@cache
def sensitivity() -> co.optimality.Sensitivity:
    return co.optimality.sensitivity(solution())


@cache
def failed() -> co.Solution:
    """The end of a swing for which the torques are too weak."""
    weak = co.Problem(
        model(), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), [*swing().subject_to, co.bounds(tau=(-0.1, 0.1))]
    )
    return co.solve(weak, co.BSpline(6), compile=False, raise_on_failure=False)


@cache
def saved() -> Path:
    co.save(solution(), FOLDER / "saved.npz")
    return FOLDER / "saved.npz"


@cache
def evaluator() -> co.Evaluator:
    return co.Evaluator(model())


@cache
def swept() -> co.sweeps.Sweep:
    return co.sweep(problem(), {"weight": [1.0, 2.0]}, co.BSpline(3))


@cache
def front() -> co.sweeps.Front:
    return co.sweeps.Front(("a", "b"), np.eye(2), np.eye(2), (solution(), None), ("", "not solved"))


@cache
def chain() -> loops.ClosedChain:
    return four_bar()


@cache
def cut() -> loops.CutJoints:
    return loops.CutJoints(chain())


@cache
def system() -> control.System:
    return control.discretise(model(), 0.05)


@cache
def objective() -> control.TrajectoryObjective:
    return control.control_cost(1.0) + control.state_cost(np.ones(4), 1.0)


@cache
def bowl() -> descent.Objective:
    """A quadratic."""
    return descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))


@cache
def movement() -> descent.Movement:
    return descent.Movement(co.transcribe(swing(), co.BSpline(6), compile=False))


@cache
def run() -> descent.Descent:
    return descent.bfgs(bowl(), np.ones(2))


@cache
def spline_motion() -> descent.SplineMotion:
    return descent.SplineMotion(np.zeros((3, 1)), np.array([[1.0], [0.0], [0.0]]), 1.0, 6)


@cache
def chain_movement() -> descent.ChainMovement:
    return descent.ChainMovement(chain(), spline_motion())


@cache
def now() -> co.problem.Instant:
    return problem().instant


@cache
def chain_now() -> co.problem.Instant:
    return co.Problem(chain().model, 1.0, co.duration()).instant


@cache
def wrench() -> dynamics.Wrench:
    return dynamics.Wrench(ca.SX.sym("f", 3), ca.SX.sym("m", 3))


@cache
def tracking() -> control.Tracking:
    return control.time_varying_lqr(co.solve(swing(), co.BSpline(6)), steps=20)


@cache
def still() -> co.Problem:
    effort = co.integral(lambda now: ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    return co.Problem(model(), 1.0, effort, [co.initial(q=0.0, qd=0.0)])


@cache
def residuals() -> control.Residuals:
    return control.fitted(objective(), 3, 4, 2)


@cache
def figure() -> Figure:
    return plt.figure()


def symbol(name: str, n: int = 2) -> ca.SX:
    return ca.SX.sym(name, n)


# By parameter, wherever it stands; then by function and parameter. Expressions, so that a reproducer can be printed.
BY_NAME = {
    "model": "model()", "problem": "problem()", "solution": "solution()", "nlp": "nlp()", "curve": "co.BSpline(6)",
    "chain": "chain()", "system": "system()", "objective": "objective()", "now": "now()", "wrench": "wrench()",
    "fn": "lambda now: now.q[0]", "name": "'name'", "body": "'shoulder'", "axis": "(0, 0, 1)", "lower": "-1.0",
    "upper": "1.0", "weight": "1.0", "q": "symbol('q')", "qd": "symbol('qd')", "qdd": "symbol('qdd')",
    "tau": "symbol('tau')", "t": "0.5", "duration": "1.0", "loads": "()", "multipliers": "symbol('lam')",
    "formulation": "dynamics.newton_euler", "recursion": "dynamics.composite_sensitivities", "point": "(0.1, 0, 0)",
    "mass": "1.0", "com": "(0.1, 0, 0)", "inertia": "(0.1, 0.1, 0.1)", "intervals": "6", "degree": "4",
    "path": "FOLDER / 'a.npz'", "figure": "figure()", "runs": "[run()]", "start": "(0.0, 0.0)", "end": "(1.0, 1.0)",
    "joint": "co.revolute()", "screw": "((0, 0, 1), (0, 0, 0))", "before": "np.eye(4)", "after": "np.eye(4)",
    "level": "1.0", "velocity": "0.1", "value": "1.0", "size": "1", "s": "0.5", "bodies": "model().bodies",
    "terms": "co.duration().terms", "postures": "{0.0: (0.0, 0.0), 1.0: (1.0, 1.0)}", "minimize": "co.duration()",
    "x0": "np.zeros(4)", "u0": "np.zeros((3, 2))", "u": "np.zeros((3, 2))", "weights": "1.0", "targets": "np.ones(4)",
    "dt": "0.05", "A": "np.stack([np.eye(4)] * 3)", "B": "np.ones((3, 4, 2))", "steps": "20", "n_x": "4", "n_u": "2",
    "residuals": "residuals()", "H": "np.eye(2)", "g": "np.ones(2)", "matrix": "np.eye(3)", "b": "np.ones(3)",
    "x": "np.ones(2)", "stop": "descent.Stop()", "first": "loops.Frame('coupler')", "second": "loops.Frame('rocker')",
    "points": "[symbol('a', 3), symbol('b', 3)]", "shares": "symbol('shares', 2)", "friction": "0.5",
    "corners": "[(0, 0), (0, 1), (1, 0)]", "at": "(0, 0, 0)", "motion": "spline_motion()", "tol": "0.2",
    "direction": "np.ones(2)", "curvature": "0.9", "fractions": "0.5", "hessian": "co.solver.Hessian.EXACT",
    "dynamics": "dynamics.newton_euler", "limits": "co.Limits()", "values": "{'shoulder': 0.5}", "quantity": "'velocity'",
    "ud": "symbol('ud', 1)", "udd": "symbol('udd', 1)", "y": "np.zeros((3, 4))", "du": "np.zeros((3, 2))",
    "message": "'message'", "what": "'what'", "factor": "2.0", "translation": "(0, 0, 0)", "rpy": "(0, 0, 0)",
    "certificate": "certificate()", "breakpoints": "None", "expression": "now().q", "end_instant": "None", "vectors": "symbol('v')",
}  # fmt: skip
OWN = {
    "co.sweep": {"cases": "{'weight': [1.0]}", "curve": "co.BSpline(3)"},
    "co.optimality.explain": {"solution": "failed()", "relax": "'tau bounds'"}, "co.optimality.Explanation.relaxed": {"share": "1.0"},
    "co.plot.map": {"table": "swept()", "x": "'weight'", "y": "'weight'"}, "co.sweeps.Sweep.solution": {"row": "0"},
    "co.problem.Instant.distance": {"a": "co.Capsule('shoulder', (0, 0, 0), (0.1, 0, 0), 0.05)", "b": "co.Capsule(None, (0, 0, 0), (0, 0, 1), 0.1)"},
    "co.clearance": {"a": "co.Capsule('shoulder', (0, 0, 0), (0.1, 0, 0), 0.05)", "b": "co.model.Box(None, (1, 1, 1))"},
    "co.Capsule": {"start": "(0, 0, 0)", "end": "(0.1, 0, 0)", "radius": "0.1"}, "co.model.Box": {"size": "(0.1, 0.2, 0.3)"},
    "co.model.ConvexHull": {"points": "[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]"},
    "co.model.hull_around": {"points": "np.eye(3)"},
    "co.model.avoidance_pairs": {"shapes": "[co.model.Box('elbow', (0.1, 0.1, 0.1)), co.model.Box(None, (1, 1, 1))]", "postures": "{'home': {'elbow': 0.5}}"},
    "co.formats.collision_shapes": {"reading": "co.formats.Reading(model(), shapes=(co.formats.LinkShape('elbow', 'collision', 'box', np.eye(4), {'size': '1 1 1'}),))"},
    "co.formats.LinkShape.entries": {"key": "'size'", "size": "3"},
    "co.formats.mesh_vertices": {"path": "mesh()"},
    "co.multistart": {"curve": "co.BSpline(3)", "starts": "2"},
    "co.track": {"times": "np.linspace(0, 1, 9)", "values": "np.zeros(9)", "of": "lambda now: now.q[0]",
        "weight": "1.0", "deviation": "0.1", "degree": "3", "pieces": "None"},
    "co.model.Joint": {"limits": "co.Limits()"}, "co.Model": {"name": "'name'", "markers": "{'wrist': ('shoulder', (0, 0, 0))}"}, "co.storage.to_csv": {"path": "FOLDER / 'a.csv'"},
    "co.load": {"path": "saved()"}, "co.plot.animate": {"path": "FOLDER / 'a.gif'", "fps": "2"}, "co.plot.view": {"x": "solution()", "q": "None", "t": "None"},
    "co.plot.save_figure": {"path": "FOLDER / 'a.png'", "dpi": "20"}, "co.curves.graded": {"intervals": "20"},
    "co.HermiteSimpson": {"intervals": "6"}, "co.Radau": {"intervals": "6"}, "co.BSpline": {"intervals": "6"}, "co.at": {"upper": "1.0"},
    "co.path": {"upper": "1.0"}, "co.boundary": {
        "fn": "lambda start, end: end.q[0] - start.q[0]", "upper": "1.0"},
    "co.floating": {"limits": "{}"}, "co.spherical": {"limits": "{}", "name": "'ball'"}, "co.Free": {"lower": "0.5"},
    "co.initial": {"q": "{'shoulder': 0.0}", "qd": "0.0", "qdd": "0.0", "tau": "0.0", "states": "{'fuel': 1.0}"},
    "co.final": {"q": "0.0", "qd": "{'shoulder': 0.0}", "states": "{'fuel': 1.0}"},
    "co.State": {"rate": "lambda now: -now.push", "name": "'fuel'"},
    "co.problem.Instant.rate": {"name": "'fuel'"},
    **{f"co.loops.IndependentJoints.{name}": {"now": "turning().instant"}
       for name in ("tangent", "inverse_dynamics", "acceleration", "multipliers", "closing_loads")},
    "co.loops.IndependentJoints.motion": dict.fromkeys(("q", "qd", "qdd"), "symbol('q', 3)"),
    "co.loops.IndependentJoints.postures": {"q": "np.array([chain().posture])", "start": "chain().posture"},
    "co.bounds": {"q": "(-1, 1)", "qd": "(-1, 1)", "tau": "(-1, 1)", "qdd": "(-1, 1)"}, "co.line": {},
    "co.Body": {"name": "'shoulder'"}, "co.penalty": {"upper": "1.0"}, "co.Unknown": {"guess": "0.0"},
    "co.Problem": {"model": "chain().model", "duration": "1.0", "subject_to": "turning().subject_to", "parts": "turning().parts"}, "co.solve": {"problem": "nlp()", "curve": "None", "dynamics": "None"},
    "co.refine": {"tol": "0.5"}, "co.Evaluator": {"dynamics": "dynamics.newton_euler"}, "co.placement": {},
    "co.transcription.point_to_point": {"duration": "1.0", "minimize": "None"},
    "co.transcription.time_optimal_line": {"problem": "swing()"}, "co.transcription.TimeOptimalLine.at": {"t": "[0.0, 0.1]"},
    "co.descent.Objective": {
        "first": "lambda x: (float(x @ x), 2 * x)", "hessian": "None", "lower": "-1.0", "upper": "1.0"},
    "co.dynamics.by_differentiation": {}, "co.dynamics.check_formulation": {"sensitivities": "None"},
    "co.descent.Movement": {"nlp": "co.transcribe(swing(), co.BSpline(6), compile=False)", "parameters": "None"},
    "co.descent.SplineMotion": {"start": "np.zeros((3, 1))", "end": "np.ones((3, 1))"},
    "co.descent.bfgs": {"objective": "bowl()", "x0": "np.ones(2)"}, "co.descent.interior_point": {
        "objective": "bowl()", "x0": "np.ones(2)"},
    "co.descent.modified_newton": {"objective": "bowl()", "x0": "np.ones(2)"},
    "co.descent.steepest_descent": {"objective": "bowl()", "x0": "np.ones(2)"},
    "co.descent.wolfe_step": {
        "evaluate": "lambda x: descent.Point(x, float(x @ x), 2 * x)", "start": "descent.Point(np.ones(2), 2.0, np.ones(2))",
        "direction": "-np.ones(2)", "first": "0.5"},
    "co.control.discretise": {"loads": "()"}, "co.control.ilqr": {"limits": "None", "max_iterations": "3"},
    "co.control.backward": {"objective": "residuals().expand(np.zeros((4, 4)), np.zeros((3, 2)))", "room": "None"},
    "co.control.least_squares_step": {"x": "np.zeros((4, 4))", "u": "np.zeros((3, 2))"},
    "co.control.time_varying_lqr": {
        "solution": "co.solve(swing(), co.BSpline(6))", "q": "0.01", "qd": "0.1", "tau": "1.0"},
    "co.control.receding": {
        "problem": "still()", "tick": "0.1", "guess": "None", "parameters": "None", "deadline": "None", "steps": "1"},
    "co.control.closed_loop": {
        "controller": "control.receding(still(), co.BSpline(6), tick=0.1)", "duration": "0.2", "q": "0.0", "qd": "0.0",
        "plant": "None", "parameters": "None", "delay": "0.0", "noise": "(0.0, 0.0)", "substeps": "2"},
    "co.control.export": {
        "controller": "control.receding(still(), co.BSpline(6), tick=0.1)", "folder": "FOLDER / 'controller'"},
    "co.control.Tick.state": {"t": "0.1"}, "co.control.output_cost": {"targets": "1.0", "steps": "None"}, "co.control.state_cost": {"steps": "None"},
    "co.control.rollout": {"limits": "None", "reference": "None", "gains": "None"},
    "co.control.System": {"step": "system().step", "linearise": "system().linearise"}, "co.problem.ground.applied": {
        "wrench": "lambda now: wrench()"},
    "co.loops.assemble": {"u": "np.array([1.0])", "guess": "None"}, "co.loops.closure_error": {"q": "np.zeros(3)"},
    "co.loops.chain_inverse_dynamics": {"q": "symbol('q', 3)", "qd": "symbol('qd', 3)", "qdd": "symbol('qdd', 3)"},
    "co.loops.ClosedChain": {
        "model": "chain().model", "loops": "chain().loops", "independent": "('crank',)", "actuators": "('crank',)",
        "guess": "(1.0, -0.4, 1.8)"},
    **{f"co.loops.CutJoints.{name}": {"now": "chain_now()"} for name in ("gap", "gap_rate", "gap_acceleration")},
    "co.loops.Frame": {"body": "'coupler'", "placement": "None"}, "co.loops.CutJoints": {"name": "'cut_forces'"},
    **{f"co.loops.{name}": {"q": "symbol('q', 3)", "qd": "symbol('qd', 3)", "qdd": "symbol('qdd', 3)",
        "multipliers": "symbol('lam', 2)", "weights": "symbol('w', 3)"}
       for name in ("chain_hessian", "chain_sensitivities", "constraint_hessian", "constraint_jacobian",
                    "dependent_motion", "loop_residual", "loop_torques", "loop_wrenches")},
    "co.Evaluator.point": {"q": "(0, 0)", "qd": "(0, 0)", "qdd": "(0, 0)"},
    **{f"co.Evaluator.{name}": {"q": "(0, 0)", "qd": "(0, 0)", "qdd": "(0, 0)", "tau": "(0, 0)"}
       for name in ("torque", "sensitivities", "reactions", "reaction_sensitivities", "mass_matrix",
                    "forward_dynamics")},
    "co.Evaluator.spline_sensitivities": {"basis": "co.BSpline(6).basis", "points": "np.zeros((9, 2))", "s": "[0.5]"},
    **{f"co.loops.ChainEvaluator.{name}": {"q": "chain().posture", "ud": "[0.0]", "udd": "[0.0]", "weights": "np.ones(3)"}
       for name in ("motion", "forces", "sensitivities", "hessian")},
    "co.loops.ClosedChain.basis": {"q": "np.zeros(3)"}, "co.loops.ClosedChain.undriven": {"bases": "np.ones((1, 3, 1))"},
    **{f"co.transcription.PhasesNLP.{name}": {"x": "np.ones(phases().n_x)", "p": "np.ones(0)", "row": "0", "k": "0",
                                  "block": "phases().costs[0]"}
       for name in ("duration", "first_undefined", "terms", "violation", "check_derivatives", "row_name", "owner",
                    "variable_name")},
    "co.solution.PhasesSolution.evaluate": {"t": "None"}, "co.Phases.limits": {"quantity": "'q'"},
    "co.Phases.parameter_values": {"values": "None"}, "co.Phases": {"phases": "{'first': swing()}"},
    "co.connect": {"first": "'first'", "second": "'second'"},
    "co.impact": {"first": "'first'", "second": "'second'", "markers": "{'hand': 'x'}"},
    **{f"co.transcription.NLP.{name}": {"x": "np.ones(nlp().n_x)", "p": "np.ones(1)", "row": "0", "k": "0",
                          "block": "nlp().costs[0]"}
       for name in ("duration", "first_undefined", "terms", "violation", "check_derivatives", "row_name", "owner",
                    "variable_name")},
    "co.Solution.evaluate": {"t": "None"}, "co.Problem.function": {"end": "None"}, "co.Problem.limits": {
        "quantity": "'q'"},
    "co.Problem.windows": {"quantity": "'q'"}, "co.Problem.parameter_values": {"values": "None"},
    "co.dynamics.total_hessian": {"recursion": "dynamics.lie_hessian"}, "co.model.Joint.rotation": {"q": "symbol('q', 1)"},
    "co.model.Joint.transform": {"q": "symbol('q', 1)"}, "co.BSpline.held": {"breakpoints": "np.linspace(0, 1, 7)"},
    "co.control.Residuals.value": {"x": "np.zeros((4, 4))"}, "co.control.Residuals.expand": {"x": "np.zeros((4, 4))"},
    "co.control.Tracking.run": {"system": "None", "x0": "None", "limits": "None"},
    "co.control.Policy.decrease": {"step": "1.0"}, "co.descent.Movement.whole": {"x": "movement().start()"},
    "co.descent.Movement.start": {"guess": "None"}, "co.descent.Movement.solution": {"run": "descent.bfgs(movement().objective, movement().start())"},
    "co.descent.SplineMotion.basis": {"t": "np.linspace(0, 1, 5)"}, "co.descent.SplineMotion.states": {
        "x": "spline_motion().line()", "t": "None"},
    "co.descent.SplineMotion.nearest": {"q": "np.zeros((20, 1))"}, "co.descent.SplineMotion.objective": {
        "running": "lambda *state: None", "curvature": "None"},
    "co.descent.ChainMovement.sample": {"x": "chain_movement().start()", "t": "None"},
    "co.optimality.OptimumFunction.with_pullback": {"parameters": "np.array([1.0])"},
    "co.optimality.sensitivity": {"by": "'weight'"}, "co.optimality.Sensitivity.x": {"by": "'weight'"},
    "co.optimality.Sensitivity.evaluate": {"by": "{'weight': 1.0}", "t": "0.5"}, "co.plot.tornado": {"sensitivity": "sensitivity()"},
    "co.dynamics.Wrench.about": {"point": "symbol('p', 3)"}, "co.dynamics.Wrench.scaled": {"factor": "2.0"},
    "co.Load.at": {"now": "now()"}, "co.Model.frozen": {"values": "{'shoulder': 0.5}"},
}  # fmt: skip
# Objects whose methods are called; a class without one is made by its own samples.
INSTANCES = {
    "co.formats.LinkShape": "co.formats.LinkShape('elbow', 'visual', 'box', np.eye(4), {'size': '1 1 1'})",
    "co.optimality.Sensitivity": "sensitivity()", "co.sweeps.Front": "front()",
    "co.control.Receding": "control.receding(still(), co.BSpline(6), tick=0.1)",
    "co.control.Tick": "control.receding(still(), co.BSpline(6), tick=0.1)(np.zeros(2), np.zeros(2))",
    "co.optimality.OptimumFunction": "co.optimality.optimum_function(solution(), 'cost', 'weight')",
    "co.optimality.Estimates":
        "co.optimality.Estimates(('k',), ('',), np.ones(1), 0.1 * np.ones(1), 0.01 * np.eye(1), {}, np.zeros(1), ())",
    "co.formats.Reading": "co.formats.Reading(chain().model, loops=chain().loops)",
    "co.sweeps.Sweep": "swept()", "co.problem.Parametrised": "co.problem.parametrised(model())",
    "co.transcription.PhasesNLP": "phases()", "co.solution.PhasesSolution": "in_phases()", "co.Phases": "sequence()",
    "co.transcription.NLP": "nlp()", "co.Solution": "solution()", "co.Problem": "problem()", "co.Model": "model()",
    "co.problem.Instant": "now()", "co.Evaluator": "evaluator()", "co.dynamics.Wrench": "wrench()", "co.loops.CutJoints": "cut()",
    "co.loops.ClosedChain": "chain()", "co.control.Residuals": "residuals()", "co.control.Tracking": "tracking()",
    "co.control.Policy": "control.Policy(np.zeros((3, 2)), np.zeros((3, 2, 4)), -1.0, 1.0)",
    "co.descent.ChainMovement": "chain_movement()", "co.descent.SplineMotion": "spline_motion()",
    "co.descent.Movement": "movement()", "co.descent.Objective": "bowl()", "co.problem.Cost": "co.duration()",
    "co.descent.ModifiedCholesky": "descent.modified_cholesky(np.eye(3))",
    "co.muscles.MuscleCurves": "co.muscles.OPENSIM", "co.transcription.TimeOptimalLine": "timed()",
    "co.optimality.Explanation": "co.optimality.explain(solution())",
}  # fmt: skip
