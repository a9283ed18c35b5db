"""B-spline bases against SciPy; quadrature and collocation matrices against their defining conditions."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from colloc.curves.quadrature import gauss, lagrange_integrals, lagrange_values, radau
from colloc.curves.spline_basis import SplineBasis


def uniform(intervals: int, degree: int) -> SplineBasis:
    return SplineBasis.of(np.linspace(0, 1, intervals + 1), degree, degree - 1)


def uneven(intervals: int, degree: int) -> SplineBasis:
    """Random breakpoints with knots of random multiplicity, jumps of the values among them."""
    rng = np.random.default_rng(intervals)
    ends = np.sort(np.concatenate([[0.0, 1.0], rng.random(intervals - 1)]))
    return SplineBasis.of(ends, degree, rng.integers(-1, degree, intervals - 1))


def mixed(intervals: int, degrees: tuple[int, ...], continuity: int | tuple[int, ...]) -> SplineBasis:
    """Another degree on every interval, in turn."""
    widths = np.random.default_rng(intervals).uniform(0.5, 1.5, intervals)
    ends = np.append(0, np.cumsum(widths)) / widths.sum()
    return SplineBasis.of(ends, np.resize(degrees, intervals), np.resize(continuity, intervals - 1))


def reference(basis: SplineBasis, control: np.ndarray) -> BSpline:
    """SciPy's spline with the same control points: each breakpoint a knot as often as its degree of freedom wants."""
    (degree,) = set(basis.degrees.tolist())
    repeated = np.concatenate([[degree + 1], degree - basis.continuity, [degree + 1]])
    return BSpline(np.repeat(basis.breakpoints, repeated), control, degree)


def curve(basis: SplineBasis, control: np.ndarray, s: np.ndarray, derivative: int = 0, interval=None) -> np.ndarray:
    """The spline, or a derivative, from the functions that live on the interval of each s."""
    seen = basis.first[basis.interval(s) if interval is None else interval][:, None] + np.arange(basis.degree + 1)
    values = basis.values(s, derivative, interval)
    return np.einsum("nk,nk...->n...", values, control[np.minimum(seen, basis.size - 1)])


def shape(basis: SplineBasis) -> str:
    return f"{basis.degrees.tolist()} {basis.continuity.tolist()}"


MIXED = [
    mixed(4, (2, 5, 3, 4), 1), mixed(7, (3, 1, 6), 0), mixed(5, (0, 4, 1), -1), mixed(6, (4, 3, 2), (1, -1, 0)),
    mixed(9, (2, 2, 8), 1), mixed(2, (9, 2), 1),
]  # fmt: skip


@pytest.mark.parametrize("make", [uniform, uneven])
@pytest.mark.parametrize("degree", [0, 1, 3, 5, 8])
@pytest.mark.parametrize("intervals", [1, 2, 7, 40])
def test_basis_and_derivatives_equal_scipy(degree: int, intervals: int, make):
    rng = np.random.default_rng(0)
    basis = make(intervals, degree)
    control = rng.standard_normal(basis.size)
    s = np.sort(np.concatenate([basis.breakpoints, rng.random(50)]))
    for derivative in range(min(degree + 1, 4)):
        expected = reference(basis, control)(s, nu=derivative)
        tolerance = 1e-10 * max(1, abs(expected).max())
        np.testing.assert_allclose(curve(basis, control, s, derivative), expected, rtol=1e-9, atol=tolerance)


@pytest.mark.parametrize("continuity", [3, 1, 0])
def test_control_points_of_the_derivative_equal_scipy(continuity: int):
    basis = SplineBasis.of(uneven(9, 4).breakpoints, 4, continuity)
    control = np.random.default_rng(0).standard_normal(basis.size)
    expected = reference(basis, control).derivative()
    found = basis.derivative()
    np.testing.assert_allclose(basis.differences() * np.diff(control), expected.c[: found.size], rtol=1e-12)
    s = np.random.default_rng(1).random(100)
    np.testing.assert_allclose(
        curve(found, expected.c[: found.size], s), expected(s), atol=1e-10 * np.abs(expected.c).max()
    )


