"""Aircraft and gliders.

Tables of the aircraft of Bryson, Desai and Hoffman (1969) and of the US standard atmosphere of 1976 are those of yapss
(ef71bb2, MIT licence), and so is how they are interpolated: by cubic splines, and by cubic radial functions.
"""

from __future__ import annotations

from math import pi, radians
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING


def soaring() -> co.Problem:
    """A circle flown without an engine in the least wind that allows it, which grows with the height (feet, slugs)."""
    mass, gravity, density, area = 5.6, 32.2, 0.002378, 45.09703

    def rates(now: co.problem.Instant) -> ca.SX:
        height, speed, climb, turn = now.place[2], now.speed, now.climb, now.turn
        pressure = density * speed**2 / 2 * area
        lift, drag = pressure * now.lift, pressure * (0.00873 + 0.045 * now.lift**2)
        gust = now.gradient * speed * ca.sin(climb)
        weight = mass * gravity
        return ca.vertcat(
            speed * ca.cos(climb) * ca.sin(turn) + now.gradient * height,
            speed * ca.cos(climb) * ca.cos(turn),
            speed * ca.sin(climb),
            -drag / mass - gravity * ca.sin(climb) - gust * ca.cos(climb) * ca.sin(turn),
            (lift * ca.cos(now.bank) - weight * ca.cos(climb) + mass * gust * ca.sin(climb) * ca.sin(turn))
            / (mass * speed),
            (lift * ca.sin(now.bank) - mass * gust * ca.cos(turn)) / (mass * speed * ca.cos(climb)),
        )

    def load(now: co.problem.Instant) -> ca.SX:
        return density * area / 2 / (mass * gravity) * now.lift * now.speed**2

    def around(start: Any, end: Any) -> ca.SX:
        return ca.vertcat(end.speed - start.speed, end.climb - start.climb, end.turn - start.turn - 2 * pi)

    origin = {"place": (0.0, 0.0, 0.0)}
    far = np.array([1500.0, 1000.0, 1000.0])
    return co.Problem(
        model=NOTHING,
        duration=co.Free(10.0, 30.0, 24.0),
        minimize=co.final_cost(lambda now: now.gradient, "wind"),
        subject_to=[
            co.initial(states=origin), co.final(states=origin), co.boundary(around, equals=0.0, name="circle"),
            co.path(load, lower=-2.0, upper=5.0, name="load"),
        ],
        unknowns=[
            co.Unknown("gradient", guess=0.08, constant=True),
            co.Unknown("lift", lower=0.0, upper=1.5, guess=0.5),
            co.Unknown("bank", lower=-radians(75), upper=radians(75), guess=radians(45)),
            co.State("place", 3, rate=lambda now: rates(now)[:3], lower=(-far[0], -far[1], 0.0), upper=far),
            co.State("speed", rate=lambda now: rates(now)[3], lower=10.0, upper=350.0, guess=150.0),
            co.State("climb", rate=lambda now: rates(now)[4], lower=-radians(75), upper=radians(75)),
            co.State("turn", rate=lambda now: rates(now)[5], lower=-radians(225), upper=radians(225)),
        ],
    )  # fmt: skip


def circle() -> dict[str, Any]:
    """The guess of the source: an ellipse in 24 s, on a tilted plane."""

    def place(t: float) -> np.ndarray:
        x = 600 * (np.cos(2 * pi * t / 24) - 1)
        return np.array([x, -200 * np.sin(2 * pi * t / 24), -0.7 * x])

    return {"place": place, "turn": lambda t: np.array([2 * pi * t / 24])}


