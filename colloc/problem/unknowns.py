"""Free durations, unknowns and states in addition to the joint motion, and parameters that change between solves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import RESERVED, Instant
from colloc.problem.rows import column, texts
from colloc.support.checks import (
    InputError,
    as_tuple,
    count,
    finite_array,
    finite_number,
    flag,
    function,
    instance,
    interval,
    quoted,
    shortened,
    spelt,
    text,
)
from colloc.support.display import entries
from colloc.support.pickling import Portable

_SHORTEST, _LONGEST = 1e-20, 1e20  # s


@spelt
@dataclass(frozen=True)
class Free:
    """A duration that is an unknown.

    Parameters
    ----------
    lower, upper : float [s]
        Positive bounds, from 1e-20 to 1e20.
    guess : float, optional [s]
        Start of the search. By default the time of the straight line between the prescribed end postures, see
        `time_optimal_line`, if it has one, else the geometric mean of the bounds.

    Examples
    --------
    >>> duration = co.Free(lower=0.1, upper=5.0)
    >>> duration.upper
    5.0
    """

    lower: float
    upper: float
    guess: float | None = None

    def __post_init__(self):
        lower = finite_number("duration lower", self.lower, positive=True)
        upper = finite_number("duration upper", self.upper, positive=True)
        interval("duration", lower, upper)
        if lower < _SHORTEST or upper > _LONGEST:  # accelerations and their squares are to be numbers
            raise InputError(f"duration must lie in [{_SHORTEST:g}, {_LONGEST:g}] s, got [{lower:g}, {upper:g}]")
        if self.guess is None:
            return
        guess = finite_number("duration guess", self.guess)
        if not lower <= guess <= upper:
            raise InputError(f"duration guess must lie in [{lower}, {upper}], got {guess}")
        object.__setattr__(self, "guess", guess)

    @property
    def middle(self) -> float:
        """Geometric mean of the bounds [s]."""
        return (self.lower * self.upper) ** 0.5


def fixed_duration(value: object) -> Free:
    """A duration with equal bounds; InputError unless it is a positive number."""
    duration = finite_number("duration", value, positive=True)
    return Free(duration, duration, duration)


@spelt
@dataclass(frozen=True, eq=False)
class Unknown(Portable):
    """An unknown in addition to the joint motion: a signal of time, or a constant.

    Parameters
    ----------
    name : str
        Instants carry the value under this name.
    size : int
        Number of components; with `names` that of the names.
    lower, upper : float or shape (size,)
        Bounds; infinite by default.
    guess : float or shape (size,)
    constant : bool
        A single value for the whole motion (a payload, a length) instead of a signal (a contact force).
    names : sequence of str
        Names of the components, for reports, figures and files, and for access: ``solution.activation["biceps"]``.
    unit : str or sequence of str
        Unit of all components, or of each.

    Attributes
    ----------
    symbol : SX, shape (size,)
        For use in masses, lengths and loads of the model.
    labels : tuple of str
        Names of the components with that of the unknown: "activation[biceps]".
    units : tuple of str
        Unit of each component.

    See Also
    --------
    Parameter, State

    Examples
    --------
    >>> mass = co.Unknown("mass", lower=0.0, upper=20.0, constant=True)  # kg, as much as the arm can lift
    >>> hand = co.Load("elbow", force=ca.vertcat(0, -9.81 * mass.symbol, 0))
    >>> heaviest = -1.0 * co.final_cost(lambda now: now.mass)
    >>> lift = co.Problem(two_link(), 0.5, heaviest, problem.subject_to, unknowns=[mass], loads=[hand])
    >>> co.solve(lift, co.BSpline(20)).constants["mass"].round(2)
    array([4.12])
    """

    name: str
    size: int = 1
    lower: Any = -np.inf
    upper: Any = np.inf
    guess: Any = 0.0
    constant: bool = False
    names: Sequence[str] = ()
    unit: str | Sequence[str] = ""
    symbol: ca.SX = field(init=False)
    labels: tuple[str, ...] = field(init=False)
    units: tuple[str, ...] = field(init=False)

    def __repr__(self) -> str:
        return f"Unknown({_described(self)}{', constant' if self.constant else ''})"

    def __post_init__(self):
        _check_name("unknown", self.name)
        flag(f"constant of unknown {self.name!r}", self.constant)
        _check_bounded(self, "unknown")


@spelt
@dataclass(frozen=True, eq=False)
class State(Portable):
    """A signal with a differential equation: a motor's current, a muscle's activation, a mass of fuel.

    The equation holds at the collocation points, and the state is continuous: a spline of one degree less than the
    joints, like their velocities. Its bounds hold at all times. State initial and final values by `initial` and
    `final`.

    Parameters
    ----------
    name : str
        Instants carry the value under this name, and its time derivative as `now.rate(name)`.
    size : int
        Number of components; with `names` that of the names.
    rate : callable
        Instant -> time derivative of the state, SX, shape (size,).
    residual : callable
        Implicit equation in place of `rate`: Instant -> SX, shape (size,), zero; it contains `now.rate(name)`.
    lower, upper : float or shape (size,)
        Bounds; infinite by default.
    guess : float or shape (size,)
        At ends without a prescribed value; the guess is a straight line.
    names, unit :
        As in `Unknown`, which also describes the attributes.

    See Also
    --------
    Parameter, Unknown

    Examples
    --------
    >>> motor = co.State("motor", rate=lambda now: (now.command - now.motor) / 0.02)  # N m, lags by 20 ms
    >>> command = co.Unknown("command", lower=-10.0, upper=10.0)
    >>> follows = co.path(lambda now: now.tau - now.motor, equals=0.0)
    >>> rod = co.Model([co.Body("rod", co.revolute(), mass=1.0, com=(0.5, 0, 0))], gravity=(0, 0, 0))
    >>> still = co.initial(q=0.0, qd=0.0, states={"motor": 0.0})
    >>> effort = co.integral(lambda now: now.command**2)
    >>> turn = co.Problem(rod, 1.0, effort, [still, co.final(q=1.0, qd=0.0), follows], unknowns=[motor, command])
    >>> co.solve(turn, co.Radau(20)).at(0.5).motor.round(2)
    array([0.02])
    """

    name: str
    size: int = 1
    rate: Callable[[Any], Any] | None = None
    residual: Callable[[Any], Any] | None = None
    lower: Any = -np.inf
    upper: Any = np.inf
    guess: Any = 0.0
    names: Sequence[str] = ()
    unit: str | Sequence[str] = ""
    symbol: ca.SX = field(init=False)
    labels: tuple[str, ...] = field(init=False)
    units: tuple[str, ...] = field(init=False)

    def __repr__(self) -> str:
        return f"State({_described(self)})"

    def __post_init__(self):
        _check_name("State", self.name)
        if (self.rate is None) == (self.residual is None):
            raise InputError(f"State {self.name!r} needs a rate or a residual, one of them")
        equation = self.residual if self.rate is None else self.rate
        function(f"State {self.name!r}", equation, "a function of the instant", "now")
        _check_bounded(self, "State")

    @property
    def equation_name(self) -> str:
        """Name of the constraint for the differential equation."""
        return f"equation of {self.name}"

    def equation(self, now: Instant) -> ca.SX:
        """Residual of the differential equation, SX, shape (size,); InputError for a function of another size."""
        instance("now", now, Instant)
        value = (self.rate or self.residual)(now)  # pyright: ignore[reportOptionalCall]  # there is one of them
        what = f"{'rate' if self.rate else 'residual'} of State {self.name!r}"
        value = column(what, value, self.size)
        if value.shape != (self.size, 1):
            raise InputError(f"{what} must have shape ({self.size},), got {value.shape}")
        return now.rate(self.name) - value if self.rate else value


@spelt
@dataclass(frozen=True, eq=False)
class Parameter(Portable):
    """A value that may change from one solve to the next without rebuilding the problem.

    Parameters
    ----------
    name : str
        Instants carry the value under this name.
    value : float or shape (size,)
        Default of all solves.

    Attributes
    ----------
    symbol : SX, shape (size,)
        For use in masses, lengths and loads of the model.

    See Also
    --------
    Unknown, State

    Examples
    --------
    >>> payload = co.Parameter("payload", 1.0)  # kg
    >>> hand = co.Load("elbow", force=ca.vertcat(0, -9.81 * payload.symbol, 0))
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> lift = co.Problem(two_link(), 1.0, effort, problem.subject_to[:2], parameters=[payload], loads=[hand])
    >>> nlp = co.transcribe(lift, co.BSpline(20))
    >>> [round(co.solve(nlp, parameters={"payload": mass}).cost) for mass in (0.0, 1.0, 2.0)]
    [3, 8, 27]
    """

    name: str
    value: Any
    symbol: ca.SX = field(init=False)

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {entries(ca.SX(self.value))})"

    def __post_init__(self):
        _check_name("parameter", self.name)
        value = np.atleast_1d(finite_array(f"parameter {self.name!r}", self.value))
        if value.ndim != 1:
            raise InputError(f"parameter {self.name!r} must be a number or have shape (N,), got {quoted(self.value)}")
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "symbol", ca.SX.sym(self.name, value.size))


def _described(unknown: Unknown | State) -> str:
    """Name, size and bounds, unless they are the defaults."""
    parts = [repr(unknown.name)]
    if unknown.size > 1 or unknown.names:
        parts.append(shortened(unknown.names, most=6) if unknown.names else f"size {unknown.size}")
    if np.isfinite([unknown.lower, unknown.upper]).any():
        parts.append(f"in [{entries(ca.SX(unknown.lower))}, {entries(ca.SX(unknown.upper))}]")
    return ", ".join(parts)


def component_labels(name: str, size: int, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the components of a quantity: "u" for a scalar without names, else "u[0]", or "u[left]" with names."""
    return tuple(f"{name}[{k}]" for k in names or range(size)) if names or size > 1 else (name,)


