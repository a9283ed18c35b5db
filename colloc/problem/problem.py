"""The problem: a mechanism, a duration, a cost and constraints. It knows nothing of transcriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from colloc.checks import (
    InputError,
    as_tuple,
    choice,
    finite_array,
    finite_number,
    instance,
    mapping,
    text,
    unknown_name,
)
from colloc.display import short
from colloc.interrupts import heeded
from colloc.lazy import cached_property
from colloc.model import Load, Model, check_loads
from colloc.pickling import Portable
from colloc.problem.conditions import Condition, Constraint
from colloc.problem.constraint_rows import ConstraintRows
from colloc.problem.coordinates import Coordinates
from colloc.problem.cost import NOTHING, Cost, Term
from colloc.problem.doubts import check_angles, check_idle
from colloc.problem.instant import RATES, SHARED, Instant, Slots
from colloc.problem.joint_constraints import QUANTITIES, Bounds, EndState, JointBounds
from colloc.problem.rows import natural_size
from colloc.problem.table import problem_table
from colloc.problem.unknowns import Free, Parameter, State, Unknown
from colloc.problem.user_functions import Stated, blamed, check_loops, check_numbers, returned, uncalled
from colloc.problem.where import WHOLE, Ends, Window

_LIMITED = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque"}


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Portable):
    """A motion to be predicted.

    Parameters
    ----------
    model : Model
        None, or `Model.empty()`, for a problem of states alone.
    duration : Free or float [s]
    minimize : Cost
        See `duration`, `integral` and `terminal`. By default nothing: any motion that meets the constraints will do.
    subject_to : sequence of constraints
        See `initial`, `final`, `bounds`, `path`, `at` and `boundary`. Joint limits of the model always hold.
    unknowns : sequence of Unknown and State
        Signals and constants to be found beside the motion, and signals with differential equations of their own.
    parameters : sequence of Parameter
        Values that may change between solves.
    loads : sequence of Load
        Wrenches of the environment; they may contain the symbols of unknowns and parameters.
    coordinates : Coordinates, optional
        Which joints of a closed chain move by themselves, such as `colloc.loops.IndependentJoints`; by default all do.

    Raises
    ------
    InputError
        Naming what is wrong: a wrong shape, an unknown name, a duration that is not positive, a function that is
        not scalar or uses symbols the problem does not know.

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
    subject_to: Sequence[Constraint] = ()
    unknowns: Sequence[Unknown | State] = ()
    parameters: Sequence[Parameter] = ()
    loads: Sequence[Load] = ()
    coordinates: Coordinates | None = None

    @heeded
    def __post_init__(self):
        if self.model is None:
            object.__setattr__(self, "model", Model.empty())
        if not isinstance(self.model, Model):
            tree = isinstance(getattr(self.model, "model", None), Model)
            hint = "; of a closed chain give its model, and coordinates=loops.IndependentJoints(chain)" if tree else ""
            hint = hint or uncalled(self.model)
            raise InputError(f"model must be a Model, got {self.model!r}{hint}")
        if not isinstance(self.duration, Free):
            fixed = finite_number("duration", self.duration, positive=True)
            object.__setattr__(self, "duration", Free(fixed, fixed, fixed))
        if not isinstance(self.minimize, Cost):
            hint = uncalled(self.minimize)
            raise InputError(f"minimize must be a Cost (see co.duration, co.integral), got {self.minimize!r}{hint}")
        kinds = {"subject_to": Constraint, "unknowns": Unknown | State, "parameters": Parameter, "loads": Load}
        for name, kind in kinds.items():
            items = as_tuple(name, getattr(self, name))
            for item in items:
                if not isinstance(item, kind):
                    unpacked = isinstance(item, list | tuple) and all(isinstance(own, kind) for own in item)
                    hint = f"; unpack lists within it: {name}=[*ends, other]" if unpacked else ""
                    raise InputError(f"{name} cannot contain {item!r}{hint}")
            object.__setattr__(self, name, items)
        check_loads(self.model, self.loads)
        if self.coordinates is not None and not isinstance(self.coordinates, Coordinates):
            raise InputError(f"coordinates must be such as loops.IndependentJoints(chain), got {self.coordinates!r}")
        if self.coordinates is not None and self.coordinates.model is not self.model:
            raise InputError(f"coordinates are those of {self.coordinates.model.name!r}, not of the problem's model")
        names = [item.name for item in (*self.unknowns, *self.parameters)]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two unknowns or parameters are named {name!r}; names must be unique")
        self._check_states()
        # Everything symbolic but the dynamics is formed once here, so that mistakes surface at construction.
        for load in self.wrenches:
            self.function(f"load on {load.body!r}", load.wrench)
        self.function("model", ca.vertcat(ca.SX(0, 1), *self.model.symbols))
        _ = self.costs, self.rows
        check_idle(self)
        check_angles(self)

    @property
    def horizon(self) -> Free:
        """The duration with its bounds; equal bounds when it is given."""
        assert isinstance(self.duration, Free)
        return self.duration

    @property
    def span(self) -> str:
        """The duration in words."""
        T = self.horizon
        return f"{short(T.lower)} s" if T.lower == T.upper else f"free in [{short(T.lower)}, {short(T.upper)}] s"

    @property
    def signals(self) -> list[Unknown]:
        """The unknowns that vary with time."""
        return [u for u in self.unknowns if isinstance(u, Unknown) and not u.constant]

    @property
    def states(self) -> list[State]:
        """The unknowns that obey differential equations."""
        return [u for u in self.unknowns if isinstance(u, State)]

    @property
    def constants(self) -> list[Unknown]:
        """The unknowns that do not vary."""
        return [u for u in self.unknowns if isinstance(u, Unknown) and u.constant]

    @cached_property
    def instant(self) -> Instant:
        """One moment in fresh symbols; unknowns and parameters by their own symbols."""
        return replace(self._bare, loads=self._acting(self._bare, self.wrenches))

    @cached_property
    def _bare(self) -> Instant:
        """The instant as loads see it, which do not know each other."""
        return self._instant("")

    def _instant(self, suffix: str) -> Instant:
        n = self.model.n
        vectors = [ca.SX.sym(name + suffix, n) for name in ("q", "qd", "qdd", "tau")]
        # Signals take their own symbol once; a second instant (the end of a boundary) needs others.
        signals, states = (
            {u.name: ca.SX.sym(u.name + suffix, u.size) if suffix else u.symbol for u in group}
            for group in (self.signals, self.states)
        )
        varying = (*self.signals, *self.states)
        return Instant(
            self.model,
            ca.SX.sym("t" + suffix),
            self._bare.duration if suffix else ca.SX.sym("duration"),
            *vectors,
            signals=signals,
            states=states,
            changes={u.name: ca.SX.sym(f"{u.name}'{suffix}", u.size) for u in varying},
            rates=(ca.SX.sym("jerk" + suffix, n), ca.SX.sym("tau_rate" + suffix, n)),
            constants={u.name: u.symbol for u in self.constants},
            parameters={p.name: p.symbol for p in self.parameters},
        )

    def another(self, suffix: str) -> Instant:
        """Another moment than that of `instant`, in other symbols, named with a suffix, but for what does not vary."""
        now = self._instant(text("suffix", suffix))
        return replace(now, loads=self._acting(now, self._loads_at(now)))

    @cached_property
    def wrenches(self) -> tuple[Load, ...]:
        """The loads in the symbols of `instant`."""
        return self._loads_at(self._bare)

    def _loads_at(self, now: Instant) -> tuple[Load, ...]:
        found = []
        for load in self.loads:
            with blamed(f"the load on {load.body!r}", self.model.joint_names):
                found.append(load.at(now))
            if ca.depends_on(found[-1].wrench, ca.vertcat(now.jerk, now.tau_rate, *now.changes.values())):
                raise InputError(
                    f"the load on {load.body!r} depends on jerk, or on rates of torques, signals or states, which "
                    "follow from loads"
                )
        return tuple(found)

    def _acting(self, now: Instant, loads: tuple[Load, ...]) -> tuple[Load, ...]:
        """The loads of the environment, and of loops if there are any."""
        return loads if self.coordinates is None else loads + self.coordinates.loads(now, loads)

    @cached_property
    def closure(self) -> ConstraintRows | None:
        """What the joints that follow from others meet as splines, if any do."""
        if self.coordinates is None:
            return None
        rows = self.coordinates.closure.rows(self._bare)
        return ConstraintRows(self.coordinates.closure, rows, self.function("closure", rows.expression))

    @property
    def integrands(self) -> dict[str, tuple[float, ca.Function]]:
        """Weight and scalar integrand of the integrated cost terms by name, as functions of the instant's slots.

        The duration counts as the integral of one.
        """
        return {name: (term.weight, fn) for name, (term, fn) in self.costs.items() if not term.terminal}

    @property
    def terminals(self) -> dict[str, tuple[float, ca.Function]]:
        """The same of the cost terms that are taken at the last instant."""
        return {name: (term.weight, fn) for name, (term, fn) in self.costs.items() if term.terminal}

    @cached_property
    def costs(self) -> dict[str, tuple[Term, ca.Function]]:
        """Every cost term by name, with its scalar function of the instant's slots."""
        found: dict[str, tuple[Term, ca.Function]] = {}
        stated: list[Stated] = []
        for term in self.minimize.terms:
            name = unique(term.name, found)
            with blamed(f"cost term {name!r}", self.model.joint_names):
                value = 1.0 if term.fn is None else returned(f"cost term {name!r}", term.fn(self.instant))
            if not isinstance(value, ca.SX | ca.DM | int | float) or ca.SX(value).shape != (1, 1):
                shape = f"shape {value.shape}" if isinstance(value, ca.SX) else repr(value)
                raise InputError(f"cost term {name!r} must return an SX scalar, got {shape}")
            expression = ca.densify(ca.SX(value))
            found[name] = (term, self.function(f"cost term {name!r}", expression))
            stated.append(Stated(name, term.fn, expression, term.terminal))
        check_loops("cost term", stated)
        return found

    @cached_property
    def rows(self) -> dict[str, ConstraintRows]:
        """Every constraint by name, with its rows; bounds and joint limits joined for each quantity they limit."""
        found: dict[str, ConstraintRows] = {}
        stated = [c for c in self.subject_to if not isinstance(c, Bounds)]
        for constraint in (*stated, *map(_equation, self.states), *self._joint_bounds()):
            name = unique(constraint.name, found)
            instants = [self.instant]
            if isinstance(constraint.where, Ends):
                instants.append(self.another(" end"))
            with blamed(f"constraint {name!r}", self.model.joint_names):
                rows = constraint.rows(*instants)
            function = self.function(f"constraint {name!r}", rows.expression, *instants[1:])
            found[name] = ConstraintRows(constraint, rows, function)
        own = ((name, item.constraint, item.rows) for name, item in found.items())
        check_loops(
            "constraint", [Stated(name, c.fn, r.expression, c.where) for name, c, r in own if isinstance(c, Condition)]
        )
        return found

    @cached_property
    def needs_rates(self) -> bool:
        """Whether a cost or a constraint depends on jerk or torque rates."""
        functions = [fn for _, fn in self.costs.values()] + [stated.function for stated in self.rows.values()]
        return any(map(_depends_on_rates, functions))

    def limits(self, quantity: str) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds, each shape (n,), on a joint quantity: joint limits and `bounds` together.

        Those that hold all along; for bounds during a part of the motion, see `windows`.
        """
        choice("quantity", quantity, QUANTITIES)
        n = self.model.n
        stated = [(np.full(n, -np.inf), np.full(n, np.inf))]
        stated += [c.limits_of(quantity, self.model) for c in self._bounds if c.where == WHOLE]
        if quantity in _LIMITED:
            stated.append(self.model.limits(_LIMITED[quantity]))
        lower, upper = np.max([low for low, _ in stated], axis=0), np.min([high for _, high in stated], axis=0)
        for joint, low, high in zip(self.model.joint_names, lower, upper, strict=True):
            if low > high:
                raise InputError(f"bounds on {quantity}[{joint}] contradict each other: lower {low} > upper {high}")
        return lower, upper

    def windows(self, quantity: str) -> list[tuple[Window, np.ndarray, np.ndarray]]:
        """Bounds during a part of the motion: when, and lower and upper bounds, each shape (n,)."""
        choice("quantity", quantity, QUANTITIES)
        parts = [c for c in self._bounds if c.where != WHOLE and quantity in c.limits]
        return [(c.where, *c.limits_of(quantity, self.model)) for c in parts]

    @property
    def _bounds(self) -> list[Bounds]:
        return [c for c in self.subject_to if isinstance(c, Bounds)]

    def _joint_bounds(self) -> list[JointBounds]:
        """Bounds and joint limits, one constraint for each quantity and part of the motion that has any."""
        found = []
        for quantity in QUANTITIES:
            for where, lower, upper in [(WHOLE, *self.limits(quantity)), *self.windows(quantity)]:
                joints = [j for j in range(self.model.n) if np.isfinite([lower[j], upper[j]]).any()]
                if joints:
                    found.append(JointBounds(quantity, joints, lower[joints], upper[joints], where))
        return found

    def _check_states(self) -> None:
        """InputError for a stated value outside its bounds: no solver could meet it."""
        known = {state.name: state for state in self.states}
        for state in (c for c in self.subject_to if isinstance(c, EndState)):
            for name, k, value in state.stated_states(self._bare.states):
                lower, upper = known[name].lower[k], known[name].upper[k]
                if not lower - 1e-9 <= value <= upper + 1e-9:
                    raise InputError(f"{state.name} {name} = {value:g} lies outside its bounds [{lower:g}, {upper:g}]")
            for quantity, j, value in state.stated(self.model):
                lower, upper = (side[j] for side in self.limits(quantity))
                if not lower - 1e-9 <= value <= upper + 1e-9:
                    raise InputError(
                        f"{state.name} {quantity}[{self.model.joint_names[j]}] = {value:g} lies outside its "
                        f"bounds [{lower:g}, {upper:g}]"
                    )

    @heeded
    def function(self, what: str, expression: ca.SX, end: Instant | None = None) -> ca.Function:
        """Function of the instant's slots, or of those of both ends.

        Raises
        ------
        InputError
            When symbols are left that the problem does not know; `what` says who uses them.
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
            known = [*self.instant.signals, *self.instant.states, *self.instant.constants, *self.instant.parameters]
            raise unknown_name(f"unknown or parameter (used by the {what})", ", ".join(function.get_free()), known)
        check_numbers(what, function)
        return function

    def parameter_values(self, values: Mapping[str, object] | None = None) -> np.ndarray:
        """All parameters in one vector; `values` replace the defaults by name."""
        given = dict(mapping("parameters", values))
        parts = []
        for parameter in self.parameters:
            value = given.pop(parameter.name, parameter.value)
            parts.append(finite_array(f"parameter {parameter.name!r}", value, parameter.value.shape))
        if given:
            raise unknown_name("parameter", next(iter(given)), [p.name for p in self.parameters])
        return np.concatenate([np.zeros(0), *parts])

    def __repr__(self) -> str:
        return problem_table(self).text()

    def _repr_html_(self) -> str:
        return problem_table(self).html()


def _equation(state: State) -> Condition:
    """The differential equation of a state, along the path; its natural size is that of the state."""
    name = state.equation_name
    labels = (name,) if state.size == 1 else tuple(f"{name}[{k}]" for k in range(state.size))
    scale = natural_size(state.lower, state.upper)
    return Condition(name, state.equation, 0.0, 0.0, WHOLE, scale, labels=labels)


def _depends_on_rates(function: ca.Function) -> bool:
    inputs = function.sx_in()
    rates = [symbol for name, symbol in zip(Slots._fields * 2, inputs, strict=False) if name in RATES]
    return ca.depends_on(function.call(inputs)[0], ca.vertcat(*rates))


def unique(name: str, taken: Mapping[str, object]) -> str:
    """The name, with a number where it is taken."""
    k = 2
    unique = name
    while unique in taken:
        unique, k = f"{name} {k}", k + 1
    return unique
