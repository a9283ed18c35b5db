"""Mistakes that newcomers make, and the messages that they get."""

# pyright: reportArgumentType=false, reportCallIssue=false, reportOperatorIssue=false, reportIndexIssue=false
# pyright: reportAttributeAccessIssue=false

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.cart_pole import cart_pole
from colloc.models.two_link import two_link
from colloc.refinement.warnings import warning_messages
from colloc.solver.degenerate import kink

ARM = two_link()
ROD = {"mass": 0.5, "com": (-0.2, 0, 0), "inertia": (0, 0.1, 0.1)}
ENDS = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
LIMITS = co.bounds(tau=(-10, 10))
DECAY = co.State("x", rate=lambda now: -now.x)
GOAL = co.Parameter("goal", 1.0)


def arm(*rows: Any, **other: Any) -> co.Problem:
    """The time-optimal arm, with more to meet."""
    given = {"model": ARM, "duration": co.Free(0.1, 5.0, 1.0), "minimize": co.duration(), "subject_to": [*ENDS, *rows]}
    return co.Problem(**(given | other))


def cost(fn: Callable[[Any], Any]) -> co.Problem:
    return arm(LIMITS, minimize=co.integral(fn))


def path(fn: Callable[[Any], Any]) -> co.Problem:
    return arm(LIMITS, co.path(fn, lower=0.0))


def across(fn: Callable[[Any], Any]) -> co.Phases:
    return co.Phases({"a": arm(LIMITS)}, [co.boundary(fn, lower=0.0)])


@cache
def solved() -> co.Solution:
    return co.solve(arm(LIMITS), co.BSpline(8))


def loop() -> co.Problem:
    rows = []
    for body in ("shoulder", "elbow"):
        rows.append(co.path(lambda now: now.point(body).position[1], lower=-5.0))  # noqa: B023
    return arm(LIMITS, *rows)


def costs_in_a_loop() -> co.Problem:
    return arm(LIMITS, minimize=sum(co.integral(lambda now: now.tau[k] ** 2) for k in range(2)))  # noqa: B023


def growth() -> co.Problem:
    """A state without joints."""
    return co.Problem(None, 1.0, co.integral(lambda now: now.x**2), [co.initial(states={"x": 1.0})], [DECAY])


def dropped(*rows: Any) -> co.Problem:
    """A ball over the ground."""
    bodies = [co.Body("x", co.prismatic((1, 0, 0))), co.Body("ball", co.prismatic((0, 1, 0)), "x", mass=1.0)]
    ground = co.problem.GroundContact([co.problem.ContactSphere("ball", (0, 0, 0), 0.1)])
    return co.Problem(co.Model(bodies), 1.0, subject_to=[co.initial(q=0.5, qd=0), *rows], parts=[ground])


def massless() -> co.Problem:
    model = co.Model([co.Body("upper", co.dh_revolute(a=1.0)), co.Body("lower", co.dh_revolute(a=1.0), "upper")])
    return arm(LIMITS, model=model)


def heavy_upper_arm() -> co.Problem:
    """Mass at the joint, on its axis: the place of the centre of mass is forgotten."""
    return arm(LIMITS, model=co.Model([co.Body("upper", co.revolute(), mass=1.0)]), subject_to=[LIMITS])


def measured(times: Any, values: Any, duration: Any = 1.5) -> co.Problem:
    return co.Problem(ARM, duration, co.track(times, values, of=lambda now: now.q, name="angles"))


def pulled(*gravity: float) -> co.Model:
    return co.Model(ARM.bodies, gravity=gravity)


def rod(**own: Any) -> co.Model:
    return co.Model([co.Body("rod", own.pop("joint", co.revolute()), **(ROD | own))])


def misspelt_parent() -> co.Model:
    return co.Model([co.Body("arm", co.revolute(), **ROD), co.Body("hand", co.revolute(), "Arm", **ROD)])


