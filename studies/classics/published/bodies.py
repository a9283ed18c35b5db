"""Rigid bodies: spacecraft, a quadrotor, a truck with trailers, a swimmer of three rods."""

from __future__ import annotations

from math import cos, pi, radians, sin
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.manutec_r3 import manutec_r3
from colloc.studies.classics import arms
from colloc.studies.classics.published.statement import Statement
from colloc.studies.classics.states import NOTHING


def spacecraft_reorientation() -> co.Problem:
    """A satellite turned by 150 degrees about its first axis in the shortest time (Betts 2010, 6.8).

    The fourth component of the quaternion is no state, but what its length leaves it.
    """
    inertia = ca.DM([5621.0, 4547.0, 2364.0])  # kg m2

    def turn(now: co.problem.Instant) -> ca.SX:
        return 0.5 * (now.q4 * now.w + ca.cross(now.attitude, now.w))

    def spin(now: co.problem.Instant) -> ca.SX:
        return (now.torque - ca.cross(now.w, inertia * now.w)) / inertia

    half = radians(150) / 2
    return co.Problem(
        model=NOTHING,
        duration=co.Free(25.0, 35.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(states={"attitude": np.zeros(3), "w": np.zeros(3)}),
            co.final(states={"attitude": (sin(half), 0.0, 0.0), "w": np.zeros(3)}),
            co.path(lambda now: ca.sumsqr(now.attitude) + now.q4**2, equals=1.0, name="unit length"),
            co.at(0.0, lambda now: now.q4, lower=0.0, name="upright"),
            co.at(1.0, lambda now: now.q4, lower=0.0, name="turned"),
        ],
        unknowns=[
            co.Unknown("torque", 3, lower=-50.0, upper=50.0, guess=50.0, unit="N m"),
            co.Unknown("q4", lower=-1.0, upper=1.0, guess=0.6),
            co.State("attitude", 3, rate=turn, lower=-1.0, upper=1.0),
            co.State("w", 3, rate=spin, lower=-0.5, upper=0.5, unit="rad/s"),
        ],
    )


def zpm_space_station() -> co.Problem:
    """The space station turned by its gyroscopes alone: Bhatt (2007) (PSOPT, zpm, second case; feet, pounds, seconds).

    The unknown signal is the command of the station's attitude controller. Ends and lengths of
    quaternions are met within the tolerances of the source, which the optimum uses.
    """
    inertia = ca.DM(
        [[18836544.0, 3666370.0, 2965301.0], [3666370.0, 27984088.0, -1129004.0], [2965301.0, -1129004.0, 39442649.0]]
    )
    inverse = ca.inv(inertia)
    orbit, attitude_gain, rate_gain = 1.1475e-3, 0.000128, 0.015846
    most, torque = 3 * 3600.0, 200.0

    def transform(q):
        return ca.vertcat(
            ca.horzcat(-q[1], -q[2], -q[3]), ca.horzcat(q[0], -q[3], q[2]), ca.horzcat(q[3], q[0], -q[1]),
            ca.horzcat(-q[2], q[1], q[0]),
        )  # fmt: skip

    def orbital(q):
        return -orbit * ca.vertcat(
            2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[1] ** 2 + q[3] ** 2), 2 * (q[2] * q[3] - q[0] * q[1])
        )

    def control(now: co.problem.Instant) -> ca.SX:
        miss = 2 * transform(now.command).T @ now.attitude
        return inertia @ (attitude_gain * miss + rate_gain * (now.w - orbital(now.command)))

    def spin(now: co.problem.Instant) -> ca.SX:
        q = now.attitude
        down = ca.vertcat(
            2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]), 1 - 2 * (q[1] ** 2 + q[2] ** 2)
        )
        gravity = ca.cross(3 * orbit**2 * down, inertia @ down)
        return inverse @ (gravity - ca.cross(now.w, inertia @ now.w) - control(now))

    def momentum(now: co.problem.Instant) -> ca.SX:
        return control(now) - ca.cross(now.w, now.h)

    start, end = np.array([0.98996, 0.02650, -0.07891, 0.11422]), np.array([0.70531, -0.06201, -0.03518, -0.70531])
    ends = [np.array(ca.DM(orbital(ca.DM(q)))).ravel() for q in (start, end)]
    near = 1e-4
    return co.Problem(
        model=NOTHING,
        duration=7200.0,
        minimize=0.1 * co.final_cost(lambda now: now.gamma, "largest momentum")
        + co.integral(lambda now: ca.sumsqr(control(now)), "torques"),
        subject_to=[
            co.at(0.0, lambda now: now.attitude - start, lower=-near, upper=near, scale=1.0, name="attitude before"),
            co.at(1.0, lambda now: now.attitude - end, lower=-near, upper=near, scale=1.0, name="attitude after"),
            co.initial(states={"w": ends[0], "h": (1000.0, -500.0, -4200.0)}),
            co.final(states={"w": ends[1], "h": (-9.0, -3557.0, -135.0)}),
            co.path(
                lambda now: ca.vertcat(ca.sumsqr(now.attitude), ca.sumsqr(now.command)), lower=1 - 2e-4, upper=1 + 2e-4,
                scale=1.0, name="unit lengths",
            ),
            co.path(lambda now: ca.sumsqr(now.h) - now.gamma, lower=-(most**2), upper=0.0, name="momentum"),
            co.path(lambda now: ca.sumsqr(momentum(now)), lower=0.0, upper=torque**2, name="torque of the gyroscopes"),
        ],
        unknowns=[
            co.Unknown("command", 4, lower=-1.0, upper=1.0, guess=start),
            co.Unknown("gamma", lower=0.0, upper=most**2, guess=most**2, constant=True),
            co.State(
                "attitude", 4, rate=lambda now: 0.5 * transform(now.attitude) @ (now.w - orbital(now.attitude)),
                lower=(-1.0, -0.2, -0.2, -1.0), upper=(1.0, 0.2, 0.2, 1.0), guess=start,
            ),
            co.State("w", 3, rate=spin, lower=-1e-2, upper=1e-2),
            co.State("h", 3, rate=momentum, lower=-8000.0, upper=8000.0),
        ],
    )  # fmt: skip


