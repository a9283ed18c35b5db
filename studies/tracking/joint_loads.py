"""What do joints carry in a recorded motion, by the files of a laboratory alone?

A skeleton with muscles (.osim), markers (.trc) and ground forces (.mot) go in. A first problem follows the markers. A
second one follows its motion, while muscles, weak reserves and motors at joints without muscles move the model under
the forces of the plates; the sum of squared activations is the least. The contact force of a joint is the net reaction
without the pull of the muscles that cross it. Markers, angles and plates pass the same low-pass filter.

Without files it is the simulated squat of `tracking.osim_track`, whose torques are known. Your own recording goes in by

    python -m colloc tracking.joint_loads --osim subject.osim --trc walk.trc --grf walk_grf.mot \\
        --feet "calcn_r calcn_l" --joints "tibia_r tibia_l" --intervals 80 --cutoff 6

with the feet in the order of the plates, and about 60 intervals in a second of walking. A walk of the 80 muscles of
OpenCap's model (walking2 of nimblephysics' test data, with its model of 93 kg, as the plates weigh the person) takes
40 s of the processor: 13 iterations, then 23. Between nodes the torques of muscles are off by 0.5 N m. Torques of
inverse dynamics are those of OpenSim to 5e-4 of their peaks, but at hips, knees and pelvis, where they differ by up to
2.4 %: OpenSim's velocity terms of this knee are not 1/2 dM/dq qd^2 of its own mass matrix, and those here are.

The knees of this walk carry up to 4.9 body weights. OpenSim's static optimisation and joint reaction analysis of the
same motion, with muscles that have no passive force, give 4.7 and 5.0. Instrumented knees carry 2.6. Most of the
difference is the criterion: the gastrocnemius, which presses on the knee, does work that the soleus could do. With
`--spare 0.3`, which adds squared contact forces to the cost, the knees carry 3.9 and 3.8 body weights at 3 % more
effort. Stronger muscles, by 24 or 50 %, change the peaks by less than 0.3.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import PALETTE, dress, styled
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.studies.tracking import osim_track

RESERVE, MOTOR = 10.0, 1000.0  # N m, N
PLAN = [co.refinement.Solve(judge_cost=False)]  # finer splines would follow the noise


class Files(NamedTuple):
    """A recording: what is read of its files."""

    reading: co.formats.Reading
    markers: co.formats.TimeSeriesTable
    plates: co.formats.TimeSeriesTable
    feet: Sequence[str]  # bodies on the plates, in their order
    cutoff: float  # of all filters [Hz]

    @property
    def t(self) -> np.ndarray:
        """Times of the markers from the start, shape (N,) [s]."""
        return self.markers.t - self.markers.t[0]

    @property
    def names(self) -> list[str]:
        """Markers of both the file and the model."""
        return [name for name in self.markers.names if name in self.reading.model.markers]

    @property
    def places(self) -> np.ndarray:
        """Measured places of these markers, shape (N, 3 * markers) [m]."""
        return np.hstack([self.markers[name] for name in self.names])

    @property
    def weight(self) -> float:
        """Of the model [N]."""
        return 9.81 * sum(float(body.mass) for body in self.reading.model.bodies)

    def where(self, now: co.problem.Instant) -> ca.SX:
        """Places of these markers in the model."""
        return ca.vertcat(*(now.marker(name).position for name in self.names))

    def loads(self) -> list[co.Load]:
        """The records of the plates."""
        plates = co.formats.force_plates(self.plates.between(self.markers.t[0], self.plates.t[-1]))
        if len(plates) != len(self.feet):
            raise co.InputError(f"there must be a foot for each of the plates {', '.join(plates)}, got {self.feet}")
        record, filtered = co.problem.ground.recorded, {"cutoff": self.cutoff, "degree": 5}
        return [record(foot, *plate, **filtered) for foot, plate in zip(self.feet, plates.values(), strict=True)]


def moved(files: Files, intervals: int) -> co.Solution:
    """The motion nearest to the markers."""
    model, t = files.reading.model, files.t
    follow = co.track(t, files.places, files.where, weight=1e4, cutoff=files.cutoff, degree=5, name="markers")
    start = [files.reading.postures["initial"].get(joint, 0.0) for joint in model.joint_names]
    problem, curve = co.Problem(model, t[-1], follow, loads=files.loads()), co.BSpline(intervals, degree=5)
    solver = co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON)
    return co.solve(problem, curve, guess=co.line(start, start), solver=solver, plan=PLAN)


def driven(files: Files, motion: co.Solution, spared: Sequence[str] = (), spare: float = 0.0) -> co.Solution:
    """Nearly the same motion by muscles of least effort, with a weight of squared contact forces of some joints."""
    model, muscles = files.reading.model, files.reading.muscles
    reserves = dict.fromkeys(muscles.driven, RESERVE)
    parts: list[co.problem.Part] = [replace(muscles, activation="instantaneous", reserves=reserves)]
    others = [joint for joint in model.joint_names if joint not in muscles.driven]
    cost = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve), name="effort")
    if others:
        parts.append(co.Motors(dict.fromkeys(others, MOTOR)))
        cost += co.integral(lambda now: 1e-6 * ca.sumsqr(now.motor), name="motors")
    if spare:
        forces = [partial(contact, body, files.weight) for body in spared]
        cost += co.integral(lambda now: spare**2 * sum(ca.sumsqr(force(now)) for force in forces), name="contact")
    cost += co.problem.track_motion(files.t, motion.at(files.t).q, cutoff=files.cutoff)
    problem = co.Problem(model, motion.duration, cost, parts=parts, loads=files.loads())
    return co.solve(problem, motion.curve, guess=motion, plan=PLAN)


def contact(body: str, weight: float, now: co.problem.Instant) -> ca.SX:
    """Contact force of the joint of a body [body weights]."""
    return now.joint_contact(body).force / weight


def loads_of(solution: co.Solution, body: str, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Contact force and net reaction of the joint of a body, in body weights, each shape (N,)."""
    model = solution.problem.model
    weight = 9.81 * sum(float(part.mass) for part in model.bodies)
    index = model.index(body)
    contact = solution.evaluate(lambda now: ca.norm_2(now.joint_contact(body).force), t)
    net = solution.evaluate(lambda now: ca.norm_2(now.joint_reactions.force[:, index]), t)
    return contact / weight, net / weight


