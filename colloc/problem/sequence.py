"""Motions in phases: problems one after another, what links them, and what is asked of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.checks import InputError, as_tuple, finite_number, instance, mapping, text, unknown_name
from colloc.display import Table
from colloc.interrupts import heeded
from colloc.lazy import cached_property
from colloc.model import Model
from colloc.problem.conditions import Condition
from colloc.problem.cost import NOTHING, Cost, Term
from colloc.problem.instant import SHARED, Instant, Slots
from colloc.problem.links import Impact, Link
from colloc.problem.problem import Problem, blamed, unique
from colloc.problem.rows import Rows, bounded, column
from colloc.problem.unknowns import Free, Parameter, Unknown
from colloc.problem.where import Ends


class PhaseEnds(NamedTuple):
    """What functions across phases see of one of them.

    Parameters
    ----------
    start, end : Instant
        The first and the last; times and durations are the phase's own.
    duration : SX, scalar [s]
    """

    start: Instant
    end: Instant
    duration: ca.SX

    def __getattr__(self, name: str) -> ca.SX:
        raise AttributeError(str(unknown_name("quantity of a phase's ends", name, self._fields)))


class _Named(dict[str, PhaseEnds]):
    """Phases by name; InputError for another name."""

    def __missing__(self, name: object) -> PhaseEnds:
        raise unknown_name("phase", name, self)

    def __getattr__(self, name: str) -> PhaseEnds:
        phase = next(iter(self), "push")
        raise AttributeError(f"phases have no {name!r}: take one by name, as in phases[{phase!r}].end.q")


class Place(NamedTuple):
    """Where a function across phases reads: "start" or "end" of a phase, or "all along" what does not vary in it."""

    phase: str
    moment: str


class Across(NamedTuple):
    """A constraint or cost term across phases.

    Parameters
    ----------
    rows : Rows
        In the symbols of the phases' ends; without bounds for a cost.
    places : tuple of Place
    function : Function
        Of the slots at all places, one after another -> the rows.
    """

    rows: Rows
    places: tuple[Place, ...]
    function: ca.Function


@dataclass(frozen=True, eq=False, repr=False)
class Sequence:
    """Phases of a motion, each a problem with a model, duration, cost, constraints and loads of its own.

        jump = co.Sequence({"push": push, "flight": flight, "landing": landing},
                           [co.impact("flight", "landing", {"toe": "xy"})], minimize=co.duration())
        solution = co.solve(jump, co.BSpline(10))
        solution["flight"].duration

    A phase goes on where the one before it ends: joint positions, velocities and states of the same name are continuous
    unless a `link` or an `impact` between the two says otherwise. An `Unknown` constant that several phases have is the
    same in all.

    An equation in positions or velocities that holds in one phase and the next, such as for a foot that stays where it
    is, should be one and the same `path` in both: where they meet it is then imposed once. Stated by two it is imposed
    twice, and solvers are slow where a fact is stated twice.

    Parameters
    ----------
    phases : mapping of str to Problem
        In the order of time.
    subject_to : sequence of link, impact and boundary
        Links beside those by default, such as from the last phase to the first one, of a cyclic motion. The function of
        a `boundary` takes the phases' ends by name:
        ``lambda phases: phases["landing"].end.q - phases["push"].start.q``.
    minimize : Cost, optional
        In addition to the costs of the phases: `duration`, that of all phases together, and `terminal`, whose function
        takes the phases' ends.
    duration : Free or float, optional [s]
        Of all phases together; by default what theirs add up to.

    Raises
    ------
    InputError
        Naming what is wrong and in which phase: an unknown phase or joint, phases of different joints without a map.
    """

    phases: Mapping[str, Problem]
    subject_to: Iterable[Link | Impact | Condition] = ()
    minimize: Cost = NOTHING
    duration: Free | float | None = None

    @heeded
    def __post_init__(self):
        phases = dict(mapping("phases", self.phases))
        if not phases:
            raise InputError("phases must name one Problem or more")
        for name, problem in phases.items():
            text("name of a phase", name)
            instance(f"phase {name!r}", problem, Problem)
        stated = as_tuple("subject_to", self.subject_to)
        for item in stated:
            across = isinstance(item, Link | Impact) or (isinstance(item, Condition) and isinstance(item.where, Ends))
            if not across:
                raise InputError(
                    "subject_to of a Sequence can contain co.link, co.impact and co.boundary; what holds in a phase "
                    f"belongs to its Problem; got {item!r}"
                )
            for phase in (item.first, item.second) if isinstance(item, Link | Impact) else ():
                if phase not in phases:
                    raise unknown_name("phase", phase, phases)
        linked = [(item.first, item.second) for item in stated if isinstance(item, Link | Impact)]
        stated += tuple(Link(*pair) for pair in pairwise(phases) if pair not in linked)
        if not isinstance(self.minimize, Cost):
            raise InputError(f"minimize must be a Cost (see co.duration, co.terminal), got {self.minimize!r}")
        for term in self.minimize.terms:
            if term.fn is not None and not term.terminal:
                raise InputError(f"cost term {term.name!r} is an integral, which belongs to the Problem of a phase")
        if self.duration is not None and not isinstance(self.duration, Free):
            fixed = finite_number("duration", self.duration, positive=True)
            object.__setattr__(self, "duration", Free(fixed, fixed, fixed))
        object.__setattr__(self, "subject_to", stated)
        object.__setattr__(self, "phases", _alike(phases, [item for item in stated if isinstance(item, Impact)]))
        _ = self.rows, self.costs

    @property
    def model(self) -> Model:
        """The model of the first phase; InputError where others have other joints."""
        first, *others = self.phases.items()
        for name, problem in others:
            if problem.model.joint_names != first[1].model.joint_names:
                raise InputError(
                    f"phases {first[0]!r} and {name!r} have different joints: take one, as in solution[{name!r}]"
                )
        return first[1].model

    def limits(self, quantity: str) -> tuple[np.ndarray, np.ndarray]:
        """The widest lower and upper bounds, each shape (n,), that any phase has on a joint quantity."""
        assert self.model
        lower, upper = zip(*(problem.limits(quantity) for problem in self.phases.values()), strict=True)
        return np.min(lower, axis=0), np.max(upper, axis=0)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those of all phases."""
        return tuple(next(iter(self.phases.values())).parameters)

    def parameter_values(self, values: Mapping[str, object] | None = None) -> np.ndarray:
        """All parameters in one vector; `values` replace the defaults by name."""
        return next(iter(self.phases.values())).parameter_values(values)

    @cached_property
    def ends(self) -> dict[str, PhaseEnds]:
        """The first and last instants of all phases, in symbols of their own."""
        found = _Named()
        for name, problem in self.phases.items():
            start, end = (problem.another(f" at the {moment} of {name}") for moment in ("start", "end"))
            found[name] = PhaseEnds(start, end, start.duration)
        return found

    @cached_property
    def rows(self) -> dict[str, Across]:
        """Every constraint across phases by name."""
        found: dict[str, Across] = {}
        for item in self.subject_to:
            name = unique(item.name, found)
            with blamed(f"constraint {name!r}"):
                rows = item.rows(self.ends)
            if rows.lower.size:
                found[name] = self._across(f"constraint {name!r}", rows)
        for name, kept in self._constants_kept().items():
            found[unique(name, found)] = kept
        if isinstance(self.duration, Free):
            total = sum((end.duration for end in self.ends.values()), ca.SX(0))
            rows = bounded("duration", total, self.duration.lower, self.duration.upper, unit="s")
            found[unique("duration", found)] = self._across("duration", rows)
        return found

    @cached_property
    def costs(self) -> dict[str, tuple[Term, Across]]:
        """Every cost term of the whole by name."""
        found: dict[str, tuple[Term, Across]] = {}
        for term in self.minimize.terms:
            name = unique(term.name, found)
            with blamed(f"cost term {name!r}"):
                value = (
                    sum((e.duration for e in self.ends.values()), ca.SX(0)) if term.fn is None else term.fn(self.ends)
                )
            value = column(f"cost term {name!r}", value, 1)
            if value.shape != (1, 1):
                raise InputError(f"cost term {name!r} must return an SX scalar, got shape {value.shape}")
            none = np.zeros(0)
            rows = Rows(ca.densify(term.weight * value), none, none, (name,), ("",), none)
            found[name] = (term, self._across(f"cost term {name!r}", rows))
        return found

    def _constants_kept(self) -> dict[str, Across]:
        """Constants that several phases have, phase after phase the same."""
        having: dict[Unknown, list[str]] = {}
        for name, problem in self.phases.items():
            for constant in problem.constants:
                having.setdefault(constant, []).append(name)
        found = {}
        for constant, names in having.items():
            for pair in pairwise(names):
                inputs, values = [], []
                for name in pair:
                    # Symbols of their own, as those of the constant are the same in both.
                    slots = Slots(*(ca.SX.sym("own", slot.shape[0]) for slot in self.ends[name].start.slots))
                    every = self.phases[name].constants
                    first = sum(other.size for other in every[: every.index(constant)])
                    values.append(slots.constants[first : first + constant.size])
                    inputs += slots
                what = f"{constant.name} of {' and '.join(pair)}"
                rows = bounded(what, values[1] - values[0], 0.0, 0.0)
                function = ca.Function("kept", inputs, [rows.expression])
                found[what] = Across(rows, tuple(Place(name, "all along") for name in pair), function)
        return found

    @cached_property
    def _places(self) -> list[tuple[Place, Instant, set[int]]]:
        """All that a function can see, with its symbols: what varies along a phase, then what does not."""
        ends = [
            (Place(name, moment), now, _symbols(now, varying=True))
            for name, own in self.ends.items()
            for moment, now in (("start", own.start), ("end", own.end))
        ]
        return ends + [
            (Place(name, "all along"), own.start, _symbols(own.start, varying=False)) for name, own in self.ends.items()
        ]

    def _across(self, what: str, rows: Rows) -> Across:
        """Rows with the places that they need; InputError for symbols that no phase has."""
        wanted = {symbol.element_hash() for symbol in ca.symvar(rows.expression)}
        places, inputs, seen = [], [], set()

        def take(place: Place, now: Instant) -> None:
            places.append(place)
            for slot in now.slots:
                symbols = []
                for symbol in ca.vertsplit(slot):
                    known = symbol.element_hash() in seen
                    seen.add(symbol.element_hash())
                    symbols.append(ca.SX.sym("again") if known else symbol)
                inputs.append(ca.vertcat(ca.SX(0, 1), *symbols))

        for place, now, symbols in self._places:
            if (wanted - seen if place.moment == "all along" else wanted) & symbols:
                take(place, now)
        function = ca.Function("across", inputs, [rows.expression], {"allow_free": True})
        if function.has_free():
            raise unknown_name(f"unknown or parameter (used by the {what})", ", ".join(function.get_free()), [])
        if not places:
            raise InputError(f"{what} depends on no phase")
        return Across(rows, tuple(places), function)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        lines = [("phase", f"{name}: {problem.model.name}, {problem.span}") for name, problem in self.phases.items()]
        lines += [("minimize", f"{term.weight:g} * {name}") for name, (term, _) in self.costs.items()]
        for name, across in self.rows.items():
            count = across.rows.lower.size
            lines.append(("subject to", f"{name}: {count} row{'s' if count > 1 else ''}"))
        return Table(f"Sequence of {len(self.phases)} phases", ("", ""), lines)


