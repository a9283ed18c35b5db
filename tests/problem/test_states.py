"""States with differential equations of their own: optima known otherwise, orders, error, simulation, wrong calls."""

import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.models.two_link import two_link
from colloc.studies.classics.states import (
    NOTHING,
    brachistochrone,
    bryson_denham,
    goddard,
    hypersensitive,
    steering,
    van_der_pol,
    x1,
)
from tests.support.problems import effort

CURVES = [co.BSpline(6), co.BSpline(5, degree=5, continuity=1), co.Radau(5), co.HermiteSimpson(6)]
CURVES += [co.BSpline(5, degree=5, continuity=1, knots="free")]


def quiet(problem: co.Problem, curve: Any = None, **given: Any) -> co.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        return co.solve(problem, curve, compile=False, progress=False, **given)


# -- problems without a mechanism, whose optima are known ------------------------------------------------------------


OPTIMA = {
    "x1": (x1, -0.256996962561, 1e-8),
    "hypersensitive": (hypersensitive, 6.7239253889, 1e-6),
    "van der Pol": (van_der_pol, 3.61518, 1e-5),
    "Bryson-Denham": (lambda: bryson_denham(1 / 9), 4.0, 1e-6),
    "Breakwell": (lambda: bryson_denham(0.1), 40 / 9, 1e-5),
    "Goddard": (goddard, -18550.8718638, 2e-5),
    "steering": (steering, 0.5545708783, 1e-8),
    "brachistochrone": (brachistochrone, 1.80160312, 1e-7),
}


@pytest.mark.parametrize("name", OPTIMA)
def test_optima_known_otherwise_are_found(name):
    make, optimum, rel = OPTIMA[name]
    solution = co.solve(make(), tol=1e-5, compile=False, progress=False)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.cost == pytest.approx(optimum, rel=rel)
    assert co.verify(solution).forward_error < 1e-4


def test_the_size_of_an_equation_is_that_of_the_state_over_the_duration():
    """A motion of half an hour is as exact as one of a second: sizes of rates do not depend on the unit of time."""

    def slow(unit: float) -> co.Problem:
        state = co.State("x", rate=lambda now: unit * now.u / 1800, lower=-2e-3, upper=2e-3)
        ends = [co.initial(states={"x": 0.0}), co.final(states={"x": 1e-3})]
        return co.Problem(NOTHING, 1800.0 / unit, co.integral(lambda now: now.u**2), ends, [co.Unknown("u"), state])

    for unit in (1.0, 60.0, 1800.0):
        np.testing.assert_allclose(slow(unit).rows["equation of x"].rows.scale, 2e-3 * unit / 1800)
    free = replace(slow(1.0), duration=co.Free(100.0, 400.0))
    np.testing.assert_allclose(free.rows["equation of x"].rows.scale, 1e-5)


# -- with a mechanism ------------------------------------------------------------------------------------------------


def driven_arm(**given: Any) -> co.Problem:
    """Torques that follow commands with a lag: the first order of a motor."""
    motors = co.State("force", 2, rate=lambda now: (now.command - now.force) / 0.05, **given)
    return co.Problem(
        two_link(),
        1.0,
        co.integral(effort) + 1e-3 * co.integral(lambda now: ca.sumsqr(now.command)),
        [
            co.initial(q=(0, -1), qd=0),
            co.final(q=(1, 0.5), qd=0),
            co.path(lambda now: now.tau - now.force, equals=[0.0, 0.0], name="drive"),
        ],
        [co.Unknown("command", 2), motors],
    )


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_derivatives_of_the_nlp_are_exact(curve):
    problem = driven_arm(lower=-60.0, upper=60.0)
    nlp = co.transcribe(problem, curve, compile=False)
    x = nlp.grid.interpolate(co.transcription.trajectory_from(problem, None))
    x = x + 1e-2 * np.random.default_rng(0).normal(size=x.size) * nlp.free
    assert max(nlp.check_derivatives(x).values()) < 1e-8
    problem = van_der_pol()
    nlp = co.transcribe(problem, curve, compile=False)
    assert max(nlp.check_derivatives(np.random.default_rng(1).normal(size=nlp.n_x)).values()) < 1e-8


def test_a_motor_follows_its_command():
    solution = quiet(driven_arm(), co.Radau(20, 4), tol=1e-5)
    assert solution.status is co.solver.Status.SOLVED
    t = np.linspace(0, 1, 101)
    force, rate, command = solution.evaluate(lambda now: (now.force, now.rate("force"), now.command), t)
    np.testing.assert_allclose(rate, (command - force) / 0.05, atol=1e-3 * np.abs(rate).max())
    np.testing.assert_allclose(force, solution.at(t).tau, atol=1e-4 * np.abs(force).max())
    assert co.verify(solution).local_error < 1e-5


