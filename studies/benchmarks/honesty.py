"""Of answers to random feasible problems that are called solved, how many does an independent simulation refute?

Problems of two to six joints, in a plane or in space, with hinges and slides, with or without gravity, for time, effort
or both; on each transcription in turn, as it is and refined to a tolerance. The judge is Pinocchio's dynamics
integrated by SciPy's DOP853 over one interval after the other, each from the motion's own state at its start. An answer
is refuted if the local errors add up to more than 0.01 rad (m).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import isfinite
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

import colloc as co
from colloc.studies.benchmarks.judge import judge, strayed
from colloc.studies.benchmarks.random_motions import Case, colloc_problem, pinocchio_model, random_case
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

CURVES = {"bspline": co.BSpline(20), "radau": co.Radau(20, 3), "hermite_simpson": co.HermiteSimpson(30)}
TOL = 1e-3
PATIENCE = 60.0  # s of processor time, for each run of the solver
REFUTED = 1e-2  # rad, m
OVERSTEPPED = 1e-2  # of half the range of a limit
FLOOR = 1e-7  # rad: below it neither the judge's error nor an estimate means anything
OPTIONS = (
    Option("problems", 500, "number of problems", least=1),
    Option("first", 0, "seed of the first", least=0),
    Option("workers", 1, "processes at the same time", least=1),
)


class Record(NamedTuple):
    """One answer.

    Parameters
    ----------
    seed : int
    way : str
        Name of the curve, with ".tol" where it was refined.
    cost : str
    status : str
        The library's word.
    seconds : float
        Wall time of the solve, building included.
    error : float [rad, m]
        Sum of the judge's local errors; NaN where there is no motion to judge.
    overstep : float
        The judge's largest excess over a limit, over half its range.
    strayed : float [rad, m]
        Sum of the judge's local errors with torques handed over as few numbers; NaN without a motion.
    estimate : float [rad, m]
        What the library says of that.
    """

    seed: int
    way: str
    cost: str
    status: str
    seconds: float
    error: float
    overstep: float
    strayed: float
    estimate: float

    @property
    def solved(self) -> bool:
        """Whether the library calls it solved."""
        return self.status == co.solver.Status.SOLVED

    @property
    def refuted(self) -> bool:
        """Whether it is called solved and the judge's simulation leads elsewhere."""
        return self.solved and not self.error <= REFUTED

    @property
    def overstepped(self) -> bool:
        """Whether it is called solved and the judge finds a limit overstepped."""
        return self.solved and not self.overstep <= OVERSTEPPED

    @property
    def ratio(self) -> float:
        """The judge's error over the library's estimate."""
        return max(self.strayed, FLOOR) / max(self.estimate, FLOOR)


