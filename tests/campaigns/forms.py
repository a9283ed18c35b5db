"""Random mechanisms in compact and lifted form: one optimum has the same multipliers, and a race keeps the cheaper one.

Least effort of driven and underactuated mechanisms, on all transcriptions, some of them timed freely. On a finer grid
the default barrier stays at the local optimum of a coarse one, if a monotone barrier does.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

import colloc as co
from colloc.solution.warm_start import start_from
from colloc.studies.benchmarks.iterations import Case, in_form, random_effort
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_SAME = 1e-7  # of the cost: one optimum
_COSTLIER = 1e-3
_STAYED = 0.1  # of the cost, by which a finer grid may change that of a local optimum
_SNIPPET = """
from tests.campaigns import forms
forms.check({seed}, timed={timed})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One mechanism."""
    seed, timed = int(rng.integers(1_000_000)), bool(rng.random() < 0.3)
    kind = f"{random_effort(seed).kind}{', time as well' if timed else ''}"
    return attempt_apart(kind, _SNIPPET.format(seed=seed, timed=timed), seconds=300.0)


def check(seed: int, *, timed: bool = False) -> None:
    """Solve a problem in all forms, and assert that they agree where they should."""
    case = random_effort(seed)
    if timed:
        T = float(case.problem.horizon.upper)
        cost = co.duration() + case.problem.minimize * (1e-2 / T)
        case = case._replace(problem=replace(case.problem, duration=co.Free(T / 2, 2 * T, T), minimize=cost))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of coarse grids
        ends = {form: in_form(case, form) for form in ("compact", "lifted", "race", "auto")}
    solved = {form: end for form, end in ends.items() if end.outcome.status is co.solver.Status.SOLVED}
    costs = [float(solved[form].cost) for form in ("compact", "lifted") if form in solved]
    if not costs:
        return
    assert "race" in solved, f"{case.kind}: a race has no answer where a form has one"
    assert "auto" in solved or "compact" not in solved, (
        f"{case.kind}: no answer by default where the compact form has one"
    )
    lost = (float(ends["race"].cost) - min(costs)) / abs(min(costs))
    assert lost <= _COSTLIER, f"{case.kind}: the end of a race is {lost:.1%} costlier than that of a form"
    if "compact" in solved:
        _refine(case, ends["compact"])
    if "lifted" in solved:
        _confirm(case, ends["lifted"])
    if {"compact", "lifted"} <= solved.keys():
        _compare(ends["compact"], ends["lifted"])


def _confirm(case: Case, lifted: co.Solution) -> None:
    """The lifted end is one of the program itself, which its multipliers start."""
    outcome = co.Ipopt().prepare(lifted.nlp)(co.solver.Start(lifted.x, lifted.multipliers), lifted.parameters)
    again = float(lifted.nlp.f(outcome.x, lifted.parameters))
    assert outcome.status is co.solver.Status.SOLVED, f"{case.kind}: the lifted end is {outcome.status}"
    assert abs(again - lifted.cost) <= _SAME * abs(again), f"{case.kind}: lifted cost {lifted.cost}, confirmed {again}"


def _refine(case: Case, coarse: co.Solution) -> None:
    """The default barrier stays at the local optimum on a finer grid, if a monotone barrier does."""
    nlp = co.transcribe(coarse.problem, replace(case.curve, intervals=2 * (case.curve.intervals or 1)))
    start, p = start_from(nlp, coarse, coarse.parameters), coarse.parameters
    assert start.near_optimum
    monotone, default = (solver.prepare(nlp)(start, p) for solver in (co.Ipopt(mu_strategy="monotone"), co.Ipopt()))
    costs = [float(nlp.f(outcome.x, p)) for outcome in (monotone, default)]
    if monotone.status is not co.solver.Status.SOLVED or abs(costs[0] - coarse.cost) > _STAYED * abs(coarse.cost):
        return
    assert default.status is co.solver.Status.SOLVED, f"{case.kind}: on a finer grid the end is {default.status}"
    more = (costs[1] - costs[0]) / abs(costs[0])
    assert more <= _COSTLIER, f"{case.kind}: on a finer grid the default barrier ends {more:.1%} costlier"


def _compare(compact: co.Solution, lifted: co.Solution) -> None:
    """Where both forms end at one motion, their multipliers are the same."""
    size = lifted.nlp.scale_x
    if np.abs((compact.x - lifted.x) / size).max() > 1e-5:
        return
    scale = lifted.outcome.scale
    assert scale is not None
    sizes = {"g": scale.rows / scale.cost, "x": size / scale.cost}
    for name, factor in sizes.items():
        values, others = compact.multipliers[name] * factor, lifted.multipliers[name] * factor
        most = 1.0 + np.abs(values).max(initial=0.0)
        assert np.abs(values - others).max(initial=0.0) <= 1e-3 * most, f"multipliers {name} of one optimum differ"
