"""Anatomy of a human: lengths, parts with mass, and named points, for any stature and mass.

Lengths and masses are those of de Leva (1996), Table 4; other dimensions are in
models/human/data/human_dimensions.csv. Axes are anatomical, x to the left, y up, z forward, with the origin midway
between the hips. The posture is neutral: upright, legs straight, arms hanging, palms forward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import colloc as co
from colloc.models.human.segments import AXIAL, segments, table
from colloc.support.checks import finite_number

TABLE = "human_segments.csv"  # of de Leva (1996)
SAMPLES = {"male": (1.741, 73.0), "female": (1.735, 61.9)}  # mean stature [m] and mass [kg] of de Leva's subjects
SIDES = {"r": -1.0, "l": 1.0}  # which way along x
NECK_SHARE = 0.2  # of the mass of head and neck: our estimate
FOREFOOT_SHARE = 0.14  # of the mass of the foot: toes against toes, calcaneus and talus in Rajagopal et al. (2016)


class Lump(NamedTuple):
    """Mass [kg], centre of mass [m], shape (3,), and inertia about it [kg m2], shape (3, 3), in anatomical axes."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True, eq=False)
class Anatomy:
    """Lengths, parts and landmarks of a human of a given stature and mass.

    Parameters
    ----------
    stature, mass : float [m, kg]
    lengths : mapping of str to float [m]
    parts : mapping of str to Lump
        "pelvis", "spine1" to "spine4", "neck", "head"; "upper_arm", "forearm", "hand", "thigh", "shank", "rearfoot",
        "forefoot", each with "_r" or "_l".
    landmarks : mapping of str to (part, ndarray of shape (3,) [m])
        Part to which each point is fixed, and its place in the neutral posture.
    """

    stature: float
    mass: float
    lengths: Mapping[str, float]
    parts: Mapping[str, Lump]
    landmarks: Mapping[str, tuple[str, np.ndarray]]


def anatomy(
    stature: float | None = None, mass: float | None = None, sex: str = "male", path: str | Path = TABLE
) -> Anatomy:
    """A human in the proportions of de Leva (1996).

    All lengths are scaled by one factor, so that sole to vertex is the stature: his segments and the height of the
    ankle here add up to 1.757 m for men of 1.741 m and to 1.713 m for women of 1.735 m. Masses scale with mass,
    inertias with mass times length squared.

    Parameters
    ----------
    stature, mass : float [m, kg], optional
        Those of de Leva's mean man or woman by default.
    sex : "male" or "female"
        Sex of the sample whose proportions are taken.
    path : str or Path
        Another table of segments in place of de Leva's, see `colloc.models.human.segments`.

    Raises
    ------
    InputError
        For a stature or a mass that is not positive, an unknown sex, or an impossible table; names the row.
    """
    if sex not in SAMPLES:
        raise co.unknown_name("sex in de Leva's tables", sex, SAMPLES)
    mean = SAMPLES[sex]
    stature = finite_number("stature", mean[0] if stature is None else stature, positive=True)
    mass = finite_number("mass", mean[1] if mass is None else mass, positive=True)
    rows = segments(sex, path)
    lengths = _lengths(rows, sex, stature)
    percent = sum(row["mass_percent"] * (1 if name in AXIAL else 2) for name, row in rows.items())
    whole = {
        name: _segment(name, row, lengths[name], mass / percent) for name, row in rows.items()
    }  # women: 99.99 percent
    parts = _axial_parts(whole, lengths)
    for side, sign in SIDES.items():
        parts |= {f"{name}_{side}": lump for name, lump in _limb_parts(whole, lengths, sign).items()}
    return Anatomy(stature, mass, lengths, parts, _landmarks(lengths))


def combined(*lumps: Lump) -> Lump:
    """Several lumps as one; a lump of negative mass and inertia is subtracted."""
    mass = sum(lump.mass for lump in lumps)
    com = sum((lump.mass * lump.com for lump in lumps), np.zeros(3)) / mass
    about = (lump.inertia + _steiner(lump.mass, lump.com - com) for lump in lumps)
    return Lump(mass, com, sum(about, np.zeros((3, 3))))


def _lengths(rows: Mapping[str, Mapping[str, float]], sex: str, stature: float) -> dict[str, float]:
    """All lengths, those of the tables and those between their points."""
    printed = {name: row["length_m"] for name, row in rows.items()}
    printed |= {row["length"]: float(row[f"{sex}_m"]) for row in table("human_dimensions.csv")}
    upright = sum(printed[name] for name in ("ankle_height", "shank", "thigh", *AXIAL))
    lengths = {name: length * stature / upright for name, length in printed.items()}
    xiphoid = lengths["lower_trunk"] + lengths["middle_trunk"]
    return lengths | {
        "half_middle_trunk": lengths["middle_trunk"] / 2,
        "half_chest": (lengths["mid_shoulder"] - xiphoid) / 2,
        "neck_base": xiphoid + lengths["upper_trunk"] - lengths["mid_shoulder"],
        "skull": lengths["head"] - lengths["neck"],
    }


def _segment(name: str, row: Mapping[str, float], length: float, per_percent: float) -> Lump:
    """A segment of de Leva's table with its first endpoint at the origin, upright below it; a foot points forward."""
    mass, along = row["mass_percent"] * per_percent, row["com_percent"] / 100 * length
    names = ("transverse_percent", "longitudinal_percent", "sagittal_percent")
    transverse, longitudinal, sagittal = (mass * (row[radius] / 100 * length) ** 2 for radius in names)
    if name == "foot":  # heel to toes is fore-aft, so that its sagittal axis is the vertical one
        return Lump(mass, np.array([0.0, 0.0, along]), np.diag([transverse, sagittal, longitudinal]))
    return Lump(mass, np.array([0.0, -along, 0.0]), np.diag([transverse, longitudinal, sagittal]))


