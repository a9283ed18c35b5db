"""Constraints on functions of the instant: along the motion, at one time, between the ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.dynamics.rows import Rows
from colloc.model import Target
from colloc.model.shapes import SHAPES, Shape
from colloc.problem.rows import bounded, name_of, natural_size
from colloc.problem.statement import Statement
from colloc.problem.time_sets import WHOLE, Ends, TimePoint, TimeSet, window
from colloc.problem.unknowns import Free, State, component_labels
from colloc.support.checks import (
    InputError,
    as_tuple,
    copied,
    finite_array,
    finite_number,
    function,
    instance,
    interval,
    quoted,
    spelt,
    text,
)

_CLEARANCE = 0.1  # m, natural size of a distance between bodies
_SHORTEST = 0.7  # length of a quaternion's spline between the points where it is one


@dataclass(frozen=True)
class Condition(Statement):
    """A function held within bounds; made by `path`, `at` and `boundary`."""

    name: str
    fn: Callable[..., Any]  # of the instant, or of both ends
    lower: Any  # lower, upper: float or shape (rows,)
    upper: Any
    where: TimeSet
    scale: Any = None  # float or shape (rows,)
    unit: str | Sequence[str] = ""
    labels: tuple[str, ...] = ()  # names of the rows
    shapes: tuple[Shape, ...] = ()  # shapes that it keeps apart, for pictures

    def __post_init__(self):
        for name in ("lower", "upper", "scale"):
            object.__setattr__(self, name, copied(getattr(self, name)))

    def rows(self, *instants: Any) -> Rows:
        """The value of the function for one instant, for both ends, or for the ends of phases, as rows."""
        if self.where.instants == 2:
            arguments = ("start", "end") if len(instants) == 2 else ("phases",)
            function(f"boundary {self.name!r}", self.fn, "a function of the instant", *arguments)
        return bounded(self.name, self.fn(*instants), self.lower, self.upper, self.scale, self.unit, self.labels)

    @property
    def user_function(self) -> Callable[..., Any]:
        return self.fn

    @property
    def target(self) -> Target | None:
        return self.fn if isinstance(self.fn, Target) and not np.any([self.lower, self.upper]) else None

    def with_bounds(self, rows: Rows, lower: np.ndarray, upper: np.ndarray) -> Condition:
        return replace(self, lower=lower, upper=upper, scale=rows.scale)


@dataclass(frozen=True)
class StateEquation(Condition):
    """The differential equation of a state; made by `equation_of`."""

    follows = True
    measured_by_motion = True


def equation_of(state: State, horizon: Free) -> StateEquation:
    """The differential equation of a state, along the path; its natural size is that of the state over the duration."""
    size = natural_size(state.lower, state.upper) / (horizon.guess or horizon.middle)
    units = tuple(f"{unit}/s" if unit else "" for unit in state.units)
    labels = component_labels(state.equation_name, state.size, state.names)
    return StateEquation(state.equation_name, state.equation, 0.0, 0.0, WHOLE, size, units, labels)


@dataclass(frozen=True)
class UnitLength(Condition):
    """Length of the spline of a ball joint's quaternion; made by `unit_length`.

    The motion does not depend on it, as q at an instant is normalised. Length one at as many points as control points
    determines the spline. Between them it may differ, but not vanish: through zero a motion could jump to the negative
    quaternion, a whole turn in no time.
    """

    follows = True
    at_control_points = True


def unit_length(ball: str, places: tuple[slice, slice]) -> UnitLength:
    """Length of a ball joint's quaternion along the path; `places` are its entries, as in `Model.balls`."""
    squared = partial(_squared_length, places=places[0])
    names = f"unit quaternion of {ball}", f"quaternion of {ball} away from zero"
    return UnitLength(names[0], squared, (1.0, _SHORTEST**2), (1.0, np.inf), WHOLE, 1.0, "", names)


def _squared_length(now: Instant, places: slice) -> Any:
    return ca.repmat(ca.sumsqr(now.q[places]), 2)


@spelt
def path(
    fn: Callable[[Instant], Any],
    *,
    lower: Any = None,
    upper: Any = None,
    equals: Any = None,
    during: tuple[float, float] = (0.0, 1.0),
    scale: Any = None,
    unit: str | Sequence[str] = "",
    name: str | None = None,
    labels: Sequence[str] = (),
) -> Condition:
    """A function of the instant held within bounds.

    Parameters
    ----------
    fn : callable or Target
        Instant -> SX, scalar or column. A `model.Target` is its error, to be zero by default.
    lower, upper, equals : float or shape (rows,)
        Equations are met at as many points as the motion has degrees of freedom for, and in between to the accuracy
        that `Solution.error` reports.
    during : (float, float)
        Part of the motion, as fractions of its duration.
    scale : float or shape (rows,), optional
        Natural size of the rows, in their unit: solvers and reports of violations measure rows by it. By default half
        the range between the bounds, else the size of the only bound; a narrow band needs another. A bound far looser
        than the other one counts as at most 1e4 times that one, or 1e4.
    unit : str or sequence of str
        Unit of the rows, for reports: "m", "N m"; one for all or one for each.
    name : str, optional
    labels : sequence of str, optional
        Labels of the rows, appended to the name: muscles, directions. By default the joint or signal that a row
        depends on, else its number.

    See Also
    --------
    bounds, at, boundary, penalty, clearance

    Examples
    --------
    >>> clear = co.path(lambda now: now.point("elbow").position[0], upper=0.6, unit="m", name="wall")
    """
    return _condition("path", fn, name, (lower, upper, equals), window("path during", during), scale, unit, labels)


