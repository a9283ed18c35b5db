"""The NLP: exact derivatives, structure that grows linearly, names of rows."""

import warnings
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.blocks.block import Block
from colloc.blocks.functions import BlockFunctions
from colloc.blocks.numeric import NumericDerivatives
from colloc.dynamics import Sensitivities, by_differentiation
from colloc.models.chains.serial import spatial_chain
from colloc.solver import lanes
from colloc.transcription import BaseNLP, torques
from tests.support.problems import effort, everything, time_optimal

CURVES = [
    co.BSpline(6), co.BSpline(2), co.BSpline(4, degree=5), co.HermiteSimpson(4), co.Radau(5, 3), co.Radau(1, 2),
    co.Radau(6, 1), co.Radau(2, 9),
]  # fmt: skip


RECURSIONS = [
    None, by_differentiation(co.dynamics.newton_euler), co.dynamics.composite_sensitivities,
    co.dynamics.newton_euler_sensitivities, co.dynamics.lagrange_sensitivities, co.dynamics.lie_sensitivities,
]  # fmt: skip


def point(nlp: BaseNLP, seed: int = 0) -> np.ndarray:
    """A decision vector away from any special point."""
    rng = np.random.default_rng(seed)
    x = 0.5 + 0.3 * rng.standard_normal(nlp.n_x)
    return np.clip(x, np.maximum(nlp.lower, -10) + 0.01, np.minimum(nlp.upper, 10) - 0.01)


def test_programs_of_a_problem_share_its_functions():
    """And find the same answers, to the last bit, as of problems of their own."""
    shared, curves = everything(), (co.BSpline(6), co.HermiteSimpson(4), co.BSpline(9))
    for curve in curves:
        nlps = [co.transcribe(problem, curve) for problem in (shared, everything())]
        x = point(nlps[0])
        hessians = [nlp.hess_lag(x, [1.5], 1.3, np.ones(nlp.n_g)).full().tobytes() for nlp in nlps]
        assert hessians[0] == hessians[1]
    costs = [{block.functions for block in co.transcribe(shared, curve).costs} for curve in (curves[0], curves[2])]
    assert costs[0] == costs[1]
    assert len(shared.formulations) == 1
    for dynamics, sensitivities in (
        (co.dynamics.lie, None),
        (co.dynamics.newton_euler, by_differentiation(co.dynamics.lie)),
    ):
        for _ in range(2):
            co.transcribe(shared, curves[0], dynamics, sensitivities)
    assert len(shared.formulations) == 3
    assert not replace(shared, duration=1.0).formulations


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_derivatives_equal_central_differences(curve: co.BSpline):
    nlp = co.transcribe(everything(), curve)
    errors = nlp.check_derivatives(point(nlp), [1.5])
    assert max(errors.values()) < 1e-8, errors


@pytest.mark.parametrize("recursion", RECURSIONS)
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_derivatives_equal_automatic_differentiation_of_the_whole_graph(curve: co.BSpline, recursion):
    """CasADi differentiating f and g through their maps: slow, and independent of the blocks' derivatives."""
    compare_with_automatic_differentiation(everything(), curve, [1.5], sensitivities=recursion)


