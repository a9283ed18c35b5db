"""Costates, the Hamiltonian and switching functions, against closed forms."""

from math import cos, pi, sin, tan

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.optimality.forces import forces
from colloc.optimality.hamiltonian import Instants, instants
from colloc.studies.classics import points, states
from colloc.transcription.differences import central_difference

G = 9.80665


def effort(**ends) -> co.Problem:
    """Half the squared force on a kilogram that goes a metre in a second, from rest to rest."""
    constraints = [co.initial(q=0.0, qd=0.0), co.final(**(ends or {"q": 1.0, "qd": 0.0}))]
    return co.Problem(points.particle("x"), 1.0, 0.5 * co.integral(lambda now: now.tau**2), constraints)


def sharp(problem: co.Problem, curve) -> co.Solution:
    return co.solve(problem, curve, solver=co.Ipopt(tol=1e-11), plan=[co.refinement.Solve(between="nodes")])


def principle(solution: co.Solution) -> Instants:
    lam_g, lam_x = solution.multipliers["g"], solution.multipliers["x"]
    acting = forces(solution.nlp, solution.x, solution.parameters, lam_g, lam_x)
    return instants(solution, co.optimality.costates(solution)[""], acting[""])


@pytest.mark.parametrize("curve", [co.BSpline(6), co.HermiteSimpson(4), co.Radau(4)], ids=str)
def test_least_effort_has_a_costate_of_velocity_that_is_linear(curve):
    along = co.optimality.costates(sharp(effort(), curve))[""]
    assert along.lam_q == pytest.approx(-12.0, abs=1e-8)  # u = 6 - 12 t
    assert along.lam_qd[:, 0] == pytest.approx(12 * along.t - 6, abs=1e-8)
    assert along.after_end == pytest.approx(0.0, abs=1e-8)


def test_the_hamiltonian_of_least_effort_is_the_value_at_the_start():
    now = principle(sharp(effort(), co.HermiteSimpson(4)))
    assert now.hamiltonian == pytest.approx(-18.0, abs=1e-8)  # u^2 / 2 + lam_qd u at t = 0
    assert now.gain == pytest.approx(0.0, abs=1e-12)
    assert now.switching["tau[x]"] == pytest.approx(0.0, abs=1e-8)


def test_a_velocity_that_is_free_at_the_end_has_no_costate_there():
    along = co.optimality.costates(sharp(effort(q=1.0), co.Radau(4)))[""]
    assert along.lam_qd[-1] == pytest.approx(0.0, abs=1e-8)
    assert along.lam_qd[:, 0] == pytest.approx(3 * (along.t - 1), abs=1e-8)  # u = 3 (1 - t)


def test_a_terminal_cost_is_the_costate_of_what_it_counts():
    problem = co.Problem(
        points.particle("x"),
        1.0,
        0.5 * co.integral(lambda now: now.tau**2) - 3.0 * co.final_cost(lambda now: now.q),
        [co.initial(q=0.0, qd=0.0)],
    )
    along = co.optimality.costates(sharp(problem, co.Radau(3)))[""]
    assert along.lam_q == pytest.approx(-3.0, abs=1e-8)
    assert along.lam_qd[:, 0] == pytest.approx(3 * (along.t - 1), abs=1e-8)


def test_a_terminal_cost_of_several_squares_is_one_row():
    def miss(now: co.problem.Instant) -> ca.SX:
        return ca.sumsqr(ca.vertcat(now.q - 1, now.qd))

    cost = 0.5 * co.integral(lambda now: now.tau**2) + co.final_cost(miss)
    solution = sharp(co.Problem(points.particle("x"), 1.0, cost, [co.initial(q=0.0, qd=0.0)]), co.Radau(4))
    along, end = co.optimality.costates(solution)[""], solution.at(1.0)
    assert along.lam_q[-1] == pytest.approx(2 * (end.q - 1), abs=1e-8)
    assert along.lam_qd[-1] == pytest.approx(2 * end.qd, abs=1e-8)