@spelt
def at(
    s: float, fn: Callable[[Instant], Any], *, lower: Any = None, upper: Any = None, equals: Any = None,
    scale: Any = None, unit: str | Sequence[str] = "", name: str | None = None, labels: Sequence[str] = (),
) -> Condition:  # fmt: skip
    """A function of the instant held within bounds at one time.

    Parameters
    ----------
    s : float
        The time as a fraction of the duration, 0 to 1.
    fn, lower, upper, equals, scale, unit, name, labels :
        As in `path`.

    See Also
    --------
    initial, final, path, boundary

    Examples
    --------
    >>> above = co.at(0.5, lambda now: now.point("elbow").position[1], lower=0.3, unit="m")
    >>> forearm_up = co.at(1.0, co.model.Target("elbow", axis=(1, 0, 0), direction=(0, 1, 0)))
    """
    time = finite_number("at s", s)
    if not 0 <= time <= 1:
        raise InputError(f"at s must lie in [0, 1] (a fraction of the duration), got {quoted(s)}")
    return _condition("at", fn, name, (lower, upper, equals), TimePoint(time), scale, unit, labels, f"at {time:g}")


@spelt
def clearance(
    a: Shape, b: Shape, *, by: float = 0.0, smoothing: float = 2e-3, during: tuple[float, float] = (0.0, 1.0),
    name: str | None = None,
) -> Condition:  # fmt: skip
    """A minimum distance between two shapes along the motion.

    Parameters
    ----------
    a, b : Capsule, Box or ConvexHull
    by : float [m]
        Smallest distance between their surfaces.
    smoothing : float [m]
        Largest extra distance that makes the constraint smooth at edges and corners; none between capsules.
    during : (float, float)
        Part of the motion, as fractions of its duration.
    name : str, optional

    See Also
    --------
    Capsule, Box, ConvexHull, path

    Examples
    --------
    >>> forearm = co.Capsule("elbow", (-0.4, 0, 0), (0, 0, 0), radius=0.04)
    >>> ball = co.Capsule(None, (0.5, 0.5, 0), (0.5, 0.5, 0), radius=0.1)
    >>> keep_off = co.clearance(forearm, ball, by=0.01)
    """
    for shape in (a, b):
        instance("shape", shape, Shape, SHAPES)
    least = finite_number("by", by)
    label = f"distance of {a.label} and {b.label}" if name is None else text("clearance name", name)
    distance = partial(_distance, a=a, b=b, smoothing=finite_number("smoothing", smoothing, positive=True))
    clearance = path(distance, lower=least, during=during, scale=_CLEARANCE, unit="m", name=label)
    return replace(clearance, shapes=(a, b))


def _distance(now: Instant, a: Shape, b: Shape, smoothing: float) -> Any:
    return now.distance(a, b, smoothing)


@spelt
def boundary(
    fn: Callable[..., Any], *, lower: Any = None, upper: Any = None, equals: Any = None,
    scale: Any = None, unit: str | Sequence[str] = "", name: str | None = None, labels: Sequence[str] = (),
) -> Condition:  # fmt: skip
    """A function of the first and the last instant held within bounds.

    Parameters
    ----------
    fn : callable
        (start, end) -> SX, scalar or column. In `Phases` a function of its phases by name, each with its `start`,
        `end` and `duration`.
    lower, upper, equals, scale, unit, name, labels :
        As in `path`.

    See Also
    --------
    initial, final, at, connect

    Examples
    --------
    >>> cyclic = co.boundary(lambda start, end: end.q - start.q, equals=0.0, unit="rad")
    """
    return _condition("boundary", fn, name, (lower, upper, equals), Ends(), scale, unit, labels)


def _condition(
    what: str,
    fn: Any,
    name: str | None,
    limits: Sequence[Any],
    where: TimeSet,
    scale: Any,
    unit: Any,
    labels: Any,
    fallback: str = "",
) -> Condition:
    if isinstance(fn, Target):
        fallback, unit, labels = f"target of {fn.body}", unit or fn.units, labels or fn.labels
        limits = (None, None, 0.0) if all(limit is None for limit in limits) else limits
    # Between ends it is called with both, or in a sequence with the phases: that shows when the problem is made.
    label = name_of(what, fn, name, *(() if where.instants == 2 else ("now",)))
    lower, upper = _limits(what, *limits)
    if scale is not None and not (finite_array(f"{what} scale", scale) > 0).all():
        raise InputError(f"{what} scale must be positive, got {quoted(scale)}")
    units = unit if isinstance(unit, str) else as_tuple(f"{what} unit", unit)
    for symbol in [units] if isinstance(units, str) else units:
        if not (isinstance(symbol, str) and symbol == ""):
            text(f"{what} unit", symbol)
    label = label or fallback or what
    names = tuple(f"{label}, {text(f'{what} labels', row)}" for row in as_tuple(f"{what} labels", labels))
    return Condition(label, fn, lower, upper, where, scale, units, names)


def _limits(what: str, lower: Any, upper: Any, equals: Any) -> tuple[Any, Any]:
    for side in (lower, upper, equals):
        if isinstance(side, bool | np.bool_):
            raise InputError(
                f"{what} bounds are numbers, got {side}: state a condition by its bounds, as in "
                f"co.path(lambda now: now.q[0], upper=1.0)"
            )
    if equals is not None:
        if lower is not None or upper is not None:
            raise InputError(f"{what}: give equals, or lower and upper, not both")
        return (value := finite_array(f"{what} equals", equals)), value
    if lower is None and upper is None:
        raise InputError(f"{what} needs lower, upper or equals")
    low, high = (-np.inf if lower is None else lower), (np.inf if upper is None else upper)
    interval(what, low, high)
    return low, high
