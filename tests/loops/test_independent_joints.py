"""Closed chains whose loops are solved at every instant: the pieces, closure, limits, optima of other ways."""

from functools import cache, partial
from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.polynomial import legendre
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import colloc as co
from colloc import loops
from colloc.descent import ChainMovement, Stop, modified_newton
from colloc.loops import CutJoints, IndependentJoints
from colloc.models.closed.five_bar import END, START, five_bar
from colloc.models.closed.four_bar import four_bar
from colloc.models.closed.parallel_scara import parallel_scara
from colloc.models.closed.rower import CATCH, FINISH, oar_load, rower
from colloc.models.closed.slider_crank import slider_crank
from colloc.models.two_link import two_link
from colloc.studies.closed_chains import time_optimal
from tests.descent.test_chain_movement import rest
from tests.loops.test_cut_joints import FROM, KINDS, TO, moving, solved
from tests.support.problems import effort
from tests.support.random_loops import closed_chain

CURVES = [
    co.BSpline(6),
    co.BSpline(4, degree=5, continuity=1),
    co.BSpline(4, degree=5, continuity=1, knots="free"),
    co.Radau(4, 3),
    co.HermiteSimpson(5),
]
CHAINS = {model.__name__: model for model in (four_bar, five_bar, slider_crank, parallel_scara, rower)}
FINE = np.linspace(0, 1, 2001)


def inside(chain: loops.ClosedChain, start: Any, end: Any, *more: Any, **given: Any) -> co.Problem:
    """From rest to rest with the least squared torque, surplus actuators free to share as the cost wants them to."""
    return moving(chain, start, end, *more, part=IndependentJoints(chain, surplus=chain.redundant), **given)


def random_chain(kind: str) -> loops.ClosedChain:
    drawn = closed_chain(np.random.default_rng(KINDS.index(kind)), (kind,), 12)
    return loops.ClosedChain(drawn.model, drawn.loops, guess=drawn.q)


def instant(chain: loops.ClosedChain) -> co.problem.Instant:
    return co.Problem(chain.model, 1.0, co.duration()).instant


@cache
def cranked(curve: Any) -> co.Solution:
    return co.solve(inside(four_bar(), FROM, TO), curve, compile=False)


# -- the pieces -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CHAINS, *KINDS])
def test_a_motion_near_the_chain_is_led_to_it(name):
    """Loops closed to rounding, however the splines of the dependent joints miss them; rates that are derivatives."""
    chain = CHAINS[name]() if name in CHAINS else random_chain(name)
    joints, n, rng = IndependentJoints(chain), chain.model.n, np.random.default_rng(3)
    q, qd, qdd = (ca.SX.sym(k, n) for k in ("q", "qd", "qdd"))
    motion = ca.Function("motion", [q, qd, qdd], [*joints.motion(q, qd, qdd)])
    moves = rng.normal(size=(2, n))
    given = chain.posture.copy()
    given[chain.dependent_dofs] += 1e-3 * rng.uniform(-1, 1, len(chain.dependent_dofs))

    def along(t: float) -> list[np.ndarray]:
        state = given + t * moves[0] + t**2 / 2 * moves[1], moves[0] + t * moves[1], moves[1]
        return [np.array(part).ravel() for part in motion(*state)]

    now, h = along(0.0), 1e-4
    assert loops.closure_error(chain, now[0][None]).max() < 1e-9
    before, after = along(-h), along(h)
    k = chain.independent_dofs
    np.testing.assert_array_equal(now[0][k], given[k])
    scale = 1 + np.abs(now[2]).max()
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), now[1], atol=1e-5 * scale)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), now[2], atol=1e-4 * scale**2)


