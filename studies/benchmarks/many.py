"""How many optima a second come from problems that are solved side by side, and are they those of single runs?

Least effort to random goals from one start at rest: an arm of two links under gravity on twenty intervals, and a Panda
on twelve. IPOPT alone is run for a share of them, from the same guesses: with its monotone barrier, as side by side,
and with the adaptive barrier, the default here, which may end in another of several optima. Seconds are the
processor's.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.panda import panda
from colloc.models.two_link import two_link
from colloc.solution.warm_start import start_from
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

SAME = 1e-9  # of the cost
SHARP: dict[str, Any] = {"tol": 1e-11, "compl_inf_tol": 1e-11, "bound_relax_factor": 0.0}
MONOTONE = co.Ipopt(**SHARP, mu_strategy="monotone", mu_init=0.1)
OPTIONS = (
    Option("small", 2000, "optima of two links", least=10),
    Option("large", 200, "optima of the Panda", least=10),
    Option("alone", 40, "single runs of each", least=5),
)


def program(
    model: co.Model, start: np.ndarray, goal: np.ndarray, torque: np.ndarray, curve: co.BSpline
) -> co.transcription.NLP:
    """Least effort in a second to a goal that is a parameter."""
    conditions = [
        co.initial(q=start, qd=0.0),
        co.at(1.0, lambda now: now.q - now.goal, equals=0.0),
        co.final(qd=0.0),
        co.bounds(tau=(-torque, torque)),
    ]
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    problem = co.Problem(model, 1.0, effort, conditions, parameters=[co.Parameter("goal", goal)])
    return co.transcribe(problem, curve)


def two_links() -> co.transcription.NLP:
    """An arm of two links, from hanging half-way."""
    return program(two_link(9.81), np.array([-1.5, 0.2]), np.array([0.2, 0.6]), np.array([20.0, 20.0]), co.BSpline(20))


def seven_joints() -> co.transcription.NLP:
    """A Panda between two usual postures."""
    start, goal = [0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8], [0.9, 0.3, -0.4, -1.5, 0.3, 2.4, 0.2]
    return program(panda(), np.array(start), np.array(goal), np.array([87.0] * 4 + [12.0] * 3), co.BSpline(12))


def measured(nlp: co.transcription.NLP, count: int, alone: int) -> dict[str, float]:
    """Optima a second of both ways, and the share that is the same."""
    (goal,) = nlp.problem.all_parameters
    goals = goal.value + np.random.default_rng(0).uniform(-0.3, 0.3, (count, goal.value.size))
    co.sweeps.solve_many(nlp, {"goal": goals[:16]})  # what is done once is not timed
    begin = time.process_time()
    many = co.sweeps.solve_many(nlp, {"goal": goals})
    seconds = time.process_time() - begin
    usual, per_second = one_by_one(nlp, goals[:alone], co.Ipopt(**SHARP))
    monotone, _ = one_by_one(nlp, goals[:alone], MONOTONE)
    off, other = many.cost[:alone] / monotone - 1, many.cost[:alone] / usual - 1
    return {
        "count": float(count),
        "per_second": count / seconds,
        "ipopt_per_second": per_second,
        "solved": float(np.isfinite(many.cost).sum()),
        "one_by_one": float(len(many.alone)),
        "same": float((np.abs(off) <= SAME).mean()),
        "same_as_adaptive": float((np.abs(other) <= SAME).mean()),
        "cheaper_than_adaptive": float((other < -SAME).mean()),
        "iterations": float(np.median([outcome.iterations for outcome in many.outcomes])),
    }


def one_by_one(nlp: co.transcription.NLP, goals: np.ndarray, solver: co.Ipopt) -> tuple[np.ndarray, float]:
    """Costs by IPOPT, NaN without an optimum, and optima a second."""
    prepared, spent, costs = solver.prepare(nlp), 0.0, []
    for p in goals:
        start = start_from(nlp, None, p)
        begin = time.process_time()
        outcome = prepared(start, p)
        spent += time.process_time() - begin
        solved = outcome.status is co.solver.Status.SOLVED
        costs.append(float(nlp.f(outcome.x, p)) if solved else np.nan)
    return np.array(costs), len(goals) / spent


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.many", __doc__, argv, quick="twenty of each", options=OPTIONS, figure=False)
    sizes = (20, 20, 5) if args.quick else (args.small, args.large, args.alone)
    numbers, rows = {}, []
    for name, nlp, count in (("two_links", two_links(), sizes[0]), ("panda", seven_joints(), sizes[1])):
        result = measured(nlp, count, sizes[2])
        numbers |= {f"many.{name}.{key}": value for key, value in result.items()}
        rows.append(
            (
                name.replace("_", " "),
                f"{result['count']:.0f}",
                f"{result['per_second']:.0f}",
                f"{result['ipopt_per_second']:.0f}",
                f"{result['same']:.1%}",
                f"{result['same_as_adaptive']:.1%}, {result['cheaper_than_adaptive']:.1%}",
                f"{result['solved']:.0f}, {result['one_by_one']:.0f}",
            )
        )
    header = (
        "", "problems", "a second", "by IPOPT", "same cost as monotone", "as adaptive, cheaper", "solved, one by one",
    )  # fmt: skip
    print(Table("Optima a second of the processor", header, rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
