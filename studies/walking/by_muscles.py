"""Does a planar human with 18 muscles walk when nothing is asked but to get on, with little excitation?

Half a stride of the walker with muscles at 1.2 m/s, symmetric: the other half is its mirror image. Feet are balls that
the ground pushes back, so that neither contacts nor their times are stated, no motion is followed, and the first guess
is two legs that swing as sines. The cost is that of OpenSim Moco's example of predicted walking (Dembia et al. 2020,
PLOS Comput. Biol. 16): cubed excitations over the distance, with rigid tendons and, as there, activation that follows
excitations up and down by a mean of both time constants. If it rose as fast and fell as slowly as these say, bursts of
excitation would cost the least, the shorter the less, and no grid would be fine enough.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from matplotlib.axes import Axes

import colloc as co
from colloc.models.muscle_walker import MuscleWalker, muscle_walker
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.studies.walking.report.by_muscles import PERCENT, from_strike, gait, gauss_times, half_times, simulated

SPEED = 1.2  # m/s
STEP = 0.47  # s, half a stride of the first guess
DURATION = co.Free(0.4, 0.6, guess=STEP)
INTERVALS, ROUNDS = 12, 8
LIMITS = {  # beside those of the model: a person who walks, not one who jumps or crawls [rad, m]
    "pelvis_tilt": (-0.35, 0.17),
    "lumbar": (0.0, 0.44),
    "pelvis_ty": (0.75, 1.25),
    "knee_angle_r": (-1.2, 0.0),
    "knee_angle_l": (-1.2, 0.0),
}
LUMBAR = 50.0  # N m, of the motor in place of the trunk's muscles
PATIENT = co.Ipopt(max_iter=1000)
LINES = {  # of the drawing: frames of bodies from the trunk to the toes
    "r": ["torso", "pelvis", "femur_r", "tibia_r", "talus_r", "calcn_r", "toes_r"],
    "l": ["pelvis", "femur_l", "tibia_l", "talus_l", "calcn_l", "toes_l"],
}
TRUNK = 0.6  # m, drawn above the joint of the trunk


class Walk(NamedTuple):
    """A problem with the muscles that drive it."""

    walker: MuscleWalker
    muscles: co.muscles.Muscles
    problem: co.Problem


def cubed(muscles: co.muscles.Muscles, now: co.problem.Instant) -> ca.SX:
    """Cubed excitations, as in Moco's example."""
    return 10.0 * (ca.sum1(now.excitation**3) + ca.sumsqr(now.reserve))


def walk(
    speed: float = SPEED,
    criterion: Callable[[co.muscles.Muscles, co.problem.Instant], ca.SX] = cubed,
    limits: Mapping[str, tuple[float, float]] = LIMITS,
    duration: co.Free = DURATION,
) -> Walk:
    """Half a stride at a mean speed [m/s], with as little for its distance as can be of a criterion."""
    walker = muscle_walker()
    muscles = co.muscles.Muscles(
        walker.model, walker.muscles, activation="explicit", sharpness=0.1, reserves={"lumbar": LUMBAR}
    )
    rows = [co.initial(q={"pelvis_tx": 0.0}), at_speed(speed), *half_stride(muscles), co.bounds(q=dict(limits))]
    problem = co.Problem(
        walker.model,
        duration,
        co.integral(lambda now: criterion(muscles, now) / (speed * now.duration)),
        rows,
        parts=[muscles, walker.contact],
    )
    return Walk(walker, muscles, problem)


def half_stride(muscles: co.muscles.Muscles) -> list[co.problem.Condition]:
    """Conditions of half a stride by muscles: its end mirrors its start."""
    joints = muscles.model.joint_names
    mirror, other = mirrored(joints), mirrored(muscles.names)
    rest = [k for k, joint in enumerate(joints) if joint != "pelvis_tx"]

    def posture(start: co.problem.Instant, end: co.problem.Instant) -> ca.SX:
        return ca.vertcat((end.q - start.q[mirror])[rest], end.qd - start.qd[mirror])

    return [
        co.boundary(posture, equals=0.0, name="symmetry of the motion"),
        co.boundary(
            lambda start, end: end.activation - start.activation[other], equals=0.0, name="symmetry of activations"
        ),
    ]


def at_speed(speed: float) -> co.problem.Condition:
    """A mean speed [m/s]."""

    def excess(start: co.problem.Instant, end: co.problem.Instant) -> ca.SX:
        return (end.q - start.q)[end.model.joint_names.index("pelvis_tx")] - speed * end.duration

    return co.boundary(excess, equals=0.0, unit="m", name="distance")


def mirrored(names: Sequence[str]) -> list[int]:
    """Number of every name's counterpart on the other side."""
    swapped = {"_r": "_l", "_l": "_r"}
    return [names.index(name[:-2] + swapped.get(name[-2:], name[-2:])) for name in names]


