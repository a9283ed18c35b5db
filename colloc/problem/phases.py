"""Motions in phases: problems one after another, linked, with costs and constraints of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from colloc.model import Model
from colloc.problem.cost import NOTHING, Cost, Term, checked_cost
from colloc.problem.impacts import Impact
from colloc.problem.phase_functions import (
    Connection,
    NamedPhases,
    PhaseEnds,
    PhaseRows,
    Readable,
    equal_constants,
    phase_rows,
    readable_points,
)
from colloc.problem.problem import Problem
from colloc.problem.rows import bounded, column, summed, unique
from colloc.problem.statement import Statement, brought, named
from colloc.problem.unknowns import Free, Parameter, fixed_duration
from colloc.problem.user_functions import error_context
from colloc.problem.validate import checked_statement
from colloc.support.checks import InputError, as_tuple, finite_array, instance, quoted, spelt, text, unknown_name, warn
from colloc.support.display import Table, Tabular, shown
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable

WEIGHTS = "weights_of_cases"  # the parameter of `Cases` with a largest cost


@spelt
@dataclass(frozen=True, eq=False, repr=False)
class Phases(Tabular, Portable):
    """Phases of a motion, each a problem with its model, duration, cost, constraints and loads.

    A phase starts where the one before it ends: joint positions, velocities and states of the same name are continuous
    unless a `connect` or an `impact` between the two says otherwise. An `Unknown` constant that several phases have is
    the same in all.

    For an equation in positions or velocities that holds in successive phases, such as for a foot that stays in place,
    use the same `path` object in both: it is then imposed once where they meet. Two objects impose it twice, and
    redundant rows slow solvers down.

    Parameters
    ----------
    phases : mapping of str to Problem
        In the order of time.
    subject_to : sequence of connect, impact and boundary
        Links in addition to the default ones, such as from the last phase to the first of a cyclic motion. The function
        of a `boundary` takes the phases' ends by name:
        ``lambda phases: phases["landing"].end.q - phases["push"].start.q``.
    minimize : Cost, or sequence of Cost, optional
        In addition to the costs of the phases: `duration`, that of all phases together, and `final_cost`, whose
        function takes the phases' ends. Costs in order of importance, as of a `Problem`, add up level by level with
        those of the phases.
    duration : Free or float, optional [s]
        Of all phases together; by default the sum of their durations.

    Raises
    ------
    InputError
        Naming the phase: for an unknown phase or joint, phases of different joints without a map, connected states of
        one name with different components, or an impact of a mechanism whose loops stay closed.

    See Also
    --------
    connect, impact, Problem

    Examples
    --------
    >>> start, end, torques = problem.subject_to
    >>> there = co.Problem(two_link(), co.Free(0.1, 5.0), co.duration(), [start, torques])
    >>> back = co.Problem(two_link(), co.Free(0.1, 5.0), co.duration(), [torques, co.final(q=(0.0, -2.0), qd=0.0)])
    >>> touch = co.boundary(lambda phases: phases["back"].start.q, equals=(1.0, -1.0))
    >>> solution = co.solve(co.Phases({"there": there, "back": back}, [touch]), co.BSpline(15), progress=False)
    >>> round(solution["there"].duration, 2), round(solution.duration, 2)
    (0.39, 0.79)
    """

    phases: Mapping[str, Problem]
    subject_to: Iterable[Statement] = ()
    minimize: Cost = NOTHING
    duration: Free | float | None = None

    noun: ClassVar[str] = "phase"
    in_sequence: ClassVar[bool] = True  # whether each begins when the one before it ends
    worst: ClassVar[float] = 0.0  # share of the largest cost of a case, as in `Cases`

    def __post_init__(self):
        phases = checked_problems(self.noun, self.phases)
        links = as_tuple("subject_to", self.subject_to)
        for item in links:
            if not isinstance(item, Statement) or checked_statement(item).where.instants < 2:
                raise InputError(
                    "subject_to of Phases can contain co.connect, co.impact and co.boundary; constraints of a phase "
                    f"belong to its Problem; got {quoted(item)}"
                )
            for phase in item.joins or ():
                if phase not in phases:
                    raise unknown_name("phase", phase, phases)
        joined = [item.joins for item in links]
        if self.in_sequence:
            links += tuple(Connection(*pair) for pair in pairwise(phases) if pair not in joined)
        object.__setattr__(self, "minimize", checked_cost(self.minimize, "co.duration, co.final_cost"))
        for term in (term for cost in self.minimize.levels for term in cost.terms):
            if term.fn is not None and not term.final:
                raise InputError(
                    f"cost term {term.name!r} is an integral, which belongs to the Problem of a {self.noun}"
                )
        if self.duration is not None and not isinstance(self.duration, Free):
            object.__setattr__(self, "duration", fixed_duration(self.duration))
        object.__setattr__(self, "subject_to", links)
        object.__setattr__(self, "phases", _alike(self.noun, phases, links))
        _check_states(self.phases, links)
        _check_loops(self.phases, links)
        _ = self.rows, self.costs
        _doubt_motors(self.noun, self.phases)

    @property
    def statements(self) -> Iterable[Statement]:
        """All statements across phases, including default links."""
        return self.subject_to

    @property
    def model(self) -> Model:
        """The model of the first phase; InputError if the phases have different joints."""
        first, model = next((name, problem.model) for name, problem in self.phases.items())
        for name, problem in self.phases.items():
            if (problem.model.joint_names, problem.model.position_names) != (model.joint_names, model.position_names):
                raise InputError(
                    f"{self.noun}s {first!r} and {name!r} have different joints: take one, as in solution[{name!r}]"
                )
        return model

    @property
    def horizon(self) -> Free:
        """The duration of all phases together, with its bounds."""
        if isinstance(self.duration, Free):
            return self.duration
        horizons = [problem.horizon for problem in self.phases.values()]
        return Free(sum(T.lower for T in horizons), sum(T.upper for T in horizons))

    def limits(self, quantity: str) -> tuple[np.ndarray, np.ndarray]:
        """The widest lower and upper bounds of all phases on a joint quantity, each shape (n,)."""
        assert self.model
        lower, upper = zip(*(problem.limits(quantity) for problem in self.phases.values()), strict=True)
        return np.min(lower, axis=0), np.max(upper, axis=0)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(next(iter(self.phases.values())).all_parameters)

    def parameter_values(self, values: Mapping[str, object] | None = None) -> np.ndarray:
        """All parameters in one vector; `values` replace the defaults by name."""
        return next(iter(self.phases.values())).parameter_values(values)

    @property
    def parameter_places(self) -> dict[str, slice]:
        """Entries of every parameter in the vector of all, by name."""
        return next(iter(self.phases.values())).parameter_places

    @property
    def weights_in_parameters(self) -> slice:
        """Entries of all parameters that are weights of cases; none without a largest cost."""
        return self.parameter_places.get(WEIGHTS, slice(0, 0))

    def with_weights(self, parameters: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """All parameters with other weights of the cases."""
        changed, place = np.array(finite_array("parameters", parameters, (None,))), self.weights_in_parameters
        weights = finite_array("weights", weights, (None,))
        if weights.shape != (place.stop - place.start,):
            raise InputError(f"{weights.size} weights of cases, and the problem has {place.stop - place.start}")
        changed[place] = weights
        return changed

    @cached_property
    def ends(self) -> dict[str, PhaseEnds]:
        """The first and last instants of all phases, each in separate symbols."""
        phases = NamedPhases()
        for name, problem in self.phases.items():
            start, end = (problem.another(f" at the {time} of {name}") for time in ("start", "end"))
            phases[name] = PhaseEnds(start, end, start.duration)
        return phases

    @cached_property
    def _readable(self) -> list[Readable]:
        return readable_points(self.ends)

    @property
    def _total(self) -> ca.SX:
        return sum((phase.duration for phase in self.ends.values()), ca.SX(0))

    @cached_property
    def rows(self) -> dict[str, PhaseRows]:
        constraints: dict[str, PhaseRows] = {}
        for item in self.statements:
            name = unique(item.name, constraints)
            with error_context(f"constraint {name!r}"):
                rows = item.rows(self.ends)
            if rows.lower.size:
                across = phase_rows(f"constraint {name!r}", rows, self._readable, item)
                names = [self.phases[point.phase].slot_names for point in across.points]
                constraints[name] = across._replace(rows=named(item, name, rows, across.function, names))
        for name, equation in equal_constants({n: p.constants for n, p in self.phases.items()}, self.ends).items():
            constraints[unique(name, constraints)] = equation
        if isinstance(self.duration, Free):
            rows = bounded("duration", self._total, self.duration.lower, self.duration.upper, unit="s")
            constraints[unique("duration", constraints)] = phase_rows("duration", rows, self._readable)
        return constraints

    @property
    def duration_row(self) -> str:
        """Name of the constraint on the total duration; empty without one."""
        return list(self.rows)[-1] if isinstance(self.duration, Free) else ""

    @cached_property
    def costs(self) -> dict[str, tuple[Term, PhaseRows]]:
        terms: dict[str, tuple[Term, PhaseRows]] = {}
        for term in self.minimize.terms:
            name = unique(term.name, terms)
            with error_context(f"cost term {name!r}"):
                value = self._total if term.fn is None else term.fn(self.ends)
            value = column(f"cost term {name!r}", value, 1)
            if value.shape != (1, 1):
                raise InputError(f"cost term {name!r} must return an SX scalar, got shape {value.shape}")
            rows = summed(ca.densify(term.weight * value), [name])
            terms[name] = (term, phase_rows(f"cost term {name!r}", rows, self._readable))
        return terms

    def _table(self) -> Table:
        lines = [(self.noun, f"{name}: {problem.model.name}, {problem.span}") for name, problem in self.phases.items()]
        lines += [("minimize", f"{term.weight:g} * {name}") for name, (term, _) in self.costs.items()]
        lines += [(f"then ({k})", repr(cost).removeprefix("Cost")) for k, cost in enumerate(self.minimize.later, 2)]
        for name, constraint in self.rows.items():
            count = constraint.rows.lower.size
            lines.append(("subject to", f"{name}: {count} row{'s' if count > 1 else ''}"))
        title = f"{type(self).__name__}: {len(self.phases)} {self.noun}{'s' if len(self.phases) > 1 else ''}"
        return Table(title, ("", ""), lines)


def checked_problems(noun: str, problems: Any) -> dict[str, Problem]:
    """Problems by name; InputError for anything else, which quotes `noun`, "phase" or "case"."""
    if not isinstance(problems, Mapping):
        raise InputError(
            f'{noun}s must be a mapping of name to Problem, as in {{"swing": problem}}, got {quoted(problems)}'
        )
    if not problems:
        raise InputError(f"{noun}s must name one Problem or more")
    for name, problem in problems.items():
        text(f"name of a {noun}", name)
        instance(f"{noun} {name!r}", problem, Problem)
    return dict(problems)


def _check_states(phases: Mapping[str, Problem], links: Iterable[Statement]) -> None:
    """InputError for connected states of one name with different components."""
    for link in links:
        if not isinstance(link, Connection) or not link.states:
            continue
        before, after = ({state.name: state.labels for state in phases[name].states} for name in link.joins)
        for name in (name for name in after if name in before and after[name] != before[name]):
            raise InputError(
                f"state {name!r} of phases {link.first!r} and {link.second!r} has different components, "
                f"{shown(before[name], 6)} and {shown(after[name], 6)}: rename one, or give co.connect("
                f"{link.first!r}, {link.second!r}, states=False) and link the components by co.boundary"
            )


def _check_loops(phases: Mapping[str, Problem], links: Iterable[Statement]) -> None:
    """InputError for an impact of a mechanism with loops that are closed before and after it."""
    for link in (link for link in links if isinstance(link, Impact)):
        before, after = ([loop for part in phases[name].parts for loop in part.loops] for name in link.joins)
        if both := [loop for loop in after if loop in before]:
            raise InputError(
                f"{link.name}: loops {shown(both)} are closed before and after it, and an impact has no impulses in "
                f"loops: give co.connect({link.first!r}, {link.second!r}, qd=False), and the momenta with these "
                "impulses, which are unknown constants, by co.boundary"
            )


def _doubt_motors(noun: str, phases: Mapping[str, Problem]) -> None:
    """InputWarning for joints that are passive in one phase, and have ideal motors of any torque in another."""
    passive = {joint: name for name, problem in phases.items() for joint in problem.passive}
    for name, problem in phases.items() if passive else ():
        if joints := [joint for joint in problem.free_motors if joint in passive]:
            warn(
                f"{noun} {name!r} has ideal motors at joints {shown(joints)}, which are passive in {noun} "
                f"{passive[joints[0]]!r}: add the part that moves them, or hold their torques at zero by co.bounds"
            )


def _alike(noun: str, phases: Mapping[str, Problem], statements: Iterable[Statement]) -> dict[str, Problem]:
    """Phases as different objects, with all parameters and the unknowns of statements across phases."""
    parameters: dict[str, Parameter] = {}
    for name, problem in phases.items():
        for parameter in problem.all_parameters:
            if parameters.setdefault(parameter.name, parameter) is not parameter:
                raise InputError(
                    f"{noun} {name!r} has another parameter named {parameter.name!r} than {noun}s before it: give both "
                    "the same Parameter, or other names"
                )
        for constant in problem.constants:
            for second, another in phases.items():
                if any(u.name == constant.name and u is not constant for u in another.constants):
                    raise InputError(
                        f"{noun}s {second!r} and {name!r} have different constants named {constant.name!r}: give both "
                        "the same Unknown, or other names"
                    )
    union, problems = tuple(parameters.values()), {}
    for name, problem in phases.items():
        added = brought(problem.all_unknowns, statements, name)
        repeated = any(problem is another for another in problems.values())
        if repeated or added or problem.all_parameters != union:
            problem = replace(problem, parameters=union, unknowns=(*problem.unknowns, *added))
        problems[name] = problem
    return problems
