"""What must hold: states at the ends, bounds, and functions of the instant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.checks import finite_array, finite_number, interval
from colloc.errors import InputError, unknown_name
from colloc.model import Model
from colloc.problem.instant import Instant

QUANTITIES = ("q", "qd", "qdd", "tau")


class Rows(NamedTuple):
    """A constraint in symbols: lower <= expression <= upper, with a label and a natural size (or NaN) for every row."""

    expression: ca.SX
    lower: np.ndarray
    upper: np.ndarray
    labels: tuple[str, ...]
    scale: np.ndarray


@dataclass(frozen=True)
class State:
    """Given joint values at the normalised time s; made by `initial` and `final`."""

    name: str
    s: float
    values: Mapping[str, Any]

    def rows(self, now: Instant) -> Rows:
        expressions, values, labels = [], [], []
        for quantity, value in self.values.items():
            joints, numbers = per_joint(f"{self.name} {quantity}", value, now.model)
            expressions.append(getattr(now, quantity)[joints])
            values.append(numbers)
            labels += [f"{self.name} {quantity}[{now.model.joint_names[j]}]" for j in joints]
        fixed = np.concatenate(values)
        return Rows(ca.vertcat(*expressions), fixed, fixed, tuple(labels), np.full(fixed.size, np.nan))


@dataclass(frozen=True)
class Bounds:
    """Bounds on joint quantities during the motion or a part of it; made by `bounds`."""

    limits: Mapping[str, tuple[Any, Any]]
    during: tuple[float, float] = (0.0, 1.0)

    def limits_of(self, quantity: str, model: Model) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds, each shape (n,), infinite where this states none."""
        lower, upper = np.full(model.n, -np.inf), np.full(model.n, np.inf)
        if quantity not in self.limits:
            return lower, upper
        value, name = self.limits[quantity], f"bounds {quantity}"
        if isinstance(value, Mapping):
            for joint, pair in value.items():
                j = _joint(model, joint)
                lower[j], upper[j] = interval(f"{name}[{joint}]", *_pair(name, pair))
            return lower, upper
        return interval(name, *_pair(name, value), (model.n,))


@dataclass(frozen=True)
class Path:
    """A function of the instant held within bounds during a part of the motion; made by `path`.

    `quantity` is the joint quantity that bounds and joint limits limit, with a label for every row.
    """

    name: str
    fn: Callable[[Instant], Any]
    lower: Any
    upper: Any
    during: tuple[float, float] = (0.0, 1.0)
    scale: Any = None
    quantity: str | None = None
    labels: tuple[str, ...] | None = None

    def rows(self, now: Instant) -> Rows:
        rows = _rows(self, self.fn(now))
        return rows if self.labels is None else rows._replace(labels=self.labels)


@dataclass(frozen=True)
class At:
    """A function of the instant held within bounds at one normalised time; made by `at`."""

    name: str
    s: float
    fn: Callable[[Instant], Any]
    lower: Any
    upper: Any
    scale: Any = None

    def rows(self, now: Instant) -> Rows:
        return _rows(self, self.fn(now))


@dataclass(frozen=True)
class Boundary:
    """A function of both ends of the motion held within bounds; made by `boundary`."""

    name: str
    fn: Callable[[Instant, Instant], Any]
    lower: Any
    upper: Any
    scale: Any = None

    def rows(self, start: Instant, end: Instant) -> Rows:
        return _rows(self, self.fn(start, end))


Constraint = State | Bounds | Path | At | Boundary


def initial(*, q: Any = None, qd: Any = None, qdd: Any = None, tau: Any = None) -> State:
    """Joint values at the start.

    Parameters
    ----------
    q, qd, qdd, tau : float, shape (n,), or mapping of joint name to float
        A scalar holds for every joint; a mapping for the joints it names; None leaves the quantity free.
    """
    return _state("initial", 0.0, q, qd, qdd, tau)


def final(*, q: Any = None, qd: Any = None, qdd: Any = None, tau: Any = None) -> State:
    """Joint values at the end; parameters as in `initial`."""
    return _state("final", 1.0, q, qd, qdd, tau)


def bounds(
    *, q: Any = None, qd: Any = None, qdd: Any = None, tau: Any = None, during: tuple[float, float] = (0.0, 1.0)
) -> Bounds:
    """Bounds on joint quantities; joint limits of the model hold as well.

    Parameters
    ----------
    q, qd, qdd, tau : (lower, upper), or mapping of joint name to (lower, upper)
        Each bound a scalar for every joint or shape (n,).
    during : (float, float)
        Part of the motion, as fractions of its duration. Bounds on q hold for the control points of a spline, and so
        at all times, in those of its intervals that lie within; in others at the nodes.
    """
    given = {k: v for k, v in zip(QUANTITIES, (q, qd, qdd, tau), strict=True) if v is not None}
    if not given:
        raise InputError(f"bounds needs at least one of {', '.join(QUANTITIES)}")
    for quantity, value in given.items():
        for pair in value.values() if isinstance(value, Mapping) else [value]:
            lower, upper = _pair(f"bounds {quantity}", pair)
            interval(f"bounds {quantity}", lower, upper)
    return Bounds(given, _window("bounds during", during))


