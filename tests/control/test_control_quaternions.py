"""Unit quaternions in discrete time: steps, derivatives by small turns, iLQR and feedback through every attitude."""

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import colloc as co
from tests.support.random_trees import random_inertia

Scheme = co.control.Scheme
SPREAD = (0.3, 0.2, 0.4)  # kg m2


def body(sequence: str = "quaternion", gravity: Any = (0.0, 0.0, 0.0), com: Any = (0.0, 0.0, 0.0)) -> co.Model:
    return co.Model(co.spherical("top", sequence=sequence, mass=1.0, com=com, inertia=SPREAD), gravity=gravity)


def tree(rng: np.random.Generator) -> co.Model:
    """A floating body with a hinge, and a ball on it."""
    return co.Model(
        [
            *co.floating("base", sequence="quaternion", **random_inertia(rng)),
            co.Body(
                "arm", co.revolute((0.6, 0.0, 0.8), passive=co.Passive(damping=0.3)), "base", **random_inertia(rng)
            ),
            *co.spherical(
                "hand", co.placement((0.1, 0.5, -0.2)), parent="arm", sequence="quaternion", **random_inertia(rng)
            ),
        ],
        gravity=(1.0, -9.0, 2.0),
    )


def random_states(rng: np.random.Generator, model: co.Model, count: int) -> np.ndarray:
    q = model.of_unit_length(rng.normal(size=(count, model.n_q)))
    return np.concatenate([q, rng.normal(size=(count, model.n))], axis=1)


def displaced(model: co.Model, x: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """States from which displacements lead away, by those of the model's joints."""
    q, qd = model.displaced(x[..., : model.n_q], dx[..., : model.n]), x[..., model.n_q :] + dx[..., model.n :]
    return np.concatenate([q, np.broadcast_to(qd, (*q.shape[:-1], model.n))], axis=-1)


def turn(vector: Any) -> np.ndarray:
    """Quaternion of a rotation vector, scalar part first."""
    return np.roll(Rotation.from_rotvec(vector).as_quat(), 1)


def test_differences_of_states_are_scipys_rotation_vectors_and_lead_back():
    rng = np.random.default_rng(0)
    space = co.control.StateSpace.of(tree(rng))
    assert (space.n_x, space.n_dx, space.quaternions) == (22, 20, (3, 8))
    model = tree(rng)
    x, reference = random_states(rng, model, 6), random_states(rng, model, 6)
    dx = space.difference(x, reference)
    for place, of in ((3, 3), (8, 7)):
        a, b = (Rotation.from_quat(np.roll(part[:, place : place + 4], -1, axis=1)) for part in (reference, x))
        assert dx[:, of : of + 3] == pytest.approx((a.inv() * b).as_rotvec(), abs=1e-12)
    assert dx[:, 6] == pytest.approx(x[:, 7] - reference[:, 7])
    back = displaced(model, reference, dx)
    assert np.abs(space.difference(back, x)).max() < 1e-12
    h, slope = 1e-6, space.difference_slope(x, reference)
    for k, direction in enumerate(np.eye(space.n_dx)):
        ends = [space.difference(displaced(model, x, sign * h * direction), reference) for sign in (1, -1)]
        assert slope[:, :, k] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-7)
    negative = x.copy()
    negative[:, 3:7] *= -1
    assert space.difference(negative, reference) == pytest.approx(dx, abs=1e-12)


@pytest.mark.parametrize("scheme", Scheme)
def test_derivatives_of_a_step_are_differences_by_small_turns(scheme: co.control.Scheme):
    rng = np.random.default_rng(1)
    model = tree(rng)
    loads = [
        co.Load("hand", force=lambda now: -3.0 * now.point("hand", (0.1, 0.2, 0.3)).position, point=(0.1, 0.2, 0.3)),
        co.Load("base", moment=lambda now: ca.vertcat(ca.sin(5 * now.t), -0.2 * now.qd[0], 0)),
    ]
    system = co.control.discretise(model, 0.05, scheme=scheme, loads=loads)
    space, x, u, h = system.states, random_states(rng, model, 3), rng.normal(size=(3, model.n)), 1e-5
    A, B = system.linearise(x, u)
    assert A.shape == (3, 20, 20)
    assert B.shape == (3, 20, 10)
    for k in range(3):
        after = system.step(k, x[k], u[k])
        assert np.linalg.norm(after[3:7]) == pytest.approx(1, abs=1e-14)
        for j, direction in enumerate(np.eye(20)):
            ends = [system.step(k, displaced(model, x[k], sign * h * direction), u[k]) for sign in (1, -1)]
            slope = (space.difference(ends[0], after) - space.difference(ends[1], after)) / (2 * h)
            assert A[k, :, j] == pytest.approx(slope, abs=1e-8 * np.abs(A[k]).max())
        for j, direction in enumerate(np.eye(10)):
            ends = [system.step(k, x[k], u[k] + sign * h * direction) for sign in (1, -1)]
            slope = (space.difference(ends[0], after) - space.difference(ends[1], after)) / (2 * h)
            assert B[k, :, j] == pytest.approx(slope, abs=1e-8 * np.abs(B[k]).max())


