"""Minima, saddles, maxima and flat optima, made on purpose, are distinguished."""

import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.optimality.second_order import SecondOrder, second_order
from colloc.studies.classics.points import double_integrator, particle


def judged(solution: co.Solution) -> SecondOrder:
    return second_order(solution.nlp, solution.x, solution.parameters, solution.multipliers, solution.cost_scale)


def still(cost, *, at_rest: bool = False) -> co.Solution:
    """A particle that a solver leaves where it is, which is stationary whatever a quadratic cost thinks of it.

    Where that falls it falls for ever, so that nothing better is found.
    """
    velocity = 0.0 if at_rest else None
    ends = [co.initial(q=0.0, qd=velocity), co.final(q=0.0, qd=velocity)]
    problem = co.Problem(particle("x"), 1.0, co.integral(cost), ends)
    return co.solve(problem, co.HermiteSimpson(10), raise_on_failure=False)


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
    motion = still(lambda now: now.tau**2 - k * now.q**2)
    assert motion.status is (co.solver.Status.SADDLE if falling else co.solver.Status.SOLVED)
    answer = judged(motion)
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
        cost = co.final_cost(lambda now: (now.q - 1.0) ** 2) + 1e-3 * co.integral(lambda now: now.tau**2)
        return judged(
            co.solve(co.Problem(particle("x"), 1.0, cost, constraints), co.BSpline(4), solver=co.Ipopt(tol=1e-10))
        )

    far, pushed = settled(3.0), settled(0.5)
    assert (far.kind, pushed.kind, far.weak) == ("minimum", "minimum", 0)
    assert pushed.freedoms < far.freedoms
    free = co.solve(
        co.Problem(
            particle("x"),
            1.0,
            co.final_cost(lambda now: (now.q - 1.0) ** 2) + 1e-3 * co.integral(lambda now: now.tau**2),
            [co.initial(q=0.0, qd=0.0), co.final(qd=0.0)],
        ),
        co.BSpline(4),
    )
    assert settled(float(free.q[-1, 0])).weak > 0  # a bound just where the motion ends by itself


def test_phases_that_may_meet_at_any_time_are_flat_in_their_durations():
    def part(*constraints) -> co.Problem:
        return co.Problem(particle("x"), co.Free(0.1, 2.0), co.integral(lambda now: 1 + now.tau**2), list(constraints))

    motion = co.Phases({"go": part(co.initial(q=0.0, qd=0.0)), "stop": part(co.final(q=1.0, qd=0.0))})
    solution = co.solve(motion, co.HermiteSimpson(4), solver=co.Ipopt(tol=1e-11))
    answer = second_order(solution.nlp, solution.x, solution.parameters, solution.multipliers, solution.cost_scale)
    assert (answer.kind, answer.flat) == ("flat", 1)
    assert answer.level is not None
    assert {"go: duration", "stop: duration"} <= {name for name, share in answer.level.shares.items() if share > 0.05}


def test_what_falls_only_past_constraints_that_hardly_push_is_undecided():
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
    limits = co.bounds(tau=(-10.0, 10.0))
    fast = co.Problem(two_link(), co.Free(0.1, 5.0), co.duration(), [*ends, limits])
    answer = judged(co.solve(fast, co.HermiteSimpson(40), plan=[co.refinement.Solve(between="nodes")]))
    assert answer.kind == "undecided"
    assert answer.weak > 0
    assert str(answer).startswith("undecided: no direction of descent while")
