"""Order of convergence on smooth problems with closed-form answers, and exactness where it is due."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.linalg import expm

import colloc as co

TIGHT = co.Ipopt(tol=1e-11, acceptable_iter=0)
OMEGA, T = 3.0, 2.0
START, END = np.array([1.0, 0.0]), np.array([-0.4, 0.7])


def mass_on_a_rail(mass: float = 1.0, limits: co.Limits | None = None) -> co.Model:
    """One prismatic joint, no gravity."""
    return co.Model([co.Body("cart", co.prismatic(axis=(1, 0, 0), limits=limits), mass=mass)], gravity=(0, 0, 0))


def oscillator() -> co.Problem:
    """Steer q'' + omega^2 q = u between two states in a given time with least integral of u^2."""
    return co.Problem(
        mass_on_a_rail(),
        T,
        co.integral(lambda now: (now.tau[0] + OMEGA**2 * now.q[0]) ** 2),
        [co.initial(q=START[0], qd=START[1]), co.final(q=END[0], qd=END[1])],
    )


def exact_oscillator_cost() -> float:
    """d' W^-1 d with the controllability Gramian W (Kalman, Ho and Narendra 1963)."""
    a, b = np.array([[0, 1], [-(OMEGA**2), 0]]), np.array([[0.0], [1.0]])
    gramian, _ = quad_vec(lambda t: expm(a * t) @ b @ b.T @ expm(a * t).T, 0, T, epsabs=1e-14, epsrel=1e-14)
    gap = END - expm(a * T) @ START
    return float(gap @ np.linalg.solve(gramian, gap))


def test_the_closed_form_itself_solves_the_two_point_problem():
    """u = b' exp(a'(T - t)) W^-1 d steers the state, so the reference is not an assumption."""
    a, b = np.array([[0, 1], [-(OMEGA**2), 0]]), np.array([[0.0], [1.0]])
    gramian, _ = quad_vec(lambda t: expm(a * t) @ b @ b.T @ expm(a * t).T, 0, T, epsabs=1e-14)
    weights = np.linalg.solve(gramian, END - expm(a * T) @ START)
    reached, _ = quad_vec(lambda t: expm(a * (T - t)) @ b @ b.T @ expm(a * (T - t)).T @ weights, 0, T, epsabs=1e-14)
    np.testing.assert_allclose(expm(a * T) @ START + reached, END, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "intervals", "order"),
    [
        (lambda n: co.BSpline(n), (8, 16, 32), 4),  # error of the second derivative, h^(degree - 1), squared
        (lambda n: co.BSpline(n, degree=4), (6, 12, 24), 6),
        (lambda n: co.BSpline(n, degree=5), (6, 12, 24), 8),
        (lambda n: co.BSpline(n, degree=4, continuity=1), (6, 12, 24), 6),  # whatever the continuity
        (lambda n: co.HermiteSimpson(n), (8, 16, 32), 6),
        (lambda n: co.Radau(n, degree=1), (40, 80, 160), 2),
        (lambda n: co.Radau(n, degree=2), (10, 20, 40), 4),
        (lambda n: co.Radau(n, degree=3), (8, 16, 32), 6),
        (lambda n: co.Radau(n, degree=4), (4, 8, 16), 8),
    ],
    ids=["cubic", "quartic", "quintic", "quartic C1", "hermite_simpson", "radau1", "radau2", "radau3", "radau4"],
)
def test_the_cost_converges_with_the_textbook_order(make, intervals, order):
    exact = exact_oscillator_cost()
    problem = oscillator()
    errors = [abs(co.solve(problem, make(n), solver=TIGHT).cost - exact) for n in intervals]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert abs(slopes[-1] - order) < 0.35, (errors, slopes)


