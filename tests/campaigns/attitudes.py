"""Random pairs of attitudes, from rest to rest: solved by the shorter way, with quaternions of length one."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np

import colloc as co
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_TIMES = 20_001
_SLACK = 0.9  # rad; a motion in shortest time turns about changing axes, by more than the angle between its ends
_SNIPPET = """
from tests.campaigns import attitudes
attitudes.check({seed})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One pair."""
    return attempt_apart("attitudes", _SNIPPET.format(seed=int(rng.integers(1_000_000))), seconds=120.0)


def check(seed: int) -> co.Solution:
    """Solve the problem of a seed by the plain call, and assert that it takes the shorter way."""
    problem, start, end = turned(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        solution = co.solve(problem, seconds=60.0, progress=False)
    t = np.linspace(0, solution.duration, _TIMES)
    motion = solution.at(t)
    quaternions, spin = np.asarray(motion.q)[:, -4:], np.linalg.norm(np.asarray(motion.qd)[:, -3:], axis=1)
    assert np.abs(np.linalg.norm(quaternions, axis=1) - 1).max() < 1e-6, "a quaternion is not of length one"
    assert abs(quaternions[-1] @ end) > 1 - 1e-9, "another attitude at the end"
    angle, way = 2 * np.arccos(min(abs(start @ end), 1.0)), np.trapezoid(spin, t)
    assert angle - 1e-3 < way < angle + _SLACK, f"a turn of {way:.3f} rad, where {angle:.3f} rad are enough"
    return solution


def turned(seed: int) -> tuple[co.Problem, np.ndarray, np.ndarray]:
    """A body with random moments of inertia between two random attitudes, of least effort or in the shortest time."""
    rng = np.random.default_rng([54, seed])
    start, end = rng.normal(size=(2, 4))
    start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
    make = (co.spherical, co.floating)[seed % 2]
    moments = np.full(3, 0.3) if seed % 3 == 0 else rng.uniform(0.2, 0.38, 3)
    model = co.Model(make("body", sequence="quaternion", mass=1.0, inertia=moments), (0, 0, 0))
    postures = [np.append(model.neutral[:-4], attitude) for attitude in (start, end)]
    ends = [co.initial(q=postures[0], qd=0.0), co.final(q=postures[1], qd=0.0)]
    if seed % 4 < 2:
        return co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends), start, end
    limited = [*ends, co.bounds(tau=(-1.0, 1.0))]
    return co.Problem(model, co.Free(0.05, 20.0), co.duration(), limited), start, end
