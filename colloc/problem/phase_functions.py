"""Functions of the ends of phases: links, and the rows and points of such functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca

from colloc.dynamics.instant import SHARED, Instant, Slots
from colloc.dynamics.rows import Rows
from colloc.model import Model
from colloc.model.ball import relative_turn
from colloc.problem.rows import bounded, no_rows
from colloc.problem.statement import Statement
from colloc.problem.time_sets import Ends
from colloc.problem.unknowns import Unknown, component_labels
from colloc.problem.user_functions import check_numbers
from colloc.support.checks import (
    InputError,
    as_tuple,
    finite_number,
    flag,
    mapping,
    quoted,
    shortened,
    spelt,
    text,
    unknown_name,
)
from colloc.support.named import Named


@dataclass(frozen=True, eq=False)
class PhaseEnds(Named[Any]):
    """A phase as an argument of functions across phases.

    Parameters
    ----------
    start, end : Instant
        The first and the last, with times and durations of the phase.
    duration : SX, scalar [s]
    """

    _noun = "quantity of a phase's ends"

    start: Instant
    end: Instant
    duration: ca.SX


class NamedPhases(Named[PhaseEnds], dict[str, PhaseEnds]):
    """Phases by name; InputError for another name."""

    def __missing__(self, name: object) -> PhaseEnds:
        raise unknown_name("phase", name, self)

    def _no_attribute(self, name: str) -> str:
        return f"phases have no {name!r}: take one by name, as in phases[{next(iter(self), 'push')!r}].end.q"


class PhasePoint(NamedTuple):
    """A phase, and the time at which a function reads it: "start", "end", or "all along" for constants."""

    phase: str
    time: str


class PhaseRows(NamedTuple):
    """A constraint or cost term across phases."""

    rows: Rows  # in the symbols of the phases' ends; without bounds for a cost
    points: tuple[PhasePoint, ...]
    function: ca.Function  # of the slots at all points, one after another -> the rows
    follows: bool = False  # whether it follows from what else the sequence says, as `Statement.follows`
    statement: Statement | None = None


class Joining(Statement):
    """A statement by which a phase goes on from the end of another."""

    first: str  # first, second: names of the phases
    second: str
    # for joints of the second phase the joint of the first that each goes on from, and its factor
    joints: Mapping[str, tuple[str, float]] | None
    jumps: tuple[str, ...]  # joints of the second phase whose positions may jump

    where = Ends()
    follows = True

    @property
    def joins(self) -> tuple[str, str]:
        return self.first, self.second


@dataclass(frozen=True, eq=False)
class Connection(Joining):
    """Continuity from the end of a phase to the start of another; made by `connect`."""

    first: str
    second: str
    joints: Mapping[str, tuple[str, float]] | None = None
    jumps: tuple[str, ...] = ()
    q: bool = True  # q, qd, qdd, states: whether positions, velocities, accelerations and states go on
    qd: bool = True
    qdd: bool = False
    states: bool = True

    @property
    def name(self) -> str:
        return f"{self.first} to {self.second}"

    @property
    def keeps_motion(self) -> bool:
        """Whether positions and velocities of all joints are continuous."""
        return self.q and self.qd and self.joints is None and not self.jumps

    def rows(self, ends: Mapping[str, PhaseEnds]) -> Rows:
        """Jumps of the continuous quantities, to be zero."""
        before, after = ends[self.first].end, ends[self.second].start
        pairs = joint_pairs(self, before.model, after.model, linked=self.q or self.qd or self.qdd)
        expressions, labels, units = position_jumps(self, pairs, before, after) if self.q else ([], [], [])
        names, earlier_names = after.model.joint_names, before.model.joint_names
        for quantity, continuous, unit in (("qd", self.qd, "{}/s"), ("qdd", self.qdd, "{}/s2")):
            for joint, (earlier, factor) in pairs.items() if continuous else ():
                j, i = names.index(joint), earlier_names.index(earlier)
                expressions.append(getattr(after, quantity)[j] - factor * getattr(before, quantity)[i])
                labels.append(f"{self.name}, {quantity}[{joint}]")
                units.append(unit.format(after.model.screw_units[j]))
        for state in (name for name in after.states if name in before.states and self.states):
            size = after.states[state].shape[0]
            expressions.append(after.states[state] - before.states[state])
            labels += [f"{self.name}, {state}"] if size == 1 else [""] * size  # named by component
            units += [""] * size
        return zero_rows(self.name, expressions, labels, units)


@spelt
def connect(
    first: str,
    second: str,
    *,
    joints: Mapping[str, Any] | None = None,
    jumps: Sequence[str] = (),
    q: bool = True,
    qd: bool = True,
    qdd: bool = False,
    states: bool = True,
) -> Connection:
    """Continuity from the end of a phase to the start of another.

    Successive phases are connected by default. A connection from the last phase to the first makes the motion cyclic;
    one that exchanges left and right makes the next cycle the mirror image.

    Parameters
    ----------
    first, second : str
        Names of the phases: the end of the first is the start of the second.
    joints : mapping of str to str or (str, float), optional
        For every linked joint of the second phase the joint of the first from which it continues, with a factor that is
        1 by default. Without a mapping, joints of the same name, which both phases must have. The three turns of a ball
        joint on a quaternion continue together, with factors 1 or -1 whose product is 1: the mirror image across a
        plane keeps the turn about its normal and reverses the other two.
    jumps : sequence of str
        Joints of the second phase whose positions may jump, such as the distance walked in a step; of a ball joint on a
        quaternion all three turns.
    q, qd, qdd, states : bool
        Whether positions, velocities, accelerations and common states are continuous. States are not exchanged with
        the joints: for a mirror image give ``states=False``, and link them by a `boundary`.

    See Also
    --------
    impact

    Examples
    --------
    >>> mirrored = co.connect("step", "step", joints={"hip_l": "hip_r", "hip_r": "hip_l", "sway": ("sway", -1.0)})
    """
    text("first phase of a connection", first)
    text("second phase of a connection", second)
    for what, value in (("q", q), ("qd", qd), ("qdd", qdd), ("states", states)):
        flag(f"{what} of a connection", value)
    return Connection(first, second, *mapped_joints(joints, jumps), q, qd, qdd, states)


def mapped_joints(joints: Any, jumps: Any) -> tuple[dict[str, tuple[str, float]] | None, tuple[str, ...]]:
    """Joints with factors from a user's arguments, and the names of those that may jump."""
    pairs = {}
    for joint, value in mapping("joints of a connection", joints).items():
        text("joint of a connection", joint)
        pair = (value, 1.0) if isinstance(value, str) else as_tuple(f"joint of a connection, {joint!r}", value)
        if len(pair) != 2:
            raise InputError(
                f"joints of a connection must map to a name, or to a name and a factor, got {quoted(value)}"
            )
        pairs[joint] = (
            text(f"joint of a connection, {joint!r}", pair[0]),
            finite_number(f"factor of {joint!r}", pair[1]),
        )
    names = tuple(text("joint that may jump", joint) for joint in as_tuple("jumps", jumps))
    return None if joints is None else pairs, names


