"""Does a human who runs at 3 m/s with the least effort run as people do, planar and with 55 degrees of freedom?

A step in two phases, stance and flight, mirrored (`colloc.studies.running.step`), for several durations of the step:
the one that costs least a second is the runner's choice. Beside it stand measured runners: the step of least metabolic
cost of Lieberman, Warrener, Wang and Castillo (2015), J. Exp. Biol. 218, 84.8 strides a minute at 3.0 m/s, and the time
of contact and the largest vertical force of Munro, Miller and Fuglevand (1987), J. Biomech. 20. Searches start from
postures of a step, and from random ones about them.

The runner takes steps of 0.32 s, where people take 0.35 s, and is on the ground for 0.25 s of them (0.27 s). Its force
stays at 1.8 of body weight, with all of the ankle's isometric torque, while its muscles are stretched, where people
reach 2.5: that stretched muscles are stronger is left out. Of 20 random starts 19 end in the same step, one has no
answer after a minute.

The same step of the 55-DOF human, whose pelvis and legs leave the plane (32 joints move), is on the ground for 0.23 s,
with 1.8 of body weight at most and the knee bent by 73 degrees; it takes about a hundred iterations.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from matplotlib.axes import Axes

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.human55 import FROZEN, human55
from colloc.models.human.planar import with_ends
from colloc.models.human.runner2d import runner2d
from colloc.plot.figure import new_figure
from colloc.plot.recording import ForceArrow, load_arrows
from colloc.plot.skeleton import Skeleton, places, skeleton_from
from colloc.plot.style import BLUE, FADE, INK, MUTED, ORANGE, dress, legend_below, styled
from colloc.studies.films import film_of
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.studies.running.step import Step
from colloc.transcription import Keyframes

DURATIONS = (0.26, 0.28, 0.30, 0.32, 0.34, 0.36, 0.38, 0.40)  # s, of a step
MEASURED = {"step": 60 / 84.8 / 2, "contact": 0.270, "peak": 2.51}  # s, s, body weights
CURVES = {"stance": co.BSpline(10, degree=4, continuity=2), "flight": co.BSpline(6, degree=4, continuity=2)}
HUMAN_CURVES = {"stance": co.BSpline(8, degree=4, continuity=2), "flight": co.BSpline(5, degree=4, continuity=2)}
IPOPT: dict[str, Any] = {"mu_strategy": "adaptive", "mumps_pivot_order": 0, "max_iter": 400}
HUMAN_IPOPT = IPOPT | {"max_soc": 0, "tol": 1e-4}
HELD = [f"{joint}_{side}" for side in "rl" for joint in ("toe_extension", "shoulder_rotation", "forearm_pronation")]
# degrees; no people run with the wide ranges of the joint table
RANGES = {"pelvis_yaw": (-15, 15), "pelvis_list": (-10, 10)}
SIDES = {"hip_adduction": (-15, 15), "hip_rotation": (-15, 15), "ankle_inversion": (-12, 12), "knee_flexion": (0, 120)}
ARMS = {"shoulder_adduction": (-25, 5), "elbow_flexion": (60, 120)}
PATIENCE = 60.0  # s of the processor for a random start, most of which take a second
SPREAD = 0.2  # rad, of the joints' angles in random starts
SAME = 1e-3  # of the cost
OPTIONS = (Option("speed", 3.0, "m/s", above=0.0), Option("starts", 20, "number of random starts", least=0))


def spatial() -> Human:
    """The 55-DOF human that runs: 32 joints move, on feet that do not bend."""
    human = human55().frozen(dict.fromkeys([*FROZEN, *HELD], 0.0))
    marks = [*(f"{mark}_{side}" for side in "rl" for mark in ("heel", "ball", "toe")), "head_top"]
    model = replace(human.model, markers={mark: tuple(human.landmarks[mark]) for mark in marks})
    degrees = RANGES | {f"{stem}_{side}": ends for stem, ends in (SIDES | ARMS).items() for side in "rl"}
    ranges = {name: (np.radians(lower), np.radians(upper)) for name, (lower, upper) in degrees.items()}
    slides = {"pelvis_ty_vertical": (0.5, 1.3), "pelvis_tz_forward": (-2.0, 3.0)}  # m
    return replace(human, model=model).ranged(ranges | slides)


def start(step: Step, rng: np.random.Generator | None = None) -> dict[str, Keyframes]:
    """Postures to start from, with noise in all joints of the body if a generator is given."""
    inner = np.isin(np.arange(step.runner.model.n), step.inner)

    def shaken(posture: np.ndarray) -> np.ndarray:
        return posture if rng is None else posture + SPREAD * inner * rng.standard_normal(posture.size)

    return {phase: co.keyframes({s: shaken(q) for s, q in own.items()}) for phase, own in step.guess().items()}


def solved(
    nlp: co.transcription.PhasesNLP, guess: dict[str, Keyframes], ipopt: Mapping[str, Any] = IPOPT
) -> co.solution.PhasesSolution:
    """The step found from a start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the table says it
        return co.solve(nlp, guess=guess, solver=co.Ipopt(**ipopt), raise_on_failure=False, progress=False)


