"""Random equations, and others that follow from them: these are left out, with the same answer; independent ones never.

Independent ones are functions of different random combinations of the joints. The redundant row is a function of one or
two of them that vanishes where these do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.benchmarks.random_arms import random_arm
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_CURVES = (co.BSpline(12), co.Radau(10), co.HermiteSimpson(16))
_SNIPPET = """
from tests.campaigns import redundant
redundant.check({seed}, {along})
"""

Equation = Callable[[Any], ca.SX]


def attempt(rng: np.random.Generator) -> Attempt:
    """One motion, with equations at its end or all along."""
    along = bool(rng.random() < 0.5)
    snippet = _SNIPPET.format(seed=int(rng.integers(1_000_000)), along=along)
    return attempt_apart("along the path" if along else "at the end", snippet, seconds=300.0)


def equations(rng: np.random.Generator, q: np.ndarray, count: int) -> tuple[list[Equation], list[Equation]]:
    """Independent equations that hold at q, shape (n,), and up to two that follow from them."""
    first = [_smooth(rng.normal(size=q.size), q, float(rng.uniform(-1, 1))) for _ in range(count)]
    more: list[Equation] = []
    for _ in range(int(rng.integers(3))):
        one, other = (first[int(k)] for k in rng.integers(count, size=2))
        weight = float(rng.choice([-1, 1]) * 10 ** rng.uniform(-2, 2))
        kinds: list[Equation] = [
            lambda now, one=one, weight=weight: weight * one(now),
            lambda now, one=one, other=other, weight=weight: weight * (one(now) + 0.3 * other(now)),
            lambda now, one=one: ca.sin(one(now)) + 0.2 * one(now) ** 2,
            lambda now, one=one: ca.cos(one(now)) - 1,
            lambda now, one=one, other=other: one(now) * (2 + ca.cos(now.q[0])) + other(now) ** 2,
        ]
        more.append(kinds[int(rng.integers(len(kinds)))])
    return first, more


def _smooth(way: np.ndarray, q: np.ndarray, bend: float) -> Equation:
    def row(now: co.problem.Instant) -> ca.SX:
        off = ca.dot(ca.DM(way), now.q - ca.DM(q))
        return ca.sin(off) + bend * 0.2 * off**2

    return row


def check(seed: int, along: bool) -> None:
    """Assert that what follows is left out, nothing else is, and the answer is that of the independent ones."""
    rng = np.random.default_rng([53, seed])
    model = random_arm(rng, int(rng.integers(3, 6)), prismatic=0.0)
    start, curve, T = rng.uniform(-1, 1, model.n), _CURVES[seed % len(_CURVES)], float(rng.uniform(0.5, 2.0))
    first, more = equations(rng, start, int(rng.integers(1, model.n - 1)))

    def stated(rows: list[Equation]) -> list[co.problem.Statement]:
        names = [f"{'more' if row in more else 'first'} {k}" for k, row in enumerate(rows)]
        if along:
            return [co.path(row, equals=0.0, name=name) for name, row in zip(names, rows, strict=True)]
        return [co.at(1.0, row, equals=0.0, name=name) for name, row in zip(names, rows, strict=True)]

    def solved(rows: list[Equation], guess: co.Solution | None = None) -> co.Solution:
        # Along the path the motion begins where all equations hold; else it ends there, and begins elsewhere.
        begin = start if along else start + 0.5
        ends = [co.initial(q=begin, qd=0.0), co.final(qd=0.0)]
        effort = co.integral(lambda now: ca.sumsqr(now.tau), "effort")
        problem = co.Problem(model, T, effort, [*ends, *stated(rows)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.refinement.SolutionWarning)
            return co.solve(problem, curve, guess=guess, compile=False, raise_on_failure=False)

    once, both = solved(first), solved([*first, *more])
    said = both.message.partition("follow from other equations: ")[2]
    names = [name for name in said.split(", ") if name and not name.startswith("rate of")]  # at rest these follow, too
    # Along the path others may be left out at the ends than between them.
    enough = len(names) >= len(more) > 0 if along and more else len(names) == len(more)
    assert enough, f"{len(more)} equations follow, left out: {said or 'none'}"
    if once.success:
        ended = both.outcome.status
        assert ended is co.solver.Status.SOLVED, f"{once.status} becomes {ended} by equations that follow"
        # A guess is bent to meet all equations, and may lead to another optimum: one without what follows, too.
        alone = once if abs(both.cost / once.cost - 1) < 1e-6 else solved(first, both)
        assert abs(both.cost / alone.cost - 1) < 1e-6, f"{alone.cost} becomes {both.cost}"
