"""Gradients through optima, against forward derivatives, solves of other numbers, PyTorch's and JAX's own checks."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.arm26 import arm26
from colloc.models.closed.four_bar import four_bar
from colloc.models.two_link import two_link

TIMES = np.array([0.11, 0.27, 0.4])


def reach(offset: float = 0.0) -> co.Problem:
    """A reach whose torques meet their limits, with all that may be learnt as parameters."""
    goal, weight = co.Parameter("goal", (1.0 + offset, -1.0)), co.Parameter("weight", 0.3)
    limit, payload = co.Parameter("limit", 10.0), co.Parameter("payload", 0.5)
    hand = co.Load("elbow", force=ca.vertcat(0, -9.81 * payload.symbol, 0))
    ends = [
        co.initial(q=(0.0, -2.0), qd=0.0),
        co.final(qd=0.0),
        co.at(1.0, lambda now: now.q - now.goal, equals=0.0),
        co.path(lambda now: now.tau - now.limit, upper=0.0),
        co.path(lambda now: now.tau + now.limit, lower=0.0),
    ]
    cost = co.integral(lambda now: ca.sumsqr(now.tau) + now.weight * ca.sumsqr(now.qd))
    return co.Problem(two_link(), 0.5, cost, ends, parameters=[goal, weight, limit, payload], loads=[hand])


BY = ("limit", "goal", "weight", "payload")
SPREAD = np.array([0.5, 0.05, 0.05, 0.015, 0.025])


def motion(now: Any) -> ca.SX:
    return ca.vertcat(now.q, now.qd[1], now.tau[0])


@pytest.fixture(scope="module")
def at_limits() -> co.optimality.OptimumFunction:
    solution = co.solve(reach(), co.BSpline(20), progress=False)
    assert np.abs(solution.tau).max() > 9.999
    return co.optimality.optimum_function(solution, motion, BY, TIMES)


def off_by(function: co.optimality.OptimumFunction, seed: int, spread: np.ndarray = SPREAD) -> float:
    """Relative difference of a product with the pull-back from re-solved optima, at random values."""
    rng = np.random.default_rng(seed)
    values = function.base + rng.uniform(-1.0, 1.0, spread.size) * spread
    value, pullback = function.with_pullback(values)
    weights, along = rng.standard_normal(value.shape), rng.standard_normal(spread.size) * spread
    step = 1e-4
    change = (function(values + step * along) - function(values - step * along)) / (2 * step)
    return abs(float((weights * change).sum()) - float(pullback(weights) @ along)) / float(np.linalg.norm(change))


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_difference_of_optima_at_torque_limits(at_limits: co.optimality.OptimumFunction, seed: int):
    assert off_by(at_limits, seed) < 1e-5


def test_it_is_the_difference_of_two_hundred_optima(at_limits: co.optimality.OptimumFunction):
    assert max(off_by(at_limits, seed) for seed in range(100, 300)) < 1e-5


def fastest() -> co.Problem:
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0), co.bounds(tau=(-10.0, 10.0))]
    return co.Problem(two_link(), co.Free(0.1, 5.0, 1.0), co.duration(), ends)


def in_phases() -> co.Phases:
    cost = co.duration() + 1e-3 * co.integral(lambda now: ca.sumsqr(now.tau))
    limit = co.bounds(tau=(-10.0, 10.0))
    first = co.Problem(two_link(), co.Free(0.1, 3.0, 0.4), cost, [co.initial(q=(0.0, -2.0), qd=0.0), limit])
    second = co.Problem(two_link(), co.Free(0.1, 3.0, 0.4), cost, [co.final(q=(1.0, -1.0), qd=0.0), limit])
    via = co.boundary(lambda phases: phases["first"].end.q[0], equals=0.3, name="via")
    return co.Phases({"first": first, "second": second}, [via])


@pytest.mark.parametrize("build", [fastest, in_phases])
def test_a_weighted_sum_is_that_of_the_forward_derivatives(build: Callable[[], Any]):
    solution = co.solve(build(), progress=False)
    times = solution.duration * np.array([0.1, 0.37, 0.61, 0.93])
    weights = np.random.default_rng(0).standard_normal((4, 4))
    gradient = co.optimality.gradient(solution, motion, t=times, weights=weights)
    table = co.optimality.sensitivity(solution)
    assert gradient.value == pytest.approx((weights * solution.evaluate(motion, times)).sum())
    assert tuple(gradient.derivatives) == table.names
    for name in table.names:
        forward = float((weights * table.evaluate(motion, name, times)).sum())
        assert gradient[name] == pytest.approx(forward, rel=1e-7, abs=1e-7)


def test_nodes_where_phases_meet_belong_to_both():
    """The torque jumps there: its derivatives at the nodes against those on either side."""
    solution = co.solve(in_phases(), co.BSpline(8), progress=False)

    def torque(now: Any) -> ca.SX:
        return now.tau

    table, end = co.optimality.sensitivity(solution, "via"), solution["first"].duration
    at_nodes, last = table.evaluate(torque, "via"), solution["first"].t.size - 1
    assert at_nodes.shape == solution.evaluate(torque).shape
    sides = [table.evaluate(torque, "via", end + by) for by in (-1e-7, 1e-7)]
    assert np.abs(sides[0] - sides[1]).max() > 0.1
    assert at_nodes[last] == pytest.approx(sides[0], rel=1e-3, abs=1e-3)
    assert at_nodes[last + 1] == pytest.approx(sides[1], rel=1e-3, abs=1e-3)
    weights = np.zeros(at_nodes.shape)
    weights[last, 0], weights[last + 1, 1] = 1.0, 2.0
    gradient = co.optimality.gradient(solution, torque, "via", weights=weights)
    assert gradient["via"] == pytest.approx(at_nodes[last, 0] + 2 * at_nodes[last + 1, 1], rel=1e-7)
    assert gradient.value == pytest.approx((weights * solution.evaluate(torque)).sum())


def test_the_cost_and_the_duration_are_those_of_the_table():
    solution = co.solve(fastest(), progress=False)
    by_mass = co.optimality.gradient(solution, "duration", "mass")
    assert by_mass["mass of body 'elbow'"] == co.optimality.sensitivity(solution)["mass of body 'elbow'"].duration
    assert "mass of body 'elbow'" in repr(by_mass)
    assert co.optimality.gradient(solution, "cost", "tau").value == solution.cost


def push(upper: float = np.inf) -> co.Solution:
    """A mass that a force of 6 - 12 t moves by a metre in a second: effort 12 mass^2."""
    ends = [co.initial(states={"z": (0.0, 0.0)}), co.final(states={"z": (1.0, 0.0)})]
    force, mass = co.Unknown("force", upper=upper), co.Parameter("mass", 1.0)
    moving = co.State("z", 2, rate=lambda now: [now.z[1], now.force / now.mass])
    effort = co.integral(lambda now: now.force**2)
    problem = co.Problem(None, 1.0, effort, ends, [force, moving], parameters=[mass])  # pyright: ignore[reportArgumentType]
    return co.solve(problem, co.Radau(10), progress=False)


def test_an_effort_in_closed_form():
    effort = co.optimality.optimum_function(push(), "cost", "mass")
    value, pullback = effort.with_pullback([2.5])
    assert float(value) == pytest.approx(12 * 2.5**2, rel=1e-9)
    assert pullback(3.0) == pytest.approx([3.0 * 24 * 2.5], rel=1e-9)


def test_an_answer_does_not_depend_on_those_before(at_limits: co.optimality.OptimumFunction):
    near, far = at_limits.base + 0.01, at_limits.base + 0.4 * SPREAD
    first = at_limits(near)
    at_limits(far)
    at_limits._optima.clear()
    assert np.array_equal(at_limits(near), first)


def test_a_derivative_on_one_side_is_said():
    touching = push(upper=float(push().force.max()))
    first = co.optimality.optimum_function(touching, lambda now: now.z[0], "mass", 0.5)
    with pytest.warns(co.support.InputWarning, match="one-sided"):
        first.with_pullback([1.0])


def test_a_derivative_that_differs_from_that_of_optima_is_said():
    """Rates of activations at which the barrier of the solver stays: the derivative is off by three percent."""
    model, six = arm26()
    pulling = co.muscles.Muscles(model, six, reserves={"shoulder": 20.0, "elbow": 5.0})

    def cost(now: Any) -> ca.SX:
        still = 30 * (now.q[1] - 1.0) ** 2 + 30 * now.q[0] ** 2 + 0.1 * ca.sumsqr(now.qd)
        return ca.sumsqr(now.activation) + 10 * ca.sumsqr(now.reserve) + still

    bend = co.Problem(model, 0.3, co.integral(cost), [co.initial(q=(0.0, 0.7), qd=0.0)], parts=[pulling])
    solution = co.solve(bend, co.Radau(8), progress=False)
    by = ["mass of body 'forearm'", "initial q[elbow]"]
    place = co.optimality.optimum_function(solution, lambda now: ca.vertcat(now.q, now.activation[0]), by, 0.1)
    with pytest.warns(co.support.InputWarning, match="one-sided: activation, BICshort falls"):
        place.with_pullback([1.49772417, 0.69515565])
    values, way = np.array([1.56198831, 0.70565017]), np.array([0.1, 0.05])
    _, pullback = place.with_pullback(values)  # and nothing is said where it is right
    change = (place(values + 1e-4 * way) - place(values - 1e-4 * way)) / 2e-4
    assert pullback(np.array([0.0, 1.0, 0.0])) @ way == pytest.approx(change[1], rel=1e-5)


def test_values_without_an_optimum_are_an_error(at_limits: co.optimality.OptimumFunction):
    with pytest.raises(co.SolveError, match=r"limit = 0\.1, goal = 1, -1"):
        at_limits(at_limits.base * [0.01, 1, 1, 1, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: co.optimality.optimum_function(s, "energy", "goal"), "of must be"),
        (lambda s: co.optimality.optimum_function(s, "cost", "gaol"), "did you mean 'goal'"),
        (lambda s: co.optimality.optimum_function(s, "cost", []), "got none"),
        (lambda s: co.optimality.optimum_function(s, "cost", "goal", 0.1), "belong to a function"),
        (lambda s: co.optimality.optimum_function(s, "cost", ["goal", "goal"]), "every number once, got 'goal' twice"),
        (lambda s: co.optimality.optimum_function(s, "cost", ["goal", "goal[0]"]), "got 'goal\\[0\\]' twice"),
        (lambda s: co.optimality.optimum_function(s, motion, "goal", 0.6), r"within \[0, 0.5\] s, got"),
        (lambda s: co.optimality.optimum_function(s, motion, "goal", []), r"within \[0, 0.5\] s, got"),
        (lambda s: co.optimality.optimum_function(s, lambda now: now.q @ now.qd.T, "goal"), "a scalar or a column"),
        (lambda s: co.optimality.gradient(s, lambda now: (now.q @ now.q.T, now.qd), "goal"), "a scalar or a column"),
        (lambda s: co.optimality.gradient(s, motion, "goal", t=TIMES, weights=np.ones(3)), r"\(3, 4\), got \(3,\)"),
        (lambda s: co.optimality.gradient(s, "cost", "goal")["gaol"], "number"),
        (lambda s: co.optimality.optimum_function(s, "cost", "goal")([1.0]), "parameters"),
        (lambda s: co.optimality.torch_function(s), "optimum_function"),
        (lambda s: co.optimality.jax_function(s), "optimum_function"),
    ],
)
def test_mistakes_are_named(at_limits: co.optimality.OptimumFunction, call: Callable[[Any], Any], message: str):
    with pytest.raises(co.InputError, match=message):
        call(at_limits.solution)


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_a_package_that_is_not_installed_is_named(
    at_limits: co.optimality.OptimumFunction, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(co.InputError, match=rf"pip install 'colloc\[{name}\]'"):
        getattr(co.optimality, f"{name}_function")(at_limits)


def test_pytorch_differentiates_it(at_limits: co.optimality.OptimumFunction):
    torch = pytest.importorskip("torch")
    layer = co.optimality.torch_function(at_limits)
    values = torch.tensor(at_limits.base + 0.3 * SPREAD, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(layer, (values,), eps=1e-4, atol=1e-5, rtol=1e-4)
    assert layer(values.float()).dtype == torch.float32


def test_jax_differentiates_it(at_limits: co.optimality.OptimumFunction):
    jax = pytest.importorskip("jax")
    check_grads = pytest.importorskip("jax.test_util").check_grads
    with jax.enable_x64(True):
        layer = co.optimality.jax_function(at_limits)
        values = jax.numpy.array(at_limits.base + 0.3 * SPREAD)
        check_grads(layer, (values,), order=1, modes=["rev"], eps=1e-4)
        _, pullback = at_limits.with_pullback(np.array(values))
        loss = jax.jit(jax.grad(lambda p: layer(p).sum()))(values)
        assert np.allclose(loss, pullback(np.ones((3, 4))), rtol=1e-12)
        both = jax.vmap(layer)(jax.numpy.stack([values, values + 0.01]))
        assert np.array_equal(both[1], at_limits(np.array(values) + 0.01))


def in_order() -> co.Solution:
    """The motion of a mass of least effort, then the one that stays back longest among almost all of those."""
    ends = [co.initial(states={"z": (0.0, 0.0)}), co.final(states={"z": (1.0, 0.0)})]
    moving = co.State("z", 2, rate=lambda now: [now.z[1], now.force / now.mass])
    costs: Any = [co.integral(lambda now: now.force**2, name="effort"), co.integral(lambda now: now.z[0], name="place")]
    problem = co.Problem(
        co.Model.empty(), 1.0, costs, ends, [co.Unknown("force"), moving], parameters=[co.Parameter("mass", 1.0)]
    )
    return co.solve(problem, co.Radau(10), progress=False)


def test_numbers_of_a_chain_with_solved_loops_are_said_to_be_fixed():
    chain = four_bar()
    ends = [co.initial(q={"crank": 0.5}, qd={"crank": 0.0}), co.final(q={"crank": 1.0}, qd={"crank": 0.0})]
    cost = co.integral(lambda now: ca.sumsqr(now.tau))
    turn = co.Problem(chain.model, 1.0, cost, ends, parts=[co.loops.IndependentJoints(chain)])
    solution = co.solve(turn, co.BSpline(8), progress=False)
    for call in (co.optimality.gradient, co.optimality.optimum_function):
        with pytest.raises(co.InputError, match=r"mass.*solved at every instant are fixed: try co\.loops\.CutJoints"):
            call(solution, "cost", "mass of body 'crank'")


def test_costs_of_earlier_levels_are_said_to_stay():
    solution = in_order()
    gradient = co.optimality.gradient(solution, "cost", "mass")
    assert gradient.degenerate[0] == "costs of earlier levels stay as they are, whatever the numbers: effort"
    with pytest.raises(co.InputError, match="the optimum of a list of costs depends on those of all its levels"):
        co.optimality.optimum_function(solution, "cost", "mass")


def test_cases_of_which_the_largest_cost_counts_are_refused():
    gain = co.Unknown("gain", lower=0.0, upper=10.0, constant=True)

    def held(mass: float) -> co.Problem:
        cost = co.final_cost(lambda now: (now.gain - now.weight * mass) ** 2)
        return co.Problem(co.Model.empty(), 1.0, cost, unknowns=[gain], parameters=[weight])

    weight = co.Parameter("weight", 1.0)
    cases = co.Cases({"light": held(1.0), "heavy": held(2.0)}, worst=1.0)
    solution = co.solve(cases, co.Radau(2), progress=False)
    with pytest.raises(co.InputError, match=r"largest cost counts \(worst=1\) have other weights at other numbers"):
        co.optimality.optimum_function(solution, "cost", "weight")


def test_a_parameter_that_cannot_change_alone_has_no_derivative():
    """The place of a mass at the end, and how much farther than 1 it may be there, as two equations."""
    place, room = co.Parameter("place", 1.0), co.Parameter("room", 1.0)
    ends = [
        co.initial(states={"z": (0.0, 0.0)}),
        co.at(1.0, lambda now: now.z[0] - now.place, equals=0.0),
        co.at(1.0, lambda now: 2 * (now.z[0] - now.room), equals=0.0),
    ]
    moving = co.State("z", 2, rate=lambda now: [now.z[1], now.force])
    effort = co.integral(lambda now: now.force**2)
    problem = co.Problem(
        co.Model.empty(), 1.0, effort, ends, [co.Unknown("force"), moving], parameters=[place, room]
    )  # fmt: skip
    solution = co.solve(problem, co.Radau(10), progress=False)
    gradient = co.optimality.gradient(solution, "cost", ["place", "room"])
    assert np.isnan([gradient["place"], gradient["room"]]).all()
    cost = co.optimality.optimum_function(solution, "cost", ["place", "room"])
    with pytest.warns(co.support.InputWarning, match="cannot move alone"):
        _, pullback = cost.with_pullback([1.0, 1.0])
    assert np.isnan(pullback(1.0)).all()


OTHERS = {
    "mass of body 'elbow'": 0.015, "tau[shoulder] upper": 0.5, "tau[shoulder] lower": 0.5, "final q[elbow]": 0.05,
    "initial q[shoulder]": 0.05, "duration": 0.01, "weight": 0.015,
}  # fmt: skip


@pytest.fixture(scope="module")
def between_postures() -> co.Solution:
    weight = co.Parameter("weight", 0.3)
    cost = co.integral(lambda now: ca.sumsqr(now.tau) + now.weight * ca.sumsqr(now.qd))
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0), co.bounds(tau=(-10.0, 10.0))]
    return co.solve(co.Problem(two_link(), 0.5, cost, ends, parameters=[weight]), co.BSpline(20), progress=False)


@pytest.mark.parametrize("seed", range(4))
def test_masses_limits_postures_and_durations_are_numbers_too(between_postures: co.Solution, seed: int):
    function = co.optimality.optimum_function(between_postures, motion, list(OTHERS), TIMES)
    assert function(function.base) == pytest.approx(between_postures.evaluate(motion, TIMES), abs=1e-7)
    assert off_by(function, seed, np.array(list(OTHERS.values()))) < 1e-5
    _, pullback = function.with_pullback(function.base)
    assert np.abs(pullback(np.ones((3, 4)))[[1, 2]]).max() > 1e-3  # a limit holds


def test_other_numbers_are_those_of_a_problem_stated_with_them(between_postures: co.Solution):
    cost = co.optimality.optimum_function(between_postures, "cost", ["tau[shoulder] upper", "final q[elbow]"])
    ends = [
        co.initial(q=(0.0, -2.0), qd=0.0),
        co.final(q=(1.0, -0.9), qd=0.0),
        co.bounds(tau=((-10.0, -10.0), (9.0, 10.0))),
    ]
    again = co.solve(replace(between_postures.problem, subject_to=ends), co.BSpline(20), progress=False)
    assert float(cost([9.0, -0.9])) == pytest.approx(again.cost, rel=1e-7)


def test_a_number_of_two_phases_is_one():
    model = two_link()
    parts = {
        name: co.Problem(model, 0.4, co.integral(lambda now: ca.sumsqr(now.tau)), [condition])
        for name, condition in (("out", co.initial(q=(0.0, -2.0), qd=0.0)), ("back", co.final(q=(0.3, -1.5), qd=0.0)))
    }
    turn = co.boundary(lambda phases: phases["out"].end.q - ca.DM([1.0, -1.0]), equals=0.0, name="turn")
    solution = co.solve(co.Phases(parts, [turn]), co.BSpline(8), progress=False)
    name = "mass of body 'elbow'"
    cost = co.optimality.optimum_function(solution, "cost", name)
    _, pullback = cost.with_pullback(cost.base)
    step = 1e-4
    assert pullback(1.0)[0] == pytest.approx((cost(cost.base + step) - cost(cost.base - step)) / (2 * step), rel=1e-5)
    assert pullback(1.0)[0] == pytest.approx(co.optimality.gradient(solution, "cost", "mass")[name], rel=1e-6)
