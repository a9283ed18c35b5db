"""Curves: the fastest slides, chains, noses and enclosures of the calculus of variations."""

from __future__ import annotations

from math import hypot, pi
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.classics import points, states
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING


def isoperimetric() -> co.Problem:
    """The largest area within a closed curve of length 1, whose centroid is the origin."""
    around = co.path(lambda now: ca.sumsqr(now.u), equals=1.0, name="speed")
    closed = co.boundary(lambda start, end: end.x - start.x, equals=0.0, name="closed")
    centred = [co.initial(states={"sum": (0.0, 0.0)}), co.final(states={"sum": (0.0, 0.0)})]
    swept = co.integral(lambda now: (now.x[1] * now.u[0] - now.x[0] * now.u[1]) / 2)
    unknowns = [
        co.Unknown("u", 2, lower=-2.0, upper=2.0),
        co.State("x", 2, rate=lambda now: now.u, lower=-10.0, upper=10.0),
        co.State("sum", 2, rate=lambda now: now.x),
    ]
    return co.Problem(NOTHING, 1.0, -1.0 * swept, [around, closed, *centred], unknowns)


def diamond() -> dict[str, Any]:
    """The guess of the source: once around the corners of a square."""
    corners = np.array([[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    return {"x": lambda t: np.array([np.interp(t, np.linspace(0, 1, 5), side) for side in corners.T])}


def cannonball() -> co.Problem:
    """As far as a ball flies that leaves the ground with 10 sqrt(2) m/s at an angle to be found."""

    def rate(now: co.problem.Instant) -> list[Any]:
        return [now.x[2], now.x[3], 0.0, -9.81]

    def thrown(start: Any, _end: Any) -> ca.SX:
        return start.x[2:] - hypot(10, 10) * ca.vertcat(ca.cos(start.angle), ca.sin(start.angle))

    return co.Problem(
        model=NOTHING,
        duration=co.Free(0.1, 100.0, 2.0),
        minimize=-1.0 * co.final_cost(lambda now: now.x[0], "range"),
        subject_to=[
            co.at(0.0, lambda now: now.x[:2], equals=0.0),
            co.at(1.0, lambda now: now.x[1], equals=0.0),
            co.boundary(thrown, equals=0.0, name="thrown"),
        ],
        unknowns=[
            co.Unknown("angle", lower=0.0, upper=pi / 2, guess=0.5, constant=True),
            co.State("x", 4, rate=rate, guess=(10.0, 1.0, 10.0, 1.0)),
        ],
    )


def slide_to_wall(floor: bool) -> co.Problem:
    """The fastest slide from rest to a wall a foot away, y counted downwards, or also above a sloping floor."""

    def rate(now: co.problem.Instant) -> list[Any]:
        return [now.v * ca.cos(now.angle), now.v * ca.sin(now.angle)]

    above = [co.path(lambda now: now.p[1] - now.p[0] / 2, upper=0.1, name="floor")] if floor else []
    return co.Problem(
        model=NOTHING,
        duration=co.Free(1e-3, 100.0, 1.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(states={"p": (0.0, 0.0), "v": 0.0}), co.at(1.0, lambda now: now.p[0], equals=1.0), *above
        ],
        unknowns=[
            co.Unknown("angle", lower=0.0, upper=pi / 2),
            co.State("p", 2, rate=rate, lower=0.0, guess=1.0),
            co.State("v", rate=lambda now: 32.174 * ca.sin(now.angle), lower=0.0, guess=1.0),
        ],
    )  # fmt: skip


def nose() -> co.Problem:
    """Newton's body of least resistance, as long as it is wide at its base, behind a flat disk whose radius is free.

    The time is the fraction of the way from the disk's edge to the base.
    """

    def drag(now: co.problem.Instant) -> ca.SX:
        radius = now.flat + (1 - now.flat) * now.t
        return 8 * radius * (1 - now.flat) / (1 + now.slope**2)

    unknowns = [
        co.Unknown("flat", lower=0.0, upper=0.7, guess=0.0, constant=True),
        co.Unknown("slope", lower=0.0, guess=1.0),
        co.State("y", rate=lambda now: -(1 - now.flat) * now.slope, lower=0.0, upper=1.0, guess=0.5),
    ]
    disk = co.final_cost(lambda now: 4 * now.flat**2, "disk")
    return co.Problem(NOTHING, 1.0, disk + co.integral(drag), [], unknowns)


def chain() -> co.Problem:
    """A chain of length 4 between points 1 apart, at heights 1 and 3, which hangs as low as it can."""

    def stretch(now: co.problem.Instant) -> ca.SX:
        return ca.sqrt(1 + now.slope**2)

    return co.Problem(
        model=NOTHING,
        duration=1.0,
        minimize=co.integral(lambda now: now.x * stretch(now)),
        subject_to=[co.initial(states={"x": 1.0, "length": 0.0}), co.final(states={"x": 3.0, "length": 4.0})],
        unknowns=[
            co.Unknown("slope", lower=-20.0, upper=20.0),
            co.State("x", rate=lambda now: now.slope, lower=-10.0, upper=10.0),
            co.State("length", rate=stretch),
        ],
    )


CURVES = {
    "isoperimetric_circle": Statement(isoperimetric, factor=-1.0, guess=diamond),
    "cannonball_vacuum": Statement(cannonball, factor=-1.0),
    "brachistochrone_dymos": Statement(states.brachistochrone),
    "brachistochrone_psopt": Statement(lambda: points.brachistochrone((0.0, 0.0), (2.0, -2.0), 9.8)),
    "brachistochrone_imperial": Statement(lambda: slide_to_wall(False)),
    "brachistochrone_wall": Statement(lambda: slide_to_wall(True)),
    "newton_nose": Statement(nose),
    "chain": Statement(chain),
}
