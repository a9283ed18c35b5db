"""Interval arithmetic: bounds on the values of CasADi functions over boxes, many boxes at once.

Every operation rounds outward by units in the last place (Moore, Kearfott and Cloud 2009), elementary functions by
several, as much as NumPy's may be off. A function of symbols is evaluated instruction by instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

EPS = np.finfo(float).eps
_ELEMENTARY = 4  # units in the last place that values of sin, exp and so on may be off by


class Interval(NamedTuple):
    """Lower and upper bounds of numbers, arrays of one shape.

    Parameters
    ----------
    lower, upper : ndarray
    """

    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, radius: np.ndarray | float = 0.0) -> Interval:
        """All within a radius of some numbers."""
        values = np.asarray(values, dtype=float)
        return cls(values, values) if np.all(np.equal(radius, 0)) else cls(*_outward(values - radius, values + radius))

    @property
    def middle(self) -> np.ndarray:
        """Numbers in the middle, up to rounding."""
        return self.lower / 2 + self.upper / 2

    @property
    def radius(self) -> np.ndarray:
        """How far from these the bounds are, at most."""
        middle = self.middle
        return np.nextafter(np.maximum(self.upper - middle, middle - self.lower), np.inf)

    @property
    def magnitude(self) -> np.ndarray:
        """The largest size of a number within."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    def take(self, index: Any) -> Interval:
        """Some of them."""
        return Interval(self.lower[index], self.upper[index])


class NoIntervals(Exception):
    """A function has an operation that has no interval form here; says which."""


def scaled(a: Interval, factor: np.ndarray) -> Interval:
    """Intervals times numbers."""
    return _product(a, Interval(factor, factor))


def run_sums(terms: Interval, starts: np.ndarray) -> Interval:
    """Sums over runs of terms along the first axis, which begin at `starts`."""
    count = np.diff(np.append(starts, len(terms.lower))).max(initial=1)
    slack = count * EPS * np.add.reduceat(terms.magnitude, starts, axis=0)
    return Interval(
        *_outward(
            *(np.add.reduceat(side, starts, axis=0) + sign * slack for side, sign in zip(terms, (-1, 1), strict=True))
        )
    )


def scattered(shape: tuple[int, ...], place: np.ndarray, terms: Interval) -> Interval:
    """An array of sums of terms by their places in it, flat."""
    size = int(np.prod(shape))
    count = np.bincount(place, minlength=size) if place.size else np.zeros(size)
    lower, upper, total = (
        np.bincount(place, side, size) if place.size else np.zeros(size) for side in (*terms, terms.magnitude)
    )
    slack = (count + 1) * EPS * total
    return Interval(*(side.reshape(shape) for side in _outward(lower - slack, upper + slack)))


def interval_sum(a: Interval, b: Interval) -> Interval:
    """The sum of two arrays of intervals."""
    return Interval(*_outward(a.lower + b.lower, a.upper + b.upper))


def evaluate(function: ca.Function, arguments: list[Interval], size: int) -> list[Interval]:
    """Bounds on the nonzeros of a function's results over boxes.

    Parameters
    ----------
    function : Function
        Of SX, dense in its arguments.
    arguments : list of Interval, each shape (numel, N) or (numel, 1)
    size : int
        N, the number of boxes.

    Returns
    -------
    list of Interval, each shape (nonzeros, N)

    Raises
    ------
    NoIntervals
        For operations that are not known here.
    """
    if function.class_name() != "SXFunction":
        raise NoIntervals("a matrix product formed in numbers")
    results = [
        Interval(np.zeros((n, size)), np.zeros((n, size)))
        for n in (function.nnz_out(k) for k in range(function.n_out()))
    ]
    work: list[Interval] = [Interval(np.zeros(size), np.zeros(size))] * max(function.sz_w(), 1)
    with np.errstate(all="ignore"):
        for k in range(function.n_instructions()):
            op, out, args = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
            if op == ca.OP_CONST:
                work[out[0]] = Interval.of(np.full(size, function.instruction_constant(k)))
            elif op == ca.OP_INPUT:
                work[out[0]] = Interval(*(np.broadcast_to(side[args[1]], (size,)) for side in arguments[args[0]]))
            elif op == ca.OP_OUTPUT:
                for side, value in zip(results[out[0]], work[args[0]], strict=True):
                    side[out[1]] = value
            elif op in _OPERATIONS:
                work[out[0]] = _OPERATIONS[op](*(work[a] for a in args))
            else:
                raise NoIntervals(f"operation {op}")
    return results


def _outward(lower: np.ndarray, upper: np.ndarray, ulps: int = 1) -> tuple[np.ndarray, np.ndarray]:
    for _ in range(ulps):
        lower, upper = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)
    # What is undefined may be anything.
    return np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)


def _hull(*corners: np.ndarray) -> Interval:
    """The interval around values, with all numbers where one is undefined."""
    undefined = np.any([np.isnan(corner) for corner in corners], axis=0)
    lower, upper = _outward(np.minimum.reduce(corners), np.maximum.reduce(corners))
    return Interval(np.where(undefined, -np.inf, lower), np.where(undefined, np.inf, upper))


