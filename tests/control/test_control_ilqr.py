"""iLQR: optima of small problems by other means, limits, gains, and every way to fail."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.control import Form, IlqrStatus, Scheme, System
from colloc.models.puma560 import puma560
from colloc.models.two_link import two_link
from tests.support.random_trees import numbers

DT, STEPS = 0.02, 25
START = np.array([0.3, 0.8, 0.0, 0.0])
GOAL = (-0.1, 0.6)


def tip(now: co.problem.Instant) -> ca.SX:
    return now.point("elbow").position[:2]


def reach(scheme: Scheme = Scheme.EULER) -> tuple[System, co.control.TrajectoryObjective, np.ndarray]:
    """The two-link arm brings its tip to a point and to rest, from a posture held against gravity."""
    model = two_link(gravity=9.81)
    objective = (
        co.control.output_cost(model, tip, GOAL, 1e3)
        + co.control.state_cost(0.0, (0, 0, 1.0, 1.0), steps=[-1])
        + co.control.state_cost(0.0, (0, 0, 1e-2, 1e-2))
        + co.control.control_cost(DT)
    )
    hold = co.Evaluator(model).torque(START[:2], START[2:], np.zeros(2))
    return co.control.discretise(model, DT, scheme=scheme), objective, np.tile(hold, (STEPS, 1))


def by_ipopt(limit: float = np.inf) -> tuple[float, np.ndarray]:
    """Cost and controls of the same problem: Euler steps written as inverse dynamics, all states unknowns of IPOPT."""
    model = two_link(gravity=9.81)
    x, u = ca.MX.sym("x", 4, STEPS + 1), ca.MX.sym("u", 2, STEPS)
    q, qd, qdd = (ca.SX.sym(name, 2) for name in ("q", "qd", "qdd"))
    torque = ca.Function("torque", [q, qd, qdd], [co.dynamics.newton_euler(model, q, qd, qdd)])
    position = ca.Function("tip", [q], [co.model.point_motion(model, "elbow", q=q).position[:2]])
    qs, rates = x[:2, :], x[2:, :]
    needed = torque.map(STEPS)(qs[:, :-1], rates[:, :-1], (rates[:, 1:] - rates[:, :-1]) / DT)
    g = ca.veccat(qs[:, 1:] - qs[:, :-1] - DT * rates[:, :-1], needed - u, x[:, 0] - START)
    f = 0.5e3 * ca.sumsqr(position(qs[:, -1]) - ca.DM(GOAL)) + 0.5 * ca.sumsqr(rates[:, -1])
    f += 0.5e-2 * ca.sumsqr(rates) + 0.5 * DT * ca.sumsqr(u)
    options = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10, "mu_target": 0.0}}
    solver = ca.nlpsol("solver", "ipopt", {"x": ca.veccat(u, x), "f": f, "g": g}, options)
    hold = reach()[2]
    bound = np.concatenate([np.full(2 * STEPS, limit), np.full(4 * STEPS + 4, np.inf)])
    guess = np.concatenate([hold.ravel(), np.tile(START, STEPS + 1)])
    found = solver(x0=guess, lbx=-bound, ubx=bound, lbg=0, ubg=0)
    assert solver.stats()["return_status"] == "Solve_Succeeded"
    return float(found["f"]), numbers(found["x"])[: 2 * STEPS].reshape(STEPS, 2)


def costs_of(system: System, objective: co.control.TrajectoryObjective, u: np.ndarray, x0: np.ndarray = START) -> float:
    x, applied = co.control.rollout(system, x0, u)
    return co.control.fitted(objective, len(u), system.n_x, system.n_u).value(x, applied)


def linear(A: np.ndarray, B: np.ndarray) -> System:
    """x[k+1] = A x + B u."""
    return System(
        A.shape[0],
        B.shape[1],
        lambda k, x, u: A @ x + B @ u,
        lambda x, u: (np.tile(A, (len(u), 1, 1)), np.tile(B, (len(u), 1, 1))),
    )


@pytest.mark.parametrize("form", Form)
def test_same_optimum_as_ipopt(form: Form):
    expected, controls = by_ipopt()
    system, objective, u0 = reach()
    found = co.control.ilqr(system, objective, START, u0, form=form)
    assert found.status is IlqrStatus.CONVERGED
    assert found.success
    assert found.cost == pytest.approx(expected, abs=1e-8)
    np.testing.assert_allclose(found.u, controls, atol=1e-3)
    assert found.cost == pytest.approx(costs_of(system, objective, found.u), rel=1e-12)


def test_same_optimum_as_ipopt_under_torque_limits():
    """The limit holds for a good part of the motion, and the cost is higher than without."""
    limit = 7.0
    expected, controls = by_ipopt(limit)
    system, objective, u0 = reach()
    found = co.control.ilqr(system, objective, START, np.clip(u0, -limit, limit), limits=(-limit, limit))
    assert found.success
    assert found.cost == pytest.approx(expected, abs=1e-6)
    assert expected > by_ipopt()[0] + 1e-3
    assert np.abs(found.u).max() == limit
    held = np.abs(found.u) == limit
    assert held.sum() >= 3
    assert not found.gains[held].any()
    np.testing.assert_allclose(found.u, controls, atol=1e-2)


@pytest.mark.parametrize("scheme", Scheme)
def test_gradient_at_the_optimum_vanishes(scheme: Scheme):
    """By central differences of the cost of simulated controls."""
    system, objective, u0 = reach(scheme)
    found = co.control.ilqr(system, objective, START, u0, tolerance=1e-14)
    assert found.success
    h = 1e-4
    for index in [(0, 0), (0, 1), (10, 0), (24, 1)]:
        change = np.zeros_like(u0)
        change[index] = h
        sides = [costs_of(system, objective, found.u + sign * change) for sign in (1, -1)]
        assert abs(sides[0] - sides[1]) / (2 * h) < 1e-6
        assert min(sides) > found.cost


def test_via_points_are_passed_and_references_tracked():
    model = two_link()
    system = co.control.discretise(model, DT)
    points = np.array([[0.5, 0.5, 0, 0], [0.2, 1.0, 0, 0]])
    via = co.control.state_cost(points, (1e4, 1e4, 0, 0), steps=[10, 25]) + co.control.control_cost(1e-2)
    found = co.control.ilqr(system, via, START, np.zeros((STEPS, 2)))
    assert found.success
    np.testing.assert_allclose(found.x[[10, 25], :2], points[:, :2], atol=1e-2)
    s = np.linspace(0, 1, STEPS + 1)[:, None]
    smooth = 3 * s**2 - 2 * s**3
    reference = np.hstack([START[:2] + smooth * [0.5, -0.4], np.zeros((STEPS + 1, 2))])
    follow = co.control.state_cost(reference, (1e4, 1e4, 0, 0)) + co.control.control_cost(1e-3)
    found = co.control.ilqr(system, follow, START, np.zeros((STEPS, 2)))
    assert found.success
    np.testing.assert_allclose(found.x[:, :2], reference[:, :2], atol=1e-2)


def test_a_linear_quadratic_problem_takes_one_step():
    rng = np.random.default_rng(0)
    system = linear(rng.normal(size=(3, 3)) / 2, rng.normal(size=(3, 2)))
    objective = co.control.state_cost(rng.normal(size=3), 1.0) + co.control.control_cost(0.1)
    found = co.control.ilqr(system, objective, rng.normal(size=3), np.zeros((10, 2)))
    assert found.success
    assert found.iterations == 1
    assert found.history["step"] == [1.0, 0.0]
    assert found.history["cost"][1] == found.cost
    assert found.history["cost"][0] - found.cost == pytest.approx(found.history["expected"][0], rel=1e-12)


def test_gains_are_what_reoptimising_from_elsewhere_would_do():
    rng = np.random.default_rng(1)
    system = linear(rng.normal(size=(3, 3)) / 2, rng.normal(size=(3, 2)))
    objective = co.control.state_cost(rng.normal(size=3), 1.0) + co.control.control_cost(0.1)
    x0, dx = rng.normal(size=3), rng.normal(size=3)
    here, there = (co.control.ilqr(system, objective, start, np.zeros((10, 2))) for start in (x0, x0 + dx))
    x, u = co.control.rollout(system, x0 + dx, here.u, reference=here.x, gains=here.gains)
    np.testing.assert_allclose(u, there.u, atol=1e-10)
    np.testing.assert_allclose(x, there.x, atol=1e-10)


def test_feedback_recovers_from_a_disturbance():
    system, objective, u0 = reach()
    found = co.control.ilqr(system, objective, START, u0)
    disturbed = START + np.array([0.05, -0.05, 0, 0])
    closed, _ = co.control.rollout(system, disturbed, found.u, reference=found.x, gains=found.gains)
    opened, _ = co.control.rollout(system, disturbed, found.u)
    arm = co.Evaluator(two_link())
    planned, held, drifted = (arm.point("elbow", q=x[-1, :2]).position for x in (found.x, closed, opened))
    assert np.linalg.norm(held - planned) < 0.2 * np.linalg.norm(drifted - planned)


def test_a_spatial_arm_reaches_a_point():
    """The PUMA 560 by Runge-Kutta steps, under gravity; the cost of the torques per joint by its limits."""
    model = puma560()
    q0 = np.array([0.1, -0.8, 0.4, 0.1, 0.5, 0.0])
    wrist, goal = model.bodies[-1].name, np.array([0.5, 0.3, 0.3])
    hold = co.Evaluator(model).torque(q0, np.zeros(6), np.zeros(6))
    objective = (
        co.control.output_cost(model, lambda now: now.point(wrist).position, goal, 1e3)
        + co.control.state_cost(0.0, np.repeat([0.0, 0.1], 6))
        + co.control.control_cost(1e-4 * np.array([1, 1, 1, 100, 100, 1000]), targets=hold)
    )
    system = co.control.discretise(model, 0.02)
    found = co.control.ilqr(system, objective, np.concatenate([q0, np.zeros(6)]), np.tile(hold, (30, 1)))
    assert found.success
    start, end = (co.Evaluator(model).point(wrist, q=x[:6]).position for x in found.x[[0, -1]])
    assert np.linalg.norm(start - goal) > 0.2
    np.testing.assert_allclose(end, goal, atol=0.02)


def finite(trajectory: co.control.IlqrResult) -> bool:
    return all(np.isfinite(array).all() for array in (trajectory.x, trajectory.u, trajectory.cost))


def test_the_iteration_limit_is_a_status():
    system, objective, u0 = reach()
    found = co.control.ilqr(system, objective, START, u0, max_iterations=2)
    assert found.status is IlqrStatus.ITERATION_LIMIT
    assert finite(found)
    assert found.cost < costs_of(system, objective, u0)
    assert found.iterations == len(found.history["cost"]) == 2
    assert "iteration limit" in repr(found)
    assert "2 iterations" in found._repr_html_()


def test_controls_that_make_the_states_diverge_are_a_status():
    system, objective, u0 = reach()
    found = co.control.ilqr(system, objective, [0, 1, 500.0, -800.0], u0 + 1e6)
    assert found.status is IlqrStatus.DIVERGED
    assert not found.success
    assert found.iterations == 0
    assert np.isfinite(found.x[0]).all()
    assert np.isnan(found.x[-1]).all()


def test_steps_into_divergence_are_refused_and_the_search_goes_on():
    """x + u - x^3 blows up from |x| > 2 on; the full step for a far target leads there."""

    def linearise(x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return 1 - 3 * x[:, :, None] ** 2, np.ones((len(u), 1, 1))

    system = System(1, 1, lambda k, x, u: x + u - x**3, linearise)
    objective = co.control.state_cost(1.2, 1.0) + co.control.control_cost(1e-6)
    found = co.control.ilqr(system, objective, [0.0], np.full((30, 1), 0.01))
    assert found.success
    assert finite(found)
    assert found.x[15, 0] == pytest.approx(1.2, abs=1e-2)


def test_a_singular_mass_matrix_is_a_status():
    """Three hinges through one point, with the outer axes in line at the start."""
    joints = [co.dh_revolute(alpha=np.pi / 2), co.dh_revolute(alpha=-np.pi / 2), co.dh_revolute()]
    bodies = [
        co.Body("a", joints[0]),
        co.Body("b", joints[1], "a"),
        co.Body("c", joints[2], "b", mass=1.0, inertia=(1.0, 1.5, 2.0)),
    ]
    system = co.control.discretise(co.Model(bodies, gravity=(0, 0, 0)), 0.01)
    objective = co.control.state_cost(0.1, 1.0) + co.control.control_cost(1e-3)
    found = co.control.ilqr(system, objective, np.zeros(6), np.zeros((10, 3)))
    assert found.status is IlqrStatus.DIVERGED
    assert np.isfinite(found.x[0]).all()


def raising(*_: object) -> np.ndarray:
    raise np.linalg.LinAlgError("singular matrix")


def undefined(x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.full((len(u), 1, 1), np.nan), np.ones((len(u), 1, 1))


@pytest.mark.parametrize(
    ("step", "linearise", "status"),
    [
        (raising, undefined, IlqrStatus.DIVERGED),
        (lambda k, x, u: x + u, raising, IlqrStatus.UNDEFINED),
        (lambda k, x, u: x + u, undefined, IlqrStatus.UNDEFINED),
        (
            lambda k, x, u: x + u,
            lambda x, u: (np.ones((len(u), 1, 1)), -np.ones((len(u), 1, 1))),
            IlqrStatus.NO_DESCENT,
        ),
    ],
    ids=["step raises", "linearisation raises", "linearisation is NaN", "derivatives of the wrong sign"],
)
def test_systems_that_fail_end_with_a_status(step, linearise, status: IlqrStatus):
    objective = co.control.state_cost(1.0, 1.0) + co.control.control_cost(1e-3)
    found = co.control.ilqr(System(1, 1, step, linearise), objective, [0.0], np.full((5, 1), 0.1))
    assert found.status is status
    if status is not IlqrStatus.DIVERGED:
        assert finite(found)
        np.testing.assert_array_equal(found.u, 0.1)


def test_systems_of_the_wrong_shape_are_refused():
    objective = co.control.state_cost(1.0, 1.0) + co.control.control_cost(1e-3)
    flat = System(1, 1, lambda k, x, u: x + u, lambda x, u: (np.ones(len(u)), np.ones(len(u))))
    with pytest.raises(co.InputError, match=r"shapes \(5, 1, 1\) and \(5, 1, 1\), got \(5,\) and \(5,\)"):
        co.control.ilqr(flat, objective, [0.0], np.zeros((5, 1)))
    scalar = System(1, 1, lambda k, x, u: np.zeros(2), flat.linearise)
    with pytest.raises(co.InputError, match=r"step must return a state of shape \(1,\), got shape \(2,\)"):
        co.control.ilqr(scalar, objective, [0.0], np.zeros((5, 1)))


def test_a_cost_that_is_not_finite_is_a_status():
    model = two_link()
    system = co.control.discretise(model, DT)
    root = co.control.output_cost(model, lambda now: ca.sqrt(now.q[0] - 1.0), [0.0], 1.0)
    found = co.control.ilqr(system, root + co.control.control_cost(1.0), START, np.zeros((5, 2)))
    assert found.status is IlqrStatus.UNDEFINED
    assert np.isfinite(found.x).all()
    slope = co.control.output_cost(model, lambda now: ca.sqrt(now.q[0] - START[0]), [0.0], 1.0)
    found = co.control.ilqr(system, slope + co.control.control_cost(1.0), START, np.zeros((5, 2)))
    assert found.status is IlqrStatus.UNDEFINED
    assert finite(found)


def test_a_wrong_derivative_changes_the_outcome():
    """The same system with one entry of B doubled: not the optimum."""
    system, objective, u0 = reach()

    def wrong(x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, B = system.linearise(x, u)
        B[:, 2, 0] *= 2
        return A, B

    good = co.control.ilqr(system, objective, START, u0)
    bad = co.control.ilqr(System(4, 2, system.step, wrong), objective, START, u0)
    assert bad.cost > good.cost + 1e-4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x0": (0.0, 0.0)}, r"x0 must have shape \(4,\)"),
        ({"u0": np.zeros(2)}, r"u0 must have shape \(N, 2\), got shape \(2,\)"),
        ({"u0": np.zeros((5, 3))}, r"u0 must have shape \(N, 2\), got shape \(5, 3\)"),
        ({"limits": (1.0, -1.0)}, "limits: lower bound exceeds upper"),
        ({"limits": (-1.0, 1.0), "form": Form.BATCH}, "limits need the recursive form"),
        ({"form": "batch"}, "form must be one of Form.RECURSIVE, Form.BATCH, got 'batch'"),
        ({"tolerance": 0.0}, "tolerance must be finite and positive"),
        ({"max_iterations": 0}, "max_iterations must be an integer >= 1"),
        ({"objective": None}, "needs a System and a TrajectoryObjective"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(change, message):
    system, objective, u0 = reach()
    given = {"objective": objective, "x0": START, "u0": u0} | change
    with pytest.raises(co.InputError, match=message):
        co.control.ilqr(system, **given)
