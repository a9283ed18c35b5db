"""With how little torque does an open palm keep a ball in the air?

An arm of three links in a vertical plane throws a ball and catches it, again and again. The palm can only push, within
a cone of friction of coefficient 0.5: no finger holds the ball. There are two phases, which repeat:

throw   the ball lies in the palm: a loop ties it to the hand, and its two forces are unknown and bounded;
flight  the ball is free, and the arm swings back.

Between them the ball hits the palm and stays there: a plastic impact between two moving bodies, with an impulse in the
same cone. The least integral of the squared torques over one cycle is sought, for several times of flight.
The problem has several optima: each answer is the better of two, from a hand at rest and from the answer before.

Three numbers check each answer. The impulse is that of a mass matrix and a Jacobian by hand, p = -(J M^-1 J')^-1 J qd.
Over a cycle forces and impulse carry the ball's weight, their sum being m g T. In flight the ball is on a parabola.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, GREEN, INK, ORANGE, dress, legend_below, styled
from colloc.studies.reporting import Row, arguments, finish, table

G, BALL, FRICTION = 9.81, 0.2, 0.5  # m/s2, kg, -
PALM = (0.1, 0.05, 0.0)  # m, in the frame of the hand
ARM = ("arm", "forearm", "hand")
REST = np.array([-0.8, 0.9, -0.1])  # rad, near which the ball is held
FLIGHTS = (0.3, 0.4, 0.5, 0.6, 0.7)  # s
LONGEST = 0.35  # s, of a throw: with more the arm swings with the ball before
CURVE = co.Radau(10, degree=5)


def juggler() -> co.Model:
    """The arm, and a ball that slides along the world's axes; chosen numbers."""
    bodies, links = [], ((0.0, 1.2, 30.0, 0.15), (0.35, 0.9, 20.0, 0.15), (0.3, 0.4, 8.0, 0.05))
    for name, parent, (length, mass, torque, com) in zip(ARM, (None, *ARM), links, strict=False):
        limits = co.Limits(position=(-2.5, 2.5), velocity=(-8.0, 8.0), torque=(-torque, torque))
        joint = co.revolute((0, 0, 1), co.placement((length, 0, 0)), limits=limits)
        inertia = (0.001, 0.01 * mass, 0.01 * mass)
        bodies.append(co.Body(name, joint, parent, mass=mass, com=(com, 0, 0), inertia=inertia))
    bodies.append(co.Body("ball, forward", co.prismatic((1, 0, 0))))
    bodies.append(co.Body("ball", co.prismatic((0, 1, 0)), "ball, forward", mass=BALL, inertia=(1e-4, 1e-4, 1e-4)))
    return co.Model(bodies, gravity=(0, -G, 0), name="juggler", markers={"palm": ("hand", PALM)})


MODEL = juggler()


def held_posture() -> np.ndarray:
    """The arm near which the ball is held, with the ball in its palm."""
    place = co.Evaluator(MODEL).point("hand", PALM, q=np.append(REST, [0, 0])).position
    return np.append(REST, np.ravel(place)[:2])


def in_cone(normal: Any, across: Any) -> Any:
    """Distances from the sides of the cone of friction, which are positive inside."""
    return ca.vertcat(FRICTION * normal - across, FRICTION * normal + across)


def cycle(flight: float) -> co.Phases:
    """A throw and a flight of some duration [s], which repeat."""
    palm = co.loops.on_line("palm", co.loops.Frame("hand", PALM), "ball")
    chain = co.loops.ClosedChain(MODEL, [palm], guess=held_posture(), actuators=list(ARM))
    motors, effort = co.Motors(list(ARM)), co.integral(lambda now: ca.sumsqr(now.tau[:3]), "effort")

    def pushes(now: co.problem.Instant) -> Any:
        return in_cone(now.cut_forces[1], now.cut_forces[0])  # along and across the palm

    def impulse_pushes(phases: Any) -> Any:
        begin = phases["throw"].start
        across, normal = ca.vertsplit(-begin.rotation("hand")[:2, :2].T @ begin.impulse)  # on the ball
        return in_cone(normal, across)

    cone = co.path(pushes, lower=0.0, scale=1.0, unit="N", name="friction")
    phases = {
        "throw": co.Problem(
            MODEL, co.Free(0.1, LONGEST, 0.3), effort, [cone], parts=[motors, co.loops.CutJoints(chain)]
        ),
        "flight": co.Problem(MODEL, flight, effort, parts=[motors]),
    }  # fmt: skip
    catch = co.impact("flight", "throw", {"palm": "xy"}, on="ball", held=True)
    landing = co.boundary(impulse_pushes, lower=0.0, scale=0.1, unit="N s", name="friction of the catch")
    return co.Phases(phases, [catch, landing])


def solved(flight: float, near: co.solution.PhasesSolution | None) -> co.solution.PhasesSolution:
    """The cheaper cycle from a hand at rest and a ball that goes up and down above it, and from another cycle."""
    rest = held_posture()

    def tossed(t: float) -> np.ndarray:
        return rest + np.array([0, 0, 0, 0, G / 2 * t * (flight - t)])

    guesses = [{"throw": lambda t: rest, "flight": tossed}, *([] if near is None else [near])]
    found = [co.solve(cycle(flight), CURVE, tol=1e-3, guess=guess, progress=False) for guess in guesses]
    return min(found, key=lambda solution: solution.cost)


