"""Limits of a program: numbers that a problem states once, with all rows and variables that they bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from colloc.problem import Phases, Problem, Rows, State, Unknown, Window, natural_size
from colloc.problem.time_sets import WHOLE
from colloc.transcription import NLP, BaseNLP
from colloc.transcription.layout import active_control_points, intervals_within

Side = Literal["lower", "upper"]
Kind = Literal["row", "unknown", "duration"]
RowsByLabel = Mapping[tuple[str, str, str], tuple[np.ndarray, np.ndarray]]

_NONE = np.zeros(0, dtype=int)


class LimitPlace(NamedTuple):
    """Place in a problem at which a number is stated.

    Parameters
    ----------
    phase : str
        Empty in a problem without phases, and for statements across phases.
    kind : "row", "unknown" or "duration"
    name : str
        Name of the constraint or the unknown.
    row : int
        Row of the constraint, or component of the unknown.
    """

    phase: str
    kind: Kind
    name: str
    row: int


@dataclass(frozen=True, eq=False)
class Limit:
    """One side of a bound or of a prescribed value, for one row or variable at all times.

    Parameters
    ----------
    place : LimitPlace
    side : "lower" or "upper"
    row : str
        Name of the row or variable, including its joint.
    joint : str
        Empty without a joint.
    bound : float
    unit : str
        Empty without a unit.
    size : float
        Natural size, in the unit of the row.
    prescribed : bool
        Whether lower and upper bound are equal.
    equation : bool
        Whether a value is prescribed along a part of the motion, such as a torque of zero.
    entries : ndarray of int
        Bounded rows of the program, and bounded variables plus the number of rows.
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
        """The phase; empty without phases, and for statements across phases."""
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
        """1 for an upper bound, -1 for a lower one: the direction of a relaxation."""
        return 1 if self.side == "upper" else -1


class BoundedQuantity(NamedTuple):
    """A quantity that a problem bounds by two numbers or prescribes by one, and its rows and variables.

    Parameters
    ----------
    place : LimitPlace
        Place of the numbers in the problem.
    label, unit : str
        Of the row or the variable, including its joint.
    lower, upper, size : float
    along : bool
        Whether it is bounded along a part of the motion.
    rows, variables : ndarray of int
        Bounded rows and variables of the program.
    s : ndarray
        Normalised times of the rows.
    """

    place: LimitPlace
    label: str
    unit: str
    lower: float
    upper: float
    size: float
    along: bool
    rows: np.ndarray
    variables: np.ndarray
    s: np.ndarray

    @property
    def prescribed(self) -> bool:
        """Whether both numbers are equal."""
        return self.lower == self.upper


def bounded_quantities(nlp: BaseNLP, problem: Problem | Phases) -> Iterator[BoundedQuantity]:
    """All quantities that a problem bounds, also by infinite bounds; by phase, then across phases.

    Equations of states, lengths of quaternions, links and impacts are left out.

    Parameters
    ----------
    nlp : BaseNLP
        A program with the rows and variables of the problem; its bounds may differ.
    problem : Problem or Phases
        The problem with the bounds.
    """
    in_program = _rows_by_label(nlp)
    for phase, part in problem.phases.items():
        program, first = nlp.phases[phase], nlp.parts[phase].start
        layout = program.grid.layout
        for name, entry in part.rows.items():
            if not entry.constraint.follows:
                joints, where = entry.constraint.bounded_joints(part.model), entry.constraint.where
                positions = {row: joint for row, (quantity, joint) in joints.items() if quantity == "q"}
                points = _control_points(program, Window(*where.moments)) if positions else _NONE
                columns = {row: first + layout["q"][points, joint] for row, joint in positions.items()}
                yield from _of_rows(in_program, phase, name, entry.rows, where.along, columns)
        for unknowns, table in ((part.signals, layout["signals"].T), (part.states, layout["states"].T)):
            columns = iter(table)
            for unknown in unknowns:
                yield from _of_unknown(phase, unknown, [first + next(columns) for _ in range(unknown.size)])
        for unknown in part.constants:
            yield from _of_unknown(
                phase, unknown, [first + layout.constants[unknown.name][[k]] for k in range(unknown.size)]
            )
        T, place = part.horizon, LimitPlace(phase, "duration", "duration", 0)
        duration = first + layout.duration
        yield BoundedQuantity(place, "duration", "s", T.lower, T.upper, T.lower, False, _NONE, duration, _NONE)
    if isinstance(problem, Phases):
        for name, entry in problem.rows.items():
            if not entry.follows:
                yield from _of_rows(in_program, "", name, entry.rows, False, {})


