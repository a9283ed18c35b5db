"""Reactors, epidemics and heat."""

from __future__ import annotations

from math import cos, pi
from typing import Any

import casadi as ca

import colloc as co
from colloc.studies.classics import switches
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING


def tuberculosis() -> co.Problem:
    """Jung, Lenhart and Feng (2002): an epidemic of two strains, and what to spend on cases and on their follow-up."""
    people = 30000.0

    def rates(now: co.problem.Instant) -> ca.SX:
        healthy, treated, latent, ill, latent2, ill2 = ca.vertsplit(now.x)
        find, hold = now.find, now.hold
        first, second = ill / people, ill2 / people
        return ca.vertcat(
            0.0143 * people - 13 * healthy * first - 0.029 * healthy * second - 0.0143 * healthy,
            2 * find * latent - 0.0143 * treated + (1 - (1 - hold) * 0.5) * ill
            - 13 * treated * first - 0.029 * treated * second,
            13 * healthy * first - (0.0143 + 0.5) * latent - 2 * find * latent + (1 - hold) * 0.4 * ill
            + 13 * treated * first - 0.029 * latent * second,
            0.5 * latent - 0.0143 * ill - ill,
            (1 - hold) * 0.1 * ill - (0.0143 + 1) * latent2 + 0.029 * (healthy + latent + treated) * second,
            latent2 - 0.0143 * ill2,
        )  # fmt: skip

    start = (19000.0, 250.0, 9000.0, 1000.0, 500.0, 250.0)
    return co.Problem(
        model=NOTHING,
        duration=5.0,
        minimize=co.integral(lambda now: now.x[4] + now.x[5] + 25 * now.find**2 + 250 * now.hold**2),
        subject_to=[co.initial(states={"x": start})],
        unknowns=[
            co.Unknown("find", lower=0.05, upper=0.95, guess=0.5),
            co.Unknown("hold", lower=0.05, upper=0.95, guess=0.5),
            co.State("x", 6, rate=rates, guess=(18000.0, 300.0, 8500.0, 800.0, 400.0, 200.0)),
        ],
    )


def hypersensitive() -> co.Problem:
    """Rao and Mease (2000) over ten thousand seconds, at rest but for the first and the last few."""
    return co.Problem(
        model=NOTHING,
        duration=1e4,
        minimize=co.integral(lambda now: (now.x**2 + now.u**2) / 2),
        subject_to=[co.initial(states={"x": 1.5}), co.final(states={"x": 1.0})],
        unknowns=[co.Unknown("u"), co.State("x", rate=lambda now: -(now.x**3) + now.u)],
    )


POINTS = 10  # on a rod


def heat() -> co.Problem:
    """A rod with a conductivity that grows with its temperature, heated at one end so that the other follows a curve.

    Between ten points by differences, and beyond its ends by what flows there.
    """
    spacing = 1 / (POINTS - 1)
    places = [k * spacing for k in range(POINTS)]

    def source(x: float, t: ca.SX) -> ca.SX:
        decay = ca.exp(-t)
        first = (-(4 + 2) + pi**2 * (4 - 2)) * decay * cos(pi * x)
        return first + pi**2 * decay**2 + (-2 * pi**2 - 1) * decay**2 * cos(pi * x) ** 2

    def rates(now: co.problem.Instant) -> ca.SX:
        y = ca.vertcat(now.beyond[0], now.y, now.beyond[1])
        rows = []
        for k, x in enumerate(places):
            left, here, right = y[k], y[k + 1], y[k + 2]
            flow = (4 - here) * (right - 2 * here + left) / spacing**2 - ((right - left) / (2 * spacing)) ** 2
            rows.append((source(x, now.t) + flow) / (4 + here))
        return ca.vertcat(*rows)

    def ends(now: co.problem.Instant) -> ca.SX:
        y, beyond = now.y, now.beyond
        heated = y[0] - now.heat - (4 - y[0]) * (y[1] - beyond[0]) / (2 * spacing)
        return ca.vertcat(heated, (4 - y[-1]) * (beyond[1] - y[-2]) / (2 * spacing))

    start = [2 + cos(pi * x) for x in places]
    return co.Problem(
        model=NOTHING,
        duration=0.5,
        minimize=co.integral(lambda now: ((now.y[-1] - 2 + ca.exp(-now.t)) ** 2 + 1e-3 * now.heat**2) / 2),
        subject_to=[co.initial(states={"y": start}), co.path(ends, equals=0.0, name="ends")],
        unknowns=[
            co.Unknown("heat", lower=0.0, upper=0.1, guess=0.1),
            co.Unknown("beyond", 2, lower=0.0, upper=3.0, guess=(3.0, 1.0)),
            co.State("y", POINTS, rate=rates, lower=0.0, upper=3.0, guess=start),
        ],
    )


