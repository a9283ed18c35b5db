"""How high does a planar human jump, and does the flight obey ballistics?

A countermovement jump with arm swing, as high as can be, from standing still to rest, as four phases
(`colloc.studies.jumping.phases`) with free durations but for the first: on flat feet, on the balls, in the air, and on
flat feet again, with a rigid impact between the last two. Segments are de Leva's (1996), torques at the speeds of the
joints those of Anderson, Madigan and Nussbaum (2007). Searches start from postures of a jump, and from random ones
about them.

All of 20 random starts end in the same jump: down on flat feet with the arms swinging back, up over the balls with the
arms swinging forward, 0.30 m with the centre of mass above its height when standing. The flight lasts as long as
ballistics says to 3e-7, its momenta are kept to 1.1e-5 of the upward one, and the force that the ground must not have
is at most 0.15 % of body weight. People jump with more power: the ground does 2.3 kW at most on the centre of mass,
where Harman, Rosenstein, Frykman and Rosenstein (1990), "The effects of arms and countermovement on vertical jumping",
Med. Sci. Sports Exerc. 22, measured more than 3 kW; muscles here gain nothing from being stretched. With the arms held
still the flight is lower: they add 36 % to its height, as much as the 38 % that Vaverka et al. (2016), "Effect of an
arm swing on countermovement vertical jump performance in elite volleyball players", J. Hum. Kinet. 53, measured.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from itertools import pairwise

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import colloc as co
from colloc.models.human.jumper2d import jumper2d
from colloc.models.human.planar import with_ends
from colloc.models.human.stance import VERTICAL
from colloc.plot.animation import write_film
from colloc.plot.skeleton import Skeleton, assembled, places
from colloc.plot.style import BLUE, FADE, INK, MUTED, ORANGE, dress, legend_below, styled
from colloc.studies.jumping.phases import GROUND, Jump
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.transcription import Keyframes

LANDING = (0, 0.03, 0.06, 0.1, 0.15, 0.22, 0.3, 0.4, 0.5, 0.65, 0.8, 1)
COARSE = {
    "push": co.BSpline(8, degree=4, continuity=1),
    "toes": co.BSpline(9, degree=4, continuity=1),
    "flight": co.BSpline(12, degree=4, continuity=1),
    "landing": co.BSpline(breakpoints=LANDING, degree=4, continuity=1),
}
OFF = (0, 0.14, 0.28, 0.42, 0.55, 0.67, 0.78, 0.88, 0.95, 1)
FLYING = (0, 0.04, 0.1, 0.18, 0.28, 0.4, 0.52, 0.64, 0.76, 0.88, 1)
FINE = COARSE | {
    "toes": co.BSpline(breakpoints=OFF, degree=5, continuity=1),
    "flight": co.BSpline(breakpoints=FLYING, degree=5, continuity=1),
}
IPOPT = {"mu_strategy": "adaptive", "max_iter": 400}
SPREAD = 0.3  # rad, of the joints' angles in random starts
SAME = 1e-4  # of the cost
BODY = ("toe", "heel", "ankle", "toe", "ankle", "knee", "hip", "shoulder", "head_top")
ARM = ("shoulder", "elbow", "fingertip")  # lines of the stick figure
OPTIONS = (
    Option("starts", 20, "number of random starts", least=0),
    Option("mass", None, "kg, by default that of the mean man", above=0.0),
    Option("height", None, "m, by default that of the mean man", above=0.0),
)


def start(jump: Jump, rng: np.random.Generator | None = None) -> dict[str, Keyframes]:
    """Postures to start from, with noise in all joints of the body if a generator is given."""
    inner = np.array([name not in GROUND for name in jump.model.joint_names])

    def shaken(posture: np.ndarray) -> np.ndarray:
        return posture if rng is None else posture + SPREAD * inner * rng.standard_normal(posture.size)

    return {phase: co.keyframes({s: shaken(q) for s, q in own.items()}) for phase, own in jump.guess().items()}


def solved(nlp: co.SequenceNLP, guess: dict[str, Keyframes]) -> co.SequenceSolution:
    """The jump found from a start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.SolutionWarning)  # the table says it
        return co.solve(nlp, guess=guess, ipopt=IPOPT, raise_on_failure=False, progress=False)


def rising_speed(jump: Jump, now: co.Instant) -> ca.SX:
    """Speed at which the centre of mass rises [m/s]."""
    return co.dynamics.momentum(now.model, now.q, now.qd).linear[1] / jump.human.mass


