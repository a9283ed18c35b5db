"""What is the time optimum when its arcs are phases?

The fastest swing of `time_optimal` is bang-bang: every torque is at a limit, and which one changes three times. A
coarse spline tells the signs; then each arc is a phase of free duration with both torques given, positions and
velocities go on from arc to arc, and accelerations jump where a torque does. All that is left to find are four
durations.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import MUTED, body_joint_styles, dress, legend_below, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.two_link.time_optimal import EXACT, problem

CURVES = {"radau": co.Radau(4, degree=7), "bspline": co.BSpline(4, degree=9)}
LIMIT = 10.0  # N m
ROOM = (0.2, 3.0)  # of an arc's duration, about what the coarse spline says


def arcs(rough: co.Solution) -> tuple[co.Phases, dict[str, Callable[[float], np.ndarray]]]:
    """The arcs between the changes of sign of any torque, as phases, and the coarse motion as their guesses."""
    t = np.linspace(0, rough.duration, 2001)
    signs = np.sign(rough.at(t).tau)
    switches = np.flatnonzero((np.diff(signs, axis=0) != 0).any(axis=1))
    edges = [0.0, *t[switches].tolist(), rough.duration]
    initial, final, _ = problem.subject_to
    phases, guesses = {}, {}
    for k, ((start, end), sign) in enumerate(zip(pairwise(edges), signs[[0, *(switches + 1)]], strict=True)):
        held = {j: (LIMIT * s, LIMIT * s) for j, s in zip(problem.model.joint_names, sign.tolist(), strict=True)}
        ends = [initial] * (k == 0) + [final] * (end == rough.duration)
        span = co.Free(ROOM[0] * (end - start), ROOM[1] * (end - start), end - start)
        phases[f"arc {k + 1}"] = co.Problem(problem.model, span, subject_to=[*ends, co.bounds(tau=held)])
        guesses[f"arc {k + 1}"] = partial(_later, rough, start)
    return co.Phases(phases, minimize=co.duration()), guesses


def _later(rough: co.Solution, start: float, t: float) -> np.ndarray:
    return rough.at(min(start + t, rough.duration)).q


def solved(curve: co.curves.Transcription) -> tuple[co.solution.PhasesSolution, float]:
    """The optimum on a curve, and the seconds for all of it, the coarse spline included."""
    begin = time.perf_counter()
    rough = co.solve(
        problem, co.BSpline(20), compile=False, progress=False, plan=[co.refinement.Solve(between="nodes")]
    )
    sequence, guess = arcs(rough)
    found = co.solve(sequence, curve, guess=guess, compile=False, progress=False)
    return found, time.perf_counter() - begin


@styled
def draw(found: co.solution.PhasesSolution, file: str) -> None:
    """Torques and velocities over time, arc by arc."""
    figure = new_figure(figsize=(7.5, 5.2))
    (above, below) = figure.subplots(2, 1, sharex=True)
    joints, look = problem.model.joint_names, body_joint_styles(problem.model)
    for name, own in found.phases.items():
        t = np.linspace(0, own.duration * (1 - 1e-12), 60)
        sample, start = own.at(t), found.start_times[name]
        for j, joint in enumerate(joints):
            label = joint if start == 0 else None
            above.plot(start + t, sample.tau[:, j], color=look[j].color, label=label, linewidth=(4.5, 1.8)[j])
            below.plot(start + t, sample.qd[:, j], color=look[j].color)
        for ax in (above, below):
            ax.axvline(start, color=MUTED, linewidth=0.8)
        above.text(start + own.duration / 2, 1.02, name, transform=above.get_xaxis_transform(), ha="center", fontsize=9)
    dress(above, ylabel="joint torque [N m]")
    dress(below, xlabel="time [s]", ylabel="joint velocity [rad/s]")
    legend_below(figure, above.get_lines()[: len(joints)])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("two_link.switching_arcs", __doc__, argv, quick="Radau alone")
    numbers, rows, notes, found = {}, [], [], None
    for name, curve in list(CURVES.items())[: 1 if args.quick else None]:
        found, seconds = solved(curve)
        numbers |= {
            f"T.{name}": found.duration,
            f"violation.{name}": found.violation,
            f"seconds.{name}": seconds,
            f"status.{name}": float(found.success),
        }
        rows.append(Row(f"T by {name} [s]", found.duration, EXACT["T"], "maximum principle"))
        switches = ", ".join(f"{start:.9f}" for start in list(found.start_times.values())[1:])
        notes.append(f"  {name}: {found.status}, torques within {LIMIT * found.violation:.1e} N m; {seconds:.2f} s")
        notes.append(f"    switches at {switches} s")
    print(table(args.question, rows, notes))
    assert found is not None
    draw(found, args.figure)
    return finish(args, numbers, found)


if __name__ == "__main__":
    main()