@pytest.mark.parametrize(("scheme", "order"), [(Scheme.EULER, 1), (Scheme.RUNGE_KUTTA, 4)])
def test_a_tumbling_body_is_that_of_eulers_equations_with_the_order_of_the_scheme(
    scheme: co.control.Scheme, order: int
):
    """Against SciPy's integrator of Euler's equations and of the rotation matrix, which has no quaternion in it."""
    inertia, start = np.diag(SPREAD), np.array([3.0, 0.5, -1.0])

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        R, w = y[:9].reshape(3, 3), y[9:]
        spin = R @ np.cross(np.eye(3), w)
        return np.concatenate([spin.ravel(), np.linalg.solve(inertia, np.cross(inertia @ w, w))])

    exact = solve_ivp(rate, (0, 1), [*np.eye(3).ravel(), *start], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    errors = []
    for steps in (50, 100, 200):
        system = co.control.discretise(body(), 1 / steps, scheme=scheme)
        x, _ = co.control.rollout(system, np.array([1.0, 0, 0, 0, *start]), np.zeros((steps, 3)))
        found = Rotation.from_quat(np.roll(x[-1, :4], -1)).as_matrix()
        errors.append(np.abs(found - exact[:9].reshape(3, 3)).max())
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), order, atol=0.25)


def reorient(start: np.ndarray, goal: np.ndarray, **options: Any) -> co.control.IlqrResult:
    system = co.control.discretise(body(), 0.05)
    rest = np.zeros(3)
    there = co.control.state_cost(np.concatenate([goal, rest]), 1e3, steps=[-1]) + co.control.control_cost(1.0)
    return co.control.ilqr(system, there, np.concatenate([start, rest]), np.zeros((20, 3)), **options)


def test_turning_over_costs_what_a_double_integrator_does():
    """About a principal axis from rest to rest: dt (theta, omega) alone, a linear-quadratic problem in closed form."""
    found = reorient(turn((0, 0, 0)), turn((0, 0, 2.5)))
    assert found.success
    dt, steps, inertia = 0.05, 20, SPREAD[2]
    gain = np.array([[dt**2 / inertia * (steps - k - 0.5), dt / inertia] for k in range(steps)]).T
    gap = np.array([2.5, 0.0])
    u = np.linalg.solve(np.eye(steps) + 1e3 * gain.T @ gain, 1e3 * gain.T @ gap)
    cost = 0.5 * u @ u + 500 * np.sum((gain @ u - gap) ** 2)
    assert found.cost == pytest.approx(cost, rel=1e-5)  # the quaternion's step is of fourth order, not exact
    assert found.u[:, 2] == pytest.approx(u, abs=1e-3)
    assert np.abs(found.u[:, :2]).max() < 1e-9


def test_no_attitude_is_special():
    """The same turn seen from elsewhere, with the other sign of the quaternion too: same torques, same gains."""
    goal = (0.8, -1.9, 1.1)
    here = reorient(turn((0, 0, 0)), turn(goal))
    assert here.success
    assert np.abs(np.linalg.norm(here.x[:, :4], axis=1) - 1).max() < 1e-14
    rng = np.random.default_rng(3)
    for sign in (1.0, -1.0):
        base = Rotation.from_rotvec(rng.normal(size=3))
        ends = [np.roll((base * Rotation.from_rotvec(v)).as_quat(), 1) for v in ((0, 0, 0), goal)]
        there = reorient(ends[0], sign * ends[1])
        assert there.cost == pytest.approx(here.cost, rel=1e-12)
        assert there.u == pytest.approx(here.u, abs=1e-6)
        assert there.gains == pytest.approx(here.gains, abs=1e-4)
    batch = reorient(turn((0, 0, 0)), turn(goal), form=co.control.Form.BATCH)
    assert batch.cost == pytest.approx(here.cost, rel=1e-9)
    assert batch.u == pytest.approx(here.u, abs=1e-4)


