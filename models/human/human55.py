"""The 55-DOF human skeleton of Barman (2020), chapter V, at any stature and mass.

"Recursive Newton-Euler dynamics and sensitivity analysis for dynamic motion planning", Oklahoma State University. The
thesis names branches and degrees of freedom and prints neither Denavit-Hartenberg table nor limits nor masses: the
rows of models/human/data/human55_joints.csv are chosen here, lengths and masses are those of
`colloc.models.human.anatomy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import radians
from pathlib import Path
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.anatomy import SAMPLES, SIDES, TABLE, anatomy
from colloc.models.human.human import Human, lump_in, points_in
from colloc.models.human.segments import table

VIRTUAL = (
    "pelvis_tx_lateral", "pelvis_ty_vertical", "pelvis_tz_forward", "pelvis_yaw", "pelvis_list", "pelvis_tilt",
)  # fmt: skip
# The thesis freezes "the upper spine, neck, clavicle, and wrist joints" and counts 38 active ones. That leaves four of
# the spine, and it does not say which: we take the upper four.
FROZEN = (
    "spine3_axial", "spine4_flexion", "spine4_lateral", "spine4_axial",
    "neck_lower_flexion", "neck_lower_lateral", "neck_lower_axial", "neck_upper_flexion", "neck_upper_lateral",
    "clavicle_elevation_r", "clavicle_protraction_r", "clavicle_elevation_l", "clavicle_protraction_l",
    "wrist_flexion_r", "wrist_deviation_r", "wrist_flexion_l", "wrist_deviation_l",
)  # fmt: skip
# Ranges [rad] for walking. Within the wide ranges of the table an optimum yaws the pelvis by 30 degrees, and folds an
# arm by 140 degrees behind the back because that saves 2 % of the cost, which is not walking.
WALKING: Mapping[str, tuple[float, float]] = MappingProxyType(
    {name: (-radians(8), radians(8)) for name in ("pelvis_yaw", "pelvis_tilt")}
    | {"pelvis_list": (-radians(7), radians(7))}
    | {f"hip_adduction_{side}": (-radians(12), radians(12)) for side in SIDES}
    | {f"hip_rotation_{side}": (-radians(15), radians(15)) for side in SIDES}
    | {f"ankle_dorsiflexion_{side}": (-radians(25), radians(12)) for side in SIDES}
    | {f"ankle_inversion_{side}": (-radians(12), radians(12)) for side in SIDES}
    | {f"shoulder_flexion_{side}": (-radians(30), radians(30)) for side in SIDES}
    | {f"shoulder_adduction_{side}": (-radians(20), radians(5)) for side in SIDES}
    | {f"shoulder_rotation_{side}": (-radians(30), radians(30)) for side in SIDES}
    | {f"elbow_flexion_{side}": (0.0, radians(45)) for side in SIDES}
)
_AXIAL_BODIES = {
    "pelvis": "pelvis_tilt",
    **{f"spine{k}": f"spine{k}_axial" for k in range(1, 5)},
    "neck": "neck_lower_axial",
    "head": "neck_upper_lateral",
}
_LIMB_BODIES = {
    "upper_arm": "shoulder_rotation",
    "forearm": "forearm_pronation",
    "hand": "wrist_deviation",
    "thigh": "hip_rotation",
    "shank": "knee_flexion",
    "rearfoot": "ankle_inversion",
    "forefoot": "toe_extension",
}


def human55(
    stature: float | None = None,
    mass: float | None = None,
    sex: str = "male",
    gravity: tuple[float, float, float] = (0.0, -9.81, 0.0),
    segments: str | Path = TABLE,
) -> Human:
    """A human of 55 degrees of freedom: pelvis 6, spine 12, neck 5, arms 9 each, legs 7 each.

    World axes are x to the left, y up, z forward. At zero coordinates the human stands upright with hanging arms and
    the palms forward, midpoint of the hips at the world origin: `Human.standing` puts the soles on the ground y = 0.
    Every body has the name of its joint; at a joint of several axes all but the last body are massless. Sides end
    in "_r" and "_l", and positive is the same anatomical direction on both (models/human/data/human55_joints.csv).

    Position limits are wide ranges, see `WALKING` and `walking` for narrow ones. Torque limits are proportional to mass
    times stature, the normalisation of Anderson et al. (2007). The virtual joints have none: they have no drive, and
    ground reactions that add up to what the motion needs leave no load to them.

    Parameters
    ----------
    stature, mass : float [m, kg], optional
        Those of de Leva's mean man or woman by default: 1.741 m and 73.0 kg, 1.735 m and 61.9 kg.
    sex : "male" or "female"
        Sex of the sample whose proportions and strength are taken.
    gravity : shape (3,) [m/s2]
    segments : str or Path
        Table of segments in place of de Leva's (1996), see `colloc.models.human.segments`.

    Returns
    -------
    Human
        With mass in the 21 bodies that `Human.parts` names.

    Raises
    ------
    InputError
        For a stature or a mass that is not positive, an unknown sex, or an impossible table; names the row.
    """
    body = anatomy(stature, mass, sex, segments)
    rows = table("human55_joints.csv")
    joints = {row["name"]: _joint(row, body.lengths, joint_limits(row, body.stature, body.mass, sex)) for row in rows}
    parent = {row["name"]: rows[int(row["parent_joint"]) - 1]["name"] for row in rows if row["base"] != "global"}
    parts = _AXIAL_BODIES | {f"{part}_{s}": f"{name}_{s}" for part, name in _LIMB_BODIES.items() for s in SIDES}
    frames: dict[str, np.ndarray] = {}
    for name, joint in joints.items():
        above = frames[parent[name]] if name in parent else np.eye(4)
        frames[name] = above @ np.array(ca.DM(joint.transform(ca.SX(0))))
    lumps = {parts[part]: lump_in(frames[parts[part]], lump) for part, lump in body.parts.items()}
    bodies = [co.Body(name, joint, parent.get(name), **lumps.get(name, {})) for name, joint in joints.items()]
    return Human(
        co.Model(bodies, gravity=gravity, name="55-DOF human"),
        body.stature,
        body.mass,
        sum(body.lengths[name] for name in ("thigh", "shank", "ankle_height")),
        VIRTUAL,
        points_in(frames, parts, body.landmarks),
        parts,
        {row["name"]: float(row["mirror"]) for row in rows},
    )


def walking(human: Human) -> Human:
    """The 38-DOF walking human: `FROZEN` joints held at zero, ranges of `WALKING`; bodies and names are the same."""
    return human.frozen(dict.fromkeys(FROZEN, 0.0)).ranged(WALKING)


def joint_limits(row: Mapping[str, Any], stature: float, mass: float, sex: str) -> co.Limits:
    """Limits of a row of the joint table: ranges of slides scale with stature, torques with mass times stature."""
    unit = stature / SAMPLES["male"][0] if row["type"] == "P" else radians(1)
    of = "female" if sex == "female" and row["tau_lower_female"] else "male"
    lower, upper = (float(row[f"tau_{end}{'_female' if of == 'female' else ''}"]) for end in ("lower", "upper"))
    share = stature * mass / np.prod(SAMPLES[of])
    position = (unit * float(row["q_lower"]), unit * float(row["q_upper"]))
    if lower == upper == 0:
        return co.Limits(position=position)  # nothing drives it, and the ground reactions see to it that nothing must
    return co.Limits(position=position, torque=(float(share * lower), float(share * upper)))


def _joint(row: Mapping[str, Any], lengths: Mapping[str, float], limits: co.Limits) -> co.model.Joint:
    """Joint of a row of the Denavit-Hartenberg table, behind the base frame of its branch."""
    make = co.dh_prismatic if row["type"] == "P" else co.dh_revolute
    theta, alpha = radians(float(row["theta_offset_deg"])), radians(float(row["alpha_deg"]))
    joint = make(theta, _length(row["d_length"], lengths), _length(row["a_length"], lengths), alpha, limits)
    if not row["base"]:
        return joint
    base = next(base for base in table("human55_bases.csv") if base["base"] == row["base"])
    place = np.eye(4)
    place[:3, :3] = [[float(base[f"r{i}{j}"]) for j in (1, 2, 3)] for i in (1, 2, 3)]
    place[:3, 3] = [_length(base[f"{axis}_length"], lengths) for axis in "xyz"]
    return replace(joint, before=ca.sparsify(ca.SX(place)))


def _length(name: str, lengths: Mapping[str, float]) -> float:
    if not name:
        return 0.0
    return -lengths[name[1:]] if name.startswith("-") else lengths[name]
