"""What do noisy markers tell of a motion, and what a force plate in addition: angles, torques, lengths, masses?

Two squats of a person of three segments, simulated under torques with feedback, are recorded a hundred times a second:
three markers with 3 mm of noise, one of them out of sight for 0.2 s, and the force (5 N of noise) and moment (2 N m)
from the ground about the ankle. The problem knows neither lengths nor masses: it tracks what was measured, each by the
inverse of its variance, on a spline; inverse dynamics ties force to motion. Beside it markers alone are tracked, with
masses from a table that is 10 % off. Recordings differ in their noise only; errors are root mean squares over all of
them, angles and torques at the times of the samples.

With the plate angles are found to 2.1 mrad and torques to 0.7 N m (of 71), lengths to 0.05 %, the mass of the body to
0.05 %, that of the trunk to 0.9 %. Thigh (3.5 %, on average too light) and shank (2.5 %) are less certain: slow squats
say little about how mass is shared between them. Markers alone, with the table, miss the torques by 8.3 N m.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, GREEN, INK, MUTED, ORANGE, SKY, VERMILLION, dress, legend_below, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.tracking.person import (
    DURATION,
    LENGTHS,
    MASSES,
    NOISE,
    Recording,
    person,
    recorded,
    simulated,
)

TABLE = 1.1  # masses taken from a table over true ones
CURVE = co.BSpline(32, degree=5)
COLORS = dict(zip(LENGTHS, (BLUE, GREEN, VERMILLION), strict=True))


class Found(NamedTuple):
    """Results from a recording: solution, angles and torques at the samples, lengths and masses over true ones."""

    solution: co.Solution
    q: np.ndarray
    tau: np.ndarray
    lengths: np.ndarray
    masses: np.ndarray


def tracks(recording: Recording, plate: bool) -> co.problem.Cost:
    """Distances from what was measured, each by the inverse of its variance."""

    def near(name: str, noise: str, values: np.ndarray, of) -> co.problem.Cost:
        sigma = NOISE[noise]
        return co.track(recording.t, values, of, weight=sigma**-2, deviation=sigma, degree=5, name=name)

    costs = [
        near(name, "marker", values, lambda now, name=name: now.marker(name).position[:2])
        for name, values in recording.markers.items()
    ]
    if plate:
        costs.append(near("ground force", "force", recording.force, lambda now: now.support.force[:2]))
        costs.append(near("ground moment", "moment", recording.moment, lambda now: now.support.moment[2]))
    return reduce(add, costs)


def problem(recording: Recording, plate: bool) -> co.Problem:
    """The recorded motion of a person of unknown lengths, with a force plate also of unknown masses."""
    lengths = {name: co.Unknown(f"{name}_length", 1, 0.2, 1.0, 0.45, constant=True) for name in LENGTHS}
    masses = {name: co.Unknown(f"{name}_mass", 1, 1.0, 100.0, 25.0, constant=True) for name in MASSES}
    table_masses = {name: TABLE * mass for name, mass in MASSES.items()}
    return co.Problem(
        person(
            {name: unknown.symbol for name, unknown in masses.items()} if plate else table_masses,
            {name: unknown.symbol for name, unknown in lengths.items()},
        ),
        DURATION,
        tracks(recording, plate),
        unknowns=[*lengths.values(), *(masses.values() if plate else ())],
    )


def find(recording: Recording, plate: bool) -> Found:
    """Angles, torques, lengths and, with a force plate, masses from one recording."""
    upright = (1.5, 0.2, -0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # a spline as fine as the noise would ask for
        solution = co.solve(
            problem(recording, plate),
            CURVE,
            guess=co.line(upright, upright),
            # 9 iterations against 20 to 36 with the plate, 18 to 58 against 7 without it.
            solver=co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON if plate else co.solver.Hessian.EXACT),
            compile=False,  # every recording is code of its own
        )
    at = solution.at(recording.t)
    lengths = [solution.constants[f"{name}_length"][0] / true for name, true in LENGTHS.items()]
    masses = [solution.constants[f"{name}_mass"][0] / true if plate else TABLE for name, true in MASSES.items()]
    return Found(solution, at.q, at.tau, np.array(lengths), np.array(masses))


def rms(errors: np.ndarray | list[np.ndarray]) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(errors))))


def errors(recordings: list[Recording], found: list[Found]) -> dict[str, float]:
    """Root mean squares over all recordings; relative ones of lengths and masses."""
    pairs = list(zip(found, recordings, strict=True))
    numbers = {
        "angle_rms": rms([f.q - r.q for f, r in pairs]),
        "torque_rms": rms([f.tau - r.tau for f, r in pairs]),
        "mass_error": rms([f.masses - 1 for f in found]),
        "length_error": rms([f.lengths - 1 for f in found]),
    }
    for k, name in enumerate(MASSES):
        numbers[f"mass_error.{name}"] = rms([f.masses[k] - 1 for f in found])
        numbers[f"mass_bias.{name}"] = float(np.mean([f.masses[k] - 1 for f in found]))
        numbers[f"length_error.{name}"] = rms([f.lengths[k] - 1 for f in found])
    true = np.array(list(MASSES.values()))
    numbers["mass_error.body"] = rms([f.masses @ true / true.sum() - 1 for f in found])
    return numbers


def draw_markers(ax: Axes, recording: Recording, found: Found) -> None:
    """The recorded markers, and the person found in three postures."""
    for (name, values), color in zip(recording.markers.items(), COLORS.values(), strict=True):
        ax.plot(*values.T, ".", color=color, markersize=2.5, alpha=0.6)
        t = np.linspace(0, DURATION, 201)
        path = found.solution.evaluate(lambda now, name=name: now.marker(name).position[:2], t)
        ax.plot(*path.T, color=color, linewidth=1.0)
    deepest = int(np.argmin(recording.markers["shoulder"][:, 1]))
    for k, color in ((0, ORANGE), (deepest // 2, SKY), (deepest, INK)):
        joints = found.solution.evaluate(
            lambda now: tuple(now.point(name).position[:2] for name in LENGTHS), recording.t[k : k + 1]
        )
        places = np.vstack([[0.0, 0.0], *(np.asarray(place).reshape(1, 2) for place in joints)])
        ax.plot(*places.T, "o-", color=color, markersize=5, markerfacecolor="white", linewidth=2.4, zorder=1)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title("markers: recorded dots, found lines", loc="left")
    dress(ax, "x [m]", "y [m]")


@styled
def draw(recording: Recording, both: Found, alone: Found, all_found: list[Found], file: str) -> None:
    """Markers, errors of angles, torques of one recording; masses of all."""
    figure = new_figure(figsize=(11.5, 8.2))
    axes = figure.subplots(2, 2)
    draw_markers(axes[0, 0], recording, both)
    for k, color in enumerate(COLORS.values()):
        axes[0, 1].plot(recording.t, 1e3 * (both.q - recording.q)[:, k], color=color)
        axes[0, 1].plot(recording.t, 1e3 * (alone.q - recording.q)[:, k], ":", color=color, linewidth=1.2)
        axes[1, 0].plot(recording.t, recording.tau[:, k], color=color, linewidth=4.5, alpha=0.35)
        axes[1, 0].plot(recording.t, both.tau[:, k], color=color, linewidth=1.2)
        axes[1, 0].plot(recording.t, alone.tau[:, k], ":", color=color, linewidth=1.4)
    axes[0, 1].set_title("errors of the angles", loc="left")
    dress(axes[0, 1], "time [s]", "found less true [mrad]")
    axes[1, 0].set_title("torques", loc="left")
    dress(axes[1, 0], "time [s]", "torque [N m]")
    for k, (name, color) in enumerate(COLORS.items()):
        percent = 100 * (np.array([f.masses[k] for f in all_found]) - 1)
        spread = np.linspace(-0.2, 0.2, percent.size) if percent.size > 1 else np.zeros(1)
        axes[1, 1].plot(k + spread, percent, "o", color=color, markersize=5, label=name)
    axes[1, 1].axhline(100 * (TABLE - 1), color=MUTED, linestyle=":")
    axes[1, 1].axhline(0, color=INK, linewidth=0.8)
    axes[1, 1].set_xticks(range(len(COLORS)), [f"{name}\n{MASSES[name]:.1f} kg" for name in COLORS])
    axes[1, 1].set_title("masses found, one dot a recording", loc="left")
    dress(axes[1, 1], "", "found less true [%]")
    joints = zip(both.solution.problem.model.joint_names, COLORS.values(), strict=True)
    handles = [
        *(Line2D([], [], color=color, label=name) for name, color in joints),
        Line2D([], [], color=MUTED, linewidth=4.5, alpha=0.5, label="true"),
        Line2D([], [], color=MUTED, label="found from markers and force plate"),
        Line2D([], [], color=MUTED, linestyle=":", label="from markers alone, masses of a table 10 % off"),
    ]
    legend_below(figure, handles)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("tracking.track_markers", __doc__, argv, quick="2 recordings instead of 20")
    motion = simulated()
    recordings = [recorded(motion, np.random.default_rng(seed)) for seed in range(2 if args.quick else 20)]
    both, alone = ([find(recording, plate) for recording in recordings] for plate in (True, False))
    numbers = errors(recordings, both)
    numbers |= {f"{key}.markers_alone": value for key, value in errors(recordings, alone).items() if "mass" not in key}
    numbers["torque.rms"] = rms(recordings[0].tau)
    numbers["solved"] = sum(found.solution.status is co.solver.Status.SOLVED for found in both) / len(both)
    numbers["iterations"] = float(np.median([found.solution.iterations for found in both]))
    numbers["seconds"] = float(
        np.median([sum(found.solution.seconds[k] for k in ("build", "solve")) for found in both])
    )
    rows = [
        Row("angles, rms [rad]", numbers["angle_rms"]),
        Row("    from markers alone", numbers["angle_rms.markers_alone"]),
        Row("torques, rms [N m]", numbers["torque_rms"]),
        Row("    markers alone, table", numbers["torque_rms.markers_alone"]),
        Row("lengths, relative", numbers["length_error"]),
        Row("mass of the body, relative", numbers["mass_error.body"]),
        *(Row(f"mass of the {name}, relative", numbers[f"mass_error.{name}"]) for name in MASSES),
        Row("seconds a recording", numbers["seconds"]),
    ]
    notes = [f"{len(recordings)} recordings; torques themselves {numbers['torque.rms']:.0f} N m rms"]
    print(table(args.question, rows, notes))
    draw(recordings[0], both[0], alone[0], both, args.figure)
    return finish(args, numbers, both[0].solution)


if __name__ == "__main__":
    main()
