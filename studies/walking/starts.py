"""Does it matter where the search for a walk starts, how many control points it has, and in how many stages it runs?

The step of `studies.walking.gait` in the paper's setting of six control points and in the study's own, from all joints
at zero at two tolerances, in one stage and in two; then from twenty random starts, every control point of every joint
off by `NOISE` radians in the mean square.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import colloc as co
from colloc.display import Table
from colloc.transcription import Keyframes
from models.human.human55 import human55, walking
from studies.reporting import arguments, finish
from studies.walking.report.report import Report
from studies.walking.step import Step
from studies.walking.walk import POINTS, walk

SETTINGS = {"paper": 6, "default": POINTS}  # control points
TOLERANCES = (1e-3, 1e-6)
STARTS, NOISE = 20, 0.1  # rad
BEST = 0.02  # relative distance from the lowest cost of all that counts as reaching it


class Run(NamedTuple):
    """What one start came to; no report if it failed."""

    converged: bool
    iterations: int
    first: int
    seconds: float
    cost: float
    report: Report | None


def attempt(step: Step, points: int, *, stages: int, tolerance: float = 1e-3, guess: Keyframes | None) -> Run:
    """Solve from a start, compiled."""
    try:
        report = walk(step, points, guess, stages=stages, tolerance=tolerance)
    except co.SolveError as error:
        failed = error.solution
        return Run(False, failed.iterations, 0, failed.seconds["solve"], np.inf, None)
    first, solution = report.first, report.solution
    seconds = solution.seconds["solve"] + (first.seconds["solve"] if first else 0.0)
    return Run(True, solution.iterations, first.iterations if first else 0, seconds, solution.cost, report)


def random_start(step: Step, points: int, seed: int) -> Keyframes:
    """Postures around standing, one for every control point, within the joints' ranges."""
    rng, model = np.random.default_rng(seed), step.stance.model
    lower, upper = model.limits("position")
    postures = np.clip(rng.normal(0.0, NOISE, (points, model.n)), lower, upper)
    return co.keyframes(dict(zip(np.linspace(0, 1, points), postures, strict=True)))


def from_zero(step: Step) -> tuple[Table, dict[str, float]]:
    """Both settings from all joints at zero: tolerances, stages, what is violated between the nodes."""
    rows, numbers = [], {}
    for name, points in SETTINGS.items():
        for stages in (1, 2):
            for tolerance in TOLERANCES:
                run = attempt(step, points, stages=stages, tolerance=tolerance, guess=None)
                key = f"{name}.{('one', 'two')[stages - 1]}.{tolerance:.0e}"
                numbers |= {f"converged.{key}": float(run.converged), f"iterations.{key}": float(run.iterations)}
                numbers |= {f"seconds.{key}": run.seconds}
                cells = (name, str(points), str(stages), f"{tolerance:.0e}", "converged" if run.converged else "failed")
                effort = (f"{run.first} + {run.iterations}", f"{run.seconds:.2f}", f"{run.cost:.5f}")
                rows.append((*cells, *effort, *_violated(run.report)))
                if run.report is not None:
                    numbers[f"cost.{key}"] = run.cost
                    numbers |= {f"violation.{key}.{kind}": amount for kind, (amount, _) in run.report.worst.items()}
    header = ("setting", "points", "stages", "tolerance", "", "iterations", "s", "cost", "mm", "m/s", "deg", "% BW")
    note = "  at 1e-06 what the exact Hessian takes from the answer at 1e-03 on"
    title = "From all joints at zero; violations between the nodes, feet against their places"
    return Table(title, header, rows, [note]), numbers


def _violated(report: Report | None) -> tuple[str, ...]:
    kinds = ("position_mm", "velocity_m_per_s", "angle_deg", "force_percent_of_weight")
    return tuple(f"{report.worst[kind][0]:.2g}" for kind in kinds) if report else ("",) * len(kinds)


def from_anywhere(step: Step, starts: int) -> tuple[Table, dict[str, float]]:
    """Both settings from random starts."""
    rows, numbers = [], {}
    for name, points in SETTINGS.items():
        runs = [attempt(step, points, stages=2, guess=random_start(step, points, seed)) for seed in range(starts)]
        costs = np.array([run.cost for run in runs])
        best = int((costs <= (1 + BEST) * costs.min()).sum())
        found = [run for run in runs if run.converged]
        numbers |= {f"starts.{name}": float(starts), f"starts.{name}.converged": float(len(found))}
        numbers |= {f"starts.{name}.best": float(best), f"starts.{name}.lowest_cost": float(costs.min())}
        iterations = [run.first + run.iterations for run in found] or [0]
        spread = f"{min(iterations)} to {max(iterations)}"
        worst = max((run.cost for run in found), default=np.inf)
        rows.append((name, f"{len(found)} of {starts}", str(best), spread, f"{costs.min():.5f}", f"{worst:.5f}"))
    header = ("setting", "converged", f"within {BEST:.0%} of the best", "iterations", "lowest cost", "highest")
    return Table(f"From random starts, {NOISE:g} rad around standing, in two stages", header, rows), numbers


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.starts", __doc__, argv, quick="three random starts")
    step = Step(walking(human55()))
    numbers: dict[str, float] = {}
    for table, found in (from_zero(step), from_anywhere(step, 3 if args.quick else STARTS)):
        print(table.text())
        numbers |= found
    return finish(args, numbers)


if __name__ == "__main__":
    main()