def bryson_range() -> co.Problem:
    """Bryson and Ho (1975): as far as a particle comes within two seconds whose direction is free."""

    def rate(now: co.problem.Instant) -> list[Any]:
        return [now.v * now.u[0], now.v * now.u[1]]

    return co.Problem(
        model=NOTHING,
        duration=2.0,
        minimize=-1.0 * co.final_cost(lambda now: now.p[0], "range"),
        subject_to=[
            co.initial(states={"p": (0.0, 0.0), "v": 0.0}),
            co.at(1.0, lambda now: now.p[1], equals=0.1),
            co.path(lambda now: ca.sumsqr(now.u), equals=1.0, name="direction"),
        ],
        unknowns=[
            co.Unknown("u", 2, lower=-10.0, upper=10.0, guess=(1.0, 0.0)),
            co.State("p", 2, rate=rate, lower=-10.0, upper=10.0),
            co.State("v", rate=lambda now: 0.5 - now.u[1], lower=-10.0, upper=10.0),
        ],
    )


def batch_reactor() -> co.Phases:
    """Betts (2010), 6.15: a batch with fast and slow reactions, over its first instants, a transient and the rest."""
    constants = (2.575e-16, 4.876e-14, 1.7884e-16)

    def velocities(now: co.problem.Instant) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        forward = 1.3708e12 * ca.exp(-9.2984e3 / now.heat)
        back = 1.6215e20 * ca.exp(-1.3108e4 / now.heat)
        second = 5.2282e12 * ca.exp(-9.5999e3 / now.heat)
        return forward, back, second, forward, back / 2

    def rates(now: co.problem.Instant) -> ca.SX:
        k1, back1, k2, k3, back3 = velocities(now)
        y, u = now.y, now.u
        first = k1 * y[1] * y[5] - back1 * u[2]
        third = k3 * y[3] * y[5] - back3 * u[1]
        product = k2 * y[1] * u[0]
        return ca.vertcat(-product, -first - product, product + third, -third, first, -first - third)

    def balance(now: co.problem.Instant) -> ca.SX:
        y, u, acid = now.y, now.u, 10.0 ** (-now.acidity)
        c1, c2, c3 = constants
        return ca.vertcat(
            now.catalyst - y[5] + acid - ca.sum1(u),
            u[0] - c2 * y[0] / (c2 + acid),
            u[1] - c3 * y[2] / (c3 + acid),
            u[2] - c1 * y[4] / (c1 + acid),
        )

    catalyst = co.Unknown("catalyst", lower=0.0, upper=0.0262, guess=0.0131, constant=True)
    sizes = (1e-2, 1e-2, 1e-5, 1e-5)

    def phase(duration: Any, begin: Any, *conditions: Any) -> co.Problem:
        limit = [] if begin is None else [co.path(lambda now: now.y[3] - 2 * begin(now) ** 2, upper=0.0, name="limit")]
        return co.Problem(
            model=NOTHING,
            duration=duration,
            minimize=co.duration(),
            subject_to=[co.path(balance, equals=0.0, scale=sizes, name="balance"), *limit, *conditions],
            unknowns=[
                catalyst,
                co.Unknown("acidity", lower=0.0, upper=15.0, guess=7.0),
                co.Unknown("u", 3, lower=0.0, upper=(0.02, 5e-5, 5e-5), guess=(0.01, 1e-5, 1e-5)),
                co.Unknown("heat", lower=293.15, upper=393.15, guess=343.0),
                co.State("y", 6, rate=rates, lower=(0, 5, 0, 0, 0, 0), upper=(2, 10, 2, 2, 2, 0.1),
                         guess=(0.5, 6.0, 0.6, 0.4, 0.4, 0.0131)),
            ],
        )  # fmt: skip

    start = [
        co.at(0.0, lambda now: now.y[:5], equals=(1.5776, 8.32, 0.0, 0.0, 0.0), name="start"),
        co.at(0.0, lambda now: now.y[5] - now.catalyst, equals=0.0, name="acid"),
    ]
    end = co.at(1.0, lambda now: now.y[3], lower=1.0, name="product")
    phases = {
        "first": phase(0.01, lambda now: now.t, *start),
        "transient": phase(co.Free(0.01, 2.0, 0.4), lambda now: now.t + 0.01),
        "rest": phase(co.Free(0.5, 3.0, 1.3), None, end),
    }

    def quarter(ends: Any) -> ca.SX:
        """The first two phases take a quarter of the whole."""
        return ends["first"].duration + ends["transient"].duration - ends["rest"].duration / 3

    share = co.boundary(quarter, equals=0.0, name="quarter")
    return co.Phases(phases, [share], minimize=100.0 * co.final_cost(lambda ends: ends["rest"].end.catalyst))


PROCESSES = {
    "tuberculosis_two_strain": Statement(tuberculosis),
    "kinetic_batch_reactor": Statement(batch_reactor),
    "bryson_max_range": Statement(bryson_range),
    "catmix": Statement(switches.catalyst),
    "hypersensitive_10000": Statement(hypersensitive),
    "heat": Statement(
        heat,
        optimum=4.3703488e-5,
        why="4.3728e-5 is that of a mesh; splines, and Radau on 60 and 200 intervals, agree on ours",
    ),
}
