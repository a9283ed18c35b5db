"""What do exact second derivatives save where muscles move a body, beside a quasi-Newton method?

The same programs from the same start, by IPOPT with exact Hessians and with limited-memory approximations (L-BFGS):
people who rise from a squat by nine muscles, on stiff tendons, on tendons that give, and on a free foot, and an arm
that bends its elbow. Falisse et al. (2019) found exact Hessians slower than L-BFGS, as those of algorithmic
differentiation took most of the time. Seconds are the processor's, of programs that were built and compiled before.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence

import colloc as co
from colloc.studies.arms import elbow
from colloc.studies.reporting import arguments, finish
from colloc.studies.rising import squat
from colloc.support.display import Table

MOST = 2000  # iterations
WAYS = {
    "exact": co.Ipopt(max_iter=MOST),
    "lbfgs": co.Ipopt(max_iter=MOST, hessian=co.solver.Hessian.LIMITED_MEMORY),
}
QUICK = ("rigid",)


def programs(quick: bool) -> dict[str, co.NLP]:
    """The programs by name."""
    ways = QUICK if quick else ("rigid", "compliant", "free")
    made: dict[str, co.NLP] = {f"squat.{way}": co.transcribe(squat.rise(way).problem, squat.curve()) for way in ways}
    if not quick:
        made |= {f"elbow.{way}": co.transcribe(elbow.bend(way).problem, co.Radau(20)) for way in ("rigid", "compliant")}
    return made


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.hessian", __doc__, argv, quick="the squat on stiff tendons", figure=False)
    numbers: dict[str, float] = {}
    rows = []
    warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids that are not refined here
    for name, nlp in programs(args.quick).items():
        for way, solver in WAYS.items():
            co.solve(nlp, solver=solver, between="nodes", progress=False, raise_on_failure=False)
            begin = time.process_time()
            solution = co.solve(nlp, solver=solver, between="nodes", progress=False, raise_on_failure=False)
            seconds = time.process_time() - begin
            result = {
                "seconds": seconds,
                "callbacks": solution.seconds["callbacks"],
                "iterations": float(solution.iterations),
                "cost": solution.cost,
                "solved": float(solution.outcome.status is co.solver.Status.SOLVED),
            }
            numbers |= {f"{name}.{way}.{key}": value for key, value in result.items()}
            said = "" if result["solved"] else solution.outcome.status.name
            cells = f"{seconds:.2f}", f"{result['callbacks']:.2f}", f"{solution.cost:.6g}", said
            rows.append((name, way, str(solution.iterations), *cells))
    print(Table(args.question, ("", "", "iterations", "s", "of which callbacks", "cost", ""), rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
