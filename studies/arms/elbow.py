"""How fast does an arm of six muscles bend its elbow and stop, and which of them act when?

The arm of two joints lies on a table, bends the elbow from 34 to 97 degrees and stops where the shoulder was; six
muscles with activation dynamics and no more than they have, and a motor of 50 N m for the shoulder's muscles that the
model lacks. People who move an elbow as fast as they can show a burst of the flexors, then one of the extensors
(Hallett, Shahani and Young 1975).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import colloc as co
from colloc.models.arm26 import HAND, arm26
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, MUTED, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table

START, END = (0.6, 0.6), (0.6, 1.7)  # rad, of shoulder and elbow
SHOULDER = 50.0  # N m
INTERVALS, TOLERANCE = 20, 1e-2
FLEXORS, EXTENSORS = ("BIClong", "BICshort", "BRA"), ("TRIlong", "TRIlat", "TRImed")
BODY = [("upper_arm", (0.0, 0.0, 0.0)), ("forearm", (0.0, 0.0, 0.0)), ("forearm", HAND)]


class Bend(NamedTuple):
    """A problem with the muscles that drive it."""

    muscles: co.muscles.Muscles
    problem: co.Problem


def bend(tendons: str = "rigid") -> Bend:
    """The elbow in the least time, from rest and no activation to rest."""
    arm = arm26()
    model = replace(arm.model, gravity=(0.0, 0.0, 0.0))
    muscles = co.muscles.Muscles(
        model, arm.muscles, tendons=tendons, activation="explicit", reserves={"shoulder": SHOULDER}
    )
    conditions = [
        co.initial(q=START, qd=0.0, states={"activation": muscles.lower}),
        co.final(q=END, qd=0.0),
        *([muscles.steady()] if tendons == "compliant" else []),
    ]
    free = co.Free(0.05, 1.0, guess=0.3)
    return Bend(muscles, co.Problem(model, free, co.duration(), conditions, parts=[muscles]))


def bursts(made: Bend, solution: co.Solution) -> dict[str, float]:
    """When flexors and extensors act: times at which half of the sum of their excitations is over [s]."""
    t = np.linspace(0.0, solution.duration, 4001)
    excitation = dict(zip(made.muscles.names, solution.at(t).excitation.T, strict=True))
    middles = {}
    for group, names in (("flexors", FLEXORS), ("extensors", EXTENSORS)):
        total = np.cumsum(sum(excitation[name] - made.muscles.lower for name in names))
        middles[group] = float(t[np.searchsorted(total, total[-1] / 2)])
    return middles


@styled
def draw(made: Bend, solution: co.Solution, file: str) -> None:
    """The arm at nine times, the speed of the elbow, and what the muscles do."""
    figure = new_figure(figsize=(10.0, 6.5))
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 2.0))
    top, bottom = left.subplots(2, 1)
    for t in np.linspace(0.0, solution.duration, 9):
        points = [solution.evaluate(lambda now, at=at: now.point(*at).position, float(t)) for at in BODY]
        x, y, _ = np.transpose(points)
        top.plot(x, y, color=FADE(0.2 + 0.8 * t / solution.duration), linewidth=2.0, marker="o", markersize=3)
    top.set_aspect("equal")
    dress(top, "x [m]", "y [m]")
    t = np.linspace(0.0, solution.duration, 400)
    now = solution.at(t)
    bottom.plot(1e3 * t, now.qd[:, 1], color=BLUE)
    dress(bottom, "time [ms]", "speed of the elbow [rad/s]")
    axes = right.subplots(2, 3, sharex=True, sharey=True).ravel()
    for k, (ax, name) in enumerate(zip(axes, made.muscles.names, strict=True)):
        ax.fill_between(1e3 * t, now.activation[:, k], color=BLUE, alpha=0.3, linewidth=0, label="activation")
        ax.plot(1e3 * t, now.excitation[:, k], color=MUTED, linewidth=1.0, label="excitation")
        ax.set_title(name, fontsize=9)
        ax.set_ylim(-0.02, 1.05)
        dress(ax, "time [ms]" if k > 2 else "", "")
    axes[0].legend(fontsize=8, frameon=False)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("arms.elbow", __doc__, argv, quick="rigid tendons alone")
    kinds, numbers, rows = ("rigid",) if args.quick else ("compliant", "rigid"), {}, []
    for tendons in kinds:
        made, begin = bend(tendons), time.perf_counter()
        solution = co.solve(made.problem, co.Radau(INTERVALS), tol=TOLERANCE, progress=False)
        now, result = solution.at(np.linspace(0.0, solution.duration, 2001)), bursts(made, solution)
        result |= {"duration": solution.duration, "speed": float(np.abs(now.qd[:, 1]).max())}
        result |= {"error": float(solution.error.motion_error), "deviation": co.verify(solution).local_error}
        result["seconds"] = time.perf_counter() - begin
        numbers |= {f"{tendons}.{key}": value for key, value in result.items()}
        rows += [
            Row(f"duration [s], {tendons} tendons", result["duration"]),
            Row("  greatest speed of the elbow [rad/s]", result["speed"]),
            Row("  middle of the flexors' burst [s]", result["flexors"]),
            Row("  middle of the extensors' burst [s]", result["extensors"]),
            Row("  off by simulation, relative", result["deviation"]),
        ]
    print(table(args.question, rows))
    draw(made, solution, args.figure)
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