def component_units(what: str, unit: str | Sequence[str], size: int) -> tuple[str, ...]:
    """The unit of each component; InputError for units that are not one for all or one for each."""
    units = texts(f"unit of {what}", (unit,) * size if isinstance(unit, str) else unit)
    if len(units) != size:
        raise InputError(f"unit of {what} must be a text, or {size} of them, got {quoted(unit)}")
    return units


def _check_bounded(unknown: Unknown | State, what: str) -> None:
    """Size, names, units, bounds and guess in their final form; a symbol."""
    name = f"{what} {unknown.name!r}"
    names = tuple(text(f"name of a component of {name}", item) for item in as_tuple(f"names of {name}", unknown.names))
    size = len(names) if names and unknown.size == 1 else unknown.size
    count(f"size of {name}", size, at_least=1)
    if names and (len(names) != size or len(set(names)) < size):
        raise InputError(f"names of {name} must be {size} different ones, got {quoted(names)}")
    units = component_units(name, unknown.unit, size)
    shapes = {_shape(value) for value in (unknown.lower, unknown.upper, unknown.guess)} - {(), (size,)}
    if len(shapes) == 1 and not names and size == 1 and len(shape := next(iter(shapes))) == 1:
        raise InputError(f"{name} has one component, and bounds or a guess for {shape[0]}: give size={shape[0]}")
    lower, upper = interval(name, unknown.lower, unknown.upper, (size,))
    guess = finite_array(f"guess of {name}", unknown.guess, (size,))
    final = {"size": size, "names": names, "units": units, "labels": component_labels(unknown.name, size, names)}
    final |= {"lower": lower, "upper": upper, "guess": np.clip(guess, lower, upper)}
    for attribute, value in (final | {"symbol": ca.SX.sym(unknown.name, size)}).items():
        object.__setattr__(unknown, attribute, value)


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of an array; () for anything else, which is refused later."""
    try:
        return np.shape(value)
    except ValueError:
        return ()


def _check_name(what: str, name: Any) -> None:
    legal = isinstance(name, str) and name.isidentifier() and not iskeyword(name) and not name.startswith("_")
    if not legal:
        raise InputError(f"{what} name must be a Python identifier without a leading underscore, got {quoted(name)}")
    if name in RESERVED:
        raise InputError(f"{what} name {name!r} is taken; an instant already has {', '.join(RESERVED)}")
