"""How far from the best a motion is said to be, against optima known in closed form or converged independently."""

import pickle
from dataclasses import replace
from itertools import product

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.blocks.numeric import NumericDerivatives, _rising
from colloc.curves.mesh import mesh_ends
from colloc.errors.gap import CostGap, _QuadraticModel
from colloc.refinement.run import Run
from colloc.solution.solution import Measured
from colloc.solver.quadratic import quadratic_optimum
from colloc.studies.classics.optima import CLASSICS
from colloc.transcription.quadratic import QuadraticOptimum, QuadraticProgram, by_piqp
from tests.refinement.test_starts import throw
from tests.storage.test_phases_files import GUESS, bounce
from tests.support.problems import everything, time_optimal

SHARP = 0.391854539516  # two-link minimum time, converged independently
CURVES = (co.BSpline(5), co.BSpline(16), co.BSpline(8, degree=5), co.Radau(3), co.Radau(9), co.HermiteSimpson(10))


def solved(problem: co.Problem, curve: co.curves.Transcription, form: str = "auto") -> co.Solution:
    plan = [co.refinement.Solve(form=form)]
    solution = co.solve(problem, curve, compile=False, raise_on_failure=False, plan=plan)
    assert solution.outcome.status == co.solver.Status.SOLVED
    return solution


def gap_of(solution: co.Solution | co.solution.PhasesSolution) -> CostGap:
    """The distance of a solution from the best."""
    return CostGap(solution.nlp, solution.x, solution.parameters, solution.cost_scale, quadratic_optimum)


def excess(solution: co.Solution, optimum: float) -> float:
    """How much costlier a motion is than the best, relative to its scale."""
    return (solution.cost - optimum) / solution.cost_scale


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_the_gap_of_the_fastest_swing_is_the_true_one(curve):
    solution = solved(time_optimal(), curve)
    assert 0.6 < solution.error["cost"].total / excess(solution, SHARP) < 1.2


@pytest.mark.filterwarnings("ignore:.*(equations are not satisfied|add up to)")  # on the coarsest
@pytest.mark.parametrize("curve", [co.BSpline(6), co.Radau(4), co.HermiteSimpson(8)], ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "double_integrator_speed",
        "breakwell",
        "van_der_pol",
        "tangent_steering",
        "bryson_denham_states",
        "hypersensitive",
    ],
)
def test_the_gap_of_classic_problems_is_the_true_one(name, curve):
    """Limits on speeds and positions, free end states, states, unknown signals: optima in closed form."""
    solution = solved(CLASSICS[name].problem(), curve)
    true = excess(solution, CLASSICS[name].optimum)
    assert true < 1e-4 or 0.5 < solution.error["cost"].total / true < 2


def test_what_is_far_too_costly_is_not_called_solved():
    with pytest.warns(co.refinement.SolutionWarning, match=r"by about 2\.1% .* tau\[shoulder\] should be at its limit"):
        solution = co.solve(time_optimal(), co.BSpline(8), compile=False)
    assert solution.status == co.solver.Status.COARSE
    assert solution.error.source == "cost"


def test_the_gap_lies_at_the_switch_and_is_the_sum_of_its_parts():
    """A mass thrown from rest to rest in the shortest time: its force changes sign half-way."""
    solution = solved(CLASSICS["double_integrator"].problem(), co.BSpline(15))
    share = gap_of(solution).shares[""]
    assert share.per_interval.argmax() == 7
    assert share.per_interval[6:9].sum() > 0.9 * share.per_interval.sum() > 0
    np.testing.assert_allclose(sum(share.rows.values()), share.limits, atol=1e-9)


def test_multipliers_of_the_gap_are_the_switching_function():
    """Of the double integrator it falls linearly through zero, and is 1 / force at both ends for a Hamiltonian of 0."""
    problem = CLASSICS["double_integrator"].problem()
    solution = solved(problem, co.BSpline(10))
    gap = gap_of(solution)
    row = next(k for k, block in enumerate(gap.richer.constraints) if "tau" in block.rows.labels[0])
    block, first = gap.richer.constraints[row], int(gap.richer.offsets[row])
    multipliers = gap.step.lam_g[first : first + block.n_slices]
    sums = np.zeros(20)  # per interval of the richer curve: integrals of the switching function
    assert block.sites.interval is not None
    np.add.at(sums, block.sites.interval, multipliers)
    t = (np.arange(20) + 0.5) / 20
    force = float(problem.limits("tau")[1][0])
    np.testing.assert_allclose(sums, solution.duration / 20 / force * (1 - 2 * t), atol=0.03 * sums.max())


