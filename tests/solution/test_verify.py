"""Forward simulation of solutions: by SciPy and Pinocchio, by closed forms, and what is said about it."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import KroghInterpolator

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.models.two_link import two_link
from colloc.solution.as_guess import trajectory_of
from colloc.solution.simulation import growth, simulate
from tests.support.problems import effort, everything
from tests.support.random_trees import pin, pinocchio_tree

DOWN, UP = [-np.pi / 2, 0], [np.pi / 2, 0]


def swing(model: co.Model, duration: float, curve, ends=(DOWN, UP), **limits) -> co.Solution:
    """From rest to rest by the least squared torque."""
    start, goal = ends
    stated = [co.initial(q=start, qd=0), co.final(q=goal, qd=0), *([co.bounds(**limits)] if limits else [])]
    problem = co.Problem(model, duration, co.integral(effort), stated)
    return co.solve(problem, curve, progress=False, plan=[co.refinement.Solve(tol=1e6)])


def own_torques(solution: co.Solution) -> list[Callable[[float], np.ndarray]]:
    """The solution's torques on every interval, as polynomials through 25 values inside it."""
    edges = solution.nlp.grid.breakpoints * solution.duration
    inside = (1 - np.cos(np.pi * (np.arange(25) + 0.5) / 25)) / 2
    times = [a + (b - a) * inside for a, b in pairwise(edges)]
    return [KroghInterpolator(t, solution.at(t).tau) for t in times]


