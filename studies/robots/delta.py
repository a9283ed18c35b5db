"""How fast can a delta robot lift a load over a ridge?

Three motors on the base turn arms, from which pairs of parallel rods lead to a platform. The pairs keep the platform
level, so that it moves along x, y and z only. Both rods of a pair move alike, and one slender rod with the mass of
both stands for them here. Dimensions are of the size of known machines. Platform and load, together 1 kg, go from pick
to place, from rest to rest: once in the shortest time within the torques of the motors, once with the least integral of
squared torques in a given time. The middle of the platform stays above a table with a ridge between the two places.

The three slides of the platform are the independent joints, so that every leg follows by itself. Their motion is
compared with the closed-form inverse kinematics of a delta, and the torques with those of virtual work, both written by
hand in NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import dress, legend_below, styled
from colloc.studies.reporting import Row, arguments, finish, table

BASE, ARM, ROD, PLATFORM = 0.2, 0.235, 0.8, 0.045  # m: hinge of an arm from the middle, arm, rod, rod's end on platform
ARM_MASS, RODS_MASS, LOAD = 0.6, 0.2, 1.0  # kg: an arm, both rods of a pair, platform and load
GRAVITY = 9.81  # m/s2
TORQUE = 12.0  # N m, of a motor at most
PICK, PLACE = (-0.2, -0.05, -0.8), (0.15, 0.1, -0.8)  # m
TABLE, WIDTH, HEIGHT = -0.82, 0.07, 0.12  # m: height of the table, width and height of the ridge along y on it
DURATION = 0.4  # s, of the motion with the least torques
MOTORS = ("arm1", "arm2", "arm3")
TURNS = 2 * np.pi / 3 * np.arange(3)  # rad, of the legs about z
OUT = np.array([np.cos(TURNS), np.sin(TURNS), np.zeros(3)]).T  # from the middle to each arm
SIDE = np.array([-np.sin(TURNS), np.cos(TURNS), np.zeros(3)]).T  # hinges of the arms
UP = np.array([0.0, 0.0, 1.0])


def robot() -> co.loops.ClosedChain:
    """The robot at the pick, elbows outwards. An arm's angle counts from the horizontal, downwards."""

    def rod(length: float, mass: float) -> dict[str, Any]:
        moment = mass * length**2 / 12
        return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (0, moment, moment), "tip": (length, 0, 0)}

    slides = [co.Body("x", co.prismatic((1, 0, 0))), co.Body("y", co.prismatic((0, 1, 0)), "x")]
    bodies, loops = [*slides, co.Body("platform", co.prismatic((0, 0, 1)), "y", mass=LOAD)], []
    elbow = co.placement((ARM, 0, 0))
    for k, (arm, turn, out) in enumerate(zip(MOTORS, TURNS, OUT, strict=True), 1):
        hinge = co.revolute((0, 1, 0), co.placement(BASE * out, (0, 0, turn)))
        bodies += [
            co.Body(arm, hinge, **rod(ARM, ARM_MASS)),
            co.Body(f"swing{k}", co.revolute((0, 1, 0), elbow), arm),
            co.Body(f"rod{k}", co.revolute((0, 0, 1)), f"swing{k}", **rod(ROD, RODS_MASS)),
        ]
        ends = co.loops.Frame("platform", PLATFORM * out), co.loops.Frame(f"rod{k}", (ROD, 0, 0))
        loops.append(co.loops.spherical_loop(f"ball{k}", *ends))
    model = co.Model(bodies, gravity=(0, 0, -GRAVITY), name="delta robot")
    guess = (*PICK, *(0.5, 1.2, 0.0) * 3)
    return co.loops.ClosedChain(model, loops, ("x", "y", "platform"), MOTORS, guess=guess)


def ground(x: Any) -> Any:
    """Height of table and ridge [m] at x [m]."""
    return TABLE + HEIGHT / (1 + (x / WIDTH) ** 2) ** 2