def test_the_phases_of_a_motion_have_their_shares_of_its_gap():
    """Cut in two at a posture that is free, the fastest swing is as far from the best as in one piece."""
    whole = time_optimal()
    first = co.Problem(whole.model, co.Free(0.05, 2.0, 0.2), co.duration(), [whole.subject_to[0], whole.subject_to[2]])
    second = co.Problem(whole.model, co.Free(0.05, 2.0, 0.2), co.duration(), whole.subject_to[1:])
    sequence = co.Phases({"first": first, "second": second})
    solution = co.solve(sequence, co.BSpline(6), guess=co.line((0, -2), (1, -1)), compile=False)
    true = (solution.cost - SHARP) / solution.cost_scale
    assert 0.5 < solution.error["cost"].total / true < 1.5
    parts = [phase.error["cost"].total for phase in solution.phases.values()]
    assert sum(parts) == pytest.approx(solution.error["cost"].total, rel=1e-12)
    gap = gap_of(solution)
    assert sum(parts) == pytest.approx(abs(gap.total) / solution.cost_scale, rel=1e-9)


def test_a_motion_on_the_best_curve_has_no_gap():
    """Splines of degree 3 hold the least effort of a double integrator exactly."""
    rest = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    mass = CLASSICS["double_integrator"].problem().model
    effort = co.Problem(mass, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), rest)
    assert solved(effort, co.BSpline(4)).error["cost"].total < 1e-8


def test_the_richer_curve_holds_the_motion_as_it_is():
    problem = everything()
    nlp = co.transcribe(problem, co.BSpline(4), compile=False)
    x = np.clip(np.random.default_rng(0).uniform(0.1, 0.9, nlp.n_x), nlp.lower, nlp.upper)
    gap = CostGap(nlp, x, np.array([1.5]), 1.0, quadratic_optimum)
    s = np.linspace(0, 1, 37)
    for name in ("q", "signals"):
        values = []
        for program, vector in ((nlp, x), (gap.richer.phases[""], gap.point)):
            basis = program.grid.basis if name == "q" else program.curve.signals
            index = basis.first[basis.interval(s)][:, None] + np.arange(basis.degree + 1)
            values.append(np.einsum("nk,nkj->nj", basis.values(s), vector[program.grid.layout[name]][index]))
        np.testing.assert_allclose(*values, atol=1e-12)


def test_matrices_of_numbers_are_those_of_the_graphs():
    nlp = co.transcribe(everything(), co.Radau(3), compile=False)
    rng = np.random.default_rng(1)
    x, p = np.clip(rng.uniform(0.1, 0.9, nlp.n_x), nlp.lower, nlp.upper), np.array([1.5])
    multipliers = rng.standard_normal(nlp.n_g)
    gradient, jacobian = np.array(nlp.grad_f(x, p)[1]).ravel(), np.array(ca.densify(nlp.jac_g(x, p)[1]))
    upper = nlp.hess_lag(x, p, 1.0, multipliers)
    hessian = np.array(ca.densify(upper + ca.triu(upper, False).T))
    free, derivatives = nlp.free, NumericDerivatives(nlp.costs, nlp.constraints, x, p)
    np.testing.assert_allclose(derivatives.gradient[free], gradient[free], rtol=1e-9, atol=1e-9)
    ours = np.array(ca.densify(derivatives.jacobian))
    np.testing.assert_allclose(ours[:, free], jacobian[:, free], rtol=1e-9, atol=1e-9)
    ours = np.array(ca.densify(derivatives.hessian("hessian", multipliers)))
    size = np.abs(hessian).max()
    np.testing.assert_allclose(ours[np.ix_(free, free)], hessian[np.ix_(free, free)], atol=1e-11 * size)


def test_second_derivatives_along_a_direction_are_those_of_the_matrix():
    nlp = co.transcribe(everything(), co.Radau(3), compile=False)
    rng = np.random.default_rng(2)
    x, d = np.clip(rng.uniform(0.1, 0.9, nlp.n_x), nlp.lower, nlp.upper), rng.standard_normal(nlp.n_x)
    derivatives = NumericDerivatives(nlp.costs, nlp.constraints, x, np.array([1.5]))
    second = derivatives.second_derivatives("hessian", rng.standard_normal(nlp.n_g))
    assert second.along(d) == pytest.approx(d @ np.array(second.matrix @ d).ravel(), rel=1e-10)


