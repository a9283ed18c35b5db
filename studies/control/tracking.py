"""Does feedback keep a predicted motion on its course when the masses are wrong?

The time-optimal swing and the lift of the two-link arm, predicted with the nominal masses and executed in simulation by
arms whose masses and inertias are 5 % smaller or larger, from a start 0.01 rad off in either joint: open loop, and with
the time-varying linear-quadratic regulator around the prediction. Torques are clamped, once to the limits that the
prediction kept to, once to 20 % more. The time-optimal torques are at a limit nearly always: with no reserve a heavier
arm falls behind on the way, by 3 cm at half time, and where it ends owes much to chance.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, INK, VERMILLION, dress, legend_below, styled
from colloc.studies.reporting import arguments, finish
from colloc.studies.two_link import lifting, time_optimal
from colloc.studies.two_link.convergence import TIGHT
from colloc.support.display import Table

MOTIONS = {"time_optimal": time_optimal.problem, "lifting": lifting.problem}
MASSES = {"light": 0.95, "heavy": 1.05}  # true over predicted
ACTUATORS = {"planned": 10.0, "reserve": 12.0}  # N m
WIDE = "#b9b9b9"
OFFSET = np.array([0.01, -0.01, 0.0, 0.0])  # rad, rad/s


class Execution(NamedTuple):
    """Motion of an arm with other masses than those predicted with.

    Parameters
    ----------
    x : ndarray, shape (K + 1, 4)
        States.
    u : ndarray, shape (K, 2) [N m]
        Torques, clamped.
    tip : ndarray, shape (K + 1, 2) [m]
        Positions of the tip.
    error : ndarray, shape (K + 1,) [m]
        Distance of the tip from where it was predicted to be.
    """

    x: np.ndarray
    u: np.ndarray
    tip: np.ndarray
    error: np.ndarray


class Tracked(NamedTuple):
    """A predicted motion, its tracking controller, and its executions by masses and mode of control."""

    solution: co.Solution
    tracking: co.control.Tracking
    tip: np.ndarray
    executions: dict[tuple[str, str], Execution]
    seconds: float


def scaled(model: co.Model, factor: float) -> co.Model:
    """The same arm with all masses and inertias multiplied by a factor."""
    bodies = [
        co.Body(b.name, b.joint, b.parent, mass=factor * b.mass, com=b.com, inertia=factor * b.inertia)
        for b in model.bodies
    ]
    return co.Model(bodies, gravity=model.gravity, name=model.name)


def execute(problem: co.Problem, quick: bool) -> Tracked:
    """Prediction, controller, and execution with every wrong mass and mode of control."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # a coarse mesh of the quick form
        solution = co.solve(problem, co.BSpline(20 if quick else 80), solver=TIGHT)
    begin = time.perf_counter()
    tracking = co.control.time_varying_lqr(solution, steps=200 if quick else 400)
    seconds = time.perf_counter() - begin
    evaluator = co.Evaluator(problem.model)

    def tip(x: np.ndarray) -> np.ndarray:
        return evaluator.point("elbow", q=x[:, :2]).position[:, :2]

    planned, found = tip(tracking.x), {}
    for masses, factor in MASSES.items():
        arm = co.control.discretise(scaled(problem.model, factor), tracking.dt, loads=problem.loads)
        runs = {"open_loop": tracking.run(arm, tracking.x[0] + OFFSET, feedback=False)}
        for actuators, limit in ACTUATORS.items():
            runs[actuators] = tracking.run(arm, tracking.x[0] + OFFSET, limits=(-limit, limit))
        for mode, (x, u) in runs.items():
            found[masses, mode] = Execution(x, u, tip(x), np.linalg.norm(tip(x) - planned, axis=1))
    return Tracked(solution, tracking, planned, found, seconds)


def draw_paths(ax: Axes, motion: Tracked) -> None:
    """Paths of the tip: predicted, open loop and tracked, with the heavy arm."""
    for mode, color in (("open_loop", VERMILLION), ("reserve", BLUE)):
        path = motion.executions["heavy", mode].tip
        ax.plot(*path.T, color=color)
        ax.plot(*path[-1], "o", color=color, markersize=5)
    ax.plot(*motion.tip.T, "--", color=INK, linewidth=1.2)
    ax.plot(*motion.tip[-1], "x", color=INK, markersize=8)
    ax.set_aspect("equal", adjustable="datalim")
    dress(ax, "x [m]", "y [m]")