def quadrotor() -> co.Problem:
    """A quadrotor moved by 5 m in nearly the shortest time, with limits of tilt (control-toolbox; Ritz et al. 2011)."""
    gravity, tilt = 9.81, 0.55

    def acceleration(now: co.problem.Instant) -> ca.SX:
        (roll, pitch), yaw, cos, sin = ca.vertsplit(now.tilt), now.yaw, ca.cos, ca.sin
        up = ca.vertcat(
            cos(yaw) * sin(pitch) * cos(roll) + sin(yaw) * sin(roll),
            sin(yaw) * sin(pitch) * cos(roll) - cos(yaw) * sin(roll),
            cos(pitch) * cos(roll),
        )
        return now.thrust * up - ca.DM([0, 0, gravity])

    def small(now: co.problem.Instant) -> ca.SX:
        return 1e-8 * (ca.sumsqr(now.tilt) + now.yaw**2 + now.thrust**2) + 100 * now.yaw**2

    return co.Problem(
        model=NOTHING,
        duration=co.Free(0.1, 100.0, 1.0),
        minimize=co.duration() + co.integral(small, "small"),
        subject_to=[
            co.initial(states={"p": (0.0, 0.0, 2.5), "v": np.zeros(3), "tilt": np.zeros(2)}),
            co.final(states={"p": (0.01, 5.0, 2.5), "v": np.zeros(3)}),
            co.path(lambda now: ca.cos(now.tilt[0]) * ca.cos(now.tilt[1]), lower=cos(tilt), name="tilt"),
        ],
        unknowns=[
            co.Unknown("thrust", lower=0.0, upper=9.18 * 5, guess=10.0),
            co.Unknown("turn", 2, lower=-3.0, upper=3.0),
            co.Unknown("yaw"),
            co.State("p", 3, rate=lambda now: now.v),
            co.State("v", 3, rate=acceleration),
            co.State("tilt", 2, rate=lambda now: now.turn, lower=-pi / 2, upper=pi / 2),
        ],
    )