def _product(a: Interval, b: Interval) -> Interval:
    return _hull(a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper)


def _quotient(a: Interval, b: Interval) -> Interval:
    return _product(a, _inverse(b))


def _inverse(a: Interval) -> Interval:
    lower, upper = _outward(1 / a.upper, 1 / a.lower)
    zero = (a.lower <= 0) & (a.upper >= 0)
    return Interval(np.where(zero, -np.inf, lower), np.where(zero, np.inf, upper))


def _square(a: Interval) -> Interval:
    around = (a.lower <= 0) & (a.upper >= 0)
    least = np.where(around, 0.0, np.minimum(a.lower**2, a.upper**2))
    lower, upper = _outward(least, a.magnitude**2)
    return Interval(np.maximum(lower, 0.0), upper)


def _power(a: Interval, b: Interval) -> Interval:
    exponent = b.lower
    if not (np.array_equal(b.lower, b.upper) and (exponent == exponent[0]).all()):
        return _exp(_product(b, _log(a)))
    whole = float(exponent[0])
    if whole != round(whole) or abs(whole) > 64:
        return _exp(_product(b, _log(a)))
    result, count = Interval.of(np.ones_like(a.lower)), int(abs(whole))
    for _ in range(count // 2):
        result = _product(result, _square(a))
    result = _product(result, a) if count % 2 else result
    return _inverse(result) if whole < 0 else result


def _rising(fn: Callable[[np.ndarray], np.ndarray]) -> Callable[[Interval], Interval]:
    return lambda a: Interval(*_outward(fn(a.lower), fn(a.upper), _ELEMENTARY))


def _waves(fn: Callable[[np.ndarray], np.ndarray], peak: float) -> Callable[[Interval], Interval]:
    """A function of period 2 pi between -1 and 1, which is at 1 at `peak`."""

    def meets(a: Interval, place: float) -> np.ndarray:
        slack = 1e-12 * (1 + a.magnitude)  # of the place, and of the number of periods
        first = np.ceil((a.lower - slack - place) / (2 * np.pi))
        return first <= np.floor((a.upper + slack - place) / (2 * np.pi))

    def bounds(a: Interval) -> Interval:
        ends = fn(a.lower), fn(a.upper)
        lower, upper = _outward(np.minimum(*ends), np.maximum(*ends), _ELEMENTARY)
        far = ~np.isfinite(a.magnitude) | (a.magnitude > 1e6)
        lower = np.where(far | meets(a, peak + np.pi), -1.0, np.maximum(lower, -1.0))
        return Interval(lower, np.where(far | meets(a, peak), 1.0, np.minimum(upper, 1.0)))

    return bounds


_exp, _log = _rising(np.exp), _rising(np.log)
_sin, _cos = _waves(np.sin, np.pi / 2), _waves(np.cos, 0.0)


def _falling_arc(a: Interval) -> Interval:
    return Interval(*_outward(np.arccos(a.upper), np.arccos(a.lower), _ELEMENTARY))


def _absolute(a: Interval) -> Interval:
    around = (a.lower <= 0) & (a.upper >= 0)
    return Interval(np.where(around, 0.0, np.minimum(np.abs(a.lower), np.abs(a.upper))), a.magnitude)


def _even_hyperbolic(a: Interval) -> Interval:
    size = _absolute(a)
    return Interval(*_outward(np.cosh(size.lower), np.cosh(size.upper), _ELEMENTARY))


_OPERATIONS: dict[int, Callable[..., Interval]] = {
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_ADD: interval_sum,
    ca.OP_SUB: lambda a, b: Interval(*_outward(a.lower - b.upper, a.upper - b.lower)),
    ca.OP_MUL: _product,
    ca.OP_DIV: _quotient,
    ca.OP_NEG: lambda a: Interval(-a.upper, -a.lower),
    ca.OP_INV: _inverse,
    ca.OP_SQ: _square,
    ca.OP_TWICE: lambda a: Interval(2 * a.lower, 2 * a.upper),
    ca.OP_SQRT: _rising(np.sqrt),
    ca.OP_POW: _power,
    ca.OP_CONSTPOW: _power,
    ca.OP_EXP: _exp,
    ca.OP_LOG: _log,
    ca.OP_SIN: _sin,
    ca.OP_COS: _cos,
    ca.OP_TAN: lambda a: _quotient(_sin(a), _cos(a)),
    ca.OP_ASIN: _rising(np.arcsin),
    ca.OP_ACOS: _falling_arc,
    ca.OP_ATAN: _rising(np.arctan),
    ca.OP_SINH: _rising(np.sinh),
    ca.OP_COSH: _even_hyperbolic,
    ca.OP_TANH: _rising(np.tanh),
    ca.OP_FABS: _absolute,
    ca.OP_FMIN: lambda a, b: Interval(np.minimum(a.lower, b.lower), np.minimum(a.upper, b.upper)),
    ca.OP_FMAX: lambda a, b: Interval(np.maximum(a.lower, b.lower), np.maximum(a.upper, b.upper)),
}
