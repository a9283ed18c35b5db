"""How do people stand up from a chair that, like the ground, only pushes?

Trunk, thighs, shanks and feet in the sagittal plane, both sides as one, sit at rest on a stool of a stated height and
stand at rest after 1.8 s, with the least of squared torques over strengths and a little of squared accelerations. Balls
at heels and toes meet the ground, and one round the hips meets the stool, which is a box. Nobody states when the body
leaves the stool, or that it leans forward before. Yoshioka et al. (2007, BioMed. Eng. OnLine 6:26) rose from a chair in
85 ways, and computed five million others from these: no sum of the peak moments of hip and knee was much below 1.53
N m/kg. Their later study (2014, ibid. 13:27) finds that a high seat asks for less. With the sum itself as the cost,
beside a little of the effort, 1.25 N m/kg are enough here: the ankles then carry more.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.anatomy import TABLE, anatomy
from colloc.models.human.human import Human
from colloc.models.human.planar import BOTH_AS_ONE, planar
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, GREEN, INK, MUTED, ORANGE, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table

HEIGHTS = 0.40, 0.46, 0.60  # m, of the seat
DURATION = 1.8  # s
STRENGTH = {
    "hip_flexion": (-401.4, 281.8),
    "knee_flexion": (-406.4, 217.0),
    "ankle_dorsiflexion": (-284.2, 82.2),
}  # N m
LARGEST = [max(map(abs, sides)) for sides in STRENGTH.values()]
SMOOTH = 1e-4  # s4: weight of squared accelerations of angles
SPARED = 0.3  # weight of the effort beside the sum of peaks [N m/kg]
HIPS, FOOT = 0.09, 0.03  # m, radii of balls
FIRM = 1e6  # Pa, of one foot and of the seat
SHANK = 0.25  # rad, by which the shanks lean back at first, with the feet under the seat
AROUND = 0.2  # rad, by which leg angles may differ from those of the first posture
SEAT = (0.5, 0.06, 0.4)  # m
SUNK = 0.02  # m, of the guess
INTERVALS, TOLERANCE = 20, 1e-2
SOURCE = "Yoshioka et al. 2007"
COLORS = dict(zip(HEIGHTS, (ORANGE, BLUE, GREEN), strict=True))


class Chair(NamedTuple):
    """A problem with its contacts, and a guess."""

    contact: co.problem.GroundContact
    problem: co.Problem
    guess: co.transcription.Keyframes


@cache
def sitter() -> Human:
    """Trunk with arms that hang, thighs, shanks and feet, of the 55-DOF human's numbers; 6 DOF."""
    body = anatomy(None, None, "male", TABLE)
    return planar(body, "male", BOTH_AS_ONE, arms=False, held=False, gravity=(0.0, -9.81, 0.0), name="sitter")


def contact(height: float) -> co.problem.GroundContact:
    """Balls of both feet on the ground, and of the hips on a stool [m]."""
    human = sitter()
    stool = co.model.Box(None, SEAT, co.placement((0.0, height - SEAT[1] / 2, -0.05)), name="stool")
    balls = [co.problem.ContactSphere("trunk_tilt", (0.0, 0.0, 0.0), HIPS, FIRM, name="hips", surface=stool)]
    for name in ("heel", "ball"):
        place = human.landmarks[name].at + ca.DM([0.0, FOOT, 0.0])
        balls.append(co.problem.ContactSphere("ankle_dorsiflexion", place, FOOT, 2 * FIRM, name=name))
    return co.problem.GroundContact(balls, name="support")


def seated(height: float) -> np.ndarray:
    """Upright on the stool with the feet flat on the ground, the shanks leaning back, shape (6,)."""
    at = sitter().landmarks
    thigh, shank, ankle = (-float(at[name].at[1]) for name in ("knee", "ankle", "heel"))
    up = height + HIPS - SUNK
    hip = float(np.arccos(np.clip((up - ankle - shank * np.cos(SHANK)) / thigh, -1.0, 1.0)))
    return np.array([0.0, up, 0.0, hip, hip + SHANK, SHANK])


