"""The limits of a program: numbers that a problem states once, with all rows and variables that they bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import casadi as ca
import numpy as np

from colloc.problem import Bounds, Condition, JointBounds, Problem, Rows, Sequence, Window, natural_size
from colloc.problem.rows import unique
from colloc.problem.time_sets import WHOLE
from colloc.transcription import NLP, BaseNLP
from colloc.transcription.layout import active_control_points, intervals_within

Side = Literal["lower", "upper"]
Kind = Literal["row", "unknown", "duration"]


class LimitPlace(NamedTuple):
    """Where a problem states a number.

    Parameters
    ----------
    phase : str
        Empty in a problem without phases, and for what a sequence states of all of them.
    kind : "row", "unknown" or "duration"
    name : str
        Of the constraint or the unknown.
    row : int
        Of the constraint, or component of the unknown.
    """

    phase: str
    kind: Kind
    name: str
    row: int


@dataclass(frozen=True, eq=False)
class Limit:
    """One side of a bound, or of a prescribed value, of one row or variable at all times.

    Parameters
    ----------
    place : LimitPlace
        Where the problem states it.
    side : "lower" or "upper"
    row : str
        Name of the row or variable, with its joint where it has one.
    joint : str
        Empty where it has none.
    bound : float
    unit : str
        Empty where the problem states none.
    size : float
        Natural size, in the row's own unit.
    prescribed : bool
        Whether the other side is the same number.
    equation : bool
        Whether it is prescribed all along a part of the motion, like a torque of zero.
    entries : ndarray of int
        What it bounds: rows of a program, then its variables, counted from the number of rows on.
    """

    place: LimitPlace
    side: Side
    row: str
    joint: str
    bound: float
    unit: str
    size: float
    prescribed: bool
    equation: bool
    entries: np.ndarray

    @property
    def phase(self) -> str:
        """Empty in a motion without phases, and for what is stated of all of them."""
        return self.place.phase

    @property
    def constraint(self) -> str:
        """Name of the constraint or of the unknown; "duration" for a duration."""
        return self.place.name

    @property
    def name(self) -> str:
        """The row with its phase."""
        return f"{self.phase}: {self.row}" if self.phase else self.row

    @property
    def sign(self) -> int:
        """1 for an upper bound, -1 for a lower one: the way in which it is relaxed."""
        return 1 if self.side == "upper" else -1


def limits_of(nlp: BaseNLP, problem: Problem | Sequence) -> list[Limit]:
    """The finite limits that a problem states, where its program has them.

    What follows from others is no limit, and cannot be relaxed: equations of states, closures, links, impacts. Neither
    is an unknown with equal bounds, which is a number.

    Parameters
    ----------
    nlp : BaseNLP
        A program whose rows and variables are those of the problem; its bounds may be others.
    problem : Problem or Sequence
        States the bounds.
    """
    entries: dict[LimitPlace, list[np.ndarray]] = {}
    statements = list(_statements(problem))
    for place, index in (*_in_rows(nlp, statements), *_in_variables(nlp, problem)):
        entries.setdefault(place, []).append(index)
    limits: list[Limit] = []
    for phase, kind, name, rows, along in statements:
        for r, label in enumerate(rows.labels):
            place, equal = LimitPlace(phase, kind, name, r), bool(rows.lower[r] == rows.upper[r])
            if place not in entries or (kind == "unknown" and equal):
                continue
            index = np.concatenate(entries[place])
            sides: tuple[tuple[Side, float], ...] = ("lower", float(rows.lower[r])), ("upper", float(rows.upper[r]))
            for side, bound in sides:
                if np.isfinite(bound):
                    of_row = rows.units[r], float(rows.scale[r]), equal, equal and along, index
                    limits.append(Limit(place, side, label, _joint(problem, phase, label), bound, *of_row))
    return limits


def _joint(problem: Problem | Sequence, phase: str, label: str) -> str:
    """The joint that a row names in brackets; empty for other rows."""
    inside = label.rpartition("[")[2].removesuffix("]")
    models = [part.model for name, part in problem.phases.items() if name == phase]
    return inside if any(inside in (*model.joint_names, *model.position_names) for model in models) else ""


class _LimitStatement(NamedTuple):
    """What a user has stated under one name: rows, and whether they hold all along a part of the motion."""

    phase: str
    kind: Kind
    name: str
    rows: Rows
    along: bool


def _statements(problem: Problem | Sequence) -> Iterator[_LimitStatement]:
    for phase, part in problem.phases.items():
        first = sum(not isinstance(constraint, Bounds) for constraint in part.statements)
        equations = list(part.rows)[first : first + len(part.states)]
        for name, entry in part.rows.items():
            if name not in equations:
                yield _LimitStatement(phase, "row", name, entry.rows, isinstance(entry.constraint.where, Window))
        for unknown in (*part.signals, *part.states, *part.constants):
            rows = _plain_rows(unknown.labels, unknown.lower, unknown.upper, natural_size(unknown.lower, unknown.upper))
            yield _LimitStatement(phase, "unknown", unknown.name, rows, along=True)
        T = part.horizon
        lower, upper = np.array([T.lower]), np.array([T.upper])
        yield _LimitStatement(
            phase, "duration", "duration", _plain_rows(("duration",), lower, upper, lower, "s"), along=False
        )
    if isinstance(problem, Sequence):
        for name in stated_across(problem):
            yield _LimitStatement("", "row", name, problem.rows[name].rows, along=False)


def _plain_rows(
    labels: tuple[str, ...], lower: np.ndarray, upper: np.ndarray, size: np.ndarray, unit: str = ""
) -> Rows:
    return Rows(ca.SX(len(labels), 1), lower, upper, labels, (unit,) * len(labels), size)


def stated_across(sequence: Sequence) -> dict[str, Condition | None]:
    """Constraints of several phases that can be relaxed, by name; None for the duration of all of them."""
    items: dict[str, Any] = {}
    for item in sequence.subject_to:
        if (name := unique(item.name, items)) in sequence.rows:
            items[name] = item
    conditions: dict[str, Condition | None] = {n: item for n, item in items.items() if isinstance(item, Condition)}
    if sequence.duration is not None:
        conditions[unique("duration", items)] = None
    return conditions


def _in_rows(nlp: BaseNLP, statements: list[_LimitStatement]) -> Iterator[tuple[LimitPlace, np.ndarray]]:
    """Rows of the program of every row that is stated."""
    stated = {(s.phase, s.name): s.rows.labels for s in statements if s.kind == "row"}
    for block, first in zip(nlp.constraints, nlp.offsets, strict=False):
        phase = nlp.owners.get(block, "")
        labels = stated.get((phase, block.name), ())
        for line, label in enumerate(block.rows.labels):
            if label in labels:
                index = int(first) + line + block.n_rows * np.arange(block.n_slices)
                yield LimitPlace(phase, "row", block.name, labels.index(label)), index


def _in_variables(nlp: BaseNLP, problem: Problem | Sequence) -> Iterator[tuple[LimitPlace, np.ndarray]]:
    """Variables of the program, counted behind its rows, of bounds on positions, unknowns and durations."""
    for phase, program in nlp.phases.items():
        first, part, layout = nlp.n_g + nlp.parts[phase].start, problem.phases[phase], program.grid.layout
        for name, entry in part.rows.items():
            if isinstance(bounds := entry.constraint, JointBounds) and bounds.quantity == "q":
                points = _control_points(program, bounds.where)
                for r, joint in enumerate(bounds.joints):
                    yield LimitPlace(phase, "row", name, r), first + layout["q"][points, joint]
        for unknowns, table in ((part.signals, layout["signals"]), (part.states, layout["states"])):
            columns = iter(table.T)
            for unknown in unknowns:
                for k in range(unknown.size):
                    yield LimitPlace(phase, "unknown", unknown.name, k), first + next(columns)
        for name, index in layout.constants.items():
            for k in range(index.size):
                yield LimitPlace(phase, "unknown", name, k), first + index[[k]]
        yield LimitPlace(phase, "duration", "duration", 0), first + layout.duration


def _control_points(program: NLP, window: Window) -> np.ndarray:
    """Control points of the joints whose bounds hold the motion within a part of it."""
    basis = program.grid.basis
    inside = None if window == WHOLE else intervals_within(window, basis)
    if window != WHOLE and inside is None:
        return np.zeros(0, dtype=int)
    every = np.arange(basis.size)
    return every if inside is None else every[active_control_points(inside, basis)]


def entry_times(nlp: BaseNLP, x: np.ndarray) -> np.ndarray:
    """Times of all rows of a program, then of all its variables, shape (n_g + n_x,) [s]; NaN where they have none.

    Of control points those in whose neighbourhood they count.
    """
    durations, start = {}, {}
    for phase, program in nlp.phases.items():
        start[phase] = sum(durations.values())
        durations[phase] = float(x[nlp.parts[phase]][program.grid.layout.duration[0]])
    times = np.full(nlp.n_g + nlp.n_x, np.nan)
    for block, first, end in zip(nlp.constraints, nlp.offsets, nlp.offsets[1:], strict=False):
        phase = nlp.owners.get(block)
        if phase is not None:
            times[first:end] = np.repeat(start[phase] + block.sites.s * durations[phase], block.n_rows)
    for phase, program in nlp.phases.items():
        grid, first = program.grid, nlp.n_g + nlp.parts[phase].start
        for name, basis in grid.splines.items():
            if grid.layout[name].size:
                times[first + grid.layout[name]] = (start[phase] + basis.greville() * durations[phase])[:, None]
    return times