def truck_two_trailers() -> co.Problem:
    """A truck with two trailers parked across where it stands (Altafini et al.; control-toolbox, truck_trailer)."""
    (l0, m0), (l1, m1), (l2, _) = (0.4, 0.1), (1.1, 0.2), (0.8, 0.1)

    def bends(now: co.problem.Instant) -> ca.SX:
        return now.angle[:2] - now.angle[1:]

    def rates(now: co.problem.Instant) -> ca.SX:
        (first, second), sin, cos = ca.vertsplit(bends(now)), ca.sin, ca.cos
        truck = now.speed / l0 * ca.tan(now.wheel)
        one = now.speed / l1 * sin(first) - m0 / l1 * cos(first) * truck
        speed = now.speed * cos(first) + m0 * sin(first) * truck
        two = speed / l2 * sin(second) - m1 / l2 * cos(second) * one
        last = speed * cos(second) + m1 * sin(second) * one
        return ca.vertcat(last * cos(now.angle[2]), last * sin(now.angle[2]), truck, one, two)

    quarter = pi / 2
    return co.Problem(
        model=NOTHING,
        duration=co.Free(1.0, 1000.0, 10.0),
        minimize=co.duration() + co.integral(lambda now: ca.sumsqr(bends(now)), "bends"),
        subject_to=[
            co.initial(states={"place": (0.0, 0.0), "angle": np.zeros(3)}),
            co.final(states={"place": (0.0, -2.0), "angle": np.full(3, quarter)}),
            co.path(bends, lower=-quarter, upper=quarter, name="bends"),
        ],
        unknowns=[
            co.Unknown("push", lower=-1.0, upper=1.0),
            co.Unknown("steer", lower=-pi / 10, upper=pi / 10),
            co.State("place", 2, rate=lambda now: rates(now)[:2]),
            co.State(
                "angle", 3, rate=lambda now: rates(now)[2:], lower=(-quarter, -quarter, -np.inf),
                upper=(quarter, quarter, np.inf),
            ),
            co.State("speed", rate=lambda now: now.push, lower=-0.2, upper=0.2),
            co.State("wheel", rate=lambda now: now.steer, lower=-pi / 6, upper=pi / 6),
        ],
    )  # fmt: skip


def moonlander_planar() -> co.Problem:
    """A lander with two thrusters moved to rest, at any angle, as fast as they can (control-toolbox, moonlander)."""
    gravity = 9.81

    def acceleration(now: co.problem.Instant) -> ca.SX:
        force = ca.sum1(now.thrust)
        return ca.vertcat(-ca.sin(now.angle) * force, ca.cos(now.angle) * force - gravity)

    return co.Problem(
        model=NOTHING,
        duration=co.Free(0.1, 100.0),
        minimize=co.duration(),
        subject_to=[
            co.initial(states={"p": np.zeros(2), "v": np.zeros(2), "angle": 0.0, "spin": 0.0}),
            co.final(states={"p": (5.0, 5.0), "v": np.zeros(2)}),
        ],
        unknowns=[
            co.Unknown("thrust", 2, lower=0.0, upper=2 * gravity, guess=5.0),
            co.State("p", 2, rate=lambda now: now.v),
            co.State("v", 2, rate=acceleration),
            co.State("angle", rate=lambda now: now.spin),
            co.State("spin", rate=lambda now: 5 * (now.thrust[1] - now.thrust[0])),
        ],
    )


def swimming(bends: ca.SX, rates: ca.SX) -> ca.SX:
    """Velocity of the middle rod's centre and its turning rate, in its frame, of three rods in a viscous fluid.

    The outer rods are 1 long, the middle one 2, and a rod resists twice as much across as along: force and moment of
    the fluid on all three are zero (Purcell 1977; resistive force theory of Gray and Hancock 1955).

    Parameters
    ----------
    bends, rates : SX, shape (2,) [rad, rad/s]
        Angles of the outer rods against the middle one.
    """
    resistance, carried = ca.SX(3, 3), ca.SX(3, 2)
    for side, length in ((-1, 1.0), (0, 2.0), (1, 1.0)):
        arm = {-1: 0, 1: 1}.get(side)
        angle = ca.SX(0) if arm is None else bends[arm]
        along, across = ca.vertcat(ca.cos(angle), ca.sin(angle)), ca.vertcat(-ca.sin(angle), ca.cos(angle))
        centre = side * (ca.vertcat(1, 0) + along / 2)
        drag = length * (along @ along.T + 2 * across @ across.T)
        swept = ca.horzcat(ca.SX.eye(2), ca.vertcat(-centre[1], centre[0]))  # velocity of the rod's centre
        turned = ca.horzcat(0, 0, 1)
        own = ca.SX(2, 2), ca.SX(1, 2)  # what the rate of its own angle adds
        if arm is not None:
            own[0][:, arm], own[1][arm] = side * across / 2, 1
        spin = 2 * length**3 / 12
        resistance += swept.T @ drag @ swept + spin * turned.T @ turned
        carried += swept.T @ drag @ own[0] + spin * turned.T @ own[1]
    return -ca.solve(resistance, carried) @ rates


