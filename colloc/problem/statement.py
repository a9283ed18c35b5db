"""Statements of a problem: each has methods for all that the library needs to know of it, whatever its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant, Slots
from colloc.dynamics.rows import Rows
from colloc.model import Model, Shape, Target
from colloc.model.tree import QUANTITIES
from colloc.problem.time_sets import PointSet, PointSets, TimeSet
from colloc.problem.unknowns import State, Unknown
from colloc.support.checks import InputError
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable

# The highest time derivative of the coordinates in a row, by the slots that the row depends on.
_ORDERS = {"q": 0, "qd": 1, "qdd": 2, "tau": 2, "signals": 2, "jerk": 2, "tau_rate": 2}
_ORDERS |= {"signal_rates": 2, "states": 1, "state_rates": 2}
_BY_JOINT = ("tau_rate", "jerk", "qdd", "qd", "q")  # the highest derivative first


class NamedNumber(NamedTuple):
    """A number of a problem.

    Parameters
    ----------
    name : str
    unit : str
        Empty if unknown.
    value : float

    Examples
    --------
    >>> co.problem.NamedNumber("radius", "m", 0.1).unit
    'm'
    """

    name: str
    unit: str
    value: float


class EndValue(NamedTuple):
    """A value of a joint or a state that a row prescribes at the start or the end of the motion.

    Parameters
    ----------
    row : int
        Of the statement.
    s : float
        0 or 1.
    quantity : str
        "q", "qd", "qdd" or "tau" of a joint, or the name of a state.
    index : int
        Of the joint (of the position, for "q"), or the component of the state.
    value : float
    """

    row: int
    s: float
    quantity: str
    index: int
    value: float

    @property
    def of_joint(self) -> bool:
        """Whether it is a value of a joint, and not of a state."""
        return self.quantity in QUANTITIES


class Statement(Portable, ABC):
    """The base of all constraints: rows within bounds, at certain times.

    A class of your own needs a `name`, the times `where` it holds, and `rows`; everything else has a default. Bounds of
    a row are known by the name of the row, and can be relaxed and differentiated with respect to; numbers inside the
    rows' functions are listed in `numbers`.

    Attributes
    ----------
    name : str
    where : Window, TimePoint or Ends
    shapes : tuple of Shape
        Shapes that it keeps apart, for pictures.
    follows : bool
        Whether it is part of another statement, such as a state's differential equation: its bounds are no numbers of
        the problem, and cannot be relaxed.
    measured_by_motion : bool
        Whether the error of the dynamics or the states measures how well it is met between the nodes.
    at_control_points : bool
        Whether it is an equation on the positions alone that determines them, to be met at as many points as a spline
        has control points.
    joins : (str, str) or None
        The phases whose end and start the statement joins.
    keeps_motion : bool
        Whether positions and velocities of all joints are continuous there.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class LiftedTo(co.problem.Statement):
    ...     point: str
    ...     height: float  # m
    ...     name: str = "lifted"
    ...     where: co.problem.TimePoint = co.problem.TimePoint(0.5)
    ...
    ...     def rows(self, now):
    ...         return co.problem.bounded(self.name, now.point(self.point).position[1], self.height, np.inf, unit="m")
    >>> lift = co.Problem(two_link(), 1.0, subject_to=[*problem.subject_to, LiftedTo("elbow", 0.1)])
    >>> lift.rows["lifted"].rows.lower
    array([0.1])
    """

    name: str
    where: TimeSet
    shapes: tuple[Shape, ...] = ()
    follows: bool = False
    measured_by_motion: bool = False
    at_control_points: bool = False
    joins: tuple[str, str] | None = None
    keeps_motion: bool = False

    @abstractmethod
    def rows(self, *instants: Any) -> Rows:
        """The rows at an instant; between the ends at two, or at the ends of all phases by name; see `bounded`."""

    def label(self, name: str, quantity: str) -> str:
        """Name of a row without a label, from that of its constraint and its quantity, such as "q[elbow]"."""
        return f"{name}, {quantity}"

    def points(self, grid: PointSets[PointSet]) -> list[PointSet]:
        """The points of a discretised motion at which the rows hold."""
        return list(self.where.points(grid))

    @property
    def user_function(self) -> Callable[..., Any] | None:
        """The user's function of the instant for the rows, or None."""
        return None

    @property
    def numbers(self) -> tuple[NamedNumber, ...]:
        """Numbers inside the functions of the rows, with the names that `with_numbers` takes."""
        return ()

    def with_numbers(self, values: Mapping[str, Any]) -> Statement:
        """The same statement with other numbers in the functions of the rows, floats or symbols, by name.

        By default numbers are fields of a dataclass.
        """
        statement: Any = self
        missing = values.keys() - {field.name for field in (fields(statement) if is_dataclass(statement) else ())}
        if missing:
            raise InputError(
                f"{self.name!r} has numbers that are no fields of {type(self).__name__}: {', '.join(sorted(missing))}; "
                "its class must define with_numbers"
            )
        copied: Any = replace
        return copied(self, **values) if values else self

    def with_bounds(self, rows: Rows, lower: np.ndarray, upper: np.ndarray) -> Statement:
        """The same statement with other bounds, each shape (r,), and the same natural sizes."""
        return Rebounded(self, lower, upper, rows.scale)

    def end_values(self, now: Instant) -> list[EndValue]:
        """Values of joints and states that rows prescribe at the ends, where they may fix variables."""
        return []

    def up_to_turns(self, now: Instant) -> list[EndValue]:
        """Final positions of joints that rows prescribe up to whole turns, whose nearest ones are tried."""
        return []

    @property
    def target(self) -> Target | None:
        """The target of a body that the rows are the error of, for guesses."""
        return None

    def limits_of(self, quantity: str, model: Model) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds on a joint quantity, each shape (n,), or (n_q,) for positions; infinite by default.

        A problem joins them with those of other statements.
        """
        size = len(model.names(quantity))
        return np.full(size, -np.inf), np.full(size, np.inf)

    def limited(self, quantity: str, model: Model) -> list[int]:
        """Joints (positions, for "q") that `limits_of` bounds."""
        return np.flatnonzero(np.isfinite(self.limits_of(quantity, model)).any(axis=0)).tolist()

    def bounded_joints(self, model: Model) -> dict[int, tuple[str, int]]:
        """By row, the joint quantity that it is, which bounds of variables may limit in its place."""
        return {}

    def unknowns_of(self, phase: str) -> tuple[Unknown, ...]:
        """Unknowns that it adds to a phase ("" for a single motion), such as the impulse of an impact.

        The same objects at every call.
        """
        return ()


def brought(unknowns: Sequence[Unknown | State], statements: Iterable[Statement], phase: str) -> tuple[Unknown, ...]:
    """Unknowns that statements add to a phase, without those that it already has, by their symbols."""
    known = {id(unknown.symbol) for unknown in unknowns}
    of_statements = (unknown for statement in statements for unknown in statement.unknowns_of(phase))
    return tuple({id(u.symbol): u for u in of_statements if id(u.symbol) not in known}.values())


@dataclass(frozen=True, eq=False)
class Restated(Statement):
    """A statement in terms of another one of any kind."""

    statement: Statement

    def __post_init__(self):
        for name in ("name", "where", "shapes", "at_control_points"):
            object.__setattr__(self, name, getattr(self.statement, name))

    def rows(self, *instants: Any) -> Rows:
        return self.statement.rows(*instants)

    def label(self, name: str, quantity: str) -> str:
        return self.statement.label(name, quantity)

    def points(self, grid: PointSets[PointSet]) -> list[PointSet]:
        return self.statement.points(grid)

    @property
    def user_function(self) -> Callable[..., Any] | None:
        return self.statement.user_function

    @property
    def numbers(self) -> tuple[NamedNumber, ...]:
        return self.statement.numbers

    def with_numbers(self, values: Mapping[str, Any]) -> Statement:
        return replace(self, statement=self.statement.with_numbers(values))

    def up_to_turns(self, now: Instant) -> list[EndValue]:
        return self.statement.up_to_turns(now)

    @property
    def target(self) -> Target | None:
        return self.statement.target


@dataclass(frozen=True, eq=False)
class Rebounded(Restated):
    """A statement with other bounds, and without limits of joints."""

    lower: np.ndarray  # lower, upper, scale: shape (r,)
    upper: np.ndarray
    scale: np.ndarray

    def rows(self, *instants: Any) -> Rows:
        return self.statement.rows(*instants)._replace(lower=self.lower, upper=self.upper, scale=self.scale)

    def with_bounds(self, rows: Rows, lower: np.ndarray, upper: np.ndarray) -> Statement:
        return self.statement.with_bounds(rows, lower, upper)

    def end_values(self, now: Instant) -> list[EndValue]:
        ends = self.statement.end_values(now)
        equal = self.lower == self.upper
        return [end._replace(value=float(self.lower[end.row])) for end in ends if equal[end.row]]


# Entries of an instant's slots by name, for each slot that varies along a motion.
SlotNames = Mapping[str, Sequence[str]]


def slot_names(model: Model, signals: Iterable[Unknown], states: Iterable[State]) -> SlotNames:
    """Names of the entries of slots, such as "q[elbow]"."""
    names = {quantity: [f"{quantity}[{joint}]" for joint in model.names(quantity)] for quantity in QUANTITIES}
    for kind, unknowns in (("signal", signals), ("state", states)):
        names[f"{kind}s"] = [label for unknown in unknowns for label in unknown.labels]
        names[f"{kind}_rates"] = [f"rate of {label}" for label in names[f"{kind}s"]]
    return names


def named(statement: Statement, name: str, rows: Rows, function: ca.Function, names: Sequence[SlotNames]) -> Rows:
    """Rows with labels for those without: the joint or signal of the row, else its number.

    A row belongs to a quantity that is all it depends on, or the only torque or signal, or the highest derivative where
    it depends on a single joint.

    Parameters
    ----------
    statement : Statement
    name : str
        Of the constraint in its problem.
    rows : Rows
    function : Function
        Of the slots of one or several instants -> the rows.
    names : sequence of mapping
        Names of the entries of slots of all these instants.
    """
    if all(rows.labels):
        return rows
    entries: list[dict[str, set[str]]] = [{} for _ in rows.labels]
    for k in range(function.n_in()):
        instant, slot = divmod(k, len(Slots._fields))
        if columns := names[instant].get(Slots._fields[slot]):
            for row, column in zip(*function.jac_sparsity(0, k).get_triplet(), strict=True):
                entries[row].setdefault(Slots._fields[slot], set()).add(columns[column])
    quantities = [_quantity(of_row) for of_row in entries]
    labels = [
        label or (statement.label(name, quantity) if quantity and quantities.count(quantity) == 1 else "")
        for label, quantity in zip(rows.labels, quantities, strict=True)
    ]
    count = len(labels)
    return rows._replace(labels=tuple(label or f"row {k} of {count} of {name}" for k, label in enumerate(labels, 1)))


def _quantity(entries: Mapping[str, set[str]]) -> str:
    """The quantity to which a row belongs that depends on entries of slots, or ""."""
    together = {name for names in entries.values() for name in names}
    joints = {name.partition("[")[2] for slot in QUANTITIES for name in entries.get(slot, ())}
    by_joint = _BY_JOINT if len(joints) == 1 and together == {n for s in QUANTITIES for n in entries.get(s, ())} else ()
    for slot in ("tau", "signals", *by_joint):
        if entries.get(slot):
            return next(iter(entries[slot])) if len(entries[slot]) == 1 else ""
    return next(iter(together)) if len(together) == 1 else ""


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """A statement with its rows as a function of the instant."""

    constraint: Statement
    rows: Rows  # in the symbols of the problem's instant
    # of the `Slots` of an instant -> the rows; between the ends of those of the first and then the last instant
    function: ca.Function
    model: Model  # the model, which says how positions change with velocities

    def of(self, arguments: Sequence[ca.SX]) -> Rows:
        """The rows as expressions in the values of the slots."""
        return self.rows._replace(expression=self.function(*arguments))

    @cached_property
    def orders(self) -> np.ndarray:
        """Highest time derivative of the coordinates that each row needs, ndarray of int, shape (r,).

        0 for positions alone, 1 for velocities, 2 for everything else, such as torques and signals.
        """
        orders = np.full(self.rows.lower.size, -1)
        for name, order in _ORDERS.items():
            dependent = self.function.jac_sparsity(0, Slots._fields.index(name)).get_triplet()[0]
            orders[dependent] = np.maximum(orders[dependent], order)
        return np.where(orders < 0, 2, orders)

    @cached_property
    def rate(self) -> ConstraintRows:
        """The time derivative, to be zero, of rows of order 0."""
        slots = Slots(*self.function.sx_in())
        rates = ca.vertcat(1, self.model.position_rates(slots.q, slots.qd))
        rate = ca.jtimes(self.function(*slots), ca.vertcat(slots.t, slots.q), rates)
        zero = np.zeros(self.orders.size)
        labels = tuple(f"rate of {label}" for label in self.rows.labels)
        units = tuple(f"{unit}/s" if unit else "" for unit in self.rows.units)
        rows = Rows(rate, zero, zero, labels, units, self.rows.scale)
        return ConstraintRows(self.constraint, rows, ca.Function("rate", [*slots], [rate]), self.model)
