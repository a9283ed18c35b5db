"""A race car on a track, by the distance along its centre line."""

from __future__ import annotations

from math import pi

import casadi as ca

import colloc as co
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING

TRACK = ((150.0, 0.0), (pi / 2, 50.0), (100.0, 0.0), (pi / 2, 90.0), (300.0, 0.0), (pi / 2, 50.0), (100.0, 0.0),
         (pi / 2, 90.0), (155.0, 0.0))  # length of a straight or angle of a corner, radius  # fmt: skip
EASE = 4.0  # m, over which the curvature of a corner rises
MASS, FRONT, REAR, HALF, INERTIA, AIR, GRAVITY = 800.0, 1.8, 1.6, 0.73, 450.0, 1.2, 9.8


def curvature(s: ca.SX) -> ca.SX:
    """Curvature of the track, 1/m: circles and straights, with smooth steps between them."""
    here, kappa = 0.0, ca.SX(0)
    for size, radius in TRACK:
        end = here + size * (radius or 1.0)
        if radius:
            kappa += (ca.tanh((s - here) / EASE) - ca.tanh((s - end) / EASE)) / (2 * radius)
        here = end
    return kappa


def wheels(now: co.problem.Instant) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Longitudinal, lateral and normal forces of the wheels, front left, front right, rear left, rear right, N."""
    height, roll, bias, stiffness, centre = 0.3, 0.5, 0.62, 44.0, 1.6
    base, v, slip, spin = FRONT + REAR, now.v, now.slip, now.spin
    down = 0.5 * AIR * 4.0 * v**2
    weight, pitch, lean = MASS * GRAVITY / 2, MASS / 4 * now.ax * height / base, MASS / 4 * now.ay * height / HALF
    front, rear = (
        weight * REAR / base - pitch + down * (1 - centre / base) / 2,
        weight * FRONT / base + pitch + down * centre / base / 2,
    )
    normal = ca.vertcat(front + lean * roll, front - lean * roll, rear + lean * (1 - roll), rear - lean * (1 - roll))
    throttle, brake = ca.fmax(now.thrust, 0), ca.fmax(-now.thrust, 0)
    driven = weight * (throttle - brake * (1 - bias))
    long = ca.vertcat(-weight * brake * bias, -weight * brake * bias, driven, driven)
    angles = ca.vertcat(
        slip + now.steer - spin * (FRONT + slip * HALF) / v, slip + now.steer - spin * (FRONT - slip * HALF) / v,
        slip + spin * (REAR - slip * HALF) / v, slip + spin * (REAR + slip * HALF) / v,
    )  # fmt: skip
    return long, stiffness * normal * angles, normal


def rates(now: co.problem.Instant) -> dict[str, ca.SX]:
    """Time derivatives of the states, and of the distance along the track."""
    long, side, _ = wheels(now)
    v, slip, spin, kappa = now.v, now.slip, now.spin, curvature(now.t)
    course = now.heading - slip
    s = v * ca.cos(course) / (1 - now.n * kappa)
    drag = 0.5 * AIR * 2.0 * v**2
    faster = (ca.sum1(long) - now.steer * (side[0] + side[1]) - drag) / MASS - spin * v * slip
    slipping = spin - faster * slip / v - (now.steer * (long[0] + long[1]) + ca.sum1(side)) / (MASS * v)
    turning = FRONT * (side[0] + side[1]) - REAR * (side[2] + side[3]) + HALF * (long[0] - long[1] + long[2] - long[3])
    return {
        "s": s,
        "n": v * ca.sin(course),
        "v": faster,
        "heading": spin - kappa * s,
        "slip": slipping,
        "spin": turning / INERTIA,
        "ax": (faster + spin * v * slip - now.ax) / 0.2,
        "ay": (spin * v - v * slipping - faster * slip - now.ay) / 0.2,
    }


def racecar() -> co.Problem:
    """The fastest lap of an oval, in which it may begin at any speed (dymos, racecar).

    Corners of the source begin and end with a spline's curvature; here it rises like a hyperbolic tangent.
    """

    def state(name: str, most: float, least: float | None = None, guess: float = 0.0) -> co.State:
        def rate(now: co.problem.Instant) -> ca.SX:
            change = rates(now)
            return change[name] / change["s"]

        return co.State(name, rate=rate, lower=-most if least is None else least, upper=most, guess=guess)

    def friction(now: co.problem.Instant) -> ca.SX:
        long, side, normal = wheels(now)
        return (long**2 + side**2) / (1.68 * normal) ** 2

    loose = {"heading": 1.0, "slip": 0.5, "spin": 5.0, "ax": 100.0, "ay": 100.0}  # never reached
    names = ("n", "v", *loose)
    return co.Problem(
        model=NOTHING,
        duration=sum(size * (radius or 1.0) for size, radius in TRACK),
        minimize=co.integral(lambda now: 1 / rates(now)["s"], "time"),
        subject_to=[
            co.boundary(
                lambda start, end: ca.vertcat(*(getattr(end, name) - getattr(start, name) for name in names)),
                equals=0.0,
                name="lap",
            ),
            co.path(friction, upper=1.0, name="friction"),
            co.path(lambda now: now.v * ca.sum1(wheels(now)[0]), upper=960e3, unit="W", name="power"),
        ],
        unknowns=[
            co.Unknown("steer"),
            co.Unknown("thrust", guess=0.1),
            state("n", 4.0),
            state("v", 100.0, 1.0, 20.0),
            *(state(name, most) for name, most in loose.items()),
        ],
    )  # fmt: skip


CARS = {"racecar_dymos": Statement(racecar)}
