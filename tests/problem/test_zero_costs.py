"""Costs that no motion changes, and costs of nothing at the optimum."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from tests.support.problems import effort

CURVES = [co.BSpline(10), co.Radau(8), co.HermiteSimpson(10)]
LIMITS = co.bounds(tau=(-60.0, 60.0))
START, END = co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)

CONSTANT = {
    "zero": (co.integral(lambda now: 0.0), 0.0),
    "weight zero": (0.0 * co.integral(effort), 0.0),
    "parameter zero": (co.integral(lambda now: now.w * effort(now)), 0.0),
    "terminal": (co.final_cost(lambda now: ca.sumsqr(now.q - 3)), 8.0),
}


def problem(cost: co.problem.Cost, *rows, duration: float | co.Free = 1.0) -> co.Problem:
    return co.Problem(two_link(), duration, cost, rows, parameters=[co.Parameter("w", 0.0)])


@pytest.mark.parametrize("name", CONSTANT)
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_cost_that_no_motion_changes_leaves_a_feasible_motion(name, curve):
    cost, value = CONSTANT[name]
    solution = co.solve(problem(cost, START, END, LIMITS), curve)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.cost == pytest.approx(value, abs=1e-12)
    assert solution.history["cost"] == pytest.approx([value] * len(solution.history["cost"]))
    assert co.verify(solution).kkt.stationarity < 1e-9


def test_a_cost_of_the_given_duration_is_doubted():
    with pytest.warns(
        co.refinement.SolutionWarning,
        match=r"the duration, which is fixed at 1 s and has no effect: .* duration=co\.Free\(",
    ):
        solution = co.solve(problem(co.duration(), START, END, LIMITS), CURVES[0])
    assert (solution.status, solution.cost) == (co.solver.Status.SOLVED, 1.0)


@pytest.mark.parametrize("given", [[], [co.Parameter("w", 1.0)]], ids=["without parameters", "with"])
@pytest.mark.parametrize("rows", [(START, END), (co.initial(qd=0.0), END, LIMITS)], ids=len)
def test_zero_is_a_cost(rows, given):
    nothing = co.Problem(two_link(), 1.0, co.integral(lambda now: 0), rows, parameters=given)
    assert co.solve(nothing, co.BSpline(10)).success


def test_of_feasible_motions_the_nearest_to_the_guess_is_found():
    """Without constraints it is the guess; with one that the guess violates, no further than that asks."""

    def guess(t: float) -> np.ndarray:
        return np.array([np.sin(t), t**2])

    nothing = co.integral(lambda now: 0)
    free = co.solve(problem(nothing, duration=co.Free(0.5, 2.0, 1.3)), co.BSpline(10), guess=guess)
    assert free.duration == pytest.approx(1.3, abs=1e-6)
    assert free.q[:, 1] == pytest.approx(free.t**2, abs=1e-6)
    bent = co.solve(problem(nothing, co.bounds(q=(-5.0, 0.8))), co.BSpline(10), guess=guess)
    assert bent.q == pytest.approx(np.minimum(np.column_stack([np.sin(bent.t), bent.t**2]), 0.8), abs=0.1)


def test_a_cost_that_is_flat_at_the_guess_alone_is_minimised():
    """Away from the guess there is something to gain: no distance to it may be added."""
    cost = co.final_cost(lambda now: -(ca.fmax(now.q[0] - 0.5, 0) ** 3)) + co.integral(lambda now: 0 * now.q[0])
    solution = co.solve(
        problem(cost, START, co.bounds(q=(-2.0, 2.0))), co.BSpline(10), guess=lambda t: np.array([0.7 * t, 0.0])
    )
    assert solution.q[-1, 0] == pytest.approx(2.0, abs=1e-5)


ZERO = {
    "reached": (co.final_cost(lambda now: ca.sumsqr(now.q - 0.3)), (START,)),
    "at rest": (co.final_cost(lambda now: ca.sumsqr(now.qd)), (co.initial(q=0.0, qd=1.0), co.final(q=1.0))),
    "tracked": (co.integral(lambda now: ca.sumsqr(now.q - now.t**2)), (START,)),
    "tracked by a limit": (co.integral(lambda now: ca.sumsqr(now.q - 1 + ca.cos(3 * now.t))), (START,)),
}


@pytest.mark.parametrize("name", ZERO)
@pytest.mark.parametrize("factor", [1.0, 1e-9])
def test_an_optimum_that_costs_nothing_is_not_called_coarse(name, factor):
    cost, rows = ZERO[name]
    for curve, tol in [(co.Radau(8), 1e-5), (None, None)]:
        solution = co.solve(problem(factor * cost, *rows, LIMITS), curve, tol=tol)
        assert solution.status is co.solver.Status.SOLVED
        assert abs(solution.cost) < 1e-9 * factor


def test_a_motion_within_the_tolerance_of_the_solver_is_no_motion():
    """A cart holds its pole up. IPOPT ends 1e-9 to 1e-7 away from rest: that is not the size of a motion."""
    pole = co.Body("pole", co.revolute((0, 1, 0)), "cart", 0.3, (0, 0, -0.5), (0.02, 0.02, 0.001))
    model = co.Model([co.Body("cart", co.prismatic((1, 0, 0)), mass=1.0), pole], gravity=(0, 0, -9.81))

    def cost(now):
        away = 10 * now.q[0] ** 2 + 5 * (1 + ca.cos(now.q[1]))
        return away + 0.1 * ca.sumsqr(now.qd) + 0.01 * now.tau[0] ** 2

    limits = co.bounds(q=((-1.0, -10.0), (1.0, 10.0)), tau=((-20.0, 0.0), (20.0, 0.0)))
    upright = co.initial(q=(0.0, np.pi), qd=0.0)
    solution = co.solve(co.Problem(model, 1.0, co.integral(cost), [upright, limits]), co.BSpline(20))
    assert solution.cost < 1e-12
    assert 0 < np.abs(solution.q - (0.0, np.pi)).max() < 1e-7
    assert solution.error["cost"].total < 1e-4


def test_a_motion_a_thousandth_off_counts_for_little_beside_a_cost_of_natural_size():
    """The stand-in for a zero cost must not hide errors of a nonzero one."""
    for curve in (co.BSpline(10), co.BSpline(80), co.Radau(30)):
        solution = co.solve(problem(co.integral(effort), START, END), curve)
        assert solution.cost_scale == pytest.approx(solution.cost, rel=0.02)
        assert solution.cost_scale >= solution.cost


def test_a_failure_that_no_option_caused_is_not_blamed_on_options(monkeypatch):
    """Without options there is no answer about them."""
    monkeypatch.setattr("colloc.solver.ipopt.ca.nlpsol", _refuse)
    with pytest.raises(RuntimeError, match="out of order"):
        co.solve(problem(co.integral(effort), START, END), co.BSpline(5))
    with pytest.raises(co.InputError, match=r"rejects these options: \{'tol': 1e-06\}"):
        co.solve(problem(co.integral(effort), START, END), co.BSpline(5), solver=co.Ipopt(tol=1e-6))


def _refuse(*_: object) -> None:
    raise RuntimeError("out of order")


@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_the_cost_of_a_small_motion_is_judged_like_that_of_a_large_one(size):
    """A slide in metres, without bounds: not the metre is what its way is compared with."""
    slide = co.Model([co.Body("slide", co.prismatic((1, 0, 0)), None, 2.0)], gravity=(0, 0, 0))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=size, qd=0.0)]
    solution = co.solve(co.Problem(slide, 1.0, co.integral(effort), ends), co.BSpline(5))
    assert solution.cost == pytest.approx(48.0 * size**2, rel=1e-6)
    assert solution.cost_scale == pytest.approx(solution.cost, rel=1e-2)
