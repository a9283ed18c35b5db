"""Transfers between orbits, and ways on an ellipsoid."""

from __future__ import annotations

from math import cos, exp, pi, radians, sin
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING

MU, EARTH = 1.407645794e16, 20925662.73  # ft3/s2, ft
HARMONICS = {2: 1082.639e-6, 3: -2.565e-6, 4: -1.608e-6}
P, H, ANGLE = (21837080.052835, 19323 * 6076.1154855643 + EARTH), (-0.25396764647494, 0.0), (pi, 9.4)
DURATIONS = {"coast": 2690.0, "burn": 150.0, "second coast": 18810.0, "second burn": 50.0}  # s, guesses


def harmonics(sine: ca.SX, up: ca.SX, r: ca.SX) -> ca.SX:
    """Gravity of the Earth's oblateness, in the radial frame, ft/s2.

    Parameters
    ----------
    sine : SX
        Of the geocentric latitude.
    up : SX, shape (3,)
        The pole's direction in the radial frame.
    r : SX [ft]
    """
    legendre = {
        2: ((3 * sine**2 - 1) / 2, 3 * sine),
        3: ((5 * sine**3 - 3 * sine) / 2, (15 * sine**2 - 3) / 2),
        4: ((35 * sine**4 - 30 * sine**2 + 3) / 8, (35 * sine**3 - 15 * sine) / 2),
    }
    north, radial = ca.SX(0), ca.SX(0)
    for k, size in HARMONICS.items():
        value, slope = legendre[k]
        weight = -MU / r**2 * (EARTH / r) ** k * size
        north, radial = north + weight * slope, radial + weight * (k + 1) * value
    outward = ca.vertcat(1, 0, 0)
    return north * (up - sine * outward) - radial * outward


def ahead(elements: ca.SX, angle: ca.SX) -> ca.SX:
    """Direction of the velocity in the radial frame, shape (3,)."""
    _, f, g, _, _ = ca.vertsplit(elements)
    speed = ca.vertcat(f * ca.sin(angle) - g * ca.cos(angle), 1 + f * ca.cos(angle) + g * ca.sin(angle), 0)
    return speed / ca.norm_2(speed)


def orbital(elements: ca.SX, angle: ca.SX, push: ca.SX) -> ca.SX:
    """Rates of the equinoctial elements p [ft], f, g, h, k and of the true longitude (Betts 2010, 6.3).

    Parameters
    ----------
    elements : SX, shape (5,)
    angle : SX [rad]
    push : SX, shape (3,) [ft/s2]
        Acceleration in the radial frame beside gravity.
    """
    p, f, g, h, k = ca.vertsplit(elements)
    sine, cosine, root = ca.sin(angle), ca.cos(angle), ca.sqrt(p / MU)
    q, s2 = 1 + f * cosine + g * sine, 1 + h**2 + k**2
    tilt = h * sine - k * cosine
    up = ca.vertcat(2 * tilt, 2 * (h * cosine + k * sine), 1 - h**2 - k**2) / s2
    radial, onward, across = ca.vertsplit(push + harmonics(up[0], up, p / q))
    return ca.vertcat(
        2 * p / q * root * onward,
        root * (sine * radial + ((q + 1) * cosine + f) / q * onward - g / q * tilt * across),
        root * (-cosine * radial + ((q + 1) * sine + g) / q * onward + f / q * tilt * across),
        root * s2 * cosine / (2 * q) * across,
        root * s2 * sine / (2 * q) * across,
        root / q * tilt * across + ca.sqrt(MU * p) * (q / p) ** 2,
    )


