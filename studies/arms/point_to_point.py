"""How much faster than the straight line in joint space is the fastest motion of an industrial arm?

Panda, UR5, LBR iiwa 14 and PUMA 560 within their makers' limits of position, velocity and torque (and acceleration,
where published), from rest to rest between random postures. The straight line is the fastest along it that keeps the
limits; no motion is faster than its slowest joint would be alone, at its limits of velocity and acceleration.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

import colloc as co
from colloc.models.iiwa import iiwa
from colloc.models.panda import panda
from colloc.models.puma560 import puma560
from colloc.models.ur5 import ur5
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, MUTED, VERMILLION, dress, legend_below, styled
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table
from colloc.transcription import TimeOptimalLine, time_optimal_line

ARMS: dict[str, Callable[[], co.Model]] = {
    "panda": panda,
    "ur5": ur5,
    "iiwa": iiwa,
    "puma": lambda: puma560(motors=True),
}
ANSWERED = (co.solver.Status.SOLVED, co.solver.Status.COARSE, co.solver.Status.VIOLATED)


@dataclass(frozen=True)
class Run:
    """One pair of postures.

    Parameters
    ----------
    line, alone : float [s]
        The straight line's time, and that of the slowest joint alone.
    seconds : float
        For stating, transcribing and solving.
    solution : Solution
    """

    line: float
    alone: float
    seconds: float
    solution: co.Solution

    @property
    def slower(self) -> bool:
        """Whether there is no answer as fast as the straight line."""
        return self.solution.status not in ANSWERED or self.solution.duration > self.line

    @property
    def gain(self) -> float:
        """Time saved, over the straight line's."""
        return 1 - self.solution.duration / self.line


def solve(problem: co.Problem, line: TimeOptimalLine) -> co.Solution:
    """The fastest motion to 1e-3, from a mesh that the straight line fits on."""
    curve = co.BSpline(breakpoints=line.breakpoints(), continuity=1)
    return co.solve(problem, curve, tol=1e-3, compile=False, raise_on_failure=False)


def run(model: co.Model, start: np.ndarray, end: np.ndarray) -> Run:
    """One pair of postures."""
    begin = time.perf_counter()
    problem = co.transcription.point_to_point(model, start, end)
    line = time_optimal_line(problem, start, end)
    assert isinstance(line, TimeOptimalLine)  # otherwise there is no such problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # counted in the table
        solution = solve(problem, line)
    return Run(line.duration, alone(model, end - start), time.perf_counter() - begin, solution)


def alone(model: co.Model, way: np.ndarray) -> float:
    """Time of the slowest joint if each moved alone: full acceleration to full speed or half way, and back [s]."""
    distance, speed = np.abs(way), model.limits("velocity")[1]
    gain = model.limits("acceleration")[1]
    return float(
        np.where(distance > speed**2 / gain, distance / speed + speed / gain, 2 * np.sqrt(distance / gain)).max()
    )


def postures(model: co.Model, pairs: int) -> np.ndarray:
    """Random postures within the limits, of joints that may turn further within half a turn; shape (pairs, 2, n)."""
    lower, upper = np.clip(model.limits("position"), -np.pi, np.pi)
    return np.random.default_rng(0).uniform(lower, upper, (pairs, 2, model.n))


def draw_arm(ax: Axes, model: co.Model, runs: list[Run]) -> None:
    """Gains of one arm, sorted, and what each joint alone would allow."""
    ordered = sorted(runs, key=lambda one: one.gain)
    x = np.arange(1, len(ordered) + 1)
    ax.vlines(x, 0, [100 * (1 - one.alone / one.line) for one in ordered], color=MUTED, linewidth=1.0)
    for k, one in zip(x, ordered, strict=True):
        ax.plot(k, 100 * one.gain, "o", markersize=4.5, color=BLUE if one.solution.success else VERMILLION)
    ax.axhline(0, color=MUTED, linewidth=0.8)
    ax.set_title(f"{model.name}: median {100 * median(one.gain for one in runs):.2f} %", loc="left")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    dress(ax, "pair of postures", "faster than the straight line [%]")


@styled
def draw(models: dict[str, co.Model], runs: dict[str, list[Run]], file: str) -> None:
    """One arm a panel."""
    figure = new_figure(figsize=(11.0, 7.5))
    axes = figure.subplots(2, 2)
    for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
        draw_arm(ax, model, runs[name])
    handles = [
        Line2D([], [], color=BLUE, marker="o", linestyle="", label="solved"),
        Line2D([], [], color=VERMILLION, marker="o", linestyle="", label="with a reservation: see the table"),
        Line2D([], [], color=MUTED, label="up to the time of the slowest joint alone"),
    ]
    legend_below(figure, handles)
    co.plot.save_figure(figure, file)


def summary(runs: Sequence[Run]) -> dict[str, float]:
    """Numbers over some pairs, by the names that they have as JSON."""
    return {
        "slower_than_line": sum(one.slower for one in runs) / len(runs),
        "median_gain": median(one.gain for one in runs),
        "most_gain": max(one.gain for one in runs),
        "seconds.median": median(one.seconds for one in runs),
        "solved": sum(one.solution.success for one in runs) / len(runs),
    }


def cells(runs: Sequence[Run]) -> tuple[str, ...]:
    """Row of the table: gains, what the slowest joint alone allows, answers and their statuses."""
    gains, count = sorted(one.gain for one in runs), len(runs)
    others = [str(one.solution.status) for one in runs if not one.solution.success]
    return (
        f"{gains[0]:.2%} / {median(gains):.2%} / {gains[-1]:.2%}",
        f"{median(1 - one.alone / one.line for one in runs):.2%}",
        f"{sum(one.slower for one in runs)} of {count}",
        f"{median(one.seconds for one in runs):.2f}",
        f"{count - len(others)} of {count}",
        ", ".join(f"{others.count(status)} {status}" for status in dict.fromkeys(others)),
    )


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    pairs = Option("pairs", None, "pairs of postures of each arm (default 30, quick 3)", least=1)
    args = arguments("arms.point_to_point", __doc__, argv, quick="few pairs of postures", options=[pairs])
    count = int(args.pairs or (3 if args.quick else 30))
    models = {name: make() for name, make in ARMS.items()}
    runs = {name: [run(model, *ends) for ends in postures(model, count)] for name, model in models.items()}
    every = [one for group in runs.values() for one in group]
    numbers = summary(every) | {"pairs": float(count)}
    rows = []
    for name, group in runs.items():
        numbers |= {f"{key}.{name}": value for key, value in summary(group).items()}
        rows.append((models[name].name, *cells(group)))
    header = ("", "gain: least / median / most", "slowest joint alone", "slower", "seconds", "solved", "others")
    print(Table(args.question, header, rows).text())
    draw(models, runs, args.figure)
    return finish(args, numbers, runs["puma"][0].solution)


if __name__ == "__main__":
    main()
