"""Rockets and orbits."""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.classics import states
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING


def limited_goddard() -> co.Problem:
    """Goddard's rocket without dimensions, no faster than 0.1: full thrust, singular, at the limit, coasting."""

    def drag(now: co.problem.Instant) -> ca.SX:
        return 310 * now.v**2 * ca.exp(-500 * (now.r - 1))

    return co.Problem(
        model=NOTHING,
        duration=co.Free(0.01, 10.0),
        minimize=-1.0 * co.final_cost(lambda now: now.r, "height"),
        subject_to=[co.initial(states={"r": 1.0, "v": 0.0, "m": 1.0}), co.final(states={"m": 0.6})],
        unknowns=[
            co.Unknown("u", lower=0.0, upper=1.0),
            co.State("r", rate=lambda now: now.v, lower=1.0, guess=1.0),
            co.State("v", rate=lambda now: (3.5 * now.u - drag(now)) / now.m - 1 / now.r**2, lower=0.0, upper=0.1),
            co.State("m", rate=lambda now: -2 * 3.5 * now.u),
        ],
    )


def transfer() -> co.Problem:
    """From an ellipse to the geostationary orbit by 100 N on 2000 kg, in km and hours, as fast as possible."""
    gravity, radius, most = 5.1658620912e12, 42165.0, 100 * 3600.0**2 / (2000 * 1e3)
    turn = sqrt(gravity / radius**3)

    def rate(now: co.problem.Instant) -> ca.SX:
        return ca.vertcat(now.x[2:], -gravity * now.x[:2] / ca.norm_2(now.x[:2]) ** 3 + now.u)

    def arrival(now: co.problem.Instant) -> ca.SX:
        return ca.vertcat(ca.norm_2(now.x[:2]) - radius, now.x[2] + turn * now.x[1], now.x[3] - turn * now.x[0])

    start = (-42272.67, 0.0, 0.0, -5796.72)
    return co.Problem(
        model=NOTHING,
        duration=co.Free(1.0, 20.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(states={"x": start}),
            co.at(1.0, arrival, equals=0.0, scale=(radius, turn * radius, turn * radius), name="orbit"),
            co.path(lambda now: ca.sumsqr(now.u), upper=most**2, name="thrust"),
        ],
        unknowns=[
            co.Unknown("u", 2, lower=-most, upper=most),
            co.State("x", 4, rate=rate, guess=start, lower=(-1e5, -1e5, -3e4, -3e4), upper=(1e5, 1e5, 3e4, 3e4)),
        ],
    )


def orbit_raising() -> co.Problem:
    """Bryson and Ho (1975), section 2.5: the largest circular orbit that a steady thrust reaches in a given time."""

    def rates(now: co.problem.Instant) -> ca.SX:
        r, _, radial, along = ca.vertsplit(now.x)
        thrust = 0.1405 / (1 - 0.0749 * now.t) * now.u
        return ca.vertcat(radial, along / r, along**2 / r - 1 / r**2 + thrust[0], -radial * along / r + thrust[1])

    return co.Problem(
        model=NOTHING,
        duration=3.32,
        minimize=-1.0 * co.final_cost(lambda now: now.x[0], "radius"),
        subject_to=[
            co.initial(states={"x": (1.0, 0.0, 0.0, 1.0)}),
            co.at(1.0, lambda now: ca.vertcat(now.x[2], now.x[3] - ca.sqrt(1 / now.x[0])), equals=0.0, name="orbit"),
            co.path(lambda now: ca.sumsqr(now.u), equals=1.0, name="thrust"),
        ],
        unknowns=[
            co.Unknown("u", 2, lower=-1.1, upper=1.1, guess=(0.0, 1.0)),
            co.State("x", 4, rate=rates, lower=(1.0, -pi, -10.0, -pi), upper=(10.0, pi, 10.0, pi),
                     guess=(1.5, pi, 0.0, 0.5)),
        ],
    )  # fmt: skip


GRAVITY, EARTH, TURN = 3.986012e14, 6378145.0, 7.29211585e-5  # m3/s2, m, rad/s
LATITUDE = radians(28.5)
ORBIT = (24361140.0, 0.7308, radians(28.5), radians(269.8), radians(130.5))
SEA_LEVEL = 9.80665  # m/s2
BOOSTER, FIRST, SECOND = (19290.0, 17010.0), (104380.0, 95550.0), (19300.0, 16820.0)  # kg, all and propellant
PAYLOAD = 4164.0  # kg
THRUSTS = (628500.0, 1083100.0, 110094.0)  # N, of a booster and of the stages
BURNS = (75.2, 261.0, 700.0)  # s
SITE = (EARTH * cos(LATITUDE), 0.0, EARTH * sin(LATITUDE))
SPEED = (0.0, EARTH * TURN * cos(LATITUDE), 0.0)


