"""The time-optimal two-link problem with this library. Run as a script: prints seconds as JSON."""

import json
import sys
import time
import warnings

START = time.perf_counter()

import colloc as co  # noqa: E402
from colloc.models.two_link import two_link  # noqa: E402

IMPORTED = time.perf_counter()


def main(kind: str) -> None:
    """Build, solve, print."""
    warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # Hermite-Simpson overshoots at the switches
    problem = co.Problem(
        model=two_link(),
        duration=co.Free(lower=0.1, upper=5.0, guess=1.0),
        minimize=co.duration(),
        subject_to=[co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0), co.bounds(tau=(-10.0, 10.0))],
    )
    curve = co.BSpline(intervals=20) if kind == "spline" else co.HermiteSimpson(intervals=100)
    solution = co.solve(
        problem, curve, plan=[co.refinement.Solve(between="nodes")]
    )  # one nonlinear program, as in plain CasADi
    end = time.perf_counter()
    solve = solution.seconds["solve"]
    seconds = {"import": IMPORTED - START, "build": end - IMPORTED - solve, "solve": solve, "total": end - START}
    print(json.dumps(seconds | {"T": solution.duration, "iterations": solution.iterations}))


if __name__ == "__main__":
    main(sys.argv[1])
