"""Which load does a robot hold, and what does its motion minimise, as the angles of one recorded motion tell?

A Panda moves from rest to rest in 1.2 s with the least effort, integral of tau'tau + 100 w qd'qd. Its last link is
heavier by 1.5 kg (centre of mass and inertia unchanged), and w is unknown too. Joint angles at 21 times have noise of
2 mrad. From the model without a load and with w = 1, gradient descent on the sum of squared errors goes through the
optimum: `optimum_function` solves the problem for other numbers and pulls the gradient of the loss back to them. Steps
have the lengths of Barzilai and Borwein (1988, "Two-point step size gradient methods", IMA J. Numer. Anal. 8). Standard
errors are from the second derivatives of the loss. The minimum is checked without derivatives, by parabolas through
three losses.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.panda import panda
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, MUTED, PALETTE, VERMILLION, dress, legend_below, styled
from colloc.studies.reporting import Row, arguments, finish, table

NUMBERS = ("mass of body 'joint7'", "weight")
LOAD, WEIGHT = 1.5, 0.4  # kg; true weight of the speeds
NOISE = 2e-3  # rad
SHOWN = (1, 3, 5)  # joints in the figure
STEPS, LONGEST, FLAT = 40, 0.5, 1e-8  # most steps, their greatest length, and the slope at the end, in logarithms


def reach(intervals: int) -> co.Solution:
    """The optimum of the model without a load, with equal weights."""
    weight = co.Parameter("weight", 1.0)
    start, goal = [0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8], [0.9, 0.3, -0.4, -1.5, 0.3, 2.4, 0.2]
    torque = np.array([87.0] * 4 + [12.0] * 3)
    cost = co.integral(lambda now: ca.sumsqr(now.tau) + 100 * now.weight * ca.sumsqr(now.qd))
    ends = [co.initial(q=start, qd=0.0), co.final(q=goal, qd=0.0), co.bounds(tau=(-torque, torque))]
    return co.solve(co.Problem(panda(), 1.2, cost, ends, parameters=[weight]), co.BSpline(intervals))


def learned(angles: co.optimality.OptimumFunction, recorded: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and losses of all steps of gradient descent in the logarithms of the numbers."""
    z, step, last, path, losses = np.log(angles.base), 0.1, None, [], []
    for _ in range(STEPS):
        path.append(np.exp(z))
        loss, slope = of_loss(angles, recorded, path[-1])
        losses.append(loss)
        if np.abs(slope).max() < FLAT:
            break
        if last is not None:
            moved, turned = z - last[0], slope - last[1]
            step = abs(moved @ turned) / (turned @ turned)
        last = z, slope
        z = z - np.clip(step * slope, -LONGEST, LONGEST)
    return np.array(path), np.array(losses)


def of_loss(
    angles: co.optimality.OptimumFunction, recorded: np.ndarray, numbers: np.ndarray
) -> tuple[float, np.ndarray]:
    """The loss [rad2], and its derivatives by the logarithms of the numbers."""
    value, pullback = angles.with_pullback(numbers)
    return float(((value - recorded) ** 2).sum()), pullback(2 * (value - recorded)) * numbers