def checks(solution: co.solution.PhasesSolution) -> dict[str, float]:
    """Relative differences of the impulse, of the weight over a cycle, and of the flight from what is known."""
    throw, flight = solution["throw"], solution["flight"]
    before, impulse = flight.at(flight.duration), throw.constants["impulse"]
    evaluator = co.Evaluator(MODEL)
    inverse = np.linalg.inv(evaluator.mass_matrix(before.q))
    steps = 1e-6 * np.eye(5)
    places = [[evaluator.point("hand", PALM, q=before.q + s * step).position for s in (-1, 1)] for step in steps]
    J = np.array([(np.ravel(b) - np.ravel(a))[:2] / 2e-6 for a, b in places]).T
    J[:, 3:] -= np.eye(2)  # relative to the ball
    by_hand = -np.linalg.solve(J @ inverse @ J.T, J @ before.qd)
    t = np.linspace(0, throw.duration, 2001)
    rising = throw.evaluate(lambda now: (now.rotation("hand")[:2, :2] @ now.cut_forces)[1], t)
    carried = float(np.trapezoid(np.ravel(rising), t)) - impulse[1]
    t = np.linspace(0, flight.duration, 21)
    ball, start = flight.at(t).q[:, 3:], flight.at(0.0)
    parabola = start.q[3:] + t[:, None] * start.qd[3:] - np.array([0, G / 2]) * t[:, None] ** 2
    return {
        "impulse_off": float(np.abs(by_hand - impulse).max() / np.abs(impulse).max()),
        "weight_off": abs(carried / (BALL * G * solution.duration) - 1),
        "flight_off": float(np.abs(ball - parabola).max()),
    }


@styled
def draw(found: dict[float, co.solution.PhasesSolution], file: str) -> None:
    """Paths of palm and ball, their heights, forces of the palm, and the effort over the time of flight."""
    flight, solution = list(found.items())[-1]
    figure = new_figure(figsize=(11.0, 6.4))
    left, right = figure.subfigures(1, 2, squeeze=False)[0]
    ax, evaluator = left.subplots(), co.Evaluator(MODEL)
    t = np.linspace(0, solution.duration, 400)
    palm = np.squeeze(solution.evaluate(lambda now: now.marker("palm").position[:2], t))
    ball = solution.at(t).q[:, 3:]
    for share in np.linspace(0, 1, 7):
        q = solution.at(float(share * solution.duration)).q
        joints = [np.ravel(evaluator.point(name, q=q).position)[:2] for name in ARM]
        joints.append(np.ravel(evaluator.point("hand", (0.12, 0, 0), q=q).position)[:2])
        ax.plot(*np.array(joints).T, "-", color=INK, alpha=0.25 + 0.5 * float(share), linewidth=1.5)
    ax.plot(*palm.T, color=BLUE, label="palm")
    ax.plot(*ball.T, color=ORANGE, linestyle="--", label="ball")
    ax.set_aspect("equal")
    dress(ax, "forward [m]", "up [m]")
    legend_below(left, ax.get_legend_handles_labels()[0])
    heights, forces, efforts = right.subplots(3, 1)
    heights.plot(t, palm[:, 1], color=BLUE)
    heights.plot(t, ball[:, 1], color=ORANGE, linestyle="--")
    dress(heights, "time [s]", "height [m]")
    throw = solution["throw"]
    t = np.linspace(0, throw.duration, 200)
    held = np.squeeze(throw.evaluate(lambda now: now.cut_forces, t))
    forces.plot(t, held[:, 1], color=GREEN, label="along the palm's normal")
    forces.plot(t, held[:, 0], color=INK, linestyle="--", label="across")
    dress(forces, "time [s]", "force on the ball [N]")
    forces.legend(fontsize=8, frameon=False)
    efforts.plot(list(found), [s.cost for s in found.values()], "o-", color=BLUE)
    dress(efforts, "time of flight [s]", "effort [N2 m2 s]")
    right.suptitle(f"a flight of {flight:g} s, and the effort of others", fontsize=10)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("arms.juggling", __doc__, argv, quick="one time of flight")
    numbers: dict[str, float] = {}
    found, rows, solution = {}, [], None
    for flight in FLIGHTS[:1] if args.quick else FLIGHTS:
        found[flight] = solution = solved(flight, solution)
        key = f"flight_{flight:g}"
        numbers |= {f"{key}.effort": solution.cost, f"{key}.throw": solution["throw"].duration}
        numbers |= {f"{key}.impulse": float(np.linalg.norm(solution["throw"].constants["impulse"]))}
        numbers |= {f"{key}.{name}": off for name, off in checks(solution).items()}
        numbers[f"{key}.terminal_miss"] = co.verify(solution).terminal_miss
        numbers[f"{key}.solved"] = float(solution.success)
        rows.append(Row(f"{flight:g} s of flight: effort [N2 m2 s]", solution.cost))
    for name in ("impulse_off", "weight_off", "flight_off", "terminal_miss"):
        numbers[name] = max(numbers[f"flight_{flight:g}.{name}"] for flight in found)
    print(table(args.question, rows))
    draw(found, args.figure)
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