def compare_with_automatic_differentiation(problem: Any, curve: Any, parameters: list[float], **options: Any) -> None:
    """Whichever way the derivatives are evaluated, the graph that is differentiated is CasADi's own."""
    nlp, graph = co.transcribe(problem, curve, **options), co.transcribe(problem, curve, compile=False, **options)
    x, p, lam = ca.MX.sym("x", nlp.n_x), ca.MX.sym("p", len(parameters)), ca.MX.sym("lam", nlp.n_g)
    f, g = graph.f(x, p), graph.g(x, p)
    hessian, _ = ca.hessian(1.3 * f + ca.dot(lam, g), x)
    reference = ca.Function("reference", [x, p, lam], [ca.gradient(f, x), ca.jacobian(g, x), ca.triu(hessian)])
    at, multipliers = point(nlp), np.random.default_rng(1).standard_normal(nlp.n_g)
    ours = [nlp.grad_f(at, parameters)[1], nlp.jac_g(at, parameters)[1]]
    ours.append(nlp.hess_lag(at, parameters, 1.3, multipliers))
    free = nlp.free.astype(float)  # derivatives with respect to fixed variables are left out
    kept = [free[:, None], free[None, :], free[:, None] * free]
    for mine, theirs, mask in zip(ours, reference(at, parameters, multipliers), kept, strict=True):
        a, b = np.array(ca.densify(mine)), np.array(ca.densify(theirs)) * mask
        np.testing.assert_allclose(a, b, atol=1e-11 * max(1.0, np.abs(b).max()))


def long_chain(**given) -> co.Problem:
    """Enough joints for the recursions, first and second derivatives; an unknown force and mass, a spring if asked."""
    force, payload = co.Unknown("force", size=3), co.Unknown("payload", lower=0.1, upper=2.0, guess=1.0, constant=True)
    chain = spatial_chain(torques.RECURSIVE_FROM)
    last = chain.bodies[-1]
    tip = co.Body("tip", co.fixed(), parent=last.name, mass=payload.symbol, com=(0.1, 0.0, 0.05))
    return co.Problem(
        co.Model([*chain.bodies, tip]),
        given.get("duration", co.Free(0.5, 2.0, 1.0)),
        co.integral(effort) + 0.1 * co.integral(lambda now: ca.sqrt(1 + (now.tau[0] * now.qd[0]) ** 2)),
        [
            co.initial(q=0.1, qd=0.0),
            co.bounds(tau=(-100, 100)),
            co.path(lambda now: now.tau[1] * now.qd[1] + now.force[0], upper=50, name="power"),
            co.boundary(lambda start, end: end.tau[0] - start.tau[0], equals=0.0),
        ],
        unknowns=[force, payload],
        loads=[co.Load("tip", force=force.symbol, point=(0.0, 0.1, 0.0)), *given.get("loads", [])],
    )


SPRING = co.Load("tip", force=lambda now: -3.0 * now.point("tip").position - 0.2 * now.point("tip").velocity)