def rise(height: float) -> Chair:
    """From a stool of a height [m] to upright."""
    model, touching, sits = sitter().model, contact(height), seated(height)
    rows = [
        co.initial(q={"pelvis_tz_forward": 0.0, "trunk_tilt": 0.0}, qd=0.0),
        co.at(0.0, lambda now: now.q[3:], lower=sits[3:] - AROUND, upper=sits[3:] + AROUND, name="seated"),
        co.final(q={"trunk_tilt": 0.0, "knee_flexion": 0.02}, qd=0.0),
        co.bounds(q={"trunk_tilt": (-0.3, 1.0), "pelvis_ty_vertical": (0.3, 1.0), "pelvis_tz_forward": (-0.3, 0.8)}),
    ]
    rows += [co.at(s, lambda now: now.qdd, equals=0.0, name=name) for s, name in ((0.0, "sits still"), (1.0, "stands"))]
    cost = co.integral(effort) + SMOOTH * co.integral(accelerations)
    problem = co.Problem(model, DURATION, cost, rows, parts=[co.Motors(STRENGTH), touching])
    leans = sits + np.array([0.05, 0.0, 0.7, 0.6, 0.0, 0.0])
    postures = {0.0: sits, 0.35: leans, 0.6: [0.3, 0.7, 0.5, 1.1, 1.0, 0.3], 1.0: [0.45, 0.9, 0.0, 0.0, 0.02, 0.0]}
    return Chair(touching, problem, co.keyframes(postures))


def effort(now: co.problem.Instant) -> ca.SX:
    """Squared torques over strengths."""
    return ca.sumsqr(now.motor / np.array(LARGEST))


def accelerations(now: co.problem.Instant) -> ca.SX:
    """Squared accelerations of angles [rad2/s4]."""
    return ca.sumsqr(now.qdd[2:])


def spared(chair: Chair) -> Chair:
    """The same with the least sum of the greatest moments of hip and knee, two unknown constants."""
    peaks = co.Unknown("peaks", size=2, lower=0.0, upper=3.0, guess=1.2, constant=True, unit="N m/kg")
    mass = float(co.dynamics.total_mass(chair.problem.model))

    def below(now: co.problem.Instant) -> ca.SX:
        moments = now.motor[:2] / 2 / mass  # of one leg
        return ca.vertcat(now.peaks - moments, now.peaks + moments)

    rows = [*chair.problem.subject_to, co.path(below, lower=0.0, unit="N m/kg", name="below the peaks")]
    cost = co.final_cost(lambda now: ca.sum1(now.peaks))
    cost += SPARED * co.integral(effort) + 10 * SMOOTH * co.integral(accelerations)
    return chair._replace(problem=replace(chair.problem, minimize=cost, subject_to=rows, unknowns=[peaks]))


def solve(chair: Chair, first: co.Solution | None = None) -> co.Solution:
    """The motion, refined; from another one on its grid, if there is one."""
    curve, guess = (co.Radau(INTERVALS), chair.guess) if first is None else (first.curve, first)
    return co.solve(chair.problem, curve, guess=guess, tol=TOLERANCE, seconds=120.0, progress=False)


def measured(chair: Chair, solution: co.Solution) -> dict[str, float]:
    """Numbers of a motion: peaks of moments of one leg [N m/kg], and when the body leaves the stool."""
    t = np.linspace(0.0, DURATION, 1001)
    now, mass = solution.at(t), float(co.dynamics.total_mass(chair.problem.model))
    hip, knee, ankle = np.abs(np.asarray(now.motor)).max(axis=0) / 2 / mass
    seat, feet = np.split(solution.evaluate(partial(vertical, chair), t), [1], axis=1)
    sits = seat[:, 0] > 0.01 * mass * 9.81
    return {
        "cost": solution.cost,
        "iterations": float(sum(r.iterations for r in solution.rounds)),
        "error": float(solution.error.motion_error),
        "hip": float(hip),
        "knee": float(knee),
        "ankle": float(ankle),
        "sum": float(hip + knee),
        "lean": float(np.degrees(np.asarray(now.q)[:, 2].max())),
        "seat_off": 100.0 * float(t[sits].max()) / DURATION,
        "feet": float(feet.sum(axis=1).max()) / mass / 9.81,
    }


def vertical(chair: Chair, now: co.problem.Instant) -> ca.SX:
    """Vertical force on every ball, SX, shape (3,) [N]: hips, heels, toes."""
    return ca.vertcat(*(ball.force(now)[1] for ball in chair.contact.spheres))


def line() -> list[tuple[str, ca.SX]]:
    """Points of the drawing, from the head to the toes, by body and place in its frame [m]."""
    marks, joints = sitter().landmarks, list(STRENGTH)
    ends = [(marks[name].body, ca.SX(marks[name].at)) for name in ("head_top", "toe")]
    return [ends[0], *((joint, ca.SX(3, 1)) for joint in joints), ends[1]]


