"""Is the library's own factorisation cheaper than MUMPS below IPOPT, and does it lead to the same optima?

Arms, human bodies, classics and random arms, solved with either. Linear algebra is what IPOPT itself measures of its
steps, processor time: the systems written down, ordered, factorised, solved and refined. Iterations that differ tell
that the last digits of a step do; memory is the largest of a process that solves nothing else. Our own is run on two
threads, too: the wall time of one over theirs.
"""

from __future__ import annotations

import os
import re
import resource
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human55 import human55, walking
from colloc.models.panda import panda
from colloc.solution.warm_start import start_from
from colloc.studies.benchmarks.effort import effort
from colloc.studies.benchmarks.random_arms import random_problem
from colloc.studies.classics.optima import CLASSICS
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.two_link import time_optimal
from colloc.studies.walking import by_muscles
from colloc.studies.walking.problem import motion_only
from colloc.studies.walking.problem import problem as walk
from colloc.studies.walking.step import Step
from colloc.studies.walking.walk import AT_START, FIRST, IPOPT, POINTS, posed
from colloc.support.display import Table

# Linear solver and threads of every way to solve a case.
WAYS = {"mumps": ("mumps", 1), "multifrontal": ("multifrontal", 1), "threads": ("multifrontal", 2)}
OPTIONS = (Option("arms", 60, "number of random arms", least=1),)
PANDA_TORQUES = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])  # N m
STRIDES = (12, 24, 48)  # intervals of half a stride by muscles
TOTAL = re.compile(r"^PDSystemSolverTotal\.*: +([\d.]+) \(sys: +[\d.]+ wall: +([\d.]+)\)", flags=re.MULTILINE)


class Run(NamedTuple):
    """Result of a case with one linear solver.

    Parameters
    ----------
    status : str
    cost : float
    iterations : int
    seconds, wall : float
        Of the processor and of the clock, in linear algebra [s].
    memory : float
        Largest of the process [MB].
    """

    status: str
    cost: float
    iterations: int
    seconds: float
    wall: float
    memory: float


def measured(problem: Any, curve: Any, way: str, **options: Any) -> tuple[co.Solution, Run]:
    """A problem solved in one of `WAYS`; other options are those of `co.Ipopt`, and `guess`."""
    guess = options.pop("guess", None)

    def solve(chosen: dict[str, Any]) -> co.Solution:
        return co.solve(
            problem,
            curve,
            solver=co.Ipopt(**chosen),
            plan=[co.refinement.Solve(between="nodes")],
            raise_on_failure=False,
            progress=False,
            guess=guess,
        )

    return timed(solve, way, **options)


def with_all_limits(problem: Any, curve: Any, way: str, **options: Any) -> Run:
    """The same of IPOPT alone, which gets limits that `co.solve` would set aside, too."""
    nlp, p = co.transcribe(problem, curve), problem.parameter_values()
    start = start_from(nlp, None, p)
    return timed(lambda chosen: co.Solution(nlp, co.Ipopt(**chosen).prepare(nlp)(start, p), p), way, **options)[1]


def timed(solve: Callable[[dict[str, Any]], co.Solution], way: str, **options: Any) -> tuple[co.Solution, Run]:
    """Result of a function of IPOPT's options in one of `WAYS`."""
    linear_solver, threads = WAYS[way]
    os.environ["OMP_NUM_THREADS"] = str(threads)  # of this process, which is for one way alone
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        log = Path(directory) / "ipopt.txt"
        log_options = {"output_file": str(log), "file_print_level": 3, "file_append": "yes"}
        solution = solve({"linear_solver": linear_solver, "print_timing_statistics": "yes"} | options | log_options)
        seconds, wall = np.array(TOTAL.findall(log.read_text(encoding="utf-8")), dtype=float).sum(axis=0).tolist()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return solution, Run(solution.message, solution.cost, solution.iterations, seconds, wall, memory)


def arm(fast: bool) -> co.Problem:
    """A Panda from rest to rest, in the shortest time or with the least squared torques."""
    ends = [
        co.initial(q=(0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7), qd=0.0),
        co.final(q=(1.0, 0.3, -0.5, -1.2, 0.6, 2.0, -0.3), qd=0.0),
        co.bounds(tau=(-PANDA_TORQUES, PANDA_TORQUES)),
    ]
    if fast:
        return co.Problem(panda(), co.Free(0.2, 5.0, 1.0), co.duration(), ends)
    return co.Problem(panda(), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends)


def gait(way: str) -> list[Run]:
    """Both searches for a step of the 55-DOF human, as in `walking.gait`."""
    step, curve = posed(Step(walking(human55())), POINTS)
    still = co.line(step.stance.standing, step.stance.standing)
    start, first = measured(motion_only(step), curve, way, guess=still, **FIRST)
    squares = {"guess": start, "hessian": co.solver.Hessian.GAUSS_NEWTON, "tol": 1e-2 / AT_START}
    return [first, measured(walk(step), curve, way, **IPOPT | squares)[1]]


def human(way: str) -> list[Run]:
    """The 43-DOF human on two curves, on the finer one sixty iterations."""
    data = effort(small=False)
    coarse = with_all_limits(data.problem(), data.curve, way)
    return [coarse, with_all_limits(data.problem(), co.BSpline(10, degree=4), way, max_iter=60)]


