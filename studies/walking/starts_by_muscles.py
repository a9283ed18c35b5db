"""From how many random starts does a planar human with 18 muscles find a walk, and which?

The problem of `colloc.studies.walking.by_muscles` on its coarse grid, which states no contact and follows no motion.
The starts are two legs that swing as sines, all of whose numbers are drawn: duration, swing, bend of the knee, tilt of
pelvis and trunk, and every joint's angle at nine times by `NOISE` beside that.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

import colloc as co
from colloc.models.muscle_walker import MuscleWalker
from colloc.plot.figure import new_figure
from colloc.plot.style import styled
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.walking.by_muscles import INTERVALS, SPEED, Walk, film, measures, strip, swinging, walk
from colloc.support.display import Table

STARTS, PATIENCE = 20, 500  # iterations
NOISE = 0.1  # rad
ALIKE = 1e-3  # relative difference of costs of the same walk
HEADER = ("cost", "starts", "iterations", "s of the processor", "step [m]", "stance [%]", "peak [weight]")


class Run(NamedTuple):
    """The end of a search."""

    solution: co.Solution | None
    seconds: float  # of the processor


def random_start(walker: MuscleWalker, rng: np.random.Generator) -> co.transcription.Keyframes:
    """Two legs that swing as sines, more or less."""
    duration, swing, bend = rng.uniform((0.4, 0.1, 0.2), (0.6, 0.6, 1.1))
    tilt, lumbar = rng.uniform((-0.3, 0.0), (0.1, 0.4))
    noise = NOISE * rng.standard_normal((9, walker.model.n))
    noise[:, :2] = 0.0  # the place of the pelvis
    return swinging(walker, SPEED, duration, swing=swing, bend=bend, tilt=tilt, lumbar=lumbar, noise=noise)


def attempt(made: Walk, guess: co.transcription.Keyframes) -> Run:
    """Search from a start."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of a coarse grid
        try:
            # Hundreds of iterations end where their last digits lead, so the linear solver is said.
            solver = co.Ipopt(max_iter=PATIENCE, linear_solver="mumps", mumps_pivot_order=5)
            found = co.solve(made.problem, co.Radau(INTERVALS), guess=guess, solver=solver, progress=False)
        except co.SolveError:
            found = None
    return Run(found, time.process_time() - begin)


def alike(runs: Sequence[Run]) -> list[list[Run]]:
    """Those that found a walk, by walk, the cheapest first."""
    walks: list[list[Run]] = []
    ended = [(run.solution.cost, k) for k, run in enumerate(runs) if run.solution is not None]
    for cost, k in sorted(ended):
        first = walks[-1][0].solution if walks else None
        if first is not None and cost <= (1 + ALIKE) * first.cost:
            walks[-1].append(runs[k])
        else:
            walks.append([runs[k]])
    return walks


@styled
def draw(made: Walk, walks: Sequence[list[Run]], file: str) -> None:
    """The cheapest walks, three at most, side by side at nine times."""
    figure = new_figure(figsize=(9.0, 7.5))
    axes = figure.subplots(3, 1)
    for ax, same in zip(axes, walks, strict=False):
        solution = same[0].solution
        assert solution is not None
        strip(ax, made, solution)
        ax.set_title(f"cost {solution.cost:.4f}, starts: {len(same)}", fontsize=9, loc="left")
    for ax in axes[len(walks) :]:
        ax.set_visible(False)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    count = Option("starts", STARTS, "number of random starts", least=1)
    args = arguments("walking.starts_by_muscles", __doc__, argv, quick="two starts", options=[count])
    made, rng = walk(), np.random.default_rng(0)
    guesses = [random_start(made.walker, rng) for _ in range(2 if args.quick else args.starts)]
    runs = [attempt(made, guess) for guess in guesses]
    walks, rows = alike(runs), []
    numbers = {"starts": float(len(runs)), "walking": float(sum(map(len, walks))), "walks": float(len(walks))}
    for k, same in enumerate(walks):
        solution = same[0].solution
        assert solution is not None
        gait = measures(made, solution, SPEED)
        iterations = [run.solution.iterations for run in same if run.solution is not None]
        seconds = [run.seconds for run in same]
        numbers |= {f"{k}.cost": solution.cost, f"{k}.starts": float(len(same))}
        numbers |= {f"{k}.{key}": gait[key] for key in ("step_length", "stance", "peak_force")}
        numbers |= {f"{k}.iterations": float(np.median(iterations)), f"{k}.seconds": float(np.median(seconds))}
        shape = f"{gait['step_length']:.2f}", f"{gait['stance']:.0f}", f"{gait['peak_force']:.2f}"
        effort = f"{np.median(iterations):.0f}", f"{np.median(seconds):.1f}"
        rows.append((f"{solution.cost:.4f}", f"{len(same)}", *effort, *shape))
    numbers["seconds"] = sum(run.seconds for run in runs)
    notes = [f"  {numbers['walking']:.0f} of {len(runs)} walk, within {PATIENCE} iterations"]
    print(Table(args.question, HEADER, rows, notes).text())
    draw(made, walks, args.figure)
    best = walks[0][0].solution if walks else None
    return finish(args, numbers, None if best is None else partial(film, best))


if __name__ == "__main__":
    main()
