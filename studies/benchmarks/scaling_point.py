"""One point of the scaling benchmark. Run as a script: prints seconds and megabytes as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.chains.serial import spatial_chain
from colloc.studies.benchmarks.phases import CURVES as PHASE_CURVES
from colloc.studies.benchmarks.phases import phases
from colloc.studies.benchmarks.timing import alternately, buffered
from colloc.studies.two_link import time_optimal

CURVES = {"radau": co.Radau, "bspline": co.BSpline, "hermite_simpson": co.HermiteSimpson}
PATIENCE = 120.0  # s of the processor
# Intervals of which only some iterations are timed; the number of iterations follows from smaller ones.
MANY, FEW_ITERATIONS = 2000, 15


def solved(problem: Any, curve: Any, **options: Any) -> dict[str, float]:
    """Seconds of the processor before the first iterate and after, as the plain call evaluates and factorises."""
    warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # coarse grids overshoot at the switches
    begin, iterates = time.process_time(), []

    def note(_: co.refinement.Iteration) -> None:
        iterates.append(time.process_time())

    limits = {"max_cpu_time": PATIENCE, **options}
    solution = co.solve(
        problem,
        curve,
        solver=co.Ipopt(**limits),
        plan=[co.refinement.Solve(between="nodes")],
        progress=note,
        raise_on_failure=False,
    )
    return {
        "T": solution.duration,
        "solved": float(solution.outcome.status is co.solver.Status.SOLVED),
        "build": iterates[0] - begin,
        "solve": iterates[-1] - iterates[0],
        "iterations": solution.iterations,
        "per_iteration": (iterates[-1] - iterates[0]) / max(1, solution.iterations),
    }


def intervals(kind: str, count: int) -> dict[str, float]:
    """Figures of the time-optimal two-link problem on a number of intervals."""
    options = {"max_iter": FEW_ITERATIONS} if count > MANY else {}
    return solved(time_optimal.problem, CURVES[kind](count), **options)


def motion_in_phases(count: int) -> dict[str, float]:
    """Figures of a motion of two links in so many phases."""
    return solved(phases(count), PHASE_CURVES["bspline"])


def refused(a: float, b: float) -> co.Problem:
    """No problem: all of such a sweep but the solving is left."""
    raise ValueError


def cases(count: int) -> dict[str, float]:
    """Milliseconds that a sweep's own work on a case takes."""
    grid, begin = {"a": np.arange(count / 100), "b": np.arange(100.0)}, time.process_time()
    table = co.sweep(refused, grid, progress=False)
    assert table.failed.size == count
    return {"per_case_ms": 1e3 * (time.process_time() - begin) / count}


def joints(n: int) -> dict[str, float]:
    """Figures of the functions of an effort problem of n joints in a chain, on CasADi's virtual machine."""
    problem = co.Problem(
        model=spatial_chain(n),
        duration=1.0,
        minimize=co.integral(lambda now: ca.sumsqr(now.tau)),
        subject_to=[co.initial(q=0.0, qd=0.0), co.final(q=0.5, qd=0.0), co.bounds(tau=(-1e3, 1e3))],
    )
    begin = time.process_time()
    nlp = co.transcribe(problem, co.BSpline(4), compile=False)
    functions = {"jacobian": nlp.jac_g, "gradient": nlp.grad_f, "hessian": nlp.hess_lag}
    found = {"build": time.process_time() - begin}
    rng = np.random.default_rng(7)
    for name, function in functions.items():
        x = np.append(rng.uniform(-0.5, 0.5, nlp.n_x - 1), 1.0)
        lam = [np.ones(1), rng.standard_normal(nlp.n_g)] if name == "hessian" else []
        call = buffered(function, [x, np.zeros(0), *lam])[0]
        found[f"{name}_ms"] = 1e3 * alternately({name: call}, rounds=5, visit=0.05)[name].minimum
    return found


def main(kind: str, count: int) -> None:
    """Run, print."""
    others = {"dof": joints, "phases": motion_in_phases, "cases": cases}
    found = others[kind](count) if kind in others else intervals(kind, count)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in kB
    print(json.dumps(found | {"peak_MB": peak}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
