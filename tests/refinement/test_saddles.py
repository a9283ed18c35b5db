"""A motion that is stationary by symmetry alone is left, or called a saddle."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.blocks.numeric import NumericDerivatives
from colloc.models.two_link import two_link
from colloc.optimality.second_order import LARGEST, falling_direction, may_fall, second_order
from colloc.refinement.saddles import beyond_saddles
from colloc.studies.classics.points import particle
from tests.campaigns import saddles

ENDS = [co.initial(q=(-1.0, 0.0), qd=0.0), co.final(q=(1.0, 0.0), qd=0.0)]


def over_a_hill(now) -> ca.SX:
    return ca.sumsqr(now.tau) + 300 * ca.exp(-(now.q[0] ** 2 + now.q[1] ** 2) / 0.08)


def from_mirror(case: saddles.Mirrored):
    """A step that solves once, and stays at the saddle."""

    def solve(attempt):
        solution, start = attempt.run._stationary(attempt.nlp, case.inside, 0.0)
        return replace(attempt, solution=solution, start=start)

    return solve


def kind(solution: co.Solution) -> str:
    multipliers, size = solution.multipliers, solution.cost_scale
    return second_order(solution.nlp, solution.x, solution.parameters, multipliers, size).kind


@pytest.mark.parametrize("seed", [2, 10, 11, 12, 14])
def test_from_a_guess_in_the_mirror_the_cheaper_motion_beside_it_is_found(seed):
    answer, other = saddles.check(seed)
    assert answer.outcome.status is co.solver.Status.SOLVED
    assert not saddles.mirrored(seed)[0].is_inside(answer)
    assert kind(answer) == "minimum"
    assert kind(other) == "minimum"


@pytest.mark.parametrize("hessian", [co.solver.Hessian.EXACT, co.solver.Hessian.LIMITED_MEMORY])
def test_a_saddle_is_left_on_every_grid_and_by_every_hessian(hessian):
    problem, guess = co.Problem(particle("xy"), 1.0, co.integral(over_a_hill), ENDS), co.line((-1, 0), (1, 0))
    answer = co.solve(problem, co.BSpline(12), tol=3e-3, guess=guess, solver=co.Ipopt(hessian=hessian))
    inside = co.Problem(
        particle("xy"), 1.0, co.integral(over_a_hill), [*ENDS, co.path(lambda now: now.tau[1], equals=0)]
    )
    over = co.solve(inside, co.BSpline(12), guess=guess)
    assert len(answer.rounds) > 1
    assert answer.success
    assert answer.cost < 0.9 * over.cost
    assert np.abs(answer.q[:, 1]).max() > 0.1


def test_what_cannot_be_left_is_called_a_saddle_and_says_what_falls():
    """Beside it the cost falls without end."""
    problem = co.Problem(
        particle("x"),
        1.0,
        co.integral(lambda now: now.tau**2 - 200 * now.q**2),
        [co.initial(q=0.0), co.final(q=0.0)],
    )
    with pytest.raises(co.SolveError, match=r"^saddle after .*the cost falls along q\[x\] \(100%\)") as caught:
        co.solve(problem, co.BSpline(8))
    assert caught.value.solution.status is co.solver.Status.SADDLE
    assert not caught.value.solution.success


@pytest.mark.parametrize("status", [co.solver.Status.INTERRUPTED, co.solver.Status.TIME_LIMIT])
def test_what_is_cut_short_on_the_way_down_ends_at_the_saddle(status):
    case, curve = saddles.mirrored(11)
    saddle = co.solve(case.problem, curve, plan=[from_mirror(case)], raise_on_failure=False)
    cut = replace(saddle, outcome=replace(saddle.outcome, status=status))
    asked = []
    last, *_ = beyond_saddles(saddle, co.Ipopt(), lambda start: asked.append(start) or cut)
    assert last.outcome.status is status
    assert np.array_equal(last.x, saddle.x)
    assert len(asked) == 1


@pytest.mark.parametrize("seed", [3, 4, 5, 10])
def test_what_falls_in_a_large_program_is_found_without_dense_matrices(seed, monkeypatch):
    case, curve = saddles.mirrored(seed)
    at, saddle = [], co.solve(case.problem, curve, plan=[from_mirror(case)], raise_on_failure=False)
    for largest in (LARGEST, 0):
        monkeypatch.setattr("colloc.optimality.second_order.LARGEST", largest)
        direction = falling_direction(saddle.nlp, saddle.x, saddle.parameters, saddle.multipliers, saddle.cost_scale)
        assert direction is not None
        derivatives = NumericDerivatives(saddle.nlp.costs, saddle.nlp.constraints, saddle.x, saddle.parameters)
        hessian = derivatives.hessian("hessian", saddle.multipliers["g"])
        at.append(float(direction @ np.array(hessian @ direction).ravel()))
        slopes = np.array(derivatives.jacobian @ direction).ravel() / saddle.nlp.scale_g
        equal = saddle.nlp.bounds_g[0] == saddle.nlp.bounds_g[1]
        assert np.abs(slopes[equal]).max(initial=0.0) < 1e-6
    assert max(at) < 0


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 9, 12, 14, 18, 30, 32])
def test_first_derivatives_alone_overlook_no_saddle(seed):
    """Second derivatives are the second opinion; in column 30 the Hessian of squares is not convex."""
    case, curve = saddles.mirrored(seed)
    motion = co.solve(case.problem, curve, plan=[from_mirror(case)], compile=False, raise_on_failure=False)
    end = motion.nlp, motion.x, motion.parameters, motion.multipliers, motion.cost_scale
    assert may_fall(*end) == (falling_direction(*end) is not None)


def test_a_saddle_at_which_gauss_and_newton_end_is_left():
    case, curve = saddles.mirrored(12)
    squares = co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON)
    saddle = co.solve(case.problem, curve, plan=[from_mirror(case)], solver=squares, raise_on_failure=False)
    better = co.solve(case.problem, curve, guess=case.beside)
    last, first = beyond_saddles(saddle, squares, lambda start: better)
    assert (last.cost, first.cost) == (better.cost, saddle.cost)


def test_a_minimum_by_gauss_and_newton_needs_no_second_derivatives(monkeypatch):
    """They would take as long to make as the run itself."""
    monkeypatch.setattr("colloc.optimality.second_order.falling_direction", None)
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    ends = [co.initial(q=(0.0, 0.0), qd=0.0), co.final(q=(1.5, -1.0), qd=0.0)]
    problem = co.Problem(two_link(), 1.0, effort, ends)
    squares = co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON)
    assert co.solve(problem, co.BSpline(12), solver=squares).success


@pytest.mark.parametrize(("turn", "shortest"), [(np.pi, 3.2431), (np.pi / 2, 2.4211)])
def test_a_body_turns_faster_than_about_the_axis_of_its_turn(turn: float, shortest: float):
    """The turn about a fixed axis is stationary by symmetry (Bilimoria and Wie 1993: 3.2431 s is the least for half of
    one); each of its falling directions by itself soon meets a torque limit on the refined grid.
    """
    ball = co.Model(co.spherical("ball", sequence="quaternion", mass=1.0, inertia=(1.0, 1.0, 1.0)), gravity=(0, 0, 0))
    end = (np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2))
    ends = [co.initial(q=(1, 0, 0, 0), qd=0), co.final(q=end, qd=0), co.bounds(tau=(-1, 1))]
    answer = co.solve(co.Problem(ball, co.Free(0.05, 20), co.duration(), ends))
    assert answer.status is co.solver.Status.SOLVED
    assert answer.duration == pytest.approx(shortest, rel=2e-4)
    assert answer.duration < 0.97 * 2 * np.sqrt(turn)  # about the axis


def test_a_whole_turn_ends_at_the_negative_quaternion_and_is_refined_at_its_switches():
    """It takes 6.14 s about its axis, 5.01 s about the axis of least inertia, and less about changing axes."""
    ball = co.Model(co.spherical("ball", sequence="quaternion", mass=1.0, inertia=(1.0, 1.2, 1.5)), gravity=(0, 0, 0))
    ends = [co.initial(q=(1, 0, 0, 0), qd=0), co.final(q=(-1, 0, 0, 0), qd=0), co.bounds(tau=(-1, 1))]
    answer = co.solve(co.Problem(ball, co.Free(0.05, 20), co.duration(), ends))
    assert answer.status is co.solver.Status.SOLVED
    assert answer.plan[-1] == "AtSwitches()"
    assert answer.duration == pytest.approx(4.3895, rel=1e-4)
    q = answer.at(np.linspace(0, answer.duration, 20001)).q
    assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 1e-6
