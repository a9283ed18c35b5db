"""The 43-DOF human of Zhakatayev, Rogovchenko and Pätzold (2023).

"Recursive inverse dynamics sensitivity analysis of open-tree-type multibody systems", Tables 1 and 2, open access under
CC BY 4.0. The tables are in models/data.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from math import radians
from pathlib import Path
from typing import Any

import numpy as np

import colloc as co

DATA = Path(__file__).parent / "data"


def human43(gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> co.Model:
    """A standing human: pelvis free to move, two legs, trunk, two arms and head; 43 DOF, 20 links with mass, 77.5 kg.

    At q = 0 the human stands upright with the arms hanging: z is up (footnote 5 of the source gives gravity as
    -9.81 m/s2 along z), the toes point along y, and x is to the human's right. The world origin is the pelvis point;
    the ankles are 0.87 m below it. The joints j01 to j03 move the pelvis along z, y and x, row 3 of Table 1 with
    d = -q3; j04 and j05 turn it, and each hip half and the trunk has a third angle of its own.

    Masses and lengths are printed, centres of mass and inertias are not. Every link with mass is taken as a slender
    uniform rod between the ends that its Denavit-Hartenberg row gives: centre of mass at mid-link, m L^2 / 12 across
    the rod, nothing about it. Torque curves therefore agree with the printed ones in shape, not in value.

    The head and the hands, each at the end of three axes through one point, turn about their length without any
    inertia. The mass matrix therefore has rank 40 in general posture and 36 at q = 0, where further limbs are in line:
    the model is for inverse dynamics, not for forward dynamics.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]

    Returns
    -------
    Model
        Bodies "j01_pelvis_up" to "j43_head", numbered as in the source.
    """
    links = {row["link"]: (float(row["length_m"]), float(row["mass_kg"])) for row in _table("human43_links.csv")}
    bodies: list[co.Body] = []
    for row in _table("human43_joints.csv"):
        d, a = (_length(row[column], links) for column in ("d_length", "a_length"))
        theta, alpha = radians(float(row["theta_offset_deg"])), radians(float(row["alpha_deg"]))
        if row["sign"] == "-1":  # only row 3, a slide along -z without any offset
            joint = co.prismatic(axis=(0, 0, -1))
        elif row["type"] == "P":
            joint = co.dh_prismatic(theta, d, a, alpha)
        else:
            joint = co.dh_revolute(theta, d, a, alpha)
        mass = links[(row["d_length"] + row["a_length"]).lstrip("-")][1] if d or a else 0.0
        # The rod reaches from the joint's axis to the link's origin; in link axes, z of the parent is (0, sin, cos).
        # Rounded, so that the cosine of a right angle is a zero that the recursions can leave out.
        rod = np.round([a, d * np.sin(alpha), d * np.cos(alpha)], 15)
        parent = int(row["parent_joint"])
        bodies.append(
            co.Body(row["name"], joint, bodies[parent - 1].name if parent else None, mass, *_slender(mass, rod))
        )
    return co.Model(bodies, gravity=gravity, name="43-DOF human")


def _slender(mass: float, rod: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass and inertia of a uniform rod that ends at the link's origin."""
    return -rod / 2, mass / 12 * (rod @ rod * np.eye(3) - np.outer(rod, rod))


def _length(name: str, links: dict[str, tuple[float, float]]) -> float:
    if not name:
        return 0.0
    length = links[name.lstrip("-")][0]
    return -length if name.startswith("-") else length


def _table(name: str) -> list[dict[str, Any]]:
    with open(DATA / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))
