"""Do answers that are called solved come to the known optima of classic problems?

Few intervals miss a bang that is shorter than one of them, and may not tell a motion from a cheaper one. An answer is
wrong if it is called solved and its cost is off by more than one per cent from every known optimum of its problem.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, GREEN, MUTED, ORANGE, PURPLE, VERMILLION, dress, legend_below, styled
from colloc.studies.classics.arms import ARMS
from colloc.studies.classics.classic import Classic
from colloc.studies.classics.points import POINTS
from colloc.studies.classics.states import STATES
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

CLASSICS = POINTS | ARMS | STATES
TOL = 1e-4
PATIENCE = 30.0  # s
WRONG = 1e-2
OPTIONS = (Option("intervals", 40, "intervals of every transcription", least=2),)
WAYS = {
    "bspline": "B-spline", "bspline_c1": "B-spline, accelerations may jump", "radau": "Radau",
    "hermite_simpson": "Hermite-Simpson", "refined": "refined by the library",
}  # fmt: skip
LOOKS = ((BLUE, "o"), (GREEN, "s"), (ORANGE, "^"), (PURPLE, "D"), (VERMILLION, "*"))
SHOWN = (1e-9, 1e4)  # of relative distances
FILMED = "manutec_energy"
QUICK = ("double_integrator", "breakwell", "manutec_energy")


class Answer(NamedTuple):
    """Result of one problem in one way.

    Parameters
    ----------
    status : str
    cost : float
        NaN where there is no motion.
    optimum : float
        The nearest known optimum.
    seconds : float
        Wall time, building and all rounds of a refinement included.
    solution : Solution, optional
        None where the problem was refused.
    """

    status: str
    cost: float
    optimum: float
    seconds: float
    solution: co.Solution | None = None

    @property
    def error(self) -> float:
        """Relative difference from the nearest known optimum."""
        return self.cost / self.optimum - 1

    @property
    def solved(self) -> bool:
        """Whether the library calls it solved."""
        return self.status == co.solver.Status.SOLVED

    @property
    def wrong(self) -> bool:
        """Whether it is called solved and far from any known optimum."""
        return self.solved and abs(self.error) > WRONG

    def cells(self) -> tuple[str, ...]:
        """Cells of the table: status, cost, optimum, error, seconds."""
        numbers = ((self.cost, ".7f"), (self.optimum, ".7f"), (self.error, "+.1e"), (self.seconds, ".2f"))
        return (self.status, *(f"{value:{form}}" if isfinite(value) else "" for value, form in numbers))


def ways(intervals: int) -> dict[str, tuple[co.BSpline | co.Radau | co.HermiteSimpson | None, float | None]]:
    """Curve and tolerance by name; the last leaves the curve to the library, which refines it."""
    return {
        "bspline": (co.BSpline(intervals), None),
        "bspline_c1": (co.BSpline(intervals, degree=4, continuity=1), None),
        "radau": (co.Radau(intervals), None),
        "hermite_simpson": (co.HermiteSimpson(intervals), None),
        "refined": (None, TOL),
    }


def answer(classic: Classic, curve: Any, tol: float | None) -> Answer:
    """The library's answer to a classic problem, on a curve as it is or refined to a tolerance."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the status says it too
        try:
            solution = co.solve(
                classic.problem(), curve, tol=tol, compile=False, solver=co.Ipopt(max_wall_time=PATIENCE),
                raise_on_failure=False,
            )  # fmt: skip
        except co.InputError:
            return Answer("refused", nan, nan, nan)
    nearest = min((classic.optimum, *classic.others), key=lambda optimum: abs(solution.cost - optimum))
    return Answer(str(solution.status), solution.cost, nearest, time.perf_counter() - begin, solution)


@styled
def draw(answers: Mapping[str, Mapping[str, Answer]], file: str) -> None:
    """How far every answer is from the nearest known optimum, and whether it is called solved."""
    names = list(next(iter(answers.values())))
    figure = new_figure(figsize=(9.0, 1.6 + 0.27 * len(names)))
    ax = figure.subplots()
    for group, (color, marker) in zip(answers.values(), LOOKS, strict=True):
        for row, one in enumerate(group.values()):
            if isfinite(one.cost):
                off = np.clip(abs(one.error), *SHOWN)
                filled = color if one.solved else "none"
                ax.plot(off, row, marker, color=color, markerfacecolor=filled, markersize=6, clip_on=False)
    for limit in (TOL, WRONG):
        ax.axvline(limit, color=MUTED, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    ax.set(xscale="log", xlim=SHOWN, ylim=(len(names) - 0.5, -0.5))
    ax.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
    dress(ax, "relative distance of the cost from the nearest known optimum (dotted: 1e-4, 1e-2)")
    handles = [
        Line2D([], [], color=color, marker=marker, linestyle="", label=WAYS[way])
        for way, (color, marker) in zip(answers, LOOKS, strict=True)
    ]
    hollow = Line2D([], [], color=MUTED, marker="o", markerfacecolor="none", linestyle="", label="not called solved")
    legend_below(figure, [*handles, hollow])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("classics.optima", __doc__, argv, quick="three problems", options=OPTIONS)
    names = QUICK if args.quick else tuple(CLASSICS)
    numbers: dict[str, float] = {}
    rows, every = [], {}
    for way, (curve, tol) in ways(args.intervals).items():
        answers = every[way] = {name: answer(CLASSICS[name], curve, tol) for name in names}
        for name, one in answers.items():
            rows.append((name, way, *one.cells(), CLASSICS[name].source))
            figures = {"cost": one.cost, "error": one.error, "seconds": one.seconds, "solved": float(one.solved)}
            numbers |= {f"{name}.{way}.{key}": value for key, value in figures.items()}
        numbers[f"solved.{way}"] = float(sum(one.solved for one in answers.values()))
        numbers[f"right.{way}"] = float(sum(one.solved and abs(one.error) <= TOL for one in answers.values()))
        numbers[f"wrong.{way}"] = float(sum(one.wrong for one in answers.values()))
    rows.sort(key=lambda row: names.index(row[0]))
    header = ("problem", "way", "status", "cost", "optimum", "error", "seconds", "source of the optimum")
    totals = [
        f"  {way}: {numbers[f'solved.{way}']:.0f} of {len(names)} solved, {numbers[f'wrong.{way}']:.0f} of them wrong"
        for way in ways(args.intervals)
    ]
    draw(every, args.figure)
    print(Table(f"Classic problems on {args.intervals} intervals", header, rows, totals).text())
    finite = {key: value for key, value in numbers.items() if isfinite(value)}  # JSON has no NaN
    return finish(args, finite, every["refined"][FILMED].solution)


if __name__ == "__main__":
    main()
