"""Closed chains by collocation: loop forces as loads, closure between nodes and its order, the optimum of both ways."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc import loops
from colloc.loops import CutJoints
from colloc.models.closed.five_bar import END, START, five_bar
from colloc.models.closed.four_bar import four_bar
from colloc.models.closed.parallel_scara import parallel_scara
from colloc.models.closed.rower import CATCH, FINISH, oar_load, rower
from colloc.models.closed.slider_crank import slider_crank
from colloc.studies.closed_chains import time_optimal
from tests.support.problems import effort
from tests.support.random_loops import closed_chain

KINDS = ("weld", "revolute", "prismatic", "cylindrical", "spherical", "planar", "on_line", "on_plane")
FROM, TO = (0.5,), (2.5,)
FINE = np.linspace(0, 1, 2001)


def moving(
    chain: loops.ClosedChain, start, end, *more, duration: co.Free | float = 1.0, minimize=None, loads=(), part=None
) -> co.Problem:
    """From rest to rest with the least squared torque; by a part of the loops, or cut."""
    still = dict.fromkeys(chain.independent, 0.0)
    return co.Problem(
        chain.model,
        duration,
        minimize or 0.5 * co.integral(effort),
        [
            co.initial(q=dict(zip(chain.independent, start, strict=True)), qd=still),
            co.final(q=dict(zip(chain.independent, end, strict=True)), qd=still),
            *more,
        ],
        loads=loads,
        parts=[part or CutJoints(chain)],
    )


def solved(
    chain: loops.ClosedChain, start, end, curve, problem: co.Problem | None = None, tol: float = 1e-8
) -> co.Solution:
    """From the motion that moves the independent joints uniformly, to a tolerance of IPOPT's."""
    u = np.array([start, end])
    problem = problem or moving(chain, start, end)
    T = problem.horizon.guess
    assert T is not None
    return co.solve(
        problem,
        curve,
        guess=lambda t: loops.assemble(chain, u[0] + t / T * (u[1] - u[0])),
        solver=co.Ipopt(tol=tol),
        plan=[co.refinement.Solve(tol=1.0)],
    )


@cache
def cranked(curve) -> co.Solution:
    return solved(four_bar(), FROM, TO, curve, tol=1e-10)


def gap(solution: co.Solution, s: np.ndarray = FINE, chain: loops.ClosedChain | None = None) -> float:
    return loops.closure_error(chain or four_bar(), solution.at(s * solution.duration).q).max()


# -- what the pieces say ----------------------------------------------------------------------------------------------


def random_chain(kind: str) -> loops.ClosedChain:
    drawn = closed_chain(np.random.default_rng(KINDS.index(kind)), (kind,), 12)
    return loops.ClosedChain(drawn.model, drawn.loops, guess=drawn.q)


CHAINS = {model.__name__: model for model in (four_bar, five_bar, slider_crank, parallel_scara, rower)}


@pytest.mark.parametrize("name", [*CHAINS, *KINDS])
def test_loads_are_the_loop_forces(name):
    """At any posture, open ones included: torques less the transposed Jacobian times the multipliers."""
    chain = CHAINS[name]() if name in CHAINS else random_chain(name)
    cut = CutJoints(chain, name="mu")
    problem = co.Problem(chain.model, 1.0, co.duration(), parts=[cut])
    now, mu = problem.instant, problem.instant.mu
    torque = co.dynamics.newton_euler(chain.model, now.q, now.qd, now.qdd, problem.wrenches)
    expected = co.dynamics.newton_euler(chain.model, now.q, now.qd, now.qdd) - loops.loop_torques(chain, now.q, mu)
    function = ca.Function("f", [now.q, now.qd, now.qdd, mu], [torque, expected])
    rng = np.random.default_rng(0)
    mine, theirs = map(np.array, function(*rng.normal(size=(3, chain.model.n)), rng.normal(size=chain.rows.size)))
    np.testing.assert_allclose(mine, theirs, atol=1e-12 * max(1.0, np.abs(theirs).max()))


