"""Descent methods: the orders of convergence, and statuses where there is no way down."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der, rosen_hess

import colloc as co
from colloc.descent import DescentStatus, Objective, Stop
from tests.support.objectives import ROSENBROCK, START, convex, curvature, smooth, symmetric

NEWTON, BFGS, STEEPEST, IPOPT = METHODS = (
    co.descent.modified_newton, co.descent.bfgs, co.descent.steepest_descent, co.descent.interior_point,
)  # fmt: skip


# -- methods ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [NEWTON, BFGS, IPOPT])
def test_rosenbrock_has_scipys_minimum(method):
    x0 = np.linspace(0.2, 1.8, 10)
    theirs = minimize(rosen, x0, jac=rosen_der, hess=rosen_hess, method="trust-exact", tol=1e-10)
    run = method(ROSENBROCK, x0, Stop(1e-9, 500))
    assert run.status is DescentStatus.CONVERGED
    assert run.success
    np.testing.assert_allclose(run.x, theirs.x, atol=1e-8)
    assert run.value == pytest.approx(theirs.fun, abs=1e-15)
    np.testing.assert_array_equal(run.gradient, rosen_der(run.x))


def test_the_history_is_that_of_the_iterates():
    for method in METHODS:
        run = method(ROSENBROCK, START, Stop(1e-6, 12))
        history = run.history
        before = START
        for k in range(run.iterations + 1):
            there = method(ROSENBROCK, START, Stop(1e-6, k))
            assert there.iterations == k
            assert history.value[k] == rosen(there.x)
            assert history.gradient_norm[k] == np.linalg.norm(rosen_der(there.x))
            assert history.evaluations[k] == there.evaluations
            assert history.step[k] == np.linalg.norm(there.x - before)
            before = there.x
        assert (np.diff(history.value) < 0).all()
        assert (np.diff(history.evaluations) >= 1).all()
        assert (np.diff(history.seconds) >= 0).all()
        assert run.seconds == history.seconds[-1]


def test_newton_converges_quadratically():
    norms = NEWTON(convex(), np.linspace(-1, 2, 6), Stop(1e-13)).history.gradient_norm
    used = norms[norms > 1e-12]  # what follows is rounding
    orders = np.log(used[2:] / used[1:-1]) / np.log(used[1:-1] / used[:-2])
    assert used.size >= 5
    assert orders[-1] == pytest.approx(2.0, abs=0.25)


def test_newton_solves_a_quadratic_in_one_step():
    matrix = symmetric(8, 0.1, 3)
    quadratic = Objective(lambda x: (float(x @ matrix @ x / 2 - x.sum()), matrix @ x - 1), lambda x: matrix)
    run = NEWTON(quadratic, np.zeros(8), Stop(1e-10))
    assert (run.iterations, run.evaluations) == (1, 2)
    np.testing.assert_allclose(run.x, np.linalg.solve(matrix, np.ones(8)), rtol=1e-10)


def test_bfgs_converges_superlinearly():
    norms = BFGS(convex(), np.linspace(-1, 2, 6), Stop(1e-11)).history.gradient_norm
    ratios = norms[1:] / norms[:-1]
    early, late = (np.exp(np.log(part).mean()) for part in (ratios[:5], ratios[-5:]))
    assert late < 0.3 * early
    assert late < 0.2


def test_steepest_descent_converges_linearly_if_at_all():
    """At the rate of the condition number kappa: (kappa - 1) / (kappa + 1) from the worst start."""
    kappa = 50.0
    scales = np.array([1.0, kappa])
    bowl = Objective(lambda x: (float(x @ (scales * x) / 2), scales * x))
    run = STEEPEST(bowl, np.array([kappa, 1.0]), Stop(1e-6, 2000))
    assert run.success
    rate = (run.history.gradient_norm[-1] / run.history.gradient_norm[0]) ** (1 / run.iterations)
    assert 0.8 < rate < 1

    run = STEEPEST(ROSENBROCK, START, Stop(1e-6, 200))
    assert run.status is DescentStatus.ITERATION_LIMIT
    assert run.evaluations < 1.5 * run.iterations  # steps are tried near the length they will have


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_bfgs_does_not_mind_the_unit_of_the_cost(scale: float):
    matrix = scale * symmetric(8, 0.1, 3)
    quadratic = Objective(lambda x: (float(x @ matrix @ x / 2 - scale * x.sum()), matrix @ x - scale))
    run = BFGS(quadratic, np.zeros(8), Stop(1e-8 * scale))
    assert run.success
    assert run.iterations < 25


def test_newton_leaves_saddles():
    saddle = smooth(lambda x: x[0] ** 4 / 4 - x[0] ** 2 / 2 + x[1] ** 2 / 2, 2)
    start = np.array([1e-3, 1.0])
    assert saddle.hessian is not None
    assert np.linalg.eigvalsh(saddle.hessian(start))[0] < 0
    run = NEWTON(saddle, start, Stop(1e-10))
    assert run.success
    np.testing.assert_allclose(run.x, [1.0, 0.0], atol=1e-10)


def test_ipopt_without_a_hessian_approximates_one():
    run = IPOPT(Objective(ROSENBROCK.first), START, Stop(1e-8))
    assert run.success
    np.testing.assert_allclose(run.x, 1.0, atol=1e-7)
    assert run.iterations > IPOPT(ROSENBROCK, START, Stop(1e-8)).iterations


def test_hessians_are_used():
    """A wrong Hessian costs iterations: neither method differentiates on its own."""
    wrong = Objective(ROSENBROCK.first, lambda x: 3.0 * curvature(x))
    for method in (NEWTON, IPOPT):
        assert method(wrong, START, Stop(1e-8)).iterations > method(ROSENBROCK, START, Stop(1e-8)).iterations + 10


# -- where there is no way down ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", [(np.nan, np.ones(2)), (np.inf, np.ones(2)), (1.0, np.array([1.0, np.nan]))])
def test_a_start_that_is_not_finite_is_a_status(method, bad):
    run = method(Objective(lambda x: bad, curvature), START)
    assert run.status is DescentStatus.NOT_FINITE
    assert not run.success
    assert run.iterations == 0


def test_a_hessian_that_is_not_finite_is_a_status():
    run = NEWTON(Objective(ROSENBROCK.first, lambda x: np.full((2, 2), np.nan)), START)
    assert (run.status, run.iterations) == (DescentStatus.NOT_FINITE, 0)


@pytest.mark.parametrize("method", METHODS)
def test_steps_stay_where_the_objective_is_defined(method):
    """The minimum of x - log(x) beside a cliff: full steps from here leave the domain."""

    def first(x: np.ndarray) -> tuple[float, np.ndarray]:
        if (x <= 0).any():
            return np.nan, np.full(2, np.nan)
        return float((10 * x - np.log(x)).sum()), 10 - 1 / x

    run = method(Objective(first, lambda x: np.diag(x**-2.0)), np.array([3.0, 0.7]), Stop(1e-8))
    assert run.success
    np.testing.assert_allclose(run.x, 0.1, rtol=1e-7)


@pytest.mark.parametrize("method", [NEWTON, BFGS, STEEPEST])
def test_a_minimum_outside_the_domain_ends_with_a_status(method):
    """Rosenbrock's function cut off before its minimum: as near as can be."""
    cut = Objective(lambda x: (float(rosen(x)) if x[0] < 0.5 else np.nan, rosen_der(x)), curvature)
    run = method(cut, START, Stop(1e-8))
    assert run.status in (DescentStatus.NO_STEP, DescentStatus.ITERATION_LIMIT)
    assert 0.4999 < run.x[0] < 0.5
    assert run.x[1] == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("method", [NEWTON, BFGS, STEEPEST])
