"""The program of a receding horizon: its start is the measured state, and its first torques are rows of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.problem import Instant, Parameter, Problem, Statement, at
from colloc.solution import Solution

START, TORQUE, MEASURED = "start of the horizon", "torque of the tick", "measured_state"
_FREE = 1e20  # a bound that is none
_SAMPLES, _START = 5, 1e4  # times for every control point, and weight of the state at the start


class Shift(NamedTuple):
    """A linear map of some control points to those of the same motion a tick later.

    Parameters
    ----------
    index : ndarray of int, shape (points, size)
    map : ndarray, shape (points, points)
    """

    index: np.ndarray
    map: np.ndarray


def from_measured_state(problem: Problem, when: float) -> Problem:
    """A problem with the state of its start as rows, in place of the values that it states there, and first torques.

    Parameters
    ----------
    problem : Problem
    when : float
        Time of the torques, as a fraction of the duration.
    """
    kept = [statement for statement in problem.statements if not _is_of_start(problem, statement)]
    names = [f"initial {name}" for name in state_names(problem)]
    start = at(0.0, _beyond_measured, equals=0.0, scale=1.0, name=START, labels=names)
    torque = at(when, _torque, lower=-_FREE, upper=_FREE, scale=1.0, name=TORQUE, unit="N m")
    measured = Parameter(MEASURED, _first_state(problem))
    return problem.restated([*kept, start, torque], parameters=[*problem.all_parameters, measured])


def _beyond_measured(now: Instant) -> ca.SX:
    return ca.vertcat(now.q, now.qd, *now.states.values()) - now.parameters[MEASURED]


def _torque(now: Instant) -> ca.SX:
    return now.tau


def state_names(problem: Problem) -> list[str]:
    """Names of the entries of a state: positions, velocities, `State` unknowns."""
    model = problem.model
    states = [label for state in problem.states for label in state.labels]
    return [f"q[{name}]" for name in model.position_names] + [f"qd[{name}]" for name in model.joint_names] + states


def _first_state(problem: Problem) -> np.ndarray:
    """Values that a problem states at the start, zeros where it states none."""
    sizes = {"q": problem.model.n_q, "qd": problem.model.n} | {state.name: state.size for state in problem.states}
    values = {name: np.zeros(size) for name, size in sizes.items()}
    for end in (end for ends in problem.end_values.values() for end in ends):
        if end.s == 0 and end.quantity in values:
            values[end.quantity][end.index] = end.value
    return np.concatenate([*values.values()])


def _is_of_start(problem: Problem, statement: Statement) -> bool:
    """Whether all rows of a statement are values at the start."""
    ends = statement.end_values(problem.instant)
    return bool(ends) and all(end.s == 0 for end in ends)


def shifts(plan: Solution, tick: float) -> list[Shift]:
    """Maps of the control points of a plan to those a tick later; the motion stays at its end.

    The curve a tick later has other breakpoints. It is the nearest one at many times, with second derivatives, as
    torques depend on them, and with the state at the start.
    """
    grid, later = plan.nlp.grid, tick / plan.duration
    maps = []
    for name, basis in grid.splines.items():
        index = grid.layout[name]
        if index.size:
            s = np.linspace(0.0, 1.0, _SAMPLES * basis.size)
            weights = {0: basis.intervals**2.0, 2: 1.0} if basis.degree > 2 else {0: 1.0}
            start = _START * basis.intervals**2.0
            rows = [(weight, _values(basis, s, order)) for order, weight in weights.items()]
            rows += [(start / basis.intervals**order, _values(basis, s[:1], order)) for order in (0, 1)[: basis.degree]]
            moved = [(weight, _values(basis, s + later, order)) for order, weight in weights.items()]
            moved += [(start / basis.intervals**k, _values(basis, s[:1] + later, k)) for k in (0, 1)[: basis.degree]]
            wanted, there = (np.concatenate([weight * row for weight, row in part]) for part in (rows, moved))
            maps.append(Shift(index, np.linalg.lstsq(wanted, there)[0]))
    return maps


def _values(basis: Any, s: np.ndarray, order: int) -> np.ndarray:
    """Derivatives of all basis functions, shape (N, size); beyond the end, values stay and derivatives vanish."""
    inside = np.minimum(s, 1.0)
    seen = basis.first[basis.interval(inside)][:, None] + np.arange(basis.degree + 1)
    values = np.zeros((s.size, basis.size))
    np.put_along_axis(values, np.minimum(seen, basis.size - 1), basis.values(inside, order), axis=1)
    return values if order == 0 else values * (s <= 1.0)[:, None]


def times_of_variables(plan: Solution) -> np.ndarray:
    """Normalised time near which every variable acts, shape (n_x,); infinite for those of the whole motion."""
    times = np.full(plan.nlp.n_x, np.inf)
    for motion in plan.nlp.motions:
        layout = motion.grid.layout
        for name, basis in motion.grid.splines.items():
            index = layout[name] - layout.offset + motion.part.start
            times[index] = basis.greville()[:, None]
    return times


def row_times(plan: Solution) -> np.ndarray:
    """Normalised time of every row, shape (n_g,)."""
    blocks = plan.nlp.constraints
    return np.concatenate([np.zeros(0), *(np.repeat(block.sites.s, block.n_rows) for block in blocks)])


def rows_of(plan: Solution, name: str) -> np.ndarray:
    """Rows of a constraint."""
    blocks = zip(plan.nlp.constraints, plan.nlp.offsets, plan.nlp.offsets[1:], strict=False)
    return np.concatenate([np.zeros(0, int), *(np.arange(a, b) for block, a, b in blocks if block.name == name)])


def place_order(times: np.ndarray, equations: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Places of variables and of equations in the order of time, an equation after its variables.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Of every variable.
    equations : sequence of ndarray
        Variables of every equation.
    """
    local = [seen[np.isfinite(times[seen])] for seen in equations]
    last = np.array([times[seen].max() if seen.size else np.inf for seen in local])
    both = np.concatenate([times, last])
    order = np.lexsort((np.repeat([0, 1], [times.size, last.size]), both))
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.arange(order.size)
    return place[: times.size], place[times.size :]