def swimmer_purcell() -> co.Problem:
    """Purcell's swimmer, as far as it comes in 25 s: Giraldi, Martinon and Zoppello (2013) (Bocop, swimmer).

    There are many local optima. From 0.1 everywhere, where the source starts, the plain call ends at 0.980796.
    """

    def rate(now: co.problem.Instant) -> ca.SX:
        velocity, cosine, sine = swimming(now.bends, now.rates_of_bends), ca.cos(now.angle), ca.sin(now.angle)
        return ca.vertcat(
            cosine * velocity[0] - sine * velocity[1], sine * velocity[0] + cosine * velocity[1], velocity[2]
        )

    return co.Problem(
        model=NOTHING,
        duration=25.0,
        minimize=-1.0 * co.final_cost(lambda now: now.place[0], "way"),
        subject_to=[
            co.initial(states={"place": (0.0, 0.0)}),
            co.at(0.0, lambda now: now.angle, upper=0.0, scale=1.0, name="angle at the start"),
            co.at(0.0, lambda now: now.bends[0], lower=0.0, scale=1.0, name="bend at the start"),
            co.at(1.0, lambda now: now.place[1], equals=0.0, scale=1.0, name="height at the end"),
        ],
        unknowns=[
            co.Unknown("rates_of_bends", 2, lower=-1.0, upper=1.0),
            co.State("place", 2, rate=lambda now: rate(now)[:2]),
            co.State("angle", rate=lambda now: rate(now)[2], lower=-3.15, upper=3.15),
            co.State("bends", 2, rate=lambda now: now.rates_of_bends, lower=-1.5, upper=1.5),
        ],
    )


def strokes() -> dict[str, Any]:
    """Four and a half strokes: the bends run round a circle at rates of at most 1 rad/s."""
    speed = 2 * pi * 4.5 / 25

    def around(t: float) -> np.ndarray:
        return np.array([np.cos(speed * t + pi), np.sin(speed * t + pi)])

    return {
        "bends": lambda t: around(t) / speed,
        "rates_of_bends": lambda t: np.array([[0.0, -1.0], [1.0, 0.0]]) @ around(t),
        "place": lambda t: np.array([t / 25, 0.0]),
        "angle": -0.1,
    }


BODIES = {
    "spacecraft_reorientation": Statement(spacecraft_reorientation),
    "zpm_space_station": Statement(zpm_space_station),
    "quadrotor": Statement(quadrotor),
    "truck_two_trailers": Statement(truck_two_trailers, optimum=58.31, why="59.28 is costlier than ours"),
    "moonlander_planar": Statement(moonlander_planar),
    "swimmer_purcell": Statement(
        swimmer_purcell,
        factor=-1.0,
        guess=strokes,
        optimum=1.0096967,
        why="0.984273 is a local optimum; ours is the best that any start led to",
        curve=co.HermiteSimpson(80),
        tol=1e-5,
    ),
    "cart_pole_kelly": Statement(arms.kelly, optimum=57.94478, why="58.80767 is a costlier local optimum"),
    "two_link_xiang": Statement(arms.xiang),
    "van_willigenburg": Statement(arms.willigenburg),
    "luus_two_link": Statement(arms.luus),
    "manutec_energy": Statement(arms.manutec_energy),
    "manutec_time": Statement(lambda: arms.fastest(manutec_r3(), arms.START, arms.END, 0.6)),
}