def joint_pairs(
    connection: Joining, first: Model, second: Model, *, linked: bool = True
) -> Mapping[str, tuple[str, float]]:
    """The joint of the first phase, and the factor, from which each joint of the second continues."""
    for joint in connection.jumps:
        if joint not in (second.joint_names if connection.joints is None else connection.joints):
            raise unknown_name("connected joint (jumps)", joint, second.joint_names)
    if connection.joints is None:
        if not linked or set(first.joint_names) == set(second.joint_names):
            return {joint: (joint, 1.0) for joint in second.joint_names if joint in first.joint_names}
        alone = sorted(set(first.joint_names) ^ set(second.joint_names))
        raise InputError(
            f"phases {connection.first!r} and {connection.second!r} have different joints ({', '.join(alone)}); map "
            f"them: co.connect({connection.first!r}, {connection.second!r}, joints={{...}})"
        )
    for joint, (earlier, _) in connection.joints.items():
        for name, model, phase in ((joint, second, connection.second), (earlier, first, connection.first)):
            if name not in model.joint_names:
                raise unknown_name(f"joint in phase {phase!r}", name, model.joint_names)
    return connection.joints


def position_jumps(
    connection: Joining, pairs: Mapping[str, tuple[str, float]], before: Instant, after: Instant
) -> tuple[list[ca.SX], list[str], list[str]]:
    """Jumps of the positions of joints that may not jump, with labels and units.

    A quaternion has three, the turn from one attitude to the other: a fourth row would follow from its unit length.
    """
    first, second = before.model, after.model
    going_on = {joint: pair for joint, pair in pairs.items() if joint not in connection.jumps}
    expressions, labels, units = [], [], []
    for joint, (earlier, factor) in going_on.items():
        if joint not in second.position_names:
            continue  # one of the turns of a ball joint
        if earlier not in first.position_names:
            raise _not_carried(connection, {joint: (earlier, factor)})
        k, i = second.position_names.index(joint), first.position_names.index(earlier)
        expressions.append(after.q[k] - factor * before.q[i])
        labels.append(f"{connection.name}, q[{joint}]")
        units.append(second.position_units[k])
    for places, dofs in second.balls.values():
        turns = {joint: going_on[joint] for joint in second.joint_names[dofs] if joint in going_on}
        if turns:
            ball, axes = _carried(connection, turns, first)
            p = before.q[first.balls[ball][0]]
            expressions.append(2 * relative_turn(ca.vertcat(p[0], ca.DM(axes) @ p[1:]), after.q[places]))
            labels += [f"{connection.name}, turn[{joint}]" for joint in turns]
            units += ["rad"] * 3
    return expressions, labels, units


