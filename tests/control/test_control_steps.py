"""The ingredients of an iteration: objectives, responses, box-constrained minima, batch and recursive steps."""

import itertools

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

import colloc as co
from colloc.control import Expansion, backward, fitted, least_squares_step
from colloc.control.box import box_minimum
from colloc.models.chains import point_masses as pc
from colloc.models.chains.point_masses import PointMassChain
from colloc.models.two_link import two_link

STEPS, N_X, N_U = 6, 4, 2
GOAL = (0.1, 0.2)


def tip(now: co.problem.Instant):
    return now.point("elbow").position[:2]


def objective(rng: np.random.Generator) -> co.control.TrajectoryObjective:
    """One of everything: a reference, via-points, the tip at two steps, controls with a full weight matrix."""
    root = rng.normal(size=(N_X, N_X))
    return (
        co.control.state_cost(rng.normal(size=(STEPS + 1, N_X)), rng.uniform(0, 1, N_X))
        + co.control.state_cost(rng.normal(size=(2, N_X)), root.T @ root, steps=[2, -2])
        + co.control.output_cost(two_link(), tip, rng.normal(size=(2, 2)), [3.0, 5.0], steps=[1, -1])
        + co.control.control_cost(np.array([[2.0, 0.5], [0.5, 1.0]]), targets=(0.3, -0.2))
    )


def random_system(rng: np.random.Generator, steps: int = STEPS) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(steps, N_X, N_X)) / 2, rng.normal(size=(steps, N_X, N_U))


def test_value_of_an_objective_term_by_term():
    x, u = np.arange(6.0).reshape(3, 2), np.array([[1.0], [3.0]])
    parts = {
        co.control.state_cost((1.0, 1.0), (1.0, 10.0)): ((1 + 1 + 9) + 10 * (0 + 4 + 16)) / 2,
        co.control.state_cost((4.0, 0.0), 2.0, steps=[-1]): 2 * 25 / 2,
        co.control.state_cost([[0.0, 0.0], [1.0, 1.0]], [[1, 1], [1, 1]], steps=[0, 1]): (1 + 9) / 2,
        co.control.control_cost(4.0, targets=1.0): 4 * 4 / 2,
    }
    for part, expected in parts.items():
        assert fitted(part, 2, 2, 1).value(x, u) == pytest.approx(expected, rel=1e-14)
    total = sum(parts, start=co.control.TrajectoryObjective())
    assert fitted(total, 2, 2, 1).value(x, u) == pytest.approx(sum(parts.values()), rel=1e-14)


def test_output_at_the_tip():
    """At q = 0 the arm of 0.8 m stretches along x."""
    part = co.control.output_cost(two_link(), tip, (0.0, 0.3), (2.0, 1.0))
    x = np.array([[9.0, 9.0, 9.0, 9.0], [0.0, 0.0, 5.0, 5.0]])
    assert fitted(part, 1, 4, 2).value(x, np.zeros((1, 2))) == pytest.approx((2 * 0.64 + 0.09) / 2, rel=1e-14)


def test_gradient_against_central_differences():
    rng = np.random.default_rng(0)
    residuals, h = fitted(objective(rng), STEPS, N_X, N_U), 1e-5
    x, u = rng.normal(size=(STEPS + 1, N_X)), rng.normal(size=(STEPS, N_U))
    found = residuals.expand(x, u)
    for z, gradient, place in ((x, found.x, 0), (u, found.u, 1)):
        for index in np.ndindex(z.shape):
            sides = []
            for sign in (1, -1):
                moved = [x.copy(), u.copy()]
                moved[place][index] += sign * h
                sides.append(residuals.value(*moved))
            assert gradient[index] == pytest.approx((sides[0] - sides[1]) / (2 * h), abs=1e-8)


