"""Parameters identified from measurements, by least squares.

Data in the folder data: gas_oil, methanol, pinene, marine as in COPS 3 (Dolan, More and Munson 2004; COPSBenchmark.jl
867802f, MIT), predator_prey and two_parameters as in PSOPT 8471bca (LGPL).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, pi
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING

DATA = Path(__file__).parent / "data"


def fit(
    name: str,
    rate: Callable[[co.problem.Instant], ca.SX],
    parameters: Sequence[co.Unknown],
    *conditions: Any,
    **state: Any,
) -> co.Problem:
    """The parameters of a state `x` whose squared differences from measurements sum up to least.

    Every difference is an unknown constant, tied to the state at the time of its measurement.

    Parameters
    ----------
    name : str
        Of the file with the data.
    rate : callable
        Of the state, a function of the instant.
    parameters : sequence of Unknown
        Constants.
    conditions :
        On the state.
    state :
        Bounds and guess of the state; by default it is guessed to go to the last measurement.
    """
    times, *columns = np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1).T
    data = np.array(columns).T
    misses = co.Unknown("miss", data.size, constant=True)
    scale = abs(data).max(axis=0)

    def measured(k: int) -> Any:
        def difference(now: co.problem.Instant) -> ca.SX:
            return now.x - now.miss[k * len(scale) : (k + 1) * len(scale)]

        return co.at(times[k] / times[-1], difference, equals=data[k], scale=scale, name=f"measured at {times[k]:g}")

    return co.Problem(
        model=NOTHING,
        duration=times[-1],
        minimize=co.final_cost(lambda now: ca.sumsqr(now.miss), "squares"),
        subject_to=[*conditions, *map(measured, range(len(times)))],
        unknowns=[co.State("x", len(scale), rate=rate, **{"guess": data[-1]} | state), *parameters, misses],
    )


def constants(name: str, size: int, lower: float = 0.0, **given: Any) -> co.Unknown:
    """Parameters to be identified."""
    return co.Unknown(name, size, lower=lower, constant=True, **given)


def gas_oil() -> co.Problem:
    """Cracking of gas oil: Tjoa and Biegler (1991) (COPS 3, gasoil; PSOPT, cracking)."""

    def rate(now: co.problem.Instant) -> ca.SX:
        (oil, fuel), p = ca.vertsplit(now.x), now.p
        return ca.vertcat(-(p[0] + p[2]) * oil**2, p[0] * oil**2 - p[1] * fuel)

    return fit("gas_oil", rate, [constants("p", 3)], co.initial(states={"x": (1.0, 0.0)}))


def predator_and_prey() -> co.Problem:
    """Rates of a predator and its prey (PSOPT, predator)."""

    def rate(now: co.problem.Instant) -> ca.SX:
        (x, y), p = ca.vertsplit(now.x), now.p
        return ca.vertcat(-p[0] * x + p[1] * x * y, p[2] * y - p[3] * x * y)

    rates = constants("p", 4, -1.0, upper=5.0, guess=(0.8, 0.8, 1.5, 1.5))
    start = co.initial(states={"x": (0.4, 1.0)})
    return fit("predator_prey", rate, [rates], start, lower=0.0, upper=3.0, guess=(0.4, 1.0))


def marine() -> co.Problem:
    """Growth and mortality of a population in eight stages: Rothschild et al. (1997) (COPS 3, marine)."""

    def rate(now: co.problem.Instant) -> ca.SX:
        grown = ca.vertcat(now.growth, 0) * now.x
        return ca.vertcat(0, grown[:-1]) - grown - now.mortality * now.x

    return fit("marine", rate, [constants("growth", 7), constants("mortality", 8)])


def methanol() -> co.Problem:
    """Hydrocarbons from methanol: Floudas et al. (1999) (COPS 3, methanol)."""

    def rate(now: co.problem.Instant) -> ca.SX:
        (a, b, _), p = ca.vertsplit(now.x), now.p
        shared = (p[1] + p[4]) * a + b
        return ca.vertcat(
            -(2 * p[1] - p[0] * b / shared + p[2] + p[3]) * a,
            p[0] * a * (p[1] * a - b) / shared + p[2] * a,
            p[0] * a * (b + p[4] * a) / shared + p[3] * a,
        )

    return fit("methanol", rate, [constants("p", 5, guess=1.0)], co.initial(states={"x": (1.0, 0.0, 0.0)}))


def pinene() -> co.Problem:
    """Isomers of alpha-pinene: Box et al. (1973) (COPS 3, pinene). Rates in 1e-4 per minute."""

    def rate(now: co.problem.Instant) -> ca.SX:
        (a, _, c, _, e), p = ca.vertsplit(now.x), now.p
        lost = (p[2] + p[3]) * c
        return 1e-4 * ca.vertcat(
            -(p[0] + p[1]) * a, p[0] * a, p[1] * a - lost + p[4] * e, p[2] * c, p[3] * c - p[4] * e
        )

    return fit("pinene", rate, [constants("p", 5)], co.initial(states={"x": (100.0, 0.0, 0.0, 0.0, 0.0)}))


def two_parameters() -> co.Problem:
    """Two parameters of a linear system whose solutions grow fast: Schittkowski (2002) (PSOPT, param2)."""

    def rate(now: co.problem.Instant) -> ca.SX:
        (x1, x2, x3), (p1, p2), t = ca.vertsplit(now.x), ca.vertsplit(now.p), now.t
        cosine, sine = p1 * ca.cos(p2 * t), p1 * ca.sin(p2 * t)
        force = ca.exp(t) * ca.vertcat(19 * (ca.cos(t) - ca.sin(t)) - 1, -18, 1 - 19 * (ca.cos(t) + ca.sin(t)))
        return force + ca.vertcat((p2 - cosine) * x1 + (p2 + sine) * x3, p1 * x2, (sine - p2) * x1 + (p2 + cosine) * x3)

    ends = co.boundary(lambda start, end: start.x + end.x, equals=1 + exp(pi), name="ends")
    rates = constants("p", 2, upper=30.0, guess=(28.5, 1.5))
    return fit("two_parameters", rate, [rates], ends, lower=0.0, upper=30.0, guess=exp(pi))


FITS = {
    "predator_prey_fit": Statement(predator_and_prey),
    "param2_fit": Statement(two_parameters),
    "cracking_fit": Statement(
        gas_oil, optimum=5.23659583e-3, why="0.004319519 is that of a mesh; COPS has 0.0052366 for the same data"
    ),
    "cops_gasoil_fit": Statement(gas_oil),
    "cops_marine_fit": Statement(marine),
    "cops_methanol_fit": Statement(methanol),
    "cops_pinene_fit": Statement(pinene),
}
