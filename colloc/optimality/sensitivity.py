"""Derivatives of an optimum by the numbers of its problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from colloc.optimality.active_set import sharp_optimum
from colloc.optimality.along import Samples, expression_in, times_by_phase
from colloc.optimality.crossover import crossover
from colloc.optimality.kkt import DataChange, KKTSystem
from colloc.optimality.numbers import ParametrisedNLP, moves, program_in_numbers
from colloc.problem import Instant, NamedNumber
from colloc.solution import BaseSolution, PhasesSolution, Solution
from colloc.solution.solution_query import solution_query
from colloc.solver import Status
from colloc.solver.degenerate import cost_depends_on_variables
from colloc.support.checks import (
    InputError,
    as_tuple,
    finite_array,
    finite_number,
    function,
    quoted,
    text,
    unknown_name,
)
from colloc.support.display import Table, short, shown
from colloc.support.lazy import cached_property

STEP = 0.01  # of a number: change that the table and the figure show
_LISTED = 20  # numbers listed in the table
_NAMED = 4  # rows or variables named in a note
_NOTHING = 1e-9  # of the largest effect: smaller ones are not listed

By = str | Mapping[str, float]


class Derivative(NamedTuple):
    """Derivatives of an optimum by one number.

    Parameters
    ----------
    name, unit : str
    value : float
    cost : float
        Derivative of the cost, per unit of the number.
    duration : float
        Derivative of the duration [s], per unit of the number.

    Examples
    --------
    >>> sensitivity = co.optimality.sensitivity(solution, "mass")
    >>> sensitivity["mass of body 'elbow'"].unit
    'kg'
    """

    name: str
    unit: str
    value: float
    cost: float
    duration: float

    @property
    def step(self) -> float:
        """One percent of the value, or a hundredth of a unit if it is zero."""
        return STEP * (abs(self.value) or 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """The derivatives of an optimum; see `sensitivity`.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    derivatives : tuple of Derivative
        Derivatives of cost and duration, ordered by the effect of a percent of the number on the cost.
    degenerate : tuple of str
        Sentences about bounds and directions that make a derivative one-sided or undetermined; usually empty.
    stuck : tuple of str
        Numbers that others determine as well, so that the problem has no solution if they change alone.
    program : ParametrisedNLP
        The program whose parameters are the numbers.
    kkt : KKTSystem
        The linearised conditions of the optimum.
    moves : mapping of str to DataChange
        Effect of every number on the conditions.

    Examples
    --------
    >>> sensitivity = co.optimality.sensitivity(solution, ["tau", "final q"])
    >>> by_limit = sensitivity["tau[shoulder] upper"]  # s per N m
    >>> -0.03 < by_limit.duration < 0
    True
    >>> sensitivity.evaluate(lambda now: now.q, "final q[elbow]", solution.duration).shape
    (2,)
    """

    solution: Solution | PhasesSolution
    derivatives: tuple[Derivative, ...]
    degenerate: tuple[str, ...]
    stuck: tuple[str, ...]
    program: ParametrisedNLP
    kkt: KKTSystem
    moves: Mapping[str, DataChange]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers."""
        return tuple(derivative.name for derivative in self.derivatives)

    def __getitem__(self, name: str) -> Derivative:
        for derivative in self.derivatives:
            if derivative.name == text("name of a number", name):
                return derivative
        raise unknown_name("number", name, self.names)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.names)

    def x(self, by: By) -> np.ndarray:
        """Derivative of the decision vector, shape (n_x,).

        Parameters
        ----------
        by : str or mapping of str to float
            Name of a number; or rates of several numbers that change together, as ``{"tau[elbow] upper": 1, "tau[elbow]
            lower": -1}`` for a limit on both sides.

        Raises
        ------
        InputError
            For other names, or numbers that cannot change in this way.
        """
        return self._change(by)[1]

    def evaluate(self, fn: Callable[[Instant], Any], by: By, t: Any = None) -> np.ndarray:
        """Derivative of any function of the instant along the motion, at fixed times.

            dq = sensitivity.evaluate(lambda now: now.q, "mass of body 'elbow'", t)

        Parameters
        ----------
        fn : callable
            Instant -> SX scalar or column: positions, torques, a point of a body, an unknown constant.
        by : str or mapping of str to float
            As in `x`.
        t : float or shape (N,) [s], optional
            Within 0 .. duration; by default the nodes. Times are fixed, even if the duration changes.

        Returns
        -------
        ndarray
            Shape (N,) for a scalar, (N, rows) for a column; no first axis for a single time.
        """
        function("evaluate", fn, "a function of the instant", "now")
        move, change = self._change(by)
        times = None if t is None else finite_array("t", t)
        parts = times_by_phase(self.solution, None if times is None else np.atleast_1d(times))
        starts, count = self._starts(change), sum(place.size for _, place, _ in parts)
        values = np.zeros((count, 0))
        for name, place, seconds in parts:
            phase, part = self.program.nlp.phases[name], self.solution.nlp.parts[name]
            at_times = Samples(
                phase, expression_in(phase, fn), seconds, self.kkt.optimum.x[part], self.program.parameters
            )
            rates = at_times.rates(change[part], move.parameters, starts[name])
            if not values.size:
                values = np.zeros((count, rates.shape[1]))
            if rates.shape[1] != values.shape[1]:
                raise InputError(f"the function must have one size in all phases, got another in phase {name!r}")
            values[place] = rates
        values = values[:, 0] if values.shape[1] == 1 else values
        return values[0] if times is not None and times.ndim == 0 else values

    def _change(self, by: By) -> tuple[DataChange, np.ndarray]:
        """A change of data, and the change of the decision vector."""
        if not isinstance(by, str | Mapping) or (isinstance(by, Mapping) and not by):
            raise InputError(f"by must be the name of a number or a mapping of names to rates, got {quoted(by)}")
        rates = {by: 1.0} if isinstance(by, str) else {k: finite_number(f"rate of {k!r}", v) for k, v in by.items()}
        for name in rates:
            _ = self[name]
        move = reduce(DataChange.plus, (self.moves[name].times(rate) for name, rate in rates.items()))
        change = self.kkt.change(move)[0]
        if np.isnan(change).any():
            raise InputError(f"{shown(list(rates))} cannot change in this way: {'; '.join(self.degenerate)}")
        return move, change

    def _starts(self, change: np.ndarray) -> dict[str, float]:
        """Changes of the starts of all phases [s]."""
        starts, start = {}, 0.0
        for name, phase in self.solution.nlp.phases.items():
            starts[name] = start if self.solution.problem.in_sequence else 0.0
            start += float(change[self.solution.nlp.parts[name]][phase.grid.layout.duration[0]])
        return starts

    @cached_property
    def effects(self) -> tuple[float, ...]:
        """Change of the cost for a step of every number, see `Derivative.step`."""
        return tuple(derivative.cost * derivative.step for derivative in self.derivatives)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        largest = max((abs(effect) for effect in self.effects if np.isfinite(effect)), default=0.0)
        lines = [
            (
                d.name,
                f"{short(d.value)} {d.unit}".rstrip(),
                f"{d.cost:.4g}",
                f"{d.duration:.4g}",
                f"{effect:+.3g}",
                f"{short(d.step)} {d.unit}".rstrip(),
            )
            for d, effect in zip(self.derivatives, self.effects, strict=True)
            if not abs(effect) <= _NOTHING * largest
        ]
        notes = [f"  {len(lines) - _LISTED} more with smaller effects"] if len(lines) > _LISTED else []
        if silent := len(self.derivatives) - len(lines):
            notes.append(f"  {silent} of {len(self.derivatives)} numbers have no effect")
        if self.stuck:
            notes.append(f"  the problem has no solution if these change alone: {shown(self.stuck, _NAMED)}")
        notes += [f"  {sentence}" for sentence in self.degenerate]
        header = ("number", "value", "d cost", "d duration [s]", "change of the cost", "for")
        title = f"Sensitivity of {self.solution.title}, cost {self.solution.cost:.6g}"
        return Table(title, header, lines[:_LISTED], notes)


