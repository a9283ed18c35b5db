"""Problems restated with wider limits: prescribed values become intervals, bounds move outwards."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from colloc.model import Limits, Model
from colloc.optimality.limits import Kind, LimitPlace
from colloc.problem import QUANTITIES, Free, Phases, Problem, Rows, State, Statement, Unknown
from colloc.problem.time_sets import WHOLE
from colloc.support.checks import InputError, InputWarning

LIMITED = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque"}
_LEAST = 0.01  # smallest remaining fraction of the lower bound of a duration

Amounts = Mapping[LimitPlace, tuple[float, float]]  # decrease of a lower bound, increase of an upper one


def with_wider_limits(problem: Problem | Phases, amounts: Amounts) -> Problem | Phases:
    """The problem with wider limits; others are unchanged.

    Raises
    ------
    InputError
        For joint limits in the model of a closed chain whose loops are solved at every instant.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # issued for the original problem already
        return _with_wider_limits(problem, amounts)


def _with_wider_limits(problem: Problem | Phases, amounts: Amounts) -> Problem | Phases:
    unknowns = _unknowns(problem, amounts)
    if isinstance(problem, Problem):
        return _phase(problem, "", amounts, unknowns)
    phases = {name: _phase(phase, name, amounts, unknowns) for name, phase in problem.phases.items()}
    wider: dict[int, Statement] = {}
    for name, entry in problem.rows.items():
        sides = _Sides.of(amounts, "", "row", name, len(entry.rows.labels))
        if entry.statement is not None and sides.any:
            wider[id(entry.statement)] = _with_bounds(entry.statement, entry.rows, sides)
    duration = problem.duration
    if isinstance(duration, Free):
        duration = _duration(duration, _Sides.of(amounts, "", "row", problem.duration_row, 1))
    statements = [wider.get(id(item), item) for item in problem.statements]
    return replace(problem, phases=phases, subject_to=statements, duration=duration)


class _Sides(NamedTuple):
    """Outward changes of the bounds under one name, each ndarray, shape (r,)."""

    down: np.ndarray
    up: np.ndarray

    @classmethod
    def of(cls, amounts: Amounts, phase: str, kind: Kind, name: str, size: int) -> _Sides:
        pairs = [amounts.get(LimitPlace(phase, kind, name, r), (0.0, 0.0)) for r in range(size)]
        return cls(*np.array(pairs, dtype=float).reshape(-1, 2).T)

    @property
    def any(self) -> bool:
        return bool(self.down.any() or self.up.any())


def _phase(problem: Problem, phase: str, amounts: Amounts, unknowns: Mapping[int, Unknown | State]) -> Problem:
    """A phase with wider limits, with unknowns replaced by identity."""
    statements: list[Statement] = []
    limits: dict[str, dict[str, tuple[float, float]]] = {}
    for name, entry in problem.rows.items():
        statement, sides = entry.constraint, _Sides.of(amounts, phase, "row", name, len(entry.rows.labels))
        if statement.follows:
            continue
        # Limits of joints are restated whatever their origin, since limits of several statements are combined.
        joined = any(statement.limited(quantity, problem.model) for quantity in QUANTITIES)
        statements.append(_with_bounds(statement, entry.rows, sides) if joined or sides.any else statement)
        if statement.where == WHOLE and sides.any:
            for row, (quantity, joint) in statement.bounded_joints(problem.model).items():
                if quantity in LIMITED:
                    bounds = (
                        float(entry.rows.lower[row] - sides.down[row]),
                        float(entry.rows.upper[row] + sides.up[row]),
                    )
                    limits.setdefault(LIMITED[quantity], {})[problem.model.names(quantity)[joint]] = bounds
    return problem.restated(
        statements,
        model=_with_limits(problem, limits),
        duration=_duration(problem.horizon, _Sides.of(amounts, phase, "duration", "duration", 1)),
        unknowns=[unknowns[id(u)] for u in problem.all_unknowns],
    )


def _with_bounds(statement: Statement, rows: Rows, sides: _Sides) -> Statement:
    return statement.with_bounds(rows, rows.lower - sides.down, rows.upper + sides.up)


def _with_limits(problem: Problem, limits: Mapping[str, Mapping[str, tuple[float, float]]]) -> Model:
    """The model with joint limits at least as wide as the given ones, by name, for some quantities."""
    model, bodies = problem.model, []
    for body in problem.model.bodies:
        wide: dict[str, Any] = dict(vars(body.joint.limits))
        for quantity, by_joint in limits.items():
            low, high = by_joint.get(body.joint_name, (np.inf, -np.inf))
            wide[quantity] = min(low, wide[quantity][0]), max(high, wide[quantity][1])
        same = Limits(**wide) == body.joint.limits
        bodies.append(body if same else replace(body, joint=replace(body.joint, limits=Limits(**wide))))
    if all(body is before for body, before in zip(bodies, model.bodies, strict=True)):
        return model
    if problem.coordinates is not None:
        raise InputError("limits in the model of a closed chain cannot be relaxed: state them in co.bounds instead")
    return replace(model, bodies=bodies)


def _duration(horizon: Free, sides: _Sides) -> Free:
    """A duration with wider bounds; the lower one stays positive."""
    lower = max(horizon.lower - float(sides.down[0]), _LEAST * horizon.lower)
    return replace(horizon, lower=lower, upper=horizon.upper + float(sides.up[0])) if sides.any else horizon


def _unknowns(problem: Problem | Phases, amounts: Amounts) -> dict[int, Unknown | State]:
    """Unknowns by identity, with the same symbol, and the widest bounds of all phases."""
    wide: dict[int, Unknown | State] = {}
    for phase, part in problem.phases.items():
        for unknown in part.all_unknowns:
            sides = _Sides.of(amounts, phase, "unknown", unknown.name, unknown.size)
            before = wide.setdefault(id(unknown), unknown)
            if sides.any:
                lower = np.minimum(before.lower, unknown.lower - sides.down)
                wide[id(unknown)] = replace(
                    before, lower=lower, upper=np.maximum(before.upper, unknown.upper + sides.up)
                )
                object.__setattr__(wide[id(unknown)], "symbol", unknown.symbol)
    return wide
