"""Classic problems without a mechanism: states that obey differential equations of first order."""

from __future__ import annotations

from math import inf, pi
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.classics.classic import Classic
from colloc.studies.classics.points import CONVERGED, EXACT

NOTHING = co.Model.empty()


def x1() -> co.Problem:
    """Neuenhofen and Kerrigan (2018), where a control that rings between the nodes shows at once.

    The Hamiltonian is linear in the control, which is at its lower bound first and then on a singular arc.
    """
    return co.Problem(
        model=NOTHING,
        duration=pi / 2,
        minimize=co.integral(lambda now: now.y**2 + now.u * ca.cos(now.t)),
        subject_to=[co.initial(states={"y": 0.0})],
        unknowns=[co.Unknown("u", lower=-1.5, upper=1.0), co.State("y", rate=lambda now: now.y**2 / 2 + now.u)],
    )


def hypersensitive() -> co.Problem:
    """Rao and Mease (2000), ten seconds of it: a state that decays and grows fast at the ends, and rests in between."""
    return co.Problem(
        model=NOTHING,
        duration=10.0,
        minimize=co.integral(lambda now: now.y**2 + now.u**2),
        subject_to=[co.initial(states={"y": 1.0}), co.final(states={"y": 1.5})],
        unknowns=[co.Unknown("u"), co.State("y", rate=lambda now: -(now.y**3) + now.u)],
    )


def van_der_pol() -> co.Problem:
    """The oscillator of `points.van_der_pol` in states of first order."""
    return co.Problem(
        model=NOTHING,
        duration=10.0,
        minimize=co.integral(lambda now: now.x1**2 + now.x2**2 + now.u**2),
        subject_to=[co.initial(states={"x1": 0.0, "x2": 1.0})],
        unknowns=[
            co.Unknown("u", lower=-1.0, upper=1.0),
            co.State("x1", rate=lambda now: (1 - now.x2**2) * now.x1 - now.x2 + now.u, lower=-0.25),
            co.State("x2", rate=lambda now: now.x1),
        ],
    )


def bryson_denham(room: float) -> co.Problem:
    """The particle of `points.bryson_denham` in states of first order; 4 / (9 room)."""
    return co.Problem(
        model=NOTHING,
        duration=1.0,
        minimize=0.5 * co.integral(lambda now: now.u**2),
        subject_to=[co.initial(states={"z": (0.0, 1.0)}), co.final(states={"z": (0.0, -1.0)})],
        unknowns=[co.Unknown("u"), co.State("z", 2, rate=lambda now: [now.z[1], now.u], upper=(room, inf))],
    )


def goddard() -> co.Problem:
    """Goddard's rocket, in feet, slugs, pounds and seconds: as high as its fuel takes it (Bryson and Ho 1975).

    Full thrust, a singular arc on which drag and weight balance, and coasting without fuel.
    """
    exhaust = 1580.9425279876559  # ft/s

    def drag(now: co.problem.Instant) -> ca.SX:
        return 5.49153484923381010e-5 * now.v**2 * ca.exp(-now.h / 23800)

    return co.Problem(
        model=NOTHING,
        duration=co.Free(10.0, 100.0, 40.0),
        minimize=-1.0 * co.final_cost(lambda now: now.h, "height"),
        subject_to=[co.initial(states={"h": 0.0, "v": 0.0, "m": 3.0}), co.final(states={"m": 1.0})],
        unknowns=[
            co.Unknown("thrust", lower=0.0, upper=193.044, guess=100.0),
            co.State("h", rate=lambda now: now.v, lower=0.0, upper=20000.0, guess=5000.0),
            co.State("v", rate=lambda now: (now.thrust - drag(now)) / now.m - 32.174, lower=-100.0, upper=2000.0),
            co.State("m", rate=lambda now: -now.thrust / exhaust, lower=1.0, upper=3.0),
        ],
    )


def steering() -> co.Problem:
    """Linear tangent law (Bryson and Ho 1975, section 2.4): from rest to a height and a speed in the shortest time."""

    def rate(now: co.problem.Instant) -> list[Any]:
        return [now.z[2], now.z[3], 100 * ca.cos(now.angle), 100 * ca.sin(now.angle)]

    return co.Problem(
        model=NOTHING,
        duration=co.Free(0.1, 2.0, 1.0),
        minimize=co.duration(),
        subject_to=[co.initial(states={"z": np.zeros(4)}), co.at(1.0, lambda now: now.z[1:], equals=[5.0, 45.0, 0.0])],
        unknowns=[
            co.Unknown("angle", lower=-pi / 2, upper=pi / 2),
            co.State("z", 4, rate=rate, guess=(5.0, 2.0, 20.0, 10.0)),
        ],
    )


def brachistochrone() -> co.Problem:
    """From (0, 10) to (10, 5) on the fastest slide, whose slope is the control."""

    def rate(now: co.problem.Instant) -> list[Any]:
        return [now.z[2] * ca.cos(now.angle), -now.z[2] * ca.sin(now.angle), 9.80665 * ca.sin(now.angle)]

    return co.Problem(
        model=NOTHING,
        duration=co.Free(0.1, 10.0, 2.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(states={"z": (0.0, 10.0, 0.0)}),
            co.at(1.0, lambda now: now.z[:2], equals=[10.0, 5.0]),
        ],
        unknowns=[
            co.Unknown("angle", lower=-pi / 2, upper=pi / 2, guess=0.7),
            co.State("z", 3, rate=rate, guess=(5.0, 7.0, 5.0)),
        ],
    )


STATES = {
    "x1": Classic(x1, -0.256996962561, EXACT),
    "hypersensitive": Classic(hypersensitive, 6.7239253889, "boundary value problem, to 1e-10"),
    "van_der_pol_states": Classic(van_der_pol, 3.61518, CONVERGED),
    "bryson_denham_states": Classic(lambda: bryson_denham(1 / 9), 4.0, EXACT),
    "breakwell_states": Classic(lambda: bryson_denham(0.1), 40 / 9, EXACT),
    "goddard": Classic(goddard, -18550.8718638, "yapss, to 1e-8"),
    "linear_tangent_steering": Classic(steering, 0.5545708783, "shooting, to 1e-12"),
    "brachistochrone_states": Classic(brachistochrone, 1.80160312, "cycloid"),
}
