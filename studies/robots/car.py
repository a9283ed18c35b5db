"""Which is the shortest way of a car that cannot turn sharply, and what do wheels and mass add?

A car of unit speed whose way bends by at most 1/m: Dubins (1957, "On curves of minimal length with a constraint on
average curvature", American Journal of Mathematics 79) showed that its shortest way consists of arcs and straight
lines, whose length is known in closed form. Here it gets to a place 2.5 m ahead and 1 m to the left, facing back. Then
a car with a mass and an axle that does not slip sideways does the same from rest to rest: its engine pushes with a
limited force, the wheels hold a limited side force, and the curvature has the same bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, ORANGE, dress, legend_below, styled
from colloc.problem import Thruster, Thrusters, Wheel, Wheels
from colloc.studies.reporting import Row, arguments, finish, table

GOAL = (2.5, 1.0, np.pi)  # m, m, rad; from the origin, along x
SHARPEST = 1.0  # 1/m
ENGINE, HOLD = 2.0, 1.5  # N, on a car of 1 kg
GUESS = ([0.0, 0.0, 0.0], [2.0, -0.8, 0.0], [3.5, 0.0, np.pi / 2], list(GOAL))


def dubins(x: float, y: float, heading: float) -> tuple[float, str, tuple[float, float, float]]:
    """The shortest way of curvature 1 from the origin along x: its length, its kind, and its three pieces.

    In closed form (Shkel and Lumelsky 2001, "Classification of the Dubins set", Robotics and Autonomous Systems 34).
    """
    d, toward = np.hypot(x, y), np.arctan2(y, x)
    a, b = -toward, heading - toward
    ca_, sa, cb, sb, both = np.cos(a), np.sin(a), np.cos(b), np.sin(b), np.cos(a - b)
    ways = []
    for kind, squared in (
        ("LSL", 2 + d**2 - 2 * both + 2 * d * (sa - sb)),
        ("RSR", 2 + d**2 - 2 * both + 2 * d * (sb - sa)),
        ("LSR", -2 + d**2 + 2 * both + 2 * d * (sa + sb)),
        ("RSL", -2 + d**2 + 2 * both - 2 * d * (sa + sb)),
    ):
        if squared < 0:
            continue
        one, other = (1 if turn == "L" else -1 for turn in (kind[0], kind[2]))
        line = squared**0.5
        along = np.arctan2(other * cb - one * ca_, d + one * sa - other * sb)
        along += 0 if one == other else np.arctan2(2 * one, line)
        ways.append((kind, one * (along - a), line, other * (b - along)))
    for kind, one in (("RLR", -1), ("LRL", 1)):
        cosine = (6 - d**2 + 2 * both - 2 * one * d * (sa - sb)) / 8
        if abs(cosine) <= 1:
            middle = 2 * np.pi - np.arccos(cosine)
            first = one * (np.arctan2(one * (cb - ca_), d + one * (sa - sb)) - a) + middle / 2
            ways.append((kind, first, middle, one * (b - a) - first + middle))
    pieces = [(kind, (first % (2 * np.pi), middle, last % (2 * np.pi))) for kind, first, middle, last in ways]
    kind, best = min(pieces, key=lambda way: sum(way[1]))
    return float(sum(best)), kind, best


def shortest() -> co.Problem:
    """The car of unit speed, in states alone."""
    bend = co.Unknown("bend", lower=-SHARPEST, upper=SHARPEST, unit="1/m")

    def rate(now: co.problem.Instant) -> ca.SX:
        heading = now.pose[2]
        return ca.vertcat(ca.cos(heading), ca.sin(heading), now.bend)

    pose = co.State("pose", names=("x", "y", "heading"), rate=rate, unit=("m", "m", "rad"))
    ends = [co.initial(states={"pose": (0.0, 0.0, 0.0)}), co.final(states={"pose": GOAL})]
    return co.Problem(co.Model.empty(), co.Free(1.0, 20.0, 7.0), co.duration(), ends, [pose, bend])


def with_mass() -> co.Problem:
    """The car with a mass and an axle, from rest to rest, in the shortest time."""
    slides = [co.Body("x", co.prismatic((1, 0, 0))), co.Body("y", co.prismatic((0, 1, 0)), "x")]
    car = co.Body("car", co.revolute(), "y", mass=1.0, inertia=(0.02, 0.02, 0.02))
    model = co.Model([*slides, car], gravity=(0, 0, 0), name="car")
    wheels = Wheels(model, [Wheel("axle", "car", axle=(0, 1, 0))])
    engine = Thruster("engine", "car", (1, 0, 0), lower=-ENGINE, upper=ENGINE)

    def speed(now: co.problem.Instant) -> ca.SX:
        return ca.dot(now.rotation("car")[:, 0], now.point("car").velocity)

    limits = [
        co.path(lambda now: now.wheel_force, lower=-HOLD, upper=HOLD, name="side force", unit="N"),
        co.path(lambda now: SHARPEST * speed(now) - now.qd[2], lower=0.0, name="bend to the left", unit="rad/s"),
        co.path(lambda now: SHARPEST * speed(now) + now.qd[2], lower=0.0, name="bend to the right", unit="rad/s"),
    ]
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=GOAL, qd=0.0)]
    parts = [wheels, Thrusters([engine]), co.Motors({"car": 1.0})]
    return co.Problem(model, co.Free(1.0, 20.0, 6.0), co.duration(), [*ends, *limits], parts=parts)


@styled
def draw(way: co.Solution, drive: co.Solution, file: str) -> None:
    """Both ways from above, and speed and forces of the car with a mass."""
    figure = new_figure(figsize=(9.6, 4.4))
    left, right = figure.subplots(1, 2)
    t, s = np.linspace(0, drive.duration, 600), np.linspace(0, way.duration, 600)
    left.plot(*way.at(s).pose.T[:2], color=BLUE, label="shortest way")
    left.plot(*drive.at(t).q.T[:2], color=ORANGE, label="with mass and wheels")
    for x, y, heading in drive.at(np.linspace(0, drive.duration, 9)).q:
        left.plot(x + 0.3 * np.cos(heading) * np.array([-1, 1]), y + 0.3 * np.sin(heading) * np.array([-1, 1]),
                  color="black", linewidth=2.5, solid_capstyle="butt")  # fmt: skip
    left.set_aspect("equal")
    dress(left, "x [m]", "y [m]")
    right.plot(t, np.hypot(*drive.at(t).qd.T[:2]), color="C2", label="speed [m/s]")
    right.plot(t, drive.at(t).thrust, color="C3", label="engine [N]")
    right.plot(t, drive.at(t).wheel_force, color="C4", label="side force [N]")
    dress(right, "t [s]", "")
    legend_below(figure, [*left.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("robots.car", __doc__, argv)
    count = 20 if args.quick else 40
    way = co.solve(shortest(), co.Radau(count), tol=0.02, progress=False)
    keys = co.keyframes(dict(zip(np.linspace(0, 1, 4), GUESS, strict=True)))
    drive = co.solve(with_mass(), co.Radau(count), guess=keys, tol=0.02, progress=False)
    exact, kind, _ = dubins(*GOAL)
    t = np.linspace(0, drive.duration, 2001)
    slip = drive.evaluate(lambda now: ca.dot(now.rotation("car")[:, 1], now.point("car").velocity), t)
    numbers = {"length": way.duration, "dubins": exact, "T": drive.duration, "slip": float(np.abs(slip).max())}
    numbers |= {"solved": float(way.success and drive.success), "forward_error": co.verify(drive).local_error}
    rows = [
        Row("length of the shortest way [m]", way.duration, exact, f"Dubins (1957), {kind}"),
        Row("with mass and wheels, shortest time [s]", drive.duration),
        Row("its largest slip sideways [m/s]", numbers["slip"], 0.0, "the wheels"),
    ]
    print(table(args.question, rows))
    draw(way, drive, args.figure)
    return finish(args, numbers, drive)


if __name__ == "__main__":
    main()
