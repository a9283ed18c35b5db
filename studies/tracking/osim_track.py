"""How are OpenSim's files used: a model, markers and a force plate in, angles, torques and reactions in files out?

A person who squats is a file of OpenSim: segments after Winter (2009), a foot that is free in the plane, and a knee
that slides as it bends, by splines. Two squats are recorded in files as a laboratory has them, seven markers at 100 Hz
with 3 mm of noise (.trc) and a force plate at 1000 Hz with 5 N and 2 N m (.mot). One problem follows the markers under
the plate's force, and keeps small what it leaves to push the foot. Its motion, torques and reactions are written to
files with OpenSim's names and signs, and the motion is read again. For comparison the same with the knee as a hinge
where it is at the middle of the squat, which is what a model without splines has.

The sliding knee is worth its splines: torques are found to 0.5 N m (of 68) and angles to 2.9 mrad; with the hinge it is
3.6 N m and 13 mrad, and the markers are missed by 3.17 mm in place of 2.97. The motion that is written is read again to
the last bit.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, GREEN, VERMILLION, dress, styled
from colloc.studies.reporting import Row, arguments, finish, table
from colloc.studies.tracking.person import DURATION, NOISE, command

FILE = Path(__file__).with_name("squatter.osim")
ANKLE = 0.08  # m above the ground
DRIVEN = ("ankle", "knee", "hip")
MARKER_RATE, PLATE_RATE = 100, 1000  # 1/s
MIDDLE = 0.75  # rad, where the knee is a hinge that slides no more
SEED = 0


class Truth(NamedTuple):
    """The motion that is recorded, at times t; each shape (N, 6)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


def truth(model: co.Model, t: np.ndarray) -> Truth:
    """The foot stands, the others squat."""
    numbers = []
    for k, part in enumerate(command(t)):
        columns = dict(zip(DRIVEN, (part - ([np.pi / 2, 0.0, 0.0] if k == 0 else 0.0)).T, strict=True))
        columns |= {"foot_ty": np.full(t.size, ANKLE if k == 0 else 0.0)}
        numbers.append(np.column_stack([columns.get(name, np.zeros(t.size)) for name in model.joint_names]))
    q, qd, qdd = numbers
    return Truth(q, qd, qdd, co.Evaluator(model).torque(q, qd, qdd))


def record(model: co.Model, folder: Path) -> None:
    """Write the markers (.trc) and what the plate feels (.mot), with noise."""
    rng = np.random.default_rng(SEED)
    t = np.arange(round(DURATION * MARKER_RATE) + 1) / MARKER_RATE
    q, evaluator, seen = truth(model, t).q, co.Evaluator(model), {}
    for name, (body, point) in model.markers.items():
        place = evaluator.point(body, np.array(ca.DM(point))[:, 0], q=q).position
        seen[name] = place + NOISE["marker"] * rng.standard_normal(place.shape)
    units = dict.fromkeys(seen, "m")
    co.formats.write_table(co.formats.TimeSeriesTable(t, seen, units), folder / "squat.trc")

    t = np.arange(round(DURATION * PLATE_RATE) + 1) / PLATE_RATE
    q, qd, qdd = (ca.SX.sym(name, model.n) for name in ("q", "qd", "qdd"))
    support = ca.Function("support", [q, qd, qdd], [*co.dynamics.root_wrench(model, q, qd, qdd)])
    force, moment = (np.array(part).T for part in support(*(part.T for part in truth(model, t)[:3])))
    force += NOISE["force"] * rng.standard_normal(force.shape)
    moment += NOISE["moment"] * rng.standard_normal(moment.shape)
    point = np.column_stack([moment[:, 2], 0 * t, -moment[:, 0]]) / force[:, 1:2]
    columns = {}
    for name, values in (("force_v", force), ("force_p", point), ("torque_", moment - np.cross(point, force))):
        columns |= {f"ground_{name}{axis}": values[:, k] for k, axis in enumerate("xyz")}
    co.formats.write_table(co.formats.TimeSeriesTable(t, columns), folder / "squat_grf.mot")


def find(model: co.Model, folder: Path, curve: co.BSpline) -> co.Solution:
    """The motion that the files tell of: markers followed, residuals of the foot kept small."""
    markers = co.formats.read_table(folder / "squat.trc")
    plate = co.formats.read_table(folder / "squat_grf.mot")
    names = markers.names
    places, noise = np.hstack([markers[name] for name in names]), NOISE["marker"]
    follow = co.track(
        markers.t,
        places,
        lambda now: ca.vertcat(*(now.marker(name).position for name in names)),
        weight=noise**-2,
        deviation=noise,
        degree=5,
        name="markers",
    )
    deviation = [NOISE["force"]] * 3 + [NOISE["moment"]] * 3
    vectors = (plate.vector(f"ground_{name}") for name in ("force_v", "force_p", "torque_"))
    ground = co.problem.ground.recorded("foot", plate.t, *vectors, deviation=deviation, degree=5)
    free = [model.joint_names.index(name) for name in ("foot_tx", "foot_ty", "foot_rz")]
    size = np.array([NOISE["force"], NOISE["force"], NOISE["moment"]])
    left = co.integral(lambda now: ca.sumsqr(now.tau[free] / size), name="residuals")
    upright = [{"foot_ty": ANKLE}.get(name, 0.0) for name in model.joint_names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # a spline as fine as the noise would ask for
        return co.solve(
            co.Problem(model, DURATION, follow + left, loads=[ground]),
            curve,
            guess=co.line(upright, upright),
            solver=co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON),
        )