def test_a_gradient_of_wrong_sign_leaves_no_step(method):
    wrong = Objective(lambda x: (float(rosen(x)), -rosen_der(x)), curvature)
    run = method(wrong, START, Stop(1e-8))
    assert run.status is DescentStatus.NO_STEP
    assert wrong.check_derivatives(START)["gradient"] > 1


def test_slightly_wrong_derivatives_show_in_the_check():
    """A method cannot tell them from those of a function nearby: what it finds is not the minimum."""
    assert max(ROSENBROCK.check_derivatives(START).values()) < 1e-11
    biased = Objective(lambda x: (float(rosen(x)), rosen_der(x) + 1e-3), lambda x: 1.001 * curvature(x))
    errors = biased.check_derivatives(START)
    assert errors["gradient"] > 1e-6
    assert errors["hessian"] > 1e-4
    assert "hessian" not in Objective(ROSENBROCK.first).check_derivatives(START)


def test_tolerances_below_rounding_leave_no_step():
    shifted = Objective(lambda x: (float(rosen(x)) + 1e6, rosen_der(x)), curvature)
    run = STEEPEST(shifted, np.array([0.5, 0.3]), Stop(1e-300, 100000))
    assert run.status in (DescentStatus.NO_STEP, DescentStatus.CONVERGED)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("where", ["first", "hessian"])