def test_hessian_of_a_quadratic_objective_is_exact():
    rng = np.random.default_rng(1)
    states = co.control.state_cost(rng.normal(size=N_X), np.diag([1.0, 2.0, 3.0, 4.0]) + 0.5)
    residuals = fitted(states + co.control.control_cost((1.0, 2.0)), STEPS, N_X, N_U)
    x, u = rng.normal(size=(STEPS + 1, N_X)), rng.normal(size=(STEPS, N_U))
    dx, du = rng.normal(size=x.shape), rng.normal(size=u.shape)
    found = residuals.expand(x, u)
    change = np.sum(found.x * dx) + np.sum(found.u * du)
    change += 0.5 * np.einsum("ki,kij,kj", dx, found.xx, dx) + 0.5 * np.einsum("ki,kij,kj", du, found.uu, du)
    assert residuals.value(x + dx, u + du) - residuals.value(x, u) == pytest.approx(change, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: co.control.state_cost("far", 1.0), "targets must be numbers, got 'far'"),
        (lambda: co.control.state_cost((np.nan, 0.0), 1.0), "targets must be finite"),
        (lambda: co.control.state_cost((0.0, 0.0), (-1.0, 1.0)), "weights must be >= 0"),
        (lambda: co.control.control_cost([[1.0, 2.0], [2.0, 1.0]]), "positive semidefinite"),
        (lambda: co.control.state_cost(0.0, 1.0, steps=[]), "steps must be a list of integers"),
        (
            lambda: co.control.output_cost(two_link(), lambda now: now.tau, (0.0, 0.0), 1.0),
            "depends on now.q and now.qd",
        ),
        (lambda: co.control.control_cost(1.0) + 1.0, "added to an objective only, got 1.0"),  # pyright: ignore[reportOperatorIssue]
        (
            lambda: fitted(co.control.state_cost((0.0, 0.0, 0.0), 1.0), 3, 4, 2),
            r"targets must have shape \(4,\) or \(4, 4\)",
        ),
        (
            lambda: fitted(co.control.control_cost((1.0, 1.0, 1.0)), 3, 4, 2),
            r"weights must be a number or of shape \(2,\)",
        ),
        (
            lambda: fitted(co.control.state_cost(0.0, 1.0, steps=[4]), 3, 4, 2),
            r"steps must lie within -4 .. 3, got \(4,\)",
        ),
        (lambda: fitted(co.control.state_cost(0.0, 1.0, steps=[3, -1]), 3, 4, 2), "steps must differ"),
        (
            lambda: fitted(co.control.output_cost(two_link(), tip, GOAL, 1.0), 3, 6, 2),
            "with 4 states, the system has 6",
        ),
        (
            lambda: fitted(co.control.output_cost(two_link(), tip, 3 * GOAL, 1.0), 3, 4, 2),
            r"targets must have shape \(2,\)",
        ),
    ],
)
def test_objectives_that_do_not_fit_are_refused(call, message):
    with pytest.raises(co.InputError, match=message):
        call()


