"""How much energy does it take to walk uphill and downhill?

The walker of `by_muscles` at 1.2 m/s on slopes from -25 to 20 %, with the least effort, squared excitations for its
distance. Coordinates follow the slope, so that gravity is inclined. Each walk starts from the one on the next flatter
slope. Neither contacts nor energy are stated: the metabolic rate of the muscles (Bhargava et al. 2004, J. Biomech. 37)
is that of the walks of least effort. Minetti et al. (2002, J. Appl. Physiol. 93) measured the energy of ten people on
a treadmill. Their net cost, without that of standing, is least at about -15 %. The walker's goes on falling: he lets
the ground brake him, with up to six times his weight, as no term of the cost counts impacts.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import arguments, finish
from colloc.studies.walking.by_muscles import INTERVALS, LIMITS, SPEED, Walk, film, halved, measures, strip, walk
from colloc.studies.walking.costs_by_muscles import OPTIONS, effort, first_walk
from colloc.studies.walking.report.by_muscles import REST, simulated
from colloc.studies.walking.speeds_by_muscles import DURATION, WIDER
from colloc.support.display import Table

UPHILL, DOWNHILL = (0.0, 0.05, 0.1, 0.15, 0.2), (-0.05, -0.1, -0.15, -0.2, -0.25)  # rise over run
ROUNDS = 6
SHOWN = {
    "net_cost": "net cost [J/kg/m]",
    "step_length": "step [m]",
    "stance": "stance [% of the stride]",
    "peak_force": "greatest force of the ground [weight]",
}


class OnSlope(NamedTuple):
    """A walk on a slope, as a problem and its solution."""

    walk: Walk
    solution: co.Solution


def measured(grade: float) -> float:
    """Net energy [J/kg/m] of people who walk on a slope: the polynomial of Minetti et al. (2002, figure 2)."""
    return float(np.polyval([280.5, -58.7, -76.8, 51.9, 19.6, 2.5], grade))


def on_slope(grade: float) -> Walk:
    """The walk as a problem in the axes of the slope; its `walker` is that of level ground."""
    level = walk(SPEED, effort, LIMITS | WIDER, DURATION)
    model, angle = level.problem.model, np.arctan(grade)
    g = float(np.linalg.norm(model.gravity))
    inclined = replace(model, gravity=(-g * np.sin(angle), -g * np.cos(angle), 0.0))
    return level._replace(problem=replace(level.problem, model=inclined))


def on_slopes(grades: Sequence[float], guess: co.Solution, rounds: int) -> dict[float, OnSlope]:
    """Walks on one slope after another: on a coarse grid each from the one before, then on grids halved as needed."""
    walks = {}
    for grade in grades:
        made = on_slope(grade)
        guess = solution = co.solve(made.problem, co.Radau(INTERVALS), guess=guess, **OPTIONS)
        for _ in range(rounds):
            if solution.success:
                break
            solution = co.solve(made.problem, halved(solution), guess=solution, **OPTIONS)
        walks[grade] = OnSlope(made, solution)
    return walks


def inclined_strip(ax: Axes, walk: Walk, solution: co.Solution, grade: float) -> None:
    """The walker side by side, on a slope that rises to the right."""
    strip(ax, walk, solution)
    *limbs, ground = ax.lines
    ground.remove()
    c, s = np.cos(np.arctan(grade)), np.sin(np.arctan(grade))
    for line in limbs:
        x, y = np.array(line.get_data(), dtype=float)
        line.set_data(c * x - s * y, s * x + c * y)
    ax.relim()
    ax.autoscale_view()
    ax.axline((0.0, 0.0), slope=grade, color=MUTED, linewidth=0.8)
    ax.set_title(f"{100 * grade:.0f} %", fontsize=9)
    ax.set_axis_off()


@styled
def draw(walks: Mapping[float, OnSlope], found: Mapping[float, Mapping[str, float]], file: str) -> None:
    """The walk on the steepest slopes and on level ground, and four quantities over the slope."""
    figure, grades = new_figure(figsize=(11.0, 8.6)), np.array(list(walks))
    strips, curves = figure.subfigures(2, 1, height_ratios=(2.0, 0.9), squeeze=False)[:, 0]
    for ax, grade in zip(strips.subplots(3, 1), (grades.max(), 0.0, grades.min()), strict=True):
        inclined_strip(ax, *walks[grade], grade)
    for ax, (key, label) in zip(curves.subplots(1, len(SHOWN)), SHOWN.items(), strict=True):
        ax.plot(100 * grades, [found[grade][key] for grade in walks], "o-", color=BLUE, linewidth=1.2, markersize=4)
        ax.set_title(label, fontsize=9)
        dress(ax, "slope [%]", "")
        if key == "net_cost":
            fine = np.linspace(grades.min(), grades.max(), 101)
            ax.plot(100 * fine, [measured(grade) for grade in fine], color=ORANGE, label="people, Minetti 2002")
            ax.legend(fontsize=8, frameon=False)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.slopes_by_muscles", __doc__, argv, quick="three slopes on coarse grids")
    uphill, downhill, rounds = ((0.0, 0.1), (-0.1,), 0) if args.quick else (UPHILL, DOWNHILL, ROUNDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        first = first_walk()
        walks = on_slopes(uphill, first, rounds)
        walks = dict(sorted((on_slopes(downhill, walks[0.0].solution, rounds) | walks).items()))
    found = {
        grade: measures(*one, SPEED)
        | {"solved": float(one.solution.success), "error": float(one.solution.error.motion_error)}
        | simulated(one.solution)
        for grade, one in walks.items()
    }
    for row in found.values():
        row["net_cost"] = row["cost_of_transport"] - REST / SPEED
    numbers = {f"slope.{100 * grade:g}.{key}": value for grade, row in found.items() for key, value in row.items()}
    numbers["solved"] = sum(row["solved"] for row in found.values())
    numbers["cheapest"] = min(found, key=lambda grade: found[grade]["net_cost"])
    off = {grade: row["net_cost"] - measured(grade) for grade, row in found.items()}
    numbers["off.up"] = max(abs(difference) for grade, difference in off.items() if grade >= 0)
    numbers["off.down"] = max(abs(difference) for grade, difference in off.items() if grade <= 0)
    rows = [
        (f"{100 * grade:.0f}", f"{measured(grade):.3g}", *(f"{row[key]:.3g}" for key in (*SHOWN, "error")))
        for grade, row in found.items()
    ]
    notes = [f"  net cost off by up to {numbers['off.up']:.2f} uphill and {numbers['off.down']:.2f} J/kg/m downhill"]
    print(Table(args.question, ("slope [%]", "people", *SHOWN.values(), "error"), rows, notes).text())
    draw(walks, found, args.figure)
    return finish(args, numbers, partial(film, walks[max(walks)].solution))


if __name__ == "__main__":
    main()