def test_loads_and_torques_may_depend_on_states():
    """A jet at the tip that grows of itself: its force is known, and so is the torque that holds it."""
    grow = co.State("thrust", rate=lambda now: 0.5 * now.thrust)
    jet = co.Load("link2", force=lambda now: ca.vertcat(0, now.thrust, 0), point=(0, 0, 0))
    problem = co.Problem(
        planar_chain(2),
        1.0,
        co.integral(effort),
        [co.initial(q=0, qd=0, states={"thrust": 1.0}), co.final(q=0.5, qd=0)],
        [grow],
        loads=[jet],
    )
    solution = quiet(problem, co.Radau(12, 4))
    t = np.linspace(0, 1, 21)
    np.testing.assert_allclose(solution.at(t).thrust[:, 0], np.exp(t / 2), rtol=1e-7)
    assert co.verify(solution).forward_error < 1e-6
    alone = co.Problem(
        problem.model,
        1.0,
        problem.minimize,
        [co.initial(q=0, qd=0), co.final(q=0.5, qd=0)],
        loads=[co.Load("link2", force=lambda now: ca.vertcat(0, ca.exp(now.t / 2), 0), point=(0, 0, 0))],
    )
    same = quiet(alone, co.Radau(12, 4))
    assert solution.cost == pytest.approx(same.cost, rel=1e-7)


def test_rates_of_signals_may_cost_and_have_bounds():
    """x'' = u with u' in the cost: minimum jerk, 720."""
    mass = co.State("z", 2, rate=lambda now: [now.z[1], now.u])
    problem = co.Problem(
        NOTHING,
        1.0,
        co.integral(lambda now: now.rate("u") ** 2),
        [
            co.initial(states={"z": (0.0, 0.0)}),
            co.final(states={"z": (1.0, 0.0)}),
            co.at(0.0, lambda now: now.u, equals=0.0),
            co.at(1.0, lambda now: now.u, equals=0.0),
        ],
        [co.Unknown("u"), mass],
    )
    solution = quiet(problem, co.BSpline(12, degree=6))
    assert solution.cost == pytest.approx(720, rel=1e-6)
    with pytest.raises(co.InputError, match="need continuous accelerations"):
        co.solve(problem, co.Radau(5))


# -- order, error, simulation ----------------------------------------------------------------------------------------


def decay(loose: float = np.inf) -> co.Problem:
    return co.Problem(
        NOTHING,
        1.0,
        co.final_cost(lambda now: now.y),
        [co.initial(states={"y": 1.0})],
        [co.State("y", rate=lambda now: -3 * now.y + ca.sin(5 * now.t), lower=-loose, upper=loose)],
    )


def exact(t: np.ndarray) -> np.ndarray:
    particular = (3 * np.sin(5 * t) - 5 * np.cos(5 * t)) / 34
    return particular + (1 + 5 / 34) * np.exp(-3 * t)


@pytest.mark.parametrize(
    ("coarse", "fine", "order"),
    [
        (co.Radau(4, 2), co.Radau(8, 2), 2.8),  # 2 degree - 1 at the ends of intervals
        (co.Radau(4, 3), co.Radau(8, 3), 4.8),
        (co.HermiteSimpson(6), co.HermiteSimpson(12), 3.8),
        (co.BSpline(4, degree=4, continuity=1), co.BSpline(8, degree=4, continuity=1), 5.8),  # 3 Gauss points
    ],
    ids=str,
)
def test_states_converge_with_the_order_of_their_points(coarse, fine, order):
    off = [abs(quiet(decay(), curve).cost - exact(np.array(1.0))) for curve in (coarse, fine)]
    assert np.log2(off[0] / off[1]) > order


def test_the_error_is_how_far_the_state_strays():
    """From the exact solution through the state at the start of each interval."""
    solution = quiet(decay(), co.Radau(5, 2))
    edges = solution.nlp.grid.breakpoints
    for k, (start, end) in enumerate(pairwise(edges)):
        times = np.linspace(start, end, 30)
        first = solution.at(start).y
        run = solve_ivp(lambda t, y: -3 * y + np.sin(5 * t), (start, end), first, t_eval=times, rtol=1e-11, atol=1e-13)
        strays = np.abs(run.y[0] - solution.at(times).y[:, 0]).max() / (
            1 + np.abs(solution.at(np.linspace(0, 1, 50)).y).max()
        )
        assert solution.error.equations[k] == pytest.approx(strays, rel=0.05)
    assert co.verify(solution).forward_error < 3 * solution.error.totals["equations"]


def test_loose_bounds_hide_no_error():
    """It is relative to what the state does, as are those of joints."""
    errors, simulated = [], []
    for loose in (np.inf, 1e3, 1e8, 1e20):
        solution = quiet(decay(loose), co.Radau(5, 2))
        errors.append(float(solution.error))
        simulated.append(co.verify(solution).forward_error)
    assert errors == pytest.approx(4 * errors[:1], rel=1e-3)
    assert simulated == pytest.approx(4 * simulated[:1], rel=1e-3)


def test_a_grid_too_coarse_for_a_state_says_so():
    with pytest.warns(co.refinement.SolutionWarning, match="equations are not satisfied, which changes the motion by"):
        solution = co.solve(hypersensitive(), co.BSpline(12), compile=False)
    assert solution.status is co.solver.Status.COARSE