@styled
def draw(motions: dict[str, Tracked], file: str) -> None:
    """Tip paths, tip errors over time, and torques, one motion a row."""
    figure = new_figure(figsize=(12.5, 3.8 * len(motions)))
    axes = figure.subplots(len(motions), 3, squeeze=False)
    for row, (name, motion) in zip(axes, motions.items(), strict=True):
        t = 1e3 * motion.tracking.t
        draw_paths(row[0], motion)
        row[0].set_title(f"{name.replace('_', '-')} motion: path of the tip", loc="left")
        for masses, line in (("light", "--"), ("heavy", "-")):
            # Where the limits do not matter both tracked motions are one: a wide line under a narrow one.
            for mode, color, width in (("open_loop", VERMILLION, 1.5), ("planned", WIDE, 4.5), ("reserve", BLUE, 1.3)):
                row[1].semilogy(t, 1e3 * motion.executions[masses, mode].error, line, color=color, linewidth=width)
        dress(row[1], "time [ms]", "tip off the prediction [mm]")
        for joint, line in enumerate(("-", (0, (3, 1.2)))):
            row[2].plot(t[:-1], motion.tracking.u[:, joint], color=INK, linestyle=line, linewidth=1.1)
            row[2].plot(t[:-1], motion.executions["heavy", "reserve"].u[:, joint], color=BLUE, linestyle=line)
        row[2].set_title("torques: shoulder solid, elbow dashed", loc="left")
        row[1].set_title("light arm dashed, heavy arm solid", loc="left")
        dress(row[2], "time [ms]", "torque [N m]")
    handles = [
        Line2D([], [], color=INK, linestyle="--", label="predicted"),
        Line2D([], [], color=VERMILLION, label="open loop"),
        Line2D([], [], color=WIDE, linewidth=4.5, label="tracked, within 10 N m"),
        Line2D([], [], color=BLUE, label="tracked, within 12 N m"),
    ]
    legend_below(figure, handles)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("control.tracking", __doc__, argv)
    motions = {name: execute(problem, args.quick) for name, problem in MOTIONS.items()}
    numbers: dict[str, float] = {}
    rows = []
    for name, motion in motions.items():
        numbers |= {f"cost.{name}": motion.solution.cost, f"iterations.{name}": motion.solution.iterations}
        numbers |= {f"seconds.solve.{name}": motion.solution.seconds["solve"], f"seconds.track.{name}": motion.seconds}
        for masses in MASSES:
            lost = motion.executions[masses, "open_loop"].error[-1]
            numbers[f"tip_error.open_loop.{name}.{masses}"] = lost
            for actuators, limit in ACTUATORS.items():
                kept = motion.executions[masses, actuators].error[-1]
                numbers[f"tip_error.tvlqr.{name}.{masses}.{actuators}"] = kept
                numbers[f"tip_error.ratio.{name}.{masses}.{actuators}"] = lost / kept
                what = f"{name}, {masses} arm, within {limit:.0f} N m"
                rows.append((what, f"{1e3 * lost:.2f}", f"{1e3 * kept:.2f}", f"{lost / kept:.1f}"))
    # In short: of the time-optimal motion with a reserve, the arm to which feedback is of less use.
    masses = min(MASSES, key=lambda masses: numbers[f"tip_error.ratio.time_optimal.{masses}.reserve"])
    numbers["tip_error.open_loop"] = numbers[f"tip_error.open_loop.time_optimal.{masses}"]
    numbers["tip_error.tvlqr"] = numbers[f"tip_error.tvlqr.time_optimal.{masses}.reserve"]
    header = ("tip error at the end [mm]", "open loop", "tracked", "ratio")
    print(Table(args.question, header, rows).text())
    draw(motions, args.figure)
    return finish(args, numbers, motions["lifting"].solution)


if __name__ == "__main__":
    main()
