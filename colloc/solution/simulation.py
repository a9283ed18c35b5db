"""Forward simulation of a solution under its torques, and growth of errors along the motion."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.polynomial import chebyshev

from colloc.dynamics import forward_dynamics
from colloc.errors.states import state_sizes
from colloc.model import check_forward
from colloc.problem import Problem, Slots
from colloc.problem.time_sets import WHOLE
from colloc.solution.sample import Sample
from colloc.solution.solution import Solution

_SAMPLES = 32  # samples on an interval: polynomials of lower degree are represented exactly
_ROUNDING = 1e-13  # relative size below which a number is rounding error
_LONGEST_STEP = 0.1  # largest step of the integrator, as a fraction of an interval
_NEWTON = 6  # Newton steps for the rates of states in implicit equations
_STEPS = 10  # steps of the variational equation on an interval


class Deviations(NamedTuple):
    """|simulated - predicted| joint positions, then states, at the ends of intervals, shape (intervals, n + m).

    In rad and m, states relative to their `state_sizes`; infinite from the point where the simulation fails.

    Parameters
    ----------
    whole : ndarray
        Simulated from the initial state.
    local : ndarray
        Each interval simulated from the solution's state at its start.
    """

    whole: np.ndarray
    local: np.ndarray


class _Reference(NamedTuple):
    """The motion that a solution predicts, interval by interval.

    Parameters
    ----------
    mesh : ndarray, shape (intervals + 1,) [s]
    coefficients : ndarray, shape (intervals, degree + 1, 2 n_q + 3 n + 2 m + signals)
        Of Chebyshev polynomials in 2 u - 1, with u from 0 to 1 on the interval: positions and their rates, velocities
        and accelerations, states and their rates, which are exact derivatives of each other and start at the solution's
        state; torques minus the inverse dynamics of these; signals. Rates of positions are velocities, except for
        quaternions, whose velocities follow from the positions.
    gap : ndarray, shape (intervals, n_q + n + m)
        Positions, velocities and states that the polynomials reach at the end of the interval, minus the solution's.
    size : ndarray, shape (m,)
        Sizes of the states, see `state_sizes`.
    """

    mesh: np.ndarray
    coefficients: np.ndarray
    gap: np.ndarray
    size: np.ndarray


def simulate(solution: Solution, tolerance: float) -> Deviations:
    """Integrate the torques of a solution forward, from its start and from the start of every interval.

    The integrated quantity is the deviation from the predicted motion: its rate is zero where the torques produce the
    motion, so the integrator's tolerance applies to the deviation itself. Torques are those of the solution at every
    time, with two exceptions. Joints whose torque is bounded to one value, such as passive joints, get this value.
    Joints whose torque follows from an equation along the whole path, such as muscle torques, get its value at the
    simulated state. Forces that constraints determine (`Part.constraint_equations`) follow from the simulated state.

    Parameters
    ----------
    solution : Solution
    tolerance : float
        Relative and absolute, of CVODES (variable order and step).
    """
    problem, now = solution.problem, solution.problem.instant
    n, n_q = problem.model.n, problem.model.n_q
    start = np.zeros(n_q + n + now.slots.states.shape[0])
    check_forward(problem.wrenches, now.qdd)
    torque = problem.function("model", problem.inverse_dynamics())
    if not start.size:
        nothing = np.zeros((solution.mesh_times.size - 1, 0))
        return Deviations(nothing, nothing)
    reference = _reference(solution, torque)
    step = _integrator(problem, torque, solution.duration, reference.coefficients.shape[1], tolerance)
    carried, whole, local = start, [], []
    for k, coefficients in enumerate(reference.coefficients):
        p = np.concatenate([coefficients.ravel("F"), *_fixed(solution), reference.mesh[k : k + 2]])
        local.append(_after(step, start, p) + reference.gap[k])
        # Without a deviation at the start of an interval both simulations are the same.
        carried = _after(step, carried, p) + reference.gap[k] if carried.any() else local[-1]
        whole.append(carried)
    scale, velocities = np.append(np.ones(n), reference.size), range(n_q, n_q + n)
    ends = solution.at(reference.mesh[1:]).q
    deviations = (
        np.abs(_displacements(problem, ends, np.delete(rows, velocities, axis=1))) / scale
        for rows in (np.array(whole), np.array(local))
    )
    return Deviations(*(np.where(np.isnan(part), np.inf, part) for part in deviations))


def _displacements(problem: Problem, q: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Displacements of the joints at positions q, (N, n_q), from deviations of positions and states, (N, n_q + m)."""
    model = problem.model
    if model.has_plain_velocities:
        return rows
    place, away = ca.SX.sym("q", model.n_q), ca.SX.sym("away", model.n_q)
    moves = ca.Function("moves", [place, away], list(model.velocities(place, away)))
    return np.hstack([np.array(moves(q.T, rows[:, : model.n_q].T)).T, rows[:, model.n_q :]])