def _of_rows(
    in_program: RowsByLabel, phase: str, name: str, rows: Rows, along: bool, variables: Mapping[int, np.ndarray]
) -> Iterator[BoundedQuantity]:
    for r, label in enumerate(rows.labels):
        index, s = in_program.get((phase, name, label), (_NONE, _NONE))
        bounds = float(rows.lower[r]), float(rows.upper[r]), float(rows.scale[r])
        place = LimitPlace(phase, "row", name, r)
        yield BoundedQuantity(place, label, rows.units[r], *bounds, along, index, variables.get(r, _NONE), s)


def _of_unknown(phase: str, unknown: Unknown | State, variables: Iterable[np.ndarray]) -> Iterator[BoundedQuantity]:
    sizes = natural_size(unknown.lower, unknown.upper)
    for k, index in enumerate(variables):
        bounds, place = (
            (float(unknown.lower[k]), float(unknown.upper[k]), float(sizes[k])),
            LimitPlace(phase, "unknown", unknown.name, k),
        )
        yield BoundedQuantity(place, unknown.labels[k], unknown.units[k], *bounds, True, _NONE, index, _NONE)


def _rows_by_label(nlp: BaseNLP) -> RowsByLabel:
    """Rows of a program with their normalised times, by phase, constraint and label."""
    found: dict[tuple[str, str, str], tuple[np.ndarray, np.ndarray]] = {}
    for block, first in zip(nlp.constraints, nlp.offsets, strict=False):
        for line, label in enumerate(block.rows.labels):
            key, rows = (
                (nlp.owners.get(block, ""), block.name, label),
                int(first) + line + block.n_rows * np.arange(block.n_slices),
            )
            before = found.get(key, (_NONE, _NONE))
            found[key] = np.append(before[0], rows), np.append(before[1], block.sites.s)
    return found


def limits_of(nlp: BaseNLP, problem: Problem | Phases) -> list[Limit]:
    """The finite limits of a problem that its program contains; arguments as in `bounded_quantities`.

    An unknown with equal bounds is a number, not a limit.
    """
    limits: list[Limit] = []
    for item in bounded_quantities(nlp, problem):
        entries = np.append(item.rows, nlp.n_g + item.variables)
        if not entries.size or (item.place.kind == "unknown" and item.prescribed):
            continue
        sides: tuple[tuple[Side, float], ...] = ("lower", item.lower), ("upper", item.upper)
        for side, bound in sides:
            if np.isfinite(bound):
                joint, equation = _joint(problem, item.place.phase, item.label), item.prescribed and item.along
                of_row = joint, bound, item.unit, item.size, item.prescribed, equation, entries
                limits.append(Limit(item.place, side, item.label, *of_row))
    return limits


def relaxed_bounds(
    nlp: BaseNLP, limits: Sequence[Limit], amounts: Sequence[float] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of all rows, then of all variables, with limits relaxed.

    Parameters
    ----------
    nlp : BaseNLP
        Its bounds hold where there is no limit.
    limits : sequence of Limit
        All limits of the program.
    amounts : sequence of float
        Relaxation of each; infinite for a limit that is left out.
    """
    lower, upper = (np.append(*sides) for sides in zip(nlp.bounds_g, (nlp.lower, nlp.upper), strict=True))
    for limit in limits:
        (lower if limit.side == "lower" else upper)[limit.entries] = limit.sign * np.inf
    for limit, amount in zip(limits, amounts, strict=True):
        narrower, bounds = (np.minimum, upper) if limit.side == "upper" else (np.maximum, lower)
        bounds[limit.entries] = narrower(bounds[limit.entries], limit.bound + limit.sign * amount)
    return lower, upper


def _joint(problem: Problem | Phases, phase: str, label: str) -> str:
    """The joint in the brackets of a row's name; empty without one."""
    inside = label.rpartition("[")[2].removesuffix("]") if "[" in label else ""
    models = [part.model for name, part in problem.phases.items() if name == phase]
    return inside if any(inside in (*model.joint_names, *model.position_names) for model in models) else ""


def _control_points(program: NLP, window: Window) -> np.ndarray:
    """Control points of the joints that bounds within a window restrict."""
    basis = program.grid.basis
    inside = None if window == WHOLE else intervals_within(window, basis)
    if window != WHOLE and inside is None:
        return np.zeros(0, dtype=int)
    every = np.arange(basis.size)
    return every if inside is None else every[active_control_points(inside, basis)]


def entry_times(nlp: BaseNLP, x: np.ndarray) -> np.ndarray:
    """Times of all rows of a program, then of all its variables, shape (n_g + n_x,) [s]; NaN if they have none.

    The time of a control point is that near which it acts.
    """
    durations, start = {}, {}
    for phase, program in nlp.phases.items():
        start[phase] = sum(durations.values()) if nlp.in_sequence else 0.0
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