def test_rates_of_the_gap_are_its_derivatives():
    chain = rower()
    cut = CutJoints(chain)
    now = co.Problem(chain.model, 1.0, co.duration(), parts=[cut]).instant
    gap_of, rate = cut.gap(now), cut.gap_rate(now)
    state, change = ca.vertcat(now.q, now.qd), ca.vertcat(now.qd, now.qdd)
    wrong = [rate - ca.jtimes(gap_of, now.q, now.qd), cut.gap_acceleration(now) - ca.jtimes(rate, state, change)]
    values = ca.Function("f", [now.q, now.qd, now.qdd], wrong)(*np.random.default_rng(0).normal(size=(3, 8)))
    assert max(float(ca.norm_inf(value)) for value in values) < 1e-13


def test_derivatives_of_the_nlp_are_exact():
    """With the recursion for many joints, which adds what loads gain from the posture."""
    cut = moving(rower(), CATCH, FINISH, loads=[oar_load()])
    nlp = co.transcribe(cut, co.Radau(2, 2), compile=False)
    x = nlp.grid.interpolate(co.transcription.trajectory_from(cut, lambda t: rower().posture)) + 0.01
    assert max(nlp.check_derivatives(x).values()) < 1e-6


@pytest.mark.parametrize("curve", [co.Radau(4, 3), co.HermiteSimpson(4)], ids=str)
@pytest.mark.parametrize("make", [four_bar, five_bar])
def test_no_row_follows_from_others(make, curve):
    """Two equalities that state one fact would make IPOPT stumble."""
    chain = make()
    start, end = (FROM, TO) if chain.mobility == 1 else (START, END)
    problem = moving(chain, start, end)
    nlp = co.transcribe(problem, curve)
    u = np.array([start, end])
    x = nlp.grid.interpolate(
        co.transcription.trajectory_from(problem, lambda t: loops.assemble(chain, u[0] + t * (u[1] - u[0])))
    )
    J = np.array(ca.densify(nlp.jac_g(x + 0.01, [])[1]))[:, nlp.free] / nlp.scale_g[:, None]
    values = np.linalg.svd(J, compute_uv=False)
    assert J.shape[0] < J.shape[1]
    assert values[-1] > 1e-7 * values[0]


def test_a_chain_is_asked_for():
    with pytest.raises(co.InputError, match="chain must be a ClosedChain"):
        CutJoints(four_bar().model)  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match="settling must be finite and positive, got -1"):
        CutJoints(four_bar(), settling=-1.0)


# -- closure ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", [co.Radau(20, 7), co.Radau(40, 5)], ids=str)
def test_the_four_bar_stays_closed_between_nodes(curve):
    solution = cranked(curve)
    assert solution.status is co.solver.Status.SOLVED
    assert gap(solution) < 1e-8
    assert solution.violation < 1e-2


@pytest.mark.parametrize("curve", [co.Radau(10, 3), co.Radau(10, 5), co.HermiteSimpson(20)], ids=str)
def test_the_five_bar_stays_closed_between_nodes(curve):
    """A parallelogram: its closure is linear in the angles, and every collocation keeps it exactly."""
    chain = five_bar(gravity=(0, 0, 0))
    solution = solved(chain, START, END, curve)
    assert solution.status is co.solver.Status.SOLVED
    assert gap(solution, chain=chain) < 1e-12


@pytest.mark.parametrize(
    ("coarse", "fine", "at_nodes", "between", "drift"),
    [
        (co.Radau(40, 3), co.Radau(80, 3), 4.8, 4.2, 2.8e-6),
        (co.Radau(20, 4), co.Radau(40, 4), 6.5, 4.8, 1.0e-6),
        (co.HermiteSimpson(40), co.HermiteSimpson(80), 3.8, 3.8, 9.1e-4),
    ],
    ids=str,
)
def test_the_gap_shrinks_with_the_order_of_the_collocation(coarse, fine, at_nodes, between, drift):
    """At nodes with that of the points, inside with that of the polynomials; far below the drift of equations that only
    keep its acceleration at zero (as measured with those).
    """
    mesh = [np.linspace(0, 1, curve.intervals + 1) for curve in (coarse, fine)]
    finely = [np.linspace(0, 1, 20 * curve.intervals + 1) for curve in (coarse, fine)]
    for places, order in ((mesh, at_nodes), (finely, between)):
        wide, narrow = (gap(cranked(curve), s) for curve, s in zip((coarse, fine), places, strict=True))
        assert np.log2(wide / narrow) > order
        assert wide < drift / 3


