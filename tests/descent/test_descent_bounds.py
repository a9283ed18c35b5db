"""Descent within bounds, and penalties in place of other inequalities: SciPy's and IPOPT's optima, signs, errors."""

import warnings
from math import pi
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import minimize

import colloc as co
from colloc.descent import DescentStatus, Movement, Objective, SplineMotion, Stop
from colloc.models.chains.serial import planar_chain
from tests.support.objectives import convex, smooth, symmetric
from tests.support.problems import effort

NEWTON, BFGS, STEEPEST, IPOPT = METHODS = (
    co.descent.modified_newton, co.descent.bfgs, co.descent.steepest_descent, co.descent.interior_point,
)  # fmt: skip
every_method = pytest.mark.parametrize("method", METHODS)
INF = np.inf
NOTHING: Any = None


def within(objective: Objective, lower: Any, upper: Any) -> Objective:
    return Objective(objective.first, objective.hessian, lower, upper)


def check_signs(objective: Objective, run: co.descent.Descent, atol: float = 1e-6) -> None:
    """The conditions of Karush, Kuhn and Tucker."""
    low, high = (np.broadcast_to(bound, run.x.shape) for bound in (objective.lower, objective.upper))
    assert ((low <= run.x) & (run.x <= high)).all()
    at_low, at_high = run.x <= low + atol, run.x >= high - atol
    assert (run.gradient[~at_low] < atol).all()  # nothing but the lower bound holds x against a positive gradient
    assert (run.gradient[~at_high] > -atol).all()


# -- functions of a vector --------------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("seed", range(4))
def test_optima_in_a_box_are_scipys(method, seed: int):
    rng = np.random.default_rng(seed)
    n = 8
    bend, centre = symmetric(n, 0.5, seed), rng.uniform(-1, 1, n)
    objective = smooth(lambda x: (x - centre).T @ bend @ (x - centre) / 2 + 0.1 * ca.sum1((x - 0.3) ** 4), n)
    low, high = rng.uniform(-1.0, -0.2, n), rng.uniform(-0.1, 0.6, n)
    low[0], high[1] = -INF, INF
    bounded = within(objective, low, high)
    run = method(bounded, rng.uniform(-2, 2, n), Stop(1e-8, 2000))
    options = {"ftol": 1e-15, "gtol": 1e-10}
    bounds = list(zip(low, high, strict=True))
    theirs = minimize(objective.first, np.zeros(n), jac=True, bounds=bounds, method="L-BFGS-B", options=options)
    assert run.status is DescentStatus.CONVERGED
    np.testing.assert_allclose(run.x, theirs.x, atol=1e-6)
    held = (theirs.x == low) | (theirs.x == high)
    assert 2 <= held.sum() < n
    if method is not IPOPT:  # its iterates are inside
        np.testing.assert_array_equal(run.x[held], theirs.x[held])
    check_signs(bounded, run)


@every_method
def test_bounds_that_are_not_in_the_way_change_nothing_but_the_path(method):
    objective = convex()
    free, bounded = (method(f, np.linspace(-1, 2, 6), Stop(1e-9, 500)) for f in (objective, within(objective, -9, 9)))
    assert bounded.success
    np.testing.assert_allclose(bounded.x, free.x, atol=1e-7)


@every_method
def test_a_start_outside_is_taken_to_the_nearest_point_within(method):
    objective = within(smooth(lambda x: ca.sumsqr(x), 2), 1.0, [2.0, INF])
    run = method(objective, np.array([-5.0, 7.0]), Stop(1e-7))
    np.testing.assert_allclose(run.x, 1.0, atol=1e-7)
    assert run.history.value[0] == pytest.approx(1 + 49, rel=1e-3)  # IPOPT starts a little inside
    np.testing.assert_allclose(run.gradient, 2.0, atol=1e-6)
    check_signs(objective, run)


def test_newton_ends_a_bounded_quadratic_once_it_knows_what_holds():
    matrix = symmetric(8, 1.0, 0)
    objective = within(smooth(lambda x: x.T @ matrix @ x / 2 + ca.sum1(x), 8), -0.05, 0.05)
    run = NEWTON(objective, np.zeros(8), Stop(1e-12))
    assert run.success
    assert run.iterations <= 6
    check_signs(objective, run, 1e-10)