def flight(duration: Any, boosters: int, stage: int, mass: float, empty: float, *conditions: Any) -> co.Problem:
    """A phase of the ascent, with so many boosters burning and a stage, from a mass to at least another one."""
    burners = [(THRUSTS[0], BOOSTER[1], BURNS[0])] * boosters
    burners.append((THRUSTS[stage], (FIRST, SECOND)[stage - 1][1], BURNS[stage]))
    force, flow = sum(thrust for thrust, _, _ in burners), sum(fuel / burn for _, fuel, burn in burners)
    name = f"m{boosters}{stage}"

    def rate(now: co.problem.Instant) -> ca.SX:
        height = ca.norm_2(now.r) - EARTH
        wind = now.v - ca.vertcat(-TURN * now.r[1], TURN * now.r[0], 0.0)
        drag = -0.5 * 1.225 * ca.exp(-height / 7200) * 4 * pi * 0.5 * ca.sqrt(ca.sumsqr(wind) + 1e-6) * wind
        return -GRAVITY * now.r / ca.norm_2(now.r) ** 3 + (force * now.u + drag) / getattr(now, name)

    return co.Problem(
        model=NOTHING,
        duration=duration,
        subject_to=[
            co.initial(states={name: mass}),
            co.path(lambda now: ca.sumsqr(now.u), equals=1.0, name="direction"),
            co.path(lambda now: ca.norm_2(now.r) / EARTH, lower=1.0, name="height"),
            *conditions,
        ],
        unknowns=[
            co.Unknown("u", 3, lower=-1.1, upper=1.1, guess=(0.0, 1.0, 0.0)),
            co.State("r", 3, rate=lambda now: now.v, lower=-2 * EARTH, upper=2 * EARTH, guess=SITE),
            co.State("v", 3, rate=rate, lower=-1e4, upper=1e4, guess=SPEED),
            co.State(name, rate=lambda now: -flow, lower=empty - 10, upper=mass + 10, guess=mass),
        ],
    )


def elements(now: co.problem.Instant) -> ca.SX:
    """Semimajor axis, eccentricity, inclination, ascending node and argument of the perigee."""
    r, v = now.r, now.v
    momentum = ca.cross(r, v)
    node = ca.vertcat(-momentum[1], momentum[0], 0.0)
    eccentricity = (ca.sumsqr(v) / GRAVITY - 1 / ca.norm_2(r)) * r - ca.dot(r, v) / GRAVITY * v
    e, n = ca.norm_2(eccentricity), ca.norm_2(node)
    return ca.vertcat(
        1 / (2 / ca.norm_2(r) - ca.sumsqr(v) / GRAVITY),
        e,
        ca.acos(momentum[2] / ca.norm_2(momentum)),
        2 * pi - ca.acos(node[0] / n),
        ca.acos(ca.dot(node, eccentricity) / (n * e)),
    )


def delta_iii() -> co.Phases:
    """A Delta III to a transfer orbit, with nine boosters and two stages: the most mass that arrives (Betts 2010)."""
    start = co.initial(states={"r": SITE, "v": SPEED})
    orbit = co.at(1.0, elements, equals=ORBIT, scale=(EARTH, 1.0, 1.0, 1.0, 1.0), name="orbit")
    share = BURNS[0] / BURNS[1] * FIRST[1]  # of the first stage's propellant, in the time that a booster burns
    mass = 9 * BOOSTER[0] + FIRST[0] + SECOND[0] + PAYLOAD
    after_six = mass - 6 * BOOSTER[1] - share
    three = after_six - 6 * (BOOSTER[0] - BOOSTER[1])
    after_three = three - 3 * BOOSTER[1] - share
    alone = after_three - 3 * (BOOSTER[0] - BOOSTER[1])
    after_first = alone - (FIRST[1] - 2 * share)
    upper = after_first - (FIRST[0] - FIRST[1])
    phases = {
        "six": flight(BURNS[0], 6, 1, mass, after_six, start),
        "three": flight(BURNS[0], 3, 1, three, after_three),
        "first": flight(BURNS[1] - 2 * BURNS[0], 0, 1, alone, after_first),
        "second": flight(co.Free(1.0, BURNS[2], BURNS[2]), 0, 2, upper, PAYLOAD, orbit),
    }
    return co.Phases(phases, minimize=-1.0 * co.final_cost(lambda ends: ends["second"].end.m02, "mass"))


def perigee() -> tuple[np.ndarray, np.ndarray]:
    """Place and velocity at the perigee of the transfer orbit [m], [m/s]."""
    a, e, i, node, argument = ORBIT
    across = np.array([-sin(node) * cos(i), cos(node) * cos(i), sin(i)])
    along = np.array([cos(node), sin(node), 0.0])
    place = a * (1 - e) * (cos(argument) * along + sin(argument) * across)
    speed = sqrt(GRAVITY / (a * (1 - e**2))) * (1 + e)
    return place, speed * (cos(argument) * across - sin(argument) * along)


def launch_guess() -> dict[str, dict[str, Any]]:
    """The guess of the source: at the launch site in the first two phases, then at the perigee."""
    place, velocity = perigee()
    site = {"r": lambda _t: np.array(SITE), "v": lambda _t: np.array(SPEED)}
    far = {"r": lambda _t: place, "v": lambda _t: velocity}
    return {"six": site, "three": site, "first": far, "second": far}


ROCKETS = {
    "goddard_speed_limit": Statement(limited_goddard, factor=-1.0),
    "orbit_transfer_minimum_time": Statement(transfer),
    "goddard_feet": Statement(states.goddard, factor=-1.0),
    "delta_iii_ascent": Statement(delta_iii, factor=-1.0, guess=launch_guess),
    "orbit_raising": Statement(orbit_raising, factor=-1.0),
}
