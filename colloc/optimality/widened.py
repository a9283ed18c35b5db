"""Problems restated with wider limits: what was prescribed becomes an interval, a bound moves outwards."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.model import Limits, Model
from colloc.optimality.limits import Kind, LimitPlace, stated_across
from colloc.problem import (
    Bounds,
    Condition,
    Constraint,
    EndState,
    Free,
    Impact,
    Instant,
    JointBounds,
    Problem,
    Rows,
    Sequence,
    State,
    Unknown,
)
from colloc.problem.time_sets import WHOLE
from colloc.support.checks import InputError, InputWarning

LIMITED = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque"}
_LEAST = 0.01  # of the lower bound of a duration, that is left of it

Amounts = Mapping[LimitPlace, tuple[float, float]]  # by which a lower bound falls, and an upper one rises


def widened(problem: Problem | Sequence, amounts: Amounts) -> Problem | Sequence:
    """The problem with wider limits; what is not named stays as it is.

    Raises
    ------
    InputError
        For joint limits in the model of a closed chain whose loops are solved at every instant.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # which have been given for the problem as it was stated
        return _widened(problem, amounts)


def _widened(problem: Problem | Sequence, amounts: Amounts) -> Problem | Sequence:
    unknowns = _unknowns(problem, amounts)
    if isinstance(problem, Problem):
        return _phase(problem, "", amounts, unknowns)
    # Making a sequence gives its phases the impulses once more.
    without = [id(item.unknown) for item in problem.subject_to if isinstance(item, Impact)]
    phases = {name: _phase(phase, name, amounts, unknowns, without) for name, phase in problem.phases.items()}
    names = {id(item): name for name, item in stated_across(problem).items()}
    items, duration = [], problem.duration
    for item in problem.subject_to:
        if isinstance(item, Condition):
            rows = problem.rows[names[id(item)]].rows
            item = _condition(item, rows, _Sides.of(amounts, "", "row", names[id(item)], rows.lower.size))
        items.append(item)
    if isinstance(duration, Free):
        duration = _duration(duration, _Sides.of(amounts, "", "row", names[id(None)], 1))
    return replace(problem, phases=phases, subject_to=items, duration=duration)


class _Sides(NamedTuple):
    """By how much the bounds under one name move outwards, each ndarray, shape (r,)."""

    down: np.ndarray
    up: np.ndarray

    @classmethod
    def of(cls, amounts: Amounts, phase: str, kind: Kind, name: str, size: int) -> _Sides:
        pairs = [amounts.get(LimitPlace(phase, kind, name, r), (0.0, 0.0)) for r in range(size)]
        return cls(*np.array(pairs, dtype=float).reshape(-1, 2).T)

    @property
    def any(self) -> bool:
        """Whether anything moves."""
        return bool(self.down.any() or self.up.any())

    def take(self, chosen: Any) -> _Sides:
        """Those of some rows."""
        return _Sides(self.down[chosen], self.up[chosen])


def _phase(
    problem: Problem,
    phase: str,
    amounts: Amounts,
    unknowns: Mapping[int, Unknown | State],
    without: Collection[int] = (),
) -> Problem:
    """One phase, with other unknowns in place of those with these identities, and some left out."""
    conditions: list[Constraint] = []
    stated = [constraint for constraint in problem.statements if not isinstance(constraint, Bounds)]
    for constraint, (name, entry) in zip(stated, problem.rows.items(), strict=False):
        sides = _Sides.of(amounts, phase, "row", name, entry.rows.lower.size)
        if isinstance(constraint, EndState):
            conditions += _end_state(constraint, entry.rows, problem, sides)
        else:
            conditions.append(_condition(constraint, entry.rows, sides))
    model, bounds = _bounds(problem, phase, amounts)
    return problem.restated(
        [*conditions, *bounds],
        model=model,
        duration=_duration(problem.horizon, _Sides.of(amounts, phase, "duration", "duration", 1)),
        unknowns=[unknowns[id(u)] for u in problem.all_unknowns if id(u) not in without],
    )


