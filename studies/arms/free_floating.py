"""How does a free-floating arm turn itself over without angular momentum?

Two equal rods, joined by two hinges whose axes cross at a right angle, float without gravity: a satellite's arm, or the
two halves of the cat that lands on its feet (Kane and Scher 1969, "A dynamical explanation of the falling cat
phenomenon", International Journal of Solids and Structures 5). From rest and straight to rest and straight in a second,
turned over by 180 degrees about its length, with the least integral of squared torques. Nothing but the two hinges is
driven, so that linear and angular momentum stay zero, and only the order of bending turns it.

The attitude of the first rod is a unit quaternion, and in a second run three angles, which come to the same motion. The
torques are integrated by a Runge-Kutta method in quaternions that know nothing of splines.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import cos, pi, sin
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.runge_kutta import integrated

LENGTH, MASS = 0.5, 2.0  # m, kg, of a rod
INERTIA = (0.05, 0.05, 0.01)  # kg m2, about its centre; the last along it
DURATION, BENT = 1.0, 1.2  # s; rad, how far the guess bends
HINGES = ("pitch", "rear")
STEPS = 50  # of the simulation, on every interval


def two_rods(sequence: str) -> co.Model:
    """Two rods end to end, the first of which floats, its attitude by `sequence`."""
    rod: dict[str, Any] = {"mass": MASS, "inertia": INERTIA}
    return co.Model(
        [
            *co.floating("front", sequence=sequence, com=(0, 0, -LENGTH / 2), tip=(0, 0, -LENGTH), **rod),
            co.Body("pitch", co.revolute((1, 0, 0)), "front"),
            co.Body("rear", co.revolute((0, 1, 0)), "pitch", com=(0, 0, LENGTH / 2), tip=(0, 0, LENGTH), **rod),
        ],
        gravity=(0, 0, 0),
        name="two rods",
    )


def attitude(turn: float, sequence: str) -> list[float]:
    """Coordinates of a turn about the length of the rods."""
    return [cos(turn / 2), 0.0, 0.0, sin(turn / 2)] if sequence == "quaternion" else [turn, 0.0, 0.0]


def problem(sequence: str) -> co.Problem:
    """Turned over by the hinges alone. Momentum is conserved, so that the base ends at rest without a row for it."""
    model = two_rods(sequence)
    base = [joint for joint in model.joint_names if joint not in HINGES]
    names = [name for name in model.position_names if name.startswith("front") and "_t" not in name]
    over = dict(zip(names, attitude(pi, sequence), strict=True))
    start, end = (
        co.initial(q=model.neutral, qd=0.0),
        co.final(q={**over, "pitch": 0.0, "rear": 0.0}, qd=dict.fromkeys(HINGES, 0.0)),
    )
    limits = co.bounds(tau={joint: (0.0, 0.0) for joint in base}, q={joint: (-2.5, 2.5) for joint in HINGES})
    return co.Problem(model, DURATION, co.integral(lambda now: ca.sumsqr(now.tau), "effort"), [start, end, limits])


def round_about(sequence: str) -> Any:
    """A guess: bent, the bend led once round, and straight again."""

    def posture(t: float) -> list[float]:
        s = t / DURATION
        bend, way = BENT * sin(pi * s), 2 * pi * s
        return [0.0, 0.0, 0.0, *attitude(pi * s, sequence), bend * cos(way), bend * sin(way)]

    return posture


def equations(model: co.Model) -> tuple[ca.Function, ca.Function]:
    """Rates of positions and velocities, by these and the torques; linear and angular momentum."""
    q, qd, tau = (ca.SX.sym(k, len(model.names(k))) for k in ("q", "qd", "tau"))
    driven = ca.DM([float(joint in HINGES) for joint in model.joint_names])
    rates = [model.position_rates(q, qd), co.dynamics.forward_dynamics(model, q, qd, driven * tau)]
    momentum = ca.vertcat(*co.dynamics.momentum(model, q, qd))
    state = ca.vertcat(q, qd)
    return ca.Function("rates", [state, tau], [ca.vertcat(*rates)]), ca.Function("momentum", [state], [momentum])


def simulated(solution: co.Solution) -> tuple[np.ndarray, float]:
    """Where the torques of a solution lead, integrated by the classic method of order four, and its momentum then."""
    rates, momentum = equations(solution.problem.model)
    start = ca.DM(np.concatenate([solution.q[0], solution.qd[0]]))
    states = list(integrated(solution, rates, start, lambda t: solution.at(t).tau, STEPS))
    return np.array(states[-1]).ravel(), max(float(ca.norm_inf(momentum(state))) for state in states)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("arms.free_floating", __doc__, argv, quick="a coarser grid, and no three angles")
    intervals = (48,) if args.quick else (48, 160)
    numbers: dict[str, float] = {}
    solutions: dict[str, co.Solution] = {}
    for sequence in ("quaternion",) if args.quick else ("quaternion", "zyx"):
        begin, guess = time.perf_counter(), round_about(sequence)
        for count in intervals:
            curve = co.BSpline(count, degree=5)
            guess = co.solve(problem(sequence), curve, guess=guess, compile=False, progress=False)
        solutions[sequence] = guess
        numbers[f"{sequence}.cost"] = guess.cost
        numbers[f"{sequence}.solved"] = float(guess.success)
        numbers[f"{sequence}.forward_error"] = co.verify(guess).local_error
        numbers[f"{sequence}.seconds"] = time.perf_counter() - begin
    best = solutions["quaternion"]
    t = np.linspace(0, DURATION, 201)
    spun = best.evaluate(lambda now: ca.vertcat(*co.dynamics.momentum(now.model, now.q, now.qd)), t)
    numbers["momentum_of_spline"] = float(np.abs(spun).max())
    state, numbers["momentum_simulated"] = simulated(best)
    numbers["miss_simulated"] = float(np.abs(state[: best.problem.model.n_q] - best.q[-1]).max())
    numbers["bend"] = float(np.degrees(np.abs(best.at(t).q[:, -2:]).max()))
    rows = [
        Row("effort [N2 m2 s], quaternion", best.cost, numbers.get("zyx.cost", best.cost), "three angles"),
        Row("momentum while the torques are integrated", numbers["momentum_simulated"], 0.0, "conserved"),
        Row("miss of the end by that simulation [m, 1]", numbers["miss_simulated"], 0.0, "the solution"),
    ]
    print(table(args.question, rows, [f"  the hinges bend up to {numbers['bend']:.0f} degrees"]))
    co.plot.save_figure(co.plot.summary(best), args.figure)
    return finish(args, numbers, best)


if __name__ == "__main__":
    main()
