"""Does a human of 31 joints and 80 muscles walk at 1.33 m/s, beside one who was recorded and then by effort alone?

Half a stride, symmetric: the other half is its mirror image. Feet are twelve balls that the ground pushes back, so that
neither contacts nor their times are stated; muscles have rigid tendons and implicit activation, trunk and arms motors.
The first walk follows a subject who walked at 1.26 m/s, the second nobody: it starts from the first and has as little
effort for its distance as can be. The cost is a sum of cubed activations (fatigue, as in Ackermann and van den Bogert
2010, J. Biomech. 43) and, smaller, squared motors, accelerations and rates of activation; feet, shanks and hands keep
the distances of Falisse et al. 2022 (PLOS ONE 17).

The contact forces in knee and hip are the net forces less the pull of all muscles that cross them. Instrumented
implants carried 2.61 times the body weight at most in the knee (Kutzner et al. 2010, J. Biomech. 43) and 2.38 times in
the hip (Bergmann et al. 2001, J. Biomech. 34) in level walking.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from matplotlib.axes import Axes

import colloc as co
from colloc.models.muscle_human import (
    MuscleHuman,
    mirror_image,
    muscle_human,
    recorded_emg,
    recorded_posture,
)
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.studies.walking.by_muscles import halved
from colloc.studies.walking.report.by_muscles import (
    PERCENT,
    distances,
    draw_curves,
    from_strike,
    gait,
    gauss_times,
    half_times,
    leg_curves,
    simulated,
)

SPEED = 1.33  # m/s
STEP = 0.55  # s, half a stride of the first guess
DEPTH = 0.012  # m, of the deepest ball in the first guess: as deep as a foot that stands
FOLLOWING = 10.0  # weight of the squared distance from the recorded walk [1/rad2]
INTERVALS, ROUNDS = 12, 6
SMOOTH, SLOW = 1e-5, 1e-6  # weights of squared accelerations [s4] and rates of activation [s2]
APART = {  # least distances of bodies on the ground's plane [m]
    ("calcn_r", "calcn_l"): 0.09,
    ("toes_r", "toes_l"): 0.10,
    ("tibia_r", "tibia_l"): 0.11,
    ("femur_r", "hand_r"): 0.18,
    ("femur_l", "hand_l"): 0.18,
}
LINES = {  # of the drawing: frames of bodies
    "r": ["pelvis", "femur_r", "tibia_r", "talus_r", "calcn_r", "toes_r"],
    "l": ["pelvis", "femur_l", "tibia_l", "talus_l", "calcn_l", "toes_l"],
    "arm_r": ["torso", "humerus_r", "ulna_r", "hand_r"],
    "arm_l": ["torso", "humerus_l", "ulna_l", "hand_l"],
}
HEAD = 0.6  # m, drawn above the joint of the trunk
EMG_PERCENT = np.arange(0.0, 100.0, 4.0)  # of the stride
CONTACTS = {"knee": ("tibia", 2.61, "Kutzner et al. 2010"), "hip": ("femur", 2.38, "Bergmann et al. 2001")}
SHOWN = ("glmax2", "glmed1", "bflh", "semimem", "recfem", "vaslat", "gasmed", "soleus", "tibant", "psoas")


class Walk(NamedTuple):
    """A problem with the human whose muscles solve it."""

    human: MuscleHuman
    muscles: co.muscles.Muscles
    problem: co.Problem


def walk(speed: float = SPEED) -> Walk:
    """Half a stride at a mean speed [m/s]; its parameter "following" weighs the distance from the recorded walk."""
    human = muscle_human()
    model = human.model
    muscles = co.muscles.Muscles(model, human.muscles, reserves=human.motors, passive=human.passive)
    other, sign = mirror_image(model)
    across = [muscles.names.index(name[:-1] + {"r": "l", "l": "r"}[name[-1]]) for name in muscles.names]
    following = co.Parameter("following", FOLLOWING)

    def cost(now: co.problem.Instant) -> ca.SX:
        effort = ca.sum1(now.activation**3) + ca.sumsqr(now.reserve)
        smooth = SMOOTH * ca.sumsqr(now.qdd) + SLOW * ca.sumsqr(now.activation_rate)
        away = (now.q - recorded_posture(now.t / now.duration / 2))[2:]  # of neither progress nor height
        return (effort + smooth) / (speed * now.duration) + following.symbol * ca.sumsqr(away) / now.duration

    def posture(start: co.problem.Instant, end: co.problem.Instant) -> ca.SX:
        return ca.vertcat((end.q - sign * start.q[other])[1:], end.qd - sign * start.qd[other])

    def apart(now: co.problem.Instant) -> ca.SX:
        between = [now.point(one).position - now.point(two).position for one, two in APART]
        return ca.vertcat(*(ca.sumsqr(distance[[0, 2]]) for distance in between))

    problem = co.Problem(
        model,
        co.Free(0.4, 0.7, guess=STEP),
        co.integral(cost),
        [
            co.initial(q={"pelvis_tx": 0.0}),
            co.boundary(lambda start, end: end.q[0] - speed * end.duration, equals=0.0, unit="m", name="distance"),
            co.boundary(posture, equals=0.0, name="symmetry of the motion"),
            co.boundary(
                lambda start, end: end.activation - start.activation[across], equals=0.0, name="symmetry of activations"
            ),
            co.path(apart, lower=np.square(list(APART.values())), scale=0.01, unit="m2", name="apart"),
        ],
        parts=[muscles, human.contact],
        parameters=[following],
    )
    return Walk(human, muscles, problem)


def recorded(walk: Walk, speed: float, duration: float) -> co.transcription.Keyframes:
    """The first guess: the recorded walk at another speed, as deep in the ground as a foot that stands."""
    model, s = walk.human.model, np.linspace(0.0, 1.0, 21)
    q = np.hstack([ca.evalf(recorded_posture(float(half))).full() for half in s / 2]).T
    lower, upper = model.limits("position")
    q = np.clip(q, lower + 0.01, upper - 0.01)
    q[:, 0] = speed * duration * s
    symbols = ca.SX.sym("q", model.n)
    balls = walk.human.contact.spheres
    places = [co.model.point_motion(model, ball.body, ball.center, q=symbols).position for ball in balls]
    depths = ca.vertcat(*(ball.radius - place[1] for ball, place in zip(balls, places, strict=True)))
    depth = ca.Function("depth", [symbols], [ca.mmax(depths)])
    q[:, 1] += [float(depth(posture)) - DEPTH for posture in q]
    return co.keyframes(dict(zip(s.tolist(), q, strict=True)))


def stride(walk: Walk, solution: co.Solution, t: np.ndarray) -> dict[str, np.ndarray]:
    """Quantities of the right leg over a stride, by name: its half, then the mirror image of the left one's."""
    muscles, weight = walk.muscles, mass_of(walk) * -walk.human.model.gravity[1]
    now = solution.at(t)
    other, sign = mirror_image(walk.human.model)
    force = {}
    for side in "rl":
        feet = [ball for ball in walk.human.contact.spheres if str(ball.name).endswith(f"_{side}")]
        force[side] = solution.evaluate(lambda now, feet=feet: sum(ball.force(now) for ball in feet), t) / weight
    half = len(muscles.names) // 2
    heat = solution.evaluate(lambda now: ca.sum1(muscles.metabolic_rate(now).total), t)
    return {
        "q": np.vstack([now.q, sign * now.q[:, other]]),
        "activation": np.vstack([now.activation[:, :half], now.activation[:, half:]]),
        "force": np.vstack([force["r"], force["l"] * (1.0, 1.0, -1.0)]),
        "heat": np.concatenate([heat, heat]),
    }


