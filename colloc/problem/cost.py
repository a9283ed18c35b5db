"""Costs: weighted sums of named terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Any

import casadi as ca
import numpy as np

from colloc.problem.rows import bounded, name_of
from colloc.problem.user_functions import missing_call_hint
from colloc.support.checks import InputError, as_tuple, finite_number, instance, interval, quoted, spelt
from colloc.support.display import short
from colloc.support.pickling import Portable

_SMALLEST = 1e-300  # of a divisor


@dataclass(frozen=True)
class Term:
    """One term of a cost: weight times the duration, or a function of the instant, integrated or at the end."""

    name: str
    weight: float
    fn: Callable[[Any], Any] | None  # instant -> SX scalar; None for the duration
    final: bool = False  # whether the function is taken at the last instant instead of integrated


def weighed(term: Term, parameter: str, k: int) -> Term:
    """A term times an entry of a parameter, by its name."""
    return Term(term.name, term.weight, partial(_weighed, term.fn, parameter, k), final=term.final or term.fn is None)


def _weighed(fn: Any, parameter: str, k: int, now: Any) -> ca.SX:
    return now.parameters[parameter][k] * (now.duration if fn is None else fn(now))


@dataclass(frozen=True)
class Cost(Portable):
    """A sum of terms. Costs add, and scale with numbers: ``0.99 * duration() + 0.01 * integral(effort)``.

    Costs in order of importance add and scale level by level.

    Parameters
    ----------
    terms : tuple of Term
    later : tuple of Cost
        Less important costs, in their order: see the `minimize` of `Problem`.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau), name="effort")
    >>> [term.name for term in (0.99 * co.duration() + 0.01 * effort).terms]
    ['duration', 'effort']
    """

    terms: tuple[Term, ...]
    later: tuple[Cost, ...] = ()

    def __post_init__(self):
        for term in as_tuple("terms of a cost", self.terms):
            instance("term of a cost", term, Term, "see co.duration, co.integral")
        for cost in as_tuple("later costs", self.later):
            instance("later cost", cost, Cost, "see co.duration, co.integral")

    @property
    def is_duration(self) -> bool:
        """Whether the duration is the only cost."""
        return all(term.fn is None for term in self.terms)

    @property
    def levels(self) -> list[Cost]:
        """This cost, and those that are minimised while it is kept."""
        return [Cost(self.terms), *self.later]

    def __repr__(self) -> str:
        if self.later:
            return f"[{', '.join(map(repr, self.levels))}]"
        terms = [f"{short(term.weight)} * {term.name}{' at the end' * term.final}" for term in self.terms]
        return f"Cost({' + '.join(terms) or 'nothing'})"

    def __add__(self, other: Cost) -> Cost:
        first, *later = (
            Cost(own.terms + added.terms)
            for own, added in zip_longest(self.levels, _cost(other).levels, fillvalue=NOTHING)
        )
        return Cost(first.terms, tuple(later))

    def __radd__(self, other: Any) -> Cost:
        # The built-in sum begins with 0.
        return self if isinstance(other, int) and other == 0 else _cost(other) + self

    def __neg__(self) -> Cost:
        return -1.0 * self

    def __mul__(self, factor: float) -> Cost:
        factor = finite_number("cost factor", factor)
        terms = tuple(replace(term, weight=term.weight * factor) for term in self.terms)
        return Cost(terms, tuple(factor * cost for cost in self.later))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Cost:
        number = finite_number("cost divisor", divisor)
        if abs(number) < _SMALLEST:
            raise InputError(f"cost divisor must not be zero, got {quoted(divisor)}")
        return self * (1 / number)

    def __sub__(self, other: Cost) -> Cost:
        return self + -1.0 * _cost(other)


NOTHING = Cost(())


def checked_cost(value: Any, see: str = "co.duration, co.integral") -> Cost:
    """A cost, or the first of a list of costs with the others as `later`; InputError for anything else."""
    costs: list[Any] = list(value) if isinstance(value, list | tuple) and value else [value]
    for cost in costs:
        if not isinstance(cost, Cost):
            raise InputError(
                f"minimize must be a Cost (see {see}), or a list of costs in order of importance, got "
                f"{quoted(cost)}{missing_call_hint(cost)}"
            )
    first, *later = costs
    return Cost(first.terms, (*first.later, *later)) if later else first


def _cost(other: Any) -> Cost:
    if not isinstance(other, Cost):
        raise InputError(f"a cost can be added to a cost only, got {quoted(other)}")
    return other


@spelt
def duration() -> Cost:
    """The duration of the motion [s].

    See Also
    --------
    integral, final_cost

    Examples
    --------
    >>> mixed = 0.99 * co.duration() + 0.01 * co.integral(lambda now: ca.sumsqr(now.tau))
    """
    return Cost((Term("duration", 1.0, None),))


@spelt
def integral(fn: Callable[[Any], Any], name: str | None = None) -> Cost:
    """The time integral of a scalar function of the instant.

    Parameters
    ----------
    fn : callable
        Instant -> SX scalar.
    name : str, optional
        Name of the term in reports.

    See Also
    --------
    duration, final_cost, track

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau), name="squared torques")
    """
    return _of_function("integral", fn, name)


@spelt
def final_cost(fn: Callable[[Any], Any], name: str | None = None) -> Cost:
    """A scalar function of the last instant, the Mayer term of a cost (Lee et al. 2005, equation 2).

    Parameters
    ----------
    fn : callable
        Instant -> SX scalar.
    name : str, optional
        Name of the term in reports.

    See Also
    --------
    duration, integral

    Examples
    --------
    >>> goal = ca.DM([0.6, 0.3, 0.0])
    >>> miss = co.final_cost(lambda now: ca.sumsqr(now.point("elbow").position - goal), name="miss")
    """
    return _of_function("final_cost", fn, name)


@spelt
def penalty(
    fn: Callable[[Any], Any], *, lower: Any = None, upper: Any = None, weight: float, name: str | None = None
) -> Cost:
    """A cost of leaving bounds along the motion: a soft `path`, for methods without inequality constraints.

    The time integral of weight / 3 times the sum of the cubes of all excesses, which has continuous second
    derivatives and is zero within the bounds. An optimum exceeds them, by less the greater the weight (Lee et al. 2005,
    section II, call for such functions).

    Parameters
    ----------
    fn : callable
        Instant -> SX, scalar or column.
    lower, upper : float or shape (rows,)
        At least one of them.
    weight : float
        Positive; cost per second and cube of the unit of fn.
    name : str, optional
        Name of the term in reports.

    See Also
    --------
    path

    Examples
    --------
    >>> soft = co.penalty(lambda now: now.tau, lower=-10.0, upper=10.0, weight=1e3)
    """
    label = name_of("penalty", fn, name, "now") or "penalty"
    if lower is None and upper is None:
        raise InputError("penalty needs lower, upper or both")
    finite_number("penalty weight", weight, positive=True)
    limits = (-np.inf if lower is None else lower, np.inf if upper is None else upper)
    interval("penalty", *limits)
    return weight / 3 * integral(partial(_cubes, label, fn, *limits), label)


def _cubes(label: str, fn: Callable[[Any], Any], lower: Any, upper: Any, now: Any) -> ca.SX:
    rows = bounded(label, fn(now), lower, upper)
    excesses = []
    for k, (low, high) in enumerate(zip(rows.lower.tolist(), rows.upper.tolist(), strict=True)):
        value = rows.expression[k]
        excesses += [excess for excess, limit in ((low - value, low), (value - high, high)) if abs(limit) < np.inf]
    return ca.sum1(ca.fmax(ca.vertcat(*excesses), 0) ** 3)


def _of_function(kind: str, fn: Any, name: str | None) -> Cost:
    label = name_of(kind, fn, name, "now") or kind.replace("_", " ")
    return Cost((Term(label, 1.0, fn, final=kind == "final_cost"),))
