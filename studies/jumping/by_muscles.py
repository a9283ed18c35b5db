"""How high does a human jump by muscles, when nobody says when the feet leave the ground?

The planar walker with muscles, both legs as one, from standing still with little activation, as high as can be with a
little effort: the cost is the negative height of the centre of mass after ballistic flight, and squared excitations.
Neither a countermovement nor times of contact are stated, nor the order in which joints extend. Balls at heels and
forefeet meet the ground. Harman, Rosenstein, Frykman and Rosenstein (1990, Med. Sci. Sports Exerc. 22) measured 18 men:
power on the centre of mass is greatest 0.07 s before take-off, above 3 kW, and its velocity 0.03 s before, to fall by 6
to 7 % until then. The walker weighs 62 kg, and his muscles have the forces of 1990 and stiff tendons: he jumps lower.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.muscle_walker import muscle_walker
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, INK, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.walking.by_muscles import halved

G = 9.80665  # m/s2
DURATION = co.Free(0.4, 0.9, guess=0.8)  # s
EFFORT = 0.1  # m/s: weight of half and the squared excitations
FIRM, OFF = 2e6, 0.01  # Pa, of both feet; m, of the balls above the ground at the end
UPRIGHT = {"hip_flexion_r": (-0.1, 0.1), "knee_angle_r": (-0.1, 0.0), "ankle_angle_r": (-0.1, 0.1)}  # rad, at first
LIMITS = {
    "pelvis_ty": (0.3, 1.6),
    "pelvis_tx": (-0.5, 0.5),
    "pelvis_tilt": (-1.2, 0.6),
    "knee_angle_r": (-2.0, 0.0),
}  # m, rad
POSTURES = {  # tilt, hip, knee and ankle of the guess [rad], and how high the balls are [m]
    0.0: (0.0, 0.0, -0.05, 0.02, -0.008),
    0.35: (-0.7, 1.2, -1.3, 0.45, -0.008),
    0.55: (-0.9, 1.6, -1.7, 0.5, -0.008),
    0.9: (-0.1, 0.1, -0.1, -0.5, -0.008),
    1.0: (-0.05, 0.05, -0.05, -0.6, 0.11),
}
RELAXED = 0.05  # activation of those who stand
INTERVALS, ROUNDS = 60, 6
TOUCHES = 0.01  # of the weight, of the ground's force on feet that stand
SOURCE = "Harman et al. 1990"
BODY = "torso", "pelvis", "femur_r", "tibia_r", "talus_r", "calcn_r", "toes_r"


class Jumper(NamedTuple):
    """A model of both legs as one, its muscles and its contact."""

    model: co.Model
    muscles: co.muscles.Muscles
    contact: co.problem.GroundContact


@cache
def jumper() -> Jumper:
    """The walker's trunk and pelvis, and his right leg with the masses, forces and contact of both."""
    walker = muscle_walker()
    rigid = walker.model.frozen({"lumbar": 0.0})
    bodies = []
    for body in rigid.bodies:
        if body.name.endswith("_r"):
            body = replace(body, mass=2 * body.mass, inertia=2 * body.inertia)
        if not body.name.endswith("_l"):
            bodies.append(body)
    model = co.Model(bodies, rigid.gravity, "jumper")
    right = [muscle for muscle in walker.muscles if muscle.name.endswith("_r")]
    both = [replace(muscle, max_isometric_force=2 * muscle.max_isometric_force) for muscle in right]
    balls = [replace(ball, stiffness=FIRM) for ball in walker.contact.spheres if ball.name.endswith("_r")]
    muscles = co.muscles.Muscles(model, both, activation="explicit", sharpness=0.1)
    return Jumper(model, muscles, co.problem.GroundContact(balls))


def weight() -> float:
    """Weight of the jumper [N]."""
    return G * float(co.dynamics.total_mass(jumper().model))


def rising(now: co.problem.Instant) -> tuple[ca.SX, ca.SX]:
    """Height of the centre of mass [m] and its upward velocity [m/s]."""
    mass = co.dynamics.total_mass(now.model)
    momentum = co.dynamics.momentum(now.model, now.q, now.qd).linear[1]
    return co.dynamics.center_of_mass(now.model, now.q)[1], momentum / mass


def apex(now: co.problem.Instant) -> ca.SX:
    """Greatest height of the centre of mass in a flight that begins now [m]."""
    height, velocity = rising(now)
    return height + velocity**2 / 2 / G


def jump() -> co.Problem:
    """From standing still to a moment after take-off."""
    model, muscles, contact = jumper()
    least, most = np.transpose(list(UPRIGHT.values()))
    rows = [
        co.initial(q={"pelvis_tx": 0.0, "pelvis_tilt": 0.0}, qd=0.0, states={"activation": RELAXED}),
        co.at(0.0, lambda now: now.q[3:], lower=least, upper=most, name="upright"),
        co.at(0.0, lambda now: pushed(now) / weight(), equals=1.0, name="carried by the ground"),
        co.at(
            1.0,
            lambda now: ca.vertcat(*(ball.indentation(now) for ball in contact.spheres)),
            upper=-OFF,
            name="off the ground",
        ),
        co.bounds(q=LIMITS),
    ]
    effort = co.integral(lambda now: 0.5 + ca.sumsqr(now.excitation))
    return co.Problem(model, DURATION, EFFORT * effort - co.final_cost(apex), rows, parts=[muscles, contact])


