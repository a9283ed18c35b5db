"""A human in the sagittal plane that walks by 18 muscles on 4 balls: OpenSim's example of planar walking.

Bodies, joints, muscles and balls are those of "2D_gait" (opensim-core, Apache-2.0), which comes from gait10dof18musc
(CC BY 3.0; Delp et al. 1990, Yamaguchi and Zajac 1989, Anderson and Pandy 1999). Its gastrocnemius inserts at the heel
and begins at the femur; the source calls the model one for teaching, not for research.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co

DATA = Path(__file__).parent / "data" / "muscle_walker.json"
SIDES = ("r", "l")


class MuscleWalker(NamedTuple):
    """A model with its muscles and contact.

    Parameters
    ----------
    model : Model
        Forward is x, up is y.
    muscles : tuple of Muscle
        Nine on each side, "hamstrings_r" to "tib_ant_l".
    contact : GroundContact
        Of the balls "heel_r", "front_r", "heel_l", "front_l".
    """

    model: co.Model
    muscles: tuple[co.muscles.Muscle, ...]
    contact: co.problem.GroundContact


def muscle_walker(paths: str = "polynomial") -> MuscleWalker:
    """Pelvis, trunk and two legs of thigh, shank, talus, foot and toes; 10 DOF, 18 muscles, 62 kg.

    Parameters
    ----------
    paths : {"polynomial", "points"}
        Lengths of the muscles as polynomials within the ranges of the joints, lengths and moment arms to 2 mm, or along
        the points of the source, some of which are conditional or move with the knee.

    Returns
    -------
    MuscleWalker
        Joints "pelvis_tx", "pelvis_ty", "pelvis_tilt", "lumbar" and, with "_r" and "_l", "hip_flexion", "knee_angle"
        (flexion is negative) and "ankle_angle".
    """
    if paths not in ("polynomial", "points"):
        raise co.InputError(f'paths must be "polynomial" or "points", got {paths!r}')
    return _walker(paths)


@cache
def _walker(paths: str) -> MuscleWalker:
    data = json.loads(DATA.read_text(encoding="utf-8"))
    model = _model(data)
    right, left = ([_muscle(name, row, side) for name, row in data["muscles"].items()] for side in SIDES)
    if paths == "polynomial":
        right = co.muscles.fit_lengths(model, right, length_tolerance=2e-3, moment_arm_tolerance=2e-3)
        left = [replace(muscle, path=_other_side(like.path, muscle)) for muscle, like in zip(left, right, strict=True)]
    spheres = [_sphere(name, row, side) for side in SIDES for name, row in data["spheres"].items()]
    return MuscleWalker(model, (*right, *left), co.problem.GroundContact(spheres))


def _other_side(length: Any, muscle: co.muscles.Muscle) -> co.muscles.LengthPolynomial:
    """The same polynomial in the coordinates of the left leg, whose lengths are the right one's, and its own points."""
    return replace(length, joints=tuple(f"{joint[:-2]}_l" for joint in length.joints), line=muscle.path)


def _model(data: dict[str, Any]) -> co.Model:
    rows, limits = data["bodies"], {joint: co.Limits(position=ends) for joint, ends in data["ranges"].items()}
    bodies = [
        co.Body("pelvis_forward", co.prismatic((1, 0, 0), limits=limits["pelvis_tx"], name="pelvis_tx")),
        co.Body("pelvis_up", co.prismatic((0, 1, 0), limits=limits["pelvis_ty"], name="pelvis_ty"), "pelvis_forward"),
    ]
    tilt = co.revolute(limits=limits["pelvis_tilt"], name="pelvis_tilt")
    bodies.append(_body("pelvis", rows["pelvis"], tilt, "pelvis_up"))
    lumbar = co.revolute(placement=_place(rows["torso"]["offset"]), limits=limits["lumbar"], name="lumbar")
    bodies.append(_body("torso", rows["torso"], lumbar, "pelvis"))
    for side in SIDES:
        for body, joint in (("femur", "hip_flexion"), ("tibia", "knee_angle"), ("talus", "ankle_angle")):
            parent = rows[body]["parent"] + ("" if body == "femur" else f"_{side}")
            place = _place(_mirrored(rows[body]["offset"], side))
            hinge = co.revolute(placement=place, limits=limits[joint], name=f"{joint}_{side}")
            bodies.append(_body(f"{body}_{side}", rows[body], hinge, parent))
        for body in ("calcn", "toes"):
            fixed = co.fixed(_place(_mirrored(rows[body]["offset"], side)))
            bodies.append(_body(f"{body}_{side}", rows[body], fixed, f"{rows[body]['parent']}_{side}", side))
    return co.Model(bodies, gravity=(0.0, -9.80665, 0.0), name="walker with muscles")


def _body(name: str, row: dict[str, Any], joint: co.model.Joint, parent: str, side: str = "r") -> co.Body:
    return co.Body(name, joint, parent, row["mass"], _mirrored(row["com"], side), np.diag(row["inertia"]))


def _place(offset: Any) -> ca.SX:
    return co.placement(offset)


def _mirrored(point: Any, side: str) -> tuple[float, float, float]:
    x, y, z = point
    return x, y, z if side == "r" else -z


def _on(side: str, body: str) -> str:
    return body if body in ("pelvis", "torso") else f"{body}_{side}"


def _muscle(name: str, row: dict[str, Any], side: str) -> co.muscles.Muscle:
    numbers = {key: value for key, value in row.items() if key != "path"}
    points = [_point(point, side) for point in row["path"]]
    return co.muscles.Muscle(f"{name}_{side}", co.muscles.MusclePath(points), **numbers)


def _point(row: dict[str, Any], side: str) -> co.muscles.ViaPoint:
    body, joint = _on(side, row["body"]), f"{row['joint']}_{side}" if "joint" in row else None
    if joint is None or "within" in row:
        return co.muscles.ViaPoint(body, _mirrored(row["position"], side), joint, row.get("within"))
    splines = [co.model.CubicSpline(axis["x"], np.array(axis["y"]) * axis["scale"]) for axis in row["position"]]
    sign = 1.0 if side == "r" else -1.0

    def position(now: co.problem.Instant) -> ca.SX:
        q = now.q[now.model.joint_names.index(joint)]
        x, y, z = (spline.derivatives(q, 0)[0] for spline in splines)
        return ca.vertcat(x, y, sign * z)

    return co.muscles.ViaPoint(body, position)


def _sphere(name: str, row: dict[str, Any], side: str) -> co.problem.ContactSphere:
    center = _mirrored(row["center"], side)
    return co.problem.ContactSphere(
        f"{row['body']}_{side}", center, row["radius"], stiffness=3067776.0, name=f"{name}_{side}"
    )
