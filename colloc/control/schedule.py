"""A repeated schedule of phases, and horizons of a whole cycle that begin in each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.control.horizon import MEASURED, Plan, first_state, from_measured_state, is_of_start, moved
from colloc.problem import Cost, Free, Instant, Parameter, Phases, Problem, Statement, connect
from colloc.problem.statement import Restated
from colloc.problem.time_sets import WHOLE
from colloc.support.checks import InputError
from colloc.support.display import short
from colloc.support.lazy import cached_property

ELAPSED = "elapsed_of_phase"  # the parameter that has the time since the first phase began [s]
AGAIN = "{} again"
_EVEN = 1e-6  # of a tick: what a phase may differ from whole ticks by


@dataclass(frozen=True, eq=False)
class Schedule:
    """Phases that are repeated without end.

    A horizon has the rest of the present phase, all others, and the present one again as far as it has gone, with one
    tick more: it lasts one cycle and a tick. For every phase there is one program, whose first and last durations
    vary.

    Parameters
    ----------
    cycle : Phases
        Of fixed durations.
    tick : float [s]
    """

    cycle: Phases
    tick: float

    def __post_init__(self):
        if self.cycle.minimize.terms:
            raise InputError(
                f"a horizon of phases cannot have the cost {self.cycle.minimize.terms[0].name!r} of all phases: state "
                "it in the minimize of a phase"
            )
        if self.cycle.duration is not None:
            raise InputError("the duration of a schedule is the sum of those of its phases: leave it out")
        for name, problem in self.cycle.phases.items():
            _check_repeatable(name, problem, self.tick)
        for item in self.cycle.subject_to:
            if item.joins is None:
                raise InputError(
                    f"a horizon of phases cannot have {item.name!r}, a function of several phases: state it in a phase"
                )

    @property
    def names(self) -> list[str]:
        return list(self.cycle.phases)

    @cached_property
    def ticks(self) -> list[int]:
        """Ticks of every phase."""
        return [round(problem.horizon.lower / self.tick) for problem in self.cycle.phases.values()]

    def place(self, tick: int) -> tuple[int, int]:
        """The phase of a tick, and the ticks since this phase began."""
        tick %= sum(self.ticks)
        for k, length in enumerate(self.ticks):
            if tick < length:
                return k, tick
            tick -= length
        raise AssertionError

    def pieces(self, k: int) -> dict[str, str]:
        """Names of the phases of the horizon that begins in phase k, and the phases that they are."""
        around = [*self.names[k:], *self.names[:k]]
        return {**{name: name for name in around}, AGAIN.format(around[0]): around[0]}

    def durations(self, k: int, gone: int) -> np.ndarray:
        """Durations of the phases of a horizon [s]."""
        ticks = [*self.ticks[k:], *self.ticks[:k], gone + 1]
        ticks[0] -= gone
        return self.tick * np.array(ticks)

    def horizon(self, k: int, state: np.ndarray | None = None) -> Phases:
        """The motion from phase k on; the state at its start is by default that of the phase."""
        names = self.pieces(k)
        first = self.cycle.phases[self.names[k]]
        shared = {parameter.name: parameter for parameter in self.cycle.parameters}
        measured = Parameter(MEASURED, first_state(first) if state is None else state)
        parameters = [*shared.values(), Parameter(ELAPSED, 0.0), measured]
        pieces = {}
        for i, (piece, phase) in enumerate(names.items()):
            cut = self._repeated(phase)
            T = cut.horizon.lower
            if i in (0, len(names) - 1):
                cut = _part(cut, self.tick, parameters, ended=i == 0)
            if i == 0:
                cut = from_measured_state(cut, self.tick / 2 / T, parameters)
            pieces[piece] = replace(cut, parameters=parameters)
        return Phases(pieces, [self._link(*pair, names) for pair in pairwise(names)])

    def _repeated(self, name: str) -> Problem:
        """A phase without the unknowns that links bring, such as impulses, and the first one without its start."""
        problem, links = self.cycle.phases[name], self.cycle.subject_to
        of_links = {id(unknown) for item in links for unknown in item.unknowns_of(name)}
        stated = [s for s in problem.subject_to if name != self.names[0] or not is_of_start(problem, s)]
        kept = [unknown for unknown in problem.unknowns if id(unknown) not in of_links]
        return replace(problem, subject_to=stated, unknowns=kept)

    def _link(self, first: str, second: str, names: Mapping[str, str]) -> Statement:
        """The link from a phase of a horizon to the next, as stated for the phases that they are."""
        for item in self.cycle.subject_to:
            if item.joins == (names[first], names[second]):
                link: Any = item
                return replace(link, first=first, second=second)
        return connect(first, second)


def _check_repeatable(name: str, problem: Problem, tick: float) -> None:
    T = problem.horizon
    if T.lower < T.upper:
        raise InputError(f"phase {name!r} of a schedule must have a fixed duration: give a number of seconds")
    if round(T.lower / tick) < 1 or abs(T.lower / tick - round(T.lower / tick)) > _EVEN:
        raise InputError(
            f"phase {name!r} lasts {short(T.lower)} s, which is not a whole number of ticks of {short(tick)} s"
        )
    for row, entry in problem.rows.items():
        where = entry.constraint.where
        if not (where == WHOLE or (where.instants == 1 and not where.along and set(where.moments) <= {0.0, 1.0})):
            raise InputError(
                f"constraint {row!r} of phase {name!r} holds {where}, and a horizon begins anywhere in a phase: only "
                "constraints all along a phase, at its start or at its end can be repeated; divide the phase"
            )
    if _of_time(problem, problem.function("loads", _wrenches(problem))):
        raise InputError(f"a load of phase {name!r} is a function of the time: state its force as an unknown signal")
    for state in problem.states:
        if _of_time(problem, problem.rows[state.equation_name].function):
            raise InputError(f"the rate of state {state.name!r} in phase {name!r} must not depend on the time")


def _wrenches(problem: Problem) -> Any:
    return ca.vertcat(ca.SX(0, 1), *(load.wrench for load in problem.wrenches))


def _of_time(problem: Problem, function: Any) -> bool:
    """Whether a function of an instant depends on its time or its duration."""
    return any(function.jac_sparsity(0, slot).nnz() for slot in (0, 1))


def _part(problem: Problem, tick: float, parameters: Sequence[Parameter], *, ended: bool) -> Problem:
    """The end of a phase, or its beginning, of any duration."""
    T = problem.horizon.lower
    scheduled = partial(_scheduled, ended, T)
    statements = []
    for statement in problem.statements:
        moments = () if statement.where.along else statement.where.moments
        if moments and (moments[0] == 0) == ended:
            continue
        rows = next((entry for entry in problem.rows.values() if entry.constraint is statement), None)
        timed = rows is not None and _of_time(problem, rows.function)
        statements.append(InPhase(statement, scheduled) if timed else statement)
    terms = []
    for term in problem.minimize.terms:
        if term.final and not ended:
            continue
        terms.append(term if term.fn is None else replace(term, fn=partial(_at_time, term.fn, scheduled)))
    span = Free(tick / 2, 2 * T, T)
    return problem.restated(statements, duration=span, minimize=Cost(tuple(terms)), parameters=parameters)


def _scheduled(begun: bool, duration: float, now: Instant) -> Instant:
    """An instant in the time of its phase."""
    gone = now.parameters[ELAPSED] if begun else ca.SX(0)
    return replace(now, t=now.t + gone, duration=ca.SX(duration))


def _at_time(function: Any, scheduled: Any, now: Instant) -> Any:
    return function(scheduled(now))


@dataclass(frozen=True, eq=False)
class InPhase(Restated):
    """A statement in the time of its phase."""

    scheduled: Any

    def rows(self, *instants: Any) -> Any:
        return self.statement.rows(*map(self.scheduled, instants))


class PlanShift(NamedTuple):
    """How a plan and its multipliers a tick later follow from those of now: a `move` of step.c, but for its durations.

    Parameters
    ----------
    size : ndarray of int32, shape (maps, 3)
        Control points of a curve later and now, and the size of a point.
    point : ndarray of int32
        Of every map entries of the decision vector later, then now.
    map : ndarray
        Of every map its matrix, by rows.
    run : ndarray of int32, shape (runs, 4)
        The first row later, the first ones of two runs of rows now, and their length.
    share : ndarray, shape (runs, 2)
        Weights of the two runs.
    """

    size: np.ndarray
    point: np.ndarray
    map: np.ndarray
    run: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, maps: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], run: Any, share: Any) -> PlanShift:
        """From entries later and now, each shape (points, size), and the map between them."""
        sizes = [(len(new), *old.shape) for new, old, _ in maps]
        points = [index.ravel() for new, old, _ in maps for index in (new, old)]
        arrays = np.array(sizes), np.concatenate(points), np.concatenate([map.ravel() for *_, map in maps]), run, share
        kinds = np.int32, np.int32, np.float64, np.int32, np.float64
        return cls(*(np.ascontiguousarray(array, kind) for array, kind in zip(arrays, kinds, strict=True)))


def plan_shifts(schedule: Schedule, plans: Sequence[Plan]) -> list[list[PlanShift]]:
    """The moves of all ticks of every phase; that of the last tick leads to the next phase."""
    found = []
    for k, plan in enumerate(plans):
        within = [_within(schedule, plan, k, gone) for gone in range(schedule.ticks[k] - 1)]
        found.append([*within, _onward(schedule, plan, plans[(k + 1) % len(plans)], k)])
    return found


def _tables(motion: Any) -> dict[str, np.ndarray]:
    """Entries of the whole decision vector that are control points of a phase, by name."""
    layout = motion.grid.layout
    names = [name for name in motion.grid.splines if layout[name].size]
    return {name: layout[name] - layout.offset + motion.part.start for name in names}


def _within(schedule: Schedule, plan: Plan, k: int, gone: int) -> PlanShift:
    """The first phase is a tick shorter, the last one a tick longer."""
    before, after = schedule.durations(k, gone), schedule.durations(k, gone + 1)
    motions, maps, last = plan.nlp.motions, [], len(before) - 1
    parts = {0: (schedule.tick / before[0], after[0] / before[0]), last: (0.0, after[last] / before[last])}
    for i, (later, width) in parts.items():
        for name, index in _tables(motions[i]).items():
            basis = motions[i].grid.splines[name]
            maps.append((index, index, moved(basis, later, width, goes_on=name == "q")))
    phases, nlp = list(plan.nlp.phases), plan.nlp
    runs, shares = [], []
    for block, first in zip(nlp.constraints, nlp.offsets, strict=False):
        i = phases.index(nlp.owners[block]) if block in nlp.owners else None
        if i in parts and block.n_slices > 1:
            site, next_site, share = _between(block.sites.s, parts[i])
            rows = first + block.n_rows * np.arange(block.n_slices)
            runs.append(np.stack([rows, rows[site], rows[next_site], np.full(rows.size, block.n_rows)], axis=1))
            shares.append(parts[i][1] * np.stack([1 - share, share], axis=1))
        else:
            runs.append([[first, first, first, block.n_rows * block.n_slices]])
            shares.append([[1.0, 0.0]])
    return PlanShift.of(maps, np.concatenate(runs), np.concatenate(shares))


def _between(s: np.ndarray, part: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every time of a part the times before and after it in the whole, and the share of the latter."""
    wanted = np.clip(part[0] + part[1] * s, s.min(), s.max())
    order = np.argsort(s, kind="stable")
    k = np.clip(np.searchsorted(s[order], wanted, side="right") - 1, 0, s.size - 2)
    low, high = order[k], order[k + 1]
    gap = s[high] - s[low]
    return low, high, np.clip((wanted - s[low]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)


def _onward(schedule: Schedule, plan: Plan, later: Plan, k: int) -> PlanShift:
    """The second phase becomes the first one, and a tick of it follows the last one."""
    old, new, maps = plan.nlp.motions, later.nlp.motions, []
    for before, after in zip(old[1:], new[:-1], strict=True):
        there = _tables(before)
        maps += [(index, there[name], np.eye(len(index))) for name, index in _tables(after).items()]
    end, start, last = _tables(old[-1]), _tables(old[1]), new[-1]
    for name, index in _tables(last).items():
        basis = last.grid.splines[name]
        if name == "q" and end[name].shape == index.shape:
            width = schedule.tick / schedule.durations(k, schedule.ticks[k] - 1)[-1]
            maps.append((index, end[name], moved(old[-1].grid.splines[name], 1.0, width, goes_on=True)))
        else:
            maps.append((index, start[name], moved(basis, 0.0, schedule.tick / schedule.durations(k, 0)[1])))
    runs = _same_rows(plan.nlp, later.nlp)
    return PlanShift.of(maps, runs, np.tile([1.0, 0.0], (len(runs), 1)))


def _same_rows(before: Any, after: Any) -> np.ndarray:
    """Runs of rows of phases that go on, and of links between them, in a program and in the one before."""
    old, new = _places_of_rows(before), _places_of_rows(after)
    pairs = [(place, old[i + 1, n, name]) for (i, n, name), place in new.items() if (i + 1, n, name) in old]
    runs = [(first, source, source, size) for (first, size), (source, other) in pairs if size == other]
    return np.array(runs, dtype=int).reshape(-1, 4)


def _places_of_rows(nlp: Any) -> dict[tuple[int, int, str], tuple[int, int]]:
    """First row and number of rows by phase, number of the block among those of the same name there, and name.

    Links come in their order.
    """
    phases, places, links = list(nlp.phases), {}, 0
    for block, first in zip(nlp.constraints, nlp.offsets, strict=False):
        linked = block not in nlp.owners
        i, name = (links, "") if linked else (phases.index(nlp.owners[block]), block.name)
        links += linked
        n = sum(key[::2] == (i, name) for key in places)
        places[i, n, name] = int(first), block.n_rows * block.n_slices
    return places
