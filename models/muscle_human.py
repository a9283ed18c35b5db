"""A human who walks in space by 80 muscles on 12 balls: the model of OpenSim's example of walking in 3-D.

Bodies, joints, muscles, passive torques and balls are those of "example3DWalking" (opensim-core, Apache-2.0), whose
model is that of Rajagopal et al. 2016 (IEEE Trans. Biomed. Eng. 63) as changed by Lai et al. 2017 and Uhlrich et al.
2022, scaled to a subject who walked. Here the left side is the mirror image of the right, so that walks can be, too:
the source has the centre of mass of the left toes where the right ones have it, and lengths of muscles that differ
between the sides by a millimetre.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co

DATA = Path(__file__).parent / "data" / "muscle_human.json"
ERRORS = ("length_error", "moment_arm_error")
WIDTH = 1.5  # times the range of lengths of active fibers, as the example has it
MIDDLE = ("pelvis", "torso")  # bodies without a counterpart


class MuscleHuman(NamedTuple):
    """A model with its muscles, passive torques, motors and contact.

    Parameters
    ----------
    model : Model
        Forward is x, up is y, to the right is z.
    muscles : tuple of Muscle
        Forty a side, "addbrev_r" to "vasmed_l".
    passive : dict of str to callable
        By joint of the legs and arms, torque [N m] of tissue as a function of coordinate and velocity.
    motors : dict of str to float [N m]
        By joint of trunk and arms, which have no muscles: the size of its motor.
    contact : GroundContact
        Six balls on each side, "heel_r" to "medial_toe_l".
    """

    model: co.Model
    muscles: tuple[co.muscles.Muscle, ...]
    passive: dict[str, Callable[[Any, Any], Any]]
    motors: dict[str, float]
    contact: co.problem.GroundContact

    def __repr__(self) -> str:
        parts = f"{len(self.muscles)} muscles, {len(self.motors)} motors, {len(self.contact.spheres)} spheres"
        return f"MuscleHuman({self.model.n} joints, {parts})"


def muscle_human(paths: str = "polynomial") -> MuscleHuman:
    """Pelvis, trunk, two legs with toes and two arms; 31 degrees of freedom, 80 muscles, 85.3 kg.

    Knees slide and turn as they bend, and patellae follow them, by polynomials of the source or within 0.1 mm and 0.01
    rad of its splines. Muscles are changed from the model's file as in the example, with rigid tendons: active force
    acts over 1.5 times the range of lengths, and fibers have no passive force; joints have passive torques in its
    place. Muscles of the toes cross only the ankle, and a spring moves the toes. Of the passive torques of the arms
    only the dampers are kept: the others would hold a recorded posture of an arm with 38 N m. Limits of legs and arms
    are those of walking, narrower than the file's.

    Parameters
    ----------
    paths : {"polynomial", "points"}
        Lengths of the muscles as polynomials within the limits of the joints, whose errors they have; or along points
        and wrapping surfaces, which give the polynomials the directions of their pull.

    Returns
    -------
    MuscleHuman
        Joints "pelvis_tx", "_ty", "_tz", "_tilt", "_list", "_rotation", "lumbar_extension", "_bending", "_rotation",
        and, with "_r" and "_l", "hip_flexion", "hip_adduction", "hip_rotation", "knee_angle" (flexion is positive),
        "ankle_angle", "mtp_angle" of the toes, "arm_flex", "arm_add", "arm_rot", "elbow_flex" and "pro_sup".
    """
    if paths not in ("polynomial", "points"):
        raise co.InputError(f'paths must be "polynomial" or "points", got {paths!r}')
    return _human(paths)


@cache
def _human(paths: str) -> MuscleHuman:
    data = json.loads(DATA.read_text(encoding="utf-8"))
    model, passive = _model(data["bodies"]), {}
    for joint, numbers in data["passive"].items():
        torque = co.muscles.PassiveTorque(**numbers)
        passive |= {f"{joint}_r": torque, f"{joint}_l": torque}
    passive |= {"mtp_angle_r": toes, "mtp_angle_l": toes}
    curves = co.muscles.OPENSIM.with_active(width=WIDTH).with_passive(strain=None)
    muscles = [_muscle(name, row, side, paths, curves) for side in "rl" for name, row in data["muscles"].items()]
    spheres = [_sphere(name, row, side) for side in "rl" for name, row in data["spheres"].items()]
    return MuscleHuman(model, tuple(muscles), passive, dict(data["motors"]), co.problem.GroundContact(spheres))


def toes(q: Any, qd: Any) -> Any:
    """Torque of spring and damper between foot and toes [N m] (Falisse et al. 2022, PLOS ONE 17)."""
    return -25.0 * q - 2.0 * qd


def recorded_posture(stride: Any) -> ca.SX:
    """The subject's walk at 1.26 m/s, as if on a treadmill and with stiff toes: five harmonics of every coordinate.

    Parameters
    ----------
    stride : float or SX
        Fraction of the stride. Half a stride later the posture is its mirror image.

    Returns
    -------
    SX, shape (31,) [rad, m]
    """
    human = muscle_human()
    rows = json.loads(DATA.read_text(encoding="utf-8"))["walk"]
    posture = []
    for joint in human.model.joint_names:
        side = joint[-2:] if joint[-2:] in ("_r", "_l") else ""
        mean, *pairs = rows.get(joint.removesuffix(side), [0.0])
        angle, value = 2 * np.pi * (stride + (0.5 if side == "_l" else 0.0)), ca.SX(mean)
        for k, (cosine, sine) in enumerate(zip(pairs[::2], pairs[1::2], strict=True), start=1):
            value += cosine * ca.cos(k * angle) + sine * ca.sin(k * angle)
        posture.append(value)
    return ca.vertcat(*posture)


def recorded_emg() -> dict[str, np.ndarray]:
    """Electrical activity of ten muscles of the subject's right leg in that walk, over the largest of each.

    Returns
    -------
    dict of str to ndarray, shape (25,)
        By muscle, "soleus" to "glmed1", every 4 % of the stride from heel strike on.
    """
    return {muscle: np.array(values) for muscle, values in json.loads(DATA.read_text(encoding="utf-8"))["emg"].items()}


def mirror_image(model: co.Model) -> tuple[list[int], np.ndarray]:
    """The mirror image of a posture: indices of its coordinates, and their signs.

    Parameters
    ----------
    model : Model
        That of `muscle_human`.

    Returns
    -------
    other : list of int
    sign : ndarray, shape (31,)
        So that the image of q is ``sign * q[other]``.
    """
    names = list(muscle_human().model.joint_names)
    if not isinstance(model, co.Model) or list(model.joint_names) != names:
        got = model.name if isinstance(model, co.Model) else model
        raise co.InputError(f"model must be that of muscle_human, got {got!r}")
    swapped = {"_r": "_l", "_l": "_r"}
    other = [names.index(name[:-2] + swapped.get(name[-2:], name[-2:])) for name in names]
    turned = ("pelvis_tz", "pelvis_list", "pelvis_rotation", "lumbar_bending", "lumbar_rotation")
    return other, np.array([-1.0 if name in turned else 1.0 for name in names])


def _model(rows: dict[str, Any]) -> co.Model:
    bodies: list[co.Body] = []
    couplings: dict[str, co.model.Coupling] = {}
    for side in "rl":
        for name, row in rows.items():
            if name not in MIDDLE or side == "r":
                bodies += _chain(name, row, side, couplings)
    return co.Model(bodies, gravity=(0.0, -9.80665, 0.0), name="human with muscles", couplings=couplings)


def _chain(name: str, row: dict[str, Any], side: str, couplings: dict[str, co.model.Coupling]) -> list[co.Body]:
    """A body on the slides and hinges of its joint, with massless links between them."""
    suffix = "" if name in MIDDLE else f"_{side}"
    place, end = (co.placement(_slides(row.get(key, (0.0, 0.0, 0.0)), side)) for key in ("place", "end"))
    parent = None if row["parent"] is None else _on(row["parent"], side)
    mass = {"mass": row["mass"], "com": _slides(row["com"], side), "inertia": row["inertia"]}
    if "axes" not in row:
        return [co.Body(_on(name, side), co.fixed(place), parent, **mass)]
    links = []
    for axis in row["axes"]:
        joint = axis["name"] + suffix
        limits = co.Limits(position=axis["range"]) if "range" in axis else None
        if "slides" in axis:
            moves = co.prismatic(_slides(axis["slides"], side), place, limits, name=joint)
        else:
            moves = co.revolute(_turns(axis["turns"], side), place, limits, name=joint)
        if "follows" in axis:
            couplings[joint] = co.model.Coupling(f"knee_angle{suffix}", curve=co.model.Polynomial(axis["follows"]))
        links.append(co.Body(joint, moves, parent))
        place, parent = None, joint
    last = links.pop()
    joint = co.model.Joint(last.joint.before, last.joint.screw, end, last.joint.limits, last.joint.name)
    return [*links, co.Body(_on(name, side), joint, last.parent, **mass)]


def _on(body: str, side: str) -> str:
    return body if body in MIDDLE else f"{body}_{side}"


def _slides(vector: Any, side: str) -> tuple[float, float, float]:
    """A place or the direction of a slide, in the mirror on the left."""
    x, y, z = vector
    return x, y, z if side == "r" else -z


def _turns(axis: Any, side: str) -> tuple[float, float, float]:
    """The axis of a hinge, which turns the other way in the mirror."""
    x, y, z = axis
    return (x, y, z) if side == "r" else (-x, -y, z)


def _muscle(
    name: str, row: dict[str, Any], side: str, paths: str, curves: co.muscles.MuscleCurves
) -> co.muscles.Muscle:
    path: Any = co.muscles.MusclePath([_on_path(part, side) for part in row["points"]])
    if paths == "polynomial":
        length = row["length"]
        vectors = {key: np.array(length[key]) for key in ("powers", "coefficients", "middle", "half")}
        joints = tuple(f"{joint}_{side}" for joint in length["joints"])
        errors = {key: length[key] for key in ERRORS}
        path = co.muscles.LengthPolynomial(joints, **vectors, **errors, line=path)
    force, fiber, tendon, pennation = row["numbers"]
    return co.muscles.Muscle(
        f"{name}_{side}", path, force, fiber, tendon, pennation,
        activation_time=0.010, deactivation_time=0.040, curves=curves,
    )  # fmt: skip


def _on_path(part: Any, side: str) -> co.muscles.ViaPoint | co.muscles.Cylinder:
    """A point of a path, or a cylinder between points."""
    if isinstance(part, list):
        return co.muscles.ViaPoint(_on(part[0], side), _slides(part[1], side))
    way = part["side"] if isinstance(part["side"], str) else _slides(part["side"], side)
    center, axis = _slides(part["center"], side), _turns(part["axis"], side)
    return co.muscles.Cylinder(_on(part["body"], side), center, axis, part["radius"], way, part["length"])


def _sphere(name: str, row: dict[str, Any], side: str) -> co.problem.ContactSphere:
    center = ca.SX(ca.DM(_slides(row["center"], side)))
    return co.problem.ContactSphere(f"{row['body']}_{side}", center, row["radius"], name=f"{name}_{side}")