def measured(jump: Jump, solution: co.SequenceSolution) -> dict[str, float]:
    """Height, forces, and what the flight keeps."""
    mass, g = jump.human.mass, jump.weight / jump.human.mass
    flight, toes = solution["flight"], solution["toes"]
    t = np.linspace(0, flight.duration, 401)

    def momenta(now: co.Instant) -> tuple[ca.SX, ca.SX, ca.SX]:
        p = co.dynamics.momentum(now.model, now.q, now.qd)
        return p.linear, p.centroidal[0], co.dynamics.center_of_mass(now.model, now.q)

    linear, angular, centre = flight.evaluate(momenta, t)
    fallen = linear[:, 1] + mass * g * t
    speed = linear[0, 1] / mass
    drift = [fallen, linear[:, 2], np.ravel(angular) / jump.human.stature]  # angular as that of a mass on its rim
    lost = max(np.abs(values - values[0]).max() for values in drift) / abs(linear[0, 1])
    fall = centre[0, 1] - centre[-1, 1]
    ballistic = (speed + np.sqrt(speed**2 + 2 * g * fall)) / g
    standing = solution["push"].evaluate(lambda now: co.dynamics.center_of_mass(now.model, now.q)[1], [0.0])
    apex = centre[0, 1] + speed**2 / (2 * g)
    on_balls = np.linspace(0, toes.duration, 401)
    force, rising = toes.evaluate(lambda now: (now.tau[jump.joint(VERTICAL)], rising_speed(jump, now)), on_balls)
    return {
        "height": float(apex - standing[0]),
        "height.above_take_off": float(apex - centre[0, 1]),
        "take_off_speed": float(speed),
        "flight_time": flight.duration,
        "flight_time.error": float(abs(flight.duration / ballistic - 1)),
        "momentum_error": float(lost),
        "violation": max(v.amount / jump.weight if v.unit in ("N", "N m") else v.relative for v in solution.violations),
        "error": float(solution.error),
        "peak_force": float(force.max() / jump.weight),
        "peak_power": float((force * rising).max()),
        "contact_time": solution["push"].duration + toes.duration,
        "solved": float(solution.success),
        "iterations": float(solution.iterations),
    }


def draw_strip(ax: Axes, jump: Jump, solution: co.SequenceSolution, times: np.ndarray) -> None:
    """The jumper side by side at some times."""
    for k, t in enumerate(times):
        for line in (BODY, ARM):
            places = solution.evaluate(
                lambda now, line=line: tuple(now.point(*jump.human.landmarks[name]).position for name in line), float(t)
            )
            y, z = np.array(places)[:, 1], np.array(places)[:, 2]
            ax.plot(0.75 * k + z, y, color=FADE(0.25 + 0.75 * k / (times.size - 1)), linewidth=2.2)
    ax.set_aspect("equal")
    ax.set_xticks(0.75 * np.arange(times.size), [f"{t:.2f} s" for t in times])
    dress(ax, "", "y [m]")
    ax.grid(False, axis="x")


@styled
def draw(jump: Jump, solution: co.SequenceSolution, file: str) -> None:
    """The jumper, the ground's force, and the height of the centre of mass beside a parabola."""
    figure = plt.figure(figsize=(12.5, 8.6))
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.1), squeeze=False)[:, 0]
    ends = [*solution.starts.values(), solution.duration]
    push, toes, flight, landing = pairwise(ends)
    shown = ((push, 4), (toes, 3), (flight, 4), (landing, 2))
    inside = [np.linspace(begin, end, n, endpoint=False) for (begin, end), n in shown]
    draw_strip(top.subplots(), jump, solution, np.append(np.concatenate(inside), solution.duration))
    force, height = bottom.subplots(1, 2)
    t = np.linspace(0, solution.duration, 1500)
    sample = solution.at(t)
    for name, color in (("stance_vertical", BLUE), ("stance_forward", ORANGE)):
        label = {"stance_vertical": "upward", "stance_forward": "forward"}[name]
        force.plot(t, sample.tau[:, jump.joint(name)] / jump.weight, color=color, label=label)
    dress(force, "time [s]", "force of the ground over body weight")
    y, speed = solution.evaluate(
        lambda now: (co.dynamics.center_of_mass(now.model, now.q)[1], rising_speed(jump, now)), t
    )
    height.plot(t, y, color=BLUE, linewidth=4.0, alpha=0.4, label="centre of mass")
    k = int(np.searchsorted(t, flight[0], side="right"))
    fly = np.linspace(flight[0], flight[1], 200) - t[k]
    g = jump.weight / jump.human.mass
    height.plot(t[k] + fly, y[k] + speed[k] * fly - g / 2 * fly**2, color=INK, linewidth=1.2, label="parabola")
    dress(height, "time [s]", "y [m]")
    for ax in (force, height):
        for moment in ends[1:-1]:
            ax.axvline(moment, color=MUTED, linewidth=0.8, linestyle=":")
    legend_below(bottom, [*force.get_legend_handles_labels()[0], *height.get_legend_handles_labels()[0]])
    co.plot.save_figure(figure, file)
    plt.close(figure)