def test_a_cost_that_is_no_sum_of_squares_bends_upwards_too():
    """Cubed forces of a mass that is pushed from rest to rest; without their curvature all of them could vanish."""
    rest = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    mass = CLASSICS["double_integrator"].problem().model
    cost = co.integral(lambda now: ca.fabs(now.tau[0]) ** 3)
    problem = co.Problem(mass, 1.0, cost, rest)
    fine = solved(problem, co.Radau(60))
    for curve in (co.BSpline(4), co.BSpline(8), co.HermiteSimpson(10)):
        solution = solved(problem, curve)
        assert 0.5 < solution.error["cost"].total / excess(solution, fine.cost) < 1.5


def test_the_convex_part_of_costs_is_made_of_positive_eigenvalues():
    """Of q^2 - tau^2 + tau^3: at every instant that of q, and of tau where tau > 1/3."""
    mass = CLASSICS["double_integrator"].problem().model
    terms = co.integral(lambda now: now.q[0] ** 2 - now.tau[0] ** 2 + now.tau[0] ** 3)
    nlp = co.transcribe(co.Problem(mass, 1.0, terms, []), co.BSpline(5), compile=False)
    x = np.random.default_rng(3).uniform(-1, 1, nlp.n_x)
    derivatives = NumericDerivatives(nlp.costs, nlp.constraints, x, np.zeros(0))
    convex, whole = derivatives.convex, derivatives.hessian("hessian", np.zeros(nlp.n_g))
    free = np.flatnonzero(nlp.free).tolist()
    assert np.linalg.eigvalsh(convex.matrix[free, free].full()).min() > -1e-9
    assert np.linalg.eigvalsh((convex.matrix - whole)[free, free].full()).min() > -1e-9
    assert np.linalg.eigvalsh(whole[free, free].full()).min() < -0.1


def test_the_convex_part_has_its_entries_on_both_sides():
    """Of all symmetric integers from -2 to 2: rounding left some entries zero on one side, and these are not stored."""
    sides = np.array(list(product(range(-2, 3), repeat=6)), dtype=float)
    blocks = np.zeros((len(sides), 3, 3))
    rows, columns = np.triu_indices(3)
    blocks[:, rows, columns] = blocks[:, columns, rows] = sides
    pattern = ca.kron(ca.Sparsity.diag(len(blocks)), ca.Sparsity.dense(3, 3))
    rising = _rising(ca.DM(pattern, blocks.ravel()), len(blocks))
    assert rising.sparsity().is_symmetric()
    assert (rising - rising.T).nonzeros() == [0.0] * rising.nnz()


def test_a_stiff_equation_has_its_slope_for_a_size():
    """A state that follows a force within 2 us: the slopes of its equation are 2000 in natural sizes."""
    mass = CLASSICS["double_integrator"].problem().model
    follower = co.State("follower", rate=lambda now: 5e5 * (now.tau[0] - now.follower), lower=-1e6, upper=1e6)
    rest = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    cost = co.integral(lambda now: now.follower**2)
    solution = solved(co.Problem(mass, 1.0, cost, rest, unknowns=[follower]), co.BSpline(6, degree=4, continuity=1))
    gap = gap_of(solution)
    model = _QuadraticModel(gap.richer, gap.point, gap.p, gap.scale, quadratic_optimum)
    program = model._program(model._derivatives.convex.matrix)
    equal = np.flatnonzero(program.low == program.high)
    slopes = np.sqrt(np.array(ca.sum2(program.A**2)).ravel())[equal]
    assert equal.size
    assert slopes.max() < 1 + 1e-9
    assert not gap.step.far
    assert gap.total / gap.scale < 1e-3


@pytest.mark.parametrize(("name", "programs"), [("double_integrator", 1), ("brachistochrone_states", 2)])
def test_curvature_that_changes_nothing_takes_no_second_program(monkeypatch, name, programs):
    """Rows that are linear have none; a bead on a curve has, without which its gap were seven times as large."""
    programs_solved = []
    monkeypatch.setattr("colloc.errors.gap.by_piqp", lambda program: programs_solved.append(1) or by_piqp(program))
    solution = solved(CLASSICS[name].problem(), co.BSpline(16))
    assert 0.8 < solution.error["cost"].total / excess(solution, CLASSICS[name].optimum) < 1.25
    assert len(programs_solved) == programs