def two_burn_orbit() -> co.Phases:
    """From a low orbit to a geosynchronous one by two burns, in equinoctial elements (Betts 2010; PSOPT, twoburn)."""
    thrust, impulse = 1.2, 300.0  # lb, s

    def rates(now: co.problem.Instant, burns: bool) -> ca.SX:
        push = ca.SX(3, 1)
        if burns:
            along = ahead(now.elements, now.angle)
            above = ca.vertcat(-along[1], along[0], 0)
            flat = ca.cos(now.pitch)
            direction = (
                flat * ca.cos(now.yaw) * along - ca.vertcat(0, 0, flat * ca.sin(now.yaw)) + ca.sin(now.pitch) * above
            )
            push = thrust * 32.174 / now.w * direction
        return orbital(now.elements, now.angle, push)

    def phase(duration: co.Free, angles: tuple[float, float] | None, *conditions: Any, cost: Any = None) -> co.Problem:
        burns = angles is not None
        unknowns: list[co.State | co.Unknown] = [
            co.State(
                "elements", 5, rate=lambda now: rates(now, burns)[:5], lower=(10e6, -1, -1, -1, -1),
                upper=(2e8, 1, 1, 1, 1), guess=(10e6, 0, 0, 0, 0),
            ),
            co.State("angle", rate=lambda now: rates(now, burns)[5], lower=pi, upper=30 * pi, guess=pi),
            co.State("w", rate=lambda now: -thrust / impulse if burns else 0.0, lower=0.0, upper=2.0),
        ]  # fmt: skip
        for name, angle in zip(("pitch", "yaw"), angles or (), strict=False):
            unknowns.append(co.Unknown(name, lower=-pi, upper=pi, guess=radians(angle)))
        return co.Problem(NOTHING, duration, cost or 0.0 * co.duration(), conditions, unknowns)

    def end_of(name: str) -> Any:
        return lambda phases: sum(
            phases[each].duration for each in tuple(DURATIONS)[: tuple(DURATIONS).index(name) + 1]
        )

    start = co.initial(states={"elements": (P[0], 0, 0, H[0], 0), "angle": pi, "w": 1.0})
    end = co.final(states={"elements": (P[1], 0, 0, 0, 0)})
    times = {"burn": (2100.0, 3100.0), "second coast": (21600.0, 21800.0), "second burn": (21650.0, 21900.0)}
    heaviest = -1.0 * co.final_cost(lambda now: now.w, "weight")
    return co.Phases(
        {
            "coast": phase(co.Free(2000.0, 3000.0, DURATIONS["coast"]), None, start),
            "burn": phase(co.Free(1.0, 1100.0, DURATIONS["burn"]), (0.148637e-2, -9.08446)),
            "second coast": phase(co.Free(18500.0, 19700.0, DURATIONS["second coast"]), None),
            "second burn": phase(
                co.Free(1.0, 300.0, DURATIONS["second burn"]), (-0.136658e-2, 49.7892), end, cost=heaviest
            ),
        },
        [co.boundary(end_of(name), lower=low, upper=high, unit="s", name=name) for name, (low, high) in times.items()],
    )


def quarters() -> dict[str, Any]:
    """The guess of the source: a quarter of the way in every phase, on a straight line in the elements."""
    lines = [np.linspace(start, end, 5) for start, end in (P, H, ANGLE)]
    weights = 1.0, 1.0, exp(-8000 / (300 * 32.174)), exp(-8000 / (300 * 32.174)), exp(-11000 / (300 * 32.174))

    def between(values: Any, k: int) -> Any:
        duration = tuple(DURATIONS.values())[k]
        return lambda t: np.array(values[k]) + (np.array(values[k + 1]) - np.array(values[k])) * t / duration

    elements = [(p, 0.0, 0.0, h, 0.0) for p, h in zip(*lines[:2], strict=True)]
    angles, w = [(angle,) for angle in lines[2]], [(weight,) for weight in weights]
    return {
        name: {"elements": between(elements, k), "angle": between(angles, k), "w": between(w, k)}
        for k, name in enumerate(DURATIONS)
    }


THRUST, IMPULSE, TIME = 4.446618e-3, 450.0, 86810.0  # lb, s, s as guessed


def spiral(elements: ca.SX, angle: ca.SX, w: ca.SX, u: ca.SX, cut: ca.SX) -> ca.SX:
    """Rates of the elements, the angle and the weight by a little thrust, of which a share may be cut, in percent."""
    thrust = THRUST * (1 + 0.01 * cut)
    return ca.vertcat(orbital(elements, angle, 32.174 * thrust / w * u), -thrust / IMPULSE)


