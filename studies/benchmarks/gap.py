"""Does the estimate of how far a motion is from the best hold, and what does it cost?

Problems on coarse to fine grids of every curve: the estimate of `Solution.error["cost"]` against the true distance from
the local optimum. A gap counts if the error of that optimum is at most a fifth of it. A motion belongs to the local
optimum next to it, unless that is far away. Motions that miss their equations between the nodes have no cost to
compare.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import colloc as co
from colloc.studies.benchmarks.random_motions import colloc_problem, random_case
from colloc.studies.classics.optima import CLASSICS
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.two_link import lifting, prismatic_revolute, time_optimal
from colloc.support.display import Table

CURVES: tuple[co.curves.Transcription, ...] = (
    co.BSpline(6),
    co.BSpline(16),
    co.Radau(4),
    co.Radau(12),
    co.HermiteSimpson(8),
    co.HermiteSimpson(24),
)
SEEN, WITHIN = 1e-4, (0.3, 3.0)  # gaps that count, and what the estimate of one may be of it
TOLERANCE = 1e-2  # of what is called solved
FINE, SURE = 1e-5, 0.2  # errors of the best motions: what is asked for, and what will do, of a gap
ELSEWHERE = 0.1  # of the size of the motion: a best motion that is further away is another local optimum
PATIENCE = 30.0  # s for a motion, and for the best one
OPTIONS = (
    Option("random", 60, "random problems"),
    Option("keep", "", "file of the motions so far, from which a run that was broken off goes on"),
)
QUICK = ("double_integrator_speed", "breakwell", "brachistochrone_states")


class Look(NamedTuple):
    """One motion: its estimated and its true excess over the local optimum, and the time of the estimate.

    Parameters
    ----------
    problem, curve : str
    estimate, true : float
        Relative to the scale of the cost.
    sure : float
        Error of the cost of the best motion, relative.
    away : float
        Distance of the best motion, see `_distance`.
    solved : bool
    seconds, solve : float [s]
        Of the processor: for the estimate, and for all else of the solve.
    """

    problem: str
    curve: str
    estimate: float
    true: float
    sure: float
    away: float
    solved: bool
    seconds: float
    solve: float

    @property
    def counts(self) -> bool:
        """Whether the gap is large enough, known well enough, and to the motion's local optimum."""
        return self.true > max(SEEN, self.sure / SURE) and self.away < ELSEWHERE

    @property
    def ratio(self) -> float:
        """The estimate over the truth."""
        return self.estimate / self.true


def problems(random: int, *, quick: bool) -> Iterator[tuple[str, Callable[[], co.Problem]]]:
    """Names, and what makes the problems."""
    yield "time optimal", lambda: time_optimal.problem
    if not quick:
        yield "lifting", lambda: lifting.problem
        yield "prismatic revolute", lambda: prismatic_revolute.problem
    for name in QUICK if quick else CLASSICS:
        yield name, CLASSICS[name].problem
    for seed in range(random):
        yield f"random {seed}", lambda seed=seed: colloc_problem(random_case(seed))


def look(name: str, problem: co.Problem) -> list[Look]:
    """The motions on all curves that have one, each with its local optimum, if that is known."""
    motions = [timed for curve in CURVES if (timed := _motion(problem, curve)) is not None]
    best = _best(problem, [motion for motion, *_ in motions])
    looks = []
    for motion, seconds, solve in motions if best else ():
        away, cost, sure = min((_distance(motion, finer), finer.cost, finer.rounds[-1].error) for finer in best)
        true = (motion.cost - cost) / motion.cost_scale
        about = name, repr(motion.curve), motion.error["cost"].total, true, sure, away, motion.success
        looks.append(Look(*about, seconds, solve))
    return looks


def _motion(problem: co.Problem, curve: co.curves.Transcription) -> tuple[co.Solution, float, float] | None:
    """The optimum on a curve, what its gap took and what all else took [s]; None where there is no such motion."""
    begin = time.process_time()
    try:
        motion = co.solve(problem, curve, compile=False, raise_on_failure=False, seconds=PATIENCE)
    except co.InputError:  # more equations than the curve has freedoms
        return None
    whole = time.process_time() - begin
    if motion.outcome.status is not co.solver.Status.SOLVED or _missed(motion) > TOLERANCE:
        return None
    begin = time.process_time()
    _ = motion.cost_gap().total
    seconds = time.process_time() - begin
    return motion, seconds, whole - seconds


