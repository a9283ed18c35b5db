"""The numbers that a problem is made of, and what each of them moves in the conditions of an optimum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from colloc.blocks.block import Block
from colloc.numerics.differences import central_difference
from colloc.optimality.active_set import SharpOptimum
from colloc.optimality.kkt import DataChange
from colloc.problem import (
    Condition,
    ConstraintRows,
    EndState,
    Free,
    Impact,
    JointBounds,
    Parametrised,
    Problem,
    State,
    Unknown,
    Window,
    parametrised,
)
from colloc.problem import Sequence as Phases
from colloc.problem.rows import unique
from colloc.support.checks import InputError
from colloc.transcription import NLP, BaseNLP, SequenceNLP, constraint_block
from colloc.transcription.constraint_points import AtNodes
from colloc.transcription.fixed_ends import fix_ends
from colloc.transcription.nlp import Phase

_ORDERS = ("q", "qd", "qdd")
_SAME = 1e-9  # of the duration: times that are the same
_UNMOVED = 1e-7  # of a row's natural size, per unit of a number: rounding of differences
_WIDE = 2.0  # times a fixed duration, and a part of it: bounds of one that is to move


class Number(NamedTuple):
    """A number of a problem.

    Parameters
    ----------
    name : str
    unit : str
        Empty where none is stated.
    value : float
    """

    name: str
    unit: str
    value: float


@dataclass(frozen=True, eq=False)
class Program:
    """A program whose parameters are those of its problem and the numbers of its models.

    Parameters
    ----------
    nlp : NLP or SequenceNLP
        With the variables and rows of the program that it stands for; fixed durations are symbols in it.
    parameters : ndarray, shape (n_p,)
    numbers : list of (Number, ndarray)
        Numbers that are parameters, and which these are, with factors, shape (n_p,).
    """

    nlp: NLP | SequenceNLP
    parameters: np.ndarray
    numbers: list[tuple[Number, np.ndarray]]


def program_in_numbers(nlp: NLP | SequenceNLP, values: np.ndarray) -> Program:
    """The program of the same motion with as many numbers as can be parameters: those of models, and durations.

    The numbers of a closed chain whose loops are solved at every instant stay numbers, since its loops are no part of
    its model. What rows would be others with, stays a number as well, such as a duration in which a joint ends with a
    speed: this speed fixes a variable only as long as the duration is known.
    """
    for models, durations in ((True, True), (True, False), (False, True)):
        program = _in_numbers(nlp, values, models=models, durations=durations)
        if program is not None and _structure(program.nlp) == _structure(nlp):
            return program
    return Program(nlp, values, _parameters(nlp.problem, values, {}))


def _structure(nlp: BaseNLP) -> list[object]:
    return [nlp.n_x, *((block.name, block.rows.labels, block.n_slices) for block in nlp.constraints)]


def _in_numbers(nlp: NLP | SequenceNLP, values: np.ndarray, *, models: bool, durations: bool) -> Program | None:
    """The program with models, durations or both as parameters and variables; None for a problem that has none."""
    problems = nlp.problem.phases
    arms: dict[int, Parametrised] = {}
    for problem in problems.values():
        if models and problem.coordinates is None and id(problem.model) not in arms:
            name = f"numbers_{len(arms)}_of_models"  # which no user would give a parameter
            try:
                arms[id(problem.model)] = parametrised(problem.model, name)
            except InputError:  # a model without numbers
                continue
    parameters = [arm.numbers for arm in arms.values()]
    phases = {
        name: replace(
            problem,
            model=arms[id(problem.model)].model if id(problem.model) in arms else problem.model,
            duration=_released(problem.horizon) if durations else problem.duration,
            parameters=[*problem.all_parameters, *parameters],
        )
        for name, problem in problems.items()
    }
    values = np.concatenate([values, *(parameter.value for parameter in parameters)])
    by_name = {arm.numbers.name: arm for arm in arms.values()}
    if isinstance(nlp, NLP):
        return Program(_uncompiled(nlp, phases[""]), values, _parameters(phases[""], values, by_name))
    sequence = _with_phases(nlp.problem, phases)
    programs = {name: _uncompiled(phase, sequence.phases[name]) for name, phase in nlp.phases.items()}
    return Program(SequenceNLP(sequence, programs), values, _parameters(sequence, values, by_name))


def _uncompiled(nlp: NLP, problem: Problem) -> NLP:
    """The program of another problem on the same grid, whose functions are evaluated too rarely to be compiled."""
    return replace(nlp.for_problem(problem), compile=False)


def _released(horizon: Free) -> Free:
    """A duration that may move."""
    if horizon.lower < horizon.upper:
        return horizon
    return Free(horizon.lower / _WIDE, horizon.upper * _WIDE, horizon.lower)


def _with_phases(sequence: Phases, phases: Mapping[str, Problem]) -> Phases:
    """A sequence of other phases, to which it adds the impulses of impacts by itself."""
    impulses = [item.unknown.name for item in sequence.subject_to if isinstance(item, Impact)]
    bare = {
        name: replace(problem, unknowns=[u for u in problem.unknowns if u.name not in impulses])
        for name, problem in phases.items()
    }
    return replace(sequence, phases=bare)


def _parameters(
    problem: Problem | Phases, values: np.ndarray, models: Mapping[str, Parametrised]
) -> list[tuple[Number, np.ndarray]]:
    """The entries of all parameters, each with what moves; those of models by the names of their numbers."""
    numbers, entries = [], iter(np.eye(values.size))
    for parameter in problem.all_parameters:
        size = parameter.value.size
        names = [parameter.name] if size == 1 else [f"{parameter.name}[{k}]" for k in range(size)]
        units = [""] * size
        if parameter.name in models:
            names, units = models[parameter.name].names, models[parameter.name].units
        for name, unit in zip(names, units, strict=True):
            entry = next(entries)
            numbers.append((Number(name, unit, float(values @ entry)), entry))
    return numbers


def moves(
    nlp: NLP | SequenceNLP, program: Program, optimum: SharpOptimum
) -> tuple[dict[str, tuple[Number, DataChange]], tuple[str, ...]]:
    """All numbers of a problem by name with what they move, and the names of those that cannot move alone.

    What has one name and one value is one number, in however many phases and models it stands.
    """
    still = DataChange(np.zeros(program.parameters.size), np.zeros(nlp.n_g), np.zeros(nlp.n_x))
    pairs = [(number, still._replace(parameters=entry)) for number, entry in program.numbers]
    stuck: set[str] = set()
    for name, phase in nlp.phases.items():
        part = next(part for part in nlp.motions if part.part == nlp.parts[name])
        place = _Place(nlp, phase, part, optimum)
        known_duration = program.nlp.phases[name].free_duration
        for number, rows, variables in (*place.limits(), *place.unknowns(), *place.duration(known_duration)):
            pairs.append((number, still._replace(rows=rows, variables=variables)))
        stuck |= place.stuck
        at = optimum.x[part.part], program.parameters
        for block in _settled_blocks(program.nlp.phases[name], place.settled):
            along = ((number.name, (move.variables[part.part], move.parameters)) for number, move in pairs)
            stuck |= {number for number, direction in along if _changes(block, at, direction)}
    if isinstance(nlp, SequenceNLP):
        pairs += [(number, still._replace(rows=rows)) for number, rows in _across(nlp, optimum)]
        stuck |= {number.name for number, _ in pairs if number.name.startswith(_settled_ends(nlp))}
    by_number: dict[Number, DataChange] = {}
    for number, move in pairs:
        by_number[number] = by_number.get(number, still).plus(move)
    by_name: dict[str, tuple[Number, DataChange]] = {}
    for number, move in by_number.items():
        if number.name not in stuck:
            name = unique(number.name, by_name)
            by_name[name] = number._replace(name=name), move
    return by_name, tuple(sorted(stuck))


Moved = tuple[Number, np.ndarray, np.ndarray]  # with bounds of rows and of variables


class _Place:
    """Where the numbers of a phase stand in a program.

    `stuck` are names of those that cannot move alone; `settled` equations that have no row, each with its constraint,
    line, and the ends of its time, if it is only there that they have none.
    """

    def __init__(self, nlp: BaseNLP, phase: NLP, part: Phase, optimum: SharpOptimum):
        self._phase, self._part, self._optimum, self._sizes = phase, part, optimum, (nlp.n_g, nlp.n_x)
        self._layout = phase.grid.layout
        self._rows = rows_by_label(nlp, part.before)
        self._ends, self.stuck = end_moves(phase, float(optimum.x[part.part][phase.grid.layout.duration[0]]))
        self.stuck = {part.before + name for name in self.stuck}
        self.settled: list[tuple[str, int, tuple[float, ...]]] = []

    def limits(self) -> Iterator[Moved]:
        """Bounds, joint limits, end postures, and values of conditions."""
        problem = self._phase.problem
        equations = [state.equation for state in problem.states]
        for name, entry in problem.rows.items():
            constraint = entry.constraint
            if isinstance(constraint, Condition) and constraint.fn in equations:
                continue
            rows = entry.rows
            for line, (label, unit) in enumerate(zip(rows.labels, rows.units, strict=True)):
                bounds = float(rows.lower[line]), float(rows.upper[line])
                points = np.zeros(0, dtype=int)
                if isinstance(constraint, JointBounds) and constraint.quantity == "q":
                    points = self._layout["q"][:, constraint.joints[line]]
                moved = self._sides(label, unit, bounds, self._rows.get((name, label), {}), points)
                for number, by_row, by_variable in moved:
                    if (name, label) in self._ends:
                        by_variable[self._part.part] += self._ends[name, label]
                    if bounds[0] == bounds[1] and not by_variable.any() and self._settled(name, entry, line):
                        self.stuck.add(number.name)
                    yield number, by_row, by_variable

    def _settled(self, name: str, entry: ConstraintRows, line: int) -> bool:
        """Whether what is fixed meets an equation, everywhere or at an end of its time: the program has no row there.

        Where that is, is noted in `settled`.
        """
        where, times = entry.constraint.where, list(self._rows.get((name, entry.rows.labels[line]), {}).values())
        if isinstance(where, Window) and entry.orders[line] < 2:
            ends = tuple(end for end in where if min((abs(s - end) for s in times), default=1.0) > _SAME)
            self.settled += [(name, line, ends)] if ends else []
            return bool(ends)
        self.settled += [] if times else [(name, line, ())]
        return not times

    def unknowns(self) -> Iterator[Moved]:
        """Bounds of signals, states and constants; of a constant of several phases without the name of one."""
        problem, layout = self._phase.problem, self._layout
        for kind, unknowns in (("signals", problem.signals), ("states", problem.states)):
            columns = iter(layout[kind].T)
            for unknown in unknowns:
                for label, bounds in _components(unknown):
                    yield from self._sides(label, "", bounds, {}, next(columns))
        for unknown in problem.constants:
            for (label, bounds), entry in zip(_components(unknown), layout.constants[unknown.name], strict=True):
                yield from self._sides(label, "", bounds, {}, np.array([entry]), before="")

    def duration(self, movable: bool) -> Iterator[Moved]:
        """The duration, or its bounds."""
        horizon = self._phase.problem.horizon
        if horizon.lower == horizon.upper and not movable:
            self.stuck.add(f"{self._part.before}duration")
        yield from self._sides("duration", "s", (horizon.lower, horizon.upper), {}, self._layout.duration)

    def _sides(
        self,
        label: str,
        unit: str,
        bounds: tuple[float, float],
        rows: Mapping[int, float],
        points: np.ndarray,
        before: str | None = None,
    ) -> Iterator[Moved]:
        """The two bounds of a quantity, or its value, with the rows and variables that are at them.

        Parameters
        ----------
        label, unit : str
        bounds : (float, float)
        rows : mapping of int to float
            By which it is bounded, with their times.
        points : ndarray of int
            Variables of the phase by which it is.
        before : str, optional
            Before the label; by default the name of the phase.
        """
        variables, entries = points + self._part.part.start, np.array(list(rows), dtype=int)
        for side, (code, value) in _sides(*bounds).items():
            by_row, by_variable = np.zeros(self._sizes[0]), np.zeros(self._sizes[1])
            by_row[entries[self._optimum.rows[entries] == code]] = 1.0
            # Where end conditions fix a variable, its own bounds are others.
            bounded = (self._layout.upper if code == 1 else self._layout.lower)[points] == value
            by_variable[variables[bounded & (self._optimum.variables[variables] == code)]] = 1.0
            name = (self._part.before if before is None else before) + label + side
            yield Number(name, unit, value), by_row, by_variable


def _settled_blocks(phase: NLP, settled: Iterable[tuple[str, int, tuple[float, ...]]]) -> Iterator[Block]:
    """Equations that have no row, as blocks."""
    for name, line, ends in settled:
        entry = phase.problem.rows[name]
        if not ends:
            for sites in entry.constraint.points(AtNodes(phase.grid)):
                yield constraint_block(name, entry, sites, [line])
            continue
        for rows in (entry, entry.rate) if entry.orders[line] == 0 else (entry,):
            yield constraint_block(name, rows, phase.grid.anywhere(np.array(ends)), [line])


def _changes(block: Block, at: tuple[np.ndarray, np.ndarray], direction: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether the rows of a block change where variables and parameters move along a direction."""
    if not any(part.any() for part in direction):
        return False
    size = at[0].size

    def values(point: np.ndarray) -> np.ndarray:
        return block.evaluate(point[:size], point[size:])

    rates = central_difference(values, np.concatenate(at), np.concatenate(direction))
    return bool(np.abs(rates).max(initial=0.0) > _UNMOVED * block.rows.scale.max())