def _condition(condition: Condition, rows: Rows, sides: _Sides) -> Condition:
    """A condition with other bounds, measured by the same size."""
    if not sides.any:
        return condition
    return replace(condition, lower=rows.lower - sides.down, upper=rows.upper + sides.up, scale=rows.scale)


def _end_state(state: EndState, rows: Rows, problem: Problem, sides: _Sides) -> list[Constraint]:
    """An end state without the values that become intervals, which are conditions at that time."""
    wide = np.flatnonzero((sides.down > 0) | (sides.up > 0))
    if not wide.size:
        return [state]
    values: dict[str, dict[str, float]] = {}
    joints = state.joint_values(problem.model)
    for row, (quantity, joint, value) in enumerate(joints):
        if row not in wide:
            values.setdefault(quantity, {})[problem.model.names(quantity)[joint]] = value
    components, of_states = state.state_values(problem.instant.states), dict(state.states)
    for row, (name, _, _) in enumerate(components, len(joints)):
        if row in wide:  # all components of a state are stated together
            of_states.pop(name, None)
    left = [row for row, (name, _, _) in enumerate(components, len(joints)) if name not in of_states]
    chosen = np.union1d(wide, left).astype(int)
    units, labels = ([names[k] for k in chosen] for names in (rows.units, rows.labels))
    interval = Condition(
        state.name, partial(_values, state=state, chosen=chosen.tolist()), rows.lower[chosen], rows.upper[chosen],
        state.where, rows.scale[chosen], units, tuple(labels),
    )  # fmt: skip
    interval = _condition(interval, rows.take(chosen.tolist()), sides.take(chosen))
    return [replace(state, values=values, states=of_states), interval] if values or of_states else [interval]


def _values(now: Instant, state: EndState, chosen: list[int]) -> ca.SX:
    return state.rows(now).expression[chosen]


def _bounds(problem: Problem, phase: str, amounts: Amounts) -> tuple[Model, list[Bounds]]:
    """All bounds on joints, those of the model among them, and the model with limits as wide as these."""
    bounds: list[Bounds] = []
    limits: dict[str, Mapping[str, tuple[float, float]]] = {}
    for name, entry in problem.rows.items():
        joint_bounds = entry.constraint
        if not isinstance(joint_bounds, JointBounds):
            continue
        quantity, sides = joint_bounds.quantity, _Sides.of(amounts, phase, "row", name, entry.rows.lower.size)
        names = [problem.model.names(quantity)[j] for j in joint_bounds.joints]
        pairs = zip((joint_bounds.lower - sides.down).tolist(), (joint_bounds.upper + sides.up).tolist(), strict=True)
        by_joint: Any = dict(zip(names, pairs, strict=True))
        bounds.append(Bounds({quantity: by_joint}, joint_bounds.where))
        if quantity in LIMITED and joint_bounds.where == WHOLE and sides.any:
            limits[LIMITED[quantity]] = by_joint
    return _with_limits(problem, limits), bounds


def _with_limits(problem: Problem, limits: Mapping[str, Mapping[str, tuple[float, float]]]) -> Model:
    """The model with joint limits no narrower than those of joints by their names, for some quantities."""
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
        raise InputError("limits in the model of a closed chain cannot be widened here: state them in co.bounds")
    return replace(model, bodies=bodies)


def _duration(horizon: Free, sides: _Sides) -> Free:
    """A duration with other bounds, of which the lower one stays positive."""
    lower = max(horizon.lower - float(sides.down[0]), _LEAST * horizon.lower)
    return replace(horizon, lower=lower, upper=horizon.upper + float(sides.up[0])) if sides.any else horizon


def _unknowns(problem: Problem | Sequence, amounts: Amounts) -> dict[int, Unknown | State]:
    """Every unknown by its identity, with its own symbol, and bounds as wide as any phase wants them."""
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
