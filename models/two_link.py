"""The planar two-link arm of the time-optimal control literature.

Parameters of Xiang, Arora and Abdel-Malek (2009), Table 1, the same as Barman (2020), Tables 4.1 and 4.2; the arm
goes back to Dissanayake, Goh and Phan-Thien (1991).
"""

from __future__ import annotations

import colloc as co

LENGTH = 0.4  # m
MASS = 0.5  # kg
INERTIA = 0.1  # kg m2, about the centre of mass


def two_link(gravity: float = 0.0) -> co.Model:
    """Two equal links in the x-y plane, revolute joints about z, centre of mass at mid-link.

    The sources give the moment of inertia about z only. The tensor is that of a slender link along x, the other
    components play no part in the plane.

    Parameters
    ----------
    gravity : float [m/s2]
        Along -y; zero for an arm that moves in the horizontal plane.

    Returns
    -------
    Model
        Joints "shoulder" and "elbow"; each body's frame sits at the far end of its link.
    """
    link = {"mass": MASS, "com": (-LENGTH / 2, 0, 0), "inertia": (0, INERTIA, INERTIA)}
    return co.Model(
        bodies=[
            co.Body("shoulder", co.dh_revolute(a=LENGTH), **link),
            co.Body("elbow", co.dh_revolute(a=LENGTH), parent="shoulder", **link),
        ],
        gravity=(0.0, -gravity, 0.0),
        name="two-link arm",
    )