def test_response_matrices_are_products_of_the_linearisations():
    rng = np.random.default_rng(2)
    A, B = random_system(rng)
    S_x, S_u = co.control.response_matrices(A, B)
    for row, column in itertools.product(range(STEPS + 1), range(STEPS)):
        block = S_u[row * N_X : (row + 1) * N_X, column * N_U : (column + 1) * N_U]
        product = np.linalg.multi_dot([np.eye(N_X), *A[column + 1 : row][::-1], B[column]]) if row > column else 0
        np.testing.assert_allclose(block, product if row > column else np.zeros((N_X, N_U)), atol=1e-13)
    dx0, du = rng.normal(size=N_X), rng.normal(size=(STEPS, N_U))
    x = [dx0]
    for k in range(STEPS):
        x.append(A[k] @ x[-1] + B[k] @ du[k])
    np.testing.assert_allclose(S_x @ dx0 + S_u @ du.ravel(), np.ravel(x), atol=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_minimum_in_a_box_against_all_active_sets(seed: int):
    """The best feasible of the 3^n points with every component at its lower bound, at its upper bound or free."""
    rng = np.random.default_rng(seed)
    n = 4
    root = rng.normal(size=(n, n))
    H, g = root @ root.T + 0.1 * np.eye(n), 3 * rng.normal(size=n)
    lower, upper = -rng.uniform(0, 1, n), rng.uniform(0, 1, n)
    lower[rng.random(n) < 0.2] = -np.inf
    best = np.inf
    for sides in itertools.product((-1, 0, 1), repeat=n):
        chosen = np.array(sides)
        x = np.where(chosen < 0, lower, np.where(chosen > 0, upper, 0.0))
        if not np.isfinite(x).all():
            continue
        free = chosen == 0
        x[free] = np.linalg.solve(H[np.ix_(free, free)], -(g + H @ x)[free])
        if (x >= lower - 1e-12).all() and (x <= upper + 1e-12).all():
            best = min(best, 0.5 * x @ H @ x + g @ x)
    x, free = box_minimum(H, g, lower, upper)
    assert 0.5 * x @ H @ x + g @ x == pytest.approx(best, abs=1e-12)
    assert np.abs((H @ x + g)[free]).max(initial=0.0) < 1e-12
    assert (x >= lower).all()
    assert (x <= upper).all()


def linear_changes(A: np.ndarray, B: np.ndarray, policy) -> np.ndarray:
    """Changes of the controls that a policy makes on the linearised system."""
    dx, changes = np.zeros(A.shape[1]), []
    for k in range(len(A)):
        changes.append(policy.feedforward[k] + policy.gains[k] @ dx)
        dx = A[k] @ dx + B[k] @ changes[-1]
    return np.array(changes)


@pytest.mark.parametrize("damping", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(5))
def test_batch_and_recursive_steps_agree(seed: int, damping: float):
    rng = np.random.default_rng(seed)
    A, B = random_system(rng)
    residuals = fitted(objective(rng), STEPS, N_X, N_U)
    x, u = rng.normal(size=(STEPS + 1, N_X)), rng.normal(size=(STEPS, N_U))
    expansion = residuals.expand(x, u)
    recursive = backward(A, B, expansion, damping)
    batch = least_squares_step(A, B, residuals, x, u, damping)
    assert recursive is not None
    assert batch is not None
    np.testing.assert_allclose(linear_changes(A, B, recursive), batch.feedforward, rtol=1e-10, atol=1e-10)
    assert recursive.decrease(1.0) == pytest.approx(batch.decrease(1.0), rel=1e-10)
    # The normal equations, by dense products: a third way.
    S_u = co.control.response_matrices(A, B)[1]
    weights = np.zeros((len(S_u), len(S_u)))
    for k in range(STEPS + 1):
        weights[k * N_X : (k + 1) * N_X, k * N_X : (k + 1) * N_X] = expansion.xx[k]
    hessian = S_u.T @ weights @ S_u + np.kron(np.eye(STEPS), expansion.uu[0]) + damping * np.eye(u.size)
    gradient = S_u.T @ expansion.x.ravel() + expansion.u.ravel()
    np.testing.assert_allclose(batch.feedforward.ravel(), -np.linalg.solve(hessian, gradient), atol=1e-10)


def test_steps_of_a_planar_robot_agree():
    """Batch and recursive, to 1e-9, over the linearisation of a three-link reach of 50 steps."""
    chain = PointMassChain([0.3] * 3, [0.5] * 3)
    system, rng = pc.discretised(chain, 0.01), np.random.default_rng(0)
    reach = co.control.output_cost(chain.tree(), lambda now: now.point("link3").position[:2], (0.5, 0.3), 1e3)
    residuals = fitted(reach + co.control.state_cost(0.0, 1e-3) + co.control.control_cost(1e-2), 50, 6, 3)
    u = rng.normal(size=(50, 3))
    x, _ = co.control.rollout(system, np.array([0.3, 0.4, 0.5, 0, 0, 0]), u)
    A, B = system.linearise(x[:-1], u)
    recursive, batch = backward(A, B, residuals.expand(x, u)), least_squares_step(A, B, residuals, x, u)
    assert recursive is not None
    assert batch is not None
    assert np.abs(batch.feedforward).max() > 1
    np.testing.assert_allclose(linear_changes(A, B, recursive), batch.feedforward, atol=1e-9)


def test_gains_far_from_the_end_solve_the_algebraic_riccati_equation():
    rng = np.random.default_rng(3)
    A, B = (block[0] for block in random_system(rng))
    Q, R, steps = np.diag([1.0, 2.0, 3.0, 4.0]), np.diag([0.5, 1.0]), 200
    still = Expansion(
        np.zeros((steps + 1, N_X)), np.zeros((steps, N_U)), np.tile(Q, (steps + 1, 1, 1)), np.tile(R, (steps, 1, 1))
    )
    policy = backward(np.tile(A, (steps, 1, 1)), np.tile(B, (steps, 1, 1)), still)
    assert policy is not None
    P = solve_discrete_are(A, B, Q, R)
    np.testing.assert_allclose(policy.gains[0], -np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A), atol=1e-12)
    assert not policy.feedforward.any()


def test_a_control_without_a_minimum_gives_no_policy():
    A, B = random_system(np.random.default_rng(0))
    nothing = fitted(co.control.state_cost(0.0, 0.0) + co.control.control_cost(0.0), STEPS, N_X, N_U)
    x, u = np.ones((STEPS + 1, N_X)), np.ones((STEPS, N_U))
    assert backward(A, B, nothing.expand(x, u)) is None
    assert least_squares_step(A, B, nothing, x, u) is None
    assert backward(A, B, nothing.expand(x, u), damping=1.0) is not None
