"""The spring-driven pendulum: its weight, and the speeds that a slow motor can give it in closed form."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import colloc as co
from colloc.models.spring_pendulum import INERTIA, LENGTH, MASS, Drive, spring_pendulum, sprung
from colloc.studies.arms import spring_pendulum as spring_pendulum_study


def test_torque_is_that_of_a_rod():
    angles = np.linspace(-3, 3, 7)[:, None]
    tau = co.Evaluator(spring_pendulum()).torque(angles, 5.0 + 0 * angles, 2.0 + 0 * angles)
    expected = MASS * LENGTH**2 / 3 * 2.0 + MASS * 9.81 * LENGTH / 2 * np.sin(angles)
    np.testing.assert_allclose(tau, expected, rtol=1e-13)


def test_a_motor_that_runs_swings_the_pendulum_about_its_speed():
    """Without gravity, from rest, at constant speed of the motor: qd = speed (1 - cos wt)."""
    drive, T = Drive(), 0.37
    unknowns, torque = sprung(drive)
    steady = co.path(lambda now: now.speed - drive.speed, equals=0.0, name="full speed")
    start = co.initial(q=0.0, qd=0.0, states={"motor": 0.0})
    free = [co.Unknown("speed"), unknowns[1]]
    problem = co.Problem(spring_pendulum(0.0), T, co.final_cost(lambda now: now.q), [start, *torque, steady], free)
    solution = co.solve(problem, co.Radau(20, 5), compile=False, progress=False)
    assert solution.success
    w, t = np.sqrt(drive.stiffness / INERTIA), np.linspace(0, T, 50)
    assert drive.frequency == pytest.approx(w, rel=1e-15)
    sample = solution.at(t)
    np.testing.assert_allclose(sample.qd[:, 0], drive.speed * (1 - np.cos(w * t)), rtol=0, atol=1e-6)
    np.testing.assert_allclose(sample.motor[:, 0], drive.speed * t, rtol=0, atol=1e-9)
    assert np.abs(co.verify(solution).joint_errors).max() < 1e-6


@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_the_closed_form_is_what_a_motor_in_step_with_the_swing_gives(gravity):
    """The linear pendulum simulated under the switching law, in which the motor's sign is that of sin W (T - t)."""
    drive = spring_pendulum_study.DRIVE
    W = np.sqrt((drive.stiffness + MASS * gravity * LENGTH / 2) / INERTIA)
    for halves in (0.3, 1.0, 1.7, 4.0):
        T = halves * np.pi / np.sqrt(drive.stiffness / INERTIA)
        x, switches = np.zeros(3), [T - k * np.pi / W for k in range(6) if k * np.pi / W < T]
        for begin, end in pairwise([0.0, *reversed(switches)]):
            speed = drive.speed * np.sign(np.sin(W * (T - (begin + end) / 2)))

            def rate(_, x, speed=speed):
                return [x[1], drive.stiffness / INERTIA * x[2] - W**2 * x[0], speed]

            x = solve_ivp(rate, (begin, end), x, rtol=1e-10, atol=1e-12).y[:, -1]
        expected = spring_pendulum_study.closed_form(halves, gravity)
        assert x[1] / drive.speed == pytest.approx(expected, rel=1e-7)


def test_the_fastest_swing_is_what_its_motor_makes_of_it():
    """An integration that is handed the motor's speed alone comes to the speed and the angle of the answer."""
    drive = spring_pendulum_study.DRIVE
    problem = spring_pendulum_study.problem(2.0, 9.81)
    solution = co.solve(problem, co.HermiteSimpson(40), tol=1e-4, compile=False, progress=False)
    ends = solution.nlp.grid.basis.breakpoints * solution.duration  # the motor turns round at some of them
    weight = MASS * 9.81 * LENGTH / 2
    state = np.zeros(3)
    for begin, end in pairwise(ends):
        inside = np.linspace(begin, end, 402)[1:-1]
        speed = np.clip(solution.at(inside).speed[:, 0], -drive.speed, drive.speed)

        def rate(now, x, inside=inside, speed=speed):
            torque = drive.stiffness * (x[2] - x[0]) - weight * np.sin(x[0])
            return [x[1], torque / INERTIA, np.interp(now, inside, speed)]

        state = solve_ivp(rate, (begin, end), state, max_step=1e-3, rtol=1e-8, atol=1e-10).y[:, -1]
    assert state[1] == pytest.approx(-solution.cost, rel=1e-5)
    assert state[0] == pytest.approx(solution.q[-1, 0], abs=1e-4)


def test_the_study_in_its_quick_form(tmp_path):
    words = ["--quick", "--figure", str(tmp_path / "figure.png"), "--animation", str(tmp_path / "film.gif")]
    numbers = spring_pendulum_study.main(words)
    assert numbers["no_gravity.off_closed_form"] < 1e-5
    assert numbers["gravity.off_closed_form"] < 1e-2
    assert numbers["terminal_miss"] < 1e-6
    assert numbers["no_gravity.halves_2.gain"] == pytest.approx(4, rel=1e-5)
    assert numbers["gravity.halves_2.gain"] == pytest.approx(3.651, rel=1e-3)
    assert all(value == 1 for key, value in numbers.items() if key.endswith("solved"))
    assert (tmp_path / "figure.png").stat().st_size > 20_000
