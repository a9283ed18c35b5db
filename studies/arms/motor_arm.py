"""Which gear makes an arm fastest, and what do torque limits alone say of it?

The two-link arm of `two_link.time_optimal`, each joint driven by a direct-current motor whose current and voltage are
limited. A higher gear gives more torque for the same current, but adds more inertia of the rotor, and the voltage
limits its speed. With torque limits in place of the motors, those of the largest current, the arm could always use all
of its torque.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

import colloc as co
from colloc.models.dc_motor import Motor, driven
from colloc.models.two_link import two_link
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, ORANGE, body_joint_styles, dress, legend_below, styled
from colloc.studies.reporting import Row, arguments, finish, table

GEARS = (10, 20, 40, 60, 80, 100, 120, 160)
SHOWN = 80
TOL = 1e-3


def problem(gear: float, *, motors: bool = True) -> co.Problem:
    """From rest to rest, without current at either end, in the shortest time; or with torque limits alone."""
    motor = Motor(gear)
    most = motor.torque_per_current * motor.current
    arm = driven(two_link(), {"shoulder": motor, "elbow": motor})
    still = {"current": (0.0, 0.0)} if motors else None
    return co.Problem(
        model=arm.model,
        duration=co.Free(0.05, 5.0, 0.5),
        minimize=co.duration(),
        subject_to=[
            co.initial(q=(0.0, -2.0), qd=0.0, states=still),
            co.final(q=(1.0, -1.0), qd=0.0, states=still),
            *([] if motors else [co.bounds(tau=(-most, most))]),
        ],
        parts=[arm.motors] if motors else [],
    )


@styled
def draw(times: Mapping[str, Sequence[float]], gears: Sequence[float], solution: co.Solution, file: str) -> None:
    """Durations over the gear, and torques, currents and voltages of one motion."""
    figure = new_figure(figsize=(9.6, 6.4))
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.2))[0]
    axes = left.subplots()
    for (name, values), color in zip(times.items(), (BLUE, ORANGE), strict=True):
        axes.plot(gears, values, "o-", color=color, label=name)
    dress(axes, "turns of the rotor for one of the joint", "duration [s]")
    legend_below(left, axes.get_legend_handles_labels()[0])
    t = np.linspace(0, solution.duration, 800)
    sample = solution.at(t)
    panels = {"torque [N m]": sample.tau, "current [A]": sample.current, "voltage [V]": sample.voltage}
    for ax, (label, values) in zip(right.subplots(3, 1, sharex=True), panels.items(), strict=True):
        for look, name, own in zip(
            body_joint_styles(solution.problem.model), ("shoulder", "elbow"), values.T, strict=True
        ):
            ax.plot(t, own, color=look.color, label=name)
        dress(ax, "t [s]" if ax.get_subplotspec().is_last_row() else "", label)
    right.suptitle(f"gear {SHOWN}", fontsize=10)
    legend_below(right, ax.get_legend_handles_labels()[0])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("arms.motor_arm", __doc__, argv, quick="two gears")
    gears = (20, SHOWN) if args.quick else GEARS
    numbers: dict[str, float] = {}
    times: dict[str, list[float]] = {"motors": [], "torque limits alone": []}
    shown = None
    for gear in gears:
        for kind, found in times.items():
            begin = time.perf_counter()
            solution = co.solve(problem(gear, motors=kind == "motors"), tol=TOL, compile=False, progress=False)
            found.append(solution.duration)
            name = f"gear_{gear}.{'motors' if kind == 'motors' else 'torque_limits'}"
            numbers |= {f"{name}.T": solution.duration, f"{name}.solved": float(solution.success)}
            numbers[f"{name}.seconds"] = time.perf_counter() - begin
            if gear == SHOWN and kind == "motors":
                shown = solution
    assert shown is not None
    best = {kind: gears[int(np.argmin(found))] for kind, found in times.items()}
    numbers |= {
        "best_gear.motors": float(best["motors"]),
        "best_gear.torque_limits": float(best["torque limits alone"]),
    }
    rows = [
        Row(f"gear {gear}: T with {'motors' if kind == 'motors' else kind} [s]", found[k])
        for k, gear in enumerate(gears)
        for kind, found in times.items()
    ]
    notes = [f"  {kind}: fastest at gear {gear}, {min(times[kind]):.4f} s" for kind, gear in best.items()]
    print(table(args.question, rows, notes))
    draw(times, gears, shown, args.figure)
    return finish(args, numbers, shown)


if __name__ == "__main__":
    main()