def _axial_parts(whole: Mapping[str, Lump], lengths: Mapping[str, float]) -> dict[str, Lump]:
    """Pelvis, the two halves of middle and upper trunk, neck, and the rest of the head."""
    top = np.cumsum([lengths[name] for name in AXIAL])
    lower, middle, upper, head = (_moved(whole[name], (0, y, 0)) for name, y in zip(AXIAL, top, strict=True))
    across, along = lengths["neck_radius_across"], lengths["neck_radius_long"]
    mass = NECK_SHARE * head.mass
    middle_of_neck = np.array([0, top[2] + lengths["neck"] / 2, 0])
    neck = Lump(mass, middle_of_neck, mass * np.diag([across, along, across]) ** 2)
    halves = (*_halves(middle), *_halves(upper))
    return {
        "pelvis": lower,
        **{f"spine{k}": half for k, half in enumerate(halves, 1)},
        "neck": neck,
        "head": _without(head, neck),
    }


def _limb_parts(whole: Mapping[str, Lump], lengths: Mapping[str, float], side: float) -> dict[str, Lump]:
    """Parts of an arm and a leg; the foot is split at the toe joint."""
    places = {name: place for name, (_, place) in _landmarks(lengths, {"": side}).items()}
    outline = lengths["ball"] + lengths["toes"] - lengths["foot"]  # the end of the heel, ahead of the ankle
    foot = _moved(whole["foot"], places["ankle_"] + (0, -lengths["foot_depth"], outline))
    across, along = lengths["forefoot_radius_across"], lengths["forefoot_radius_long"]
    mass = FOREFOOT_SHARE * foot.mass
    ahead = places["ball_"] + (0, 0, lengths["forefoot_ahead"])
    forefoot = Lump(mass, ahead, mass * np.diag([across, across, along]) ** 2)
    joints = {"upper_arm": "shoulder", "forearm": "elbow", "hand": "wrist", "thigh": "hip", "shank": "knee"}
    parts = {name: _moved(whole[name], places[f"{joint}_"]) for name, joint in joints.items()}
    return parts | {"rearfoot": _without(foot, forefoot), "forefoot": forefoot}


def _landmarks(lengths: Mapping[str, float], sides: Mapping[str, float] = SIDES) -> dict[str, tuple[str, np.ndarray]]:
    navel, xiphoid, cervix, top = np.cumsum([lengths[name] for name in AXIAL])
    points = {
        "pelvis": ("pelvis", (0, 0, 0)),
        "navel": ("pelvis", (0, navel, 0)),
        "xiphoid": ("spine2", (0, xiphoid, 0)),
        "cervix": ("spine4", (0, cervix, 0)),
        "head_top": ("head", (0, top, 0)),
    }
    knee, ankle = -lengths["thigh"], -lengths["thigh"] - lengths["shank"]
    shoulder, sole = lengths["mid_shoulder"], ankle - lengths["ankle_height"]
    elbow, wrist = shoulder - lengths["upper_arm"], shoulder - lengths["upper_arm"] - lengths["forearm"]
    heel, ball, toe = -lengths["heel"], lengths["ball"], lengths["ball"] + lengths["toes"]
    for side, sign in sides.items():
        hip, arm = sign * lengths["hip_half_width"], sign * (lengths["sternum_half_width"] + lengths["clavicle"])
        points |= {
            f"shoulder_{side}": (f"upper_arm_{side}", (arm, shoulder, 0)),
            f"elbow_{side}": (f"upper_arm_{side}", (arm, elbow, 0)),
            f"wrist_{side}": (f"forearm_{side}", (arm, wrist, 0)),
            f"fingertip_{side}": (f"hand_{side}", (arm, wrist - lengths["hand"], 0)),
            f"hip_{side}": ("pelvis", (hip, 0, 0)),
            f"knee_{side}": (f"thigh_{side}", (hip, knee, 0)),
            f"ankle_{side}": (f"shank_{side}", (hip, ankle, 0)),
            f"heel_{side}": (f"rearfoot_{side}", (hip, sole, heel)),
            f"ball_{side}": (f"rearfoot_{side}", (hip, sole, ball)),
            f"toe_{side}": (f"forefoot_{side}", (hip, sole, toe)),
        }
    return {name: (part, np.array(place, dtype=float)) for name, (part, place) in points.items()}


def _moved(lump: Lump, by: Any) -> Lump:
    return lump._replace(com=lump.com + by)


def _without(whole: Lump, part: Lump) -> Lump:
    return combined(whole, Lump(-part.mass, part.com, -part.inertia))


def _halves(whole: Lump) -> tuple[Lump, Lump]:
    """Lower and upper half: equal masses which together are the whole again.

    A uniform rod with mean squared distance s^2 from its middle has the middles of its halves sqrt(3)/2 s from there.
    The sum of the moments across less the moment about the length gives 2 m s^2. The remaining inertia of the halves is
    then possible; for women it would not be with middles half a length apart.
    """
    across, along = whole.inertia[0, 0] + whole.inertia[2, 2], whole.inertia[1, 1]
    offset = np.array([0, np.sqrt(3 / 4 * (across - along) / (2 * whole.mass)), 0])
    inertia = whole.inertia / 2 - _steiner(whole.mass / 2, offset)
    return Lump(whole.mass / 2, whole.com - offset, inertia), Lump(whole.mass / 2, whole.com + offset, inertia)


def _steiner(mass: float, r: np.ndarray) -> np.ndarray:
    """Inertia of a particle about the origin."""
    return mass * (r @ r * np.eye(3) - np.outer(r, r))