def test_a_corner_is_an_optimum():
    objective = within(smooth(lambda x: ca.sum1(x), 3), 0.0, 1.0)
    for method in METHODS:
        np.testing.assert_allclose(method(objective, np.full(3, 0.5), Stop(1e-7)).x, 0.0, atol=1e-7)


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (np.zeros(3), INF, r"lower bounds must be a number or shape \(2,\), got"),
        (0.0, np.nan, r"upper bounds must be a number or shape \(2,\), got nan"),
        ([0.0, 1.0], [1.0, 0.5], "bounds of variable 1 must be in order, got 1 and 0.5"),
    ],
)
def test_misfits_are_refused(lower, upper, message: str):
    with pytest.raises(co.InputError, match=message):
        NEWTON(within(smooth(lambda x: ca.sumsqr(x), 2), lower, upper), np.ones(2))


# -- movements --------------------------------------------------------------------------------------------------------


def lift(*constraints: Any, cost: Any = None, duration: Any = 1.0) -> co.Problem:
    """Case A of Lee et al. (2005), with what else is asked for."""
    ends = [co.initial(q=(-pi / 2, 0.0), qd=0.0, qdd=0.0), co.final(q=(0.0, pi / 2), qd=0.0, qdd=0.0)]
    return co.Problem(
        planar_chain(2, length=1.0, mass=1.0), duration, cost or 0.5 * co.integral(effort), [*ends, *constraints]
    )


def movement(problem: co.Problem, intervals: int = 6) -> Movement:
    return Movement(co.transcribe(problem, co.BSpline(intervals), sensitivities=co.dynamics.lie_sensitivities))


BOUNDS = co.bounds(q=((-3.0, -0.2), (0.05, 1.8)))


@pytest.mark.parametrize("method", [NEWTON, BFGS, IPOPT])
@pytest.mark.parametrize("intervals", [6, 12])
def test_movements_within_limits_are_those_of_solve(method, intervals: int):
    found = movement(lift(BOUNDS), intervals)
    run = method(found.objective, found.start(), Stop(1e-7, 500))
    solved = co.solve(found.nlp, plan=[co.refinement.Solve(tol=1.0)])
    assert run.success
    assert run.value == pytest.approx(solved.cost, rel=1e-6)
    np.testing.assert_allclose(found.solution(run).q, solved.q, atol=1e-6)
    free = movement(lift(), intervals)
    assert run.value > 1.5 * NEWTON(free.objective, free.start(), Stop(1e-6)).value
    check_signs(found.objective, run)


def test_limits_hold_at_all_times_and_the_multipliers_are_those_of_solve():
    found = movement(lift(BOUNDS))
    run = NEWTON(found.objective, found.start(), Stop(1e-9))
    solution = found.solution(run)
    q = solution.at(np.linspace(0, 1, 2001)).q
    assert (q >= [-3.0 - 1e-12, -0.2 - 1e-12]).all()
    assert (q <= [0.05 + 1e-12, 1.8 + 1e-12]).all()
    assert q.max(axis=0)[1] > 1.75  # the limit matters
    kkt = co.verify(solution).kkt
    assert max(vars(kkt).values()) < 1e-8
    theirs = co.solve(found.nlp, plan=[co.refinement.Solve(tol=1.0)]).multipliers["x"]
    free = found.nlp.free
    mine = solution.multipliers["x"]
    assert (np.abs(mine[free]) > 1).sum() == 2
    np.testing.assert_allclose(mine[free], theirs[free], atol=1e-3 * np.abs(theirs).max())


def test_a_free_duration_descends_within_its_bounds():
    for bounds, expected in (((0.3, 3.0), None), ((0.3, 0.8), 0.8)):
        problem = lift(duration=co.Free(*bounds, guess=0.7), cost=0.05 * co.integral(effort) + co.duration())
        found = movement(problem)
        run = NEWTON(found.objective, found.start(), Stop(1e-8))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # that the duration ended at its bound
            solved = co.solve(found.nlp, plan=[co.refinement.Solve(tol=1.0)])
        assert run.success
        assert found.solution(run).duration == pytest.approx(solved.duration, abs=1e-6)
        assert run.value == pytest.approx(solved.cost, rel=1e-7)
        if expected is not None:
            assert found.solution(run).duration == expected


