"""How should a problem be posed so that IPOPT's linear algebra is cheap?

The library's own choices against the alternatives, one at a time, on smooth splines and on splines whose accelerations
may jump: end states as constraint rows instead of fixed variables, MUMPS as IPOPT sets it up by itself, either
barrier whatever the problem, torques lifted to variables of their own, Gauss-Newton. Linear algebra is what a solve
takes beside its callbacks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.chains.serial import spatial_chain
from colloc.problem import Bounds, Condition, EndState
from colloc.studies.benchmarks.effort import effort
from colloc.studies.reporting import arguments, finish
from colloc.studies.two_link import time_optimal
from colloc.support.display import Table

MUMPS_ALONE = {"mumps_permuting_scaling": 7, "mumps_pivot_order": 7, "mumps_scaling": 77}  # IPOPT's defaults


class Case(NamedTuple):
    """A problem on a transcription."""

    name: str
    problem: co.Problem
    curve: co.curves.Transcription


class Choice(NamedTuple):
    """A way to pose a problem, and options of `co.Ipopt` to solve it with."""

    name: str
    pose: Callable[[co.Problem], co.Problem]
    options: dict[str, Any]


def unchanged(problem: co.Problem) -> co.Problem:
    """The problem as it is."""
    return problem


def ends_as_rows(problem: co.Problem) -> co.Problem:
    """End states as general constraints, which fix no variables."""
    return replace(problem, subject_to=[_row(one) if isinstance(one, EndState) else one for one in problem.subject_to])


def _row(state: EndState) -> Condition:
    def difference(now: co.problem.Instant) -> ca.SX:
        return ca.vertcat(*(getattr(now, quantity) - ca.DM(value) for quantity, value in state.values.items()))

    return co.at(state.where.s, difference, equals=0.0, name=state.name)


def torques_lifted(problem: co.Problem) -> co.Problem:
    """Bounded signals that equal the torques at collocation points, in place of bounds on the torques themselves."""
    lower, upper = problem.limits("tau")
    lifted = co.Unknown("lifted", size=problem.model.n, lower=lower, upper=upper)
    kept = [one for one in problem.subject_to if not isinstance(one, Bounds)]
    equal = co.path(lambda now: now.tau - now.lifted, equals=0.0, name="lifted torques")
    return replace(problem, subject_to=[*kept, equal], unknowns=[lifted])


OURS = Choice("as it is", unchanged, {})
CHOICES = [
    Choice("end states as rows", ends_as_rows, {}),
    Choice("MUMPS by itself", unchanged, MUMPS_ALONE),
    Choice("monotone barrier", unchanged, {"mu_strategy": "monotone"}),
    Choice("adaptive barrier", unchanged, {"mu_strategy": "adaptive"}),
    Choice("Gauss-Newton", unchanged, {"hessian": co.solver.Hessian.GAUSS_NEWTON}),
    Choice("torques lifted", torques_lifted, {}),
]


def cases(quick: bool) -> list[Case]:
    """Problems of both kinds, small and large."""
    arm = time_optimal.problem
    found = [Case("spline, 2 joints", arm, co.BSpline(20)), Case("Radau 50, 2 joints", arm, co.Radau(50))]
    if quick:
        return found
    n = 7
    reach = [co.initial(q=0.0, qd=0.0), co.final(q=np.linspace(0.8, 0.4, n), qd=0.0), co.bounds(tau=(-60.0, 60.0))]
    chain = co.Problem(spatial_chain(n), co.Free(0.1, 3.0, 1.0), co.duration(), reach)
    human = effort(small=False)
    return [
        *found,
        Case("Radau 1000, 2 joints", arm, co.Radau(1000)),
        Case("Radau 30, 7 joints", chain, co.Radau(30)),
        Case("spline, 43 joints", human.problem(), human.curve),
    ]


def applies(choice: Choice, case: Case) -> bool:
    """Whether a choice makes sense: Gauss-Newton needs squares, lifted torques accelerations that may jump."""
    if choice.name == "Gauss-Newton":
        return "duration" not in case.problem.integrands
    return choice.name != "torques lifted" or not isinstance(case.curve, co.BSpline)


def measure(case: Case, choice: Choice, turns: int) -> dict[str, float]:
    """Iterations, milliseconds of linear algebra in each, and the cost; the median of several solves."""
    problem, found = choice.pose(case.problem), []
    for _ in range(turns):
        options: dict[str, Any] = {"max_iter": 500} | choice.options
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.refinement.SolutionWarning)
            found.append(
                co.solve(
                    problem, case.curve, plan=[co.refinement.Solve(between="nodes")], solver=co.Ipopt(**options),
                    progress=False, raise_on_failure=False,
                )
            )  # fmt: skip
    algebra = median(one.seconds["solve"] - one.seconds["callbacks"] for one in found)
    last = found[-1]
    return {
        "iterations": last.iterations,
        "ms_per_iteration": 1e3 * algebra / max(1, last.iterations),
        "seconds": algebra,
        "cost": last.cost,
        "solved": float(last.message == "Solve_Succeeded"),
    }


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.kkt", __doc__, argv, quick="two small problems", figure=False)
    numbers: dict[str, float] = {}
    rows = []
    for case in cases(args.quick):
        ours = measure(case, OURS, turns=3)
        for choice in [OURS, *(choice for choice in CHOICES if applies(choice, case))]:
            one = ours if choice is OURS else measure(case, choice, turns=3)
            ratio = one["seconds"] / ours["seconds"]
            key = f"kkt.{case.name}.{choice.name}".replace(" ", "_").replace(",", "")
            numbers |= {f"{key}.{name}": value for name, value in one.items()} | {f"{key}.ratio": ratio}
            solved = "" if one["solved"] else "not solved"
            figures = (f"{one['iterations']:.0f}", f"{one['ms_per_iteration']:.2f}", f"{one['seconds']:.3f}")
            rows.append((case.name, choice.name, *figures, f"{ratio:.2f}", f"{one['cost']:.8g}", solved))
    header = ("", "", "iterations", "ms each", "s in all", "against ours", "cost", "")
    print(Table("Linear algebra of IPOPT, without callbacks", header, rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
