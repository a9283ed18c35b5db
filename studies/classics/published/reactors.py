"""Reactors, populations and fields of economics: few states with bounded controls."""

from __future__ import annotations

from math import pi

import casadi as ca

import colloc as co
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING


def jackson() -> co.Problem:
    """Two catalysts mixed along a reactor: Jackson (1968), as in Bocop; a singular arc between two bangs."""

    def reaction(now: co.problem.Instant) -> ca.SX:
        return now.mix * (now.a - 10 * now.b)

    def decay(now: co.problem.Instant) -> ca.SX:
        return (1 - now.mix) * now.b

    return co.Problem(
        model=NOTHING,
        duration=4.0,
        minimize=-1.0 * co.final_cost(lambda now: now.c, "product"),
        subject_to=[co.initial(states={"a": 1.0, "b": 0.0, "c": 0.0})],
        unknowns=[
            co.Unknown("mix", lower=0.0, upper=1.0, guess=0.5),
            co.State("a", rate=lambda now: -reaction(now), lower=0.0, upper=1.1),
            co.State("b", rate=lambda now: reaction(now) - decay(now), lower=0.0, upper=1.1),
            co.State("c", rate=lambda now: decay(now), lower=0.0, upper=1.1),
        ],
    )


def wheat_trading() -> co.Problem:
    """Wheat bought and sold at a price that is known ahead: Ijiri and Thompson (1970) (PSOPT, wheat)."""

    def price(now: co.problem.Instant) -> ca.SX:
        return 1 + 0.5 * ca.sin(pi * now.t / 3 + 3 * pi / 2)

    def cash(now: co.problem.Instant) -> ca.SX:
        trade = price(now) * (now.buy + now.sell) + 0.01 * now.buy - 0.05 * now.sell
        return 0.01 * now.cash - 0.2 * now.wheat - trade

    return co.Problem(
        model=NOTHING,
        duration=12.0,
        minimize=-1.0 * co.final_cost(lambda now: now.cash + price(now) * now.wheat, "wealth"),
        subject_to=[co.initial(states={"cash": 1.0, "wheat": 0.0})],
        unknowns=[
            co.Unknown("buy", lower=0.0, upper=1.0),
            co.Unknown("sell", lower=-1.0, upper=0.0),
            co.State("cash", rate=cash, lower=0.0),
            co.State("wheat", rate=lambda now: -0.05 * now.wheat + now.buy + now.sell, lower=0.0),
        ],
    )


def bioreactor() -> co.Problem:
    """Foreign protein from bacteria: Lee and Ramirez (1994) (PSOPT, bioreactor; PROPT).

    PSOPT adds the squared rates of the controls with a weight that falls with the number of its nodes; here they have
    none.
    """

    def rates(now: co.problem.Instant) -> ca.SX:
        volume, cells, glucose, protein, inducer, shock, recovery = ca.vertsplit(now.x)
        feed, dose = now.glucose, now.inducer
        dilution = (feed + dose) / volume
        k = 0.09 * inducer / (0.034 + inducer)
        uptake = glucose / (14.35 + glucose * (1 + glucose / 111.5))
        growth = uptake * (shock + 0.22 * recovery / (0.22 + inducer))
        production = 0.233 * uptake * (0.0005 + inducer) / (0.022 + inducer)
        return ca.vertcat(
            feed + dose,
            (growth - dilution) * cells,
            100 * feed / volume - dilution * glucose - growth * cells / 0.51,
            production * cells - dilution * protein,
            4 * dose / volume - dilution * inducer,
            -k * shock,
            k * (1 - recovery),
        )

    start = (1.0, 0.1, 40.0, 0.0, 0.0, 1.0, 0.0)
    return co.Problem(
        model=NOTHING,
        duration=10.0,
        minimize=-1.0 * co.final_cost(lambda now: now.x[0] * now.x[3], "protein"),
        subject_to=[co.initial(states={"x": start})],
        unknowns=[
            co.Unknown("glucose", lower=0.0, upper=1.0),
            co.Unknown("inducer", lower=0.0, upper=1.0),
            co.State("x", 7, rate=rates, lower=0.0, upper=(10, 10, 50, 10, 10, 10, 10), guess=start),
        ],
    )


