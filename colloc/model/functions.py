"""Functions of one coordinate for couplings: polynomials and splines, with derivatives of any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import casadi as ca
import numpy as np

from colloc.support.checks import InputError, finite_array, quoted, spelt
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable

_ROUND = 0.01  # of the shorter piece beside a corner
_FITTED, _LARGEST_DEGREE = 400, 15  # points, and the largest degree of a smooth curve


class CoordinateFunction(Protocol):
    """A function of one coordinate with its derivatives, for couplings."""

    def derivatives(self, x: ca.SX, count: int) -> list[ca.SX]:
        """The value at x, SX, scalar, and the first `count` derivatives; structural zeros where they vanish."""
        ...


@spelt
@dataclass(frozen=True)
class Polynomial(Portable):
    """A polynomial of a coordinate.

    Parameters
    ----------
    coefficients : shape (degree + 1,)
        Constant first.

    Raises
    ------
    InputError
        Without coefficients, or for some that are not finite.

    See Also
    --------
    CubicSpline

    Examples
    --------
    >>> import casadi as ca
    >>> bent = co.model.Polynomial((0.1, 0.0, 2.0))
    >>> [float(x) for x in bent.derivatives(ca.SX(0.5), 2)]
    [0.6, 2.0, 4.0]
    """

    coefficients: Any

    def __post_init__(self):
        object.__setattr__(self, "coefficients", _numbers("coefficients of a polynomial", self.coefficients, 1))

    def derivatives(self, x: ca.SX, count: int) -> list[ca.SX]:
        return _horner([ca.SX(c) for c in self.coefficients], x, count)


@spelt
@dataclass(frozen=True)
class CubicSpline(Portable):
    """The cubic spline through points, straight beyond them.

    Value, slope and second derivative are continuous between the first point and the last. At both ends the third
    derivative is that of the cubic through the four points there (Forsythe, Malcolm and Moler 1977, section 4.4, as in
    SIMM and OpenSim); three points are joined by a parabola, two by a line. Beyond the ends the slope is constant, so
    that the second derivative jumps.

    Parameters
    ----------
    x : shape (points,)
        Increasing.
    y : shape (points,)

    Raises
    ------
    InputError
        For fewer than two points, or x that do not increase.

    See Also
    --------
    Polynomial

    Examples
    --------
    >>> import casadi as ca
    >>> spline = co.model.CubicSpline(x=(-1.0, 0.0, 1.0), y=(1.0, 0.0, 1.0))
    >>> [float(x) for x in spline.derivatives(ca.SX(0.5), 2)], float(spline.derivatives(ca.SX(2.0), 0)[0])
    ([0.25, 1.0, 2.0], 3.0)
    """

    x: Any
    y: Any

    def __post_init__(self):
        _check_points(self, "a spline", "a spline has")

    @cached_property
    def pieces(self) -> np.ndarray:
        """Coefficients of y, shape (points + 1, 4), by powers of the distance from the piece's point, constant first.

        The first piece is the line before the first point, with distances from that point.
        """
        x, y = np.array(self.x), np.array(self.y)
        h, slopes = np.diff(x), np.diff(y) / np.diff(x)
        bend = _second_derivatives(x, h, slopes)
        b = slopes - h * (2 * bend[:-1] + bend[1:]) / 6
        inner = np.column_stack([y[:-1], b, bend[:-1] / 2, np.diff(bend) / (6 * h)])
        end = slopes[-1] + h[-1] * (bend[-2] + 2 * bend[-1]) / 6
        return np.vstack([[y[0], b[0], 0.0, 0.0], inner, [y[-1], end, 0.0, 0.0]])

    def derivatives(self, x: ca.SX, count: int) -> list[ca.SX]:
        starts = [self.x[0], *self.x]
        rows = np.column_stack([starts, self.pieces])
        # Steps from piece to piece, exact because only one of them is selected; their derivatives are zero.
        chosen = ca.SX(ca.DM(rows[0]))
        for start, row in zip(self.x, rows[1:], strict=True):
            chosen = ca.if_else(x >= start, ca.SX(ca.DM(row)), chosen)
        start, *coefficients = ca.vertsplit(chosen)
        return _horner(coefficients, x - start, count)


@spelt
@dataclass(frozen=True)
class RoundedLine(Portable):
    """Straight pieces between points whose corners are rounded by hyperbolas; straight beyond the ends.

    At a corner the curve is off by half of the change in slope times the width, a hundredth of the shorter piece
    beside it, so that slopes are continuous there.

    Parameters
    ----------
    x : shape (points,)
        Increasing.
    y : shape (points,)

    Raises
    ------
    InputError
        For fewer than two points, or x that do not increase.

    See Also
    --------
    CubicSpline

    Examples
    --------
    >>> import casadi as ca
    >>> bent = co.model.RoundedLine(x=(-1.0, 0.0, 1.0), y=(0.0, 0.0, 1.0))
    >>> [round(float(x), 3) for x in bent.derivatives(ca.SX(0.5), 1)], round(bent.off, 4)
    ([0.5, 1.0], 0.005)
    """

    x: Any
    y: Any

    def __post_init__(self):
        _check_points(self, "straight pieces", "straight pieces have")

    @cached_property
    def _corners(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places, changes of slope, and widths."""
        steps = np.diff(self.x)
        return np.array(self.x[1:-1]), np.diff(np.diff(self.y) / steps), _ROUND * np.minimum(steps[:-1], steps[1:])

    @property
    def off(self) -> float:
        """Largest distance from the straight pieces."""
        _, bends, widths = self._corners
        return float(np.abs(bends * widths).max(initial=0.0)) / 2

    def derivatives(self, x: ca.SX, count: int) -> list[ca.SX]:
        """The value at x, SX, scalar, and the first `count` derivatives, four at most."""
        slope = (self.y[1] - self.y[0]) / (self.x[1] - self.x[0])
        total = [self.y[0] + slope * (x - self.x[0]), ca.SX(slope), *(ca.SX(1, 1) for _ in range(3))]
        for place, bend, w in zip(*self._corners, strict=True):
            d = x - place
            r = ca.sqrt(d**2 + w**2)
            # The line from the corner on, (d + |d|) / 2, with |d| rounded, and its derivatives.
            each = [(d + r) / 2, (1 + d / r) / 2, w**2 / (2 * r**3), -1.5 * w**2 * d / r**5]
            each.append(1.5 * w**2 * (4 * d**2 - w**2) / r**7)
            total = [whole + bend * part for whole, part in zip(total, each, strict=True)]
        return total[: count + 1]