@pytest.mark.parametrize("given", ["rate", "residual"])
def test_implicit_equations_are_the_same_as_explicit_ones(given):
    fns = {
        "rate": lambda now: -3 * now.y + ca.sin(5 * now.t),
        "residual": lambda now: ca.exp(now.rate("y") + 3 * now.y - ca.sin(5 * now.t)) - 1,
    }
    problem = co.Problem(
        NOTHING,
        1.0,
        co.final_cost(lambda now: now.y),
        [co.initial(states={"y": 1.0})],
        [co.State("y", **{given: fns[given]})],  # pyright: ignore[reportArgumentType],
    )
    solution = quiet(problem, co.Radau(8, 5), solver=co.Ipopt(tol=1e-12, constr_viol_tol=1e-12))
    assert solution.cost == pytest.approx(float(exact(np.array(1.0))), abs=1e-9)
    assert co.verify(solution).forward_error < 1e-8


# -- use -------------------------------------------------------------------------------------------------------------


def test_bounds_hold_at_all_times():
    solution = co.solve(bryson_denham(1 / 9), co.BSpline(20, degree=5, continuity=1), compile=False)
    assert solution.at(np.linspace(0, 1, 5001)).z[:, 0].max() < 1 / 9 + 1e-7


def test_a_solution_starts_another_and_is_kept_in_files(tmp_path):
    first = quiet(van_der_pol(), co.Radau(20))
    again = quiet(van_der_pol(), co.Radau(20), guess=first)
    other = quiet(van_der_pol(), co.Radau(30), guess=first)
    assert again.iterations < first.iterations
    assert other.cost == pytest.approx(first.cost, rel=1e-3)
    co.save(first, tmp_path / "v.npz")
    loaded = co.load(tmp_path / "v.npz", van_der_pol())
    np.testing.assert_array_equal(loaded.at(3.0).x1, first.at(3.0).x1)
    co.storage.to_csv(first, tmp_path / "v.csv")
    assert "x1" in (tmp_path / "v.csv").read_text(encoding="utf-8").splitlines()[0].split(",")


def test_a_guess_runs_between_stated_ends():
    problem = driven_arm(guess=2.0)
    guess = co.transcription.trajectory_from(problem, None)
    np.testing.assert_array_equal(guess.signal("force", np.array([0.0, 1.0])), np.full((2, 2), 2.0))
    guess = co.transcription.trajectory_from(hypersensitive(), None)
    np.testing.assert_allclose(guess.signal("y", np.array([0.0, 0.5, 1.0]))[:, 0], [1.0, 1.25, 1.5])


def test_ends_that_contradict_each_other_are_no_solution():
    state = co.State("y", rate=lambda now: 0.0 * now.y)
    problem = co.Problem(
        NOTHING,
        1.0,
        co.final_cost(lambda now: now.y),
        [co.initial(states={"y": 0.0}), co.final(states={"y": 1.0})],
        [state],
    )
    with pytest.raises((co.SolveError, co.InputError)):
        co.solve(problem, co.Radau(4), progress=False)


def stated(**given: Any) -> co.Problem:
    return co.Problem(
        NOTHING, 1.0, co.duration(), [co.initial(states=given)], [co.State("y", 2, rate=lambda now: -now.y)]
    )


WRONG = {
    "State 'y' needs a rate or a residual": lambda: co.State("y"),
    "needs a rate or a residual, one of them": lambda: co.State("y", rate=lambda now: 0, residual=lambda now: 0),
    "State 'y' needs a function of the instant, got 3.0": lambda: co.State("y", rate=3.0),  # pyright: ignore[reportArgumentType]
    "State name must be a Python identifier": lambda: co.State("1y", rate=lambda now: 0),
    "name 'rate' is taken": lambda: co.State("rate", rate=lambda now: 0),
    r"rate of State 'y' must have shape \(2,\), got \(3, 1\)": lambda: co.Problem(
        NOTHING, 1.0, co.duration(), (), [co.State("y", 2, rate=lambda now: [0, 0, 0])]
    ),
    r"rate of State 'y' must return SX, shape \(1,\), got 'x'": lambda: co.Problem(
        NOTHING, 1.0, co.duration(), (), [co.State("y", rate=lambda now: "x")]
    ),
    "no state named 'z'": lambda: stated(z=0.0),
    r"initial y must have shape \(2,\)": lambda: stated(y=(1.0, 2.0, 3.0)),
    "initial states must be a mapping": lambda: co.initial(states=3.0),  # pyright: ignore[reportArgumentType]
    "lies outside its bounds": lambda: co.Problem(
        NOTHING, 1.0, co.duration(), [co.final(states={"y": 3.0})], [co.State("y", rate=lambda now: 0, upper=1.0)]
    ),
    "no state or signal of a problem named 'w'": lambda: co.Problem(
        NOTHING, 1.0, co.integral(lambda now: now.rate("w")), (), [co.State("y", rate=lambda now: 0)]
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_calls_are_refused_by_name(message):
    with pytest.raises(co.InputError, match=message):
        WRONG[message]()
