"""One point of the scaling benchmark. Run as a script: prints seconds and megabytes as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.chains.serial import spatial_chain
from colloc.models.two_link import two_link
from colloc.studies.benchmarks.timing import alternately, buffered

CURVES = {"radau": co.Radau, "bspline": co.BSpline, "hermite_simpson": co.HermiteSimpson}
PATIENCE = 60.0  # s


def intervals(kind: str, count: int) -> dict[str, float]:
    """Figures of the time-optimal two-link problem on a number of intervals, on CasADi's virtual machine."""
    problem = co.Problem(
        model=two_link(),
        duration=co.Free(lower=0.1, upper=5.0, guess=1.0),
        minimize=co.duration(),
        subject_to=[co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0), co.bounds(tau=(-10.0, 10.0))],
    )
    warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # coarse grids overshoot at the switches
    solution = co.solve(
        problem, CURVES[kind](count), compile=False, ipopt={"max_wall_time": PATIENCE}, progress=False,
        between="nodes", raise_on_failure=False,
    )  # fmt: skip
    return {
        "T": solution.duration,
        "solved": float(solution.outcome.status is co.solver.Status.SOLVED),
        "build": solution.seconds["build"],
        "solve": solution.seconds["solve"],
        "iterations": solution.iterations,
        "per_iteration": solution.seconds["solve"] / max(1, solution.iterations),
    }


def joints(n: int) -> dict[str, float]:
    """Figures of the functions of an effort problem of n joints in a chain, on CasADi's virtual machine."""
    problem = co.Problem(
        model=spatial_chain(n),
        duration=1.0,
        minimize=co.integral(lambda now: ca.sumsqr(now.tau)),
        subject_to=[co.initial(q=0.0, qd=0.0), co.final(q=0.5, qd=0.0), co.bounds(tau=(-1e3, 1e3))],
    )
    begin = time.perf_counter()
    nlp = co.transcribe(problem, co.BSpline(4), compile=False)
    functions = {"jacobian": nlp.jac_g, "gradient": nlp.grad_f, "hessian": nlp.hess_lag}
    found = {"build": time.perf_counter() - begin}
    rng = np.random.default_rng(7)
    for name, function in functions.items():
        x = np.append(rng.uniform(-0.5, 0.5, nlp.n_x - 1), 1.0)
        lam = [np.ones(1), rng.standard_normal(nlp.n_g)] if name == "hessian" else []
        call = buffered(function, [x, np.zeros(0), *lam])[0]
        found[f"{name}_ms"] = 1e3 * alternately({name: call}, rounds=5, visit=0.05)[name].minimum
    return found


def main(kind: str, count: int) -> None:
    """Run, print."""
    found = joints(count) if kind == "dof" else intervals(kind, count)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in kB
    print(json.dumps(found | {"peak_MB": peak}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
