"""Units do not matter: answers under another unit of the cost or of mass; and what the solver tries in turn."""

import warnings
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import colloc as co
import colloc.solver.ipopt
from colloc.models.two_link import two_link
from colloc.solution.verify import kkt
from colloc.solution.warm_start import start_from
from colloc.solver import Start
from colloc.solver.scaling import run_scale
from colloc.studies.classics.states import bryson_denham
from tests.support.problems import effort, time_optimal

CURVES = [co.BSpline(20), co.Radau(20), co.HermiteSimpson(20)]


def lifting(factor: float, gravity: float = 9.81) -> co.Problem:
    """Least effort times a factor, torques bounded."""
    ends = [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0), co.bounds(tau=(-15, 15))]
    return co.Problem(two_link(gravity), 1.0, factor * co.integral(effort), ends)


def cart_pole(unit: float) -> co.Problem:
    """Swinging up a pole that has no motor, with masses and forces in other units of mass."""
    bodies = [
        co.Body("cart", co.prismatic(axis=(1, 0, 0)), mass=unit),
        co.Body("pole", co.revolute(axis=(0, 1, 0)), "cart", 0.3 * unit, com=(0, 0, -0.5), inertia=3 * (1e-3 * unit,)),
    ]
    return co.Problem(
        co.Model(bodies, gravity=(0, 0, -9.81)),
        2.0,
        co.integral(lambda now: now.tau[0] ** 2),
        [
            co.initial(q=0.0, qd=0.0),
            co.final(q=(1, np.pi), qd=0.0),
            co.bounds(q={"cart": (-2, 2)}, tau={"cart": (-20 * unit, 20 * unit), "pole": (0, 0)}),
        ],
    )


@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize("gravity", [9.81, 0.0])
def test_an_optimum_does_not_depend_on_the_unit_of_the_cost(curve, gravity):
    """Without gravity the straight line has no torque at all on a spline: its cost there gives no size."""
    plain = co.solve(lifting(1.0, gravity), curve)
    for factor in (1e-12, 1e-6, 1e6, 1e12):
        other = co.solve(lifting(factor, gravity), curve)
        assert other.cost / factor == pytest.approx(plain.cost, rel=1e-7)
        assert other.iterations == plain.iterations
        assert other.history["cost"][-1] == pytest.approx(other.cost, rel=1e-9)
        np.testing.assert_allclose(other.x, plain.x, atol=1e-6)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_multipliers_are_in_the_units_of_the_problem(curve):
    factor = 1e-6
    found = co.solve(lifting(factor), curve)
    residuals = kkt(found.nlp, found.x, found.parameters, found.multipliers["g"], found.multipliers["x"])
    assert residuals.stationarity < 1e-5 * factor
    warm = co.solve(lifting(1e3 * factor), curve, guess=found)
    assert warm.cost == pytest.approx(1e3 * found.cost, rel=1e-7)
    again = co.solve(found.problem, curve, guess=found)
    assert again.iterations <= 2


@pytest.mark.filterwarnings("ignore:.*denser than any matter")  # masses in grams
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_an_optimum_does_not_depend_on_the_unit_of_mass(curve):
    """The row tau = 0 has no size of its own."""
    plain = co.solve(cart_pole(1.0), curve, plan=[co.refinement.Solve(tol=0.1)])
    for unit in (1e-6, 1e6):
        other = co.solve(cart_pole(unit), curve, plan=[co.refinement.Solve(tol=0.1)])
        assert other.cost / unit**2 == pytest.approx(plain.cost, rel=1e-7)
        assert other.iterations == plain.iterations
        np.testing.assert_allclose(other.tau / unit, plain.tau, atol=1e-5)


def test_a_strategy_that_stalls_is_followed_by_another(monkeypatch: pytest.MonkeyPatch):
    problem, curve = time_optimal(), co.BSpline(20)
    plain = co.solve(problem, curve)
    assert plain.outcome.strategy == "monotone barrier"
    adaptive = co.solve(problem, curve, solver=co.Ipopt(mu_strategy="adaptive"))
    monkeypatch.setattr(colloc.solver.ipopt, "PATIENCE", 5)
    both = co.solve(problem, curve)
    assert both.outcome.strategy == "adaptive barrier"
    assert both.duration == pytest.approx(plain.duration, rel=1e-6)
    assert both.iterations == 5 + adaptive.iterations
    assert len(both.history["cost"]) == both.iterations + 2
    limited = co.solve(problem, curve, solver=co.Ipopt(max_iter=8), raise_on_failure=False)
    assert limited.iterations == 8
    assert limited.status is co.solver.Status.ITERATION_LIMIT


def test_a_cost_that_vanishes_at_the_start_has_a_scale():
    """From no control at all; a scale of 1e-7 took 40 to 90 iterations."""
    nlp = co.transcribe(bryson_denham(1 / 9), co.HermiteSimpson(40), compile=False)
    x = start_from(nlp, None, np.zeros(0)).x
    assert float(nlp.f(x, [])) == 0
    assert 1e-5 < run_scale(nlp, x, np.zeros(0)).cost < 1
    outcome = co.Ipopt().prepare(nlp)(co.solver.Start(x), np.zeros(0))
    assert float(nlp.f(outcome.x, [])) == pytest.approx(4.0, rel=1e-3)
    assert outcome.iterations < 35