@pytest.mark.filterwarnings("ignore:errors between nodes add up to")
def test_rates_that_have_bounds_keep_their_splines_smooth():
    jerky = [*time_optimal().subject_to, co.bounds(tau_rate=(-400.0, 400.0))]
    problem = co.Problem(time_optimal().model, co.Free(0.1, 5.0), co.duration(), jerky)
    solution = solved(problem, co.BSpline(10, degree=5))
    gap = gap_of(solution)
    assert (gap.richer.curves[""].basis.continuity == 2).all()
    assert 0 < gap.total / solution.cost < 0.2


def test_meshes_are_cut_in_two():
    solution = solved(time_optimal(), co.BSpline(4))
    richer = gap_of(solution).richer.curves[""]
    np.testing.assert_allclose(richer.basis.breakpoints, mesh_ends(8, None))


def test_a_flight_that_costs_nothing_has_no_gap():
    """Where most directions cost nothing, PIQP stops far from an optimum, and IPOPT does not."""
    solution = co.solve(bounce(), co.Radau(6, 4), guess=GUESS, compile=False, tol=1e-4, progress=False)
    assert solution.success
    assert len(solution.rounds) <= 3
    assert solution.error["cost"].total < 1e-8


@pytest.mark.parametrize("solve", [by_piqp, quadratic_optimum])
def test_quadratic_programs_are_solved(solve):
    """Against active sets by hand: x + y = 1 and x <= 1/4 under x^2 + y^2 - 4 x."""
    H, A = ca.DM([[2, 0], [0, 2]]), ca.DM([[1, 1]])
    one, room = np.ones(1), np.full(2, 10.0)
    optimum = solve(QuadraticProgram(ca.sparsify(H), np.array([-4.0, 0.0]), A, one, one, -room, np.array([0.25, 10.0])))
    assert optimum.solved
    np.testing.assert_allclose(optimum.d, [0.25, 0.75], atol=1e-6)
    np.testing.assert_allclose([*optimum.lam_a, *optimum.lam_x], [-1.5, 5.0, 0.0], atol=1e-5)


def test_the_doubt_of_a_quadratic_program_is_its_duality_gap():
    """Halfway to the bound of a line that falls by three, with the multipliers of its end: half of three is missing."""
    one = np.ones(1)
    program = QuadraticProgram(ca.DM(1, 1), -3 * one, ca.DM.eye(1), -one, one, -9 * one, 9 * one)
    at = [program.optimum_at(ca.DM(d), ca.DM(3), ca.DM(0), solved=True) for d in (0.5, 1.0)]
    assert [optimum.doubt for optimum in at] == pytest.approx([1.5, 0.0])
    assert program.optimum(lambda _: at[0], lambda _: at[1], doubt=1e-6) is not at[0]
    worse = at[0]._replace(solved=False)
    assert program.optimum(lambda _: at[1]._replace(solved=False), lambda _: worse).doubt == pytest.approx(0.0)


def test_the_gap_of_a_fine_grid_is_no_sum_of_what_a_solver_leaves_at_every_bound():
    """2000 limits, of which an interior point each leaves a little: at a tolerance of 1e-7 that is 6e-5 of the cost."""
    solution = co.solve(time_optimal(), co.Radau(200), compile=False, raise_on_failure=False)
    gap = gap_of(solution)
    model = _QuadraticModel(gap.richer, gap.point, gap.p, gap.scale, gap.solver)
    program = model._program(model._derivatives.convex.matrix)
    for solve in (by_piqp, quadratic_optimum):
        optimum = program.optimum(solve)
        assert optimum.doubt < 1e-6
        assert -program.g @ optimum.d * model._scale / gap.scale == pytest.approx(excess(solution, SHARP), abs=1e-6)


@pytest.mark.parametrize("near", [0.0, 0.1, 1.0], ids="{} of the rows".format)
def test_rows_that_are_left_out_come_back_where_they_count(near):
    """Rows far from their bounds, of which a long step breaks some, against a solver that has all of them."""
    rng, n, m = np.random.default_rng(4), 12, 60
    A, g = rng.standard_normal((m, n)), 5 * rng.standard_normal(n)
    room = np.where(np.arange(m) < near * m, 0.1, rng.uniform(0.6, 1.5, m))
    program = QuadraticProgram(ca.DM.eye(n), g, ca.sparsify(ca.DM(A)), -room, room, np.full(n, -10.0), np.full(n, 10.0))
    optimum, whole = program.optimum(by_piqp), quadratic_optimum(program)
    assert optimum.solved
    np.testing.assert_allclose(optimum.d, whole.d, atol=1e-5)
    np.testing.assert_allclose(optimum.lam_a, whole.lam_a, atol=1e-4)
    assert (np.abs(A @ optimum.d) < room + 1e-6).all()
    assert near == 1.0 or (np.abs(optimum.lam_a[room > 0.5]) > 1e-2).any()  # some that were left out count