def fly(solution: co.Solution, torques, state: np.ndarray, first: int, last: int) -> np.ndarray:
    """States at the ends of intervals by DOP853 on Pinocchio's articulated bodies, from a state at the first one's."""
    edges, n = solution.nlp.grid.breakpoints * solution.duration, solution.problem.model.n
    tree = pinocchio_tree(solution.problem.model)
    data = tree.model.createData()
    found = []
    for k in range(first, last):

        def rate(t: float, x: np.ndarray, torque=torques[k]) -> np.ndarray:
            given = (tree.into(part) for part in (x[:n], x[n:], torque(t)))
            return np.append(x[n:], tree.back(pin.aba(tree.model, data, *given)))

        state = solve_ivp(rate, edges[k : k + 2], state, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        found.append(state)
    return np.array(found)


def states(solution: co.Solution) -> np.ndarray:
    """The predicted states at the ends of all intervals."""
    at = solution.at(solution.nlp.grid.breakpoints * solution.duration)
    return np.hstack([at.q, at.qd])


def test_an_unstable_motion_raises_no_alarm():
    """Swinging up amplifies errors 10^8-fold; of the solution's own there are none, as SciPy and Pinocchio confirm."""
    solution = swing(planar_chain(2), 3.0, co.BSpline(12))
    checks = co.verify(solution)
    assert checks.local_errors.shape == (12, 2)
    assert checks.local_error < 1e-12
    assert checks.forward_error < 1e-6
    assert 1e7 < checks.growth < 1e10
    assert "errors grow up to 1.9e+08-fold along this motion" in repr(checks)
    assert "judge by the intervals" not in repr(checks)
    expected, torques = states(solution), own_torques(solution)
    for k in range(12):
        assert fly(solution, torques, expected[k], k, k + 1)[0] == pytest.approx(expected[k + 1], abs=1e-9)


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
def test_errors_of_a_coarse_motion_are_those_that_scipy_and_pinocchio_find():
    """An elbow that nothing drives obeys its equation at a few points only: a free elbow goes elsewhere."""
    solution = swing(planar_chain(2), 1.5, co.HermiteSimpson(8), tau={"link2": (0, 0)})
    checks = co.verify(solution)
    expected, torques = states(solution), own_torques(solution)
    torques = [lambda t, own=own: own(t) * [1, 0] for own in torques]
    local = [fly(solution, torques, expected[k], k, k + 1)[0, :2] - expected[k + 1, :2] for k in range(8)]
    whole = np.abs(fly(solution, torques, expected[0], 0, 8) - expected[1:])[:, :2]
    assert checks.local_error > 1e-4
    assert checks.local_errors == pytest.approx(np.abs(local), rel=1e-6, abs=1e-9)
    assert checks.joint_errors == pytest.approx(whole.max(axis=0), rel=1e-6)
    assert checks.terminal_miss == pytest.approx(whole[-1].max(), rel=1e-6)
    assert f"in interval {1 + checks.local_errors.max(axis=1).argmax()} of 8" in repr(checks)


def test_growth_is_that_of_disturbed_simulations():
    solution = swing(two_link(9.81), 1.0, co.BSpline(5), ((0, -1), (1, 0.5)))
    expected, torques = states(solution), own_torques(solution)
    found = 1.0
    for first in range(5):
        ends = [
            fly(solution, torques, expected[first] + sign * 1e-5 * np.eye(4)[k], first, 5)
            for k in range(4)
            for sign in (1, -1)
        ]
        slopes = (np.array(ends[::2]) - np.array(ends[1::2]))[:, :, :2] / 2e-5  # (disturbed, interval, joint)
        found = max(found, np.abs(slopes).sum(axis=0).max())
    assert growth(solution) == pytest.approx(found, rel=5e-3)


def test_growth_of_a_free_mass_and_of_a_pendulum_held_upright():
    mass = co.Model([co.Body("mass", co.prismatic((1, 0, 0)), mass=2.0)], gravity=(0, 0, 0))
    assert growth(swing(mass, 0.7, co.BSpline(6), (0.0, 1.0))) == pytest.approx(2, rel=1e-9)
    rod = planar_chain(1, length=0.4)
    w, T = np.sqrt(1.5 * 9.81 / 0.4), 1.2
    upright = swing(rod, T, co.Radau(20), (np.pi / 2, np.pi / 2))
    assert growth(upright) == pytest.approx(np.cosh(w * T) + np.sinh(w * T) / (w * T), rel=1e-3)


def pushed(load: Callable[[co.problem.Instant], ca.SX], acceleration: float) -> co.Solution:
    """A mass that nothing drives on a curve q = 1 + a t^2 / 2 that it does not follow by itself."""
    mass = co.Model([co.Body("mass", co.prismatic((1, 0, 0)), mass=2.0)], gravity=(0, 0, 0))
    problem = co.Problem(
        mass,
        1.0,
        co.integral(lambda now: ca.sumsqr(now.qdd)),
        loads=[co.Load("mass", force=lambda now: ca.vertcat(load(now), 0, 0))],
    )
    free = co.solve(problem, co.BSpline(4), progress=False)
    idle = co.transcribe(replace(problem, subject_to=[co.bounds(tau=(0, 0))]), free.curve)
    bent = replace(trajectory_of(free, problem), q=lambda s: 1 + acceleration / 2 * s[:, None] ** 2)
    return replace(free, program=idle, outcome=replace(free.outcome, x=idle.grid.interpolate(bent)))


def test_joints_that_nothing_drives_are_given_no_torque():
    """At rest stays at rest: half of a T^2 in the whole, half of a (T / 4)^2 on every quarter."""
    deviations = simulate(pushed(lambda now: ca.SX(0), 0.8), 1e-12)
    assert deviations.whole[:, 0] == pytest.approx(0.4 * np.arange(0.25, 1.1, 0.25) ** 2, rel=1e-9)
    assert deviations.local[:, 0] == pytest.approx(np.full(4, 0.4 / 16), rel=1e-9)


def test_a_simulation_that_runs_away_ends_in_infinity():
    """q'' = 32 q^3 from rest at 1 goes to infinity within T = integral of dq / (4 sqrt(q^4 - 1)) = 0.328."""
    deviations = simulate(pushed(lambda now: 64 * now.q[0] ** 3, 0.0), 1e-10)
    assert np.isfinite(deviations.whole[0]).all()
    assert np.isinf(deviations.whole[1:]).all()
    assert np.isfinite(deviations.local).all()


@pytest.mark.parametrize("degree", [3, 5])
def test_loads_signals_and_unknown_constants_are_part_of_the_simulation(degree: int):
    solution = co.solve(everything(), co.BSpline(8, degree=degree), progress=False, plan=[co.refinement.Solve(tol=1e6)])
    assert co.verify(solution).forward_error < 1e-10


def test_a_problem_without_a_mechanism_has_nothing_to_simulate():
    line = co.integral(lambda now: (now.u - now.t) ** 2)
    found = co.solve(co.Problem(None, 1.0, line, unknowns=[co.Unknown("u")]), co.BSpline(8), progress=False)  # pyright: ignore[reportArgumentType]
    check = co.verify(found)
    assert (check.forward_error, check.local_error, check.growth) == (0.0, 0.0, 1.0)
    assert check.kkt.stationarity < 1e-8
