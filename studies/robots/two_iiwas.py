"""How do two LBR iiwas with fourteen motors carry one box, with the least torques and in the shortest time?

The arms of `colloc.models.iiwa` face each other, with a box of 6 kg clamped between their hands. Arms and box form a
loop with eight freedoms: six of the box, and one of each elbow. From rest to rest they lift the box by 0.4 m and move
it 0.3 m to the side; only the box has a stated place at the end. All fourteen motors share the load with the least sum
of squared torques, which is also what the first cost asks for.

Both motions are computed in two ways: with independent joints, where the loop is solved at every instant, and with the
loop cut, where all joints move and the six forces at the right hand are unknown. The second may share the load in
another way where motors are at their limits, and costs a little less. In the shortest time a few joints at their limits
determine the duration, and the others are free to move in many ways. A small price on squared torques chooses one of
these motions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from matplotlib.axes import Axes

import colloc as co
from colloc.models.iiwa import iiwa
from colloc.plot.figure import new_figure
from colloc.plot.style import dress, legend_below, styled
from colloc.studies.reporting import Row, arguments, finish, table

APART, SIDE, MASS = 1.8, 0.4, 6.0  # m between the feet; m, kg: the box
FOOT, HAND = 0.1575, 0.126  # m: the first joint above the foot, the flange beyond the last joint
START, END = (0.0, 0.0, 0.3), (0.0, 0.3, 0.7)  # m, of the box's middle
DURATION = 1.0  # s, of the motion with the least torques
PRICE = 1e-6  # s for each N2 m2 s, in the shortest time
SIDES = ("left", "right")
ATTITUDES = {
    "left": np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]),
    "right": np.array([[0, 0, -1], [0, -1, 0], [-1, 0, 0]]),
}
ELBOWS_UP = (0.0, 0.8, 0.0, -1.8, 0.0, -1.0, 0.0) * 2  # rad


def arm(side: str, foot: Any) -> list[co.Body]:
    """An arm with its foot at a place, and its side before the names of its joints."""
    first, *others = iiwa().bodies
    joint = replace(first.joint, before=foot @ co.placement((0, 0, FOOT)))
    return [
        replace(first, name=f"{side}_{first.name}", joint=joint),
        *(replace(body, name=f"{side}_{body.name}", parent=f"{side}_{body.parent}") for body in others),
    ]


def arms() -> co.Model:
    """Both arms, the left one with the box at its flange; z of the box leads from the left hand to the right one."""
    moment = MASS * SIDE**2 / 6
    box = co.Body("box", co.fixed(co.placement((0, 0, HAND))), "left_A7", MASS, (0, 0, SIDE / 2), (moment,) * 3)
    left, right = co.placement((-APART / 2, 0, 0)), co.placement((APART / 2, 0, 0), (0, 0, np.pi))
    return co.Model([*arm("left", left), box, *arm("right", right)], gravity=(0, 0, -9.81), name="two LBR iiwas")


def posture(place: Sequence[float]) -> np.ndarray:
    """Joints with the box level at a place, elbows up."""
    middle, ahead = np.array(place), np.array([SIDE / 2, 0, 0])
    targets = [
        co.model.Target("box", middle - ahead, rotation=ATTITUDES["left"]),
        co.model.Target("right_A7", middle + ahead, point=(0, 0, HAND), rotation=ATTITUDES["right"]),
    ]
    return co.model.reach(arms(), targets, start=ELBOWS_UP)


def chain() -> co.loops.ClosedChain:
    """Arms and box at the start, closed at the right hand, where all joints have a motor."""
    model = arms()
    side = co.loops.Frame("box", co.placement((0, 0, SIDE), (np.pi, 0, 0)))
    clamp = co.loops.weld("right hand", side, co.loops.Frame("right_A7", (0, 0, HAND)))
    return co.loops.ClosedChain(model, [clamp], actuators=model.joint_names, guess=posture(START))


def middle(now: co.problem.Instant) -> ca.SX:
    return now.point("box", (0, 0, SIDE / 2)).position


def turn(now: co.problem.Instant) -> ca.SX:
    """Sines of the angles by which the box is turned from its first attitude, SX, shape (3,)."""
    R = ca.DM(ATTITUDES["left"].T) @ now.rotation("box")
    return ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2


def problem(part: co.loops.IndependentJoints | co.loops.CutJoints, duration: float | None) -> co.Problem:
    """The box from rest to rest: with the least torques in a duration [s], or in the shortest time."""
    closed = part.chain
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    return co.Problem(
        model=closed.model,
        duration=duration or co.Free(0.2, 3.0),
        minimize=effort if duration else co.duration() + PRICE * effort,
        subject_to=[
            co.initial(q=closed.posture, qd=0.0),
            co.final(qd=0.0),
            co.at(1.0, middle, equals=END, name="place of the box", unit="m"),
            co.at(1.0, turn, equals=0.0, name="turn of the box", unit="rad"),
        ],
        parts=[part],
    )


def numbers_of(solution: co.Solution) -> dict[str, float]:
    """The numbers of a motion, at 1,001 times."""
    sample = solution.at(np.linspace(0, solution.duration, 1001))
    most = solution.problem.model.limits("torque")[1]
    return {
        "T": solution.duration,
        "effort": float(np.trapezoid((sample.tau**2).sum(axis=1), dx=solution.duration / 1000)),
        "share": float(np.abs(sample.tau / most).max()),
        "gap": float(co.loops.closure_error(chain(), sample.q).max()),
        "solved": float(solution.success),
    }


@styled
def draw(solution: co.Solution, file: str) -> None:
    """The arms from the front and from above at three times, and torques over their limits."""
    figure = new_figure(figsize=(10.5, 4.6))
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.2))[0]
    front, above = left.subplots(2, 1, sharex=True)
    draw_arms(front, solution, axes=(0, 2))
    draw_arms(above, solution, axes=(0, 1))
    dress(front, "", "z [m]")
    dress(above, "x [m]", "y [m]")
    ax, t = right.subplots(), np.linspace(0, solution.duration, 800)
    shares = solution.at(t).tau / solution.problem.model.limits("torque")[1]
    for k, share in enumerate(shares.T):
        ax.plot(t, share, color=f"C{k % 7}", linestyle="--" if k >= 7 else "-", label=f"A{k % 7 + 1}")
    dress(ax, "t [s]", "torque over its limit")
    ax.set_title("left arm solid, right arm dashed")
    legend_below(right, ax.get_legend_handles_labels()[0][:7])
    co.plot.save_figure(figure, file)


def draw_arms(ax: Axes, solution: co.Solution, axes: Sequence[int]) -> None:
    """Both arms and the box at three times, along two axes of the world."""
    corners = SIDE / 2 * np.array([(-1, -1, 0), (1, 1, 0), (1, 1, 2), (-1, -1, 2)])
    joints = [(f"{side}_A{k}", (0.0, 0.0, 0.0)) for side in SIDES for k in range(1, 8)]
    points = [*joints, *(("box", tuple(corner)) for corner in corners)]
    times = solution.duration * np.array([0.0, 0.5, 1.0])
    places = solution.evaluate(lambda now: ca.vertcat(*(now.point(*point).position for point in points)), times)
    for share, place in zip((0.0, 0.5, 1.0), places.reshape(3, -1, 3), strict=True):
        tint = (0.1 + 0.7 * share, 0.3, 0.8 - 0.6 * share)
        for foot, arm in ((-APART / 2, place[:7]), (APART / 2, place[7:14])):
            ax.plot(*np.vstack([(foot, 0, 0), arm])[:, axes].T, "o-", color=tint, markersize=2.5, linewidth=1.5)
        ax.fill(*place[14:][:, axes].T, facecolor="none", edgecolor=tint)
    ax.set_aspect("equal", adjustable="datalim")


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("robots.two_iiwas", __doc__, argv, quick="least torques alone, on a coarse grid")
    closed = chain()
    loop, cut = co.loops.IndependentJoints(closed), co.loops.CutJoints(closed)
    settings = {"curve": co.BSpline(10), "tol": 0.1} if args.quick else {}
    least = co.solve(problem(loop, DURATION), progress=False, **settings)
    other = co.solve(problem(cut, DURATION), guess=least, progress=False, **settings)
    numbers = {f"least.{name}": value for name, value in numbers_of(least).items()}
    numbers |= {"least.cut": other.cost, "least.difference": abs(other.cost / least.cost - 1)}
    numbers["least.forward"] = co.verify(least).forward_error
    rows = [
        Row(
            f"least torques in {DURATION:g} s: integral of squared torques [N2 m2 s]",
            least.cost,
            other.cost,
            "loop cut",
        ),
        Row("the same: motion simulated, off by [rad]", numbers["least.forward"], 0.0, "the solution"),
        Row("the same: gap of the loop [m, rad]", numbers["least.gap"], 0.0, "closed"),
    ]
    shown = least
    if not args.quick:
        shown = fastest = co.solve(problem(loop, None), progress=False, **settings)
        numbers |= {f"fastest.{name}": value for name, value in numbers_of(fastest).items()}
        other = co.solve(problem(cut, None), guess=fastest, progress=False)
        numbers |= {"fastest.cut": other.duration, "fastest.difference": abs(other.cost / fastest.cost - 1)}
        numbers["fastest.forward"] = co.verify(fastest).forward_error
        rows += [
            Row("shortest time [s]", fastest.duration, other.duration, "loop cut"),
            Row("the same: largest torque over its limit", numbers["fastest.share"], 1.0, "its bound"),
            Row("the same: motion simulated, off by [rad]", numbers["fastest.forward"], 0.0, "the solution"),
        ]
    print(table(args.question, rows))
    draw(shown, args.figure)
    return finish(args, numbers, shown)


if __name__ == "__main__":
    main()
