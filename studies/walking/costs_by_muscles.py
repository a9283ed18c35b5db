"""What do effort, fatigue and metabolic rate each predict of how a planar human with 18 muscles walks?

The walker of `by_muscles` at 1.2 m/s: half a stride, no contact stated and no motion followed. Minimised per distance
are the sum of squared excitations (effort), of cubed ones (fatigue, as in Ackermann and van den Bogert 2010, J.
Biomech. 43), or the metabolic rate of the muscles (Bhargava et al. 2004, J. Biomech. 37) beside a little of the first,
without which excitations that cost no energy would be anything. All set out from the first walk of `by_muscles`, and
end on grids that are halved where that is needed; knees may bend further than there.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, GREEN, ORANGE, dress, styled
from colloc.studies.reporting import arguments, finish
from colloc.studies.walking.by_muscles import (
    INTERVALS,
    LIMITS,
    PATIENT,
    SPEED,
    STEP,
    Walk,
    film,
    halved,
    measures,
    stride,
    strip,
    swinging,
    walk,
)
from colloc.studies.walking.report.by_muscles import (
    PERCENT,
    distances,
    draw_curves,
    from_strike,
    half_times,
    leg_curves,
    simulated,
)
from colloc.support.display import Table

ROUNDS = 6
KNEES = dict.fromkeys(("knee_angle_r", "knee_angle_l"), (-1.9, 0.0))  # rad
REST = 0.1  # of the effort, beside the metabolic rate
CORNERS = 1.0  # 1/W, sharpness of the corners of the metabolic rate
Criterion = Callable[[co.muscles.Muscles, co.problem.Instant], ca.SX]


def effort(muscles: co.muscles.Muscles, now: co.problem.Instant) -> ca.SX:
    """Squared excitations, and what the motor of the trunk does."""
    return ca.sumsqr(now.excitation) + ca.sumsqr(now.reserve)


def fatigue(muscles: co.muscles.Muscles, now: co.problem.Instant) -> ca.SX:
    """Cubed excitations."""
    return ca.sum1(now.excitation**3) + ca.sumsqr(now.reserve)


def energy(muscles: co.muscles.Muscles, now: co.problem.Instant) -> ca.SX:
    """Metabolic rate of the muscles [W/kg] and a little effort."""
    mass = co.dynamics.total_mass(muscles.model)
    return ca.sum1(muscles.metabolic_rate(now, sharpness=CORNERS).total) / mass + REST * effort(muscles, now)


CRITERIA: dict[str, Criterion] = {"effort": effort, "fatigue": fatigue, "energy": energy}
COLOURS = dict(zip(CRITERIA, (BLUE, ORANGE, GREEN), strict=True))
OPTIONS: dict[str, Any] = {
    "solver": PATIENT, "progress": False, "plan": [co.refinement.Solve(judge_cost=False)]
}  # fmt: skip


def first_walk() -> co.Solution:
    """The first walk of `by_muscles`, on a coarse grid."""
    made = walk()
    return co.solve(made.problem, co.Radau(INTERVALS), guess=swinging(made.walker, SPEED, STEP), **OPTIONS)


def cheapest(criterion: Criterion, guess: co.Solution, rounds: int) -> tuple[Walk, co.Solution, int]:
    """The walk of a criterion, from another one, on grids halved where that is needed; and its iterations."""
    made = walk(criterion=criterion, limits=LIMITS | KNEES)
    solution = co.solve(made.problem, co.Radau(INTERVALS), guess=guess, **OPTIONS)
    iterations = solution.iterations
    for _ in range(rounds):
        if solution.success:
            break
        solution = co.solve(made.problem, halved(solution), guess=solution, **OPTIONS)
        iterations += solution.iterations
    return made, solution, iterations


def over_distance(criterion: Criterion, made: Walk, solution: co.Solution) -> float:
    """A criterion of any walk, for its distance."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    values = solution.evaluate(lambda now: criterion(made.muscles, now), solution.duration * (nodes + 1) / 2)
    return float(weights @ values / 2 / SPEED)