PAIRS = r'one pair for each joint is a mapping: \{"shoulder": \(lower, upper\), "elbow": \(lower, upper\)\}'
SYMBOL = (
    r"must be (a number|numbers), got .*; a symbol or parameter has no value yet: .* functions of the instant, as in"
)
FUNCTIONS = r"ca\.sin, ca\.sqrt, ca\.fabs, ca\.sumsqr, ca\.dot, ca\.norm_2$"
TRUTH = r"asks whether symbols are true, .* use ca\.if_else\(condition, a, b\), ca\.logic_and and ca\.fmax"
LOOP = r"are the same: a function made in a loop sees the last value .* as in lambda now, k=k: now\.q\[k\]"
DEGREES = r"rad, more than a turn: degrees\? angles are in radians, see math\.radians"
PRODUCT = r"multiplies symbols that do not fit, .* use ca\.dot\(a, b\), ca\.sumsqr\(a\) or a\.T @ b"
GUESS = (
    r"guess must be co\.line\(\.\.\.\), co\.keyframes\(\.\.\.\), a function of time, a mapping of signal to such, "
    r"or a Solution, got "
)
UNITS = r"millimetres\? lengths are in m, masses in kg, inertias in kg m2"
BY_NUMBER = r"of q, qd, qdd and tau 0 is shoulder, 1 is elbow"

