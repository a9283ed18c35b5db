"""Classic problems of one particle or several coordinates, each on a slide of its own.

Where the mass is 1 kg the force on a slide is its acceleration, so that any equation of second order can be stated:
what it calls the control is a function of the instant.
"""

from __future__ import annotations

from math import pi

import casadi as ca

import colloc as co
from colloc.studies.classics.classic import Classic

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
EXACT, CONVERGED = "closed form", "converged independently"


def particle(axes: str, mass: float = 1.0, gravity: float = 0.0) -> co.Model:
    """A particle on slides along some of the axes, which are the names of the joints.

    Parameters
    ----------
    axes : str
        "x", "xy" or "xyz".
    mass : float [kg]
    gravity : float [m/s2]
        Along -y.
    """
    bodies = [
        co.Body(axis, co.prismatic(AXES[axis]), axes[k - 1] if k else None, mass if axis == axes[-1] else 0.0)
        for k, axis in enumerate(axes)
    ]
    return co.Model(bodies, gravity=(0.0, -gravity, 0.0), name="particle")


def double_integrator(speed: float | None = None) -> co.Problem:
    """A mass of 2 kg moved by 1 m from rest to rest as fast as 50 N can, or also at most at some speed [m/s].

    From Newton: 2 sqrt(m d / F) without a limit of the speed v, d / v + m v / F with one that is reached.
    """
    limits = [co.bounds(tau=(-50.0, 50.0)), *([co.bounds(qd=(-speed, speed))] if speed else [])]
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    return co.Problem(particle("x", 2.0), co.Free(0.05, 5.0), co.duration(), [*ends, *limits])


def bryson_denham(room: float) -> co.Problem:
    """A particle thrown at a wall, back at its place after a second with the speed turned, room to the wall in m.

    Half the integral of the squared force is 4 / (9 room) where the wall is touched for a while (room <= 1/6); Bryson,
    Denham and Dreyfus (1963); Bryson and Ho (1975).
    """
    return co.Problem(
        model=particle("x"),
        duration=1.0,
        minimize=0.5 * co.integral(lambda now: now.tau**2, "effort"),
        subject_to=[co.initial(q=0.0, qd=1.0), co.final(q=0.0, qd=-1.0), co.bounds(q=(-1.0, room))],
    )


def van_der_pol() -> co.Problem:
    """The oscillator x2'' = (1 - x2^2) x2' - x2 + u calmed within 10 s, with x2' >= -0.25 and |u| <= 1.

    x1 of the sources is x2', and the end is free: Canon, Cullum and Polak (1970); with the constraint as in PROPT and
    CasADi's examples.
    """

    def control(now: co.problem.Instant) -> ca.SX:
        return now.qdd - (1 - now.q**2) * now.qd + now.q

    return co.Problem(
        model=particle("x"),
        duration=10.0,
        minimize=co.integral(lambda now: now.q**2 + now.qd**2 + control(now) ** 2),
        subject_to=[
            co.initial(q=1.0, qd=0.0),
            co.bounds(qd=(-0.25, float("inf"))),
            co.path(control, lower=-1.0, upper=1.0, name="control"),
        ],
    )


def brachistochrone(start: tuple[float, float], end: tuple[float, float], gravity: float) -> co.Problem:
    """The fastest slide of a bead along a wire of any shape, from rest: what a wire without friction does is no work.

    Points are (x, y) with y upwards [m]. The optimum is the time along the cycloid.
    """
    fall = gravity * (2 * gravity * (start[1] - end[1])) ** 0.5  # W, of a kilogram at the end of its way
    return co.Problem(
        model=particle("xy", gravity=gravity),
        duration=co.Free(0.1, 10.0, 2.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(q=start, qd=0.0),
            co.final(q=end),
            co.path(lambda now: ca.dot(now.tau, now.qd), equals=0.0, scale=fall, unit="W", name="power"),
        ],
    )


def tangent_steering() -> co.Problem:
    """A force of 100 N in a direction to choose, on 1 kg, that is to reach 5 m height at a level speed of 45 m/s soon.

    Bryson and Ho (1975); in the numbers of COPS (Dolan, More and Munson 2004).
    """

    def thrust(now: co.problem.Instant) -> ca.SX:
        return now.tau / 100.0 - ca.vertcat(ca.cos(now.direction), ca.sin(now.direction))

    return co.Problem(
        model=particle("xy"),
        duration=co.Free(0.1, 5.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(q=0.0, qd=0.0),
            co.final(q={"y": 5.0}, qd=(45.0, 0.0)),
            co.path(thrust, equals=0.0, name="thrust"),
        ],
        unknowns=[co.Unknown("direction", lower=-pi / 2, upper=pi / 2)],
    )


def cops_arm() -> co.Problem:
    """A bar of length 5 that slides and turns about its pivot: COPS (Dolan, More and Munson 2004).

    It is no mechanism, for it knows no Coriolis and centrifugal forces: L r'' = u1, I sin(phi)^2 theta'' = u2 and
    I phi'' = u3 with I = ((L - r)^3 + r^3) / 3 and every |u| <= 1. The coordinates (r, theta, phi) are those of a
    particle on three slides.
    """
    length = 5.0

    def controls(now: co.problem.Instant) -> ca.SX:
        r, _, phi = ca.vertsplit(now.q)
        inertia = ((length - r) ** 3 + r**3) / 3
        return ca.vertcat(length, inertia * ca.sin(phi) ** 2, inertia) * now.qdd

    return co.Problem(
        model=particle("xyz"),
        duration=co.Free(1.0, 30.0, 10.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(q=(4.5, 0.0, pi / 4), qd=0.0),
            co.final(q=(4.5, 2 * pi / 3, pi / 4), qd=0.0),
            co.bounds(q={"x": (0.0, length), "z": (0.0, pi)}),
            co.path(controls, lower=-1.0, upper=1.0, name="controls"),
        ],
    )


POINTS = {
    "double_integrator": Classic(double_integrator, 0.4, EXACT),
    "double_integrator_speed": Classic(lambda: double_integrator(2.0), 0.58, EXACT),
    "bryson_denham": Classic(lambda: bryson_denham(1 / 9), 4.0, f"{EXACT} (Bryson et al. 1963)"),
    "breakwell": Classic(lambda: bryson_denham(0.1), 40 / 9, f"{EXACT} (Bryson et al. 1963)"),
    "van_der_pol": Classic(van_der_pol, 3.61518, CONVERGED),
    "brachistochrone": Classic(
        lambda: brachistochrone((0.0, 10.0), (10.0, 5.0), 9.80665), 1.80160312, f"{EXACT} (cycloid)"
    ),
    "brachistochrone_flat": Classic(
        lambda: brachistochrone((0.0, 0.0), (2.0, -2.0), 9.8), 0.82475914, f"{EXACT} (cycloid)"
    ),
    "tangent_steering": Classic(tangent_steering, 0.5545708783, "maximum principle, by shooting"),
    "cops_arm": Classic(cops_arm, 9.14091, f"{CONVERGED} (COPS: 9.1409)"),
}
