"""The fastest bend of an elbow: bursts as time optima have them, and the motion by an integrator that is not ours."""

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import colloc as co
from colloc.studies.arms.elbow import END, INTERVALS, TOLERANCE, bend, main
from tests.studies.quick import numbers_of

# De Groote et al. 2016, with the constants of OpenSim 4.6.
BELLS = [(0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465),
         (0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188),
         (0.1, 1.0, 0.353553390593274, 0.0)]  # fmt: skip
VELOCITY = (-0.3211346127989808, -8.149, -0.374, 0.8825327733249912)


def test_the_study_writes_what_it_returns(tmp_path):
    numbers = numbers_of(main, tmp_path)
    assert numbers["rigid.duration"] == pytest.approx(0.12204, rel=1e-3)
    assert 0 < numbers["rigid.flexors"] < numbers["rigid.duration"] / 2 < numbers["rigid.extensors"]


@pytest.fixture(scope="module")
def fastest() -> co.Solution:
    solution = co.solve(bend().problem, co.Radau(INTERVALS), tol=TOLERANCE, progress=False)
    assert solution.success
    return solution


def test_excitations_are_at_their_bounds(fastest: co.Solution):
    excitation = fastest.at(np.linspace(0.0, fastest.duration, 1001)).excitation
    between = (excitation > 0.02) & (excitation < 0.99)
    assert between.mean() < 0.02


def test_the_arm_moves_so_by_another_integrator(fastest: co.Solution):
    """Activations, muscles and the arm, with formulas written here, from the start to the end."""
    made = bend()
    muscles = made.muscles.muscles
    evaluator = co.Evaluator(fastest.problem.model)
    rise, fall = muscles[0].activation_time, muscles[0].deactivation_time
    symbols = ca.SX.sym("q", 2)
    paths = co.muscles.path_lengths(fastest.problem.model, muscles, symbols)
    geometry = ca.Function("geometry", [symbols], [paths, ca.jacobian(paths, symbols)])

    def muscle_torque(q: np.ndarray, qd: np.ndarray, a: np.ndarray) -> np.ndarray:
        lengths, slopes = (value.full() for value in geometry(q))
        torque = np.zeros(2)
        for k, muscle in enumerate(muscles):
            height = muscle.optimal_fiber_length * np.sin(muscle.pennation)
            along = lengths[k, 0] - muscle.tendon_slack_length
            fiber = np.hypot(along, height)
            cosine, speed = along / fiber, slopes[k] @ qd * along / fiber
            x, v = fiber / muscle.optimal_fiber_length, speed / (10 * muscle.optimal_fiber_length)
            active = sum(b1 * np.exp(-0.5 * ((x - b2) / (b3 + b4 * x)) ** 2) for b1, b2, b3, b4 in BELLS)
            e1, e2, e3, e4 = VELOCITY
            faster = e1 * np.log(e2 * v + e3 + np.sqrt((e2 * v + e3) ** 2 + 1)) + e4
            passive = (np.exp(4 * (x - 1) / 0.6) - np.exp(4 * (0.2 - 1) / 0.6)) / (np.exp(4) - np.exp(-4 * 0.8 / 0.6))
            force = muscle.max_isometric_force * (a[k] * active * faster + passive + muscle.damping * v)
            torque -= force * cosine * slopes[k]
        return torque

    def rate(t: float, state: np.ndarray) -> np.ndarray:
        q, qd, a, now = state[:2], state[2:4], state[4:], fastest.at(min(t, fastest.duration))
        e, reserve = now.excitation, 50.0 * np.array([now.reserve.item(), 0.0])
        smooth = np.tanh(10 * (e - a)) / 2
        lag = 0.5 + 1.5 * a
        da = ((smooth + 0.5) / (rise * lag) + lag / fall * (0.5 - smooth)) * (e - a)
        return np.concatenate([qd, evaluator.forward_dynamics(q, qd, muscle_torque(q, qd, a) + reserve), da])

    start = np.concatenate([fastest.at(0.0).q, np.zeros(2), fastest.at(0.0).activation])
    ends = fastest.curve.basis.breakpoints * fastest.duration
    state = start
    for begin, end in pairwise(ends):  # excitations jump between intervals
        state = solve_ivp(rate, (begin, end - 1e-12), state, rtol=1e-6, atol=1e-8).y[:, -1]
    np.testing.assert_allclose(state[:2], END, atol=2e-3)
    np.testing.assert_allclose(state[4:], fastest.at(fastest.duration).activation, atol=1e-2)