def test_an_objective_is_expanded_by_small_turns():
    """Gradient against differences; of a swing that brings a point of a heavy top to a place, too."""
    model, rng = body(gravity=(0.0, 0.0, -9.81), com=(0.0, 0.1, -0.4)), np.random.default_rng(4)
    place = (0.3, 0.0, -0.5)
    reach = co.control.output_cost(model, lambda now: now.point("top", place).position, (0.4, 0.35, -0.2), 1e3)
    pose = co.control.state_cost(random_states(rng, model, 1)[0], np.arange(1.0, 7.0))
    system = co.control.discretise(model, 0.02)
    residuals = co.control.fitted(reach + pose, 2, 7, 3, system.states)
    x, u, h = random_states(rng, model, 3), np.zeros((2, 3)), 1e-6
    expansion = residuals.expand(x, u)
    for k in range(3):
        for j, direction in enumerate(np.eye(6)):
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[k] = displaced(model, x[k], sign * h * direction)
                ends.append(residuals.value(moved, u))
            assert expansion.x[k, j] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6, abs=1e-6)
    swing = co.control.ilqr(system, reach + co.control.control_cost(1e-2), [1, 0, 0, 0, 0, 0, 0], np.zeros((30, 3)))
    assert swing.success
    assert co.Evaluator(model).point("top", place, q=swing.x[-1, :4]).position == pytest.approx(
        (0.4, 0.35, -0.2), abs=0.02
    )


@pytest.fixture(scope="module")
def somersault() -> co.Solution:
    model = body(gravity=(0.0, -9.81, 0.0), com=(0.0, -0.2, 0.1))
    problem = co.Problem(
        model,
        1.0,
        minimize=0.5 * co.integral(lambda now: ca.sumsqr(now.tau)),
        subject_to=[
            co.initial(q=model.neutral, qd=0.0),
            co.final(q=turn((2.0, -1.5, 1.0)), qd=0.0),
        ],
    )
    return co.solve(problem, co.BSpline(20, degree=5))


def test_feedback_brings_a_body_back_to_a_motion_through_many_attitudes(somersault: co.Solution):
    plan = co.control.time_varying_lqr(somersault, steps=200)
    assert plan.x.shape == (201, 7)
    assert plan.gains.shape == (200, 3, 6)
    assert np.linalg.norm(plan.x[:, :4], axis=1) == pytest.approx(1, abs=1e-14)
    still, _ = plan.run(feedback=False)
    assert np.abs(plan.system.states.difference(still, plan.x)).max() < 1e-3
    off = displaced(somersault.problem.model, plan.x[0], np.array([0.2, -0.1, 0.15, 0.3, 0, -0.2]))
    misses = []
    for start in (off, np.concatenate([-off[:4], off[4:]])):
        for feedback in (True, False):
            x, _ = plan.run(x0=start, feedback=feedback)
            misses.append(np.linalg.norm(plan.system.states.difference(x[-1], plan.x[-1])))
    assert misses[0] < 0.05 * misses[1]
    assert misses[2] == pytest.approx(misses[0], rel=1e-9)  # a quaternion and its negative are one attitude


def test_what_is_no_state_is_refused():
    system = co.control.discretise(body(), 0.05)
    cost, u = co.control.control_cost(1.0), np.zeros((4, 3))
    upright = np.array([1.0, 0, 0, 0, 0, 0, 0])
    refusals = [
        (lambda: co.control.ilqr(system, cost, np.zeros(7), u), "x0 must have a quaternion of length one from entry 0"),
        (
            lambda: co.control.ilqr(system, cost + co.control.state_cost(0.0, 1.0), upright, u),
            "targets must have a quat",
        ),
        (
            lambda: co.control.ilqr(system, cost + co.control.state_cost(upright, np.ones(7)), upright, u),
            "weights must",
        ),
        (
            lambda: co.control.rollout(
                system, upright, u, reference=np.tile(upright, (4, 1)), gains=np.zeros((4, 3, 7))
            ),
            "gains must have 6 columns",
        ),
        (lambda: co.control.StateSpace(6, (0, 3)), "quaternions must be four numbers each"),
        (lambda: co.control.System(6, 1, system.step, system.linearise, system.space), "space must be of n_x = 6"),
    ]
    for call, message in refusals:
        with pytest.raises(co.InputError, match=message):
            call()
    states = co.control.StateSpace(4)
    with pytest.raises(co.InputError, match=r"x must have shape \(\.\.\., 4\), got shape \(2,\)"):
        states.difference_slope(np.ones(2), np.zeros(4))
    with pytest.raises(co.InputError, match="x must be numbers"):
        states.difference({}, np.zeros(4))  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match=r"row by row, got x of shape \(2, 4\) and reference of shape \(3, 4\)"):
        states.difference(np.zeros((2, 4)), np.zeros((3, 4)))