def test_exceptions_of_an_objective_are_passed_on(method, where: str):
    def broken(x: np.ndarray) -> Any:
        if where == "hessian" or not np.array_equal(x, START):
            raise ZeroDivisionError("no such loop")
        return ROSENBROCK.first(x)

    objective = Objective(broken, curvature) if where == "first" else Objective(ROSENBROCK.first, broken)
    if where == "hessian" and method in (BFGS, STEEPEST):
        assert method(objective, START).iterations > 10
        return
    with pytest.raises(ZeroDivisionError, match="no such loop"):
        method(objective, START)


@pytest.mark.parametrize("method", METHODS)
def test_an_optimal_start_takes_no_step(method):
    run = method(ROSENBROCK, np.ones(2))
    assert (run.status, run.iterations, run.evaluations) == (DescentStatus.CONVERGED, 0, 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("x0", [np.zeros((2, 2)), 1.0, np.zeros(0), np.array([1.0, np.nan])])
def test_starts_that_are_no_vectors_are_refused(method, x0):
    with pytest.raises(co.InputError, match="x0 must be"):
        method(ROSENBROCK, x0)


def test_stopping_rules_are_checked():
    with pytest.raises(co.InputError, match=r"Stop gradient must be finite and positive, got 0"):
        Stop(gradient=0)
    with pytest.raises(co.InputError, match=r"Stop iterations must be an integer >= 0, got -1"):
        Stop(iterations=-1)


def test_newton_asks_for_a_hessian():
    with pytest.raises(co.InputError, match="needs an objective with a hessian"):
        NEWTON(Objective(ROSENBROCK.first), START)


@pytest.mark.parametrize("method", [BFGS, NEWTON, co.descent.steepest_descent, co.descent.interior_point])
def test_a_bare_function_is_no_objective(method):
    with pytest.raises(co.InputError, match=r"objective must be a co.descent.Objective, got <"):
        method(ROSENBROCK.first, START)


def test_a_descent_speaks_for_itself():
    text = repr(BFGS(ROSENBROCK, START, Stop(1e-3, 3)))
    assert "BFGS in 2 variables" in text
    assert "iteration limit" in text
    assert "3 iterations" in text


# -- figures ----------------------------------------------------------------------------------------------------------


def test_descents_are_drawn_over_iterations_and_time():
    runs = [method(ROSENBROCK, START, Stop(1e-6)) for method in METHODS]
    figure = co.plot.descents(runs)
    above, _, below, timed = figure.axes
    assert below.get_yscale() == "log"
    best = min(run.value for run in runs)
    for run, norms, times, excess in zip(runs, below.get_lines(), timed.get_lines(), above.get_lines(), strict=False):
        np.testing.assert_array_equal(norms.get_ydata(), run.history.gradient_norm)
        np.testing.assert_array_equal(norms.get_xdata(), range(run.iterations + 1))
        np.testing.assert_array_equal(times.get_xdata(), run.history.seconds)
        np.testing.assert_array_equal(np.asarray(excess.get_ydata())[:-1], run.history.value[:-1] - best)
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["modified Newton", "BFGS", "steepest descent (iteration limit)", "interior point"]


@pytest.mark.parametrize("runs", [[], [1]])
def test_only_descents_are_drawn(runs):
    with pytest.raises(co.InputError, match="runs must be one or more Descents"):
        co.plot.descents(runs)