@pytest.mark.parametrize("degree", [3, 4, 5])
def test_smooth_splines_close_the_loop_as_well(degree: int):
    """With loop forces as splines of accelerations: freer ones carry the passive joints at either end."""
    coarse, fine = (solved(four_bar(), FROM, TO, co.BSpline(n, degree=degree)) for n in (40, 80))
    idle = [np.abs(solution.at(FINE * solution.duration).tau[:, 1:]).max() for solution in (coarse, fine)]
    assert idle[1] < min(idle[0] / 2, 5e-3)
    assert fine.cost == pytest.approx(cranked(co.Radau(40, 9)).cost, rel=5e-3)


def test_a_grid_too_coarse_says_so():
    with pytest.warns(co.refinement.SolutionWarning, match="more than the interpolated torque and deviates by"):
        solution = co.solve(
            moving(four_bar(), FROM, TO), co.Radau(4, 3), guess=lambda t: loops.assemble(four_bar(), [0.5 + 2 * t])
        )
    assert solution.status is co.solver.Status.COARSE
    assert "source" not in vars(solution.error.deferred["cost"])  # which takes long, and is not asked for
    assert any(v.row == "loops stay closed, loop pin, row 1 of 2" for v in solution.violations[:2])


# -- optima -----------------------------------------------------------------------------------------------------------


def test_torques_and_loop_forces_are_those_of_the_closed_chain():
    chain, solution = four_bar(), cranked(co.Radau(40, 9))
    k = chain.independent_dofs
    q = loops.assemble(chain, solution.q[:, k])
    np.testing.assert_allclose(q, solution.q, atol=1e-8)
    found = loops.ChainEvaluator(chain).forces(q, solution.qd[:, k], solution.qdd[:, k])
    np.testing.assert_allclose(solution.tau, found.tau, atol=1e-7)
    np.testing.assert_allclose(solution.nodes.cut_forces, found.multipliers, atol=1e-6)
    fine = solution.at(FINE)
    assert np.abs(fine.tau[:, 1:]).max() < 1e-9
    assert co.verify(solution).forward_error < 1e-5


def test_actuators_may_be_bounded_and_the_duration_free():
    """Only a problem with constraints can say this: the quickest crank of limited torque."""
    chain = four_bar(gravity=(0, 0, 0))
    limit = co.bounds(tau={"crank": (-2.0, 2.0)})
    quickest = moving(
        chain, FROM, TO, limit, duration=co.Free(0.1, 2.0, 0.7), minimize=co.duration() + 1e-3 * co.integral(effort)
    )
    solution = solved(chain, FROM, TO, co.Radau(30, 4), quickest)
    crank = solution.tau[:, 0]
    assert solution.status is co.solver.Status.SOLVED
    assert np.abs(crank).max() < 2.0 + 1e-6
    assert crank[1] == pytest.approx(2.0, abs=1e-3)
    assert crank[-1] == pytest.approx(-2.0, abs=1e-3)
    assert gap(solution) < 1e-4  # the torque jumps within an interval


def test_the_study_of_the_fastest_chains(tmp_path):
    numbers = time_optimal.main(["--quick", "--figure", str(tmp_path / "f.png")])
    assert abs(numbers["time_optimal.four_bar.spline.difference"]) < 5e-4
    assert numbers["time_optimal.four_bar.spline.gap"] < 1e-5
    assert numbers["time_optimal.four_bar.radau.solved"] == 1


def test_a_chain_without_passive_joints_needs_no_row_for_them():
    driven = four_bar(actuators=("crank", "coupler", "rocker"))
    for chain, passive in ((driven, ()), (four_bar(), ("coupler", "rocker"))):
        problem = co.Problem(chain.model, 1.0, co.duration(), parts=[CutJoints(chain)])
        assert problem.passive == passive
        assert ("tau bounds" in problem.rows) == bool(passive)
