"""Does it matter where the search for a walk starts, how many control points it has, and in how many stages it runs?

The step of `colloc.studies.walking.gait` in the paper's setting of six control points and in the study's own, from all
joints at zero at two tolerances, in one stage and in two; then from twenty random starts, every control point of every
joint off by `NOISE` radians in the mean square.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import colloc as co
from colloc.models.human.human55 import human55, walking
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, INK, MUTED, dress, styled
from colloc.studies.reporting import arguments, finish
from colloc.studies.walking.picture.animation import write_animation
from colloc.studies.walking.picture.figures import PANELS, dress_stride
from colloc.studies.walking.step import Step
from colloc.studies.walking.walk import POINTS, walk
from colloc.support.display import Table
from colloc.transcription import Keyframes

SETTINGS = {"paper": 6, "default": POINTS}  # control points
TOLERANCES = (1e-3, 1e-6)
STARTS, NOISE = 20, 0.1  # rad
BEST = 0.02  # relative distance from the lowest cost of all that counts as reaching it
SHOWN = ("knee", "vertical")


class Run(NamedTuple):
    """The end of a search from one start.

    Parameters
    ----------
    converged : bool
    iterations, first : int
        Iterations of the problem, and of the first stage.
    seconds, cost : float
    violations : mapping of str to float
        Largest violation of each kind; empty if the search failed, as are the curves.
    curves : mapping of str to ndarray
        Curves of a stride, with "percent".
    """

    converged: bool
    iterations: int
    first: int
    seconds: float
    cost: float
    violations: Mapping[str, float]
    curves: Mapping[str, np.ndarray]


def attempt(step: Step, points: int, *, stages: int, tolerance: float = 1e-3, guess: Keyframes | None) -> Run:
    """Solve from a start, compiled."""
    try:
        report = walk(step, points, guess, stages=stages, tolerance=tolerance)
    except co.SolveError as error:
        failed = error.solution
        return Run(False, failed.iterations, 0, failed.seconds["solve"], np.inf, {}, {})
    first, solution = report.first, report.solution
    seconds = solution.seconds["solve"] + (first.seconds["solve"] if first else 0.0)
    # No report is kept: forty solutions of this size would fill the memory.
    return Run(
        True, solution.iterations, first.iterations if first else 0, seconds, solution.cost,
        {kind: amount for kind, (amount, _) in report.worst.items()}, report.curves | {"percent": report.percent},
    )  # fmt: skip


def random_start(step: Step, points: int, seed: int) -> Keyframes:
    """Postures around standing, one for every control point, within the joints' ranges."""
    rng, model = np.random.default_rng(seed), step.stance.model
    lower, upper = model.limits("position")
    postures = np.clip(rng.normal(0.0, NOISE, (points, model.n)), lower, upper)
    return co.keyframes(dict(zip(np.linspace(0, 1, points), postures, strict=True)))


def from_zero(step: Step, tolerances: Sequence[float] = TOLERANCES) -> tuple[Table, dict[str, float]]:
    """Both settings from all joints at zero: tolerances, stages, violations between the nodes."""
    rows, numbers = [], {}
    for name, points in SETTINGS.items():
        for stages in (1, 2):
            for tolerance in tolerances:
                run = attempt(step, points, stages=stages, tolerance=tolerance, guess=None)
                key = f"{name}.{('one', 'two')[stages - 1]}.{tolerance:.0e}"
                numbers |= {f"converged.{key}": float(run.converged), f"iterations.{key}": float(run.iterations)}
                numbers |= {f"seconds.{key}": run.seconds}
                cells = (name, str(points), str(stages), f"{tolerance:.0e}", "converged" if run.converged else "failed")
                effort = (f"{run.first} + {run.iterations}", f"{run.seconds:.2f}", f"{run.cost:.5f}")
                rows.append((*cells, *effort, *_violated(run)))
                if run.converged:
                    numbers[f"cost.{key}"] = run.cost
                    numbers |= {f"violation.{key}.{kind}": amount for kind, amount in run.violations.items()}
    header = ("setting", "points", "stages", "tolerance", "", "iterations", "s", "cost", "mm", "m/s", "deg", "% BW")
    loose, tight = TOLERANCES
    note = f"  at {tight:.0e} iterations that the exact Hessian takes from the answer at {loose:.0e} on"
    title = "From all joints at zero; violations between the nodes, feet against their places"
    return Table(title, header, rows, [note] if tight in tolerances else []), numbers


