"""Arms on a base whose motion is given: massless joints, a course, what drives it, and the same in the base's frame.

Xiang, Arora and Abdel-Malek (2009), after equation 36: a moving base is a chain of joints without mass between the
world and the mechanism. Their coordinates are given functions of time here, by equations along the path.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co

DURATION, STRIDE, RISE = 0.8, 0.5, 0.2  # s, m, m
LENGTH, MASS = 0.4, 1.5  # m, kg; of both links, slender and uniform
GRAVITY = 9.81  # m/s2
START, END = (-0.4, 1.2), (0.9, -0.7)  # rad
CURVE = co.BSpline(intervals=14, degree=4)


def links(parent: str | None) -> list[co.Body]:
    inertia = {"mass": MASS, "com": (LENGTH / 2, 0, 0), "inertia": (0, MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 12)}
    return [
        co.Body("upper", co.revolute(), parent, **inertia),
        co.Body("lower", co.revolute(placement=co.placement((LENGTH, 0, 0))), "upper", **inertia),
    ]


def course(t: Any) -> tuple[Any, Any]:
    """Place of the base: there and up, at rest at both ends; a cubic, which splines hold exactly."""
    s = t / DURATION
    there = 3 * s**2 - 2 * s**3
    return STRIDE * there, RISE * there


def course_acceleration(t: Any) -> tuple[Any, Any]:
    bend = (6 - 12 * t / DURATION) / DURATION**2
    return STRIDE * bend, RISE * bend


def carried() -> co.Problem:
    """Two slides without mass, which carry the arm along the course; what drives them costs nothing."""
    base = [co.Body("along", co.prismatic((1, 0, 0))), co.Body("up", co.prismatic((0, 1, 0)), "along")]
    first, last = (course(t) for t in (0.0, DURATION))
    return co.Problem(
        model=co.Model([*base, *links("up")]),
        duration=DURATION,
        minimize=co.integral(lambda now: ca.sumsqr(now.tau[2:]), name="effort of the arm"),
        subject_to=[
            co.initial(q=(*first, *START), qd=0.0),
            co.final(q=(*last, *END), qd=0.0),
            co.path(lambda now: now.q[:2] - ca.vertcat(*course(now.t)), equals=0.0, unit="m", name="course"),
        ],
    )


def in_the_frame_of_the_base() -> co.Problem:
    """The arm alone, fixed, under what its base's acceleration adds to gravity."""

    def apparent(now: co.problem.Instant) -> ca.SX:
        return -MASS * ca.vertcat(*course_acceleration(now.t), 0)

    return co.Problem(
        model=co.Model(links(None)),
        duration=DURATION,
        minimize=co.integral(lambda now: ca.sumsqr(now.tau), name="effort of the arm"),
        subject_to=[co.initial(q=START, qd=0.0), co.final(q=END, qd=0.0)],
        loads=[co.Load(name, force=apparent, point=(LENGTH / 2, 0, 0)) for name in ("upper", "lower")],
    )


@pytest.fixture(scope="module")
def solution() -> co.Solution:
    return co.solve(carried(), CURVE)


def test_the_base_keeps_to_its_course_at_all_times(solution):
    t = np.linspace(0, DURATION, 501)
    np.testing.assert_allclose(solution.at(t).q[:, :2], np.transpose(course(t)), atol=1e-9)
    np.testing.assert_allclose(solution.at(t).qdd[:, :2], np.transpose(course_acceleration(t)), atol=1e-6)


def test_the_arm_moves_as_under_an_apparent_gravity(solution):
    fixed = co.solve(in_the_frame_of_the_base(), CURVE)
    assert solution.cost == pytest.approx(fixed.cost, rel=1e-9)
    t = np.linspace(0, DURATION, 101)
    np.testing.assert_allclose(solution.at(t).q[:, 2:], fixed.at(t).q, atol=1e-6)
    np.testing.assert_allclose(solution.at(t).tau[:, 2:], fixed.at(t).tau, atol=1e-4)
    still = co.solve(
        co.Problem(
            co.Model(links(None)), DURATION, fixed.problem.minimize, [co.initial(q=START, qd=0), co.final(q=END, qd=0)]
        ),
        CURVE,
    )
    assert abs(still.cost / solution.cost - 1) > 0.05  # it matters that the base moves


def test_what_drives_the_base_is_the_rate_of_the_arms_momentum(solution):
    """Newton's second law for the whole arm, its momentum from places of the centres of mass; and energy."""
    t, step = np.linspace(0.05, DURATION - 0.05, 41), 2e-5

    def momentum(times: np.ndarray) -> np.ndarray:
        def rate(now: co.problem.Instant) -> ca.SX:
            middles = (now.point(name, (LENGTH / 2, 0, 0)).velocity for name in ("upper", "lower"))
            return MASS * sum(middles, ca.SX(3, 1))

        return solution.evaluate(rate, times)

    force = (momentum(t + step) - momentum(t - step)) / (2 * step)
    drive = solution.at(t).tau[:, :2]
    inside = np.abs(t[:, None] / DURATION * 14 - np.round(t[:, None] / DURATION * 14)).ravel() > 0.01  # kinks at knots
    expected = force[:, :2] + [0, 2 * MASS * GRAVITY]
    np.testing.assert_allclose(drive[inside], expected[inside], rtol=1e-5, atol=1e-4)

    fine = np.linspace(0, DURATION, 8001)
    sample = solution.at(fine)
    work = np.trapezoid((sample.tau * sample.qd).sum(axis=1), fine)

    def height(now: co.problem.Instant) -> ca.SX:
        return now.point("upper", (LENGTH / 2, 0, 0)).position[1] + now.point("lower", (LENGTH / 2, 0, 0)).position[1]

    rise = np.ravel(solution.evaluate(height, np.array([0.0, DURATION])))
    assert work == pytest.approx(MASS * GRAVITY * (rise[1] - rise[0]), abs=1e-5)


def test_the_drives_carry_what_the_first_hinge_transmits(solution):
    """The slides have no mass, so that the force in the arm's first joint, in whatever axes, is that of both drives."""
    t = np.linspace(0, DURATION, 21)
    found = solution.reactions(t).force[:, solution.problem.model.index("upper")]
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.linalg.norm(solution.at(t).tau[:, :2], axis=1))