def test_the_switching_function_of_least_time_is_linear_and_zero_at_the_switch():
    solution = sharp(points.double_integrator(), co.Radau(4))
    now, along, T = principle(solution), co.optimality.costates(solution)[""], solution.duration
    assert along.lam_q[:, 0] == pytest.approx(-0.08 / 0.4, abs=1e-6)
    assert now.switching["tau[x]"] == pytest.approx((2 * now.t / T - 1) / 50, abs=1e-6)
    assert now.hamiltonian == pytest.approx(0.0, abs=1e-6)
    assert abs(now.expected) < 1e-12
    assert now.gain == pytest.approx(0.0, abs=1e-6)
    # The multiplier of a bound per second is the switching function, where that is not zero; in the mean near it.
    first = now.t < 0.19
    assert along.densities["tau[x]"][first] == pytest.approx(-now.switching["tau[x]"][first], abs=2e-3)


@pytest.mark.parametrize("intervals", [7, 10, 15])
def test_the_gain_of_other_controls_is_about_what_a_coarse_grid_is_too_slow_by(intervals):
    solution = co.solve(points.double_integrator(), co.BSpline(intervals), plan=[co.refinement.Solve(between="nodes")])
    now = principle(solution)
    assert now.weights @ now.gain / solution.cost == pytest.approx(1 - 0.4 / solution.cost, rel=0.15)


def test_the_costate_of_a_position_jumps_where_a_bound_begins_and_ends_to_act():
    solution = sharp(points.bryson_denham(1 / 9), co.BSpline(9))
    along = co.optimality.costates(solution)[""]
    arc = np.tile([1.0, 1, 1, 0, 0, 0, -1, -1, -1], (7, 1)).T.ravel()
    assert along.lam_q[:, 0] == pytest.approx(18 * arc, abs=18e-4)  # u = -6 (1 - 3 t) until t = 1/3
    u = -6 * np.maximum(0, 1 - 3 * np.minimum(along.t, 1 - along.t))
    assert along.lam_qd[:, 0] == pytest.approx(-u, abs=6e-4)


@pytest.mark.parametrize(("degree", "off"), [(4, 1e-4), (3, 2e-2)])
def test_a_bound_on_velocity_acts_as_a_density_along_its_arc(degree, off):
    """u = u0 (1 - t / t1) until the speed v = u0 t1 / 2 is reached, with v (1 - 2 t1 / 3) = 1 m, and the same back."""
    problem, t1, u0 = effort(), 0.3, 25 / 3
    limit = co.bounds(qd=(-1.25, 1.25))
    problem = co.Problem(problem.model, 1.0, problem.minimize, [*problem.subject_to, limit])
    curve = co.BSpline(breakpoints=(0.0, 0.15, 0.3, 0.4, 0.5, 0.7, 0.8, 1.0), degree=degree, continuity=2)
    along = co.optimality.costates(sharp(problem, curve))[""]
    push = u0 * (np.maximum(0, 1 - along.t / t1) - np.maximum(0, 1 - (1 - along.t) / t1))
    assert along.lam_qd[:, 0] == pytest.approx(-push, abs=off * u0)
    assert along.lam_q == pytest.approx(-u0 / t1, rel=off)


def test_the_brachistochrone_has_the_costates_of_the_cycloid():
    low, high = 0.1, pi  # half the angle that the cycloid's wheel turns by: 10 m on, 5 m down
    for _ in range(60):
        angle = (low + high) / 2
        low, high = (angle, high) if (2 * angle - sin(2 * angle)) < 2 * (1 - cos(2 * angle)) else (low, angle)
    omega = (G * (1 - cos(2 * angle)) / 20) ** 0.5
    solution = sharp(states.brachistochrone(), co.Radau(20))
    along = co.optimality.costates(solution)[""]
    x, y = -omega / G, omega / G / tan(angle)
    speed = (x * (np.cos(omega * along.t) - cos(angle)) - y * (sin(angle) - np.sin(omega * along.t))) / omega
    assert along.lam_states == pytest.approx(np.column_stack([0 * along.t + x, 0 * along.t + y, speed]), abs=1e-5)
    assert principle(solution).hamiltonian == pytest.approx(0.0, abs=1e-4)


