"""Final angles up to whole turns, on random arms: the answer makes the turn of the best plain statement at all turns.

Its form of the end sometimes leads to another local optimum of the same turn, which this campaign does not judge.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np

import colloc as co
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_SAME = 1e-4  # relative, of costs on the same curve
_SNIPPET = """
from tests.campaigns import turns
turns.check({seed})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One arm with a random goal."""
    seed = int(rng.integers(1_000_000))
    return attempt_apart(_KINDS[seed % len(_KINDS)], _SNIPPET.format(seed=seed), seconds=120.0)


_KINDS = ("one joint", "two joints")


def arm(rng: np.random.Generator, joints: int) -> co.Model:
    """A hanging or lying arm of random links, with motors of random strength."""
    bodies: list[co.Body] = []
    length = 0.0
    for k in range(joints):
        torque = rng.uniform(5.0, 20.0)
        limits = co.Limits(torque=(-torque, torque * rng.uniform(0.5, 1.5)))
        joint = co.revolute((0, 0, 1), co.placement((length, 0, 0)), limits=limits)
        length = rng.uniform(0.2, 0.5)
        link: dict[str, Any] = {"mass": rng.uniform(0.5, 2.0), "com": (length / 2, 0, 0), "inertia": (0.01, 0.02, 0.02)}
        bodies.append(co.Body(f"joint {k}", joint, bodies[-1].name if bodies else None, **link))
    return co.Model(bodies, gravity=(0, 0, 0))


def check(seed: int) -> tuple[float, float]:
    """Assert that no other turn of the plain statement is cheaper; the costs of both."""
    rng = np.random.default_rng([54, seed])
    turning = 1 + seed % len(_KINDS)
    model = arm(rng, 2)
    start, end = rng.uniform(-np.pi, np.pi, 2), rng.uniform(-8.0, 8.0, 2)
    end[turning:] = rng.uniform(-np.pi, np.pi, 2 - turning)

    def solved(goal: np.ndarray, names: list[str]) -> co.Solution:
        ends = [co.initial(q=start, qd=0), co.final(q=goal, qd=0, turns=names)]
        problem = co.Problem(model, co.Free(0.05, 10.0), co.duration(), ends)
        plan = [co.refinement.Solve(tol=1.0)]
        return co.solve(problem, co.BSpline(10), progress=False, plan=plan, raise_on_failure=False)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = solved(end, [f"joint {k}" for k in range(turning)])
        plain: list[co.Solution] = []
        for turns in product(range(-3, 4), repeat=turning):
            goal = end + 2 * np.pi * np.append(turns, [0] * (2 - turning))
            if (np.abs(goal - start)[:turning] <= 2 * np.pi + 1e-9).all():
                answer = solved(goal, [])
                plain += [answer] if answer.outcome.status is co.solver.Status.SOLVED else []
    assert found.outcome.status is co.solver.Status.SOLVED, f"{found.status}: {found.message}"
    best = min(plain, key=lambda answer: answer.cost)
    same = np.allclose(np.asarray(best.q)[-1], np.asarray(found.q)[-1], rtol=0, atol=1e-6)
    costs = sorted(answer.cost for answer in plain)
    assert same or found.cost <= best.cost * (1 + _SAME), f"{found.cost} beside {costs}: {found.message}"
    return found.cost, best.cost
