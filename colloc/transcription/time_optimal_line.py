"""The fastest motion along the straight line in joint space: a guess within the limits, and a bound for the optimum.

Along q(s) = start + s (end - start) a motion is one function s(t); a ball joint on a quaternion turns about one axis
fixed in its link, so that its angular velocity has a constant direction. With x = s'^2 and u = s'' the torques are

    tau = a(s) u + b(s) x + c(s)

(Bobrow, Dubowsky and Gibson 1985, "Time-optimal control of robotic manipulators along specified paths"), linear in the
unknowns of `path_speeds`. Dampers, friction and loads that depend on velocities are not: they are replaced by their
tangents in x at the previous speeds, until these converge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from colloc.curves.mesh import graded
from colloc.dynamics import inverse_dynamics, newton_euler
from colloc.model import Model
from colloc.problem import Problem
from colloc.support.checks import InputError, finite_array, instance, quoted, spelt, vector
from colloc.support.display import short
from colloc.support.lazy import cached_property
from colloc.transcription.topp import PathLimits, path_speeds

_COARSE = (50, 100)
_MOST = 1600
_TOLERANCE = 2e-4  # of the duration
_ROUNDS = 50
_SETTLED = 1e-6  # error of linearised torques, relative to their size
_JUMP = 0.05  # of the range of s''
_ROUNDING = 1e-12  # of the duration

_Torques = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class TimeOptimalLine:
    """The straight line between two postures as a motion from rest to rest; made by `time_optimal_line`.

    Parameters
    ----------
    model : Model
    start, end : ndarray, shape (n_q,) [rad, m]
    s : ndarray, shape (N + 1,)
        Fractions of the line, rising from 0 to 1; s'' is constant between them.
    rate : ndarray, shape (N + 1,) [1/s]
        ds/dt there, zero at both ends.

    Examples
    --------
    >>> line = co.transcription.time_optimal_line(problem, (0.0, -2.0), (1.0, -1.0))
    >>> q, qd, qdd = line.at(np.array([0.0, line.duration / 2]))
    >>> q[0], qd[0]
    (array([ 0., -2.]), array([0., 0.]))
    """

    model: Model
    start: np.ndarray
    end: np.ndarray
    s: np.ndarray
    rate: np.ndarray

    @cached_property
    def t(self) -> np.ndarray:
        """Times at which the fractions are reached [s], ndarray, shape (N + 1,)."""
        return np.append(0.0, np.cumsum(2 * np.diff(self.s) / (self.rate[1:] + self.rate[:-1])))

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return float(self.t[-1])

    @cached_property
    def along(self) -> np.ndarray:
        """Displacement of the joints from start to end, ndarray, shape (n,) [rad, m]."""
        return self.model.displacement(self.start, self.end)

    def at(self, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions (N, n_q), velocities and accelerations, (N, n), at times (N,) [s] within the duration.

        Where the acceleration jumps, the value after the jump. InputError for other times.
        """
        t = finite_array("t", t, (None,))
        if ((t < 0) | (t > (1 + _ROUNDING) * self.duration)).any():
            raise InputError(f"t must lie within 0 .. {self.duration:g} s, got {quoted(t.tolist())}")
        k = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, self.s.size - 2)
        since, u = t - self.t[k], (np.diff(self.rate) / np.diff(self.t))[k]
        s, rate = self.s[k] + (self.rate[k] + u * since / 2) * since, self.rate[k] + u * since
        along = self.along
        return self.model.displaced(self.start, np.outer(s, along)), np.outer(rate, along), np.outer(u, along)

    def breakpoints(self, intervals: int = 20) -> np.ndarray:
        """Breakpoints for this motion and similar ones, rising from 0 to 1: those of `graded`, and the jumps of s''.

        `intervals` does not count the jumps, which replace breakpoints close to them.
        """
        ends, jumps = np.array(graded(intervals)), self._jumps / self.duration
        widths = np.interp(jumps, (ends[1:] + ends[:-1]) / 2, np.diff(ends))
        near = np.any(np.abs(ends[:, None] - jumps) < widths / 3, axis=1)
        near[[0, -1]] = False
        return np.sort(np.append(ends[~near], jumps))

    @property
    def _jumps(self) -> np.ndarray:
        """Times at which s'' jumps [s], between step k and step k + 2, as their mean determines."""
        u, steps = np.diff(self.rate) / np.diff(self.t), np.diff(self.t)
        change = np.abs(u[2:] - u[:-2])
        around = np.pad(change, 1)
        peak = (change > _JUMP * np.ptp(u)) & (change > around[:-2]) & (change >= around[2:])
        k = np.flatnonzero(peak)
        return self.t[k + 1] + steps[k + 1] * np.clip((u[k + 1] - u[k + 2]) / (u[k] - u[k + 2]), 0, 1)

    def __repr__(self) -> str:
        return f"TimeOptimalLine: {self.duration:.6g} s, {self.s.size - 1} steps"


