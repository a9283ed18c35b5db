"""Constraints on joint quantities, positions and torques and their derivatives: end states, bounds, joint limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.dynamics.rows import Rows
from colloc.model import Model
from colloc.model.tree import QUANTITIES
from colloc.problem.rows import natural_size, no_rows
from colloc.problem.statement import EndValue, Statement
from colloc.problem.time_sets import WHOLE, PointSet, PointSets, TimePoint, Window, window
from colloc.support.checks import (
    InputError,
    as_tuple,
    choice,
    copied,
    finite_array,
    finite_number,
    interval,
    pair,
    quoted,
    spelt,
    text,
    unknown_name,
)

_AT_ENDS = ("q", "qd", "qdd", "tau")
_LIMITED = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque"}


@dataclass(frozen=True)
class EndState(Statement):
    """Values of joints and states at one end of the motion; made by `initial` and `final`."""

    name: str
    where: TimePoint
    values: Mapping[str, Any]
    states: Mapping[str, Any] = field(default_factory=dict)
    turns: tuple[str, ...] = ()  # joints whose positions are prescribed up to whole turns

    def __post_init__(self):
        for name in ("values", "states"):
            object.__setattr__(self, name, copied(getattr(self, name)))

    def end_values(self, now: Instant) -> list[EndValue]:
        """Joint quantities, then states: one for each row but those of `turns`."""
        turning = [_angle(now.model, joint, self.name) for joint in self.turns]
        values = [value for value in self._of_joints(now.model) if value[0] != "q" or value[1] not in turning]
        for name, value in self.states.items():
            if name not in now.states:
                raise unknown_name("state", name, list(now.states))
            numbers = finite_array(f"{self.name} {name}", value, (now.states[name].shape[0],))
            values += [(name, k, float(number)) for k, number in enumerate(numbers)]
        return [EndValue(row, self.where.s, *value) for row, value in enumerate(values)]

    def up_to_turns(self, now: Instant) -> list[EndValue]:
        first = len(self.end_values(now))
        values = {j: value for quantity, j, value in self._of_joints(now.model) if quantity == "q"}
        joints = [_angle(now.model, joint, self.name) for joint in self.turns]
        if missing := [name for name, j in zip(self.turns, joints, strict=True) if j not in values]:
            raise InputError(f"{self.name} q must prescribe the joints of turns, missing: {', '.join(missing)}")
        return [EndValue(first + k, self.where.s, "q", j, values[j]) for k, j in enumerate(joints)]

    def _of_joints(self, model: Model) -> list[tuple[str, int, float]]:
        """Quantity, index and value of every joint quantity."""
        values: list[tuple[str, int, float]] = []
        for quantity, value in self.values.items():
            _check_joints(f"{self.name} {quantity}", model, f"states are {self.name}(states={{name: value}})")
            joints, numbers = _per_joint(f"{self.name} {quantity}", value, model, quantity)
            values += [(quantity, j, float(number)) for j, number in zip(joints, numbers, strict=True)]
        return values

    def label(self, name: str, quantity: str) -> str:
        return f"{self.name} {quantity}"

    def rows(self, now: Instant) -> Rows:
        """Joint quantities, then states, with their values as bounds; then twice the sines of half of what angles lack.

        Such a row is zero at whole turns alone, with slope 1.
        """
        ends = self.end_values(now)
        of_joints, of_states = ([end for end in ends if end.of_joint == joint] for joint in (True, False))
        values = np.array([end.value for end in of_joints])
        joints = _rows(now, [(end.quantity, end.index) for end in of_joints], values, values, f"{self.name} ")
        values = np.array([end.value for end in ends])
        states = [(end.quantity, end.index) for end in of_states]
        labels = tuple("" if now.states[name].shape[0] > 1 else f"{self.name} {name}" for name, _ in states)
        expression = ca.vertcat(joints.expression, *(now.states[name][k] for name, k in states))
        units = joints.units + ("",) * len(states)
        turning = self.up_to_turns(now)
        sines = [2 * ca.sin((now.q[end.index] - end.value) / 2) for end in turning]
        labels += tuple(f"{self.name} q[{joint}] up to turns" for joint in self.turns)
        values, units = np.append(values, np.zeros(len(turning))), units + ("rad",) * len(turning)
        expression = ca.vertcat(expression, *sines)
        return Rows(expression, values, values, joints.labels + labels, units, natural_size(values, values))


@dataclass(frozen=True)
class Bounds(Statement):
    """Bounds on joint quantities as stated by a user; made by `bounds`."""

    limits: Mapping[str, tuple[Any, Any]]
    where: Window = WHOLE

    name = "bounds"

    def __post_init__(self):
        object.__setattr__(self, "limits", copied(self.limits))

    def rows(self, now: Instant) -> Rows:
        """No rows: a problem has `JointBounds` for all bounds on a quantity together."""
        return no_rows()

    def limits_of(self, quantity: str, model: Model) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = super().limits_of(quantity, model)
        if quantity not in self.limits:
            return lower, upper
        value, name = self.limits[quantity], f"bounds {quantity}"
        _check_joints(name, model, "a state has lower= and upper= of its own")
        if isinstance(value, Mapping):
            for joint, sides in value.items():
                j = _joint(model, joint, quantity)
                lower[j], upper[j] = interval(f"{name}[{joint}]", *_sides(name, sides))
            return lower, upper
        return interval(name, *_sides(name, value), lower.shape)


@dataclass(frozen=True, eq=False)
class JointBounds(Statement):
    """All bounds that a problem states on one joint quantity for one part of the motion."""

    quantity: str  # "q", "qd", "qdd", "jerk", "tau" or "tau_rate"
    lower: np.ndarray  # lower, upper: shape (n,), infinite for joints that have no bound
    upper: np.ndarray
    where: Window

    @property
    def name(self) -> str:
        return f"{self.quantity} bounds"

    def limits_of(self, quantity: str, model: Model) -> tuple[np.ndarray, np.ndarray]:
        return (self.lower, self.upper) if quantity == self.quantity else super().limits_of(quantity, model)

    def bounded_joints(self, model: Model) -> dict[int, tuple[str, int]]:
        return {row: (self.quantity, joint) for row, joint in enumerate(self.limited(self.quantity, model))}

    def rows(self, now: Instant) -> Rows:
        joints = self.limited(self.quantity, now.model)
        return _rows(now, [(self.quantity, j) for j in joints], self.lower[joints], self.upper[joints])

    def with_bounds(self, rows: Rows, lower: np.ndarray, upper: np.ndarray) -> Bounds:
        """The same rows with other bounds; joint limits of the model, which hold as well, are not changed."""
        bounded = np.isfinite([self.lower, self.upper]).any(axis=0)
        low, high = self.lower.copy(), self.upper.copy()
        low[bounded], high[bounded] = lower, upper
        return Bounds({self.quantity: (low, high)}, self.where)

    def points(self, grid: PointSets[PointSet]) -> list[PointSet]:
        return list(grid.bounds(self.quantity, self.where))


@spelt
def initial(
    *, q: Any = None, qd: Any = None, qdd: Any = None, tau: Any = None, states: Mapping[str, Any] | None = None
) -> EndState:
    """Values of joints and states at the start.

    Parameters
    ----------
    q, qd, qdd, tau : float, shape (n,), or mapping of joint name to float
        A scalar holds for every joint; a mapping for the joints it names; None leaves the quantity free.
    states : mapping of str to float or shape (size,)
        Values of `State` unknowns by name.

    See Also
    --------
    final, at, boundary

    Examples
    --------
    >>> start = co.initial(q=0.0, qd={"elbow": 0.0})
    >>> filled = co.initial(states={"fuel": 10.0})
    """
    return _end_state("initial", 0.0, states, q, qd, qdd, tau)


@spelt
def final(
    *, q: Any = None, qd: Any = None, qdd: Any = None, tau: Any = None, states: Mapping[str, Any] | None = None,
    turns: Sequence[str] = (),
) -> EndState:  # fmt: skip
    """Values of joints and states at the end.

    Parameters
    ----------
    q, qd, qdd, tau, states :
        As in `initial`.
    turns : sequence of str
        Joints whose positions in `q` are meant up to whole turns, such as the heading of a vehicle. Without a guess,
        `solve` tries the nearest turns on either side, and keeps the cheapest motion. A printed solution has its turns.

    See Also
    --------
    initial, at, boundary

    Examples
    --------
    >>> rest = co.final(q=(1.0, -1.0), qd=0.0)
    >>> either_way = co.final(q=(1.0, -1.0), qd=0.0, turns=["shoulder"])
    """
    names = tuple(text("joint of turns", joint) for joint in as_tuple("turns", turns))
    return _end_state("final", 1.0, states, q, qd, qdd, tau, turns=names)


@spelt
def bounds(
    *,
    q: Any = None,
    qd: Any = None,
    qdd: Any = None,
    jerk: Any = None,
    tau: Any = None,
    tau_rate: Any = None,
    during: tuple[float, float] = (0.0, 1.0),
) -> Bounds:
    """Bounds on joint quantities; joint limits of the model hold as well.

    Parameters
    ----------
    q, qd, qdd, jerk, tau, tau_rate : (lower, upper), or mapping of joint name to (lower, upper)
        Each bound a scalar for every joint or shape (n,). Bounds on jerk, the third derivative of q, and on the time
        derivative of tau need a curve with continuous accelerations, such as BSpline(20, degree=5).
    during : (float, float)
        Part of the motion, as fractions of its duration. On a spline, bounds on q and qd hold at all times of the
        intervals that lie within, because they hold for the control points of the spline and of its derivative. In
        other intervals, and on other quantities, bounds hold at the nodes.

    See Also
    --------
    path, Limits

    Examples
    --------
    >>> limits = co.bounds(tau=(-10.0, 10.0), q={"elbow": (-2.5, 0.0)})
    """
    limits = _by_quantity("bounds", QUANTITIES, q, qd, qdd, jerk, tau, tau_rate)
    for quantity, value in limits.items():
        for sides in value.values() if isinstance(value, Mapping) else [value]:
            interval(f"bounds {quantity}", *_sides(f"bounds {quantity}", sides))
    return Bounds(limits, window("bounds during", during))


def joint_limits(model: Model, statements: Sequence[Statement], quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds for the whole motion, each shape (n,): limits of the model and of statements together.

    InputError naming the joint whose bounds contradict each other.
    """
    choice("quantity", quantity, QUANTITIES)
    names = model.names(quantity)
    sides = [(np.full(len(names), -np.inf), np.full(len(names), np.inf))]
    sides += [statement.limits_of(quantity, model) for statement in statements if statement.where == WHOLE]
    if quantity in _LIMITED:
        sides.append(model.limits(_LIMITED[quantity]))
    lower, upper = np.max([low for low, _ in sides], axis=0), np.min([high for _, high in sides], axis=0)
    for joint, low, high in zip(names, lower, upper, strict=True):
        if low > high:
            raise InputError(f"bounds on {quantity}[{joint}] contradict each other: lower {low} > upper {high}")
    return lower, upper


