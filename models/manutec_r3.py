"""The first three joints of the Manutec r3, an industrial arm that is a benchmark of optimal control.

M. Otter and S. Tuerk, "The DFVLR models 1 and 2 of the Manutec r3 robot", DFVLR-Mitteilung 88-13, Oberpfaffenhofen
1988; the optimal control problems are those of O. von Stryk and M. Schlemmer, "Optimal control of the industrial robot
Manutec r3", in Computational Optimal Control, Birkhaeuser 1994.
"""

from __future__ import annotations

import colloc as co

GEARS = (-105.0, 210.0, 60.0)  # motor turns per turn of the joint
ROTOR = 1.3e-3  # kg m2, of each motor
TORQUE_PER_VOLT = (-126.0, 252.0, 72.0)  # N m/V, behind the gears
VOLTAGE = 7.5  # V, either way
ANGLES = (2.97, 2.01, 2.86)  # rad, either way
RATES = (3.0, 1.5, 5.2)  # rad/s, either way


def manutec_r3(*, torque_only: bool = False) -> co.Model:
    """A column about z, and two links about x that stand upright at zero; no load, the hand's joints locked.

    The third motor rides on the second link and turns with it: with gear ratio g and rotor inertia J its energy is
    J (qd2 + g qd3)^2 / 2, of which armature has the term in qd3^2 and the published inertia of the link that in qd2^2.
    The product that remains, g J qd2 qd3, is that of a flywheel of inertia g J which turns with the third link,
    g J (qd2 + qd3)^2 / 2, less its squares: the flywheel is added to the link, the squares are taken off the armatures.
    Both axes are parallel, so that this is exact.

    Parameters
    ----------
    torque_only : bool
        Whether the joints have torque limits only, without limits of position and velocity.

    Returns
    -------
    Model
        Joints "base", "shoulder" and "elbow" with the published limits; each body's frame sits at its joint.
    """
    flywheel = GEARS[2] * ROTOR
    rotors = [gear**2 * ROTOR for gear in GEARS]
    torques = [(-abs(slope) * VOLTAGE, abs(slope) * VOLTAGE) for slope in TORQUE_PER_VOLT]
    limits = [
        co.Limits(torque=torque) if torque_only else co.Limits((-angle, angle), (-rate, rate), torque)
        for angle, rate, torque in zip(ANGLES, RATES, torques, strict=True)
    ]
    motors = [co.Passive(armature=inertia) for inertia in (rotors[0], rotors[1] - flywheel, rotors[2] - flywheel)]
    base = co.revolute((0, 0, 1), None, limits[0], passive=motors[0])
    shoulder = co.revolute((1, 0, 0), None, limits[1], passive=motors[1])
    elbow = co.revolute((1, 0, 0), co.placement((0, 0, 0.5)), limits[2], passive=motors[2])
    # The column turns about z alone: its other moments play no part, and its mass, which is not published, none either.
    column = {"mass": 1.0, "inertia": (1.16, 1.16, 1.16)}
    upper = {"mass": 56.5, "com": (0.172, 0, 0.205), "inertia": _tensor(2.58, 2.73, 0.64, -0.46)}
    lower = {"mass": 60.3, "com": (0.028, 0, 0.202), "inertia": _tensor(5.41 + flywheel, 5.60, 0.39, 0.33)}
    return co.Model(
        bodies=[
            co.Body("base", base, **column),
            co.Body("shoulder", shoulder, "base", **upper),
            co.Body("elbow", elbow, "shoulder", **lower),
        ],
        gravity=(0.0, 0.0, -9.81),
        name="Manutec r3",
    )


def _tensor(xx: float, yy: float, zz: float, xz: float) -> list[list[float]]:
    return [[xx, 0.0, xz], [0.0, yy, 0.0], [xz, 0.0, zz]]
