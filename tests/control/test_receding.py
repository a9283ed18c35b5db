"""A receding horizon: its optimum is that of IPOPT, its loop is closed, and it has a word for whatever goes wrong."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.control.native import _segments
from colloc.models.arm26 import arm26
from colloc.models.cart_pole import cart_pole
from colloc.models.closed.four_bar import four_bar
from colloc.models.two_link import two_link

ARM = two_link(9.81)
GOAL = co.Parameter("goal", (1.0, 0.5))
NEAR = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q - now.goal) + 0.01 * ca.sumsqr(now.qd))
LIMITS = co.bounds(tau=(-25.0, 25.0), qd=(-3.0, 3.0))


def reach(start=(0.0, 0.0), speed=(0.0, 0.0), more=()):
    return co.Problem(ARM, 0.6, NEAR, [co.initial(q=start, qd=speed), LIMITS, *more], parameters=[GOAL])


@pytest.fixture(scope="module")
def controller():
    return co.control.receding(reach(), co.BSpline(10), tick=0.02, steps=8)


def fresh(**options):
    return co.control.receding(reach(), co.BSpline(10), tick=0.02, **options)


def test_a_converged_plan_is_the_optimum_of_ipopt_with_limits_active(controller):
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, qd = 0.4 * rng.standard_normal(2), 1.5 * rng.uniform(-1, 1, 2)
        tick = controller(q, qd, goal=(1.0, 0.5))
        other = co.solve(reach(q, qd), co.BSpline(10))
        assert tick.trusted, tick.message
        assert tick.change < 1e-5
        assert tick.cost == pytest.approx(other.cost, rel=1e-5)
        np.testing.assert_allclose(tick.plan.at(0.3).q, other.at(0.3).q, atol=1e-4)
        np.testing.assert_allclose(tick.plan.at(0.01).tau.ravel(), tick.tau, atol=1e-6)


def test_any_number_of_limits_may_hold():
    narrow = co.bounds(tau=(-30.0, 30.0), qd=(-0.5, 0.5), qdd=(-3.0, 3.0))
    curve = co.BSpline(20)

    def problem(goal):
        return co.Problem(ARM, 0.6, NEAR, [co.initial(q=0.0, qd=0.0), narrow], parameters=[co.Parameter("goal", goal)])

    controller = co.control.receding(problem((0.0, 0.0)), curve, tick=0.02, steps=20)
    for goal in ((0.02, 0.03), (0.5, -0.3), (3.0, -2.0), (0.02, 0.03)):
        tick, other = controller((0.0, 0.0), (0.0, 0.0), goal=goal), co.solve(problem(goal), curve)
        assert tick.trusted, tick.message
        assert controller._program.native.result.many == 0  # none of the programs needed the method for all limits
        assert tick.cost == pytest.approx(other.cost, rel=1e-5, abs=1e-7)


def test_a_motion_that_only_limits_determine_is_the_optimum_of_ipopt():
    limits = co.bounds(tau=(-15.0, 25.0), qd=(-2.0, 2.0))

    def problem(q):
        far = co.final_cost(lambda now: ca.sumsqr(now.q - ca.DM([-3.0, 2.0])))
        return co.Problem(two_link(9.81), 0.5, far, [co.initial(q=q, qd=0.0), limits])

    controller = co.control.receding(problem((0.0, 0.0)), co.BSpline(8), tick=0.02, steps=30)
    for q in ((0.0, 0.0), (0.3, -0.2)):
        tick, other = controller(q, (0.0, 0.0)), co.solve(problem(q), co.BSpline(8))
        assert tick.trusted, tick.message
        assert controller._program.native.result.many > 0
        assert tick.cost == pytest.approx(other.cost, rel=1e-4)


def test_gains_are_the_derivatives_of_the_torque_by_the_state(controller):
    q, qd, step = np.array([0.2, 0.1]), np.array([0.5, -0.2]), 1e-3
    gains = controller(q, qd).gains
    for k in range(4):
        move = step * np.eye(4)[k]
        sides = [controller(q + sign * move[:2], qd + sign * move[2:]).tau for sign in (1, -1)]
        np.testing.assert_allclose(gains[:, k], (sides[0] - sides[1]) / (2 * step), rtol=5e-3, atol=5e-3)


def test_the_loop_reaches_a_goal_that_moves_with_one_step_a_tick():
    controller, plant = fresh(), co.control.discretise(ARM, 0.002)
    x, errors, speeds = np.zeros(4), [], []
    for k in range(100):
        goal = np.array([1.0, 0.5]) + 0.2 * np.sin(2 * np.pi * 0.5 * 0.02 * k)
        tick = controller(x[:2], x[2:], t=0.02 * k, goal=goal)
        assert tick.trusted, tick.message
        assert tick.steps == 1
        for _ in range(10):
            x = plant.step(0, x, tick.tau)
        errors.append(np.abs(x[:2] - goal).max())
        speeds.append(np.abs(x[2:]).max())
    assert max(errors[40:]) < 0.15  # it lags behind a goal whose speed it does not know
    assert max(speeds) < 3.0 * 1.01


def test_a_state_outside_its_limits_has_a_plan_back_inside():
    controller = fresh(steps=4)
    tick = controller((0.0, 0.0), (4.0, 0.0))  # faster than 3 rad/s
    assert tick.excess == pytest.approx(1 / 3, rel=1e-3)
    assert tick.trusted
    speeds = tick.plan.at(np.linspace(0.2, 0.6, 9)).qd
    assert np.abs(speeds).max() < 3.0 + 1e-3
    assert np.abs(tick.tau).max() <= 25.0


def test_a_limit_that_no_plan_can_meet_has_a_word():
    wall = co.bounds(q={"shoulder": (-2.0, 0.2)})
    controller = co.control.receding(reach(more=[wall]), co.BSpline(10), tick=0.02, steps=5)
    tick = controller((0.19, 0.0), (3.0, 0.0))  # 25 N m are too little to stop within 10 mrad
    assert not tick.trusted
    assert "limits are exceeded by 0." in tick.message
    assert "q[shoulder] at t = 0." in tick.message
    assert tick.plan.at(0.6).q[0] < 0.2 + 1e-3


def test_numbers_that_are_not_finite_give_the_torque_of_the_last_plan():
    controller = fresh()
    first = controller((0.0, 0.0), (0.0, 0.0))
    tick = controller((np.nan, 0.0), (0.0, 0.0))
    assert not tick.trusted
    assert tick.message == "the state or a parameter is not finite"
    np.testing.assert_allclose(tick.tau, tick.plan.at(0.01).tau.ravel(), atol=1e-9)
    np.testing.assert_allclose(tick.tau, first.plan.at(0.03).tau.ravel(), rtol=0.05)  # on other breakpoints
    assert controller((0.0, 0.0), (0.0, 0.0), goal=(np.inf, 0.0)).message == tick.message
    assert controller((0.0, 0.0), (0.0, 0.0)).trusted


def test_a_plan_of_which_no_function_is_finite_is_kept():
    barrier = co.path(lambda now: ca.sqrt(0.7 - now.q[0]), lower=0.1)  # undefined beyond 0.7 rad
    controller = co.control.receding(reach(more=[barrier]), co.BSpline(10), tick=0.02, steps=3)
    assert controller((0.0, 0.0), (0.0, 0.0), goal=(0.3, 0.0)).trusted
    tick = controller((0.9, 0.0), (0.0, 0.0))
    assert not tick.trusted
    assert np.isfinite(tick.tau).all()


def test_a_limit_that_is_undefined_is_not_met():
    barrier = co.path(lambda now: ca.sqrt(0.7 - now.q[0]), lower=0.1, scale=1.0)
    controller = co.control.receding(reach(more=[barrier]), co.BSpline(10), tick=0.02)
    assert controller((0.0, 0.0), (0.0, 0.0), goal=(0.3, 0.0)).trusted
    tick = controller((0.2, 0.0), (0.0, 0.0), goal=(5.0, 0.0))  # a whole step of the quadratic program leads beyond it
    assert np.isfinite(tick.plan.evaluate(lambda now: ca.sqrt(0.7 - now.q[0]))).all() or not tick.trusted
    tick = controller((0.9, 0.0), (0.0, 0.0))
    assert not tick.trusted
    assert np.isnan(tick.cost) == (tick.steps == 0)
    assert np.isfinite(tick.tau).all()


def test_a_limit_at_the_start_that_the_state_leaves_open_counts():
    last = co.Parameter("last", 0.0)
    slow = co.at(0.0, lambda now: now.tau[0] - now.last, lower=-0.5, upper=0.5, name="change of torque")
    rows = [co.initial(q=0.0, qd=0.0), co.bounds(tau=(-25.0, 25.0)), slow]
    problem = co.Problem(ARM, 0.6, NEAR, rows, parameters=[GOAL, last])
    controller = co.control.receding(problem, co.BSpline(10), tick=0.02, steps=5, parameters={"last": 10.0})
    assert controller((0.0, 0.0), (0.0, 0.0), last=10.0).trusted
    tick = controller((0.0, 0.0), (0.0, 0.0), last=27.0)  # the motor has 25 N m
    assert not tick.trusted
    assert "t = 0 s" in tick.message
    assert abs(tick.tau[0]) <= 25.0


@dataclass(frozen=True)
class SlowStart(co.problem.Statement):
    """A value of the state at the start, and a limit of an acceleration, in one statement."""

    name: str = "slow start"
    where = co.problem.TimePoint(0.0)

    def rows(self, now):
        return co.problem.bounded(self.name, ca.vertcat(now.q[0], now.qdd[0]), (0.0, -1.0), (0.0, 1.0))

    def end_values(self, now):
        return [co.problem.EndValue(0, 0.0, "q", 0, 0.0)]


def test_rows_beside_values_of_the_start_are_kept():
    controller = co.control.receding(reach(more=[SlowStart()]), co.BSpline(10), tick=0.02, steps=5)
    tick = controller((0.1, 0.0), (0.0, 0.0))
    assert tick.trusted, tick.message
    assert controller.first.at(0.0).qdd[0] == pytest.approx(1.0, abs=1e-4)
    assert tick.plan.at(0.0).qdd[0] == pytest.approx(1.0, abs=1e-3)  # from another position
    assert tick.plan.at(0.0).q[0] == pytest.approx(0.1, abs=1e-6)


def test_long_runs_of_variables_are_divided():
    runs = [np.arange(3, 1303), np.array([0, 1, 2000])]
    tables = _segments([np.array([0]), np.array([1])], runs)
    assert tables["segment_length"].max() <= 512
    assert tables["segment_length"].sum() >= 1303
    for row, run in enumerate(runs):
        parts = range(*tables["segment"][row : row + 2])
        first, length = tables["segment_first"], tables["segment_length"]
        assert set(run) <= {place for k in parts for place in range(first[k], first[k] + length[k])}


def test_a_deadline_ends_the_steps():
    controller = fresh(steps=50, deadline=1e-9)
    tick = controller((0.3, 0.0), (1.0, 0.0))
    assert not tick.trusted
    assert tick.message == "the deadline came before the last step"
    assert tick.steps == 0
    assert np.isfinite(tick.tau).all()


def test_random_ticks_raise_nothing_and_answer_in_limits():
    controller, rng = fresh(), np.random.default_rng(1)
    for _ in range(500):
        size = 10.0 ** rng.uniform(-3, 4)
        values = size * rng.standard_normal(6)
        if rng.uniform() < 0.1:
            values[rng.integers(6)] = rng.choice([np.nan, np.inf, -np.inf, 1e300])
        tick = controller(values[:2], values[2:4], goal=values[4:])
        assert np.isfinite(tick.tau).all()
        assert np.abs(tick.tau).max() <= 25.0
        assert tick.trusted == (not tick.message)
    for _ in range(60):
        tick = controller((0.0, 0.0), (0.0, 0.0), goal=(0.5, 0.5))
    assert tick.trusted, tick.message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tick": 0.7}, "tick must be shorter than the horizon of 0.6 s, got 0.7 s"),
        ({"tick": 0.02, "steps": 0}, "steps must be"),
        ({"tick": 0.02, "deadline": -1.0}, "deadline must be"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(co.InputError, match=message):
        co.control.receding(reach(), co.BSpline(10), **options)


TWO: Any = [NEAR, NEAR]  # costs in order of importance


def without_joints():
    moving = co.State("z", 2, rate=lambda now: [now.z[1], now.force])
    start = co.initial(states={"z": (0.0, 0.0)})
    return co.Problem(co.Model.empty(), 0.6, co.integral(lambda now: now.force**2 + now.z[0]), [start],
                      [co.Unknown("force"), moving])  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (lambda: co.Problem(ARM, co.Free(0.5, 1.0), NEAR, [co.initial(q=0.0, qd=0.0)], parameters=[GOAL]),
         "the duration of a horizon must be fixed"),
        (lambda: reach(more=[co.initial(qdd=0.0)]), r"'initial' prescribes qdd at the start.*state co.at\(0.0"),
        (lambda: reach(more=[co.initial(tau={"elbow": 0.0})]), "'initial' prescribes tau at the start"),
        (without_joints, "the problem has none: give it a model with joints"),
        (lambda: co.Cases({"a": reach(), "b": reach((0.1, 0.0))}), "cases are independent in time"),
        (lambda: co.Problem(ARM, 0.6, TWO, [co.initial(q=0.0, qd=0.0)], parameters=[GOAL]),
         "costs in order of importance"),
    ],
)  # fmt: skip
def test_problems_without_a_receding_horizon_are_refused(problem, message):
    with pytest.raises(co.InputError, match=message):
        co.control.receding(problem(), co.BSpline(10), tick=0.02)


def test_a_plan_of_a_tick_is_no_optimum_to_differentiate(controller):
    tick = controller((0.0, 0.0), (0.0, 0.0))
    assert not tick.plan.success
    with pytest.raises(co.InputError, match="must be an optimum, got one with status iteration limit"):
        co.optimality.gradient(tick.plan, "cost")
    again = co.control.receding(reach(), co.BSpline(10), tick=0.02, guess=tick.plan)
    assert again.first.success


def test_torque_limits_during_a_part_hold_for_the_answer():
    gentle = co.bounds(tau=(-2.0, 2.0), during=(0.0, 0.3))
    controller = co.control.receding(reach(more=[gentle]), co.BSpline(10), tick=0.02)
    for q in ((2.0, -1.0), (0.0, 2.0), (-3.0, 3.0)):
        assert np.abs(controller(q, (0.0, 0.0)).tau).max() <= 2.0


def test_a_joint_that_bounds_hold_in_place_is_not_measured():
    hold = co.bounds(q={"elbow": (0.4, 0.4)})

    def problem(q=0.0, qd=0.0):
        rows = [co.initial(q={"shoulder": q}, qd={"shoulder": qd}), LIMITS, hold]
        return co.Problem(ARM, 0.6, NEAR, rows, parameters=[GOAL])

    controller = co.control.receding(problem(), co.BSpline(10), tick=0.02, steps=10)
    tick, other = controller((0.2, 0.43), (0.5, 0.1)), co.solve(problem(0.2, 0.5), co.BSpline(10))
    assert tick.trusted, tick.message
    assert tick.gains.shape == (2, 2)
    assert tick.cost == pytest.approx(other.cost, rel=1e-5)
    with pytest.raises(co.InputError, match="as no model has the bounds that hold 'elbow' in place"):
        co.control.closed_loop(controller, 0.1, q=(0.0, 0.4), qd=0.0)


def test_a_controller_begins_again(controller):
    controller((0.1, 0.2), (0.0, 0.0), goal=(0.7, 0.1))
    controller.restart()
    ticks = [controller((0.0, 0.1), (0.0, 0.0), t=0.02 * k) for k in range(3)]
    controller.restart()
    again = [controller((0.0, 0.1), (0.0, 0.0), t=0.02 * k) for k in range(3)]
    for tick, other in zip(ticks, again, strict=True):
        np.testing.assert_array_equal(tick.x, other.x)
        assert tick.parameters[0] == 0.7
    loops = [co.control.closed_loop(controller, 0.1, q=0.0, qd=0.0) for _ in range(2)]
    np.testing.assert_array_equal(loops[0].q, loops[1].q)
    controller(0.0, 0.0, goal=(1.0, 0.5))  # as before, for other tests


def test_a_ball_joint_on_a_quaternion_turns_as_ipopt_plans():
    top, goal = (
        co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4))),
        (0.8, 0, 0.6, 0),
    )
    near = co.integral(lambda now: 1e-2 * ca.sumsqr(now.tau) + 1 - ca.dot(now.q, ca.DM(goal)) ** 2)

    def turn(q, qd):
        return co.Problem(top, 0.8, near, [co.initial(q=q, qd=qd), co.bounds(tau=(-3.0, 3.0))])

    controller = co.control.receding(turn((1.0, 0.0, 0.0, 0.0), 0.0), co.BSpline(8), tick=0.02, steps=15)
    q, qd = np.array([0.96, 0.2, -0.1, 0.0]) / np.linalg.norm([0.96, 0.2, -0.1, 0.0]), (0.3, -0.2, 0.5)
    tick, other = controller(q, qd), co.solve(turn(q, qd), co.BSpline(8))
    assert tick.trusted, tick.message
    assert tick.gains.shape == (3, 6)  # by small turns
    assert tick.cost == pytest.approx(other.cost, rel=1e-5)
    np.testing.assert_allclose(tick.tau, other.at(0.01).tau, atol=1e-5)
    assert controller(-q, qd).cost == pytest.approx(other.cost, rel=1e-2)  # the same attitude
    np.testing.assert_allclose(controller(1.01 * q, qd).tau, controller(q, qd).tau, atol=1e-4)
    none = controller(np.zeros(4), qd)
    assert not none.trusted
    assert none.message.endswith("or a quaternion is not of length one")


def test_joints_of_a_loop_that_depend_on_others_follow_them():
    chain = four_bar()
    near = co.integral(lambda now: 1e-2 * ca.sumsqr(now.tau) + (now.q[0] - 1.6) ** 2)

    def crank(q, qd):
        stated = [co.initial(q={"crank": q}, qd={"crank": qd}), co.bounds(tau={"crank": (-6.0, 6.0)})]
        return co.Problem(chain.model, 0.6, near, stated, parts=[co.loops.IndependentJoints(chain)])

    controller = co.control.receding(crank(1.0, 0.0), co.BSpline(10), tick=0.02, steps=15)
    tick, other = (
        controller(co.loops.assemble(chain, [1.3]), (-0.5, 0.0, 0.0)),
        co.solve(crank(1.3, -0.5), co.BSpline(10)),
    )
    assert tick.trusted, tick.message
    assert tick.gains.shape == (3, 2)  # by the crank's angle and velocity
    assert tick.cost == pytest.approx(other.cost, rel=1e-5)
    np.testing.assert_allclose(tick.tau, other.at(0.01).tau, atol=1e-5)


def test_wrong_measurements_are_named(controller):
    with pytest.raises(co.InputError, match=r"q must have shape \(2,\), got"):
        controller((0.0, 0.0, 0.0), (0.0, 0.0))
    with pytest.raises(co.InputError, match="no parameter or state named 'gaol'; did you mean 'goal'"):
        controller((0.0, 0.0), (0.0, 0.0), gaol=(1.0, 1.0))
    for goal in ([[1.0], [2.0, 3.0]], 1.0, "there", GOAL.symbol, None):
        with pytest.raises(co.InputError, match="goal must"):
            controller((0.0, 0.0), (0.0, 0.0), goal=goal)
    ticks = []
    for wrong in (False, True):
        controller.restart()
        controller((0.0, 0.0), (0.0, 0.0))
        if wrong:
            with pytest.raises(co.InputError, match="qd must"):
                controller((0.0, 0.0), "still")
        ticks.append(controller((0.1, 0.0), (0.0, 0.0)))
    np.testing.assert_array_equal(ticks[0].x, ticks[1].x)
    assert controller((0.0, 0.0), (0.0, 0.0), t=1e308).trusted
    with pytest.raises(co.InputError, match=r"t must not go back: it was .* restart\(\) begins again"):
        controller((0.0, 0.0), (0.0, 0.0), t=1.0)
    controller.restart()


def moving(t):
    return {"goal": np.array([1.0, 0.5]) + 0.2 * np.sin(np.pi * t)}


def test_a_simulated_loop_is_the_loop_written_out():
    loop = co.control.closed_loop(fresh(), 0.2, q=0.0, qd=0.0, parameters=moving, substeps=10)
    controller, plant, x = fresh(), co.control.discretise(ARM, 0.002), np.zeros(4)
    for k in range(10):
        tick = controller(x[:2], x[2:], t=0.02 * k, **moving(0.02 * k))
        np.testing.assert_allclose(loop.tau[k], tick.tau, atol=1e-10)
        for _ in range(10):
            x = plant.step(0, x, tick.tau)
        np.testing.assert_allclose(np.append(loop.q[k + 1], loop.qd[k + 1]), x, atol=1e-10)


def test_a_delay_is_made_up_for_by_prediction():
    at_once = co.control.closed_loop(fresh(), 1.0, q=0.0, qd=0.0, parameters=moving)
    late = co.control.closed_loop(fresh(), 1.0, q=0.0, qd=0.0, parameters=moving, delay=0.02)
    assert late.untrusted == at_once.untrusted == 0
    np.testing.assert_allclose(late.q[1:], at_once.q[1:], atol=0.05)
    assert np.abs(late.qd).max() < 3.0 * 1.01


def test_the_loop_holds_limits_on_a_heavier_arm_of_mujoco_with_noise(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    co.formats.to_urdf(ARM, tmp_path / "arm.urdf")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.urdf"))
    model.opt.gravity[:] = np.array(ARM.gravity, dtype=float).ravel()
    model.body_mass[:] *= 1.05
    data = mujoco.MjData(model)

    def plant(q, qd, tau, dt):
        model.opt.timestep = dt
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_step(model, data)
        return data.qpos, data.qvel

    options = {"plant": plant, "parameters": moving, "noise": (1e-3, 1e-2), "delay": 0.004}
    loop = co.control.closed_loop(fresh(), 2.0, q=0.0, qd=0.0, **options)
    goals = np.array([moving(t)["goal"] for t in loop.t])
    assert loop.untrusted == 0
    assert np.abs(loop.q - goals)[40:].max() < 0.25
    assert np.abs(loop.qd).max() < 3.0 * 1.02
    assert np.abs(loop.tau).max() <= 25.0


MENAGERIE = os.environ.get("COLLOC_MENAGERIE", "")  # a copy of google-deepmind/mujoco_menagerie


@pytest.mark.skipif(not MENAGERIE, reason="needs mujoco_menagerie in COLLOC_MENAGERIE")
def test_the_panda_of_the_menagerie_follows_a_target_within_limits():
    mujoco = pytest.importorskip("mujoco")
    file = Path(MENAGERIE) / "franka_emika_panda" / "panda_nohand.xml"
    home, torque = np.array([0, -0.4, 0, -2.2, 0, 1.8, 0.8]), np.array([87.0] * 4 + [12.0] * 3)
    turns = 2 * np.pi / np.array([2, 3, 4, 2.5, 3.5, 4.5, 5])
    limits = co.bounds(q=(home - 0.38, home + 0.38), qd=(-1.2, 1.2), tau=(-torque, torque))

    def cost(now):
        away = now.q - now.goal - now.t * now.pace
        return 50 * ca.sumsqr(away) + 0.1 * ca.sumsqr(now.qd) + 1e-3 * ca.sumsqr(now.tau)

    def target(t):
        return {"goal": home + 0.4 * np.sin(turns * t), "pace": 0.4 * turns * np.cos(turns * t)}

    parameters = [co.Parameter("goal", home), co.Parameter("pace", np.zeros(7))]
    arm, start = co.formats.from_mjcf(file).model, co.initial(q=home, qd=0.0)
    follow = co.Problem(arm, 0.5, co.integral(cost), [start, limits], parameters=parameters)
    model = mujoco.MjModel.from_xml_path(str(file))
    model.actuator_gainprm[:, 0], model.actuator_biasprm[:] = 1.0, 0.0  # motors in place of servos
    model.actuator_ctrlrange[:] = np.column_stack([-torque, torque])
    data = mujoco.MjData(model)

    def plant(q, qd, tau, dt):
        model.opt.timestep = dt
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, qd, tau
        mujoco.mj_step(model, data)
        return data.qpos, data.qvel

    options = {"plant": plant, "parameters": target, "noise": (1e-4, 1e-3), "delay": 0.002}
    loop = co.control.closed_loop(
        co.control.receding(follow, co.BSpline(20), tick=0.01), 10.0, q=home, qd=0.0, **options
    )
    goals = np.array([target(t)["goal"] for t in loop.t])
    assert np.median(np.abs(loop.q - np.clip(goals, home - 0.38, home + 0.38)), axis=0).max() < 0.02
    assert np.abs(loop.q - home).max() < 0.38 * 1.01
    assert np.abs(loop.qd).max() < 1.2 * 1.01
    assert (np.abs(loop.tau) <= torque).all()


def test_a_delay_is_kept_whatever_the_substeps():
    calls: list[tuple[float, float]] = []

    def plant(q, qd, tau, dt):
        calls.append((tau[0], dt))
        q += dt * qd  # in place, which must not change what is recorded
        return q, qd

    for delay in (0.0001, 0.0031, 0.0185, 0.02):
        calls.clear()
        loop = co.control.closed_loop(fresh(), 0.06, q=0.0, qd=0.0, plant=plant, delay=delay, substeps=3)
        first = loop.ticks[0].tau[0]
        assert sum(dt for tau, dt in calls if tau == first) == pytest.approx(0.02 + delay, rel=1e-12)
        assert sum(dt for _, dt in calls) == pytest.approx(0.06, rel=1e-12)
        assert (loop.q[0] == 0).all()


def test_a_loop_without_all_that_acts_is_refused():
    wind = co.Load("elbow", force=(0.0, -5.0, 0.0))
    blown = co.Problem(ARM, 0.6, NEAR, [co.initial(q=0.0, qd=0.0), LIMITS], parameters=[GOAL], loads=[wind])
    controller = co.control.receding(blown, co.BSpline(10), tick=0.02)
    for plant in (None, ARM):
        with pytest.raises(co.InputError, match=r"plant must be a function of .*, as no model has the load on 'elbow'"):
            co.control.closed_loop(controller, 0.1, q=0.0, qd=0.0, plant=plant)
    system = co.control.discretise(ARM, 0.002, loads=[wind])

    def windy(q, qd, tau, dt):
        after = system.step(0, np.append(q, qd), tau)
        return after[:2], after[2:]

    at_once, late = (co.control.closed_loop(controller, 0.4, q=0.0, qd=0.0, plant=windy, delay=d) for d in (0.0, 0.01))
    np.testing.assert_allclose(late.q, at_once.q, atol=0.02)
    chain = four_bar()
    stated = [co.initial(q={"crank": 1.0}, qd={"crank": 0.0}), co.bounds(tau={"crank": (-6.0, 6.0)})]
    still = co.integral(lambda now: 1e-2 * ca.sumsqr(now.tau) + (now.q[0] - 1.6) ** 2)
    crank = co.Problem(chain.model, 0.6, still, stated, parts=[co.loops.IndependentJoints(chain)])
    with pytest.raises(co.InputError, match="as no model has closed loops"):
        co.control.closed_loop(
            co.control.receding(crank, co.BSpline(6), tick=0.02), 0.1, q=co.loops.assemble(chain, [1.0]), qd=0.0
        )


def test_wrong_loops_are_named():
    renamed = co.Model([co.Body(name, co.revolute(), mass=1.0) for name in ("elbow", "shoulder")])
    wrong: Any = (
        ({"plant": renamed}, "plant must have the 2 joints of the controller's model, shoulder, elbow; got elbow, sho"),
        ({"plant": lambda q, qd, tau, dt: q}, r"q of the plant must have shape \(2,\), got shape \(1,\)"),
        ({"plant": lambda q, qd, tau, dt: None}, r"a plant's answer must be \(q, qd\), got None"),
        ({"plant": lambda q, qd, tau, dt: (q, [0.0])}, r"qd of the plant must have shape \(2,\)"),
        ({"parameters": lambda t: [1.0, 2.0]}, "values of the function parameters must be a mapping"),
        ({"parameters": lambda t: {"q": 0.0}}, "parameters must return values by the names of parameters, got 'q'"),
        ({"noise": (-1e-3, 0.0)}, "noise must not be negative"),
        ({"noise": 1e-3}, r"noise must be \(of positions, of velocities\), got 0.001"),
    )
    for options, message in wrong:
        with pytest.raises(co.InputError, match=message):
            co.control.closed_loop(fresh(), 0.1, q=0.0, qd=0.0, **options)
    top = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)))
    still = co.integral(lambda now: ca.sumsqr(now.tau) + ca.sumsqr(now.qd))
    spun = co.Problem(top, 0.5, still, [co.initial(q=(1.0, 0.0, 0.0, 0.0), qd=0.0)])
    with pytest.raises(co.InputError, match="q must have a quaternion of length one"):
        co.control.closed_loop(co.control.receding(spun, co.BSpline(5), tick=0.02), 0.1, q=0.0, qd=0.0)
    with pytest.raises(co.InputError, match="seed must be"):
        co.control.closed_loop(fresh(), 1.0, q=0.0, qd=0.0, seed=-1)
    with pytest.raises(co.InputError, match=r"delay must lie in 0 to one tick, 0.02 s, got 0.03 s"):
        co.control.closed_loop(fresh(), 1.0, q=0.0, qd=0.0, delay=0.03)
    with pytest.raises(co.InputError, match="plant must have the 2 joints"):
        co.control.closed_loop(fresh(), 1.0, q=0.0, qd=0.0, plant=co.Model([co.Body("rod", co.revolute(), mass=1.0)]))


def motor_problem(q=0.0, qd=0.0, motor=0.0):
    lag = co.State("motor", rate=lambda now: (now.command - now.motor) / 0.05, lower=-15, upper=15)
    command = co.Unknown("command", lower=-10.0, upper=10.0)
    rod = co.Model([co.Body("rod", co.revolute(), mass=1.0, com=(0.5, 0, 0))], gravity=(0, -9.81, 0))
    near = co.integral(lambda now: 1e-2 * now.command**2 + (now.q[0] - 1.0) ** 2)
    start = co.initial(q=q, qd=qd, states={"motor": motor})
    follows = co.path(lambda now: now.tau - now.motor, equals=0.0)
    return co.Problem(rod, 0.6, near, [start, follows], unknowns=[lag, command])


def test_states_and_signals_are_those_of_ipopt():
    controller = co.control.receding(motor_problem(), co.Radau(12), tick=0.02, steps=12)
    for q, qd, motor in ((0.3, 1.0, 2.0), (1.2, -2.0, -3.0)):
        tick, other = controller([q], [qd], motor=motor), co.solve(motor_problem(q, qd, motor), co.Radau(12))
        assert tick.trusted, tick.message
        assert tick.cost == pytest.approx(other.cost, rel=1e-5)
        np.testing.assert_allclose(tick.plan.at(0.3).motor, other.at(0.3).motor, atol=1e-3)
        assert tick.gains.shape == (1, 3)


def test_a_start_that_is_not_stated_is_within_bounds():
    model, six = arm26()
    pulling = co.muscles.Muscles(model, six, reserves={"shoulder": 20.0, "elbow": 5.0})
    near = co.integral(lambda now: ca.sumsqr(now.activation) + 10 * ca.sumsqr(now.reserve) + 30 * (now.q[1] - 1) ** 2)
    bend = co.Problem(model, 0.3, near, [co.initial(q=(0.0, 0.9), qd=0.0)], parts=[pulling])
    tick = co.control.receding(bend, co.Radau(6), tick=0.01)((0.0, 0.9), 0.0)  # activations are at least 0.01
    assert tick.trusted, tick.message
    assert (tick.parameters[4:] >= 0.01).all()


def test_a_state_that_is_not_measured_is_that_of_the_plan():
    controller = co.control.receding(motor_problem(), co.Radau(12), tick=0.02, steps=12)
    first = controller([0.3], [1.0], t=0.0, motor=2.0)
    second, third = (controller([0.3], [1.0], t=t) for t in (0.02, 0.06))
    for before, after, passed in ((first, second, 0.02), (second, third, 0.04)):
        planned = float(np.ravel(before.plan.at(passed).motor)[0])
        assert after.parameters[-1] == pytest.approx(planned, abs=1e-9)
        assert abs(planned - before.parameters[-1]) > 0.05


def test_a_joint_without_a_motor_stays_without():
    cart = cart_pole()
    near = co.integral(lambda now: 1e-2 * now.tau[0] ** 2 + now.q[0] ** 2 + 10 * (now.q[1] - np.pi) ** 2)
    passive = co.bounds(tau={"pole": (0.0, 0.0), "cart": (-30.0, 30.0)})

    def upright(q, qd):
        return co.Problem(cart, 1.0, near, [co.initial(q=q, qd=qd), passive])

    controller = co.control.receding(upright((0, np.pi), (0, 0)), co.Radau(12), tick=0.02, steps=12)
    tick, other = controller((0.3, 2.7), (0.0, 1.0)), co.solve(upright((0.3, 2.7), (0.0, 1.0)), co.Radau(12))
    assert tick.trusted, tick.message
    assert tick.cost == pytest.approx(other.cost, rel=1e-5)
    assert tick.tau[1] == 0.0
    assert tick.tau[0] == pytest.approx(float(other.at(0.01).tau[0]), abs=0.02)


def test_a_contact_schedule_is_a_parameter():
    """A body that the ground pushes during every other 0.2 s, as its schedule says."""
    push, phase = co.Unknown("push", lower=0.0, upper=60.0), co.Parameter("phase", 0.0)
    body = co.Model([co.Body("up", co.prismatic((0, 1, 0)), mass=1.0)], gravity=(0, -9.81, 0))

    def stance(now):
        return 0.5 + 0.5 * ca.tanh(10 * ca.sin(2 * np.pi * (now.t + now.phase) / 0.4))

    def hop(value):
        near = co.integral(lambda now: 100 * (now.q[0] - 1.0) ** 2 + 1e-3 * now.push**2)
        on_ground = co.path(lambda now: now.push - 60.0 * stance(now), upper=0.0, scale=60.0)
        load = co.Load("up", force=ca.vertcat(0, push.symbol, 0))
        rows = [co.initial(q=1.0, qd=0.0), co.bounds(tau=(0.0, 0.0)), on_ground]
        parameter = co.Parameter("phase", value) if value else phase
        return co.Problem(body, 0.8, near, rows, unknowns=[push], parameters=[parameter], loads=[load])

    controller = co.control.receding(hop(0.0), co.Radau(20), tick=0.02, steps=15)
    for value in (0.07, 0.21):
        tick, other = controller([1.0], [0.0], phase=value), co.solve(hop(value), co.Radau(20))
        assert tick.trusted, tick.message
        nlp = co.transcribe(hop(value), co.Radau(20))  # without the nodes that `solve` adds
        end = co.Ipopt().prepare(nlp)(co.solver.Start(other.x), other.parameters)
        assert tick.cost == pytest.approx(float(nlp.f(end.x, other.parameters)), rel=1e-4)
        aloft = (0.3 - value) % 0.4  # the middle of the time without ground
        assert float(tick.plan.at(aloft).push[0]) < 0.1
