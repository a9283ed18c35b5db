"""How much less can the knees carry in nearly the same walk?

The planar walker with 18 muscles follows a published half stride (`walking.tracking_by_muscles`), once with little
excitation, and twice with a price on the squared contact force in both knees as well: the net force less the pull of
all muscles that cross the knee. Instrumented implants of five patients carried 2.61 times the body weight at most in
level walking (Kutzner et al. 2010, J. Biomech. 43). The net force would not show what the knees are spared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, GREEN, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.walking.by_muscles import Walk, film
from colloc.studies.walking.tracking_by_muscles import as_guess, following, published, refined

PRICES = 0.0, 0.1, 0.5  # of the squared force over the weight, beside 10 of a squared excitation
ROUNDS = 6
IMPLANTS, SOURCE = 2.61, "Kutzner et al. 2010"  # body weights
KNEES = ("tibia_r", "tibia_l")
SHOWN = ("vasti", "gastroc", "hamstrings", "soleus")
COLORS = dict(zip(PRICES, (ORANGE, BLUE, GREEN), strict=True))


def knee(side: str, weight: float, now: co.problem.Instant) -> ca.SX:
    """Contact force in a knee over the body weight [N], SX, shape (3,)."""
    return now.joint_contact(side).force / weight


def weight_of(model: co.Model) -> float:
    """Weight [N]."""
    return float(sum(float(body.mass) for body in model.bodies) * np.linalg.norm(ca.DM(model.gravity).full()))


def spared(price: float) -> Walk:
    """Half a stride close to the published one, with a price on the force in the knees."""
    made = following(published())
    weight = weight_of(made.problem.model)

    def squared(now: co.problem.Instant) -> ca.SX:
        return price * sum((ca.sumsqr(knee(side, weight, now)) for side in KNEES), ca.SX(0))

    if not price:
        return made
    return made._replace(problem=replace(made.problem, minimize=made.problem.minimize + co.integral(squared, "knees")))


def whole_stride(solution: co.Solution, fn: object) -> np.ndarray:
    """The norm of a function of side and instant for the right leg over a stride, in body weights."""
    t = np.linspace(0.0, solution.duration, 201)
    halves = [np.linalg.norm(solution.evaluate(partial(fn, side), t), axis=1) for side in KNEES]  # pyright: ignore[reportArgumentType]
    return np.append(halves[0], halves[1][1:])


def measured(solution: co.Solution) -> dict[str, float]:
    """Numbers of a walk; peaks in the first and the second half of the stance."""
    weight = weight_of(solution.problem.model)
    contact = whole_stride(solution, lambda side, now: knee(side, weight, now))
    index = solution.problem.model.index
    net = whole_stride(solution, lambda side, now: now.joint_reactions.force[:, index(side)] / weight)
    terms = solution.terms
    return {
        "solved": float(solution.success),
        "error": float(solution.error.motion_error),
        "iterations": float(solution.iterations),
        "first": float(contact[:120].max()),
        "second": float(contact[120:].max()),
        "net": float(net.max()),
        "effort": terms["effort"],
        "track": terms["track"],
    }


@styled
def draw(walks: Mapping[float, tuple[Walk, co.Solution]], file: str) -> None:
    """Force in the right knee over a stride, and activations of four muscles."""
    figure = new_figure(figsize=(11.0, 4.2))
    left, right = figure.subfigures(1, 2, width_ratios=(1.2, 1.0), squeeze=False)[0]
    ax, small = left.subplots(), right.subplots(2, 2, sharex=True).ravel()
    percent = np.linspace(0.0, 100.0, 401)
    for price, (made, solution) in walks.items():
        weight, color = weight_of(solution.problem.model), COLORS[price]
        force = whole_stride(solution, lambda side, now, weight=weight: knee(side, weight, now))
        ax.plot(percent, force, color=color, label=f"price {price:g}" if price else "without a price")
        t = np.linspace(0.0, solution.duration, 201)
        activation = np.asarray(solution.at(t).activation)
        names = made.muscles.names
        for axes, muscle in zip(small, SHOWN, strict=True):
            halves = [activation[:, names.index(f"{muscle}_{side}")] for side in "rl"]
            axes.plot(percent, np.append(halves[0], halves[1][1:]), color=color)
            axes.set_title(muscle, fontsize=9)
    ax.axhline(IMPLANTS, color=MUTED, linestyle=":")
    ax.legend(fontsize=8, frameon=False)
    ax.set_ylim(bottom=0.0)
    dress(ax, "% of the stride", "force in the knee / weight")
    for k, axes in enumerate(small):
        dress(axes, "% of the stride" if k > 1 else "", "activation" if k % 2 == 0 else "")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.knee_loads", __doc__, argv, quick="one coarse grid for each, and one price")
    numbers: dict[str, float] = {}
    walks: dict[float, tuple[Walk, co.Solution]] = {}
    rows: list[Row] = []
    guess: co.transcription.Keyframes | co.Solution = as_guess(published())
    for price in PRICES[::2] if args.quick else PRICES:
        made = spared(price)
        solution, seconds = refined(made.problem, guess, 0 if args.quick else ROUNDS)[-1]
        walks[price], guess = (made, solution), solution
        result = measured(solution) | {"seconds": seconds}
        numbers |= {f"{price:g}.{key}": value for key, value in result.items()}
        rows += [
            Row(f"price {price:g}: force in the knee, first peak [weight]", result["first"], IMPLANTS, SOURCE),
            Row("  second peak", result["second"], IMPLANTS, SOURCE),
            Row("  net force, peak", result["net"]),
            Row("  effort", result["effort"]),
            Row("  distance from the published walk", result["track"]),
            Row("  seconds", result["seconds"]),
        ]
    print(table(args.question, rows))
    draw(walks, args.figure)
    return finish(args, numbers, partial(film, walks[PRICES[2]][1]))


if __name__ == "__main__":
    main()