# Refused: the mistake, and a pattern of the message of the InputError.
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a pair for each of two joints": (lambda: arm(co.bounds(tau=[(-10, 5), (-5, 10)])), PAIRS),
    "joints where there are states": (
        lambda: replace(growth(), subject_to=[co.initial(q=1.0)]),
        r"initial q: no joint of the model moves; states are initial\(states=",
    ),
    "bounds where there are states": (
        lambda: replace(growth(), subject_to=[co.bounds(q=(0.0, 1.0))]),
        r"bounds q: no joint of the model moves; a state has lower= and upper= of its own",
    ),
    "the same in a tuple": (lambda: arm(co.bounds(tau=((-10, 5), (-5, 10)))), PAIRS),
    "a pair for each of three joints": (lambda: co.bounds(tau=[(-1, 1), (-1, 1), (-1, 1)]), PAIRS),
    "a point whole": (
        lambda: path(lambda now: now.point("elbow")),
        r"'path' must return one quantity, got a PointMotion: take \.position or \.velocity or \.acceleration",
    ),
    "a reaction whole in a cost": (
        lambda: cost(lambda now: now.reaction("elbow")),
        r"cost term 'integral' must return one quantity, got a Reaction: take \.force or \.moment",
    ),
    "a condition": (lambda: path(lambda now: now.q[0] < 1), r"returns a comparison, \(q_0<1\), .* state its bounds by"),
    "a condition in a cost": (lambda: cost(lambda now: now.q[0] > 1), r"cost term 'integral' returns a comparison"),
    "a condition that is to be True": (
        lambda: co.path(lambda now: now.q[0] < 1, equals=True),
        r"path bounds are numbers, got True: state a condition by its bounds",
    ),
    "if": (lambda: cost(lambda now: 1 if now.q[0] > 0 else now.q[1]), TRUTH),
    "and": (lambda: cost(lambda now: now.q[0] and now.q[1]), TRUTH),
    "max": (lambda: cost(lambda now: max(now.q[0], now.q[1])), TRUTH),
    "two comparisons in a row": (lambda: path(lambda now: 0 < now.q[0] < 1), TRUTH),
    "for": (lambda: cost(lambda now: sum(tau**2 for tau in now.tau)), r"runs through symbols by for"),
    "sum": (lambda: cost(lambda now: sum(now.tau**2)), r"runs through symbols by for, sum or unpacking"),
    "@": (lambda: cost(lambda now: now.tau @ now.tau), PRODUCT),
    "dot of a row and a column": (lambda: cost(lambda now: ca.dot(now.tau.T, now.tau)), PRODUCT),
    "a method of arrays": (lambda: cost(lambda now: now.tau.dot(now.tau)), rf"asks symbols for what .* {FUNCTIONS}"),
    "math.sin": (lambda: cost(lambda now: math.sin(now.q[0])), rf"functions of math .* {FUNCTIONS}"),
    "math.sqrt within": (lambda: path(lambda now: now.q[0] + math.sqrt(now.q[1])), r"'path' contains nan"),
    "float": (lambda: cost(lambda now: float(now.q[0])), r"contains nan: functions of math and float\(\)"),
    "math.sin in a load": (
        lambda: arm(LIMITS, loads=[co.Load("elbow", force=lambda now: (math.sin(now.t), 0, 0))]),
        rf"the function of the load on 'elbow' contains nan: functions of math .* {FUNCTIONS}",
    ),
    "math.sin in a state": (lambda: arm(unknowns=[co.State("y", rate=lambda now: math.sin(now.y))]), "contains nan"),
    "if across phases": (lambda: across(lambda phases: 1 if phases["a"].end.t > 0 else 0), TRUTH),
    "math.sin across phases": (lambda: across(lambda phases: math.sin(phases["a"].end.t)), r"contains nan"),
    "if in what is evaluated": (lambda: solved().evaluate(lambda now: now.q if now.t > 0 else now.qd), TRUTH),
    "math.sin in what is evaluated": (lambda: solved().evaluate(lambda now: math.sin(now.t)), r"evaluate contains nan"),
    "a joint by name": (lambda: cost(lambda now: now.q["elbow"]), rf"takes a component by name, .* {BY_NUMBER}"),
    "joints counted from one": (lambda: cost(lambda now: now.q[2]), rf"does not exist: {BY_NUMBER}"),
    "a vector as a cost": (lambda: cost(lambda now: now.tau**2), r"must return an SX scalar, got shape \(2, 1\)"),
    "nothing returned": (lambda: cost(lambda now: None), r"must return an SX scalar, got None"),
    "a symbol as a state": (lambda: co.initial(q=[ca.SX.sym("a"), 0.0]), SYMBOL),
    "a parameter as a state": (lambda: co.initial(q=[GOAL, 0.0]), SYMBOL),
    "a parameter as a duration": (lambda: arm(duration=GOAL, parameters=[GOAL]), SYMBOL),
    "a parameter as a bound": (lambda: co.bounds(tau=(-GOAL.symbol, GOAL.symbol)), SYMBOL),
    "a parameter as a weight": (lambda: GOAL.symbol * co.duration(), SYMBOL),
    "a parent's name off by case": (misspelt_parent, r"no parent .* named 'Arm'; did you mean 'arm'\? \(known: arm\)"),
    "mass in the parent's place": (
        lambda: co.Body("arm", co.revolute(), 1.0),
        r"parent .* must be the name of a body, got 1\.0; the third argument is the parent, so write mass=, com=",
    ),
    "parent before joint": (lambda: co.Body("arm", "world", co.revolute()), r"joint of body 'arm' must be a Joint"),
    "a cost not called": (lambda: arm(minimize=co.duration), r"must be a Cost .*; call it: duration\(\)"),
    "a cost that is no cost": (lambda: arm(minimize=lambda now: now.t), r"functions of the instant to co\.integral"),
    "a model not made": (lambda: arm(model=two_link), r"must be a Model, got .*; call it: two_link\(\)"),
    "constraints in a list of lists": (lambda: arm(subject_to=[ENDS, LIMITS]), r"unpack lists within it: subject_to="),
    "gravity as a number": (lambda: co.Model(ARM.bodies, gravity=9.81), r"gravity must be a vector of shape \(3,\)"),
    "seconds for fractions": (lambda: co.bounds(tau=(-1, 1), during=(0.0, 2.0)), r"0 <= start <= end <= 1, got"),
    "another name of a quantity": (
        lambda: co.bounds(torque=(-1, 1)),
        r"no argument of bounds named 'torque'; did you mean 'tau'\? \(known: q, qd, qdd, jerk, tau, tau_rate, dur",
    ),
    "half a name": (lambda: co.bounds(acc=(-1, 1)), r"no argument of bounds named 'acc'; did you mean 'qdd'\?"),
    "a misspelt argument": (lambda: co.solve(arm(LIMITS), gues=1), r"no argument of solve named 'gues'.* 'guess'\?"),
    "a misspelt size": (lambda: co.plot.joints(solved(), widht=3), r"no argument of joints named 'widht'.* 'width'\?"),
    "what a joint does of itself": (
        lambda: co.revolute(damping=0.1),
        r"no argument of revolute named 'damping'; did you mean 'passive'\?",
    ),
    "an argument of others": (lambda: arm(LIMITS, cost=1), r"no argument of Problem named 'cost'; .* 'minimize'\?"),
    "half of what is needed": (
        lambda: co.load("swing.npz"),
        r"load is called as load\(path, problem, tol=\.\.\.\): missing a required argument: 'problem'",
    ),
    "bounds without a name": (lambda: co.bounds((-1, 1)), r"bounds\(\*, q=.*, what follows \* by its name: too many"),
    "a package called": (lambda: co.plot(solved()), r"co\.plot is a package .* co\.plot\.motion, .* co\.plot\.summary"),
    "inertia without mass": (
        lambda: co.Body("rod", co.revolute(), inertia=(0.1, 0.1, 0.1)),
        r"mass is zero, got \[\[0\.1, 0\.0, 0\.0\], .*: give it a mass, as in mass=1\.0",
    ),
    "arrays for a guess": (
        lambda: co.solve(arm(LIMITS), co.BSpline(8), guess=(np.zeros((13, 2)), np.ones((13, 2)))),
        rf"{GUESS}\(array\(\[\[0\., 0\.\], \[0\., 0\.\], .* \.\.\.$",
    ),
    "the motion of another mechanism": (
        lambda: co.solve(co.Problem(cart_pole(), 1.0), co.BSpline(8), guess=solved()),
        r"motion of the joints shoulder, elbow, the problem has the joints cart, pole: .* guess=lambda t: solution",
    ),
    "a tolerance in percent": (lambda: co.solve(arm(LIMITS), tol=2), r"tol is relative, .* at most 1, got 2"),
    "bounds of a duration": (lambda: arm(duration=(0.1, 5)), r"must be a number, or between bounds co\.Free\(lower"),
    "phases in a list": (lambda: co.Phases([arm(LIMITS)]), r"phases must be a mapping of name to Problem, as in \{"),
    "a problem for a motion": (lambda: co.verify(arm(LIMITS)), r"solution must be a Solution .* Problem: .* \.\.\.$"),
    "the text of a file for its name": (
        lambda: co.formats.from_urdf("<robot name='a'><link name='b'/></robot>"),
        r"; it is XML itself: write it to a file",  # and is no file; on Windows no file's name either
    ),
    "a motion without times": (
        lambda: co.plot.view(ARM, np.zeros((5, 2))),
        r"q of shape \(5, 2\) is a motion: give its times as well",
    ),
    "an answer for its problem": (lambda: co.solve(solved()), r"problem must be a Problem .*; give its \.problem"),
    "no method for torques": (
        lambda: co.dynamics.inverse_dynamics(ARM, (0, 0), (0, 0), (0, 0)),
        r"inverse_dynamics is called as inverse_dynamics\(formulation, model, q, qd, qdd.* 'qdd'",
    ),
    "a problem for iLQR": (lambda: co.control.ilqr(arm(LIMITS)), r"ilqr is called as ilqr\(system, objective, x0, u0"),
    "a guess without joints": (
        lambda: co.solve(arm(LIMITS), guess=co.solve(growth(), co.Radau(2), progress=False)),
        r"guess is a motion of no joints, the problem has the joints shoulder, elbow",
    ),
    "a parameter made twice": (
        lambda: arm(loads=[co.Load("elbow", force=(GOAL.symbol, 0, 0))], parameters=[co.Parameter("goal", 1.0)]),
        r"load on 'elbow' has the symbol of another unknown or parameter that is named 'goal' .* list this very object",
    ),
    "a placement that is no rotation": (
        lambda: co.revolute(placement=2 * np.eye(4)),
        r"placement must be a rigid homogeneous transform, got \[\[2\.0, 0\.0",
    ),
    "times in a table": (lambda: solved().at(np.zeros((2, 2))), r"one or more times within .* s, got shape \(2, 2\)"),
    "components by brackets": (
        lambda: cost(lambda now: now.q(1)),
        r"calls symbols: components are in square brackets and counted from 0, as in now\.q\[0\]",
    ),
    "intervals for a curve": (lambda: co.solve(arm(LIMITS), 20), r"must be BSpline, HermiteSimpson or Radau, got 20"),
}  # fmt: skip

