"""In which direction does a hand push the rim of a wheel with the least effort?

Upper arm and forearm with a straight wrist, of the numbers of the rower's, in the plane of a wheel that turns evenly.
The hand holds the rim while this turns by 75 degrees, and does 10 J on it, as in a wheelchair at 1.11 m/s and a
quarter of a watt for each kilogram. Loads of the rim begin and end at zero, and rise and fall with a cost. Motors move
shoulder and elbow, with the least of squared torques. Only the part of the force along the rim turns the wheel. Veeger,
van der Woude and Rozendal (1992, Med. Sci. Sports Exerc. 24) measured at most 71 % of the whole. A push along the rim
only costs the arm several times as much: the elbow then bends while it opens.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.closed.rower import ARM, FOREARM, HAND, Segment
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table

RIM, WHEEL = 0.26, 0.30  # m, radii
SHOULDER = 0.75  # m, above the axle
SPEED = 1.11  # m/s
GRIP = np.radians((-30.0, 45.0))  # of the hand on the rim, from the top, forwards
RATE = SPEED / WHEEL  # rad/s
DURATION = float(np.ptp(GRIP)) / RATE  # s
WORK = 10.0  # J
STRENGTH = 80.0  # N m, of shoulder and elbow
SMOOTH = 3e-4  # s3: weight of the squared rate of change of the rim's torque over the strength
INTERVALS, TOLERANCE = 12, 1e-2
SOURCE = "Veeger et al. 1992"
WAYS = {"any": "the hand pushes as it likes", "along": "along the rim only"}
COLORS = {"any": BLUE, "along": ORANGE}


def arm_at_a_rim() -> co.loops.ClosedChain:
    """Upper arm and forearm, which hang down at zero, and a rim about -z, whose point the hand holds."""

    def limb(name: str, parent: str | None, height: float, segment: Segment) -> co.Body:
        hinge = co.revolute((0, 0, 1), co.placement((0, height, 0)), name=name)
        across = np.diag([segment.inertia, 1e-3, segment.inertia])
        return co.Body(name, hinge, parent, segment.mass, (0, -segment.centre, 0), across)

    bodies = [
        limb("shoulder", None, SHOULDER, ARM),
        limb("elbow", "shoulder", -ARM.length, FOREARM),
        co.Body("rim", co.revolute((0, 0, -1), name="rim")),
    ]
    model = co.Model(bodies, gravity=(0, -9.81, 0), name="arm at a rim")
    hand = co.loops.Frame("elbow", (0, -FOREARM.length - HAND, 0))
    grip = co.loops.on_line("grip", hand, co.loops.Frame("rim", (0, RIM, 0)))
    return co.loops.ClosedChain(model, [grip], ("rim",), model.joint_names, guess=(-0.8, 1.2, 0.0))


def push(way: str) -> co.Problem:
    """A push, by one of `WAYS`."""
    chain = arm_at_a_rim()
    work = co.State("work", rate=lambda now: now.pull * RATE, unit="J")
    pull = co.State("pull", rate=lambda now: now.rise, unit="N m")  # torque of the hand on the rim
    rise = co.Unknown("rise", unit="N m/s")
    rows = [
        co.path(lambda now: now.q[2] - GRIP[0] - RATE * now.t, equals=0.0, name="speed"),
        co.path(lambda now: now.motor[2] + now.pull, equals=0.0, name="load of the rim"),
        co.initial(states={"work": 0.0, "pull": 0.0}),
        co.final(states={"work": WORK, "pull": 0.0}),
    ]
    if way == "along":
        rows.append(co.path(lambda now: on_the_rim(now)[1], equals=0.0, unit="N", name="force along the rim"))
    effort = co.integral(lambda now: ca.sumsqr(now.motor[:2] / STRENGTH))
    smooth = SMOOTH * co.integral(lambda now: (now.rise / STRENGTH) ** 2)
    parts = [co.loops.IndependentJoints(chain, surplus=True), co.Motors(chain.model.joint_names)]
    return co.Problem(chain.model, DURATION, effort + smooth, rows, [work, pull, rise], parts=parts)


def solve(problem: co.Problem) -> co.Solution:
    """The motion, refined."""
    turns = np.linspace(0.0, 1.0, 9)
    postures = co.loops.assemble(arm_at_a_rim(), (GRIP[0] + turns * np.ptp(GRIP))[:, None])
    guess = co.keyframes(dict(zip(turns, postures, strict=True)))
    return co.solve(problem, co.Radau(INTERVALS), guess=guess, tol=TOLERANCE, progress=False)


def on_the_rim(now: co.problem.Instant) -> ca.SX:
    """Force of the hand along the rim and outwards, SX, shape (2,) [N]: the massless rim hands it on."""
    return -now.reaction("rim").force[:2]


def measured(solution: co.Solution) -> dict[str, float]:
    """Numbers of a push."""
    t = np.linspace(0.0, DURATION, 401)
    force, motor = solution.evaluate(on_the_rim, t), np.asarray(solution.at(t).motor)
    return {
        "cost": solution.cost,
        "iterations": float(solution.iterations),
        "error": float(solution.error.motion_error),
        "effective": 100.0 * float(force[:, 0].mean() / np.linalg.norm(force, axis=1).mean()),
        "peak": float(np.linalg.norm(force, axis=1).max()),
        "torque": float(-motor[:, 2].min()),
        "shoulder": float(np.abs(motor[:, 0]).max()),
        "elbow": float(np.abs(motor[:, 1]).max()),
    }


@styled
def draw(pushes: Mapping[str, co.Solution], file: str) -> None:
    """The arm with the forces on the rim, these over time, and torques of shoulder and elbow."""
    figure = new_figure(figsize=(11.0, 3.8))
    left, middle, right = figure.subplots(1, 3, width_ratios=(0.9, 1.2, 1.2))
    turn = np.linspace(0.0, 2 * np.pi, 200)
    left.plot(RIM * np.sin(turn), RIM * np.cos(turn), color=MUTED)
    any_way = pushes["any"]
    points = [("shoulder", (0, 0, 0)), ("elbow", (0, 0, 0)), ("elbow", (0, -FOREARM.length - HAND, 0))]
    for k, t in enumerate(np.linspace(0.08, 0.92, 5) * DURATION):
        x, y, _ = np.transpose(
            [any_way.evaluate(lambda now, at=at: now.point(*at).position, float(t)) for at in points]
        )
        left.plot(x, y, color=FADE(0.2 + 0.2 * k), linewidth=2.0, marker="o", markersize=3)
        push = any_way.evaluate(lambda now: now.rotation("rim")[:2, :2] @ on_the_rim(now), float(t)) / 250.0
        left.annotate("", (x[-1] + push[0], y[-1] + push[1]), (x[-1], y[-1]), arrowprops={"arrowstyle": "->"})
    left.set_aspect("equal")
    dress(left, "forward [m]", "up [m]")
    t = np.linspace(0.0, DURATION, 300)
    for way, solution in pushes.items():
        force, motor = solution.evaluate(on_the_rim, t), np.asarray(solution.at(t).motor)
        middle.plot(t, force[:, 0], color=COLORS[way], label=WAYS[way])
        middle.plot(t, force[:, 1], color=COLORS[way], linestyle="--")
        right.plot(t, motor[:, 0], color=COLORS[way])
        right.plot(t, motor[:, 1], color=COLORS[way], linestyle="--")
    middle.legend(fontsize=8, frameon=False)
    dress(middle, "time [s]", "force along the rim, and (dashed) outwards [N]")
    dress(right, "time [s]", "torque of shoulder, and (dashed) elbow [N m]")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("closed_chains.wheelchair", __doc__, argv, animation=(".html",))
    begin, numbers, pushes, rows = time.process_time(), {}, {}, []
    for way, label in WAYS.items():
        pushes[way] = solve(push(way))
        result = measured(pushes[way])
        numbers |= {f"{way}.{key}": value for key, value in result.items()}
        rows += [
            Row(f"{label}: cost", result["cost"]),
            Row("  force along the rim [% of the whole]", result["effective"], source=f"below 71, {SOURCE}"),
            Row("  greatest force [N]", result["peak"]),
            Row("  greatest torque on the rim [N m]", result["torque"]),
        ]
    numbers |= {"times": numbers["along.cost"] / numbers["any.cost"], "seconds": time.process_time() - begin}
    rows.append(Row("cost along the rim over the least", numbers["times"]))
    print(table(args.question, rows))
    draw(pushes, args.figure)
    return finish(args, numbers, lambda path, _: co.plot.view(pushes["any"]).save(path))


if __name__ == "__main__":
    main()
