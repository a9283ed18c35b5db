"""Warnings about a solution, as sentences: causes of a violation, a coarse grid, active bounds of the duration."""

from __future__ import annotations

import casadi as ca
import numpy as np

from colloc.curves.mesh import Points, points_inside
from colloc.dynamics.instant import Slots
from colloc.errors.violations import FINE, Violation
from colloc.problem import Cost, Free, Problem, Unknown
from colloc.refinement.next_grid import NARROWEST, PIECES, held_up_by_limits
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.solution.verify import near_locks
from colloc.solver import Status
from colloc.support.checks import shortened
from colloc.support.display import short

_AT_BOUND = 1e-6  # of the duration
_THROUGH = 0.3  # of its natural size, by which a row of positions is violated where a motion passes through
_VARIES = 0.15  # of a quantity's range
_OVERSHOOT = 1.0  # of half a quantity's range: a larger excess is an oscillation, not a switch
_NEAR = 0.02  # of a quantity's range: closer values are at the bound
_WHOLE = 1e-9  # less than one: scalar product of a unit quaternion and its negative
_HALF = 179.0  # degrees: from about half a turn on both ways are as long
_NAMED = 3  # intervals named in a sentence
_IDLE = 1e-6  # of a shortest time: limits of a joint that cost less do not determine it


def warning_messages(solution: Solution | PhasesSolution) -> list[str]:
    """Warnings as sentences; none for a flawless solution.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    """
    sentences = [
        f"{name}: {sentence}" if name else sentence
        for name, phase in solution.phases.items()
        for sentence in _of_phase(phase, _advice(solution, phase))
    ]
    if solution.status is Status.COARSE and not any(_causes(phase) for phase in solution.phases.values()):
        sentences.append(_sum(solution) if solution.exceeds_tolerance_in_sum else _change(solution))
    if isinstance(solution, Solution):  # in phases, connections may depend on an unknown as well
        sentences += _idle(solution.problem)
    else:
        sentences += _given_duration(solution.problem.minimize, solution.problem.horizon)
    return sentences


def _of_phase(phase: Solution, advice: str) -> list[str]:
    """Warnings about one phase, with advice about its grid."""
    sentences, tolerance = [], phase.outcome.tolerance
    if causes := _causes(phase):
        sentences.append(f"{'; '.join(causes)}: {advice}")
    if phase.status is Status.VIOLATED:
        worst = next(v for v in phase.violations if _is_bound(phase, v))
        around = _around(phase, worst)
        sentences.append(f"{_violated(phase, worst)} (tolerance {tolerance:.1%}): {around or advice}")
    if phase.outcome.status is Status.SOLVED:
        sentences += _duration(phase) + _given_duration(phase.problem.minimize, phase.problem.horizon)
        sentences += _locks(phase) + _long_ways(phase)
    return sentences


def lock_messages(solution: Solution | PhasesSolution) -> list[str]:
    """Sentences about bodies near gimbal lock, with their phases; also for motions that are no solution."""
    return [
        f"{name}: {sentence}" if name else sentence
        for name, phase in solution.phases.items()
        for sentence in _locks(phase)
    ]


def _locks(phase: Solution) -> list[str]:
    """Sentences about bodies near gimbal lock."""
    return [
        f"body {near.body!r} is {np.degrees(near.angle):.1f} degrees from gimbal lock at t = {short(near.t)} s, where "
        f"its angles ({', '.join(near.joints)}) lose a freedom, and rates and torques grow without bound: use a "
        'quaternion, as in co.floating(..., sequence="quaternion"), or balls="quaternion" of the readers'
        for near in near_locks(phase)
    ]


def _long_ways(phase: Solution) -> list[str]:
    """Sentences about ball joints that turn to a prescribed attitude by more than half a turn."""
    sentences, prescribed = [], phase.problem.prescribed_postures
    for ball, (places, _) in phase.problem.model.balls.items():
        start, end = prescribed[:, places]
        if np.isnan([start, end]).any() or abs(start @ end) > 1 - _WHOLE:
            continue  # from a quaternion to exactly its negative a whole turn is meant
        first, last = np.asarray(phase.at(np.array([0.0, phase.duration])).q)[:, places]
        shorter = 2 * np.degrees(np.arccos(min(abs(first @ last), 1.0)))
        if first @ last < 0 and shorter < _HALF:
            sentences.append(
                f"ball joint {ball!r} turns by {360 - shorter:.0f} degrees to an attitude {shorter:.0f} degrees away, "
                "as its guess does: without a guess it goes the shorter way"
            )
    return sentences