# Doubted: the mistake, and a pattern of the message of the InputWarning.
DOUBTED: dict[str, tuple[Callable[[], Any], str]] = {
    "functions made in a loop": (loop, rf"constraints 'path' and 'path 2' {LOOP}"),
    "costs made in a loop": (costs_in_a_loop, rf"cost terms 'integral' and 'integral 2' {LOOP}"),
    "limits in degrees": (
        lambda: co.revolute(limits=co.Limits((-25, 170)), name="knee"),
        f"position limit of joint 'knee' is 170 {DEGREES.replace('a turn', '3 turns')}",
    ),
    "a Denavit-Hartenberg row in degrees": (lambda: co.dh_revolute(alpha=90), f"DH alpha is 90 {DEGREES}"),
    "a placement in degrees": (lambda: co.placement(rpy=(0, 0, 180)), f"rpy is 180 {DEGREES}"),
    "a spring's rest in degrees": (lambda: co.revolute(passive=co.Passive(rest=-45.0)), f"rest is 45 {DEGREES}"),
    "a ball that motors carry": (
        dropped,
        r"the ground touches 'ball', and ideal motors of any force at x, ball can carry it: hold their forces at zero",
    ),
    "the rest of a part in degrees": (
        lambda: arm(parts=[co.Spring("elbow", 5.0, rest=-45.0), co.Motors(["shoulder", "elbow"])]),
        rf"rest of the spring at 'elbow' is 45 {DEGREES}",
    ),
    "a goal by a function in degrees": (
        lambda: arm(co.at(1.0, lambda now: 2 * now.q[1] - 1, equals=-91.0)),
        rf"at 1 of q\[elbow\] is 45 {DEGREES}",
    ),
    "a limit by a function in degrees": (
        lambda: arm(co.path(lambda now: now.q[1], upper=170.0)),
        rf"path of q\[elbow\] is 170 {DEGREES.replace('a turn', '3 turns')}",
    ),
    "a guess in degrees": (
        lambda: co.plot.guess(arm(LIMITS), co.keyframes({0: (0, -2), 0.5: (-45, 0), 1: (1, -1)})),
        f"guess is 45 {DEGREES.replace('a turn', '3 turns')}",
    ),
    "a state in degrees": (lambda: arm(subject_to=[co.initial(q=(0, -90))]), rf"initial q\[elbow\] is 90 {DEGREES}"),
    "bounds in degrees": (lambda: arm(co.bounds(q=(-170, 170))), r"bounds q is 170 rad, more than 3 turns: degrees\?"),
    "a body without mass": (massless, r"joints upper, lower move no mass, so that torques there are always zero"),
    "a mass on the axis": (heavy_upper_arm, r"joint upper moves no mass"),
    "gravity upwards": (lambda: pulled(0, 9.81, 0), r"gravity \(0, 9\.81, 0\) pulls along \+y: .* \(0, -9\.81, 0\)"),
    "gravity upwards in a copy": (lambda: replace(ARM, gravity=(0, 9.81, 0)), r"pulls along \+y: upwards\?"),
    "gravity up the other axis": (lambda: pulled(0, 0, 9.81), r"pulls along \+z: upwards\?"),
    "gravity in centimetres": (lambda: pulled(0, -981, 0), r"gravity \(0, -981, 0\) is 981 m/s2, more than on any"),
    "a mass far away": (lambda: rod(com=(-200, 0, 0)), rf"'rod' has a centre of mass off its frame by 200 m: {UNITS}"),
    "a long link": (lambda: rod(joint=co.dh_revolute(a=400.0)), rf"has a link frame off its joint by 400 m: {UNITS}"),
    "a centre of mass in cm": (
        lambda: rod(com=(20, 0, 0)),
        r"'rod' has a centre of mass off its frame by 20 m, and a radius of gyration of 0\.\d+ m: which\?",
    ),
    "a mass in grams": (lambda: rod(mass=1000.0), r"'rod' has 1000 kg and .* denser than any matter: grams\?"),
    "a posture in degrees": (lambda: co.plot.view(ARM, q=(0, 90)), r"q is 90 rad, more than 3 turns: degrees\?"),
    "torques of a posture in degrees": (
        lambda: co.Evaluator(ARM).torque((0, 90), (0, 0), (0, 0)),
        r"q is 90 rad, more than 3 turns: degrees\?",
    ),
    "inertia in kg mm2": (lambda: rod(inertia=(0, 2e4, 2e4)), rf"'rod' has a radius of gyration of 200 m: {UNITS}"),
    "times in milliseconds": (
        lambda: measured(np.linspace(0, 1500, 30), np.zeros((30, 2))),
        r"times of 'angles' run from 0 to 1500, 1 of 30 samples in a motion of 1\.5 s: milliseconds,",
    ),
    "times of a clock": (
        lambda: measured(np.linspace(20, 21.5, 30), np.zeros((30, 2)), co.Free(1.0, 2.0)),
        r"0 of 30 samples in one of at most 2 s: milliseconds, or a clock that does not start with the motion\?",
    ),
    "samples of a third of the motion": (
        lambda: measured(np.linspace(0, 0.5, 30), np.zeros((30, 2))),
        r"samples of 'angles' cover 33% of the motion, 0 to 0\.5 s of 1\.5 s, and nothing determines the rest",
    ),
    "measured degrees": (
        lambda: measured(np.linspace(0, 1.5, 30), np.linspace((0, 0), (20, 70), 30)),
        rf"values of 'angles' is 70 {DEGREES}",
    ),
    "NumPy on symbols": (lambda: cost(lambda now: np.sin(now.q[0])), rf"calls NumPy on symbols: .* {FUNCTIONS}"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mistake_is_refused(mistake):
    call, words = REFUSED[mistake]
    with pytest.raises(co.InputError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("mistake", DOUBTED)
def test_a_mistake_is_doubted_where_it_was_made(mistake):
    call, words = DOUBTED[mistake]
    with pytest.warns(co.support.InputWarning, match=words) as caught:
        call()
    assert all(own.category is co.support.InputWarning for own in caught)
    assert {own.filename for own in caught} == {__file__}
    assert not any("\n" in str(own.message) for own in caught)


def test_no_bound_on_torque_is_reported_after_the_time_limit():
    with pytest.warns(
        co.refinement.SolutionWarning,
        match=r"lower bound, 0\.1 s, and no torque, .* as in co\.bounds\(tau=\(-10, 10\)\)",
    ):
        co.solve(arm(), co.BSpline(8))  # fmt: skip


def test_many_solves_warn_once_for_all_that_are_alike():
    weighed = arm(parameters=[co.Parameter("weight", 1.0)])
    words = r"lower bound, 0\.1 s, and no torque"
    with pytest.warns(
        co.refinement.SolutionWarning, match=rf"^case 0, and 1 more like it: the duration ended at its {words}"
    ):
        table = co.sweep(weighed, {"weight": [1.0, 2.0]}, co.BSpline(8))
    assert table["warning"][1].startswith("the duration ended at its lower bound, 0.1 s, and no torque")
    assert "the duration ended at its lower bound, 0.1 s, and no ..." in repr(table)
    with pytest.warns(co.refinement.SolutionWarning, match=rf"^optimum 0.*: the duration ended at its {words}"):
        found = co.multistart(arm(), co.BSpline(20), starts=co.refinement.SearchSettings(2, keep=1))
    assert f"optimum 0: {found.optima[0].warnings[0]}" in repr(found)


def test_a_cost_with_a_kink_is_named_with_the_time_of_the_kink():
    size = co.integral(lambda now: (now.tau.T @ now.tau) ** 0.5, name="size")
    with pytest.raises(co.SolveError, match=r"term 'size' has a kink at t = .* s, .* ca\.sqrt\(x\*\*2") as caught:
        co.solve(arm(duration=1.0, minimize=size), co.BSpline(8), solver=co.Ipopt(max_iter=400))
    t = float(re.findall(r"kink at t = (\S+) s", str(caught.value))[0])
    torques = np.linalg.norm(caught.value.solution.at([t, 0.5]).tau, axis=1)
    assert torques[0] < 0.1 * np.linalg.norm(caught.value.solution.tau, axis=1).max()


@pytest.mark.parametrize("fn", [lambda now: ca.sumsqr(now.tau), lambda now: ca.sin(9 * now.q[0]) * now.tau[1]])
def test_smooth_costs_have_no_kink(fn):
    smooth = arm(LIMITS, duration=1.0, minimize=co.integral(fn))
    last = co.solve(
        smooth,
        co.BSpline(8),
        solver=co.Ipopt(max_iter=20),
        plan=[co.refinement.Solve(between="nodes")],
        raise_on_failure=False,
    )
    assert kink(last.nlp, last.x, last.parameters) is None


def test_functions_are_named_where_methods_are_looked_for():
    solution = co.solve(growth(), co.Radau(2), progress=False)
    for name, call in {"save": "co.save", "plot_joints": "co.plot.summary", "view": "co.plot.view"}.items():
        with pytest.raises(AttributeError, match=rf"no '{name}': call {call}\(solution"):
            getattr(solution, name)
    with pytest.raises(AttributeError, match=r"did you mean co\.plot\.view\?"):
        _ = co.view
    with pytest.raises(co.InputError, match=r"no numbers named 'masss'; did you mean 'mass'\? \(known: mass, com"):
        co.optimality.sensitivity(solved(), ["masss"])


def test_an_unknown_that_nothing_depends_on_is_named():
    with pytest.warns(co.refinement.SolutionWarning, match="no cost, constraint or load depends on 'idle'"):
        co.solve(replace(growth(), unknowns=[*growth().unknowns, co.Unknown("idle")]), co.Radau(2), progress=False)


def test_interactive_shells_show_frames_of_users_and_the_message_alone():
    def callback(now):
        return now.point("wrist").position[0]

    for call in (lambda: path(callback), lambda: arm(co.initial(q=(0, 1, 2)))):
        with pytest.raises(co.InputError) as caught:
            call()
        *frames, message = caught.value._render_traceback_()
        assert message == f"InputError: {caught.value}"
        assert frames
        assert not any("/colloc/" in line for line in frames)


def test_iterations_that_run_out_are_no_riddle():
    with pytest.raises(
        co.SolveError, match=r"iteration limit .*\n(.*\n)*allow more iterations, as in solver=co.Ipopt\(max_iter"
    ):
        co.solve(arm(LIMITS), co.BSpline(8), solver=co.Ipopt(max_iter=2))


def test_a_fact_stated_twice_is_named_as_a_pair():
    def hand(now: co.problem.Instant) -> ca.SX:
        return now.point("elbow").position[0]

    rows = [co.at(0.5, hand, equals=0.3, name=name) for name in ("hand", "hand again")]
    far = co.at(0.5, lambda now: now.q[0] + now.q[1], equals=9.0, name="far")
    pair = r"hand again at t = 0\.5 s and hand at t = 0\.5 s are the same: state one of them"
    with pytest.raises(co.SolveError, match=pair):
        co.solve(arm(co.bounds(q=(-3, 3)), *rows, far, duration=1.0, minimize=co.duration()), co.BSpline(8))


def test_a_fact_that_follows_from_others_is_named_with_them():
    def place(*axes: int) -> Callable[[co.problem.Instant], ca.SX]:
        return lambda now: ca.sum1(now.point("elbow").position[list(axes)])

    rows = [co.at(0.5, place(*k), equals=9.0, name=name) for name, k in [("x", (0,)), ("y", (1,)), ("both", (0, 1))]]
    words = r"  (x|y|both) at t = 0\.5 s follows from (\w+) at t = 0\.5 s, (\w+) at t = 0\.5 s$"
    with pytest.raises(co.SolveError, match=r"linearly dependent at the guess") as caught:
        co.solve(arm(co.bounds(q=(-3, 3)), *rows, duration=1.0, minimize=co.duration()), co.BSpline(8))
    assert set(re.findall(words, str(caught.value), re.MULTILINE)[0]) == {"x", "y", "both"}


def test_names_are_completed():
    """By IPython, which asks `dir` and what a thing has for its brackets."""
    assert "motion" in dir(co.plot)
    assert "scene" not in dir(co.plot)
    assert dir(co.sweeps) == [
        "Front", "Independent", "Many", "Optima", "Optimum", "Processes", "StartResult", "Sweep", "multistart",
        "pareto_front", "solve_many", "sweep",
    ]  # fmt: skip
    with pytest.raises(AttributeError, match=r"no public name in co\.plot named 'joint'; did you mean 'joints'"):
        _ = co.plot.joint
    for thing in (solved(), solved().nodes, solved().tau):
        assert thing._ipython_key_completions_() == ["shoulder", "elbow"]


def test_no_name_is_listed_twice():
    with pytest.raises(AttributeError) as caught:
        cost(lambda now: now.zz)
    known = str(caught.value.args[0]).partition("(known: ")[2].rstrip(")").split(", ")
    assert len(known) == len(set(known)) > 10


def test_costs_add_up_as_numbers_do():
    effort = co.integral(lambda now: ca.sumsqr(now.tau), "effort")
    weights = [(term.name, term.weight) for term in sum([co.duration(), -effort, 2 * effort]).terms]
    assert weights == [("duration", 1.0), ("effort", -1.0), ("effort", 2.0)]
    with pytest.raises(co.InputError, match="a cost can be added to a cost only, got 1"):
        _ = 1 + effort


def test_what_is_changed_after_a_statement_is_made_changes_nothing():
    """Arrays and mappings are copied; those of a model and of a solution cannot be changed."""
    start, by_joint = np.array([0.0, -2.0]), {"shoulder": 1.0}
    largest, goal = np.array([10.0, 10.0]), np.array([0.5, 0.5])
    ends = [co.initial(q=start), co.final(q=by_joint)]
    through = co.at(0.5, lambda now: now.q, upper=goal)
    stated = arm(subject_to=[*ends, co.bounds(tau=(-largest, largest)), through])
    before = {name: (row.rows.lower.tolist(), row.rows.upper.tolist()) for name, row in stated.rows.items()}
    for array in (start, largest, goal):
        array[:] = 9.0
    by_joint["shoulder"] = by_joint["elbow"] = 9.0
    again = replace(stated, minimize=co.duration())
    assert {name: (row.rows.lower.tolist(), row.rows.upper.tolist()) for name, row in again.rows.items()} == before
    for array in (ARM.gravity, solved().q, solved().tau, solved().t):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def no_mistake(*_: Any) -> list[Callable[[], Any]]:
    """Look-alikes that are meant."""
    one = co.path(lambda now: now.q[0], lower=-3.0)
    during = [co.path(lambda now: now.tau, upper=9.0, during=part) for part in ((0.0, 0.5), (0.5, 1.0))]
    bound = [co.path(lambda now, k=k: now.q[k], lower=-3.0) for k in range(2)]
    carriage = co.Model([co.Body("base", co.prismatic()), co.Body("arm", co.revolute(), "base", **ROD)])
    pointers = co.Model([co.Body("pointer", co.dh_revolute(a=1.0))])
    return [
        lambda: arm(LIMITS, one, one, *during, *bound),
        lambda: arm(co.bounds(tau=([-10, -5], [5, 10]))),
        lambda: arm(co.bounds(tau=((-10, -5), (10, 5)))),
        lambda: arm(co.bounds(tau=(np.array([-10, 5]), np.array([-5, 10]))), subject_to=[]),
        lambda: co.revolute(limits=co.Limits(position=(-2 * math.pi, 2 * math.pi))),
        lambda: co.prismatic(limits=co.Limits(position=(-20.0, 20.0))),
        lambda: pulled(9.81, 0, 0),
        lambda: pulled(0, -24.8, 0),
        lambda: measured(np.linspace(0, 15, 300), np.zeros((300, 2))),
        lambda: measured(np.linspace(0, 1.5, 4), np.zeros((4, 2))),
        lambda: measured(np.linspace(0, 1, 30), np.zeros((30, 2)), co.Free(0.5, 4.0)),
        lambda: co.model.helical(pitch=0.01, limits=co.Limits(position=(-100.0, 100.0))),
        lambda: arm(LIMITS, model=carriage),
        lambda: arm(co.bounds(qd=(-1, 1)), model=pointers, subject_to=[]),
        lambda: arm(model=pointers, loads=[co.Load("pointer", force=(0, 1, 0))], subject_to=[LIMITS]),
        lambda: arm(co.bounds(q=(-10, 10))),
        lambda: cost(lambda now: ca.if_else(now.q[0] > 0, now.q[0] ** 2, 0) + ca.sqrt(now.q[1] - 1)),
        lambda: cost(lambda now: ca.dot(now.q * np.array([1.0, 2.0]), [1.0, 2.0])),
    ]


@pytest.mark.parametrize("call", no_mistake())
def test_what_only_looks_like_a_mistake_passes(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()


def test_other_warnings_of_a_users_function_pass():
    def noisy(now: co.problem.Instant) -> Any:
        warnings.warn("mine", DeprecationWarning, stacklevel=1)
        return now.t

    with pytest.warns(DeprecationWarning, match="mine"):
        cost(noisy)


def test_an_unknown_that_only_a_connection_depends_on_is_not_idle():
    ends = {"a": co.initial(states={"x": 1.0}), "b": co.final(states={"x": 0.2})}
    phases = {
        name: co.Problem(None, 1.0, co.integral(lambda now: now.x**2), [end], [DECAY, co.Unknown("gap")])
        for name, end in ends.items()
    }
    tied = co.boundary(lambda now: now["a"].end.x - now["b"].start.x - now["a"].end.gap, equals=0.0)
    answer = co.solve(
        co.Phases(phases, [co.connect("a", "b", states=False), tied]),
        co.Radau(2),
        progress=False,
        raise_on_failure=False,
    )
    assert "gap" not in " ".join(warning_messages(answer))


def test_a_ball_that_motors_carry_hangs_in_the_air():
    """Which is why it is doubted; with no force there it is not, warnings being errors."""
    with pytest.warns(co.support.InputWarning, match="ideal motors of any force"):
        held = dropped()
    assert co.solve(held, co.Radau(8)).q[-1, 1] == pytest.approx(0.5)
    dropped(co.bounds(tau=(0.0, 0.0)))