def standard_errors(angles: co.optimality.OptimumFunction, recorded: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Of the numbers, from the noise and differences of the loss' gradient."""
    step = 1e-3
    sides = [[of_loss(angles, recorded, numbers * np.exp(s * e))[1] for s in (step, -step)] for e in np.eye(2)]
    second = np.array([(up - down) / (2 * step) for up, down in sides])
    return numbers * NOISE * np.sqrt(2 * np.diag(np.linalg.inv((second + second.T) / 2)))


def beside_minimum(angles: co.optimality.OptimumFunction, recorded: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Distance of the numbers from vertices of parabolas through losses, relative to the numbers."""
    distances = []
    for e in np.eye(2):
        low, here, high = (((angles(numbers * (1 + s * e)) - recorded) ** 2).sum() for s in (-0.01, 0.0, 0.01))
        distances.append(0.01 * (low - high) / (2 * (low - 2 * here + high)))
    return np.array(distances)


@styled
def draw(
    recorded: np.ndarray, motions: dict[str, np.ndarray], times: np.ndarray, path: np.ndarray,
    losses: np.ndarray, true: np.ndarray, file: str,
) -> None:  # fmt: skip
    """Recorded angles with the motions before and after; the loss and the numbers by step."""
    figure = new_figure(figsize=(11, 4.6))
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.6, 1, 1))
    fine = np.linspace(times[0], times[-1], 121)
    for k, joint in enumerate(SHOWN):
        color = PALETTE[k]
        left.plot(times, recorded[:, joint], "o", color=color, markersize=3.5, label=f"joint {joint + 1}, recorded")
        left.plot(fine, motions["before"][:, joint], ":", color=color)
        left.plot(fine, motions["after"][:, joint], "-", color=color)
    left.plot([], [], ":", color=MUTED, label="no load, w = 1")
    left.plot([], [], "-", color=MUTED, label="learned")
    dress(left, "time [s]", "angle [rad]")
    middle.semilogy(losses, color=BLUE, marker="o", markersize=3)
    middle.axhline(NOISE**2 * recorded.size, color=MUTED, linestyle="--")
    middle.annotate("noise alone", (0, NOISE**2 * recorded.size), (2, 4), textcoords="offset points", color=MUTED)
    dress(middle, "step", "sum of squared errors [rad²]")
    for k, (label, color) in enumerate((("mass of the last link [kg]", BLUE), ("weight w of speeds", VERMILLION))):
        right.plot(path[:, k], color=color, marker="o", markersize=3, label=label)
        right.axhline(true[k], color=color, linestyle="--")
    dress(right, "step", "number (dashed: true)")
    right.set_ylim(bottom=0.0)
    right.legend(frameon=False)
    legend_below(figure, [line for line in left.get_lines() if not str(line.get_label()).startswith("_")])
    figure.suptitle("Angles tell the load and the cost: descent through the optimum")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("arms.payload", __doc__, argv, quick="a coarser grid")
    solution, times = reach(8 if args.quick else 12), np.linspace(0.1, 1.1, 21)
    angles = co.optimality.optimum_function(solution, lambda now: now.q, NUMBERS, times)
    true = np.array([angles.base[0] + LOAD, WEIGHT])
    recorded = angles(true) + np.random.default_rng(0).normal(0.0, NOISE, (times.size, 7))
    path, losses = learned(angles, recorded)
    errors, beside = (of(angles, recorded, path[-1]) for of in (standard_errors, beside_minimum))
    fine = np.linspace(times[0], times[-1], 121)
    shown = co.optimality.optimum_function(solution, lambda now: now.q, NUMBERS, fine)
    draw(recorded, {"before": shown(shown.base), "after": shown(path[-1])}, times, path, losses, true, args.figure)
    numbers = {
        "load": float(path[-1, 0] - angles.base[0]),
        "load.error": float(errors[0]),
        "weight": float(path[-1, 1]),
        "weight.error": float(errors[1]),
        "steps": float(len(path)),
        "beside": float(np.abs(beside).max()),
        "loss": float(losses[-1]),
        "noise": float(NOISE**2 * recorded.size),
    }
    rows = [
        Row("load [kg]", numbers["load"], LOAD, f"standard error {errors[0]:.2g}"),
        Row("weight of speeds", numbers["weight"], WEIGHT, f"standard error {errors[1]:.2g}"),
        Row("sum of squared errors [rad2]", numbers["loss"], numbers["noise"], "of the noise"),
    ]
    print(table("Numbers learned from recorded angles", rows))
    print(f"{len(path)} steps; parabolas through losses have their vertices within {numbers['beside']:.0e}")
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