def polynomial_near(
    curve: CoordinateFunction, ends: tuple[float, float], tolerance: float
) -> tuple[Polynomial, float] | None:
    """The polynomial of least degree, 15 at most, that is within a tolerance of a curve between two ends.

    A least-squares fit at Chebyshev points, and its largest distance from the curve; None if no degree is enough.
    """
    low, high = ends
    x = (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * (np.arange(_FITTED) + 0.5) / _FITTED)
    q = ca.SX.sym("q")
    y = np.array(ca.Function("curve", [q], curve.derivatives(q, 0)).map(_FITTED)(x[None])).ravel()
    for degree in range(2, _LARGEST_DEGREE + 1):
        fitted = Polynomial(np.polynomial.Chebyshev.fit(x, y, degree).convert(kind=np.polynomial.Polynomial).coef)
        off = float(np.abs(np.polynomial.polynomial.polyval(x, fitted.coefficients) - y).max())
        if off <= tolerance:
            return fitted, off
    return None


def _second_derivatives(x: np.ndarray, h: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Second derivatives at the points, shape (points,), of the spline with these steps and divided differences."""
    n = x.size
    if n == 2:
        return np.zeros(2)
    system, right = np.zeros((n, n)), np.zeros(n)
    for k in range(1, n - 1):  # the slope is continuous
        system[k, k - 1 : k + 2] = h[k - 1], 2 * (h[k - 1] + h[k]), h[k]
        right[k] = 6 * (slopes[k] - slopes[k - 1])
    system[0, :2], system[-1, -2:] = (-1.0, 1.0), (-1.0, 1.0)  # differences: the third derivative times the step
    if n > 3:
        for row, points, step in ((0, slice(0, 4), h[0]), (-1, slice(n - 4, n), h[-1])):
            third = slopes[:3] if row == 0 else slopes[-3:]
            ends = x[points]
            second = np.diff(third) / (ends[2:] - ends[:2])
            right[row] = 6 * step * float(np.diff(second)[0]) / (ends[3] - ends[0])
    return np.linalg.solve(system, right)


def _horner(coefficients: Sequence[ca.SX], x: ca.SX, count: int) -> list[ca.SX]:
    derivatives, factors = [], list(coefficients)
    for _ in range(count + 1):
        value = ca.SX(1, 1)
        for factor in reversed(factors):
            value = value * x + factor
        derivatives.append(value)
        factors = [k * factor for k, factor in enumerate(factors)][1:]
    return derivatives


def _check_points(curve: Any, what: str, it_has: str) -> None:
    """x and y of a curve through points in their final form; InputError unless x increase."""
    for name in ("x", "y"):
        object.__setattr__(curve, name, _numbers(f"{name} of {what}", getattr(curve, name), 2))
    if len(curve.x) != len(curve.y):
        raise InputError(f"{it_has} as many x as y, got {len(curve.x)} and {len(curve.y)}")
    if not (np.diff(curve.x) > 0).all():
        raise InputError(f"x of {what} must increase, got {quoted(list(curve.x))}")


def _numbers(name: str, values: Any, least: int) -> tuple[float, ...]:
    numbers = finite_array(name, values, (None,))
    if numbers.size < least:
        raise InputError(f"{name} must be at least {least}, got {quoted(values)}")
    return tuple(numbers.tolist())
