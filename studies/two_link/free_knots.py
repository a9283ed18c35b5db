"""What do free knots find, and what are they worth?

The three two-link problems with breakpoints as unknowns (Xiang, Arora and Abdel-Malek 2009, equation 42; Barman 2020,
chapter VI, takes them for design variables in all three), against the same splines on equal intervals: the paper's
cubic splines, whose accelerations are continuous, and splines of degree 7 whose accelerations may jump where a torque
switches.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, INK, MUTED, VERMILLION, body_joint_styles, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.two_link import lifting, prismatic_revolute, time_optimal


class Case(NamedTuple):
    """A problem with its optimum, by two independent methods, and the times at which a torque meets or leaves a bound.

    Parameters
    ----------
    problem : Problem
    T : float [s]
    cost : float
    corners : tuple of float [s]
    """

    problem: co.Problem
    T: float
    cost: float
    corners: tuple[float, ...]


T1 = time_optimal.EXACT["T"]
CASES = {
    "time_optimal": Case(time_optimal.problem, T1, T1, (0.045709321233, 0.195927269758, 0.235300431370)),
    "lifting": Case(lifting.problem, 0.51886031, 0.84487800, (0.066099, 0.487271)),
    "prismatic_revolute": Case(prismatic_revolute.problem, 0.58578391, 0.77323476, ()),
}
SPLINES = {"cubic": partial(co.BSpline, degree=3), "degree_7": partial(co.BSpline, degree=7, continuity=1)}
INTERVALS = (6, 8, 12, 20)
Key = tuple[str, str, int, str]  # problem, spline, intervals, knots
FLOOR = 5e-9  # of the cost: half a unit of the last digit that is known of it


def solved(problem: co.Problem, spline: str, intervals: int, knots: str) -> co.Solution:
    """The optimum on a spline, limits kept between the nodes to 1e-5."""
    curve = SPLINES[spline](intervals, knots=knots)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the figure says what few cubic pieces miss
        return co.solve(problem, curve, compile=False, plan=[co.refinement.Solve(tol=1e-5)], progress=False)


@styled
def draw(found: dict[Key, co.Solution], file: str) -> None:
    """Torques with the knots found, and the excess of the cost over the number of intervals."""
    figure = new_figure(figsize=(12.0, 6.4))
    axes = figure.subplots(2, len(CASES))
    most = max(intervals for _, _, intervals, _ in found)
    for (name, case), top, low in zip(CASES.items(), *axes, strict=True):
        solution = found[name, "degree_7", most if name != "time_optimal" else min(8, most), "free"]
        t = np.linspace(0, solution.duration, 800)
        tau, joints = solution.at(t).tau, solution.problem.model.joint_names
        for knot in solution.mesh_times:
            top.axvline(knot, color=MUTED, linewidth=0.7)
        for k, look in enumerate(body_joint_styles(solution.problem.model)):
            top.plot(t, tau[:, k], color=look.color, label=joints[k])
        top.set_title(name.replace("_", " "), loc="left")
        dress(top, "t [s]", "torque [N m], force [N]" if name == "time_optimal" else "")
        top.legend(loc="upper right", framealpha=1.0, edgecolor="none")
        for spline, color in (("cubic", BLUE), ("degree_7", VERMILLION)):
            for knots, line in (("fixed", (0, (2, 1.5))), ("free", "-")):
                own = sorted((n, s.cost) for (c, p, n, k), s in found.items() if (c, p, k) == (name, spline, knots))
                counts, excess = [n for n, _ in own], [max(cost - case.cost, FLOOR) for _, cost in own]
                low.loglog(counts, excess, color=color, linestyle=line, marker="o", markersize=4)
        low.set_xticks(counts, [str(n) for n in counts])
        low.xaxis.set_minor_locator(NullLocator())
        low.axhline(FLOOR, color=MUTED, linewidth=0.8)
        dress(low, "intervals", "excess of the cost" if name == "time_optimal" else "")
    handles = [
        Line2D([], [], color=BLUE, label="cubic"),
        Line2D([], [], color=VERMILLION, label="degree 7, accelerations may jump"),
        Line2D([], [], color=INK, label="free knots"),
        Line2D([], [], color=INK, linestyle=(0, (2, 1.5)), label="equal intervals"),
        Line2D([], [], color=MUTED, linewidth=0.8, label="above: knots found; below: last digit known"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("two_link.free_knots", __doc__, argv, quick="6 and 8 intervals only")
    found = {
        (name, spline, intervals, knots): solved(case.problem, spline, intervals, knots)
        for name, case in CASES.items()
        for spline in SPLINES
        for intervals in (INTERVALS[:2] if args.quick else INTERVALS)
        for knots in ("fixed", "free")
    }
    numbers = {
        f"{what}.{'.'.join(map(str, key))}": value for key, s in found.items() for what, value in numbers_of(key, s)
    }
    rows, notes = [], []
    for (name, spline, intervals, knots), solution in found.items():
        if knots == "free":
            equal = numbers[f"error.{name}.{spline}.{intervals}.fixed"]
            beside = f"{equal:+.1e} on equal intervals; {seconds(solution):.1f} s"
            what = f"{name}: cost, {intervals} intervals, {spline.replace('_', ' ')}"
            rows.append(Row(what, solution.cost, CASES[name].cost, beside))
    for name, case in CASES.items():
        own = [key for key in found if key[0] == name and key[-1] == "free"]
        best = min(own, key=lambda key: abs(found[key].cost - CASES[key[0]].cost))
        numbers |= {f"{what}.{name}": value for what, value in numbers_of(best, found[best])}
        rows.append(Row(f"{name}: T with the best of these [s]", found[best].duration, case.T, "two methods"))
        if case.corners:
            missed = numbers[f"corners.{name}"]
            notes.append(f"  {name}: every switch or end of a bounded stretch is within {missed:.1e} s of a knot")
    print(table(args.question, rows, notes))
    draw(found, args.figure)
    return finish(args, numbers, found["lifting", "degree_7", 8, "free"])


def numbers_of(key: Key, solution: co.Solution) -> Iterator[tuple[str, float]]:
    """The numbers of a solution, by what they tell."""
    case = CASES[key[0]]
    yield "T", solution.duration
    yield "error", solution.cost - case.cost
    yield "T_error", solution.duration - case.T
    yield "seconds", seconds(solution)
    yield "solved", float(solution.success)
    if case.corners:
        times = solution.mesh_times
        yield "corners", float(np.abs(times[:, None] - case.corners).min(axis=0).max())


def seconds(solution: co.Solution) -> float:
    """Time to build and solve [s]."""
    return solution.seconds["build"] + solution.seconds["solve"]


if __name__ == "__main__":
    main()
