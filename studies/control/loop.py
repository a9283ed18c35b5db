"""Does a controller that plans again a hundred times a second keep a Panda's hand on a moving target?

The target goes round a circle of 0.15 m in 4 s, and a ball moves up and down through that circle. The controller knows
their positions and velocities. At every tick of 10 ms it makes one step of sequential quadratic programming on a
horizon of 0.4 s. It respects the joints' limits of position, velocity, acceleration and torque, and keeps the hand
0.12 m from the ball's centre. In simulation the links are 5 % heavier than in the model, angles are measured to 1 mrad
and velocities to 10 mrad/s, and torques act 4 ms late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.panda import panda
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, INK, VERMILLION, dress, styled
from colloc.studies.control.tracking import scaled
from colloc.studies.films import of_samples
from colloc.studies.reporting import Row, arguments, finish, table

TICK, HORIZON, LATE = 0.01, 0.4, 0.004  # s
CENTRE, RADIUS, PERIOD = np.array([0.45, 0.0, 0.45]), 0.15, 4.0  # m, m, s
KEPT = 0.12  # m, from the ball's centre
HOME = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.8, 0.8])
SETTLED = 0.8  # s, after which the hand has reached the target
HEAVIER = 1.05


def world(t: float) -> dict[str, np.ndarray]:
    """Position and velocity of the target and of the ball."""
    angle, rate = 2 * np.pi * t / PERIOD, 2 * np.pi / PERIOD
    around = RADIUS * np.array([0.0, np.cos(angle), np.sin(angle)])
    along = RADIUS * rate * np.array([0.0, -np.sin(angle), np.cos(angle)])
    ball = CENTRE + np.array([0.0, 0.12, 0.25 * np.cos(0.75 * angle)])
    speed = np.array([0.0, 0.0, -0.25 * 0.75 * rate * np.sin(0.75 * angle)])
    return {"target": np.append(CENTRE + around, along), "ball": np.append(ball, speed)}


def problem() -> co.Problem:
    """A horizon: the hand near the target, away from the ball."""
    model = replace(panda(), markers={"hand": ("joint7", (0.0, 0.0, 0.107))})
    parameters = [co.Parameter(name, value) for name, value in world(0.0).items()]

    def away(now: Any, name: str) -> Any:
        return now.point("hand").position - now.parameters[name][:3] - now.t * now.parameters[name][3:]

    def cost(now: Any) -> Any:
        still = 0.02 * ca.sumsqr(now.q - HOME) + 0.01 * ca.sumsqr(now.qd) + 1e-5 * ca.sumsqr(now.tau)
        return 100 * ca.sumsqr(away(now, "target")) + still

    clear = co.path(lambda now: ca.sumsqr(away(now, "ball")), lower=KEPT**2, scale=KEPT**2, name="clear of the ball")
    return co.Problem(model, HORIZON, co.integral(cost), [co.initial(q=HOME, qd=0.0), clear], parameters=parameters)


def run(duration: float, intervals: int) -> tuple[co.control.ClosedLoop, dict[str, np.ndarray]]:
    """The simulated loop, and measures of it at every tick."""
    stated = problem()
    controller = co.control.receding(stated, co.BSpline(intervals), tick=TICK)
    loop = co.control.closed_loop(
        controller, duration, q=HOME, qd=0.0, plant=scaled(stated.model, HEAVIER), parameters=world, delay=LATE,
        noise=(1e-3, 1e-2),
    )  # fmt: skip
    hand = co.Evaluator(stated.model).point("joint7", (0.0, 0.0, 0.107), q=loop.q).position
    worlds = [world(t) for t in loop.t]
    limits = np.array([stated.limits(name) for name in ("qd", "tau")])
    measures = {
        "miss": np.linalg.norm(hand - [w["target"][:3] for w in worlds], axis=1),
        "clearance": np.linalg.norm(hand - [w["ball"][:3] for w in worlds], axis=1),
        "speed": np.abs(loop.qd / limits[0, 1]).max(axis=1),
        "torque": np.abs(loop.tau / limits[1, 1]).max(axis=1),
    }
    return loop, measures


@styled
def draw(loop: co.control.ClosedLoop, measures: dict[str, np.ndarray], file: str) -> None:
    """Distances, speeds and torques over time, and a histogram of the steps' times."""
    figure = new_figure(figsize=(12.5, 3.8))
    left, middle, right = figure.subplots(1, 3)
    left.plot(loop.t, 1e3 * measures["miss"], color=BLUE)
    left.plot(loop.t, 1e3 * measures["clearance"], color=VERMILLION)
    left.axhline(1e3 * KEPT, color=INK, linestyle="--", linewidth=1.0)
    left.set_title("hand: from the target (blue), from the ball", loc="left")
    dress(left, "time [s]", "distance [mm]")
    middle.plot(loop.t, 100 * measures["speed"], color=BLUE)
    middle.step(loop.t[:-1], 100 * measures["torque"], color=VERMILLION, where="post", linewidth=1.0)
    middle.axhline(100, color=INK, linestyle="--", linewidth=1.0)
    middle.set_title("fastest joint (blue), largest torque", loc="left")
    dress(middle, "time [s]", "of the limit [%]")
    right.hist(1e3 * loop.processor, bins=40, color=BLUE)
    right.set_title(f"a step; the longest takes {1e3 * loop.processor.max():.1f} ms", loc="left")
    dress(right, "processor time of a step [ms]", "ticks")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("control.loop", __doc__, argv)
    loop, measures = run(1.2 if args.quick else 8.0, 8 if args.quick else 16)
    after = loop.t > SETTLED
    free = after & (measures["clearance"] > KEPT + 0.02)
    numbers = {
        "miss": float(np.median(measures["miss"][free])),
        "clearance": float(measures["clearance"].min()),
        "speed": float(measures["speed"].max()),
        "torque": float(measures["torque"].max()),
        "untrusted": loop.untrusted / len(loop.ticks),
        "iterations": float(np.median([tick.iterations for tick in loop.ticks])),
        "seconds.median": float(np.median(loop.processor)),
        "seconds.longest": float(loop.processor.max()),
    }
    rows = [
        Row("hand from the target, median, away from the ball [m]", numbers["miss"]),
        Row("hand from the ball's centre, least [m]", numbers["clearance"], KEPT, "the limit"),
        Row("fastest joint, of its limit", numbers["speed"], 1.0, "the limit"),
        Row("largest torque, of its limit", numbers["torque"], 1.0, "the limit"),
        Row("ticks that are not trusted, share", numbers["untrusted"]),
        Row("a step, median, processor [s]", numbers["seconds.median"]),
        Row("the longest one [s]", numbers["seconds.longest"]),
    ]
    print(table(args.question, rows))
    draw(loop, measures, args.figure)
    return finish(args, numbers, of_samples(problem().model, loop.t, loop.q))


if __name__ == "__main__":
    main()