def test_directions_that_cost_nothing_are_no_trouble():
    """A linear program with a face of optima: IPOPT ends on it, at its own optimum to rounding."""
    rng, n, m = np.random.default_rng(5), 400, 60
    A, g = ca.sparsify(ca.DM(rng.standard_normal((m, n)))), np.array(ca.DM(rng.standard_normal((1, m)))).ravel()
    slope = np.array(A.T @ g).ravel()  # only what the rows see costs anything
    room = rng.uniform(0.01, 0.4, m)
    program = QuadraticProgram(ca.DM(n, n), slope, A, -room, room, np.full(n, -10.0), np.full(n, 10.0))
    optimum = program.optimum(quadratic_optimum)
    assert optimum.solved
    assert optimum.doubt < 1e-6
    assert slope @ optimum.d == pytest.approx(-np.abs(g) @ room, rel=1e-6)


def test_rows_without_a_bound_are_no_rows(capfd: pytest.CaptureFixture[str]):
    """Of which PIQP would print; and the multipliers stay where they belong."""
    free, fast = time_optimal(), solved(time_optimal(), co.BSpline(12))
    wide = co.path(lambda now: now.q[0] * now.q[1], lower=-1e20, upper=1e20, name="wide")
    problem = co.Problem(free.model, free.duration, free.minimize, [wide, *free.subject_to])
    assert solved(problem, co.BSpline(12)).error["cost"].total == pytest.approx(fast.error["cost"].total, rel=1e-6)
    assert capfd.readouterr() == ("", "")


def test_a_gap_that_nobody_knows_is_no_small_one(monkeypatch: pytest.MonkeyPatch):
    def lost(program: QuadraticProgram, compile: object = None) -> QuadraticOptimum:
        return QuadraticOptimum(0 * program.g, np.zeros(program.low.size), 0 * program.g, float("nan"), False)

    monkeypatch.setattr("colloc.errors.gap.by_piqp", lost)
    monkeypatch.setattr("colloc.solution.solution.quadratic_optimum", lost)
    solution = co.solve(time_optimal(), co.BSpline(8), compile=False)
    assert solution.status is co.solver.Status.COARSE
    assert solution.error["cost"].total == np.inf


def away_from_a_ball(x: float) -> co.problem.Statement:
    """A point of the forearm is kept out of a ball."""
    centre = ca.DM([0.5, 0.05])
    return co.path(
        lambda now: ca.sumsqr(now.point("elbow", (x, 0, 0)).position[:2] - centre),
        lower=0.05**2,
        unit="m2",
        name=f"forearm at {x}",
    )


def test_what_only_negative_curvature_promises_is_no_gap():
    """Round an obstacle the Lagrangian bends the wrong way; the best of 795 variables takes 0.400837 s."""
    free = time_optimal()
    points = [away_from_a_ball(x) for x in (0.0, -0.1, -0.2, -0.3)]
    problem = co.Problem(free.model, free.duration, free.minimize, [*free.subject_to, *points])
    solution = solved(problem, co.BSpline(30))
    true = excess(solution, 0.400837)
    assert 0.5 < solution.error["cost"].total / true < 2
    assert solution.status == co.solver.Status.SOLVED


@pytest.mark.parametrize(
    "curve", [co.BSpline(20, degree=4, continuity=1), co.BSpline(20), co.Radau(20, 4), co.HermiteSimpson(30)], ids=str
)
def test_a_throw_that_could_go_further_in_longer_time_is_said_to(curve):
    """19.6745 m on 320 intervals, 0.3 to 5 m further; the whole curvature by itself promises 30 m."""
    with pytest.warns(co.refinement.SolutionWarning, match="the cost is inaccurate, or above the optimum"):
        solution = solved(throw(), curve, "compact")  # in the basin of that optimum, whatever the curve
    assert 0.75 < solution.error["cost"].total / excess(solution, -19.6745) < 1.25


