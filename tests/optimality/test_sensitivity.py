"""Derivatives of an optimum by its numbers, against the optima of numbers that have moved."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.optimality import Sensitivity

# With almost no barrier: differences of optima have few digits otherwise.
SHARP = co.Ipopt(mu_strategy="monotone", compl_inf_tol=1e-12, bound_relax_factor=0.0, tol=1e-9)
RELATIVE = 1e-5
INSIDE = np.array([0.07, 0.23, 0.36, 0.46, 0.58, 0.71, 0.93])  # of intervals: accelerations jump between some

Build = Callable[..., co.Problem | co.Phases]


def arm(mass: float = 0.5) -> co.Model:
    """The two-link arm under gravity, with another mass of the forearm."""
    upper, forearm = two_link().bodies
    return co.Model([upper, replace(forearm, mass=mass)], gravity=(0, -9.81, 0))


def fastest(limit: float = 10.0, mass: float = 0.5, end: float = 1.0, start: float = 0.0, speed: float = 0.0):
    ends = [
        co.initial(q=(start, -2.0), qd=0.0),
        co.final(q=(end, -1.0), qd={"shoulder": speed, "elbow": 0.0}),
        co.bounds(tau={"shoulder": (-10.0, limit), "elbow": (-10.0, 10.0)}),
    ]
    return co.Problem(arm(mass), co.Free(0.1, 5.0, 1.0), co.duration(), ends)


def cheapest(T: float = 0.8, mass: float = 0.5, speed: float = 1.6, end: float = 1.0, drift: float = 0.0):
    """Least effort in a given time, with a bound on a velocity that holds."""
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(end, -1.0), qd={"shoulder": drift, "elbow": 0.0})]
    limits = co.bounds(qd={"elbow": (-5.0, speed)})
    return co.Problem(arm(mass), T, co.integral(lambda now: ca.sumsqr(now.tau)), [*ends, limits])


def in_phases(limit: float = 10.0, mass: float = 0.5, via: float = 0.3, lowest: float = -1.6, end: float = 1.0):
    """Two phases of free durations with a posture between them."""
    model, cost = arm(mass), co.duration() + 1e-3 * co.integral(lambda now: ca.sumsqr(now.tau))
    begin = [co.initial(q=(0.0, -2.0), qd=0.0), co.bounds(tau=(-10.0, limit))]
    stop = [co.final(q=(end, -1.0), qd=0.0), co.bounds(tau=(-10.0, 10.0), q={"elbow": (lowest, 3.0)})]
    first, second = (co.Problem(model, co.Free(0.1, 3.0, 0.4), cost, rows) for rows in (begin, stop))
    touch = co.boundary(lambda phases: phases["first"].end.q[0], equals=via, unit="rad", name="via")
    return co.Phases({"first": first, "second": second}, [touch])


def bounded(highest: float = 1.2, shortest: float = 2.5, elbow: float = -1.5):
    """Bounds on positions during a part of the motion, on the duration, and a joint that is held by them."""
    ends = [co.initial(q={"shoulder": 0.0}, qd=0.0), co.final(q={"shoulder": 1.0}, qd=0.0)]
    first = co.bounds(q={"shoulder": (-1.0, highest)}, during=(0.0, 0.45))
    cost = co.integral(lambda now: ca.sumsqr(now.tau)) + 0.01 * co.duration()
    always = co.bounds(q={"elbow": (elbow, elbow)}, tau=(-100.0, 100.0))
    return co.Problem(arm(), co.Free(shortest, 3.0), cost, [*ends, first, always])


def tied(total: float = 0.3, most: float = 0.4):
    """An equation of positions along the path, and a bound of a function in a part of it."""
    tie = co.path(lambda now: now.q[0] + now.q[1], equals=total, name="tie")
    wall = co.path(lambda now: now.q[0] ** 2, upper=most, during=(0.2, 0.55), name="wall")
    ends = [co.initial(q={"shoulder": 0.0}, qd={"shoulder": 0.0}), co.final(q={"shoulder": 1.0}, qd={"shoulder": 0.0})]
    return co.Problem(arm(), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), [*ends, tie, wall])


def driven(lag: float = 0.05, top: float = 20.0, charge: float = 0.0, mass: float = 1.0, offset: float = 0.0):
    """A rod whose motor lags behind its command: a state and a signal."""
    motor = co.State("motor", rate=lambda now: (now.command - now.motor) / now.lag, upper=top)
    command = co.Unknown("command", lower=-30.0, upper=30.0)
    follows = co.path(lambda now: now.tau - now.motor, equals=offset, unit="N m", name="drive")
    rod = co.Model([co.Body("rod", co.revolute(), mass=mass, com=(0.5, 0, 0))], gravity=(0, -9.81, 0))
    ends = [co.initial(q=0.0, qd=0.0, states={"motor": charge}), co.final(q=1.0, qd=0.0)]
    cost = co.duration() + 1e-3 * co.integral(lambda now: now.command**2)
    unknowns, parameters = [motor, command], [co.Parameter("lag", lag)]
    return co.Problem(rod, co.Free(0.1, 3.0, 1.0), cost, [*ends, follows], unknowns=unknowns, parameters=parameters)


def heaviest(gravity: float = 9.81, end: float = 1.0):
    """The greatest load, an unknown constant, that the arm lifts."""
    load, g = co.Unknown("load", lower=0.0, upper=20.0, constant=True), co.Parameter("g", gravity)
    hand = co.Load("elbow", force=ca.vertcat(0, -g.symbol * load.symbol, 0))
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(end, -1.0), qd=0.0), co.bounds(tau=(-10.0, 10.0))]
    most = -1.0 * co.final_cost(lambda now: now.load)
    return co.Problem(two_link(), 0.5, most, ends, unknowns=[load], loads=[hand], parameters=[g])


def solved(problem: Any, curve: Any, guess: Any = None) -> Any:
    solution = co.solve(problem, curve, solver=SHARP, guess=guess, raise_on_failure=False)
    assert solution.outcome.status is co.solver.Status.SOLVED
    return solution


# Problem, curve, name of a number, argument of the problem that it is, its value, step of the differences.
CASES = [
    (fastest, co.BSpline(8), "tau[shoulder] upper", "limit", 10.0, 2e-4),
    (fastest, co.BSpline(8), "mass of body 'elbow'", "mass", 0.5, 2e-4),
    (fastest, co.BSpline(8), "final q[shoulder]", "end", 1.0, 2e-4),
    (fastest, co.BSpline(8), "initial q[shoulder]", "start", 0.0, 2e-4),
    (fastest, co.BSpline(8), "final qd[shoulder]", "speed", 0.0, 2e-4),
    (cheapest, co.BSpline(10), "mass of body 'elbow'", "mass", 0.5, 2e-4),
    (cheapest, co.BSpline(10), "qd[elbow] upper", "speed", 1.6, 1e-4),
    (cheapest, co.HermiteSimpson(10), "final q[shoulder]", "end", 1.0, 2e-4),
    (cheapest, co.HermiteSimpson(10), "duration", "T", 0.8, 1e-4),
    (lambda **numbers: cheapest(**{"drift": 0.3} | numbers), co.BSpline(10), "final qd[shoulder]", "drift", 0.3, 2e-4),
    (in_phases, co.BSpline(6), "first: tau[shoulder] upper", "limit", 10.0, 2e-4),
    (in_phases, co.BSpline(6), "mass of body 'elbow'", "mass", 0.5, 2e-4),
    (in_phases, co.BSpline(6), "via", "via", 0.3, 3e-4),
    (in_phases, co.BSpline(6), "second: q[elbow] lower", "lowest", -1.6, 2e-4),
    (in_phases, co.BSpline(6), "second: final q[shoulder]", "end", 1.0, 2e-4),
    (bounded, co.BSpline(10), "q[shoulder] upper", "highest", 1.2, 1e-4),
    (bounded, co.BSpline(10), "duration lower", "shortest", 2.5, 1e-4),
    (bounded, co.BSpline(10), "q[elbow]", "elbow", -1.5, 1e-4),
    (tied, co.BSpline(10), "tie", "total", 0.3, 1e-4),
    (tied, co.BSpline(10), "wall upper", "most", 0.4, 1e-4),
    (driven, co.Radau(8), "drive", "offset", 0.0, 1e-5),
    (driven, co.Radau(8), "lag", "lag", 0.05, 1e-5),
    (driven, co.Radau(8), "motor upper", "top", 20.0, 1e-4),
    (driven, co.Radau(8), "initial motor", "charge", 0.0, 1e-4),
    (driven, co.Radau(8), "mass of body 'rod'", "mass", 1.0, 1e-5),
    (heaviest, co.BSpline(10), "g", "gravity", 9.81, 2e-4),
    (heaviest, co.BSpline(10), "final q[shoulder]", "end", 1.0, 2e-4),
]
IDS = [f"{name} of {problem.__name__}" for problem, _, name, *_ in CASES]


def off(derivative: Any, ahead: Any, behind: Any, step: float, least: float = 1e-6) -> float:
    """Relative error of a derivative, of its largest entry, against a central difference."""
    difference = (np.asarray(ahead) - np.asarray(behind)) / (2 * step)
    return float(np.max(np.abs(derivative - difference)) / max(np.abs(difference).max(), least))


@pytest.mark.filterwarnings("ignore:the duration ended at its lower bound")  # which is asked about
@pytest.mark.parametrize(("problem", "curve", "name", "argument", "value", "step"), CASES, ids=IDS)
def test_cost_duration_and_motion_change_as_between_optima_of_other_numbers(
    problem: Build, curve: Any, name: str, argument: str, value: float, step: float
):
    optimum = solved(problem(), curve)
    sensitivity = co.optimality.sensitivity(optimum)
    ahead, behind = (solved(problem(**{argument: value + h}), curve, optimum) for h in (step, -step))
    assert off(sensitivity[name].cost, ahead.cost, behind.cost, step) < RELATIVE
    assert off(sensitivity[name].duration, ahead.duration, behind.duration, step) < RELATIVE
    assert off(sensitivity.x(name), ahead.x, behind.x, step) < RELATIVE
    t = INSIDE * optimum.duration
    for quantity, least in (("q", 1e-3), ("qd", 1e-2), ("tau", 1e-1)):
        motion = sensitivity.evaluate(lambda now, quantity=quantity: getattr(now, quantity), name, t)
        after, before = (np.array(getattr(solution.at(t), quantity)) for solution in (ahead, behind))
        assert off(motion.reshape(after.shape), after, before, step, least) < RELATIVE, quantity


@pytest.fixture(scope="module")
def of_arm() -> Sensitivity:
    return co.optimality.sensitivity(solved(fastest(), co.BSpline(8)))


def test_a_time_optimum_scales_with_all_of_its_forces():
    """Without gravity T goes with the root of masses over torques, dT = T/2 for all masses and -T/2 for all limits."""
    problem = replace(fastest(), model=two_link())
    sensitivity = co.optimality.sensitivity(solved(problem, co.BSpline(12)))
    T = sensitivity.solution.duration
    for kinds, share in ((("mass", "inertia"), 0.5), (("tau",), -0.5)):
        numbers = [d for d in sensitivity.derivatives if d.name.startswith(kinds)]
        assert sum(d.value * d.duration for d in numbers) == pytest.approx(share * T, rel=1e-7)
        assert sum(d.value * d.cost for d in numbers) == pytest.approx(share * T, rel=1e-7)


def test_several_numbers_move_together(of_arm: Sensitivity):
    upper, lower = "tau[elbow] upper", "tau[elbow] lower"
    both = of_arm.x({upper: 1.0, lower: -1.0})
    np.testing.assert_allclose(both, of_arm.x(upper) - of_arm.x(lower), atol=1e-12)


def test_a_bound_that_nothing_touches_changes_nothing():
    free = replace(cheapest(), subject_to=[*cheapest().subject_to, co.bounds(tau=(-200.0, 200.0))])
    sensitivity = co.optimality.sensitivity(solved(free, co.BSpline(10)))
    assert sensitivity["tau[shoulder] upper"].cost == 0
    assert not sensitivity.x("tau[shoulder] upper").any()


def test_where_it_ends_the_motion_is_where_it_is_wanted(of_arm: Sensitivity):
    """In a free duration it passes by: at the end of the old duration it has not come as far, or is at rest there."""
    T = of_arm.solution.duration
    np.testing.assert_allclose(of_arm.evaluate(lambda now: now.q, "final q[shoulder]", T), (1.0, 0.0), atol=1e-9)
    assert of_arm.evaluate(lambda now: now.duration, "final q[shoulder]", 0.0) == pytest.approx(
        of_arm["final q[shoulder]"].duration
    )


def test_numbers_are_listed_by_what_a_percent_of_them_costs(of_arm: Sensitivity):
    effects = np.abs(of_arm.effects)
    assert (np.diff(effects) <= 0).all()
    first = of_arm.derivatives[0]
    lines = repr(of_arm).splitlines()
    assert lines[2].split("  ")[1] == first.name
    assert f"{first.cost:.4g}" in lines[2]
    assert not of_arm.degenerate


def test_names_choose_numbers():
    optimum = solved(fastest(), co.BSpline(8))
    some = co.optimality.sensitivity(optimum, ["mass", "tau[elbow]"])
    masses = {f"mass of body '{body}'" for body in ("shoulder", "elbow")}
    assert set(some.names) == masses | {"tau[elbow] upper", "tau[elbow] lower"}
    wrong: list[Any] = [co.Parameter("mass", 1.0), []]
    for by in wrong:
        with pytest.raises(co.InputError, match="by must be a part of a name"):
            co.optimality.sensitivity(optimum, by)
    with pytest.raises(co.InputError, match=r"no numbers? .*'colour'"):
        co.optimality.sensitivity(optimum, "colour")
    with pytest.raises(co.InputError, match="number"):
        some.x("final q[shoulder]")


def test_a_fact_that_is_stated_twice_is_named_and_moves_only_whole():
    """q = 0.4 and 2 q = 0.8: neither may move alone; both together as one of them would without the other."""
    half = co.at(0.5, lambda now: now.q[0], equals=0.4, name="half")
    twice = co.at(0.5, lambda now: 2 * now.q[0], equals=0.8, name="twice")
    problem = cheapest()
    single = co.optimality.sensitivity(solved(replace(problem, subject_to=[*problem.subject_to, half]), co.BSpline(10)))
    both = co.optimality.sensitivity(
        solved(replace(problem, subject_to=[*problem.subject_to, half, twice]), co.BSpline(10))
    )
    assert not single.degenerate
    assert "have dependent gradients" in both.degenerate[0]
    assert all(f"{name} at t = 0.4 s" in both.degenerate[0] for name in ("half", "twice"))
    assert np.isnan(both["half"].cost)
    with pytest.raises(co.InputError, match="half cannot change in this way"):
        both.x("half")
    np.testing.assert_allclose(both.x({"half": 1.0, "twice": 2.0}), single.x("half"), rtol=1e-5, atol=1e-6)
    mass = "mass of body 'elbow'"
    assert both[mass].cost == pytest.approx(single[mass].cost, rel=1e-6)


def test_what_other_statements_settle_as_well_does_not_move_alone():
    """Both ends, and what they add up to along the path; a posture that two phases state."""
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    tie = co.path(lambda now: now.q[0] + now.q[1], equals=-2.0, name="tie")
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -3.0), qd=0.0)]
    sensitivity = co.optimality.sensitivity(solved(co.Problem(arm(), 1.0, effort, [*ends, tie]), co.BSpline(10)))
    of_ends = {
        f"{end} {k}[{joint}]" for end in ("initial", "final") for k in ("q", "qd") for joint in ("shoulder", "elbow")
    }
    assert set(sensitivity.stuck) == of_ends | {"tie"}
    assert not of_ends & set(sensitivity.names)
    middle = (0.5, -1.5)
    first = co.Problem(arm(), 0.5, effort, [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=middle)])
    second = co.Problem(arm(), 0.5, effort, [co.initial(q=middle), co.final(q=(1.0, -1.0), qd=0.0)])
    sensitivity = co.optimality.sensitivity(solved(co.Phases({"first": first, "second": second}), co.BSpline(6)))
    assert {name.partition(" q[")[0] for name in sensitivity.stuck} == {"first: final", "second: initial"}


def test_a_bound_that_is_met_by_chance_is_named():
    problem = cheapest()
    height = float(solved(problem, co.BSpline(10)).at(0.4).q[0])
    touch = co.at(0.5, lambda now: now.q[0], upper=height, name="touch")
    sensitivity = co.optimality.sensitivity(
        solved(replace(problem, subject_to=[*problem.subject_to, touch]), co.BSpline(10))
    )
    assert "one-sided: touch at t = 0.4 s" in sensitivity.degenerate[0]


def test_a_direction_that_costs_nothing_is_named():
    """A signal that moves nothing and has no cost; the motion's derivative is what it is without the signal."""
    problem = cheapest()
    idle = replace(problem, unknowns=[co.Unknown("idle")])
    with pytest.warns(co.refinement.SolutionWarning, match="depends on 'idle'"):
        solution = solved(idle, co.BSpline(10))
    sensitivity = co.optimality.sensitivity(solution)
    assert "flat along a direction" in sensitivity.degenerate[-1]
    assert "idle at t" in sensitivity.degenerate[-1]
    plain, mass = co.optimality.sensitivity(solved(problem, co.BSpline(10))), "mass of body 'elbow'"
    assert sensitivity[mass].cost == pytest.approx(plain[mass].cost, rel=1e-6)


def test_an_answer_that_is_no_optimum_is_refused():
    with pytest.raises(co.InputError, match="optimum"):
        co.optimality.sensitivity(
            co.solve(fastest(), co.BSpline(8), solver=co.Ipopt(max_iter=2), raise_on_failure=False)
        )
    nothing = replace(fastest(), minimize=0.0 * co.duration())
    with pytest.raises(co.InputError, match="cost"):
        co.optimality.sensitivity(co.solve(nothing, co.BSpline(8), raise_on_failure=False))


def test_it_goes_to_other_processes(of_arm: Sensitivity):
    """Without its factors, which are made again there."""
    name = "mass of body 'elbow'"
    before = of_arm.x(name)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(of_arm)).x(name), before, rtol=1e-9, atol=1e-12)