def _idle(problem: Problem) -> list[str]:
    """Sentence on unknowns of a single problem on which nothing depends."""
    unknowns = [unknown for unknown in problem.unknowns if isinstance(unknown, Unknown)]
    if not unknowns:  # most problems
        return []
    expressions = [constraint.rows.expression for constraint in problem.rows.values()]
    expressions += [fn(*problem.instant.slots) for _, fn in problem.costs.values()]
    expressions += [load.wrench for load in problem.wrenches]
    used = {symbol.element_hash() for symbol in ca.symvar(ca.veccat(ca.SX(), *expressions, *problem.model.symbols))}
    idle = [u.name for u in unknowns if not used & {symbol.element_hash() for symbol in ca.vertsplit(u.symbol)}]
    return (
        [f"no cost, constraint or load depends on {', '.join(map(repr, idle))}: any value is as good"] if idle else []
    )


def _advice(solution: Solution | PhasesSolution, phase: Solution) -> str:
    """Advice for a finer grid of a phase, or what else to try after refinement has ended."""
    if not solution.rounds:
        return f"refine, as in co.solve(..., tol={min(phase.outcome.tolerance, 1e-3):.1g})"
    error = phase.error
    count, gain = len(solution.rounds), error["cost"]
    end = f"refinement ended after {count} iterations" if count > 1 else "refinement ended with the first grid"
    if phase is solution and (idle := idle_joints(phase)):
        return f"{end}, and {idle}"
    if phase is solution and gain.total > phase.outcome.cost_tolerance and held_up_by_limits(phase):
        return f'{end}, and limits become active or inactive {_when(phase)}: try co.refine(solution, at="switches")'
    worst = max(error.sources.values(), key=lambda source: source.total).worst
    if np.diff(phase.nlp.grid.breakpoints)[worst] < NARROWEST * PIECES:
        return f"{end}, with the narrowest useful intervals: use smoother functions there, or more time"
    return f"{end}, as finer grids gave no improvement: try other starts, as with co.refinement.SeekStarts(20)"


def idle_joints(solution: Solution) -> str:
    """A sentence about joints whose limits do not determine a shortest time, if there are such; what to do about it.

    The optimum leaves their motion open, or would have torques without bound there, which no grid resolves.
    """
    problem = solution.problem
    optimal = solution.outcome.status in (Status.SOLVED, Status.TIME_LIMIT)  # the limit of a refinement
    if not (optimal and problem.minimize.terms and problem.minimize.is_duration):
        return ""
    from colloc.optimality.limits import limits_of  # few solves need this import

    multipliers = np.abs(np.concatenate([solution.multipliers["g"], solution.multipliers["x"]]))
    saved: dict[str, float] = {}  # by widening the joint's limits by their natural sizes [s]
    for limit in limits_of(solution.nlp, problem):
        if limit.joint and not limit.prescribed and np.isfinite(limit.bound):
            saved[limit.joint] = saved.get(limit.joint, 0.0) + float(multipliers[limit.entries].sum()) * limit.size
    idle = [joint for joint, seconds in saved.items() if seconds < _IDLE * solution.duration]
    if not idle:
        return ""
    first = problem.model.joint_names.index(idle[0])
    torque = f"{short(float(np.abs(solution.tau[:, first]).max()))} {problem.model.torque_units[first]}"
    return (
        f"no limit of {shortened(idle, most=3)} determines the shortest time (torque of {idle[0]} up to {torque}), so "
        "that the motion there is open or without bound: add a small price, as in co.duration() + 1e-6 * "
        "co.integral(lambda now: ca.sumsqr(now.tau)), or the limits of its motor"
    )


