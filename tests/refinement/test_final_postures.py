"""Goals up to a symmetry: headings up to whole turns, tools that may spin; the cheapest of all sides is chosen."""

from dataclasses import replace
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co

SOLVED = co.solver.Status.SOLVED


def arm(rng: np.random.Generator) -> co.Model:
    """An arm of two links on a vertical axis, with random lengths, masses and motors."""
    bodies: list[co.Body] = []
    for k, parent in enumerate((None, "yaw")):
        length, torque = rng.uniform(0.2, 0.5, 2), rng.uniform(2.0, 8.0)
        limits = co.Limits(torque=(-torque, torque * rng.uniform(0.5, 1.5)))
        place = co.placement((length[0] * k, 0, 0))
        link: dict[str, Any] = {"mass": rng.uniform(0.5, 2), "com": (length[1], 0, 0), "inertia": (0.01, 0.02, 0.02)}
        bodies.append(co.Body(("yaw", "fold")[k], co.revolute((0, 0, 1), place, limits=limits), parent, **link))
    return co.Model(bodies, gravity=(0, 0, 0))


def turned(model: co.Model, start: Any, end: Any, **given: Any) -> co.Problem:
    ends = [co.initial(q=start, qd=0), co.final(q=end, qd=0, **given)]
    return co.Problem(model, co.Free(0.05, 10.0), co.duration(), ends)


def solve(problem: Any, **given: Any) -> Any:
    plan = [co.refinement.Solve(tol=1.0)]  # nothing between nodes is judged
    return co.solve(problem, co.BSpline(8), progress=False, compile=False, plan=plan, **given)


@pytest.mark.filterwarnings("ignore:final q.*more than a turn")
@pytest.mark.parametrize("seed", range(2))
def test_the_best_of_all_turns_is_found(seed):
    """Two joints up to turns, against the plain statement at every turn within a whole one."""
    rng = np.random.default_rng(seed)
    model, start, end = arm(rng), rng.uniform(-3, 3, 2), rng.uniform(-9, 9, 2)
    found = solve(turned(model, start, end, turns=["yaw", "fold"]))
    assert found.outcome.status is SOLVED
    costs = {}
    for turns in product(range(-3, 4), repeat=2):
        goal = end + 2 * np.pi * np.array(turns)
        if (np.abs(goal - start) < 2 * np.pi).all():
            costs[turns] = solve(turned(model, start, goal)).cost
    assert len(costs) == 4
    assert found.cost == pytest.approx(min(costs.values()), rel=1e-5)
    best = min(costs, key=lambda turns: costs[turns])
    np.testing.assert_allclose(found.q[-1], end + 2 * np.pi * np.array(best), atol=1e-7)
    assert "the best of 4 final postures" in found.message
    assert f"ends at {found.q[-1, 0]:.4g} rad, {best[0]:+d} from {end[0]:.4g} rad" in repr(found)


def test_a_guess_and_joint_limits_choose_the_turn():
    model, start = arm(np.random.default_rng(0)), (0.0, 0.5)
    goal = turned(model, start, (2.0, 0.5), turns=["yaw"])
    long_way = solve(goal, guess=co.line(start, (2.0 - 2 * np.pi, 0.5)))
    assert long_way.q[-1, 0] == pytest.approx(2.0 - 2 * np.pi)
    assert "final postures" not in long_way.message
    limited = co.Problem(model, 2.0, co.integral(lambda now: ca.sumsqr(now.tau)), [
        *goal.subject_to, co.bounds(q={"yaw": (-6.0, 1.0)})])  # fmt: skip
    assert solve(limited).q[-1, 0] == pytest.approx(2.0 - 2 * np.pi)


def test_the_last_of_two_phases_ends_at_the_better_turn():
    model, start, end = arm(np.random.default_rng(1)), (0.0, 0.5), (4.0, 0.5)
    begin, stop = turned(model, start, end, turns=["yaw"]).subject_to
    phases = {
        "go": co.Problem(model, 0.5, co.integral(lambda now: ca.sumsqr(now.tau)), [begin]),
        "stop": co.Problem(model, 0.5, co.integral(lambda now: ca.sumsqr(now.tau)), [stop]),
    }
    found = solve(co.Phases(phases))
    assert found.outcome.status is SOLVED
    assert "the best of 2 final postures" in found.message
    assert found["stop"].q[-1, 0] == pytest.approx(4.0 - 2 * np.pi)


def spun(first: float | None, last: float, turns: bool = True) -> co.Problem:
    """A wheel from rest to rest in a second; costs 12 I^2 d^2 for a way d."""
    wheel = co.Model([co.Body("wheel", co.revolute(), mass=1.0, inertia=(0.1, 0.1, 0.1))], gravity=(0, 0, 0))
    begin = [] if first is None else [co.initial(q=first, qd=0)]
    stop = co.final(q=last, qd=0, turns=["wheel"]) if turns else co.final(q=last, qd=0)
    return co.Problem(wheel, 1.0, co.integral(lambda now: now.tau[0] ** 2), [*begin, stop])