def _fixed(solution: Solution) -> tuple[np.ndarray, np.ndarray]:
    """Constants and parameters."""
    return np.concatenate([np.zeros(0), *solution.constants.values()]), solution.parameters


def _after(step: ca.Function, start: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Deviation at the end of an interval; NaN where the integrator fails."""
    if np.isfinite(start).all():
        try:
            return np.array(step(x0=start, p=p)["xf"]).ravel()
        except RuntimeError:  # too many steps: the simulated motion diverges
            pass
    return np.full_like(start, np.nan)


def _reference(solution: Solution, torque: ca.Function) -> _Reference:
    mesh = solution.mesh_times
    intervals, half = mesh.size - 1, np.diff(mesh)[:, None, None] / 2
    # Chebyshev points lie inside the interval, so that a jump at an end is not sampled.
    v = chebyshev.chebpts1(_SAMPLES)
    fit = np.linalg.inv(chebyshev.chebvander(v, _SAMPLES - 1))
    times = (mesh[:-1, None] + (v + 1) * half[..., 0]).ravel()
    sample, start, end = solution.at(times), solution.at(mesh[:-1]), solution.at(mesh[1:])
    qdd = fit @ sample.qdd.reshape(intervals, _SAMPLES, -1)
    qd = _integral(qdd, half, start.qd)
    q_rate = _position_rates(solution, sample, fit, qd)
    q = _integral(q_rate, half, start.q)
    signals, states, rates = values_of_unknowns(solution, times)
    changes = fit @ rates.reshape(intervals, _SAMPLES, -1)
    y = _integral(changes, half, values_of_unknowns(solution, mesh[:-1])[1])
    ends = (q, end.q), (qd, end.qd), (y, values_of_unknowns(solution, mesh[1:])[1])
    gap = np.hstack([part.sum(axis=1) - at_end for part, at_end in ends])  # every Chebyshev polynomial is 1 at the end
    moving = [
        (chebyshev.chebvander(v, part.shape[1] - 1) @ part).reshape(times.size, -1)
        for part in (q, q_rate, qd, qdd, y, changes)
    ]
    rows, nan = [values.T for values in moving], np.nan
    columns = times[None], solution.duration, rows[0], *rows[2:4], nan, nan, nan, signals.T, nan, *rows[4:]
    needed = np.array(torque(*columns, *_fixed(solution))).T
    beyond = sample.tau - needed
    beyond[np.abs(beyond) < _ROUNDING * np.abs(needed).max(initial=0.0)] = 0.0
    inputs = fit @ np.hstack([beyond, signals]).reshape(intervals, _SAMPLES, -1)
    parts = (q, q_rate, qd, qdd, y, changes, inputs)
    padded = [np.pad(part, ((0, 0), (0, _SAMPLES + 2 - part.shape[1]), (0, 0))) for part in parts]
    coefficients = np.concatenate(padded, axis=2)
    size = np.abs(np.hstack([*moving, needed, signals])).max(axis=0)
    present = np.flatnonzero((np.abs(coefficients) > _ROUNDING * size).any(axis=(0, 2)))
    sizes = state_sizes(solution.problem, states)
    return _Reference(mesh, coefficients[:, : present.max(initial=0) + 1], gap, sizes)


def _position_rates(solution: Solution, sample: Sample, fit: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Coefficients of the rates of positions at a sample of all intervals, from those of velocities."""
    model = solution.problem.model
    if model.has_plain_velocities:
        return qd
    place, rate = ca.SX.sym("q", model.n_q), ca.SX.sym("qd", model.n)
    rates = ca.Function("rates", [place, rate], [model.position_rates(place, rate)])
    values = np.array(rates(sample.q.T, sample.qd.T)).T
    return fit @ values.reshape(qd.shape[0], fit.shape[1], -1)


def values_of_unknowns(solution: Solution, t: np.ndarray) -> tuple[np.ndarray, ...]:
    """Signals, states and rates of states at times, each shape (N, size)."""
    slots = solution.problem.instant.slots
    parts = slots.signals, slots.states, slots.state_rates
    values = solution.evaluate(lambda _: ca.vertcat(*parts, 0, 0), t)  # never a scalar
    return tuple(np.split(values, np.cumsum([part.shape[0] for part in parts]), axis=1)[:-1])


def _integral(rate: np.ndarray, half: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Coefficients of time integrals from values at the start and coefficients of rates, (interval, degree, n)."""
    integral = chebyshev.chebint(rate, lbnd=-1, axis=1) * half
    integral[:, 0] += start
    return integral


def _integrator(problem: Problem, torque: ca.Function, duration: float, size: int, tolerance: float) -> ca.Function:
    """Deviations of positions, velocities and states over one interval."""
    n, n_q, slots = problem.model.n, problem.model.n_q, problem.instant.slots
    m = slots.states.shape[0]
    acceleration = problem.function("model", forward_acceleration(problem))
    columns = np.cumsum([0, n_q, n_q, n, n, m, m, n, slots.signals.shape[0]]).tolist()
    coefficients, deviation = ca.SX.sym("coefficients", size, columns[-1]), ca.SX.sym("deviation", n_q + n + m)
    u, ends = ca.SX.sym("u"), ca.SX.sym("ends", 2)
    width = ends[1] - ends[0]
    parts = ca.vertsplit(coefficients.T @ _chebyshev_basis(2 * u - 1, size), columns)
    q, predicted, qd, qdd, y, changes, beyond, signals = parts
    instant = slots._replace(
        t=ends[0] + u * width, duration=duration, q=q, qd=qd, qdd=qdd, signals=signals, states=y, state_rates=changes
    )
    tau = torque(*instant) + beyond
    off = ca.vertsplit(deviation, [0, n_q, n_q + n, n_q + n + m])
    q, qd, y = (part + away for part, away in zip((q, qd, y), off, strict=True))
    if problem.coordinates is not None:
        q, qd, _ = problem.coordinates.motion(q, qd, qdd)
    instant = instant._replace(q=q, qd=qd, states=y)
    joints, torques = explicit_torques(problem)
    tau[joints] = torques(*instant)
    instant = constrained(problem, instant._replace(tau=tau))
    simulated = acceleration(*instant._replace(qdd=ca.SX.nan(n, 1)))
    rates = state_rate_function(problem)(*instant._replace(qdd=simulated))
    rate = width * ca.vertcat(problem.model.position_rates(q, qd) - predicted, simulated - qdd, rates - changes)
    p = ca.vertcat(ca.vec(coefficients), slots.constants, slots.parameters, ends)
    ode = {"x": deviation, "t": u, "p": p, "ode": rate}
    options = {"abstol": tolerance, "reltol": tolerance, "max_num_steps": 100_000, "max_step_size": _LONGEST_STEP}
    return ca.integrator("forward", "cvodes", ode, 0.0, 1.0, options)


def explicit_torques(problem: Problem) -> tuple[list[int], ca.Function]:
    """Joints whose torque follows from positions, velocities, states and signals; these torques as functions of slots.

    Only equations along the whole path count, each for the torque of a single joint.
    """
    torques = dict[int, ca.SX]()
    for equation in problem.torque_equations:
        if equation.window == WHOLE and np.count_nonzero(equation.slopes) == 1:
            joint = int(np.flatnonzero(equation.slopes)[0])
            torques[joint] = equation.value / equation.slopes[joint]
    return [*torques], problem.function("torques", ca.vertcat(ca.SX(0, 1), *torques.values()))


def state_rate_function(problem: Problem) -> ca.Function:
    """Rates of the states from their equations, as a function of the slots, whose rates are the initial guess."""
    slots = problem.instant.slots
    rows = ca.vertcat(ca.SX(0, 1), *(problem.rows[state.equation_name].rows.expression for state in problem.states))
    step = slots.state_rates - ca.solve(ca.jacobian(rows, slots.state_rates), rows) if problem.states else rows
    newton = problem.function("states", step)
    rates = slots.state_rates
    for _ in range(_NEWTON):
        rates = newton(*slots._replace(state_rates=rates))
    return problem.function("states", rates)


def forward_acceleration(problem: Problem) -> ca.SX:
    """Accelerations under torques and loads, in the symbols of the problem's instant, SX, shape (n,)."""
    now = problem.instant
    if not problem.model.n:
        return ca.SX(0, 1)
    if problem.coordinates is not None:
        return problem.coordinates.acceleration(now, problem.wrenches)
    return forward_dynamics(problem.model, now.q, now.qd, now.tau, problem.wrenches)


def constrained(problem: Problem, slots: Slots) -> Slots:
    """The slots with the forces that constraints determine at their positions, velocities, torques and states."""
    now = problem.instant
    rows, components = constraint_equations(problem)
    if not components:
        return slots
    forces = now.slots.signals[components]
    moved = ca.substitute(rows, now.slots.qdd, forward_acceleration(problem))
    step = ca.solve(ca.jacobian(moved, now.slots.signals)[:, components], moved)
    values = problem.function("forces", forces - step)(*slots)  # the equations are affine in the forces
    signals = ca.SX(slots.signals)
    signals[components] = values
    return slots._replace(signals=signals)


def constraint_equations(problem: Problem) -> tuple[ca.SX, list[int]]:
    """Equations of parts that determine forces, SX, (rows,), and the components of the signals with these forces."""
    now, names = problem.instant, [unknown.name for unknown in problem.signals]
    ends = np.cumsum([0, *(unknown.size for unknown in problem.signals)]).tolist()
    equations = [item for part in problem.parts for item in part.constraint_equations(now).items()]
    places = [names.index(name) for name, _ in equations]
    components = [k for place in places for k in range(ends[place], ends[place + 1])]
    return ca.vertcat(ca.SX(0, 1), *(rows for _, rows in equations)), components


def _chebyshev_basis(v: ca.SX, size: int) -> ca.SX:
    """Chebyshev polynomials T_0 .. T_(size - 1) at v."""
    values = [ca.SX(1), v]
    for _ in range(size - 2):
        values.append(2 * v * values[-1] - values[-2])
    return ca.vertcat(*values[:size])


def growth(solution: Solution) -> float:
    """Growth factor of joint errors along the motion under unchanged torques and states.

    The largest first-order factor between the ends of any two intervals, for the largest deviation of any joint, with
    velocities multiplied by the duration. About 2 for a mass that moves freely.

    The variational equation of the forward dynamics is integrated by the implicit midpoint rule. Forces that
    constraints determine change with the state.
    """
    nlp, T = solution.nlp, solution.duration
    breakpoints = nlp.grid.breakpoints
    widths = np.repeat(np.diff(breakpoints) / _STEPS, _STEPS)
    middles = (breakpoints[:-1, None] + np.diff(breakpoints)[:, None] * (np.arange(_STEPS) + 0.5) / _STEPS).ravel()
    sites = nlp.grid.anywhere(middles)
    problem, slots = solution.problem, Slots(*sites.local.arguments)
    slopes = nlp.grid.torques.slopes(slots)[-1]
    if not (n := slopes.shape[0]):
        return 1.0
    turning = ca.densify(problem.model.displacement_rates(slots.qd)) if problem.coordinates is None else ca.SX(n, n)
    slopes = ca.densify(_constrained_slopes(problem, slopes, slots))
    values, turning = sites.evaluate([slopes, ca.densify(turning)], solution.x, solution.parameters)
    # Columns by positions, velocities, and the accelerations and forces that follow.
    by_state, by_rest = np.split(values.reshape(widths.size, *slopes.shape[::-1]).swapaxes(-1, -2), [2 * n], axis=2)
    rate = np.zeros((widths.size, 2 * n, 2 * n))
    rate[:, :n, :n] = T * turning.reshape(-1, n, n).swapaxes(-1, -2)
    rate[:, :n, n:] = np.eye(n)
    rate[:, n:] = -np.linalg.solve(by_rest, by_state * np.repeat([T**2, T], n))[:, :n]
    move = widths[:, None, None] / 2 * rate
    steps = np.linalg.solve(np.eye(2 * n) - move, np.eye(2 * n) + move)
    largest, transitions = 1.0, np.zeros((0, 2 * n, 2 * n))
    for k in range(breakpoints.size - 1):
        transitions = np.concatenate([transitions, np.eye(2 * n)[None]])
        transitions = np.linalg.multi_dot(steps[k * _STEPS : (k + 1) * _STEPS][::-1]) @ transitions
        largest = max(largest, float(np.abs(transitions[:, :n]).sum(axis=2).max()))
    return largest


def _constrained_slopes(problem: Problem, slopes: ca.SX, slots: Slots) -> ca.SX:
    """Derivatives of torques, and of the equations of constraints below, by q, qd, qdd and the forces determined."""
    rows, components = constraint_equations(problem)
    if not components:
        return slopes
    now, torques = problem.instant, problem.inverse_dynamics()
    by_rates = (ca.jacobian(rows, rate) for rate in (now.slots.qd, now.slots.qdd))
    by_state = ca.horzcat(ca.jacobian(rows, now.slots.q) @ problem.model.per_displacement(now.slots.q), *by_rates)
    by_forces = ca.jacobian(ca.vertcat(torques, rows), now.slots.signals)[:, components]
    others = problem.function("constraints", ca.densify(ca.horzcat(by_state, by_forces[torques.shape[0] :, :])))
    across = problem.function("across", ca.densify(by_forces[: torques.shape[0], :]))
    return ca.vertcat(ca.horzcat(slopes, across(*slots)), others(*slots))
