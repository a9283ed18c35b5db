"""Which muscles follow a published walk, and how would a walker with 18 muscles rather walk?

OpenSim Moco's example of planar walking (Dembia et al. 2020, PLOS Comput. Biol. 16), both of its problems. The first
follows half a stride that Falisse et al. (2019, PLOS ONE 14) predicted: squared distances of positions and speeds and
squared excitations, both times 10. It is a variant of the example, without its filter of 6 Hz and without the forces of
the ground, which follow. The second starts where the first ends and follows nothing: cubed excitations times 10 over
the distance, at 1.2 m/s. In both a motor of the trunk costs as much at 1 N m as a muscle that is fully excited.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from functools import partial
from math import pi
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.muscle_walker import muscle_walker
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.walking.by_muscles import (
    PATIENT,
    SPEED,
    Walk,
    at_speed,
    film,
    half_stride,
    halved,
    measures,
    stride,
    strip,
)
from colloc.studies.walking.report.by_muscles import simulated

PUBLISHED = Path(__file__).with_name("published.csv")
INTERVALS, ROUNDS = 16, 6
WEIGHT = 10.0
LUMBAR = 150.0  # N m
EFFORT = ("first.iterations", "first.seconds", "iterations", "seconds")
LIMITS = {  # of the example [rad, m]
    "pelvis_tx": (0.0, 1.0),
    "pelvis_ty": (0.75, 1.25),
    "pelvis_tilt": (-pi / 9, -pi / 18),
    "lumbar": (0.0, pi / 9),
    **{f"hip_flexion_{side}": (-pi / 18, pi / 3) for side in "rl"},
    **{f"knee_angle_{side}": (-pi / 3.6, 0.0) for side in "rl"},
    **{f"ankle_angle_{side}": (-pi / 12, pi / 7.2) for side in "rl"},
}


class Published(NamedTuple):
    """Half a stride as it was published.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    q, qd : ndarray, shape (N, 10) [rad, m] and per second
        Of the walker's joints; speeds by central differences.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray


def published() -> Published:
    """The walk to be followed."""
    rows = np.loadtxt(PUBLISHED, delimiter=",", skiprows=3)
    t, q = rows[:, 0], rows[:, 1:]
    return Published(t, q, np.gradient(q, t, axis=0, edge_order=2))


def following(walk: Published) -> Walk:
    """Half a stride close to the published one, in its time, with little excitation."""
    measured = np.hstack([walk.q, walk.qd])
    near = co.track(walk.t, measured, lambda now: ca.vertcat(now.q, now.qd), weight=WEIGHT, degree=5)
    effort = co.integral(lambda now: WEIGHT * (ca.sumsqr(now.excitation) + ca.sumsqr(LUMBAR * now.reserve)), "effort")
    return example(float(walk.t[-1]), near + effort)


def predicted(speed: float = SPEED) -> Walk:
    """Half a stride at a mean speed [m/s], with little excitation for its distance."""

    def effort(now: co.problem.Instant) -> ca.SX:
        cubes = ca.sum1(now.excitation**3) + ca.sum1(ca.fabs(LUMBAR * now.reserve) ** 3)
        return WEIGHT * cubes / (speed * now.duration)

    return example(co.Free(0.4, 0.6, guess=0.47), co.integral(effort), [at_speed(speed)])


def example(duration: float | co.Free, cost: co.problem.Cost, rows: Sequence[co.problem.Condition] = ()) -> Walk:
    """Half a stride within the limits of the example, with activation as published."""
    walker = muscle_walker()
    muscles = co.muscles.Muscles(
        walker.model, walker.muscles, activation="explicit", sharpness=0.1, reserves={"lumbar": LUMBAR}
    )
    problem = co.Problem(
        walker.model,
        duration,
        cost,
        [*rows, *half_stride(muscles), co.bounds(q=LIMITS)],
        parts=[muscles, walker.contact],
    )
    return Walk(walker, muscles, problem)


def as_guess(walk: Published) -> co.transcription.Keyframes:
    """The published motion, at every fourth time."""
    rows = [*range(0, walk.t.size - 1, 4), walk.t.size - 1]
    return co.keyframes({float(walk.t[k] / walk.t[-1]): walk.q[k].tolist() for k in rows})


Round = tuple[co.Solution, float]  # and the processor's seconds up to it


