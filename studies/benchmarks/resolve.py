"""What does a solve cost beside IPOPT, if the program has been solved for a neighbour?

A Panda moves between two postures with least effort, on twelve intervals; from call to call its goal, a parameter, goes
on by a thousandth of a radian, and every motion is the guess of the next. IPOPT alone is called with the same starts. A
call of `co.solve` also bends the guess to the new goal, looks for undefined values, and judges the answer between its
nodes and against the best motion; a case of a sweep is stored as well. Seconds are the processor's; ratios are medians
over goals.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.panda import panda
from colloc.models.two_link import two_link
from colloc.solution.warm_start import start_from
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

CURVE = co.BSpline(12)
STEP = 1e-3  # rad
UNJUDGED = co.refinement.Solve(tol=1.0, judge_cost=False)
OPTIONS = (Option("goals", 40, "number of goals", least=5),)


def problem(*, small: bool = False) -> co.Problem:
    """Least effort between two postures in a second, of an arm of seven joints, or of two."""
    model = two_link() if small else panda()
    start = np.array([0.0, -1.0] if small else [0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])
    goal = np.array([0.6, -0.5] if small else [0.9, 0.3, -0.4, -1.5, 0.3, 2.4, 0.2])
    torque = np.array([20.0] * 2 if small else [87.0] * 4 + [12.0] * 3)
    conditions = [
        co.initial(q=start, qd=0.0),
        co.at(1.0, lambda now: now.q - goal - now.shift, equals=0.0, name="goal"),
        co.final(qd=0.0),
        co.bounds(tau=(-torque, torque)),
    ]
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    return co.Problem(model, 1.0, effort, conditions, parameters=[co.Parameter("shift", 0.0)])


def by_calls(nlp: Any, first: co.Solution, shifts: np.ndarray, **options: Any) -> tuple[list[float], list[co.Solution]]:
    """Seconds of one solve after another, and the solutions."""
    seconds, solutions = [], [first]
    for shift in shifts:
        begin = time.process_time()
        solution = co.solve(nlp, guess=solutions[-1], parameters={"shift": shift}, progress=False, **options)
        seconds.append(time.process_time() - begin)
        solutions.append(solution)
    return seconds, solutions[1:]


def by_ipopt(nlp: Any, solutions: Sequence[co.Solution], shifts: np.ndarray) -> tuple[list[float], list[float]]:
    """Seconds of IPOPT from the same starts, and the costs at its ends."""
    prepared, seconds, costs = co.Ipopt().prepare(nlp), [], []
    for guess, shift in zip(solutions, shifts, strict=True):
        p = np.array([shift])
        start = start_from(nlp, guess, p)
        begin = time.process_time()
        outcome = prepared(start, p)
        seconds.append(time.process_time() - begin)
        costs.append(float(nlp.f(outcome.x, p)))
    return seconds, costs


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and the answer."""
    begin = time.process_time()
    answer = call()
    return time.process_time() - begin, answer


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "two links in place of the Panda, five goals"
    args = arguments("benchmarks.resolve", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    shifts = STEP * np.arange(1, 1 + (5 if args.quick else args.goals))
    stated, seconds = problem(small=args.quick), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # a coarse grid
        building, nlp = timed(lambda: co.transcribe(stated, CURVE))
        cold, first = timed(lambda: co.solve(nlp, progress=False))
        by_calls(nlp, first, shifts[:3])  # what is done once is not timed
        seconds["call"], solutions = by_calls(nlp, first, shifts)
        seconds["unjudged"], _ = by_calls(nlp, first, shifts, plan=[UNJUDGED])
        seconds["ipopt"], costs = by_ipopt(nlp, [first, *solutions[:-1]], shifts)
        co.sweep(stated, {"shift": shifts[:2]}, CURVE, progress=False)
        spent, table = timed(lambda: co.sweep(stated, {"shift": shifts}, CURVE, progress=False))
    seconds["sweep"] = [spent / shifts.size]
    numbers = {f"resolve.{way}.ms": 1e3 * median(values) for way, values in seconds.items()}
    numbers |= {f"resolve.{way}.ratio": numbers[f"resolve.{way}.ms"] / numbers["resolve.ipopt.ms"] for way in seconds}
    calls = np.array([solution.cost for solution in solutions])
    numbers |= {
        "resolve.first.ms": 1e3 * (building + cold),
        "resolve.iterations": float(median(solution.iterations for solution in solutions)),
        "resolve.goals": float(shifts.size),
        "resolve.difference": float(max(np.abs(other / calls - 1).max() for other in (costs, table["cost"]))),
    }
    names = {"call": "co.solve", "unjudged": "without judgement", "ipopt": "IPOPT alone", "sweep": "a case of a sweep"}
    rows = [
        (names[way], f"{numbers[f'resolve.{way}.ms']:.1f}", f"{numbers[f'resolve.{way}.ratio']:.2f}") for way in seconds
    ]
    notes = [
        f"  {numbers['resolve.iterations']:.0f} iterations; the first solve, its program included, "
        f"{numbers['resolve.first.ms']:.0f} ms; costs differ by {numbers['resolve.difference']:.0e}"
    ]
    title = f"{stated.model.name} to {shifts.size} goals, milliseconds of the processor for each"
    print(Table(title, ("", "ms", "over IPOPT"), rows, notes).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
