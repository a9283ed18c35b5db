"""The commonest motion in one line: from rest in one posture to rest in another, as fast as the limits allow."""

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
# On the straight line's own time a search has no room where that is the optimum, and on a coarse curve no answer.
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
        With quaternions of length one; of two that are each other's negative the end's chooses the way round.
    duration : Free or float, optional [s]
        By default free, up to a little more than the time of the straight line in joint space within the limits, which
        a curve of few intervals may not keep; `TimeOptimalLine.breakpoints` gives a mesh that does.
    minimize : Cost, optional
        By default the duration, with squared accelerations at a weight so small that it only determines the joints
        that do not limit the time; in a given duration squared accelerations alone. Any other cost needs a duration.

    Returns
    -------
    Problem
        More constraints are added as to any problem: ``replace(problem, subject_to=[*problem.subject_to, more])``.

    Raises
    ------
    InputError
        For postures of the wrong shape, outside the limits, or equal. Without a duration also where the straight line
        has no time: where nothing limits the speed, or torques cannot hold the mechanism somewhere on it.

    See Also
    --------
    Problem : What it returns, for all else.

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
        raise InputError("a cost of your own needs a duration: a number of seconds or co.Free(lower, upper)")
    a, b = (finite_array(name, posture, (model.n_q,)) for name, posture in (("start", start), ("end", end)))
    if (a == b).all():
        raise InputError(f"start and end are the same posture: {start!r}")
    way = model.displacement(a, b)
    rest = [initial(q=a, qd=0.0), final(q=b, qd=0.0)]
    problem = Problem(model, 1.0 if duration is None else duration, time(), rest)
    line = time_optimal_line(problem, a, b)
    if duration is None:
        if not isinstance(line, TimeOptimalLine):
            raise InputError(f"the straight line gives no duration: {line.reason}; give duration=co.Free(lower, upper)")
        # The lower bound keeps a search away from zero; no answer comes near it.
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
    """What bounds on each joint's velocity and acceleration alone take [s]."""
    moving, distance = way != 0, np.abs(way[way != 0])
    (slow, fast), (least, most) = ([side[moving] for side in problem.limits(name)] for name in ("qd", "qdd"))
    speed = np.where(way[moving] > 0, fast, -slow)
    return float(np.maximum(distance / speed, np.sqrt(2 * distance * (1 / most - 1 / least))).max())


def _squares_of(line: TimeOptimalLine) -> np.ndarray:
    """Mean squared accelerations along a timed line, shape (n,)."""
    u, steps = np.diff(line.rate) / np.diff(line.t), np.diff(line.t)
    return line.along**2 * (u**2 @ steps) / line.duration


def _smoothness(model: Model, squares: np.ndarray) -> Cost:
    """The integral of squared accelerations over the sum of given squares, joints that turn and slide each by its own.

    A metre counts as a radian where joints of one kind do not move.
    """
    turning = np.array([joint.turns for joint in model.joints])
    sums = np.where(turning, squares[turning].sum(), squares[~turning].sum())
    weights = 1 / np.where(sums > 0, sums, squares.sum())

    def smoothness(now: Instant) -> ca.SX:
        return ca.dot(ca.DM(weights), now.qdd**2)

    return integral(smoothness)