@styled
def draw(solution: co.Solution, joints: Sequence[str], file: str) -> None:
    """Activations that matter, and what joints carry."""
    figure = new_figure(figsize=(10.0, 4.2))
    left, right = figure.subplots(1, 2)
    t = np.linspace(0.0, solution.duration, 401)
    activation = solution.at(t).activation
    for k in np.argsort(-activation.max(axis=0))[:8].tolist():
        left.plot(t, activation[:, k], label=solution.signals.definitions["activation"].names[k])
    for body, color in zip(joints, PALETTE, strict=False):
        contact, net = loads_of(solution, body, t)
        right.plot(t, contact, color=color, label=f"{body}, contact")
        right.plot(t, net, ":", color=color, label=f"{body}, net")
    dress(left, "time [s]", "activation")
    dress(right, "time [s]", "force [body weights]")
    left.set_title("muscles that work hardest", loc="left")
    right.set_title("joints of these bodies", loc="left")
    for ax in (left, right):
        ax.legend(fontsize="x-small")
    co.plot.save_figure(figure, file)


def read(folder: Path, osim: str, trc: str, grf: str, feet: str, cutoff: float = 3.0) -> Files:
    """The files of the command line, or those of the squat, which are written to a folder."""
    if bool(osim) != bool(trc) or bool(osim) != bool(grf):
        raise co.InputError("a recording is three files: --osim, --trc and --grf")
    reading = co.formats.from_osim(osim or osim_track.FILE, smooth=1e-4)
    if not osim:
        osim_track.record(reading.model, folder)
    markers, plates = trc or folder / "squat.trc", grf or folder / "squat_grf.mot"
    tables = co.formats.read_table(markers), co.formats.read_table(plates)
    return Files(reading, *tables, feet.split() or ["foot"], cutoff)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    options = [
        Option("osim", "", "your own skeleton with muscles"),
        Option("trc", "", "its markers"),
        Option("grf", "", "the forces of its plates (.mot)"),
        Option("feet", "", "bodies on the plates, in their order"),
        Option("joints", "", "bodies whose joints are looked at"),
        Option("intervals", 80, "of the spline", least=4),
        Option("cutoff", 3.0, "frequency of all filters [Hz]; 6 for walking"),
        Option("spare", 0.0, "weight of contact forces in the cost, an activation for a body weight"),
    ]
    args = arguments("tracking.joint_loads", __doc__, argv, quick="64 intervals instead of 80", options=options)
    begin = time.process_time()
    joints = args.joints.split() or ["shank", "thigh", "trunk"]
    with tempfile.TemporaryDirectory() as folder:
        files = read(Path(folder), args.osim, args.trc, args.grf, args.feet, args.cutoff)
    motion = moved(files, 64 if args.quick else args.intervals)
    solution = driven(files, motion, joints, args.spare)
    t = files.t
    numbers = {
        "iterations.motion": float(motion.iterations),
        "iterations.muscles": float(solution.iterations),
        "solved": float(solution.status is co.solver.Status.SOLVED),
        "marker_rms": float(np.sqrt(np.nanmean((solution.evaluate(files.where, t) - files.places) ** 2))),
        "error": solution.error.motion_error,
        "reserve": RESERVE * float(np.abs(solution.at(t).reserve).max()),
        "activation": float(solution.at(t).activation.max()),
        "processor_seconds": time.process_time() - begin,
    }
    for body in joints:
        contact, net = loads_of(solution, body, t)
        numbers |= {f"contact.{body}": float(contact.max()), f"net.{body}": float(net.max())}
    if not args.osim:
        model = files.reading.model
        legs = [model.joint_names.index(name) for name in osim_track.DRIVEN]
        numbers["torque_rms"] = osim_track.rms((solution.at(t).tau - osim_track.truth(model, t).tau)[:, legs])
    rows = [
        Row("distance from the markers, rms [mm]", 1e3 * numbers["marker_rms"]),
        *(Row("error of torques, rms [N m]", numbers["torque_rms"]) for _ in range(not args.osim)),
        Row("largest reserve [N m]", numbers["reserve"]),
        Row("largest activation", numbers["activation"]),
        *(Row(f"contact force at {body} [body weights]", numbers[f"contact.{body}"]) for body in joints),
        *(Row(f"net reaction at {body} [body weights]", numbers[f"net.{body}"]) for body in joints),
    ]
    print(table(args.question, rows))
    draw(solution, joints, args.figure)
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