def _components(unknown: Unknown | State) -> list[tuple[str, tuple[float, float]]]:
    """Names of the components of an unknown, with their bounds."""
    components = zip(unknown.labels, unknown.lower, unknown.upper, strict=True)
    return [(label, (float(low), float(up))) for label, low, up in components]


def rows_by_label(nlp: BaseNLP, before: str) -> dict[tuple[str, str], dict[int, float]]:
    """Rows of a program, with their times, by constraint and label; those of one phase, or across phases."""
    rows: dict[tuple[str, str], dict[int, float]] = {}
    for block, first in zip(nlp.constraints, nlp.offsets, strict=False):
        if nlp.owner(block)[0] == before:
            for line, label in enumerate(block.rows.labels):
                entries = range(int(first) + line, int(first) + block.n_rows * block.n_slices, block.n_rows)
                rows.setdefault((block.name, label), {}).update(zip(entries, block.sites.s.tolist(), strict=True))
    return rows


def end_moves(phase: NLP, duration: float) -> tuple[dict[tuple[str, str], np.ndarray], set[str]]:
    """Which variables of a phase the end conditions fix: how they move, by constraint and label; and who is stuck.

    Fixed are the control points next to an end, one after another: that of a position, then the next one by the
    velocity, which takes the position's along. Stuck is a condition on what bounds fix already.
    """
    problem, grid = phase.problem, phase.grid
    remaining, layout = fix_ends(problem, grid).remaining_rows, phase.grid.layout
    fixed: dict[tuple[float, int], dict[int, tuple[str, str]]] = {}
    by_condition: dict[tuple[str, str], np.ndarray] = {}
    stuck: set[str] = set()
    for name, entry in problem.rows.items():
        state = entry.constraint
        if not isinstance(state, EndState):
            continue
        joints, labels = state.joint_values(problem.model), entry.rows.labels
        components = [(s.name, k) for s in problem.states for k in range(s.size)]
        for row in sorted(set(range(len(labels))) - set(remaining[name])):
            if row < len(joints):
                quantity, joint, _ = joints[row]
                fixed.setdefault((state.where.s, joint), {})[_ORDERS.index(quantity)] = name, labels[row]
                continue
            component, k, _ = state.state_values(problem.instant.states)[row - len(joints)]
            move = by_condition[name, labels[row]] = np.zeros(layout.size)
            point = layout["states"][0 if state.where.s == 0 else -1, components.index((component, k))]
            move[point] = 1.0
            stuck |= {labels[row]} if layout.lower[point] == layout.upper[point] else set()
    for (s, joint), conditions in fixed.items():
        end = grid.end(s)
        points = end.index[:, joint]
        for order, (name, label) in conditions.items():
            move = by_condition[name, label] = np.zeros(layout.size)
            for k in sorted(conditions):
                wanted = duration**order if k == order else 0.0
                move[points[k]] = (wanted - end.weight[k, :k] @ move[points[:k]]) / end.weight[k, k]
            point = points[order]
            stuck |= {label} if layout.lower[point] == layout.upper[point] else set()
    return by_condition, stuck