@styled
def draw(motions: Mapping[float, tuple[Chair, co.Solution]], least: co.Solution | None, file: str) -> None:
    """The body at seven times on one of the stools, forces, and torques of hip and knee, also with the least peaks."""
    figure = new_figure(figsize=(11.0, 4.0))
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.0, 1.2, 1.2))
    height = next((h for h in motions if h == HEIGHTS[1]), next(iter(motions)))
    _, solution = motions[height]
    for t in np.linspace(0.0, DURATION, 7):
        _, y, z = np.transpose(
            [solution.evaluate(lambda now, at=at: now.point(*at).position, float(t)) for at in line()]
        )
        left.plot(z, y, color=FADE(0.2 + 0.8 * t / DURATION), linewidth=2.0, marker="o", markersize=3)
    back, front = -0.05 - SEAT[2] / 2, -0.05 + SEAT[2] / 2
    left.fill([back, front, front, back], [height - SEAT[1]] * 2 + [height] * 2, color=MUTED, alpha=0.5)
    left.axhline(0.0, color=MUTED)
    left.set_aspect("equal")
    left.set_xlim(-0.5, 0.8)
    dress(left, "forward [m]", "up [m]")
    t = np.linspace(0.0, DURATION, 400)
    for height, (chair, solution) in motions.items():
        force, motor = solution.evaluate(partial(vertical, chair), t), np.asarray(solution.at(t).motor)
        color, label = COLORS[height], f"seat at {100 * height:.0f} cm"
        middle.plot(t, force[:, 0], color=color, label=label)
        middle.plot(t, force[:, 1:].sum(axis=1), color=color, linestyle="--")
        right.plot(t, -motor[:, 0], color=color, linestyle="--")
        right.plot(t, -motor[:, 1], color=color)
    if least is not None:
        motor = np.asarray(least.at(t).motor)
        right.plot(t, -motor[:, 0], color=INK, linestyle="--")
        right.plot(t, -motor[:, 1], color=INK, label=f"{100 * HEIGHTS[1]:.0f} cm, least peaks")
        right.legend(fontsize=8, frameon=False)
    middle.legend(fontsize=8, frameon=False)
    dress(middle, "time [s]", "force of the stool, and (dashed) on the feet [N]")
    dress(right, "time [s]", "extension of knees, and (dashed) of hips [N m]")
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("rising.chair", __doc__, argv, animation=(".html",), quick="one height of the seat")
    numbers: dict[str, float] = {}
    motions: dict[float, tuple[Chair, co.Solution]] = {}
    rows = []
    for height in HEIGHTS[1:2] if args.quick else HEIGHTS:
        begin, chair = time.process_time(), rise(height)
        solution = solve(chair)
        motions[height] = chair, solution
        result = measured(chair, solution) | {"seconds": time.process_time() - begin}
        numbers |= {f"{100 * height:.0f}.{key}": value for key, value in result.items()}
        rows += [
            Row(f"seat at {100 * height:.0f} cm: hip, peak [N m/kg]", result["hip"], source=f"0.24 to 1.92, {SOURCE}"),
            Row("  knee", result["knee"], source=f"0.51 to 1.97, {SOURCE}"),
            Row("  ankle", result["ankle"], source=f"-0.11 to 1.32, {SOURCE}"),
            Row("  hip and knee, sum of peaks", result["sum"], source=f"1.53 at least, {SOURCE}"),
            Row("  leaves the seat [% of the time]", result["seat_off"]),
            Row("  trunk leans by [degrees]", result["lean"]),
            Row("  force on the feet, peak [weight]", result["feet"]),
            Row("  seconds", result["seconds"]),
        ]
    chair, last = motions[HEIGHTS[1]]
    least = None
    if not args.quick:
        begin, chair = time.process_time(), spared(chair)
        least = solve(chair, last)
        result = measured(chair, least) | {"seconds": time.process_time() - begin}
        numbers |= {f"least.{key}": value for key, value in result.items()}
        rows += [
            Row(f"seat at {100 * HEIGHTS[1]:.0f} cm, least sum: hip, peak [N m/kg]", result["hip"]),
            Row("  knee", result["knee"]),
            Row("  ankle", result["ankle"], source=f"-0.11 to 1.32, {SOURCE}"),
            Row("  hip and knee, sum of peaks", result["sum"], source=f"1.53 at least, {SOURCE}"),
            Row("  seconds", result["seconds"]),
        ]
    print(table(args.question, rows))
    draw(motions, least, args.figure)
    return finish(args, numbers, lambda path, _: co.plot.view(last).save(path))


if __name__ == "__main__":
    main()
