"""How large is the force in a knee that climbs stairs?

Half a stride of the planar walker with 18 muscles on stairs, symmetric: its end is the mirror image of its start, one
step of 17 cm higher and of 29 cm further. The first walk is on level ground, from two legs that swing as sines. The
stairs then grow under it. Each foot has its tread, which pushes its balls as the ground does: when it steps on the next
one, and how hard, is not stated. The balls stay clear of all edges. The cost is squared excitations. Costigan, Deluzio
and Wyss (2002, Gait Posture 16:31) measured 35 people: a net moment of 1.16 +- 0.24 N m/kg extends the knee, and the
force along the tibia, with that of the muscles by their model, is three times the weight on average.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.muscle_walker import SIDES, muscle_walker
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.walking.by_muscles import LINES, LUMBAR, TRUNK, Walk, film, halved, mass_of, mirrored, swinging

DEPTH, RISES = 0.29, (0.0, 0.04, 0.08, 0.12, 0.17)  # m, one stair after another
DURATION = co.Free(0.45, 0.75, guess=0.6)  # s, of a step
SWINGS = (0.4, 0.6)  # of the step: the foot that swings is off the ground then at least
EDGE, SUNK = 0.012, 0.03  # m, smoothness of edges, and how deep balls may sink
ON_TREAD = (0.14, DEPTH - 0.03)  # m, of the ball of the foot behind the edge
LIMITS = {
    "pelvis_tilt": (-0.5, 0.17),
    "lumbar": (0.0, 0.44),
    "pelvis_ty": (0.7, 1.3),
    "knee_angle_r": (-1.9, 0.0),
    "knee_angle_l": (-1.9, 0.0),
}  # rad, m
INTERVALS, ROUNDS = 14, 6
OPTIONS: dict[str, Any] = {"solver": co.Ipopt(max_iter=600), "progress": False}
SOURCE = "Costigan et al. 2002"


class Tread(co.problem.Surface):
    """A level surface whose height [m] is a function of the instant."""

    def __init__(self, name: str, height: Callable[[co.problem.Instant], ca.SX], rise: co.Parameter):
        self.name, self.height, self.constants = name, height, (rise,)

    def distance(self, now: co.problem.Instant, point: ca.SX) -> ca.SX:
        return point[1] - self.height(now)


def tread_of_left(now: co.problem.Instant) -> ca.SX:
    """The left foot stays on one tread."""
    return ca.SX(0)


def tread_of_right(now: co.problem.Instant) -> ca.SX:
    """The right foot leaves the tread below that, and steps on the one above; between them it swings."""
    return now.rise * ca.tanh(25 * (now.t / now.duration - 0.5))


def clearance(balls: Sequence[co.problem.ContactSphere], now: co.problem.Instant) -> ca.SX:
    """Height of balls above the stairs, SX, shape (len(balls),) [m]."""
    heights = []
    for ball in balls:
        x, y, _ = ca.vertsplit(now.point(ball.body, ball.center).position)
        stairs = sum(0.5 + 0.5 * ca.tanh((x - k * DEPTH) / EDGE) for k in range(-2, 3)) - 3
        heights.append(y - ball.radius - now.rise * stairs)
    return ca.vertcat(*heights)


def climb() -> Walk:
    """Half a stride on stairs whose rise is a parameter."""
    walker, rise = muscle_walker(), co.Parameter("rise", 0.0)
    treads = {"l": Tread("tread", tread_of_left, rise), "r": Tread("treads", tread_of_right, rise)}
    balls = [replace(ball, surface=treads[ball.name[-1]]) for ball in walker.contact.spheres]
    right, left = ([ball for ball in balls if ball.name.endswith(f"_{side}")] for side in SIDES)
    muscles = co.muscles.Muscles(
        walker.model, walker.muscles, activation="explicit", sharpness=0.1, reserves={"lumbar": LUMBAR}
    )
    mirror, other = mirrored(walker.model.joint_names), mirrored(muscles.names)

    def motion(start: co.problem.Instant, end: co.problem.Instant) -> ca.SX:
        ahead = ca.vertcat(DEPTH, end.rise, ca.SX(walker.model.n - 2, 1))
        return ca.vertcat(end.q - start.q[mirror] - ahead, end.qd - start.qd[mirror])

    rows = [
        co.boundary(motion, equals=0.0, name="symmetry of the motion"),
        co.boundary(
            lambda start, end: end.activation - start.activation[other], equals=0.0, name="symmetry of activations"
        ),
        co.path(partial(clearance, balls), lower=-SUNK, unit="m", name="clear of the stairs"),
        co.path(
            lambda now: ca.vertcat(*(ball.indentation(now) for ball in right)),
            upper=-0.005,
            during=SWINGS,
            name="right foot swings",
        ),
        co.at(
            0.0,
            lambda now: now.point(left[1].body, left[1].center).position[0],
            lower=ON_TREAD[0],
            upper=ON_TREAD[1],
            name="left foot on its tread",
        ),
        co.bounds(q=LIMITS),
    ]
    contact = co.problem.GroundContact(balls)
    effort = co.integral(lambda now: ca.sumsqr(now.excitation) + ca.sumsqr(now.reserve))
    problem = co.Problem(walker.model, DURATION, effort, rows, parameters=[rise], parts=[muscles, contact])
    return Walk(walker._replace(contact=contact), muscles, problem)


def solve(made: Walk, rises: Sequence[float] = RISES, rounds: int = ROUNDS) -> co.Solution:
    """The climb on the last of several stairs, each from the one before; then on grids halved as needed."""
    at: dict[str, Any] = {"parameters": {"rise": rises[0]}, **OPTIONS}
    guess = swinging(muscle_walker(), DEPTH / 0.6, 0.6, swing=0.2)
    solution = co.solve(made.problem, co.Radau(INTERVALS), guess=guess, **at)
    for rise in rises[1:]:
        at["parameters"] = {"rise": rise}
        solution = co.solve(made.problem, co.Radau(INTERVALS), guess=solution, **at)
    for _ in range(rounds):
        if solution.success:
            break
        solution = co.solve(made.problem, halved(solution), guess=solution, **at)
    return solution


def of_knees(made: Walk, now: co.problem.Instant) -> ca.SX:
    """Extending moment [N m/kg] and force along the tibia [weight] of the right knee, then those of the left one."""
    mass, joints, values = mass_of(made), now.model.joint_names, []
    for side in SIDES:
        force = now.joint_contact(f"tibia_{side}").force[1]
        values += [now.tau[joints.index(f"knee_angle_{side}")] / mass, -force / mass / 9.80665]
    return ca.vertcat(*values)


def measured(made: Walk, solution: co.Solution) -> dict[str, float]:
    """Numbers of a climb."""
    t = np.linspace(0.0, solution.duration, 501)
    knees = solution.evaluate(partial(of_knees, made), t)
    pushed = solution.evaluate(lambda now: made.walker.contact.wrench(now).force[1], t) / mass_of(made) / 9.80665
    bend = -np.degrees(np.asarray(solution.at(t).q)[:, made.walker.model.joint_names.index("knee_angle_r")])
    return {
        "cost": solution.cost,
        "solved": float(solution.success),
        "error": float(solution.error.motion_error),
        "duration": solution.duration,
        "moment": float(knees[:, ::2].max()),
        "contact": float(np.abs(knees[:, 1::2]).max()),
        "bend": float(bend.max()),
        "peak_force": float(pushed.max()),
        "mean_force": float(np.trapezoid(pushed, t) / solution.duration),
    }


@styled
def draw(made: Walk, solution: co.Solution, file: str) -> None:
    """The walker on the stairs, and moment and force of a knee over a stride."""
    figure = new_figure(figsize=(11.0, 5.0))
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1.4, 1.0))[0]
    ax, rise = left.subplots(), float(solution.evaluate(lambda now: now.rise, 0.0))
    for k, t in enumerate(np.linspace(0.0, solution.duration, 6)):
        for side, bodies in LINES.items():
            ends = [(body, (0.0, 0.0, 0.0)) for body in bodies]
            ends = [("torso", (0.0, TRUNK, 0.0)), *ends] if side == "r" else ends
            places = [solution.evaluate(lambda now, end=end: now.point(*end).position, float(t)) for end in ends]
            x, y, _ = np.transpose(places) + np.array([[2 * k * DEPTH], [2 * k * rise], [0.0]])
            ax.plot(x, y, color=BLUE if side == "r" else FADE(0.5), linewidth=2.2 if side == "r" else 1.4)
    edges = np.arange(-1, 13)
    ax.step(edges * DEPTH, edges * rise, where="post", color=MUTED)
    ax.set_aspect("equal")
    dress(ax, "forward [m]", "up [m]")
    t = np.linspace(0.0, solution.duration, 300)
    knees, stride = solution.evaluate(partial(of_knees, made), t), np.concatenate([t, t + solution.duration])
    both = np.vstack([knees[:, 2:], knees[:, :2]])  # the left leg's step, then that of the right one
    for ax, values, color, label in zip(
        right.subplots(2, 1, sharex=True),
        both.T,
        (BLUE, ORANGE),
        ("knee extends [N m/kg]", "along tibia [weight]"),
        strict=True,
    ):
        ax.plot(100 * stride / stride[-1], values, color=color)
        dress(ax, "% of the stride", label)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.stairs_by_muscles", __doc__, argv, quick="low stairs on a coarse grid")
    begin, made = time.process_time(), climb()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        solution = solve(made, RISES[:2], 0) if args.quick else solve(made)
    numbers = measured(made, solution) | {"seconds": time.process_time() - begin}
    rows = [
        Row("cost", numbers["cost"]),
        Row("moment that extends the knee, peak [N m/kg]", numbers["moment"], 1.16, SOURCE),
        Row("force along the tibia, peak [weight]", numbers["contact"], 3.0, SOURCE),
        Row("knee flexion, peak [degrees]", numbers["bend"]),
        Row("force of the treads, peak [weight]", numbers["peak_force"]),
        Row("  mean over the step", numbers["mean_force"], 1.0, "momentum over a stride"),
        Row("duration of a step [s]", numbers["duration"]),
        Row("seconds", numbers["seconds"]),
    ]
    print(table(args.question, rows))
    draw(made, solution, args.figure)
    return finish(args, numbers, partial(film, solution))


if __name__ == "__main__":
    main()
