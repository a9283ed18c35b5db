"""A human who stands up from a squat by 9 muscles: the model of OpenSim Moco's first example.

Bodies and muscles are those of "squatToStand_3dof9musc" (opensim-core, Apache-2.0; Dembia et al. 2020, PLOS Comput.
Biol. 16), made from Rajagopal et al. 2016: one leg that carries the whole body, in the sagittal plane. Lengths of
muscles, which wrap round ellipsoids and cylinders there, are polynomials here. The knee there slides by up to 27 mm and
has a patella of 0.09 kg: here it is a hinge, and only the lengths of the muscles include both.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co

DATA = Path(__file__).parent / "data" / "squat_to_stand.json"
KNEE, HIP = (0.01, 0.4, 0.0), (0.0, 0.4044, 0.0)  # from ankle to knee, from knee to hip [m]
PELVIS = (0.0563, 0.0785, 0.0)  # of the pelvis' frame in the source, from the hip [m]
LUMBAR = (-0.1007, 0.0815, 0.0)  # of the trunk's frame, from that of the pelvis [m]
ERRORS = ("length_error", "moment_arm_error")
STRENGTH, WIDTH = 2.0, 1.5  # times that of the model's file, as the example has it
STRAIN = 0.7  # of passive fibers at the maximal isometric force


class SquatToStand(NamedTuple):
    """A model and its muscles."""

    model: co.Model
    muscles: tuple[co.muscles.Muscle, ...]


@cache
def squat_to_stand(paths: str = "polynomial") -> SquatToStand:
    """Shank, thigh, pelvis and trunk on a foot that stays on the ground, upright at zero; 51.6 kg without the foot.

    Joints "ankle", "knee" and "hip" have the signs of the source, by which a squat is negative in all three. Muscles
    are "bifemsh" (short head of biceps femoris), "med_gas" (gastrocnemius), "glut_max2", "psoas", "rect_fem",
    "semimem", "soleus", "tib_ant" and "vas_int", changed from the model's file as in the example: twice as strong,
    their active force over 1.5 times the range of lengths, with time constants of 10 and 40 ms, the soleus without
    passive force.

    Parameters
    ----------
    paths : {"polynomial", "points"}
        Lengths of the muscles as polynomials within the ranges of the joints, to 1.4 mm at most and mostly to 0.3; or
        along points and wrapping surfaces on a knee that does not slide, which give the polynomials the directions of
        their pull; at a knee bent by 1 rad these err by 0.15 of the tension of the gastrocnemius, of others by 0.04.
    """
    if paths not in ("polynomial", "points"):
        raise co.InputError(f'paths must be "polynomial" or "points", got {paths!r}')
    limits = {"ankle": (-0.524, 0.698), "knee": (-2.094, 0.0), "hip": (-2.094, 0.524)}  # rad

    def hinge(name: str, axis: int, place: tuple[float, float, float]) -> co.model.Joint:
        limit = co.Limits(position=limits[name])
        return co.revolute((0, 0, axis), placement=co.placement(place), limits=limit, name=name)

    at_hip, trunk = np.array(PELVIS), np.add(PELVIS, LUMBAR)
    bodies = [
        co.Body("shank", hinge("ankle", 1, (0, 0, 0)), None, 3.7075, (0.01, 0.2133, 0), _inertia(0.0504, 0.0511)),
        co.Body("thigh", hinge("knee", -1, KNEE), "shank", 9.3014, (0, 0.2344, 0), _inertia(0.1339, 0.1412)),
        co.Body(
            "pelvis", hinge("hip", 1, HIP), "thigh", 11.777, at_hip - (0.0707, 0, 0), _inertia(0.1028, 0.0579)
        ),
        co.Body(
            "trunk", co.fixed(co.placement(trunk)), "pelvis", 26.8266, (-0.03, 0.32, 0), _inertia(1.4745, 1.4314)
        ),
    ]  # fmt: skip
    rows = json.loads(DATA.read_text(encoding="utf-8"))["muscles"]
    muscles = tuple(_muscle(name, row, paths == "points") for name, row in rows.items())
    return SquatToStand(co.Model(bodies, gravity=(0.0, -9.80665, 0.0), name="squat to stand"), muscles)


def _inertia(forward: float, across: float) -> np.ndarray:
    """Moments about axes forward and across; that about the long axis does not matter in the plane."""
    return np.diag([forward, forward, across])


def _muscle(name: str, row: dict[str, Any], points: bool) -> co.muscles.Muscle:
    line = co.muscles.MusclePath([_on_path(part) for part in row["points"]])
    path = line if points else _length(row["length"], line)
    curves = co.muscles.OPENSIM.with_active(width=WIDTH).with_passive(strain=None if name == "soleus" else STRAIN)
    return co.muscles.Muscle(
        name,
        path,
        STRENGTH * row["max_isometric_force"],
        row["optimal_fiber_length"],
        row["tendon_slack_length"],
        row["pennation"],
        activation_time=0.010,
        deactivation_time=0.040,
        curves=curves,
    )


def _length(row: dict[str, Any], line: co.muscles.MusclePath) -> co.muscles.LengthPolynomial:
    vectors = {key: np.array(row[key]) for key in ("powers", "coefficients", "middle", "half")}
    errors = {key: row[key] for key in ERRORS}
    return co.muscles.LengthPolynomial(tuple(row["joints"]), **vectors, **errors, line=line)


def _on_path(part: Any) -> co.muscles.ViaPoint | co.muscles.Cylinder:
    return _point(*part) if isinstance(part, list) else co.muscles.Cylinder(**part)


def _point(body: str, place: list[Any]) -> co.muscles.ViaPoint:
    """A point of a body, of the ground, or of the patella, which the knee moves and the thigh carries."""
    if not isinstance(place[0], list):
        return co.muscles.ViaPoint(None if body == "ground" else body, place)

    def position(now: co.problem.Instant) -> ca.SX:
        knee = now.q[now.model.joint_names.index("knee")]
        on_shank = ca.vertcat(*(sum(c * knee**k for k, c in enumerate(axis)) for axis in place)) - ca.SX(KNEE)
        x, y, z = ca.vertsplit(on_shank)
        return ca.vertcat(ca.cos(knee) * x - ca.sin(knee) * y, ca.sin(knee) * x + ca.cos(knee) * y, z)

    return co.muscles.ViaPoint("thigh", position)
