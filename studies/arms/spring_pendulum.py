"""How much faster than its motor can a spring make a pendulum?

A motor whose speed is limited turns a rod through a spring, from rest, and the rod is to be as fast as possible after a
given time: Haddadin, Weis, Wolf and Albu-Schäffer (2011), "Optimal control for maximizing link velocity of robotic
variable stiffness joints", IFAC World Congress. Without gravity the rod is an oscillator of natural frequency w, driven
at the speed of the motor, so that at most

    speed = U (integral of |sin s| from 0 to w T)

comes of a motor limited to U, twice U for every half period: the motor turns round wherever the sine changes its sign,
and each time the spring has stored more. For small angles gravity is a second spring, between rod and world, which
makes the oscillator faster, W^2 = w^2 + 3 g / (2 L), but has no motor: (w / W)^2 U (integral of |sin s| to W T).

Without gravity the closed form is met to 1e-6. With gravity, swinging up to 1.8 rad, the rod reaches 1.80 times the
motor's speed after half a period, 3.65 after a whole one, 5.51 after one and a half and 7.42 after two, up to 0.8 %
more than small angles allow.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import cos, floor, pi, sqrt

import numpy as np

import colloc as co
from colloc.models.spring_pendulum import LENGTH, Drive, spring_pendulum, sprung
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, INK, ORANGE, dress, legend_below, styled
from colloc.studies.reporting import Row, arguments, finish, table

DRIVE = Drive()
HALVES = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)  # half periods that the motion takes
GRAVITY = {"no_gravity": 0.0, "gravity": 9.81}
TOL = 1e-4


def problem(halves: float, gravity: float) -> co.Problem:
    """As fast as possible after some half periods of the natural frequency."""
    unknowns, torque = sprung(DRIVE)
    return co.Problem(
        model=spring_pendulum(gravity),
        duration=halves * pi / DRIVE.frequency,
        minimize=-1.0 * co.final_cost(lambda now: now.qd, "speed"),
        subject_to=[co.initial(q=0.0, qd=0.0, states={"motor": 0.0}), *torque],
        unknowns=unknowns,
    )


def closed_form(halves: float, gravity: float) -> float:
    """Largest speed over that of the motor after some half periods, with gravity for small angles."""
    stiffer = 1 + 1.5 * gravity / LENGTH / DRIVE.frequency**2
    phase = halves * sqrt(stiffer)
    whole = floor(phase)
    return (2 * whole + 1 - cos(pi * (phase - whole))) / stiffer


@styled
def draw(found: dict[str, list[co.Solution]], halves: Sequence[float], file: str) -> None:
    """Speeds over the time, and the longest motion."""
    figure = new_figure(figsize=(11.0, 6.4))
    left, right = figure.subfigures(1, 2, squeeze=False)[0]
    ax = left.subplots()
    fine = np.linspace(0, halves[-1], 400)
    labels = {"no_gravity": ("without gravity", "closed form"), "gravity": ("with gravity", "for small angles")}
    for (name, solutions), color in zip(found.items(), (BLUE, ORANGE), strict=True):
        dots, line = labels[name]
        ax.plot(halves, [-s.cost / DRIVE.speed for s in solutions], "o", color=color, label=dots)
        ax.plot(fine, [closed_form(h, GRAVITY[name]) for h in fine], color=color, linewidth=1.2, label=line)
    dress(ax, "duration, in half periods", "speed of the rod over that of the motor")
    legend_below(left, ax.get_legend_handles_labels()[0])
    solution = found["gravity"][-1]
    t = np.linspace(0, solution.duration, 800)
    at = solution.at(t)
    panels = {
        "angle [rad]": (at.motor[:, 0], at.q[:, 0]),
        "speed [rad/s]": (at.speed[:, 0], at.qd[:, 0]),
        "spring [N m]": (at.tau[:, 0],),
    }
    for ax, (label, curves) in zip(right.subplots(3, 1, sharex=True), panels.items(), strict=True):
        for curve, color, name in zip(reversed(curves), (ORANGE, INK), ("pendulum", "motor"), strict=False):
            ax.plot(t, curve, color=color, label=name)
        dress(ax, "time [s]" if ax.get_subplotspec().is_last_row() else "", label)
        if len(curves) > 1:
            handles = ax.get_legend_handles_labels()[0]
    right.suptitle(f"{halves[-1]:g} half periods, with gravity", fontsize=10)
    legend_below(right, handles)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("arms.spring_pendulum", __doc__, argv, quick="two durations")
    halves = (1.0, 2.0) if args.quick else HALVES
    numbers: dict[str, float] = {}
    found: dict[str, list[co.Solution]] = {name: [] for name in GRAVITY}
    rows, begin = [], time.perf_counter()
    for name, gravity in GRAVITY.items():
        for half in halves:
            solution = co.solve(problem(half, gravity), co.HermiteSimpson(40), tol=TOL, compile=False, progress=False)
            found[name].append(solution)
            gain, known = -solution.cost / DRIVE.speed, closed_form(half, gravity)
            key = f"{name}.halves_{half:g}"
            numbers |= {f"{key}.gain": gain, f"{key}.over_closed_form": gain / known - 1}
            numbers[f"{key}.solved"] = float(solution.success)
            source = "closed form, small angles" if gravity else "closed form"
            rows.append(
                Row(f"{half:g} half periods, {name.replace('_', ' ')}: times the motor's speed", gain, known, source)
            )
    numbers["seconds"] = (time.perf_counter() - begin) / len(rows)
    for name in GRAVITY:
        off = [abs(numbers[f"{name}.halves_{half:g}.over_closed_form"]) for half in halves]
        numbers[f"{name}.off_closed_form"] = max(off)
    numbers["terminal_miss"] = max(co.verify(s).terminal_miss for one in found.values() for s in one)
    print(table(args.question, rows, [f"  {numbers['seconds']:.1f} s each"]))
    draw(found, halves, args.figure)
    return finish(args, numbers, found["gravity"][-1])


if __name__ == "__main__":
    main()
