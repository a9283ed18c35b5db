"""What does a motion in phases cost, and a single phase beside the same problem by itself?

A chain of links that lifts itself from one posture to the next, in 1 to 16 phases of the same length, duration and
curve, with least effort and torques within limits: seconds of building, of every callback and of an iteration, in
turns, the least of each. Then one phase and its problem, in pairs, medians of ratios. All on CasADi's virtual machine.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.studies.benchmarks.timing import alternately, buffered
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

COUNTS, QUICK_COUNTS = (1, 2, 4, 8, 16), (1, 2, 4)
CURVES = {"bspline": co.BSpline(20), "radau": co.Radau(20), "hermite_simpson": co.HermiteSimpson(30)}
CALLBACKS = {"f": "f", "grad_f": "gradient", "jac_g": "jacobian", "hess_lag": "hessian"}
RUN = ("build", "iteration", "solve", "total", "processor")
SECONDS = ("build", *CALLBACKS.values(), "iteration")
JOINTS, SPAN = 2, 0.6  # s, of a phase
OPTIONS = (
    Option(
        "rounds", 40, "pairs of a phase and its problem; an eighth as often motions of all numbers of phases", least=1
    ),
)


def posture(k: int) -> np.ndarray:
    """Where phase k begins: high and low in turn."""
    return np.array([-1.2, 0.4]) if k % 2 == 0 else np.array([0.2, -0.3])


def phase(k: int, count: int) -> co.Problem:
    """Phase k of some, from one posture to the next; at rest where all begins and ends."""
    stated: list[Any] = [co.initial(q=posture(k), qd=0.0)] if k == 0 else []
    stated += [co.final(q=posture(k + 1), qd=0.0) if k == count - 1 else co.final(q=posture(k + 1))]
    cost = co.integral(lambda now: ca.sumsqr(now.tau))
    return co.Problem(planar_chain(JOINTS), SPAN, cost, [*stated, co.bounds(tau=(-12.0, 12.0))])


def phases(count: int) -> co.Phases:
    """So many phases, linked by themselves."""
    return co.Phases({f"phase {k}": phase(k, count) for k in range(count)})


class Run(NamedTuple):
    """One solve [s].

    Parameters
    ----------
    build : float
        From the statement of the problem to IPOPT's start.
    iteration, solve : float
        In IPOPT.
    total, processor : float
        With the measurement of the error between the nodes: by the clock, and what the processor was at work.
    iterations : int
    cost : float
    solved : bool
    """

    build: float
    iteration: float
    solve: float
    total: float
    processor: float
    iterations: int
    cost: float
    solved: bool


def run(state: Callable[[], co.Problem | co.Phases], curve: Any) -> Run:
    """A problem stated, transcribed and solved at the curve's own nodes."""
    begin, at_work = time.perf_counter(), time.process_time()
    stated: Any = state()
    ready = time.perf_counter() - begin
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # torques between nodes are not asked for
        found = co.solve(
            stated,
            curve,
            compile=False,
            progress=False,
            plan=[co.refinement.Solve(between="nodes")],
            raise_on_failure=False,
        )
    total, processor = time.perf_counter() - begin, time.process_time() - at_work
    build, solve = ready + found.seconds["build"], found.seconds["solve"]
    solved = found.outcome.status is co.solver.Status.SOLVED
    iteration = solve / max(1, found.iterations)
    return Run(build, iteration, solve, total, processor, found.iterations, found.cost, solved)


def callbacks(stated: Any, curve: Any) -> dict[str, Callable[[], object]]:
    """Calls of the program's functions at a seeded point, as IPOPT makes them."""
    nlp: Any = co.transcribe(stated, curve, compile=False)
    rng = np.random.default_rng(16)
    x = np.where(nlp.free, 0.3 * rng.standard_normal(nlp.n_x), nlp.lower)
    given = {name: [x, np.zeros(0)] for name in CALLBACKS}
    given["hess_lag"] += [np.ones(1), rng.standard_normal(nlp.n_g)]
    return {key: buffered(getattr(nlp, name), given[name])[0] for name, key in CALLBACKS.items()}


