"""Discrete-time systems: steps, linearisations, simulation with and without feedback."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import colloc as co
from colloc.models.puma560 import puma560
from colloc.models.two_link import two_link
from tests.support.random_trees import random_state, random_tree

Scheme = co.control.Scheme
ARM = co.control.discretise(two_link(), 0.1)


def loads_of(model: co.Model) -> list[co.Load]:
    """A constant force, a spring to the origin and a force that changes with time and speed."""
    first, last = model.bodies[0].name, model.bodies[-1].name
    return [
        co.Load(last, force=(1.0, -2.0, 0.5), point=(0.1, 0.0, 0.2)),
        co.Load(last, force=lambda now: -3.0 * now.point(last).position),
        co.Load(first, moment=lambda now: ca.vertcat(ca.sin(5 * now.t), -0.2 * now.qd[0], 0)),
    ]


def step_in_symbols(model: co.Model, loads, dt: float, scheme) -> ca.Function:
    """One step written out, and its derivatives by automatic differentiation."""
    n = model.n
    t, x, u = ca.SX.sym("t"), ca.SX.sym("x", 2 * n), ca.SX.sym("u", n)
    q, qd = x[:n, :], x[n:, :]
    now = co.problem.Instant(model, t, ca.SX.nan(), q, qd, ca.SX(n, 1), u)
    qdd = co.dynamics.forward_dynamics(model, q, qd, u, [load.at(now) for load in loads])
    slope = ca.Function("slope", [t, x, u], [ca.vertcat(qd, qdd)])
    a = slope(t, x, u)
    if scheme is Scheme.EULER:
        after = x + dt * a
    else:
        b = slope(t + dt / 2, x + dt / 2 * a, u)
        c = slope(t + dt / 2, x + dt / 2 * b, u)
        d = slope(t + dt, x + dt * c, u)
        after = x + dt / 6 * (a + 2 * b + 2 * c + d)
    return ca.Function("f", [t, x, u], [after, ca.jacobian(after, x), ca.jacobian(after, u)])


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("seed", range(6))
def test_steps_and_derivatives_against_automatic_differentiation(seed: int, scheme):
    """Random trees of all kinds of joints, with loads that depend on time, position and velocity."""
    rng = np.random.default_rng(seed)
    model, dt = random_tree(rng, 2 + seed % 4, virtual=False), 0.01
    loads = loads_of(model)
    system = co.control.discretise(model, dt, scheme=scheme, loads=loads)
    states = [random_state(rng, model) for _ in range(4)]
    x = np.array([np.concatenate([state.q, state.qd]) for state in states])
    u = rng.normal(size=(4, model.n))
    A, B = system.linearise(x, u)
    function = step_in_symbols(model, loads, dt, scheme)
    for k in range(4):
        after, by_x, by_u = (np.array(value) for value in function(k * dt, x[k], u[k]))
        np.testing.assert_allclose(system.step(k, x[k], u[k]), after.ravel(), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(A[k], by_x, rtol=1e-9, atol=1e-9 * np.abs(by_x).max())
        np.testing.assert_allclose(B[k], by_u, rtol=1e-9, atol=1e-9 * np.abs(by_u).max())


@pytest.mark.parametrize("scheme", Scheme)
def test_derivatives_against_central_differences_of_the_step(scheme):
    model, rng = puma560(), np.random.default_rng(0)
    system = co.control.discretise(model, 0.01, scheme=scheme)
    x, h = rng.normal(size=12), 1e-5
    u = co.Evaluator(model).torque(x[:6], x[6:], rng.normal(size=6))
    (A,), (B,) = system.linearise(x[None], u[None])
    for k, direction in enumerate(np.eye(12)):
        slope = (system.step(0, x + h * direction, u) - system.step(0, x - h * direction, u)) / (2 * h)
        np.testing.assert_allclose(A[:, k], slope, atol=1e-7)
    for k, direction in enumerate(np.eye(6)):
        slope = (system.step(0, x, u + h * direction) - system.step(0, x, u - h * direction)) / (2 * h)
        np.testing.assert_allclose(B[:, k], slope, rtol=1e-6, atol=1e-6 * np.abs(B).max())


@pytest.mark.parametrize(("scheme", "order"), [(Scheme.EULER, 1), (Scheme.RUNGE_KUTTA, 4)])
def test_simulation_converges_with_the_order_of_the_scheme(scheme, order: int):
    """A swinging arm under a load that depends on time, against SciPy's integrator of order 8."""
    model = two_link(gravity=9.81)
    loads = [co.Load("elbow", force=lambda now: ca.vertcat(ca.sin(4 * now.t), 0, 0))]
    evaluator = co.Evaluator(model, loads=loads)
    start, tau = np.array([0.3, -1.0, 0.5, 0.0]), np.array([0.4, -0.2])

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[2:], evaluator.forward_dynamics(x[:2], x[2:], tau, t)])

    exact = solve_ivp(rate, (0, 1), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    errors = []
    for steps in (50, 100, 200):
        system = co.control.discretise(model, 1 / steps, scheme=scheme, loads=loads)
        x, _ = co.control.rollout(system, start, np.tile(tau, (steps, 1)))
        errors.append(np.abs(x[-1] - exact).max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(slopes, order, atol=0.25)


def test_euler_step_of_a_slide():
    """Equation 111 of a mass on a frictionless slide: the position advances with the old velocity."""
    model = co.Model([co.Body("slide", co.prismatic((1, 0, 0)), mass=2.0)])
    system = co.control.discretise(model, 0.5, scheme=Scheme.EULER)
    np.testing.assert_allclose(system.step(0, np.array([1.0, 3.0]), np.array([4.0])), [2.5, 4.0], rtol=1e-15)


def test_feedback_and_limits_act_at_every_step():
    system = co.control.System(
        1, 1, lambda k, x, u: x + u, lambda x, u: (np.ones((len(u), 1, 1)), np.ones((len(u), 1, 1)))
    )
    u, reference, gains = np.zeros((3, 1)), np.zeros((4, 1)), np.full((3, 1, 1), -0.5)
    x, applied = co.control.rollout(system, np.array([8.0]), u, reference=reference, gains=gains)
    np.testing.assert_allclose(x.ravel(), [8, 4, 2, 1])
    np.testing.assert_allclose(applied.ravel(), [-4, -2, -1])
    limits = (np.array([-3.0]), np.array([3.0]))
    x, applied = co.control.rollout(system, np.array([8.0]), u, reference=reference, gains=gains, limits=limits)
    np.testing.assert_allclose(applied.ravel(), [-3, -2.5, -1.25])


def test_gains_without_a_reference_are_refused():
    with pytest.raises(co.InputError, match="gains need a reference"):
        co.control.rollout(ARM, np.zeros(4), np.zeros((3, 2)), gains=np.zeros((3, 2, 4)))


def wrist() -> co.Model:
    """A body on three hinges through one point: its mass matrix is singular where the outer axes coincide."""
    inertia = {"mass": 1.0, "inertia": (1.0, 1.5, 2.0)}
    joints = [co.dh_revolute(alpha=np.pi / 2), co.dh_revolute(alpha=-np.pi / 2), co.dh_revolute()]
    bodies = [co.Body("a", joints[0]), co.Body("b", joints[1], "a"), co.Body("c", joints[2], "b", **inertia)]
    return co.Model(bodies, gravity=(0, 0, 0))


def test_divergence_and_singular_mass_matrices_end_in_nan():
    arm = co.control.discretise(two_link(), 0.1, scheme=Scheme.EULER)
    x, u = co.control.rollout(arm, np.array([0, 1, 50.0, -80.0]), np.full((60, 2), 1e3))
    last = int(np.isfinite(x).all(axis=1).sum())
    assert 1 < last < 60
    assert np.isnan(x[last:]).all()
    assert np.isnan(u[last - 1 :]).all()
    system = co.control.discretise(wrist(), 0.01)
    x, _ = co.control.rollout(system, np.zeros(6), np.ones((5, 3)))
    assert np.isnan(x[1:]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: co.control.discretise("arm", 0.1), "model must be a Model, got 'arm'"),  # pyright: ignore[reportArgumentType]
        (lambda: co.control.discretise(two_link(), 0.0), "dt must be finite and positive, got 0.0"),
        (lambda: co.control.discretise(two_link(), 0.1, scheme="rk4"), "scheme must be one of Scheme.EULER"),  # pyright: ignore[reportArgumentType]
        (lambda: co.control.discretise(two_link(), 0.1, loads=[co.Load("hand")]), "no body named 'hand'"),
        (lambda: co.control.discretise(co.Model([co.Body("a", co.revolute())]), 0.1), "no inertia resists joint 'a'"),
        (
            lambda: co.control.discretise(co.Model([co.Body("a", co.revolute(), mass=ca.SX.sym("m"))]), 0.1),
            "contains symbols",
        ),
        (
            lambda: co.control.discretise(
                two_link(), 0.1, loads=[co.Load("elbow", force=lambda now: now.qdd[0] * ca.SX.ones(3))]
            ),
            "depends on accelerations",
        ),
        (lambda: replace(ARM, n_x=0), "n_x must be an integer >= 1"),
        (lambda: replace(ARM, step=None), "step needs a function, got None"),
    ],
)
def test_what_cannot_be_a_system_is_refused(call, message):
    with pytest.raises(co.InputError, match=message):
        call()