@pytest.mark.parametrize("name", [*CHAINS, *KINDS])
def test_the_tangent_is_how_the_motion_changes(name):
    chain = CHAINS[name]() if name in CHAINS else random_chain(name)
    joints, n, m = IndependentJoints(chain), chain.model.n, chain.mobility
    now = instant(chain)
    state = ca.vertcat(now.q, now.qd, now.qdd)
    moved = ca.jacobian(ca.vertcat(*joints.motion(now.q, now.qd, now.qdd)), state)
    columns = [order * n + k for order in range(3) for k in chain.independent_dofs]
    function = ca.Function("f", [now.q, now.qd, now.qdd], [joints.tangent(now), moved[:, columns]])
    rng = np.random.default_rng(1)
    ud, udd = rng.normal(size=(2, m))
    motion = loops.ChainEvaluator(chain).motion(chain.posture, ud, udd)
    mine, differentiated = map(np.array, function(chain.posture, motion.qd, motion.qdd))
    np.testing.assert_allclose(mine, differentiated, atol=1e-8 * np.abs(mine).max())


@pytest.mark.parametrize("name", [*CHAINS, *KINDS])
def test_forward_dynamics_undo_the_inverse(name):
    """With any actuators, their torques as inverse dynamics give them."""
    chain = CHAINS[name]() if name in CHAINS else random_chain(name)
    joints, now = IndependentJoints(chain), instant(chain)
    rng = np.random.default_rng(2)
    motion = loops.ChainEvaluator(chain).motion(chain.posture, *rng.normal(size=(2, chain.mobility)))
    forces = loops.ChainEvaluator(chain).forces(chain.posture, *_independent(chain, motion))
    function = ca.Function(
        "f",
        [now.q, now.qd, now.qdd, now.tau],
        [
            joints.inverse_dynamics(now, (), co.dynamics.newton_euler),
            joints.acceleration(now, ()),
            joints.multipliers(now),
        ],
    )
    tau, qdd, mu = (np.array(k).ravel() for k in function(chain.posture, motion.qd, motion.qdd, forces.tau))
    np.testing.assert_allclose(tau, forces.tau, atol=1e-9 * np.abs(forces.tau).max())
    np.testing.assert_allclose(mu, forces.multipliers, atol=1e-9 * np.abs(forces.multipliers).max())
    np.testing.assert_allclose(qdd, motion.qdd, atol=1e-6 * np.abs(motion.qdd).max())


def _independent(chain: loops.ClosedChain, motion: Any) -> tuple[np.ndarray, np.ndarray]:
    return motion.qd[chain.independent_dofs], motion.qdd[chain.independent_dofs]


@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize(
    ("make", "start", "end"),
    [(four_bar, FROM, TO), (lambda: four_bar(actuators=("crank", "rocker")), FROM, TO), (five_bar, START, END)],
    ids=["four-bar", "redundant", "five-bar"],
)
def test_derivatives_of_the_nlp_are_exact(make, start, end, curve):
    problem = inside(make(), start, end, co.bounds(qd=(-30, 30), tau=(-50, 50)), duration=co.Free(0.5, 2.0))
    nlp = co.transcribe(problem, curve, compile=False)
    x = nlp.grid.interpolate(co.transcription.trajectory_from(problem, None))
    x = x + 1e-3 * np.random.default_rng(0).normal(size=x.size) * nlp.free * nlp.scale_x
    assert max(nlp.check_derivatives(x).values()) < 1e-7


def test_derivatives_are_exact_where_dependent_joints_are_in_costs_and_rows():
    """By positions, rates, accelerations, mixed with torques and time, in a free duration."""
    chain = rower()
    k, T = chain.dependent_dofs, co.Free(0.5, 3.0, 1.0)

    def product(now: co.problem.Instant) -> ca.SX:
        return now.q[k[0]] * now.qd[k[1]] ** 2 + ca.sin(now.qdd[k[2]]) * now.tau[0] * now.t

    for terms in (
        lambda now: now.q[k[1]] ** 3,
        lambda now: now.qd[k[0]] ** 2 * now.q[k[1]] + now.q[chain.independent_dofs[0]],
        lambda now: ca.sumsqr(now.qdd) + product(now),
    ):
        row = co.path(terms, lower=-1e3, name="row")
        problem = inside(chain, CATCH, FINISH, row, duration=T, minimize=co.integral(terms), loads=[oar_load()])
        nlp = co.transcribe(problem, co.BSpline(4), compile=False)
        guess = co.transcription.trajectory_from(problem, None)
        errors = nlp.check_derivatives(nlp.grid.interpolate(guess))
        assert max(errors.values()) < 1e-6, errors


