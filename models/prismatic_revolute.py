"""The planar slide-and-hinge arm of Barman (2020), section 4.2."""

from __future__ import annotations

from math import pi

import colloc as co

LENGTH = 0.4  # m
MASS = 0.5  # kg
INERTIA = 0.1  # kg m2, about the centre of mass


def prismatic_revolute() -> co.Model:
    """A slide that carries a hinged link, moving in a horizontal plane (no gravity).

    Barman (2020), Tables 4.3 and 4.4. The hinge angle is measured from x1, which is perpendicular to the slide
    (the slide runs along y1), as the Denavit-Hartenberg rows say. The moments of inertia about the other axes play
    no part in the plane and are those of slender links.

    Returns
    -------
    Model
        Joints "slide" [m] and "arm" [rad].
    """
    return co.Model(
        bodies=[
            co.Body(
                "slide",
                co.dh_prismatic(theta=pi / 2, alpha=pi / 2),
                mass=MASS,
                com=(0, -LENGTH / 2, 0),
                inertia=(INERTIA, 0, INERTIA),
            ),
            co.Body(
                "arm",
                co.dh_revolute(a=LENGTH),
                parent="slide",
                mass=MASS,
                com=(-LENGTH / 2, 0, 0),
                inertia=(0, INERTIA, INERTIA),
            ),
        ],
        gravity=(0.0, 0.0, 0.0),
        name="slide and arm",
    )
