"""What does it cost to know how far an answer can be trusted?

The two-link studies on every transcription: `solve`, which measures the error between the nodes and adds nodes where
limits are exceeded there, against the same solver on the same nonlinear program and nothing else, in turns.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from statistics import median

import colloc as co
from colloc.solution.warm_start import start_from
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.two_link import lifting, prismatic_revolute, time_optimal
from colloc.support.display import Table

PROBLEMS = {
    "time optimal": time_optimal.problem,
    "lifting": lifting.problem,
    "prismatic revolute": prismatic_revolute.problem,
}
CURVES = {"bspline": co.BSpline(20), "radau": co.Radau(20), "hermite_simpson": co.HermiteSimpson(30)}
OPTIONS = (Option("rounds", 9, "pairs of solves", least=1),)


def unjudged(problem: co.Problem, curve: co.BSpline | co.Radau | co.HermiteSimpson) -> None:
    """Transcribed and handed to IPOPT, as `solve` does, and whatever comes back believed."""
    nlp, values = co.transcribe(problem, curve, compile=False), problem.parameter_values()
    co.Ipopt().prepare(nlp)(start_from(nlp, None, values), values)


def judged(problem: co.Problem, curve: co.BSpline | co.Radau | co.HermiteSimpson) -> co.Solution:
    """Solved, measured, and where limits are exceeded between nodes solved again with more of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        return co.solve(problem, curve, compile=False, progress=False)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.error_control", __doc__, argv, quick="one pair of each", options=OPTIONS, figure=False)
    numbers: dict[str, float] = {}
    rows = []
    for what, problem in PROBLEMS.items():
        for name, curve in CURVES.items():
            solution = judged(problem, curve)
            added = 0 if solution.nlp.grid.extra is None else solution.nlp.grid.extra.s.size
            pairs = [
                (_seconds(lambda c=curve, p=problem: judged(p, c)), _seconds(lambda c=curve, p=problem: unjudged(p, c)))
                for _ in range(1 if args.quick else args.rounds)
            ]
            ratio = median(ours / bare for ours, bare in pairs)
            key = f"error_control.{what.replace(' ', '_')}.{name}"
            numbers |= {f"{key}.ratio": ratio, f"{key}.nodes_added": float(added)}
            seconds = (f"{1e3 * median(side):.0f} ms" for side in zip(*pairs, strict=True))
            rows.append((what, name, str(solution.status), str(added), *seconds, f"{ratio:.2f}"))
    untouched = [
        value for key, value in numbers.items() if key.endswith(".ratio") and not numbers[f"{key[:-5]}nodes_added"]
    ]
    numbers["error_control.ratio.nothing_added"] = median(untouched) if untouched else float("nan")
    header = ("", "", "status", "nodes added", "judged", "believed", "ratio, pair by pair")
    print(Table("Cost of error control, medians", header, rows).text())
    return finish(args, numbers)


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
