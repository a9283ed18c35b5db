"""The program of a receding horizon: its start is the measured state, and its first torques are rows of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.model import Model
from colloc.model.ball import relative_turn
from colloc.problem import Instant, Parameter, Problem, Statement, at
from colloc.problem.statement import Restated
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError

START, TORQUE, MEASURED = "start of the horizon", "torque of the tick", "measured_state"
_FREE = 1e20  # a bound that is none
_SAMPLES, _START = 5, 1e4  # times for every control point, and weight of the state at the start
_FOLLOWS = 1e-6  # part of an equation's gradient that the state at the start does not determine, relative

Plan = Solution | PhasesSolution


class Shift(NamedTuple):
    """A linear map of some control points to those of the same motion a tick later.

    Parameters
    ----------
    index : ndarray of int, shape (points, size)
    map : ndarray, shape (points, points)
    """

    index: np.ndarray
    map: np.ndarray


def from_measured_state(problem: Problem, when: float, parameters: Sequence[Parameter] = ()) -> Problem:
    """A problem with the state of its start as rows, in place of the values that it states there, and first torques.

    Joints that depend on others, and lengths of quaternions, have no rows.

    Parameters
    ----------
    problem : Problem
    when : float
        Time of the torques, as a fraction of the duration.
    parameters : sequence of Parameter, optional
        All parameters, the measured state at the end; by default those of the problem, and the values of its start.
    """
    kept = [
        Restated(item) if any(end.s == 0 for end in item.end_values(problem.instant)) else item  # fixes no variable
        for item in problem.statements
        if not is_of_start(problem, item)
    ]
    parameters = parameters or [*problem.all_parameters, Parameter(MEASURED, first_state(problem))]
    names = [f"initial {name}" for name in measured_names(problem)]
    start = at(0.0, partial(_beyond_measured, problem), equals=0.0, scale=1.0, name=START, labels=names)
    torque = at(when, _torque, lower=-_FREE, upper=_FREE, scale=1.0, name=TORQUE, unit="N m")
    return problem.restated([*kept, start, torque], parameters=parameters)


def _beyond_measured(problem: Problem, now: Instant) -> ca.SX:
    """Differences from the measured state, of quaternions as turns."""
    measured = now.parameters[MEASURED]
    difference = ca.vertcat(now.q, now.qd, *now.states.values()) - measured
    turns = [2 * relative_turn(measured[places], now.q[places]) for places, _ in problem.model.balls.values()]
    positions, others = _rows(problem)
    return ca.vertcat(difference[positions], *turns, difference[others])


def _rows(problem: Problem) -> tuple[list[int], list[int]]:
    """Entries of a state that have rows at the start: positions outside quaternions, then velocities and states."""
    model, states = problem.model, sum(state.size for state in problem.states)
    inside = inside_balls(model)
    coordinates, still = problem.coordinates, held_joints(problem)
    places = range(model.n_q) if coordinates is None else coordinates.independent
    joints = range(model.n) if coordinates is None else coordinates.independent
    moving = (model.n_q + j for j in joints if model.joint_names[j] not in still)
    others = [*moving, *range(model.n_q + model.n, model.n_q + model.n + states)]
    return [k for k in places if not inside[k] and model.position_names[k] not in still], others


def inside_balls(model: Model) -> np.ndarray:
    """Mask of the positions that belong to quaternions, shape (n_q,)."""
    inside = np.zeros(model.n_q, dtype=bool)
    for places, _ in model.balls.values():
        inside[places] = True
    return inside


def held_joints(problem: Problem) -> list[str]:
    """Joints that equal bounds on their position hold in place."""
    lower, upper = problem.limits("q")
    return [name for name, a, b in zip(problem.model.position_names, lower, upper, strict=True) if a == b]


def _torque(now: Instant) -> ca.SX:
    return now.tau


def state_names(problem: Problem) -> list[str]:
    """Names of the entries of a state: positions, velocities, `State` unknowns."""
    model = problem.model
    states = [label for state in problem.states for label in state.labels]
    return [f"q[{name}]" for name in model.position_names] + [f"qd[{name}]" for name in model.joint_names] + states


def measured_names(problem: Problem) -> list[str]:
    """Names of the rows of the start, which are the columns of feedback gains."""
    model, names, (positions, others) = problem.model, state_names(problem), _rows(problem)
    turns = [f"turn[{name}]" for _, dofs in model.balls.values() for name in model.joint_names[dofs]]
    return [*(names[k] for k in positions), *turns, *(names[k] for k in others)]


def first_state(problem: Problem) -> np.ndarray:
    """Values that a problem states at the start, else guesses of states and joints that are still, within bounds."""
    rest = {"q": problem.model.neutral, "qd": np.zeros(problem.model.n)}
    values = {name: np.clip(value, *problem.limits(name)) for name, value in rest.items()}
    values |= {state.name: np.clip(state.guess, state.lower, state.upper) for state in problem.states}
    for end in (end for ends in problem.end_values.values() for end in ends):
        if end.s == 0 and end.quantity in values:
            values[end.quantity][end.index] = end.value
    return np.concatenate([*values.values()])


def is_of_start(problem: Problem, statement: Statement) -> bool:
    """Whether all rows of a statement are values of the state at the start."""
    ends = statement.end_values(problem.instant)
    if not ends or any(end.s != 0 for end in ends) or len(ends) < len(statement.rows(problem.instant).labels):
        return False
    if other := [end.quantity for end in ends if end.quantity in ("qdd", "tau")]:
        raise InputError(
            f"{statement.name!r} prescribes {other[0]} at the start, and a controller measures positions and "
            f"velocities alone: leave it out, or state co.at(0.0, lambda now: now.{other[0]}, equals=...)"
        )
    return True


def shifts(plan: Plan, tick: float) -> list[Shift]:
    """Maps of the control points of a plan to those a tick later; the motion stays at its end. None for phases.

    The curve a tick later has other breakpoints. It is the nearest one at many times, with second derivatives, as
    torques depend on them, and with the state at the start.
    """
    (motion, *others), maps = plan.nlp.motions, []
    for name, basis in motion.grid.splines.items() if not others else ():
        index = motion.grid.layout[name]
        if index.size:
            maps.append(Shift(index, moved(basis, tick / plan.duration, 1.0)))
    return maps


def moved(basis: Any, later: float, width: float, *, goes_on: bool = False) -> np.ndarray:
    """The map of control points to those of a part of the motion, as a motion on the same breakpoints.

    Parameters
    ----------
    basis : SplineBasis
    later, width : float
        Start and width of the part, in normalised time; beyond the end values stay.
    goes_on : bool
        Whether values beyond the end go on with the slope there instead.
    """
    s = np.linspace(0.0, 1.0, _SAMPLES * basis.size)
    weights = {0: basis.intervals**2.0, 2: 1.0} if basis.degree > 2 else {0: 1.0}
    start, ends = _START * basis.intervals**2.0, (0, 1)[: basis.degree]
    rows = [(weight, values_of(basis, s, order)) for order, weight in weights.items()]
    rows += [(start / basis.intervals**order, values_of(basis, s[:1], order)) for order in ends]
    t = later + width * s
    there = [(weight, width**order * values_of(basis, t, order, goes_on)) for order, weight in weights.items()]
    there += [(start / basis.intervals**k, width**k * values_of(basis, t[:1], k, goes_on)) for k in ends]
    wanted, at = (np.concatenate([weight * row for weight, row in part]) for part in (rows, there))
    return np.linalg.lstsq(wanted, at)[0]


def values_of(basis: Any, s: np.ndarray, order: int, goes_on: bool = False) -> np.ndarray:
    """Derivatives of all basis functions, shape (N, size); beyond the end, values stay or go on with their slope."""
    inside = np.minimum(s, 1.0)
    seen = basis.first[basis.interval(inside)][:, None] + np.arange(basis.degree + 1)
    values = np.zeros((s.size, basis.size))
    np.put_along_axis(values, np.minimum(seen, basis.size - 1), basis.values(inside, order), axis=1)
    if goes_on and basis.degree and order < 2:
        slope = values_of(basis, np.ones(1), 1)
        return values + ((s - inside)[:, None] * slope if order == 0 else 0.0)
    return values if order == 0 else values * (s <= 1.0)[:, None]


def times_of_variables(plan: Plan) -> np.ndarray:
    """Time near which every variable acts, in phases, shape (n_x,); constants act at the start of a phase.

    Infinite for the constants of a motion without phases.
    """
    times = np.full(plan.nlp.n_x, np.inf)
    for k, motion in enumerate(plan.nlp.motions):
        layout = motion.grid.layout
        if len(plan.nlp.motions) > 1:
            times[motion.part] = k
        for name, basis in motion.grid.splines.items():
            index = layout[name] - layout.offset + motion.part.start
            times[index] = k + basis.greville()[:, None]
    return times


def row_times(plan: Plan) -> np.ndarray:
    """Time of every row, in phases, shape (n_g,); links belong to the end of the first phase."""
    nlp, phases = plan.nlp, list(plan.nlp.phases)
    begins = [phases.index(nlp.owners[block]) if block in nlp.owners else 1 for block in nlp.constraints]
    blocks = zip(nlp.constraints, begins, strict=True)
    return np.concatenate([np.zeros(0), *(np.repeat(k + block.sites.s, block.n_rows) for block, k in blocks)])


def durations_of(plan: Plan) -> np.ndarray:
    """Entries of the decision vector that are durations of phases."""
    layouts = ((motion.grid.layout, motion.part.start) for motion in plan.nlp.motions)
    return np.concatenate([layout.duration - layout.offset + start for layout, start in layouts])


def determined_by_start(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Masks of rows and variables at the start that the measured state determines, shapes (n_g,), (n_x,).

    Such as velocities, and the equations of a loop or of a foot that stays. Equations would be redundant together with
    the rows of the start, or contradict a state that is measured with noise; limits may be exceeded by the state.
    """
    nlp, start = plan.nlp, rows_of(plan, START)
    rows, variables = np.flatnonzero(row_times(plan) == 0), np.flatnonzero(times_of_variables(plan) == 0)
    jacobian = nlp.jac_g(plan.x, plan.parameters)[1]
    at_start, others = (np.array(jacobian[some.tolist(), :]) * nlp.scale_x * nlp.free for some in (start, rows))
    _, sizes, known = np.linalg.svd(at_start, full_matrices=False)
    known = known[sizes > _FOLLOWS * sizes.max(initial=0.0)]
    masks = []
    for size, some, slope in ((nlp.n_g, rows, others), (nlp.n_x, variables, np.eye(nlp.n_x)[variables])):
        beyond = np.linalg.norm(slope - (slope @ known.T) @ known, axis=1)
        mask = np.zeros(size, dtype=bool)
        mask[some] = beyond <= _FOLLOWS * np.linalg.norm(slope, axis=1)
        masks.append(mask)
    return masks[0], masks[1]


def rows_of(plan: Plan, name: str) -> np.ndarray:
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
