"""Many problems at once are those of single runs, whatever stands beside them."""

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.blocks.numeric import NumericDerivatives
from colloc.kernels import CompileError
from colloc.models.cart_pole import cart_pole
from colloc.models.two_link import two_link
from colloc.solution import warm_start
from colloc.solver import lanes
from colloc.solver.scaling import scale_at
from colloc.sweeps import many as module

SHARP = co.Ipopt(tol=1e-11, compl_inf_tol=1e-11, bound_relax_factor=0.0)
Nlp = co.transcription.NLP | co.transcription.PhasesNLP


def reach(cost: Callable[..., Any], duration: Any = 0.5, curve: Any = None) -> Nlp:
    """A reach to a goal with limits of the torques, all parameters."""
    goal, limit = co.Parameter("goal", (1.0, -1.0)), co.Parameter("limit", 10.0)
    rows = [
        co.initial(q=(0.0, -2.0), qd=0.0),
        co.final(qd=0.0),
        co.at(1.0, lambda now: now.q - now.goal, equals=0.0),
        co.path(lambda now: now.tau - now.limit, upper=0.0),
        co.path(lambda now: now.tau + now.limit, lower=0.0),
    ]
    return co.transcribe(
        co.Problem(two_link(), duration, cost(), rows, parameters=[goal, limit]), curve or co.BSpline(20)
    )


def effort() -> Any:
    return co.integral(lambda now: ca.sumsqr(now.tau))


def mixed() -> Any:
    return co.duration() + 1e-3 * effort()


def in_phases() -> Nlp:
    via = co.Parameter("limit", 0.3)
    first = co.Problem(
        two_link(), co.Free(0.1, 3.0, 0.4), mixed(), [co.initial(q=(0.0, -2.0), qd=0.0)], parameters=[via]
    )
    second = co.Problem(
        two_link(), co.Free(0.1, 3.0, 0.4), mixed(), [co.final(q=(1.0, -1.0), qd=0.0)], parameters=[via]
    )
    touch = co.boundary(lambda phases: phases["first"].end.q[0] - phases["first"].end.limit, equals=0.0, name="via")
    curve = co.BSpline(8)
    return co.transcribe(co.Phases({"first": first, "second": second}, [touch]), {"first": curve, "second": curve})