@pytest.mark.filterwarnings("ignore:.*(switches in interval|add up to)")  # of an even grid
@pytest.mark.parametrize(("fast", "s"), [(False, 0.5), (True, 0.0625)])
def test_costates_are_what_the_rest_would_cost_from_other_states(fast, s):
    """Bellman: by central differences of the optimal cost of what is left, of an arm with torque bounds.

    The least time has a slope until the first switch; after it the rest has fewer switches than there are directions.
    """
    T = 0.6

    def solved(state: np.ndarray, intervals: int, left: float) -> co.Solution:
        ends = [co.initial(q=state[:2], qd=state[2:]), co.final(q=(1.0, -1.0), qd=0.0)]
        limits = co.bounds(tau=(-10.0, 10.0))
        cost = co.duration() if fast else co.integral(lambda now: now.tau.T @ now.tau)
        problem = co.Problem(two_link(9.81), co.Free(0.05, 5.0, left) if fast else left, cost, [*ends, limits])
        return co.solve(
            problem,
            co.HermiteSimpson(intervals),
            solver=co.Ipopt(tol=1e-11),
            plan=[co.refinement.Solve(between="nodes")],
        )

    whole = solved(np.array([0.0, -2.0, 0.1, -0.1]), 16, T)
    left, now = whole.duration * (1 - s), whole.at(whole.duration * s)
    state, intervals = np.append(now.q, now.qd), round(16 * (1 - s))
    slopes = [central_difference(lambda y: np.array([solved(y, intervals, left).cost]), state, e)[0] for e in np.eye(4)]
    along = co.optimality.costates(whole)[""]
    k = np.abs(along.t - whole.duration * s).argmin()
    costates = np.append(along.lam_q[k], along.lam_qd[k])
    off = 2e-2 if fast else 1e-3  # torques that switch within an interval take their share of the coarse grid's errors
    assert costates == pytest.approx(slopes, abs=off * np.abs(slopes).max())


def test_two_phases_have_the_costates_of_one_motion():
    cost = 0.5 * co.integral(lambda now: now.tau**2)
    first = co.Problem(points.particle("x"), 0.4, cost, [co.initial(q=0.0, qd=0.0)])
    second = co.Problem(points.particle("x"), 0.6, cost, [co.final(q=1.0, qd=0.0)])
    solution = co.solve(co.Phases({"first": first, "second": second}), co.HermiteSimpson(4))
    for name, along in co.optimality.costates(solution).items():
        assert along.lam_q == pytest.approx(-12.0, abs=1e-7)
        assert along.lam_qd[:, 0] == pytest.approx(12 * (along.t + solution.start_times[name]) - 6, abs=1e-7)


def test_the_costate_of_a_velocity_jumps_at_an_impact():
    body = co.Body("ball", co.prismatic((0, 1, 0)), mass=2.0)
    ball = co.Model([body], gravity=(0, 0, 0), markers={"sole": ("ball", (0, 0, 0))})
    cost = co.integral(lambda now: now.tau**2)
    fall = co.Problem(ball, 1.0, cost, [co.initial(q=1.0, qd=-1.0)])
    rise = co.Problem(ball, 1.0, cost, [co.final(q=1.0, qd=0.0)])
    hit = co.impact("fall", "rise", {"sole": "y"}, restitution=0.5)
    before, after = co.optimality.costates(
        co.solve(co.Phases({"fall": fall, "rise": rise}, [hit]), co.Radau(3))
    ).values()
    assert abs(after.lam_qd[0, 0]) > 0.1
    assert before.lam_qd[-1] == pytest.approx(-0.5 * after.lam_qd[0], abs=1e-7)  # by the chain rule: qd+ = -0.5 qd-
    assert before.lam_q[-1] == pytest.approx(after.lam_q[0], abs=1e-7)