def test_costs_of_dependent_joints_take_few_operations():
    """Second derivatives take less than 8 times as many as the cost; by CasADi's differentiation 49 times."""
    chain = rower()
    cost = co.integral(lambda now: ca.sumsqr(now.qdd[chain.dependent_dofs]))
    nlp = co.transcribe(inside(chain, CATCH, FINISH, minimize=cost), co.BSpline(4), compile=False)
    (block,) = nlp.costs
    assert block.functions.operations("hessian") < 8 * block.functions.operations("value")


@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize("make", [four_bar, five_bar])
def test_no_row_follows_from_others(make, curve):
    chain = make()
    start, end = (FROM, TO) if chain.mobility == 1 else (START, END)
    problem = inside(chain, start, end)
    nlp = co.transcribe(problem, curve, compile=False)
    x = nlp.grid.interpolate(co.transcription.trajectory_from(problem, None))
    low, high = nlp.bounds_g
    J = np.array(ca.densify(nlp.jac_g(x + 1e-3 * nlp.free, [])[1]))[low == high][:, nlp.free]
    values = np.linalg.svd(J * nlp.scale_x[nlp.free], compute_uv=False)
    assert J.shape[0] < J.shape[1]
    assert values[-1] > 1e-7 * values[0]


def test_reactions_know_the_forces_in_the_loop():
    """The cut mechanism has them as loads."""
    cut, closed = solved(four_bar(), FROM, TO, co.Radau(20, 7)), cranked(co.Radau(20, 7))
    t = np.linspace(0.05, 0.95, 7)
    mine, theirs = closed.reactions(t), cut.reactions(t)
    np.testing.assert_allclose(mine.force, theirs.force, atol=1e-3 * np.abs(theirs.force).max())
    joints = closed.problem.coordinates
    assert isinstance(joints, IndependentJoints)
    forces = closed.evaluate(joints.multipliers, t)
    np.testing.assert_allclose(forces, cut.at(t).cut_forces, atol=1e-3 * np.abs(forces).max())


# -- closure, error, limits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", [co.BSpline(8), co.BSpline(20), co.Radau(10, 3), co.HermiteSimpson(20)], ids=str)
def test_loops_are_closed_at_every_time(curve):
    solution = cranked(curve)
    assert loops.closure_error(four_bar(), solution.at(FINE).q).max() < 1e-8
    assert np.abs(solution.at(FINE).tau[:, 1:]).max() == 0.0  # passive joints


def test_an_independent_simulation_confirms_the_motion():
    found = co.verify(cranked(co.BSpline(20)))
    assert found.forward_error < 1e-7
    assert found.local_error < 1e-9


def test_the_error_is_what_a_simulation_finds():
    """Torques handed over as few numbers deviate the motion, within every interval, by the estimate."""
    solution = cranked(co.BSpline(16))
    chain, k = four_bar(), four_bar().independent_dofs
    joints, now = IndependentJoints(chain), instant(chain)
    closed = joints.motion(now.q, now.qd, now.qdd)
    forward = ca.Function("f", [now.q, now.qd, now.tau], [joints.acceleration(now, ())])
    lead = ca.Function("lead", [now.q, now.qd], [*ca.substitute(list(closed[:2]), [now.qdd], [0 * now.qdd])])
    edges = solution.nlp.grid.breakpoints
    u = legendre.leggauss(2)[0]
    for interval in range(0, 16, 3):
        start, end = edges[interval : interval + 2]
        held = np.linalg.solve(legendre.legvander(u, 1), solution.at(start + (u + 1) / 2 * (end - start)).tau)

        def rate(t: float, y: np.ndarray, start=start, end=end, held=held) -> np.ndarray:
            q, qd = lead(y[: chain.model.n], y[chain.model.n :])
            tau = legendre.legval(2 * (t - start) / (end - start) - 1, held)
            return np.concatenate([np.array(part).ravel() for part in (qd, forward(q, qd, tau))])

        first, times = solution.at(start), np.linspace(start, end, 12)
        run = solve_ivp(rate, (start, end), np.append(first.q, first.qd), t_eval=times, rtol=1e-10, atol=1e-13)
        simulated = np.abs(run.y[: chain.model.n].T - solution.at(times).q).max(axis=0)
        np.testing.assert_allclose(solution.error.position[interval], simulated, rtol=0.15, atol=1e-9)
        assert simulated[k].max() > 1e-6


