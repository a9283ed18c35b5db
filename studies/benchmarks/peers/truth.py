"""What a tool's torques really do: Pinocchio's dynamics of the file, integrated forward by SciPy.

Of a tool's answer nothing is taken but its torques, as polynomials between edges of time, which is how each tool holds
them. Nothing of colloc is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

LOOKS = 5  # times on a piece at which limits are looked at
RTOL, ATOL = 1e-10, 1e-12
Rate = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Truth(NamedTuple):
    """What torques do.

    Parameters
    ----------
    miss : float
        Largest miss of the end posture [rad, m], or of its rest, as what a speed leads to in the whole duration.
    overstep : float
        Largest excess over a limit of torque, position or speed, over that limit.
    cost : float
        Integral of squared torques, or the duration [s].
    """

    miss: float
    overstep: float
    cost: float


def pieces(answer: Mapping[str, Any], driven: np.ndarray) -> list[tuple[float, float, np.ndarray]]:
    """Torques on every interval: its begin, its end, Chebyshev coefficients (count, n), zero where nothing drives."""
    inside, torque = np.array(answer["inside"]), np.array(answer["torque"], float) * driven
    basis = np.linalg.inv(chebyshev.chebvander(inside, inside.size - 1))
    edges = answer["edges"]
    return [(edges[k], edges[k + 1], basis @ torque[k]) for k in range(len(edges) - 1)]


def simulated(
    rate: Rate, parts: Sequence[tuple[float, float, np.ndarray]], q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States and torques at some times of every piece, shapes (times, 2 n) and (times, n), and the integral of squares.

    Parameters
    ----------
    rate : callable
        Accelerations of q, qd and torques.
    parts : sequence of (begin, end, coefficients)
    q, qd : ndarray, shape (n,)
        At the begin.
    """
    from scipy.integrate import solve_ivp

    n, state = q.size, np.concatenate([q, qd, [0.0]])
    states, torques = [], []
    for begin, end, coefficients in parts:

        def slope(t: float, y: np.ndarray, begin: float = begin, end: float = end, c: np.ndarray = coefficients) -> Any:
            tau = np.asarray(chebyshev.chebval(2 * (t - begin) / (end - begin) - 1, c))
            return np.concatenate([y[n : 2 * n], rate(y[:n], y[n : 2 * n], tau), [tau @ tau]])

        t = np.linspace(begin, end, LOOKS)
        run = solve_ivp(slope, (begin, end), state, "DOP853", t, rtol=RTOL, atol=ATOL)
        if not run.success:
            return np.full((1, 2 * n), np.inf), np.zeros((1, n)), np.array(np.inf)
        state = run.y[:, -1]
        states.append(run.y[: 2 * n].T)
        torques.append(chebyshev.chebval(np.linspace(-1, 1, LOOKS), coefficients).T)
    return np.concatenate(states), np.concatenate(torques), state[-1]


def forward_dynamics(problem: Mapping[str, Any]) -> Rate:
    """Accelerations of a problem's chain of links, by Pinocchio, which reads the file itself."""
    import pinocchio

    pin: Any = pinocchio  # has no type stubs
    world = pin.buildModelFromUrdf(problem["urdf"])
    world.gravity.linear = np.array(problem["gravity"], float)
    data = world.createData()
    return lambda q, qd, tau: pin.aba(world, data, q, qd, tau)


