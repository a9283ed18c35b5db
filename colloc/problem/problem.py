"""The problem: a mechanism, a duration, a cost and constraints, independent of any transcription."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from typing import Any, ClassVar, NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics import InverseDynamics, inverse_dynamics, newton_euler
from colloc.dynamics.instant import SHARED, Instant, Reaction, depends_on_rates
from colloc.model import Load, Model, Shape, check_loads
from colloc.problem.conditions import Condition, equation_of, unit_length
from colloc.problem.cost import NOTHING, Cost, Term, checked_cost
from colloc.problem.joint_constraints import bounds, joint_bounds, joint_limits, window_limits
from colloc.problem.part import (
    Contribution,
    Drivers,
    Part,
    StatedParts,
    drivers,
    joint_contribution,
    pull_of,
    torque_balance,
)
from colloc.problem.rows import natural_size, unique
from colloc.problem.signal import Signal
from colloc.problem.statement import ConstraintRows, EndValue, SlotNames, Statement, brought, named, slot_names
from colloc.problem.time_sets import Window
from colloc.problem.torque_equations import TorqueEquation, torque_equations
from colloc.problem.unknowns import Free, Parameter, State, Unknown
from colloc.problem.user_functions import UserFunction, check_loops, check_numbers, check_returned, error_context
from colloc.problem.validate import (
    check_ends,
    check_lengths,
    check_rows,
    check_unique,
    checked_duration,
    checked_list,
    checked_model,
    checked_statements,
    warn_of_oddities,
)
from colloc.support.checks import (
    InputError,
    as_tuple,
    count,
    finite_array,
    instance,
    mapping,
    shortened,
    spelt,
    text,
    unknown_name,
)
from colloc.support.display import Table, Tabular, short, shown
from colloc.support.interrupts import reraise_interrupt
from colloc.support.lazy import LateTuple, cached_property
from colloc.support.pickling import Portable


class JointState(NamedTuple):
    """Positions, velocities and accelerations of all joints, SX, each shape (n,)."""

    q: ca.SX
    qd: ca.SX
    qdd: ca.SX


class Coordinates(Part):
    """A part that makes some joints of a mechanism depend on the others at every instant.

    All joints are splines. Those of dependent joints are approximate: they meet `closure` at collocation points, and
    everything else uses `motion`, which is exact at every instant.
    """

    @property
    def model(self) -> Model:
        """The mechanism."""
        raise NotImplementedError

    @property
    def independent(self) -> list[int]:
        """Independent coordinates, m of n."""
        raise NotImplementedError

    @property
    def posture(self) -> np.ndarray:
        """A closed posture, shape (n_q,), for joints without a guess."""
        raise NotImplementedError

    @property
    def closure(self) -> Condition:
        """The equations in positions for the splines of the dependent joints, one for each."""
        raise NotImplementedError

    def motion(self, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> JointState:
        """The state of all joints from that of the independent ones, and approximate positions of the others."""
        raise NotImplementedError

    def tangent(self, now: Instant) -> ca.SX:
        """Derivatives of q, qd, qdd (one below the other) by those of the independent joints, SX, shape (3n, 3m).

        For ball joints on quaternions, of and by small turns in place of q.
        """
        raise NotImplementedError

    def inverse_dynamics(self, now: Instant, loads: Sequence[Load], dynamics: InverseDynamics) -> ca.SX:
        """Torques of inverse dynamics, SX, shape (n,); zero at passive joints."""
        raise NotImplementedError

    def has_torque_derivatives(self, now: Instant, loads: Sequence[Load]) -> bool:
        """Whether `torque_slopes` and `torque_curvature` exist; otherwise CasADi differentiates `inverse_dynamics`."""
        return False

    def torque_slopes(self, now: Instant, loads: Sequence[Load]) -> ca.SX:
        """Derivatives of the torques by q, qd and qdd of the independent joints, SX, shape (n, 3m)."""
        raise NotImplementedError

    def torque_curvature(self, now: Instant, loads: Sequence[Load], multipliers: ca.SX) -> ca.SX:
        """Hessian of multipliers' torques by q, qd and qdd of the independent joints, SX, shape (3m, 3m)."""
        raise NotImplementedError

    @property
    def has_motion_derivatives(self) -> bool:
        """Whether `motion_curvature` exists; otherwise CasADi differentiates `motion`."""
        return False

    def motion_curvature(self, now: Instant, multipliers: Sequence[ca.SX]) -> ca.SX:
        """Hessian of multipliers' (q, qd, ...) by those of the independent joints, SX, shape (km, km).

        Of q, of q and qd, or of q, qd and qdd, for k multipliers, SX, each shape (n,).
        """
        raise NotImplementedError

    def acceleration(self, now: Instant, loads: Sequence[Load]) -> ca.SX:
        """Forward dynamics: accelerations of all joints under the instant's torques, SX, shape (n,)."""
        raise NotImplementedError

    @property
    def passive(self) -> Sequence[str]:
        """Joints whose torque is always zero."""
        raise NotImplementedError

    def closing_loads(self, now: Instant, loads: Sequence[Load]) -> tuple[Load, ...]:
        """Additional loads that make the dependent joints follow the independent ones."""
        raise NotImplementedError

    def postures(self, q: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Closed postures with the independent coordinates of q, each shape (N, n_q).

        The search for the first begins at `start`, shape (n_q,).
        """
        raise NotImplementedError


@spelt
@dataclass(frozen=True, eq=False, repr=False)
class Problem(Tabular, Portable):
    """A motion to be predicted.

    Parameters
    ----------
    model : Model
        None, or `Model.empty()`, for a problem of states alone.
    duration : Free or float [s]
    minimize : Cost, or sequence of Cost
        See `duration`, `integral` and `final_cost`. By default there is no cost: any feasible motion is an answer. A
        list has costs in order of importance, such as ``[co.duration(), effort]``: each is minimised, then kept while
        the next one is. A duration is kept exactly, other costs to within 1e-4 of their size.
    subject_to : sequence of Statement
        See `initial`, `final`, `bounds`, `path`, `at` and `boundary`; a class of your own derives from
        `colloc.problem.Statement`. Joint limits of the model always hold.
    unknowns : sequence of Unknown and State
        Unknown signals and constants in addition to the motion, and signals with differential equations.
    parameters : sequence of Parameter
        Values that may change between solves.
    loads : sequence of Load
        Wrenches of the environment; they may contain the symbols of unknowns and parameters.
    parts : sequence of Part
        Muscles, springs, motors, loops, the ground. Where parts drive joints, all others are passive: their torque is
        zero, unless `Motors` drive them. Without such parts every joint has an ideal motor.

    Raises
    ------
    InputError
        For a wrong shape, an unknown name, a duration that is not positive, and a function that is not scalar or uses
        symbols that are not the problem's.

    Examples
    --------
    >>> lift = co.Problem(
    ...     model=two_link(9.81),
    ...     duration=1.0,  # s
    ...     minimize=co.integral(lambda now: ca.sumsqr(now.tau)),
    ...     subject_to=[co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)],
    ... )
    >>> round(co.solve(lift).cost, 1)
    7.5
    """

    model: Model
    duration: Free | float
    minimize: Cost = NOTHING
    subject_to: Sequence[Statement] = ()
    unknowns: Sequence[Unknown | State] = ()
    parameters: Sequence[Parameter] = ()
    loads: Sequence[Load] = ()
    parts: Sequence[Part] = ()

    in_sequence: ClassVar[bool] = True  # as `Phases.in_sequence`, of a sequence of one

    @reraise_interrupt
    def __post_init__(self):
        kinds = {"unknowns": Unknown | State, "parameters": Parameter, "loads": Load, "parts": Part}
        arguments: dict[str, object] = {"model": checked_model(self.model), "duration": checked_duration(self.duration)}
        arguments |= {
            "minimize": NOTHING if self.minimize is None else checked_cost(self.minimize),
            "subject_to": checked_statements("subject_to", self.subject_to),
        }
        arguments |= {name: checked_list(name, getattr(self, name), kind) for name, kind in kinds.items()}
        for name, value in arguments.items():
            object.__setattr__(self, name, value)
        check_loads(self.model, self.all_loads)
        _ = self.coordinates
        check_unique((*self.all_unknowns, *self.all_parameters), self.part_signals)
        check_ends(self)
        check_lengths(self)
        # Everything symbolic but the dynamics is formed once here, so that mistakes surface at construction.
        for load in self.wrenches:
            self.function(f"load on {load.body!r}", load.wrench)
        self.function("model", ca.vertcat(ca.SX(0, 1), *self.model.symbols))
        _ = self.costs, self.rows
        check_rows(self)
        for cost in self.minimize.later:
            replace(self, minimize=cost)
        warn_of_oddities(self)

    @cached_property
    def end_values(self) -> dict[str, list[EndValue]]:
        """Prescribed values of joints and states at the ends, by the name of the constraint."""
        values = {name: entry.constraint.end_values(self.instant) for name, entry in self.rows.items()}
        return {name: ends for name, ends in values.items() if ends}

    @cached_property
    def prescribed_postures(self) -> np.ndarray:
        """Postures prescribed at the ends, shape (2, n_q); NaN for coordinates without a value."""
        postures = np.full((2, self.model.n_q), np.nan)
        for values in self.end_values.values():
            for end in values:
                if end.quantity == "q":
                    postures[int(end.s), end.index] = end.value
        return postures

    @cached_property
    def way(self) -> np.ndarray | None:
        """Postures that parts have in place of a straight line as a guess, shape (N, n_q), or None."""
        ways = (part.way(self.prescribed_postures) for part in self.parts)
        return next((way for way in ways if way is not None), None)

    @cached_property
    def implied_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Prescribed positions, shape (2, n_q), and velocities, shape (2, n), at the ends that follow from others."""
        still = np.zeros((2, self.model.n), dtype=bool)
        for end in (end for values in self.end_values.values() for end in values):
            if end.quantity == "qd" and end.value == 0:
                still[int(end.s), end.index] = True
        positions, velocities = np.zeros((2, self.model.n_q), dtype=bool), np.zeros_like(still)
        for part in self.parts:
            follow = part.implied(self.prescribed_postures, still)
            positions, velocities = positions | follow[0], velocities | follow[1]
        return positions, velocities

    @property
    def up_to_turns(self) -> list[EndValue]:
        """Final positions that are prescribed up to whole turns."""
        return [end for statement in self.statements for end in statement.up_to_turns(self.instant)]

    @property
    def phases(self) -> dict[str, Problem]:
        """This problem as a sequence of one phase, without a name."""
        return {"": self}

    @property
    def horizon(self) -> Free:
        """The duration with its bounds; equal bounds where it is a number."""
        assert isinstance(self.duration, Free)
        return self.duration

    @property
    def span(self) -> str:
        T = self.horizon
        return f"{short(T.lower)} s" if T.lower == T.upper else f"free in [{short(T.lower)}, {short(T.upper)}] s"

    @cached_property
    def _added(self) -> Contribution:
        added = joint_contribution(self.parts)
        for name, kind in (("unknowns", Unknown | State), ("parameters", Parameter), ("loads", Load)):
            checked_list(f"{name} of parts", getattr(added, name), kind)
        checked_statements("statements of parts", added.statements)
        return added

    @cached_property
    def coordinates(self) -> Coordinates | None:
        """The part that makes some joints depend on others, or None."""
        parts = [part for part in self.parts if isinstance(part, Coordinates)]
        if len(parts) > 1:
            raise InputError(
                f"parts can contain one set of coordinates, got {len(parts)}: state all loops in one chain"
            )
        if parts and parts[0].model is not self.model:
            raise InputError(
                f"the {parts[0].name} is of {parts[0].model.name!r}, not of the problem's model: give the problem that "
                "model, as in co.Problem(chain.model, ...)"
            )
        return parts[0] if parts else None

    @cached_property
    def all_unknowns(self) -> tuple[Unknown | State, ...]:
        unknowns = _once(self.unknowns, self._added.unknowns)
        return (*unknowns, *brought(unknowns, self._stated, ""))

    @cached_property
    def all_parameters(self) -> tuple[Parameter, ...]:
        return _once(self.parameters, self._added.parameters)

    @cached_property
    def all_loads(self) -> tuple[Load, ...]:
        return (*self.loads, *self._added.loads)

    @property
    def part_signals(self) -> Sequence[Signal]:
        """Signals of parts that are not unknowns."""
        return self._added.signals

    @property
    def _stated(self) -> tuple[Statement, ...]:
        """Statements of the problem and its parts, without the balance of torques."""
        return (*self.subject_to, *self._added.statements)

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """All statements: `subject_to`, those of parts, and the balance of torques at joints that parts drive."""
        stated = self._stated
        driven = {joint: torques for joint, torques in self._drivers.items() if joint not in self._locked}
        if driven:
            stated += (torque_balance(self.parts, self._added.sizes, self.instant, driven),)
        lower, upper = joint_limits(self.model, stated, "tau")
        zero = np.array(self.model.joint_names)[(lower == 0) & (upper == 0)].tolist()
        passive = [joint for joint in self.passive if joint not in zero]
        return (*stated, bounds(tau=dict.fromkeys(passive, (0.0, 0.0)))) if passive else stated

    @cached_property
    def passive(self) -> tuple[str, ...]:
        """Joints without a drive: their torque is zero.

        If parts drive joints, these are all other joints, except those that equal bounds hold in place; else they are
        the passive joints of a cut loop, and those between the world and bodies that thrusters, cables or wheels move.
        """
        names = self.model.joint_names
        leading = {joint for body in self._added.moved for joint in self.model.joints_to(body)}
        added = (*self._added.passive, *(joint for joint in names if joint in leading))
        for joint in added:
            if joint not in names:
                raise unknown_name("joint that moves (passive in a part)", joint, names)
        at_rest = () if self.coordinates is None else self.coordinates.passive  # which have no torque as it is
        idle = [joint for joint in names if joint not in self._drivers and joint not in (*self._locked, *at_rest)]
        return tuple(joint for joint in idle if self._drivers or joint in added)

    @property
    def free_motors(self) -> tuple[str, ...]:
        """Joints with an ideal motor of any torque: no part drives them, nothing limits or prescribes it."""
        lower, upper = self.limits("tau")
        slopes = np.array([equation.slopes for equation in self.torque_equations]).reshape(-1, self.model.n)
        free = (lower == -np.inf) & (upper == np.inf) & ~slopes.any(axis=0)
        joints = np.array(self.model.joint_names)[free].tolist()
        return tuple(joint for joint in joints if joint not in self._drivers and joint not in self._locked)

    @cached_property
    def _drivers(self) -> Drivers:
        driven = drivers(self.parts, self.instant) if self.parts else {}
        at_rest = () if self.coordinates is None else self.coordinates.passive
        if idle := [joint for joint in driven if joint in at_rest]:
            raise InputError(
                f"joint {idle[0]!r}, which the {driven[idle[0]][0][0]} drives, has no actuator in the chain: list it "
                "among its actuators, and give IndependentJoints(chain, surplus=True), or CutJoints(chain)"
            )
        return driven

    @cached_property
    def _locked(self) -> frozenset[str]:
        """Joints that equal bounds on their position hold in place."""
        lower, upper = joint_limits(self.model, self._stated, "q")
        return frozenset(np.array(self.model.position_names)[lower == upper].tolist())

    def restated(self, statements: Sequence[Statement], **changes: Any) -> Problem:
        """The problem with other statements in place of all its own and its parts', and other changes."""
        whole: dict[str, Any] = {"unknowns": self.all_unknowns, "parameters": self.all_parameters}
        others = [part for part in self.parts if part is not self.coordinates]
        parts = [*([] if self.coordinates is None else [self.coordinates]), *([StatedParts(others)] if others else [])]
        return replace(self, subject_to=statements, **whole | {"loads": self.all_loads, "parts": parts} | changes)

    def with_opposite_ends(self, positions: Collection[int]) -> Problem:
        """The problem with the negatives of some prescribed final positions, by their places in q.

        Those of a quaternion are the same attitude, on the other way round.
        """
        places = [count("place in q", place, at_least=0) for place in as_tuple("positions", positions)]

        def opposite(statement: Statement) -> Statement:
            ends = [end for end in statement.end_values(self.instant) if (end.s, end.quantity) == (1, "q")]
            changed = [end.row for end in ends if end.index in places]
            if not changed:
                return statement
            rows = statement.rows(self.instant)
            lower, upper = rows.lower.copy(), rows.upper.copy()
            lower[changed], upper[changed] = -upper[changed], -lower[changed]
            return statement.with_bounds(rows, lower, upper)

        return replace(self, subject_to=[opposite(statement) for statement in self.subject_to])

    @property
    def signals(self) -> list[Unknown]:
        """The unknowns that vary with time."""
        return [u for u in self.all_unknowns if isinstance(u, Unknown) and not u.constant]

    @property
    def states(self) -> list[State]:
        """The unknowns that obey differential equations."""
        return [u for u in self.all_unknowns if isinstance(u, State)]

    @property
    def constants(self) -> list[Unknown]:
        """The unknowns that are constant along the motion."""
        return [u for u in self.all_unknowns if isinstance(u, Unknown) and u.constant]

    @property
    def shapes(self) -> list[Shape]:
        """The shapes of clearance constraints, in their order."""
        stated = (shape for statement in self.statements for shape in statement.shapes)
        return list(dict.fromkeys([*stated, *self._added.shapes]))

    @property
    def slot_names(self) -> SlotNames:
        """Names of the varying quantities, by slot of an instant, such as "q[elbow]"."""
        return slot_names(self.model, self.signals, self.states)

    @cached_property
    def instant(self) -> Instant:
        """An instant in fresh symbols; unknowns and parameters by their own symbols."""
        return replace(self._bare, loads=self._acting(self._bare, self.wrenches), pull_across=self._pull)

    @cached_property
    def _bare(self) -> Instant:
        """The instant as an argument of loads: it has none."""
        return _new_instant(self)

    def another(self, suffix: str) -> Instant:
        """Another instant, with new symbols, named with a suffix, for all that varies along the motion."""
        now = _new_instant(self, text("suffix", suffix), self._bare.duration)
        return replace(now, loads=self._acting(now, _loads_at(self, now)), pull_across=self._pull)

    @property
    def _pull(self) -> Callable[[Instant, str], Reaction | None] | None:
        return partial(pull_of, tuple(self.parts)) if self.parts else None

    @cached_property
    def wrenches(self) -> tuple[Load, ...]:
        """The loads in the symbols of `instant`."""
        return _loads_at(self, self._bare)

    def _acting(self, now: Instant, loads: tuple[Load, ...]) -> Sequence[Load]:
        coordinates = self.coordinates
        if coordinates is None:
            return loads
        # Few rows depend on the forces in loops, which take as long to form as the torques.
        return LateTuple(lambda: loads + coordinates.closing_loads(now, loads))

    def inverse_dynamics(self, recursion: InverseDynamics = newton_euler) -> ca.SX:
        """Torques of `instant` by a recursion, SX, shape (n,) [N m, N].

        Parameters
        ----------
        recursion : InverseDynamics
            Such as `colloc.dynamics.newton_euler`.

        Examples
        --------
        >>> problem.inverse_dynamics().shape
        (2, 1)
        """
        if not self.model.n:
            return ca.SX(0, 1)
        now = self.instant
        if self.coordinates is not None:
            return self.coordinates.inverse_dynamics(now, self.wrenches, recursion)
        return inverse_dynamics(recursion, self.model, now.q, now.qd, now.qdd, self.wrenches)

    @cached_property
    def formulations(self) -> list[Any]:
        """Objects that programs of this problem share on all curves: one for each formulation of its dynamics."""
        return []

    @cached_property
    def closure(self) -> ConstraintRows | None:
        """Equations for the splines of dependent joints, or None."""
        if self.coordinates is None:
            return None
        rows = self.coordinates.closure.rows(self._bare)
        return ConstraintRows(self.coordinates.closure, rows, self.function("closure", rows.expression), self.model)

    @property
    def integrands(self) -> dict[str, tuple[float, ca.Function]]:
        """Weight and scalar integrand of the integrated cost terms by name, as functions of the instant's slots.

        The duration is the integral of one.
        """
        return {name: (term.weight, fn) for name, (term, fn) in self.costs.items() if not term.final}

    @property
    def final_costs(self) -> dict[str, tuple[float, ca.Function]]:
        """Weight and scalar function of the final costs, by name."""
        return {name: (term.weight, fn) for name, (term, fn) in self.costs.items() if term.final}

    @cached_property
    def costs(self) -> dict[str, tuple[Term, ca.Function]]:
        """Every cost term by name, with its scalar function of the instant's slots."""
        costs: dict[str, tuple[Term, ca.Function]] = {}
        functions: list[UserFunction] = []
        for term in self.minimize.terms:
            name = unique(term.name, costs)
            with error_context(f"cost term {name!r}", self.model.joint_names):
                value = 1.0 if term.fn is None else check_returned(f"cost term {name!r}", term.fn(self.instant))
            if not isinstance(value, ca.SX | ca.DM | int | float) or ca.SX(value).shape != (1, 1):
                shape = f"shape {value.shape}" if isinstance(value, ca.SX) else repr(value)
                raise InputError(f"cost term {name!r} must return an SX scalar, got {shape}")
            expression = ca.densify(ca.SX(value))
            costs[name] = (term, self.function(f"cost term {name!r}", expression))
            functions.append(UserFunction(name, term.fn, expression, term.final))
        check_loops("cost term", functions)
        return costs

    @cached_property
    def rows(self) -> dict[str, ConstraintRows]:
        """Every constraint by name, with its rows; bounds and joint limits joined for each quantity they limit.

        Unit length of quaternions is among them: the motion does not depend on it, but without it the optimum is not
        unique.
        """
        constraints: dict[str, ConstraintRows] = {}
        functions: list[UserFunction] = []
        rates = (equation_of(state, self.horizon) for state in self.states)
        equations = (*rates, *starmap(unit_length, self.model.balls.items()))
        for statement in (*self.statements, *equations, *joint_bounds(self.model, self.statements)):
            name = unique(statement.name, constraints)
            instants = [self.instant, *(self.another(" end") for _ in range(1, statement.where.instants))]
            with error_context(f"constraint {name!r}", self.model.joint_names):
                rows = statement.rows(*instants)
            if not rows.labels:
                continue
            function = self.function(f"constraint {name!r}", rows.expression, *instants[1:])
            rows = named(statement, name, rows, function, [self.slot_names] * len(instants))
            constraints[name] = ConstraintRows(statement, rows, function, self.model)
            functions.append(UserFunction(name, statement.user_function, rows.expression, statement.where))
        check_loops("constraint", functions)
        return constraints

    @cached_property
    def torque_equations(self) -> tuple[TorqueEquation, ...]:
        """Equations along the path that prescribe torques, such as those of passive joints."""
        return torque_equations(self.rows, self.instant.slots)

    @property
    def fixed_torques(self) -> tuple[TorqueEquation, ...]:
        """Those of the torque equations whose values do not vary along the motion, such as zero."""
        return tuple(equation for equation in self.torque_equations if equation.constant)

    @cached_property
    def needs_rates(self) -> bool:
        """Whether a cost or a constraint depends on jerk or torque rates."""
        functions = [fn for _, fn in self.costs.values()] + [rows.function for rows in self.rows.values()]
        return any(map(depends_on_rates, functions))

    def limits(self, quantity: str) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds, each shape (n,), on a joint quantity: joint limits and `bounds` together.

        These hold for the whole motion; for parts of it, see `windows`.
        """
        if quantity not in self._limits:
            self._limits[quantity] = joint_limits(self.model, self.statements, quantity)
        lower, upper = self._limits[quantity]
        return lower.copy(), upper.copy()

    @cached_property
    def _limits(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        return {}

    def sizes(self, quantity: str) -> np.ndarray:
        """Natural sizes of a joint quantity by its `limits`, shape (n,)."""
        return natural_size(*self.limits(quantity))

    def windows(self, quantity: str) -> list[tuple[Window, np.ndarray, np.ndarray]]:
        """Bounds during a part of the motion: the window, and lower and upper bounds, each shape (n,)."""
        return window_limits(self.model, self.statements, quantity)

    @reraise_interrupt
    def function(self, what: str, expression: ca.SX, end: Instant | None = None) -> ca.Function:
        """Function of the instant's slots, or of those of both ends.

        Raises
        ------
        InputError
            For symbols that are not the problem's; `what` names the function that uses them.
        """
        text("what", what)
        instance("expression", expression, ca.SX | ca.DM)
        if end is not None:
            instance("end", end, Instant)
        inputs = [*self.instant.slots]
        if end is not None:  # what does not vary is read from the start
            inputs += end.slots._replace(**{k: ca.SX.sym(k, getattr(end.slots, k).shape[0]) for k in SHARED})
        function = ca.Function("f", inputs, [expression], {"allow_free": True})
        if function.has_free():
            now = self.instant
            names = [*now.signals, *now.states, *now.constants, *now.parameters]
            free = {name for symbol in function.get_free() for name in (symbol, re.sub(r"_\d+$", "", symbol))}
            if twins := [name for name in names if name in free]:
                raise InputError(
                    f"the {what} has the symbol of another unknown or parameter that is named {twins[0]!r} as well: "
                    "make it once, and list this very object"
                )
            raise unknown_name(f"unknown or parameter (used by the {what})", shortened(function.get_free(), 5), names)
        check_numbers(what, function)
        return function

    @property
    def parameter_places(self) -> dict[str, slice]:
        """Entries of every parameter in the vector of all, by name."""
        ends = np.cumsum([0, *(parameter.value.size for parameter in self.all_parameters)]).tolist()
        return {p.name: slice(a, b) for p, a, b in zip(self.all_parameters, ends, ends[1:], strict=False)}

    def parameter_values(self, values: Mapping[str, object] | None = None) -> np.ndarray:
        """All parameters in one vector; `values` replace the defaults by name."""
        values = dict(mapping("parameters", values))
        parts = []
        for parameter in self.all_parameters:
            value = values.pop(parameter.name, parameter.value)
            parts.append(finite_array(f"parameter {parameter.name!r}", value, parameter.value.shape))
        if values:
            raise unknown_name("parameter", next(iter(values)), [p.name for p in self.all_parameters])
        return np.concatenate([np.zeros(0), *parts])

    def _table(self) -> Table:
        """Model, duration, costs, constraints and unknowns, one line each."""
        model = self.model
        lines = [("model", f"{model.name}, {model.n} DOF: {shown(model.joint_names)}" if model.n else model.name)]
        lines.append(("duration", self.span))
        lines += [("minimize", f"{short(term.weight)} * {name}") for name, (term, _) in self.costs.items()]
        lines += [(f"then ({k})", repr(cost).removeprefix("Cost")) for k, cost in enumerate(self.minimize.later, 2)]
        lines += [("subject to", f"{name}: {_described(constraint)}") for name, constraint in self.rows.items()]
        for unknown in self.all_unknowns:
            kind = "state" if isinstance(unknown, State) else "constant" if unknown.constant else "signal"
            lines.append(("unknown", f"{unknown.name}: {kind}, size {unknown.size}" + _named(unknown.names)))
        lines += [("parameter", f"{p.name} = {shown(list(map(short, p.value)))}") for p in self.all_parameters]
        lines += [("load", f"on {load.body}") for load in self.all_loads]
        lines += [("part", shortened([part.name for part in self.parts], 10))] if self.parts else []
        lines += [("passive", shown(self.passive))] if self.passive else []
        return Table(f"Problem: {len(self.rows)} constraints", ("", ""), lines)


def _once(*groups: Sequence[Any]) -> tuple[Any, ...]:
    return tuple({id(item): item for group in groups for item in group}.values())


def _new_instant(problem: Problem, suffix: str = "", duration: ca.SX | None = None) -> Instant:
    """An instant in fresh symbols, named with a suffix, without loads.

    Without a suffix signals and states have their `symbol`, which can stand for one instant only; constants and
    parameters always do. The duration is a fresh symbol by default.
    """
    n = problem.model.n
    vectors = [ca.SX.sym("q" + suffix, problem.model.n_q)]
    vectors += [ca.SX.sym(name + suffix, n) for name in ("qd", "qdd", "tau")]
    signals, states = (
        {u.name: ca.SX.sym(u.name + suffix, u.size) if suffix else u.symbol for u in group}
        for group in (problem.signals, problem.states)
    )
    varying = (*problem.signals, *problem.states)
    return Instant(
        problem.model,
        ca.SX.sym("t" + suffix),
        ca.SX.sym("duration") if duration is None else duration,
        *vectors,
        signals=signals,
        states=states,
        changes={u.name: ca.SX.sym(f"{u.name}'{suffix}", u.size) for u in varying},
        rates=(ca.SX.sym("jerk" + suffix, n), ca.SX.sym("tau_rate" + suffix, n)),
        constants={u.name: u.symbol for u in problem.constants},
        parameters={p.name: p.symbol for p in problem.all_parameters},
        part_signals={signal.name: signal.at for signal in problem.part_signals},
    )


def _loads_at(problem: Problem, now: Instant) -> tuple[Load, ...]:
    """The loads of a problem at an instant; InputError for a load that depends on results of loads."""
    loads = []
    for load in problem.all_loads:
        with error_context(f"the load on {load.body!r}", problem.model.joint_names):
            loads.append(load.at(now))
        if ca.depends_on(loads[-1].wrench, ca.vertcat(now.jerk, now.tau_rate, *now.changes.values())):
            raise InputError(
                f"the load on {load.body!r} depends on jerk, or on rates of torques, signals or states, which "
                "follow from loads"
            )
    return tuple(loads)


def _named(names: Sequence[str]) -> str:
    return f" ({shown(names, 6)})" if names else ""


def _described(constraint: ConstraintRows) -> str:
    """Number of rows, bounds and times of a constraint."""
    rows = constraint.rows
    values = [
        short(low) if low == high else f"[{short(low)}, {short(high)}]"
        for low, high in zip(rows.lower, rows.upper, strict=True)
    ]
    listed = values[0] if len(set(values)) == 1 else f"({shown(values, 6)})"
    return f"{len(values)} row{'s' if len(values) > 1 else ''} in {listed} {constraint.constraint.where}"