def test_the_gap_is_measured_of_the_answer_alone(monkeypatch):
    """And not of the motions on which nodes are added where limits are exceeded between them."""
    steps, runs, step, once = [], [], _QuadraticModel.step, Run._once
    monkeypatch.setattr(_QuadraticModel, "step", lambda model: steps.append(model) or step(model))
    monkeypatch.setattr(Run, "_once", lambda run, *args: runs.append(run) or once(run, *args))
    solution = solved(time_optimal(), co.HermiteSimpson(12))
    assert (len(runs), len(steps)) == (2, 1)
    error = pickle.loads(pickle.dumps(solution.error))
    assert error.totals == solution.error.totals
    assert len(steps) == 1


@pytest.mark.filterwarnings("ignore:errors between nodes add up to")
def test_what_is_not_measured_yet_is_sent_as_it_is(monkeypatch):
    """An error of which bounds alone were asked for takes no longer to be sent to another process; phases alike."""
    problem = time_optimal()
    solution = co.solve(problem, co.HermiteSimpson(6), plan=[co.refinement.Solve(between="nodes")], compile=False)
    phases = co.solve(
        bounce(),
        co.Radau(4, 4),
        guess=GUESS,
        compile=False,
        plan=[co.refinement.Solve(between="nodes")],
        raise_on_failure=False,
    )
    totals = [solution.error.totals, phases.error.totals]
    steps, step = [], _QuadraticModel.step
    monkeypatch.setattr(_QuadraticModel, "step", lambda model: steps.append(model) or step(model))
    anew = [replace(s, measured=Measured()).error for s in (solution, phases)]
    _ = [error.bounds for error in anew]
    sent = pickle.loads(pickle.dumps(anew))
    assert not steps
    for error, total in zip(sent, totals, strict=True):
        assert error.totals == pytest.approx(total, rel=1e-6, abs=1e-12)
    assert len(steps) == 2


def test_a_cost_that_is_not_judged():
    """The error of the motion still counts, and finer grids judge the cost again."""
    problem = time_optimal()
    with pytest.warns(co.refinement.SolutionWarning, match=r"about 2\.1% .*, tolerance 0\.001: refine"):
        strict = co.solve(problem, co.BSpline(8), compile=False, plan=[co.refinement.Solve(tol=1e-3)])
    assert strict.status == co.solver.Status.COARSE
    solution = co.solve(problem, co.BSpline(8), compile=False, plan=[co.refinement.Solve(judge_cost=False)])
    assert solution.success
    assert "most in cost" not in repr(solution)
    assert "source" not in vars(solution.error.deferred["cost"])  # nor is it measured to be shown
    with pytest.warns(co.refinement.SolutionWarning, match="^between nodes shoulder needs .*, tolerance 1e-05: refine"):
        co.solve(problem, co.HermiteSimpson(6), compile=False, plan=[co.refinement.Solve(tol=1e-5, judge_cost=False)])
    finer = [co.refinement.Solve(judge_cost=False), co.refinement.Refine(1e-2), co.refinement.AtSwitches()]
    assert co.solve(problem, co.BSpline(8), compile=False, plan=finer).outcome.cost_tolerance <= 1e-2


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
@pytest.mark.parametrize("curve", [co.BSpline(8), co.Radau(5)], ids=str)
def test_errors_measured_with_what_a_neighbour_left_are_those_of_a_program_of_their_own(curve):
    """To the bit, whatever was solved before: a sweep has the same table on any executor."""
    shift = co.Parameter("shift", 0.0)
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(qd=0.0), co.bounds(tau=(-10.0, 10.0))]
    goal = co.at(1.0, lambda now: now.q - ca.vertcat(1.0, -1.0) - now.shift, equals=0.0)
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    problem = co.Problem(time_optimal().model, 0.6, effort, [*ends, goal], parameters=[shift])
    shared, solution, nodes = co.transcribe(problem, curve, compile=False), None, [co.refinement.Solve(between="nodes")]
    for value in (0.0, 0.05, -0.3, 0.05):
        solution = co.solve(shared, guess=solution, parameters={"shift": value}, plan=nodes, progress=False)
        alone = co.Solution(co.transcribe(problem, curve, compile=False), solution.outcome, solution.parameters)
        for name, total in alone.error.totals.items():
            assert solution.error.totals[name] == total


def test_phases_keep_their_errors_in_another_solution_of_the_same_motion():
    solution = co.solve(bounce(), co.Radau(6, 4), guess=GUESS, compile=False, tol=1e-4, progress=False)
    again = replace(solution, plan=())
    assert all(again[name].error is solution[name].error for name in solution.phases)
    parts = [again[name].part_of for name in solution.phases]
    assert all(part is not None and part[0].total == gap_of(solution).total for part in parts)
