"""Arguments of every wrong kind at the public entry points: an InputError that says so, never another exception."""

# pyright: reportArgumentType=false, reportCallIssue=false, reportOperatorIssue=false

from contextlib import suppress
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc import control, descent, dynamics
from colloc.models.closed.four_bar import four_bar
from colloc.models.two_link import two_link
from colloc.problem import ground
from tests.campaigns import garbage
from tests.campaigns.samples import INSTANCES
from tests.support.problems import time_optimal

HUGE = 10**400


@pytest.fixture(scope="module")
def solution() -> co.Solution:
    return co.solve(time_optimal(), co.BSpline(8))


@pytest.fixture(scope="module")
def evaluator() -> co.Evaluator:
    return co.Evaluator(two_link())


def effort(now: co.problem.Instant) -> ca.SX:
    return ca.sumsqr(now.tau)


def turning() -> co.loops.IndependentJoints:
    return co.loops.IndependentJoints(four_bar())


def turning_instant() -> co.problem.Instant:
    model = four_bar().model
    return co.Problem(model, 1.0, co.integral(effort)).instant


MADE = {
    "a load's body": lambda: co.Load(None),
    "a joint's screw": lambda: co.model.Joint(np.eye(4), "prismatc", np.eye(4)),
    "limits of a wrong type": lambda: co.revolute(limits=np.ones(2)),
    "limits that are zero": lambda: co.revolute(limits=0),
    "limits that are empty": lambda: co.prismatic(limits=[]),
    "limits of bytes": lambda: co.Limits(torque=b"ab"),
    "limits of text": lambda: co.Limits(torque=("1", "2")),
    "huge limits": lambda: co.Limits(torque=(-HUGE, HUGE)),
    "a model's name": lambda: co.Model(two_link().bodies, name=object()),
    "half a surrogate pair": lambda: co.Body("\ud800", co.revolute()),
    "bodies in a set": lambda: co.Model(set(two_link().bodies)),
    "a huge mass": lambda: co.Body("a", co.revolute(), mass=HUGE),
    "a mass that is True": lambda: co.Body("a", co.revolute(), mass=True),
    "an axis of truth values": lambda: co.revolute(axis=np.array([False, False, True])),
    "an axis of complex numbers": lambda: co.revolute(axis=np.array([0, 0, 1j])),
    "an axis that is masked": lambda: co.revolute(axis=np.ma.masked_array([0.0, 0.0, 1.0], [1, 0, 0])),
    "too deep a list": lambda: co.placement([[[1]], 2, 3]),
    "a ragged posture": lambda: co.initial(q=[[1, 2], [3]]),
    "a ragged equation": lambda: co.path(effort, equals=[[1, 2], [3]]),
    "a ragged parameter": lambda: co.Parameter("a", [[1, 2], [3]]),
    "a ragged scale": lambda: co.path(effort, upper=1.0, scale=[[1, 2], [3]]),
    "bounds that are one number": lambda: co.bounds(q=np.array(1.0)),
    "bounds in a set": lambda: co.bounds(q={0, 1}),
    "a posture of text": lambda: co.initial(q="1.0"),
    "a masked posture": lambda: co.initial(q=np.ma.masked_array([0.0, 1.0], [0, 1])),
    "a generator": lambda: co.initial(q=(k for k in (0.0, 1.0))),
    "a name that is a list": lambda: co.path(effort, upper=1.0, name=[1]),
    "the name of a cost": lambda: co.integral(effort, name=[1]),
    "a cost less a text": lambda: co.duration() - "x",
    "a cost by zero": lambda: co.duration() / 0,
    "a huge weight": lambda: HUGE * co.duration(),
    "keyframes that are a number": lambda: co.keyframes(3.5),
    "very many intervals": lambda: co.BSpline(HUGE),
    "spacing that is none": lambda: co.BSpline(8, spacing=None),
    "a size that is a length of time": lambda: co.Free(np.timedelta64(1, "s"), 2.0),
    "loads that are a number": lambda: co.Evaluator(two_link(), loads=3),
    "sensitivities that are none": lambda: co.Evaluator(two_link(), sensitivities=None),
    "a wrench that is none": lambda: ground.zero_moment_point(None),
    "matrices that do not fit": lambda: control.response_matrices(np.zeros((3, 2, 2)), np.zeros((4, 2, 1))),
    "a direction of another size": lambda: descent.wolfe_step(
        lambda x: descent.Point(x, x @ x, 2 * x), descent.Point(np.ones(2), 2.0, np.ones(2)), np.ones(3), 0.5, 0.9
    ),
    "a state without a function": lambda: co.State("fuel", rate=np.ones(2)),
    "a state with two functions": lambda: co.State("fuel", rate=effort, residual=effort),
    "a state's values that are ragged": lambda: co.initial(states={"fuel": [[1, 2], [3]]}),
    "a state's name": lambda: co.initial(states={3: 1.0}),
    "a joint's value that is a list of bytes": lambda: co.initial(q={"elbow": memoryview(b"ab")}),
    "a joint's value that is masked": lambda: co.final(qd={"elbow": np.ma.masked_array([1.0, 2.0], [1, 0])}),
    "parts that are numbers": lambda: co.Problem(two_link(), 1.0, co.duration(), parts=[1]),
    "parts that are a chain": lambda: co.Problem(four_bar().model, 1.0, co.duration(), parts=four_bar()),
    "a chain of another model among parts": lambda: co.Problem(two_link(), 1.0, co.duration(), parts=[turning()]),
    "independent joints of a model": lambda: co.loops.IndependentJoints(two_link()),
    "an instant that is a list": lambda: turning().tangent([1, [2, 3]]),
    "an instant of another mechanism": lambda: turning().multipliers(time_optimal().instant),
    "the rate of a list": lambda: time_optimal().instant.rate([[1, 2], [3]]),
    "postures of text": lambda: turning().postures("text"),
    "a point at no posture": lambda: co.model.point_motion(two_link(), "upper", q=None),
    "no mechanism in control": lambda: control.discretise(co.Model.empty(), 0.05),
    "a huge step": lambda: control.state_cost(np.ones(4), 1.0, steps=[HUGE]),
    "a compiler of half a letter": lambda: co.kernels.Compile(compiler="\ud800"),
    "torques by what returns nothing": lambda: turning().inverse_dynamics(turning_instant(), (), print),
    "a stopping rule": lambda: descent.bfgs(descent.Objective(lambda x: (x @ x, 2 * x)), np.ones(2), 3),
}