def force(solution: co.solution.PhasesSolution) -> np.ndarray:
    """The ground's force forward and up over body weight, through the stance, shape (401, 2)."""
    stance = solution["stance"]
    return stance.at(np.linspace(0, stance.duration, 401)).force[:, :2]


def measured(step: Step, solution: co.solution.PhasesSolution) -> dict[str, float]:
    """Forces, times and lengths of a step."""
    up = force(solution)[:, 1]
    worst = (v.amount / step.weight if v.unit in ("N", "N m") else v.relative for v in solution.violations)
    duty = solution["stance"].duration / solution.duration
    return {
        "peak_force": float(up.max()),
        "contact_time": solution["stance"].duration,
        "flight_time": solution["flight"].duration,
        "stride": 2 * step.speed * solution.duration,
        "step_time": solution.duration,
        "cost": solution.cost / solution.duration,
        "impulse_error": float(abs(up.mean() * duty - 1)),
        "knee": float(np.degrees(solution["stance"].q[:, step.runner.model.joint_names.index("knee_flexion_r")].max())),
        "violation": max(worst),
        "error": float(solution.error),
        "solved": float(solution.outcome.status is co.solver.Status.SOLVED),  # on its curve
        "status": float(solution.success),
        "iterations": float(solution.iterations),
    }


def stride(step: Step, solution: co.solution.PhasesSolution) -> Callable[[np.ndarray], Skeleton]:
    """The stick figure through two steps, the second the mirror image of the first."""
    model = with_ends(step.runner, "heel_r", "toe_r", "heel_l", "toe_l", "fingertip_r", "fingertip_l", "head_top")
    q = ca.SX.sym("q", model.n)
    placed = ca.Function("placed", [q], [places(model, q)])
    ahead = np.array([step.speed * step.duration * (name == "pelvis_tz_forward") for name in model.joint_names])

    def pose(t: np.ndarray) -> Skeleton:
        second = t > step.duration
        postures = solution.at(np.where(second, t - step.duration, t).clip(0, step.duration)).q
        postures[second] = step.runner.mirror(postures[second]) + ahead
        return skeleton_from(model, t, np.array(placed(postures.T)))

    return pose


def pushes(step: Step, solution: co.solution.PhasesSolution) -> Callable[[np.ndarray], list[ForceArrow]]:
    """The ground's force on the right foot, and in the second step on the left one, its mirror image."""
    stance = solution["stance"]

    def forces(t: np.ndarray) -> list[ForceArrow]:
        arrows = []
        for side, begin, mirror in (("right", 0.0, (1, 1, 1)), ("left", step.duration, (-1, 1, 1))):
            inside = (t >= begin) & (t <= begin + stance.duration)
            (push,) = load_arrows(stance, t[inside] - begin)
            tail, vector = np.full((2, t.size, 3), np.nan)
            tail[inside] = push.tail * mirror + np.array([0.0, 0.0, begin * step.speed])
            vector[inside] = push.vector * mirror
            arrows.append(ForceArrow(f"ground, {side} foot", "N", tail, vector))
        return arrows

    return forces


def draw_strip(ax: Axes, name: str, step: Step, solution: co.solution.PhasesSolution) -> None:
    """The runner through a stride, drawn apart."""
    times = np.linspace(0, 2 * step.duration, 11)
    shown = stride(step, solution)(times)
    for k, t in enumerate(times):
        links = shown.links(k)
        ax.plot(links[:, 2] + 0.35 * k, links[:, 1], color=FADE(0.2 + 0.8 * t / times[-1]), linewidth=2.0)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(name, loc="left", fontsize=10, color=MUTED)
    dress(ax, "way, drawn apart [m]", "y [m]")