def window_limits(
    model: Model, statements: Sequence[Statement], quantity: str
) -> list[tuple[Window, np.ndarray, np.ndarray]]:
    """Bounds during parts of the motion: each part with lower and upper bounds, each shape (n,)."""
    choice("quantity", quantity, QUANTITIES)
    part = (s for s in statements if s.where.along and s.where != WHOLE and s.limited(quantity, model))
    return [(Window(*s.where.moments), *s.limits_of(quantity, model)) for s in part]


def joint_bounds(model: Model, statements: Sequence[Statement]) -> list[JointBounds]:
    """Bounds and joint limits, one constraint for each bounded quantity and part of the motion."""
    constraints = []
    for quantity in QUANTITIES:
        whole = (WHOLE, *joint_limits(model, statements, quantity))
        for where, lower, upper in [whole, *window_limits(model, statements, quantity)]:
            if np.isfinite([lower, upper]).any():
                constraints.append(JointBounds(quantity, lower, upper, where))
    return constraints


def _check_joints(name: str, model: Model, instead: str) -> None:
    if not model.n:
        raise InputError(f"{name}: no joint of the model moves; {instead}")


def _sides(name: str, value: Any) -> tuple[Any, Any]:
    """Lower and upper bounds; InputError for a list that may be meant as a pair for each joint."""
    by_joint = 'one pair for each joint is a mapping: {"shoulder": (lower, upper), "elbow": (lower, upper)}'
    pairs = isinstance(value, list | tuple) and all(isinstance(side, list | tuple) for side in value)
    if pairs and (len(value) != 2 or (isinstance(value, list) and all(len(side) == 2 for side in value))):
        raise InputError(f"{name} must be (lower, upper), got {quoted(value)}; {by_joint}")
    lower, upper = pair(name, value)
    if pairs and len(lower) == len(upper) == 2:
        numbers = np.array([lower, upper], dtype=float)
        as_pairs = (numbers[:, 0] <= 0).all() and (numbers[:, 1] >= 0).all()
        around = (numbers[0] <= 0) & (numbers[1] >= 0)
        if as_pairs and not around.any():
            raise InputError(
                f"{name} must be (lower, upper), where no joint may be at zero, got {quoted(value)}; {by_joint}"
            )
    return lower, upper