class Untimed(NamedTuple):
    """Reason why the line could not be timed.

    Parameters
    ----------
    reason : str

    Examples
    --------
    >>> co.transcription.time_optimal_line(problem, (0.0, -2.0), (0.0, -2.0))
    Untimed(reason='the postures are equal')
    """

    reason: str


# Lines by problem and by the bytes of their ends: `solve` needs the same line for the default curve and for the guess,
# and timing it takes as long as building the program.
_lines: WeakKeyDictionary[Problem, dict[tuple[bytes, bytes], TimeOptimalLine | Untimed]] = WeakKeyDictionary()


@spelt
def time_optimal_line(problem: Problem, start: Any, end: Any) -> TimeOptimalLine | Untimed:
    """The fastest motion from rest to rest along the straight line between two postures.

    It obeys bounds on velocities, accelerations and torques that hold along the whole motion, with guesses of unknowns
    and values of parameters. Other constraints are ignored.

    Parameters
    ----------
    problem : Problem
    start, end : shape (n_q,) [rad, m]

    Returns
    -------
    TimeOptimalLine or Untimed
        Untimed, with the reason, if actuators cannot hold or move the mechanism somewhere on the line, if nothing
        limits the speed, or if loads depend on time.

    Raises
    ------
    InputError
        For postures of another shape.

    See Also
    --------
    point_to_point

    Examples
    --------
    >>> co.transcription.time_optimal_line(problem, (0.0, -2.0), (1.0, -1.0))
    TimeOptimalLine: 0.4... s, ... steps
    """
    n_q = instance("problem", problem, Problem).model.n_q
    a, b = vector("start", start, n_q), vector("end", end, n_q)
    lines, ends = _lines.setdefault(problem, {}), (a.tobytes(), b.tobytes())
    if ends not in lines:
        lines[ends] = _fastest(problem, a, b)
    return lines[ends]


def share_lines(problem: Problem, timed: Problem) -> None:
    """Share the timed lines of another problem with the same mechanism and limits."""
    _lines.setdefault(problem, {}).update(_lines.get(timed, {}))


def _fastest(problem: Problem, start: np.ndarray, end: np.ndarray) -> TimeOptimalLine | Untimed:
    along = problem.model.displacement(start, end)
    if not along.any():
        return Untimed("the postures are equal")
    if _speed_limit(problem, along) == 0:
        return Untimed("a joint that must move has a velocity limit of zero in that direction")
    torques = _torques(problem)
    timings = [_timed(problem, torques, start, end, steps) for steps in _COARSE]
    if isinstance(timings[0], Untimed) or isinstance(timings[1], Untimed):
        return timings[1]
    # With constant u on each step the time is too long by a first-order error: the tolerance sets the number of steps.
    error = (timings[0].duration - timings[1].duration) / timings[1].duration
    steps = min(int(_COARSE[1] * error / _TOLERANCE), _MOST)
    return _timed(problem, torques, start, end, steps) if steps > _COARSE[1] else timings[1]


