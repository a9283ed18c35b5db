"""An independent judge of a motion: Pinocchio's dynamics, integrated by SciPy.

What it takes from a solution is the curve that the solution offers its users, positions, velocities, accelerations and
torques at any time, and nothing else of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pinocchio
from numpy.polynomial import chebyshev, legendre
from scipy.integrate import solve_ivp

import colloc as co

pin: Any = pinocchio  # has no type stubs
DEGREE = 12  # of the polynomials that hand torques over
RESOLVED = 1e-9  # size of their last coefficients, of the largest torque, at which they say what the curve says
HALVINGS = 5
LIMIT_POINTS = 25  # per interval


class Verdict(NamedTuple):
    """What the judge finds.

    Parameters
    ----------
    local_errors : ndarray, shape (intervals,) [rad, m]
        Largest deviation of a joint at the end of an interval that is simulated from the motion's own state at its
        start, with the motion's own torques.
    overstep : float
        Largest excess over a limit, over half the range of that limit; or the largest miss of an end state.
    strayed : ndarray, shape (intervals,) [rad, m]
        Largest deviation of a joint within an interval where the torque is handed over as few numbers: a polynomial
        through its values at as many Gauss points as the interval's degree less one.
    """

    local_errors: np.ndarray
    overstep: float
    strayed: np.ndarray

    @property
    def error(self) -> float:
        """Sum of the local errors: how far the torques would lead from the motion if nothing made errors grow."""
        return float(self.local_errors.sum())


def judge(
    world: Any,
    solution: co.Solution,
    ends: tuple[np.ndarray, np.ndarray],
    limits: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> Verdict:
    """The verdict on a motion from rest to rest.

    Parameters
    ----------
    world : pinocchio.Model
        The mechanism, with the solution's coordinates in the solution's order.
    solution : Solution
    ends : pair of ndarray, shape (n,)
        Postures at rest.
    limits : mapping of "q", "qd" or "tau" to (lower, upper), each shape (n,)
    """
    edges = solution.nlp.grid.breakpoints * solution.duration
    data = world.createData()
    found = solution.at(edges)
    errors, strayed = np.zeros((2, edges.size - 1))
    degrees = solution.nlp.grid.basis.degrees
    for k in range(errors.size):
        state = np.concatenate([found.q[k], found.qd[k]])
        strayed[k] = _strayed(world, data, solution, state, float(edges[k]), float(edges[k + 1]), int(degrees[k]) - 1)
        for begin, end, torque in _handed_over(solution, float(edges[k]), float(edges[k + 1])):
            state = _simulated(world, data, state, begin, end, torque)
        errors[k] = np.abs(state[: world.nq] - found.q[k + 1]).max()
    missed = [found.q[0] - ends[0], found.q[-1] - ends[1], found.qd[0], found.qd[-1]]
    overstep = max(_overstep(world, data, solution, edges, limits), float(np.abs(missed).max()))
    return Verdict(errors, overstep, strayed)


def _strayed(
    world: Any, data: Any, solution: co.Solution, state: np.ndarray, begin: float, end: float, count: int
) -> float:
    """Largest deviation at ten times of an interval under the polynomial through the torque at Gauss points."""
    u = legendre.leggauss(count)[0]
    coefficients = np.linalg.solve(legendre.legvander(u, count - 1), solution.at(_between(begin, end, u)).tau)

    def torque(t: float) -> np.ndarray:
        return np.asarray(legendre.legval(2 * (t - begin) / (end - begin) - 1, coefficients))

    times = _between(begin, end, np.linspace(-0.8, 1.0, 10))
    simulated = _integrated(world, data, torque, (begin, end), state, times)
    return float(np.abs(simulated[: world.nq].T - solution.at(np.minimum(times, end)).q).max())


def _between(begin: float, end: float, u: np.ndarray) -> np.ndarray:
    """Times of an interval from [-1, 1]."""
    return begin + (u + 1) / 2 * (end - begin)


def _simulated(
    world: Any, data: Any, state: np.ndarray, begin: float, end: float, torque: Callable[[float], np.ndarray]
) -> np.ndarray:
    """State at the end."""
    return _integrated(world, data, torque, (begin, end), state, np.array([end]))[:, -1]


def _integrated(
    world: Any,
    data: Any,
    torque: Callable[[float], np.ndarray],
    span: tuple[float, float],
    state: np.ndarray,
    times: np.ndarray,
) -> np.ndarray:
    """States at some times, shape (2 n, times), by Dormand and Prince's method of order 8."""
    n = world.nq

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], pin.aba(world, data, y[:n], y[n:], torque(t))])

    return solve_ivp(rate, span, state, method="DOP853", t_eval=np.minimum(times, span[1]), rtol=1e-10, atol=1e-12).y


def _handed_over(
    solution: co.Solution, begin: float, end: float, halvings: int = HALVINGS
) -> list[tuple[float, float, Callable[[float], np.ndarray]]]:
    """Torques within an interval as polynomials through Chebyshev points, on halves of it where one does not do."""
    u = chebyshev.chebpts1(DEGREE + 1)
    tau = solution.at(begin + (u + 1) / 2 * (end - begin)).tau
    coefficients = np.linalg.solve(chebyshev.chebvander(u, DEGREE), tau)
    if halvings == 0 or np.abs(coefficients[-2:]).max() <= RESOLVED * np.abs(tau).max() + 1e-12:

        def torque(t: float) -> np.ndarray:
            return np.asarray(chebyshev.chebval(2 * (t - begin) / (end - begin) - 1, coefficients))

        return [(begin, end, torque)]
    middle = (begin + end) / 2
    parts = ((begin, middle), (middle, end))
    return [piece for part in parts for piece in _handed_over(solution, *part, halvings - 1)]


def _overstep(
    world: Any,
    data: Any,
    solution: co.Solution,
    edges: np.ndarray,
    limits: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> float:
    """Largest excess over a limit at Gauss points of every interval; the torques are those that Pinocchio asks for."""
    inside = (legendre.leggauss(LIMIT_POINTS)[0] + 1) / 2
    now = solution.at((edges[:-1, None] + inside * np.diff(edges)[:, None]).ravel())
    tau = np.array([pin.rnea(world, data, *state) for state in zip(now.q, now.qd, now.qdd, strict=True)])
    values = {"q": now.q, "qd": now.qd, "tau": tau}
    worst = 0.0
    for quantity, (lower, upper) in limits.items():
        excess = np.maximum(lower - values[quantity], values[quantity] - upper) / ((upper - lower) / 2)
        worst = max(worst, float(excess.max()))
    return worst