@pytest.mark.parametrize("what", MADE)
def test_what_is_made_of_garbage_is_refused(what: str):
    with pytest.raises(co.InputError):
        MADE[what]()


RATES = {
    "nothing": None,
    "text": "x",
    "an object": object(),
    "a list of objects": [object()],
    "too many": np.ones(3),
    "symbols of another kind": ca.MX.sym("x"),
}


@pytest.mark.parametrize("what", RATES)
def test_a_state_whose_equation_is_garbage_is_refused(what: str):
    with pytest.raises(co.InputError, match="fuel"):
        co.Problem(None, 1.0, co.duration(), unknowns=[co.State("fuel", rate=lambda now: RATES[what])])


@pytest.mark.parametrize("states", [{"fuels": 1.0}, {"fuel": [1.0, 2.0]}, {"fuel": [[1.0], [2.0]]}], ids=str)
def test_values_of_states_that_a_problem_does_not_have_are_refused(states: dict[str, Any]):
    fuel = co.State("fuel", rate=lambda now: -now.fuel)
    with pytest.raises(co.InputError, match="fuel"):
        co.Problem(None, 1.0, co.duration(), [co.initial(states=states)], unknowns=[fuel])


SOLVED = {
    "a curve that is a list": {"curve": []},
    "parameters that are a number": {"parameters": 3.5},
    "a plan that is a number": {"plan": 3.5},
    "a plan without steps": {"plan": []},
    "a step that is a word": {"plan": ["Solve"]},
    "a step that is a class": {"plan": [co.refinement.Solve]},
    "a plan that does not begin with a solve": {"plan": [co.refinement.Refine(1e-3)]},
    "an array for a flag": {"raise_on_failure": np.ones(2)},
    "a huge tolerance": {"tol": HUGE},
    "a flag that is text": {"progress": "no"},
}


