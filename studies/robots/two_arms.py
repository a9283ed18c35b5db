"""How hard must two arms press a box between their hands to lift it?

Two planar arms of three joints face each other, with a box of 2 kg between their hands, which nothing but friction
holds: the shear force at either hand is at most the coefficient of friction times the force with which it presses.
They lift the box by 0.4 m in a second, from rest to rest, with the least integral of squared torques, once for each of
several coefficients. Six motors move three freedoms, so that the motors choose how hard to press.

Box and hands form a loop, cut at the right hand, whose force is unknown. It also follows from the motion of the box
alone and the force at the left hand: together they are its mass times its acceleration less gravity. The joints stay
within half a radian of both ends' angles.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import dress, legend_below, styled
from colloc.problem import Grip
from colloc.studies.reporting import Row, arguments, finish, table

FRICTIONS = (0.8, 1.0)
LINKS, MASSES = (0.4, 0.4, 0.15), (2.0, 1.5, 0.5)  # m, kg, of either arm
APART, BOX, MASS = 1.0, 0.3, 2.0  # m between the shoulders, m, kg
LOW, HIGH, DURATION = 0.25, 0.65, 1.0  # m, m, s
GRAVITY = 9.81  # m/s2


def arm(side: str, x: float) -> list[co.Body]:
    """Shoulder, elbow and wrist of an arm at a place on the x axis."""
    bodies, parent, place = [], None, co.placement((x, 0, 0))
    for joint, length, mass in zip(("shoulder", "elbow", "wrist"), LINKS, MASSES, strict=True):
        inertia = mass * length**2 / 12
        name = f"{side}_{joint}"
        rod = co.Body(
            name, co.revolute((0, 0, 1), place), parent, mass=mass, com=(length / 2, 0, 0),
            inertia=(0, inertia, inertia), tip=(length, 0, 0),
        )  # fmt: skip
        bodies.append(rod)
        parent, place = name, co.placement((length, 0, 0))
    return bodies


def chain() -> co.loops.ClosedChain:
    """Both arms and the box, which belongs to the left hand and closes the loop at the right one."""
    inertia = MASS * BOX**2 / 6
    tip = co.placement((LINKS[2], 0, 0))
    box = co.Body("box", co.fixed(tip), "left_wrist", mass=MASS, com=(BOX / 2, 0, 0), inertia=(inertia,) * 3)
    tree = co.Model([*arm("left", 0.0), box, *arm("right", APART)], gravity=(0, -GRAVITY, 0), name="two arms and a box")
    there = co.placement((BOX, 0, 0), rpy=(0, 0, np.pi))
    loop = co.loops.weld("right hand", co.loops.Frame("box", there), co.loops.Frame("right_wrist", tip))
    return co.loops.ClosedChain(tree, [loop], guess=posture(LOW))


def posture(height: float) -> np.ndarray:
    """Angles of both arms with a level box in the middle at a height, elbows down."""
    wrist = np.array([APART / 2 - BOX / 2 - LINKS[2], height])
    far = float(wrist @ wrist) ** 0.5
    elbow = np.arccos((far**2 - LINKS[0] ** 2 - LINKS[1] ** 2) / (2 * LINKS[0] * LINKS[1]))
    shoulder = np.arctan2(wrist[1], wrist[0]) - np.arctan2(
        LINKS[1] * np.sin(elbow), LINKS[0] + LINKS[1] * np.cos(elbow)
    )
    left = np.array([shoulder, elbow, -shoulder - elbow])
    return np.array([*left, np.pi - left[0], -left[1], -left[2]])


def problem(friction: float) -> co.Problem:
    """The box lifted from rest to rest, with the least integral of squared torques."""
    closed = chain()
    cut = co.loops.CutJoints(closed)
    left = Grip("box", normal=(-1, 0, 0), pull=0.0, friction=friction, name="left_grip")

    def right(now: co.problem.Instant) -> ca.SX:
        """Shear force that friction has left at the right hand."""
        force = right_force(now)
        return ca.vertcat(-friction * force[0] - force[1], -friction * force[0] + force[1])

    low, high = posture(LOW), posture(HIGH)
    near = zip(closed.model.joint_names, low, high, strict=True)
    free = closed.model.joint_names[:3]
    ends = [
        co.initial(q=dict(zip(free, low[:3], strict=True)), qd=dict.fromkeys(free, 0.0)),
        co.final(q=dict(zip(free, high[:3], strict=True)), qd=dict.fromkeys(free, 0.0)),
        co.bounds(q={name: (min(a, b) - 0.5, max(a, b) + 0.5) for name, a, b in near}),
        co.path(right, lower=0.0, name="friction at the right hand", unit="N", scale=MASS * GRAVITY),
    ]
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    return co.Problem(closed.model, DURATION, effort, ends, parts=[cut, left])


def left_force(now: co.problem.Instant) -> ca.SX:
    """Force of the left hand on the box, SX, shape (2,) [N], in the box's axes."""
    return now.reaction("box").force[:2]


