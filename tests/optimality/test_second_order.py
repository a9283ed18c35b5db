"""Minima, saddles, maxima and flat optima, made on purpose, are told apart; the only answer is proved to be so."""

from dataclasses import replace
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.optimality.active_set import active_set
from colloc.optimality.intervals import Interval, NoIntervals, evaluate, run_sums
from colloc.optimality.krawczyk import Uniqueness, locally_unique
from colloc.optimality.second_order import SecondOrder, second_order
from colloc.studies.classics.points import bryson_denham, double_integrator, particle


def judged(solution: co.Solution) -> SecondOrder:
    return second_order(solution.nlp, solution.x, solution.parameters, solution.multipliers, solution.cost_scale)


def uniqueness(solution: co.Solution) -> Uniqueness:
    nlp, x, p, multipliers = solution.nlp, solution.x, solution.parameters, solution.multipliers
    return locally_unique(nlp, x, p, multipliers, active_set(nlp, x, p, multipliers, solution.cost_scale))


def still(cost, *, at_rest: bool = False) -> co.Solution:
    """A particle that a solver leaves where it is, which is stationary whatever a quadratic cost thinks of it."""
    velocity = 0.0 if at_rest else None
    ends = [co.initial(q=0.0, qd=velocity), co.final(q=0.0, qd=velocity)]
    problem = co.Problem(particle("x"), 1.0, co.integral(cost), ends)
    return co.solve(problem, co.HermiteSimpson(10))


def redundant(curve=None) -> co.Solution:
    """Two forces that do the same work, and only their sum costs anything."""
    left, right = co.Unknown("left"), co.Unknown("right")
    constraints = [
        co.initial(q=0.0, qd=0.0),
        co.final(q=1.0, qd=0.0),
        co.path(lambda now: now.tau - now.left - now.right, equals=0.0),
    ]
    cost = co.integral(lambda now: (now.left + now.right) ** 2)
    return co.solve(co.Problem(particle("x"), 1.0, cost, constraints, [left, right]), curve or co.HermiteSimpson(10))


@pytest.mark.parametrize(("k", "falling"), [(90.0, 0), (105.0, 1), (1500.0, 1), (1600.0, 2), (7800.0, 2), (8000.0, 3)])
def test_a_beam_that_is_pressed_has_a_way_down_for_every_load_at_which_it_buckles(k, falling):
    """The integral of q''^2 - k q^2 between hinges has as many negative directions as (n pi)^4 are less than k."""
    answer = judged(still(lambda now: now.tau**2 - k * now.q**2))
    assert answer.negative == falling
    assert answer.flat == 0
    assert answer.kind == ("saddle" if falling else "minimum")
    if falling:
        assert "falls by q[x] (100%)" in str(answer)


def test_a_concave_cost_is_at_a_maximum():
    answer = judged(still(lambda now: -(now.tau**2), at_rest=True))
    assert answer.kind == "maximum"
    assert answer.negative == answer.freedoms > 0


def test_redundant_forces_are_flat_and_named():
    solution = redundant()
    answer = judged(solution)
    control_points = solution.nlp.grid.layout["signals"].shape[0]
    assert (answer.kind, answer.flat) == ("flat", control_points)
    assert "left (50%)" in str(answer)
    assert "right (50%)" in str(answer)
    assert answer.level is not None
    assert answer.level.shares["q[x]"] < 1e-6


def test_a_motion_between_bounds_everywhere_has_no_freedom():
    answer = judged(co.solve(double_integrator(), co.Radau(4)))
    assert answer.kind == "minimum"
    assert answer.freedoms == 0
    assert "leave no freedom" in str(answer)


def test_a_bound_that_pushes_takes_a_freedom_and_one_that_does_not_is_said_to_be_weak():
    def settled(room: float) -> SecondOrder:
        constraints = [co.initial(q=0.0, qd=0.0), co.final(qd=0.0), co.bounds(q=(-5.0, room))]
        cost = co.terminal(lambda now: (now.q - 1.0) ** 2) + 1e-3 * co.integral(lambda now: now.tau**2)
        return judged(co.solve(co.Problem(particle("x"), 1.0, cost, constraints), co.BSpline(4), ipopt={"tol": 1e-10}))

    far, pushed = settled(3.0), settled(0.5)
    assert (far.kind, pushed.kind, far.weak) == ("minimum", "minimum", 0)
    assert pushed.freedoms < far.freedoms
    free = co.solve(
        co.Problem(
            particle("x"),
            1.0,
            co.terminal(lambda now: (now.q - 1.0) ** 2) + 1e-3 * co.integral(lambda now: now.tau**2),
            [co.initial(q=0.0, qd=0.0), co.final(qd=0.0)],
        ),
        co.BSpline(4),
    )
    assert settled(float(free.q[-1, 0])).weak > 0  # a bound just where the motion ends by itself


def test_phases_that_may_meet_at_any_time_are_flat_in_their_durations():
    def part(*constraints) -> co.Problem:
        return co.Problem(particle("x"), co.Free(0.1, 2.0), co.integral(lambda now: 1 + now.tau**2), list(constraints))

    motion = co.Sequence({"go": part(co.initial(q=0.0, qd=0.0)), "stop": part(co.final(q=1.0, qd=0.0))})
    solution = co.solve(motion, co.HermiteSimpson(4), ipopt={"tol": 1e-11})
    answer = second_order(solution.nlp, solution.x, solution.parameters, solution.multipliers, solution.cost_scale)
    assert (answer.kind, answer.flat) == ("flat", 1)
    assert answer.level is not None
    assert {"go: duration", "stop: duration"} <= {name for name, share in answer.level.shares.items() if share > 0.05}


