"""Random problems: what `explain` says a limit gains, a solve with that limit relaxed finds.

Derivatives where rows say the same twice: rows stated twice, multiples and sums of others, ends that bounds fix as
well, and bounds that are far away. Multipliers of a solver are then of any size.

Decreases for 1 % where other bounds are met on the way: shortest times and efforts of one to three joints, with limits
of torques, speeds and positions that need not be equal, on grids of `solve` and others.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import colloc as co
from colloc.optimality.explain import Relaxation, relaxed_problem
from colloc.optimality.limits import Limit, limits_of
from colloc.studies.benchmarks.random_motions import Case, colloc_problem, random_case
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_JOINTS = 3  # at most: many small problems find more than a few large ones
_CURVES = (co.BSpline(8), co.BSpline(6, degree=5, continuity=1), co.Radau(6, 3), co.HermiteSimpson(8))
_ONCE = [co.refinement.Solve(tol=1.0, between="nodes")]
_EXACT = co.Ipopt(tol=1e-10, acceptable_tol=1e-10, bound_relax_factor=0.0)
_STEPS = (1e-2, 1e-3, 1e-4)  # of a limit's size, and ten times that of the cost: to first order one of them is right
_AGREES, _NOTHING = 0.1, 3e-8  # share of a forecast; of the cost
_GRIDS = (None, co.BSpline(10), co.BSpline(16, continuity=1), co.HermiteSimpson(10), co.Radau(6, 3))
_SNIPPET = """
from tests.campaigns import explained
explained.{check}({seed})
"""


class Percent(NamedTuple):
    """The decrease of the cost if a limit is relaxed by 1 %, relative to the scale of the cost.

    Parameters
    ----------
    limit : ActiveLimit
    by_derivative, forecast, solved : float
        The latter by a solve; NaN if it has led to another basin.
    """

    limit: co.optimality.ActiveLimit
    by_derivative: float
    forecast: float
    solved: float


def attempt(rng: np.random.Generator) -> Attempt:
    """One problem."""
    check = str(rng.choice(("check", "check_percents")))
    return attempt_apart("explanation", _SNIPPET.format(check=check, seed=int(rng.integers(1_000_000))), seconds=300.0)


def problem_of(seed: int) -> tuple[co.Problem, co.curves.Transcription]:
    """The problem of a seed and a curve for it."""
    rng = np.random.default_rng([47, seed])
    while (case := random_case(seed)).n > _JOINTS or not case.limits.get("tau"):
        seed += 1000
    problem = colloc_problem(replace(case, cost=str(rng.choice(("effort", "mixed", "time")))))
    makers = (_twice, _multiple, _sum, _end, _moment, _far)
    more = [row for make in makers if rng.random() < 0.5 for row in make(rng, case)]
    return replace(problem, subject_to=[*problem.subject_to, *more]), _CURVES[seed % len(_CURVES)]


def check(seed: int) -> co.optimality.Explanation | None:
    """Explain the answer of a problem, and assert that forecasts are right; None where there is none to compare."""
    problem, curve = problem_of(seed)
    answer = _solved(problem, curve, None)
    if answer.outcome.status is not co.solver.Status.SOLVED:
        return None
    explanation, size = co.optimality.explain(answer), answer.cost_scale
    for limit in explanation.limits[:4]:
        shares = []
        for step in _STEPS:
            amount = min(step * limit.size, 0.1 * step * size / limit.gain)
            forecast = amount * limit.gain
            again = _solved(_relaxed(problem, limit, amount), curve, answer)
            shares.append((answer.cost - again.cost) / forecast)
            if abs(shares[-1] - 1) < _AGREES + _NOTHING * size / forecast:
                break
        else:
            elsewhere = _solved(problem, curve, again)
            if answer.cost - elsewhere.cost > _NOTHING * size:
                return None  # a relaxed problem has led to another basin
            raise AssertionError(f"{limit.name} {limit.side}: shares of the forecast {shares}")
    named = {(limit.place, limit.side) for limit in explanation.limits}
    others = [limit for limit in limits_of(answer.nlp, problem) if (limit.place, limit.side) not in named]
    for limit in np.random.default_rng(seed).permutation(np.array([*others, None], dtype=object))[:2]:
        if limit is not None:
            again = _solved(_relaxed(problem, limit, 1e-3 * limit.size), curve, answer)
            gain = (answer.cost - again.cost) / size
            assert gain < 1e-5, f"{limit.name} {limit.side} is not named, and gains {gain:.1e}"
    return explanation


def limited_problem(seed: int) -> tuple[co.Problem, co.curves.Transcription | None]:
    """A problem with limits on the way, and a curve for it; None for the grid of `solve`."""
    rng = np.random.default_rng([53, seed])
    n = int(rng.integers(1, _JOINTS + 1))
    while not (case := random_case(seed)).limits.get("tau"):
        seed += 1000
    n = min(n, case.n)
    factors = 1 + np.where(rng.random((2, n)) < 0.4, rng.uniform(0, 1, (2, n)), 0.0)
    limits = {
        name: (lower[:n] * factors[0], upper[:n] * factors[1]) if name != "q" else (lower[:n], upper[:n])
        for name, (lower, upper) in case.limits.items()
    }
    case = replace(case, links=case.links[:n], start=case.start[:n], end=case.end[:n], limits=limits)
    cost = str(rng.choice(("time", "effort", "mixed"), p=(0.6, 0.2, 0.2)))
    return colloc_problem(replace(case, cost=cost)), _GRIDS[int(rng.integers(len(_GRIDS)))]


def percents(seed: int, most: int = 6) -> list[Percent]:
    """Decreases for 1 % of the limits of a problem, forecast and solved; empty without an answer."""
    problem, curve = limited_problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        if curve is None:
            answer = co.solve(problem, compile=False, raise_on_failure=False)
        else:
            answer = _solved(problem, curve, None)
    return percents_of(answer, most) if answer.outcome.status is co.solver.Status.SOLVED else []


def percents_of(answer: co.Solution, most: int = 6) -> list[Percent]:
    """Decreases for 1 % of the limits of an answer, forecast and solved on the same curve."""
    problem, curve, size = answer.problem, answer.curve, answer.cost_scale
    stated, found = _solved(problem, curve, answer), []
    for limit in co.optimality.explain(answer).limits[:most]:
        amount = 0.01 * (abs(limit.bound) or limit.size)
        again = _solved(_relaxed(problem, limit, amount), curve, answer)
        elsewhere = _solved(problem, curve, again)
        right = all(one.outcome.status is co.solver.Status.SOLVED for one in (stated, again))
        right = right and stated.cost - elsewhere.cost < _NOTHING * size
        solved = (stated.cost - again.cost) / size if right else np.nan
        found.append(Percent(limit, amount * limit.gain / size, limit.of_percent / size, solved))
    return found


def check_percents(seed: int) -> None:
    """Assert that forecasts for 1 % are what solves find; unknown ones are right for what they say."""
    for limit, _, forecast, solved in percents(seed):
        if not np.isnan(forecast + solved):
            text = f"{limit.name} {limit.side} gains {solved:.2e}, forecast: {forecast:.2e}"
            assert abs(forecast - solved) < _AGREES * solved + _NOTHING, text


def _solved(problem: co.Problem, curve: co.curves.Transcription, guess: Any) -> co.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        return co.solve(problem, curve, guess=guess, plan=_ONCE, solver=_EXACT, compile=False, raise_on_failure=False)


def _relaxed(problem: co.Problem, limit: Limit, amount: float) -> co.Problem:
    fields = {name: value for name, value in vars(limit).items() if name not in ("gain", "of_percent", "first", "last")}
    wider = relaxed_problem(problem, [Relaxation(**fields, needed=limit.bound + limit.sign * amount, t=np.nan)], 1.0)
    assert isinstance(wider, co.Problem)
    return wider


def _twice(rng: np.random.Generator, case: Case) -> list[Any]:
    """The bounds of the torques once more."""
    return [co.bounds(tau=case.limits["tau"])]


def _multiple(rng: np.random.Generator, case: Case) -> list[Any]:
    """A multiple of one torque within the same multiple of its bounds."""
    j, factor = int(rng.integers(case.n)), rng.uniform(0.3, 3)
    lower, upper = (factor * side[j] for side in case.limits["tau"])
    return [co.path(lambda now: factor * now.tau[j], lower=lower, upper=upper, name="multiple")]


def _sum(rng: np.random.Generator, case: Case) -> list[Any]:
    """The sum of all positions at the end, which is what it is there."""
    return [co.at(1.0, lambda now: sum(now.q[j] for j in range(case.n)), equals=float(case.end.sum()), name="sum")]


def _end(rng: np.random.Generator, case: Case) -> list[Any]:
    """A stop just where a joint's way ends."""
    j = int(rng.integers(case.n))
    side: dict[str, Any] = {"upper" if case.end[j] > case.start[j] else "lower": float(case.end[j])}
    return [co.path(lambda now: now.q[j], **side, name="stop")]


def _moment(rng: np.random.Generator, case: Case) -> list[Any]:
    """A position on the way, stated twice."""
    j = int(rng.integers(case.n))
    place = float((case.start + case.end)[j] / 2)
    return [co.at(0.5, lambda now, f=f: f * now.q[j], equals=f * place, name=f"place {f}") for f in (1, 2)]


def _far(rng: np.random.Generator, case: Case) -> list[Any]:
    """A bound that no motion comes near to."""
    return [co.path(lambda now: 1e3 + now.q[0], lower=0.0, name="far")]