@pytest.mark.parametrize("what", SOLVED)
def test_garbage_is_refused_before_anything_is_solved(what: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("colloc.solver.ipopt.Ipopt.__call__", lambda *_: pytest.fail("solved"))
    with pytest.raises(co.InputError):
        co.solve(time_optimal(), **{"curve": co.BSpline(8), **SOLVED[what]})


@pytest.mark.parametrize("wrong", [None, 3, "model", np.ones(2), [1], HUGE], ids=str)
@pytest.mark.parametrize("name", [n for n in dynamics.__all__ if n[0].islower() and n != "check_formulation"])
def test_functions_of_a_model_need_one(name: str, wrong: Any):
    function = getattr(dynamics, name)
    door = garbage.Door(f"co.dynamics.{name}", function)
    given = {p.name: wrong for p in garbage.parameters(door) if p.default is p.empty}
    with pytest.raises(co.InputError):
        function(**given)


@pytest.mark.parametrize("name", [d.name for d in garbage.doors() if "model" in garbage.arguments(d)])
def test_no_mechanism_is_refused_where_one_is_needed(name: str):
    door = next(d for d in garbage.doors() if d.name == name)
    nothing = dict.fromkeys(("q", "qd", "qdd", "tau", "multipliers"), "np.zeros(0)")
    nothing |= {"model": "co.Model.empty()", "fn": "lambda now: now.t"}
    given = {k: nothing.get(k, v) for k, v in garbage.arguments(door).items()}
    names: dict[str, Any] = {}
    exec(garbage.HEAD, names)
    with suppress(co.InputError):
        eval(garbage.expression(door, given), names)


def test_samples_are_looked_at_before_they_are_computed(evaluator: co.Evaluator, solution: co.Solution):
    for q in (None, "q", [[1, 2], [3]], HUGE, b"ab", {0.0, 1.0}, np.array([True, False]), [1j, 2]):
        with pytest.raises(co.InputError, match="q must be"):
            evaluator.torque(q, 0.0, 0.0)
        with pytest.raises(co.InputError, match="t must be"):
            solution.at(q)
    with pytest.raises(co.InputError, match="out must be a TorqueSensitivities"):
        evaluator.sensitivities((0, 0), (0, 0), (0, 0), out=3)  # pyright: ignore[reportArgumentType]


def test_messages_quote_no_more_than_a_reader_takes_in():
    for bad in (10**5_000, ["a"] * 10_000, {"a": [0.0] * 10_000}, np.full(900, "a"), "x" * 10_000):
        for call in (lambda q: co.initial(q=q), co.BSpline, lambda T: co.Free(T, 1.0), lambda p: co.solve(p)):
            with pytest.raises(co.InputError, match="must") as refused:
                call(bad)
            assert len(str(refused.value)) < 600


def test_every_public_name_is_a_door_of_the_campaign():
    names = {door.name for door in garbage.doors()}
    assert {
        "co.Model.empty",
        "co.State",
        "co.State.equation",
        "co.problem.Instant.rate",
        "co.loops.IndependentJoints",
    } <= names
    assert {"co.solve", "co.plot.animate", "co.problem.ground.applied", "co.Solution.at", "co.dynamics.lie"} <= names
    assert len(names) > 200


def test_the_campaign_tells_good_answers_from_bad_ones():
    try:
        for call, never, outcome in (
            ("co.Free(None, 1.0)", True, "fine"),
            ("co.Free(0.5, 1.0)", False, "fine"),
            ("co.Free(0.5, 1.0)", True, "silent nonsense"),
            ("1 / 0", False, "raw traceback"),
            ("float('nan')", False, "silent nonsense"),
            ("__import__('os').kill(__import__('os').getpid(), 11)", False, "crash"),
        ):
            assert garbage.judged("kind", call, never=never, tolerant=True).outcome == outcome, call
    finally:
        garbage.WORKER.close()


@pytest.mark.parametrize(
    "bad", [b"ab", "\udfff", {0: HUGE}, -HUGE, np.datetime64("2020"), np.ones(2) * 1j, [[1, 2], [3]]]
)
def test_bounds_of_an_objective_are_numbers(bad):
    with pytest.raises(co.InputError, match="lower bounds of an objective"):
        descent.Objective(lambda x: (float(x @ x), 2 * x), lower=bad)


def test_steps_of_a_cost_are_numbers_without_a_unit_of_time():
    with pytest.raises(co.InputError, match="steps must be a list of integers"):
        control.state_cost(np.ones(4), 1.0, np.array([1], dtype="m8[s]"))


@pytest.mark.parametrize("x", [None, 1j, {}, set(), co.Model.empty()], ids=str)
def test_variables_of_phases_are_named_at_a_decision_vector(x):
    problem = co.Problem(two_link(), 1.0, co.integral(effort))
    nlp = co.transcribe(co.Phases({"one": problem}), co.BSpline(4))
    with pytest.raises(co.InputError, match=r"x must"):
        nlp.variable_name(0, x)


def test_every_method_can_be_called():
    """A method belongs to an object that a campaign can make: by a sample, or by its class."""
    made = {door.name for door in garbage.doors()} | set(INSTANCES)
    assert [door.name for door in garbage.doors() if door.method and door.name.rpartition(".")[0] not in made] == []