def _timed(
    problem: Problem, torques: _Torques, start: np.ndarray, end: np.ndarray, steps: int
) -> TimeOptimalLine | Untimed:
    along = problem.model.displacement(start, end)
    # Near rest the speed grows with the root of s: these grid points are about equally spaced in time.
    share = np.linspace(0, 1, steps + 1)
    s = share**2 * (3 - 2 * share)
    q = problem.model.displaced(start, np.outer(s, along))

    def needed(rate: np.ndarray, u: np.ndarray) -> np.ndarray:
        return torques(q, np.outer(rate, along), np.outer(u, along))

    c = needed(0 * s, 0 * s)
    a = needed(0 * s, 1 + 0 * s) - c
    if not np.isfinite(a).all():
        return Untimed("torques on the line depend on the time or are not finite")
    # The first slopes are secants from rest, later ones tangents.
    rate = np.full(s.size, min(_speed_limit(problem, along), 1.0))
    b, rest = (needed(rate, 0 * s) - c) / rate[:, None] ** 2, c
    for _ in range(_ROUNDS):
        x = path_speeds(_limits(problem, along, s, a, b, rest))
        if x is None:
            return Untimed(_trouble(problem, s, c))
        if np.isinf(x).any():
            return Untimed("nothing limits the speed")
        if (x[1:-1] <= 0).any():
            return Untimed("the torque limits just hold the mechanism and cannot move it")
        rate = np.sqrt(x)
        now = needed(rate, 0 * s)
        off = np.abs(now - rest - b * x[:, None]).max(axis=0)
        if (off <= _SETTLED * np.abs(now).max(axis=0)).all():
            return TimeOptimalLine(problem.model, start, end, s, rate)
        least = 1e-6 * rate.max()
        near, far = np.maximum(rate * (1 - 1e-4), least), np.maximum(rate * (1 + 1e-4), 2 * least)
        b = (needed(far, 0 * s) - needed(near, 0 * s)) / (far**2 - near**2)[:, None]
        rest = now - b * x[:, None]
    return Untimed("the iteration of speeds with damping and friction does not converge")


def _torques(problem: Problem) -> _Torques:
    """Torques of motions q, qd, qdd, each (N, n); NaN if they depend on the time."""
    now = problem.instant
    tau = inverse_dynamics(newton_euler, problem.model, now.q, now.qd, now.qdd, problem.wrenches)
    function = problem.function("loads", tau)
    stacked = [ca.vertcat(*(u.guess for u in us)) for us in (problem.signals, problem.states, problem.constants)]
    signals, states, constants = stacked
    nan, p = ca.DM.nan(problem.model.n), problem.parameter_values()

    def torques(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        now = ca.DM.nan(), ca.DM.nan(), q.T, qd.T, qdd.T, nan, nan, nan
        return np.array(function(*now, signals, 0 * signals, states, 0 * states, constants, p)).T

    return torques


def _speed_limit(problem: Problem, along: np.ndarray) -> float:
    """Largest ds/dt that bounds on velocities allow; infinite without any."""
    lower, upper = problem.limits("qd")
    toward = np.where(along > 0, upper, -lower)[along != 0]
    return float(max((toward / np.abs(along[along != 0])).min(), 0.0))


def _limits(
    problem: Problem, along: np.ndarray, s: np.ndarray, a: np.ndarray, b: np.ndarray, rest: np.ndarray
) -> PathLimits:
    """Limits of (u, x) along the line: accelerations along u, torques a u + b x + rest."""
    moving = np.flatnonzero(along)
    slow, fast = (side[moving] for side in problem.limits("qdd"))
    lower, upper = problem.limits("tau")
    ones = np.ones((s.size, 1))
    fastest = np.full(s.size, _speed_limit(problem, along) ** 2)
    return PathLimits(
        s,
        fastest,
        np.hstack([a, ones * along[moving]]),
        np.hstack([b, 0 * ones * along[moving]]),
        np.hstack([lower - rest, ones * slow]),
        np.hstack([upper - rest, ones * fast]),
    )


def _trouble(problem: Problem, s: np.ndarray, c: np.ndarray) -> str:
    """Obstacle on the line: the posture hardest to hold, if one cannot be held."""
    lower, upper = problem.limits("tau")
    excess = np.maximum(lower - c, c - upper)
    k, j = np.unravel_index(np.argmax(excess), excess.shape)
    if excess[k, j] <= 0:
        return "limits on velocities, accelerations and torques contradict each other on the line"
    name, unit = problem.model.joint_names[j], problem.model.torque_units[j]
    allowed = f"[{short(lower[j])}, {short(upper[j])}]"
    return f"{name} needs {short(c[k, j])} {unit} to be held at {s[k]:.0%} of the line, its limits are {allowed}"