def write(solution: co.Solution, folder: Path, t: np.ndarray) -> None:
    """Motion, torques and reactions in files for OpenSim."""
    co.formats.write_table(co.storage.coordinate_table(solution, t), folder / "found.mot", degrees=True)
    co.formats.write_table(co.storage.torque_table(solution, t), folder / "found_torques.sto")
    reactions = co.storage.ground_reaction_table(solution, {"r": "foot"}, t)
    co.formats.write_table(reactions, folder / "found_reactions.mot")


def hinged(model: co.Model) -> co.Model:
    """The same person with a knee that does not slide."""
    still = ca.SX(MIDDLE)
    couplings = {
        name: co.model.Coupling(coupling.joint, 0.0, float(coupling.derivatives(still, 0)[0]))
        for name, coupling in model.couplings.items()
    }
    return replace(model, couplings=couplings)


def rms(errors: np.ndarray) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(errors))))


@styled
def draw(model: co.Model, found: dict[str, co.Solution], file: str) -> None:
    """Torques, true and found; how far the knee slides."""
    figure = new_figure(figsize=(10.0, 4.2))
    left, right = figure.subplots(1, 2)
    t = np.linspace(0, DURATION, 301)
    true = truth(model, t)
    for name, color in zip(DRIVEN, (BLUE, GREEN, VERMILLION), strict=True):
        k = model.joint_names.index(name)
        left.plot(t, true.tau[:, k], color=color, linewidth=4.5, alpha=0.35)
        left.plot(t, found["splines"].at(t).tau[name], color=color, label=name)
        left.plot(t, found["hinge"].at(t).tau[name], ":", color=color)
    dress(left, "time [s]", "torque [N m]")
    left.set_title("bands true, lines found, dots with a hinge", loc="left")
    knee = model.joint_names.index("knee")
    slides = co.Evaluator(model).point("thigh", (0.0, 0.0, 0.0), q=np.eye(model.n)[knee] * t[:, None] / DURATION * 2.1)
    angle = np.degrees(t / DURATION * 2.1)
    for axis, color in ((0, BLUE), (1, VERMILLION)):
        moved = 1e3 * (slides.position[:, axis] - slides.position[0, axis])
        right.plot(angle, moved, color=color, label=("forward", "upward")[axis])
    dress(right, "knee [deg]", "slide against the shank [mm]")
    right.set_title("what the file's splines do", loc="left")
    for ax in (left, right):
        ax.legend(fontsize="small", loc="upper left", ncols=3)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("tracking.osim_track", __doc__, argv, quick="16 intervals instead of 32")
    reading = co.formats.from_osim(FILE)
    model = reading.model
    curve = co.BSpline(16 if args.quick else 32, degree=5)
    numbers: dict[str, float] = {"left_out": float(len(reading.left_out)), "follow": float(len(model.couplings))}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        record(model, folder)
        found = {"splines": find(model, folder, curve), "hinge": find(hinged(model), folder, curve)}
        markers = co.formats.read_table(folder / "squat.trc")
        t = markers.t
        write(found["splines"], folder, t)
        again = co.formats.read_table(folder / "found.mot", model)
        written = np.column_stack([again[name] for name in model.joint_names])
        numbers["round_trip"] = float(np.abs(written - found["splines"].at(t).q).max())
    true, driven = truth(model, t), [model.joint_names.index(name) for name in DRIVEN]
    feet = [model.joint_names.index(name) for name in ("foot_tx", "foot_ty")]
    seen = np.hstack([markers[name] for name in markers.names])
    for name, solution in found.items():
        at = solution.at(t)
        places = solution.evaluate(lambda now: ca.vertcat(*(now.marker(m).position for m in markers.names)), t)
        numbers |= {
            f"marker_rms.{name}": rms(places - seen),
            f"angle_rms.{name}": rms((at.q - true.q)[:, driven]),
            f"torque_rms.{name}": rms((at.tau - true.tau)[:, driven]),
            f"residual_rms.{name}": rms(at.tau[:, feet]),
            f"solved.{name}": float(solution.status in (co.solver.Status.SOLVED, co.solver.Status.COARSE)),
        }
    numbers["torque.rms"] = rms(true.tau[:, driven])
    rows = [
        Row(f"{what} [{unit}], {name}", numbers[f"{key}.{name}"])
        for key, what, unit in (
            ("marker_rms", "markers, rms", "m"),
            ("angle_rms", "angles, rms", "rad"),
            ("torque_rms", "torques, rms", "N m"),
            ("residual_rms", "residuals, rms", "N"),
        )
        for name in found
    ]
    rows.append(Row("motion written and read [rad, m]", numbers["round_trip"]))
    print(table(args.question, rows, [f"torques themselves {numbers['torque.rms']:.0f} N m rms"]))
    draw(model, found, args.figure)
    return finish(args, numbers, found["splines"])


if __name__ == "__main__":
    main()
