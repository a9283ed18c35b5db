"""An independent judge of a motion: Pinocchio's dynamics, integrated by SciPy.

It takes from a solution only the curve that the solution offers its users, positions, velocities, accelerations and
torques at any time, and nothing else of the library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
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
LOOKS = 4  # times within a piece at which simulation and motion are compared, its end included
LIMIT_POINTS = 25  # per interval


class Piece(NamedTuple):
    """Torques on a part of the motion.

    Parameters
    ----------
    begin, end : float [s]
    torque : ndarray, shape (coefficients, n) [N m, N]
        Chebyshev coefficients.
    """

    begin: float
    end: float
    torque: np.ndarray


class Verdict(NamedTuple):
    """Findings of the judge.

    Parameters
    ----------
    local_errors : ndarray, shape (intervals,) [rad, m]
        Largest deviation of a joint within an interval that is simulated from the motion's own state at its start,
        with the motion's own torques.
    overstep : float
        Largest excess over a limit, over half the range of that limit; or the largest miss of an end state.
    """

    local_errors: np.ndarray
    overstep: float

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
    edges = solution.mesh_times
    errors = _local_errors(world, solution, [_handed_over(solution, *ends) for ends in pairwise(edges.tolist())])
    found = solution.at(edges[[0, -1]])
    missed = [found.q[0] - ends[0], found.q[-1] - ends[1], found.qd]
    return Verdict(errors, max(_overstep(world, solution, edges, limits), *(float(np.abs(m).max()) for m in missed)))


def strayed(world: Any, solution: co.Solution, numbers: Sequence[int]) -> np.ndarray:
    """Local errors [rad, m] with torques handed over as few numbers, shape (intervals,).

    Parameters
    ----------
    world : pinocchio.Model
    solution : Solution
    numbers : sequence of int
        On every interval torques are polynomials through their values at `numbers` Gauss points.
    """
    edges = solution.mesh_times.tolist()
    pieces = [
        [_polynomial(solution, *ends, legendre.leggauss(count)[0])]
        for ends, count in zip(pairwise(edges), numbers, strict=True)
    ]
    return _local_errors(world, solution, pieces)


def _local_errors(world: Any, solution: co.Solution, intervals: Sequence[Sequence[Piece]]) -> np.ndarray:
    """Largest deviations within intervals, each in pieces of a smooth torque."""
    data, errors = world.createData(), np.zeros(len(intervals))
    for k, pieces in enumerate(intervals):
        now = solution.at(pieces[0].begin)
        state = np.concatenate([now.q, now.qd])
        for piece in pieces:
            t = np.linspace(piece.begin, piece.end, LOOKS + 1)
            states = _simulated(world, data, state, piece, t)
            errors[k] = max(errors[k], np.abs(states[: world.nq].T - solution.at(t).q).max())
            state = states[:, -1]
    return errors


def _simulated(world: Any, data: Any, state: np.ndarray, piece: Piece, t: np.ndarray) -> np.ndarray:
    """States (2 n, time) at given times, by Dormand and Prince's method of order 8."""
    n = world.nq

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        u = 2 * (t - piece.begin) / (piece.end - piece.begin) - 1
        tau = np.asarray(chebyshev.chebval(u, piece.torque))
        return np.concatenate([y[n:], pin.aba(world, data, y[:n], y[n:], tau)])

    return solve_ivp(rate, (t[0], t[-1]), state, "DOP853", t, rtol=1e-10, atol=1e-12).y


def _polynomial(solution: co.Solution, begin: float, end: float, u: np.ndarray) -> Piece:
    """Torques as a polynomial through their values at points u of [-1, 1]."""
    tau = solution.at(begin + (u + 1) / 2 * (end - begin)).tau
    return Piece(begin, end, np.linalg.solve(chebyshev.chebvander(u, u.size - 1), tau))


def _handed_over(solution: co.Solution, begin: float, end: float, halvings: int = HALVINGS) -> list[Piece]:
    """Torques within an interval through Chebyshev points, on halves of it where one polynomial does not do."""
    piece = _polynomial(solution, begin, end, chebyshev.chebpts1(DEGREE + 1))
    size = np.abs(piece.torque)
    if halvings == 0 or size[-2:].max() <= RESOLVED * size.max() + 1e-12:
        return [piece]
    middle = (begin + end) / 2
    parts = ((begin, middle), (middle, end))
    return [piece for part in parts for piece in _handed_over(solution, *part, halvings - 1)]


def _overstep(
    world: Any,
    solution: co.Solution,
    edges: np.ndarray,
    limits: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> float:
    """Largest excess over a limit at Gauss points of every interval; the torques are those that Pinocchio asks for."""
    data, inside = world.createData(), (legendre.leggauss(LIMIT_POINTS)[0] + 1) / 2
    now = solution.at((edges[:-1, None] + inside * np.diff(edges)[:, None]).ravel())
    tau = np.array([pin.rnea(world, data, *state) for state in zip(now.q, now.qd, now.qdd, strict=True)])
    values = {"q": now.q, "qd": now.qd, "tau": tau}
    worst = 0.0
    for quantity, (lower, upper) in limits.items():
        excess = np.maximum(lower - values[quantity], values[quantity] - upper) / ((upper - lower) / 2)
        worst = max(worst, float(excess.max()))
    return worst