def refined(problem: co.Problem, guess: co.transcription.Keyframes | co.Solution, rounds: int) -> list[Round]:
    """Answers on equal intervals, and on those halved where errors are large, until one is solved."""
    solutions: list[Round] = []
    begin = time.process_time()
    curve: co.curves.Transcription = co.Radau(INTERVALS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of grids to be halved
        for _ in range(1 + rounds):
            solution = co.solve(problem, curve, guess=guess, solver=PATIENT, progress=False)
            solutions.append((solution, time.process_time() - begin))
            if solution.success:
                break
            guess, curve = solution, halved(solution)
    return solutions


def numbers_of(rounds: Sequence[Round]) -> dict[str, float]:
    """Of a problem's answers: the first, the last, and the last one's error by forward simulation."""
    (first, at_first), (last, at_last) = rounds[0], rounds[-1]
    return {
        "first.cost": first.cost,
        "first.iterations": float(first.iterations),
        "first.seconds": at_first,
        "cost": last.cost,
        "iterations": float(sum(solution.iterations for solution, _ in rounds)),
        "unknowns": float(last.x.size),
        "solved": float(last.success),
        "error": float(last.error.motion_error),
        "seconds": at_last,
        **simulated(last),
    }


@styled
def draw(walk: Published, walks: dict[str, tuple[Walk, co.Solution]], file: str) -> None:
    """Both walks side by side; angles, force of the ground and activations of one leg over a stride."""
    figure = new_figure(figsize=(11.0, 8.8))
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.0, 1.3), squeeze=False)[:, 0]
    for ax, (name, (made, solution)) in zip(top.subplots(len(walks), 1), walks.items(), strict=True):
        strip(ax, made, solution)
        ax.set_title(name, fontsize=9, loc="left")
    axes = bottom.subplots(2, 4, sharex=True).ravel()
    joints = next(iter(walks.values()))[0].walker.model.joint_names
    legs = {name: joints.index(f"{name}_r") for name in ("hip_flexion", "knee_angle", "ankle_angle")}
    shown = ("glut_max", "vasti", "soleus", "tib_ant")
    for color, (name, (made, solution)) in zip((BLUE, ORANGE), walks.items(), strict=True):
        whole = stride(made, solution, np.linspace(0.0, solution.duration, 200))
        percent = np.linspace(0.0, 100.0, 400)
        for ax, column in zip(axes, legs.values(), strict=False):
            ax.plot(percent, np.degrees(np.roll(whole["q"][:, column], -200)), color=color)
        axes[3].plot(percent, np.roll(whole["force"][:, 1], -200), color=color, label=name)
        for ax, muscle in zip(axes[4:], shown, strict=True):
            activation = whole["activation"][:, made.muscles.names.index(f"{muscle}_r")]
            ax.plot(percent, np.roll(activation, -200), color=color)
    for ax, name in zip(axes, legs, strict=False):
        left = walk.q[:, joints.index(f"{name}_l")]
        both = np.degrees(np.concatenate([walk.q[:, legs[name]], left]))
        ax.plot(np.linspace(0.0, 100.0, both.size), both, color=MUTED, linestyle="--", linewidth=1.0, label="published")
    axes[0].legend(*axes[0].get_legend_handles_labels(), fontsize=8, frameon=False, loc="lower right")
    axes[3].legend(fontsize=8, frameon=False)
    titles = ["hip [degrees]", "knee [degrees]", "ankle [degrees]", "upward force / weight"]
    for k, (ax, title) in enumerate(zip(axes, [*titles, *shown], strict=True)):
        ax.set_title(title.replace("_", " "), fontsize=9)
        dress(ax, "% of the stride" if k > 3 else "", "activation" if k == 4 else "")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.tracking_by_muscles", __doc__, argv, quick="one coarse grid for each")
    walk, rounds = published(), 0 if args.quick else ROUNDS
    first, then = following(walk), predicted()
    numbers: dict[str, float] = {}
    every = refined(first.problem, as_guess(walk), rounds)
    followed = every[-1][0]
    numbers |= {f"following.{key}": value for key, value in numbers_of(every).items()}
    numbers |= {f"following.{term}": value for term, value in followed.terms.items()}
    every = refined(then.problem, followed, rounds)
    preferred = every[-1][0]
    numbers |= {f"predicted.{key}": value for key, value in numbers_of(every).items()}
    numbers |= {f"predicted.{key}": value for key, value in measures(then, preferred, SPEED).items()}
    rows = [
        Row("cost of following", numbers["following.cost"]),
        Row("off by simulation, an interval", numbers["following.simulated"]),
        Row("cost of the walk predicted", numbers["predicted.cost"]),
        Row("off by simulation, an interval", numbers["predicted.simulated"]),
        Row("stance [% of the stride]", numbers["predicted.stance"]),
        Row("greatest force of the ground [weight]", numbers["predicted.peak_force"]),
    ]
    effort = {name: [numbers[f"{name}.{key}"] for key in EFFORT] for name in ("following", "predicted")}
    notes = [
        f"  {name}: {begun:.0f} iterations and {early:.1f} s of the processor to the first answer, "
        f"{iterations:.0f} and {late:.1f} s to the last"
        for name, (begun, early, iterations, late) in effort.items()
    ]
    print(table(args.question, rows, notes))
    draw(walk, {"following": (first, followed), "predicted": (then, preferred)}, args.figure)
    return finish(args, numbers, partial(film, preferred))


if __name__ == "__main__":
    main()