def arms(way: str) -> list[Run]:
    """A Panda and two links."""
    jumps = [co.BSpline(count, degree=4, continuity=1) for count in (20, 60)]
    cases = [(arm(True), curve) for curve in jumps] + [(arm(False), co.BSpline(30, degree=5))]
    return [measured(problem, curve, way)[1] for problem, curve in cases]


def muscles(way: str) -> list[Run]:
    """Fifteen iterations of half a stride by muscles; the last with MUMPS ordering by nested dissection."""
    step = by_muscles.walk()
    options = {"guess": by_muscles.swinging(step.walker, by_muscles.SPEED, by_muscles.STEP), "max_iter": 15}
    grids = [co.Radau(count) for count in STRIDES]
    plain = [measured(step.problem, grid, way, **options)[1] for grid in grids]
    return [*plain, measured(step.problem, grids[-1], way, mumps_pivot_order=5, **options)[1]]


def radau(intervals: int, way: str) -> list[Run]:
    """Two links on Radau's points."""
    return [measured(time_optimal.problem, co.Radau(intervals), way)[1]]


def classics(way: str) -> list[Run]:
    """The classics, on splines whose accelerations may jump."""
    curve = co.BSpline(40, degree=4, continuity=1)
    return [measured(CLASSICS[name].problem(), curve, way, max_iter=500)[1] for name in CLASSICS]


def random_arms(count: int, way: str) -> list[Run]:
    """Random arms."""
    curve = co.BSpline(20)
    return [measured(random_problem(seed), curve, way, max_iter=500)[1] for seed in range(count)]


class Group(NamedTuple):
    """Cases that are solved one after the other in one process."""

    names: Sequence[str]
    solve: Callable[..., list[Run]]
    arguments: tuple[Any, ...] = ()


HUMAN = Group(["43 DOF, effort, spline 3", "43 DOF, effort, spline 10"], human)


def groups(quick: bool, count: int) -> list[Group]:
    """All cases; a few small ones if that is asked for."""
    small = [Group(["two links, Radau 200"], radau, (200,))]
    if quick:
        return [*small, Group([f"random arm {seed}" for seed in range(2)], random_arms, (2,))]
    return [
        *small,
        Group(["two links, Radau 2000"], radau, (2000,)),
        Group(["Panda, time, C1 spline 20", "Panda, time, C1 spline 60", "Panda, effort, spline 30"], arms),
        HUMAN,
        Group([f"18 muscles, Radau {count}" for count in (*STRIDES, f"{STRIDES[-1]}, dissected")], muscles),
        Group([f"classic {name}" for name in CLASSICS], classics),
        Group([f"random arm {seed}" for seed in range(count)], random_arms, (count,)),
        Group(["55-DOF gait, motion only", "55-DOF gait"], gait),
    ]


def paired(group: Group) -> list[dict[str, Run]]:
    """The cases of a group, solved in each way, which has a process of its own."""
    runs = {}
    for name in WAYS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as worker:
            runs[name] = worker.submit(group.solve, *group.arguments, name).result()
    return [{name: runs[name][k] for name in WAYS} for k in range(len(group.names))]


def compared(runs: Mapping[str, Run]) -> dict[str, float]:
    """Numbers of one case: MUMPS over ours, one thread over two, and how far apart the ends are."""
    theirs, ours, threads = (runs[name] for name in WAYS)
    solved = {name: runs[name].status == "Solve_Succeeded" for name in WAYS}
    return {
        "iterations_mumps": theirs.iterations,
        "iterations": ours.iterations,
        "seconds_mumps": theirs.seconds,
        "seconds": ours.seconds,
        "ratio": theirs.seconds / max(ours.seconds, 1e-3),  # IPOPT counts milliseconds
        "ratio_each": theirs.seconds / max(ours.seconds, 1e-3) * ours.iterations / max(theirs.iterations, 1),
        "threads": ours.wall / max(threads.wall, 1e-3),
        "threads_apart": float((ours.cost, ours.iterations) != (threads.cost, threads.iterations)),
        "apart": abs(theirs.cost - ours.cost) / max(abs(theirs.cost), 1e-12),
        "cost": ours.cost,
        "solved_mumps": float(solved["mumps"]),
        "solved": float(solved["multifrontal"]),
        "memory": ours.memory / theirs.memory,
    }


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "two links and two random arms"
    args = arguments("benchmarks.linear_algebra", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    numbers: dict[str, float] = {}
    rows = []
    for group in groups(args.quick, args.arms):
        for case, pair in zip(group.names, paired(group), strict=True):
            numbers_of_case = compared(pair)
            key = f"linear_algebra.{case}".replace(" ", "_").replace(",", "")
            numbers |= {f"{key}.{name}": value for name, value in numbers_of_case.items()}
            theirs, ours, _ = (pair[name] for name in WAYS)
            ends = "same" if theirs.status == ours.status else f"{theirs.status}, {ours.status}"
            rows.append((
                case, f"{theirs.iterations}, {ours.iterations}", f"{theirs.seconds:.3f}", f"{ours.seconds:.3f}",
                f"{numbers_of_case['ratio_each']:.1f}", f"{numbers_of_case['threads']:.2f}",
                f"{numbers_of_case['apart']:.0e}",
                f"{numbers_of_case['memory']:.2f}", ends,
            ))  # fmt: skip
            print("  ".join(rows[-1]), file=sys.stderr)
    header = ("", "iterations", "MUMPS, s", "ours, s", "ratio each", "two threads", "costs apart", "memory", "end")
    print(Table("Linear algebra of IPOPT: MUMPS, and ours", header, rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