def _across(nlp: SequenceNLP, optimum: SharpOptimum) -> Iterator[tuple[Number, np.ndarray]]:
    """Values and bounds of the conditions between phases, and of the duration of all, with their rows."""
    problem, rows_of = nlp.problem, rows_by_label(nlp, "")
    names = [name for name, item in _items(problem).items() if isinstance(item, Condition)]
    if isinstance(problem.duration, Free):
        names.append(list(problem.rows)[-1])
    for name in names:
        rows = problem.rows[name].rows
        for line, (label, unit) in enumerate(zip(rows.labels, rows.units, strict=True)):
            entries = np.array(list(rows_of.get((name, label), {})), dtype=int)
            for side, (code, value) in _sides(float(rows.lower[line]), float(rows.upper[line])).items():
                by_row = np.zeros(nlp.n_g)
                by_row[entries[optimum.rows[entries] == code]] = 1.0
                if entries.size:  # else what is fixed settles it
                    yield Number(label + side, unit, value), by_row


def _sides(lower: float, upper: float) -> dict[str, tuple[int, float]]:
    """What the bounds of a quantity are called, with the sides of an `ActiveSet` that they are, and their values."""
    if lower == upper:
        return {"": (2, lower)}
    sides = {" lower": (-1, lower), " upper": (1, upper)}
    return {side: bound for side, bound in sides.items() if np.isfinite(bound[1])}


def _items(problem: Phases) -> dict[str, object]:
    """What is stated between phases, by the names that it has in the program."""
    items: dict[str, object] = {}
    for item in problem.subject_to:
        if (name := unique(item.name, items)) in problem.rows:
            items[name] = item
    return items


def _settled_ends(nlp: SequenceNLP) -> tuple[str, ...]:
    """What end conditions are called that settle a row between phases: one of them cannot move without the other."""
    rows, times = rows_by_label(nlp, ""), {"start": "initial", "end": "final"}
    settled = []
    for name, across in nlp.problem.rows.items():
        if any((name, label) not in rows for label in across.rows.labels):
            settled += [f"{at.phase}: {times[at.time]} " for at in across.points if at.time in times]
    return tuple(settled)