def test_a_drive_that_an_equation_gives_moves_the_chain_in_a_simulation():
    """A damped spring beside a signal: what is off between nodes is as estimated, and falls with the grid."""
    arm = five_bar((0.0, 0.0, 0.0))
    driven = arm.model.joint_names.index(arm.independent[0])

    def drive(now: co.problem.Instant) -> ca.SX:
        return now.tau[driven] - 20 * now.signal[0] + 0.5 * now.qd[driven] + 2 * now.q[driven]

    still = dict.fromkeys(arm.independent, 0.0)
    ends = [
        fix(q=dict(zip(arm.independent, pose, strict=True)), qd=still)
        for fix, pose in ((co.initial, START), (co.final, END))
    ]
    rows, signal = [*ends, co.path(drive, equals=0.0, name="drive")], co.Unknown("signal", 1)
    problem = co.Problem(arm.model, 1.0, co.integral(effort), rows, unknowns=[signal], parts=[IndependentJoints(arm)])
    errors = []
    for intervals in (3, 6, 12):
        solution = co.solve(problem, co.Radau(intervals), plan=[co.refinement.Solve(between="nodes")], progress=False)
        errors.append(co.verify(solution).local_error)
        assert 0.5 < errors[-1] / max(solution.error[name].total for name in ("dynamics", "equations")) < 1.5
    assert 20 < errors[0] / errors[1] < 80
    assert 20 < errors[1] / errors[2] < 80


def test_velocities_and_positions_of_dependent_joints_are_bounded():
    """The rocker, which follows from the crank."""
    free = cranked(co.BSpline(20)).at(FINE)
    rocker = four_bar().model.joint_names.index("rocker")
    fastest_rate, furthest = np.abs(free.qd[:, rocker]).max(), free.q[:, rocker].max()
    limited = inside(four_bar(), FROM, TO, co.bounds(qd={"rocker": (-0.9 * fastest_rate, 0.9 * fastest_rate)}))
    solution = co.solve(limited, co.BSpline(20), tol=1e-4, compile=False)
    assert solution.status is co.solver.Status.SOLVED
    assert np.abs(solution.at(FINE).qd[:, rocker]).max() < 0.9 * fastest_rate * (1 + 1e-4)
    assert solution.cost > cranked(co.BSpline(20)).cost

    ends = free.q[[0, -1], rocker]
    assert furthest > ends.max() - 1e-9 or furthest < ends.max()
    windowed = inside(four_bar(), FROM, TO, co.bounds(q={"rocker": (-10.0, 10.0)}, qdd={"coupler": (-30.0, 30.0)}))
    solution = co.solve(windowed, co.BSpline(20), tol=1e-4, compile=False)
    assert solution.status is co.solver.Status.SOLVED
    coupler = four_bar().model.joint_names.index("coupler")
    assert np.abs(solution.at(FINE).qdd[:, coupler]).max() < 30.0 * (1 + 1e-4)


