"""Balls on the ground: OpenSim's forces, Hertz's law, rest, rebound and friction."""

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import colloc as co
from colloc.muscles.path import symbolic_instant

# A ball that slides, rises and turns in the plane.
MODEL = co.Model(
    [
        co.Body("x", co.prismatic((1, 0, 0))),
        co.Body("y", co.prismatic((0, 1, 0)), "x"),
        co.Body("ball", co.revolute(), "y", mass=2.0, inertia=0.01 * np.eye(3)),
    ]
)


def force_function(sphere: co.problem.ContactSphere) -> ca.Function:
    now = symbolic_instant(MODEL)
    return ca.Function("force", [now.q, now.qd], [sphere.force(now)])


def force(sphere: co.problem.ContactSphere, q: list[float], qd: list[float]) -> np.ndarray:
    return force_function(sphere)(ca.DM(q), ca.DM(qd)).full().ravel()


def test_forces_are_those_of_opensim():
    """OpenSim 4.6, SmoothSphereHalfSpaceForce; its friction has a corner at twice this velocity of slipping."""
    heel = co.problem.ContactSphere("ball", (0, 0, 0), 0.035, stiffness=3067776.0)
    cases = (0.03934075375, 4030.573187204, -1813.757934242), (0.04434075375, 4817.947942228, -2168.076574003)
    for depth, normal, friction in cases:
        fx, fy, fz = force(heel, [0.0, 0.035 - depth, 0.0], [0.1, -0.3, 0.0])
        assert fy == pytest.approx(normal, rel=1e-9)  # depths are printed to 1e-11 m
        assert fx == pytest.approx(friction, rel=2e-4)
        assert fz == 0.0


def test_far_from_the_ground_and_deep_in_it():
    sphere = co.problem.ContactSphere("ball", (0, 0, 0), 0.05, stiffness=1e6)
    assert abs(force(sphere, [0, 0.2, 0], [0, 0, 0])[1]) < 1e-12
    depth = 0.03
    hertz = np.sqrt(2 * 0.05) / 3 * 1e6 * depth**1.5
    assert force(sphere, [0, 0.05 - depth, 0], [0, 0, 0])[1] == pytest.approx(hertz, rel=0.01)


def test_the_velocity_of_slipping_is_that_of_the_surface():
    """A ball that rolls has none; one that spins in place has its own."""
    sphere, depth = co.problem.ContactSphere("ball", (0, 0, 0), 0.05), 0.01
    lever = 0.05 - depth / 2
    rolling = force(sphere, [0, 0.05 - depth, 0.3], [1.0, 0.0, -1.0 / lever])
    spinning = force(sphere, [0, 0.05 - depth, 0.3], [0.0, 0.0, -1.0 / lever])
    sliding = force(sphere, [0, 0.05 - depth, 0.3], [-1.0, 0.0, 0.0])
    assert abs(rolling[0]) < 1e-6 * rolling[1]
    np.testing.assert_allclose(spinning, sliding, rtol=1e-12)


def test_friction_opposes_slipping_by_its_coefficient():
    sphere = co.problem.ContactSphere(
        "ball", (0, 0, 0), 0.05, static_friction=0.9, dynamic_friction=0.6, viscous_friction=0.0
    )
    for speed, coefficient in ((20.0, 0.6), (1.0, 0.6 + 2 * 0.3 / (1 + 25)), (-20.0, -0.6)):
        fx, fy, _ = force(sphere, [0, 0.04, 0], [speed, 0.0, 0.0])
        assert fx == pytest.approx(-coefficient * fy, rel=1e-3)
    fx, fy, _ = force(sphere, [0, 0.04, 0], [0.2, 0.0, 0.0])  # 7 % less than 0.9, where the corner was
    assert -fx / fy == pytest.approx(0.9 * 2**-0.1, rel=1e-3)


