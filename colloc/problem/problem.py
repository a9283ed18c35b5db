"""The problem: a mechanism, a duration, a cost and constraints. It knows nothing of transcriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from colloc.model import Capsule, Load, Model, check_loads
from colloc.problem.conditions import Condition, Constraint, equation_of
from colloc.problem.constraint_rows import ConstraintRows
from colloc.problem.coordinates import Coordinates
from colloc.problem.cost import NOTHING, Cost, Term
from colloc.problem.doubts import check_angles, check_idle, check_tracks
from colloc.problem.given import check_coordinates, check_unique, given_cost, given_duration, given_list, given_model
from colloc.problem.instant import SHARED, Instant, depends_on_rates
from colloc.problem.joint_constraints import Bounds
from colloc.problem.joint_limits import check_ends, joint_bounds, limits, windows
from colloc.problem.moments import loads_at, moment
from colloc.problem.rows import unique
from colloc.problem.table import problem_table
from colloc.problem.time_sets import Ends, Window
from colloc.problem.unknowns import Free, Parameter, State, Unknown
from colloc.problem.user_functions import Stated, blamed, check_loops, check_numbers, returned
from colloc.support.checks import InputError, finite_array, instance, mapping, shortened, spelt, text, unknown_name
from colloc.support.display import short
from colloc.support.interrupts import reraise_interrupt
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable


@spelt
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

    @reraise_interrupt
    def __post_init__(self):
        kinds = {"subject_to": Constraint, "unknowns": Unknown | State, "parameters": Parameter, "loads": Load}
        given: dict[str, object] = {"model": given_model(self.model), "duration": given_duration(self.duration)}
        given |= {"minimize": given_cost(self.minimize)}
        given |= {name: given_list(name, getattr(self, name), kind) for name, kind in kinds.items()}
        for name, value in given.items():
            object.__setattr__(self, name, value)
        check_loads(self.model, self.loads)
        check_coordinates(self.coordinates, self.model)
        check_unique((*self.unknowns, *self.parameters))
        check_ends(self.model, self.subject_to, self.states, self._bare.states)
        # Everything symbolic but the dynamics is formed once here, so that mistakes surface at construction.
        for load in self.wrenches:
            self.function(f"load on {load.body!r}", load.wrench)
        self.function("model", ca.vertcat(ca.SX(0, 1), *self.model.symbols))
        _ = self.costs, self.rows
        check_idle(self)
        check_angles(self)
        check_tracks(self)

    @property
    def phases(self) -> dict[str, Problem]:
        """This problem as a sequence of one phase, without a name."""
        return {"": self}

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

    @property
    def capsules(self) -> list[Capsule]:
        """The capsules that are kept apart from each other, in the order of the constraints."""
        stated = (c for c in self.subject_to if isinstance(c, Condition))
        return list(dict.fromkeys(capsule for c in stated for capsule in c.capsules))

    @cached_property
    def instant(self) -> Instant:
        """One moment in fresh symbols; unknowns and parameters by their own symbols."""
        return replace(self._bare, loads=self._acting(self._bare, self.wrenches))

    @cached_property
    def _bare(self) -> Instant:
        """The instant as loads see it, which do not know each other."""
        return moment(self)

    def another(self, suffix: str) -> Instant:
        """Another moment than that of `instant`, in other symbols, named with a suffix, but for what does not vary."""
        now = moment(self, text("suffix", suffix), self._bare.duration)
        return replace(now, loads=self._acting(now, loads_at(self, now)))

    @cached_property
    def wrenches(self) -> tuple[Load, ...]:
        """The loads in the symbols of `instant`."""
        return loads_at(self, self._bare)

    def _acting(self, now: Instant, loads: tuple[Load, ...]) -> tuple[Load, ...]:
        """The loads of the environment, and of loops if there are any."""
        return loads if self.coordinates is None else loads + self.coordinates.loads(now, loads)

    @cached_property
    def closure(self) -> ConstraintRows | None:
        """What the joints that follow from others meet as splines, if any do."""
        if self.coordinates is None:
            return None
        rows = self.coordinates.closure.rows(self._bare)
        return ConstraintRows(self.coordinates.closure, rows, self.function("closure", rows.expression), self.model)

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
        for constraint in (*stated, *map(equation_of, self.states), *joint_bounds(self.model, self.subject_to)):
            name = unique(constraint.name, found)
            instants = [self.instant]
            if isinstance(constraint.where, Ends):
                instants.append(self.another(" end"))
            with blamed(f"constraint {name!r}", self.model.joint_names):
                rows = constraint.rows(*instants)
            function = self.function(f"constraint {name!r}", rows.expression, *instants[1:])
            found[name] = ConstraintRows(constraint, rows, function, self.model)
        own = ((name, item.constraint, item.rows) for name, item in found.items())
        check_loops(
            "constraint", [Stated(name, c.fn, r.expression, c.where) for name, c, r in own if isinstance(c, Condition)]
        )
        return found

    @cached_property
    def needs_rates(self) -> bool:
        """Whether a cost or a constraint depends on jerk or torque rates."""
        functions = [fn for _, fn in self.costs.values()] + [stated.function for stated in self.rows.values()]
        return any(map(depends_on_rates, functions))

    def limits(self, quantity: str) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds, each shape (n,), on a joint quantity: joint limits and `bounds` together.

        Those that hold all along; for bounds during a part of the motion, see `windows`.
        """
        return limits(self.model, self.subject_to, quantity)

    def windows(self, quantity: str) -> list[tuple[Window, np.ndarray, np.ndarray]]:
        """Bounds during a part of the motion: when, and lower and upper bounds, each shape (n,)."""
        return windows(self.model, self.subject_to, quantity)

    @reraise_interrupt
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
            raise unknown_name(f"unknown or parameter (used by the {what})", shortened(function.get_free(), 5), known)
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