@solution_query()
def sensitivity(solution: Solution | PhasesSolution, by: str | Iterable[str] | None = None) -> Sensitivity:
    """Derivatives of an optimum by the numbers of its problem: cost, duration, and the motion itself.

    Numbers are the problem's parameters; masses, lengths, inertias and passive parts of its models; limits, bounds,
    postures and velocities at the ends, values of conditions; durations. A limit is one number for all nodes. All
    derivatives come from one factorisation of the conditions of the optimum (Fiacco 1976, "Sensitivity analysis for
    nonlinear programming using penalty methods", theorem 2.1), with exact second derivatives and without another solve.
    They are derivatives of the motion on its grid.

    They are valid as long as the same bounds are active. If a bound is weakly active, gradients of active constraints
    are dependent, or a direction is flat, the derivative is one-sided or not unique, and `Sensitivity.degenerate` names
    the rows and variables.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        An optimum, of a problem with a cost.
    by : str or sequence of str, optional
        Numbers whose names contain this, or one of these: ``"mass"``, ``["tau", "final q"]``. By default all.

    Returns
    -------
    Sensitivity
        A table, the largest effects first; `Sensitivity.evaluate` has the derivative of the motion at any time.

    Raises
    ------
    InputError
        For a solution that is no optimum, or has no cost, or a name that no number contains.

    See Also
    --------
    parametrised : Models as functions of their numbers.
    sweep : Solves for many values, however far apart.

    Notes
    -----
    If a function of the user contains a model of its own instead of the instant's, the numbers of that model are fixed.

    Examples
    --------
    >>> table = co.optimality.sensitivity(solution, ["tau", "mass"])
    >>> heavier = table["mass of body 'elbow'"]  # s per kg: both links heavier, the arm is slower
    >>> 0.02 < heavier.duration < 0.2
    True
    """
    check_optimum(solution)
    patterns = () if by is None else _patterns(by)
    program = program_in_numbers(solution.nlp, solution.parameters)
    kkt = crossover(program.nlp, program.parameters, sharp_optimum(solution))
    numbers, stuck = moves(solution.nlp, program, kkt.optimum)
    for pattern in patterns:
        if not any(pattern in name for name in (*numbers, *stuck)):
            unknown = unknown_name("numbers", pattern, [re.split(r" of |\[", name)[0] for name in numbers])
            raise InputError(f"{unknown}{fixed_models(solution)}")
    chosen = {name: pair for name, pair in numbers.items() if _matches(name, patterns)}
    derivatives = _derivatives(solution, kkt, chosen)
    return Sensitivity(
        solution,
        tuple(sorted(derivatives, key=lambda d: -abs(d.cost * d.step) if np.isfinite(d.cost) else np.inf)),
        (*_kept(solution), *degenerate(kkt)),
        tuple(name for name in stuck if _matches(name, patterns)),
        program,
        kkt,
        {name: move for name, (_, move) in chosen.items()},
    )