# -- penalties --------------------------------------------------------------------------------------------------------


def limited(now: co.problem.Instant) -> ca.SX:
    return now.tau


def test_a_penalty_is_the_integral_of_the_cubes_of_the_excess():
    soft = 0.5 * co.integral(effort) + co.penalty(limited, lower=(-5.0, -INF), upper=9.0, weight=2.0)
    found = movement(lift(cost=soft))
    x = found.start()
    solution = found.solution(NEWTON(found.objective, x, Stop(iterations=0)))
    t = np.linspace(0, 1, 4001)
    tau = solution.at(t).tau
    over = np.maximum(tau - 9.0, 0) ** 3
    over[:, 0] += np.maximum(-5.0 - tau[:, 0], 0) ** 3
    expected = 2.0 / 3 * np.trapezoid(over.sum(axis=1), t)
    assert expected > 10
    assert solution.terms["limited"] == pytest.approx(expected, rel=2e-3)


def test_a_heavy_penalty_comes_to_the_hard_limit():
    """From below, since it always allows more."""

    def speed(now: co.problem.Instant) -> ca.SX:
        return now.qd[0]

    t = np.linspace(0, 1, 1001)
    hard = co.solve(lift(co.path(speed, upper=4.0)), co.BSpline(12), plan=[co.refinement.Solve(tol=1.0)])
    excess, cost = [], []
    for weight in (1e2, 1e4, 1e6):
        soft = 0.5 * co.integral(effort) + co.penalty(speed, upper=4.0, weight=weight)
        found = movement(lift(cost=soft), 12)
        run = NEWTON(found.objective, found.start(), Stop(1e-6))
        assert run.success
        excess.append(float(found.solution(run).at(t).qd[:, 0].max()) - 4.0)
        cost.append(run.value)
    assert excess[0] > 5 * excess[1] > 25 * excess[2] > 0
    assert excess[2] < 0.02
    assert cost[0] < cost[1] < cost[2] < hard.cost < 1.003 * cost[2]


def test_penalties_have_exact_derivatives():
    soft = co.integral(effort) + co.penalty(lambda now: now.tau[0] * now.qd[1], upper=1.0, weight=3.0)
    found = movement(lift(cost=soft))
    errors = found.objective.check_derivatives(found.start())
    assert max(errors.values()) < 1e-5, errors  # third derivatives jump where the penalty sets in


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: co.penalty(NOTHING, upper=1.0, weight=1.0), "penalty needs a function of the instant, got None"),
        (lambda: co.penalty(limited, weight=1.0), "penalty needs lower, upper or both"),
        (lambda: co.penalty(limited, upper=1.0, weight=-1.0), "penalty weight must be"),
        (lambda: lift(cost=co.penalty(limited, upper=(1.0, 2.0, 3.0), weight=1.0)), "'limited'.*shape"),
    ],
)
def test_wrong_penalties_are_refused(build, message: str):
    with pytest.raises(co.InputError, match=message):
        build()


# -- user-defined splines ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [NEWTON, BFGS])
def test_a_spline_stays_within_its_bounds(method):
    """The integral of (q - sin)^2, whose optimum would leave them."""

    def running(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        off = states[0] - 2 * np.sin(2 * pi * motion.quadrature[0])[:, None]
        return (off**2).sum(axis=1), np.stack([2 * off, 0 * off, 0 * off])

    def curvature(states: np.ndarray) -> np.ndarray:
        bent = np.zeros((states.shape[1], 3, 1, 3, 1))
        bent[:, 0, :, 0, :] = 2.0
        return bent

    motion = SplineMotion(np.zeros((1, 1)), np.zeros((1, 1)), 1.0, 12, lower=-1.0, upper=[0.5])
    objective = motion.objective(running, curvature)
    run = method(objective, motion.line(), Stop(1e-9))
    q = motion.states(run.x, np.linspace(0, 1, 1001))[0]
    assert run.success
    assert q.min() == pytest.approx(-1.0, abs=1e-9)
    assert q.max() == pytest.approx(0.5, abs=1e-9)
    check_signs(objective, run)