def path(
    fn: Callable[[Instant], Any],
    *,
    lower: Any = None,
    upper: Any = None,
    equals: Any = None,
    during: tuple[float, float] = (0.0, 1.0),
    scale: Any = None,
    name: str | None = None,
) -> Path:
    """Hold a function of the instant within bounds.

    Parameters
    ----------
    fn : callable
        Instant -> SX, scalar or column.
    lower, upper, equals : float or shape (rows,)
    during : (float, float)
        Part of the motion, as fractions of its duration.
    scale : float or shape (rows,), optional
        Natural size of the rows, in their own unit: what a solver and reports of violations measure them by. By
        default half the range between the bounds, else the size of the one there is; a narrow band wants another.
    name : str, optional
    """
    low, high = _limits("path", lower, upper, equals)
    span = _window("path during", during)
    return Path(_named(fn, name, "path"), fn, low, high, span, _size("path", scale))


def at(
    s: float, fn: Callable[[Instant], Any], *, lower: Any = None, upper: Any = None, equals: Any = None,
    scale: Any = None, name: str | None = None,
) -> At:  # fmt: skip
    """Hold a function of the instant within bounds at one moment.

    Parameters
    ----------
    s : float
        The moment as a fraction of the duration, 0 to 1.
    fn, lower, upper, equals, scale, name :
        As in `path`.
    """
    moment = finite_number("at s", s)
    if not 0 <= moment <= 1:
        raise InputError(f"at s must lie in [0, 1] (a fraction of the duration), got {s!r}")
    limits = _limits("at", lower, upper, equals)
    return At(_named(fn, name, f"at {moment:g}"), moment, fn, *limits, _size("at", scale))


def boundary(
    fn: Callable[[Instant, Instant], Any], *, lower: Any = None, upper: Any = None, equals: Any = None,
    scale: Any = None, name: str | None = None,
) -> Boundary:  # fmt: skip
    """Hold a function of the first and the last instant within bounds.

    Parameters
    ----------
    fn : callable
        (start, end) -> SX, scalar or column.
    lower, upper, equals, scale, name :
        As in `path`.
    """
    limits = _limits("boundary", lower, upper, equals)
    return Boundary(_named(fn, name, "boundary"), fn, *limits, _size("boundary", scale))


def _state(name: str, s: float, *values: Any) -> State:
    given = {k: v for k, v in zip(QUANTITIES, values, strict=True) if v is not None}
    if not given:
        raise InputError(f"{name} needs at least one of {', '.join(QUANTITIES)}")
    for quantity, value in given.items():
        numbers = list(value.values()) if isinstance(value, Mapping) else value
        finite_array(f"{name} {quantity}", numbers, np.shape(numbers))
    return State(name, s, given)


def _size(what: str, scale: Any) -> Any:
    if scale is not None and not (finite_array(f"{what} scale", scale, np.shape(scale)) > 0).all():
        raise InputError(f"{what} scale must be positive, got {scale!r}")
    return scale


def _limits(what: str, lower: Any, upper: Any, equals: Any) -> tuple[Any, Any]:
    if equals is not None:
        if lower is not None or upper is not None:
            raise InputError(f"{what}: give equals, or lower and upper, not both")
        return (value := finite_array(f"{what} equals", equals, np.shape(equals))), value
    if lower is None and upper is None:
        raise InputError(f"{what} needs lower, upper or equals")
    low, high = (-np.inf if lower is None else lower), (np.inf if upper is None else upper)
    interval(what, low, high)
    return low, high


def _rows(constraint: Path | At | Boundary, value: Any) -> Rows:
    name = constraint.name
    try:
        expression = ca.SX(ca.vertcat(*value) if isinstance(value, list | tuple) else value)
    except (TypeError, NotImplementedError):
        raise InputError(f"constraint {name!r} must return an SX scalar or column, got {value!r}") from None
    if expression.shape[1] != 1 or expression.shape[0] == 0:
        raise InputError(f"constraint {name!r} must return a scalar or a column, got shape {expression.shape}")
    rows = expression.shape[0]
    lower, upper = interval(f"constraint {name!r}", constraint.lower, constraint.upper, (rows,))
    labels = (name,) if rows == 1 else tuple(f"{name}[{k}]" for k in range(rows))
    given = np.nan if constraint.scale is None else constraint.scale
    if np.shape(given) not in ((), (rows,)):
        raise InputError(f"constraint {name!r} needs one scale or {rows}, got {given!r}")
    return Rows(ca.densify(expression), lower, upper, labels, np.broadcast_to(given, (rows,)))


def per_joint(name: str, value: Any, model: Model) -> tuple[list[int], np.ndarray]:
    """Joint numbers and their values, from a scalar, an array or a mapping by joint name."""
    if isinstance(value, Mapping):
        return [_joint(model, joint) for joint in value], finite_array(name, list(value.values()), (len(value),))
    return list(range(model.n)), finite_array(name, value, (model.n,))


def _joint(model: Model, name: str) -> int:
    if name not in model.joint_names:
        raise unknown_name("joint", name, model.joint_names)
    return model.joint_names.index(name)


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
        raise InputError(f"{name} must be (lower, upper), got {value!r}")
    return value[0], value[1]


def _window(name: str, during: Any) -> tuple[float, float]:
    a, b = _pair(name, during)
    a, b = finite_number(f"{name} start", a), finite_number(f"{name} end", b)
    if not 0 <= a <= b <= 1:
        raise InputError(f"{name} must satisfy 0 <= start <= end <= 1, got {during!r}")
    return a, b


def _named(fn: Any, name: str | None, fallback: str) -> str:
    if not callable(fn):
        raise InputError(f"{fallback} needs a function of the instant, got {fn!r}")
    given = getattr(fn, "__name__", "<lambda>")
    return name or (fallback if given == "<lambda>" else given)