def low_thrust_orbit() -> co.Problem:
    """From a low orbit to an eccentric one in eight rounds by a little thrust (Betts 2010, 6.3; PSOPT, low_thrust).

    The squared length of the direction is within a thousandth of one, which the optimum uses.
    """

    def rates(now: co.problem.Instant) -> ca.SX:
        return spiral(now.elements, now.angle, now.w, now.u, now.cut)

    def arrival(now: co.problem.Instant) -> ca.SX:
        p, f, g, h, k = ca.vertsplit(now.elements)
        return ca.vertcat(p, f**2 + g**2, h**2 + k**2, f * h + g * k)

    def side(now: co.problem.Instant) -> ca.SX:
        _, f, g, h, k = ca.vertsplit(now.elements)
        return g * h - k * f

    goal = (40007346.015232, 0.73550320568829**2, 0.61761258786099**2, 0.0)
    return co.Problem(
        model=NOTHING,
        duration=co.Free(5e4, 1e5, TIME),
        minimize=-1.0 * co.final_cost(lambda now: now.w, "weight"),
        subject_to=[
            co.initial(states={"elements": (P[0], 0, 0, H[0], 0), "angle": pi, "w": 1.0}),
            co.at(1.0, arrival, equals=goal, scale=(4e7, 1.0, 1.0, 1.0), name="orbit"),
            co.at(1.0, side, upper=0.0, scale=1.0, name="side"),
            co.path(lambda now: ca.sumsqr(now.u), lower=0.999, upper=1.001, name="unit length"),
        ],
        unknowns=[
            co.Unknown("u", 3, lower=-1.0, upper=1.0, guess=(0.0, 1.0, 0.0)),
            co.Unknown("cut", lower=-50.0, upper=0.0, guess=-25.0, constant=True),
            co.State(
                "elements", 5, rate=lambda now: rates(now)[:5], lower=(1e7, -0.2, -0.1, -1.0, -0.2),
                upper=(6e7, 0.2, 1.0, 1.0, 0.2),
            ),
            co.State("angle", rate=lambda now: rates(now)[5], lower=pi, upper=20 * pi),
            co.State("w", rate=lambda now: rates(now)[6], lower=0.0, upper=2.0),
        ],
    )  # fmt: skip


def along_the_velocity() -> dict[str, Any]:
    """The guess of Betts: where thrust along the velocity leads."""
    elements, angle, w = ca.SX.sym("elements", 5), ca.SX.sym("angle"), ca.SX.sym("w")
    direction = ahead(elements, angle)
    states = ca.vertcat(elements, angle, w)
    rates = spiral(elements, angle, w, direction, ca.SX(-25.0))
    times = np.linspace(0.0, TIME, 401)
    way = ca.integrator("way", "rk", {"x": states, "ode": rates}, 0.0, times[1:], {"number_of_finite_elements": 1600})
    start = np.array([P[0], 0.0, 0.0, H[0], 0.0, pi, 1.0])
    along = np.column_stack([start, np.array(way(x0=start)["xf"])])
    heading = np.array(ca.Function("heading", [states], [direction])(along))

    def between(rows: np.ndarray) -> Any:
        return lambda t: np.array([np.interp(t, times, row) for row in rows])

    return {
        "elements": between(along[:5]), "angle": between(along[5:6]), "w": between(along[6:]), "u": between(heading),
    }  # fmt: skip


def geodesic() -> co.Problem:
    """The shortest way from New York to London on the Earth's ellipsoid, flown at 900 km/h (PSOPT, geodesic; km, h)."""
    wide, high, speed = 6384.0, 6353.0, 900.0

    def place(latitude: float, longitude: float) -> tuple[float, float, float]:
        up, round_ = radians(90 - latitude), radians(360 - longitude)
        return wide * sin(up) * cos(round_), wide * sin(up) * sin(round_), high * cos(up)

    def velocity(now: co.problem.Instant) -> ca.SX:
        flat = ca.sin(now.polar)
        return speed * ca.vertcat(flat * ca.cos(now.azimuth), flat * ca.sin(now.azimuth), ca.cos(now.polar))

    size = (wide, wide, high)
    return co.Problem(
        model=NOTHING,
        duration=co.Free(3.0, 10.0),
        minimize=co.integral(lambda now: speed, "way"),
        subject_to=[
            co.initial(states={"place": place(40.6413, 73.7781)}),
            co.final(states={"place": place(51.4700, 0.4543)}),
            co.path(lambda now: ca.sumsqr(now.place / ca.DM(size)), equals=1.0, name="ellipsoid"),
        ],
        unknowns=[
            co.Unknown("polar", lower=0.0, upper=pi, guess=pi / 2),
            co.Unknown("azimuth", lower=0.0, upper=2 * pi, guess=pi / 2),
            co.State("place", 3, rate=velocity, lower=[-side for side in size], upper=size),
        ],
    )


ORBITS = {
    "two_burn_orbit": Statement(two_burn_orbit, factor=-1.0, guess=quarters),
    "low_thrust_orbit": Statement(low_thrust_orbit, factor=-1.0, guess=along_the_velocity),
    "geodesic": Statement(geodesic),
}
