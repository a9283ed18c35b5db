"""Random motions of random arms that are feasible by construction: what solvers are judged on by their tails."""

from __future__ import annotations

from math import pi

import casadi as ca
import numpy as np

import colloc as co

KINDS = ("time", "effort", "mixed")


def random_arm(rng: np.random.Generator, n: int, prismatic: float = 1 / 6) -> co.Model:
    """Serial arm in space, half of them in gravity; every link is a cloud of eight point masses.

    Parameters
    ----------
    rng : Generator
    n : int
        Number of joints.
    prismatic : float
        Chance of a joint to be prismatic instead of revolute.
    """
    bodies = []
    for k in range(n):
        make = co.prismatic if rng.random() < prismatic else co.revolute
        shift, turn = rng.uniform(-0.4, 0.4, 3), rng.uniform(-pi, pi, 3)
        mass, com, inertia = _point_cloud(rng)
        joint = make(axis=tuple(rng.normal(size=3)), placement=co.placement(list(shift), list(turn)))
        bodies.append(co.Body(f"link{k + 1}", joint, f"link{k}" if k else None, mass, com, inertia))
    return co.Model(bodies, gravity=(0.0, 0.0, -9.81 * float(rng.random() < 0.5)), name=f"random {n}-joint arm")


def random_problem(seed: int) -> co.Problem:
    """A motion between two postures at rest: fastest, with least effort at a given duration, or a mixture.

    The minimum-jerk motion of a random duration keeps to all limits, of which it takes 10 to 90 %. A free duration is
    guessed wrong by a factor of up to 8, either way.

    Parameters
    ----------
    seed : int
        Names the problem.
    """
    rng = np.random.default_rng(seed)
    model, kind, T = random_arm(rng, int(rng.integers(2, 7))), str(rng.choice(KINDS)), float(rng.uniform(0.4, 3.0))
    start = rng.uniform(-pi / 2, pi / 2, model.n)
    end = start + rng.uniform(0.2, pi, model.n) * rng.choice([-1, 1], model.n)
    rates, torques = peaks(model, start, end, T)
    spare = 10 ** float(rng.uniform(0.05, 1.0))
    limits = [co.bounds(tau=(-spare * torques, spare * torques))]
    if rng.random() < 0.5:
        limits.append(co.bounds(qd=(-spare * rates, spare * rates)))

    def effort(now: co.problem.Instant) -> ca.SX:
        return ca.sumsqr(now.tau)

    ends = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)]
    free = co.Free(T / 10, 10 * T, T * 10 ** float(rng.uniform(-0.9, 0.9)))
    mixed = co.duration() + co.integral(effort) * float(rng.uniform(0.1, 3.0) / (torques @ torques))
    cost = {"time": co.duration(), "effort": co.integral(effort), "mixed": mixed}[kind]
    return co.Problem(model, T if kind == "effort" else free, cost, [*ends, *limits])


def peaks(model: co.Model, start: np.ndarray, end: np.ndarray, T: float) -> tuple[np.ndarray, np.ndarray]:
    """Largest rates and torques of every joint along the minimum-jerk motion, each shape (n,).

    Parameters
    ----------
    model : Model
    start, end : ndarray, shape (n,) [rad, m]
    T : float [s]
    """
    s = np.linspace(0, 1, 101)
    shape, slope = 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 * (1 - s) ** 2
    bend = 60 * s * (1 - s) * (1 - 2 * s)
    way = end - start
    q, qd, qdd = start + np.outer(shape, way), np.outer(slope, way) / T, np.outer(bend, way) / T**2
    given = [ca.SX.sym(name, model.n) for name in ("q", "qd", "qdd")]
    torque = ca.Function("torque", given, [co.dynamics.newton_euler(model, given[0], given[1], given[2])]).map(s.size)
    return np.abs(qd).max(axis=0), np.abs(np.array(torque(q.T, qd.T, qdd.T))).max(axis=1)


def _point_cloud(rng: np.random.Generator) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it."""
    masses, positions = rng.uniform(0.05, 0.3, 8), rng.normal(0.1, 0.1, (8, 3))
    com = masses @ positions / masses.sum()
    own = positions - com
    inertia = (masses * (own**2).sum(axis=1)).sum() * np.eye(3) - own.T @ (masses[:, None] * own)
    return float(masses.sum()), com, inertia