def _violated(run: Run) -> tuple[str, ...]:
    kinds = ("position_mm", "velocity_m_per_s", "angle_deg", "force_percent_of_weight")
    return tuple(f"{run.violations[kind]:.2g}" if run.converged else "" for kind in kinds)


def from_anywhere(step: Step, starts: int) -> dict[str, list[Run]]:
    """Both settings from random starts."""
    return {
        name: [attempt(step, points, stages=2, guess=random_start(step, points, seed)) for seed in range(starts)]
        for name, points in SETTINGS.items()
    }


def tabulated(found: Mapping[str, Sequence[Run]]) -> tuple[Table, dict[str, float]]:
    """Random starts as a table and as numbers."""
    rows, numbers = [], {}
    for name, runs in found.items():
        costs = np.array([run.cost for run in runs])
        best = int((costs <= (1 + BEST) * costs.min()).sum())
        converged = [run for run in runs if run.converged]
        numbers |= {f"starts.{name}": float(len(runs)), f"starts.{name}.converged": float(len(converged))}
        numbers |= {f"starts.{name}.best": float(best), f"starts.{name}.lowest_cost": float(costs.min())}
        iterations = [run.first + run.iterations for run in converged] or [0]
        spread = f"{min(iterations)} to {max(iterations)}"
        worst = max((run.cost for run in converged), default=np.inf)
        share = f"{len(converged)} of {len(runs)}"
        rows.append((name, share, str(best), spread, f"{costs.min():.5f}", f"{worst:.5f}"))
    header = ("setting", "converged", f"within {BEST:.0%} of the best", "iterations", "lowest cost", "highest")
    return Table(f"From random starts, {NOISE:g} rad around standing, in two stages", header, rows), numbers


@styled
def starts_figure(found: Mapping[str, Sequence[Run]]) -> Figure:
    """Strides from all random starts on top of each other, and cost over iterations; one setting a row."""
    figure = new_figure(figsize=(13.0, 3.7 * len(found)))
    axes = figure.subplots(len(found), 3, squeeze=False)
    for row, (name, runs) in zip(axes, found.items(), strict=True):
        converged = [run for run in runs if run.converged]
        for ax, curve in zip(row, SHOWN, strict=False):
            for run in converged:
                ax.plot(run.curves["percent"], run.curves[curve], color=BLUE, linewidth=1.2, alpha=0.35)
            dress_stride(ax, PANELS[curve])
        row[0].set_title(f"{SETTINGS[name]} control points: {len(converged)} of {len(runs)} converged", loc="left")
        best = min((run.cost for run in converged), default=np.inf)
        above = [100 * (run.cost / best - 1) for run in converged]
        row[2].plot([run.first + run.iterations for run in converged], above, "o", color=INK, alpha=0.6)
        row[2].axhline(100 * BEST, color=MUTED, linestyle="--", linewidth=1.0)  # what counts as the best
        row[2].set_ylim(-0.1, 1.1 * max([100 * BEST, *above]))
        dress(row[2], xlabel="iterations of both stages", ylabel="cost above the lowest [%]")
    return figure


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.starts", __doc__, argv, quick="one tolerance, three random starts", animation=(".html",))
    step = Step(walking(human55()))
    table, numbers = from_zero(step, TOLERANCES[:1] if args.quick else TOLERANCES)
    print(table.text())
    found = from_anywhere(step, 3 if args.quick else STARTS)
    table, more = tabulated(found)
    print(table.text())
    co.plot.save_figure(starts_figure(found), args.figure, dpi=130)
    return finish(args, numbers | more, lambda path, _: write_animation(walk(step), path))


if __name__ == "__main__":
    main()
