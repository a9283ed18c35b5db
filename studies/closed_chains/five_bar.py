"""Which descent method finds the motion of least torque of a closed chain, and do cut joints give the same one?

Case study B of Lee, Kim, Park, Kim and Bobrow (2005): the manipulator with a coaxial drive of figure 2, from one
printed pose to the other in 1 s, half the integral of tau' tau, until ||gradient|| is below 1e-2 (table I, figure 3);
here IPOPT too. Position, velocity and acceleration are given at both ends (section V). Nine control points a joint on a
cubic spline, as printed for case A, leave three free. Table I has BFGS finish first because an iteration of Newton's
method took as long as four of BFGS (0.99 s and 0.23 s); here it takes as long as two or three.

The paper prints no lengths and masses; those of `colloc.models.closed.five_bar` are chosen there. It mentions gravity
in case A alone, and table I is reproduced without. With gravity the printed poses are not well posed for our arm: it is
cheapest to let the forearm swing down through the straight arm, where rod and crank lie in one line and the crank
cannot say where the forearm goes. Nothing in the torque warns of that posture, so that the descents run into it and
end. An arm whose forearm keeps opposite to the crank at every angle, as if by belts, has no such posture; its optimum
costs less, with the crank beyond it. Table I with gravity is therefore shown for the same angles with the upper
arm's counted from the vertical, as may have been meant: the arm works above its shoulder, and the elbow folds on the
way, far from both singular postures of the crank (0 and 180 degrees). There loop and belts cost the same.

Two ways lead to a trajectory. (a) as above: splines of the three independent joints, the loop solved at every instant.
(b) the loop cut: all five joints and the forces of the cut are unknowns of a problem by collocation. A cubic spline
with nine points is no motion that collocation knows, so both are refined until they agree. Accelerations at the ends
are left free for this: torques may jump there, and stating them only makes splines approach an optimum that has others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np
from matplotlib.lines import Line2D

import colloc as co
from colloc.models.closed.five_bar import END, FOREARM, RAISED_END, RAISED_START, START, five_bar
from colloc.plot.figure import new_figure
from colloc.plot.iterations import draw_descents
from colloc.plot.posture import Postures, chain_pose
from colloc.plot.skeleton import Pose, Skeleton
from colloc.plot.style import BLUE, GREEN, ORANGE, VERMILLION, legend_below, styled
from colloc.studies.closed_chains.figures import Limb, draw_loop_forces, draw_snapshots, draw_torques, postures
from colloc.studies.descents.comparison import TIGHT, Comparison, Published, compare
from colloc.studies.films import film_of
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

# Table I, on a Pentium II of 392 MHz; steepest descent was stopped.
PUBLISHED = {
    "newton": Published("7", "6940"),
    "bfgs": Published("18", "4086"),
    "steepest_descent": Published("200+", "58184"),
}
WEIGHTLESS, GRAVITY = (0.0, 0.0, 0.0), (0.0, -9.81, 0.0)  # m/s2
PRINTED, RAISED = (START, END), (RAISED_START, RAISED_END)
DURATION = 1.0  # s, printed
INTERVALS = 6
SPLINES = ((5, 5), (10, 5), (20, 5), (40, 5))  # intervals and degree
MESHES = (co.Radau(5, 3), co.Radau(10, 3), co.Radau(10, 5), co.Radau(20, 5), co.HermiteSimpson(40))
LIMBS = {
    "upper arm": Limb(BLUE, ("upper_arm", "forearm")),
    "crank": Limb(VERMILLION, ("crank", "rod")),
    "rod": Limb(ORANGE, ("rod", "pin, first")),
    "forearm": Limb(GREEN, ("pin, second", "forearm", "hand")),
}
TIMES = np.linspace(0.0, DURATION, 401)

# Way (b): the loop cut, all five joints and the forces of the cut unknown.
ARM = five_bar(WEIGHTLESS)
STILL = dict.fromkeys(ARM.independent, 0.0)
problem = co.Problem(
    model=ARM.model,
    duration=DURATION,
    minimize=0.5 * co.integral(lambda now: ca.sumsqr(now.tau), name="squared torque"),
    subject_to=[
        co.initial(q=dict(zip(ARM.independent, START, strict=True)), qd=STILL),
        co.final(q=dict(zip(ARM.independent, END, strict=True)), qd=STILL),
    ],
    parts=[co.loops.CutJoints(ARM)],
)


def movement(
    rows: int = 3,
    intervals: int = INTERVALS,
    degree: int = 3,
    gravity: Sequence[float] = WEIGHTLESS,
    poses: Sequence[Sequence[float]] = PRINTED,
) -> co.descent.ChainMovement:
    """Way (a): splines of the independent joints, with position and velocity (2 rows) or acceleration too (3) given."""
    start, end = (np.vstack([pose, np.zeros((rows - 1, 3))]) for pose in poses)
    return co.descent.ChainMovement(five_bar(gravity), co.descent.SplineMotion(start, end, DURATION, intervals, degree))


def with_belts(poses: Sequence[Sequence[float]]) -> co.Problem:
    """A motion with gravity of an arm whose forearm keeps opposite to the crank at every angle."""
    model = five_bar(GRAVITY).model
    shares = np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 1, -1]])  # of all joints in the three drives

    def opposite(now: co.problem.Instant) -> ca.SX:
        """Forearm and rod as a parallelogram has them."""
        return ca.vertcat(now.q[3] - now.q[2] + np.pi, now.q[4] + now.q[2])

    first, last = ((*pose, pose[2] - np.pi, -pose[2]) for pose in poses)
    return co.Problem(
        model=model,
        duration=DURATION,
        minimize=0.5 * co.integral(lambda now: ca.sumsqr(shares @ now.tau), name="squared torque"),
        subject_to=[
            co.initial(q=first, qd=0.0, qdd=0.0),
            co.final(q=last, qd=0.0, qdd=0.0),
            co.path(opposite, equals=0.0, unit="rad"),
        ],
    )


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


def crank_angles(spline: co.descent.ChainMovement, x: np.ndarray) -> np.ndarray:
    """Angle between crank and upper arm along a motion, in degrees."""
    return np.degrees(spline.motion.states(x, TIMES)[0, :, 2])


def fall() -> tuple[str, dict[str, float]]:
    """The printed poses when the arm has weight: where the descent ends and why, in words and as numbers."""
    heavy = movement(gravity=GRAVITY)
    run = co.descent.modified_newton(heavy.objective, heavy.start(), co.descent.Stop())
    crank = float(crank_angles(heavy, run.x).max())
    # The best of the paper's splines, not of all motions.
    belts, raised = (
        co.solve(with_belts(poses), co.BSpline(INTERVALS), plan=[co.refinement.Solve(tol=1.0)])
        for poses in (PRINTED, RAISED)
    )
    beyond = float(np.degrees(belts.at(TIMES).q[:, 2].max()))
    note = (
        f"  printed poses with gravity: modified Newton ends with {run.status!s}, the crank at {crank:.1f} degrees\n"
        f"  (180: straight arm) and the cost at {run.value:.2f}; with belts in place of the loop the optimum is at "
        f"{beyond:.0f} degrees and costs {belts.cost:.2f}; that of the raised arm costs {raised.cost:.8f}"
    )
    return note, {
        "printed_with_gravity.crank": crank,
        "printed_with_gravity.cost": run.value,
        "printed_with_gravity.converged": float(run.success),
        "belts.crank": beyond,
        "belts.cost": belts.cost,
        "gravity.belts.cost": raised.cost,
    }


def in_plane(posture: Postures, times: np.ndarray) -> Skeleton:
    """The arm as a stick figure in the vertical plane that the waist carries."""

    def facing(t: np.ndarray) -> np.ndarray:
        q = posture(t).copy()
        q[:, 0] = 0.0
        return q

    return chain_pose(five_bar(), facing, {"hand": ("forearm", (FOREARM, 0, 0))})(times)


@styled
def draw(cases: Mapping[str, tuple[Comparison, co.descent.ChainMovement]], file: str) -> None:
    """Without and with gravity: the arm before and after, the path of every method, drives and loop force."""
    figure = new_figure(figsize=(17.0, 15.5))
    for half, (name, (found, spline)) in zip(figure.subfigures(1, 2, squeeze=False)[0], cases.items(), strict=True):
        half.suptitle(name, fontsize=12)
        above, middle, below = half.subfigures(3, 1, squeeze=False, height_ratios=(1.25, 1.3, 1))[:, 0]
        runs = (("initial", spline.start()), ("optimised", found.tight["newton"].x))
        shown = np.linspace(0.0, DURATION, 7)
        arms = above.subplots(1, 2, sharex=True, sharey=True)
        for ax, (title, x) in zip(arms, runs, strict=True):
            draw_snapshots(ax, in_plane(postures(spline, x), shown), LIMBS)
            ax.set_title(f"{title}: {spline.objective.first(x)[0]:.2f} N²m²s")
            ax.label_outer()
        legend_below(above, [Line2D([], [], color=limb.color, label=label) for label, limb in LIMBS.items()])
        panels = middle.subplots(2, 2, sharex="col", sharey="row")
        legend_below(middle, draw_descents(panels, list(found.runs.values())))
        before, after = (spline.sample(x, TIMES) for _, x in runs)
        torques, force = below.subfigures(1, 2, squeeze=False)[0]
        legend_below(torques, draw_torques(torques.subplots(), spline.chain, before, after))
        legend_below(force, draw_loop_forces([force.subplots()], spline.chain, before, after))
    co.plot.save_figure(figure, file, dpi=130)


def pose(spline: co.descent.ChainMovement, x: np.ndarray) -> Pose:
    """The arm as a stick figure, upright."""
    return chain_pose(five_bar(), postures(spline, x), {"hand": ("forearm", (FOREARM, 0, 0))})


def compared(spline: co.descent.ChainMovement, repeats: int) -> Comparison:
    """All methods, after one run that builds what the first would be charged for."""
    co.descent.modified_newton(spline.objective, spline.start(), co.descent.Stop())
    return compare(spline.objective, spline.start(), repeats)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("closed_chains.five_bar", __doc__, argv)
    repeats = 1 if args.quick else 5
    spline, raised = movement(), movement(gravity=GRAVITY, poses=RAISED)
    found, heavy = compared(spline, repeats), compared(raised, repeats)
    best = found.tight["newton"].x
    gap = float(spline.sample(best, TIMES).gap.max())
    ways, way_numbers = compare_ways(args.quick)
    weight, weight_numbers = fall()
    crank = crank_angles(raised, heavy.tight["newton"].x)
    numbers = found.numbers | way_numbers | weight_numbers | {"closure.error": gap}
    numbers |= {f"gravity.{name}": value for name, value in heavy.numbers.items()}
    numbers |= {"gravity.crank.lowest": float(crank.min()), "gravity.crank.highest": float(crank.max())}
    print(found.table(args.question, PUBLISHED))
    print(f"  cost of the guess: {numbers['cost.start']:.6f}; loop open by {gap:.1e} m at most\n")
    print(heavy.table("The same with gravity, the upper arm's angle counted from the vertical", PUBLISHED))
    print(
        f"  cost of the guess: {numbers['gravity.cost.start']:.6f}; crank between {crank.min():.0f} and "
        f"{crank.max():.0f} degrees"
    )
    print(f"{weight}\n")
    print(ways)
    draw(
        {"without gravity, poses as printed": (found, spline), "with gravity, arm raised": (heavy, raised)}, args.figure
    )
    return finish(args, numbers, film_of(pose(spline, best), DURATION, spline.chain.model.name, slow=3.0))


if __name__ == "__main__":
    main()
