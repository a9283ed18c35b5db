"""A planar walker of seven links with the sagittal numbers of the 55-DOF human."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from models.human.anatomy import SIDES, TABLE, Anatomy, anatomy, combined
from models.human.human import Human, lump_in, points_in
from models.human.human55 import joint_limits
from models.human.segments import table

VIRTUAL = ("pelvis_tz_forward", "pelvis_ty_vertical", "trunk_tilt")
IN_PLANE = np.array([0.0, 1.0, 1.0])
_LEG_BODIES = {
    "thigh": "hip_flexion",
    "shank": "knee_flexion",
    "rearfoot": "ankle_dorsiflexion",
    "forefoot": "ankle_dorsiflexion",
}  # the trunk carries all other parts


def walker2d(
    stature: float | None = None,
    mass: float | None = None,
    sex: str = "male",
    gravity: tuple[float, float, float] = (0.0, -9.81, 0.0),
    segments: str | Path = TABLE,
) -> Human:
    """Trunk, two thighs, two shanks and two feet in the sagittal plane; 9 DOF.

    World axes are those of `human55`, x to the left, y up, z forward, and everything moves in the plane x = 0: the
    pelvis forward and up, the trunk by leaning forward, then hip flexion, knee flexion and ankle dorsiflexion on the
    right and on the left. The trunk has the mass of pelvis, spine, neck, head and hanging arms. Signs, limits,
    landmarks and contact points are those of the 55-DOF human; the trunk leans within the range of `pelvis_tilt`.
    Every link frame is parallel to the world's at zero, with its origin at the hip, the knee or the ankle.

    Parameters
    ----------
    stature, mass, sex
        As in `human55`.
    gravity : shape (3,) [m/s2]
    segments : str or Path
        Table of segments to use in place of de Leva's (1996), a file as `models.human.segments` describes it.

    Returns
    -------
    Human
        Bodies "pelvis_tz_forward", "pelvis_ty_vertical", "trunk_tilt" and, with "_r" and "_l", "hip_flexion",
        "knee_flexion", "ankle_dorsiflexion".

    Raises
    ------
    InputError
        For a stature or a mass that is not positive, an unknown sex, or an impossible table; names the row.
    """
    body = anatomy(stature, mass, sex, segments)
    rows = {row["name"]: row for row in table("human55_joints.csv")}
    limits = {name: joint_limits(row, body.stature, body.mass, sex) for name, row in rows.items()}
    thigh, shank = body.lengths["thigh"], body.lengths["shank"]
    parts = {f"{part}_{side}": f"{name}_{side}" for part, name in _LEG_BODIES.items() for side in SIDES}
    parts |= {part: "trunk_tilt" for part in body.parts if part not in parts}
    frames = {"trunk_tilt": np.eye(4)}
    forward, up, lean = VIRTUAL
    bodies = [
        co.Body(forward, co.prismatic((0, 0, 1), limits=limits[forward])),
        co.Body(up, co.prismatic((0, 1, 0), limits=limits[up]), forward),
        co.Body(lean, co.revolute((1, 0, 0), limits=limits["pelvis_tilt"]), up, **_link(body, parts, lean, np.eye(4))),
    ]
    for side in SIDES:
        above = lean
        for stem, sign, drop in (("hip_flexion", -1, 0), ("knee_flexion", 1, thigh), ("ankle_dorsiflexion", -1, shank)):
            name, place = f"{stem}_{side}", co.placement((0, -drop, 0))
            frames[name] = frames[above] @ np.array(ca.DM(place))
            joint = co.revolute((sign, 0, 0), place, limits[name])
            bodies.append(co.Body(name, joint, above, **_link(body, parts, name, frames[name])))
            above = name
    return Human(
        co.Model(bodies, gravity=gravity, name="planar walker"),
        body.stature,
        body.mass,
        thigh + shank + body.lengths["ankle_height"],
        VIRTUAL,
        points_in(frames, parts, {name: (part, place * IN_PLANE) for name, (part, place) in body.landmarks.items()}),
        parts,
        {b.name: 1.0 for b in bodies},
    )


def _link(body: Anatomy, parts: Mapping[str, str], name: str, frame: np.ndarray) -> dict[str, Any]:
    """Mass, centre of mass and inertia of all parts that a link carries, in the plane."""
    lump = combined(*(body.parts[part] for part, carrier in parts.items() if carrier == name))
    return lump_in(frame, lump._replace(com=lump.com * IN_PLANE))
