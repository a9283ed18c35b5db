"""The problem layer: what is stated is what is meant, and bad statements are refused where they are made."""

# Wrong types are what this file is about.
# pyright: reportArgumentType=false, reportOperatorIssue=false

import math
import re
from dataclasses import fields

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from tests.support.problems import effort, everything, time_optimal


def stated(**changes) -> co.Problem:
    """A valid problem with some arguments replaced."""
    arguments = {"model": two_link(), "duration": 1.0, "minimize": co.integral(effort), "subject_to": []}
    return co.Problem(**(arguments | changes))


# --- refused, with the argument, its value and the legal values in the message ---


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: co.Free(0.0, 1.0), "duration lower must be finite and positive, got 0.0"),
        (lambda: co.Free(-1.0, 1.0), "got -1.0"),
        (lambda: co.Free(2.0, 1.0), "lower bound exceeds upper bound"),
        (lambda: co.Free(0.1, math.inf), "duration upper must be finite"),
        (lambda: co.Free(0.1, 1.0, 3.0), r"guess must lie in \[0.1, 1.0\], got 3.0"),
        (lambda: co.Free(math.nan, 1.0), "got nan"),
        (lambda: stated(duration=0.0), "duration must be finite and positive, got 0.0"),
        (lambda: stated(duration=-2.0), "got -2.0"),
        (lambda: stated(duration="fast"), "duration must be a number, got 'fast'"),
        (lambda: stated(model="arm"), "model must be a Model, got 'arm'"),
        (lambda: stated(minimize=effort), "minimize must be a Cost"),
        (lambda: stated(subject_to=["q < 1"]), "subject_to cannot contain 'q < 1'"),
        (lambda: stated(loads=[co.Load("elbw")]), "no body named 'elbw'; did you mean 'elbow'"),
        (lambda: stated(subject_to=[co.initial(q=(0, 1, 2))]), r"initial q must have shape \(2,\), got shape \(3,\)"),
        (lambda: stated(subject_to=[co.initial(q={"elbw": 1.0})]), "no joint named 'elbw'; did you mean 'elbow'"),
        (lambda: co.initial(q=(0, math.nan)), "initial q must be finite"),
        (lambda: co.final(qd=math.inf), "final qd must be finite"),
        (lambda: co.initial(q="home"), "initial q must be numbers"),
        (lambda: co.initial(), "initial needs at least one of q, qd, qdd, tau"),
        (lambda: co.bounds(), "bounds needs at least one of"),
        (lambda: co.bounds(tau=10), r"bounds tau must be \(lower, upper\), got 10"),
        (lambda: co.bounds(tau=(10, -10)), "lower bound exceeds upper bound, got lower=10, upper=-10"),
        (lambda: co.bounds(tau=(math.nan, 10)), "must not be NaN"),
        (lambda: co.bounds(q={"elbow": (2, 1)}), "lower bound exceeds upper bound"),
        (lambda: co.bounds(q=(0, 1), during=(0.6, 0.2)), r"bounds during must satisfy 0 <= start <= end <= 1, got"),
        (lambda: co.bounds(q=(0, 1), during=0.5), r"bounds during must be \(lower, upper\), got 0.5"),
        (lambda: stated(subject_to=[co.bounds(q={"wrist": (0, 1)})]), "no joint named 'wrist'"),
        (lambda: stated(subject_to=[co.bounds(tau=((1, 2, 3), 9))]), r"must have shape \(2,\)"),
        (
            lambda: stated(subject_to=[co.bounds(q=(0, 1)), co.bounds(q=(2, 3))]),
            r"bounds on q\[shoulder\] contradict each other: lower 2.0 > upper 1.0",
        ),
        (
            lambda: stated(subject_to=[co.bounds(q=(-1, 1)), co.initial(q=(0, -2))]),
            r"initial q\[elbow\] = -2 lies outside its bounds \[-1, 1\]",
        ),
        (lambda: co.path(effort), "path needs lower, upper or equals"),
        (lambda: co.path(effort, lower=0, equals=1), "not both"),
        (lambda: co.path(effort, lower=2, upper=1), "lower bound exceeds upper bound"),
        (lambda: co.path(effort, upper=math.nan), "NaN"),
        (lambda: co.path(3.0, upper=1), "path needs a function of the instant, got 3.0"),
        (lambda: co.path(effort, upper=1, during=(0.5, 1.5)), "path during must satisfy 0 <= start <= end <= 1"),
        (lambda: co.path(effort, upper=1, during=(0.8, 0.2)), "path during must satisfy"),
        (lambda: co.at(1.5, effort, upper=1), r"at s must lie in \[0, 1\]"),
        (lambda: co.integral(2.0), "integral needs a function of the instant, got 2.0"),
        (lambda: co.duration() + 1.0, "a cost can be added to a cost only, got 1.0"),
        (lambda: co.duration() * math.nan, "cost factor must be finite"),
        (lambda: stated(minimize=co.integral(lambda now: now.tau, name="all")), "'all' must return an SX scalar"),
        (lambda: stated(minimize=co.integral(lambda now: None)), "must return an SX scalar, got None"),
        (lambda: stated(subject_to=[co.path(lambda now: None, upper=1, name="gap")]), "'gap' must return an SX scalar"),
        (
            lambda: stated(subject_to=[co.path(lambda now: now.q, upper=(1, 2, 3), name="box")]),
            r"constraint 'box' upper must have shape \(2,\), got shape \(3,\)",
        ),
        (lambda: co.Unknown("tau"), "unknown name 'tau' is taken"),
        (lambda: co.Unknown("two words"), "must be a Python identifier"),
        (lambda: co.Unknown("f", lower=1, upper=0), "lower bound exceeds upper bound"),
        (lambda: co.Unknown("f", size=2, guess=(1, 2, 3)), r"shape \(2,\)"),
        (lambda: co.Unknown("f", size=0), "must be an integer >= 1, got 0"),
        (lambda: co.Parameter("g", math.inf), "parameter 'g' must be finite"),
        (lambda: stated(unknowns=[co.Unknown("f")], parameters=[co.Parameter("f", 1.0)]), "names must be unique"),
        (lambda: co.BSpline(0), "BSpline intervals must be an integer >= 1, got 0"),
        (lambda: co.BSpline(5, degree=2), "BSpline degree must be an integer >= 3, got 2"),
        (lambda: co.BSpline(5.5), "got 5.5"),  # pyright: ignore[reportArgumentType]
        (lambda: co.BSpline(5, nodes=1), "BSpline nodes must be an integer >= 2"),
        (lambda: co.Radau(5, degree=10), "Radau degree must be an integer from 1 to 9, got 10"),
        (lambda: co.HermiteSimpson(True), "got True"),
        (lambda: co.transcribe(time_optimal(), "spline"),  # pyright: ignore[reportArgumentType, reportCallIssue]
         "curve must be BSpline, HermiteSimpson or Radau"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_where_it_is_given(make, message):
    with pytest.raises(co.InputError, match=message):
        make()


@pytest.mark.parametrize(
    "name", [n for n in dir(co.problem.Instant) if n[0] != "_"] + [f.name for f in fields(co.problem.Instant)]
)
@pytest.mark.parametrize("make", [lambda name: co.Unknown(name), lambda name: co.Parameter(name, 1.0)])
def test_what_an_instant_offers_cannot_be_shadowed(make, name: str):
    with pytest.raises(co.InputError, match=f"name '{name}' is taken; an instant already has model, t, duration"):
        make(name)


@pytest.mark.parametrize("name", ["_force", "lambda", "two words", "", 3])
def test_names_that_no_function_could_read_are_refused(name):
    with pytest.raises(co.InputError, match="must be a Python identifier without a leading underscore"):
        co.Unknown(name)


def test_a_typo_on_the_instant_names_the_legal_quantities():
    with pytest.raises(AttributeError, match=r"no quantity of an instant named 'torque'; did you mean 'tau'\?"):
        stated(minimize=co.integral(lambda now: now.torque))
    with pytest.raises(AttributeError, match=r"no quantity of an instant named 'zz' \(known: model, t, duration, q, "):
        stated(minimize=co.integral(lambda now: now.zz))
    with pytest.raises(AttributeError, match=r"\(known: push, model, .*, parameters, jerk, tau_rate, rate, "):
        stated(minimize=co.integral(lambda now: now.zz), unknowns=[co.Unknown("push")])


def test_a_wrong_body_in_a_function_is_named():
    with pytest.raises(co.InputError, match="no body named 'hand'"):
        stated(subject_to=[co.path(lambda now: now.point("hand").position, upper=1)])


def test_a_symbol_the_problem_does_not_know_is_named():
    stray = ca.SX.sym("stray")
    with pytest.raises(co.InputError, match=r"used by the cost term 'integral'.*'stray'"):
        stated(minimize=co.integral(lambda now: stray * now.q[0]))
    body = co.Body("cart", co.prismatic(), mass=ca.SX.sym("m_cart"))
    with pytest.raises(co.InputError, match=r"used by the model.*'m_cart'.*known: payload"):
        stated(model=co.Model([body]), unknowns=[co.Unknown("payload", constant=True)])


@pytest.mark.parametrize("curve", [co.BSpline(4), co.HermiteSimpson(4), co.Radau(4)], ids=str)
def test_a_function_that_is_not_finite_at_the_guess_is_named_with_its_time(curve):
    ends = [co.initial(q=(0, 0), qd=0), co.final(q=(1, 1), qd=0)]
    bad_cost = stated(minimize=co.integral(lambda now: ca.log(now.q[0] - 5), name="log"), subject_to=ends)
    with pytest.raises(co.InputError, match="cost term 'log' is nan at s = 0"):
        co.solve(bad_cost, curve)
    bad_path = stated(subject_to=[*ends, co.path(lambda now: ca.sqrt(0.5 - now.q[1]), upper=9, name="root")])
    with pytest.raises(co.InputError, match=r"constraint root at s = 0\.\d+ is nan"):
        co.solve(bad_path, curve)


# --- meant as stated ---


def test_costs_add_scale_and_subtract():
    cost = 0.5 * co.duration() + co.integral(effort, name="e") * 2 - co.integral(effort, name="f") / 4
    assert [(term.name, term.weight) for term in cost.terms] == [("duration", 0.5), ("e", 2.0), ("f", -0.25)]


def test_joint_limits_and_bounds_are_intersected():
    limits = co.Limits(position=(-1, 2), velocity=(-3, 3), torque=(-5, 9), acceleration=(-7, 8))
    model = co.Model(
        [co.Body("a", co.revolute(limits=limits)), co.Body("b", co.revolute(), parent="a", mass=1.0, com=(0.1, 0, 0))]
    )
    problem = stated(model=model, subject_to=[co.bounds(q=(-0.5, 4), tau={"b": (-1, 1)})])
    np.testing.assert_array_equal(problem.limits("q"), [[-0.5, -0.5], [2, 4]])
    np.testing.assert_array_equal(problem.limits("tau"), [[-5, -1], [9, 1]])
    np.testing.assert_array_equal(problem.limits("qd"), [[-3, -np.inf], [3, np.inf]])
    np.testing.assert_array_equal(problem.limits("qdd"), [[-7, -np.inf], [8, np.inf]])
    assert problem.rows["qd bounds"].rows.labels == ("qd[a]",)


def test_equal_names_are_made_different():
    problem = stated(
        minimize=co.integral(effort) + co.integral(effort),
        subject_to=[co.path(lambda now: now.q[0], upper=1), co.path(lambda now: now.q[1], upper=1)],
    )
    assert list(problem.integrands) == ["effort", "effort 2"]
    assert list(problem.rows) == ["path", "path 2"]


def test_parameter_values_replace_defaults_by_name():
    problem = stated(parameters=[co.Parameter("a", 1.0), co.Parameter("b", (2.0, 3.0))])
    np.testing.assert_array_equal(problem.parameter_values({"b": (5, 6)}), [1, 5, 6])
    with pytest.raises(co.InputError, match="no parameter named 'c'"):
        problem.parameter_values({"c": 1})
    with pytest.raises(co.InputError, match=re.escape("parameter 'b' must have shape (2,)")):
        problem.parameter_values({"b": (1, 2, 3)})


def test_repr_states_the_problem():
    text = repr(everything())
    for phrase in ("free in [0.2, 3] s", "0.1 * effort", "power: 1 row in [-40, 60] during s = 0.25 .. 0.75", "wind"):
        assert phrase in text
    assert "<table>" in everything()._repr_html_()


def test_a_load_may_not_depend_on_what_depends_on_it():
    with pytest.raises(co.InputError, match="the load on 'elbow' must not depend on torques"):
        stated(loads=[co.Load("elbow", force=lambda now: ca.vertcat(now.tau[0], 0, 0))])
    with pytest.raises(co.InputError, match="force of the load on 'elbow' must be of shape"):
        stated(loads=[co.Load("elbow", force=lambda now: now.q)])


def test_a_reaction_knows_the_loads():
    """A constraint on what a joint carries is the solution's own reaction; a load cannot depend on it."""
    load = co.Load("elbow", force=lambda now: ca.vertcat(3 * now.qd[0], -10, 0))
    held = co.at(0.5, lambda now: now.reaction("elbow").force, name="held", lower=-1e3)
    rests = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
    problem = co.Problem(two_link(), 1.0, co.integral(effort), [*rests, held], loads=[load])
    solution = co.solve(problem, co.BSpline(16), compile=False)
    force, moment = solution.evaluate(lambda now: tuple(now.reaction("elbow")), 0.4)
    np.testing.assert_allclose(force, solution.reactions([0.4]).force[0, 1], atol=1e-12)
    np.testing.assert_allclose(moment[2], solution.at(0.4).tau[1], atol=1e-9)
    circular = co.Load("elbow", force=lambda now: now.reaction("elbow").force)
    with pytest.raises(
        co.InputError, match="joint reactions are known along the motion of a problem only, and not to its loads"
    ):
        co.Problem(two_link(), 1.0, co.duration(), loads=[circular])


def of_hinge(*statements: co.problem.Statement) -> co.Problem:
    """Half a second, with a speed of at most 5 rad/s and angles of at most 2 rad."""
    limits = co.Limits(position=(-2.0, 2.0), velocity=(-5.0, 5.0))
    rod = co.Body("rod", co.revolute(limits=limits, name="hinge"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    return co.Problem(co.Model([rod]), 0.5, co.integral(lambda now: now.tau[0] ** 2), [co.initial(q=0.0), *statements])


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (co.at(0.0, lambda now: now.qd, equals=6.0), r"'at 0' keeps qd\[hinge\] at 6, outside its bounds \[-5, 5\]"),
        (co.at(0.5, lambda now: 1 - 2 * now.qd, equals=13.0), r"keeps qd\[hinge\] at -6, outside its bounds \[-5, 5\]"),
        (
            co.path(lambda now: -now.q, upper=-2.5),
            r"'path' keeps q\[hinge\] at 2.5 to inf, outside its bounds \[-2, 2\]",
        ),
        (co.path(lambda now: now.q, lower=3.0, upper=4.0, name="far"), r"'far' keeps q\[hinge\] at 3 to 4, outside"),
    ],
)
def test_a_condition_on_one_quantity_beyond_its_limits_is_refused_at_once(statement, words):
    with pytest.raises(co.InputError, match=words):
        of_hinge(statement)


@pytest.mark.parametrize(
    "statement",
    [
        co.at(0.0, lambda now: ca.fabs(now.qd), equals=6.0),
        co.at(0.0, lambda now: now.q + now.qd, equals=6.0),
        co.at(0.0, lambda now: now.qd, equals=5.0),
        co.at(0.0, lambda now: now.q + now.t, equals=3.0),
        co.boundary(lambda start, end: end.q - start.q, equals=3.0),
    ],
)
def test_other_conditions_are_left_to_the_solver(statement):
    assert statement.name in of_hinge(statement).rows
