"""How does a person walk with a spring in place of one ankle's muscles, and how stiff is the best one?

The planar walker of `walking.by_muscles` without the gastrocnemius, soleus and tibialis anterior of the left leg. A
spring and a damper hold that ankle, and stiffness and rest angle are unknown constants. A stride of such a walker is no
half with its mirror image: the whole stride is one problem, which starts from half a stride of the walker with all
muscles, its mirror image, and all activations (`co.solution.mirrored`). People with a prosthesis stand longer on the
other leg (Vanicek et al. 2007, J. Prosthet. Orthot. 19; Cutti et al. 2018, J. NeuroEng. Rehabil. 15, S1).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.muscle_walker import SIDES, MuscleWalker
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.walking.by_muscles import (
    LIMITS,
    LUMBAR,
    PATIENT,
    SPEED,
    STEP,
    Walk,
    at_speed,
    cubed,
    halved,
    swinging,
    walk,
)
from colloc.studies.walking.report.by_muscles import PERCENT, STANDS, first_contact

GONE = ("gastroc_l", "soleus_l", "tib_ant_l")
ANKLE = "ankle_angle_l"
STIFFNESS = 50.0, 1500.0, 400.0  # N m/rad: least, most, guess
REST = -0.6, 0.3, 0.0  # rad
DAMPING = 1.0  # N m s/rad
HALF, WHOLE, ROUNDS = 12, 24, 8  # intervals of half a stride and of a whole one; refinements


def intact() -> tuple[Walk, co.Solution]:
    """Half a stride with all muscles, on a coarse grid."""
    made = walk()
    guess = swinging(made.walker, SPEED, STEP)
    return made, co.solve(made.problem, co.Radau(HALF), guess=guess, solver=PATIENT, progress=False)


def stride(walker: MuscleWalker, duration: float, *, spring: bool) -> Walk:
    """A whole stride, whose end is its start, with or without the spring, of about a duration [s]."""
    strands = [muscle for muscle in walker.muscles if not (spring and muscle.name in GONE)]
    muscles = co.muscles.Muscles(
        walker.model, strands, activation="explicit", sharpness=0.1, reserves={"lumbar": LUMBAR}
    )
    stays = [k for k, joint in enumerate(walker.model.joint_names) if joint != "pelvis_tx"]

    def motion(start: co.problem.Instant, end: co.problem.Instant) -> ca.SX:
        return ca.vertcat((end.q - start.q)[stays], end.qd - start.qd)

    rows = [
        co.initial(q={"pelvis_tx": 0.0}),
        at_speed(SPEED),
        co.boundary(motion, equals=0.0, name="period of the motion"),
        co.boundary(lambda start, end: end.activation - start.activation, equals=0.0, name="period of activations"),
        co.bounds(q=dict(LIMITS)),
    ]
    parts = [muscles, walker.contact]
    if spring:
        stiffness, rest = (
            co.Unknown(name, lower=least, upper=most, guess=guess, constant=True)
            for name, (least, most, guess) in (("stiffness", STIFFNESS), ("rest", REST))
        )
        parts.append(co.Spring(ANKLE, stiffness=stiffness, rest=rest, damping=DAMPING, name="prosthesis"))
    cost = co.integral(lambda now: cubed(muscles, now) / (SPEED * now.duration))
    time_of_stride = co.Free(0.7, 1.4, guess=duration)
    return Walk(walker, muscles, co.Problem(walker.model, time_of_stride, cost, rows, parts=parts))


def solve(made: Walk, half: co.Solution, *, rounds: int = ROUNDS) -> co.Solution:
    """A whole stride from half of one, on grids that are halved where they are too coarse."""
    options = {"solver": PATIENT, "progress": False}
    guess = co.solution.mirrored(half, made.problem)
    solution = co.solve(made.problem, co.Radau(WHOLE), guess=guess, **options)
    for _ in range(rounds):
        if solution.success:
            break
        solution = co.solve(made.problem, halved(solution), guess=solution, **options)
    return solution


class Legs(NamedTuple):
    """Samples of a stride at `PERCENT`, by side."""

    force: Mapping[str, np.ndarray]  # of the ground [weight], shape (N, 3)
    stance: Mapping[str, float]  # of the stride [%]


def legs(made: Walk, solution: co.Solution) -> Legs:
    """The ground's force on both legs, and how long each stands."""
    t = PERCENT / 100 * solution.duration
    weight = float(co.dynamics.total_mass(made.walker.model)) * -made.walker.model.gravity[1]
    force = {}
    for side in SIDES:
        balls = [ball for ball in made.walker.contact.spheres if ball.name.endswith(f"_{side}")]
        force[side] = solution.evaluate(lambda now, balls=balls: sum(ball.force(now) for ball in balls), t) / weight
    return Legs(force, {side: float(100 * (force[side][:, 1] > STANDS).mean()) for side in SIDES})