def right_force(now: co.problem.Instant) -> ca.SX:
    """Force of the right hand on the box, SX, shape (2,) [N], in the box's axes: what the left one leaves."""
    motion = now.point("box", (BOX / 2, 0, 0))
    total = MASS * (motion.acceleration - ca.DM([0, -GRAVITY, 0]))
    return (now.rotation("box").T @ total)[:2] - left_force(now)


def loop_of(solution: co.Solution) -> co.loops.CutJoints:
    """The part with the cut loop."""
    cut = solution.problem.parts[0]
    assert isinstance(cut, co.loops.CutJoints)
    return cut


def balance(solution: co.Solution) -> float:
    """Difference of the force in the loop and that of the right hand by the motion of the box [N]."""
    cut = loop_of(solution)

    def difference(now: co.problem.Instant) -> ca.SX:
        force = co.loops.loop_wrenches(cut.chain, now.q, now.cut_forces)[0][3:]
        return ca.norm_2(force[:2]) - ca.norm_2(right_force(now))

    t = np.linspace(0, solution.duration, 401)
    return float(np.abs(solution.evaluate(difference, t)).max())


@styled
def draw(solutions: Sequence[co.Solution], file: str) -> None:
    """Both arms at three times, and how hard the left hand presses, by the coefficient of friction."""
    figure = new_figure(figsize=(9.6, 4.4))
    left, right = figure.subplots(1, 2)
    last = solutions[-1]
    for s in (0.0, 0.5, 1.0):
        tint = (0.1 + 0.7 * s, 0.3, 0.8 - 0.6 * s)
        q = last.at(s * last.duration).q
        for x, angles in ((0.0, q[:3]), (APART, q[3:])):
            points = [np.array([x, 0.0])]
            for length, angle in zip(LINKS, np.cumsum(angles), strict=True):
                points.append(points[-1] + length * np.array([np.cos(angle), np.sin(angle)]))
            left.plot(*np.transpose(points), "o-", color=tint, markersize=3)
            if x == 0.0:
                along = np.array([np.cos(q[:3].sum()), np.sin(q[:3].sum())])
                up = np.array([-along[1], along[0]])
                corners = [
                    points[-1] + a * BOX * along + b * BOX * up for a, b in ((0, -0.5), (1, -0.5), (1, 0.5), (0, 0.5))
                ]
                left.fill(*np.transpose(corners), facecolor="none", edgecolor=tint)
    left.set_aspect("equal", adjustable="datalim")
    dress(left, "x [m]", "y [m]")
    t = np.linspace(0, DURATION, 400)
    for friction, solution in zip(FRICTIONS[-len(solutions) :], solutions, strict=True):
        right.plot(t, solution.evaluate(left_force, t)[:, 0], label=f"coefficient {friction:g}")
    dress(right, "t [s]", "force of the left hand along the box [N]")
    legend_below(figure, right.get_legend_handles_labels()[0])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("robots.two_arms", __doc__, argv, quick="one coefficient of friction")
    frictions = FRICTIONS[-1:] if args.quick else FRICTIONS
    curve = co.Radau(12 if args.quick else 20)
    numbers: dict[str, float] = {}
    solutions, rows = [], []
    for friction in frictions:
        way = np.array([posture(LOW), posture(HIGH)])
        solution = co.solve(problem(friction), curve, guess=co.keyframes({0.0: way[0], 1.0: way[1]}), progress=False)
        t = np.linspace(0, DURATION, 401)
        press = solution.evaluate(left_force, t)[:, 0]
        cut = loop_of(solution)
        numbers[f"friction_{friction:g}.effort"] = solution.cost
        numbers[f"friction_{friction:g}.press"] = float(press.max())
        numbers[f"friction_{friction:g}.gap"] = float(np.abs(solution.evaluate(cut.gap, t)).max())
        numbers[f"friction_{friction:g}.balance"] = balance(solution)
        numbers[f"friction_{friction:g}.solved"] = float(solution.success)
        rows += [
            Row(f"friction {friction:g}: integral of squared torques [N2 m2 s]", solution.cost),
            Row(f"friction {friction:g}: hardest press [N]", float(press.max())),
            Row(
                f"friction {friction:g}: gap of the loop [m, rad]", numbers[f"friction_{friction:g}.gap"], 0.0, "closed"
            ),
        ]
        newton = numbers[f"friction_{friction:g}.balance"]
        rows.append(Row(f"friction {friction:g}: force in the loop less that of the motion [N]", newton, 0.0, "Newton"))
        solutions.append(solution)
    print(table(args.question, rows))
    draw(solutions, args.figure)
    return finish(args, numbers, solutions[-1])


if __name__ == "__main__":
    main()
