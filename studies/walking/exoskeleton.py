"""How much work of its muscles does an exoskeleton at both ankles spare a walker, for how much torque of its motors?

The planar walker with 18 muscles of `by_muscles` at 1.2 m/s, with a motor at each ankle (`colloc.problem.Assist`). The
torque rises and falls once in a stride. Its peak, the time of the peak and the duration of its rise are unknown
constants, the same for both legs, chosen together with the motion: Zhang et al. (2017, Science 356) choose them by
trials on a treadmill. Two costs are traded along a Pareto front of ten points (`colloc.sweeps.pareto_front`): cubed
excitations, and squared torques of the motors, both over the distance. All walks are on the coarse grid of the first
walk of `by_muscles`, where equations between the nodes are not met to 1e-2.

The derivative of the muscles' cost by the peak, one of the numbers that a solution is differentiated by, is compared
with differences of other solves.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.walking.by_muscles import INTERVALS, PATIENT, SPEED, STEP, Walk, cubed, film, swinging, walk

STRONGEST = 60.0  # N m
FALL = 0.1  # of a stride, from the peak to zero
POINTS, FEW = 10, 3
GIVEN = 20.0  # N m, at which the derivative by the peak is taken
STEP_OF_PEAK = 0.05  # N m
SMOOTH = 1e-4  # of squared accelerations of joints, beside the excitations
SHARP = co.Ipopt(max_iter=1000, mu_strategy="monotone", compl_inf_tol=1e-11, bound_relax_factor=0.0, tol=1e-10)


@dataclass(frozen=True)
class Device:
    """The walker with an exoskeleton, and its two costs."""

    walk: Walk
    assists: list[co.problem.Assist]
    problem: co.Problem
    muscles: co.problem.Cost
    motors: co.problem.Cost


def device(peak: Any = None) -> Device:
    """The walk with motors at the ankles, whose peak [N m] is unknown unless given; plantar flexion is negative."""
    made = walk()
    if peak is None:
        peak = co.Unknown("peak", lower=-STRONGEST, upper=0.0, guess=-5.0, constant=True, unit="N m")
    timing = co.Unknown("time", lower=0.35, upper=0.6, guess=0.5, constant=True)
    rise = co.Unknown("rise", lower=0.05, upper=0.3, guess=0.2, constant=True)
    # Half a stride begins when one foot strikes: the left leg's first half is followed by that of the right leg.
    assists = [
        co.problem.Assist(f"ankle_angle_{side}", peak, timing, rise, FALL, cycle=partial(passed, shift))
        for side, shift in (("l", 0.0), ("r", 0.5))
    ]
    muscles = co.integral(partial(effort, made.muscles), name="muscles")
    motors = co.integral(partial(squared_torques, assists), name="motors")
    parts = [*made.problem.parts, *assists]
    return Device(made, assists, replace(made.problem, parts=parts, minimize=muscles), muscles, motors)


def passed(shift: float, now: co.problem.Instant) -> ca.SX:
    """Fraction of a leg's stride that has passed."""
    return 0.5 * now.t / now.duration + shift


def effort(muscles: co.muscles.Muscles, now: co.problem.Instant) -> ca.SX:
    """Cubed excitations over the distance, and a little smoothness."""
    return (cubed(muscles, now) + SMOOTH * ca.sumsqr(now.qdd[3:])) / (SPEED * now.duration)


def squared_torques(assists: Sequence[co.problem.Assist], now: co.problem.Instant) -> ca.SX:
    """Squared torques of the motors [(N m)2], a hundredth, over the distance."""
    return sum(assist.torques(now)[assist.joint] ** 2 for assist in assists) / 100.0 / (SPEED * now.duration)