def swinging(
    walker: MuscleWalker,
    speed: float,
    duration: float,
    *,
    swing: float = 0.35,
    bend: float = 0.9,
    tilt: float = -0.1,
    lumbar: float = 0.1,
    noise: np.ndarray | float = 0.0,
) -> co.transcription.Keyframes:
    """The first guess: the right leg swings forward with its knee bent, the left one back, on feet that touch.

    Parameters
    ----------
    walker : MuscleWalker
    speed, duration : float [m/s], [s]
    swing, bend, tilt, lumbar : float [rad]
        Amplitude of the hips, largest bend of the knee beside 0.1, tilt of the pelvis, extension of the trunk.
    noise : ndarray, shape (9, 10) [rad]
        Beside all angles at the nine times of the guess.
    """
    joints, q = walker.model.joint_names, ca.SX.sym("q", walker.model.n)
    places = [
        co.model.point_motion(walker.model, sphere.body, sphere.center, q=q).position
        for sphere in walker.contact.spheres
    ]
    depths = [sphere.radius - place[1] for sphere, place in zip(walker.contact.spheres, places, strict=True)]
    depth = ca.Function("depth", [q], [ca.mmax(ca.vertcat(*depths))])
    postures = {}
    beside = np.broadcast_to(noise, (9, walker.model.n))
    for s, row in zip(np.linspace(0.0, 1.0, 9), beside, strict=True):
        hip = swing * np.cos(np.pi * s)
        posture = dict.fromkeys(joints, 0.0) | {
            "pelvis_tx": speed * duration * s,
            "pelvis_ty": 0.93,
            "pelvis_tilt": tilt,
            "lumbar": lumbar,
            "hip_flexion_r": 0.1 - hip,
            "hip_flexion_l": 0.1 + hip,
            "knee_angle_r": -0.1 - bend * np.sin(np.pi * s) ** 2,
            "knee_angle_l": -0.2,
        }
        values = np.array(list(posture.values())) + row
        values[joints.index("pelvis_ty")] += float(depth(values)) - 0.012  # m, as deep as a foot that stands
        postures[float(s)] = values
    return co.keyframes(postures)


def halved(solution: co.Solution) -> co.curves.Transcription:
    """A grid whose intervals are halved where they have more than their share of the tolerated error."""
    error, nowhere = solution.error, np.zeros(solution.error.t.size - 1, dtype=bool)
    per_interval = np.maximum(error["equations"].per_interval, error["dynamics"].per_interval)
    coarse = per_interval > solution.outcome.tolerance / per_interval.size
    return solution.curve.finer(1 + coarse, nowhere, nowhere)


def stride(walk: Walk, solution: co.Solution, t: np.ndarray) -> dict[str, np.ndarray]:
    """Quantities of a leg over a stride, by name: its stance, the mirror image of the left one's, then its swing."""
    muscles, weight = walk.muscles, mass_of(walk) * -walk.walker.model.gravity[1]
    now = solution.at(t)
    mirror, other = mirrored(walk.walker.model.joint_names), mirrored(muscles.names)
    feet = {side: [s for s in walk.walker.contact.spheres if str(s.name).endswith(f"_{side}")] for side in ("r", "l")}
    force = {
        side: solution.evaluate(lambda now, feet=feet[side]: sum(s.force(now) for s in feet), t) / weight
        for side in feet
    }
    heat = solution.evaluate(lambda now: ca.sum1(muscles.metabolic_rate(now).total), t)
    return {
        "q": np.vstack([now.q[:, mirror], now.q]),
        "activation": np.vstack([now.activation[:, other], now.activation]),
        "force": np.vstack([force["l"], force["r"]]),
        "heat": np.concatenate([heat, heat]),
    }


def mass_of(walk: Walk) -> float:
    """Of the whole body [kg]."""
    return float(co.dynamics.total_mass(walk.walker.model))


def measures(walk: Walk, solution: co.Solution, speed: float) -> dict[str, float]:
    """Measured values of people who walk: times, forces, angles, energy."""
    t, share = gauss_times(solution.duration)
    whole, joints = stride(walk, solution, t), walk.walker.model.joint_names
    bend = -whole["q"][:, joints.index("knee_angle_r")]
    return gait(whole, share, bend, solution.duration, mass_of(walk), speed)


