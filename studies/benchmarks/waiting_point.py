"""One process of the benchmark of waiting. Run as a script: prints seconds of the processor as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings

import casadi as ca
import numpy as np

import colloc as co

IMPORTED = time.process_time()  # from the start of Python
SHARE = 0.8  # of the range of every joint, or of a turn, from which postures are drawn


def model_of(arm: str) -> co.Model:
    """A model by its name."""
    if arm == "panda":
        from colloc.models.panda import panda as make
    elif arm == "ur5":
        from colloc.models.ur5 import ur5 as make
    elif arm == "iiwa":
        from colloc.models.iiwa import iiwa as make
    else:
        from colloc.models.puma560 import puma560 as make
    return make()


def motion(arm: str, seed: int) -> co.Problem:
    """The motion of a seed."""
    if arm == "random":
        from colloc.studies.benchmarks.random_arms import random_problem

        return random_problem(seed)
    model, rng = model_of(arm), np.random.default_rng([34, seed])
    lower, upper = (np.clip(side, -np.pi, np.pi) for side in model.limits("position"))
    middle, half = (lower + upper) / 2, SHARE * (upper - lower) / 2
    start, end = middle + half * rng.uniform(-1, 1, (2, model.n))
    if arm != "puma":
        return co.transcription.point_to_point(model, start, end)
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    return co.Problem(model, 1.0, effort, [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)])


def compiled() -> dict[str, float]:
    """Seconds that the library of the interpreter takes."""
    x = ca.SX.sym("x")
    kernel = co.kernels.Kernel(ca.Function("f", [x], [x]))
    co.kernels.interpret({"f": kernel}, co.kernels.Compile(), compile=True)
    return {"total": resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime}


def answered(arm: str, seed: int, way: str) -> dict[str, float]:
    """Seconds of the plain call, and what it finds."""
    problem, start = motion(arm, seed), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        choice = None if way == "interpreter" else False
        solution = co.solve(problem, compile=choice, raise_on_failure=False, progress=False)
    end, children = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    return {
        "import": IMPORTED,
        "solve": end - start + children,
        "callbacks": solution.seconds["callbacks"],
        "total": end + children,
        "cost": solution.cost,
        "solved": float(solution.status is co.solver.Status.SOLVED),
    }


if __name__ == "__main__":
    if sys.argv[1] == "compile":
        print(json.dumps(compiled()))
    else:
        print(json.dumps(answered(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