def test_a_ball_comes_to_rest_where_the_ground_carries_it_and_gains_nothing():
    sphere = co.problem.ContactSphere("ball", (0, 0, 0), 0.05, stiffness=1e5)
    push = force_function(sphere)

    def rate(t: float, x: np.ndarray) -> list[float]:
        fy = float(push([0, x[0], 0], [0, x[1], 0])[1])
        return [x[1], fy / 2.0 - 9.81]

    fall = solve_ivp(rate, (0.0, 1.5), [0.15, 0.0], rtol=1e-8, atol=1e-10, method="LSODA", max_step=1e-2)
    rest = brentq(lambda y: float(push([0, y, 0], [0, 0, 0])[1]) - 2.0 * 9.81, 0.03, 0.06, xtol=1e-12)
    assert fall.y[0, -1] == pytest.approx(rest, abs=1e-5)
    energy = 9.81 * fall.y[0] + fall.y[1] ** 2 / 2  # J/kg, without that of the indentation
    above = fall.y[0] > 0.06
    assert (np.diff(energy[above]) < 1e-6).all()


def test_its_wrench_is_its_load():
    """Torques by the load and by the wrench about the origin."""
    sphere = co.problem.ContactSphere("ball", (0.02, -0.01, 0.0), 0.05)
    q, qd = [0.1, 0.04, 0.3], [0.2, -0.1, 1.0]
    loaded = co.Evaluator(MODEL, loads=sphere.loads).torque(q, qd, [0, 0, 0])
    same = co.problem.ground.applied("ball", (0, 0, 0), sphere.wrench)
    np.testing.assert_allclose(loaded, co.Evaluator(MODEL, loads=[same]).torque(q, qd, [0, 0, 0]), rtol=1e-12)
    fx, fy, _ = force(sphere, q, qd)
    bare = co.Evaluator(MODEL).torque(q, qd, [0, 0, 0])
    np.testing.assert_allclose((loaded - bare)[:2], [-fx, -fy], rtol=1e-12)


def test_a_dropped_ball_in_a_problem_is_the_simulated_one():
    """Nothing to choose: the motion of a falling ball that meets the ground, by collocation."""
    sphere = co.problem.ContactSphere("ball", (0, 0, 0), 0.05, stiffness=2e4)
    free = co.bounds(tau=(0, 0))
    start = co.initial(q=(0.0, 0.08, 0.0), qd=(0.3, 0.0, 0.0))
    problem = co.Problem(MODEL, 0.2, co.integral(lambda now: 1e-6 * now.qd[1] ** 2), [start, free], parts=[sphere])
    solution = co.solve(problem, co.Radau(20), tol=1e-3)
    assert solution.status is co.solver.Status.SOLVED
    push = force_function(sphere)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        fx, fy, _ = push(x[:3], x[3:]).full().ravel()
        lever = (0.05 + x[1]) / 2  # radius less half the indentation
        return np.array([*x[3:], fx / 2.0, fy / 2.0 - 9.81, lever * fx / 0.01])

    fall = solve_ivp(rate, (0.0, 0.2), [0, 0.08, 0, 0.3, 0, 0], rtol=1e-9, atol=1e-11, method="LSODA", max_step=1e-3)
    np.testing.assert_allclose(solution.at(0.2).q, fall.y[:3, -1], atol=1e-3)


def test_misuse():
    with pytest.raises(co.InputError, match="radius of contact sphere 'ball' must be"):
        co.problem.ContactSphere("ball", (0, 0, 0), -0.05)
    with pytest.raises(co.InputError, match="static_friction of contact sphere 'toe' must not be negative"):
        co.problem.ContactSphere("ball", (0, 0, 0), 0.05, static_friction=-1, name="toe")
    with pytest.raises(co.InputError, match="center of a contact sphere must be of shape"):
        co.problem.ContactSphere("ball", (0, 0), 0.05)


def test_a_problem_takes_it_among_its_parts():
    effort = co.integral(lambda now: now.tau[0] ** 2)
    loads: Any = [co.problem.ContactSphere("ball", (0, 0, 0), 0.1)]
    with pytest.raises(co.InputError, match=r"loads cannot contain ContactSphere.*; give it among parts"):
        co.Problem(MODEL, 1.0, effort, loads=loads)