def random_reaches(count: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    goal = np.array([1.0, -1.0]) + rng.uniform(-0.3, 0.3, (count, 2))
    return {"goal": goal, "limit": rng.uniform(9.0, 20.0, count)}


@pytest.mark.parametrize(
    ("nlp", "tolerance"),
    [
        (lambda: reach(effort), 1e-9),
        (lambda: reach(mixed, co.Free(0.1, 5.0, 1.0)), 2e-9),
        (lambda: reach(mixed, co.Free(0.1, 5.0, 1.0), co.Radau(8)), 2e-9),
    ],
    ids=["effort", "mixed", "collocated"],
)
def test_they_are_the_optima_of_single_runs(nlp: Callable[[], Nlp], tolerance: float):
    program = nlp()
    many = co.sweeps.solve_many(program, random_reaches(20))
    assert set(many.status) == {co.solver.Status.SOLVED}
    assert len(many.alone) <= 1
    prepared = SHARP.prepare(program)
    for k in range(0, 20, 4):
        start = co.solver.Start(module.start_from(program, None, many.parameters[k]).x)
        alone = prepared(start, many.parameters[k])
        assert many.cost[k] == pytest.approx(float(program.f(alone.x, many.parameters[k])), rel=tolerance)


def test_a_motion_in_phases_is_that_of_a_single_run():
    program = in_phases()
    many = co.sweeps.solve_many(program, {"limit": np.linspace(0.2, 0.5, 10)})
    for k in (0, 9):
        alone = SHARP.prepare(program)(co.solver.Start(many[k].x), many.parameters[k])
        assert many.cost[k] == pytest.approx(float(program.f(alone.x, many.parameters[k])), rel=1e-8)
        assert many.duration[k] == pytest.approx(many[k].duration)


def test_neighbours_change_nothing():
    program, values = reach(effort), random_reaches(40, seed=3)
    all_of_them = co.sweeps.solve_many(program, values)
    some = co.sweeps.solve_many(program, {name: value[[31, 7, 2, 19, 5]] for name, value in values.items()})
    assert np.array_equal(some.x, all_of_them.x[[31, 7, 2, 19, 5]])


def test_starts_of_many_are_those_of_one_bit_by_bit():
    program, values = in_phases(), np.linspace(0.2, 0.5, 5)[:, None]
    together = warm_start.starts_from(program, None, values)
    for start, value in zip(together, values, strict=True):
        assert np.array_equal(start.x, warm_start.start_from(program, None, value).x)


def swing_up() -> Nlp:
    """A cart-pole's fastest swing-up: steps are refused by the filter, and Hessians are shifted."""
    goal = co.Parameter("goal", (0.8, np.pi))
    rows = [
        co.initial(q=0.0, qd=0.0),
        co.final(qd=0.0),
        co.at(1.0, lambda now: now.q - now.goal, equals=0.0),
        co.path(lambda now: now.tau[1], equals=0.0),
        co.path(lambda now: now.tau[0], lower=-25.0, upper=25.0),
    ]
    problem = co.Problem(cart_pole(), co.Free(0.1, 6.0, 1.5), mixed(), rows, parameters=[goal])
    return co.transcribe(problem, co.Radau(6))


@pytest.mark.parametrize("nlp", [lambda: reach(mixed, co.Free(0.1, 5.0, 1.0)), swing_up], ids=["reach", "swing_up"])
def test_they_take_the_iterations_of_ipopt_with_a_monotone_barrier(nlp: Callable[[], Nlp]):
    program = nlp()
    assert isinstance(program, co.transcription.NLP)
    (goal, *_) = program.problem.all_parameters
    goals = goal.value + np.random.default_rng(0).uniform(-0.2, 0.2, (12, 2))
    many = co.sweeps.solve_many(program, {"goal": goals})
    ends = {"tol": 1e-9, "compl_inf_tol": 1e-10, "bound_relax_factor": 0.0}
    without: dict[str, Any] = {"max_soc": 0, "watchdog_shortened_iter_trigger": 0}
    monotone = co.Ipopt(**ends, mu_strategy="monotone", mu_init=0.1, **without).prepare(program)
    together = sorted(set(range(12)) - set(many.alone))
    assert len(together) >= 10
    same = 0
    for k in together:
        outcome, p = many.outcomes[k], many.parameters[k]
        start = co.solver.Start(warm_start.start_from(program, None, p).x, scale=outcome.scale)
        alone = monotone(start, p)
        assert float(program.f(outcome.x, p)) == pytest.approx(float(program.f(alone.x, p)), rel=2e-9)
        same += abs(outcome.iterations - alone.iterations) <= 1
    assert same >= len(together) - 1  # rounding may part them


def test_failures_are_those_of_single_runs():
    values = random_reaches(10)
    values["limit"][[2, 7]] = 0.5  # too weak
    many = co.sweeps.solve_many(reach(effort), values)
    failed = [k for k, status in enumerate(many.status) if status is not co.solver.Status.SOLVED]
    assert failed == [2, 7]
    assert set(failed) <= set(many.alone)
    assert np.isnan(many.cost[failed]).all()
    assert "2" in repr(many)


def test_a_solution_is_a_guess_and_an_item_is_a_solution():
    program = reach(effort)
    many = co.sweeps.solve_many(program, random_reaches(6))
    again = co.sweeps.solve_many(program, random_reaches(6), list(many))
    assert again.cost == pytest.approx(many.cost, rel=1e-9)
    assert np.array_equal(co.sweeps.solve_many(program, random_reaches(6), many).x, again.x)
    assert many[0].at(0.5).q == pytest.approx(random_reaches(6)["goal"][0], abs=1e-8)
    assert [solution.cost for solution in many[1:3]] == pytest.approx(many.cost[1:3])


def test_multipliers_are_those_of_single_runs():
    program = reach(effort)
    many = co.sweeps.solve_many(program, random_reaches(8))
    alone = SHARP.prepare(program)(co.solver.Start(many[3].x), many.parameters[3])
    for kind, values in alone.multipliers.items():
        assert many.outcomes[3].multipliers[kind] == pytest.approx(values, abs=1e-5 * np.abs(values).max())


def test_without_a_compiler_they_are_solved_one_by_one(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise CompileError("no compiler")

    values = random_reaches(5)
    wanted = co.sweeps.solve_many(reach(effort, curve=co.BSpline(8)), values)
    monkeypatch.setattr(lanes, "interpret", refuse)
    many = co.sweeps.solve_many(reach(effort, curve=co.BSpline(8)), values)
    assert many.alone == tuple(range(5))
    assert many.cost == pytest.approx(wanted.cost, rel=1e-6)


def test_factors_that_are_too_dense_for_lanes_are_left_to_ipopt(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lanes, "_MOST_PRODUCTS", 100.0)
    many = co.sweeps.solve_many(reach(effort, curve=co.BSpline(8)), random_reaches(5))
    assert many.alone == tuple(range(5))
    assert set(many.status) == {co.solver.Status.SOLVED}


def test_totals_are_those_of_numpy_and_keep_what_is_no_number():
    program, rng = reach(effort, curve=co.BSpline(4)), np.random.default_rng(2)
    width = lanes.LaneFunctions(program, program.scale_x, program.scale_g).lanes
    values = rng.normal(size=(3, 17, width))
    assert lanes.total(values) == pytest.approx(values.sum(axis=1))
    assert lanes.total(values, sizes=True) == pytest.approx(np.abs(values).sum(axis=1))
    assert np.array_equal(lanes.largest(values, least=-np.inf), values.max(axis=1))
    assert np.array_equal(lanes.largest(values, sizes=True), np.abs(values).max(axis=1))
    for place in (0, 8, 16):
        values[1, place, width - 1] = np.nan
        for sizes in (False, True):
            expected = np.zeros((3, width), dtype=bool)
            expected[1, width - 1] = True
            assert np.array_equal(np.isnan(lanes.largest(values, sizes=sizes)), expected)
        values[1, place, width - 1] = 0.0
    assert np.array_equal(lanes.largest(np.zeros((2, 0, width)), least=3.0), np.full((2, width), 3.0))


def test_functions_in_lanes_are_those_of_the_program():
    program = reach(mixed, co.Free(0.1, 5.0, 1.0))
    solution = co.solve(program, progress=False)
    rng, count = np.random.default_rng(0), 11
    scale = scale_at(program, solution.x, solution.parameters)
    functions = lanes.LaneFunctions(program, program.scale_x, scale.rows)
    x = solution.x + program.free * rng.normal(0, 0.01, (count, program.n_x))
    p, pushes = np.tile(solution.parameters, (count, 1)), rng.normal(0, 1, (count, program.n_g))
    whole, parameters, multipliers = (lanes.in_lanes(each, functions.lanes) for each in (x, p, pushes))
    f, g = functions.values(whole, parameters)
    gradient, jacobian = functions.derivatives(whole, parameters)
    weight = np.full(f.shape, 0.7)
    hessian = functions.hessian(whole, parameters, weight, multipliers)
    size = program.scale_x[program.free]
    for k in (0, count - 1):
        place = k // functions.lanes, slice(None), k % functions.lanes
        assert f[place[0], place[2]] == pytest.approx(float(program.f(x[k], p[k])))
        assert g[place] * scale.rows == pytest.approx(np.array(program.g(x[k], p[k])).ravel(), abs=1e-12)
        at = NumericDerivatives(program.costs, program.constraints, x[k], p[k])
        assert gradient[place] == pytest.approx(at.gradient[program.free] * size, abs=1e-9)
        rows = np.zeros((program.n_g, size.size))
        rows[functions.jacobian_row, functions.jacobian_column] = jacobian[place]
        assert rows == pytest.approx(np.array(at.jacobian)[:, program.free] * size / scale.rows[:, None], abs=1e-10)
        second = np.zeros((size.size, size.size))
        second[functions.hessian_row, functions.hessian_column] = hessian[place]
        whole_hessian = 0.7 * np.array(at.hessian("hessian", pushes[k] / scale.rows / 0.7))
        wanted = np.tril(whole_hessian[np.ix_(program.free, program.free)] * np.outer(size, size))
        assert second == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())


def test_factors_solve_and_count_negative_pivots():
    program, rng, size = reach(effort, curve=co.BSpline(4)), np.random.default_rng(1), 30
    width = lanes.LaneFunctions(program, program.scale_x, program.scale_g).lanes
    row, column = np.tril_indices(size)
    kept = (rng.uniform(size=row.size) < 0.2) | (row == column)
    row, column = row[kept], column[kept]
    values = rng.normal(0, 0.1, (2, row.size, width))
    values[:, row == column] += np.where(np.arange(size) < 20, 3.0, -3.0)[:, None]
    factor = lanes.Factor(size, row, column)
    lower = np.empty((2, factor.entries, width))
    negative = factor.factorise(values, lower)
    right = rng.normal(size=(2, size, width))
    solution = factor.solve(lower, right)
    matrix = np.zeros((size, size))
    matrix[row, column] = values[1, :, width - 1]
    matrix += np.tril(matrix, -1).T
    assert matrix @ solution[1, :, width - 1] == pytest.approx(right[1, :, width - 1], abs=1e-12)
    assert negative[1, width - 1] == (np.linalg.eigvalsh(matrix) < 0).sum() == 10


def test_cases_of_which_the_largest_cost_counts_are_refused():
    goal = co.Parameter("goal", 0.5)
    ends = [co.initial(q=0.0, qd=0.0), co.final(qd=0.0), co.at(1.0, lambda now: now.q[0] - now.goal, equals=0.0)]
    one = co.Problem(two_link(), 0.5, effort(), ends, parameters=[goal])
    program = co.transcribe(co.Cases({"a": one, "b": one}, worst=0.5), co.BSpline(4))
    with pytest.raises(co.InputError, match=r"of these cases the largest cost counts \(worst=0.5\): leave worst out"):
        co.sweeps.solve_many(program, {"goal": [0.4, 0.6]})


@pytest.mark.parametrize(
    ("values", "guesses", "message"),
    [
        ({}, None, "got none"),
        ({"limit": [1.0, 2.0], "goal": [[1.0, -1.0]]}, None, "all of equal number"),
        ({"limits": [1.0, 2.0]}, None, "did you mean 'limit'"),
        ({"goal": [1.0, 2.0]}, None, "goal"),
        ({"limit": [10.0] * 3}, [None, None], "guesses must be one for all, or 3, got 2"),
        ([10.0], None, "parameters"),
    ],
)
def test_mistakes_are_named(values: Any, guesses: Any, message: str):
    with pytest.raises(co.InputError, match=message):
        co.sweeps.solve_many(reach(effort, curve=co.BSpline(4)), values, guesses)
