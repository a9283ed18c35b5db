"""How do people stand up from a squat: by motors, by muscles on stiff tendons, and by muscles on tendons that give?

The human of OpenSim Moco's first example (Dembia et al. 2020), from a squat at rest to upright at rest in one second,
with the least of squared signals: torques of motors over what they have, or excitations of nine muscles beside motors
of 2 N m. The foot stays on the ground as if it were screwed to it; *free* are the same muscles where it stands there
freely, and so carries the body between heel and toes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.squat_to_stand import squat_to_stand
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, GREEN, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table

SQUAT, DURATION = (-0.5, -2.0, -2.0), 1.0  # rad, of ankle, knee and hip; s
MOTORS, RESERVE = (150.0, 300.0, 150.0), 2.0  # N m
FOOT = (-0.05, 0.18)  # m, from the ankle back to the heel and forward to the toes
SOLE = 0.07  # m, below the ankle: 0.039 of a stature of 1.75 m (Winter 2009, table 4.1)
LEAST = 0.01  # of activation and excitation
TOLERANCE = 1e-2
BODY = [("shank", (0.0, 0.0, 0.0)), ("thigh", (0.0, 0.0, 0.0)), ("pelvis", (0.0, 0.0, 0.0)), ("trunk", (0.0, 0.6, 0.0))]
WAYS = {"motors": "motors", "rigid": "stiff tendons", "compliant": "tendons that give", "free": "a free foot"}
COLORS = {"motors": MUTED, "rigid": BLUE, "compliant": ORANGE, "free": GREEN}


class Rise(NamedTuple):
    """A problem with the muscles that drive it, None with motors."""

    muscles: co.muscles.Muscles | None
    problem: co.Problem


def center_of_pressure(now: co.problem.Instant) -> ca.SX:
    """Where the ground's force meets the sole, before the ankle [m]; the foot's own weight left out."""
    force, moment = now.support.force, now.support.moment  # about the ankle
    return (moment[2] - SOLE * force[0]) / force[1]


def rise(way: str) -> Rise:
    """From a squat to upright, by one of `WAYS`."""
    model, strands = squat_to_stand()
    ends = co.final(q=0.0, qd=0.0)
    if way == "motors":
        effort = co.integral(lambda now: ca.sumsqr(now.tau / np.array(MOTORS)))
        motors = co.bounds(tau=(-np.array(MOTORS), np.array(MOTORS)))
        return Rise(None, co.Problem(model, DURATION, effort, [co.initial(q=SQUAT, qd=0.0), ends, motors]))
    muscles = co.muscles.Muscles(
        model,
        strands,
        tendons="compliant" if way == "compliant" else "rigid",
        activation="explicit",
        sharpness=0.1,
        lower=LEAST,
        reserves=dict.fromkeys(model.joint_names, RESERVE),
    )
    conditions = [co.initial(q=SQUAT, qd=0.0, states={"activation": LEAST}), ends]
    if way == "compliant":
        conditions.append(muscles.steady())
    if way == "free":
        conditions.append(co.path(center_of_pressure, lower=FOOT[0], upper=FOOT[1], scale=FOOT[1]))
        conditions.append(co.path(lambda now: now.support.force[1], lower=0.0, scale=500.0))
    effort = co.integral(lambda now: ca.sumsqr(now.excitation) + ca.sumsqr(now.reserve))
    return Rise(muscles, co.Problem(model, DURATION, effort, conditions, parts=[muscles]))


def curve() -> co.Radau:
    """Intervals that widen from both ends, where activations take 10 ms to follow."""
    return co.Radau(breakpoints=co.curves.graded(26, 5e-3, 2.0))


def solve(way: str) -> tuple[Rise, co.Solution]:
    """The motion by one of `WAYS`, refined."""
    made = rise(way)
    return made, co.solve(made.problem, curve(), tol=TOLERANCE, progress=False)


def measured(made: Rise, solution: co.Solution) -> dict[str, float]:
    """Numbers of a motion."""
    t = np.linspace(0.0, DURATION, 1001)
    now = solution.at(t)
    numbers = {
        "cost": solution.cost,
        "iterations": float(solution.iterations),
        "error": float(solution.error.motion_error),
        "deviation": co.verify(solution).local_error,
        "knee": float(np.abs(now.tau[:, 1]).max()),
        "lift": float(solution.evaluate(lambda now: now.support.force[1], t).min()),
    }
    if numbers["lift"] > 0.0:  # else its force acts nowhere
        pressure = solution.evaluate(center_of_pressure, t)
        numbers |= {"back": float(pressure.min()), "front": float(pressure.max())}
    if (muscles := made.muscles) is not None:
        force = solution.evaluate(lambda now: muscles.fibers(now).tendon_force, t)
        numbers |= {f"force.{name}": float(force[:, k].max()) for k, name in enumerate(muscles.names)}
        numbers["reserve"] = RESERVE * float(np.abs(now.reserve).max())
    return numbers


@styled
def draw(solutions: Mapping[str, co.Solution], names: Sequence[str], file: str) -> None:
    """The body at seven times, on a free foot if there is one, the torque of the knee, and what the muscles do."""
    figure = new_figure(figsize=(11.0, 6.5))
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1.0, 2.2))[0]
    top, bottom = left.subplots(2, 1)
    stands = solutions.get("free", solutions["rigid"])
    for t in np.linspace(0.0, DURATION, 7):
        points = [stands.evaluate(lambda now, at=at: now.point(*at).position, float(t)) for at in BODY]
        x, y, _ = np.transpose(points)
        top.plot(x, y, color=FADE(0.2 + 0.8 * t / DURATION), linewidth=2.0, marker="o", markersize=3)
    top.plot((0.0, *FOOT, 0.0), (0.0, -SOLE, -SOLE, 0.0), color=MUTED, linewidth=2.0, solid_joinstyle="round")
    top.set_aspect("equal")
    dress(top, "x [m]", "y [m]")
    t = np.linspace(0.0, DURATION, 400)
    samples = {way: solution.at(t) for way, solution in solutions.items()}
    for way, now in samples.items():
        bottom.plot(t, now.tau[:, 1], color=COLORS[way], label=WAYS[way])
    bottom.legend(fontsize=8, frameon=False)
    dress(bottom, "time [s]", "torque of the knee [N m]")
    axes = right.subplots(3, 3, sharex=True, sharey=True).ravel()
    for k, (ax, name) in enumerate(zip(axes, names, strict=True)):
        for way, now in samples.items():
            if way != "motors":
                ax.plot(t, now.activation[:, k], color=COLORS[way])
        ax.set_title(name, fontsize=9)
        dress(ax, "time [s]" if k > 5 else "", "" if k % 3 else "activation")
    co.plot.save_figure(figure, file)


def film(solution: co.Solution, path: str) -> None:
    """The body with its muscles, as a page that plays it."""
    model, strands = squat_to_stand("points")
    co.plot.view(solution, muscles=co.muscles.Muscles(model, strands)).save(path)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("rising.squat", __doc__, argv, animation=(".html",), quick="motors and stiff tendons alone")
    ways = ("motors", "rigid") if args.quick else tuple(WAYS)
    numbers: dict[str, float] = {}
    solutions: dict[str, co.Solution] = {}
    rows = []
    names: tuple[str, ...] = ()
    for way in ways:
        begin = time.process_time()
        made, solutions[way] = solve(way)
        result = measured(made, solutions[way]) | {"seconds": time.process_time() - begin}
        numbers |= {f"{way}.{key}": value for key, value in result.items()}
        rows += [
            Row(f"cost, {WAYS[way]}", result["cost"]),
            Row("  iterations", result["iterations"]),
            Row("  off by simulation, relative", result["deviation"]),
            Row("  greatest torque of the knee [N m]", result["knee"]),
            Row("  the ground lifts at least [N]", result["lift"]),
        ]
        if result["lift"] > 0.0:
            rows.append(Row("    from [m before the ankle]", result["back"]))
            rows.append(Row("    to", result["front"]))
        if made.muscles is not None:
            names = made.muscles.names
            rows.append(Row("  greatest torque of a reserve [N m]", result["reserve"]))
    print(table(args.question, rows))
    draw(solutions, names, args.figure)
    return finish(args, numbers, lambda path, _: film(solutions[ways[-1]], path))


if __name__ == "__main__":
    main()
