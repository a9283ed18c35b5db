"""What does a case of a sweep cost, beside the same solve by hand and IPOPT alone?

The fastest swing of a two-link arm under torque limits that vary from case to case, every case from the one before. By
hand the program is made once and solved again and again, `co.solve(nlp, guess=solution, parameters=...)`; both measure
the error between the nodes and judge by it, which IPOPT alone does not. Seconds are the processor's, on CasADi's
virtual machine; ratios are medians over rounds in which all three take turns.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

import colloc as co
from colloc.studies.benchmarks.memory import CURVE, problem
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

WAYS = ("sweep", "solve", "solver")
OPTIONS = (
    Option("cases", 60, "number of cases", least=2),
    Option("rounds", 5, "number of turns", least=1),
)


def by_sweep(limits: np.ndarray) -> np.ndarray:
    """Durations of all cases, by a sweep."""
    return co.sweep(co.transcribe(problem(), CURVE, compile=False), {"limit": limits}, progress=False)["duration"]


def by_hand(limits: np.ndarray) -> np.ndarray:
    """The same by one solve after another."""
    nlp, solution, durations = co.transcribe(problem(), CURVE, compile=False), None, []
    for limit in limits:
        parameters = {"limit": limit}
        solution = co.solve(
            nlp, guess=solution, parameters=parameters, plan=[co.refinement.Solve(between="nodes")], progress=False
        )
        durations.append(solution.duration)
    return np.array(durations)


def by_solver(limits: np.ndarray) -> np.ndarray:
    """The same by the solver alone, which receives starts and returns results."""
    nlp: Any = co.transcribe(problem(), CURVE, compile=False)
    first = co.solve(nlp, parameters={"limit": limits[0]}, plan=[co.refinement.Solve(between="nodes")], progress=False)
    prepared, start, durations = co.Ipopt().prepare(nlp), co.solver.Start(first.x, first.multipliers), []
    for limit in limits:
        outcome = prepared(start, np.array([limit]))
        start = co.solver.Start(outcome.x, outcome.multipliers)
        durations.append(nlp.duration(outcome.x))
    return np.array(durations)


def processor(call: Callable[[np.ndarray], np.ndarray], limits: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds of the processor a case, and what came of it."""
    begin = time.process_time()
    result = call(limits)
    return (time.process_time() - begin) / limits.size, result


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "eight cases, one turn"
    args = arguments("benchmarks.batches", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    cases, rounds = (8, 1) if args.quick else (args.cases, args.rounds)
    limits, calls = np.linspace(5.0, 20.0, cases), dict(zip(WAYS, (by_sweep, by_hand, by_solver), strict=True))
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    answers: dict[str, np.ndarray] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # coarse grids overshoot at the switches
        for call in calls.values():
            call(limits[:2])  # what is done once is not timed
        for _ in range(rounds):
            for way, call in calls.items():
                spent, answers[way] = processor(call, limits)
                seconds[way].append(spent)
    numbers = {f"batches.{way}.ms": 1e3 * median(seconds[way]) for way in WAYS}
    for way, key in (("solve", "ratio"), ("solver", "over_solver")):
        ratios = [ours / other for ours, other in zip(seconds["sweep"], seconds[way], strict=True)]
        numbers[f"batches.{key}"] = median(ratios)
    numbers["batches.cases"] = float(cases)
    numbers["batches.difference"] = max(
        float(np.abs(answers[way] / answers["sweep"] - 1).max()) for way in ("solve", "solver")
    )
    rows = [(way, f"{numbers[f'batches.{way}.ms']:.1f}") for way in WAYS]
    notes = [
        f"  a sweep over solves by hand {numbers['batches.ratio']:.3f}, over IPOPT alone "
        f"{numbers['batches.over_solver']:.2f}; durations differ by {numbers['batches.difference']:.0e}"
    ]
    print(Table(f"{cases} cases of two links, milliseconds of the processor a case", ("", "ms"), rows, notes).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