def problem(chain: co.loops.ClosedChain, duration: float | None) -> co.Problem:
    """From rest to rest: with the least torques in a duration [s], or in the shortest time."""

    def above(now: co.problem.Instant) -> ca.SX:
        return now.q[2] - ground(now.q[0])

    def at(place: Sequence[float]) -> dict[str, float]:
        return dict(zip(chain.independent, place, strict=True))

    still = dict.fromkeys(chain.independent, 0.0)
    return co.Problem(
        model=chain.model,
        duration=duration or co.Free(0.1, 1.0),
        minimize=co.integral(lambda now: ca.sumsqr(now.tau)) if duration else co.duration(),
        subject_to=[
            co.initial(q=at(PICK), qd=still),
            co.final(q=at(PLACE), qd=still),
            co.path(above, lower=0.0, scale=HEIGHT, unit="m", name="height above the ridge"),
            co.bounds(tau=dict.fromkeys(MOTORS, (-TORQUE, TORQUE))),
        ],
        parts=[co.loops.IndependentJoints(chain)],
    )


def motor_angles(place: np.ndarray) -> np.ndarray:
    """Angles of the arms, shape (..., 3) [rad], for places of the platform, shape (..., 3) [m], in closed form.

    In the plane of an arm the end of its rod is at (r, z) from the hinge, and s beside that plane. That the elbow is a
    rod's length away says r cos - z sin = (r^2 + s^2 + z^2 + arm^2 - rod^2) / (2 arm) of its angle.
    """
    r, s, z = place @ OUT.T + PLATFORM - BASE, place @ SIDE.T, place[..., 2:]
    right = (r**2 + s**2 + z**2 + ARM**2 - ROD**2) / (2 * ARM)
    return np.arctan2(-z, r) - np.arccos(right / np.hypot(r, z))


class Legs(NamedTuple):
    """All legs at places of the platform: elbows, rods and directions in which elbows move, each shape (..., 3, 3)."""

    elbows: np.ndarray
    rods: np.ndarray
    ahead: np.ndarray


def legs(place: np.ndarray) -> Legs:
    """The legs in closed form, at places of the platform, shape (..., 3)."""
    angle = motor_angles(place)[..., None]
    elbows = (BASE + ARM * np.cos(angle)) * OUT - ARM * np.sin(angle) * UP
    ahead = -np.sin(angle) * OUT - np.cos(angle) * UP
    return Legs(elbows, place[..., None, :] + PLATFORM * OUT - elbows, ahead)


def motor_torques(place: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    """Torques of the motors by virtual work, shape (N, 3) [N m], from the motion of the platform, each shape (N, 3).

    Rods have constant length, which gives rates and accelerations of the arms. Along a slender rod acceleration is
    linear, so that its ends do virtual work with (2 a + b) / 6 and (a + 2 b) / 6 of its mass.
    """
    elbows, rods, ahead = legs(place)
    inwards = (BASE * OUT - elbows) / ARM

    def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a * b).sum(axis=-1)

    per_place = rods / (ARM * dot(rods, ahead))[..., None]  # rad/m: row by row the rates of the arms
    rate = dot(per_place, velocity[:, None])[..., None]
    relative = velocity[:, None] - ARM * rate * ahead
    turned = ARM * rate**2 * inwards
    faster = dot(per_place, acceleration[:, None] - turned) + dot(relative, relative) / (ARM * dot(rods, ahead))
    at_elbow = ARM * faster[..., None] * ahead + turned + GRAVITY * UP
    at_platform = acceleration[:, None] + GRAVITY * UP
    own = ARM_MASS * (ARM**2 / 3 * faster + ARM / 2 * GRAVITY * ahead @ UP)
    own += ARM * RODS_MASS / 6 * dot(ahead, 2 * at_elbow + at_platform)
    force = LOAD * at_platform[:, 0] + (RODS_MASS / 6 * (at_elbow + 2 * at_platform)).sum(axis=1)
    return own + np.linalg.solve(np.swapaxes(per_place, 1, 2), force[..., None])[..., 0]


