"""Random motions that exist: where `solve` says solved, `certify` fails nothing.

The fastest motion under limits is mostly limited by some joints only, and the others are flat; multipliers on coarse
grids are noisy, and residuals as small as solvers leave them. None of it refutes an answer.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.benchmarks.random_motions import colloc_problem, random_case
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_JOINTS = 3  # at most: many small problems find more than a few large ones
_CURVES = (None, co.BSpline(16), co.BSpline(8, degree=5, continuity=1), co.Radau(10, 3), co.HermiteSimpson(20))
_SECONDS = 60.0  # of each solve: what is cut short is not called solved
_ORDERED = "time, then effort"
_SNIPPET = """
from tests.campaigns import certified
certified.check({seed}, {cost!r})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One problem, most of them of the shortest time."""
    cost = str(rng.choice(("time", "time", _ORDERED, "effort", "mixed")))
    return attempt_apart(cost, _SNIPPET.format(seed=int(rng.integers(1_000_000)), cost=cost), seconds=300.0)


def check(seed: int, cost: str) -> co.optimality.Certificate:
    """Solve the problem of a seed, or of the next one with such a cost, and assert that nothing fails."""
    while (case := random_case(seed)).n > _JOINTS or not case.limits.get("tau"):
        seed += 1
    problem, curve = colloc_problem(replace(case, cost=cost.partition(",")[0])), _CURVES[seed % len(_CURVES)]
    solution = _solved(problem, curve)
    if cost == _ORDERED and solution.success:
        effort = co.integral(lambda now: ca.sumsqr(now.tau), "effort")
        duration, solution = solution.duration, _solved(replace(problem, minimize=[co.duration(), effort]), curve)
        assert abs(solution.duration - duration) <= 1e-9 * duration, f"{solution.duration - duration:.1e} s more"
    certificate = co.optimality.certify(solution)
    failed = [
        f"{line.condition}: {line.value:.1e}, {line.detail}" for line in certificate.lines if line.passed is False
    ]
    assert not (solution.success and failed), f"solved, but {'; '.join(failed)}"
    return certificate


def _solved(problem: co.Problem, curve: co.curves.Transcription | None) -> co.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        return co.solve(problem, curve, compile=False, raise_on_failure=False, seconds=_SECONDS)
