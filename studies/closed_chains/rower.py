"""How does a rower pull the oar with the least torque, and what do the two loops transmit?

Case study C of Lee, Kim, Park, Kim and Bobrow (2005): the planar rower of figure 4, five freedoms and seven actuated
joints, 40 N m clockwise at the joint of the oar, ten control points a joint on a cubic spline; half the integral of
tau' tau, where tau are the torques of least square that produce a motion (equations 64 to 73). The paper found the
same optimum by BFGS, in 38 iterations, and by modified Newton, which took longer; here by steepest descent and IPOPT as
well. Position, velocity and acceleration are given at both ends (section V), which leaves four points a joint.

Masses and inertias are table II's. Geometry and poses, which the paper does not print, are stated in
`models.closed.rower`; the duration of 1 s and the use of the stopping rule of case A, ||gradient|| below 1e-2, are
ours. Nothing keeps hands and knees apart: our optimum lets the arms drop between catch and finish and pulls the handle
low.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

import colloc as co
from colloc.plot.animation import write_film
from colloc.plot.chains import chain_pose
from colloc.plot.iterations import draw_descents
from colloc.plot.skeleton import Pose
from colloc.plot.style import legend_below, styled
from models.closed.rower import CATCH, FINISH, TRUNK, oar_load, rower
from studies.closed_chains.figures import draw_loop_forces, draw_strip, draw_torques, postures
from studies.descents.comparison import Comparison, Published, compare
from studies.reporting import arguments, finish

PUBLISHED = {"bfgs": Published("38", "54430")}  # on a Pentium II of 392 MHz
DURATION = 1.0  # s
INTERVALS = 7  # ten control points a joint
TIMES = np.linspace(0.0, DURATION, 401)
HEAD, OAR = 0.2, 1.1  # m, above the shoulders, and from the pivot: for drawing only
SNAPSHOTS, SPACING = 6, 1.9  # m


def rowing() -> co.descent.ChainMovement:
    """The drive from catch to finish, at rest at both ends."""
    start, end = (np.array([pose, np.zeros(5), np.zeros(5)]) for pose in (CATCH, FINISH))
    return co.descent.ChainMovement(rower(), co.descent.SplineMotion(start, end, DURATION, INTERVALS), [oar_load()])


def pose(movement: co.descent.ChainMovement, x: np.ndarray) -> Pose:
    """The rower as a stick figure, with head and oar."""
    points = {"head": ("waist", (TRUNK.length + HEAD, 0, 0)), "handle": ("oar", (OAR, 0, 0))}
    return chain_pose(movement.chain, postures(movement, x), points)


@styled
def draw(movement: co.descent.ChainMovement, found: Comparison, file: str) -> None:
    """Snapshots before and after as in figure 5, the path of every method, torques and loop forces."""
    figure = plt.figure(figsize=(15.0, 13.0))
    strips, curves = figure.subfigures(2, 1, squeeze=False, height_ratios=(1, 1.4))[:, 0]
    runs = (("initial", movement.start()), ("optimised", found.tight["newton"].x))
    shown = np.linspace(0.0, DURATION, SNAPSHOTS)
    for part, (title, x) in zip(strips.subfigures(2, 1, squeeze=False)[:, 0], runs, strict=True):
        ax = draw_strip(part, pose(movement, x)(shown), SPACING)
        ax.set_title(f"{title}: {movement.objective.first(x)[0]:.0f} N²m²s", loc="left")
    above, below = curves.subfigures(2, 1, squeeze=False, height_ratios=(1.6, 1))[:, 0]
    legend_below(above, draw_descents(above.subplots(2, 2, sharex="col", sharey="row"), list(found.runs.values())))
    samples = [movement.sample(x, TIMES) for _, x in runs]
    left, right = below.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.6))[0]
    legend_below(left, draw_torques(left.subplots(), movement.chain, *samples))
    legend_below(right, draw_loop_forces(right.subplots(1, 2), movement.chain, *samples))
    figure.savefig(file, dpi=150)
    plt.close(figure)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("closed_chains.rower", __doc__, argv, animation=(".html", ".gif"))
    movement = rowing()
    co.descent.modified_newton(
        movement.objective, movement.start(), co.descent.Stop()
    )  # builds what the first run would be charged for
    found = compare(movement.objective, movement.start(), repeats=1 if args.quick else 5)
    best = movement.sample(found.tight["newton"].x, TIMES)
    numbers = found.numbers | {
        "closure.error": float(best.gap.max()),
        "force.seat": float(np.linalg.norm(best.force[:, 0], axis=1).max()),
        "force.grip": float(np.linalg.norm(best.force[:, 1], axis=1).max()),
        "moment.grip": float(np.linalg.norm(best.moment[:, 1], axis=1).max()),
        "factor": found.runs["newton"].history.value[0] / found.tight["newton"].value,
    }
    print(found.table(args.question, PUBLISHED))
    print(
        f"  the interpolated start costs {numbers['cost.start']:.3f}, {numbers['factor']:.3f} times the optimum\n"
        f"  loops open by {numbers['closure.error']:.1e} m at most; largest loop forces: "
        f"seat {numbers['force.seat']:.0f} N, grip {numbers['force.grip']:.0f} N and {numbers['moment.grip']:.0f} N m"
    )
    draw(movement, found, args.figure)
    film = pose(movement, found.tight["newton"].x)
    write_film(film, TIMES, movement.chain.model.name, args.animation, fps=10 if args.quick else 30, slow=3.0)
    return finish(args, numbers)


if __name__ == "__main__":
    main()
