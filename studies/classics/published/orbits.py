"""Transfers between orbits, and ways on an ellipsoid."""

from __future__ import annotations

from math import cos, pi, radians, sin

import casadi as ca

import colloc as co
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING

MU, EARTH = 1.407645794e16, 20925662.73  # ft3/s2, ft
HARMONICS = {2: 1082.639e-6, 3: -2.565e-6, 4: -1.608e-6}
QUARTERS = {"p": (21837080.052835, 19323 * 6076.1154855643 + EARTH), "h": (-0.25396764647494, 0.0), "angle": (pi, 9.4)}


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


def two_burn_orbit() -> co.Phases:
    """From a low orbit to a geosynchronous one by two burns, in equinoctial elements (Betts 2010, 6.3; PSOPT, twoburn).

    The guess of every phase is what the source has in the middle of it.
    """
    thrust, impulse = 1.2, 300.0  # lb, s

    def rates(now: co.problem.Instant, burns: bool) -> ca.SX:
        p, f, g, h, k = ca.vertsplit(now.elements)
        sine, cosine, root = ca.sin(now.angle), ca.cos(now.angle), ca.sqrt(p / MU)
        q, s2 = 1 + f * cosine + g * sine, 1 + h**2 + k**2
        r, tilt = p / q, h * sine - k * cosine
        up = ca.vertcat(2 * tilt, 2 * (h * cosine + k * sine), 1 - h**2 - k**2) / s2
        push = harmonics(up[0], up, r)
        if burns:
            speed = ca.vertcat(f * sine - g * cosine, q, 0)
            along = speed / ca.norm_2(speed)
            above = ca.vertcat(-along[1], along[0], 0)
            flat = ca.cos(now.pitch)
            direction = (
                flat * ca.cos(now.yaw) * along - ca.vertcat(0, 0, flat * ca.sin(now.yaw)) + ca.sin(now.pitch) * above
            )
            push = push + thrust * 32.174 / now.w * direction
        radial, ahead, across = ca.vertsplit(push)
        return ca.vertcat(
            2 * p / q * root * ahead,
            root * (sine * radial + ((q + 1) * cosine + f) / q * ahead - g / q * tilt * across),
            root * (-cosine * radial + ((q + 1) * sine + g) / q * ahead + f / q * tilt * across),
            root * s2 * cosine / (2 * q) * across,
            root * s2 * sine / (2 * q) * across,
            root / q * tilt * across + ca.sqrt(MU * p) * (q / p) ** 2,
        )

    def phase(quarter: int, duration: co.Free, burns: bool, *limits, cost=None, angles=(0.0, 0.0)) -> co.Problem:
        p, h, angle = (first + (quarter + 0.5) / 4 * (last - first) for first, last in QUARTERS.values())
        w = 1.0 if quarter < 2 else 0.44
        unknowns = [
            co.State(
                "elements", 5, rate=lambda now: rates(now, burns)[:5], lower=(10e6, -1, -1, -1, -1),
                upper=(2e8, 1, 1, 1, 1), guess=(p, 0, 0, h, 0),
            ),
            co.State("angle", rate=lambda now: rates(now, burns)[5], lower=pi, upper=30 * pi, guess=angle),
            co.State("w", rate=lambda now: -thrust / impulse if burns else 0.0, lower=0.0, upper=2.0, guess=w),
        ]  # fmt: skip
        if burns:
            controls = zip(("pitch", "yaw"), angles, strict=True)
            unknowns += [co.Unknown(name, lower=-pi, upper=pi, guess=radians(value)) for name, value in controls]
        return co.Problem(NOTHING, duration, cost or 0.0 * co.duration(), limits, unknowns=unknowns)

    start = co.initial(states={"elements": (QUARTERS["p"][0], 0, 0, QUARTERS["h"][0], 0), "angle": pi, "w": 1.0})
    end = co.final(states={"elements": (QUARTERS["p"][1], 0, 0, 0, 0)})
    names = ("coast", "burn", "second coast", "second burn")
    times = {"burn": (2100.0, 3100.0), "second coast": (21600.0, 21800.0), "second burn": (21650.0, 21900.0)}

    def end_of(name: str):
        before = names[: names.index(name) + 1]
        return lambda phases: sum(phases[each].duration for each in before)

    return co.Phases(
        {
            "coast": phase(0, co.Free(2000.0, 3000.0, 2690.0), False, start),
            "burn": phase(1, co.Free(1.0, 1100.0, 150.0), True, angles=(0.148637e-2, -9.08446)),
            "second coast": phase(2, co.Free(18500.0, 19700.0, 18810.0), False),
            "second burn": phase(
                3, co.Free(1.0, 300.0, 50.0), True, end, cost=-1.0 * co.final_cost(lambda now: now.w, "weight"),
                angles=(-0.136658e-2, 49.7892),
            ),
        },
        [co.boundary(end_of(name), lower=low, upper=high, unit="s", name=name) for name, (low, high) in times.items()],
    )  # fmt: skip


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


ORBITS = {"two_burn_orbit": Statement(two_burn_orbit, factor=-1.0), "geodesic": Statement(geodesic)}
