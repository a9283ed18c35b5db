"""Checks of the arguments of a problem, and warnings of likely mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from types import UnionType
from typing import Any, Protocol

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant, Slots
from colloc.model import Load, Model
from colloc.problem.conditions import Condition
from colloc.problem.contact_sphere import GroundContact
from colloc.problem.cost import Term
from colloc.problem.joint_parts import Spring
from colloc.problem.parametrised import Parametrised
from colloc.problem.part import Part
from colloc.problem.signal import Signal
from colloc.problem.statement import ConstraintRows, EndValue, Statement
from colloc.problem.time_sets import TimeSet
from colloc.problem.track import Tracked
from colloc.problem.unknowns import Free, Parameter, State, Unknown, fixed_duration
from colloc.problem.user_functions import missing_call_hint
from colloc.support.checks import InputError, angles, as_tuple, quoted, text, warn
from colloc.support.display import short, shown

_ROUNDING = 1e-9  # by which the value of an end state may miss a bound
_SIMPLE = 100  # operations of a function of the instant: longer ones are hardly linear
_NO_TURN_BUT_LAST = (0.0, 0.0, 0.0, 1.0)  # with the scalar part last
_LOOSE = 3  # turns that a bound may be away from zero
_FEW = 4  # samples, which cannot distinguish motions
_LONG = 100.0  # times the duration of a motion: longer records are hardly of that motion
_MOST = 0.5  # share of a motion that samples should cover


class Validated(Protocol):
    """The attributes of a problem that are checked here."""

    @property
    def model(self) -> Model: ...
    @property
    def coordinates(self) -> object | None: ...
    @property
    def free_motors(self) -> Sequence[str]: ...
    @property
    def passive(self) -> Sequence[str]: ...
    @property
    def statements(self) -> Sequence[Statement]: ...
    @property
    def states(self) -> Sequence[State]: ...
    @property
    def parts(self) -> Sequence[Part]: ...
    @property
    def all_loads(self) -> Sequence[Load]: ...
    @property
    def horizon(self) -> Free: ...
    @property
    def instant(self) -> Instant: ...
    @property
    def costs(self) -> Mapping[str, tuple[Term, ca.Function]]: ...
    @property
    def rows(self) -> Mapping[str, ConstraintRows]: ...
    @property
    def up_to_turns(self) -> Sequence[EndValue]: ...
    @property
    def prescribed_postures(self) -> np.ndarray: ...
    def limits(self, quantity: str, /) -> tuple[np.ndarray, np.ndarray]: ...


def checked_model(value: Any) -> Model:
    """The model; an empty one for None."""
    if value is None:
        return Model.empty()
    if isinstance(value, Parametrised):
        raise InputError(
            f"model must be a Model, got {quoted(value)}; give its .model, and its .numbers among parameters"
        )
    if not isinstance(value, Model):
        tree = isinstance(getattr(value, "model", None), Model)
        hint = "; give its .model, and of a closed chain parts=[loops.IndependentJoints(chain)]" if tree else ""
        raise InputError(f"model must be a Model, got {quoted(value)}{hint or missing_call_hint(value)}")
    return value


def checked_duration(value: Any) -> Free:
    """The duration with its bounds; equal bounds for a number."""
    if isinstance(value, list | tuple):
        raise InputError(f"duration must be a number, or between bounds co.Free(lower, upper), got {quoted(value)}")
    return value if isinstance(value, Free) else fixed_duration(value)


def checked_list(name: str, value: Any, kind: type | UnionType) -> tuple[Any, ...]:
    """The items of a list, all of one type."""
    items = as_tuple(name, value)
    for item in items:
        if not isinstance(item, kind):
            nested = isinstance(item, list | tuple) and all(isinstance(inner, kind) for inner in item)
            hint = f"; unpack lists within it: {name}=[*ends, other]" if nested else ""
            if isinstance(item, Parametrised) and kind is Parameter:
                hint = "; give its .numbers"
            if isinstance(item, Part):
                hint = "; give it among parts"
            if kind is Part and isinstance(getattr(item, "model", None), Model):
                hint = "; give loops.IndependentJoints(chain) or loops.CutJoints(chain) of a closed chain"
            raise InputError(f"{name} cannot contain {quoted(item)}{hint}")
    return items


def checked_statements(what: str, value: Any) -> tuple[Statement, ...]:
    """The statements of a motion of one phase."""
    statements = checked_list(what, value, Statement)
    for statement in statements:
        name = checked_statement(statement).name
        if statement.joins is not None:
            raise InputError(f"{name!r} joins phases, and belongs to the subject_to of a co.Phases")
    return statements


def checked_statement(statement: Statement) -> Statement:
    """A statement with a name and a time."""
    name = text(f"name of a {type(statement).__name__}", getattr(statement, "name", None))
    where = getattr(statement, "where", None)
    if not isinstance(where, TimeSet):
        raise InputError(f"where of {name!r} must be a Window, TimePoint or Ends, got {quoted(where)}")
    return statement


def check_unique(items: Sequence[Unknown | State | Parameter], of_parts: Sequence[Signal] = ()) -> None:
    """InputError for two unknowns, parameters or signals of parts with one name."""
    names = [item.name for item in (*items, *of_parts)]
    for name in names:
        if names.count(name) > 1:
            kinds = "unknowns, parameters or signals of parts" if of_parts else "unknowns or parameters"
            raise InputError(f"two {kinds} are named {name!r}; names must be unique")


def check_ends(problem: Validated) -> None:
    """InputError for a value at an end that lies outside its bounds."""
    states = {state.name: state for state in problem.states}
    for statement, end in _end_values(problem):
        if end.of_joint:
            lower, upper = problem.limits(end.quantity)
            what = f"{end.quantity}[{problem.model.names(end.quantity)[end.index]}]"
        else:
            lower, upper, what = states[end.quantity].lower, states[end.quantity].upper, end.quantity
        _check_within(f"{statement.name} {what}", end.value, lower[end.index], upper[end.index])
    for end in problem.up_to_turns:
        (lower, upper), joint = problem.limits("q"), problem.model.position_names[end.index]
        low, high, turn = lower[end.index], upper[end.index], 2 * np.pi
        if end.value + turn * np.ceil((low - end.value) / turn - _ROUNDING) > high + _ROUNDING:
            raise InputError(
                f"final q[{joint}] = {end.value:g} lies outside its bounds [{low:g}, {high:g}] at all turns"
            )


def check_rows(problem: Validated) -> None:
    """InputError for a condition on one position, velocity or acceleration that lies outside the bounds of the joint.

    Only rows that are linear in it, and depend on nothing else, can be judged without a motion.
    """
    for rows in _short(problem):
        for quantity, joint, low, high in _kept(rows):
            bounds, name = problem.limits(quantity), problem.model.names(quantity)[joint]
            lower, upper = bounds[0][joint], bounds[1][joint]
            if low > upper + _ROUNDING or high < lower - _ROUNDING:
                kept = f"{low:g}" if low == high else f"{low:g} to {high:g}"
                raise InputError(
                    f"{rows.constraint.name!r} keeps {quantity}[{name}] at {kept}, outside its bounds "
                    f"[{lower:g}, {upper:g}]"
                )


def _short(problem: Validated) -> Iterator[ConstraintRows]:
    """Rows at single instants by functions that are short enough to be linear."""
    for rows in problem.rows.values():
        if rows.constraint.where.instants <= 1 and rows.function.n_instructions() <= _SIMPLE:
            yield rows


def _kept(rows: ConstraintRows) -> Iterator[tuple[str, int, float, float]]:
    """Quantity, joint, and lower and upper end, of what rows keep that are linear in it and contain nothing else."""
    slots = rows.function.sx_in()
    slopes = ca.jacobian(rows.function(*slots), ca.vertcat(*slots))
    offsets = np.array(rows.function(*(ca.DM.zeros(slot.shape) for slot in slots))).ravel()
    places, columns = (np.array(indices) for indices in slopes.sparsity().get_triplet())
    first, coefficients = np.cumsum([0, *(slot.numel() for slot in slots)]), list[Any](slopes.nonzeros())
    for quantity in ("q", "qd", "qdd"):
        k = Slots._fields.index(quantity)
        for entry in np.flatnonzero((first[k] <= columns) & (columns < first[k + 1])):
            row, slope = int(places[entry]), coefficients[entry]
            if np.count_nonzero(places == row) == 1 and slope.is_constant() and not slope.is_zero():
                ends = [(float(end[row]) - offsets[row]) / float(slope) for end in (rows.rows.lower, rows.rows.upper)]
                yield quantity, int(columns[entry] - first[k]), min(ends), max(ends)


def _end_values(problem: Validated) -> Iterator[tuple[Statement, EndValue]]:
    for statement in problem.statements:
        for end in statement.end_values(problem.instant):
            if end.s not in (0, 1) or not (end.of_joint or end.quantity in problem.instant.states):
                raise InputError(
                    f"end values of {statement.name!r} must be of joints or states at s = 0 or 1, got {quoted(end)}"
                )
            yield statement, end


def check_lengths(problem: Validated) -> None:
    """InputError for a quaternion at an end whose length is not one, or cannot be."""
    for statement in problem.statements if problem.model.balls else ():
        positions = {end.index: end.value for end in statement.end_values(problem.instant) if end.quantity == "q"}
        for ball, (places, _) in problem.model.balls.items():
            quaternion = [positions[k] for k in range(places.start, places.stop) if k in positions]
            length = float(np.linalg.norm(quaternion))
            if abs(length - 1) > _ROUNDING if len(quaternion) == 4 else length > 1 + _ROUNDING:
                mended = "divide it by np.linalg.norm; the scalar part comes first: " if length else ""
                raise InputError(
                    f"{statement.name} q of ball joint {ball!r} must be a quaternion of length one, got {quaternion} "
                    f"of length {length:.10g}: {mended}no turn is (1, 0, 0, 0), see model.neutral"
                )


def _check_within(what: str, value: float, lower: float, upper: float) -> None:
    if not lower - _ROUNDING <= value <= upper + _ROUNDING:
        raise InputError(f"{what} = {value:g} lies outside its bounds [{lower:g}, {upper:g}]")


def warn_of_oddities(problem: Validated) -> None:
    """InputWarning for likely mistakes.

    These are torques of joints that move no mass and carry no load, bounds on torques of passive joints, ideal motors
    that hold what the ground should carry, quaternions that may have their scalar part last, end states, bounds and
    springs that may be in degrees, and measured samples whose times or values seem to be in other units than the
    motion's.
    """
    _check_idle(problem)
    _check_passive(problem)
    _check_carried(problem)
    _check_order(problem)
    _check_angles(problem)
    for name, (term, _) in problem.costs.items():
        if isinstance(term.fn, Tracked):
            _check_times(name, term.fn.record.times, problem.horizon)
            _check_values(name, term.fn, problem)


def _check_idle(problem: Validated) -> None:
    """InputWarning for joints that move no mass and carry no load: their torques are always zero."""
    model = problem.model
    if problem.coordinates is not None or not model.idle:
        return  # loops load what they close
    loaded = {model.index(load.body) for load in problem.all_loads}
    for k in reversed(range(len(model.bodies))):
        if k in loaded:
            loaded.add(model.parents[k])
    functions = [fn for _, fn in problem.costs.values()] + [rows.function for rows in problem.rows.values()]
    torques = Slots._fields.index("tau")
    used = {j for function in functions for j in function.jac_sparsity(0, torques).get_col()}
    idle = [model.joint_names[j] for j in model.idle if model.moving[j] not in loaded and j in used]
    if idle:
        plural, verb = ("", "moves") if len(idle) == 1 else ("s", "move")
        warn(
            f"joint{plural} {shown(idle)} {verb} no mass, so that torques there are always zero: "
            "give mass, centre of mass and inertia to the bodies they carry"
        )


def _check_passive(problem: Validated) -> None:
    """InputWarning for bounds on the torques of passive joints."""
    model = problem.model
    passive = [model.joint_names.index(joint) for joint in problem.passive]
    for statement in problem.statements if passive else ():
        lower, upper = statement.limits_of("tau", model)
        bounded = set(statement.limited("tau", model))
        idle = [model.joint_names[j] for j in passive if j in bounded and (lower[j] or upper[j])]
        if idle and len(bounded) < model.n:
            warn(
                f"no part drives joint {shown(idle)}, so that its torque is zero, but it has bounds: "
                f"add co.Motors({idle}) to parts"
            )


def _check_carried(problem: Validated) -> None:
    """InputWarning for ideal motors of any force that move a body in the world which touches the ground."""
    slides = {
        joint for joint, unit in zip(problem.model.joint_names, problem.model.torque_units, strict=True) if unit == "N"
    }
    for sphere in (sphere for part in problem.parts if isinstance(part, GroundContact) for sphere in part.spheres):
        leading = list(takewhile(slides.__contains__, reversed(problem.model.joints_to(sphere.body))))
        if leading and set(leading) <= set(problem.free_motors):
            warn(
                f"the ground touches {sphere.body!r}, and ideal motors of any force at {shown(leading)} can carry it: "
                f"hold their forces at zero, as in co.bounds(tau={{{leading[0]!r}: (0, 0)}}), or limit them"
            )
            return


def _check_order(problem: Validated) -> None:
    """InputWarning for an initial quaternion that would be no turn if its scalar part were last."""
    for ball, (places, _) in problem.model.balls.items():
        quaternion = problem.prescribed_postures[0, places]
        if np.array_equal(np.abs(quaternion), _NO_TURN_BUT_LAST):
            stated = ", ".join(f"{number:g}" for number in quaternion)
            warn(
                f"initial q of ball joint {ball!r} is ({stated}), half a turn about z, as the scalar part of a "
                "quaternion comes first: no turn is (1, 0, 0, 0), and np.roll(q, 1) is a quaternion of ROS, Pinocchio "
                "or SciPy, whose scalar part comes last"
            )


def _check_angles(problem: Validated) -> None:
    """InputWarning for end states and bounds that may be in degrees, except of threads, which turn many times."""
    turning = np.array(problem.model.hinge_angles, dtype=bool)
    for statement in problem.statements:
        angles(f"{statement.name} q", np.array(statement.limits_of("q", problem.model))[:, turning], _LOOSE)
    for statement, end in _end_values(problem):
        if end.quantity == "q" and turning[end.index]:
            angles(f"{statement.name} q[{problem.model.position_names[end.index]}]", end.value)
    names = [name for name, hinge in zip(problem.model.position_names, turning, strict=True) if hinge]
    for rows in _short(problem) if names else ():
        for quantity, joint, low, high in _kept(rows) if isinstance(rows.constraint, Condition) else ():
            if quantity == "q" and turning[joint]:
                name = f"{rows.constraint.name} of q[{problem.model.position_names[joint]}]"
                angles(name, [low, high], 1 if low == high else _LOOSE)
    for part in problem.parts:
        if isinstance(part, Spring) and part.joint in names and isinstance(part.rest, int | float):
            angles(f"rest of the {part.name} at {part.joint!r}", part.rest)


def _check_times(name: str, t: np.ndarray, horizon: Free) -> None:
    """InputWarning for samples that hardly overlap with the motion, or leave most of it without any."""
    longest, shortest = horizon.upper, horizon.lower
    within = np.count_nonzero((t >= 0) & (t <= longest))
    covered = min(t[-1], shortest) - max(t[0], 0.0)
    motion = f"a motion of {short(longest)} s" if shortest == longest else f"one of at most {short(longest)} s"
    if t[-1] > longest and (within < _FEW or t[-1] > _LONG * longest):
        warn(
            f"times of {name!r} run from {short(t[0])} to {short(t[-1])}, {within} of {t.size} samples in {motion}: "
            "milliseconds, or a clock that does not start with the motion? times are in seconds from its start"
        )
    elif covered < _MOST * shortest:
        warn(
            f"samples of {name!r} cover {max(covered, 0.0) / shortest:.0%} of the motion, {short(t[0])} to "
            f"{short(t[-1])} s of {short(shortest)} s, and nothing determines the rest: give more samples, a shorter "
            "duration, or co.initial and co.final"
        )


def _check_values(name: str, tracked: Tracked, problem: Validated) -> None:
    """InputWarning for measured joint angles that may be in degrees."""
    now, hinges = problem.instant, problem.model.hinge_angles
    turning = {now.q[j].element_hash() for j, hinge in enumerate(hinges) if hinge}
    measured = tracked.measured(now)
    values = [v for k, v in enumerate(tracked.record.largest) if measured[k].element_hash() in turning]
    if values:
        angles(f"values of {name!r}", values)