@styled
def draw(walks: dict[str, tuple[Walk, co.Solution]], file: str) -> None:
    """Each walker side by side, angles and forces of a leg beside measured ones, and its activations."""
    figure = new_figure(figsize=(11.0, 13.0))
    strips, curves, muscles = figure.subfigures(3, 1, height_ratios=(2.0, 0.8, 1.5), squeeze=False)[:, 0]
    for ax, (name, (made, solution)) in zip(strips.subplots(len(walks), 1), walks.items(), strict=True):
        strip(ax, made, solution)
        ax.set_title(name, fontsize=9)
    names = next(iter(walks.values()))[0].muscles.names[:9]
    legs = {name: leg(*walk) for name, walk in walks.items()}
    axes = curves.subplots(1, 5)
    draw_curves(axes, [(COLOURS[name], name, found) for name, (found, _) in legs.items()])
    axes[0].legend(fontsize=8, frameon=False)
    rows = muscles.subplots(2, 5, sharex=True, sharey=True).ravel()
    rows[-1].set_visible(False)
    for name, (_, activations) in legs.items():
        for ax, activation in zip(rows, activations, strict=False):
            ax.plot(PERCENT, activation, color=COLOURS[name], linewidth=1.2)
    for k, (ax, muscle) in enumerate(zip(rows, names, strict=False)):
        ax.set_title(muscle.removesuffix("_r").replace("_", " "), fontsize=9)
        dress(ax, "% of the stride, from heel strike" if k == 7 else "", "activation" if k % 5 == 0 else "")
    co.plot.save_figure(figure, file)


def leg(made: Walk, solution: co.Solution) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Curves of a leg from heel strike on, and the activations of its nine muscles."""
    whole = from_strike(stride(made, solution, half_times(solution.duration)))
    return leg_curves(whole, made.walker.model.joint_names, knee=-1.0), whole["activation"].T[:9]


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.costs_by_muscles", __doc__, argv, quick="coarse grids")
    numbers: dict[str, float] = {}
    walks: dict[str, tuple[Walk, co.Solution]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        guess = first_walk()
        for name, criterion in CRITERIA.items():
            begin = time.process_time()
            made, solution, iterations = cheapest(criterion, guess, 0 if args.quick else ROUNDS)
            walks[name] = made, solution
            found = measures(made, solution, SPEED) | {"solved": float(solution.success)}
            found |= {"error": float(solution.error.motion_error), "iterations": float(iterations)}
            found |= {"unknowns": float(solution.x.size), "processor_seconds": time.process_time() - begin}
            found |= {f"of.{other}": over_distance(fn, made, solution) for other, fn in CRITERIA.items()}
            found |= distances(leg(made, solution)[0]) | simulated(solution)
            numbers |= {f"{name}.{key}": value for key, value in found.items()}
    print(report(args.question, numbers))
    draw(walks, args.figure)
    return finish(args, numbers, partial(film, walks["energy"][1]))


def report(question: str, numbers: dict[str, float]) -> str:
    """Predictions of each cost, and their values by the other costs."""
    said = {
        "strides_per_second": "strides a second [Hz]",
        "stance": "stance [% of the stride]",
        "peak_force": "greatest force of the ground [weight]",
        "braking": "braking [weight]",
        "propulsion": "propulsion [weight]",
        "knee_flexion": "knee flexion [degrees]",
        "cost_of_transport": "cost of transport [J/kg/m]",
        "rms.hip": "hip, from Winter's mean [degrees]",
        "rms.knee": "knee, from Winter's mean [degrees]",
        "rms.ankle": "ankle, from Winter's mean [degrees]",
        **{f"of.{name}": f"{name} over the distance" for name in CRITERIA},
        "iterations": "iterations",
        "unknowns": "unknowns",
        "error": "error between the nodes",
        "simulated": "off by simulation, an interval",
    }
    rows = [(label, *(f"{numbers[f'{name}.{key}']:.3g}" for name in CRITERIA)) for key, label in said.items()]
    return Table(question, ("", *CRITERIA), rows).text()


if __name__ == "__main__":
    main()