@styled
def draw(walk: Walk, solution: co.Solution, file: str) -> None:
    """The walker side by side, the ground's force, and the activations of one leg over a stride."""
    figure = new_figure(figsize=(11.0, 8.2))
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.0, 1.5), squeeze=False)[:, 0]
    strip(top.subplots(), walk, solution)
    whole = from_strike(stride(walk, solution, half_times(solution.duration)))
    top = 1.1 * whole["activation"].max()
    axes = bottom.subplots(2, 5, sharex=True).ravel()
    for row, name, color in ((1, "upward", BLUE), (0, "forward", ORANGE)):
        axes[0].plot(PERCENT, whole["force"][:, row], color=color, label=name)
    dress(axes[0], "", "")
    axes[0].set_title("force of the ground / weight", fontsize=9)
    axes[0].legend(fontsize=8, frameon=False)
    for k, (ax, name) in enumerate(zip(axes[1:], walk.muscles.names, strict=False)):
        ax.fill_between(PERCENT, whole["activation"][:, k], color=BLUE, alpha=0.25, linewidth=0)
        ax.plot(PERCENT, whole["activation"][:, k], color=BLUE, linewidth=1.2)
        ax.set_title(name.removesuffix("_r").replace("_", " "), fontsize=9)
        ax.set_ylim(0, top)
        dress(ax, "% of the stride, from heel strike" if k == 6 else "", "activation" if k in (0, 4) else "")
    co.plot.save_figure(figure, file)


def strip(ax: Axes, walk: Walk, solution: co.Solution) -> None:
    """The walker side by side at nine times, the right leg dark."""
    times = np.linspace(0.0, solution.duration, 9)
    for k, t in enumerate(times):
        for side, bodies in LINES.items():
            places = [
                solution.evaluate(lambda now, body=body: now.point(body).position, float(t))[:2] for body in bodies
            ]
            if side == "r":
                head = solution.evaluate(lambda now: now.point("torso", (0.0, TRUNK, 0.0)).position, float(t))[:2]
                places.insert(0, head)
            x, y = np.array(places).T
            ax.plot(x + 0.55 * k, y, color=BLUE if side == "r" else FADE(0.5), linewidth=2.2 if side == "r" else 1.4)
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    ax.set_aspect("equal")
    start = solution.q[0, 0]
    ax.set_xticks(
        start + 0.55 * np.arange(times.size) + np.interp(times, solution.t, solution.q[:, 0]) - start,
        [f"{t:.2f} s" for t in times],
    )
    dress(ax, "", "y [m]")
    ax.grid(False, axis="x")


def film(solution: co.Solution, path: str, fps: float) -> None:
    """Half a stride, with the muscles as lines from rest (blue) to full activation (red)."""
    if path.lower().endswith(".gif"):
        co.plot.animate(solution, path, fps)
        return
    walker = muscle_walker("points")
    co.plot.view(solution, muscles=co.muscles.Muscles(walker.model, walker.muscles)).save(path)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    speed = Option("speed", SPEED, "m/s", above=0.0)
    args = arguments("walking.by_muscles", __doc__, argv, quick="a coarse grid", options=[speed])
    made, begin = walk(args.speed), time.perf_counter()
    options: dict[str, Any] = {"solver": PATIENT, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        guess = swinging(made.walker, args.speed, STEP)
        solution = co.solve(made.problem, co.Radau(INTERVALS), guess=guess, **options)
        numbers = {"first.cost": solution.cost, "first.iterations": float(solution.iterations)}
        numbers["first.seconds"] = time.perf_counter() - begin
        for _ in range(0 if args.quick else ROUNDS):
            if solution.success:
                break
            solution = co.solve(made.problem, halved(solution), guess=solution, **options)
    numbers |= {"cost": solution.cost, "solved": float(solution.success), "error": float(solution.error.motion_error)}
    numbers |= {"unknowns": float(solution.x.size), "seconds": time.perf_counter() - begin}
    numbers |= measures(made, solution, args.speed) | simulated(solution)
    predicted = "Falisse et al. 2022, predicted in 3-D at 1.33 m/s"
    rows = [
        Row("cost", numbers["cost"]),
        Row("strides a second [Hz]", numbers["strides_per_second"], 0.907, predicted),
        Row("stance [% of the stride]", numbers["stance"], 59.0, predicted),
        Row("greatest force of the ground [weight]", numbers["peak_force"], 1.19, predicted),
        Row("knee flexion [degrees]", numbers["knee_flexion"], 60.0, predicted),
        Row("cost of transport [J/kg/m]", numbers["cost_of_transport"], 4.20, predicted),
        Row("off by simulation, an interval", numbers["simulated"]),
    ]
    notes = [
        f"  {numbers['first.iterations']:.0f} iterations and {numbers['first.seconds']:.0f} s to the first walk, on "
        f"{INTERVALS} intervals; {numbers['unknowns']:.0f} unknowns and {numbers['seconds']:.0f} s to the last, "
        f"{solution.status.value}"
    ]
    print(table(args.question, rows, notes))
    draw(made, solution, args.figure)
    return finish(args, numbers, partial(film, solution))


if __name__ == "__main__":
    main()