def measured(made: Walk, solution: co.Solution) -> dict[str, float]:
    """Numbers of a stride."""
    both = legs(made, solution)
    return {
        "cost": solution.cost,
        "iterations": float(solution.iterations),
        "solved": float(solution.success),
        "error": float(solution.error.motion_error),
        "duration": solution.duration,
        "unknowns": float(solution.x.size),
        "mean_force": float(sum(force[:, 1].mean() for force in both.force.values())),
        **{f"stance.{side}": both.stance[side] for side in SIDES},
        **{f"peak_force.{side}": float(both.force[side][:, 1].max()) for side in SIDES},
        **{name: float(value[0]) for name, value in solution.constants.items()},
    }


@styled
def draw(made: Walk, solution: co.Solution, file: str) -> None:
    """Forces under both feet from the heel strike of each, and the torques of both ankles over their angles."""
    figure = new_figure(figsize=(9.0, 3.6))
    left, right = figure.subplots(1, 2)
    both, now = legs(made, solution), solution.at(PERCENT / 100 * solution.duration)
    names = {"r": ("leg with all muscles", BLUE), "l": ("leg with the spring", ORANGE)}
    joints = made.walker.model.joint_names
    for side, (label, color) in names.items():
        force = both.force[side]
        left.plot(PERCENT, np.roll(force[:, 1], -first_contact(force[:, 1])), color=color, label=label)
        ankle = joints.index(f"ankle_angle_{side}")
        stands = force[:, 1] > STANDS
        torque = np.where(stands, np.asarray(now.tau)[:, ankle], np.nan)
        right.plot(np.degrees(np.asarray(now.q)[:, ankle]), torque, color=color)
    left.axhline(1.0, color=MUTED, linewidth=0.8)
    left.legend(fontsize=8, frameon=False)
    dress(left, "% of the stride, from heel strike", "upward force / weight")
    dress(right, "ankle [degrees], bent up is positive", "torque in stance [N m]")
    co.plot.save_figure(figure, file)


def film(made: Walk, solution: co.Solution, path: str) -> None:
    """The walker with its muscles, as a page that plays it."""
    co.plot.view(solution, muscles=made.muscles).save(path)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.prosthesis", __doc__, argv, animation=(".html",), quick="a coarse grid")
    begin, numbers, walks = time.process_time(), {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        made, half = intact()
        for name in ("muscles", "spring"):
            walks[name] = stride(made.walker, 2 * half.duration, spring=name == "spring")
            solution = solve(walks[name], half, rounds=0 if args.quick else ROUNDS)
            numbers |= {f"{name}.{key}": value for key, value in measured(walks[name], solution).items()}
            numbers[f"{name}.seconds"], begin = time.process_time() - begin, time.process_time()
    rows = []
    for name, label in (("muscles", "all muscles"), ("spring", "spring")):
        own = {key.removeprefix(f"{name}."): value for key, value in numbers.items() if key.startswith(name)}
        rows += [
            Row(f"{label}: cost", own["cost"]),
            Row("  stance, right [% of the stride]", own["stance.r"]),
            Row("  stance, left", own["stance.l"]),
            Row("  force of the ground, right, peak [weight]", own["peak_force.r"]),
            Row("  force, left, peak", own["peak_force.l"]),
            Row("  mean force of both feet [weight]", own["mean_force"], 1.0, "momentum over a stride"),
            Row("  seconds", own["seconds"]),
        ]
    rows += [
        Row("stiffness of the spring [N m/rad]", numbers["spring.stiffness"]),
        Row("rest angle [degrees]", np.degrees(numbers["spring.rest"])),
    ]
    print(table(args.question, rows))
    draw(walks["spring"], solution, args.figure)
    return finish(args, numbers, lambda path, _: film(walks["spring"], solution, path))


if __name__ == "__main__":
    main()
