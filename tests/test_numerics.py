"""B-spline bases against SciPy; quadrature and collocation matrices against their defining conditions."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from colloc.numerics.bspline import SplineBasis
from colloc.numerics.quadrature import gauss, lagrange_integrals, lagrange_values, radau


def uniform(intervals: int, degree: int) -> SplineBasis:
    return SplineBasis.of(np.linspace(0, 1, intervals + 1), degree, degree - 1)


def uneven(intervals: int, degree: int) -> SplineBasis:
    """Random breakpoints with knots of random multiplicity."""
    rng = np.random.default_rng(intervals)
    ends = np.sort(np.concatenate([[0.0, 1.0], rng.random(intervals - 1)]))
    return SplineBasis.of(ends, degree, rng.integers(0, degree, intervals - 1))


@pytest.mark.parametrize("make", [uniform, uneven])
@pytest.mark.parametrize("degree", [1, 3, 5, 8])
@pytest.mark.parametrize("intervals", [1, 2, 7, 40])
def test_basis_and_derivatives_equal_scipy(degree: int, intervals: int, make):
    rng = np.random.default_rng(0)
    basis = make(intervals, degree)
    control = rng.standard_normal(basis.size)
    s = np.sort(np.concatenate([basis.breakpoints, rng.random(50)]))
    reference = BSpline(basis.knots, control, degree)
    first = basis.first[basis.interval(s)]
    for derivative in range(min(degree, 4)):
        weights = basis.values(s, derivative)
        ours = sum(weights[:, k] * control[first + k] for k in range(degree + 1))
        expected = reference(s, nu=derivative)
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-10 * max(1, abs(expected).max()))


@pytest.mark.parametrize("make", [uniform, uneven])
def test_control_points_of_the_derivative_equal_scipy(make):
    basis = make(9, 4)
    control = np.random.default_rng(0).standard_normal(basis.size)
    distinct = np.isfinite(basis.differences())  # a knot of full multiplicity lets the spline jump
    expected = BSpline(basis.knots, control, 4).derivative()
    if distinct.all():
        np.testing.assert_allclose(basis.differences() * np.diff(control), expected.c[: basis.size - 1], rtol=1e-12)
    np.testing.assert_array_equal(basis.derivative().knots, basis.knots[1:-1])


def test_a_breakpoint_is_seen_from_either_side():
    basis = SplineBasis.of(np.array([0.0, 0.3, 1.0]), 3, 1)
    control = np.random.default_rng(0).standard_normal(basis.size)
    middle = np.array([0.3, 0.3])
    sides = basis.values(middle, 2, np.array([0, 1]))
    left, right = (sides[k] @ control[basis.first[k] :][:4] for k in (0, 1))
    reference = BSpline(basis.knots, control, 3)
    assert left == pytest.approx(float(reference(0.3 - 1e-12, nu=2)), rel=1e-9)
    assert right == pytest.approx(float(reference(0.3, nu=2)), rel=1e-9)
    assert abs(left - right) > 1.0


def test_a_breakpoint_belongs_to_the_interval_on_its_right():
    intervals = 49
    s = np.arange(intervals) / intervals
    basis = uniform(intervals, 3)
    assert (basis.interval(s) == np.arange(intervals)).all()
    assert basis.interval(np.array([1.0]))[0] == intervals - 1


@pytest.mark.parametrize("degree", [3, 4, 7])
def test_interpolation_recovers_a_spline(degree: int):
    for basis in (uniform(23, degree), SplineBasis.of(np.array([0, 0.1, 0.5, 1.0]), degree, np.array([1, degree - 1]))):
        control = np.random.default_rng(1).standard_normal((basis.size, 2))
        values = BSpline(basis.knots, control, degree)(basis.greville())
        np.testing.assert_allclose(basis.interpolate(values), control, atol=1e-9)


@pytest.mark.parametrize("points", [1, 2, 4, 7])
def test_gauss_is_exact_to_its_degree_and_no_further(points: int):
    nodes, weights = gauss(points)
    assert weights @ nodes ** (2 * points - 1) == pytest.approx(1 / (2 * points), rel=1e-13)
    assert abs(weights @ nodes ** (2 * points) - 1 / (2 * points + 1)) > 1e-12


@pytest.mark.parametrize("points", range(1, 10))
def test_radau_points_satisfy_the_simplifying_assumptions(points: int):
    """B(2 d - 1) and C(d) of Hairer and Wanner (1996), section IV.5."""
    c = radau(points)
    a, b = lagrange_integrals(c, c), lagrange_integrals(c, np.ones(1))[0]
    assert c[-1] == 1
    for k in range(1, 2 * points):
        assert b @ c ** (k - 1) == pytest.approx(1 / k, abs=1e-12)
    for k in range(1, points + 1):
        np.testing.assert_allclose(a @ c ** (k - 1), c**k / k, atol=1e-11)


def test_radau_of_degree_three_in_closed_form():
    np.testing.assert_allclose(radau(3), [(4 - 6**0.5) / 10, (4 + 6**0.5) / 10, 1], atol=1e-15)


def test_lagrange_basis_reproduces_polynomials():
    c, u = np.array([0.0, 0.5, 1.0]), np.linspace(0, 1, 7)
    np.testing.assert_allclose(lagrange_values(c, u) @ (3 * c**2 - c + 2), 3 * u**2 - u + 2, atol=1e-14)
    np.testing.assert_allclose(lagrange_integrals(c, u) @ (3 * c**2), u**3, atol=1e-14)
