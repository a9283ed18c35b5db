"""Numbers of a problem, and their effect on the conditions of an optimum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.model import Model
from colloc.optimality.active_set import SharpOptimum
from colloc.optimality.kkt import DataChange
from colloc.optimality.limits import BoundedQuantity, bounded_quantities
from colloc.problem import Free, NamedNumber, Parameter, Phases, Problem, Statement, parametrised
from colloc.problem.rows import unique
from colloc.support.checks import InputError
from colloc.transcription import NLP, BaseNLP, PhasesNLP, constraint_block
from colloc.transcription.constraint_points import AtNodes
from colloc.transcription.differences import central_difference
from colloc.transcription.fixed_ends import fix_ends, state_point

_ORDERS = ("q", "qd", "qdd")
_SAME = 1e-9  # of the duration: tolerance of equal times
_UNMOVED = 1e-7  # of a row's natural size, per unit of a number: rounding of differences
_WIDE = 2.0  # bounds of a duration that becomes free, relative to its fixed value


@dataclass(frozen=True, eq=False)
class ParametrisedNLP:
    """A program whose parameters are those of its problem, plus numbers of its models and statements.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
        With the variables and rows of the original program; fixed durations are symbols in it.
    parameters : ndarray, shape (n_p,)
    numbers : list of (NamedNumber, ndarray)
        Numbers that are parameters, with their coefficients of the parameters, shape (n_p,).
    """

    nlp: NLP | PhasesNLP
    parameters: np.ndarray
    numbers: list[tuple[NamedNumber, np.ndarray]]


def program_in_numbers(nlp: NLP | PhasesNLP, values: np.ndarray, *, compiled: bool = False) -> ParametrisedNLP:
    """The program of the same motion with all possible numbers as parameters: those of models, and durations.

    It is not compiled by default, since it is rarely evaluated.

    Numbers of a closed chain whose loops are solved at every instant are not parameters, since its loops are not part
    of its model. Neither are numbers that would change the set of rows, such as a duration if a joint ends with a
    speed: this speed fixes a variable only if the duration is fixed.
    """
    for models, durations in ((True, True), (True, False), (False, True), (False, False)):
        program = _in_numbers(nlp, values, models=models, durations=durations, compiled=compiled)
        if _structure(program.nlp) == _structure(nlp):
            return program
    return ParametrisedNLP(nlp, values, _parameters(nlp.problem, values, {}))


def _structure(nlp: BaseNLP) -> list[object]:
    return [nlp.n_x, *((block.name, block.rows.labels, block.n_slices) for block in nlp.constraints)]


class _Symbolic:
    """Models and statements with numbers as parameters, each made once and shared by phases."""

    def __init__(self):
        self.parameters: list[Parameter] = []
        self.named: dict[str, tuple[Sequence[str], Sequence[str]]] = {}  # names and units, by parameter
        self._models: dict[int, Model] = {}
        self._statements: dict[int, Statement] = {}

    def model(self, problem: Problem) -> Model:
        """The model of a problem; unchanged if it has no numbers, or its loops are solved at every instant."""
        if id(problem.model) not in self._models:
            self._models[id(problem.model)] = problem.model
            if problem.coordinates is None:
                try:
                    arm = parametrised(problem.model, self._name())
                except InputError:  # a model without numbers
                    return problem.model
                self._add(arm.numbers, arm.names, arm.units)
                self._models[id(problem.model)] = arm.model
        return self._models[id(problem.model)]

    def statement(self, statement: Statement) -> Statement:
        """A statement; unchanged if its functions have no numbers."""
        if id(statement) not in self._statements:
            numbers, made = [n for n in statement.numbers if isinstance(n.value, Real)], statement
            if numbers:
                parameter = Parameter(self._name(), [number.value for number in numbers])
                names = [f"{number.name} of {statement.name}" for number in numbers]
                self._add(parameter, names, [number.unit for number in numbers])
                values = zip(numbers, ca.vertsplit(parameter.symbol), strict=True)
                made = statement.with_numbers({number.name: symbol for number, symbol in values})
            self._statements[id(statement)] = made
        return self._statements[id(statement)]

    def _name(self) -> str:
        return f"numbers_{len(self.parameters)}_of_the_problem"  # a name that no user would choose

    def _add(self, parameter: Parameter, names: Sequence[str], units: Sequence[str]) -> None:
        self.parameters.append(parameter)
        self.named[parameter.name] = names, units


def _in_numbers(
    nlp: NLP | PhasesNLP, values: np.ndarray, *, models: bool, durations: bool, compiled: bool
) -> ParametrisedNLP:
    """The program with numbers of statements as parameters, optionally also those of models and durations."""
    symbolic, problems = _Symbolic(), nlp.problem.phases
    statements = {name: [*map(symbolic.statement, problem.statements)] for name, problem in problems.items()}
    across = [*map(symbolic.statement, nlp.problem.statements)] if isinstance(nlp, PhasesNLP) else []
    arms = {name: symbolic.model(problem) if models else problem.model for name, problem in problems.items()}
    phases = {
        name: problem.restated(
            statements[name],
            model=arms[name],
            duration=_released(problem.horizon) if durations else problem.duration,
            parameters=[*problem.all_parameters, *symbolic.parameters],
        )
        for name, problem in problems.items()
    }
    values = np.concatenate([values, *(parameter.value for parameter in symbolic.parameters)])
    if isinstance(nlp, NLP):
        program = _restated(nlp, phases[""], compiled)
    else:
        sequence = replace(nlp.problem, phases=phases, subject_to=across)
        programs = {name: _restated(nlp.phases[name], p, compiled) for name, p in sequence.phases.items()}
        program = PhasesNLP(sequence, programs)
    return ParametrisedNLP(program, values, _parameters(program.problem, values, symbolic.named))


def _restated(nlp: NLP, problem: Problem, compiled: bool) -> NLP:
    """The program of another problem on the same grid, compiled as this one or not at all."""
    return nlp.for_problem(problem) if compiled else replace(nlp.for_problem(problem), compile=False)


def _released(horizon: Free) -> Free:
    """A fixed duration as a free one."""
    if horizon.lower < horizon.upper:
        return horizon
    return Free(horizon.lower / _WIDE, horizon.upper * _WIDE, horizon.lower)


def _parameters(
    problem: Problem | Phases, values: np.ndarray, named: Mapping[str, tuple[Sequence[str], Sequence[str]]]
) -> list[tuple[NamedNumber, np.ndarray]]:
    """Entries of all parameters with their coefficients; those of models and statements by name and unit."""
    numbers, entries = [], iter(np.eye(values.size))
    for parameter in next(iter(problem.phases.values())).all_parameters:
        size = parameter.value.size
        names = [parameter.name] if size == 1 else [f"{parameter.name}[{k}]" for k in range(size)]
        names, units = named.get(parameter.name, (names, [""] * size))
        for name, unit in zip(names, units, strict=True):
            entry = next(entries)
            numbers.append((NamedNumber(name, unit, float(values @ entry)), entry))
    return numbers


def moves(
    nlp: NLP | PhasesNLP, program: ParametrisedNLP, optimum: SharpOptimum
) -> tuple[dict[str, tuple[NamedNumber, DataChange]], tuple[str, ...]]:
    """All numbers of a problem by name with their effects, and the names of those that cannot change alone.

    Numbers of the same name and value in several phases and models are one number.
    """
    still = DataChange(np.zeros(program.parameters.size), np.zeros(nlp.n_g), np.zeros(nlp.n_x))
    pairs = [(number, still._replace(parameters=entry)) for number, entry in program.numbers]
    stuck: set[str] = set()
    settled: dict[str, list[_Settled]] = {name: [] for name in nlp.phases}
    at_ends: dict[tuple[str, str, str], np.ndarray] = {}
    for motion, (name, phase) in zip(nlp.motions, nlp.phases.items(), strict=True):
        duration = float(optimum.x[motion.part][phase.grid.layout.duration[0]])
        fixed, bound = end_moves(phase, duration)
        stuck |= {motion.before + label for label in bound}
        for key, move in fixed.items():
            at_ends[name, *key] = np.zeros(nlp.n_x)
            at_ends[name, *key][motion.part] = move
        horizon = phase.problem.horizon
        if horizon.lower == horizon.upper and not program.nlp.phases[name].free_duration:
            stuck.add(f"{motion.before}duration")
    constants = {unknown.name for problem in nlp.problem.phases.values() for unknown in problem.constants}
    for item in bounded_quantities(nlp, nlp.problem):
        phase, kind, name, _ = item.place
        before = "" if not phase or (kind == "unknown" and name in constants) else f"{phase}: "
        at_end = at_ends.get((phase, name, item.label))
        for number, rows, variables in _sides(nlp, optimum, item, before):
            if at_end is not None:
                variables += at_end
            if phase in nlp.phases and kind == "row":
                if item.prescribed and not variables.any() and (gap := _settled(nlp.phases[phase], item)):
                    settled[phase].append(gap)
                    stuck.add(number.name)
            elif kind == "row" and not item.rows.size:
                continue  # between phases: fixed values determine it
            pairs.append((number, still._replace(rows=rows, variables=variables)))
    for name, gaps in settled.items():
        part = nlp.parts[name]
        for block in _settled_blocks(program.nlp.phases[name], gaps):
            along = ((number.name, (move.variables[part], move.parameters)) for number, move in pairs)
            at = optimum.x[part], program.parameters
            stuck |= {number for number, direction in along if _changes(block, at, direction)}
    if isinstance(nlp, PhasesNLP):
        stuck |= {number.name for number, _ in pairs if number.name.startswith(_settled_ends(nlp))}
    movable = [(number, move) for number, move in pairs if number.name not in stuck]
    return _by_name(movable), tuple(sorted(stuck))


def _by_name(pairs: Iterable[tuple[NamedNumber, DataChange]]) -> dict[str, tuple[NamedNumber, DataChange]]:
    """Numbers by name with their effects; a count is appended to repeated names."""
    by_number: dict[NamedNumber, DataChange] = {}
    for number, move in pairs:
        by_number[number] = by_number[number].plus(move) if number in by_number else move
    by_name: dict[str, tuple[NamedNumber, DataChange]] = {}
    for number, move in by_number.items():
        name = unique(number.name, by_name)
        by_name[name] = number._replace(name=name), move
    return by_name


def _sides(
    nlp: BaseNLP, optimum: SharpOptimum, item: BoundedQuantity, before: str
) -> Iterator[tuple[NamedNumber, np.ndarray, np.ndarray]]:
    """The two bounds of a quantity, or its value, with masks (0 or 1) of the rows and variables at them."""
    sides = [("", 2, item.lower)] if item.prescribed else [(" lower", -1, item.lower), (" upper", 1, item.upper)]
    for side, code, value in sides:
        if np.isfinite(value):
            rows, variables = np.zeros(nlp.n_g), np.zeros(nlp.n_x)
            rows[item.rows[optimum.rows[item.rows] == code]] = 1.0
            # The narrowest of several bounds on a variable is active.
            bounded = (nlp.upper if code == 1 else nlp.lower)[item.variables] == value
            variables[item.variables[bounded & (optimum.variables[item.variables] == code)]] = 1.0
            yield NamedNumber(f"{before}{item.label}{side}", item.unit, value), rows, variables


class _Settled(NamedTuple):
    """An equation without a row: its constraint and line, and the ends if it has rows elsewhere."""

    name: str
    line: int
    ends: tuple[float, ...]


def _settled(phase: NLP, item: BoundedQuantity) -> _Settled | None:
    """An equation that fixed values already satisfy, everywhere or at one end."""
    _, _, name, line = item.place
    entry = phase.problem.rows[name]
    if entry.constraint.where.along and entry.orders[line] < 2:
        moments = entry.constraint.where.moments
        ends = tuple(end for end in moments if np.abs(item.s - end).min(initial=1.0) > _SAME)
        return _Settled(name, line, ends) if ends else None
    return None if item.s.size else _Settled(name, line, ())


def _settled_blocks(phase: NLP, settled: Iterable[_Settled]) -> Iterator[Block]:
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


def end_moves(phase: NLP, duration: float) -> tuple[dict[tuple[str, str], np.ndarray], set[str]]:
    """Changes of the variables that end conditions of a phase fix, by constraint and label; and stuck conditions.

    The fixed variables are control points next to an end: the first by the position, the next by the velocity, which
    moves with the position. A condition is stuck if bounds already fix its variable.
    """
    problem, grid = phase.problem, phase.grid
    remaining, layout = fix_ends(problem, grid).remaining_rows, phase.grid.layout
    fixed: dict[tuple[float, int], dict[int, tuple[str, str]]] = {}
    by_condition: dict[tuple[str, str], np.ndarray] = {}
    stuck: set[str] = set()
    for name, values in problem.end_values.items():
        labels = problem.rows[name].rows.labels
        for end in values:
            if end.row in remaining[name]:
                continue
            if end.of_joint:
                fixed.setdefault((end.s, end.index), {})[_ORDERS.index(end.quantity)] = name, labels[end.row]
                continue
            move = by_condition[name, labels[end.row]] = np.zeros(layout.size)
            point = state_point(problem, grid, end)
            move[point] = 1.0
            stuck |= {labels[end.row]} if layout.lower[point] == layout.upper[point] else set()
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


def _settled_ends(nlp: PhasesNLP) -> tuple[str, ...]:
    """Names of end conditions that determine a row between phases: one cannot change without the other."""
    rows = {(block.name, label) for block in nlp.constraints if block not in nlp.owners for label in block.rows.labels}
    settled, times = [], {"start": "initial", "end": "final"}
    for name, across in nlp.problem.rows.items():
        if any((name, label) not in rows for label in across.rows.labels):
            settled += [f"{at.phase}: {times[at.time]} " for at in across.points if at.time in times]
    return tuple(settled)
