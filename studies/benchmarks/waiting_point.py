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
MASSES, SPEEDS = (45.0, 110.0), (0.8, 1.6)  # kg, m/s, of walkers
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
    """Seconds of what is compiled once for a machine: the interpreter, and the factorisation below IPOPT."""
    from colloc.solver.linear_solvers import OURS, in_terms_of_ipopt

    x = ca.SX.sym("x")
    kernel = co.kernels.Kernel(ca.Function("f", [x], [x]))
    co.kernels.interpret({"f": kernel}, co.kernels.Compile(), compile=True)
    in_terms_of_ipopt({"linear_solver": OURS})
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


def gait(file: str) -> dict[str, float]:
    """Seconds from the start of Python to the table of `walking.gait`, for its weighted objective, kept in a file."""
    from colloc.models.human.human55 import human55, walking
    from colloc.studies.walking.report.comparison import comparison
    from colloc.studies.walking.step import Step
    from colloc.studies.walking.walk import walk

    report = walk(Step(walking(human55())))
    comparison(report).text()
    total, children = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    co.save(report.solution, file)
    rounds = [report.solution] if report.first is None else [report.first, report.solution]
    return {
        "total": total + children,
        "solver": sum(solution.seconds["solve"] for solution in rounds),
        "compilers": children,
        "iterations": float(sum(solution.iterations for solution in rounds)),
        "solved": float(report.solution.status is co.solver.Status.SOLVED),
    }


def walker(seed: int, file: str | None = None) -> dict[str, float]:
    """How a person of a random mass walks at a random speed, from another's walk in a file, or from standing still."""
    from colloc.models.human.human55 import human55, walking
    from colloc.studies.walking.problem import problem
    from colloc.studies.walking.speeds import step_length
    from colloc.studies.walking.step import Step
    from colloc.studies.walking.walk import walk

    rng = np.random.default_rng([34, seed])
    mass, speed = float(rng.uniform(*MASSES)), float(rng.uniform(*SPEEDS))
    found = {"mass": mass, "speed": speed, "solved": 0.0, "ended": 0.0, "iterations": 0.0}
    try:
        step = Step(walking(human55(mass=mass)), speed=speed, length=step_length(speed))
        report = walk(step, guess=co.load(file, problem(Step(walking(human55())))) if file else None)
    except co.SolveError:
        return found | {"total": time.process_time()}
    first = 0 if report.first is None else report.first.iterations
    return found | {
        "solved": float(report.solution.status is co.solver.Status.SOLVED),
        "ended": 1.0,
        "iterations": float(first + report.solution.iterations),
        "total": time.process_time(),
    }


if __name__ == "__main__":
    if sys.argv[1] == "compile":
        print(json.dumps(compiled()))
    elif sys.argv[1] == "gait":
        print(json.dumps(gait(sys.argv[2])))
    elif sys.argv[1] == "walker":
        print(json.dumps(walker(int(sys.argv[2]), *sys.argv[3:])))
    else:
        print(json.dumps(answered(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