def test_ends_may_be_stated_for_dependent_joints():
    free = cranked(co.BSpline(20)).at(np.array([0.0, 1.0]))
    chain, joints = four_bar(), IndependentJoints(four_bar())
    rocker = chain.model.joint_names.index("rocker")
    problem = co.Problem(
        joints.model,
        1.0,
        0.5 * co.integral(effort),
        [
            co.initial(q={"crank": 0.5}, qd={"crank": 0.0}),
            co.final(q={"rocker": free.q[1, rocker]}, qd={"rocker": 0.0}),
        ],
        parts=[joints],
    )
    solution = co.solve(problem, co.BSpline(20), compile=False, guess=lambda t: loops.assemble(chain, [0.5 + 2 * t]))
    assert solution.cost == pytest.approx(cranked(co.BSpline(20)).cost, rel=1e-7)


def test_jerk_and_torque_rates_are_those_of_the_chain():
    solution = cranked(co.BSpline(8, degree=5))
    t, h = np.linspace(0.1, 0.9, 5), 1e-5
    jerk, rate = solution.evaluate(lambda now: (now.jerk, now.tau_rate), t)
    before, after = solution.at(t - h), solution.at(t + h)
    np.testing.assert_allclose(jerk, (after.qdd - before.qdd) / (2 * h), atol=1e-4 * np.abs(jerk).max())
    np.testing.assert_allclose(rate, (after.tau - before.tau) / (2 * h), atol=1e-4 * np.abs(rate).max())


# -- optima -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "start", "end"),
    [
        (four_bar, FROM, TO),
        (lambda: four_bar(actuators=("crank", "rocker")), FROM, TO),
        (lambda: four_bar(actuators=("coupler",)), FROM, (1.5,)),
        (lambda: slider_crank(actuators=("piston",)), (0.5,), (2.0,)),
        (lambda: five_bar((0, 0, 0)), START, END),
    ],
    ids=["four-bar", "redundant", "another actuator", "slider-crank", "five-bar"],
)
def test_all_three_ways_find_the_same_optimum(make, start, end):
    """A descent, the loops cut, and the loops solved at every instant."""
    chain = make()
    movement = ChainMovement(chain, rest(start, end, intervals=40, degree=5, rows=2))
    splined = modified_newton(movement.objective, movement.start(), Stop(1e-7))
    cut = solved(chain, start, end, co.Radau(20, 7))
    closed = co.solve(inside(chain, start, end), co.BSpline(40, degree=5), compile=False)
    assert splined.success
    assert cut.status is closed.status is co.solver.Status.SOLVED
    assert closed.cost == pytest.approx(splined.value, rel=1e-6)
    assert cut.cost == pytest.approx(splined.value, rel=1e-7)
    t = np.linspace(0.05, 0.95, 19)
    a, b = movement.sample(splined.x, t), cut.at(t)
    np.testing.assert_allclose(b.q, a.q, atol=1e-4)
    np.testing.assert_allclose(b.tau, a.tau, atol=1e-2 * np.abs(a.tau).max())


def test_weights_share_a_load_where_no_surplus_is_unknown():
    chain = four_bar(actuators=("crank", "rocker"), weights=(0.7, 2.0))
    shared = co.Problem(
        chain.model,
        1.0,
        0.5 * co.integral(lambda now: 0.7 * now.tau[0] ** 2 + 2.0 * now.tau[2] ** 2),
        inside(chain, FROM, TO).subject_to,
        parts=[IndependentJoints(chain)],
    )
    least = inside(chain, FROM, TO, minimize=shared.minimize)
    a, b = (co.solve(problem, co.BSpline(30, degree=5), compile=False) for problem in (shared, least))
    assert b.cost == pytest.approx(a.cost, rel=1e-6)
    np.testing.assert_allclose(b.at(FINE).tau, a.at(FINE).tau, atol=1e-2)