def _per_joint(name: str, value: Any, model: Model, quantity: str) -> tuple[list[int], np.ndarray]:
    """Indices of joints (of positions, for "q") and values, from a scalar, an array or a mapping by name."""
    if isinstance(value, Mapping):
        joints = [_joint(model, joint, quantity) for joint in value]
        return joints, finite_array(name, list(value.values()), (len(value),))
    size = len(model.names(quantity))
    return list(range(size)), finite_array(name, value, (size,))


def _end_state(name: str, s: float, states: Any, *values: Any, turns: tuple[str, ...] = ()) -> EndState:
    if states is not None and not (isinstance(states, Mapping) and states):
        raise InputError(f"{name} states must be a mapping of name to value, got {quoted(states)}")
    joints = {} if states and all(value is None for value in values) else _by_quantity(name, _AT_ENDS, *values)
    for state, value in (states or {}).items():
        finite_array(f"{name} {text(f'{name} state', state)}", value)
    for quantity, value in joints.items():
        if isinstance(value, Mapping):
            for joint, number in value.items():
                finite_number(f"{name} {quantity} of {text(f'joint of {name} {quantity}', joint)}", number)
        else:
            finite_array(f"{name} {quantity}", value)
    return EndState(name, TimePoint(s), joints, dict(states or {}), turns)