# The atmosphere every 5000 ft: density [slug/ft3], speed of sound [ft/s].
DENSITY = (
    2.377e-3, 2.048e-3, 1.756e-3, 1.496e-3, 1.267e-3, 1.066e-3, 8.907e-4, 7.382e-4, 5.873e-4, 4.623e-4, 3.639e-4,
    2.865e-4, 2.256e-4, 1.777e-4, 1.392e-4, 1.091e-4, 8.571e-5, 6.743e-5, 5.315e-5,
)  # fmt: skip
SOUND = (1116.5, 1097.1, 1077.4, 1057.4, 1036.9, 1016.1, 994.8, 973.1, *[968.1] * 6, 970.9, 974.3, 977.6, 981.0, 984.3)
HEIGHTS = np.arange(19) * 5e3  # ft
EPS = 1e-5  # between points that make a slope zero
# By Mach number: slope of the lift, drag without lift, share of the lift that is drag.
SLOPE = (
    (0, 0.4, 0.8, 0.84 - EPS, 0.84, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8),
    (3.44, 3.44, 3.44, 3.44, 3.44, 3.58, 4.44, 3.44, 3.01, 2.86, 2.44),
)
DRAG = (
    (0, 0.4, 0.8, 0.86 - EPS, 0.86, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8),
    (0.013, 0.013, 0.013, 0.013, 0.013, 0.014, 0.031, 0.041, 0.039, 0.036, 0.035),
)
SHARE = (
    (0, 0.4, 0.8 - EPS, 0.8, 0.9, 1.0, 1.0 + EPS, 1.2 - EPS, 1.2, 1.4, 1.6, 1.6 + EPS, 1.8 - EPS, 1.8),
    (0.54, 0.54, 0.54, 0.54, 0.74, 0.79, 0.79 - EPS / 10, 0.78 + EPS / 10, 0.78, 0.89, 0.93, 0.93, 0.93, 0.93),
)
# Thrust [1000 lbf] by Mach number, every 0.2, and by height [1000 ft]; zero where it is not known.
THRUST_HEIGHTS = (0, 5, 10, 15, 20, 25, 30, 40, 50, 70)
THRUST = (
    (24.2, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    (28.0, 24.6, 21.1, 18.1, 15.2, 12.8, 10.7, 0, 0, 0),
    (28.3, 25.2, 21.9, 18.7, 15.9, 13.4, 11.2, 7.3, 4.4, 0),
    (30.8, 27.2, 23.8, 20.5, 17.3, 14.7, 12.3, 8.1, 4.9, 0),
    (34.5, 30.3, 26.6, 23.2, 19.8, 16.8, 14.1, 9.4, 5.6, 1.1),
    (37.9, 34.3, 30.4, 26.8, 23.3, 19.8, 16.8, 11.2, 6.8, 1.4),
    (36.1, 38.0, 34.9, 31.3, 27.3, 23.6, 20.1, 13.4, 8.3, 1.7),
    (0, 36.6, 38.5, 36.1, 31.6, 28.1, 24.2, 16.2, 10.0, 2.2),
    (0, 0, 0, 38.7, 35.7, 32.0, 28.1, 19.3, 11.9, 2.9),
    (0, 0, 0, 0, 0, 34.6, 31.1, 21.7, 13.3, 3.1),
)


def spline(x: Any, y: Any, at: ca.SX) -> ca.SX:
    """Value of the cubic spline through points, whose third derivative is continuous at the second and last but one.

    A spline is one cubic and, for every inner knot but those two, a cubic that begins there.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    unit = x[-1] - x[0]
    knots = x[2:-2]

    def basis(z: Any, largest: Any) -> list[Any]:
        s = (z - x[0]) / unit
        return [s * 0 + 1, s, s**2, s**3, *(largest((z - knot) / unit, 0) ** 3 for knot in knots)]

    coefficients = np.linalg.solve(np.stack(basis(x, np.maximum), axis=1), y)
    return sum((c * term for c, term in zip(coefficients, basis(at, ca.fmax), strict=True)), ca.SX(0.0))


def thrust(mach: ca.SX, height: ca.SX) -> ca.SX:
    """Thrust [lbf]: a plane and cubes of the distances from all points of the table, through all of them."""
    table = np.array(THRUST)
    rows, columns = np.nonzero(table)
    points = np.stack([rows * 0.2 / 1.8, np.array(THRUST_HEIGHTS)[columns] / 70.0], axis=1)
    cubes = np.linalg.norm(points[:, None] - points[None], axis=2) ** 3
    plane = np.column_stack([np.ones(len(points)), points])
    system = np.block([[cubes, plane], [plane.T, np.zeros((3, 3))]])
    weights = np.linalg.solve(system, np.concatenate([1000 * table[rows, columns], np.zeros(3)]))
    here = ca.vertcat(mach / 1.8, height / 70000.0)
    value = weights[-3] + weights[-2] * here[0] + weights[-1] * here[1]
    for weight, point in zip(weights, points, strict=False):
        value += weight * (ca.sumsqr(here - point) + 1e-12) ** 1.5
    return value


def climb(cost: co.problem.Cost) -> co.Problem:
    """Bryson, Desai and Hoffman (1969): an aircraft climbs from the runway to 65,600 ft at Mach 1 (feet, slugs)."""
    gravity, area = 32.174, 530.0

    def rates(now: co.problem.Instant) -> ca.SX:
        height, speed = now.height, now.speed
        mach = speed / spline(HEIGHTS, SOUND, height)
        slope, share = spline(*SLOPE, mach), spline(*SHARE, mach)
        pressure = spline(HEIGHTS, DENSITY, height) * speed**2 / 2 * area
        drag = pressure * (spline(*DRAG, mach) + share * slope * now.attack**2)
        lift, push = pressure * slope * now.attack, thrust(mach, height)
        along = push * ca.cos(now.attack) - drag
        across = push * ca.sin(now.attack) + lift
        return ca.vertcat(
            along / now.mass - gravity * ca.sin(now.path),
            (across / now.mass - gravity * ca.cos(now.path)) / speed,
            -push / (gravity * 1600),
        )

    steepest, start = radians(40), 42000 / gravity
    return co.Problem(
        model=NOTHING,
        duration=co.Free(100.0, 800.0, 300.0),
        minimize=cost,
        subject_to=[
            co.initial(states={"height": 0.0, "speed": 424.26, "path": 0.0, "mass": start}),
            co.final(states={"height": 65600.0, "speed": 968.148, "path": 0.0}),
        ],
        unknowns=[
            co.Unknown("attack", lower=-pi / 4, upper=pi / 4),
            co.State("height", rate=lambda now: now.speed * ca.sin(now.path), lower=0.0, upper=69000.0),
            co.State("speed", rate=lambda now: rates(now)[0], lower=1.0, upper=2000.0),
            co.State("path", rate=lambda now: rates(now)[1], lower=-steepest, upper=steepest),
            co.State("mass", rate=lambda now: rates(now)[2], lower=10.0, upper=45000 / gravity, guess=start),
        ],
    )


def plane_change() -> co.Problem:
    """An orbit turned by 18 degrees in the atmosphere, at the highest speed afterwards (Betts 2010, 10.3; feet)."""
    radius, mass, area, gravity = 2.092643e7, 3.315e2, 1.2584e2, 1.40895e16
    sea, reference, scale = 3.3195e-5, 1e5, 2.41388e4
    drag, share = 0.032, 1.4
    a0, a1 = area / (2 * mass) * (drag / share) ** 0.5, drag * area / (2 * mass)
    circular = (gravity / radius) ** 0.5

    def density(now: co.problem.Instant) -> ca.SX:
        return sea * ca.exp(-(now.height - reference) / scale)

    def heat(now: co.problem.Instant) -> ca.SX:
        return 17600 * ca.exp(-now.height / scale / 2) * (now.speed / circular) ** 3.15

    def rates(now: co.problem.Instant) -> ca.SX:
        r, v, fly, turn = radius + now.height, now.speed, now.fly, now.turn
        air = a0 * density(now) * v
        return ca.vertcat(
            v / r * ca.cos(fly) * ca.sin(turn),
            v * ca.sin(fly),
            -a1 * density(now) * v**2 * (1 + now.lift**2) - gravity * ca.sin(fly) / r**2,
            air * now.lift * ca.cos(now.bank) + v / r * (1 - gravity / (r * v**2)) * ca.cos(fly),
            air * now.lift * ca.sin(now.bank) / ca.cos(fly) - v / r * ca.cos(fly) * ca.cos(turn) * ca.tan(now.latitude),
        )

    def inclination(now: co.problem.Instant) -> ca.SX:
        return ca.cos(now.latitude) * ca.cos(now.turn)

    side = radians(89)
    start = {"latitude": 0.0, "height": 365000.0, "speed": 25745.704, "fly": radians(-0.55), "turn": 0.0}
    return co.Problem(
        model=NOTHING,
        duration=co.Free(800.0, 2000.0, 800.0),
        minimize=-1.0 * co.final_cost(lambda now: now.speed, "speed"),
        subject_to=[
            co.initial(states=start), co.final(states={"height": 365000.0}),
            co.at(1.0, inclination, equals=np.cos(radians(18)), name="inclination"),
            co.path(heat, upper=800.0, name="heat"),
        ],
        unknowns=[
            co.Unknown("lift", lower=0.0, upper=2.0, guess=1.0),
            co.Unknown("bank", lower=0.0, upper=pi, guess=radians(45)),
            co.State("latitude", rate=lambda now: rates(now)[0], lower=-side, upper=side),
            co.State("height", rate=lambda now: rates(now)[1], lower=0.0, upper=4e5),
            co.State("speed", rate=lambda now: rates(now)[2], lower=2e4, upper=2.8e4, guess=25745.704),
            co.State("fly", rate=lambda now: rates(now)[3], lower=-radians(10), upper=radians(10)),
            co.State("turn", rate=lambda now: rates(now)[4], lower=-side, upper=side, guess=radians(18)),
        ],
    )  # fmt: skip


def hang_glider() -> co.Problem:
    """Bulirsch et al. (1993): as far as a hang glider comes that meets a column of rising air."""
    mass, gravity, area, density = 100.0, 9.80665, 14.0, 1.13

    def acceleration(now: co.problem.Instant) -> ca.SX:
        away = (now.place[0] / 100.0 - 2.5) ** 2
        rising = 2.5 * (1 - away) * ca.exp(-away)
        sink = now.v[1] - rising
        speed = ca.sqrt(now.v[0] ** 2 + sink**2)
        force = density * area * speed / 2  # N s/m
        lift, drag = force * now.lift, force * (0.034 + 0.069662 * now.lift**2)
        return ca.vertcat(-lift * sink - drag * now.v[0], lift * now.v[0] - drag * sink) / mass - ca.DM([0.0, gravity])

    speed = (13.2275675, -1.28750052)
    return co.Problem(
        model=NOTHING,
        duration=co.Free(0.1, 200.0, 105.0),
        minimize=-1.0 * co.final_cost(lambda now: now.place[0], "range"),
        subject_to=[
            co.initial(states={"place": (0.0, 1000.0), "v": speed}), co.final(states={"v": speed}),
            co.at(1.0, lambda now: now.place[1], equals=900.0, name="height"),
        ],
        unknowns=[
            co.Unknown("lift", lower=0.0, upper=1.4, guess=0.7),
            co.State("place", 2, rate=lambda now: now.v, lower=0.0, upper=(1500.0, 1100.0), guess=(1500.0, 900.0)),
            co.State("v", 2, rate=acceleration, lower=(0.0, -4.0), upper=(15.0, 4.0)),
        ],
    )  # fmt: skip


AIRCRAFT = {
    "dynamic_soaring": Statement(
        soaring,
        guess=circle,
        optimum=0.06358703,
        why="the source meets its value to 1e-5 only; splines and Hermite-Simpson come down to ours",
    ),
    "minimum_fuel_to_climb": Statement(lambda: climb(-1.0 * co.final_cost(lambda now: now.mass, "mass")), factor=-1.0),
    "minimum_time_to_climb": Statement(lambda: climb(co.duration())),
    "aero_plane_change": Statement(plane_change, factor=-1.0),
    "hang_glider": Statement(
        hang_glider,
        factor=-1.0,
        optimum=1248.0306,
        why="Betts prints 1248.26 m in 98.47 s; splines and Radau agree on 1248.0306 m in 98.437 s",
    ),
}