def solved(problem: co.Problem, name: str, tol: float | None) -> co.Solution:
    """The library's answer: on a curve as it is, or refined from there to a tolerance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the status says it too
        return co.solve(
            problem,
            CURVES[name],
            tol=tol,
            compile=False,
            solver=co.Ipopt(max_cpu_time=PATIENCE),
            raise_on_failure=False,
        )


def estimated(world: Any, solution: co.Solution) -> tuple[float, float]:
    """Sum of the local errors [rad, m] with torques handed over as few numbers, by the judge and by the library.

    The library's curves are exact, torques follow from them; what it estimates is how far a motion strays if each
    interval of degree p gets p - 1 numbers a joint.
    """
    numbers = (solution.nlp.grid.basis.degrees - 1).tolist()
    return float(strayed(world, solution, numbers).sum()), float(solution.error.position.max(axis=1).sum())


def record(case: Case, seed: int, name: str, tol: float | None) -> Record:
    """One problem solved in one way, and judged."""
    way, begin = name + (".tol" if tol else ""), time.perf_counter()
    try:
        solution = solved(colloc_problem(case), name, tol)
    except (co.InputError, co.SolveError, RuntimeError) as error:
        nothing = float("nan")
        return Record(seed, way, case.cost, type(error).__name__, time.perf_counter() - begin, *4 * (nothing,))
    seconds = time.perf_counter() - begin
    world = pinocchio_model(case.links, case.gravity)
    verdict = judge(world, solution, (case.start, case.end), case.limits)
    return Record(
        seed,
        way,
        case.cost,
        str(solution.status),
        seconds,
        verdict.error,
        verdict.overstep,
        *estimated(world, solution),
    )


def records(seed: int, tolerances: Sequence[float | None]) -> list[Record]:
    """The problem of a seed on its curve, with each tolerance in turn."""
    name, case = list(CURVES)[seed % len(CURVES)], random_case(seed)
    return [record(case, seed, name, tol) for tol in tolerances]


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments(
        "benchmarks.honesty", __doc__, argv, quick="twelve problems, none refined", options=OPTIONS, figure=False
    )
    seeds = range(args.first, args.first + (12 if args.quick else args.problems))
    ask = partial(records, tolerances=(None,) if args.quick else (None, TOL))
    if args.workers == 1:
        found = [one for seed in seeds for one in ask(seed)]
    else:
        with ProcessPoolExecutor(args.workers, mp_context=get_context("spawn")) as pool:
            found = [one for several in pool.map(ask, seeds) for one in several]
    numbers: dict[str, float] = {}
    rows = []
    for way in [name + end for end in ("", ".tol") for name in CURVES]:
        if own := [one for one in found if one.way == way]:
            counted = tally(own)
            numbers |= {f"{key}.{way}": value for key, value in counted.items()}
            rows.append((way, *(f"{value:.3g}" if isfinite(value) else "" for value in counted.values())))
    ratios = [one.ratio for one in found if isfinite(one.strayed) and isfinite(one.estimate)]
    if ratios:
        for name, share in (("p05", 5), ("p50", 50), ("p95", 95), ("max", 100)):
            numbers[f"estimate_ratio.{name}"] = float(np.percentile(ratios, share))
    header = ("", *tally(found))
    print(Table(f"{len(seeds)} random feasible problems", header, rows, notes(found, numbers)).text())
    return finish(args, {key: value for key, value in numbers.items() if isfinite(value)})  # JSON has no NaN


def tally(own: Sequence[Record]) -> dict[str, float]:
    """Counts and figures of the answers found in one way."""
    honest = (co.solver.Status.VIOLATED, co.solver.Status.COARSE)

    def count(holds: Callable[[Record], bool]) -> float:
        return float(sum(holds(one) for one in own))

    right = [one for one in own if one.solved]
    return {
        "tried": float(len(own)),
        "solved": count(lambda one: one.solved),
        "violated": count(lambda one: one.status == honest[0]),
        "coarse": count(lambda one: one.status == honest[1]),
        "failed": count(lambda one: not one.solved and one.status not in honest),
        "refuted": count(lambda one: one.refuted),
        "overstepped": count(lambda one: one.overstepped),
        "error.max": max((one.error for one in right), default=float("nan")),
        "strayed.max": max((one.strayed for one in right), default=float("nan")),
        "overstep.max": max((one.overstep for one in right), default=float("nan")),
        "seconds.median": float(np.median([one.seconds for one in own])),
        "seconds.max": max(one.seconds for one in own),
    }


def notes(found: Sequence[Record], numbers: dict[str, float]) -> list[str]:
    """Counts of the columns, and the answers that should not exist."""
    lines = [
        "  refuted, overstepped, maxima: of those called solved; refuted by the judge's simulation (sum of local errors"
        f" over {REFUTED:g} rad or m),",
        f"  overstepped by its own grid (a limit by more than {OVERSTEPPED:.0%} of half its range)",
    ]
    if "estimate_ratio.max" in numbers:
        shares = ", ".join(f"{name} {numbers[f'estimate_ratio.{name}']:.3g}" for name in ("p05", "p50", "p95", "max"))
        lines.append(f"  strayed with torques handed over as few numbers, over the library's estimate: {shares}")
    for one in [one for one in found if one.refuted or one.overstepped or not isfinite(one.error)]:
        lines.append(f"  seed {one.seed}, {one.way}, {one.cost}: {one.status}, {one.error:.2g} rad, {one.overstep:.1%}")
    return lines


if __name__ == "__main__":
    main()
