"""B-spline bases against SciPy; quadrature and collocation matrices against their defining conditions."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from colloc.numerics import bspline
from colloc.numerics.quadrature import gauss, lagrange_integrals, lagrange_values, radau


@pytest.mark.parametrize("degree", [1, 3, 5, 8])
@pytest.mark.parametrize("intervals", [1, 2, 7, 40])
def test_basis_and_derivatives_equal_scipy(degree: int, intervals: int):
    rng = np.random.default_rng(0)
    control = rng.standard_normal(intervals + degree)
    s = np.concatenate([np.linspace(0, 1, intervals + 1), rng.random(50)])
    reference = BSpline(bspline.knots(intervals, degree), control, degree)
    first = bspline.span(s, intervals)
    for derivative in range(min(degree, 4)):
        weights = bspline.basis(s, intervals, degree, derivative)
        ours = sum(weights[:, k] * control[first + k] for k in range(degree + 1))
        expected = reference(s, nu=derivative)
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-10 * max(1, abs(expected).max()))


def test_a_breakpoint_belongs_to_the_interval_on_its_right():
    intervals = 49
    s = np.arange(intervals) / intervals
    assert (bspline.span(s, intervals) == np.arange(intervals)).all()
    assert bspline.span(np.array([1.0]), intervals)[0] == intervals - 1


@pytest.mark.parametrize("degree", [3, 4, 7])
def test_interpolation_recovers_a_spline(degree: int):
    rng = np.random.default_rng(1)
    control = rng.standard_normal((23 + degree, 2))
    values = BSpline(bspline.knots(23, degree), control, degree)(bspline.greville(23, degree))
    np.testing.assert_allclose(bspline.interpolate(values, 23, degree), control, atol=1e-9)


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