def contact_peaks(walk: Walk, solution: co.Solution, t: np.ndarray) -> dict[str, float]:
    """Largest contact forces of a leg over a stride [body weights], by joint: of both legs over its half."""
    weight = mass_of(walk) * -walk.human.model.gravity[1]

    def forces(now: co.problem.Instant) -> ca.SX:
        sizes = [
            ca.norm_2(now.joint_contact(f"{body}_{side}").force) for body, *_ in CONTACTS.values() for side in "rl"
        ]
        return ca.vertcat(*sizes) / weight

    peaks = solution.evaluate(forces, t).max(axis=0).reshape(-1, 2).max(axis=1)
    return {f"{joint}_contact": float(peak) for joint, peak in zip(CONTACTS, peaks, strict=True)}


def mass_of(walk: Walk) -> float:
    """Of the whole body [kg]."""
    return float(co.dynamics.total_mass(walk.human.model))


def measures(walk: Walk, solution: co.Solution, speed: float) -> dict[str, float]:
    """Measured values of people who walk: times, forces, angles, energy."""
    t, share = gauss_times(solution.duration)
    whole, joints = stride(walk, solution, t), walk.human.model.joint_names
    curves, activations = leg(walk, solution)
    found = {
        "cost": solution.cost,
        "solved": float(solution.success),
        "error": float(solution.error.motion_error),
        "unknowns": float(solution.x.size),
        "rows": float(solution.nlp.n_g),
        "iterations": float(solution.iterations),
        "largest_activation": float(whole["activation"].max()),
    }
    bend = whole["q"][:, joints.index("knee_angle_r")]
    found |= gait(whole, share, bend, solution.duration, mass_of(walk), speed) | contact_peaks(walk, solution, t)
    return found | distances(curves) | {f"emg.{muscle}": value for muscle, value in likeness(activations).items()}


