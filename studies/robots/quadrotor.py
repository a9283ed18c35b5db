"""How fast does a quadrotor turn over once, from hover to hover?

A quadrotor of 1 kg whose rotors push with up to 5 N each, and never pull. It turns over once and ends where it began,
at rest. The search begins with a turn about one of its arms; the answer turns about the diagonal between two arms,
where all four rotors help. Its attitude is a unit quaternion, from (1, 0, 0, 0) to (-1, 0, 0, 0), without a singular
posture on the way. Half of the rotors spin the other way round, and the drag of each turns the body against its spin.
The forces are integrated once more, by equations written by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import dress, legend_below, styled
from colloc.problem import Thruster, Thrusters
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.runge_kutta import integrated

MASS, INERTIA, GRAVITY = 1.0, np.array([0.01, 0.01, 0.02]), 9.81  # kg, kg m2, m/s2
ARM, MOST, DRAG = 0.2, 5.0, 0.02  # m, N, N m for each N
PLACES = {"front": (ARM, 0, 0), "left": (0, ARM, 0), "rear": (-ARM, 0, 0), "right": (0, -ARM, 0)}
SPINS = (1, -1, 1, -1)
HOVER, OVER = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0]
GUESS = 1.5  # s
STEPS = 20  # of the simulation, on every interval


def problem() -> co.Problem:
    """Once round, from hover to hover, in the shortest time."""
    hull = co.floating("hull", sequence="quaternion", mass=MASS, inertia=tuple(INERTIA))
    rotors = [
        Thruster(name, "hull", (0, 0, 1), place, upper=MOST, moment_per_force=spin * DRAG)
        for (name, place), spin in zip(PLACES.items(), SPINS, strict=True)
    ]
    return co.Problem(
        model=co.Model(hull, gravity=(0, 0, -GRAVITY), name="quadrotor"),
        duration=co.Free(0.3, 5.0, GUESS),
        minimize=co.duration(),
        subject_to=[co.initial(q=HOVER, qd=0.0), co.final(q=OVER, qd=0.0)],
        parts=[Thrusters(rotors)],
    )


def once_round(t: float) -> list[float]:
    """A guess: one turn about the first axis, in place."""
    half = np.pi * (1 - np.cos(np.pi * t / GUESS)) / 2
    return [0.0, 0.0, 0.0, np.cos(half), np.sin(half), 0.0, 0.0]


def rates(state: np.ndarray, thrust: np.ndarray) -> np.ndarray:
    """Rates of place, quaternion, velocity in the world, and angular velocity about the body's axes."""
    (w, *u), velocity, omega = state[3:7], state[7:10], state[10:]
    up = np.array([2 * (u[0] * u[2] + w * u[1]), 2 * (u[1] * u[2] - w * u[0]), 1 - 2 * (u[0] ** 2 + u[1] ** 2)])
    arms = np.array(list(PLACES.values()))
    moment = np.array([arms[:, 1] @ thrust, -arms[:, 0] @ thrust, DRAG * np.array(SPINS) @ thrust])
    turning = (moment - np.cross(omega, INERTIA * omega)) / INERTIA
    pushed = thrust.sum() / MASS * up - (0, 0, GRAVITY)
    return np.concatenate([velocity, [-np.dot(u, omega) / 2], (w * omega + np.cross(u, omega)) / 2, pushed, turning])


def simulated(solution: co.Solution) -> float:
    """By how much place [m] and quaternion miss the end, after the classic method of order four."""
    start = np.array([*HOVER, *np.zeros(6)])
    *_, end = integrated(solution, rates, start, lambda t: solution.at(t).thrust, STEPS)
    return float(np.abs(end[:7] - OVER).max())


@styled
def draw(solution: co.Solution, file: str) -> None:
    """The quadrotor seen along the axis about which it turns, and its rotors over time."""
    figure = new_figure(figsize=(9.6, 4.4))
    left, right = figure.subplots(1, 2)
    t = np.linspace(0, solution.duration, 13)
    sample = solution.evaluate(lambda now: ca.vertcat(now.point("hull").position, ca.vec(now.rotation("hull"))), t)
    moves = sample.reshape(t.size, 4, 3)  # the place, and the three axes of the body
    axis = np.linalg.eigh(np.cov(solution.at(np.linspace(0, solution.duration, 200)).q[:, 4:6].T))[1][:, -1]
    aside = np.array([-axis[1], axis[0]])
    for s, (place, first, second, third) in zip(np.linspace(0, 1, t.size), moves, strict=True):
        bar, tint = aside[0] * first + aside[1] * second, (0.1 + 0.6 * s, 0.3, 0.8 - 0.6 * s)
        ends = np.array([place - ARM * bar, place + ARM * bar])
        mast = np.array([place, place + 0.08 * third])
        left.plot(ends[:, :2] @ aside, ends[:, 2], color=tint, linewidth=2)
        left.plot(mast[:, :2] @ aside, mast[:, 2], color=tint, linewidth=1)
    t = np.linspace(0, solution.duration, 800)
    q = solution.at(t).q
    left.plot(q[:, :2] @ aside, q[:, 2], color="0.6", linewidth=0.8)
    left.set_aspect("equal", adjustable="datalim")
    dress(left, "across the axis of the turn [m]", "height [m]")
    for k, (name, values) in enumerate(zip(PLACES, solution.at(t).thrust.T, strict=True)):
        right.plot(t, values, label=name, linestyle="-" if k < 2 else "--")
    dress(right, "t [s]", "thrust [N]")
    legend_below(figure, right.get_legend_handles_labels()[0])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("robots.quadrotor", __doc__, argv)
    curve = co.Radau(20) if args.quick else co.Radau(60)
    solution = co.solve(problem(), curve, guess=once_round, tol=0.02, progress=False)
    t = np.linspace(0, solution.duration, 3001)
    length = np.linalg.norm(solution.at(t).q[:, 3:], axis=1)
    numbers = {"T": solution.duration, "miss": simulated(solution), "solved": float(solution.success)}
    numbers |= {"length": float(np.abs(length - 1).max()), "sinks": float(-solution.at(t).q[:, 2].min())}
    rows = [
        Row("shortest time [s]", solution.duration),
        Row("miss of the end, simulated [m, 1]", numbers["miss"], 0.0, "the solution"),
        Row("quaternion's length less one", numbers["length"], 0.0, "unit length"),
    ]
    print(table(args.question, rows))
    draw(solution, args.figure)
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