def test_what_falls_only_past_constraints_that_hardly_push_is_undecided():
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
    limits = co.bounds(tau=(-10.0, 10.0))
    fast = co.Problem(two_link(), co.Free(0.1, 5.0), co.duration(), [*ends, limits])
    answer = judged(co.solve(fast, co.HermiteSimpson(40), between="nodes"))
    assert answer.kind == "undecided"
    assert answer.weak > 0
    assert str(answer).startswith("undecided: nothing falls while")


def test_the_only_answer_near_by_is_proved_to_be_so():
    unique = uniqueness(co.solve(bryson_denham(1 / 9), co.BSpline(9)))
    assert unique.proved
    assert unique.radius < 1e-6


def test_the_box_that_is_proved_holds_what_a_sharper_solve_finds():
    def settled(tol: float) -> co.Solution:
        cost = co.integral(lambda now: now.tau**2 + 10 * ca.cos(now.q) * now.qd**2)
        ends = [co.initial(q=0.0, qd=0.0), co.final(q=2.0, qd=0.0)]
        return co.solve(co.Problem(particle("x"), 1.0, cost, ends), co.BSpline(8), ipopt={"tol": tol})

    rough, sharp = settled(1e-3), settled(1e-12)
    unique = uniqueness(rough)
    assert unique.proved
    moved = np.abs(rough.x - sharp.x) / rough.nlp.scale_x
    assert moved.max() <= unique.radius <= 10 * moved.max() + 1e-8


def test_what_is_not_unique_is_not_proved():
    assert uniqueness(redundant()).proved is False
    buckled = uniqueness(still(lambda now: now.tau**2 - np.pi**4 * now.q**2))  # about the first load: nearly flat
    assert not buckled.proved or buckled.radius < 1e-6


def test_large_programs_are_not_tried():
    unique = uniqueness(co.solve(bryson_denham(1 / 9), co.BSpline(900)))
    assert unique.proved is None
    assert "size" in unique.reason


def test_intervals_hold_every_value_of_a_function_in_a_box():
    rng = np.random.default_rng(1)
    x = ca.SX.sym("x", 3)
    a, b, c = ca.vertsplit(x)
    expressions = [
        a * b - c / (2 + a**2), ca.sin(a) * ca.cos(3 * b), ca.tan(c / 3), ca.exp(a) + ca.log(3 + b), ca.sqrt(4 + a),
        (a - b) ** 3, (2 + a) ** 1.7, ca.fabs(a) + ca.fmin(a, b) - ca.fmax(b, c), ca.atan(a * c), ca.tanh(b),
        ca.sinh(a) + ca.cosh(b), ca.asin(a / 4) - ca.acos(b / 4), 1 / (3 + c), (2 + b) ** -2,
    ]  # fmt: skip
    function = ca.Function("f", [x], [ca.vertcat(*expressions)])
    middle, radius = rng.uniform(-1, 1, (3, 40)), 10 ** rng.uniform(-12, 0, 40)
    (bounds,) = evaluate(function, [Interval.of(middle, radius)], 40)
    for _ in range(200):
        values = np.array(function.map(40)(middle + radius * rng.uniform(-1, 1, (3, 40))))
        assert (bounds.lower <= values).all()
        assert (values <= bounds.upper).all()
    thin = radius < 1e-10
    assert (bounds.upper - bounds.lower)[:, thin].max() < 1e-7  # and they are no wider than need be


def test_intervals_hold_sums_and_products_without_rounding():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    function = ca.Function("f", [x, y], [x + y, x * y, x / y])
    rng = np.random.default_rng(0)
    for u, v in rng.uniform(0.1, 1.0, (100, 2)).tolist():
        results = evaluate(function, [Interval.of(np.array([[k]])) for k in (u, v)], 1)
        exact = (Fraction(u) + Fraction(v), Fraction(u) * Fraction(v), Fraction(u) / Fraction(v))
        for bounds, value in zip(results, exact, strict=True):
            assert Fraction(float(bounds.lower[0, 0])) <= value <= Fraction(float(bounds.upper[0, 0]))
    terms = rng.uniform(-1, 1, (1000, 1)) * 10.0 ** rng.integers(-8, 8, (1000, 1))
    total = run_sums(Interval.of(terms), np.array([0]))
    exact = sum(map(Fraction, terms[:, 0].tolist()), Fraction(0))
    assert Fraction(float(total.lower[0, 0])) <= exact <= Fraction(float(total.upper[0, 0]))


def test_periodic_functions_know_their_peaks():
    x = ca.SX.sym("x")
    function = ca.Function("f", [x], [ca.sin(x), ca.cos(x)])
    sine, cosine = evaluate(function, [Interval(np.array([[1.0, 4.0, 0.0]]), np.array([[2.0, 5.0, 9.0]]))], 3)
    assert sine.upper[0, 0] == 1.0
    assert sine.lower[0, 1] == -1.0
    assert cosine.upper[0, 1] < 0.3
    assert (sine.lower[0, 2], sine.upper[0, 2], cosine.lower[0, 2], cosine.upper[0, 2]) == (-1, 1, -1, 1)


def test_an_operation_without_bounds_is_refused():
    x = ca.SX.sym("x")
    with pytest.raises(NoIntervals, match="operation"):
        evaluate(ca.Function("f", [x], [ca.erf(x)]), [Interval.of(np.zeros((1, 1)))], 1)


def test_multipliers_that_push_the_wrong_way_are_not_proved():
    solution = co.solve(bryson_denham(1 / 9), co.BSpline(9))
    turned = {name: -value for name, value in solution.multipliers.items()}
    wrong = replace(solution, outcome=replace(solution.outcome, multipliers=turned))
    assert not uniqueness(wrong).proved
