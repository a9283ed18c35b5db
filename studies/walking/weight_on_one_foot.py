"""How does a person walk with a weight on one foot?

The planar walker with 18 muscles, and a mass fixed to the right foot. Such a stride is no half with its mirror image:
the whole stride is one problem, which starts from half a stride without the weight, its mirror image, and all
activations (`co.solution.mirrored`). In 22 people with a weight on the right leg (2012, Gait Posture 35:66) the step of
the loaded leg takes longer than the other's. A step of a leg is the time from the heel strike of the other one to its
own.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

import colloc as co
from colloc.models.muscle_walker import SIDES, MuscleWalker
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.walking.by_muscles import Walk
from colloc.studies.walking.prosthesis import ROUNDS, intact, legs, measured, solve, stride
from colloc.studies.walking.report.by_muscles import PERCENT, first_contact

WEIGHTS = (0.0, 1.0, 2.0)  # kg
PLACE, SIZE = (0.06, 0.03, 0.0), 0.03  # m, in the frame of the foot; radius of gyration
SOURCE = "2012, Gait Posture 35:66"
COLORS = dict(zip(WEIGHTS, (FADE(0.4), BLUE, ORANGE), strict=True))


def loaded(walker: MuscleWalker, mass: float) -> MuscleWalker:
    """The walker with a mass [kg] on the right foot."""
    weight = co.Body("weight", co.fixed(co.placement(PLACE)), "calcn_r", mass, inertia=mass * SIZE**2 * np.eye(3))
    bodies = [*walker.model.bodies, *([weight] if mass else [])]
    return walker._replace(model=replace(walker.model, bodies=bodies))


def steps(made: Walk, solution: co.Solution) -> dict[str, float]:
    """Time of the step of each leg [s], and the part of the stride in which its foot is off the ground [%]."""
    both = legs(made, solution)
    strike = {side: PERCENT[first_contact(both.force[side][:, 1])] for side in SIDES}
    right = (strike["r"] - strike["l"]) % 100.0 / 100.0 * solution.duration
    swings = {f"swing.{side}": 100.0 - both.stance[side] for side in SIDES}
    return {"step.r": right, "step.l": solution.duration - right, **swings}


@styled
def draw(walks: Mapping[float, tuple[Walk, co.Solution]], file: str) -> None:
    """Upward forces on both feet, and the angles of the knees, from the left heel strike."""
    figure = new_figure(figsize=(10.0, 5.4))
    for row, side, axes in zip(("left", "right"), SIDES[::-1], figure.subplots(2, 2, sharex=True), strict=True):
        for mass, (made, solution) in walks.items():
            both = legs(made, solution)
            begin = -first_contact(both.force["l"][:, 1])
            knee = made.walker.model.joint_names.index(f"knee_angle_{side}")
            bend = -np.degrees(np.asarray(solution.at(PERCENT / 100 * solution.duration).q)[:, knee])
            for ax, values in zip(axes, (both.force[side][:, 1], bend), strict=True):
                ax.plot(PERCENT, np.roll(values, begin), color=COLORS[mass], label=f"{mass:g} kg on the right")
        axes[0].axhline(0.0, color=MUTED, linewidth=0.8)
        last = "% of the stride, from the left heel strike" if row == "right" else ""
        dress(axes[0], last, f"{row} force / weight")
        dress(axes[1], last, f"{row} knee [degrees]")
        if row == "left":
            axes[0].legend(fontsize=8, frameon=False)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.weight_on_one_foot", __doc__, argv, animation=(".html",), quick="coarse grids")
    begin, numbers, walks, rows = time.process_time(), {}, {}, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        made, half = intact()
        for mass in WEIGHTS:
            walk = stride(loaded(made.walker, mass), 2 * half.duration, spring=False)
            solution = solve(walk, half, rounds=0 if args.quick else ROUNDS)
            walks[mass], result = (walk, solution), measured(walk, solution) | steps(walk, solution)
            numbers |= {f"{mass:g}.{key}": value for key, value in result.items()}
            rows += [
                Row(f"{mass:g} kg: cost", result["cost"]),
                Row("  step of the right leg [s]", result["step.r"]),
                Row("  of the left leg", result["step.l"], source=f"shorter than that with the weight, {SOURCE}"),
                Row("  swing, right [% of the stride]", result["swing.r"]),
                Row("  swing, left", result["swing.l"]),
            ]
    numbers |= {f"{mass:g}.longer": numbers[f"{mass:g}.step.r"] - numbers[f"{mass:g}.step.l"] for mass in WEIGHTS}
    numbers["seconds"] = time.process_time() - begin
    print(table(args.question, rows))
    draw(walks, args.figure)
    last, solution = walks[WEIGHTS[-1]]
    return finish(args, numbers, lambda path, _: co.plot.view(solution, muscles=last.muscles).save(path))


if __name__ == "__main__":
    main()
