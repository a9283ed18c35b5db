"""Feedback around a solution: the two-link motions executed by arms that are not the predicted ones."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.control import Expansion, backward
from colloc.models.cart_pole import cart_pole
from colloc.models.closed.four_bar import four_bar
from colloc.models.two_link import two_link
from tests.support.problems import effort, time_optimal


@pytest.fixture(scope="module")
def solution() -> co.Solution:
    found = co.solve(time_optimal(), co.BSpline(40), plan=[co.refinement.Solve(tol=0.5)])
    assert found.success
    assert found.duration == pytest.approx(0.3923, abs=1e-3)
    return found


def heavier(model: co.Model, factor: float) -> co.Model:
    bodies = [
        co.Body(b.name, b.joint, b.parent, mass=b.mass * factor, com=b.com, inertia=b.inertia * factor)
        for b in model.bodies
    ]
    return co.Model(bodies, gravity=model.gravity)


def tip(q: np.ndarray) -> np.ndarray:
    return co.Evaluator(two_link()).point("elbow", q=q).position


def test_predicted_torques_held_for_a_step_give_the_predicted_motion(solution: co.Solution):
    """The error of holding the torques falls with the square of the step."""
    errors = []
    for steps in (80, 160, 320):
        tracking = co.control.time_varying_lqr(solution, steps=steps)
        x, u = tracking.run(feedback=False)
        np.testing.assert_array_equal(u, tracking.u)
        errors.append(np.abs(x - tracking.x)[:, :2].max())
    assert errors[-1] < 1e-4
    assert np.log2(errors[0] / errors[-1]) / 2 == pytest.approx(2, abs=0.4)
    assert tracking.t[-1] == pytest.approx(solution.duration)
    assert tracking.dt == pytest.approx(solution.duration / 320)
    np.testing.assert_array_equal(tracking.x[:, :2], solution.at(tracking.t).q)
    impulse = tracking.u.sum(axis=0) * tracking.dt
    fine = solution.at(np.linspace(0, solution.duration, 20_001)).tau
    np.testing.assert_allclose(impulse, np.trapezoid(fine, dx=solution.duration / 20_000, axis=0), atol=1e-5)


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_with_wrong_masses_the_tracked_motion_ends_ten_times_closer(solution: co.Solution, factor: float):
    """Five per cent off, from half a degree beside the start, with 20 % more torque than was planned."""
    tracking = co.control.time_varying_lqr(solution)
    arm = co.control.discretise(heavier(two_link(), factor), tracking.dt)
    x0, goal = tracking.x[0] + np.array([0.01, -0.01, 0, 0]), tip(tracking.x[-1, :2])
    opened, _ = tracking.run(arm, x0, feedback=False)
    closed, torque = tracking.run(arm, x0, limits=(-12.0, 12.0))
    misses = [np.linalg.norm(tip(x[-1, :2]) - goal) for x in (opened, closed)]
    assert misses[1] < 0.1 * misses[0]
    assert np.abs(torque).max() <= 12.0
    stiff = co.control.time_varying_lqr(solution, tau=10.0).run(arm, x0)[0]
    assert np.linalg.norm(tip(stiff[-1, :2]) - goal) < 0.3 * misses[1]


def test_gains_minimise_the_stated_squares(solution: co.Solution):
    """Against the recursion called on derivatives by differences of the step, with Bryson's weights written out."""
    steps = 30
    tracking = co.control.time_varying_lqr(solution, steps=steps, q=(0.01, 0.02), qd=0.5, tau=(2.0, 3.0), final=7.0)
    A, B, h = np.zeros((steps, 4, 4)), np.zeros((steps, 4, 2)), 1e-6
    for k in range(steps):
        x, u, step = tracking.x[k], tracking.u[k], tracking.system.step
        for j, change in enumerate(h * np.eye(4)):
            A[k, :, j] = (step(k, x + change, u) - step(k, x - change, u)) / (2 * h)
        for j, change in enumerate(h * np.eye(2)):
            B[k, :, j] = (step(k, x, u + change) - step(k, x, u - change)) / (2 * h)
    weights = np.tile(np.diag([1e4, 2500, 4, 4]), (steps + 1, 1, 1))
    weights[-1] *= 7
    squares = np.tile(np.diag([1 / 4, 1 / 9]), (steps, 1, 1))
    policy = backward(A, B, Expansion(np.zeros((steps + 1, 4)), np.zeros((steps, 2)), weights, squares))
    assert policy is not None
    np.testing.assert_allclose(tracking.gains, policy.gains, rtol=1e-5, atol=1e-5 * np.abs(policy.gains).max())


def test_constants_and_parameters_take_their_values():
    """An unknown payload, a gravity-like load with a parameter, and drag: the held torques still give the motion."""
    payload = co.Unknown("payload", lower=0.4, upper=0.6, guess=0.5, constant=True)
    push = co.Parameter("push", 0.0)
    link = {"com": (-0.2, 0, 0), "inertia": (0, 0.1, 0.1)}
    model = co.Model(
        [
            co.Body("shoulder", co.dh_revolute(a=0.4), mass=0.5, **link),
            co.Body("elbow", co.dh_revolute(a=0.4), "shoulder", mass=payload.symbol, **link),
        ]
    )
    loads = [
        co.Load("elbow", force=lambda now: ca.vertcat(now.push, 0, 0) - 0.5 * now.point("elbow").velocity),
        co.Load("shoulder", moment=lambda now: ca.vertcat(0, 0, ca.sin(6 * now.t))),
    ]
    problem = co.Problem(
        model,
        0.8,
        co.integral(effort) + co.integral(lambda now: (now.payload - 0.45) ** 2),
        [co.initial(q=(0.0, -1.0), qd=0.0), co.final(q=(0.5, -0.5), qd=0.0)],
        unknowns=[payload],
        parameters=[push],
        loads=loads,
    )
    found = co.solve(problem, co.BSpline(20), parameters={"push": 3.0})
    assert found.success
    tracking = co.control.time_varying_lqr(found)
    x, _ = tracking.run(feedback=False)
    np.testing.assert_allclose(x, tracking.x, atol=2e-4)