@pytest.mark.parametrize("given", [{}, {"duration": 1.2}, {"loads": [SPRING]}], ids=["free", "fixed", "spring"])
@pytest.mark.parametrize("curve", [co.BSpline(2), co.HermiteSimpson(1), co.Radau(1, 2)], ids=str)
def test_derivatives_of_a_long_chain_equal_automatic_differentiation(
    curve: co.BSpline, given: dict, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(torques, "RECURSIVE_FROM", 4)  # from eight joints on differentiation takes its time
    compare_with_automatic_differentiation(long_chain(**given), curve, [])


def test_values_put_in_before_the_chain_rule_or_behind_it_give_the_same_bits(monkeypatch: pytest.MonkeyPatch):
    """In the place of the torques' symbols, which the factors have and, written out, the products have again."""
    monkeypatch.setattr(torques, "RECURSIVE_FROM", 4)
    nlp, rng, compared = co.transcribe(long_chain(), co.BSpline(2)), np.random.default_rng(0), 0
    for functions in (block.functions for block in (*nlp.costs, *nlp.constraints)):
        w, inner = functions.local.w, functions.intermediate
        if inner is None:
            continue
        size, both = w.shape[0], ca.vertcat(w, inner.symbols)
        slopes = ca.jacobian(functions.expression, w) + ca.jacobian(functions.expression, inner.symbols) @ inner.slopes
        hessian, gradient = functions._curvature_in(both)
        mixed, bent = hessian[:size, size:] @ inner.slopes, inner.slopes.T @ hessian[size:, size:] @ inner.slopes
        curvature = hessian[:size, :size] + mixed + mixed.T + (bent + inner.curvature(gradient[size:]))
        behind = inner.resolve([slopes, ca.triu(curvature)])
        before = [functions.slopes, functions._curvature]
        inputs = [*functions.inputs, functions.multipliers]
        values = [0.5 + rng.random(symbols.shape) for symbols in inputs]
        answers = [ca.Function("both", inputs, results)(*values) for results in (behind, before)]
        for one, other in zip(*answers, strict=True):
            assert one.sparsity() == other.sparsity()
            assert one.nonzeros() == other.nonzeros()
        compared += 1
    assert compared >= 4


@pytest.mark.parametrize("curve", [co.BSpline(6), co.HermiteSimpson(4)], ids=str)
def test_rows_in_torques_at_the_same_places_have_one_hessian(curve: Any, monkeypatch: pytest.MonkeyPatch):
    """The sum of theirs, in IPOPT's graph, in numbers and in lanes, in few more operations than the larger one."""
    problem = everything()
    powers = co.path(lambda now: now.tau * now.qd, lower=-200, upper=200, name="powers")
    problem = replace(problem, subject_to=[*problem.subject_to, powers])

    def hessians() -> tuple[BaseNLP, list[np.ndarray]]:
        nlp = co.transcribe(problem, curve)
        x, p, pushes = point(nlp), np.array([1.5]), np.random.default_rng(1).standard_normal(nlp.n_g)
        upper = nlp.hess_lag(x, p, 1.0, pushes)
        free = np.flatnonzero(nlp.free).tolist()
        whole = NumericDerivatives(nlp.costs, nlp.constraints, x, p).hessian("hessian", pushes)[free, free]
        functions = lanes.LaneFunctions(nlp, np.ones(nlp.n_x), np.ones(nlp.n_g))
        x, p, pushes = (lanes.in_lanes(part[None], functions.lanes) for part in (x, p, pushes))
        triangle = np.zeros(whole.shape)
        entries = functions.hessian(x, p, np.ones((1, functions.lanes)), pushes)[0, :, 0]
        triangle[functions.hessian_row, functions.hessian_column] = entries
        return nlp, [ca.triu(whole).full(), upper[free, free].full(), triangle.T]

    nlp, joint = hessians()
    (names,) = (blocks for blocks in Block.joined(nlp.constraints).values() if len(blocks) > 1)
    (one,) = (block for block, blocks in Block.joined(nlp.constraints).items() if blocks == names)
    assert {block.name for block in names} == {"tau bounds", "powers"}
    counts = [block.functions.operations("hessian") for block in (one, *names)]
    assert max(counts[1:]) < counts[0] < 0.8 * sum(counts[1:])
    monkeypatch.setattr(Block, "joined", lambda blocks: {block: [block] for block in blocks})
    for found, apart in zip(joint, hessians()[1], strict=True):
        size = np.abs(apart).max()
        assert found == pytest.approx(apart, abs=1e-12 * size)
        assert apart == pytest.approx(joint[0], abs=1e-12 * size)


def test_a_wrong_block_jacobian_is_caught(monkeypatch: pytest.MonkeyPatch):
    exact = BlockFunctions.slopes.func  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setattr(BlockFunctions, "slopes", property(lambda self: 1.001 * exact(self)))
    nlp = co.transcribe(everything(), co.BSpline(4))
    assert nlp.check_derivatives(point(nlp), [1.5])["jacobian"] > 1e-4


def test_ipopt_really_uses_the_blocks_derivatives(monkeypatch: pytest.MonkeyPatch):
    """A deliberately wrong Jacobian must change the outcome; were it silently replaced by AD, nothing would."""
    plan = [co.refinement.Solve(tol=0.02)]  # 0.01 each of two sources
    right = co.solve(time_optimal(), co.BSpline(10), plan=plan)
    exact = BlockFunctions.slopes.func  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setattr(
        BlockFunctions, "slopes", property(lambda self: exact(self) * (1 + 0.5 * ca.sin(self.local.w[0])))
    )
    limited = co.Ipopt(max_iter=100)
    wrong = co.solve(time_optimal(), co.BSpline(10), raise_on_failure=False, solver=limited, plan=plan)
    assert not (wrong.success and abs(wrong.duration - right.duration) < 1e-6 and wrong.iterations == right.iterations)


def test_a_wrong_recursion_changes_the_outcome():
    """The recursion is what IPOPT gets: dropping dtau/dqd must show, in the derivative check and in the solve."""
    right = by_differentiation(co.dynamics.newton_euler)

    def careless(model, q, qd, qdd, loads=()) -> Sensitivities:
        return right(model, q, qd, qdd, loads)._replace(dqd=ca.SX(model.n, model.n))

    good, bad = (co.transcribe(everything(), co.BSpline(4), sensitivities=recursion) for recursion in (right, careless))
    assert good.check_derivatives(point(good), [1.5])["jacobian"] < 1e-8
    assert bad.check_derivatives(point(bad), [1.5])["jacobian"] > 1e-3
    answers = [
        co.solve(
            co.transcribe(time_optimal(), co.BSpline(16), sensitivities=recursion),
            raise_on_failure=False,
            solver=co.Ipopt(max_iter=100),
        )
        for recursion in (right, careless)
    ]
    assert answers[0].success
    assert not answers[1].success or abs(answers[1].duration - answers[0].duration) > 1e-6


def test_the_nlp_shows_which_derivatives_it_uses():
    nlp = co.transcribe(
        time_optimal(), co.BSpline(4), co.dynamics.lagrange, by_differentiation(co.dynamics.newton_euler)
    )
    assert "lagrange" in repr(nlp)
    assert "first derivatives by differentiation of newton_euler" in repr(nlp)
    assert "first derivatives by differentiation of newton_euler" in repr(co.transcribe(time_optimal(), co.BSpline(4)))
    assert "first derivatives by composite_sensitivities" in repr(co.transcribe(long_chain(), co.BSpline(2)))


@pytest.mark.parametrize("make", [co.BSpline, co.HermiteSimpson, co.Radau])
def test_nonzeros_grow_linearly(make: type[co.BSpline]):
    def counts(intervals: int) -> np.ndarray:
        nlp = co.transcribe(everything(), make(intervals))
        return np.array([nlp.n_x, nlp.n_g, nlp.jac_g.nnz_out(1), nlp.hess_lag.nnz_out(0)])

    first, second, third = counts(20), counts(40), counts(60)
    assert np.abs((third - second) - (second - first)).max() <= 0.02 * (second - first).max()


@pytest.mark.parametrize("curve", [co.BSpline(1000), co.HermiteSimpson(1000), co.Radau(1000)], ids=str)
def test_a_thousand_intervals_make_no_dense_matrices(curve: co.BSpline):
    nlp = co.transcribe(time_optimal(), curve)
    rows = nlp.jac_g.sparsity_out(1).row()
    assert max(np.bincount(rows)) <= 4 * 2 + 1 + 8  # a slice, not the trajectory
    assert nlp.hess_lag.nnz_out(0) < 25 * nlp.n_x


def test_rows_are_named_with_joint_and_time():
    nlp = co.transcribe(everything(), co.BSpline(4))
    x = np.zeros(nlp.n_x)
    x[nlp.grid.layout.duration] = 2.0
    names = [nlp.row_name(row, x) for row in range(nlp.n_g)]
    assert "initial qd[arm] at t = 0 s" in names
    assert "final tau[slide] at t = 2 s" in names
    assert "tau[slide] at t = 1 s" in names
    assert "qd[arm] at t = 0.25 s" in names  # control points of the derivative, where they sit
    assert "passing at t = 0.74 s" in names


@pytest.mark.parametrize(
    "curve", [co.BSpline(10, nodes=41), co.BSpline(7), co.HermiteSimpson(10), co.Radau(7, 3)], ids=str
)
def test_bounds_hold_during_their_part_of_the_motion(curve):
    window = co.bounds(
        q={"shoulder": (-0.3, -0.1)}, qd={"elbow": (-0.2, 0.2)}, tau={"elbow": (-9, 9)}, during=(0.2, 0.6)
    )
    ends = [co.initial(q=(0, 0), qd=0), co.final(q=(0, 0), qd=0)]
    problem = co.Problem(time_optimal().model, 1.0, co.integral(effort), [*ends, window])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # torques keep to their bounds at nodes
        solution = co.solve(problem, curve, compile=False)
    nodes = solution.t[(solution.t >= 0.2) & (solution.t <= 0.6)]
    inside, outside = solution.at(nodes), solution.at(np.array([0.05, 0.95]))
    assert -0.3 - 1e-7 < inside.q[:, 0].min() < inside.q[:, 0].max() < -0.1 + 1e-7
    assert np.abs(inside.qd[:, 1]).max() < 0.2 + 1e-6
    assert np.abs(inside.tau[:, 1]).max() < 9 + 1e-6
    assert outside.q[:, 0].max() > -0.1
    assert {v.constraint for v in solution.violations} >= {"q bounds", "qd bounds", "tau bounds"}


def test_bounds_during_whole_intervals_need_no_rows():
    stated = [co.bounds(q={"shoulder": (0.2, 0.2)}, during=during) for during in ((0.2, 0.6), (0.7, 0.95))]
    nlp = co.transcribe(
        co.Problem(time_optimal().model, 1.0, co.integral(effort), stated[:1]), co.BSpline(10, nodes=41)
    )
    assert "q bounds" not in [block.name for block in nlp.constraints]
    points = nlp.grid.layout["q"][:, 0]
    np.testing.assert_array_equal(nlp.lower[points] == nlp.upper[points], [2 <= k < 9 for k in range(13)])
    # From 0.9 to 0.95 the window ends within an interval: its end is a row.
    for curve in (co.BSpline(10), co.Radau(10, 2)):
        nlp = co.transcribe(co.Problem(time_optimal().model, 1.0, co.integral(effort), stated), curve)
        (rows,) = nlp.constraints
        assert rows.name == "q bounds 2"
        np.testing.assert_allclose(rows.sites.s, [0.95])


def test_a_window_that_cuts_an_interval_holds_at_its_end():
    """Limits by control points in whole intervals; at nodes, and the window's end, in the one that the window cuts."""
    stated = co.bounds(q={"shoulder": (-0.2, 0.2)}, qd={"elbow": (-1, 1)}, during=(0.2, 0.64))
    problem = co.Problem(time_optimal().model, 1.0, co.integral(effort), [stated])
    for nodes, beyond in ((41, [0.6, 0.625, 0.64]), (5, [0.64])):
        found = co.transcribe(problem, co.BSpline(10, nodes=nodes)).constraints
        (q,) = (block.sites.s for block in found if block.name == "q bounds")
        hull, rest = (block.sites.s for block in found if block.name == "qd bounds")
        assert hull.size == 4 + 2
        np.testing.assert_allclose(q, [s for s in beyond if s > 0.6 + 1e-9])
        np.testing.assert_allclose(rest, [s for s in beyond if s > 0.6 + 1e-9])


def test_bounds_that_leave_nothing_are_refused():
    stated = [co.bounds(q=(-1, 1)), co.bounds(q={"elbow": (2, 3)}, during=(0.5, 1))]
    for curve in (co.BSpline(4), co.Radau(4)):
        with pytest.raises(co.InputError, match=r"'q bounds' keeps q\[elbow\] at 2 to 3, outside its bounds \[-1, 1\]"):
            co.transcribe(co.Problem(time_optimal().model, 1.0, co.integral(effort), stated), curve)


def test_bounds_on_positions_are_bounds_on_control_points():
    problem = everything()
    nlp = co.transcribe(problem, co.BSpline(5))
    index = nlp.grid.layout["q"]
    np.testing.assert_array_equal(nlp.grid.layout.lower[index], np.tile([-3.0, -np.inf, -0.5], (8, 1)))
    np.testing.assert_array_equal(nlp.lower[index][1:-2], nlp.grid.layout.lower[index][1:-2])
    assert not any(block.name == "q bounds" for block in nlp.constraints)


def test_a_users_constraint_may_be_called_like_a_built_in_one():
    problem = co.Problem(
        two := time_optimal().model, 1.0, co.integral(lambda now: ca.sumsqr(now.qdd)),
        [co.path(lambda now: now.q[0], upper=2.0, name="q bounds"), co.bounds(q=(-3, 3))],
    )  # fmt: skip
    assert two.n == 2
    assert "q bounds" in [block.name for block in co.transcribe(problem, co.BSpline(3)).constraints]


def test_path_windows_select_nodes():
    nlp = co.transcribe(everything(), co.HermiteSimpson(4))
    (power,) = [block for block in nlp.constraints if block.name == "power"]
    np.testing.assert_allclose(power.sites.s, np.arange(7, 22) / 28)


@pytest.mark.parametrize("curve", [co.BSpline(4, nodes=5), co.HermiteSimpson(2), co.Radau(3)], ids=str)
def test_a_window_between_nodes_still_holds(curve: co.BSpline):
    """Two windows that contain no node of the grid, one of them a single moment."""
    problem = co.Problem(
        time_optimal().model, 1.0, co.integral(lambda now: ca.sumsqr(now.qdd)),
        [co.initial(q=0.0, qd=0.0), co.final(q=0.0, qd=0.0),
         co.path(lambda now: now.q[0], lower=0.3, during=(0.41, 0.425), name="hump"),
         co.path(lambda now: now.q[1], lower=0.2, during=(0.6, 0.6), name="peak")],
    )  # fmt: skip
    solution = co.solve(problem, curve)
    assert solution.at(0.42).q[0] == pytest.approx(0.3, abs=1e-2)
    assert solution.at(0.6).q[1] > 0.2 - 1e-7
    assert {violation.constraint for violation in solution.violations} >= {"hump", "peak"}


@pytest.mark.parametrize("curve", [co.HermiteSimpson(3), co.Radau(3)], ids=str)
def test_a_row_bent_in_torque_has_its_hessian_between_nodes(curve):
    """A window without nodes has rows at its ends."""
    narrow = co.path(lambda now: now.tau[0] ** 2, upper=1.0, during=(0.06, 0.09), name="gentle")
    nlp = co.transcribe(replace(everything(), subject_to=[narrow]), curve)
    (rows,) = [block for block in nlp.constraints if block.name == "gentle"]
    assert rows.n_slices == 2
    assert max(nlp.check_derivatives(point(nlp), [1.5]).values()) < 1e-7


@pytest.mark.parametrize("name", ["reach", "tau bounds"])
def test_limits_hold_at_the_start_of_a_radau_mesh_and_on_both_sides_of_its_breakpoints(name: str):
    (rows,) = [block for block in co.transcribe(everything(), co.Radau(3)).constraints if block.name == name]
    at = rows.sites.s
    assert at[0] == 0
    assert at[-1] == 1
    assert [np.isclose(at, s).sum() for s in (0, 1 / 3, 2 / 3, 1)] == [1, 2, 2, 1]


def test_repr_counts_blocks():
    text = repr(co.transcribe(everything(), co.BSpline(4)))
    assert "variables" in text
    assert "tau bounds" in text
    assert "<table>" in co.transcribe(everything(), co.BSpline(4))._repr_html_()
