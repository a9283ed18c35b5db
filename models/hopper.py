"""Raibert's planar hopper: a body on one springy leg.

M. H. Raibert, "Hopping in legged systems: modeling and simulation for the two-dimensional one-legged case", IEEE
Transactions on Systems, Man, and Cybernetics 14(3), 1984.
"""

from __future__ import annotations

import colloc as co

LEG_MASS, BODY_MASS = 1.0, 10.0  # kg
LEG_INERTIA, BODY_INERTIA = 1.0, 10.0  # kg m2, about the centres of mass
LEG_CENTRE, BODY_CENTRE = 0.5, 0.4  # m: the leg's above the foot, the body's above the hip
LENGTH = 1.0  # m, from hip to foot where the spring is at rest
STIFFNESS = 1000.0  # N/m


def hopper(stiffness: float = STIFFNESS, gravity: float = 9.8) -> co.Model:
    """A body free to move in the x-y plane, y up, with a hip below its centre of mass and a leg that slides.

    The source's leg is a spring in series with an actuator that stretches by c: its force on the foot is
    stiffness (LENGTH + c - leg). Here the spring is a passive part of the joint, so that the joint's actuator force is
    stiffness c. The source's mechanical stop, which limits the leg to its length in flight, is left to the problem, as
    are the ground and the foot's contact with it.

    The source gives the moments of inertia about z only; the tensors are those of slender rods.

    Parameters
    ----------
    stiffness : float [N/m]
        Stiffness of the leg; zero for a leg with an actuator only.
    gravity : float [m/s2]
        Along -y.

    Returns
    -------
    Model
        Joints "forward" and "up" [m], the place of the hip; "pitch" of the body and "hip", the leg's angle from the
        body, both positive counter-clockwise [rad]; and "leg" [m], the distance from hip to foot. At zero pitch and hip
        the body is upright above the leg. The link frame of "leg" is in the foot, which is the marker "foot". Forward,
        up and pitch have no actuator: state it by ``bounds(tau=...)``.
    """
    z = (0, 0, 1)
    return co.Model(
        bodies=[
            co.Body("forward", co.prismatic((1, 0, 0))),
            co.Body("up", co.prismatic((0, 1, 0)), "forward"),
            co.Body("pitch", co.revolute(z), "up", BODY_MASS, (0, BODY_CENTRE, 0), (BODY_INERTIA, 0, BODY_INERTIA)),
            co.Body("hip", co.revolute(z), "pitch"),
            co.Body(
                "leg",
                co.prismatic((0, -1, 0), passive=co.Passive(stiffness=stiffness, rest=LENGTH)),
                "hip",
                LEG_MASS,
                (0, LEG_CENTRE, 0),
                (LEG_INERTIA, 0, LEG_INERTIA),
            ),
        ],
        gravity=(0.0, -gravity, 0.0),
        name="hopper",
        markers={"foot": ("leg", (0, 0, 0))},
    )
