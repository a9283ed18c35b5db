"""How fast does a satellite with thrusters turn by half a turn, and why not about one axis?

A satellite with equal moments of inertia, and a pair of jets for each of its axes, 1 m from its middle. In units of
1 kg m2 and 1 N m, a turn by 180 degrees about the third axis from rest to rest takes 2 sqrt(pi) = 3.5449 s with the
jets of that axis alone. Bilimoria and Wie (1993, "Time-optimal three-axis reorientation of a rigid spacecraft", Journal
of Guidance, Control, and Dynamics 16) found that all three axes together need 3.2431 s.

The attitude is a unit quaternion. The forces are integrated once more, by equations written by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import colloc as co
from colloc.problem import Thruster, Thrusters
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.runge_kutta import integrated

MOST = 0.5  # N, of a jet in either direction, 1 m from the middle: 1 N m by a pair
PUBLISHED, ONE_AXIS = 3.2431, 2 * np.pi**0.5  # s
STEPS = 20  # of the simulation, on every interval


def jets() -> Thrusters:
    """Two jets with two sides for each axis, on opposite sides of the body."""
    axes = np.eye(3)
    return Thrusters(
        [
            Thruster(f"{'xyz'[k]}{sign}", "satellite", force, place, lower=-MOST, upper=MOST)
            for k in range(3)
            for sign, force, place in (
                ("+", axes[(k + 2) % 3], axes[(k + 1) % 3]),
                ("-", -axes[(k + 2) % 3], -axes[(k + 1) % 3]),
            )
        ]
    )


def problem() -> co.Problem:
    """Half a turn from rest to rest, in the shortest time."""
    body = co.spherical("satellite", sequence="quaternion", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model = co.Model(body, gravity=(0, 0, 0), name="satellite")
    ends = [co.initial(q=(1.0, 0.0, 0.0, 0.0), qd=0.0), co.final(q=(0.0, 0.0, 0.0, 1.0), qd=0.0)]
    return co.Problem(model, co.Free(1.0, 9.0, 3.5), co.duration(), ends, parts=[jets()])


def aside(t: float) -> list[float]:
    """A guess that leaves the axis: half a turn about z, tilted on the way."""
    s = t / 3.5
    q = np.array([np.cos(np.pi * s / 2), 0.4 * np.sin(np.pi * s), 0.15 * np.sin(2 * np.pi * s), np.sin(np.pi * s / 2)])
    return list(q / np.linalg.norm(q))


def rates(state: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Rates of a quaternion and of velocities about the body's axes, of a body whose inertia is 1 about all axes."""
    (w, *u), omega = state[:4], state[4:]
    return np.concatenate([[-np.dot(u, omega) / 2], (w * omega + np.cross(u, omega)) / 2, moment])


def simulated(solution: co.Solution) -> float:
    """By how much the attitude misses the end, after the classic method of order four."""
    start = np.array([1.0, 0, 0, 0, 0, 0, 0])
    *_, end = integrated(solution, rates, start, lambda t: solution.at(t).thrust.reshape(-1, 3, 2).sum(axis=2), STEPS)
    return 2 * float(np.linalg.norm(end[[0, 1, 2]]))  # rad


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("robots.satellite", __doc__, argv)
    curve = co.Radau(16, degree=4) if args.quick else co.Radau(48, degree=4)
    solution = co.solve(problem(), curve, guess=aside, tol=0.02, progress=False)
    numbers = {"T": solution.duration, "miss": simulated(solution), "solved": float(solution.success)}
    rows = [
        Row("duration [s]", solution.duration, PUBLISHED, "Bilimoria and Wie (1993)"),
        Row("miss of the end, simulated [rad]", numbers["miss"], 0.0, "the solution"),
    ]
    print(table(args.question, rows, [f"  about the third axis alone: {ONE_AXIS:.4f} s"]))
    co.plot.save_figure(co.plot.signals(solution), args.figure)
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
