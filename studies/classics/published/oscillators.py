"""Small systems with one control: oscillators, double and triple integrators, a singular arc."""

from __future__ import annotations

from math import atan2, sqrt

import casadi as ca

import colloc as co
from colloc.studies.classics import states
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING


def obstacle_2d() -> co.Problem:
    """The shortest way past two discs, as the integral of a squared speed that may not change (PSOPT, obstacle).

    The speed is 2.138, so that the integrand is constant: any way that keeps clear of both discs and arrives in time
    costs 2.138^2, and there is nothing to optimise.
    """
    speed = 2.138

    def clear(now: co.problem.Instant) -> ca.SX:
        return ca.vertcat((now.x - 0.4) ** 2 + (now.y - 0.5) ** 2, (now.x - 0.8) ** 2 + (now.y - 1.5) ** 2)

    return co.Problem(
        model=NOTHING,
        duration=1.0,
        minimize=co.integral(lambda now: speed**2),
        subject_to=[
            co.initial(states={"x": 0.0, "y": 0.0}),
            co.final(states={"x": 1.2, "y": 1.6}),
            co.path(clear, lower=0.1, upper=100.0, scale=0.1, name="clearance"),
        ],
        unknowns=[
            co.Unknown("theta", lower=-10.0, upper=10.0, guess=atan2(1.6, 1.2)),
            co.State("x", rate=lambda now: speed * ca.cos(now.theta), lower=0.0, upper=2.0),
            co.State("y", rate=lambda now: speed * ca.sin(now.theta), lower=0.0, upper=2.0),
        ],
    )


def rayleigh_constrained() -> co.Problem:
    """Rayleigh's oscillator with a limit on state and control together (Betts 2010; PSOPT, rayleigh)."""
    return co.Problem(
        model=NOTHING,
        duration=4.5,
        minimize=co.integral(lambda now: now.u**2 + now.x1**2),
        subject_to=[
            co.initial(states={"x1": -5.0, "x2": -5.0}),
            co.path(lambda now: now.u + now.x1 / 6, upper=0.0, scale=1.0, name="mixed limit"),
        ],
        unknowns=[
            co.Unknown("u", lower=-10.0, upper=10.0),
            co.State("x1", rate=lambda now: now.x2, lower=-10.0, upper=10.0),
            co.State(
                "x2",
                rate=lambda now: -now.x1 + now.x2 * (1.4 - 0.14 * now.x2**2) + 4 * now.u,
                lower=-10.0, upper=10.0,
            ),
        ],
    )  # fmt: skip


def singular5_luus() -> co.Problem:
    """A singular control of Luus (2000) (PSOPT, singular5)."""

    def cost(now: co.problem.Instant) -> ca.SX:
        return now.x1**2 + now.x2**2 + 0.0005 * (now.x2 + 16 * now.t - 8 - 0.1 * now.x3 * now.u**2) ** 2

    return co.Problem(
        model=NOTHING,
        duration=1.0,
        minimize=co.integral(cost),
        subject_to=[co.initial(states={"x1": 0.0, "x2": -1.0, "x3": -sqrt(5)})],
        unknowns=[
            co.Unknown("u", lower=0.0, upper=10.0),
            co.State("x1", rate=lambda now: now.x2),
            co.State("x2", rate=lambda now: -now.x3 * now.u + 16 * now.t - 8),
            co.State("x3", rate=lambda now: now.u),
        ],
    )


def teo_state_constrained() -> co.Problem:
    """A limit on the state that changes in time: Teo, Goh and Wong (1991) (PSOPT, stc1)."""
    return co.Problem(
        model=NOTHING,
        duration=1.0,
        minimize=co.integral(lambda now: now.x1**2 + now.x2**2 + 0.005 * now.u**2),
        subject_to=[
            co.initial(states={"x1": 0.0, "x2": -1.0}),
            co.path(lambda now: now.x2 - 8 * (now.t - 0.5) ** 2 + 0.5, upper=0.0, scale=1.0, name="wall"),
        ],
        unknowns=[
            co.Unknown("u", lower=-20.0, upper=20.0),
            co.State("x1", rate=lambda now: now.x2, lower=-2.0, upper=2.0),
            co.State("x2", rate=lambda now: -now.x2 + now.u, lower=-2.0, upper=2.0),
        ],
    )