@pytest.mark.parametrize(
    ("make", "intervals", "order"),
    [
        (lambda n: co.HermiteSimpson(n), (8, 16, 32), 4),
        (lambda n: co.Radau(n, degree=2), (10, 20, 40), 3),
        (lambda n: co.Radau(n, degree=3), (8, 16, 32), 5),
        (lambda n: co.Radau(n, degree=4), (4, 8, 16), 7),
        (lambda n: co.BSpline(n, degree=4, continuity=1), (6, 12, 24), 6),
        (lambda n: co.BSpline(n, degree=5, continuity=1), (4, 8, 16), 8),
    ],
    ids=["hermite_simpson", "radau2", "radau3", "radau4", "gauss3", "gauss4"],
)
def test_the_end_of_an_initial_value_problem_converges_with_the_order_of_the_points(make, intervals, order):
    """q'' + omega^2 q = 0 as an equation along the path: superconvergence of collocation at ends of intervals.

    Orders of de Boor and Swartz (1973): 2 k of k Gauss points, one less of k Radau points, 4 of three Lobatto points.
    """
    spring = co.path(lambda now: now.qdd[0] + OMEGA**2 * now.q[0], equals=0.0)
    problem = co.Problem(
        mass_on_a_rail(), T, co.integral(lambda now: now.tau[0] ** 2), [co.initial(q=START[0], qd=START[1]), spring]
    )
    exact = START[0] * np.cos(OMEGA * T) + START[1] / OMEGA * np.sin(OMEGA * T)
    ends = [co.solve(problem, make(n), plan=[co.refinement.Solve(tol=10.0)]).at(T).q[0] for n in intervals]
    errors = np.abs(np.array(ends) - exact)
    slopes = np.log2(errors[:-1] / errors[1:])
    assert abs(slopes[-1] - order) < 0.35, (errors, slopes)


@pytest.mark.parametrize("curve", [co.BSpline(3), co.HermiteSimpson(4), co.Radau(3, 3)], ids=str)
def test_least_squared_force_of_a_point_mass_is_exact(curve):
    """The answer q = 3 s^2 - 2 s^3, tau = 6 - 12 s is in every curve's space: cost 12 to solver precision."""
    problem = co.Problem(
        mass_on_a_rail(),
        1.0,
        co.integral(lambda now: now.tau[0] ** 2),
        [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)],
    )
    solution = co.solve(problem, curve, solver=TIGHT)
    assert solution.success
    assert solution.cost == pytest.approx(12, rel=1e-11)
    s = np.linspace(0, 1, 11)
    np.testing.assert_allclose(solution.at(s).q[:, 0], 3 * s**2 - 2 * s**3, atol=1e-10)
    np.testing.assert_allclose(solution.at(s).tau[:, 0], 6 - 12 * s, atol=1e-8)


@pytest.mark.parametrize("curve", [co.Radau(10, 2), co.Radau(4, 3), co.Radau(20, 5)], ids=str)
def test_minimum_time_of_a_double_integrator(curve):
    """Distance d with |f| <= F: T = 2 sqrt(m d / F), force +F then -F; the switch is on the mesh."""
    m, d, F = 2.0, 1.5, 3.0
    problem = co.Problem(
        mass_on_a_rail(m, co.Limits(torque=(-F, F))),
        co.Free(0.1, 20.0, 5.0),
        co.duration(),
        [co.initial(q=0.0, qd=0.0), co.final(q=d, qd=0.0)],
    )
    solution = co.solve(problem, curve, solver=co.Ipopt(tol=1e-10))
    assert solution.success
    assert solution.duration == pytest.approx(2 * np.sqrt(m * d / F), abs=1e-6)
    early = solution.t < 0.49 * solution.duration
    np.testing.assert_allclose(solution.tau[early, 0], F, atol=1e-3)


def test_quadrature_of_the_cost_equals_a_fine_grid():
    """The cost of a rough motion against 4,001-point Simpson quadrature of its own curve."""
    problem = co.Problem(
        mass_on_a_rail(), 1.0, co.integral(lambda now: ca.exp(now.q[0]) * now.tau[0] ** 2),
        [co.initial(q=0.0, qd=0.0), co.at(0.3, lambda now: now.q[0], equals=2.0), co.final(q=1.0, qd=0.0)],
    )  # fmt: skip
    solution = co.solve(problem, co.BSpline(12))
    fine = np.linspace(0, 1, 4 * 12 * 100 + 1)
    sample = solution.at(fine)
    values = np.exp(sample.q[:, 0]) * sample.tau[:, 0] ** 2
    simpson = np.ones(fine.size)
    simpson[1:-1:2], simpson[2:-1:2] = 4, 2
    assert solution.cost == pytest.approx(simpson @ values * (fine[1] - fine[0]) / 3, rel=1e-6)
