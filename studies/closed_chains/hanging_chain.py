"""Can one motor swing a chain of 4, 5 or 6 links, hung between two pins, from hanging to upright?

The links are uniform rods in a vertical plane. The first is hinged to the world and has the motor; the last ends at a
second pin, where the loop is cut (`co.loops.CutJoints`). All other hinges are passive, with some friction of their
bearings, so that one torque moves two, three or four freedoms. The chain rests at both ends: it begins as it is
assembled, and ends in the mirror image above the pins. Such a motion passes a singular posture of any choice of
independent joints, since the mirror image has the opposite sign of every triangle between hinges. With the loop cut all
joints are coordinates, and no posture is singular.

The plain call has no guess: it begins with a short way through closed postures. Its motion is compared with a
simulation forwards, interval by interval, and with the balance of energy: work of the motor, less friction and the
gained height.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import dress, styled
from colloc.studies.reporting import Row, arguments, finish, table

LENGTH, MASS, SPAN = 4.0, 4.0, 3.0  # m, kg: of the whole chain; m: between the pins
GRAVITY = 9.81  # m/s2
FRICTION = 1.0  # N m s/rad, at every hinge
DURATION = 2.0  # s
SETTLING = 200.0  # time constants of the loop's gap in the motion
LINKS = (4, 5, 6)


def hanging_chain(links: int) -> co.loops.ClosedChain:
    """The chain at rest below its pins, in a symmetric posture; joints "link1", "link2", ..., of which the first is
    driven.
    """
    length, mass = LENGTH / links, MASS / links
    moment = mass * length**2 / 12
    bodies = [
        co.Body(
            f"link{k + 1}",
            co.revolute(placement=co.placement((length * (k > 0), 0, 0)), passive=co.Passive(damping=FRICTION)),
            f"link{k}" if k else None,
            mass,
            (length / 2, 0, 0),
            (0, moment, moment),
            tip=(length, 0, 0),
        )
        for k in range(links)
    ]
    model = co.Model(bodies, gravity=(0, -GRAVITY, 0), name=f"chain of {links} links")
    pin = co.loops.on_line("pin", co.loops.Frame(f"link{links}", (length, 0, 0)), co.loops.Frame(None, (SPAN, 0, 0)))
    guess = np.diff(np.linspace(-0.8, 0.8, links), prepend=0.0)
    return co.loops.ClosedChain(model, [pin], actuators=["link1"], guess=guess)


def problem(chain: co.loops.ClosedChain) -> co.Problem:
    """From the assembled posture to its mirror image, at rest at both ends, with the least squared torque."""
    return co.Problem(
        model=chain.model,
        duration=DURATION,
        minimize=co.integral(lambda now: now.tau[0] ** 2),
        subject_to=[co.initial(q=chain.posture, qd=0.0), co.final(q=-chain.posture, qd=0.0)],
        parts=[co.loops.CutJoints(chain, settling=SETTLING)],
    )


def height(chain: co.loops.ClosedChain, q: np.ndarray) -> np.ndarray:
    """Height of the middle of all links, shape (N, links) [m], at q, shape (N, links)."""
    rises = LENGTH / q.shape[1] * np.sin(np.cumsum(q, axis=1))
    return np.cumsum(rises, axis=1) - rises / 2


def unbalanced(chain: co.loops.ClosedChain, solution: co.Solution) -> float:
    """Work of the motor less friction and gained height, of the sum of the three."""
    points, weights = np.polynomial.legendre.leggauss(8)
    edges = np.linspace(0, DURATION, 401)
    t = (edges[:-1, None] + np.diff(edges)[:, None] * (points + 1) / 2).ravel()
    step = (np.diff(edges)[:, None] * weights / 2).ravel()
    sample = solution.at(t)
    work = float(step @ (sample.tau[:, 0] * sample.qd[:, 0]))
    friction = float(step @ (FRICTION * sample.qd**2).sum(axis=1))
    gained = float(MASS * GRAVITY * np.diff(height(chain, solution.q[[0, -1]]).mean(axis=1))[0])
    return abs(work - friction - gained) / (abs(work) + friction + abs(gained))


def numbers_of(chain: co.loops.ClosedChain, solution: co.Solution) -> dict[str, float]:
    """The numbers of a solution."""
    sample = solution.at(np.linspace(0, DURATION, 20_001))
    check = co.verify(solution)
    return {
        "cost": solution.cost,
        "torque": float(np.abs(sample.tau[:, 0]).max()),
        "gap": float(co.loops.closure_error(chain, sample.q[::10]).max()),
        "missed": float(np.abs(solution.q[-1] + chain.posture).max()),
        "forward": check.forward_error,
        "local": check.local_error,
        "unbalanced": unbalanced(chain, solution),
        "seconds": sum(round.seconds for round in solution.rounds),
        "solved": float(solution.success),
    }


@styled
def draw(found: Mapping[int, co.Solution], file: str) -> None:
    """Postures of every chain, and the torque of its motor."""
    figure = new_figure(figsize=(4.0 * len(found), 5.6))
    axes = figure.subplots(2, len(found), squeeze=False, height_ratios=(1.4, 1.0))
    for (links, solution), above, below in zip(found.items(), *axes, strict=True):
        times = np.linspace(0, DURATION, 9)
        for k, q in enumerate(solution.at(times).q):
            angles = np.cumsum(q)
            path = np.cumsum(LENGTH / links * np.array([np.cos(angles), np.sin(angles)]), axis=1)
            shade = str(0.8 - 0.8 * k / (len(times) - 1))
            above.plot([0.0, *path[0]], [0.0, *path[1]], "o-", color=shade, markersize=3)
        above.set_aspect("equal")
        above.set_title(f"{links} links")
        t = np.linspace(0, DURATION, 1000)
        below.plot(t, solution.at(t).tau[:, 0], color="black")
        dress(above, "x [m]", "y [m]")
        dress(below, "t [s]", "torque [N m]")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("closed_chains.hanging_chain", __doc__, argv, quick="four links")
    numbers: dict[str, float] = {}
    rows, notes, found = [], [], {}
    for links in LINKS[:1] if args.quick else LINKS:
        chain = hanging_chain(links)
        found[links] = co.solve(problem(chain), progress=False)
        own = numbers_of(chain, found[links])
        numbers |= {f"hanging_chain.{links}.{key}": value for key, value in own.items()}
        rows += [
            Row(f"{links} links: loop open by at most [m]", own["gap"], 0.0, "closure"),
            Row(f"{links} links: energy out of balance", own["unbalanced"], 0.0, "work, friction and height"),
            Row(f"{links} links: simulated interval by interval, off by [rad]", own["local"], 0.0, "simulation"),
        ]
        notes.append(
            f"  {links} links: squared torque {own['cost']:.4g} N2 m2 s, at most {own['torque']:.3g} N m; simulated in "
            f"one piece off by {own['forward']:.1e} rad at most; {own['seconds']:.0f} s"
        )
    print(table(args.question, rows, notes))
    draw(found, args.figure)
    return finish(args, numbers, found[LINKS[0]])


if __name__ == "__main__":
    main()
