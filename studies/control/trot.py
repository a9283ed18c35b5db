"""Does a controller that plans over a repeated schedule of contacts keep a trotting quadruped up?

The schedule has two phases of 0.25 s: the left front and the right hind foot push, then the other two. At every tick of
10 ms one step of sequential quadratic programming improves the plan of one cycle. The unknowns are the joints and the
forces of the feet, in friction cones. The plan respects the limits of the torques. The ground of the simulation is
another one: springs and dampers with friction. Its robot is heavier than the model, states are measured with noise, and
torques act late. In MuJoCo, with rigid contacts, the same loop trots for 1,000 ticks too (`tests/studies`).

A spatial quadruped of 18 joints, whose base turns on a quaternion, is planned from the states of its own plan, with
three stated forces for every foot: for the times of its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, INK, VERMILLION, dress, styled
from colloc.studies.control.tracking import scaled
from colloc.studies.films import of_samples
from colloc.studies.reporting import Row, arguments, finish, table

TICK, HALF, LATE = 0.01, 0.25, 0.004  # s
HEAVIER, NOISE = 1.1, (3e-3, 3e-2)  # of masses; rad or m, and per s
LENGTH, HIP, WIDTH = 0.22, 0.2, 0.1  # m: of thigh and shank, of half the trunk along and across
HEIGHT, CLEARANCE = 0.3, 0.06  # m, of the trunk and of swinging feet
WEIGHT = 9.81 * 17.2  # N
TORQUE, FRICTION = 40.0, 0.6  # N m
STIFFNESS, DAMPING, SLIP = 2e4, 200.0, 0.02  # N/m, N s/m, m/s: of the simulated ground
PAIRS = {"left front": ("lf", "rh"), "right front": ("rf", "lh")}  # feet that push, by phase
SUBSTEPS = 50
LEGS = ("lf", "rf", "lh", "rh")
SPEED = co.Parameter("speed", 0.5)  # m/s, forward


def quadruped(spatial: bool = False) -> co.Model:
    """A trunk on four legs of two links, in the x-z plane or in space, where hips move sideways as well."""
    if spatial:
        bodies = list(co.floating("trunk", mass=12.0, inertia=(0.1, 0.4, 0.4)))
    else:
        axes = {"forward": co.prismatic((1, 0, 0)), "up": co.prismatic((0, 0, 1)), "trunk": co.revolute((0, 1, 0))}
        bodies = [co.Body("forward", axes["forward"]), co.Body("up", axes["up"], "forward")]
        bodies.append(co.Body("trunk", axes["trunk"], "up", 12.0, (0, 0, 0), (0.1, 0.4, 0.4)))
    markers = {}
    for leg in LEGS:
        place = (HIP if leg[1] == "f" else -HIP, (WIDTH if leg[0] == "l" else -WIDTH) * spatial, 0.0)
        hip, root = co.placement(place), "trunk"
        if spatial:
            bodies.append(
                co.Body(f"{leg} side", co.revolute((1, 0, 0), hip), "trunk", 0.5, (0, 0, 0), (1e-3, 1e-3, 1e-3))
            )
            hip, root = None, f"{leg} side"
        thigh, shank = co.revolute((0, 1, 0), hip), co.revolute((0, 1, 0), co.placement((0, 0, -LENGTH)))
        bodies.append(co.Body(f"{leg} hip", thigh, root, 1.0, (0, 0, -0.06), (0.006, 0.006, 0.001)))
        bodies.append(co.Body(f"{leg} knee", shank, f"{leg} hip", 0.3, (0, 0, -0.1), (0.002, 0.002, 0.0002)))
        markers |= {leg: (f"{leg} knee", (0, 0, -LENGTH)), f"{leg} hip": ("trunk", place)}
    return co.Model(bodies, gravity=(0, 0, -9.81), markers=markers, name="quadruped" if spatial else "planar quadruped")


def standing(model: co.Model) -> np.ndarray:
    """Positions above bent legs."""
    bend = float(np.arccos(HEIGHT / 2 / LENGTH))
    angles = {"hip": -bend, "knee": 2 * bend, "side": 0.0}
    legs = [angles[name.split()[-1]] for name in model.joint_names if name[:2] in LEGS]
    base = model.neutral[: model.n_q - len(legs)].copy()
    base[[k for k, name in enumerate(model.position_names) if name in ("up", "trunk_tz")]] = HEIGHT
    return np.append(base, legs)


def phase(model: co.Model, feet: Sequence[str], start: Sequence[co.problem.Statement] = ()) -> co.Problem:
    """A phase in which two feet push, and the others swing."""
    axes = [0, 2] if model.n_q == model.n else [0, 1, 2]
    up, size = len(axes) - 1, len(axes)
    inner = [k for k, name in enumerate(model.joint_names) if name[:2] in LEGS]
    even = np.tile(np.eye(size)[up] * WEIGHT / 2, 2)
    far = np.tile([-150.0] * up + [0.0], 2), np.tile([150.0] * up + [300.0], 2)
    force = co.Unknown("force", 2 * size, guess=even, lower=far[0], upper=far[1])

    def pushed(now: Any, k: int) -> ca.SX:
        return ca.densify(ca.SX.eye(3)[:, axes] @ now.force[k * size : (k + 1) * size])

    def cost(now: Any) -> ca.SX:
        trunk, s = now.point("trunk"), now.t / now.duration
        turned = now.rotation("trunk")
        away = ca.vertcat(trunk.velocity[0] - now.speed, trunk.velocity[1], trunk.position[1])
        total = 400 * (trunk.position[2] - HEIGHT) ** 2 + 100 * ca.sumsqr(turned - ca.DM.eye(3)) + 20 * ca.sumsqr(away)
        total += 5 * trunk.velocity[2] ** 2 + 2 * ca.sumsqr(now.angular_velocity("trunk")) + 3e-5 * ca.sumsqr(now.qdd)
        total += 5e-3 * ca.sumsqr(now.tau[inner]) + 0.05 * ca.sumsqr(now.qd[inner])
        total += 1e-5 * ca.sumsqr(now.force - even)
        for leg in LEGS:
            foot, hip = now.marker(leg), now.marker(f"{leg} hip").position
            if leg in feet:
                total += 300 * ca.sumsqr(foot.velocity + ca.vertcat(0, 0, 10 * foot.position[2]))
                continue
            step = ca.vertcat(foot.position[0] - hip[0] - now.speed * HALF / 2, foot.position[1] - hip[1])
            height = CLEARANCE * ca.sin(np.pi * s) ** 2
            total += 2000 * (foot.position[2] - height) ** 2 + 200 * s**2 * ca.sumsqr(step)
        return total

    def cones(now: Any) -> ca.SX:
        sides = [sign * now.force[k * size + a] for k in (0, 1) for a in range(up) for sign in (1, -1)]
        ups = [now.force[k * size + up] for k in (0, 1) for _ in range(2 * up)]
        return FRICTION * ca.vertcat(*ups) + ca.vertcat(*sides)

    passive = {name: (0.0, 0.0) for name in model.joint_names if name[:2] not in LEGS}
    motors = {model.joint_names[k]: (-TORQUE, TORQUE) for k in inner}
    stated = [
        co.bounds(tau=passive | motors),
        co.path(cones, lower=0.0, scale=50.0, unit="N", name="friction"),
        *start,
    ]
    loads = [
        co.Load(model.markers[leg][0], lambda now, k=k: pushed(now, k), point=model.markers[leg][1])
        for k, leg in enumerate(feet)
    ]
    return co.Problem(model, HALF, co.integral(cost), stated, [force], parameters=[SPEED], loads=loads)


def schedule(model: co.Model) -> co.Phases:
    """A cycle of the trot, which begins at rest."""
    first, second = PAIRS
    start = [co.initial(q=standing(model), qd=0.0)]
    return co.Phases({first: phase(model, PAIRS[first], start), second: phase(model, PAIRS[second])})


def ground(model: co.Model) -> Any:
    """A heavier robot on springs and dampers with friction, as a plant for `closed_loop`."""

    def reaction(now: Any, leg: str) -> ca.SX:
        foot = now.point(*model.markers[leg])
        depth = ca.fmax(-foot.position[2], 0.0)
        normal = ca.fmax(STIFFNESS * depth - DAMPING * ca.sign(depth) * foot.velocity[2], 0.0)
        return ca.vertcat(-0.8 * normal * ca.tanh(foot.velocity[0] / SLIP), 0, normal)

    loads = [co.Load(body, lambda now, leg=leg: reaction(now, leg), point=at) for leg, (body, at) in feet_of(model)]
    system = co.control.discretise(scaled(model, HEAVIER), TICK / SUBSTEPS, loads=loads)

    def step(q: np.ndarray, qd: np.ndarray, tau: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
        end = system.step(0, np.append(q, qd), tau)
        return end[: model.n_q], end[model.n_q :]

    return step


def feet_of(model: co.Model) -> list[tuple[str, tuple[str, Any]]]:
    """Legs, with the body and the point of their feet."""
    return [(leg, model.markers[leg]) for leg in LEGS]


def trot(ticks: int, plant: Any = None) -> co.control.ClosedLoop:
    """The planar quadruped in a simulated loop; on the ground of `ground` by default."""
    model = quadruped()
    controller = co.control.receding(schedule(model), co.BSpline(4), tick=TICK)
    return co.control.closed_loop(
        controller, ticks * TICK, q=standing(model), qd=0.0, plant=plant or ground(model), delay=LATE, noise=NOISE,
        substeps=SUBSTEPS,
    )  # fmt: skip


def spatial(ticks: int, steps: int) -> np.ndarray:
    """Processor time of every tick of a spatial quadruped whose state is that of its plan [s]."""
    model = quadruped(spatial=True)
    controller = co.control.receding(schedule(model), co.BSpline(5), tick=TICK, steps=steps)
    q, qd, seconds = standing(model), np.zeros(model.n), []
    for k in range(ticks):
        tick = controller(q, qd, t=k * TICK)
        seconds.append(tick.processor)
        q, qd = tick.state(TICK)
    return np.array(seconds)


@styled
def draw(loop: co.control.ClosedLoop, heights: np.ndarray, file: str) -> None:
    """The trunk and two feet over two seconds, the forward speed, and a histogram of the steps' times."""
    figure = new_figure(figsize=(12.5, 3.8))
    left, middle, right = figure.subplots(1, 3)
    shown = loop.t < 2.0
    left.plot(loop.t[shown], 1e3 * loop.q[shown, 1], color=INK)
    for k, color in ((0, BLUE), (1, VERMILLION)):
        left.plot(loop.t[shown], 1e3 * heights[shown, k], color=color)
    for begin in np.arange(0, 2.0, 2 * HALF):
        left.axvspan(begin, begin + HALF, color=BLUE, alpha=0.08, linewidth=0)
    left.set_title("heights: trunk, left (blue) and right front foot", loc="left")
    dress(left, "time [s]", "height [mm]")
    middle.plot(loop.t, loop.qd[:, 0], color=BLUE)
    middle.axhline(float(SPEED.value[0]), color=INK, linestyle="--", linewidth=1.0)
    middle.set_title("forward speed, and the one that is wanted", loc="left")
    dress(middle, "time [s]", "speed [m/s]")
    right.hist(1e3 * loop.processor, bins=40, color=BLUE)
    right.set_title(f"a step; the longest takes {1e3 * loop.processor.max():.1f} ms", loc="left")
    dress(right, "processor time of a step [ms]", "ticks")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("control.trot", __doc__, argv)
    loop = trot(60 if args.quick else 1000)
    model, settled = quadruped(), loop.t > 0.5
    points = co.Evaluator(model)
    heights = np.stack([points.point(*place, q=loop.q).position[:, 2] for _, place in feet_of(model)], axis=1)
    numbers = {
        "ticks": float(np.isfinite(loop.q).all(axis=1).sum() - 1),
        "height.least": float(loop.q[settled, 1].min()),
        "pitch.largest": float(np.abs(loop.q[:, 2]).max()),
        "speed": float(loop.qd[settled, 0].mean()),
        "torque": float(np.abs(loop.tau).max() / TORQUE),
        "untrusted": loop.untrusted / len(loop.ticks),
        "seconds.median": float(np.median(loop.processor)),
        "seconds.longest": float(loop.processor.max()),
    }
    rows = [
        Row("ticks", numbers["ticks"]),
        Row("trunk, least height [m]", numbers["height.least"], HEIGHT, "wanted"),
        Row("trunk, largest pitch [rad]", numbers["pitch.largest"]),
        Row("forward speed, mean [m/s]", numbers["speed"], float(SPEED.value[0]), "wanted"),
        Row("largest torque, of its limit", numbers["torque"], 1.0, "the limit"),
        Row("ticks that are not trusted, share", numbers["untrusted"]),
        Row("a step, median, processor [s]", numbers["seconds.median"]),
        Row("the longest one [s]", numbers["seconds.longest"]),
    ]
    for name, steps in (("one", 1), ("converged", 10)):
        seconds = spatial(10 if args.quick else 100, steps)
        numbers |= {
            f"spatial.{name}.median": float(np.median(seconds)),
            f"spatial.{name}.longest": float(seconds.max()),
        }
        rows.append(Row(f"18 joints, {name}: median, processor [s]", numbers[f"spatial.{name}.median"]))
        rows.append(Row("    the longest one [s]", numbers[f"spatial.{name}.longest"]))
    print(table(args.question, rows))
    draw(loop, heights, args.figure)
    return finish(args, numbers, of_samples(model, loop.t, loop.q))


if __name__ == "__main__":
    main()