def likeness(activations: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Correlation of activations with recorded electrical activity over a stride, by muscle."""
    return {
        muscle: float(np.corrcoef(np.interp(EMG_PERCENT, PERCENT, activations[muscle]), emg)[0, 1])
        for muscle, emg in recorded_emg().items()
    }


def leg(walk: Walk, solution: co.Solution) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Curves of the right leg from heel strike on, and the activations of its muscles, by name."""
    whole = from_strike(stride(walk, solution, half_times(solution.duration)))
    muscles = [name.removesuffix("_r") for name in walk.muscles.names[: whole["activation"].shape[1]]]
    curves = leg_curves(whole, walk.human.model.joint_names, knee=1.0)
    return curves, dict(zip(muscles, whole["activation"].T, strict=True))


@styled
def draw(walk: Walk, solutions: dict[str, co.Solution], file: str) -> None:
    """Both walkers side by side, angles and forces of a leg beside measured ones, and activations of ten muscles."""
    figure = new_figure(figsize=(11.0, 12.0))
    strips, curves, muscles = figure.subfigures(3, 1, height_ratios=(1.5, 0.8, 1.3), squeeze=False)[:, 0]
    for ax, (name, solution) in zip(strips.subplots(2, 1), solutions.items(), strict=True):
        strip(ax, solution)
        ax.set_title(name, fontsize=9)
    legs = {name: leg(walk, solution) for name, solution in solutions.items()}
    colors = dict(zip(solutions, (ORANGE, BLUE), strict=True))
    draw_curves(curves.subplots(1, 5), [(colors[name], name, found) for name, (found, _) in legs.items()])
    rows = dict(zip(SHOWN, muscles.subplots(2, 5, sharex=True, sharey=True).ravel(), strict=True))
    emg = recorded_emg()
    for label, (_, activations) in legs.items():
        for name, ax in rows.items():
            ax.plot(PERCENT, activations[name], color=colors[label], linewidth=1.2, label=label)
    for k, (name, ax) in enumerate(rows.items()):
        if name in emg:
            # Of no unit: as high as what the muscle is asked for at most.
            most = max(np.max(line.get_ydata()) for line in ax.lines)
            ax.fill_between(EMG_PERCENT, most * emg[name], color=FADE(0.25), linewidth=0, label="EMG of the recorded")
        ax.set_title(name, fontsize=9)
        dress(ax, "% of the stride, from heel strike" if k == 7 else "", "activation" if k % 5 == 0 else "")
    rows[SHOWN[0]].legend(fontsize=8, frameon=False)
    co.plot.save_figure(figure, file)


def strip(ax: Axes, solution: co.Solution) -> None:
    """The walker from the right at seven times, the right side dark."""
    for k, t in enumerate(np.linspace(0.0, solution.duration, 7)):
        for side, bodies in LINES.items():
            places = [
                solution.evaluate(lambda now, body=body: now.point(body).position, float(t))[:2] for body in bodies
            ]
            if side == "r":
                trunk = solution.evaluate(lambda now: now.point("torso", (0.0, HEAD, 0.0)).position, float(t))[:2]
                places.insert(0, trunk)
            x, y = np.array(places).T
            ax.plot(x + 0.6 * k, y, color=FADE(0.5) if "l" in side else BLUE, linewidth=1.4 if "l" in side else 2.2)
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    ax.set_aspect("equal")
    ax.set_xticks([])
    dress(ax, "", "y [m]")
    ax.grid(False, axis="x")


def film(solution: co.Solution, path: str, fps: float) -> None:
    """Half a stride, with the muscles as lines from rest (blue) to full activation (red)."""
    if path.lower().endswith(".gif"):
        co.plot.animate(solution, path, fps)
        return
    human = muscle_human("points")
    co.plot.view(solution, muscles=co.muscles.Muscles(human.model, human.muscles)).save(path)


def solved(made: Walk, guess: Any, following: float, rounds: int) -> tuple[co.Solution, dict[str, float]]:
    """The walk on a coarse grid, then on such as are halved where that is needed; with what it took."""
    options: dict[str, Any] = {
        "parameters": {"following": following},
        # An estimate of what a better motion might save takes a program of twice the size for every grid.
        "plan": [co.refinement.Solve(judge_cost=False)],
        "solver": co.Ipopt(max_iter=600),
        "progress": False,
    }
    # With rates that are constant on every interval activations are straight there: no limit is passed between nodes.
    curve = co.Radau(INTERVALS, nodes="collocation", signal_degree=0)
    begin = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        solution = co.solve(made.problem, curve, guess=guess, **options)
        numbers = {"first.iterations": float(solution.iterations), "first.seconds": time.perf_counter() - begin[0]}
        for _ in range(rounds):
            if solution.success:
                break
            solution = co.solve(made.problem, halved(solution), guess=solution, **options)
    numbers |= {"seconds": time.perf_counter() - begin[0], "processor_seconds": time.process_time() - begin[1]}
    return solution, numbers


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    speed = Option("speed", SPEED, "m/s", above=0.0)
    args = arguments("walking.human_by_muscles", __doc__, argv, quick="coarse grids", options=[speed])
    made, rounds = walk(args.speed), 0 if args.quick else ROUNDS
    guess: Any = recorded(made, args.speed, STEP)
    solutions: dict[str, co.Solution] = {}
    numbers: dict[str, float] = {}
    for name, following in (("beside a recorded walk", FOLLOWING), ("by effort alone", 0.0)):
        solution, taken = solved(made, guess, following, rounds)
        key = "followed" if following else "predicted"
        values = taken | measures(made, solution, args.speed) | simulated(solution)
        numbers |= {f"{key}.{what}": value for what, value in values.items()}
        solutions[name], guess = solution, solution
    predicted = "Falisse et al. 2022, predicted in 3-D at 1.33 m/s"
    rows = []
    for key, name in (("followed", "followed"), ("predicted", "effort")):
        rows += [
            Row(f"{name}: strides a second [Hz]", numbers[f"{key}.strides_per_second"], 0.907, predicted),
            Row(f"{name}: stance [% of the stride]", numbers[f"{key}.stance"], 59.0, predicted),
            Row(f"{name}: greatest force of the ground [weight]", numbers[f"{key}.peak_force"], 1.19, predicted),
            Row(f"{name}: knee flexion [degrees]", numbers[f"{key}.knee_flexion"], 60.0, predicted),
            Row(f"{name}: cost of transport [J/kg/m]", numbers[f"{key}.cost_of_transport"], 4.20, predicted),
        ]
        rows += [
            Row(
                f"{name}: greatest contact force of the {joint} [weight]",
                numbers[f"{key}.{joint}_contact"],
                peak,
                source,
            )
            for joint, (_, peak, source) in CONTACTS.items()
        ]
    notes = [
        f"  {key}: {numbers[f'{key}.first.iterations']:.0f} iterations and {numbers[f'{key}.first.seconds']:.0f} s to "
        f"a first walk on {INTERVALS} intervals; {numbers[f'{key}.unknowns']:.0f} unknowns and "
        f"{numbers[f'{key}.seconds']:.0f} s to the last, {solution.status.value}, error {numbers[f'{key}.error']:.1e}"
        for key, solution in zip(("followed", "predicted"), solutions.values(), strict=True)
    ]
    print(table(args.question, rows, notes))
    draw(made, solutions, args.figure)
    return finish(args, numbers, partial(film, solutions["by effort alone"]))


if __name__ == "__main__":
    main()
