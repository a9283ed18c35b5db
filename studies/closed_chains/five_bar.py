"""Which descent method finds the motion of least torque of a closed chain, and do cut joints give the same one?

Case study B of Lee, Kim, Park, Kim and Bobrow (2005): the manipulator with a coaxial drive of figure 2, from one
printed pose to the other in 1 s, half the integral of tau' tau, until ||gradient|| is below 1e-2 (table I, figure 3);
here IPOPT too. Position, velocity and acceleration are given at both ends (section V). Nine control points a joint on a
cubic spline, as printed for case A, leave three free. Table I has BFGS finish first because an iteration of Newton's
method took as long as four of BFGS (0.99 s and 0.23 s); here it takes as long as two or three.

The paper prints no lengths and masses; those of `models.closed.five_bar` are chosen there. It speaks of gravity in
case A alone, and so do we: with it, the optimum of our arm would let the forearm drop through the straight arm, a
posture in which the crank cannot say where the forearm goes; the descents end there, as the last line of the output
tells.

Two ways lead to a trajectory. (a) as above: splines of the three independent joints, the loop solved at every instant.
(b) the loop cut: all five joints and the forces of the cut are unknowns of a problem by collocation. A cubic spline
with nine points is no motion that collocation knows, so both are refined until they agree. Accelerations at the ends
are left free for this: torques may jump there, and stating them only makes splines approach an optimum that has others.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import colloc as co
from colloc.display import Table
from colloc.plot.animation import write_film
from colloc.plot.chains import chain_pose
from colloc.plot.iterations import draw_descents
from colloc.plot.motion import draw_poses
from colloc.plot.skeleton import Pose
from colloc.plot.style import legend_below, styled
from models.closed.five_bar import END, FOREARM, START, five_bar
from studies.closed_chains.figures import draw_loop_forces, draw_torques, postures
from studies.descents.comparison import TIGHT, Comparison, Published, compare
from studies.reporting import arguments, finish

# Table I, on a Pentium II of 392 MHz; steepest descent was stopped.
PUBLISHED = {
    "newton": Published("7", "6940"),
    "bfgs": Published("18", "4086"),
    "steepest_descent": Published("200+", "58184"),
}
WEIGHTLESS = (0.0, 0.0, 0.0)
DURATION = 1.0  # s, printed
INTERVALS = 6
SPLINES = ((5, 5), (10, 5), (20, 5), (40, 5))  # intervals and degree
MESHES = (co.Radau(5, 3), co.Radau(10, 3), co.Radau(10, 5), co.Radau(20, 5), co.HermiteSimpson(40))
TIMES = np.linspace(0.0, DURATION, 401)

# Way (b): the loop cut, all five joints and the forces of the cut unknown.
ARM = five_bar(WEIGHTLESS)
CUT = co.loops.CutJoints(ARM)
STILL = dict.fromkeys(ARM.independent, 0.0)
problem = co.Problem(
    model=ARM.model,
    duration=DURATION,
    minimize=0.5 * co.integral(lambda now: ca.sumsqr(now.tau), name="squared torque"),
    subject_to=[
        co.initial(q=dict(zip(ARM.independent, START, strict=True)), qd=STILL),
        co.final(q=dict(zip(ARM.independent, END, strict=True)), qd=STILL),
        *CUT.constraints,
    ],
    unknowns=[CUT.multipliers],
    loads=CUT.loads,
)


def movement(
    rows: int = 3, intervals: int = INTERVALS, degree: int = 3, gravity: Sequence[float] = WEIGHTLESS
) -> co.descent.ChainMovement:
    """Way (a): splines of the independent joints, with position and velocity (2 rows) or acceleration too (3) given."""
    start, end = (np.vstack([pose, np.zeros((rows - 1, 3))]) for pose in (START, END))
    return co.descent.ChainMovement(five_bar(gravity), co.descent.SplineMotion(start, end, DURATION, intervals, degree))


def compare_ways(quick: bool) -> tuple[str, dict[str, float]]:
    """Both ways on finer and finer grids, as a table and as numbers."""
    rows, numbers = [], {}
    for intervals, degree in SPLINES[: 3 if quick else None]:
        spline = movement(2, intervals, degree)
        run = co.descent.modified_newton(spline.objective, spline.start(), TIGHT)
        gap = spline.sample(run.x, TIMES).gap.max()
        rows.append(("(a)", f"splines of degree {degree}, {intervals} intervals", f"{run.value:.10f}", f"{gap:.1e}"))
        numbers |= {"way_a.cost": run.value, "way_a.gap": float(gap)}

    def line(t: float) -> np.ndarray:
        return co.loops.assemble(ARM, (1 - t / DURATION) * np.array(START) + t / DURATION * np.array(END))

    for mesh in MESHES:
        solution = co.solve(problem, mesh, guess=line)
        gap = co.loops.closure_error(ARM, solution.at(TIMES).q).max()
        rows.append(("(b)", str(mesh), f"{solution.cost:.10f}", f"{gap:.1e}"))
        if mesh == MESHES[3]:
            numbers |= {"way_b.cost": solution.cost, "way_b.gap": float(gap)}
    difference = abs(numbers["way_b.cost"] / numbers["way_a.cost"] - 1)
    note = f"  finest splines and Radau(20, degree=5) differ by {difference:.1e} of the cost"
    table = Table("Both ways, accelerations at the ends free", ("", "", "cost", "loop open by"), rows, [note])
    return table.text(), numbers | {"ways.difference": difference}


def fall() -> tuple[str, dict[str, float]]:
    """The descent when the arm has weight, in words and as numbers."""
    heavy = movement(gravity=(0.0, -9.81, 0.0))
    run = co.descent.modified_newton(heavy.objective, heavy.start(), co.descent.Stop())
    crank = float(np.degrees(heavy.motion.states(run.x, TIMES)[0, :, 2].max()))
    note = (
        f"  with gravity modified Newton ends with {run.status!s}, the crank at {crank:.1f} degrees (180: straight arm)"
    )
    return note, {"gravity.crank": crank, "gravity.converged": float(run.success)}


@styled
def draw(found: Comparison, spline: co.descent.ChainMovement, file: str) -> None:
    """The motion before and after, the path of every method to it, torques and loop force."""
    chain = spline.chain
    figure = plt.figure(figsize=(15.0, 9.0))
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.35))[0]
    parts = left.subfigures(2, 1, squeeze=False)[:, 0]
    runs = (("initial", spline.start()), ("optimised", found.tight["newton"].x))
    handles = []
    for part, (title, x) in zip(parts, runs, strict=True):
        handles = draw_poses(part, 111, pose(spline, x), TIMES, 9)
        part.suptitle(f"{title}: {spline.objective.first(x)[0]:.2f} N²m²s", fontsize=10)
    legend_below(left, handles)
    above, below = right.subfigures(2, 1, squeeze=False, height_ratios=(1.8, 1))[:, 0]
    legend_below(above, draw_descents(above.subplots(2, 2, sharex="col", sharey="row"), list(found.runs.values())))
    samples = [spline.sample(x, TIMES) for _, x in runs]
    torques, force = below.subfigures(1, 2, squeeze=False)[0]
    legend_below(torques, draw_torques(torques.subplots(), chain, *samples))
    legend_below(force, draw_loop_forces([force.subplots()], chain, *samples))
    figure.savefig(file, dpi=150)
    plt.close(figure)


def pose(spline: co.descent.ChainMovement, x: np.ndarray) -> Pose:
    """The arm as a stick figure, upright."""
    return chain_pose(five_bar(), postures(spline, x), {"hand": ("forearm", (FOREARM, 0, 0))})


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("closed_chains.five_bar", __doc__, argv, animation=(".html", ".gif"))
    spline = movement()
    co.descent.modified_newton(
        spline.objective, spline.start(), co.descent.Stop()
    )  # builds what the first run would be charged for
    found = compare(spline.objective, spline.start(), repeats=1 if args.quick else 5)
    best = found.tight["newton"].x
    gap = float(spline.sample(best, TIMES).gap.max())
    ways, way_numbers = compare_ways(args.quick)
    weight, weight_numbers = fall()
    numbers = found.numbers | way_numbers | weight_numbers | {"closure.error": gap}
    print(found.table(args.question, PUBLISHED))
    print(f"  cost of the guess: {numbers['cost.start']:.6f}; loop open by {gap:.1e} m at most\n")
    print(ways)
    print(weight)
    draw(found, spline, args.figure)
    write_film(
        pose(spline, best), TIMES, spline.chain.model.name, args.animation, fps=10 if args.quick else 30, slow=3.0
    )
    return finish(args, numbers)


if __name__ == "__main__":
    main()