def test_what_cannot_be_tracked_is_refused(solution: co.Solution):
    with pytest.raises(co.InputError, match="time_varying_lqr needs a Solution"):
        co.control.time_varying_lqr("motion")  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match=r"deviations must be positive, got q=0\.0"):
        co.control.time_varying_lqr(solution, q=0.0)
    with pytest.raises(co.InputError, match="steps must be an integer >= 1"):
        co.control.time_varying_lqr(solution, steps=0)
    with pytest.raises(co.InputError, match=r"x0 must have shape \(4,\)"):
        co.control.time_varying_lqr(solution, steps=5).run(x0=np.zeros(2))
    plan = co.control.time_varying_lqr(solution, steps=5)
    with pytest.raises(co.InputError, match=rf"the controller's time step, {plan.dt} s, got one of 0\.01 s"):
        plan.run(co.control.discretise(two_link(), dt=0.01))
    assert plan.system.dt == plan.dt
    hand = co.Unknown("hand", size=3)
    pushed = co.Problem(
        two_link(),
        0.5,
        co.integral(effort) + co.integral(lambda now: ca.sumsqr(now.hand)),
        [co.initial(q=(0.0, -1.0), qd=0.0), co.final(q=(0.5, -0.5), qd=0.0)],
        unknowns=[hand],
        loads=[co.Load("elbow", force=hand.symbol)],
    )
    with pytest.raises(co.InputError, match="depends on the unknown signal 'hand'"):
        co.control.time_varying_lqr(co.solve(pushed, co.BSpline(5)))


@pytest.mark.parametrize("kind", ["bounds", "path", "both motors"])
def test_joints_without_a_motor_have_no_feedback_torque(kind: str):
    """A cart brings its pole back by its own force: gains against those of the recursion with one control."""
    still = {"bounds": co.bounds(tau={"pole": (0.0, 0.0)}), "path": co.path(lambda now: now.tau[1], equals=0.0)}
    still["both motors"] = co.path(lambda now: now.tau[0] - 2 * now.tau[1], equals=0.0)
    way = np.array([1.0, 0.5 if kind == "both motors" else 0.0])
    cost = co.integral(lambda now: ca.sumsqr(now.tau))
    stay = co.Problem(
        cart_pole(), 1.5, cost, [co.initial(q=(0.0, np.pi), qd=0.0), co.final(q=(0.0, np.pi), qd=0.0), still[kind]]
    )
    tracking = co.control.time_varying_lqr(co.solve(stay, co.Radau(8)), steps=100)
    np.testing.assert_allclose(tracking.gains - way[:, None] * tracking.gains[:, :1], 0.0, atol=1e-9)
    A, B = tracking.system.linearise(tracking.x[:-1], tracking.u)
    weights = np.tile(np.diag([1e4, 1e4, 100, 100]), (101, 1, 1))
    weights[-1] *= 10
    squares = np.full((100, 1, 1), way @ way)
    policy = backward(A, (B @ way)[:, :, None], Expansion(np.zeros((101, 4)), np.zeros((100, 1)), weights, squares))
    assert policy is not None
    np.testing.assert_allclose(tracking.gains[:, :1], policy.gains, rtol=1e-8, atol=1e-6)
    x, _ = tracking.run(x0=tracking.x[0] + np.array([0.0, 0.05, 0.0, 0.0]))
    assert abs(x[-1, 1] - np.pi) < 0.01


def test_motions_without_a_torque_to_change_are_refused():
    ends = [co.initial(q=(0.0, 0.3), qd=0.0)]
    fall = co.Problem(cart_pole(), 0.5, subject_to=[*ends, co.bounds(tau=(0.0, 0.0))])
    with pytest.raises(co.InputError, match="prescribes the torques of all joints"):
        co.control.time_varying_lqr(co.solve(fall, co.Radau(4)))
    held = co.Problem(cart_pole(), 0.5, subject_to=[co.initial(q={"pole": 0.3}, qd={"pole": 0.0}),
                      co.bounds(q={"cart": (0.0, 0.0)})])  # fmt: skip
    with pytest.raises(co.InputError, match="bounds hold 'cart' in place"):
        co.control.time_varying_lqr(co.solve(held, co.Radau(4)))


def test_feedback_of_a_closed_chain_is_refused():
    """Its tree alone would let the loops open."""
    chain = four_bar()
    ends = [co.initial(q={"crank": 0.5}, qd={"crank": 0.0}), co.final(q={"crank": 1.0}, qd={"crank": 0.0})]
    turn = co.Problem(chain.model, 1.0, parts=[co.loops.IndependentJoints(chain)], subject_to=ends)
    with pytest.raises(co.InputError, match="would let the loops of this chain open"):
        co.control.time_varying_lqr(co.solve(turn, co.BSpline(8)))
