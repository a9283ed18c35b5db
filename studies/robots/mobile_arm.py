"""How do the wheels and the joints of a mobile manipulator share the way to a place?

A platform with two driven wheels on one axle and an arm of two links, seen from above. Its wheels roll without
slipping, so that it cannot move sideways. In 1.6 s its hand goes about a meter ahead and a meter to the side and comes
to rest there, with the least integral of squared torques, each over its limit. Where the platform ends is free. Four
motors act, two at the wheels and two in the arm.

The torques are integrated once more, by equations in the speeds of the wheels that know nothing of the forces of the
ground: the rows of Newton and Euler, multiplied by the directions in which the robot can move.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import dress, legend_below, styled
from colloc.problem import Wheel, Wheels
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.runge_kutta import integrated

RADIUS, TRACK = 0.1, 0.25  # m, of a wheel and from the middle to it
LINKS = 0.5, 0.4  # m
TORQUES = {"left": 2.0, "right": 2.0, "shoulder": 4.0, "elbow": 2.0}  # N m
START, GOAL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.6, -1.2), (1.9, 1.0)  # x, y, heading, wheels, arm; m
DURATION = 1.6  # s
STEPS = 10  # of the simulation, on every interval


def robot() -> co.Model:
    """Platform, wheels and arm in the plane of x and y."""
    bodies = [
        co.Body("x", co.prismatic((1, 0, 0))),
        co.Body("y", co.prismatic((0, 1, 0)), "x"),
        co.Body("platform", co.revolute(), "y", mass=10.0, inertia=(0.3, 0.3, 0.3)),
        *(
            co.Body(name, co.revolute((0, 1, 0), co.placement((0, y, 0))), "platform", mass=0.5, inertia=(0.005,) * 3)
            for name, y in (("left", TRACK), ("right", -TRACK))
        ),
    ]
    place = co.placement((0.2, 0, 0))
    for name, length, mass, parent in (
        ("shoulder", LINKS[0], 2.0, "platform"),
        ("elbow", LINKS[1], 1.0, "shoulder"),
    ):
        inertia = mass * length**2 / 12
        rod = co.Body(
            name, co.revolute((0, 0, 1), place), parent, mass, (length / 2, 0, 0), (0, inertia, inertia),
            tip=(length, 0, 0),
        )  # fmt: skip
        bodies.append(rod)
        place = co.placement((length, 0, 0))
    return co.Model(bodies, gravity=(0, 0, 0), name="mobile arm")


def hand(now: co.problem.Instant) -> co.model.PointMotion:
    return now.point("elbow", (LINKS[1], 0, 0))


def problem() -> co.Problem:
    """The hand from rest to rest at its goal, with the least effort."""
    model = robot()
    ends = [
        co.initial(q=START, qd=0.0),
        co.final(qd={"x": 0.0, "platform": 0.0, "shoulder": 0.0, "elbow": 0.0}),
        co.at(1.0, lambda now: hand(now).position[:2], equals=GOAL, name="hand", unit="m"),
        co.bounds(q={"shoulder": (-2.0, 2.0), "elbow": (-2.5, -0.1)}),
    ]
    most = ca.DM(list(TORQUES.values()))
    effort = co.integral(lambda now: ca.sumsqr(now.motor / most))
    wheels = Wheels(model, [Wheel(name, name, (0, 1, 0), radius=RADIUS) for name in ("left", "right")])
    return co.Problem(model, DURATION, effort, ends, parts=[wheels, co.Motors(TORQUES)])


def rolling(model: co.Model) -> ca.Function:
    """Accelerations of wheels and arm under their torques, in the four free speeds."""
    q, speeds, rates, torque = ca.SX.sym("q", 7), ca.SX.sym("u", 4), ca.SX.sym("a", 4), ca.SX.sym("tau", 4)
    ahead = RADIUS / 2 * (speeds[0] + speeds[1])
    turn = RADIUS / (2 * TRACK) * (speeds[1] - speeds[0])
    qd = ca.vertcat(ahead * ca.cos(q[2]), ahead * ca.sin(q[2]), turn, speeds)
    S = ca.jacobian(qd, speeds)
    qdd = S @ rates + ca.jtimes(qd, q, qd)
    tau = co.dynamics.inverse_dynamics(co.dynamics.newton_euler, model, q, qd, qdd)
    residual = S.T @ tau - torque
    M = ca.jacobian(residual, rates)
    return ca.Function("rolling", [q, speeds, torque], [qd, ca.solve(M, -ca.substitute(residual, rates, 0.0))])


def simulated(solution: co.Solution) -> float:
    """By how much the coordinates miss those of the solution at the end."""
    equations = rolling(solution.problem.model)

    def rate(state: ca.DM, torque: np.ndarray) -> ca.DM:
        return ca.vertcat(*equations(state[:7], state[7:], torque))

    *_, end = integrated(solution, rate, ca.DM([*START, 0, 0, 0, 0]), lambda t: solution.at(t).motor, STEPS)
    return float(np.abs(np.array(end[:7]).ravel() - solution.q[-1]).max())


@styled
def draw(solution: co.Solution, file: str) -> None:
    """The robot from above at five times, and its torques."""
    figure = new_figure(figsize=(9.6, 4.4))
    left, right = figure.subplots(1, 2)
    box = np.array([(-0.25, -TRACK), (0.25, -TRACK), (0.25, TRACK), (-0.25, TRACK)])
    for s in np.linspace(0, 1, 5):
        x, y, heading, _, _, shoulder, elbow = solution.at(s * solution.duration).q
        turned = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
        tint = (0.1 + 0.7 * s, 0.3, 0.8 - 0.6 * s)
        left.fill(*(box @ turned.T + (x, y)).T, facecolor="none", edgecolor=tint, linewidth=1)
        arm = [turned @ (0.2, 0) + (x, y)]
        for length, angle in zip(LINKS, (heading + shoulder, heading + shoulder + elbow), strict=True):
            arm.append(arm[-1] + length * np.array([np.cos(angle), np.sin(angle)]))
        left.plot(*np.transpose(arm), "o-", color=tint, linewidth=2, markersize=3)
    left.plot(*GOAL, "x", color="black", markersize=8)
    left.set_aspect("equal", adjustable="datalim")
    dress(left, "x [m]", "y [m]")
    t = np.linspace(0, solution.duration, 800)
    for name, values in zip(TORQUES, solution.at(t).motor.T, strict=True):
        right.plot(t, values, label=name)
    dress(right, "t [s]", "torque [N m]")
    legend_below(figure, right.get_legend_handles_labels()[0])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("robots.mobile_arm", __doc__, argv)
    curve = co.Radau(16) if args.quick else co.Radau(40)
    solution = co.solve(problem(), curve, progress=False)
    wheels = solution.problem.parts[0]
    slip = solution.evaluate(wheels.slip, np.linspace(0, solution.duration, 2001))
    numbers = {"effort": solution.cost, "miss": simulated(solution), "solved": float(solution.success)}
    numbers |= {"slip": float(np.abs(slip).max()), "driven": float(np.hypot(*solution.q[-1, :2]))}
    rows = [
        Row("integral of squared torques over their limits [s]", solution.cost),
        Row("largest slip of a wheel [m/s]", numbers["slip"], 0.0, "the wheels"),
        Row("miss of the end, simulated [m, rad]", numbers["miss"], 0.0, "the solution"),
    ]
    print(table(args.question, rows, [f"  the platform itself moves by {numbers['driven']:.2f} m"]))
    draw(solution, args.figure)
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
