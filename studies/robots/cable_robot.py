"""How fast can four cables that only pull move a plate?

A plate of 1 kg hangs on four cables in a frame of 3 m by 2 m, as planar cable robots do. Winches hold the tensions
between 0.5 and 20 N, so that no cable is ever slack. The plate goes from a lower left place to an upper right one, from
rest to rest and level at both ends: once with the least integral of squared tensions in a second, once in the shortest
time. The tensions are integrated once more, by equations of motion written by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import dress, legend_below, styled
from colloc.problem import Cable, Cables
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.runge_kutta import integrated

FRAME = np.array([(-1.5, -1.0), (1.5, -1.0), (1.5, 1.0), (-1.5, 1.0)])  # m, where the cables come from
CORNERS = 0.15 / 1.5 * FRAME  # m, of the plate, where they end
MASS, INERTIA, GRAVITY = 1.0, 0.01, 9.81  # kg, kg m2, m/s2
SLACK, MOST = 0.5, 20.0  # N
START, END = (-0.5, -0.3, 0.0), (0.5, 0.2, 0.0)  # m, m, rad
NAMES = ("lower left", "lower right", "upper right", "upper left")
STEPS = 20  # of the simulation, on every interval


def problem(duration: float | None) -> co.Problem:
    """From rest to rest: with the least tension in a duration [s], or in the shortest time."""
    plate = co.Body("plate", co.revolute(), "y", mass=MASS, inertia=(INERTIA, INERTIA, INERTIA))
    slides = [co.Body("x", co.prismatic((1, 0, 0))), co.Body("y", co.prismatic((0, 1, 0)), "x")]
    cables = [
        Cable(name, "plate", (*corner, 0), (*anchor, 0), lower=SLACK, upper=MOST)
        for name, corner, anchor in zip(NAMES, CORNERS, FRAME, strict=True)
    ]
    return co.Problem(
        model=co.Model([*slides, plate], gravity=(0, -GRAVITY, 0), name="cable robot"),
        duration=duration or co.Free(0.1, 5.0),
        minimize=co.integral(lambda now: ca.sumsqr(now.cable_tension)) if duration else co.duration(),
        subject_to=[co.initial(q=START, qd=0.0), co.final(q=END, qd=0.0)],
        parts=[Cables(cables)],
    )


def rates(state: np.ndarray, tension: np.ndarray) -> np.ndarray:
    """Rates of place, angle and their velocities under four tensions."""
    x, y, angle = state[:3]
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    arms = CORNERS @ turned.T
    spans = FRAME - arms - (x, y)
    pulls = tension[:, None] * spans / np.linalg.norm(spans, axis=1)[:, None]
    moment = (arms[:, 0] * pulls[:, 1] - arms[:, 1] * pulls[:, 0]).sum()
    return np.array([*state[3:], *(pulls.sum(axis=0) / MASS - (0.0, GRAVITY)), moment / INERTIA])


def simulated(solution: co.Solution) -> float:
    """By how much place and angle miss the end, after the classic method of order four."""
    start = np.array([*START, 0.0, 0.0, 0.0])
    *_, end = integrated(solution, rates, start, lambda t: solution.at(t).cable_tension, STEPS)
    return float(np.abs(end[:3] - END).max())


@styled
def draw(solution: co.Solution, file: str) -> None:
    """Postures with the cables, and tensions over time, of the fastest motion."""
    figure = new_figure(figsize=(9.6, 4.4))
    left, right = figure.subplots(1, 2)
    for share in np.linspace(0.0, 1.0, 5):
        x, y, angle = solution.at(share * solution.duration).q
        turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        corners = CORNERS @ turned.T + (x, y)
        left.fill(*corners.T, facecolor="none", edgecolor="black", linewidth=1.2)
        for k, (corner, anchor) in enumerate(zip(corners, FRAME, strict=True)):
            left.plot(*np.transpose([corner, anchor]), color=f"C{k}", linewidth=0.8, alpha=0.2 + 0.8 * share)
    left.set_aspect("equal")
    dress(left, "x [m]", "y [m]")
    t = np.linspace(0, solution.duration, 800)
    for k, values in enumerate(solution.at(t).cable_tension.T):
        right.plot(t, values, color=f"C{k}", label=NAMES[k])
    dress(right, "t [s]", "tension [N]")
    legend_below(figure, right.get_legend_handles_labels()[0])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("robots.cable_robot", __doc__, argv)
    curve = co.Radau(16) if args.quick else co.Radau(48)
    least = co.solve(problem(1.0), curve, tol=0.02, progress=False)
    fastest = co.solve(problem(None), curve, tol=0.02, progress=False)
    numbers = {"effort": least.cost, "T": fastest.duration, "solved": float(least.success and fastest.success)}
    numbers |= {"effort.miss": simulated(least), "T.miss": simulated(fastest)}
    numbers |= {"slackest": float(fastest.at(np.linspace(0, fastest.duration, 3001)).cable_tension.min())}
    rows = [
        Row("integral of squared tensions in a second [N2 s]", least.cost),
        Row("shortest time [s]", fastest.duration),
        Row("miss of the end, least tension [m, rad]", numbers["effort.miss"], 0.0, "simulation"),
        Row("miss of the end, shortest time [m, rad]", numbers["T.miss"], 0.0, "simulation"),
        Row("smallest tension [N]", numbers["slackest"], SLACK, "its bound"),
    ]
    print(table(args.question, rows))
    draw(fastest, args.figure)
    return finish(args, numbers, fastest)


if __name__ == "__main__":
    main()