def _symbols(now: Instant, *, varying: bool) -> set[int]:
    """Those of an instant that vary along the phase, or the others."""
    slots = (slot for name, slot in zip(now.slots._fields, now.slots, strict=True) if (name in SHARED) != varying)
    return {symbol.element_hash() for slot in slots for symbol in ca.vertsplit(slot)}


def _alike(phases: Mapping[str, Problem], impacts: list[Impact]) -> dict[str, Problem]:
    """The same phases, each a problem of its own that knows all parameters and the impulses at its start."""
    parameters: dict[str, Parameter] = {}
    for name, problem in phases.items():
        for parameter in problem.parameters:
            if parameters.setdefault(parameter.name, parameter) is not parameter:
                raise InputError(f"phase {name!r} has another parameter named {parameter.name!r} than phases before")
        for constant in problem.constants:
            for other, earlier in phases.items():
                if any(u.name == constant.name and u is not constant for u in earlier.constants):
                    raise InputError(
                        f"phases {other!r} and {name!r} have different constants named {constant.name!r}: give both "
                        "the same Unknown, or other names"
                    )
    union, found = tuple(parameters.values()), {}
    for name, problem in phases.items():
        impulses = tuple(impact.unknown for impact in impacts if impact.second == name)
        known = any(problem is other for other in found.values())
        if known or impulses or tuple(problem.parameters) != union:
            unknowns = (*problem.unknowns, *impulses)
            problem = replace(problem, parameters=union, unknowns=unknowns)
        found[name] = problem
    return found
