"""Random problems: what is called solved must stand up to Pinocchio and SciPy, what is impossible must fail, and why.

The judge (`colloc.studies.benchmarks.judge`) shares no code with the library: it takes the curve that a solution
offers.
"""

from __future__ import annotations

import numpy as np

import colloc as co
from colloc.studies.benchmarks.honesty import OVERSTEPPED, REFUTED
from colloc.studies.benchmarks.judge import judge
from colloc.studies.benchmarks.random_motions import Case, colloc_problem, pinocchio_model, random_case
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_JOINTS = 3  # at most: many small problems find more than a few large ones
_PATIENCE = 10.0  # s of processor time, for each run of the solver
_CURVES = (
    "co.BSpline(16)",
    "co.BSpline(8, degree=5, continuity=1)",
    "co.BSpline(10, degree=7, continuity=2)",
    "co.Radau(16, 3)",
    "co.Radau(8, 5)",
    "co.HermiteSimpson(24)",
    "None",
)
# A contradiction to any motion of the case, and the name that must be reported for it.
_IMPOSSIBLE = {
    "feasible": "",
    "torques too weak": "co.bounds(tau=(-1e-6, 1e-6))",
    "too slow": "co.bounds(qd=(-0.3 * mean, 0.3 * mean))",
    "contradiction": "co.path(lambda now: now.q[0], lower=float(case.start.max()) + 100.0)",
    "contradiction under a loose bound": "co.path(lambda now: now.q[0], lower=float(case.start.max()) + 9, upper=1e10)",
    "unreachable": "co.at(0.5, lambda now: now.point(now.model.bodies[-1].name).position[0], equals=1e3)",
}
_SNIPPET = """
from tests.campaigns import random_problems
random_problems.check({seed}, {curve!r}, {kind!r}, {tol})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One problem, possible or not, on a transcription."""
    kind = "feasible" if rng.random() < 0.6 else str(rng.choice(list(_IMPOSSIBLE)[1:]))
    curve, seed = str(rng.choice(_CURVES)), int(rng.integers(1_000_000))
    while not _fits(random_case(seed), kind):
        seed += 1
    snippet = _SNIPPET.format(seed=seed, curve=curve, kind=kind, tol=[None, 1e-3][int(rng.integers(2))])
    return attempt_apart(kind, snippet, seconds=300.0)


def _fits(case: Case, kind: str) -> bool:
    """Whether a case is small enough, and what is said to be out of reach cannot be slid to."""
    slides = any(link.slides for link in case.links)
    return len(case.links) <= _JOINTS and not (slides and kind == "unreachable")


def check(seed: int, curve: str, kind: str, tol: float | None) -> None:
    """Solve the problem of a seed, and assert that the answer is true, or that the failure is and names its cause."""
    case = random_case(seed)
    problem = colloc_problem(case)
    if more := _IMPOSSIBLE[kind]:
        # A mean speed no slower than that of the joint with the longest way in the longest time.
        longest = problem.horizon.upper
        names = {"co": co, "case": case, "mean": float(np.abs(case.end - case.start).max() / longest)}
        problem = co.Problem(problem.model, problem.horizon, problem.minimize, [*problem.subject_to, eval(more, names)])
    brief = co.Ipopt(max_cpu_time=_PATIENCE)
    chosen = eval(curve, {"co": co})
    try:
        solution = co.solve(problem, chosen, tol=tol, compile=False, solver=brief)
    except co.SolveError as caught:
        error = str(caught)
    else:
        error = ""
    if error:
        assert not error.startswith("failed"), f"no reason: {error}"
        assert kind == "feasible" or "violated" in error or "limit" in error, f"no cause named: {error}"
        return
    if not solution.success:
        return
    assert kind == "feasible", f"an impossible problem is called solved, violation {solution.violation:.2g}"
    verdict = judge(pinocchio_model(case.links, case.gravity), solution, (case.start, case.end), case.limits)
    assert verdict.error <= REFUTED, f"called solved, and refuted by {verdict.error:.2g} rad"
    assert verdict.overstep <= OVERSTEPPED, f"called solved, and {verdict.overstep:.1%} beyond a limit"
