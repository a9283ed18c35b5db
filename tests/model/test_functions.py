"""Polynomials and splines against SciPy, and their derivatives against CasADi's."""

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import CubicSpline as ScipySpline
from scipy.interpolate import PPoly

import colloc as co
from colloc.model.coupling import Composition

X = np.array([-2.0, -1.2, -0.5, 0.3, 0.4, 1.7])
Y = np.array([0.3, -0.1, 0.2, 0.5, 0.45, -0.7])


def values(curve, x: np.ndarray, count: int = 4) -> np.ndarray:
    """Value and derivatives, shape (count + 1, N)."""
    q = ca.SX.sym("q")
    return np.array(ca.Function("f", [q], curve.derivatives(q, count)).map(x.size)(x.reshape(1, -1))).reshape(
        count + 1, -1
    )


def test_a_polynomial_is_numpys():
    x, coefficients = np.linspace(-2, 2, 9), (0.1, -0.2, 0.3, 1.0, -0.7, 0.2)
    polynomial = np.polynomial.Polynomial(coefficients)
    ours = values(co.model.Polynomial(coefficients), x)
    for k in range(5):
        np.testing.assert_allclose(ours[k], (polynomial.deriv(k) if k else polynomial)(x), rtol=1e-13, atol=1e-13)


def test_a_spline_through_points_of_a_cubic_is_the_cubic():
    """Its ends have the third derivative of a cubic, so that SciPy's spline with other ends is it as well."""
    y = 0.3 - X + 0.5 * X**2 - 0.2 * X**3
    x = np.linspace(-1.99, 1.69, 50)
    theirs = ScipySpline(X, y, bc_type="not-a-knot")
    ours = values(co.model.CubicSpline(X, y), x)
    for k in range(4):
        np.testing.assert_allclose(ours[k], theirs(x, k), atol=1e-12)


def test_a_spline_is_scipys_with_the_same_slopes_at_its_ends():
    spline, x = co.model.CubicSpline(X, Y), np.linspace(-1.99, 1.69, 50)
    ours = values(spline, x)
    ends = values(spline, X[[0, -1]])
    bounds: Any = ((1, ends[1, 0]), (1, ends[1, 1]))
    theirs = ScipySpline(X, Y, bc_type=bounds)
    for k in range(4):
        np.testing.assert_allclose(ours[k], theirs(x, k), atol=1e-11)
    # Third derivatives at the ends: those of cubics through four points.
    for points, at in ((slice(0, 4), -1.99), (slice(-4, None), 1.69)):
        cubic = np.polynomial.Polynomial.fit(X[points], Y[points], 3)
        np.testing.assert_allclose(values(spline, np.array([at]))[3], cubic.deriv(3)(at), rtol=1e-9)


def test_a_spline_is_straight_beyond_its_points():
    spline, out = co.model.CubicSpline(X, Y), np.array([-3.0, 2.5])
    ours, ends = values(spline, out), values(spline, X[[0, -1]])
    np.testing.assert_allclose(ours[0], ends[0] + ends[1] * (out - X[[0, -1]]), atol=1e-14)
    assert not ours[2:].any()


@pytest.mark.parametrize("n", [2, 3])
def test_two_points_are_joined_by_a_line_and_three_by_a_parabola(n):
    spline, x = co.model.CubicSpline(X[:n], Y[:n]), np.linspace(X[0], X[n - 1], 7)[:-1]
    polynomial = np.polynomial.Polynomial.fit(X[:n], Y[:n], n - 1)
    for k in range(3):
        expected = (polynomial.deriv(k) if k else polynomial)(x)
        np.testing.assert_allclose(values(spline, x)[k], expected, atol=1e-12)


def test_pieces_are_those_of_scipys_piecewise_polynomials():
    spline, x = co.model.CubicSpline(X, Y), np.linspace(-1.9, 1.6, 20)
    theirs = PPoly(spline.pieces[1:-1, ::-1].T, X)
    np.testing.assert_allclose(values(spline, x)[0], theirs(x), atol=1e-14)


def test_derivatives_are_casadis():
    inner = co.model.Coupling("a", 0.7, 0.1, co.model.CubicSpline(X, Y))
    outer = co.model.Coupling("b", 2.0, -1.0, co.model.Polynomial((0.2, 1.0, -0.5, 0.3)))
    bent = co.model.RoundedLine(X, Y)
    for curve in (inner.curve, outer.curve, bent, outer.after(inner).curve, inner.after(inner).curve):
        assert curve is not None
        q = ca.SX.sym("q")
        value, *ours = curve.derivatives(q, 4)
        theirs = [value]
        for _ in range(4):
            theirs.append(ca.jacobian(theirs[-1], q))
        gap = ca.Function("gap", [q], [ca.vertcat(*ours) - ca.vertcat(*theirs[1:])])
        for x in (-2.5, -1.0, 0.35, 1.1, 2.0):
            assert np.abs(np.array(gap(x))).max() < 1e-10


def test_straight_pieces_are_those_of_numpy_beside_their_corners():
    bent = co.model.RoundedLine(X, Y)
    far = np.array([-1.8, -1.4, -1.0, -0.7, 0.0, 0.6, 1.2])
    np.testing.assert_allclose(values(bent, far)[0], np.interp(far, X, Y), atol=1e-3)
    fine = np.linspace(X[0], X[-1], 2001)
    assert np.abs(values(bent, fine)[0] - np.interp(fine, X, Y)).max() < 1.2 * bent.off
    assert bent.off < 0.02
    np.testing.assert_allclose(values(bent, np.array([-4.0]))[0], Y[0] - 2.0 * (Y[1] - Y[0]) / 0.8, atol=1e-3)


def test_a_straight_line_after_a_curve_needs_no_composition():
    curve = co.model.CubicSpline(X, Y)
    both = co.model.Coupling("b", 2.0, 1.0).after(co.model.Coupling("a", 0.5, 3.0, curve))
    assert both == co.model.Coupling("a", 1.0, 7.0, curve)
    other = co.model.Coupling("b", curve=curve).after(co.model.Coupling("a", 2.0))
    assert isinstance(other.curve, Composition)
    np.testing.assert_allclose(values(other.curve, np.array([0.1]))[0], values(curve, np.array([0.2]))[0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: co.model.CubicSpline((0, 0), (1, 2)), r"x of a spline must increase, got \[0.0, 0.0\]"),
        (lambda: co.model.CubicSpline((0, 1), (1, 2, 3)), "as many x as y, got 2 and 3"),
        (lambda: co.model.CubicSpline((0,), (1,)), "x of a spline must be at least 2"),
        (lambda: co.model.RoundedLine((0, 0), (1, 2)), "x of straight pieces must increase, got"),
        (lambda: co.model.RoundedLine((0, 1), (1, 2, 3)), "as many x as y, got 2 and 3"),
        (lambda: co.model.Polynomial(()), "coefficients of a polynomial must be at least 1"),
        (lambda: co.model.Coupling("a", curve=abs), "curve of a coupling must be a Polynomial, a CubicSpline or have"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_is_no_curve_is_refused(make, words):
    with pytest.raises(co.InputError, match=words):
        make()
