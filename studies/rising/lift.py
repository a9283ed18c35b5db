"""How does one lift a box when the lowest disc of the spine may carry no more than 3400 N?

Both legs and both arms as one, a pelvis and a trunk in the sagittal plane, at rest with the hands on a box of 15 kg
before the feet, and at rest with the box on a table 1.2 s later, with the least of squared torques over strengths,
squared activations, and a little of squared accelerations. Motors move all joints except the disc between pelvis and
trunk, which an erector spinae and abdominals cross. The centre of pressure stays under the foot. The force in the disc
is the net force less the pull of both muscles. The National Institute for Occupational Safety and Health takes 3400 N
of compression as the limit (Waters et al. 1993, Ergonomics 36). A limit on the net force would never act.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table

MASS, STATURE = 80.0, 1.78  # kg, m
BOX, LIMIT = 15.0, 3400.0  # kg, N
DURATION, SOLE = 1.2, 0.07  # s, m below the ankle
FOOT = (-0.05, 0.18)  # m, from the ankle back to the heel and forward to the toes
FLOOR, TABLE, KNEES = (0.40, 0.30), (0.40, 1.07), 0.25  # m, of the box, before the ankle and above the ground
MOTORS = {"ankle": 300.0, "knee": 500.0, "hip": 600.0, "shoulder": 160.0, "elbow": 160.0}  # N m, both sides
RANGES = {
    "ankle": (-0.9, 0.5),
    "knee": (-0.1, 2.7),
    "hip": (-2.4, 0.5),
    "lumbar": (-0.9, 0.3),
    "shoulder": (-0.5, 3.0),
    "elbow": (0.0, 2.4),
}  # rad
# By segment: joint, part of the mass, length and distance of the centre of mass over the length, radius of gyration
# (Winter 2009, table 4.1, the trunk divided at a fifth from the hip; arms hang down).
SEGMENTS = {
    "shank": ("ankle", 0.093, 0.246, 0.567, 0.302),
    "thigh": ("knee", 0.200, 0.245, 0.567, 0.323),
    "pelvis": ("hip", 0.142, 0.0576, 0.5, 0.5),
    "trunk": ("lumbar", 0.436, 0.2304, 0.7, 0.5),
    "upper arm": ("shoulder", 0.056, -0.186, 0.436, 0.322),
    "forearm": ("elbow", 0.044, -0.146, 0.682, 0.468),
}
START, END = (-0.5, 1.6, -1.8, -0.3, 1.2, 0.3), (0.0, 0.1, -0.1, 0.0, 0.6, 0.8)  # rad, of the guess
SMOOTH = 1e-4  # s4: weight of squared accelerations of angles
STEP = 20.0  # N, of the difference between limits
COLORS = {"free": ORANGE, "limited": BLUE}


class Lift(NamedTuple):
    """A problem and the muscles that cross the disc."""

    muscles: co.muscles.Muscles
    problem: co.Problem


def person() -> co.Model:
    """Six segments from the ankle up and down to the hands, which hold the box; angles are zero upright."""
    bodies: list[co.Body] = []
    parent, place = None, 0.0
    for name, (joint, part, length, center, gyration) in SEGMENTS.items():
        mass, long = part * MASS, length * STATURE
        turns = co.revolute(placement=co.placement((0.0, place, 0.0)), limits=co.Limits(RANGES[joint]), name=joint)
        across = mass * (gyration * long) ** 2
        inertia = np.diag([across, 0.01, across])
        bodies.append(co.Body(name, turns, parent, mass=mass, com=(0.0, center * long, 0.0), inertia=inertia))
        parent, place = name, long
    held = co.fixed(co.placement((0.0, place, 0.0)))
    bodies.append(co.Body("box", held, "forearm", mass=BOX, inertia=(0.3, 0.3, 0.3)))
    return co.Model(bodies, gravity=(0.0, -9.81, 0.0), name="person with a box")


def spine(model: co.Model) -> co.muscles.Muscles:
    """Erector spinae 6 to 7 cm behind the disc, abdominals 8 to 9 cm before it."""
    disc, point = SEGMENTS["pelvis"][2] * STATURE, co.muscles.ViaPoint
    back = [point("pelvis", (-0.07, disc - 0.10, 0)), point("trunk", (-0.06, 0, 0)), point("trunk", (-0.06, 0.25, 0))]
    front = [point("pelvis", (0.08, disc - 0.12, 0)), point("trunk", (0.09, 0.22, 0))]
    erector = co.muscles.Muscle("erector", co.muscles.MusclePath(back), 7000.0, 0.14, 0.24)
    abdominals = co.muscles.Muscle("abdominals", co.muscles.MusclePath(front), 1500.0, 0.20, 0.15)
    return co.muscles.Muscles(model, [erector, abdominals], activation="instantaneous")


def center_of_pressure(now: co.problem.Instant) -> ca.SX:
    """Where the ground's force meets the sole, before the ankle [m]; the foot's own weight left out."""
    force, moment = now.support.force, now.support.moment
    return (moment[2] - SOLE * force[0]) / force[1]


def compression(now: co.problem.Instant) -> ca.SX:
    """Force in the disc along the trunk [N]."""
    return now.joint_contact("trunk").force[1]


def box(now: co.problem.Instant) -> ca.SX:
    """Place of the box, before the ankle and above the ground [m]."""
    return now.point("box").position[:2] + ca.SX([0.0, SOLE])


def lift(limit: float | None) -> Lift:
    """From the floor to the table, with a limit on the compression of the disc [N] or without."""
    model = person()
    muscles, strengths = spine(model), np.array(list(MOTORS.values()))

    def effort(now: co.problem.Instant) -> ca.SX:
        return ca.sumsqr(now.motor / strengths) + ca.sumsqr(now.activation) + SMOOTH * ca.sumsqr(now.qdd)

    rows = [
        co.initial(qd=0.0),
        co.final(qd=0.0),
        co.at(0.0, box, equals=FLOOR, unit="m", name="on the floor"),
        co.at(1.0, box, equals=TABLE, unit="m", name="on the table"),
        co.path(lambda now: box(now)[0], lower=KNEES, unit="m", name="before the knees"),
        co.path(center_of_pressure, lower=FOOT[0], upper=FOOT[1], scale=FOOT[1], unit="m", name="pressure"),
    ]
    if limit is not None:
        rows.append(co.path(compression, upper=limit, scale=LIMIT, unit="N", name="compression"))
    parts = [muscles, co.Motors(MOTORS), co.muscles.JointContact("trunk")]
    return Lift(muscles, co.Problem(model, DURATION, co.integral(effort), rows, parts=parts))


def solve(limit: float | None) -> tuple[Lift, co.Solution]:
    """The lift with a limit on the compression, refined."""
    made = lift(limit)
    return made, co.solve(made.problem, co.Radau(12), guess=co.line(START, END), tol=1e-2, progress=False)


def measured(made: Lift, solution: co.Solution) -> dict[str, float]:
    """Numbers of a lift."""
    t = np.linspace(0.0, DURATION, 601)
    net = solution.reactions(t).force[:, made.problem.model.index("trunk")]
    force = np.asarray(solution.signals.at(t, "tendon_force")["tendon_force"])
    return {
        "solved": float(solution.success),
        "cost": solution.cost,
        "iterations": float(solution.iterations),
        "error": float(solution.error),
        "compression": float(solution.evaluate(compression, t).max()),
        "net": float(np.linalg.norm(net, axis=1).max()),
        "erector": float(force[:, 0].max()),
        "knee": float(np.rad2deg(np.asarray(solution.at(t).q)[:, 1].max())),
    }


def derivative() -> dict[str, float]:
    """Derivative of the cost with respect to the limit [1/N], of the optimum and between two others."""
    ahead, behind = (solve(LIMIT + step)[1].cost for step in (STEP, -STEP))
    slope = co.optimality.sensitivity(solve(LIMIT)[1])["compression upper"].cost
    return {"slope": float(np.sum(slope)), "difference": (ahead - behind) / (2 * STEP)}


@styled
def draw(lifts: Mapping[str, tuple[Lift, co.Solution]], file: str) -> None:
    """The person at seven times, with the limit, and over time the forces in the disc with the net force."""
    figure = new_figure(figsize=(11.0, 4.2))
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.6))
    made, solution = lifts["limited"]
    names = [*SEGMENTS, "box"]
    for t in np.linspace(0.0, DURATION, 7):
        points = [solution.evaluate(lambda now, name=name: now.point(name).position, float(t)) for name in names]
        x, y, _ = np.transpose(points)
        left.plot(x, y + SOLE, color=FADE(0.2 + 0.8 * t / DURATION), linewidth=2.0, marker="o", markersize=3)
        left.plot(x[-1], y[-1] + SOLE, color=FADE(0.2 + 0.8 * t / DURATION), marker="s", markersize=10)
    left.plot((0.0, *FOOT, 0.0), (SOLE, 0.0, 0.0, SOLE), color=MUTED, linewidth=2.0)
    left.set_aspect("equal")
    dress(left, "forward [m]", "up [m]")
    t = np.linspace(0.0, DURATION, 400)
    for name, (_, motion) in lifts.items():
        label = "no limit" if name == "free" else f"at most {LIMIT:.0f} N"
        right.plot(t, motion.evaluate(compression, t), color=COLORS[name], label=label)
        net = motion.reactions(t).force[:, made.problem.model.index("trunk")]
        right.plot(t, np.linalg.norm(net, axis=1), color=COLORS[name], linestyle="--", label="  net force")
    right.axhline(LIMIT, color=MUTED, linestyle=":")
    right.set_ylim(bottom=0.0)
    right.legend(fontsize=8, frameon=False)
    dress(right, "time [s]", "compression of the disc [N]")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("rising.lift", __doc__, argv, animation=(".html",), quick="no derivative by the limit")
    numbers: dict[str, float] = {}
    lifts, rows = {}, []
    for name, limit in (("free", None), ("limited", LIMIT)):
        begin = time.process_time()
        lifts[name] = solve(limit)
        result = measured(*lifts[name]) | {"seconds": time.process_time() - begin}
        numbers |= {f"{name}.{key}": value for key, value in result.items()}
        rows += [
            Row("without a limit" if limit is None else f"with a limit of {limit:.0f} N", result["cost"]),
            Row("  compression, peak [N]", result["compression"], LIMIT, "limit, Waters et al. 1993"),
            Row("  net force, peak [N]", result["net"]),
            Row("  erector spinae, peak [N]", result["erector"]),
            Row("  knees bend by [degrees]", result["knee"]),
            Row("  seconds", result["seconds"]),
        ]
    if not args.quick:
        numbers |= derivative()
        rows.append(Row("cost by the limit [1/N]", numbers["slope"], numbers["difference"], "difference of two optima"))
    print(table(args.question, rows))
    draw(lifts, args.figure)
    return finish(args, numbers, lambda path, _: co.plot.view(lifts["limited"][1]).save(path))


if __name__ == "__main__":
    main()