def test_a_users_strategy_is_the_only_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(colloc.solver.ipopt, "PATIENCE", 5)
    for strategy in ("monotone", "adaptive"):
        found = co.solve(time_optimal(), co.BSpline(20), solver=co.Ipopt(mu_strategy=strategy))
        assert found.outcome.strategy == f"{strategy} barrier"
        assert len(found.history["cost"]) == found.iterations + 1


def test_a_solver_that_cannot_begin_has_made_no_iterations():
    """More equations than unknowns, which IPOPT refuses without having counted anything."""
    straight = co.path(lambda now: ca.vertcat(now.q, now.qd) - now.t, equals=0.0)
    nlp = co.transcribe(
        co.Problem(two_link(), 1.0, co.integral(effort), [co.initial(q=0.0), co.final(q=1.0), straight]), co.BSpline(10)
    )
    start = np.zeros(nlp.n_x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = co.Ipopt().prepare(nlp)(Start(start), np.zeros(0))
    assert outcome.message == "Not_Enough_Degrees_Of_Freedom"
    assert outcome.iterations == 0
    assert outcome.history.get("cost", []) == []


@pytest.mark.parametrize("guess", [0.12, 0.2, 1.0, 3.0, 9.0])
def test_a_duration_guessed_badly_costs_iterations_but_no_hundreds(guess):
    """Tight velocity limits and generous torques, after the robots in use."""
    problem = time_optimal()
    swift = [co.bounds(qd=(-2.0, 2.0), tau=(-60.0, 60.0))]
    ends = [one for one in problem.subject_to if not isinstance(one, type(swift[0]))]
    arm = co.Problem(problem.model, co.Free(0.05, 20.0, 0.6 * guess), co.duration(), [*ends, *swift])
    found = co.solve(arm, co.BSpline(40))
    assert found.success
    assert found.iterations < 150


def loosely(cost: co.problem.Cost, *, position: float, unknown: float, longest: float) -> co.Problem:
    """A short motion between bounds none of which it comes near to, beside a constant that is best at 2."""
    limits = co.Limits(position=(-position, position), torque=(-10, 10))
    arm = two_link()
    bodies = [replace(body, joint=replace(body.joint, limits=limits)) for body in arm.bodies]
    beside = co.Unknown("beside", constant=True, lower=-unknown, upper=unknown, guess=1.0)
    return co.Problem(
        co.Model(bodies, gravity=(0, -9.81, 0)),
        co.Free(0.05, longest),
        cost + co.integral(lambda now: (now.beside - 2) ** 2, "beside"),
        [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0)],
        [beside],
    )


@pytest.mark.filterwarnings("ignore:position limit is:colloc.support.InputWarning")
@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize("weight", [0.0, 1e-2])
def test_bounds_that_are_meant_as_none_do_not_move_an_optimum(curve, weight):
    cost = co.duration() + weight * co.integral(effort)
    plan = [co.refinement.Solve(tol=0.02)]  # 0.01 each of two sources
    near = co.solve(loosely(cost, position=6.0, unknown=5.0, longest=5.0), curve, plan=plan)
    for name, bounds in {
        "position": (1e3, 1e6, 1e20),
        "unknown": (1e4, 1e10, 1e20),
        "longest": (1e3, 1e6, 1e20),
    }.items():
        for bound in bounds:
            far = loosely(cost, **{"position": 6.0, "unknown": 5.0, "longest": 5.0} | {name: bound})
            found = co.solve(far, curve, plan=plan)
            assert (found.status, found.cost) == (near.status, pytest.approx(near.cost, rel=1e-4)), (name, bound)


@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize("upper", [1e3, 1e8, 1e20, np.inf])
def test_a_bound_counts_however_loose_the_other_one(curve, upper):
    """Below the ends of the motion it is kept, above them it is out of reach."""
    for lower, reached in ((-0.3, True), (0.15, False)):
        arch = co.path(lambda now: now.q[1] + 0.5 * (now.t - 0.5) ** 2 - 0.1, lower=lower, upper=upper)
        ends = [co.initial(q=(0, -0.2), qd=0), co.final(q=(1, -0.2), qd=0), arch]
        problem = co.Problem(two_link(), 1.0, co.integral(effort), ends)
        if reached:
            found = co.solve(problem, curve)
            assert found.success
            assert found.violation < 1e-4
        else:
            # In sizes of 1e4, as for a bound of 1e8, what is missed is too little for a proof.
            with pytest.raises(co.SolveError, match=r"^(infeasible|no feasible motion found)"):
                co.solve(problem, curve)


@pytest.mark.parametrize("duration", [1e-21, 1e300, co.Free(1e-20, 1e20)])
def test_a_duration_must_leave_numbers(duration):
    ends = [co.initial(q=0, qd=0), co.final(q=1, qd=0), co.bounds(tau=(-10, 10))]
    if isinstance(duration, co.Free):
        assert co.solve(co.Problem(two_link(), duration, co.duration(), ends), co.BSpline(20)).success
    else:
        with pytest.raises(co.InputError, match=r"duration must lie in \[1e-20, 1e\+20\] s"):
            co.Problem(two_link(), duration, co.integral(effort), ends)


@pytest.mark.parametrize("tight", [1e-9, 1e-60, 1e-250])
def test_bounds_that_are_meant_as_zero_are_found_out_of_reach(tight):
    """Rows in such sizes would be NaN, and IPOPT would not return."""
    rows = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0), co.bounds(tau=(-tight, tight))]
    with pytest.raises(co.SolveError, match="infeasible"):
        co.solve(co.Problem(two_link(), 1.0, co.integral(effort), rows), co.Radau(8))
