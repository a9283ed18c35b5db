"""The acrobot: a two-link arm driven at its elbow only.

M. W. Spong, "The swing up control problem for the acrobot", IEEE Control Systems 15(1), 1995.
"""

from __future__ import annotations

import colloc as co

LENGTHS = (1.0, 2.0)  # m
CENTRES = (0.5, 1.0)  # m, from a link's joint
MASS = 1.0  # kg, of either link
INERTIAS = (0.083, 0.33)  # kg m2, about the centres of mass


def acrobot(gravity: float = 9.8) -> co.Model:
    """Two rods in the x-y plane that hang down at zero, revolute joints about z.

    The source gives the moments of inertia about z only; the tensors are those of slender rods.

    Parameters
    ----------
    gravity : float [m/s2]
        Along -y.

    Returns
    -------
    Model
        Joints "shoulder" and "elbow"; each body's frame sits at its joint. The shoulder has no actuator: state it by
        ``bounds(tau={"shoulder": (0, 0)})``.
    """
    upper, lower = (
        {"mass": MASS, "com": (0, -centre, 0), "inertia": (inertia, 0, inertia)}
        for centre, inertia in zip(CENTRES, INERTIAS, strict=True)
    )
    elbow = co.revolute(axis=(0, 0, 1), placement=co.placement((0, -LENGTHS[0], 0)))
    return co.Model(
        bodies=[
            co.Body("shoulder", co.revolute(axis=(0, 0, 1)), **upper),
            co.Body("elbow", elbow, parent="shoulder", tip=(0, -LENGTHS[1], 0), **lower),
        ],
        gravity=(0.0, -gravity, 0.0),
        name="acrobot",
    )