def _carried(
    connection: Joining, turns: Mapping[str, tuple[str, float]], first: Model
) -> tuple[str, list[list[float]]]:
    """The ball joint of the first phase from which that with these turns continues, and how its axes map, shape (3, 3).

    Rotation vectors x continue as A x. So do attitudes if A is a rotation: it then keeps cross products.
    """
    for ball, (_, dofs) in first.balls.items():
        names = first.joint_names[dofs]
        axes = [[factor if name == earlier else 0.0 for name in names] for earlier, factor in turns.values()]
        A = ca.DM(axes)
        if A.shape == (3, 3) and float(ca.norm_inf(ca.vec(A @ A.T - ca.DM.eye(3)))) == 0 and float(ca.det(A)) > 0:
            return ball, axes
    raise _not_carried(connection, turns)


def _not_carried(connection: Joining, pairs: Mapping[str, tuple[str, float]]) -> InputError:
    stated = ", ".join(f"{joint!r}: {pair}" for joint, pair in pairs.items())
    return InputError(
        f"{connection.name}: a connection cannot map ball joints on quaternions, except all three turns from those of "
        "another one, with factors 1 or -1 whose product is 1 (a mirror image reverses two turns), or let all three "
        f"jump; got {stated}"
    )


def zero_rows(name: str, expressions: list[ca.SX], labels: list[str], units: list[str]) -> Rows:
    """Rows that must be zero; no rows without expressions."""
    if not expressions:
        return no_rows()
    return bounded(name, ca.vertcat(*expressions), 0.0, 0.0, unit=units, labels=labels)


Readable = tuple[PhasePoint, Instant, set[int]]  # a point, its instant, and the hashes of the symbols to be read there


def readable_points(ends: Mapping[str, PhaseEnds]) -> list[Readable]:
    """All points with their symbols: those of varying quantities, then those of constants."""
    varying = [
        (PhasePoint(name, time), now, _symbols(now, varying=True))
        for name, phase in ends.items()
        for time, now in (("start", phase.start), ("end", phase.end))
    ]
    return varying + [
        (PhasePoint(name, "all along"), phase.start, _symbols(phase.start, varying=False))
        for name, phase in ends.items()
    ]


def phase_rows(what: str, rows: Rows, readable: Sequence[Readable], statement: Statement | None = None) -> PhaseRows:
    """Rows with the points that they depend on; InputError for symbols that no phase has."""
    needed = {symbol.element_hash() for symbol in ca.symvar(rows.expression)}
    points, inputs, seen = [], [], set()
    for point, now, symbols in readable:
        if not (needed - seen if point.time == "all along" else needed) & symbols:
            continue
        points.append(point)
        for slot in now.slots:
            column = [ca.SX.sym("again") if s.element_hash() in seen else s for s in ca.vertsplit(slot)]
            seen |= {symbol.element_hash() for symbol in ca.vertsplit(slot)}
            inputs.append(ca.vertcat(ca.SX(0, 1), *column))
    function = ca.Function("across", inputs, [rows.expression], {"allow_free": True})
    if function.has_free():
        raise unknown_name(f"unknown or parameter (used by the {what})", shortened(function.get_free(), 5), [])
    check_numbers(what, function)
    if not points:
        raise InputError(f"{what} depends on no phase")
    follows = statement is not None and statement.follows
    return PhaseRows(rows, tuple(points), function, follows, statement)


def equal_constants(constants: Mapping[str, Sequence[Unknown]], ends: Mapping[str, PhaseEnds]) -> dict[str, PhaseRows]:
    """Constants that several phases have, equal from each such phase to the next."""
    phases_with: dict[Unknown, list[str]] = {}
    for phase, unknowns in constants.items():
        for constant in unknowns:
            phases_with.setdefault(constant, []).append(phase)
    equations = {}
    for constant, phases in phases_with.items():
        for pair in pairwise(phases):
            inputs, values = [], []
            for phase in pair:
                # Fresh symbols, as those of the constant are the same in both.
                slots = Slots(*(ca.SX.sym("slot", slot.shape[0]) for slot in ends[phase].start.slots))
                before = constants[phase][: constants[phase].index(constant)]
                first = sum(unknown.size for unknown in before)
                values.append(slots.constants[first : first + constant.size])
                inputs += slots
            what = f"{constant.name} of {' and '.join(pair)}"
            labels = component_labels(what, constant.size, constant.names)
            rows = bounded(what, values[1] - values[0], 0.0, 0.0, labels=labels)
            function = ca.Function("equal", inputs, [rows.expression])
            points = tuple(PhasePoint(phase, "all along") for phase in pair)
            equations[what] = PhaseRows(rows, points, function, follows=True)
    return equations


def _symbols(now: Instant, *, varying: bool) -> set[int]:
    """Hashes of the symbols of an instant that vary along the phase, or of the others."""
    slots = (slot for name, slot in zip(now.slots._fields, now.slots, strict=True) if (name in SHARED) != varying)
    return {symbol.element_hash() for slot in slots for symbol in ca.vertsplit(slot)}
