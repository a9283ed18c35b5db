"""Motions from rest in one posture to rest in another, as fast as the limits allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.model import Model
from colloc.problem import Cost, Free, Instant, Problem, final, initial, integral
from colloc.problem import duration as time
from colloc.support.checks import InputError, finite_array, instance, spelt
from colloc.transcription.time_optimal_line import TimeOptimalLine, share_lines, time_optimal_line

# Joints that do not limit the time of a time-optimal motion are free to chatter. Squared accelerations at this weight
# settle them; on industrial arms it lengthens motions by 0 to 0.03 %.
_TIE_BREAK = 3e-5
# With the straight line's duration as upper bound, a search would have no room, and a coarse curve no feasible motion.
_ROOM = 1.2


@spelt
def point_to_point(
    model: Model, start: Any, end: Any, *, duration: Free | float | None = None, minimize: Cost | None = None
) -> Problem:
    """The motion from rest to rest between two postures, within the limits of the model.

    Parameters
    ----------
    model : Model
        With limits of velocity, acceleration or torque on its joints, see `Limits`.
    start, end : shape (n_q,) [rad, m]
        With unit quaternions. A ball joint makes at most half a turn, whatever their signs, unless the end has exactly
        the negative quaternion of the start: then it makes a whole turn.
    duration : Free or float, optional [s]
        By default free, up to slightly more than the duration of the straight line within the limits. A curve with few
        intervals may need more; `TimeOptimalLine.breakpoints` gives a mesh that does not.
    minimize : Cost, optional
        By default the duration, plus squared accelerations with a weight so small that they only determine joints which
        do not limit the time. With a given duration, squared accelerations. Any other cost needs a duration.

    Returns
    -------
    Problem
        Add constraints as in any problem: ``replace(problem, subject_to=[*problem.subject_to, more])``.

    Raises
    ------
    InputError
        For postures of the wrong shape, outside the limits, or equal. Without a duration also if the straight line
        cannot be timed: nothing limits the speed, or torques cannot hold the mechanism somewhere on it.

    See Also
    --------
    Problem : Motion problems in general.

    Examples
    --------
    >>> from colloc.models.panda import panda
    >>> start, end = (0, 0, 0, -1.5, 0, 1.5, 0), (1, 0.3, 0, -1.5, 0, 1.8, 0)
    >>> move = co.transcription.point_to_point(panda(), start, end)
    >>> round(co.solve(move, co.BSpline(12)).duration, 2)
    0.61
    """
    instance("model", model, Model)
    if minimize is not None and duration is None:
        raise InputError("minimize needs a duration: pass a number of seconds or co.Free(lower, upper)")
    a, b = (finite_array(name, posture, (model.n_q,)) for name, posture in (("start", start), ("end", end)))
    if (a == b).all():
        raise InputError(f"start and end are the same posture: {start!r}")
    b = model.by_shortest_turns(a, b)
    way = model.displacement(a, b)
    rest = [initial(q=a, qd=0.0), final(q=b, qd=0.0)]
    problem = Problem(model, 1.0 if duration is None else duration, time(), rest)
    line = time_optimal_line(problem, a, b)
    if duration is None:
        if not isinstance(line, TimeOptimalLine):
            raise InputError(f"the straight line gives no duration: {line.reason}; pass duration=co.Free(lower, upper)")
        # The lower bound keeps a search away from zero; no optimum comes near it.
        least = max(0.99 * _least_time(problem, way), 1e-2 * line.duration)
        duration = Free(least, _ROOM * line.duration)
    if minimize is None:
        horizon = problem.horizon
        squares = _squares_of(line) if isinstance(line, TimeOptimalLine) else 16 * way**2 / horizon.middle**4
        minimize = _smoothness(model, squares)
        if isinstance(duration, Free) and duration.lower < duration.upper:
            minimize = time() + _TIE_BREAK * minimize
    move = replace(problem, duration=duration, minimize=minimize)
    share_lines(move, problem)
    return move


def _least_time(problem: Problem, way: np.ndarray) -> float:
    """Duration required by bounds on each joint's velocity and acceleration [s]."""
    moving, distance = way != 0, np.abs(way[way != 0])
    (slow, fast), (least, most) = ([side[moving] for side in problem.limits(name)] for name in ("qd", "qdd"))
    speed = np.where(way[moving] > 0, fast, -slow)
    return float(np.maximum(distance / speed, np.sqrt(2 * distance * (1 / most - 1 / least))).max())


def _squares_of(line: TimeOptimalLine) -> np.ndarray:
    """Mean squared accelerations along a timed line, shape (n,)."""
    u, steps = np.diff(line.rate) / np.diff(line.t), np.diff(line.t)
    return line.along**2 * (u**2 @ steps) / line.duration


def _smoothness(model: Model, squares: np.ndarray) -> Cost:
    """The integral of squared accelerations, divided by the sums of given squares of turning and of sliding joints.

    A metre counts as a radian if joints of one kind do not move.
    """
    turning = np.array([joint.turns for joint in model.joints])
    sums = np.where(turning, squares[turning].sum(), squares[~turning].sum())
    weights = 1 / np.where(sums > 0, sums, squares.sum())

    def smoothness(now: Instant) -> ca.SX:
        return ca.dot(ca.DM(weights), now.qdd**2)

    return integral(smoothness)
