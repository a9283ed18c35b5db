"""Common parts of studies of arms among obstacles: the PUMA 560 as shapes, motions of least effort, how clear they are.

The capsules lie along the axes of Lee's (1982) kinematics and are as thick as the arm's drawings show its links to be,
within a centimetre or two; the pedestal, which no link of these motions comes near, is left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np
from matplotlib.axes import Axes

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.motion import draw_motion
from colloc.plot.style import INK, PALETTE, dress, legend_below, styled
from colloc.studies.reporting import Row, table

Pairs = Sequence[tuple[co.model.Shape, co.model.Shape]]

UPPER_ARM = co.Capsule("shoulder", (-0.4318, 0, 0.2), (0, 0, 0.2), radius=0.09, name="upper arm")
FOREARM = co.Capsule("elbow", (-0.02, 0, 0), (0, 0, 0.43), radius=0.065, name="forearm")
HAND = co.Capsule("flange", (0, 0, 0.03), (0, 0, 0.12), radius=0.045, name="hand")
CLEAR = 0.01  # m, kept between surfaces
TIMES = 20_001  # at which motions are looked at


def least_effort(model: co.Model, start: np.ndarray, end: np.ndarray, duration: float, pairs: Pairs = ()) -> co.Problem:
    """From rest to rest with the least sum of squares of torques over their limits, pairs of shapes kept apart."""
    largest = model.limits("torque")[1]
    return co.Problem(
        model,
        duration,
        co.integral(lambda now: ca.sumsqr(now.tau / largest), name="effort"),
        [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0), *(co.clearance(a, b, by=CLEAR) for a, b in pairs)],
    )


def distances(solution: co.Solution, pairs: Pairs, count: int = TIMES) -> tuple[np.ndarray, np.ndarray]:
    """Evenly spaced times, shape (N,) [s], and how far pairs are apart then, shape (N, pairs) [m]."""
    t = np.linspace(0.0, solution.duration, count)
    return t, solution.evaluate(lambda now: ca.vertcat(*(now.distance(a, b) for a, b in pairs)), t)


def draw_distances(ax: Axes, solution: co.Solution, pairs: Pairs) -> None:
    """How far every shape on the arm is from the nearest obstacle, over time."""
    t, apart = distances(solution, pairs, 1001)
    for color, name in zip(PALETTE, dict.fromkeys(a.label for a, _ in pairs), strict=False):
        nearest = apart[:, [k for k, (a, _) in enumerate(pairs) if a.label == name]].min(axis=1)
        ax.plot(t, nearest, color=color, label=name)
    ax.axhline(CLEAR, color=INK, linewidth=0.9, linestyle="--", label=f"kept apart by {100 * CLEAR:g} cm")
    ax.set_ylim(0.0)
    dress(ax, "time [s]", "to the nearest obstacle [m]")


@styled
def draw(solution: co.Solution, pairs: Pairs, file: str) -> None:
    """The motion among the obstacles, and how close it comes to them."""
    figure = new_figure(figsize=(11.0, 5.6))
    grid = figure.add_gridspec(1, 2, width_ratios=(1.25, 1.0))
    handles = draw_motion(figure, grid[0], solution, frames=6)
    ax = figure.add_subplot(grid[1])
    draw_distances(ax, solution, pairs)
    legend_below(figure, [*handles, *ax.get_legend_handles_labels()[0]])
    co.plot.save_figure(figure, file)


def compare(
    args: argparse.Namespace,
    solved: Callable[..., tuple[co.Solution, co.Solution]],
    kept: Pairs,
    pairs: Pairs,
    obstacles: str,
) -> tuple[dict[str, float], co.Solution]:
    """Numbers of the way round, beside the motion without obstacles, and the way; not all pairs need be kept apart."""
    begin = time.perf_counter()
    free, solution = solved(quick=args.quick)
    seconds = time.perf_counter() - begin
    numbers = {
        "effort.ratio": solution.cost / free.cost,
        "clearance": float(distances(solution, pairs)[1].min()),
        "clearance.without": float(distances(free, pairs)[1].min()),
        "error.bounds": solution.error["bounds"].total,
        "pairs": float(len(kept)),
        "seconds": seconds,
    }
    rows = [
        Row(f"effort over that without {obstacles}", numbers["effort.ratio"]),
        Row(f"least distance at {TIMES:,} times [m]", numbers["clearance"], CLEAR, "asked for"),
        Row(f"least distance of the motion without {obstacles} [m]", numbers["clearance.without"]),
        Row("seconds", seconds),
    ]
    print(table(args.question, rows))
    draw(solution, pairs, args.figure)
    return numbers, solution