def bioreactor_one_day() -> co.Problem:
    """Methane from algae in one day and night that repeats: Bayen, Mairet and Martinon (Bocop)."""

    def light(now: co.problem.Instant) -> ca.SX:
        return ca.fmax(0, ca.sin(2 * pi * now.t / 10)) ** 2

    def growth(now: co.problem.Instant) -> ca.SX:
        return 0.1 * now.s / (now.s + 0.05)

    return co.Problem(
        model=NOTHING,
        duration=10.0,
        minimize=-1.0 * co.integral(lambda now: growth(now) * now.b / 3, "methane"),
        subject_to=[
            co.at(0.0, lambda now: ca.vertcat(now.y, now.b), lower=1.0, name="start"),
            co.boundary(
                lambda start, end: ca.vertcat(start.y - end.y, start.s - end.s, start.b - end.b),
                equals=0.0, name="period",
            ),
        ],
        unknowns=[
            co.Unknown("u", lower=0.0, upper=1.0),
            co.State(
                "y", rate=lambda now: light(now) * now.y / (1 + now.y) - (0.005 + now.u) * now.y, lower=0.0, guess=1.0
            ),
            co.State("s", rate=lambda now: -growth(now) * now.b + now.u * (now.y - now.s), lower=0.0, guess=0.1),
            co.State("b", rate=lambda now: (growth(now) - now.u) * now.b, lower=0.001, guess=1.0),
        ],
    )  # fmt: skip


def insurance() -> co.Problem:
    """Contract of a health insurance without audit: Martinon, Picard and Raj (2018) (Bocop).

    The five controls of the source are h and four names for functions of the states, which are written out here; their
    bounds are kept.
    """
    gamma, rate, base, wealth, bend, horizon = 0.2, 0.25, 1.5, 1.0, 10.0, 10.0

    def illness(now: co.problem.Instant) -> ca.SX:
        return rate * ca.exp(-rate * now.t) + ca.exp(-rate * horizon) / horizon

    def revenue(now: co.problem.Instant) -> ca.SX:
        return wealth - now.premium + now.insurance - now.expense

    def health(now: co.problem.Instant) -> ca.SX:
        return base - gamma * now.t / (1 + now.expense**2)

    def utility(now: co.problem.Instant) -> ca.SX:
        return 1 - ca.exp(-bend * revenue(now)) + health(now)

    def cover(now: co.problem.Instant) -> ca.SX:
        effect = 2 * now.expense / (1 + now.expense**2) ** 2
        return (1 - gamma * now.t * effect / (bend * ca.exp(-bend * revenue(now)))) * now.h

    return co.Problem(
        model=NOTHING,
        duration=horizon,
        minimize=-1.0 * co.integral(lambda now: utility(now) * illness(now), "utility"),
        subject_to=[
            co.initial(states={"insurance": 0.0, "expense": 0.001, "paid": 0.0}),
            co.at(1.0, lambda now: now.premium - now.paid, equals=0.0, name="balance"),
            co.path(
                lambda now: ca.vertcat(revenue(now), health(now), utility(now)), lower=0.0, scale=1.0, name="signs"
            ),
        ],
        unknowns=[
            co.Unknown("h", lower=0.0, upper=25.0),
            co.Unknown("premium", lower=0.0, guess=0.3, constant=True),
            co.State("insurance", rate=cover, lower=0.0, upper=1.1),
            co.State("expense", rate=lambda now: now.h, lower=0.0, upper=1.1),
            co.State("paid", rate=lambda now: now.insurance * illness(now)),
        ],
    )


REACTORS = {
    "jackson": Statement(jackson, factor=-1.0, optimum=0.19181436, why="0.192011 is that of a mesh"),
    "wheat_trading": Statement(wheat_trading, factor=-1.0, why="1.742652 is that of a mesh"),
    "bioreactor": Statement(
        bioreactor, factor=-1.0, why="6.163913 holds a cost of the controls' rates that the mesh sets"
    ),
    "bioreactor_one_day": Statement(bioreactor_one_day, factor=-1.0),
    "insurance": Statement(insurance, factor=-1.0, optimum=2.059927, why="2.059511 is that of a mesh"),
}