@styled
def draw(
    runs: Mapping[str, tuple[Step, co.solution.PhasesSolution]], found: dict[float, dict[str, float]], file: str
) -> None:
    """The runners through a stride, the ground's force, and what steps of other durations cost."""
    figure = new_figure(figsize=(12.5, 4.8 + 3.4 * len(runs)))
    *strips, bottom = figure.subfigures(len(runs) + 1, 1, height_ratios=(*[1] * len(runs), 1.1), squeeze=False)[:, 0]
    left, right = bottom.subplots(1, 2)
    for strip, (name, (step, solution)), look in zip(strips, runs.items(), ("-", "--"), strict=False):
        draw_strip(strip.subplots(), name, step, solution)
        along = np.linspace(0, solution["stance"].duration, 401)
        for values, color, way in zip(force(solution).T, (ORANGE, BLUE), ("forward", "upward"), strict=True):
            left.plot(along, values, color=color, linestyle=look, label=f"{way}, {name}")
    dress(left, "time [s]", "force of the ground over body weight")
    right.plot(list(found), [own["cost"] for own in found.values()], "o-", color=INK, label="cost a second, planar")
    right.axvline(MEASURED["step"], color=MUTED, linestyle="--", label="people's step of least metabolic cost")
    dress(right, "duration of a step [s]", "cost a second")
    legend_below(bottom, [*left.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments(
        "running.run", __doc__, argv, quick="one duration, no random starts", options=OPTIONS
    )  # fmt: skip
    found, solutions, seconds = {}, {}, []
    runner = runner2d()
    for duration in (0.32,) if args.quick else DURATIONS:
        begin, step = time.perf_counter(), Step(runner, args.speed, duration)
        nlp = co.transcribe(step.sequence, CURVES, compile=not args.quick)
        solutions[duration] = step, nlp, solved(nlp, start(step))
        seconds.append(time.perf_counter() - begin)
        found[duration] = measured(*solutions[duration][::2])
    best = min(found, key=lambda duration: found[duration]["cost"] if found[duration]["solved"] else np.inf)
    step, nlp, solution = solutions[best]
    numbers = {f"planar.{key}": value for key, value in found[best].items()}
    numbers["planar.seconds"] = float(np.median(seconds))
    for duration, own in found.items():
        numbers |= {
            f"planar.step_{duration:g}.{key}": own[key] for key in ("cost", "contact_time", "peak_force", "solved")
        }
    rng = np.random.default_rng(0)
    patient = IPOPT | {"max_cpu_time": PATIENCE}
    others = [solved(nlp, start(step, rng), patient) for _ in range(0 if args.quick else args.starts)]
    alike = [run.success and abs(run.cost / solution.cost - 1) < SAME for run in others]
    if others:
        numbers |= {"planar.starts": float(len(others)), "planar.starts.same": float(sum(alike))}
        numbers["planar.starts.solved"] = float(sum(run.success for run in others))
    runs = {"planar": (step, solution)}
    if not args.quick:
        begin, human = time.perf_counter(), Step(spatial(), args.speed, best)
        found_one = solved(co.transcribe(human.sequence, HUMAN_CURVES, compile=True), start(human), HUMAN_IPOPT)
        numbers["human.seconds"] = time.perf_counter() - begin
        numbers |= {f"human.{key}": value for key, value in measured(human, found_one).items()}
        runs["55-DOF human"] = human, found_one
    munro = "Munro, Miller and Fuglevand (1987)"
    lieberman = "Lieberman et al. (2015)"
    rows, notes = [Row("duration of a step [s]", best, MEASURED["step"], lieberman)], []
    for name, (_, own) in runs.items():
        who = "planar" if name == "planar" else "human"
        rows += [
            Row(f"{name}: stride [m]", numbers[f"{who}.stride"], 2 * args.speed * MEASURED["step"], lieberman),
            Row("    contact [s]", numbers[f"{who}.contact_time"], MEASURED["contact"], munro),
            Row("    largest upward force over body weight", numbers[f"{who}.peak_force"], MEASURED["peak"], munro),
            Row("    most bent knee in stance [degrees]", numbers[f"{who}.knee"]),
            Row("    mean upward force less weight, relative", numbers[f"{who}.impulse_error"]),
            Row("    largest violation, forces over body weight", numbers[f"{who}.violation"]),
            Row("    seconds", numbers[f"{who}.seconds"]),
        ]
        notes.append(f"  {name}: {own.status}, {own.iterations} iterations")
    unended = sum(not run.success for run in others)
    notes.append(f"  {sum(alike)} of {len(others)} random starts alike, {unended} without an answer in {PATIENCE:g} s")
    print(table(args.question, rows, notes))
    draw(runs, found, args.figure)
    film = film_of(stride(step, solution), 2 * step.duration, runner.model.name, 4.0, forces=pushes(step, solution))
    return finish(args, numbers, film)


if __name__ == "__main__":
    main()
