"""Slices: local variables, and matrices in local variables carried over to the decision vector."""

import casadi as ca
import numpy as np
import pytest

from colloc.blocks.slices import Slices, scatter
from colloc.blocks.sum_of_squares import split_sum_of_squares

N_X, M, N = 9, 5, 4


def random_slices(rng: np.random.Generator, *, repeated: bool) -> Slices:
    """Maps with a common pattern; with `repeated` a slice may see one entry of x in two places."""
    index = np.column_stack([rng.choice(N_X, M, replace=repeated) for _ in range(N)])
    pattern = rng.random((3, M)) < 0.6
    pattern[:, 0] = True
    row, column = np.nonzero(pattern)
    weight = rng.standard_normal((row.size, N))
    weight[1, 0] = 0.0  # a basis function may vanish in one slice
    return Slices(index, row, column, weight)


def dense(slices: Slices, k: int) -> np.ndarray:
    """d w_k / d x."""
    matrix = np.zeros((slices.row[-1] + 1, N_X))
    for row, column, weight in zip(slices.row, slices.column, slices.weight[:, k], strict=True):
        matrix[row, slices.index[column, k]] += weight
    return matrix


def number(expression: ca.MX, x: ca.MX, at: np.ndarray) -> np.ndarray:
    return np.array(ca.densify(ca.Function("number", [x], [expression])(at)))


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_matrices_are_carried_over(seed: int, repeated: bool):
    rng = np.random.default_rng(seed)
    slices = random_slices(rng, repeated=repeated)
    maps = [dense(slices, k) for k in range(N)]
    at = rng.standard_normal(N_X)
    expected = np.column_stack([a @ at for a in maps])
    np.testing.assert_allclose(slices.local(at), expected, atol=1e-14)
    x = ca.MX.sym("x", N_X)
    np.testing.assert_allclose(number(slices.gather(x), x, at), expected, atol=1e-14)

    values = ca.MX.sym("values", 100)
    numbers = rng.standard_normal(100)
    jacobian = ca.Sparsity.triplet(2, 3, [0, 1, 1], [1, 0, 2])
    entries, block = slices.jacobian(jacobian), [ca.DM(jacobian, numbers[3 * k : 3 * k + 3]) for k in range(N)]
    rows = entries.row[:, None] + 2 * np.arange(N)
    found = scatter(2 * N, N_X, [(values[: 3 * N], entries, rows, slices.index[entries.column])])
    expected = np.vstack([np.array(ca.densify(b)) @ a for b, a in zip(block, maps, strict=True)])
    np.testing.assert_allclose(number(found, values, numbers), expected, atol=1e-14)

    upper = ca.Sparsity.triplet(3, 3, [0, 0, 1, 2], [0, 1, 2, 2])
    entries, block = slices.hessian(upper), [ca.DM(upper, numbers[4 * k : 4 * k + 4]) for k in range(N)]
    i, j = slices.index[entries.row], slices.index[entries.column]
    found = scatter(N_X, N_X, [(values[: 4 * N], entries, np.minimum(i, j), np.maximum(i, j))])
    whole = [np.array(ca.densify(ca.triu2symm(b))) for b in block]
    expected = np.triu(sum(a.T @ h @ a for h, a in zip(whole, maps, strict=True)))
    np.testing.assert_allclose(number(found, values, numbers), expected, atol=1e-13)


def test_entries_that_do_not_meet_are_only_reordered():
    slices = Slices.of(np.arange(6).reshape(2, 3)[::-1])
    assert slices.plain
    entries, values = slices.gradient(), ca.MX.sym("values", 6)
    rows = slices.index[entries.row]
    column = scatter(6, 1, [(values, entries, rows, np.zeros_like(rows))])
    assert "(" not in str(column.nz[0]).replace("values", "")  # no product
    np.testing.assert_array_equal(number(column, values, np.arange(6.0)).ravel(), [1, 3, 5, 0, 2, 4])