def _missed(motion: co.Solution) -> float:
    """By how much a motion misses equations, which makes it cheaper; those that fix torques are among them."""
    lower, upper = motion.problem.limits("tau")
    sources = ("equations", "dynamics") if (lower == upper).any() else ("equations",)
    return max(motion.error[name].total for name in sources)


def _best(problem: co.Problem, motions: Sequence[co.Solution]) -> list[co.Solution]:
    """The local optima of all motions, each the finest motion near it, refined."""
    best: list[co.Solution] = []
    for motion in sorted(motions, key=lambda motion: -motion.nlp.n_x):
        if not any(_leads(problem, motion, finer) for finer in best):
            best.append(co.refine(motion, FINE, seconds=PATIENCE))
    return best


def _leads(problem: co.Problem, motion: co.Solution, best: co.Solution) -> bool:
    """Whether the optimum on the grid of a better motion that is found from this one is the same."""
    finer = co.solve(problem, best.curve, guess=motion, compile=False, raise_on_failure=False, seconds=PATIENCE)
    same = abs(finer.cost - best.cost) <= max(FINE, best.rounds[-1].error) * best.cost_scale
    return finer.outcome.status is co.solver.Status.SOLVED and bool(same)


def _distance(motion: co.Solution, reference: co.Solution) -> float:
    """How far joints and unknowns of two motions are from each other, at equal shares of their durations."""
    s = np.linspace(0, 1, 101)
    samples = [solution.at(s * solution.duration) for solution in (motion, reference)]
    values = [np.column_stack([sample.q, *sample.signals.values()]) for sample in samples]
    sizes = np.maximum(np.ptp(values[1], axis=0), 1e-9)
    return float(np.sqrt(np.mean(((values[0] - values[1]) / sizes) ** 2)))


def _looks(random: int, *, quick: bool, keep: str) -> list[Look]:
    """Those of all problems; what a file has of a run before is not done again, and what is done is added to it."""
    file = Path(keep) if keep else None
    kept: dict[str, list[Look]] = {}
    if file is not None and file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            name, rows = json.loads(line)
            kept[name] = [Look(*row) for row in rows]
    for name, make in problems(random, quick=quick):
        if name not in kept:
            kept[name] = look(name, make())
            if file is not None:
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps([name, kept[name]]) + "\n")
    return [seen for rows in kept.values() for seen in rows]


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.gap", __doc__, argv, quick="four problems", options=OPTIONS, figure=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        looks = _looks(0 if args.quick else args.random, quick=args.quick, keep=args.keep)
    counted = [seen for seen in looks if seen.counts]
    ratios = np.array([seen.ratio for seen in counted])
    shares = np.array([seen.seconds / seen.solve for seen in looks])
    numbers = {
        "gap.motions": float(len(looks)),
        "gap.counted": float(len(counted)),
        "gap.within": float(((ratios > WITHIN[0]) & (ratios < WITHIN[1])).mean()),
        "gap.least": float(ratios.min()),
        "gap.median": float(np.median(ratios)),
        "gap.most": float(ratios.max()),
        "gap.elsewhere": float(sum(seen.true > SEEN and seen.away >= ELSEWHERE for seen in looks)),
        "gap.solved": float(sum(seen.solved for seen in looks)),
        "gap.solved_in_error": float(sum(seen.solved and seen.true > 2 * TOLERANCE for seen in counted)),
        "gap.share_of_the_solve.median": float(np.median(shares)),
        "gap.share_of_the_solve.most": float(shares.max()),
    }
    rows = []
    for curve in map(repr, CURVES):
        chosen = np.array([seen.ratio for seen in counted if seen.curve == curve])
        if chosen.size:
            quantiles = np.quantile(chosen, (0, 0.05, 0.5, 0.95, 1))
            rows.append((curve, str(chosen.size), *(f"{value:.2f}" for value in quantiles)))
    header = ("", "motions", "least", "5 %", "median", "95 %", "most")
    print(Table(f"Estimate over true gap, where that is over {SEEN:g}", header, rows).text())
    worst = sorted(counted, key=lambda seen: -abs(np.log(max(seen.ratio, 1e-9))))[:12]
    cells = [(w.problem, w.curve, f"{w.estimate:.1e}", f"{w.true:.1e}", f"{w.ratio:.2f}") for w in worst]
    print(Table("Furthest off", ("", "", "estimate", "true", "ratio"), cells).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
