"""Humans in the sagittal plane, with the numbers of the 55-DOF human: limbs one by one, or both sides as one.

`walker2d`, `runner2d` and `jumper2d` are made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.anatomy import Anatomy, combined
from colloc.models.human.human import Human, lump_in, points_in
from colloc.models.human.human55 import joint_limits
from colloc.models.human.segments import table

VIRTUAL = ("pelvis_tz_forward", "pelvis_ty_vertical", "trunk_tilt")
IN_PLANE = np.array([0.0, 1.0, 1.0])
ONE_BY_ONE = {"_r": "r", "_l": "l"}
BOTH_AS_ONE = {"": "rl"}
LEG = {
    "thigh": "hip_flexion",
    "shank": "knee_flexion",
    "rearfoot": "ankle_dorsiflexion",
    "forefoot": "ankle_dorsiflexion",
}
ARM = {"upper_arm": "shoulder_flexion", "forearm": "elbow_flexion", "hand": "elbow_flexion"}


def planar(
    body: Anatomy,
    sex: str,
    limbs: Mapping[str, str],
    *,
    arms: bool,
    held: bool,
    gravity: tuple[float, float, float],
    name: str,
) -> Human:
    """A trunk on three virtual joints, legs without toe joints, and arms without wrists.

    World axes are those of `human55`, x to the left, y up, z forward, and everything moves in the plane x = 0: the
    pelvis forward and up, the trunk by leaning forward, then of every leg hip flexion, knee flexion and ankle
    dorsiflexion, of every arm shoulder flexion and elbow flexion. Every link frame is parallel to the world's at zero,
    with its origin at the joint. Signs, limits and landmarks are those of the 55-DOF human.

    Parameters
    ----------
    body : Anatomy
    sex : "male" or "female"
        Sex whose strength is taken.
    limbs : mapping of str to str
        Ending of the names of a leg and an arm, and the sides "r" and "l" that move as one in it: `ONE_BY_ONE` or
        `BOTH_AS_ONE`. Masses and torque limits of sides that move as one add up.
    arms : bool
        Whether arms move; else they hang, and their masses are the trunk's.
    held : bool
        Whether the virtual joints have the ranges of the 55-DOF human; else they have none.
    gravity : shape (3,) [m/s2]
    name : str

    Returns
    -------
    Human
        Heels, balls and toes, and the top of the head, are markers of its model.
    """
    parts, places = _carriers(limbs, arms), _places(body, limbs, arms)
    parts |= {part: VIRTUAL[-1] for part in body.parts if part not in parts}
    frames = {VIRTUAL[-1]: np.eye(4)} | {link: np.array(ca.DM(co.placement(at))) for link, (_, _, at) in places.items()}
    limits = _limits(body, sex, limbs)
    forward, up, lean = VIRTUAL
    virtual = [limits[joint] if held else co.Limits() for joint in (forward, up, "pelvis_tilt")]
    bodies = [
        co.Body(forward, co.prismatic((0, 0, 1), limits=virtual[0])),
        co.Body(up, co.prismatic((0, 1, 0), limits=virtual[1]), forward),
        co.Body(lean, co.revolute((1, 0, 0), limits=virtual[2]), up, **_link(body, parts, lean, frames)),
    ]
    for link, (above, sign, at) in places.items():
        place = co.placement(np.subtract(at, frames[above][:3, 3]))
        joint = co.revolute((sign, 0, 0), place, limits[link])
        bodies.append(co.Body(link, joint, above, **_link(body, parts, link, frames)))
    seen = {}
    for landmark, (part, place) in body.landmarks.items():
        stem, _, side = landmark.rpartition("_")
        ending = next((ending for ending, sides in limbs.items() if stem and side in sides), None)
        seen.setdefault(landmark if ending is None else stem + ending, (part, place * IN_PLANE))
    points = points_in(frames, parts, seen)
    contacts = [f"{mark}{ending}" for ending in limbs for mark in ("heel", "ball", "toe")]
    return Human(
        co.Model(bodies, gravity, name, {mark: tuple(points[mark]) for mark in (*contacts, "head_top")}),
        body.stature,
        body.mass,
        sum(body.lengths[length] for length in ("thigh", "shank", "ankle_height")),
        VIRTUAL,
        points,
        parts,
        {b.name: 1.0 for b in bodies},
    )


def with_ends(human: Human, *names: str) -> co.Model:
    """The human's model with massless bodies at some landmarks, so that stick figures show head and feet."""
    ends = [
        co.Body(name, co.fixed(co.placement(human.landmarks[name].at)), human.landmarks[name].body) for name in names
    ]
    return replace(human.model, bodies=[*human.model.bodies, *ends], markers={})


def _carriers(limbs: Mapping[str, str], arms: bool) -> dict[str, str]:
    """Name of the body that carries each part of a limb that moves."""
    moving = LEG | ARM if arms else LEG
    return {
        f"{part}_{s}": f"{stem}{end}" for part, stem in moving.items() for end, sides in limbs.items() for s in sides
    }


def _places(body: Anatomy, limbs: Mapping[str, str], arms: bool) -> dict[str, tuple[str, int, tuple[float, ...]]]:
    """Of every link of a limb the link above, the sense of its joint about x, and where this is [m], legs first."""
    thigh, shank, shoulder, upper = (body.lengths[length] for length in ("thigh", "shank", "mid_shoulder", "upper_arm"))
    leg = (("hip_flexion", -1, 0.0), ("knee_flexion", 1, -thigh), ("ankle_dorsiflexion", -1, -thigh - shank))
    arm = (("shoulder_flexion", -1, shoulder), ("elbow_flexion", -1, shoulder - upper))
    places = {}
    for limb in (leg, arm) if arms else (leg,):
        for ending in limbs:
            above = VIRTUAL[-1]
            for stem, sign, height in limb:
                places[f"{stem}{ending}"] = (above, sign, (0.0, height, 0.0))
                above = f"{stem}{ending}"
    return places


def _limits(body: Anatomy, sex: str, limbs: Mapping[str, str]) -> dict[str, co.Limits]:
    """Limits of the 55-DOF human's joints, those of sides that move as one by the limb's name with summed torques."""
    limits = {row["name"]: joint_limits(row, body.stature, body.mass, sex) for row in table("human55_joints.csv")}
    for ending, sides in limbs.items():
        for stem in {*LEG.values(), *ARM.values()}:
            side_limits = limits[f"{stem}_{sides[0]}"]
            lower, upper = side_limits.torque
            limits[f"{stem}{ending}"] = replace(side_limits, torque=(len(sides) * lower, len(sides) * upper))
    return limits


def _link(body: Anatomy, parts: Mapping[str, str], name: str, frames: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Mass, centre of mass and inertia of all parts that a link carries, in the plane."""
    lump = combined(*(body.parts[part] for part, carrier in parts.items() if carrier == name))
    return lump_in(frames[name], lump._replace(com=lump.com * IN_PLANE))