def fastest(chain: loops.ClosedChain, limits: list[float]) -> float:
    """Shortest time from rest to rest of a chain of one freedom, from its phase plane (Bobrow et al. 1985).

    With e = u'^2 / 2 over the one coordinate u, a e' + 2 b e = N' tau is linear: as much torque as there is from the
    start, as little as there is to the end, and in between where both meet.
    """
    alone = loops.ClosedChain(chain.model, chain.loops, chain.independent, guess=chain.posture)
    dynamics = loops.ChainEvaluator(alone)

    def change(sign: float, u: float, e: np.ndarray) -> np.ndarray:
        q = loops.assemble(chain, [u])
        a, b = (dynamics.forces(q, [ud], [udd]).tau[0] for ud, udd in ((0.0, 1.0), (1.0, 0.0)))
        most = np.abs(chain.basis(q)[chain.actuator_dofs, 0]) @ limits
        return (sign * most - 2 * b * e) / a

    (start,), (end,) = FROM, TO
    ways = [
        solve_ivp(partial(change, sign), span, [0.0], method="DOP853", rtol=1e-10, atol=1e-13, dense_output=True).sol
        for sign, span in ((1.0, (start, end)), (-1.0, (end, start)))
    ]
    middle: Any = brentq(lambda u: ways[0](u)[0] - ways[1](u)[0], start + 1e-6, end - 1e-6, xtol=1e-13)
    points, weights = np.polynomial.legendre.leggauss(60)
    T = 0.0
    for edge, way in zip((start, end), ways, strict=True):
        # u = edge +- x^2 takes the pole of 1 / u' at rest away.
        x = (points + 1) / 2 * (L := np.sqrt(abs(middle - edge)))
        rate = np.sqrt(2 * way(edge + np.sign(middle - edge) * x**2)[0])
        T += float((weights / 2 * L * 2 * x / rate).sum())
    return T


@pytest.mark.parametrize("name", ["four_bar", "four_bar_redundant"])
def test_the_fastest_four_bar_is_that_of_the_phase_plane(name):
    """With the loops cut, and solved at every instant."""
    case = time_optimal.CASES[name]
    exact = fastest(case.chain, list(case.limits.values()))
    assert case.T is not None
    assert abs(case.T - exact) < 1e-7
    for way, tolerance, gap in (("spline", 1e-3, 1e-5), ("inside", 1e-4, 1e-12)):
        solution = time_optimal.solved(case, way, tolerance)
        own = time_optimal.numbers_of(case, solution)
        assert own["solved"]
        assert own["T"] == pytest.approx(exact, rel=tolerance)
        assert own["beyond"] < tolerance
        assert own["gap"] < gap
    assert co.verify(solution).forward_error < 1e-6


def test_free_knots_go_with_a_chain():
    case = time_optimal.CASES["four_bar"]
    problem = time_optimal.problem(case, "inside")
    found = {}
    for knots in ("fixed", "free"):
        given = co.BSpline(4, degree=5, continuity=1, knots=knots)
        found[knots] = co.solve(
            problem, given, compile=False, raise_on_failure=False, plan=[co.refinement.Solve(tol=1.0)]
        )
    assert case.T is not None
    assert abs(found["free"].duration - case.T) < 0.3 * abs(found["fixed"].duration - case.T)


def test_loads_and_two_loops():
    """The rower, with the water on the oar."""
    chain = rower()
    problem = inside(chain, CATCH, FINISH, loads=[oar_load()])
    solution = co.solve(problem, co.BSpline(6), compile=False, plan=[co.refinement.Solve(tol=1.0)])
    assert loops.closure_error(chain, solution.at(FINE[::20]).q).max() < 1e-8
    movement = ChainMovement(chain, rest(CATCH, FINISH, intervals=6, rows=2), [oar_load()])
    splined = modified_newton(movement.objective, movement.start(), Stop(1e-6))
    # The descent takes the cost at few points, and one of several optima.
    assert solution.cost == pytest.approx(splined.value, rel=0.02)


# -- calls ------------------------------------------------------------------------------------------------------------


