"""Does the call without a curve find what curves of equal intervals find from the same rough guess, and how soon?

Random arms of two to four links between two postures at rest, for time, effort or both, and there and back again
through a posture that is held at half time. Guesses are straight lines that miss every fixed posture by up to 0.6 rad.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from math import inf
from multiprocessing import get_context
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.benchmarks.random_arms import peaks, random_arm
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

KINDS = ("effort", "time", "mixed", "cyclic")
CURVES = {
    "BSpline(20)": co.BSpline(20),
    "HermiteSimpson(30)": co.HermiteSimpson(30),
    "C1 spline": co.BSpline(20, degree=4, continuity=1),
}
MISS = 0.6  # rad, m
COSTLIER, TWICE = 1.01, 2.0  # of the cheapest of the curves
PATIENCE = 120.0  # s for each solve
OPTIONS = (
    Option("problems", 40, "number of problems", least=1),
    Option("first", 0, "seed of the first", least=0),
    Option("workers", 1, "processes at the same time", least=1),
)


class Record(NamedTuple):
    """One problem, solved by the call without a curve and on each of the curves.

    Parameters
    ----------
    seed : int
    kind : str
    joints : int
    status : str
        Of the call without a curve.
    cost, seconds : float
        Of the processor.
    iterations, rounds : int
    costs, times : dict of str to float
        Of the curves; infinite where one finds no motion.
    """

    seed: int
    kind: str
    joints: int
    status: str
    cost: float
    seconds: float
    iterations: int
    rounds: int
    costs: dict[str, float]
    times: dict[str, float]

    @property
    def ratio(self) -> float:
        """Cost over that of the cheapest curve."""
        return self.cost / min(self.costs.values())


def case(seed: int) -> tuple[co.Problem, co.transcription.Keyframes]:
    """The problem of a seed and its guess; the kinds of problems take turns.

    The minimum-jerk motion of a random duration keeps to all limits, of which it takes 10 to 90 %.
    """
    rng = np.random.default_rng([31, seed])
    kind, model = KINDS[seed % len(KINDS)], random_arm(rng, int(rng.integers(2, 5)))
    T, n = float(rng.uniform(0.4, 3.0)), model.n
    start = rng.uniform(-np.pi / 2, np.pi / 2, n)
    end = start + rng.uniform(0.2, np.pi, n) * rng.choice([-1, 1], n)
    rates, torques = peaks(model, start, end, T)
    spare = 10 ** float(rng.uniform(0.05, 1.0))
    limits = [co.bounds(tau=(-spare * torques, spare * torques))] if kind in ("time", "mixed") else []
    if rng.random() < 0.5 and kind != "cyclic":
        limits.append(co.bounds(qd=(-spare * rates, spare * rates)))
    effort = co.integral(lambda now: ca.sumsqr(now.tau), "effort")
    mixed = co.duration() + effort * float(rng.uniform(0.1, 3.0) / (torques @ torques))
    cost = {"time": co.duration(), "mixed": mixed}.get(kind, effort)
    duration = co.Free(T / 10, 10 * T) if kind in ("time", "mixed") else T
    rough = [posture + rng.uniform(-MISS, MISS, n) for posture in (start, end, start)]
    if kind == "cyclic":
        ends: list[co.problem.Statement] = [
            co.initial(q=start),
            co.at(0.5, lambda now: now.q, equals=end, name="there"),
            co.boundary(lambda first, last: ca.vertcat(last.q - first.q, last.qd - first.qd), equals=0.0, name="cycle"),
        ]
        frames = dict(zip((0, 0.5, 1), rough, strict=True))
        return co.Problem(model, 2 * T, cost, [*ends, *limits]), co.keyframes(frames)
    ends = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)]
    return co.Problem(model, duration, cost, [*ends, *limits]), co.line(*rough[:2])


def solved(
    problem: co.Problem, guess: co.transcription.Keyframes, curve: co.curves.Transcription | None
) -> tuple[co.Solution | None, float]:
    """The answer, None where there is no optimum, and the processor seconds that the call took."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the status says it too
        try:
            found = co.solve(problem, curve, guess=guess, compile=False, seconds=PATIENCE)
        except co.SolveError:
            found = None
    return found, time.process_time() - begin


def record(seed: int) -> Record:
    """The problem of a seed, solved in every way."""
    problem, guess = case(seed)
    answer, seconds = solved(problem, guess, None)
    costs, times = {}, {}
    for name, curve in CURVES.items():
        plain, times[name] = solved(problem, guess, curve)
        usable = plain is not None and plain.status in (co.solver.Status.SOLVED, co.solver.Status.COARSE)
        costs[name] = plain.cost if plain is not None and usable else inf
    kind, n = KINDS[seed % len(KINDS)], problem.model.n
    if answer is None:
        return Record(seed, kind, n, "no optimum", inf, seconds, 0, 0, costs, times)
    iterations = sum(round.iterations for round in answer.rounds)
    effort = iterations, len(answer.rounds)
    return Record(seed, kind, n, str(answer.status), answer.cost, seconds, *effort, costs, times)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.first_call", __doc__, argv, quick="four problems", options=OPTIONS, figure=False)
    seeds = range(args.first, args.first + (4 if args.quick else args.problems))
    with ProcessPoolExecutor(args.workers, mp_context=get_context("spawn")) as pool:
        records = list(pool.map(record, seeds))
    rows = [row(answer) for answer in records]
    header = ("", "joints", "status", "cost", "over the cheapest curve", "rounds", "iterations", "seconds", "curves' s")
    numbers = tally(records)
    print(Table(f"{len(records)} random arms, guesses off by up to {MISS:g} rad", header, rows, notes(numbers)).text())
    return finish(args, numbers)


def row(answer: Record) -> tuple[str, ...]:
    """A line of the table."""
    times = " ".join(f"{seconds:.1f}" for seconds in answer.times.values())
    numbers = f"{answer.cost:.6g}", f"{answer.ratio:.4f}", str(answer.rounds), str(answer.iterations)
    name = f"{answer.seed} {answer.kind}"
    return name, str(answer.joints), answer.status, *numbers, f"{answer.seconds:.2f}", times


def tally(records: Sequence[Record]) -> dict[str, float]:
    """Counts and seconds."""
    seconds, ratios = np.array([r.seconds for r in records]), np.array([r.ratio for r in records])
    return {
        "problems": float(len(records)),
        "solved": float(sum(r.status == co.solver.Status.SOLVED for r in records)),
        "costlier": float((ratios > COSTLIER).sum()),
        "twice_as_costly": float((ratios > TWICE).sum()),
        "cheaper": float((ratios < 1 / COSTLIER).sum()),
        "seconds.median": float(np.median(seconds)),
        "seconds.max": float(seconds.max()),
        "seconds.curves.median": float(np.median([list(r.times.values()) for r in records])),
    }


def notes(numbers: dict[str, float]) -> list[str]:
    """Summary of the table, in lines."""
    count = {name: int(numbers[name]) for name in ("solved", "costlier", "twice_as_costly", "cheaper")}
    return [
        f"  solved: {count['solved']}; more than 1 % costlier than the cheapest curve: {count['costlier']}, twice as "
        f"costly: {count['twice_as_costly']}; more than 1 % cheaper: {count['cheaper']}",
        f"  processor seconds: median {numbers['seconds.median']:.2f}, at most {numbers['seconds.max']:.1f}; "
        f"on a curve of equal intervals: median {numbers['seconds.curves.median']:.2f}",
    ]


if __name__ == "__main__":
    main()