def judged(problem: Mapping[str, Any], answer: Mapping[str, Any], rate: Rate | None = None) -> Truth:
    """What the torques of an answer do.

    Parameters
    ----------
    problem : mapping
        A `Reach`, and the path of its URDF file.
    answer : mapping
        `edges` of time, shape (K + 1,), places `inside` every interval, in [-1, 1], shape (m,), and `torque` there,
        shape (K, m, n); between these it is the polynomial through them.
    rate : callable, optional
        Accelerations of q, qd and torques; those of the file by default.
    """
    limits = [np.array(problem[name], float) for name in ("torque", "position", "speed")]
    parts = pieces(answer, limits[0] > 0)
    start, end = (np.array(problem[name], float) for name in ("start", "end"))
    states, torques, effort = simulated(rate or forward_dynamics(problem), parts, start, np.zeros(start.size))
    n, duration = start.size, answer["edges"][-1]
    miss = max(np.abs(states[-1, :n] - end).max(), duration * np.abs(states[-1, n:]).max())
    used = [torques[:, limits[0] > 0], states[:, :n], states[:, n:]]
    limits[0] = limits[0][limits[0] > 0]
    overstep = max(float((np.abs(values) / limit).max()) - 1 for values, limit in zip(used, limits, strict=True))
    cost = duration if problem["duration"] is None else float(effort)
    return Truth(float(miss), max(0.0, overstep), cost)


def judged_hop(problem: Mapping[str, Any], answer: Mapping[str, Any]) -> Truth:
    """What the forces of a `Hop` do: push, flight and landing by Newton's law, written out by hand."""
    foot, trunk, gravity = (float(problem[name]) for name in ("foot", "trunk", "gravity"))

    def standing(q: np.ndarray, qd: np.ndarray, force: np.ndarray) -> np.ndarray:
        return force / trunk - gravity

    def flying(q: np.ndarray, qd: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Of the foot and of the trunk, both over the ground."""
        push = float(force[0])
        return np.array([-push / foot - gravity, push / trunk - gravity])

    push, flight, landing = (pieces(part, np.ones(1)) for part in answer["phases"])
    first, first_force, first_cost = simulated(standing, push, np.array([problem["rest"]]), np.zeros(1))
    # A piece of a force drives two accelerations, and counts once in the cost.
    begin_q, begin_qd = np.array([0.0, first[-1, 0]]), np.array([0.0, first[-1, 1]])
    air, _, air_cost = simulated(flying, flight, begin_q, begin_qd)
    middle = flight[-1][1] / 2
    cut = [(a, min(b, middle), c, b) for a, b, c in flight if a < middle * (1 - 1e-9)]
    upper, *_ = simulated(flying, [_shortened(*piece) for piece in cut], begin_q, begin_qd)
    blow = -foot * air[-1, 2]
    last, last_force, last_cost = simulated(standing, landing, air[-1, 1:2], air[-1, 3:4])
    lengths = np.concatenate([first[:, 0], air[:, 1] - air[:, 0], last[:, 0]])
    ground = np.concatenate([first_force, last_force]) + foot * gravity
    low, high = problem["leg"]
    overstep = max(
        float((lengths - high).max()) / (high - low) * 2,
        float((low - lengths).max()) / (high - low) * 2,
        float(-ground.min()) / ((foot + trunk) * gravity),
        float(-air[:, 0].min()) / problem["height"],
        (problem["height"] - upper[-1, 0]) / problem["height"],
    )
    duration = sum(part["edges"][-1] for part in answer["phases"])
    miss = max(
        abs(last[-1, 0] - problem["rest"]),
        abs(last[-1, 1]) * problem["duration"],
        abs(air[-1, 0]),
        abs(duration - problem["duration"]),
    )
    cost = float(first_cost + air_cost + last_cost) + problem["weight"] * blow**2
    return Truth(float(miss), max(0.0, overstep), cost)


def _shortened(begin: float, end: float, coefficients: np.ndarray, whole: float) -> tuple[float, float, np.ndarray]:
    """The first part of a piece that lasts until `whole`, as a piece."""
    count = len(coefficients)
    points = chebyshev.chebpts1(count)
    at = begin + (points + 1) / 2 * (end - begin)
    values = np.atleast_2d(chebyshev.chebval(2 * (at - begin) / (whole - begin) - 1, coefficients)).T
    return begin, end, np.linalg.solve(chebyshev.chebvander(points, count - 1), values.reshape(count, -1))