def _by_quantity(name: str, quantities: tuple[str, ...], *values: Any) -> dict[str, Any]:
    by_quantity = {k: v for k, v in zip(quantities, values, strict=True) if v is not None}
    if not by_quantity:
        raise InputError(f"{name} needs at least one of {', '.join(quantities)}")
    return by_quantity


def _rows(now: Instant, chosen: list[tuple[str, int]], lower: np.ndarray, upper: np.ndarray, prefix: str = "") -> Rows:
    """Rows of joint quantities, chosen by pairs (quantity, joint)."""
    model = now.model
    rate = {"qd": "/s", "qdd": "/s2", "jerk": "/s3", "tau_rate": "/s"}
    labels = tuple(f"{prefix}{name}[{model.names(name)[j]}]" for name, j in chosen)
    units = tuple(_units(model, name)[j] + rate.get(name, "") for name, j in chosen)
    expression = ca.vertcat(*(getattr(now, name)[j] for name, j in chosen))
    return Rows(expression, lower, upper, labels, units, natural_size(lower, upper))


def _units(model: Model, quantity: str) -> tuple[str, ...]:
    """Units of a joint quantity, those of its rates without the "per second"."""
    if quantity.startswith("tau"):
        return model.torque_units
    return model.position_units if quantity == "q" else model.screw_units


def _joint(model: Model, name: str, quantity: str) -> int:
    names = model.names(quantity)
    if text("name of a joint", name) not in names:
        for ball, (places, dofs) in model.balls.items():
            if name in model.joint_names[dofs]:
                raise InputError(
                    f"{name!r} is a velocity of ball joint {ball!r}, whose position is a quaternion, "
                    f"{', '.join(names[places])}; sequence='zyx' has angles, from files balls='angles'"
                )
        raise unknown_name("joint", name, names)
    return names.index(name)


def _angle(model: Model, joint: str, name: str) -> int:
    """Index of a position that is an angle; InputError for another one, such as that of a quaternion."""
    j = _joint(model, joint, "q")
    if model.position_units[j] != "rad":
        raise InputError(f"turns of {name} must be joints that turn by an angle, got {joint!r}")
    return j
