"""Aircraft, rockets and spacecraft as points, in the units of their sources."""

from __future__ import annotations

from math import pi, radians, sqrt

import casadi as ca

import colloc as co
from colloc.studies.classics import points, states
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING


def f8_aircraft() -> co.Problem:
    """An F-8 brought back to level flight in the shortest time: Kaya and Noakes (2003) (mintOC; PSOPT, f8)."""

    def rates(now: co.problem.Instant) -> ca.SX:
        a, pitch, rate = now.attack, now.pitch, now.rate_of_pitch
        w = now.tail
        return ca.vertcat(
            -0.877 * a + rate - 0.088 * a * rate + 0.47 * a**2 - 0.019 * pitch**2 - a**2 * rate + 3.846 * a**3
            - 0.215 * w + 0.28 * a**2 * w + 0.47 * a * w**2 + 0.63 * w**3,
            -4.208 * a - 0.396 * rate - 0.47 * a**2 - 3.564 * a**3
            - 20.967 * w + 6.265 * a**2 * w + 46 * a * w**2 + 61.4 * w**3,
        )  # fmt: skip

    return co.Problem(
        model=NOTHING,
        duration=co.Free(1.0, 8.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(states={"attack": 0.4655, "pitch": 0.0, "rate_of_pitch": 0.0}),
            co.final(states={"attack": 0.0, "pitch": 0.0, "rate_of_pitch": 0.0}),
        ],
        unknowns=[
            co.Unknown("tail", lower=-0.05236, upper=0.05236),
            co.State("attack", rate=lambda now: rates(now)[0], lower=-2.0, upper=2.0),
            co.State("pitch", rate=lambda now: now.rate_of_pitch, lower=-2.0, upper=2.0),
            co.State("rate_of_pitch", rate=lambda now: rates(now)[1], lower=-2.0, upper=2.0),
        ],
    )


def cops_rocket() -> co.Problem:
    """Goddard's rocket without units: as high as its fuel takes it (COPS 3, rocket)."""
    exhaust = 0.5

    def drag(now: co.problem.Instant) -> ca.SX:
        return 310 * now.v**2 * ca.exp(-500 * (now.h - 1))

    return co.Problem(
        model=NOTHING,
        duration=co.Free(0.01, 1.0, 0.2),
        minimize=-1.0 * co.final_cost(lambda now: now.h, "height"),
        subject_to=[co.initial(states={"h": 1.0, "v": 0.0, "m": 1.0}), co.final(states={"m": 0.6})],
        unknowns=[
            co.Unknown("thrust", lower=0.0, upper=3.5, guess=1.75),
            co.State("h", rate=lambda now: now.v, lower=1.0, guess=1.0),
            co.State("v", rate=lambda now: (now.thrust - drag(now)) / now.m - 1 / now.h**2, lower=0.0),
            co.State("m", rate=lambda now: -now.thrust / exhaust, lower=0.6, upper=1.0),
        ],
    )


def landing(cost: co.problem.Cost) -> co.Problem:
    """A landing on the moon: Meditch (1964), as in dymos (moon_landing) and PSOPT (moon)."""
    return co.Problem(
        model=NOTHING,
        duration=co.Free(0.1, 10.0, 1.0),
        minimize=cost,
        subject_to=[
            co.initial(states={"h": 1.0, "v": -0.783, "m": 1.0}),
            co.final(states={"h": 0.0, "v": 0.0}),
        ],
        unknowns=[
            co.Unknown("thrust", lower=0.0, upper=1.227),
            co.State("h", rate=lambda now: now.v),
            co.State("v", rate=lambda now: now.thrust / now.m - 1),
            co.State("m", rate=lambda now: -now.thrust / 2.349, lower=1e-3, guess=0.2),
        ],
    )


def low_thrust_spiral_dymos() -> co.Problem:
    """From a circular orbit to one six times as wide by a thousandth of the weight, in the shortest time (dymos).

    The published 228 cannot be: it is a change of speed of 0.228, and Hohmann's transfer, the cheapest between circles
    of this ratio, takes 0.4995. The source ends its search at 500; here it ends at 1000. The angle, which acts on
    nothing, is left out.
    """
    thrust = 1e-3
    return co.Problem(
        model=NOTHING,
        duration=co.Free(100.0, 1000.0, 300.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(states={"r": 1.0, "vr": 0.0, "vt": 1.0}),
            co.final(states={"r": 6.0, "vr": 0.0, "vt": 1 / sqrt(6)}),
        ],
        unknowns=[
            co.Unknown("direction"),
            co.State("r", rate=lambda now: now.vr, lower=0.5, upper=6.5),
            co.State("vr", rate=lambda now: now.vt**2 / now.r - 1 / now.r**2 + thrust * ca.sin(now.direction)),
            co.State("vt", rate=lambda now: -now.vr * now.vt / now.r + thrust * ca.cos(now.direction)),
        ],
    )