def metabolic_rate(made: Walk, solution: co.Solution) -> float:
    """Mean metabolic rate of all muscles [W/kg]."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    times = solution.duration * (nodes + 1) / 2
    rates = solution.evaluate(lambda now: ca.sum1(made.muscles.metabolic_rate(now).total), times)
    return float(weights @ rates) / 2 / float(co.dynamics.total_mass(made.walker.model))


def derivative(guess: co.Solution) -> tuple[float, float]:
    """Derivative of the muscles' cost by the peak, and the difference quotient of two other solves."""
    peak = co.Parameter("peak_torque", -GIVEN)
    nlp = co.transcribe(device(peak).problem, co.Radau(INTERVALS))
    costs = {}
    for value in (-GIVEN, -GIVEN - STEP_OF_PEAK, -GIVEN + STEP_OF_PEAK):
        solution: Any = co.solve(
            nlp,
            guess=guess,
            parameters={"peak_torque": value},
            solver=PATIENT if value == -GIVEN else SHARP,
            progress=False,
        )
        if value == -GIVEN:
            solution = co.solve(nlp, guess=solution, parameters={"peak_torque": value}, solver=SHARP, progress=False)
            guess, rate = solution, co.optimality.sensitivity(solution, "peak_torque")["peak_torque"].cost
        costs[value] = solution.cost
    difference = (costs[-GIVEN + STEP_OF_PEAK] - costs[-GIVEN - STEP_OF_PEAK]) / (2 * STEP_OF_PEAK)
    return rate, difference


@styled
def draw(made: Device, front: co.sweeps.Front, file: str) -> None:
    """The front, the constants along it, and the torque of one ankle over a stride at some points."""
    figure = new_figure(figsize=(11.0, 3.6))
    axes = figure.subplots(1, 3)
    axes[0].plot(front["motors"], front["muscles"], color=MUTED, linewidth=1.0, marker="o", markerfacecolor=BLUE)
    dress(axes[0], "squared torques of the motors", "cubed excitations")
    constants = {name: values[:, 0] for name, values in front.constants.items()}
    axes[1].plot(-constants["peak"], 100 * constants["time"], color=BLUE, marker="o", label="peak")
    begins = 100 * (constants["time"] - constants["rise"])
    axes[1].plot(-constants["peak"], begins, color=ORANGE, marker="o", label="begin")
    dress(axes[1], "peak torque [N m]", "% of the stride")
    axes[1].legend(fontsize=8, frameon=False)
    share = np.linspace(0.0, 1.0, 201)
    for k in range(0, len(front), 3):
        solution = front.solution(k)
        times = np.linspace(0.0, solution.duration, 101)
        torque = [solution.evaluate(lambda now, a=a: a.torques(now)[a.joint], times) for a in made.assists]
        axes[2].plot(100 * share, -np.concatenate([torque[0], torque[1][1:]]), color=BLUE, linewidth=1.0)
    dress(axes[2], "% of the stride, from heel strike", "torque of the motor [N m]")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.exoskeleton", __doc__, argv, quick="three points of the front")
    made, begin = device(), time.perf_counter()
    options: dict[str, Any] = {"solver": PATIENT, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of the coarse grid
        alone = walk().problem
        first = co.solve(alone, co.Radau(INTERVALS), guess=swinging(made.walk.walker, SPEED, STEP), **options)
        costs = {"muscles": made.muscles, "motors": made.motors}
        points = FEW if args.quick else POINTS
        front = co.sweeps.pareto_front(made.problem, costs, co.Radau(INTERVALS), points=points, guess=first, **options)
        seconds = time.perf_counter() - begin
        rate, difference = derivative(first)
    print(front)
    constants = {name: values[:, 0] for name, values in front.constants.items()}
    rates = [metabolic_rate(made.walk, front.solution(k)) for k in (0, len(front) - 1)]
    numbers = {
        "points": float(len(front) - front.failed.size),
        "seconds": seconds,
        "muscles.strongest": float(front["muscles"][0]),
        "muscles.none": float(front["muscles"][-1]),
        "peak": float(-constants["peak"].min()),
        "peak_time": float(100 * constants["time"][0]),
        "metabolic_saving": 100 * (1 - rates[0] / rates[1]),
        "derivative": rate,
        "derivative_off": abs(rate / difference - 1),
    }
    measured = "Zhang et al. 2017, measured, with one ankle"
    rows = [
        Row("cubed excitations without motors", numbers["muscles.none"]),
        Row("with the strongest motors", numbers["muscles.strongest"]),
        Row("less metabolic rate of the muscles [%]", numbers["metabolic_saving"], 24.2, measured),
        Row("time of the peak [% of the stride]", numbers["peak_time"]),
        Row("derivative by the peak, off differences", numbers["derivative_off"]),
    ]
    print(table(args.question, rows, [f"  {len(front)} points in {seconds:.0f} s"]))
    draw(made, front, args.figure)
    return finish(args, numbers, partial(film, front.solution(0)))


if __name__ == "__main__":
    main()
