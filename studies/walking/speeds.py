"""Does the predicted walk change with speed as people's does?

The step of `colloc.studies.walking.gait` at 0.9, 1.2 and 1.5 m/s with one set of weights, those found at 1.2 m/s:
nothing is fitted at the other two. Steps lengthen with the square root of speed, from 0.6 m at 1.2 m/s, so that cadence
grows as its square root too, which is roughly what people do; both other steps start from the solution at 1.2 m/s.
Trends are laid beside those of Schwartz et al. (2008, slow, free, fast) and Fukuchi et al. (2018, 0.94, 1.24, 1.50
m/s).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import colloc as co
from colloc.models.human.human55 import human55, walking
from colloc.plot.figure import new_figure
from colloc.plot.style import FADE, INK, MUTED, ORANGE, dress, legend_below, styled
from colloc.studies.reporting import arguments, finish
from colloc.studies.walking.picture.animation import write_animation
from colloc.studies.walking.picture.figures import PANELS, dress_stride
from colloc.studies.walking.report.comparison import LABELS
from colloc.studies.walking.report.norms import Fact, fact
from colloc.studies.walking.report.report import Report
from colloc.studies.walking.step import Step
from colloc.studies.walking.walk import walk
from colloc.support.display import Table

SPEEDS = (0.9, 1.2, 1.5)  # m/s
NORMAL = 1.2
TRENDS = (
    "vertical.peak_1", "vertical.valley", "vertical.peak_2", "fore_aft.braking", "fore_aft.propulsion",
    "hip.flexion", "hip.extension", "knee.loading", "knee.swing", "ankle.push_off", "ankle_moment.push_off",
    "ankle_power.push_off",
)  # fmt: skip
SOURCES = {
    "Schwartz 2008": ("slow", "free", "fast"),
    "Fukuchi 2018": ("slow", "comfortable", "fast"),
}
# m/s; the first are of children, at speeds of their own
ABOUT = {
    "Schwartz 2008": SPEEDS,
    "Fukuchi 2018": (0.94, 1.24, 1.50),
}
STEADY = 0.02  # share of the largest value: smaller changes are no trend


def step_length(speed: float) -> float:
    """Length of a step at a speed [m]."""
    return 0.6 * float(np.sqrt(speed / NORMAL))


def steps() -> dict[float, Step]:
    """The three steps by speed."""
    walker = walking(human55())
    return {speed: Step(walker, speed=speed, length=step_length(speed)) for speed in SPEEDS}


def walks() -> dict[float, Report]:
    """The three steps, solved, by speed: the middle one from standing, the others from it."""
    wanted = steps()
    found = {NORMAL: walk(wanted[NORMAL])}
    for speed, step in wanted.items():
        if speed not in found:
            found[speed] = walk(step, guess=found[NORMAL].solution)
    return {speed: found[speed] for speed in SPEEDS}


def published(event: str) -> dict[str, list[Fact]]:
    """Published values of an event at three speeds, by source."""
    found = {}
    for source, paces in SOURCES.items():
        facts = [fact(event, source, pace) for pace in paces]
        if all(facts):
            found[source] = [f for f in facts if f]
    return found


def trend(values: Sequence[float]) -> str:
    """Trend in a word: rises, falls, steady, or turns."""
    change = np.diff(values) / max(np.abs(values).max(), 1e-9)
    if (np.abs(change) < STEADY).all():
        return "steady"
    if (change > -STEADY).all():
        return "rises"
    return "falls" if (change < STEADY).all() else "turns"


def trend_table(reports: Mapping[float, Report]) -> Table:
    """Our peaks at the three speeds beside the published ones."""
    rows, agree, compared = [], 0, 0
    for event in TRENDS:
        ours = [report.peaks[event].value for report in reports.values()]
        cells = [*(f"{value:.3g}" for value in ours), trend(ours)]
        others = published(event)
        source, facts = next(iter(others.items()), ("", []))
        said = [f.value for f in facts]
        cells += [*(f"{value:.3g}" for value in said), trend(said)] if said else [""] * 4
        if said:
            compared += 1
            agree += trend(ours) == trend(said)
        rows.append((LABELS[event], *cells, source))
    header = ("", *(f"{speed:g} m/s" for speed in reports), "ours", "slow", "free", "fast", "published", "source")
    notes = [f"  {agree} of {compared} trends as published", *_runs(reports)]
    return Table("Walking at three speeds", header, rows, notes)


def _runs(reports: Mapping[float, Report]) -> list[str]:
    return [
        f"  {speed:g} m/s, steps of {report.step.length:.3f} m: {found.status}, "
        f"{found.iterations} iterations, {found.seconds['solve']:.1f} s, cost {found.cost:.4g}"
        for speed, report in reports.items()
        for found in (report.solution,)
    ]


@styled
def speeds_figure(reports: Mapping[float, Report]) -> Figure:
    """Curves over a stride at the three speeds, and the peaks over speed."""
    figure = new_figure(figsize=(13.0, 12.4))
    grid = figure.add_gridspec(4, 12, height_ratios=(1, 1, 0.85, 0.85))
    shades = FADE(np.linspace(0.25, 1.0, len(reports)))
    for k, (name, label) in enumerate(PANELS.items()):
        column = 4 * (k % 3)
        ax = figure.add_subplot(grid[k // 3, column : column + 4])
        for shade, report in zip(shades, reports.values(), strict=True):
            ax.plot(report.percent, report.curves[name], color=shade)
        dress_stride(ax, label)
    for k, event in enumerate(TRENDS):
        column = 2 * (k % 6)
        draw_trend(figure.add_subplot(grid[2 + k // 6, column : column + 2]), event, reports)
    handles = [
        Line2D([], [], color=shade, label=f"{speed:g} m/s{'' if report.found else ', not solved'}")
        for shade, (speed, report) in zip(shades, reports.items(), strict=True)
    ]
    handles += [
        Line2D([], [], color=INK, marker="o", label="predicted"),
        Line2D([], [], color=MUTED, marker="s", linestyle="--", label="Schwartz et al. (2008), slow, free, fast"),
        Line2D([], [], color=ORANGE, marker="D", linestyle="--", label="Fukuchi et al. (2018)"),
    ]
    legend_below(figure, handles)
    figure.suptitle("Predicted walking at three speeds, weights unchanged", fontsize=13, fontweight="bold")
    return figure


def draw_trend(ax: Axes, event: str, reports: Mapping[float, Report]) -> None:
    """An event over speed: ours, and published values with standard deviations."""
    looks = {"Schwartz 2008": (MUTED, "s"), "Fukuchi 2018": (ORANGE, "D")}
    for source, facts in published(event).items():
        color, marker = looks[source]
        values, sd = ([getattr(f, name) for f in facts] for name in ("value", "sd"))
        ax.errorbar(
            ABOUT[source], values, sd, color=color, marker=marker, markersize=4, linestyle="--", linewidth=1.2,
            capsize=2,
        )  # fmt: skip
    values = [report.peaks[event].value for report in reports.values()]
    ax.plot(list(reports), values, "o-", color=INK, markersize=5)
    dress(ax, xlabel="speed [m/s]")
    what, _, unit = LABELS[event].rpartition(" [")
    ax.set_title(f"{what.replace(', ', chr(10), 1)} [{unit}", fontsize=9, loc="left")
    ax.set_xticks(SPEEDS)
    ax.set_xlim(0.8, 1.6)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.speeds", __doc__, argv, animation=(".html",))
    try:
        reports = walks()
    except co.SolveError as error:
        sys.exit(f"no walk was found: {error}")
    print(trend_table(reports).text())
    co.plot.save_figure(speeds_figure(reports), args.figure, dpi=130)
    numbers = {}
    for speed, report in reports.items():
        numbers |= {f"{name}.{speed:g}": value for name, value in report.numbers.items()}
    return finish(args, numbers, lambda path, _: write_animation(reports[max(reports)], path))


if __name__ == "__main__":
    main()