def seen_from_pelvis(jump: Jump, solution: co.SequenceSolution, t: np.ndarray) -> np.ndarray:
    """Coordinates of the jumper on its pelvis, shape (N, n)."""
    q = solution.at(t).q
    joints = {name: q[:, jump.joint(name)] for name in jump.model.joint_names}
    hip = solution.evaluate(lambda now: now.point(*jump.human.landmarks["hip"]).position, t)
    forward, up, lean = jump.jumper.virtual
    joints |= {forward: hip[:, 2], up: hip[:, 1]}
    leg = joints["hip_flexion"] - joints["knee_flexion"] + joints["ankle_dorsiflexion"]
    joints[lean] = joints["stance_roll"] + leg
    return np.column_stack([joints[name] for name in jump.jumper.model.joint_names])


def animate(jump: Jump, solution: co.SequenceSolution, file: str, fps: float) -> None:
    """The jumper with head and feet, in slow motion."""
    model = with_ends(jump.jumper, "heel", "toe", "head_top")
    q = ca.SX.sym("q", model.n)
    placed = ca.Function("placed", [q], [places(model, q)])

    def pose(t: np.ndarray) -> Skeleton:
        return assembled(model, t, np.array(placed(seen_from_pelvis(jump, solution, t).T)))

    write_film(pose, np.linspace(0, solution.duration, 401), model.name, file, fps, slow=2.0)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments(
        "jumping.jump",
        __doc__,
        argv,
        quick="coarser splines, no random starts",
        options=OPTIONS,
        animation=(".html", ".gif"),
    )
    jump, rng = Jump(jumper2d(args.height, args.mass)), np.random.default_rng(0)
    begin = time.perf_counter()
    nlp = co.transcribe(jump.sequence, COARSE if args.quick else FINE, compile=not args.quick)
    best = solved(nlp, start(jump))
    numbers = {f"planar.{key}": value for key, value in measured(jump, best).items()}
    numbers["planar.seconds"] = time.perf_counter() - begin
    begin = time.perf_counter()
    others = [solved(nlp, start(jump, rng)) for _ in range(0 if args.quick else args.starts)]
    alike = [run.success and abs(run.cost - best.cost) < SAME * abs(best.cost) for run in others]
    if others:
        numbers |= {"planar.starts": float(len(others)), "planar.starts.same": float(sum(alike))}
        numbers["planar.starts.seconds"] = (time.perf_counter() - begin) / len(others)
    if not args.quick:
        still = Jump(jump.jumper.frozen({"shoulder_flexion": 0.0, "elbow_flexion": 0.0}))
        without = measured(still, solved(co.transcribe(still.sequence, FINE), start(still)))
        numbers |= {f"planar.still_arms.{key}": without[key] for key in ("height", "height.above_take_off", "solved")}
        gain = numbers["planar.height.above_take_off"] / without["height.above_take_off"] - 1
        numbers["planar.arms_gain"] = gain
    rows = [
        Row("rise of the centre of mass above standing [m]", numbers["planar.height"]),
        Row("    above take-off [m]", numbers["planar.height.above_take_off"]),
        Row("take-off speed [m/s]", numbers["planar.take_off_speed"]),
        Row("flight [s]", numbers["planar.flight_time"]),
        Row("    relative difference from ballistics", numbers["planar.flight_time.error"]),
        Row("momentum lost in flight, relative", numbers["planar.momentum_error"]),
        Row("peak force over body weight", numbers["planar.peak_force"]),
        Row("peak power of the ground on the centre of mass [W]", numbers["planar.peak_power"]),
        Row("largest violation, forces over body weight", numbers["planar.violation"]),
        Row("seconds", numbers["planar.seconds"]),
    ]
    if "planar.arms_gain" in numbers:
        source = "volleyball players, Vaverka et al. (2016)"
        rows.insert(2, Row("    gained by the arms, relative", numbers["planar.arms_gain"], 0.38, source))
    notes = [
        f"  {best.status}, {best.iterations} iterations; {sum(alike)} of {len(others)} random starts end there too"
    ]
    print(table(args.question, rows, notes))
    draw(jump, best, args.figure)
    animate(jump, best, args.animation, 10 if args.quick else 30)
    return finish(args, numbers)


if __name__ == "__main__":
    main()