@pytest.mark.parametrize("basis", [basis for basis in MIXED if basis.continuity.min() >= 0], ids=shape)
def test_control_points_of_the_derivative_where_degrees_differ(basis: SplineBasis):
    control, s = np.random.default_rng(0).standard_normal((basis.size, 2)), np.random.default_rng(1).random(100)
    slope = basis.differences()[:, None] * np.diff(control, axis=0)
    expected = curve(basis, control, s, 1)
    np.testing.assert_allclose(
        curve(basis.derivative(), slope, s), expected, rtol=1e-9, atol=1e-10 * abs(expected).max()
    )


@pytest.mark.parametrize("basis", MIXED, ids=shape)
def test_every_interval_holds_all_polynomials_of_its_degree(basis: SplineBasis):
    """A polynomial of the lowest degree is reproduced everywhere, and the functions sum to 1 and are not negative."""
    s = np.random.default_rng(0).random(200)
    np.testing.assert_allclose(basis.values(s).sum(axis=1), 1, rtol=1e-13)
    assert basis.values(s).min() >= 0
    polynomial = np.polynomial.Polynomial(np.random.default_rng(1).standard_normal(basis.degrees.min() + 1))
    control = basis.interpolate(polynomial(basis.greville())[:, None])[:, 0]
    for derivative in range(3):
        expected = polynomial.deriv(derivative)(s) if derivative else polynomial(s)
        np.testing.assert_allclose(curve(basis, control, s, derivative), expected, atol=1e-8)
    # On one interval the functions that live there are independent: together they span its polynomials.
    for k, degree in enumerate(basis.degrees):
        start, end = basis.breakpoints[k : k + 2]
        inside = np.linspace(start, end, degree + 3)[1:-1]
        own = basis.values(inside, interval=np.full(degree + 1, k))
        assert np.linalg.matrix_rank(own[:, : degree + 1]) == degree + 1
        assert (own[:, degree + 1 :] == 0).all()


@pytest.mark.parametrize("basis", MIXED, ids=shape)
def test_as_many_derivatives_are_continuous_as_was_asked(basis: SplineBasis):
    """And no more; the freedoms are those of all polynomials less the conditions between them."""
    assert basis.size == (basis.degrees + 1).sum() - (basis.continuity + 1).sum()
    control = np.random.default_rng(0).standard_normal(basis.size)
    for k, continuity in enumerate(basis.continuity):
        at = np.full(2, basis.breakpoints[k + 1])
        for derivative in range(continuity + 1):
            left, right = curve(basis, control, at, derivative, np.array([k, k + 1]))
            assert left == pytest.approx(right, rel=1e-9, abs=1e-9)
        left, right = curve(basis, control, at, continuity + 1, np.array([k, k + 1]))
        assert abs(left - right) > 1e-3


def test_a_breakpoint_is_seen_from_either_side():
    basis = SplineBasis.of(np.array([0.0, 0.3, 1.0]), 3, 1)
    control = np.random.default_rng(0).standard_normal(basis.size)
    left, right = curve(basis, control, np.array([0.3, 0.3]), 2, np.array([0, 1]))
    expected = reference(basis, control)
    assert left == pytest.approx(float(expected(0.3 - 1e-12, nu=2)), rel=1e-9)
    assert right == pytest.approx(float(expected(0.3, nu=2)), rel=1e-9)
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
        values = reference(basis, control)(basis.greville())
        np.testing.assert_allclose(basis.interpolate(values), control, atol=1e-9)


@pytest.mark.parametrize("basis", [*MIXED, uneven(9, 3), uneven(6, 0)], ids=shape)
def test_interpolation_recovers_splines_that_jump_or_change_their_degree(basis: SplineBasis):
    """At sites of which each lies where its own function lives: one side of a jump."""
    s, interval = basis.sites()
    own = np.arange(basis.size) - basis.first[interval]
    assert (own >= 0).all()
    assert (basis.values(s, interval=interval)[np.arange(s.size), own] > 1e-3).all()
    control = np.random.default_rng(1).standard_normal((basis.size, 2))
    values = curve(basis, control, s, interval=interval)
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