def twophase_robot() -> co.Phases:
    """A point that follows the two sides of a corner, each in a phase (PSOPT, twophase_robot)."""

    def phase(first: bool) -> co.Problem:
        def miss(now: co.problem.Instant) -> ca.SX:
            wanted = ca.vertcat(now.t / 2, 0, 0.5, 0) if first else ca.vertcat(0.5, now.t / 2, 0, 0.5)
            return ca.dot(ca.DM([100, 100, 500, 500]), (now.x - wanted) ** 2)

        ends = co.initial(states={"x": (0, 0, 0.5, 0)}) if first else co.final(states={"x": (0.5, 0.5, 0, 0.5)})
        return co.Problem(
            model=NOTHING,
            duration=1.0,
            minimize=co.integral(miss),
            subject_to=[ends],
            unknowns=[
                co.Unknown("u", 2, lower=-10.0, upper=10.0),
                co.State("x", 4, rate=lambda now: ca.vertcat(now.x[2:], now.u), lower=-10.0, upper=10.0),
            ],
        )

    return co.Phases({"along x": phase(True), "along y": phase(False)})


def lotka_fishing_relaxed() -> co.Problem:
    """Fishing of two species of Lotka and Volterra, with a rate between 0 and 1 (mintOC; Sager 2005)."""
    return co.Problem(
        model=NOTHING,
        duration=12.0,
        minimize=co.integral(lambda now: (now.x - 1) ** 2 + (now.y - 1) ** 2),
        subject_to=[co.initial(states={"x": 0.5, "y": 0.7})],
        unknowns=[
            co.Unknown("fishing", lower=0.0, upper=1.0),
            co.State("x", rate=lambda now: now.x - now.x * now.y - 0.4 * now.x * now.fishing),
            co.State("y", rate=lambda now: -now.y + now.x * now.y - 0.2 * now.y * now.fishing),
        ],
    )


def fuller() -> co.Problem:
    """Fuller's problem, whose optimum switches infinitely often before it comes to rest (Zelikin and Borisov 1994)."""
    return co.Problem(
        model=NOTHING,
        duration=3.5,
        minimize=co.integral(lambda now: now.x**2),
        subject_to=[co.initial(states={"x": 0.0, "v": 1.0}), co.final(states={"x": 0.0, "v": 0.0})],
        unknowns=[
            co.Unknown("u", lower=-1.0, upper=1.0),
            co.State("x", rate=lambda now: now.v),
            co.State("v", rate=lambda now: now.u),
        ],
    )


def robbins() -> co.Problem:
    """A limit on a state of third order, which the optimum touches infinitely often (Robbins 1980; Bocop)."""
    return co.Problem(
        model=NOTHING,
        duration=10.0,
        minimize=co.integral(lambda now: 3 * now.x + 0.5 * now.u**2),
        subject_to=[
            co.initial(states={"x": 1.0, "v": -2.0, "a": 0.0}),
            co.final(states={"x": 0.0, "v": 0.0, "a": 0.0}),
        ],
        unknowns=[
            co.Unknown("u"),
            co.State("x", rate=lambda now: now.v, lower=0.0),
            co.State("v", rate=lambda now: now.a),
            co.State("a", rate=lambda now: now.u),
        ],
    )


def vanderpol_energy() -> co.Problem:
    """Van der Pol's oscillator calmed in 2 s without limits (Bocop)."""
    return co.Problem(
        model=NOTHING,
        duration=2.0,
        minimize=0.5 * co.integral(lambda now: now.x**2 + now.v**2 + now.u**2),
        subject_to=[co.initial(states={"x": 1.0, "v": 0.0})],
        unknowns=[
            co.Unknown("u"),
            co.State("x", rate=lambda now: now.v),
            co.State("v", rate=lambda now: (1 - now.x**2) * now.v - now.x + now.u),
        ],
    )


