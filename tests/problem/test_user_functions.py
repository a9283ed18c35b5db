"""Functions that users hand over: of a wrong signature they are refused at once, their own errors are their own."""

# pyright: reportArgumentType=false, reportOperatorIssue=false

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc import control, descent
from colloc.models.two_link import two_link
from tests.support.problems import effort

MODEL = two_link()
TIP = MODEL.bodies[-1].name
ENDS = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
CURVE = co.BSpline(4)


def problem(*rows, cost: co.problem.Cost | None = None, loads=()) -> co.Problem:
    return co.Problem(MODEL, 1.0, cost or co.integral(effort), [*ENDS, *rows], loads=loads)


TIMES = np.linspace(0.0, 1.0, 5)
INSTANT = "a function of the instant, called with (now)"
RECURSION = "called with (model, q, qd, qdd, loads)"

# Callers of user functions with their messages, and problems that call the function when they are made.
DOORS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "integral": (lambda fn: problem(cost=co.integral(fn)), INSTANT),
    "final_cost": (lambda fn: problem(cost=co.final_cost(fn)), INSTANT),
    "penalty": (lambda fn: problem(cost=co.penalty(fn, upper=1.0, weight=1.0)), INSTANT),
    "track": (lambda fn: problem(cost=co.track(TIMES, np.zeros((5, 2)), fn)), INSTANT),
    "path": (lambda fn: problem(co.path(fn, upper=1.0)), INSTANT),
    "at": (lambda fn: problem(co.at(0.5, fn, upper=1.0)), INSTANT),
    "boundary": (lambda fn: problem(co.boundary(fn, upper=1.0)), "called with (start, end)"),
    "boundary 'b'": (
        lambda fn: co.Phases({"a": problem(), "b": problem()}, subject_to=[co.boundary(fn, upper=1.0, name="b")]),
        "called with (phases)",
    ),
    "force of the load": (lambda fn: problem(loads=[co.Load(TIP, force=fn)]), INSTANT),
    "moment of the load": (lambda fn: problem(loads=[co.Load(TIP, moment=fn)]), INSTANT),
    "State 'y'": (lambda fn: co.State("y", rate=fn), INSTANT),
    "guess": (lambda fn: co.solve(problem(), CURVE, guess=fn), "a function of time, called with (t)"),
    "dynamics": (lambda fn: co.transcribe(problem(), CURVE, fn), RECURSION),
    "sensitivities": (lambda fn: co.transcribe(problem(), CURVE, sensitivities=fn), RECURSION),
    "dynamics needs": (lambda fn: co.Evaluator(MODEL, dynamics=fn), RECURSION),
    "step": (lambda fn: control.System(2, 1, fn, lambda x, u: (x, u)), "called with (k, x, u)"),
    "linearise": (lambda fn: control.System(2, 1, lambda k, x, u: x, fn), "called with (x, u)"),
    "fn": (lambda fn: control.output_cost(MODEL, fn, 0.0, 1.0), INSTANT),
    "first": (lambda fn: descent.Objective(fn), "called with (x)"),
    "hessian": (lambda fn: descent.Objective(lambda x: (0.0, x), fn), "called with (x)"),
}


def nothing() -> ca.SX:
    raise AssertionError("never called")


def by_name(*, now: co.problem.Instant) -> ca.SX:
    raise AssertionError("never called")


def too_many(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> ca.SX:
    raise AssertionError("never called")


@pytest.mark.parametrize("fn", [nothing, by_name, too_many], ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("door", DOORS)
def test_a_function_of_a_wrong_signature_is_refused_by_name(door, fn):
    make, words = DOORS[door]
    with pytest.raises(co.InputError) as caught:
        make(fn)
    said = str(caught.value)
    assert said.startswith(door)
    assert words in said
    assert f"got {fn.__name__}(" in said


@pytest.mark.parametrize("fn", [lambda now, gain=2.0: gain * effort(now), lambda *all: effort(all[0]), effort.__call__])
def test_what_can_be_called_so_is_taken(fn):
    assert problem(cost=co.integral(fn)).costs


def test_errors_inside_a_users_function_stay_what_they_are():
    """A TypeError that is not about how it was called, and one about a call that it makes itself."""

    def own(now: co.problem.Instant) -> ca.SX:
        return now.tau + None

    def other(now: co.problem.Instant) -> ca.SX:
        return too_many(now)  # pyright: ignore[reportCallIssue]

    for fn, words in ((own, "unsupported|NoneType"), (other, "missing 5 required")):
        with pytest.raises((TypeError, NotImplementedError), match=words) as caught:
            problem(cost=co.integral(fn))
        assert not isinstance(caught.value, co.InputError)
        assert f"while evaluating the function of cost term {fn.__name__!r}" in caught.value.__notes__


@pytest.mark.parametrize(
    "value",
    [{1.0, 2.0}, frozenset((1.0, 2.0)), bytearray(b"ab"), iter([1.0]), np.ma.masked_array([1.0, 2.0], [True, False])],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("door", ["path", "integral", "boundary", "guess"])
def test_values_without_an_order_or_with_masked_entries_are_refused(door, value):
    """CasADi reads some of them as other numbers."""
    make, _ = DOORS[door]
    with pytest.raises(co.InputError):
        make((lambda start, end: value) if door == "boundary" else (lambda now: value))