def start() -> co.transcription.Keyframes:
    """Down and up again, with the balls on the ground until the end."""
    model, _, contact = jumper()
    q = ca.SX.sym("q", model.n)
    places = [co.model.point_motion(model, ball.body, ball.center, q=q).position for ball in contact.spheres]
    lowest = ca.mmin(ca.vertcat(*(at[1] - ball.radius for at, ball in zip(places, contact.spheres, strict=True))))
    above = ca.Function("above", [q], [lowest])
    postures = {}
    for s, (*angles, height) in POSTURES.items():
        posture = np.array([0.0, 0.0, *angles])
        posture[1] = height - float(above(posture))
        postures[s] = posture
    return co.keyframes(postures)


def solve(problem: co.Problem, rounds: int = ROUNDS) -> co.Solution:
    """The jump, on grids that are halved where they are too coarse."""
    options = {"solver": co.Ipopt(max_iter=600), "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        solution = co.solve(problem, co.Radau(INTERVALS), guess=start(), **options)
        for _ in range(rounds):
            if solution.success:
                break
            solution = co.solve(problem, halved(solution), guess=solution, **options)
    return solution


def pushed(now: co.problem.Instant) -> ca.SX:
    """Upward force of the ground [N]."""
    return jumper().contact.wrench(now).force[1]


def measured(solution: co.Solution) -> dict[str, float]:
    """Numbers of a jump."""
    t = np.linspace(0.0, solution.duration, 2001)
    height, velocity = (np.ravel(values) for values in solution.evaluate(rising, t))
    force = np.ravel(solution.evaluate(pushed, t)) / weight()
    leaves, power = int(np.flatnonzero(force > TOUCHES)[-1]), force * velocity * weight()
    down = slice(0, int(height.argmin()))
    return {
        "cost": solution.cost,
        "iterations": float(solution.iterations),
        "solved": float(solution.success),
        "error": float(solution.error.motion_error),
        "height": float(height[-1] + velocity[-1] ** 2 / 2 / G - height[0]),
        "above_take_off": float(velocity[leaves] ** 2 / 2 / G),
        "down": float(height[0] - height.min()),
        "least_force": float(force[down].min()),
        "peak_force": float(force.max()),
        "power": float(power.max()),
        "power.each": float(power.max() / weight() * G),
        "power.before": float(t[leaves] - t[power.argmax()]),
        "velocity.before": float(t[leaves] - t[velocity.argmax()]),
        "velocity.falls": 100.0 * float(1 - velocity[leaves] / velocity.max()),
        "momentum": float(np.abs(np.gradient(velocity, t)[5:-5] - (force - 1)[5:-5] * G).max() / G),
    }


@styled
def draw(solution: co.Solution, file: str) -> None:
    """The jumper at eight times, the ground's force, and what the muscles do."""
    figure = new_figure(figsize=(11.0, 4.2))
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.3, 1.1, 1.2))
    for k, t in enumerate(np.linspace(0.0, solution.duration, 8)):
        ends = [("torso", (0.0, 0.6, 0.0)), *((body, (0.0, 0.0, 0.0)) for body in BODY)]
        x, y, _ = np.transpose(
            [solution.evaluate(lambda now, end=end: now.point(*end).position, float(t)) for end in ends]
        )
        left.plot(x + 0.4 * k, y, color=FADE(0.3 + 0.1 * k), linewidth=2.0)
    left.axhline(0.0, color=MUTED)
    left.set_aspect("equal")
    left.set_xticks([])
    dress(left, "", "up [m]")
    t = np.linspace(0.0, solution.duration, 500)
    middle.plot(t, np.ravel(solution.evaluate(pushed, t)) / weight(), color=BLUE, label="force / weight")
    middle.plot(t, np.ravel(solution.evaluate(rising, t)[1]), color=ORANGE, label="velocity [m/s]")
    middle.legend(fontsize=8, frameon=False)
    dress(middle, "time [s]", "")
    activation = np.asarray(solution.at(t).activation)
    for k, name in enumerate(jumper().muscles.names):
        right.fill_between(t, k, k + 0.9 * activation[:, k], color=BLUE, alpha=0.4, linewidth=0)
        right.text(0.0, k + 0.5, name.removesuffix("_r").replace("_", " "), fontsize=8, color=INK)
    right.set_yticks([])
    dress(right, "time [s]", "activations, a row to 1")
    co.plot.save_figure(figure, file)


def film(solution: co.Solution, path: str) -> None:
    """The jumper with his muscles, as a page that plays it."""
    co.plot.view(solution, muscles=jumper().muscles).save(path)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("jumping.by_muscles", __doc__, argv, animation=(".html",), quick="one coarse grid")
    begin = time.process_time()
    solution = solve(jump(), 0 if args.quick else ROUNDS)
    numbers = measured(solution) | {"seconds": time.process_time() - begin}
    rows = [
        Row("height of the flight, above standing [m]", numbers["height"]),
        Row("  above take-off", numbers["above_take_off"]),
        Row("countermovement [m]", numbers["down"]),
        Row("force of the ground, least on the way down [weight]", numbers["least_force"]),
        Row("  greatest", numbers["peak_force"]),
        Row("greatest power [W]", numbers["power"], source=f"above 3000, {SOURCE}"),
        Row("  before take-off [s]", numbers["power.before"], 0.07, SOURCE),
        Row("greatest velocity before take-off [s]", numbers["velocity.before"], 0.03, SOURCE),
        Row("  falls until take-off by [%]", numbers["velocity.falls"], source=f"6 to 7, {SOURCE}"),
        Row("force that momentum lacks [weight]", numbers["momentum"], 0.0, "Newton"),
        Row("error between nodes", numbers["error"]),
        Row("seconds", numbers["seconds"]),
    ]
    print(table(args.question, rows))
    draw(solution, args.figure)
    return finish(args, numbers, lambda path, _: film(solution, path))


if __name__ == "__main__":
    main()