def fixed_models(solution: BaseSolution) -> str:
    """The end of a message about numbers that are missing; empty if those of all models are there."""
    if all(problem.coordinates is None for problem in solution.problem.phases.values()):
        return ""
    return "; masses and lengths of a chain whose loops are solved at every instant are fixed: try co.loops.CutJoints"


def _patterns(by: object) -> tuple[str, ...]:
    """Texts that names of numbers must contain; raise InputError for anything but texts."""
    if not isinstance(by, Iterable) or not (patterns := (by,) if isinstance(by, str) else as_tuple("by", by)):
        raise InputError(f"by must be a part of a name, or a sequence of such, got {quoted(by)}")
    return tuple(text("by", pattern) for pattern in patterns)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(pattern in name for pattern in patterns)


def check_optimum(solution: BaseSolution) -> None:
    """Raise InputError unless `solution` is an optimum with a cost."""
    if solution.outcome.status not in (Status.SOLVED, Status.ACCEPTABLE):
        raise InputError(f"solution must be an optimum, got one with status {solution.status}")
    if not cost_depends_on_variables(solution.nlp, solution.x, solution.parameters):
        raise InputError("solution must have a cost that depends on the motion, got a constant cost")


def _derivatives(
    solution: BaseSolution, kkt: KKTSystem, numbers: Mapping[str, tuple[NamedNumber, DataChange]]
) -> list[Derivative]:
    """Derivatives of cost and duration; NaN if the conditions have no solution when the number changes alone."""
    cost, duration = kkt.cost_rate, kkt.rate_of(duration_entries(solution))
    return [
        Derivative(*number, *((cost.of(move), duration.of(move)) if kkt.agrees(move) else (np.nan, np.nan)))
        for number, move in numbers.values()
    ]


def duration_entries(solution: BaseSolution) -> np.ndarray:
    """Coefficients of the decision vector in the duration of the whole motion, shape (n_x,)."""
    entries = np.zeros(solution.nlp.n_x)
    for name, phase in solution.nlp.phases.items():
        entries[solution.nlp.parts[name]][phase.grid.layout.duration[0]] = 1.0
    return entries


def _kept(solution: BaseSolution) -> tuple[str, ...]:
    """A sentence about costs of earlier levels."""
    if solution.ordered is None:
        return ()
    return (
        f"costs of earlier levels stay as they are, whatever the numbers: {shown(list(solution.levels)[:-1], _NAMED)}",
    )


def degenerate(kkt: KKTSystem) -> tuple[str, ...]:
    """Sentences about one-sided or undetermined derivatives."""
    sentences, nlp, optimum = [], kkt.nlp, kkt.optimum
    weak = [nlp.row_name(int(row), optimum.x) for row in np.flatnonzero(optimum.weak_rows)]
    weak += [nlp.variable_name(int(k), optimum.x) for k in np.flatnonzero(optimum.weak_variables)]
    if weak:
        named = shown(weak, _NAMED)
        sentences.append(f"weakly active, so that derivatives are one-sided: {named}")
    if kkt.dependent:
        sentences.append(
            "active rows have dependent gradients, so that multipliers are not unique, and rows cannot move "
            f"alone: {shown(kkt.dependent, _NAMED)}"
        )
    if kkt.flat:
        sentences.append(
            "the cost is flat along a direction, so that the motion is not unique; the smallest change is returned: "
            f"{shown(kkt.flat, _NAMED)}"
        )
    return tuple(sentences)