def _when(phase: Solution) -> str:
    """Times of the intervals with most of the gain by limits that should be reached, at most three."""
    t, limits = phase.error.t, phase.error["cost"].limits
    largest = np.sort(np.argsort(-limits)[:_NAMED])
    most = largest[limits[largest] > limits.max() / 10]
    return f"near t = {', '.join(short(float(t[k] + t[k + 1]) / 2) for k in most)} s"


def _causes(phase: Solution) -> list[str]:
    """Reasons why the grid of a phase is too coarse, as sentences; none if it is not.

    The distance of the cost from the best, which may take as long as the solve, is not estimated for invalid motions.
    """
    if phase.status is not Status.COARSE:
        return []
    error, outcome, causes = phase.error, phase.outcome, []
    judges_cost = outcome.judges_cost and error.motion_error <= outcome.tolerance
    for name in error.deferred:
        if name == "bounds" or (name == "cost" and not judges_cost):
            continue
        source, tolerance = error[name], outcome.cost_tolerance if name == "cost" else outcome.tolerance
        if source.total > tolerance:
            causes.append(f"{source.described(error.t)}, tolerance {tolerance:.1g}")
    return causes


def _given_duration(cost: Cost, horizon: Free) -> list[str]:
    """A warning about a cost of a fixed duration."""
    if horizon.lower < horizon.upper or not any(term.fn is None and term.weight for term in cost.terms):
        return []
    return [
        f"the cost contains the duration, which is fixed at {short(horizon.upper)} s and has no effect: leave "
        "it free, as in duration=co.Free(lower, upper), or out of the cost"
    ]


def _change(solution: Solution | PhasesSolution) -> str:
    """A warning about a cost that has not converged."""
    change = f"the cost changed by {solution.cost_change:.1e} of its size in the last refinement iteration"
    if len(solution.rounds) == 1:
        change = "no finer grid gave an optimum that confirms the cost"
    worst = max(solution.phases.values(), key=lambda phase: phase.error["cost"].total)
    return f"{change}, tolerance {solution.outcome.tolerance:.1g}: {_advice(solution, worst)}"


def _sum(solution: Solution | PhasesSolution) -> str:
    """A warning about errors that are only together too large."""
    error, tolerance = solution.judged_error, solution.outcome.tolerance
    parts = ", ".join(f"{name} {total:.1e}" for name, total in error.totals.items() if total > tolerance / 100)
    worst = max(solution.phases.values(), key=lambda phase: float(phase.judged_error))
    said = f"errors between nodes add up to {float(error):.1e} ({parts}), tolerance {tolerance:.1g}"
    return f"{said}: {_advice(solution, worst)}"


def _is_bound(solution: Solution, violation: Violation) -> bool:
    rows = solution.problem.rows[violation.constraint].rows
    k = rows.labels.index(violation.row)
    return bool(rows.lower[k] < rows.upper[k])


def _violated(solution: Solution, worst: Violation) -> str:
    """A violation with its cause: a switch within an interval, or a bound exceeded between nodes."""
    grid = solution.nlp.grid
    k = int(grid.basis.interval(np.array([worst.t / solution.duration]))[0])
    start, end = grid.breakpoints[k : k + 2] * solution.duration
    if worst.constraint == "tau bounds" and worst.relative < _OVERSHOOT and _switches(solution)[k]:
        joint = worst.row.removeprefix("tau[").removesuffix("]")
        excess, deviation = _clipped(solution, k, solution.problem.model.joint_names.index(joint))
        over = np.count_nonzero(excess) * (end - start) / FINE
        return (
            f"{joint} torque switches in interval {k} (t = {short(start)} .. {short(end)} s), {worst} over for "
            f"{short(1e3 * over)} ms; with the torque clipped, {joint} deviates by {short(deviation)}"
        )
    share = f"{worst.relative:.1%} of" if worst.relative < 10 else f"{worst.relative:.0f} times"
    size = f"its natural size, {worst.in_unit(worst.size)}"
    return f"{worst.row} is violated between nodes by {worst} at t = {short(worst.t)} s, {share} {size}"


