"""Movements by descent: exact recursive derivatives, end conditions by construction, the optimum of every method."""

import json
from functools import partial
from math import pi

import casadi as ca
import numpy as np
import pytest

import colloc as co
import colloc.studies.descents.two_link
import colloc.transcription.torques
from colloc.descent import DescentStatus, Movement, Stop
from colloc.models.chains.serial import planar_chain, spatial_chain
from colloc.models.two_link import two_link
from tests.support.problems import effort

REST = [co.initial(q=0.1, qd=0.0, qdd=0.0), co.final(q=0.8, qd=0.0, qdd=0.0)]
RECURSIONS = (
    co.dynamics.composite_sensitivities, co.dynamics.lie_sensitivities, co.dynamics.newton_euler_sensitivities,
    co.dynamics.lagrange_sensitivities,
)  # fmt: skip
METHODS = (co.descent.modified_newton, co.descent.bfgs, co.descent.interior_point)


def power(now: co.problem.Instant) -> ca.SX:
    """No sum of squares."""
    return ca.sqrt(1 + (now.tau[0] * now.qd[0]) ** 2) + 0.1 * now.tau[1] * ca.sin(now.q[0])


def spatial(n: int = 3) -> co.Problem:
    """Both kinds of cost, a load in the world frame, a parameter."""
    wind = co.Parameter("wind", 2.0)
    return co.Problem(
        spatial_chain(n),
        0.9,
        0.5 * co.integral(effort) + co.integral(power),
        REST,
        parameters=[wind],
        loads=[co.Load(f"link{n}", force=ca.vertcat(wind.symbol, 0.3, 0))],
    )


def lift() -> co.Problem:
    return co.Problem(planar_chain(2, length=1.0, mass=1.0), 1.0, 0.5 * co.integral(effort), REST)


def movement(problem: co.Problem, sensitivities=co.dynamics.lie_sensitivities, intervals: int = 5) -> Movement:
    return Movement(co.transcribe(problem, co.BSpline(intervals), sensitivities=sensitivities))


def off_optimum(found: Movement) -> np.ndarray:
    start = found.start()
    return start + 0.3 * np.random.default_rng(0).standard_normal(start.size)


# -- derivatives ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recursion", [*RECURSIONS, co.dynamics.by_differentiation(co.dynamics.newton_euler), None])
def test_derivatives_equal_central_differences(recursion):
    found = movement(spatial(), recursion)
    errors = found.objective.check_derivatives(off_optimum(found))
    assert max(errors.values()) < 1e-6, errors  # of the differences: the next test is sharper


@pytest.mark.parametrize("n", [3, 8])
@pytest.mark.parametrize("recursion", RECURSIONS)
def test_recursive_derivatives_equal_automatic_differentiation(recursion, n: int):
    recursive, automatic = (
        movement(spatial(n), chosen) for chosen in (recursion, co.dynamics.by_differentiation(co.dynamics.newton_euler))
    )
    x = off_optimum(recursive)
    for mine, theirs in zip(derivatives(recursive, x), derivatives(automatic, x), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12 * np.abs(theirs).max())