def test_a_guess_picks_the_branch():
    chain = four_bar()
    other = loops.ClosedChain(chain.model, chain.loops, chain.independent, guess=-chain.posture)
    posture = loops.assemble(other, [0.5])
    assert np.abs(posture - loops.assemble(chain, [0.5])).max() > 0.1
    problem = inside(chain, FROM, TO)
    guess = co.transcription.trajectory_from(problem, lambda t: loops.assemble(other, [0.5 + 2 * t]))
    np.testing.assert_allclose(guess.q(np.array([0.0]))[0], posture, atol=1e-9)


def test_files_hold_the_motion_of_a_chain(tmp_path):
    solution = cranked(co.BSpline(20))
    co.save(solution, tmp_path / "chain.npz")
    loaded = co.load(tmp_path / "chain.npz", inside(four_bar(), FROM, TO))
    np.testing.assert_array_equal(loaded.at(0.3).q, solution.at(0.3).q)


WRONG = {
    r"give its \.model, and of a closed chain parts=\[loops\.Indep": lambda: co.Problem(
        four_bar(),  # pyright: ignore[reportArgumentType]
        1.0,
        co.duration(),
    ),
    "chain must be a ClosedChain": lambda: IndependentJoints(four_bar().model),  # pyright: ignore[reportArgumentType]
    r"parts cannot contain .*; give loops\.Indep": lambda: co.Problem(
        two_link(),
        1.0,
        parts=[four_bar()],  # pyright: ignore[reportArgumentType]
    ),
    "is of 'four-bar linkage', not of the problem's": lambda: co.Problem(
        two_link(), 1.0, co.duration(), parts=[IndependentJoints(four_bar())]
    ),
    "parts can contain one set of coordinates, got 2": lambda: co.Problem(
        four_bar().model, 1.0, co.duration(), parts=[IndependentJoints(four_bar()), IndependentJoints(four_bar())]
    ),
    "1 degrees of freedom and as many actuators": lambda: IndependentJoints(four_bar(), surplus=True),
    "differentiated by CasADi: leave out sensitivities": lambda: co.transcribe(
        inside(four_bar(), FROM, TO), co.BSpline(6), sensitivities=co.dynamics.composite_sensitivities
    ),
    "two unknowns or parameters are named 'surplus_torques'": lambda: inside(
        four_bar(actuators=("crank", "rocker")), FROM, TO
    ).__class__(
        four_bar().model, 1.0, co.duration(), unknowns=[co.Unknown("surplus_torques"), co.Unknown("surplus_torques")]
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_calls_are_refused(message):
    with pytest.raises(co.InputError, match=message):
        WRONG[message]()


def test_cut_joints_and_independent_joints_agree_on_many_rows():
    """Both count the same loops."""
    chain = rower()
    labels = [*IndependentJoints(chain).closure.labels]
    assert len(labels) == chain.rows.size == CutJoints(chain).contribution().unknowns[0].size
    assert all("loop" in label for label in labels)
    assert moving(chain, CATCH, FINISH).coordinates is None


def test_ends_may_be_stated_in_joints_that_follow():
    """Joints of which nothing is said are where the chain was assembled, not at zero, where it may not close."""
    chain = four_bar()
    (follows,) = chain.dependent[-1:]
    place = chain.model.joint_names.index(follows)
    begin = chain.posture[place]
    still = dict.fromkeys(chain.independent, 0.0)
    problem = co.Problem(
        chain.model,
        1.0,
        0.5 * co.integral(effort),
        [co.initial(q={follows: begin}, qd=still), co.final(q={follows: begin + 0.2}, qd=still)],
        parts=[IndependentJoints(chain)],
    )
    solution = co.solve(problem, co.BSpline(8))
    assert solution.status is co.solver.Status.SOLVED
    np.testing.assert_allclose(solution.q[[0, -1], place], [begin, begin + 0.2], atol=1e-7)
    assert loops.closure_error(chain, solution.q).max() < 1e-9


def test_surplus_forces_are_in_newtons():
    part = IndependentJoints(slider_crank(actuators=("piston", "crank")), surplus=True)
    (surplus,) = part.contribution().unknowns
    assert (surplus.labels, surplus.units) == (("surplus_torques[piston]",), ("N",))
