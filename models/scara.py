"""The four-joint SCARA arm of Siciliano's robotics course.

B. Siciliano, "Controllo dei robot", technical project 2018/2019, University of Naples Federico II; notation of
Siciliano, Sciavicco, Villani and Oriolo, "Robotics: Modelling, Planning and Control", Springer 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import colloc as co

BASE_HEIGHT = 1.0  # m, d0
LENGTH = 0.5  # m, a1 = a2
CENTRE = 0.25  # m, l1 = l2: from a link's joint to its centre of mass
LINK_MASS, LINK_INERTIA = 25.0, 5.0  # kg, kg m2 about the vertical through the centre of mass
QUILL_MASS, QUILL_INERTIA = 10.0, 1.0  # kg, kg m2 about its axis


def scara(gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> co.Model:
    """Two horizontal links about vertical axes, and a vertical quill that slides and turns at the end of the second.

    The world's z is up and its origin on the floor below the shoulder; at q = 0 the arm stretches along x. The quill's
    slide and turn count positive downwards: its tip is at height 1 m - q3, its heading is q1 + q2 - q4.

    The numbers are round ones, made for exercises. The source gives a mass m_l3 and an inertia I_l4 for what is one
    quill on a common axis; both are put on the last body, and the slide is massless. Inertias about horizontal axes
    play no part and are those of slender links and of a disc. The source's motors (inertias 0.02, 0.02, 0.005 and
    0.001 kg m2 behind ratios of 1, 1, 50 rad/m and 20) and their friction are left out.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]

    Returns
    -------
    Model
        Joints "shoulder", "elbow" [rad], "slide" [m] and "quill" [rad].
    """
    link = {"mass": LINK_MASS, "com": (CENTRE - LENGTH, 0, 0), "inertia": (0, LINK_INERTIA, LINK_INERTIA)}
    return co.Model(
        bodies=[
            co.Body("shoulder", co.dh_revolute(d=BASE_HEIGHT, a=LENGTH), **link),
            co.Body("elbow", co.dh_revolute(a=LENGTH, alpha=pi), parent="shoulder", **link),
            co.Body("slide", co.dh_prismatic(), parent="elbow"),
            co.Body(
                "quill",
                co.dh_revolute(),
                parent="slide",
                mass=QUILL_MASS,
                inertia=(QUILL_INERTIA / 2, QUILL_INERTIA / 2, QUILL_INERTIA),
            ),
        ],
        gravity=gravity,
        name="SCARA arm",
    )