def test_time_in_the_problem_lets_the_hamiltonian_drift_as_it_should():
    problem = co.Problem(
        points.particle("x"),
        co.Free(0.5, 3.0),
        co.integral(lambda now: 1.0 + (1 + now.t) * now.tau**2),
        [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)],
    )
    now = principle(sharp(problem, co.Radau(10, degree=5)))
    assert np.ptp(now.hamiltonian) > 0.5
    assert now.hamiltonian - now.drift == pytest.approx(now.hamiltonian[0], abs=1e-5)
    assert now.hamiltonian[-1] == pytest.approx(0.0, abs=1e-5)  # at the end, which is free
    assert now.weights @ now.hamiltonian / now.weights.sum() == pytest.approx(now.expected, abs=1e-6)


def test_the_hamiltonian_may_jump_where_a_bound_begins_to_hold():
    problem = effort()
    limit = co.bounds(tau=(-2.5, 2.5), during=(0.8, 1.0))
    problem = co.Problem(problem.model, 1.0, problem.minimize, [*problem.subject_to, limit])
    now = principle(sharp(problem, co.Radau(breakpoints=(0.0, 0.4, 0.8, 1.0))))
    before, after = (now.hamiltonian[now.segment == k] for k in (0, 1))
    assert np.ptp(before) < 1e-6
    assert np.ptp(after) < 1e-6
    assert abs(before[0] - after[0]) > 1.0
    assert now.gain == pytest.approx(0.0, abs=1e-6)


def test_a_bounded_signal_is_a_control_like_a_bounded_torque():
    base, push = points.double_integrator(), co.Unknown("push", lower=-50.0, upper=50.0)
    constraints = [*base.subject_to[:2], co.path(lambda now: now.tau - now.push, equals=0.0, scale=50.0)]
    problem = co.Problem(base.model, base.duration, base.minimize, constraints, [push])
    fine, coarse = (
        co.solve(problem, curve, plan=[co.refinement.Solve(between="nodes")]) for curve in (co.Radau(4), co.Radau(5))
    )
    assert principle(fine).gain.max() < 1e-5
    now = principle(coarse)
    assert now.weights @ now.gain / coarse.cost == pytest.approx(1 - 0.4 / coarse.cost, rel=0.3)


def test_forces_do_no_work_in_any_movement():
    """The work of all forces in a movement of the spline is the slope of the Lagrangian: zero at an optimum."""
    solution = sharp(effort(), co.BSpline(5))
    acting = forces(solution.nlp, solution.x, solution.parameters, *(solution.multipliers[k] for k in "gx"))[""]
    for work in (acting.values[:, 0], acting.values[:, 0] * acting.s + acting.values[:, 1]):  # movements 1 and s
        assert abs(work.sum()) < 1e-9 < np.abs(work).max()


@pytest.mark.parametrize("rates", [False, True])
def test_a_penalty_on_jerk_makes_accelerations_states(rates):
    problem = effort()
    if rates:
        constraints = [co.initial(q=0.0, qd=0.0, qdd=0.0), co.final(q=1.0, qd=0.0, qdd=0.0)]
        problem = co.Problem(problem.model, 1.0, co.integral(lambda now: now.jerk**2 / 2), constraints)
    along = co.optimality.costates(sharp(problem, co.BSpline(6, degree=5)))[""]
    assert along.lam_higher.shape[1] == rates
    if rates:  # q = 10 t^3 - 15 t^4 + 6 t^5 (Flash and Hogan 1985)
        t = along.t
        assert along.lam_higher[:, 0] == pytest.approx(-(60 - 360 * t + 360 * t**2), abs=1e-6)
        assert along.lam_qd[:, 0] == pytest.approx(-360 + 720 * t, abs=1e-6)
        assert along.lam_q == pytest.approx(-720.0, abs=1e-6)


def test_what_has_no_costates_is_refused_by_name(closed_chain):
    with pytest.raises(co.InputError, match="got a closed chain"):
        co.optimality.costates(closed_chain)
