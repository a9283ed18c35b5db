"""Motors with current and gear: a rotor that runs up against its closed form, and the study."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.dc_motor import Motor, driven
from colloc.studies.arms import motor_arm


def test_a_motor_runs_up_as_its_equations_say():
    """A flywheel under a constant voltage: two real exponentials, from the matrix exponential."""
    motor = Motor(gear=10.0, voltage=1e3, current=1e3)
    wheel = co.Model([co.Body("wheel", co.revolute(), mass=1.0, inertia=(0.02, 0.02, 0.02))])
    driven_wheel = driven(wheel, {wheel.joint_names[0]: motor})
    held = co.path(lambda now: now.voltage - 24.0, equals=0.0, name="voltage")
    start = co.initial(q=0.0, qd=0.0, states={"current": 0.0})
    problem = co.Problem(
        driven_wheel.model, 0.3, co.final_cost(lambda now: now.q), [start, held], parts=[driven_wheel.motors]
    )
    solution = co.solve(problem, co.Radau(30, 5), compile=False, progress=False)
    k, turns = motor.torque_per_current, motor.gear**2
    J, b = 0.02 + turns * motor.rotor, turns * motor.friction
    A = np.array([[-b / J, k / J], [-k / motor.inductance, -motor.resistance / motor.inductance]])
    values, vectors = np.linalg.eig(A)
    rest = -np.linalg.solve(A, [0.0, 24.0 / motor.inductance])
    for t in (0.01, 0.1, 0.3):
        exact = rest + (vectors * np.exp(values * t)) @ np.linalg.solve(vectors, -rest)
        sample = solution.at(t)
        np.testing.assert_allclose([sample.qd[0], sample.current[0]], exact.real, rtol=1e-6)


def test_motors_are_slower_than_their_torque_limits_and_hold_theirs():
    problem = motor_arm.problem(80.0)
    solution = co.solve(problem, tol=1e-3, compile=False, progress=False)
    ideal = co.solve(motor_arm.problem(80.0, motors=False), tol=1e-3, compile=False, progress=False)
    assert solution.success
    assert 1.0 < solution.duration / ideal.duration < 1.1
    sample = solution.at(np.linspace(0, solution.duration, 5001))
    assert np.abs(sample.current).max() < 5.0 * (1 + 1e-6)
    assert np.abs(sample.voltage).max() < 48.0 * (1 + 1e-6)
    power = solution.evaluate(lambda now: ca.dot(now.voltage, now.current), sample.t)
    assert power.max() < 2 * 48.0 * 5.0
    assert co.verify(solution).local_error < 1e-3


def test_the_study_of_gears(tmp_path):
    numbers = motor_arm.main(["--quick", "--figure", str(tmp_path / "gears.png")])
    assert numbers["gear_20.motors.solved"] == 1
    assert numbers["gear_20.motors.T"] == pytest.approx(0.40807, rel=1e-3)
    assert numbers["gear_20.torque_limits.T"] < numbers["gear_20.motors.T"] * (1 + 1e-3)