@pytest.mark.parametrize(("first", "turns"), [(3.5, True), (6.0, False)])
def test_phases_choose_their_turns_one_after_another(first, turns):
    """The nearest turn of the second is one from where the first ends, in the turn that suits both."""
    found = solve(co.Phases({"there": spun(0.0, first, turns), "on": spun(None, 1.0)}))
    costs = {}
    for a, b in product(range(-3, 4), repeat=2):
        there = first + 2 * np.pi * a * turns
        costs[there, 1.0 + 2 * np.pi * b] = 0.12 * (there**2 + (1.0 + 2 * np.pi * b - there) ** 2)
    best = min(costs, key=lambda way: costs[way])
    assert found.cost == pytest.approx(costs[best], rel=1e-5)
    np.testing.assert_allclose([found["there"].q[-1, 0], found["on"].q[-1, 0]], best, atol=1e-7)
    assert f"the best of {4 if turns else 2} final postures" in found.message


def test_every_case_has_its_own_turn():
    """The cases that turn fast save by the longer way: only one of them does so."""

    def running(last: float) -> co.Problem:
        return replace(spun(0.0, last), minimize=co.integral(lambda now: (now.qd[0] - 3.0) ** 2 + now.tau[0] ** 2))

    goals = {"back": 2.5, "on": -2.0, "other": -0.5}
    alone = {name: solve(running(goal)) for name, goal in goals.items()}
    found = solve(co.Cases({name: running(goal) for name, goal in goals.items()}))
    assert found.outcome.status is SOLVED
    assert found.cost == pytest.approx(sum(case.cost for case in alone.values()), rel=1e-6)
    ends = [alone[name].q[-1, 0] for name in goals]
    np.testing.assert_allclose([found[name].q[-1, 0] for name in goals], ends, atol=1e-7)
    assert len({round((end - goal) / (2 * np.pi)) for end, goal in zip(ends, goals.values(), strict=True)}) == 2


def test_rows_up_to_turns_have_slope_one_and_no_other_zero():
    problem = turned(arm(np.random.default_rng(0)), (0, 0), (2.0, 0.5), turns=["yaw"])
    rows, q = problem.rows["final"].rows, problem.instant.q
    assert rows.labels[-1] == "final q[yaw] up to turns"
    function = ca.Function("row", [q], [rows.expression[-1], ca.jacobian(rows.expression[-1], q)])
    for turns in range(-3, 4):
        value, slope = function([2.0 + 2 * np.pi * turns, 0.0])
        assert abs(float(value)) < 1e-12
        assert abs(float(slope[0])) == pytest.approx(1.0)
    between = [abs(float(function([2.0 + a, 0.0])[0])) for a in np.linspace(0.1, 2 * np.pi - 0.1, 30)]
    assert min(between) > 0.09


def test_a_tool_that_points_the_other_way_is_turned_over():
    """From exactly the opposite direction, where rows of half the angle do not exist, by the cheapest of postures."""
    links = [
        co.Body("base", co.revolute((0, 0, 1)), mass=1.0, inertia=(0.1, 0.1, 0.1)),
        co.Body("upper", co.revolute((0, 1, 0), co.placement((0, 0, 0.2))), "base", mass=1.0, com=(0.2, 0, 0),
                inertia=(0.01, 0.02, 0.02)),
        co.Body("tool", co.revolute((0, 1, 0), co.placement((0.4, 0, 0))), "upper", mass=0.5, com=(0.1, 0, 0),
                inertia=(0.01, 0.02, 0.02)),
    ]  # fmt: skip
    model = co.Model(links, gravity=(0, 0, 0))
    over = co.at(1.0, co.model.Target("tool", axis=(1, 0, 0), direction=(-1, 0, 0)))
    cost = co.integral(lambda now: ca.sumsqr(now.qdd) + now.qdd[1] ** 2)
    problem = co.Problem(model, 1.0, cost, [co.initial(q=0, qd=0), co.final(qd=0), over])
    found = solve(problem)
    assert found.status is SOLVED
    np.testing.assert_allclose(found.evaluate(lambda now: now.rotation("tool")[:, 0], 1.0), [-1, 0, 0], atol=1e-7)
    # Half a turn about the vertical, or shared by the other two: 12 a^2, at weights 1, or 2 and 1.
    assert found.cost == pytest.approx(min(12 * np.pi**2, 12 * np.pi**2 * 2 / 3), rel=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"turns": ["roll"]}, "no joint named 'roll'"),
        ({"turns": ["slide"]}, "turns of final must be joints that turn by an angle, got 'slide'"),
        ({"turns": ["yaw"], "end": {"slide": 0.0}}, "final q must prescribe the joints of turns, missing: yaw"),
        ({"turns": ["yaw"], "end": {"yaw": 4.0}}, r"final q\[yaw\] = 4 lies outside its bounds \[-1, 1\] at all turns"),
    ],
)
def test_wrong_turns_are_refused(given, message):
    limits = co.Limits(position=(-1.0, 1.0))
    bodies = [
        co.Body("yaw", co.revolute((0, 0, 1), limits=limits), mass=1.0, inertia=(1, 1, 1)),
        co.Body("slide", co.prismatic((1, 0, 0)), "yaw", mass=1.0, inertia=(1, 1, 1)),
    ]
    with pytest.raises(co.InputError, match=message):
        turned(co.Model(bodies), 0.0, given.pop("end", 0.0), **given)
