"""Ingredients of descent methods: positive definite matrices, and how far to go."""

import numpy as np
import pytest

import colloc as co
from colloc.descent import Objective, Point, modified_cholesky, wolfe_step
from tests.support.objectives import ROSENBROCK, START, convex, symmetric

# -- modified Cholesky ------------------------------------------------------------------------------------------------


MATRICES = {
    "negative": -symmetric(5, 1.0, 0),
    "singular": symmetric(6, 0.0, 1),
    "zero": np.zeros((3, 3)),
    "no diagonal": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "one": np.array([[-4.0]]),
    **{f"indefinite {n}": symmetric(n, -8.0, n) for n in (2, 3, 7, 20)},
    **{f"definite {n}": symmetric(n, 0.1, n) for n in (2, 3, 7, 20)},
}


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys())
def test_factors_are_those_of_the_matrix_and_a_diagonal(matrix: np.ndarray):
    found = modified_cholesky(matrix)
    shifted = matrix + np.diag(found.added)
    product = found.lower @ np.diag(found.diagonal) @ found.lower.T
    np.testing.assert_allclose(product, shifted[np.ix_(found.order, found.order)], atol=1e-13 * np.abs(shifted).max())
    assert (found.lower == np.tril(found.lower)).all()
    assert (np.diag(found.lower) == 1).all()
    assert (found.diagonal > 0).all()
    assert (found.added >= 0).all()
    assert sorted(found.order) == list(range(len(matrix)))
    b = np.arange(1.0, len(matrix) + 1)
    rounding = 1e-14 * float(np.linalg.norm(shifted) * np.linalg.norm(found.solve(b)))
    np.testing.assert_allclose(shifted @ found.solve(b), b, atol=rounding)
    assert b @ found.solve(b) > 0


@pytest.mark.parametrize("n", [2, 3, 7, 20])
def test_nothing_is_added_to_a_definite_matrix(n: int):
    matrix = symmetric(n, 0.1, n)
    found = modified_cholesky(matrix)
    assert (found.added == 0).all()
    np.testing.assert_allclose(found.solve(np.ones(n)), np.linalg.solve(matrix, np.ones(n)), rtol=1e-11)


def test_the_textbook_example():
    """Gill, Murray and Wright (1981), section 4.4.2.2: E = diag(2.771, 5.016, 2.243) for this matrix."""
    found = modified_cholesky(np.array([[1.0, 1.0, 2.0], [1.0, 1.0 + 1e-20, 3.0], [2.0, 3.0, 1.0]]))
    np.testing.assert_allclose(found.added, [2.771, 5.016, 2.243], atol=5e-4)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_added_stays_bounded(seed: int):
    """No entry of L sqrt(D) exceeds beta, which bounds E (Gill, Murray and Wright 1981, equation 4.23)."""
    matrix = symmetric(8, -8.0, 100 + seed)
    found = modified_cholesky(matrix)
    on, off = np.abs(np.diag(matrix)).max(), np.abs(np.tril(matrix, -1)).max()
    beta2 = max(on, off / np.sqrt(63))
    assert np.abs(np.tril(found.lower, -1) * np.sqrt(found.diagonal)).max() <= np.sqrt(beta2) * (1 + 1e-12)
    bound = (off / np.sqrt(beta2) + 7 * np.sqrt(beta2)) ** 2 + 2 * (on + 7 * beta2)
    assert found.added.max() <= bound


@pytest.mark.parametrize(
    ("matrix", "match"),
    [(np.zeros((2, 3)), r"square, got shape \(2, 3\)"), (np.zeros(3), "square"), ([[np.nan]], "matrix must be finite")],
)
def test_what_is_no_matrix_is_refused(matrix, match: str):
    with pytest.raises(co.InputError, match=match):
        modified_cholesky(matrix)


# -- line search ------------------------------------------------------------------------------------------------------


def at(objective: Objective):
    return lambda x: Point(x, *objective.first(x))


@pytest.mark.parametrize("first", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("curvature", [0.1, 0.9])
@pytest.mark.parametrize("seed", range(5))
def test_steps_meet_the_strong_wolfe_conditions(first: float, curvature: float, seed: int):
    rng = np.random.default_rng(seed)
    for objective, size in ((ROSENBROCK, 4), (convex(), 6)):
        evaluate = at(objective)
        start = evaluate(rng.standard_normal(size))
        direction = -start.gradient * rng.uniform(0.1, 2, size)
        step = wolfe_step(evaluate, start, direction, first, curvature)
        assert step is not None
        slope = start.gradient @ direction
        value, gradient = objective.first(start.x + step.length * direction)
        assert value <= start.value + 1e-4 * step.length * slope
        assert abs(gradient @ direction) <= curvature * abs(slope)
        np.testing.assert_array_equal(step.point.gradient, gradient)


def test_a_quadratic_takes_two_trials():
    """The slope is linear: the second trial is the minimum."""
    quadratic = Objective(lambda x: (float(50 * x @ x), 100 * x))
    start = at(quadratic)(np.array([1.0, -2.0]))
    step = wolfe_step(at(quadratic), start, -start.gradient, 2e-3, 1e-9)
    assert step is not None
    assert step.length == pytest.approx(0.01, rel=1e-12)


def test_a_higher_basin_is_no_step():
    """Flat enough, but not low enough: the trial at 1 + 2 pi lies at the bottom of another basin."""
    basins = Objective(lambda x: (float((1 - np.cos(x) + 0.05 * x**2).sum()), np.sin(x) + 0.1 * x))
    start = at(basins)(np.ones(1))
    step = wolfe_step(at(basins), start, -np.ones(1), 1 + 2 * np.pi, 0.9)
    assert step is not None
    assert step.point.value < start.value
    assert abs(step.point.x[0]) < 1


def test_uphill_and_level_directions_have_no_step():
    start = at(ROSENBROCK)(START)
    across = np.array([-start.gradient[1], start.gradient[0]])
    for direction in (start.gradient, across, np.full(2, np.nan)):
        assert wolfe_step(at(ROSENBROCK), start, direction, 1.0, 0.9) is None


def test_a_function_without_minimum_has_no_step():
    falling = Objective(lambda x: (-float(x.sum()), -np.ones(x.size)))
    assert wolfe_step(at(falling), at(falling)(START), np.ones(2), 1.0, 0.9) is None