def shuttle_reentry_crossrange() -> co.Problem:
    """A space shuttle that re-enters as far to the side as it can, without a limit of heating (Betts 2010, 6.1)."""
    weight, earth, mu = 203000.0, 20902900.0, 0.14076539e17  # lb, ft, ft3/s2
    mass, wing = weight / 32.174, 2690.0  # slug, ft2

    def rates(now: co.problem.Instant) -> dict[str, ca.SX]:
        radius = earth + now.h
        gravity = mu / radius**2
        pressure = 0.5 * 0.002378 * ca.exp(-now.h / 23800) * now.v**2 * wing
        attack = now.attack * 180 / pi
        lift = pressure * (-0.20704 + 0.029244 * attack)
        drag = pressure * (0.07854 - 6.1592e-3 * attack + 6.21408e-4 * attack**2)
        sin, cos = ca.sin, ca.cos
        return {
            "h": now.v * sin(now.path),
            "longitude": now.v * cos(now.path) * sin(now.azimuth) / (radius * cos(now.latitude)),
            "latitude": now.v * cos(now.path) * cos(now.azimuth) / radius,
            "v": -drag / mass - gravity * sin(now.path),
            "path": lift * cos(now.bank) / (mass * now.v) + cos(now.path) * (now.v / radius - gravity / now.v),
            "azimuth": lift * sin(now.bank) / (mass * now.v * cos(now.path))
            + now.v * cos(now.path) * sin(now.azimuth) * ca.tan(now.latitude) / radius,
        }

    def state(name: str, lower: float, upper: float, guess: float) -> co.State:
        return co.State(name, rate=lambda now: rates(now)[name], lower=lower, upper=upper, guess=guess)

    start = {"h": 260000.0, "longitude": radians(-0.5 * 75.3153), "latitude": 0.0, "v": 25600.0}
    return co.Problem(
        model=NOTHING,
        duration=co.Free(100.0, 4000.0, 1000.0),
        minimize=-1.0 * co.final_cost(lambda now: now.latitude * 180 / pi, "cross range"),
        subject_to=[
            co.initial(states={**start, "path": radians(-1.0), "azimuth": radians(90.0)}),
            co.final(states={"h": 80000.0, "v": 2500.0, "path": radians(-5.0)}),
        ],
        unknowns=[
            co.Unknown("attack", lower=radians(-89), upper=radians(89)),
            co.Unknown("bank", lower=radians(-90), upper=radians(1), guess=radians(1)),
            state("h", 0.0, 300000.0, 80000.0),
            state("longitude", radians(-45), radians(45), radians(-45)),
            state("latitude", radians(-89), radians(89), radians(-89)),
            state("v", 1000.0, 40000.0, 2500.0),
            state("path", radians(-89), radians(89), radians(-5)),
            state("azimuth", radians(-180), radians(180), radians(-90)),
        ],
    )


def missile_terrain() -> co.Problem:
    """A missile that dives on its target after a flight 30 m above the ground: Subchan and Zbikowski (2009) (PSOPT).

    The least height falls from 30 m to 0 at 7500 m, like a hyperbolic tangent.
    """
    mass, gravity, area = 1005.0, 9.81, 0.3376

    def forces(now: co.problem.Instant) -> tuple[ca.SX, ca.SX]:
        """Along the axis, thrust less drag, and lift, N."""
        density = 3.312e-9 * now.h**2 - 1.142e-4 * now.h + 1.224
        pressure = 0.5 * density * now.v**2 * area
        drag = pressure * (-1.9431 * now.attack**2 - 0.1499 * now.attack + 0.2359)
        return now.thrust - drag, pressure * 21.9 * now.attack

    def turn(now: co.problem.Instant) -> ca.SX:
        push, lift = forces(now)
        across = push * ca.sin(now.attack) + lift * ca.cos(now.attack)
        return (across / mass - gravity * ca.cos(now.path)) / now.v

    def faster(now: co.problem.Instant) -> ca.SX:
        push, lift = forces(now)
        return (push * ca.cos(now.attack) - lift * ca.sin(now.attack)) / mass - gravity * ca.sin(now.path)

    def clearance(now: co.problem.Instant) -> ca.SX:
        return now.h - 15 * (1 + ca.tanh((7500 - now.x) / 10))

    return co.Problem(
        model=NOTHING,
        duration=co.Free(10.0, 100.0, 50.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(states={"path": 0.0, "v": 272.0, "x": 0.0, "h": 30.0}),
            co.final(states={"path": -pi / 2, "v": 310.0, "x": 1e4, "h": 0.0}),
            co.path(lambda now: forces(now)[1] / (mass * gravity), lower=-4.0, upper=4.0, name="load"),
            co.path(clearance, lower=0.0, scale=30.0, name="terrain"),
        ],
        unknowns=[
            co.Unknown("thrust", lower=1000.0, upper=6000.0, guess=6000.0),
            co.Unknown("attack", lower=-0.3, upper=0.3),
            co.State("path", rate=turn, lower=-pi / 2, upper=pi / 2),
            co.State("v", rate=faster, lower=200.0, upper=310.0),
            co.State("x", rate=lambda now: now.v * ca.cos(now.path), lower=0.0, upper=1e4),
            co.State("h", rate=lambda now: now.v * ca.sin(now.path), lower=0.0, upper=1900.0),
        ],
    )


def moon_landing_dymos() -> co.Problem:
    """The landing that leaves the most mass."""
    return landing(-1.0 * co.final_cost(lambda now: now.m, "mass"))


FLIGHTS = {
    "moon_lander": Statement(lambda: landing(co.integral(lambda now: now.thrust, "thrust"))),
    "f8_aircraft": Statement(f8_aircraft),
    "shuttle_reentry_crossrange": Statement(shuttle_reentry_crossrange, factor=-1.0),
    "missile_terrain": Statement(missile_terrain),
    "cops_rocket": Statement(cops_rocket, factor=-1.0),
    "low_thrust_spiral_dymos": Statement(
        low_thrust_spiral_dymos,
        optimum=597.64396,
        why="228 is less than the 499.5 that Hohmann's transfer takes at this thrust",
    ),
    "moon_landing_dymos": Statement(moon_landing_dymos, factor=-1.0, optimum=0.395354363964, why="0.3953 is cut off"),
    "cops_steering": Statement(points.tangent_steering),
    "linear_tangent_steering": Statement(states.steering),
}
