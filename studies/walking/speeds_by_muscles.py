"""At what speed does a planar human with 18 muscles begin to run?

The walker of `by_muscles` with least effort, squared excitations for its distance, at 1.2 m/s and from there on faster
and faster, each from the motion before. No contact is stated: where both feet are off the ground for a while, he runs.
People change from walking to running at about 2 m/s (Hreljac 1993, Med. Sci. Sports Exerc. 25: 2.07 m/s).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, dress, styled
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.walking.by_muscles import INTERVALS, LIMITS, SPEED, Walk, film, halved, measures, strip, walk
from colloc.studies.walking.costs_by_muscles import OPTIONS, effort, first_walk
from colloc.studies.walking.report.by_muscles import simulated
from colloc.support.display import Table

STEP = 0.3  # m/s, from one speed to the next
FASTEST = 3.0  # m/s
ROUNDS = 6
DURATION = co.Free(0.22, 0.6, guess=0.4)  # s, of half a stride
WIDER = dict.fromkeys(("knee_angle_r", "knee_angle_l"), (-2.1, 0.0)) | {
    "pelvis_ty": (0.7, 1.35),
    "pelvis_tilt": (-0.5, 0.3),
}  # rad, m
CHANGE = 2.07  # m/s, where people begin to run
SHOWN = {
    "stance": "stance [% of the stride]",
    "peak_force": "greatest force of the ground [weight]",
    "strides_per_second": "strides a second [Hz]",
    "cost_of_transport": "cost of transport [J/kg/m]",
}


def at_speeds(speeds: Sequence[float], rounds: int) -> dict[float, tuple[Walk, co.Solution]]:
    """Motions at speeds that rise: on a coarse grid each from the one before, then on grids halved where needed."""
    motions, guess = {}, first_walk()
    for speed in speeds:
        made = walk(speed, effort, LIMITS | WIDER, DURATION)
        guess = solution = co.solve(made.problem, co.Radau(INTERVALS), guess=guess, **OPTIONS)
        for _ in range(rounds):
            if solution.success:
                break
            solution = co.solve(made.problem, halved(solution), guess=solution, **OPTIONS)
        motions[speed] = made, solution
    return motions


def begins(speeds: Sequence[float], stance: Sequence[float]) -> float:
    """The speed [m/s] at which stance falls below half of the stride; NaN where it does not."""
    for k in range(1, len(speeds)):
        if stance[k] < 50 <= stance[k - 1]:
            return float(np.interp(-50, [-stance[k - 1], -stance[k]], [speeds[k - 1], speeds[k]]))
    return float("nan")


@styled
def draw(motions: Mapping[float, tuple[Walk, co.Solution]], found: Mapping[float, Mapping[str, float]], file: str):
    """The slowest, a middle and the fastest motion side by side, and four quantities over speed."""
    figure, speeds = new_figure(figsize=(11.0, 8.6)), list(motions)
    strips, curves = figure.subfigures(2, 1, height_ratios=(2.0, 0.9), squeeze=False)[:, 0]
    for ax, speed in zip(strips.subplots(3, 1), (speeds[0], speeds[len(speeds) // 2], speeds[-1]), strict=True):
        strip(ax, *motions[speed])
        ax.set_title(f"{speed:.1f} m/s", fontsize=9)
    for ax, (key, label) in zip(curves.subplots(1, len(SHOWN)), SHOWN.items(), strict=True):
        ax.plot(speeds, [found[speed][key] for speed in speeds], "o-", color=BLUE, linewidth=1.2, markersize=4)
        ax.set_title(label, fontsize=9)
        if key == "stance":
            ax.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
        dress(ax, "speed [m/s]", "")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    fastest = Option("fastest", FASTEST, "m/s", above=SPEED + STEP)
    args = arguments("walking.speeds_by_muscles", __doc__, argv, quick="coarse grids", options=[fastest])
    speeds = [round(float(speed), 6) for speed in np.arange(SPEED, args.fastest + 1e-9, STEP)]
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        motions = at_speeds(speeds, 0 if args.quick else ROUNDS)
    seconds = time.process_time() - begin
    found = {
        speed: measures(made, solution, speed)
        | {"solved": float(solution.success), "error": float(solution.error.motion_error), "cost": solution.cost}
        | simulated(solution)
        for speed, (made, solution) in motions.items()
    }
    numbers = {f"speed.{speed:g}.{key}": value for speed, row in found.items() for key, value in row.items()}
    numbers["runs_from"] = begins(speeds, [found[speed]["stance"] for speed in speeds])
    numbers["solved"] = sum(row["solved"] for row in found.values())
    numbers |= {"motions": float(len(speeds)), "processor_seconds": seconds}
    rows = [(f"{speed:.1f}", *(f"{row[key]:.3g}" for key in (*SHOWN, "error"))) for speed, row in found.items()]
    notes = [f"  both feet are off the ground from {numbers['runs_from']:.2f} m/s on; people run from {CHANGE} m/s on"]
    print(Table(args.question, ("m/s", *SHOWN.values(), "error"), rows, notes).text())
    draw(motions, found, args.figure)
    return finish(args, numbers, partial(film, motions[speeds[-1]][1]))


if __name__ == "__main__":
    main()