def _around(solution: Solution, worst: Violation) -> str:
    """Advice for a motion that passes through an obstacle between two nodes; empty if it does not."""
    rows = solution.problem.rows[worst.constraint]
    if worst.relative < _THROUGH or rows.constraint.bounded_joints(solution.problem.model):
        return ""
    slots = rows.function.sx_in()
    others = [symbol for name, symbol in zip(Slots._fields * 2, slots, strict=False) if name not in ("q", "states")]
    if ca.depends_on(rows.function.call(slots)[0], ca.vertcat(*others)):
        return ""
    return (
        "the motion passes through between two nodes, from where no small change leads around: give a guess that does, "
        "as in guess=co.keyframes({0: start, 0.5: beside, 1: end})"
    )


def _clipped(solution: Solution, interval: int, joint: int) -> tuple[np.ndarray, float]:
    """Torque beyond a joint's limits on the fine grid of an interval, and the deviation of the joint without it."""
    problem, grid = solution.problem, solution.nlp.grid
    start, end = grid.breakpoints[interval : interval + 2]
    u = np.linspace(0, 1, FINE + 1)
    sites = grid.on(Points(start + (end - start) * u, np.full(u.size, interval)))
    torque = problem.function("model", problem.instant.tau)
    arguments = sites.local.arguments
    N, _, slopes = grid.torques.slopes(arguments)
    m = N.shape[1]
    wanted = [torque(*arguments)[joint], N[joint, :], slopes[:, 2 * m :]]
    tau, moves, M = sites.evaluate(wanted, solution.x, solution.parameters)
    tau, M = tau[:, 0], M.reshape(u.size, m, m)
    lower, upper = (side[joint] for side in problem.limits("tau"))
    excess = np.maximum(lower - tau, 0) - np.maximum(tau - upper, 0)
    force = (moves * excess[:, None])[..., None]
    acceleration = (moves[:, None] @ np.linalg.pinv(M, hermitian=True) @ force)[:, 0, 0]
    h = (end - start) * solution.duration
    return excess, abs(float(np.sum(acceleration * (1 - u)) / FINE * h**2))


def _duration(solution: Solution) -> list[str]:
    """A warning about a free duration at one of its bounds."""
    horizon, T = solution.problem.horizon, solution.duration
    if horizon.lower == horizon.upper:
        return []
    for name, bound in (("lower", horizon.lower), ("upper", horizon.upper)):
        if abs(T - bound) <= _AT_BOUND * bound:
            limited = any(np.isfinite(solution.problem.limits(k)).any() for k in ("qd", "qdd", "tau"))
            reason = (
                ""
                if limited or name == "upper"
                else (
                    ", and no torque, velocity or acceleration is bounded: add limits, as in co.bounds(tau=(-10, 10))"
                )
            )
            return [f"the duration ended at its {name} bound, {short(bound)} s{reason}"]
    return []


def _switches(solution: Solution) -> np.ndarray:
    """Mask of intervals in or next to which a quantity leaves or reaches a bound, shape (intervals,)."""
    problem, grid = solution.problem, solution.nlp.grid
    intervals, u = grid.basis.intervals, np.linspace(0.02, 0.98, 7)
    sample = solution.at(points_inside(grid.breakpoints, u).s * solution.duration)
    switches = np.zeros(intervals, dtype=bool)
    for quantity in ("qd", "qdd", "tau"):
        lower, upper = problem.limits(quantity)
        limited = np.isfinite(lower) & np.isfinite(upper) & (lower < upper)
        values = getattr(sample, quantity)[:, limited].reshape(intervals, u.size, -1)
        span = (upper - lower)[limited]
        near = _NEAR * span
        at_bound = ((values > upper[limited] - near) | (values < lower[limited] + near)).any(axis=1)
        low, high = values.min(axis=1), values.max(axis=1)
        # Two neighbours and the jump between them are checked together.
        varies = np.maximum(high[1:], high[:-1]) - np.minimum(low[1:], low[:-1]) > _VARIES * span
        both = varies & (at_bound[1:] | at_bound[:-1])
        inside = (high - low > _VARIES * span) & at_bound
        switches |= inside.any(axis=1)
        switches[1:] |= both.any(axis=1)
        switches[:-1] |= both.any(axis=1)
    return switches
