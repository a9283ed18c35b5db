"""Does the estimate of how far a motion is from the best hold, and what does it cost?

Problems on coarse to fine grids of every curve: the estimate of `Solution.error["cost"]` against what a refinement of
the same motion, in the same valley, saves indeed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

import colloc as co
from colloc.errors.gap import CostGap
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
SEEN, WITHIN = 1e-4, 3.0  # gaps that count, and how far the estimate of one may be off
FINE = 3e-6  # tolerance of the references
PATIENCE = 30.0  # s for a reference
OPTIONS = (Option("random", 60, "random problems"),)
QUICK = ("double_integrator_speed", "breakwell", "brachistochrone_states")


class Look(NamedTuple):
    """One motion: how much dearer than the best of its valley it is said to be, and is; and what that took."""

    problem: str
    curve: str
    estimate: float
    true: float
    solved: bool
    seconds: float
    solve: float

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


def look(name: str, problem: co.Problem, curve: co.curves.Transcription) -> Look | None:
    """One motion and the best of its valley; None where there is none to compare."""
    begin = time.process_time()
    try:
        motion = co.solve(problem, curve, compile=False, raise_on_failure=False, seconds=PATIENCE)
    except co.InputError:  # more equations than the curve has freedoms
        return None
    solve = time.process_time() - begin
    if motion.outcome.status is not co.solver.Status.SOLVED:
        return None
    begin = time.process_time()
    _ = CostGap(motion.nlp, motion.x, motion.parameters, motion.cost_scale).total
    seconds = time.process_time() - begin
    best = co.refine(motion, FINE, seconds=PATIENCE)
    if not best.success:
        return None
    true = (motion.cost - best.cost) / motion.cost_scale
    return Look(name, repr(curve), motion.error["cost"].total, true, motion.success, seconds, solve)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.gap", __doc__, argv, quick="four problems", options=OPTIONS, figure=False)
    looks: list[Look] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        for name, make in problems(0 if args.quick else args.random, quick=args.quick):
            looks += [seen for curve in CURVES if (seen := look(name, make(), curve)) is not None]
    counted = [seen for seen in looks if seen.true > SEEN]
    ratios = np.array([seen.ratio for seen in counted])
    shares = np.array([seen.seconds / seen.solve for seen in looks])
    numbers = {
        "gap.motions": float(len(looks)),
        "gap.counted": float(len(counted)),
        "gap.within": float(((ratios > 1 / WITHIN) & (ratios < WITHIN)).mean()),
        "gap.least": float(ratios.min()),
        "gap.median": float(np.median(ratios)),
        "gap.most": float(ratios.max()),
        "gap.solved_in_error": float(sum(seen.solved and seen.true > 2e-2 for seen in looks)),
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