def derivatives(found: Movement, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    assert found.objective.hessian is not None
    return *found.objective.first(x), found.objective.hessian(x)


def test_automatic_differentiation_of_the_whole_cost_agrees():
    """CasADi through the mapped graph: independent of every block derivative."""
    found = movement(spatial())
    nlp = co.transcribe(spatial(), co.BSpline(5), compile=False)  # its graphs are CasADi's own
    p, at, x = [2.0], off_optimum(found), ca.MX.sym("x", nlp.n_x)
    hessian, gradient = ca.hessian(nlp.f(x, p), x)
    reference = ca.Function("reference", [x], [gradient, hessian])(found.whole(at))
    _, mine, curvature = derivatives(found, at)
    np.testing.assert_allclose(mine, np.array(reference[0]).ravel()[nlp.free], rtol=1e-10, atol=1e-10)
    theirs = np.array(ca.densify(reference[1]))[np.ix_(nlp.free, nlp.free)]
    np.testing.assert_allclose(curvature, theirs, atol=1e-12 * np.abs(theirs).max())


def test_a_recursion_that_is_asked_for_is_used_for_gradient_and_hessian(monkeypatch: pytest.MonkeyPatch):
    def careless(model, q, qd, qdd, loads=()):
        found = co.dynamics.lie_sensitivities(model, q, qd, qdd, loads)
        return found._replace(dq=1.01 * found.dq)

    found = movement(spatial(), careless)
    assert found.objective.check_derivatives(off_optimum(found))["gradient"] > 1e-4
    exact = co.dynamics.lie_hessian
    monkeypatch.setattr(colloc.dynamics, "lie_hessian", lambda *given: 1.01 * exact(*given), raising=False)
    for recursion, wrong in (
        (co.dynamics.lie_sensitivities, True),
        (co.dynamics.by_differentiation(co.dynamics.lie), False),
        (None, False),
    ):
        found = movement(spatial(), recursion)
        assert (found.objective.check_derivatives(off_optimum(found))["hessian"] > 1e-6) is wrong


def test_a_wrong_recursion_is_seen():
    """The methods end without a step, or elsewhere."""

    def careless(model, q, qd, qdd, loads=()):
        found = co.dynamics.lie_sensitivities(model, q, qd, qdd, loads)
        return found._replace(dq=ca.SX(model.n, model.n))

    right = METHODS[0](movement(lift()).objective, movement(lift()).start(), Stop(1e-6))
    assert right.success
    wrong = movement(lift(), careless)
    for method in METHODS[:2]:
        run = method(wrong.objective, wrong.start(), Stop(1e-6))
        assert run.status is DescentStatus.NO_STEP or run.value > right.value * 1.001


def test_differentiations_of_one_formulation_are_equal():
    assert (
        co.dynamics.by_differentiation(co.dynamics.lie)
        == co.dynamics.by_differentiation(co.dynamics.lie)
        != co.dynamics.by_differentiation(co.dynamics.newton_euler)
    )


# -- optima -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lift, spatial])
def test_all_methods_and_solve_find_the_same_optimum(make):
    found = movement(make())
    solved = co.solve(found.nlp.problem, co.BSpline(5), plan=[co.refinement.Solve(tol=1.0)])
    for method in METHODS:
        run = method(found.objective, found.start(), Stop(1e-6))
        assert run.success
        assert run.value == pytest.approx(solved.cost, rel=1e-9)
        np.testing.assert_allclose(found.whole(run.x), solved.x, atol=1e-5)


def test_a_solution_is_a_motion():
    found = movement(lift(), intervals=20)
    run = METHODS[0](found.objective, found.start(), Stop(1e-8))
    solution = found.solution(run)
    assert solution.outcome.status is co.solver.Status.SOLVED
    assert solution.cost == pytest.approx(run.value, rel=1e-14)
    assert solution.iterations == run.iterations
    for s, q in ((0.0, 0.1), (1.0, 0.8)):
        end = solution.at(s)
        np.testing.assert_allclose(end.q, q, atol=1e-14)
        np.testing.assert_allclose(np.concatenate([end.qd, end.qdd]), 0, atol=1e-11)
    checks = co.verify(solution)
    assert checks.forward_error < 1e-6
    assert checks.kkt.stationarity < 1e-7
    fine = solution.at(np.linspace(0, 1, 20001))
    assert np.trapezoid(0.5 * (fine.tau**2).sum(axis=1), fine.t) == pytest.approx(run.value, rel=1e-4)
    assert len(co.plot.convergence(solution).axes[1].get_lines()) == 1
    assert "modified Newton: converged" in repr(solution)


@pytest.mark.parametrize(
    ("stop", "status"),
    [(Stop(1e-8, 2), co.solver.Status.ITERATION_LIMIT), (Stop(1e-300, 400), co.solver.Status.FAILED)],
)
def test_failed_descents_are_failed_solutions(stop: Stop, status: co.solver.Status):
    found = movement(lift())
    run = co.descent.bfgs(found.objective, found.start(), stop)
    assert found.solution(run).status is status


def test_no_other_motion_nearby_costs_less():
    found = movement(spatial())
    best = METHODS[0](found.objective, found.start(), Stop(1e-8))
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert found.objective.first(best.x + 0.01 * rng.standard_normal(best.x.size))[0] > best.value


def test_guesses_are_those_of_solve():
    found = movement(lift())
    middle = {0.0: [0.1, 0.1], 0.5: [1.0, -1.0], 1.0: [0.8, 0.8]}
    solution = found.solution(METHODS[0](found.objective, found.start(), Stop(1e-8)))
    bent, again = found.start(co.keyframes(middle)), found.start(solution)
    assert np.abs(bent - found.start()).max() > 0.5
    np.testing.assert_allclose(again, solution.x[found.nlp.free], atol=1e-12)


def test_parameters_are_values_of_the_problems():
    problem = spatial()
    nlp = co.transcribe(problem, co.BSpline(5))
    usual, windy = Movement(nlp), Movement(nlp, {"wind": 9.0})
    x = usual.start()
    assert usual.objective.first(x)[0] == pytest.approx(float(nlp.f(usual.whole(x), [2.0])))
    assert windy.objective.first(x)[0] == pytest.approx(float(nlp.f(usual.whole(x), [9.0])))
    with pytest.raises(co.InputError, match="no parameter named 'wnd'; did you mean 'wind'"):
        Movement(nlp, {"wnd": 1.0})


# -- what a descent cannot do -----------------------------------------------------------------------------------------

ARM = partial(co.Problem, two_link(), minimize=co.integral(effort))
REFUSED = {
    r"tau\[shoulder\], tau\[elbow\]": ARM(duration=1.0, subject_to=[*REST, co.bounds(tau=(-10, 10))]),
    r"final tau\[shoulder\]": ARM(duration=1.0, subject_to=[co.initial(q=0.0, qd=0.0), co.final(q=1.0, tau=0.0)]),
    "reach": ARM(duration=1.0, subject_to=[*REST, co.path(lambda now: now.q[0], upper=3.0, name="reach")]),
    r"qd\[shoulder\]": ARM(duration=1.0, subject_to=[*REST, co.bounds(qd=(-9, 9))]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_constraints_are_refused_by_name(name: str):
    with pytest.raises(
        co.InputError, match=f"may only have constraints on the state at its ends and bounds on .*, got .*{name}"
    ):
        Movement(co.transcribe(REFUSED[name], co.BSpline(5)))


@pytest.mark.parametrize("curve", [co.Radau(4), co.HermiteSimpson(4), co.Radau(breakpoints=(0, 0.2, 1), degree=(2, 4))])
def test_any_curve_descends_to_what_ipopt_finds(curve):
    """Degrees that differ and accelerations that jump among them."""
    found = Movement(co.transcribe(lift(), curve))
    assert max(found.objective.check_derivatives(off_optimum(found)).values()) < 1e-6
    run = co.descent.modified_newton(found.objective, found.start(), Stop(gradient=1e-6))
    assert run.status is DescentStatus.CONVERGED
    descended, solved = found.solution(run), co.solve(lift(), curve, plan=[co.refinement.Solve(tol=1.0)])
    assert descended.cost == pytest.approx(solved.cost, rel=1e-10)
    np.testing.assert_allclose(descended.q, solved.q, atol=1e-5)


def test_a_movement_without_choice_is_refused():
    with pytest.raises(co.InputError, match="fix all variables"):
        Movement(co.transcribe(lift(), co.BSpline(3)))


def test_a_movement_is_made_of_an_nlp():
    with pytest.raises(co.InputError, match="nlp must be an NLP"):
        Movement(lift())  # pyright: ignore[reportArgumentType]


# -- study ------------------------------------------------------------------------------------------------------------


def test_the_papers_comparison(tmp_path, capsys):
    numbers = colloc.studies.descents.two_link.main(
        ["--quick", "--figure", str(tmp_path / "figure.png"), "--json", str(tmp_path / "numbers.json")]
    )
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == numbers
    assert (tmp_path / "figure.png").stat().st_size > 20_000
    for kind in ("iterations", "seconds", "cost"):
        assert {f"{kind}.{name}" for name in ("newton", "bfgs", "steepest_descent", "ipopt")} <= set(numbers)
    assert numbers["iterations.newton"] <= 13 < numbers["iterations.bfgs"] <= 45
    assert numbers["iterations.ipopt"] <= 13
    assert numbers["iterations.steepest_descent"] == 200
    assert not numbers["converged.steepest_descent"]
    assert numbers["optimum.spread"] < 1e-10
    assert numbers["optimum.solve"] == pytest.approx(numbers["optimum.newton"], rel=1e-10)
    assert numbers["cost.newton"] == pytest.approx(53.43186659, rel=1e-7)
    assert "steepest descent" in capsys.readouterr().out


def test_the_lifting_motion_has_two_links_at_right_angles_in_the_end():
    study = colloc.studies.descents.two_link
    with pytest.warns(co.refinement.SolutionWarning, match="or above the optimum"):  # by 75 %, on so few polynomials
        solution = co.solve(study.problem, study.CURVE)
    np.testing.assert_allclose(solution.q[[0, -1]], [[-pi / 2, 0], [0, pi / 2]], atol=1e-12)
    assert solution.nlp.free.sum() == 6
    assert solution.nlp.n_x == 2 * 9 + 1
