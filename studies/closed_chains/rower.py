"""How does a rower pull the oar with the least torque, and what do the two loops transmit?

Case study C of Lee, Kim, Park, Kim and Bobrow (2005): the planar rower of figure 4, five freedoms and seven actuated
joints, 40 N m clockwise at the joint of the oar, ten control points a joint on a cubic spline; half the integral of
tau' tau, where tau are the torques of least square that produce a motion (equations 64 to 73). The paper found the
same optimum by BFGS, in 38 iterations, and by modified Newton, which took longer; here by steepest descent and IPOPT as
well. Position, velocity and acceleration are given at both ends (section V), which leaves four points a joint.

Masses and inertias are table II's. Geometry and poses, which the paper does not print, are stated in
`colloc.models.closed.rower`; the duration of 1 s and the use of the stopping rule of case A, ||gradient|| below 1e-2,
are ours. Torque alone would have the arms drop between catch and finish, and the hands pass below the seat and through
the shanks. Bounds on the control points therefore keep the joints within their ranges (equation 7), and a penalty
(section II) keeps elbows, wrists and hands above the knees, and with them clear of the legs: in the optimal stroke the
trunk swings while the arms are held out, the legs drive, and the arms draw last (rowers begin with the legs). Another
optimum, 0.1 % lower and found from some random starts, differs by a flick of elbows and wrists towards the finish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.closed.rower import CATCH, FINISH, HAND, INDEPENDENT, RANGES, TRUNK, oar_load, rower
from colloc.plot.figure import new_figure
from colloc.plot.iterations import draw_descents
from colloc.plot.posture import chain_pose
from colloc.plot.skeleton import Skeleton
from colloc.plot.style import BLUE, GREEN, INK, VERMILLION, legend_below, styled
from colloc.studies.closed_chains.figures import HANDLES, Limb, draw_loop_forces, draw_strip, draw_torques, postures
from colloc.studies.descents.comparison import Comparison, Published, compare
from colloc.studies.films import film_of
from colloc.studies.reporting import arguments, finish

PUBLISHED = {"bfgs": Published("38", "54430")}  # on a Pentium II of 392 MHz
DURATION = 1.0  # s
INTERVALS = 7  # ten control points a joint
TIMES = np.linspace(0.0, DURATION, 401)
CLEAR, STIFF = 0.1, 1e7  # m above the knees, and N2 m2 per m3 for what is closer: 3 a second for 1 cm
HEAD = 0.2  # m, above the shoulders: for drawing only
SNAPSHOTS, SPACING = 6, 1.7  # m
LIMBS = {
    "legs": Limb(BLUE, ("ankle", "knee", "hip"), 0, (24, 10)),
    "trunk": Limb(INK, ("hip", "waist", "shoulder", "head"), 2, (-26, 4)),
    "arms": Limb(VERMILLION, ("shoulder", "elbow", "wrist", "hand"), 1, (4, 12)),
    "oar": Limb(GREEN, ("oar", "hand"), 0, (12, 22)),
}
GROUPS = {"legs": ("ankle", "knee", "hip"), "trunk": ("waist",), "arms": ("shoulder", "elbow", "wrist")}


def above_knees(now: co.problem.Instant) -> ca.SX:
    """Heights of elbow, wrist and hand above the knee [m]."""
    points = (now.point("elbow"), now.point("wrist"), now.point("wrist", (HAND, 0, 0)))
    return ca.vertcat(*(point.position[1] - now.point("knee").position[1] for point in points))


def rowing() -> co.descent.ChainMovement:
    """The drive from catch to finish, at rest at both ends."""
    start, end = (np.array([pose, np.zeros(5), np.zeros(5)]) for pose in (CATCH, FINISH))
    lower, upper = zip(*(RANGES[joint] for joint in INDEPENDENT), strict=True)
    spline = co.descent.SplineMotion(start, end, DURATION, INTERVALS, lower=lower, upper=upper)
    soft = co.penalty(above_knees, lower=CLEAR, weight=STIFF)
    return co.descent.ChainMovement(rower(), spline, [oar_load()], soft=soft)


def pose(movement: co.descent.ChainMovement, x: np.ndarray) -> Callable[[np.ndarray], Skeleton]:
    """The rower as a stick figure, with head and hands."""
    points = {"head": ("waist", (TRUNK.length + HEAD, 0, 0)), "hand": ("wrist", (HAND, 0, 0))}
    return chain_pose(movement.chain, postures(movement, x), points)


def clearances(movement: co.descent.ChainMovement, x: np.ndarray) -> dict[str, float]:
    """Least distances along a motion [m], and the least angle that is left of the ranges of the joints [rad]."""
    shown = pose(movement, x)(TIMES)
    names = [body.name for body in shown.model.bodies]
    at = {name: shown.root[:, k, :2] for k, name in enumerate(names)}
    shank, thigh = (at["ankle"], at["knee"]), (at["knee"], at["hip"])
    forearm, hand, oar = (at["elbow"], at["wrist"]), (at["wrist"], at["hand"]), (at["oar"], at["hand"])
    q = movement.sample(x, TIMES).q
    left = [
        np.minimum(q[:, k] - RANGES[name][0], RANGES[name][1] - q[:, k]).min()
        for k, name in enumerate(movement.chain.model.joint_names)
        if name in RANGES
    ]
    return {
        "clearance.arms_legs": min(distance(limb, leg) for limb in (forearm, hand) for leg in (shank, thigh)),
        "clearance.oar_legs": min(distance(oar, leg) for leg in (shank, thigh)),
        "clearance.hands_above_knees": float((at["hand"] - at["knee"])[:, 1].min()),
        "clearance.ranges": float(min(left)),
    }


def distance(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> float:
    """Least distance [m] between two line segments whose ends, each shape (N, 2), move; 0 where they cross."""
    along = np.linspace(0, 1, 101)[:, None, None]
    points, (root, tip) = one[0] + along * (one[1] - one[0]), other
    ahead = tip - root
    share = np.clip(((points - root) * ahead).sum(axis=2) / (ahead**2).sum(axis=1), 0, 1)
    return float(np.linalg.norm(points - root - share[..., None] * ahead, axis=2).min())


def halfway(movement: co.descent.ChainMovement, x: np.ndarray) -> dict[str, float]:
    """Times [s] at which knees, trunk and elbows have done half of their turning."""
    q = movement.sample(x, TIMES).q
    knee, trunk, elbow = q[:, 1], q[:, :4].sum(axis=1), q[:, 5]
    turned = {"legs": knee, "trunk": trunk, "arms": elbow}
    return {
        f"halfway.{name}": float(TIMES[np.argmax(np.abs(angle - angle[0]) >= np.abs(angle[-1] - angle[0]) / 2)])
        for name, angle in turned.items()
    }


@styled
def draw(movement: co.descent.ChainMovement, found: Comparison, file: str) -> None:
    """Snapshots before and after as in figure 5, the path of every method, torques and loop forces."""
    figure = new_figure(figsize=(15.0, 15.0))
    strips, curves, forces = figure.subfigures(3, 1, squeeze=False, height_ratios=(1.15, 1.1, 0.85))[:, 0]
    runs = (("initial", movement.start()), ("optimised", found.tight["newton"].x))
    shown = np.linspace(0.0, DURATION, SNAPSHOTS)
    for ax, (title, x) in zip(strips.subplots(2, 1), runs, strict=True):
        draw_strip(ax, pose(movement, x)(shown), LIMBS, SPACING)
        ax.set_title(f"{title}: {movement.objective.first(x)[0]:.0f} N²m²s", loc="left")
    legend_below(curves, draw_descents(curves.subplots(2, 2, sharex="col", sharey="row"), list(found.runs.values())))
    before, after = (movement.sample(x, TIMES) for _, x in runs)
    torques, loops = forces.subfigures(1, 2, squeeze=False, width_ratios=(1.5, 1))[0]
    for ax, (title, joints) in zip(torques.subplots(1, 3, sharey=True), GROUPS.items(), strict=True):
        names = draw_torques(ax, movement.chain, before, after, joints)[: len(joints)]
        ax.legend(handles=names, frameon=False, loc="upper right")
        ax.set_title(f"torques of the {title}", loc="left")
        ax.label_outer()
    legend_below(torques, HANDLES)
    legend_below(loops, draw_loop_forces(loops.subplots(1, 2), movement.chain, before, after))
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("closed_chains.rower", __doc__, argv)
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
    optimum = found.tight["newton"].x
    numbers |= clearances(movement, optimum) | halfway(movement, optimum)
    torques = co.descent.ChainMovement(movement.chain, movement.motion, movement.loads)  # without the penalty
    numbers["cost.torque"] = torques.objective.first(optimum)[0]
    print(found.table(args.question, PUBLISHED))
    print(
        f"  the interpolated start costs {numbers['cost.start']:.3f}, {numbers['factor']:.3f} times the optimum, "
        f"of which {numbers['cost.torque']:.3f} is torque\n"
        f"  loops open by {numbers['closure.error']:.1e} m at most; largest loop forces: "
        f"seat {numbers['force.seat']:.0f} N, grip {numbers['force.grip']:.0f} N and {numbers['moment.grip']:.0f} N m\n"
        f"  arms {numbers['clearance.arms_legs']:.3f} m from the legs or more, oar "
        f"{numbers['clearance.oar_legs']:.3f} m, hands {numbers['clearance.hands_above_knees']:.3f} m above the knees\n"
        f"  half of their turning have done legs at {numbers['halfway.legs']:.2f} s, trunk at "
        f"{numbers['halfway.trunk']:.2f} s, arms at {numbers['halfway.arms']:.2f} s"
    )
    draw(movement, found, args.figure)
    film = film_of(pose(movement, optimum), DURATION, movement.chain.model.name, slow=3.0)
    return finish(args, numbers, film)


if __name__ == "__main__":
    main()
