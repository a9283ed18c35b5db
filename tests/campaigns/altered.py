"""Random motions by a device that saves time and without it: the answer must be no costlier.

The devices alter the path of a search, and with it perhaps the basin in which it ends: limits of torques are set aside,
other starts are screened on coarse grids, and grids are refined from the motion on the last one. The cost of states is
confirmed by estimates in place of finer grids.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import pi
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.curves import Transcription
from colloc.refinement import reduced
from colloc.refinement.plan import NextStep
from colloc.studies.benchmarks.random_arms import peaks, random_arm
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

DEVICES = ("limits set aside", "screening", "coarse grids", "estimates")
_COSTLIER = 1e-3  # relative
_CURVES = (co.BSpline(12), co.BSpline(8, degree=5, continuity=1), co.Radau(12), co.HermiteSimpson(20))
_SNIPPET = """
from tests.campaigns import altered
altered.check({seed}, {device!r})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One motion with one device and without it."""
    device = str(rng.choice(DEVICES))
    return attempt_apart(device, _SNIPPET.format(seed=int(rng.integers(1_000_000)), device=device), seconds=300.0)


def effort(seed: int) -> co.Problem:
    """Least effort between two postures of an arm whose torques are limited to 0.75 to 1.6 of what a quintic takes."""
    rng = np.random.default_rng([52, seed])
    model, T = random_arm(rng, int(rng.integers(2, 4))), float(rng.uniform(0.4, 3.0))
    start = rng.uniform(-pi / 2, pi / 2, model.n)
    end = start + rng.uniform(0.2, pi, model.n) * rng.choice([-1, 1], model.n)
    torques = rng.uniform(0.75, 1.6) * peaks(model, start, end, T)[1]
    ends = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0), co.bounds(tau=(-torques, torques))]
    return co.Problem(model, T, co.integral(lambda now: ca.sumsqr(now.tau), "effort"), ends)


def _linear(rng: np.random.Generator, n: int, fastest: float) -> co.Problem:
    """A linear system with modes that decay at up to so many orders of magnitude, and a bounded input."""
    A, B = 0.3 * rng.normal(size=(n, n)) - np.diag(10 ** rng.uniform(0, fastest, n)), rng.normal(size=n)
    x = co.State("x", n, rate=lambda now: ca.DM(A) @ now.x + ca.DM(B) * now.u)
    cost = co.integral(lambda now: ca.sumsqr(now.x) + 0.1 * now.u**2)
    ends = [co.initial(states={"x": rng.normal(size=n)})]
    return co.Problem(
        co.Model.empty(), float(rng.uniform(0.5, 3)), cost, ends, unknowns=[x, co.Unknown("u", lower=-1, upper=1)]
    )


def _second_order(rng: np.random.Generator, corner: float, cost: Callable[[Any], Any] | None) -> co.Problem:
    """A mass on a spring with friction that changes sign within a speed; as fast as possible without a cost."""
    spring, friction = float(rng.uniform(0, 1)), float(rng.uniform(0, 0.4))
    x = co.State("x", rate=lambda now: now.v)
    v = co.State("v", rate=lambda now: now.u - spring * now.x - friction * ca.tanh(now.v / corner))
    ends = [co.initial(states={"x": float(rng.uniform(0.3, 1)), "v": float(rng.normal())})]
    u = co.Unknown("u", lower=-1.5, upper=1.5)
    if cost is not None:
        return co.Problem(co.Model.empty(), float(rng.uniform(2, 5)), co.integral(cost), ends, unknowns=[x, v, u])
    ends.append(co.final(states={"x": 0.0, "v": 0.0}))
    return co.Problem(co.Model.empty(), co.Free(0.1, 20.0, guess=3.0), co.duration(), ends, unknowns=[x, v, u])


def _network(rng: np.random.Generator) -> co.Problem:
    """A random network of six neurons."""
    n = int(rng.integers(2, 5))
    inner, outer, B = 1.5 * rng.normal(size=(6, n)), rng.normal(size=(n, 6)), rng.normal(size=n)
    x = co.State("x", n, rate=lambda now: ca.DM(outer) @ ca.tanh(ca.DM(inner) @ now.x) + ca.DM(B) * now.u)
    goal, most = 0.5 * rng.normal(size=n), float(rng.uniform(0.5, 4))
    cost = co.integral(lambda now: 0.1 * ca.sumsqr(now.x)) + co.final_cost(lambda now: ca.sumsqr(now.x - goal))
    ends, u = [co.initial(states={"x": rng.normal(size=n)})], co.Unknown("u", lower=-most, upper=most)
    return co.Problem(co.Model.empty(), float(rng.uniform(0.5, 4)), cost, ends, unknowns=[x, u])


# Smooth, stiff, bang-bang, with a singular arc, with a corner, nonlinear.
OF_STATES: tuple[Callable[[np.random.Generator], co.Problem], ...] = (
    lambda rng: _linear(rng, 3, 0.5),
    lambda rng: _linear(rng, 2, 2.5),
    lambda rng: _second_order(rng, 1.0, None),
    lambda rng: _second_order(rng, 1.0, lambda now: now.x**2),
    lambda rng: _second_order(rng, 10 ** float(rng.uniform(-3, -1)), lambda now: now.x**2 + now.u**2),
    _network,
)


def pair(seed: int, device: str) -> tuple[co.Solution, co.Solution]:
    """The answer by way of a device, and the one without it."""
    if device == "estimates":
        problem = OF_STATES[seed % len(OF_STATES)](np.random.default_rng([53, seed]))
        plans = ([co.refinement.Solve(), co.refinement.Refine(1e-3, confirm=confirm)] for confirm in (False, True))
        quick, confirmed = (_solved(problem, None, plan) for plan in plans)
        return quick, confirmed
    problem, curve = effort(seed), _CURVES[seed % len(_CURVES)]
    if device == "limits set aside":
        return _with_many(1, problem, curve), _with_many(10**9, problem, curve)
    if device == "screening":
        plain = co.refinement.Solve()
        return _solved(problem, curve, [plain, co.refinement.SeekStarts(8, quick=True)]), _solved(
            problem, curve, [plain]
        )
    refined = _solved(problem, None, [co.refinement.Solve(), co.refinement.Refine(1e-3)])
    return refined, _solved(problem, refined.nlp.curve, [co.refinement.Solve(tol=1e-3)])


def _with_many(torques: int, problem: co.Problem, curve: Transcription) -> co.Solution:
    """An answer where limits are set aside from this many torques on."""
    shipped, (reduced._MANY, reduced._ROWS) = (reduced._MANY, reduced._ROWS), (torques, torques)
    try:
        return _solved(problem, curve, [co.refinement.Solve()])
    finally:
        reduced._MANY, reduced._ROWS = shipped


def _solved(problem: co.Problem, curve: Transcription | None, plan: list[NextStep]) -> co.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        return co.solve(problem, curve, plan=plan, raise_on_failure=False)


def check(seed: int, device: str) -> None:
    """Assert that an answer called solved by way of a device is no costlier than that without it."""
    altered, plain = pair(seed, device)
    if altered.success and plain.success:
        excess = (altered.cost - plain.cost) / plain.cost_scale
        assert excess <= _COSTLIER, f"{device}: {altered.cost:.6g}, {excess:.2%} more than without it"
