"""Quadratic programs that are not convex without their limits: with the device for them and without it."""

import ctypes
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.control.native import SOURCE
from colloc.kernels import Compile, build_source
from colloc.models.panda import panda
from colloc.studies.control import trot

HOME, TURNS = np.array([0, -0.4, 0, -2.2, 0, 1.8, 0.8]), 2 * np.pi / np.array([2, 3, 4, 2.5, 3.5, 4.5, 5])
TORQUE = np.array([87.0] * 4 + [12.0] * 3)


@pytest.fixture(scope="module")
def without():
    """The steps in C, in which such programs take the primal-dual method."""
    text, device = Path(SOURCE).read_text(encoding="utf-8"), "return convexify(p, m, s, deadline, r);"
    assert text.count(device) == 1
    return ctypes.CDLL(str(build_source("step", text.replace(device, "return -1;"), Compile())))


def pair(problem, curve, without, **options):
    controllers = [co.control.receding(problem, curve, **options) for _ in range(2)]
    for program in controllers[1]._programs:
        program.native.code = without
    return controllers


def counts(controllers):
    results = [controller._program.native.result for controller in controllers]
    return [result.many for result in results], [result.raised for result in results]


def test_ticks_of_a_panda_at_many_limits_are_those_of_the_primal_dual_method(without):
    goal, pace = co.Parameter("goal", HOME), co.Parameter("pace", np.zeros(7))
    limits = co.bounds(q=(HOME - 0.55, HOME + 0.55), qd=(-1.5, 1.5), tau=(-TORQUE, TORQUE))

    def cost(now):
        away = now.q - now.goal - now.t * now.pace
        return 50 * ca.sumsqr(away) + 0.1 * ca.sumsqr(now.qd) + 1e-3 * ca.sumsqr(now.tau)

    follow = co.Problem(panda(), 0.5, co.integral(cost), [co.initial(q=HOME, qd=0.0), limits], parameters=[goal, pace])
    controllers, rng = pair(follow, co.BSpline(20), without, tick=0.01), np.random.default_rng(0)
    q, qd, nonconvex = HOME, np.zeros(7), 0
    for k in range(90):
        at, rate = HOME + 0.6 * np.sin(TURNS * 0.01 * k), 0.6 * TURNS * np.cos(TURNS * 0.01 * k)
        memories = [controller._program.native.memory for controller in controllers]
        for name in ("x", "lam_g"):
            memories[1][name][:] = memories[0][name]  # the same program
        first, second = (controller(q, qd, goal=at, pace=rate) for controller in controllers)
        (many, others), raised = counts(controllers)
        assert raised == [0, 0]
        assert first.trusted, first.message
        if k == 0:
            continue  # it begins where no limit holds, and then more than it has at hand
        assert many == 0
        if others and second.trusted:
            nonconvex += 1
            np.testing.assert_allclose(first.x, second.x, atol=5e-4)  # to the tolerance of the other method
            assert first.cost == pytest.approx(second.cost, rel=1e-6)
        q, qd = (
            value + size * rng.standard_normal(7) for value, size in zip(first.state(0.01), (1e-3, 1e-2), strict=True)
        )
    assert nonconvex > 10


def test_a_step_in_which_no_limit_holds_is_that_of_the_primal_dual_method(without):
    model, tick = trot.quadruped(), trot.TICK
    controllers, rng = pair(trot.schedule(model), co.BSpline(4), without, tick=tick), np.random.default_rng(0)
    q, qd, nonconvex = trot.standing(model), np.zeros(model.n), 0
    for k in range(80):
        for one, other in zip(*(controller._programs for controller in controllers), strict=True):
            for name, values in one.native.memory.items():
                other.native.memory[name][:] = values
        first, second = (controller(q, qd, t=k * tick) for controller in controllers)
        (many, others), raised = counts(controllers)
        assert many == 0
        if others:
            nonconvex += 1
            assert raised == [1, 1]
            np.testing.assert_allclose(first.x, second.x, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(first.tau, second.tau, atol=1e-4)
        q, qd = first.state(tick)
        q, qd = q + trot.NOISE[0] * rng.standard_normal(model.n), qd + trot.NOISE[1] * rng.standard_normal(model.n)
    assert nonconvex >= 3


BODY = co.Model(
    [
        co.Body("x", co.prismatic((1, 0, 0)), mass=1e-3),
        co.Body("y", co.prismatic((0, 1, 0)), parent="x", mass=1.0),
        co.Body("z", co.prismatic((0, 0, 1)), parent="y", mass=1.0),
    ]
)


def quadratic(W, slope, q, qd):
    """A quadratic program: the motion of a mass with an indefinite cost, in a box."""
    parameters = [co.Parameter("W", W.ravel()), co.Parameter("slope", slope)]

    def cost(now):
        return ca.bilin(ca.reshape(now.W, 3, 3), now.q, now.q) + ca.dot(now.slope, now.q) + 0.01 * ca.sumsqr(now.tau)

    limits = co.bounds(q=(-1.0, 1.0), qd=(-3.0, 3.0), tau=(-20.0, 20.0))
    return co.Problem(BODY, 1.0, co.integral(cost), [co.initial(q=q, qd=qd), limits], parameters=parameters)


def test_random_programs_that_are_not_convex_are_solved_exactly_and_ipopt_agrees(without):
    curve, rng = co.BSpline(12), np.random.default_rng(0)
    controllers = pair(quadratic(np.eye(3), np.zeros(3), 0.0, 0.0), curve, without, tick=0.02, steps=2)
    same = exact = 0
    inexact = np.zeros(2)
    for _ in range(40):
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        W = turn @ np.diag(rng.uniform(-2, 2, 3)) @ turn.T
        slope, q, qd = rng.standard_normal(3), rng.uniform(-0.8, 0.8, 3), rng.uniform(-1, 1, 3)
        first, second = (controller(q, qd, W=W.ravel(), slope=slope) for controller in controllers)
        (many, others), raised = counts(controllers)
        assert many == 0
        inexact += np.array(raised) > 0
        if not others or raised[0] or not first.trusted:
            continue
        exact += 1
        assert first.change < 1e-5  # one step is enough
        plan = first.plan
        assert isinstance(plan, co.Solution)
        other = co.solve(quadratic(W, slope, q, qd), curve, guess=plan)
        assert other.cost == pytest.approx(first.cost, rel=1e-5, abs=1e-6)
        same += np.abs(first.x - second.x).max() < 1e-3
    assert exact > 15
    assert same >= 0.8 * exact  # others are another local minimum, or the other method has not converged
    assert inexact[0] <= inexact[1]  # programs with a raised Hessian
