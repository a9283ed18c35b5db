"""A receding horizon over a repeated schedule of phases."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.solution.first_plan import first_plan

ARM, TICK, CURVE = two_link(9.81), 0.02, co.BSpline(5)
REACH = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q - ca.vertcat(1.0, 0.5)))
CLOCK = co.integral(lambda now: 0.3 * now.q[0] * now.t / now.duration, name="clock")


def phase(limit, duration, more=()):
    return co.Problem(ARM, duration, REACH + CLOCK, [co.bounds(tau=(-limit, limit), qd=(-3.0, 3.0)), *more])


def cycle():
    start = co.initial(q=0.0, qd=0.0)
    return co.Phases({"strong": phase(40.0, 0.2, [start]), "weak": phase(25.0, 0.3)})


@pytest.fixture(scope="module")
def controller():
    return co.control.receding(cycle(), CURVE, tick=TICK, steps=10)


def test_plans_of_a_cycle_are_those_of_ipopt_wherever_it_begins(controller):
    x = np.zeros(4)
    plant, schedule = co.control.discretise(ARM, TICK / 10), controller.schedule
    for count in range(30):
        tick = controller(x[:2], x[2:], t=TICK * count)
        assert tick.trusted, tick.message
        assert schedule is not None
        k, gone = schedule.place(count)
        assert list(tick.plan.phases)[:2] == (["strong", "weak"] if k == 0 else ["weak", "strong"])
        rest = (0.2 if k == 0 else 0.3) - TICK * gone
        assert [phase.duration for phase in tick.plan.phases.values()][::2] == pytest.approx([rest, TICK * (gone + 1)])
        if count in (0, 13):
            for t in (0.0, 0.11, 0.31, 0.5):
                now, (q, qd) = tick.plan.at(t), tick.state(t)
                np.testing.assert_allclose(q, now.q, atol=1e-12)
                np.testing.assert_allclose(qd, now.qd, atol=1e-10)
        if count in (0, 11, 24, 28):  # limits are prices: elsewhere a velocity is above its own at the start
            horizon = schedule.horizon(k, x)
            durations = dict(zip(horizon.phases, schedule.durations(k, gone), strict=True))
            other = first_plan(horizon, CURVE, None, {"elapsed_of_phase": TICK * gone}, durations)
            assert tick.cost == pytest.approx(other.cost, rel=1e-5)
        for _ in range(10):
            x = plant.step(0, x, tick.tau)


def test_one_step_a_tick_follows_the_converged_plans():
    quick, exact = (co.control.receding(cycle(), CURVE, tick=TICK, steps=n) for n in (1, 10))
    plant, x = co.control.discretise(ARM, TICK / 10), np.zeros(4)
    for count in range(27):
        tick, other = (controller(x[:2], x[2:], t=TICK * count) for controller in (quick, exact))
        assert tick.trusted, tick.message
        np.testing.assert_allclose(tick.tau, other.tau, atol=0.05)
        for _ in range(10):
            x = plant.step(0, x, tick.tau)


def test_a_loop_of_phases_runs_on_a_plant_of_its_own_with_delay(controller):
    system = co.control.discretise(ARM, TICK / 10)

    def plant(q, qd, tau, dt):
        end = system.step(0, np.append(q, qd), tau)
        return end[:2], end[2:]

    options = {"q": 0.0, "qd": 0.0, "plant": plant}
    at_once, late = (
        co.control.closed_loop(co.control.receding(cycle(), CURVE, tick=TICK), 0.6, delay=d, **options)
        for d in (0, 0.008)
    )
    assert at_once.untrusted == late.untrusted == 0
    np.testing.assert_allclose(late.q, at_once.q, atol=0.03)
    with pytest.raises(co.InputError, match="plant must be a function of"):
        co.control.closed_loop(controller, 0.6, q=0.0, qd=0.0)


def test_random_states_raise_nothing_and_plans_come_back():
    controller, rng = co.control.receding(cycle(), CURVE, tick=TICK), np.random.default_rng(0)
    for _ in range(100):
        values = 10.0 ** rng.uniform(-2, 3) * rng.standard_normal(4)
        if rng.uniform() < 0.1:
            values[rng.integers(4)] = np.nan
        tick = controller(values[:2], values[2:])
        assert np.isfinite(tick.tau).all()
        assert np.abs(tick.tau).max() <= 40.0
        assert tick.trusted == (not tick.message)
    for _ in range(8):
        tick = controller((0.3, 0.2), (0.0, 0.0))
    assert tick.trusted, tick.message
    later = controller((0.3, 0.2), (0.0, 0.0), t=50.0)  # after many cycles without a call
    assert later.trusted, later.message


def ball(clearance=0.0):
    """A ball that is thrown up and falls, with an impulse of the ground at the end of every phase."""
    model = co.Model(
        [co.Body("ball", co.prismatic((0, 1, 0)), mass=1.0)],
        gravity=(0, -9.81, 0),
        markers={"low": ("ball", (0, 0, 0))},
    )
    flight = co.Problem(
        model, 0.4, co.integral(lambda now: now.tau[0] ** 2),
        [co.path(lambda now: now.q[0], lower=clearance), co.at(1.0, lambda now: now.q[0], equals=0.0)],
    )  # fmt: skip
    start = co.initial(q=0.0, qd=1.962)
    first = co.Problem(model, 0.4, flight.minimize, [*flight.subject_to, start])
    return co.Phases(
        {"one": first, "two": flight},
        [
            co.impact("one", "two", {"low": "y"}, restitution=1.0, impulse="up"),
            co.impact("two", "one", {"low": "y"}, restitution=1.0, impulse="again"),
        ],
    )


def test_impacts_are_passed_as_the_horizon_moves():
    controller = co.control.receding(ball(), co.BSpline(4), tick=TICK, steps=3)
    for count in range(90):
        t = TICK * (count % 20)
        tick = controller([1.962 * t - 4.905 * t**2], [1.962 - 9.81 * t], t=TICK * count)
        assert tick.trusted, tick.message
        assert abs(tick.tau[0]) < 0.01  # N; a fall needs no force
    impulses = [value for phase in tick.plan.phases.values() for value in phase.constants.values()]
    np.testing.assert_allclose(np.ravel(impulses), 2 * 1.962, rtol=1e-4)


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ({"a": phase(40.0, co.Free(0.1, 0.3))}, "phase 'a' of a schedule must have a fixed duration"),
        ({"a": phase(40.0, 0.05)}, "phase 'a' lasts 0.05 s, which is not a whole number of ticks of 0.02 s"),
        ({"a": phase(40.0, 0.2, [co.at(0.5, lambda now: now.q, upper=1.0)])}, "divide the phase"),
    ],
)
def test_phases_that_cannot_be_repeated_are_named(phases, message):
    with pytest.raises(co.InputError, match=message):
        co.control.receding(co.Phases(phases), CURVE, tick=TICK)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"minimize": co.final_cost(lambda phases: phases["weak"].end.q[0], name="height")}, "cost 'height' of all"),
        ({"duration": 0.5}, "the duration of a schedule is the sum of those of its phases"),
        ({"minimize": [co.duration(), co.duration()]}, "costs in order of importance"),
    ],
)
def test_costs_and_durations_of_all_phases_are_refused(more, message):
    with pytest.raises(co.InputError, match=message):
        co.control.receding(co.Phases(cycle().phases, **more), CURVE, tick=TICK)


def test_a_later_cost_of_one_phase_is_refused():
    costs: Any = [REACH, CLOCK]
    first = co.Problem(ARM, 0.2, costs, [co.initial(q=0.0, qd=0.0)])
    with pytest.raises(co.InputError, match="costs in order of importance"):
        co.control.receding(co.Phases({"first": first}), CURVE, tick=TICK)


def test_a_schedule_begins_at_zero(controller):
    controller.restart()
    with pytest.raises(co.InputError, match="t must not be negative, as the schedule begins at zero, got -1 s"):
        controller((0.0, 0.0), (0.0, 0.0), t=-1.0)
    first = controller((0.0, 0.0), (0.0, 0.0), t=0.0)
    controller((0.1, 0.0), (0.0, 0.0), t=0.34)
    controller.restart()
    np.testing.assert_array_equal(controller((0.0, 0.0), (0.0, 0.0), t=0.0).x, first.x)