def delay1() -> co.Problem:
    """An oscillator that feels itself a quarter of a second later (PSOPT, delay1), in twenty laps of that length.

    Every lap has states of its own; the delayed ones are those of the lap before, and a lap starts where that one ends.
    Before the start the state is what it is there.
    """
    laps, delay = 20, 0.25

    def rate(now: co.problem.Instant) -> ca.SX:
        x, v = now.x, now.v
        delayed_x, delayed_v = ca.vertcat(1, x[:-1]), ca.vertcat(1, v[:-1])
        return -10 * x - 5 * v - 2 * delayed_x - delayed_v + now.u

    def next_lap(start, end) -> ca.SX:
        return ca.vertcat(start.x[1:] - end.x[:-1], start.v[1:] - end.v[:-1])

    return co.Problem(
        model=NOTHING,
        duration=delay,
        minimize=0.5 * co.integral(lambda now: 10 * ca.sumsqr(now.x) + ca.sumsqr(now.v) + ca.sumsqr(now.u)),
        subject_to=[
            co.at(0.0, lambda now: ca.vertcat(now.x[0], now.v[0]), equals=1.0, name="start"),
            co.boundary(next_lap, equals=0.0, scale=1.0, name="laps"),
        ],
        unknowns=[
            co.Unknown("u", laps, lower=-100.0, upper=100.0),
            co.State("x", laps, rate=lambda now: now.v, lower=-100.0, upper=100.0, guess=1.0),
            co.State("v", laps, rate=rate, lower=-100.0, upper=100.0, guess=1.0),
        ],
    )


def complementary() -> co.Problem:
    """A rate that jumps with the sign of the state, by a penalty on complementarity (Betts 2010; PSOPT, mpec)."""

    def cost(now: co.problem.Instant) -> ca.SX:
        return now.y**2 + 1e3 * (now.minus * (now.s + 1) + now.plus * (1 - now.s))

    return co.Problem(
        model=NOTHING,
        duration=2.0,
        minimize=co.integral(cost) + co.final_cost(lambda now: (now.y - 5 / 3) ** 2),
        subject_to=[
            co.initial(states={"y": -1.0}),
            co.path(lambda now: now.plus - now.minus - now.y, equals=0.0, scale=1.0, name="parts of y"),
        ],
        unknowns=[
            co.Unknown("s", lower=-1.0, upper=1.0),
            co.Unknown("minus", lower=0.0, upper=10.0),
            co.Unknown("plus", lower=0.0, upper=10.0),
            co.State("y", rate=lambda now: 2 - now.s, lower=-10.0, upper=10.0),
        ],
    )


OSCILLATORS = {
    "mpec_betts": Statement(
        complementary, optimum=1.654106, why="1.678929 is that of a mesh; rates of 3 and then 1 alone cost 1/9 + 125/81"
    ),
    "obstacle_2d": Statement(obstacle_2d),
    "rayleigh_constrained": Statement(
        rayleigh_constrained, optimum=44.80445, why="44.77625 is that of a mesh; Betts (2010) has 44.8044"
    ),
    "singular5_luus": Statement(singular5_luus),
    "teo_state_constrained": Statement(teo_state_constrained),
    "twophase_robot": Statement(twophase_robot, optimum=1.04168616, why="1.042568 is that of a mesh"),
    "delay1": Statement(delay1),
    "lotka_fishing_relaxed": Statement(lotka_fishing_relaxed),
    "fuller": Statement(fuller, optimum=0.2683938305689, why="0.2683944 is that of a mesh; ours is the closed form"),
    "robbins": Statement(robbins),
    "vanderpol_energy": Statement(
        vanderpol_energy,
        optimum=1.0478069082202734,
        why="1.047921 is that of a mesh; a boundary value problem has ours",
    ),
    "x1_neuenhofen_kerrigan": Statement(states.x1),
    "hypersensitive_10": Statement(states.hypersensitive),
}