def growth(curve: Any, counts: Sequence[int], rounds: int) -> dict[int, dict[str, float]]:
    """Least seconds for every number of phases, all of which take turns."""
    runs: dict[int, list[Run]] = {count: [] for count in counts}
    for _ in range(rounds):
        for count, own in runs.items():
            own.append(run(lambda count=count: phases(count), curve))
    found = {}
    for count, own in runs.items():
        found[count] = {key: min(getattr(r, key) for r in own) for key in RUN}
        found[count] |= {"iterations": float(own[0].iterations), "solved": float(all(r.solved for r in own))}
    calls = {count: callbacks(phases(count), curve) for count in counts}
    for key in CALLBACKS.values():
        timings = alternately({str(count): own[key] for count, own in calls.items()}, rounds=max(3, rounds))
        for count in counts:
            found[count][key] = timings[str(count)].minimum
    return found


def pairs(curve: Any, rounds: int) -> dict[str, float]:
    """One phase over its problem alone: medians of ratios, pair by pair, either first in turn."""
    ways: list[Callable[[], co.Problem | co.Phases]] = [lambda: phases(1), lambda: phase(0, 1)]
    ratios: dict[str, list[float]] = {key: [] for key in (*RUN, *CALLBACKS.values())}
    found = {"iterations": 0.0, "cost": 0.0}
    calls = [callbacks(state(), curve) for state in ways]
    for number in range(rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        own = {k: run(ways[k], curve) for k in order}
        for key in RUN:
            ratios[key].append(getattr(own[0], key) / getattr(own[1], key))
        found["iterations"] = float(own[0].iterations - own[1].iterations)
        found["cost"] = abs(own[0].cost / own[1].cost - 1)
        for key in CALLBACKS.values():
            timings = alternately({str(k): calls[k][key] for k in order}, rounds=3, visit=0.004)
            ratios[key].append(timings["0"].median / timings["1"].median)
    return {key: median(own) for key, own in ratios.items()} | {f"difference.{k}": v for k, v in found.items()}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments(
        "benchmarks.phases", __doc__, argv, quick="up to 4 phases, one round, splines alone", options=OPTIONS,
        figure=False,
    )  # fmt: skip
    counts, rounds = (QUICK_COUNTS, 1) if args.quick else (COUNTS, args.rounds)
    numbers: dict[str, float] = {}
    lines, compared = [], []
    for kind, curve in CURVES.items() if not args.quick else [("bspline", CURVES["bspline"])]:
        run(lambda: phases(1), curve)  # what is done once is not timed
        points = growth(curve, counts, max(1, rounds // 8))
        numbers |= {f"phases.{kind}.{count}.{key}": v for count, own in points.items() for key, v in own.items()}
        for count, own in points.items():
            lines.append((f"{kind} {count}", *(f"{1e3 * own[key]:.3g}" for key in SECONDS), f"{own['iterations']:.0f}"))
        many, two = counts[-1], 2
        per_phase = {key: (points[many][key] / many) / (points[two][key] / two) for key in SECONDS}
        numbers |= {f"phases.{kind}.growth.{key}": value for key, value in per_phase.items()}
        lines.append((f"  a phase, {many} to {two}", *(f"{value:.2f}" for value in per_phase.values()), ""))
        ratios = pairs(curve, rounds)
        numbers |= {f"phases.{kind}.one.{key}": value for key, value in ratios.items()}
        compared.append((kind, *(f"{ratios[key]:.3f}" for key in (*SECONDS, "total", "processor"))))
    header = ("phases", *SECONDS, "iterations")
    print(Table("Motions of two links in phases, ms", header, lines).text())
    print(Table("One phase over the same problem alone", ("", *SECONDS, "total", "processor"), compared).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