def products(expression: ca.MX, given: ca.MX) -> list[ca.MX]:
    """Factors of matrices in the evaluation of an expression."""
    function = ca.Function("counted", [given], [expression])
    steps = range(function.n_instructions())
    return [function.instruction_MX(k).dep(2) for k in steps if function.instruction_id(k) == ca.OP_MTIMES]


def test_one_product_carries_all_over_and_sees_no_more_than_it_reads():
    """Else motions in many phases take as long as the square of their number."""
    rng, count = np.random.default_rng(3), 6
    each = [random_slices(rng, repeated=False) for _ in range(count)]
    x, values = ca.MX.sym("x", count * N_X), ca.MX.sym("values", count, 3 * N)
    parts, numbers, expected = [], rng.standard_normal((count, 3 * N)), []
    for k, slices in enumerate(each):
        moved = slices.moved(k * N_X)
        (seen,) = products(moved.gather(x), x)
        assert seen.shape[0] <= N_X
        entries = moved.gradient()
        rows = moved.index[entries.row]
        parts.append((values[k, :].T, entries, rows, np.zeros_like(rows)))
        own = numbers[k].reshape(N, 3)
        expected += [sum(dense(slices, n).T @ own[n] for n in range(N))]
    found = scatter(count * N_X, 1, parts)
    assert len(products(found, values)) == 1
    np.testing.assert_allclose(number(found, values, numbers).ravel(), np.concatenate(expected), atol=1e-13)


def test_vanishing_weights_are_pruned():
    slices = Slices(np.array([[3], [5]]), np.array([0, 0]), np.array([0, 1]), np.array([[0.0], [2.0]]))
    pruned = slices.pruned()
    assert pruned.row.size == 1
    np.testing.assert_array_equal(pruned.local(np.arange(9.0)), slices.local(np.arange(9.0)))


def test_squares_are_taken_out_of_a_sum():
    x, p = ca.SX.sym("x", 3), ca.SX.sym("p")
    expression = 3 * ca.sumsqr(x) / p - 2 * (x[0] - x[1]) ** 2 + p * x[2] - (x[0] * ca.sin(x[1])) ** 2 + 1
    expression += ca.if_else(p > -9, x[1] ** 2, 0)  # switched by what does not vary
    found = split_sum_of_squares(expression, x)
    assert len(found.residuals) == 6
    assert not any(ca.depends_on(weight, x) for weight in found.weights)
    again = sum(w * r**2 for w, r in zip(found.weights, found.residuals, strict=True)) + found.rest
    at = np.random.default_rng(0).standard_normal(4)
    both = ca.Function("both", [x, p], [expression, again, found.rest])
    values = [float(value) for value in both(at[:3], at[3])]
    assert values[1] == pytest.approx(values[0], rel=1e-14)
    assert values[2] == pytest.approx(at[3] * at[2] + 1, rel=1e-14)


def test_what_is_no_square_stays():
    x = ca.SX.sym("x", 2)
    found = split_sum_of_squares(x[0] * x[1] + ca.fabs(x[0]), x)
    assert found.residuals == []
    assert ca.depends_on(found.rest, x[1])
    assert split_sum_of_squares(ca.SX(0), x).rest.is_zero()


def test_squares_behind_a_condition_that_varies_are_squares():
    x, t, T = (ca.SX.sym(name) for name in ("x", "t", "T"))
    inner = ca.if_else(t <= 0.5 * T, 3 * (x - 1) ** 2 + x * T, 0)
    expression = ca.if_else(t > 0.1 * T, inner, 0) + 2 * x**2
    found = split_sum_of_squares(expression, ca.vertcat(x, t, T))
    assert len(found.residuals) == 2
    whole = sum((w * r**2 for w, r in zip(found.weights, found.residuals, strict=True)), found.rest)
    compared = ca.Function("compared", [x, t, T], [expression, whole, found.rest])
    for time in (0.0, 0.3, 0.9):
        given, again, rest = (float(value) for value in compared(0.7, time, 1.2))
        assert again == pytest.approx(given, rel=1e-14)
        assert rest == pytest.approx(0.7 * 1.2 if time == 0.3 else 0.0)