def numbers_of(solution: co.Solution) -> dict[str, float]:
    """The numbers of a motion, at 1,001 times."""
    sample = solution.at(np.linspace(0, solution.duration, 1001))
    model = solution.problem.model
    motors = [model.joint_names.index(name) for name in MOTORS]
    place, velocity, acceleration = (values[:, :3] for values in (sample.q, sample.qd, sample.qdd))
    tau = sample.tau[:, motors]
    return {
        "T": solution.duration,
        "effort": float(np.trapezoid((tau**2).sum(axis=1), dx=solution.duration / 1000)),
        "torque": float(np.abs(tau).max()),
        "acceleration": float(np.linalg.norm(acceleration, axis=1).max()),
        "lift": float(place[:, 2].max() - PICK[2]),
        "clear": float((place[:, 2] - ground(place[:, 0])).min()),
        "kinematics": float(np.abs(sample.q[:, motors] - motor_angles(place)).max()),
        "virtual_work": float(np.abs(tau - motor_torques(place, velocity, acceleration)).max()),
        "solved": float(solution.success),
    }


@styled
def draw(solution: co.Solution, file: str) -> None:
    """The robot from the side at three times with the way of its platform, and the torques of its motors."""
    figure = new_figure(figsize=(9.6, 4.8))
    left, right = figure.subplots(1, 2)
    for share, shade in ((0.0, "0.75"), (0.5, "0.45"), (1.0, "0.0")):
        place = solution.at(share * solution.duration).q[:3]
        found = legs(place)
        for hinge, elbow, rod in zip(BASE * OUT, found.elbows, found.rods, strict=True):
            left.plot(*np.array([hinge, elbow, elbow + rod])[:, [0, 2]].T, "o-", color=shade, markersize=2.5)
        left.plot(*(place + PLATFORM * OUT)[[0, 1, 2, 0]][:, [0, 2]].T, color=shade, linewidth=3)
    t = np.linspace(0, solution.duration, 800)
    sample = solution.at(t)
    left.plot(*sample.q[:, [0, 2]].T, color="C3", linewidth=1.2)
    x = np.linspace(-0.4, 0.4, 200)
    left.fill_between(x, ground(x), TABLE - 0.03, facecolor="0.9", edgecolor="0.6")
    left.set_aspect("equal")
    dress(left, "x [m]", "z [m]")
    for k, name in enumerate(MOTORS):
        torque = sample.tau[:, solution.problem.model.joint_names.index(name)]
        right.plot(t, torque, color=f"C{k}", label=f"motor of {name}")
    dress(right, "t [s]", "torque [N m]")
    legend_below(figure, right.get_legend_handles_labels()[0])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("robots.delta", __doc__, argv)
    chain = robot()
    curve = co.BSpline(16 if args.quick else 40)
    numbers: dict[str, float] = {}
    rows, solutions = [], []
    for name, duration in (("fastest", None), ("least", DURATION)):
        solution = co.solve(problem(chain, duration), curve, progress=False)
        own = numbers_of(solution)
        numbers |= {f"{name}.{key}": value for key, value in own.items()}
        words = "shortest time" if name == "fastest" else f"least torques in {DURATION:g} s"
        rows += [
            Row(f"{words}: duration [s]", own["T"]),
            Row(f"{words}: integral of squared torques [N2 m2 s]", own["effort"]),
            Row(f"{words}: greatest torque [N m]", own["torque"], TORQUE, "its bound"),
            Row(f"{words}: least height above the ridge [m]", own["clear"], 0.0, "its bound"),
            Row(f"{words}: angles of the motors off by [rad]", own["kinematics"], 0.0, "closed form"),
            Row(f"{words}: torques off by [N m]", own["virtual_work"], 0.0, "virtual work"),
        ]
        solutions.append(solution)
    print(table(args.question, rows))
    draw(solutions[0], args.figure)
    return finish(args, numbers, solutions[0])


if __name__ == "__main__":
    main()
